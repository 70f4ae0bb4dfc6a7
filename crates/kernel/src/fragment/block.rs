//! Exchanges between all threads of a block: for numbers that are spread over more than a warp.
//!
//! computes   the work of shuffles, votes and carry look-ahead within a warp
//! requires   whole warps, at most 16; every thread of the block takes part in everything
//! cost       an exchange: a store, a barrier, a load, a subtraction; a look-ahead 4 ballots and about 25 more.
//!            [`Block::shared_bytes`] of shared memory
//!
//! There are two slots of a word a thread, used in turn: what is written in one is read after the barrier. Which
//! slot is next is in a register, so that loops and branches, which all threads take together, do not matter.
//!
//! bound: a slot is written again two exchanges later. In between is the barrier of the other one, which no thread
//! passes before all have arrived there, having read; so a barrier an exchange is enough.
//!
//! source: ours. Carries go by look-ahead twice, in the warps and over them: see [`Carries`](super::Carries) for
//! the bound; a warp passes a carry on if all of its lanes do, and generates what `2g + p` leaves above its top.

use crate::build::{Builder, Emit, Pred, R32, V32};
use crate::ir::{Cmp, Shuffle, Special, Vector, Vote};

/// Most threads of a block whose numbers are spread over all of them.
const MAX_LANES: u32 = 512;

/// The threads of a block, and where they meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    lanes: u32,
    /// This thread's number.
    member: R32,
    /// The address, in the slot that comes next, of the word below this thread's.
    below: R32,
    /// The sum of that address and the one in the other slot.
    both: R32,
    /// From there to the word of the first thread of the warp with this lane's number, or to the zero at the end. A
    /// predicate that chooses would live through all of the kernel.
    to_warp: R32,
    /// Zero in one thread of the block, below 32 in the others of its warp: who works where one warp is enough.
    duty: R32,
}

impl Block {
    /// Bytes of shared memory for this many threads: two slots with a zero at either end.
    pub(super) const fn shared_bytes(lanes: u32) -> u32 {
        2 * Self::slot_bytes(lanes)
    }

    const fn slot_bytes(lanes: u32) -> u32 {
        4 * (lanes + 2)
    }

    /// All threads of a block of this many threads.
    pub(super) fn new(b: &mut Builder, lanes: u32, member: R32) -> Self {
        debug_assert!(lanes.is_power_of_two() && (32..=MAX_LANES).contains(&lanes));
        let base = b.shared_base();
        let below = b.mad_lo(member, 4, base);
        let doubled = b.add(below, below);
        let both = b.add(doubled, Self::slot_bytes(lanes));
        let zero = b.copy(0);
        let first = b.compare(Cmp::Eq, member, 0);
        b.guarded(first, true, |g| {
            for slot in [0, Self::slot_bytes(lanes)] {
                for end in [0, 4 * (lanes + 1)] {
                    g.store_shared(&[zero], below, slot + end);
                }
            }
        });
        let lane = b.and(member, 31);
        let is_warp = b.compare(Cmp::Lt, lane, lanes / 32);
        let word = b.mad_lo(lane, 32, 1);
        let word = b.select(word, lanes + 1, is_warp);
        let distance = b.sub(word, member);
        let to_warp = b.shl(distance, 2);
        // Warps with the same number are with the same scheduler, and so are blocks whose numbers differ by that of the
        // multiprocessors: the duty changes with the block in ways that both do not.
        let number = b.special(Special::Ctaid);
        let [quarter, sixteenth] = [2, 4].map(|n| b.shr(number, n));
        let mixed = b.xor(number, quarter);
        let mixed = b.xor(mixed, sixteenth);
        let chosen = b.and(mixed, lanes / 32 - 1);
        let chosen = b.shl(chosen, 5);
        let duty = b.xor(member, chosen);
        Self { lanes, member, below, both, to_warp, duty }
    }

    /// The value of the thread below; in the lowest zero.
    pub(super) fn value_below(&self, b: &mut Builder, value: R32) -> R32 {
        self.exchange(b, value, |b| b.load_shared(Vector::V1, self.below, 0)[0])
    }

    /// The value of the thread above; in the highest zero.
    pub(super) fn value_above(&self, b: &mut Builder, value: R32) -> R32 {
        self.exchange(b, value, |b| b.load_shared(Vector::V1, self.below, 8)[0])
    }

    /// The value of the thread with this number.
    pub(super) fn broadcast(&self, b: &mut Builder, value: R32, member: V32) -> R32 {
        self.exchange(b, value, |b| match member {
            V32::Imm(member) => {
                let first = b.mad_lo(self.member, 4_u32.wrapping_neg(), self.below);
                b.load_shared(Vector::V1, first, 4 * member + 4)[0]
            }
            V32::Reg(member) => {
                let distance = b.sub(member, self.member);
                let address = b.mad_lo(distance, 4, self.below);
                b.load_shared(Vector::V1, address, 4)[0]
            }
        })
    }

    /// The carry or borrow into this thread's limbs, and that out of the highest thread's, from what the limbs of
    /// each do by themselves; as [`Carries::look_ahead`](super::Carries::look_ahead).
    pub(super) fn look_ahead(&self, b: &mut Builder, generates: Pred, propagates: Pred) -> (R32, R32) {
        let (generate, propagate) = (b.ballot(generates), b.ballot(propagates));
        let doubled = b.add(generate, generate);
        let sum = b.add(doubled, propagate);
        // The warp alone: bit 0 tells that it generates a carry, bit 1 that it passes one on.
        let leaves = b.compare(Cmp::Lt, sum, propagate);
        let leaves = b.select(1, 0, leaves);
        let above = b.shr(generate, 31);
        let generates = b.or(leaves, above);
        let passes = b.compare(Cmp::Eq, propagate, u32::MAX);
        let passes = b.select(2, 0, passes);
        let word = b.or(generates, passes);
        let word = self.of_warps(b, word);
        let (over, into_warps) = carries_of_warps(b, word);
        let warp = b.shr(self.member, 5);
        let carry = b.bit(into_warps, warp);
        let sum = b.add(sum, carry);
        let into = b.xor(sum, propagate);
        let lane = b.special(Special::Lane);
        let into = b.bit(into, lane);
        (into, b.bit(over, self.lanes / 32))
    }

    /// Does it hold in any thread?
    pub(super) fn any(&self, b: &mut Builder, p: Pred) -> Pred {
        let any = b.vote(Vote::Any, p);
        let word = b.select(1, 0, any);
        let word = self.of_warps(b, word);
        let some = b.compare(Cmp::Ne, word, 0);
        b.vote(Vote::Any, some)
    }

    /// Does it hold in any thread above this one?
    pub(super) fn any_above(&self, b: &mut Builder, p: Pred) -> Pred {
        let lanes = b.ballot(p);
        let word = self.of_warps(b, lanes);
        let some = b.compare(Cmp::Ne, word, 0);
        let warps = b.ballot(some);
        let warp = b.shr(self.member, 5);
        let following = b.add(warp, 1);
        let warps = b.shr(warps, following);
        let higher = b.special(Special::LaneMaskGt);
        let lanes = b.and(lanes, higher);
        let above = b.or(lanes, warps);
        b.compare(Cmp::Ne, above, 0)
    }

    /// The value of the highest thread whose value is not zero; zero if there is none.
    pub(super) fn highest(&self, b: &mut Builder, value: R32) -> R32 {
        self.twice(b, value, |b, value| {
            let lanes = not_zero(b, value);
            let zeros = b.clz(lanes);
            let highest = b.sub(31, zeros);
            let highest = b.and(highest, 31);
            b.shuffle(Shuffle::Idx, value, highest, 32)
        })
    }

    /// The value of the lowest thread whose value is not zero; zero if there is none.
    pub(super) fn lowest(&self, b: &mut Builder, value: R32) -> R32 {
        self.twice(b, value, |b, value| {
            let lanes = not_zero(b, value);
            let reversed = b.brev(lanes);
            let lowest = b.clz(reversed);
            let lowest = b.and(lowest, 31);
            b.shuffle(Shuffle::Idx, value, lowest, 32)
        })
    }

    /// The sum of the values.
    pub(super) fn sum(&self, b: &mut Builder, value: R32) -> R32 {
        self.twice(b, value, |b, value| {
            [1, 2, 4, 8, 16].into_iter().fold(value, |sum, distance| {
                let other = b.shuffle(Shuffle::Bfly, sum, distance, 32);
                b.add(sum, other)
            })
        })
    }

    /// The largest of the values.
    pub(super) fn largest(&self, b: &mut Builder, value: R32) -> R32 {
        self.twice(b, value, |b, value| {
            [1, 2, 4, 8, 16].into_iter().fold(value, |largest, distance| {
                let other = b.shuffle(Shuffle::Bfly, largest, distance, 32);
                b.max(largest, other)
            })
        })
    }

    /// One warp executes the body; the values that all of its lanes have in some registers then, to all threads.
    pub(super) fn by_one_warp(&self, b: &mut Builder, values: &[R32], body: impl FnOnce(&mut Builder)) -> Vec<R32> {
        debug_assert!(values.len() as u32 <= self.lanes);
        let first = b.mad_lo(self.member, 4_u32.wrapping_neg(), self.below);
        let on_duty = b.compare(Cmp::Lt, self.duty, 32);
        b.if_(on_duty, |b| {
            body(b);
            let speaks = b.compare(Cmp::Eq, self.duty, 0);
            b.guarded(speaks, true, |g| {
                for (&value, i) in values.iter().zip(1..) {
                    g.store_shared(&[value], first, 4 * i);
                }
            });
        });
        b.barrier();
        let found = (1..=values.len() as u32).map(|i| b.load_shared(Vector::V1, first, 4 * i)[0]).collect();
        self.turn(b);
        found
    }

    /// In the warps, then over them.
    fn twice(&self, b: &mut Builder, value: R32, in_warp: impl Fn(&mut Builder, R32) -> R32) -> R32 {
        let value = in_warp(b, value);
        let value = self.of_warps(b, value);
        in_warp(b, value)
    }

    /// In each lane the value of the warp with the lane's number, zero if there is none. In a warp all values are
    /// equal.
    fn of_warps(&self, b: &mut Builder, value: R32) -> R32 {
        self.exchange(b, value, |b| {
            let address = b.add(self.below, self.to_warp);
            b.load_shared(Vector::V1, address, 0)[0]
        })
    }

    /// Each thread writes its value; `read` reads any of them.
    fn exchange(&self, b: &mut Builder, value: R32, read: impl FnOnce(&mut Builder) -> R32) -> R32 {
        b.store_shared(&[value], self.below, 4);
        b.barrier();
        let found = read(b);
        self.turn(b);
        found
    }

    /// The other slot comes next.
    fn turn(&self, b: &mut Builder) {
        let other = b.sub(self.both, self.below);
        b.set(self.below, other);
    }
}

/// The lanes of the warp whose value is not zero.
fn not_zero(b: &mut Builder, value: R32) -> R32 {
    let some = b.compare(Cmp::Ne, value, 0);
    b.ballot(some)
}

/// The look-ahead over the warps of a block. `word`: in the lane with a warp's number 1 if a carry leaves the warp, 2 if the warp passes a carry on;
/// not both. Gives a mask whose bit `w` is the carry into warp `w`. Bit `n` of the number before it is the carry that leaves a block of `n` warps.
pub fn carries_of_warps(b: &mut Builder, word: R32) -> (R32, R32) {
    let [generates, passes] = ballots_of_flags(b, word);
    let doubled = b.add(generates, generates);
    let over = b.add(doubled, passes);
    (over, b.xor(over, passes))
}

/// The lanes of the warp in whose word bit 0 is set, and those in whose word bit 1 is set.
pub fn ballots_of_flags(b: &mut Builder, word: R32) -> [R32; 2] {
    [1, 2].map(|bit| {
        let bit = b.and(word, bit);
        not_zero(b, bit)
    })
}
