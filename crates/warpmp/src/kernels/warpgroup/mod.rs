//! `tensor-warpgroup`: full product and square on tensor cores, four warps a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `385 ≤ la, lb ≤ 512`; buffers padded to whole tiles of 32 lanes; `sm_90a`
//! launch     128 threads a block, `products` products a block, one after the other
//! cost       33 matrix products of 64×32 by 32×64 bytes;
//!            4·(la + lb + lc) bytes of global traffic; `layout.rs` has the shared memory
//! registers  about 80
//!
//! Digits are bytes. `a` is divided into halves. Two of the four warps multiply the lower half by `b`, two the upper half. The
//! threads copy their operands to shared memory and arrange them (`operands`), compute all byte columns of both products by
//! matrix products (`multiply`), add the two, make limbs of the sums and store these (`result`). The operands of the next
//! product arrive meanwhile.
//!
//! bound: a byte column of the result sums at most `4·512` products of bytes: at most `4·512·255² < 2³¹`, so neither a
//! sum of a matrix product wraps nor the sum of two of them. The carries are bounded in `result`.
//!
//! source: as `tensor`: schoolbook multiplication as a matrix product by a Toeplitz matrix, with columns modulo their number;
//! the halves are ours.

mod layout;
mod multiply;
mod operands;
mod result;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::{Algorithm, Gpus, On, OperationShape, Order, Spec, WarpgroupSettings, With, candidates, piece};
use layout::{BYTES, HALF};

/// Threads of a warpgroup.
const THREADS: u32 = 128;

/// The compute capability, times ten, that has matrix products of warpgroups: those before and after have none.
const WARPGROUPS: u32 = 90;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warpgroup {
    shape: OperationShape,
    /// Products a block of threads.
    products: u32,
}

/// The limbs of each operand. Shorter ones take as long, and [`tensor`](super::tensor) is faster there.
const LIMBS: std::ops::RangeInclusive<u32> = 3 * HALF / 2 + 1..=2 * HALF;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "tensor-warpgroup",
    summary: "four warps a product, bytes as digits, schoolbook multiplication by matrix products of warpgroups",
    accepts: "operands of 12289 to 16384 bits each, on a GPU of sm_90",
    fits: |shape| shape.operands().iter().all(|it| LIMBS.contains(&it.limbs())),
    order: Order::ShorterFirst,
    recipe: &On(
        Gpus { from: WARPGROUPS, to: Some(WARPGROUPS), use_doubles: false },
        With::<WarpgroupSettings> {
            spec: |shape, settings, _| Box::new(Warpgroup::new(shape, settings)),
            candidates: |_| candidates::warpgroup(),
        },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "four warps a square, bytes as digits, as a product of equal factors by matrix products of warpgroups",
    accepts: "operands of 12289 to 16384 bits, on a GPU of sm_90",
    ..ALGORITHM
};

/// The place of a thread.
struct Place {
    thread: R32,
    /// Number of the lane.
    lane: R32,
    /// Number of the warp.
    warp: R32,
    /// `lane / 4`
    group: R32,
    /// `lane % 4`
    member: R32,
    /// Where the block's shared memory begins.
    shared: R32,
    /// 1, 2⁸, 2¹⁶ and 2²⁴, in registers: `ptxas` makes several shifts and additions of a product by a constant.
    bytes: [R32; 4],
}

impl Warpgroup {
    /// The kernel for operands that the algorithm takes.
    ///
    /// # Panics
    /// If the operands are too short or too long.
    pub fn new(shape: OperationShape, settings: &WarpgroupSettings) -> Self {
        assert!((ALGORITHM.fits)(shape), "operands of 385 to 512 limbs");
        Self { shape, products: settings.products.unwrap_or(16).clamp(1, 32) }
    }

    /// Limbs of `a`, `b` and `c`.
    fn limbs(&self) -> [u32; 3] {
        match self.shape.limbs() {
            [a, c, 0] => [a, a, c],
            limbs => limbs,
        }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let rows: &[&str] = if self.is_square() { &["a", "c"] } else { &["a", "b", "c"] };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, rows, false);
        b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn is_square(&self) -> bool {
        self.shape.operands().len() == 1
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let (products, [la, lb, lc]) = (self.products, self.limbs());
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let product = b.mul_lo(block, products);
        let outside = b.compare(Cmp::Ge, product, ports.lanes);
        b.return_if(outside);
        let end = b.mad_lo(block, products, products);
        let end = b.min(end, ports.lanes);
        let lane = b.and(thread, 31);
        let warp = b.shr(thread, 5);
        let shared = b.shared_base();
        // A launch has fewer than 2³¹ lanes, but `ptxas` does not know it.
        let zero = b.shr(ports.lanes, 31);
        let bytes = [0, 8, 16, 24].map(|bits| b.or(zero, 1 << bits));
        let place = Place { thread, lane, warp, group: b.shr(lane, 2), member: b.and(lane, 3), shared, bytes };
        place.clear(b);
        b.barrier();
        let from = self.operands(b, ports, &place, product);
        place.fetch(b, [la, lb], from);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.barrier();
            place.arrange(b);
            b.proxy_fence();
            b.barrier();
            let next = b.add(product, 1);
            let more = b.compare(Cmp::Lt, next, end);
            b.if_(more, |b| {
                let from = self.operands(b, ports, &place, next);
                place.fetch(b, [la, lb], from);
            });
            b.section("multiply");
            let sums = place.multiply(b);
            let to = self.row(b, ports, &place, product, 2);
            place.finish(b, lc, &sums, to);
            b.set(product, next);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// The addresses of the thread's first pieces of a product's operands.
    fn operands(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) -> [R64; 2] {
        [0, 1].map(|i| self.row(b, ports, place, product, i))
    }

    /// The address of the thread's first piece of `a`, `b` or `c`.
    fn row(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32, i: usize) -> R64 {
        let limbs = self.limbs()[i];
        let first = if self.is_square() { i / 2 } else { i };
        let address = ports.addresses[first];
        let row = if self.shape.is_common(i) { address } else { b.mad_wide(product, 4 * limbs, address) };
        b.mad_wide(place.thread, 4 * piece(limbs), row)
    }
}

impl Spec for Warpgroup {
    fn name(&self) -> String {
        let Self { shape, products, .. } = self;
        let operands = if self.is_square() {
            let [a, _, c] = self.limbs();
            format!("sqr_warpgroup_{a}_{c}")
        } else {
            format!("mul_warpgroup_{}", shape.product_name())
        };
        format!("{operands}_p{products}")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(THREADS, self.products).with_shared(BYTES);
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
