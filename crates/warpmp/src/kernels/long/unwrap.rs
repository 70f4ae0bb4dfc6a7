//! A product from its lower limbs and from the product modulo `Bⁿ + 1`.
//!
//! computes   `P` of `n + h` limbs from `S = P` modulo `Bⁿ + 1`, a signed number of `n + 1` limbs at the beginning of the same row, and from the lower
//!            `h` limbs of `P`; or of `P` only the limbs of a row of at most `n` limbs, at whose beginning are those of `S`
//! requires   `h ≤ n`
//! launch     a warp a lane, four lanes a block
//! cost       `h` limbs of both rows read, twice as many written; then 128 limbs of the row for each turn that a carry takes: seldom more than one
//! registers  at most 48
//!
//! The transform computes with coefficients. Let those of `P` that come back make the number `H`, and the others `L + t·Bⁿ` with `0 ≤ L < Bⁿ`. So
//! `P = L + (H + t)·Bⁿ` and `S = L + t·Bⁿ − H`.
//!
//! bound: `−2²⁹ < H < Bʰ + 2²⁹`, and `0 ≤ H < Bʰ` where digits have no signs. The lower limbs of `L` are those of `P`, so `H = P − S` modulo `Bʰ`, and
//! `L = S + H` modulo `Bⁿ`. Let `t′` be limb `n` of `S`, `|t′| < 2²⁹`. The sum of `H` modulo `Bʰ` and `t′` is a number `u` of `h` limbs and a multiple `κ` of `Bʰ`, −1, 0 or 1.
//! Without a carry that leaves `L`, `t = t′`, and as `0 ≤ H + t < Bʰ`, `H` itself is less by `κ·Bʰ`. So the carry from the lower limbs of `S + H` to the others
//! is `c − κ` for a borrow `c` of `P − S`: from −1 to 2. With a carry that leaves `L` that is right, too, unless `u` is `Bʰ − 1` and the carry 1, or `u = 0` and the carry
//! −1. In the first case `H + t = 0`, `t < 0` and `P = L < 2²⁹`, but factors with coefficients that come back have a greater product. In the second case
//! `H + t = Bʰ − 1`, but `H < 0`, as the carry says. Without limb `n` of `S`, one more limb of `H` has its sign.

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, add_carry_to_row};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Ports, Spec, Stage};

use super::source::Number;

/// Warps of a block.
const WARPS: u32 = 4;

/// Limbs that a thread has in a turn, at most: as many loads of a row are under way.
const LIMBS: u32 = 8;

/// The same where a carry runs on, which seldom takes more than one turn.
const LIMBS_OF_CARRY: u32 = 4;

/// Parameters of the kernel. Those of its launch: the lower limbs of the product, the row of the result; lanes.
#[derive(Clone, Debug)]
pub(super) struct Unwrap {
    /// The lower limbs of the product, `h` at least.
    pub(super) low: Number,
    /// The result: in the beginning the product modulo `Bⁿ + 1`.
    pub(super) result: Number,
    /// The limbs `n`.
    pub(super) modulus: u32,
    /// The limbs `h`.
    pub(super) above: u32,
    /// Has `H` a sign? Then `h` is greater by one limb where limb `n` of `S` does not tell it.
    pub(super) is_signed: bool,
}

/// The limbs of a lane.
struct Lane {
    /// Where the row of the result begins.
    row: R64,
    /// The number of the thread in the warp that has the lane.
    member: R32,
}

impl Unwrap {
    /// The rows in the order of the parameters.
    pub(super) fn rows(&self) -> [Number; 2] {
        [self.low, self.result]
    }

    /// Has the result all limbs of the product?
    const fn is_whole(&self) -> bool {
        self.result.limbs > self.modulus
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, Ports { addresses, lanes }) = entry.open(&self.name(), Glue::None, &["low", "product"], false);
        b.bounds(Bounds { max_threads: Some(32 * WARPS), ..Bounds::default() });
        b.section("setup");
        let block = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let number = b.mad_lo(block, WARPS, warp);
        let outside = b.compare(Cmp::Ge, number, lanes);
        b.return_if(outside);
        let member = b.special(Special::Lane);
        let [low, row] = [0, 1].map(|i| self.rows()[i].row(&mut b, addresses[i], number));
        let top = self.is_whole().then(|| {
            let top = b.load_global(Space::Global, Vector::V1, row, 4 * self.modulus)[0];
            // It is read before it is overwritten.
            b.warp_barrier();
            top
        });
        let lane = Lane { row, member };
        let carry = self.difference(&mut b, &lane, low, top);
        b.section("carry");
        let carries = b.compare(Cmp::Ne, carry, 0);
        b.if_(carries, |b| {
            // The complement of a row takes a carry of −1 as one of 1.
            let mask = b.shr_signed(carry, 31);
            let sign = b.or(mask, 1);
            b.do_while(|b| {
                let leaving = b.copy(1);
                lane.add(b, [self.above, self.modulus.min(self.result.limbs)], mask, leaving);
                if self.is_whole() {
                    let leaves = b.compare(Cmp::Ne, leaving, 0);
                    b.if_(leaves, |b| lane.add(b, [self.modulus, self.result.limbs], mask, leaving));
                }
                let rest = b.sub(carry, sign);
                b.set(carry, rest);
                b.compare(Cmp::Ne, carry, 0)
            });
        });
        b.finish()
    }

    /// Writes the lower limbs of the product and, if it is whole, `H` and limb `n` of `S` above limb `n`. Returns the carry into the limbs after the lower ones.
    fn difference(&self, b: &mut Builder, lane: &Lane, low: R64, top: Option<R32>) -> R32 {
        b.section("difference");
        let [borrow, carry, highest] = [(); 3].map(|()| b.copy(0));
        let sign = top.map(|top| b.shr_signed(top, 31));
        let count = LIMBS.min(self.above.div_ceil(32));
        lane.turns(b, count, [0, self.above], |b, first, inside| {
            let own = b.add(first, lane.member);
            let [low, row] = [low, lane.row].map(|row| b.mad_wide(own, 4, row));
            let [known, wrapped] = [low, row].map(|row| load(b, row, inside));
            // `ptxas` moves loads to their first use. It moves none across a barrier.
            b.warp_barrier();
            for ((&known, &limb), (&inside, i)) in known.iter().zip(&wrapped).zip(inside.iter().zip(0..)) {
                let generates = b.compare(Cmp::Lt, known, limb);
                let passes = b.compare(Cmp::Eq, known, limb);
                let enters = through(b, generates, passes, borrow);
                let difference = b.sub(known, limb);
                let difference = b.sub(difference, enters);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[known], row, 128 * i));
                let number = b.add(own, 32 * i);
                let Some((top, sign)) = top.zip(sign) else {
                    if self.is_signed {
                        let is_highest = b.compare(Cmp::Eq, number, self.above - 1);
                        b.guarded(is_highest, true, |g| g.set(highest, difference));
                    }
                    continue;
                };
                // `H` and limb `n` of `S`, a number with a sign. A limb outside passes the carry on.
                let is_lowest = b.compare(Cmp::Eq, number, 0);
                let added = b.select(top, sign, is_lowest);
                let sum = b.add(difference, added);
                let sum = b.select(sum, u32::MAX, inside);
                let generates = b.compare(Cmp::Lt, sum, added);
                let passes = b.compare(Cmp::Eq, sum, u32::MAX);
                let enters = through(b, generates, passes, carry);
                let sum = b.add(sum, enters);
                let stays = b.compare(Cmp::Lt, number, self.result.limbs - self.modulus);
                b.guarded(stays, true, |g| {
                    g.store_global(Space::Global, &[sum], row, 4 * (self.modulus + 32 * i));
                });
            }
            None
        });
        if let Some(sign) = sign {
            let multiple = b.add(carry, sign);
            return b.sub(borrow, multiple);
        }
        if !self.is_signed {
            return borrow;
        }
        let is_negative = b.compare_signed(Cmp::Lt, highest, 0);
        let is_negative = b.ballot(is_negative);
        let is_negative = b.compare(Cmp::Ne, is_negative, 0);
        let less = b.sub(borrow, 1);
        b.select(less, borrow, is_negative)
    }
}

/// The carry into this lane's limb of 32. `carry`, the carry into the lowest lane, becomes that out of the highest one.
fn through(b: &mut Builder, generates: Pred, passes: Pred, carry: R32) -> R32 {
    let carries = Carries::look_ahead(b, generates, passes, 32).entered(b, carry);
    let leaves = carries.leaving(b);
    b.set(carry, leaves);
    carries.into_lane(b)
}

impl Lane {
    /// Turns of the warp over the limbs from `from` to `end`, `count` of them a thread. `turn`: from a turn's first limb, without that of the thread, and where the thread's limbs
    /// are inside; it tells whether there is more to do.
    fn turns(
        &self,
        b: &mut Builder,
        count: u32,
        [from, end]: [u32; 2],
        turn: impl FnOnce(&mut Builder, R32, &[Pred]) -> Option<Pred>,
    ) {
        let first = b.copy(from);
        b.do_while(|b| {
            let own = b.add(first, self.member);
            let inside = |i| {
                let limb = b.add(own, 32 * i);
                b.compare(Cmp::Lt, limb, end)
            };
            let inside: Vec<Pred> = (0..count).map(inside).collect();
            let goes_on = turn(b, first, &inside);
            b.increase(first, 32 * count);
            let more = b.compare(Cmp::Lt, first, end);
            goes_on.map_or(more, |goes_on| b.and_pred(more, goes_on))
        });
    }

    /// Adds a carry to the limbs from `from` to `end`, or subtracts it where the mask is all ones. `carry` becomes the one that leaves them.
    fn add(&self, b: &mut Builder, limbs: [u32; 2], mask: R32, carry: R32) {
        self.turns(b, LIMBS_OF_CARRY, limbs, |b, first, inside| {
            let own = b.add(first, self.member);
            let row = b.mad_wide(own, 4, self.row);
            let limbs = load(b, row, inside);
            for ((&limb, &inside), i) in limbs.iter().zip(inside).zip(0..) {
                // A limb outside passes the carry on.
                let limb = b.xor(limb, mask);
                let limb = b.select(limb, u32::MAX, inside);
                let limb = add_carry_to_row(b, limb, carry, self.member);
                let limb = b.xor(limb, mask);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], row, 128 * i));
            }
            Some(b.compare(Cmp::Ne, carry, 0))
        });
    }
}

/// The limbs of a thread, 0 where they are outside.
fn load(b: &mut Builder, row: R64, inside: &[Pred]) -> Vec<R32> {
    let load = |(&inside, i): (&Pred, u32)| {
        let limb = b.copy(0);
        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], row, 128 * i));
        limb
    };
    inside.iter().zip(0..).map(load).collect()
}

impl Spec for Unwrap {
    fn name(&self) -> String {
        let Self { low, result, modulus, above, is_signed } = self;
        let sign = if *is_signed { "_signed" } else { "" };
        format!("unwrap_{}_{}_{modulus}_{above}{sign}", low.row_limbs, result.row_limbs)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::of_groups(WARPS, 32), |entry| self.kernel(entry))]
    }
}
