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
mod warps;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Cmp, Kernel};
use warpmp_launch::{Entry, Ports, Stage};

use super::{Algorithm, Gpus, On, OperationShape, Order, Spec, TensorSettings, With, candidates, piece};
use layout::Layout;
pub(in crate::kernels) use montgomery::MONTGOMERY;
pub(in crate::kernels) use multiply::is;
use warps::{Place, Warps};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    shape: OperationShape,
    layout: Layout,
    warps: Warps,
}

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
        Self { shape, layout, warps: Warps::new(settings, layout.bytes()) }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let rows: &[&str] = if self.is_square() { &["a", "c"] } else { &["a", "b", "c"] };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, rows, false);
        b.bounds(self.warps.bounds());
        self.write(&mut b, &ports);
        b.finish()
    }

    fn is_square(&self) -> bool {
        self.shape.operands().len() == 1
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { layout, warps, .. } = *self;
        b.section("setup");
        let (place, product, end) = warps.enter(b, ports.lanes);
        let shared = place.shared;
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
            let next = b.add(product, warps.count);
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
        let Self { shape, warps, .. } = self;
        let operands = if self.is_square() {
            format!("sqr_tensor_{}_{}", self.layout.limbs[0], self.layout.limbs[2])
        } else {
            format!("mul_tensor_{}", shape.product_name())
        };
        format!("{operands}{}", warps.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.warps.geometry(), |entry| self.kernel(entry))]
    }
}
