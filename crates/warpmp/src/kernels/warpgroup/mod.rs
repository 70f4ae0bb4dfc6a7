//! `tensor-warpgroup`: products, squares and parts of products on tensor cores, four warps a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less; or a part of it, see `tensor::part`
//! requires   `385 ≤ la, lb ≤ 896`; buffers padded to whole tiles of 32 lanes; `sm_90a`
//! launch     128 threads a block, `products` products a block, one after the other
//! cost       `n/16 + 1` matrix products of 64×32 by 32×`n/8` bytes for operands of at most `n = 512`, 640, 768 or 896 limbs;
//!            4·(la + lb + lc) bytes of global traffic, a row more for each addend of a part; `layout.rs` has the shared memory
//! registers  about 80 for 512 limbs, 96 for 640, 104 for 768, 128 for 896
//!
//! Digits are bytes. `a` is divided into halves. Two of the four warps multiply the lower half by `b`, two the upper half. The
//! threads copy their operands to shared memory and arrange them (`operands`), compute all byte columns of both products by
//! matrix products (`multiply`), add the two, make limbs of the sums and store these (`result`). The operands of the next
//! product arrive meanwhile.
//!
//! bound: a byte column of the result sums at most `4·896` products of bytes: at most `4·896·255² < 2³¹`, so neither a
//! sum of a matrix product wraps nor the sum of two of them. The carries are bounded in `result`.
//!
//! source: as `tensor`: schoolbook multiplication as a matrix product by a Toeplitz matrix, with columns modulo their number;
//! the halves are ours.

mod layout;
mod multiply;
mod operands;
mod result;

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::tensor::part::{self, Addends, Part};
use super::{Algorithm, Gpus, On, OperationShape, Order, Spec, WarpgroupSettings, With, candidates, piece};
use layout::{LIMBS, Layout};
use result::Target;

/// Threads of a warpgroup.
const THREADS: u32 = 128;

/// The compute capability, times ten, that has matrix products of warpgroups: those before and after have none.
const WARPGROUPS: u32 = 90;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warpgroup {
    shape: OperationShape,
    part: Part,
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
    /// 1, 2⁸, 2¹⁶ and 2²⁴, in registers: `ptxas` makes several shifts and additions of a product by a constant.
    bytes: [R32; 4],
}

impl Warpgroup {
    /// The kernel for operands that the algorithm takes.
    ///
    /// # Panics
    /// If the factors are too short or too long, or the operation is no multiplication.
    pub fn new(shape: OperationShape, settings: &WarpgroupSettings) -> Self {
        let part = Part::of(shape);
        assert!(part.is_some(), "the operation is no multiplication");
        let part = part.unwrap_or(Part::Whole);
        let factors = shape.operands().iter().take(2);
        assert!(factors.map(|it| it.limbs()).all(|limbs| LIMBS.contains(&limbs)), "factors of 385 to 896 limbs");
        let longest = shape.operands().iter().take(2).map(|it| it.limbs()).max();
        let layout = Layout::of(longest.unwrap_or_default());
        Self { shape, part, layout, products: settings.products.unwrap_or(16).clamp(1, 32) }
    }

    /// Limbs of `a`, `b` and their product.
    fn limbs(&self) -> [u32; 3] {
        let shape = match self.shape.operands() {
            [_] => self.shape,
            factors => OperationShape::product(factors[0], factors[1]),
        };
        match shape.limbs() {
            [a, c, 0] => [a, a, c],
            limbs => limbs,
        }
    }

    /// The limbs that are kept.
    fn kept(&self) -> Range<u32> {
        let [half, _, all] = self.limbs();
        self.part.kept(half, all)
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let operands = self.shape.operands().len();
        let result = if self.part == Part::Whole { "c" } else { "result0" };
        let rows = [&["a", "b", "c"][..operands], &[result]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &rows, false);
        b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn is_square(&self) -> bool {
        self.shape.operands().len() == 1
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let (products, [la, lb, all]) = (self.products, self.limbs());
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
            let rows = self.addends(b, ports, product);
            let addends = Addends::of(b, self.part, la, &rows);
            let to = self.result(b, ports, &place, product);
            place.finish(b, &sums, &Target { to, part: self.part, kept: self.kept(), all, addends: &addends });
            b.set(product, next);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// The addresses of the thread's first pieces of a product's operands.
    fn operands(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) -> [R64; 2] {
        [0, 1].map(|i| {
            let row = self.operand(b, ports, product, if self.is_square() { 0 } else { i });
            b.mad_wide(place.thread, 4 * piece(self.limbs()[i]), row)
        })
    }

    /// The row of an operand.
    fn operand(&self, b: &mut Builder, ports: &Ports, product: R32, i: usize) -> R64 {
        let operand = self.shape.operands()[i];
        let address = ports.addresses[i];
        if operand.common { address } else { b.mad_wide(product, 4 * operand.limbs(), address) }
    }

    /// The rows of the operands, if some of them are added.
    fn addends(&self, b: &mut Builder, ports: &Ports, product: R32) -> Vec<R64> {
        match self.part {
            Part::Whole | Part::Low | Part::High => Vec::new(),
            Part::Sum(_) | Part::Signed => {
                (0..self.shape.operands().len()).map(|i| self.operand(b, ports, product, i)).collect()
            }
        }
    }

    /// The address of the thread's first piece of the product, as if all of its limbs were kept.
    fn result(&self, b: &mut Builder, ports: &Ports, place: &Place, product: R32) -> R64 {
        let kept = self.kept();
        let row = b.mad_wide(product, 4 * kept.len() as u32, ports.addresses[self.shape.operands().len()]);
        let row = if kept.start == 0 { row } else { b.sub64(row, u64::from(4 * kept.start)) };
        b.mad_wide(place.thread, 4 * piece(self.limbs()[2]), row)
    }
}

impl Spec for Warpgroup {
    fn name(&self) -> String {
        let Self { shape, part: _, layout: _, products } = self;
        let operands = if self.part != Part::Whole {
            format!("{}_warpgroup", shape.name())
        } else if self.is_square() {
            let [a, _, c] = self.limbs();
            format!("sqr_warpgroup_{a}_{c}")
        } else {
            format!("mul_warpgroup_{}", shape.product_name())
        };
        format!("{operands}_p{products}")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(THREADS, self.products).with_shared(self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
