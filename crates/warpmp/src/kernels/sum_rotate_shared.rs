//! `sum-rotate-shared`: Algorithm 3 with shared memory in place of shuffles.
//!
//! computes   c = a·b            a, b: at most `w` limbs, `w` = 2, 4, 8, 16 or 32 threads a product
//! launch     32·warps threads a block, 32/w products a warp, 20 bytes of shared memory a thread
//! cost       `w` steps of one wide product, a broadcast load, a store and a load of two words, a barrier
//!            of the warp, five additions and selections; then a loop of at most `w − 1` rounds while any
//!            thread has a carry
//!
//! The words of `b` lie in shared memory, and each step reads one of them. `v` and `c'` go round together
//! as a pair. Two sets of slots take turns, so that one barrier a step is enough: a set is written again
//! only after the barrier that follows its reads. No two threads meet in a bank.
//!
//! bound: that of `sum-rotate`: `aᵢ·b' + {u, v} < 2⁶⁵`, and `{t, u} + v < 2⁶⁴`.
//!
//! source: Honda's dissertation, Algorithm 3 and Table 3.3, row "one warp with shared memory".

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Cmp, Vector, Vote};
use warpmp_launch::Stage;

use super::packed::{MAX_LIMBS, Packed, Place, Slots};
use super::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumRotateShared {
    /// The operands.
    pub shape: OperationShape,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "sum-rotate-shared",
    summary: "the paper's Algorithm 3 with shared memory in place of shuffles",
    accepts: "operands to 1024 bits",
    order: Order::ShorterFirst,
    fits: |shape| shape.max_limbs() <= MAX_LIMBS,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Box::new(SumRotateShared { shape, warps: settings.warps.unwrap_or(8) }),
        candidates: candidates::warps,
    },
};

impl SumRotateShared {
    const fn frame(&self) -> Packed {
        Packed { shape: self.shape, warps: self.warps }
    }
}

impl Spec for SumRotateShared {
    fn name(&self) -> String {
        self.frame().name("sum_rotate_shared")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let threads = 32 * self.warps;
        let arithmetic = move |b: &mut Builder, place, words| sum_rotate(b, place, threads, words);
        vec![self.frame().stage("sum_rotate_shared", Slots::BYTES + 4, arithmetic)]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.frame().width()).pow(2)
    }
}

/// The low and the high word of the thread.
fn sum_rotate(b: &mut Builder, place: Place, threads: u32, [x, y]: [R32; 2]) -> [R32; 2] {
    let (above, below) = (place.right(b), place.left(b));
    let last = b.compare(Cmp::Eq, place.i, place.w - 1);
    // Behind the slots: b, as it comes.
    let from_above = Slots::new(b, 0, threads, &place, above);
    let shared = b.shared_base();
    let own = b.mad_lo(place.thread, 4, shared);
    b.store_shared(&[y], own, Slots::BYTES * threads);
    let group = b.sub(place.thread, place.i);
    let multiplier = b.mad_lo(group, 4, shared);
    b.warp_barrier();
    let (mut u, mut v, mut c) = (b.copy(0), b.copy(0), b.copy(0));
    for j in 0..place.w {
        let broadcast = b.load_shared(Vector::V1, multiplier, Slots::BYTES * threads + 4 * j)[0];
        // {t, u, v} ← a·b' + {u, v}
        let mut chain = b.chain();
        v = chain.mad_lo(x, broadcast, v);
        u = chain.mad_hi(x, broadcast, u);
        let t = chain.carry();
        let [arrived, handed] = from_above.exchange(b, j, [v, c]);
        c = b.select(arrived, handed, last);
        let arrived = b.select(0, arrived, last);
        // {u, v} ← {t, u} + v
        let sum = b.register();
        let mut chain = b.chain();
        v = chain.add(arrived, u);
        chain.end_add(sum, t, 0);
        u = sum;
    }
    let from_below = Slots::new(b, 0, threads, &place, below);
    let high = run_carries(b, from_below, u, v);
    [c, high]
}

/// The loop `while any(u)`: `v` when nothing carries any more.
fn run_carries(b: &mut Builder, from_below: Slots, u: R32, v: R32) -> R32 {
    let more = |b: &mut Builder| {
        let some = b.compare(Cmp::Ne, u, 0);
        b.vote(Vote::Any, some)
    };
    b.while_(more, |b| {
        b.warp_barrier();
        let [arrived, _] = from_below.exchange(b, 0, [u, u]);
        let mut chain = b.chain();
        chain.add_into(v, v, arrived);
        let carry = chain.carry();
        b.set(u, carry);
    });
    v
}
