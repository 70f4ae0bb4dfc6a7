//! `tensor-warpgroup`: products, squares and parts of products on tensor cores, four warps a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less; or a part of it, see `tensor::part`
//! requires   `385 ≤ la, lb ≤ 896`; buffers padded to whole tiles of 32 lanes; `sm_90a`
//! launch     128 threads a block, `products` products a block, one after the other
//! cost       `⌈la/32⌉ + 1` steps of two matrix products of 64×32 by 32×`n` bytes, `n = ⌈lb/64⌉·8` columns, or four where `n/8` is odd;
//!            4·(la + lb + lc) bytes of global traffic, a row more for each addend of a part; `layout.rs` has the shared memory
//! registers  about 104 for 448 limbs, 120 for 512, 128 for 576 and 640, 140 for 768, 160 for 896
//!
//! Digits are bytes. `a` is divided into quarters, and each of the four warps multiplies a quarter by `b`. The
//! threads copy their operands to shared memory and arrange `b` (`operands`), compute all byte columns of the four products by
//! matrix products (`multiply`), add the four, make limbs of the sums and store these (`result`). The operands of the next
//! product arrive meanwhile.
//!
//! bound: a byte column of the result sums at most `4·896` products of bytes: at most `4·896·255² < 2³¹`, so no
//! sum of a matrix product wraps. The carries are bounded in `result`.
//!
//! source: as `tensor`: schoolbook multiplication as a matrix product by a Toeplitz matrix, with columns modulo their number;
//! the quarters are ours.

mod layout;
mod multiply;
mod operands;
mod result;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::tensor::multiplication::Multiplication;
use super::tensor::part;
use super::{Algorithm, Gpus, On, OperationShape, Order, Spec, WarpgroupSettings, With, candidates, piece};
use layout::{LIMBS, Layout};
use result::Target;

/// Threads of a warpgroup.
pub(super) const THREADS: u32 = 128;

/// Quarters of `a`: one a warp.
const QUARTERS: u32 = THREADS / 32;

/// The compute capability, times ten, that has matrix products of warpgroups: those before and after have none.
const WARPGROUPS: u32 = 90;

/// The GPUs that have them.
pub(super) const GPUS: Gpus = Gpus { from: WARPGROUPS, to: Some(WARPGROUPS), use_doubles: false };

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warpgroup {
    multiplication: Multiplication,
    layout: Layout,
    /// Products a block of threads.
    products: u32,
}

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "tensor-warpgroup",
    summary: "four warps a product, bytes as digits, schoolbook multiplication by matrix products of warpgroups",
    accepts: "operands of 12289 to 28672 bits each, on a GPU of sm_90",
    fits: |shape| shape.operands().iter().all(|it| LIMBS.contains(&it.limbs())),
    order: Order::ShorterFirst,
    recipe: &On(
        GPUS,
        With::<WarpgroupSettings> {
            spec: |shape, settings, _| Box::new(Warpgroup::new(shape, settings)),
            candidates: |_| candidates::warpgroup(),
        },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "four warps a square, bytes as digits, as a product of equal factors by matrix products of warpgroups",
    accepts: "operands of 12289 to 28672 bits, on a GPU of sm_90",
    ..ALGORITHM
};

/// The row of the register for parts of products.
pub(super) const PARTS: Algorithm = Algorithm {
    summary: "four warps a product by matrix products of warpgroups; what is added joins its digits",
    accepts: "factors of 12416 to 28672 bits, both of the same 128·k bits; an addend of 128·k bits, no longer; on a GPU of sm_90",
    fits: |shape| part::in_pieces(shape) && LIMBS.contains(&shape.operands()[0].limbs()),
    order: Order::Given,
    ..ALGORITHM
};

/// The place of a thread.
struct Place {
    layout: Layout,
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
    /// 1, 2⁸, 2¹⁶ and 2²⁴.
    bytes: [R32; 4],
}

impl Warpgroup {
    /// The kernel for operands that the algorithm takes.
    ///
    /// # Panics
    /// If the factors are too short or too long, or the operation is no multiplication.
    pub fn new(shape: OperationShape, settings: &WarpgroupSettings) -> Self {
        let multiplication = Multiplication::of(shape);
        let [a, b, _] = multiplication.limbs();
        assert!([a, b].iter().all(|limbs| LIMBS.contains(limbs)), "factors of 385 to 896 limbs");
        let layout = Layout::of([a, b], multiplication.kept().end);
        Self { multiplication, layout, products: settings.products.unwrap_or(16).clamp(1, 32) }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = self.multiplication.open(entry, &self.name());
        b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { multiplication, products, .. } = *self;
        let [la, lb, all] = multiplication.limbs();
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
        let bytes = [0, 8, 16, 24].map(|bits| b.copy(1 << bits));
        let place = Place {
            layout: self.layout,
            thread,
            lane,
            warp,
            group: b.shr(lane, 2),
            member: b.and(lane, 3),
            shared,
            bytes,
        };
        place.clear(b);
        b.barrier();
        // Where `a` is.
        let turn = b.copy(0);
        let from = self.operands(b, ports, &place, product);
        let pieces = multiplication.pieces();
        place.fetch(b, [la, lb], pieces, from, turn);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.barrier();
            place.arrange(b);
            b.proxy_fence();
            b.barrier();
            let next = b.add(product, 1);
            let more = b.compare(Cmp::Lt, next, end);
            let other = b.sub(self.layout.a_bytes(), turn);
            b.if_(more, |b| {
                let from = self.operands(b, ports, &place, next);
                place.fetch(b, [la, lb], pieces, from, other);
            });
            b.section("multiply");
            let sums = place.multiply(b, turn);
            let addends = multiplication.addends(b, ports, product);
            let to = multiplication.result(b, ports, product);
            let to = b.mad_wide(place.thread, 4 * piece(all), to);
            place.finish(
                b,
                &sums,
                &Target { to, part: multiplication.part, kept: multiplication.kept(), all, addends: &addends },
            );
            b.set(product, next);
            b.set(turn, other);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// The addresses of the thread's first pieces of a product's operands.
    fn operands(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) -> [R64; 2] {
        [0, 1].map(|i| {
            let row = self.multiplication.factor(b, ports, product, i);
            b.mad_wide(place.thread, 4 * self.multiplication.pieces()[i], row)
        })
    }
}

impl Spec for Warpgroup {
    fn name(&self) -> String {
        format!("{}_p{}", self.multiplication.name("warpgroup"), self.products)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(THREADS, self.products).with_shared(self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
