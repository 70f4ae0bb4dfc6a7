//! Numbers spread over the lanes of a group, or held by one lane: sums, differences, choices.
//!
//! computes   on numbers of `group·length` limbs, `length` consecutive limbs a lane, the least significant in
//!            the lowest lane; every number of a warp at the same time
//! cost       a sum or a difference: `length` additions; in a group 2 ballots and about `length + 12` more, in a
//!            block an exchange through shared memory besides
//!
//! Code that is written with a [`Spread`] serves one thread a number, a warp a number and a block a number alike.
//! All 32 lanes of a warp take part in everything; where a number has more than 32 lanes, they are all the threads of a
//! block, and all of them do.
//!
//! bound: see [`Carries`] for the look-ahead over the lanes of a group, [`block`](super::block) for that over warps.
//!
//! source: ours.

use super::block::Block;
use super::{Carries, Rows, all_ones, all_zeros, wrapping_add_small, wrapping_sub_small};
use crate::build::{Builder, Emit, Pred, R32, V32};
use crate::ir::{Cmp, Shuffle};

/// How numbers lie in the lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Lanes a number: a power of two. Above 32 lanes, the number takes all lanes of the block.
    pub group: u32,
    /// Limbs a lane.
    pub length: usize,
    /// This lane's number in its group.
    pub member: R32,
    /// The lane above in the group; of the highest the lowest.
    next: R32,
    /// The lane below in the group; of the lowest the highest.
    previous: R32,
    /// All ones but in the lowest lane of a group.
    above_bottom: R32,
    /// Where the warps of a number meet, if it has several.
    block: Option<Block>,
}

impl Spread {
    /// Numbers of `group·length` limbs. `thread`: any number that counts the lanes of a warp upwards.
    pub fn new(b: &mut Builder, group: u32, length: usize, thread: R32) -> Self {
        let member = b.and(thread, group - 1);
        let [next, previous] = [1, u32::MAX].map(|distance| {
            let sum = b.add(member, distance);
            b.and(sum, group - 1)
        });
        let bottom = b.compare(Cmp::Eq, member, 0);
        let above_bottom = b.select(0, u32::MAX, bottom);
        let block = (group > 32).then(|| Block::new(b, group, member));
        Self { group, length, member, next, previous, above_bottom, block }
    }

    /// Bytes of shared memory that a block needs for numbers of this many lanes.
    pub const fn shared_bytes(group: u32) -> u32 {
        if group > 32 { Block::shared_bytes(group) } else { 0 }
    }

    /// The value that a lane of the group has, by its number there.
    pub fn broadcast(&self, b: &mut Builder, value: R32, member: impl Into<V32>) -> R32 {
        if let Some(block) = &self.block {
            return block.broadcast(b, value, member.into());
        }
        if self.group == 1 { value } else { b.shuffle(Shuffle::Idx, value, member, self.group) }
    }

    /// The value of the lane above. The highest lane gets the value of the lowest lane or, in a block, zero.
    pub fn from_above(&self, b: &mut Builder, value: R32) -> R32 {
        if let Some(block) = &self.block {
            return block.value_above(b, value);
        }
        if self.group == 1 { value } else { b.shuffle(Shuffle::Idx, value, self.next, self.group) }
    }

    /// The value of the lane below; in the lowest lane zero.
    pub fn from_below(&self, b: &mut Builder, value: R32) -> R32 {
        if let Some(block) = &self.block {
            return block.value_below(b, value);
        }
        if self.group == 1 {
            return b.copy(0);
        }
        let below = b.shuffle(Shuffle::Idx, value, self.previous, self.group);
        b.and(below, self.above_bottom)
    }

    /// `value` in the lowest lane of each group, `other` in the others.
    pub fn at_bottom(&self, b: &mut Builder, value: R32, other: R32) -> R32 {
        b.lop3(self.above_bottom, other, value, 0xCA)
    }

    /// Of each number the value in its top lane.
    pub fn top(&self, b: &mut Builder, value: R32) -> R32 {
        self.broadcast(b, value, self.group - 1)
    }

    /// `x + y`, and the carry out: 0 or 1, the same in all lanes of the group.
    pub fn add(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, R32) {
        self.one(b, Sum::Add(x, y))
    }

    /// Sums and differences, with their carries and borrows: part by part in turns, so that none waits for the ballots of the others.
    pub fn sums(&self, b: &mut Builder, sums: &[Sum<'_>]) -> Vec<(Vec<R32>, R32)> {
        let pending = sums.iter().map(|sum| self.pending(b, *sum)).collect();
        self.resolved(b, pending)
    }

    fn one(&self, b: &mut Builder, sum: Sum<'_>) -> (Vec<R32>, R32) {
        let pending = self.pending(b, sum);
        self.resolved_one(b, pending)
    }

    /// A sum or difference within the lanes.
    fn pending(&self, b: &mut Builder, sum: Sum<'_>) -> Pending {
        match sum {
            Sum::Add(x, y) => {
                let (limbs, out) = super::add_limbs(b, x, y);
                self.carrying(b, limbs, out)
            }
            Sum::Sub(x, y) => {
                let mut chain = b.chain();
                let limbs: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| chain.sub(x, y)).collect();
                let mask = chain.borrow_mask();
                if self.group == 1 {
                    let out = b.and(mask, 1);
                    return Pending { limbs, between: Between::Nothing(out) };
                }
                let generates = b.compare(Cmp::Ne, mask, 0);
                let propagates = all_zeros(b, &limbs);
                Pending { limbs, between: Between::Borrows(generates, propagates) }
            }
        }
    }

    /// A sum within the lanes, and what carries out of each.
    fn carrying(&self, b: &mut Builder, limbs: Vec<R32>, out: R32) -> Pending {
        if self.group == 1 {
            return Pending { limbs, between: Between::Nothing(out) };
        }
        let generates = b.compare(Cmp::Ne, out, 0);
        let propagates = all_ones(b, &limbs);
        Pending { limbs, between: Between::Carries(generates, propagates) }
    }

    /// The numbers with the carries and borrows between lanes, and what leaves them.
    fn resolved(&self, b: &mut Builder, pending: Vec<Pending>) -> Vec<(Vec<R32>, R32)> {
        if self.block.is_some() {
            return pending.into_iter().map(|pending| self.resolved_one(b, pending)).collect();
        }
        let carries: Vec<Option<Carries>> = pending.iter().map(|pending| self.look_ahead(b, pending)).collect();
        pending.into_iter().zip(carries).map(|(pending, carries)| pending.resolve(b, carries)).collect()
    }

    fn resolved_one(&self, b: &mut Builder, pending: Pending) -> (Vec<R32>, R32) {
        if let (Some(block), Between::Carries(generates, propagates) | Between::Borrows(generates, propagates)) =
            (&self.block, &pending.between)
        {
            let (into, out) = block.look_ahead(b, *generates, *propagates);
            return (pending.take_in(b, into), out);
        }
        let carries = self.look_ahead(b, &pending);
        pending.resolve(b, carries)
    }

    /// The carries or borrows within a warp, if there are any between lanes.
    fn look_ahead(&self, b: &mut Builder, pending: &Pending) -> Option<Carries> {
        match pending.between {
            Between::Nothing(_) => None,
            Between::Carries(generates, propagates) | Between::Borrows(generates, propagates) => {
                Some(Carries::look_ahead(b, generates, propagates, self.group))
            }
        }
    }

    /// The sum of a row by `factor` with what the rows hold: its limbs, and what stands above them.
    pub fn settle_rows(&self, b: &mut Builder, mut rows: Rows, factor: R32) -> (Vec<R32>, R32) {
        let low = rows.row(b, factor);
        let mut sum = vec![low];
        sum.extend(rows.finish(b));
        let excess = sum.pop().unwrap_or(low);
        self.settle(b, &sum, excess)
    }

    /// `x + e·B^length` with a word `e` a lane that belongs to the lane above: the number, and what stands above
    /// it, the same in all lanes of the group.
    pub fn settle(&self, b: &mut Builder, x: &[R32], excess: R32) -> (Vec<R32>, R32) {
        if self.group == 1 {
            return (x.to_vec(), excess);
        }
        let pending = self.unsettled(b, x, excess);
        let (sum, carry) = self.resolved_one(b, pending);
        self.settled(b, sum, carry, excess)
    }

    /// The same for several numbers, in turns.
    pub fn settle_all(&self, b: &mut Builder, numbers: Vec<(Vec<R32>, R32)>) -> Vec<(Vec<R32>, R32)> {
        if self.group == 1 {
            return numbers;
        }
        let pending = numbers.iter().map(|(x, excess)| self.unsettled(b, x, *excess)).collect();
        let sums = self.resolved(b, pending).into_iter().zip(&numbers);
        sums.map(|((sum, carry), (_, excess))| self.settled(b, sum, carry, *excess)).collect()
    }

    /// The same without what stands above the numbers.
    pub fn settle_all_wrapping(&self, b: &mut Builder, numbers: Vec<(Vec<R32>, R32)>) -> Vec<Vec<R32>> {
        if self.group == 1 {
            return numbers.into_iter().map(|(x, _)| x).collect();
        }
        let pending = numbers.iter().map(|(x, excess)| self.unsettled(b, x, *excess)).collect();
        self.resolved(b, pending).into_iter().map(|(sum, _)| sum).collect()
    }

    fn unsettled(&self, b: &mut Builder, x: &[R32], excess: R32) -> Pending {
        let incoming = self.from_below(b, excess);
        let last: R32 = b.register();
        let mut chain = b.chain();
        let sum = x.iter().enumerate();
        let sum = sum.map(|(k, &limb)| if k == 0 { chain.add(limb, incoming) } else { chain.add(limb, 0) }).collect();
        chain.end_add(last, 0, 0);
        self.carrying(b, sum, last)
    }

    fn settled(&self, b: &mut Builder, sum: Vec<R32>, carry: R32, excess: R32) -> (Vec<R32>, R32) {
        let above = self.top(b, excess);
        (sum, b.add(above, carry))
    }

    /// `x − y`, and the borrow: 0 or 1, the same in all lanes of the group.
    pub fn sub(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, R32) {
        self.one(b, Sum::Sub(x, y))
    }

    /// `x + above·B^…` modulo `m`, if it is less than `2m`. `above`: the same in all lanes of the group.
    pub fn reduce_once(&self, b: &mut Builder, x: &[R32], above: R32, m: &[R32]) -> Vec<R32> {
        // Zero if nothing is borrowed from above, all ones if there is nothing to borrow.
        let (difference, rest) = if self.group == 1 {
            let rest: R32 = b.register();
            let mut chain = b.chain();
            let difference: Vec<R32> = x.iter().zip(m).map(|(&x, &m)| chain.sub(x, m)).collect();
            chain.wrap_sub(rest, above, 0);
            (difference, rest)
        } else {
            let (difference, borrow) = self.sub(b, x, m);
            let rest = b.sub(above, borrow);
            (difference, rest)
        };
        let is_less = b.compare(Cmp::Ne, rest, 0);
        select(b, is_less, x, &difference)
    }

    /// The same for several numbers, in turns.
    pub fn reduce_all(&self, b: &mut Builder, numbers: &[(Vec<R32>, R32)], m: &[R32]) -> Vec<Vec<R32>> {
        if self.group == 1 {
            return numbers.iter().map(|(x, above)| self.reduce_once(b, x, *above, m)).collect();
        }
        let differences: Vec<Sum<'_>> = numbers.iter().map(|(x, _)| Sum::Sub(x, m)).collect();
        let reduced = self.sums(b, &differences).into_iter().zip(numbers);
        let chosen = reduced.map(|((difference, borrow), (x, above))| {
            let rest = b.sub(*above, borrow);
            let is_less = b.compare(Cmp::Ne, rest, 0);
            select(b, is_less, x, &difference)
        });
        chosen.collect()
    }

    /// `2x`, and the bit that leaves at the top, the same in all lanes of the group.
    pub fn double(&self, b: &mut Builder, x: &[R32]) -> (Vec<R32>, R32) {
        let top = x[x.len() - 1];
        let below = self.from_below(b, top);
        let doubled = (0..x.len()).map(|k| b.funnel_left(if k == 0 { below } else { x[k - 1] }, x[k], 1)).collect();
        let out = b.shr(top, 31);
        (doubled, self.top(b, out))
    }

    /// The small number.
    pub fn small(&self, b: &mut Builder, value: impl Into<V32>) -> Vec<R32> {
        let value = b.copy(value);
        let low = b.lop3(value, self.above_bottom, 0, 0x30);
        (0..self.length).map(|k| if k == 0 { low } else { b.copy(0) }).collect()
    }

    /// Is the number zero? The same in all lanes of the group.
    pub fn is_zero(&self, b: &mut Builder, x: &[R32]) -> Pred {
        let zero = all_zeros(b, x);
        if self.group == 1 {
            return zero;
        }
        let others = b.not_pred(zero);
        if let Some(block) = &self.block {
            let others = block.any(b, others);
            return b.not_pred(others);
        }
        let others = b.ballot(others);
        let mine = self.mask_of_group(b);
        let others = b.and(others, mine);
        b.compare(Cmp::Eq, others, 0)
    }

    /// `B^… − x`: the two's complement.
    pub fn negate(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let zero: Vec<R32> = x.iter().map(|_| b.copy(0)).collect();
        self.sub(b, &zero, x).0
    }

    /// The bits of the number up to its highest one, the same in all lanes of the group; of zero 0.
    pub fn bit_length(&self, b: &mut Builder, x: &[R32]) -> R32 {
        // The highest limb that is not zero, and where it ends.
        let [mut limb, mut end] = [0, 32].map(|none| b.copy(none));
        for (&other, place) in x.iter().zip((32..).step_by(32)) {
            let some = b.compare(Cmp::Ne, other, 0);
            limb = b.select(other, limb, some);
            end = b.select(place, end, some);
        }
        let zeros = b.clz(limb);
        let bits = b.sub(end, zeros);
        let some = b.compare(Cmp::Ne, bits, 0);
        let below = b.mul_lo(self.member, 32 * self.length as u32);
        let bits = b.add(below, bits);
        let bits = b.select(bits, 0, some);
        if let Some(block) = &self.block {
            return block.highest(b, bits);
        }
        if self.group == 1 {
            return bits;
        }
        let some = b.compare(Cmp::Ne, bits, 0);
        let lanes = b.ballot(some);
        let mine = self.mask_of_group(b);
        let lanes = b.and(lanes, mine);
        // The number of the highest lane that has a bit; any lane where none has.
        let zeros = b.clz(lanes);
        let highest = b.sub(31, zeros);
        let highest = b.and(highest, self.group - 1);
        self.broadcast(b, bits, highest)
    }

    /// The bits of the number below its lowest one, the same in all lanes of the group; of zero, all of them or more.
    pub fn trailing_zeros(&self, b: &mut Builder, x: &[R32]) -> R32 {
        let below = b.mul_lo(self.member, 32 * self.length as u32);
        let zeros = b.add(below, 32 * self.length as u32);
        for (k, &limb) in x.iter().enumerate().rev() {
            let at = 32 * k as u32;
            let reversed = b.brev(limb);
            let low = b.clz(reversed);
            let here = b.add(below, at);
            let here = b.add(here, low);
            let some = b.compare(Cmp::Ne, limb, 0);
            let best = b.select(here, zeros, some);
            b.set(zeros, best);
        }
        if self.group == 1 {
            return zeros;
        }
        let empty = all_zeros(b, x);
        if let Some(block) = &self.block {
            // From the top, which is zero where there is no bit.
            let all = 32 * self.group * self.length as u32;
            let from_top = b.sub(all, zeros);
            let from_top = b.select(0, from_top, empty);
            let from_top = block.lowest(b, from_top);
            return b.sub(all, from_top);
        }
        let some = b.not_pred(empty);
        let lanes = b.ballot(some);
        let mine = self.mask_of_group(b);
        let lanes = b.and(lanes, mine);
        // The number of the lowest lane that has a bit; any where none has.
        let reversed = b.brev(lanes);
        let lowest = b.clz(reversed);
        let lowest = b.and(lowest, self.group - 1);
        let found = self.broadcast(b, zeros, lowest);
        let none = b.compare(Cmp::Eq, lanes, 0);
        b.select(32 * self.group * self.length as u32, found, none)
    }

    /// Does it hold in any of the number's lanes above this one?
    pub fn any_above(&self, b: &mut Builder, p: Pred) -> Pred {
        if let Some(block) = &self.block {
            return block.any_above(b, p);
        }
        let lanes = b.ballot(p);
        let group = self.mask_of_group(b);
        let higher = b.special(crate::ir::Special::LaneMaskGt);
        let lanes = b.and(lanes, group);
        let lanes = b.and(lanes, higher);
        b.compare(Cmp::Ne, lanes, 0)
    }

    /// The sum of a word over the lanes of the group.
    pub fn sum(&self, b: &mut Builder, mut value: R32) -> R32 {
        if let Some(block) = &self.block {
            return block.sum(b, value);
        }
        let mut distance = 1;
        while distance < self.group {
            let other = b.shuffle(Shuffle::Bfly, value, distance, 32);
            value = b.add(value, other);
            distance *= 2;
        }
        value
    }

    /// The largest of the values of the lanes of the group.
    pub fn largest(&self, b: &mut Builder, mut value: R32) -> R32 {
        if let Some(block) = &self.block {
            return block.largest(b, value);
        }
        let mut distance = 1;
        while distance < self.group {
            let other = b.shuffle(Shuffle::Bfly, value, distance, 32);
            value = b.max(value, other);
            distance *= 2;
        }
        value
    }

    /// The values of some registers after the body, which is the same for all lanes of a number: where they are several
    /// warps one executes it, and gives the others the values.
    pub fn by_one_warp(&self, b: &mut Builder, values: &[R32], body: impl FnOnce(&mut Builder)) -> Vec<R32> {
        if let Some(block) = &self.block {
            return block.by_one_warp(b, values, body);
        }
        body(b);
        values.to_vec()
    }

    /// Orders the memory accesses of the lanes of a number.
    pub fn fence(&self, b: &mut Builder) {
        if self.block.is_some() {
            b.barrier();
        } else {
            b.warp_barrier();
        }
    }

    /// The lanes of this lane's group, as a mask; of a group within a warp.
    pub fn mask_of_group(&self, b: &mut Builder) -> R32 {
        let lane = b.special(crate::ir::Special::Lane);
        let first = b.sub(lane, self.member);
        let ones = u32::MAX >> (32 - self.group);
        b.shl(ones, first)
    }
}

/// A sum or a difference that is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Sum<'a> {
    /// `x + y`.
    Add(&'a [R32], &'a [R32]),
    /// `x − y`.
    Sub(&'a [R32], &'a [R32]),
}

/// A number whose lanes do not know yet what enters them.
struct Pending {
    limbs: Vec<R32>,
    between: Between,
}

/// What happens between lanes.
enum Between {
    /// There is one lane, and what leaves it is known.
    Nothing(R32),
    /// Lanes that generate carries, and lanes that pass them on.
    Carries(Pred, Pred),
    /// The same for borrows.
    Borrows(Pred, Pred),
}

impl Pending {
    fn resolve(self, b: &mut Builder, carries: Option<Carries>) -> (Vec<R32>, R32) {
        match (&self.between, carries) {
            (Between::Nothing(out), _) => (self.limbs, *out),
            (Between::Carries(..) | Between::Borrows(..), Some(carries)) => {
                let into = carries.into_lane(b);
                let resolved = self.take_in(b, into);
                (resolved, carries.out_of_group(b))
            }
            (Between::Carries(..) | Between::Borrows(..), None) => unreachable!("several lanes have looked ahead"),
        }
    }

    /// Takes in what enters the lane.
    fn take_in(&self, b: &mut Builder, into: R32) -> Vec<R32> {
        match self.between {
            Between::Nothing(_) => self.limbs.clone(),
            Between::Carries(..) => wrapping_add_small(b, &self.limbs, into),
            Between::Borrows(..) => wrapping_sub_small(b, &self.limbs, into),
        }
    }
}

/// `p ? x : y`, limb by limb.
pub fn select(b: &mut Builder, p: Pred, x: &[R32], y: &[R32]) -> Vec<R32> {
    x.iter().zip(y).map(|(&x, &y)| b.select(x, y, p)).collect()
}

/// Overwrites registers.
pub fn assign(b: &mut Builder, to: &[R32], from: &[R32]) {
    for (&to, &from) in to.iter().zip(from) {
        b.set(to, from);
    }
}
