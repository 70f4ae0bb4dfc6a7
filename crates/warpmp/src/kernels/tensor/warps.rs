//! The warps of a block of threads: how many there are, which products they have, and the place of a lane.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Special};
use warpmp_launch::{Geometry, Ports, Stage};

use super::layout::{BLOCK_LIMBS, Layout};
use super::multiplication::Multiplication;
use crate::kernels::TensorSettings;

/// Most warps a block.
const MAX_WARPS: u32 = 8;

/// Most bytes of shared memory a block: what every GPU since `sm_80` has.
const MAX_SHARED_BYTES: u32 = 99 << 10;

/// A kernel may align its warp's memory to this many bytes, the width of all banks.
pub(super) const ALIGNMENT: u32 = 128;

/// Bytes that a warp reserves for the alignment. Its memory begins at a multiple of 16.
pub(super) const ALIGNING_BYTES: u32 = ALIGNMENT - 16;

/// The warps of a block. They take its products in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Warps {
    /// Warps of a block.
    pub(super) count: u32,
    /// Products of a block.
    products: u32,
    /// Bytes of shared memory a warp.
    bytes: u32,
}

/// The place of a warp and of its lanes.
pub(in crate::kernels) struct Place {
    /// Number of the lane.
    pub(in crate::kernels) lane: R32,
    /// `lane / 4`: its rows of matrix products.
    pub(in crate::kernels) group: R32,
    /// `lane % 4`: its columns.
    pub(in crate::kernels) member: R32,
    /// Where the warp's shared memory begins.
    pub(in crate::kernels) shared: R32,
    /// 1, 2⁸, 2¹⁶ and 2²⁴, in registers: `ptxas` makes several shifts and additions of a product by a constant.
    pub(in crate::kernels) bytes: [R32; 4],
}

impl Place {
    /// The place of a lane of a warp whose shared memory begins there. `zero` is 0, but `ptxas` does not know it.
    pub(in crate::kernels) fn new(b: &mut Builder, lane: R32, shared: R32, zero: R32) -> Self {
        let bytes = [0, 8, 16, 24].map(|bits| b.or(zero, 1 << bits));
        Self { lane, group: b.shr(lane, 2), member: b.and(lane, 3), shared, bytes }
    }

    /// The same with its memory aligned to [`ALIGNMENT`]. The warp has reserved [`ALIGNING_BYTES`].
    pub(super) fn aligned(self, b: &mut Builder) -> Self {
        let end = b.add(self.shared, ALIGNMENT - 1);
        Self { shared: b.and(end, ALIGNMENT.wrapping_neg()), ..self }
    }
}

impl Warps {
    /// As the settings say, for warps that take `bytes` bytes of shared memory each.
    pub(super) fn new(settings: &TensorSettings, bytes: u32) -> Self {
        let most = (MAX_SHARED_BYTES / bytes).clamp(1, MAX_WARPS);
        let count = settings.warps.unwrap_or(2).clamp(1, most);
        Self { count, products: settings.products.unwrap_or(8 * count).clamp(count, 32), bytes }
    }

    /// The same for warps whose memory is aligned and ends with the digits of a half product. The digits take more room than the limbs after them.
    pub(super) fn with_digits(settings: &TensorSettings, layout: Layout) -> Self {
        let bytes = layout.work + 8 * BLOCK_LIMBS * layout.columns() + ALIGNING_BYTES;
        Self::new(settings, bytes.next_multiple_of(16))
    }

    /// The same warps with a product each.
    pub(super) const fn with_one_product(self) -> Self {
        Self { products: self.count, ..self }
    }

    /// The place of a warp, its first product, and the end of its block's products. A warp without a product ends.
    pub(super) fn enter(self, b: &mut Builder, lanes: R32) -> (Place, R32, R32) {
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let block = b.special(Special::Ctaid);
        let product = b.mad_lo(block, self.products, warp);
        let outside = b.compare(Cmp::Ge, product, lanes);
        b.return_if(outside);
        let end = b.mad_lo(block, self.products, self.products);
        let end = b.min(end, lanes);
        let lane = b.special(Special::Lane);
        let shared = b.shared_base();
        let shared = b.mad_lo(warp, self.bytes, shared);
        // A launch has fewer than 2³¹ lanes, but `ptxas` does not know it.
        let zero = b.shr(lanes, 31);
        (Place::new(b, lane, shared, zero), product, end)
    }

    /// Takes an address to the warp's next product, whose row is `limbs` limbs further.
    pub(super) fn advance(self, b: &mut Builder, row: R64, limbs: u32) {
        if limbs > 0 {
            b.increase64(row, u64::from(4 * limbs * self.count));
        }
    }

    pub(super) fn bounds(self) -> Bounds {
        Bounds { max_threads: Some(32 * self.count), ..Bounds::default() }
    }

    pub(super) const fn geometry(self) -> Geometry {
        Geometry::new(32 * self.count, self.products).with_shared(self.count * self.bytes)
    }

    /// The only stage of a multiplication by these warps, with this bound on registers. `write` writes its kernel.
    pub(super) fn stage<'s>(
        self,
        multiplication: Multiplication,
        max_registers: Option<u32>,
        write: impl Fn(&mut Builder, &Ports) + 's,
    ) -> Stage<'s> {
        Stage::new(self.geometry(), move |entry| {
            let (mut b, ports) = multiplication.open(entry, &self.name_of(multiplication));
            b.bounds(Bounds { max_registers, ..self.bounds() });
            write(&mut b, &ports);
            b.finish()
        })
    }

    /// The name of a multiplication by these warps.
    pub(super) fn name_of(self, multiplication: Multiplication) -> String {
        format!("{}{}", multiplication.name("tensor"), self.name())
    }

    /// Its part of a kernel's name.
    pub(super) fn name(self) -> String {
        format!("_p{}_w{}", self.products, self.count)
    }
}
