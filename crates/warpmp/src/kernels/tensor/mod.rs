//! `tensor`: full product and square on tensor cores, a warp a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `la, lb ≤ 512`; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` products a block, one after the other by each warp
//! cost       `2·panels·(⌈la/8⌉ + 1)` matrix products of 16×32 by 32×8 bytes, `panels = ⌈max(la, lb)/64⌉`;
//!            4·(la + lb + lc) bytes of global traffic; `layout.rs` has the shared memory
//! registers  about 18·panels + 45
//!
//! Digits are bytes. A warp copies its operands to shared memory (`operands`), computes all byte columns of the result
//! by matrix products (`multiply`), makes limbs of them and stores these (`result`). The operands of its next product
//! arrive meanwhile.
//!
//! bound: a byte column sums at most `4·min(la, lb)` products of bytes: at most `4·512·255² < 2³¹`, so no sum of a
//! matrix product wraps. The carries are bounded in `result`.
//!
//! source: schoolbook multiplication as a matrix product by a Toeplitz matrix; columns modulo their number, and the
//! order of blocks in the panels, are ours.

mod layout;
mod montgomery;
mod multiply;
mod operands;
mod result;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::{Algorithm, Gpus, On, OperationShape, Order, Spec, TensorSettings, With, candidates, piece};
use layout::Layout;
pub(in crate::kernels) use montgomery::MONTGOMERY;
pub(in crate::kernels) use multiply::is;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    shape: OperationShape,
    layout: Layout,
    /// Warps a block of threads.
    warps: u32,
    /// Products a block of threads.
    products: u32,
}

/// Most warps a block.
const MAX_WARPS: u32 = 8;

/// Most bytes of shared memory a block: what every GPU since `sm_80` has.
const MAX_SHARED_BYTES: u32 = 99 << 10;

/// The limbs of the longer operand that it takes.
pub(super) const LIMBS: std::ops::RangeInclusive<u32> = 32..=512;

/// Matrix products of bytes, 32 deep, begin with this compute capability, times ten.
const MATRIX_PRODUCTS_FROM: u32 = 80;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "tensor",
    summary: "a warp a product, bytes as digits, schoolbook multiplication by matrix products on tensor cores",
    accepts: "operands whose longer one has 993 to 16384 bits, on a GPU from sm_80 on",
    fits: |shape| LIMBS.contains(&shape.max_limbs()),
    order: Order::ShorterFirst,
    recipe: &On(
        Gpus::from(MATRIX_PRODUCTS_FROM),
        With::<TensorSettings> {
            spec: |shape, settings, _| Box::new(Tensor::new(shape, settings)),
            candidates: |_| candidates::tensor(),
        },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "a warp a square, bytes as digits, as a product of equal factors by matrix products on tensor cores",
    accepts: "operands of 993 to 16384 bits, on a GPU from sm_80 on",
    ..ALGORITHM
};

/// The place of a warp and of its lanes.
struct Place {
    /// Number of the lane.
    lane: R32,
    /// `lane / 4`: its rows of matrix products.
    group: R32,
    /// `lane % 4`: its columns.
    member: R32,
    /// Where the warp's shared memory begins.
    shared: R32,
    /// 1, 2⁸, 2¹⁶ and 2²⁴, in registers: `ptxas` makes several shifts and additions of a product by a constant.
    bytes: [R32; 4],
}

impl Place {
    /// The place of a lane in a launch of `lanes` lanes, whose warp's memory begins at `shared`.
    fn new(b: &mut Builder, lane: R32, lanes: R32, shared: R32) -> Self {
        // A launch has fewer than 2³¹ lanes, but `ptxas` does not know it.
        let zero = b.shr(lanes, 31);
        let bytes = [0, 8, 16, 24].map(|bits| b.or(zero, 1 << bits));
        Self { lane, group: b.shr(lane, 2), member: b.and(lane, 3), shared, bytes }
    }
}

impl Layout {
    /// The greatest sum of a byte column.
    fn greatest_sum(self) -> u64 {
        let [la, lb, _] = self.limbs;
        u64::from(4 * la.min(lb)) * 255 * 255
    }
}

impl Tensor {
    /// The kernel for operands that the algorithm takes, in any order: the shorter one first takes fewer steps.
    ///
    /// # Panics
    /// If the operands are too long.
    pub fn new(shape: OperationShape, settings: &TensorSettings) -> Self {
        let layout = Layout::of(shape);
        assert!(layout.greatest_sum() < 1 << 31, "the sums of a matrix product have 32 bits");
        let most = (MAX_SHARED_BYTES / layout.bytes()).clamp(1, MAX_WARPS);
        let warps = settings.warps.unwrap_or(2).clamp(1, most);
        let products = settings.products.unwrap_or(8 * warps).clamp(warps, 32);
        Self { shape, layout, warps, products }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let rows: &[&str] = if self.is_square() { &["a", "c"] } else { &["a", "b", "c"] };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, rows, false);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn is_square(&self) -> bool {
        self.shape.operands().len() == 1
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { layout, warps, products, .. } = *self;
        b.section("setup");
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let block = b.special(Special::Ctaid);
        let product = b.mad_lo(block, products, warp);
        let outside = b.compare(Cmp::Ge, product, ports.lanes);
        b.return_if(outside);
        let end = b.mad_lo(block, products, products);
        let end = b.min(end, ports.lanes);
        let lane = b.special(Special::Lane);
        let shared = b.shared_base();
        let shared = b.mad_lo(warp, layout.bytes(), shared);
        let place = Place::new(b, lane, ports.lanes, shared);
        layout.clear(b, &place);
        let turn = b.copy(0);
        let from = self.operands(b, ports, &place, product);
        layout.fetch(b, &place, from, turn);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            layout.arrange(b, &place, (shared, layout.b()), layout.work);
            b.warp_barrier();
            let next = b.add(product, warps);
            let other = b.sub(layout.a_bytes(), turn);
            let more = b.compare(Cmp::Lt, next, end);
            b.if_(more, |b| {
                let from = self.operands(b, ports, &place, next);
                layout.fetch(b, &place, from, other);
            });
            b.section("multiply");
            let a = b.add(shared, turn);
            let sums = layout.multiply(b, &place, a, multiply::FENCE);
            let to = self.row(b, ports, &place, product, 2);
            layout.finish(b, &place, &sums, to);
            b.set(product, next);
            b.set(turn, other);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// The addresses of the lane's first pieces of a product's operands.
    fn operands(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) -> [R64; 2] {
        [0, 1].map(|i| self.row(b, ports, place, product, i))
    }

    /// The address of the lane's first piece of `a`, `b` or `c`.
    fn row(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32, i: usize) -> R64 {
        let limbs = self.layout.limbs[i];
        let first = if self.is_square() { i / 2 } else { i };
        let address = ports.addresses[first];
        let row = if self.shape.is_common(i) { address } else { b.mad_wide(product, 4 * limbs, address) };
        b.mad_wide(place.lane, 4 * piece(limbs), row)
    }
}

impl Spec for Tensor {
    fn name(&self) -> String {
        let Self { shape, warps, products, .. } = self;
        let operands = if self.is_square() {
            format!("sqr_tensor_{}_{}", self.layout.limbs[0], self.layout.limbs[2])
        } else {
            format!("mul_tensor_{}", shape.product_name())
        };
        format!("{operands}_p{products}_w{warps}")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(32 * self.warps, self.products).with_shared(self.warps * self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
