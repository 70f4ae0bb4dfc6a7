//! Carries across lanes in constant time.
//!
//! Each lane holds a block of limbs and a carry-out bit. With `g` the mask of lanes that carry out
//! and `p` the mask of lanes whose block is all ones, the carries *into* the lanes are
//! `(2g + p) xor p`: one addition of masks runs every carry through every all-ones block at once.
//!
//! Borrows run in the same way; there the blocks that pass them on are those that are zero.
//!
//! bound: `g ∧ p = 0`, because a block that overflowed is at most `2^W − 2`. By induction over lanes
//! bit `i` of `2g + p` is `p_i xor k_i` with `k_i` the carry into lane `i`, and its carry out is
//! `g_i ∨ (p_i ∧ k_i)`: exactly the lane's own. A group's top bits are cleared first, so that nothing
//! leaves the group.
//!
//! source: carry look-ahead by ballots; derived in the design notes, exhausted in the tests.

use super::wrapping_add_small;
use crate::build::{Builder, Emit, Pred, R32};
use crate::ir::{Cmp, Special};

/// Adds to each lane's block the carry from the lane below, through any number of lanes.
///
/// `group` consecutive lanes (at most 32) hold one number, least significant block in the lowest
/// lane; there are as many groups from lane 0 on as fit into the warp. `carry_out` tells whether the lane's block carried out. What leaves the top
/// lane of a group is dropped: the caller knows that nothing does. All 32 lanes must take part.
pub fn resolve_carries(b: &mut Builder, block: &[R32], carry_out: Pred, group: u32) -> Vec<R32> {
    if group == 1 {
        return block.to_vec();
    }
    let all_ones = all_ones(b, block);
    let carry_in = Carries::look_ahead(b, carry_out, all_ones, group).into_lane(b);
    wrapping_add_small(b, block, carry_in)
}

/// Are all limbs of the block all ones?
pub fn all_ones(b: &mut Builder, block: &[R32]) -> Pred {
    let conjunction = block.iter().skip(1).fold(block[0], |all, &limb| b.and(all, limb));
    b.compare(Cmp::Eq, conjunction, u32::MAX)
}

/// Are all limbs of the block zero?
pub fn all_zeros(b: &mut Builder, block: &[R32]) -> Pred {
    let union = block.iter().skip(1).fold(block[0], |all, &limb| b.or(all, limb));
    b.compare(Cmp::Eq, union, 0)
}

/// Carries, or borrows, of numbers whose blocks are in the lanes of groups.
#[derive(Clone, Copy, Debug)]
pub struct Carries {
    group: u32,
    generate: R32,
    propagate: R32,
    propagate_inside: R32,
    /// `2g + p` of the lanes inside their groups.
    sum: R32,
    /// The carries into the lanes, as a mask.
    into: R32,
}

impl Carries {
    /// Finds the carries from what each block does by itself: `generates` one, or passes one on
    /// (`propagates`; all ones in an addition, zero in a subtraction), never both.
    ///
    /// Groups as in [`resolve_carries`]; all 32 lanes must take part.
    pub fn look_ahead(b: &mut Builder, generates: Pred, propagates: Pred, group: u32) -> Self {
        let inside = !group_tops(group);
        let (generate, propagate) = (b.ballot(generates), b.ballot(propagates));
        // What leaves the only group leaves the mask, too.
        let [generate_inside, propagate_inside] =
            [generate, propagate].map(|mask| if group == 32 { mask } else { b.and(mask, inside) });
        let doubled = b.add(generate_inside, generate_inside);
        let sum = b.add(doubled, propagate_inside);
        let into = b.xor(sum, propagate_inside);
        Self { group, generate, propagate, propagate_inside, sum, into }
    }

    /// The carry into this lane's block, 0 or 1.
    pub fn into_lane(&self, b: &mut Builder) -> R32 {
        let lane = b.special(Special::Lane);
        b.bit(self.into, lane)
    }

    /// The carry out of this lane's group, 0 or 1, the same in all its lanes.
    pub fn out_of_group(&self, b: &mut Builder) -> R32 {
        let out = self.out(b);
        if self.group == 32 {
            return b.shr(out, 31);
        }
        let top = top_lane(b, self.group);
        b.bit(out, top)
    }

    /// The carries when the carry out of a group's top lane goes into its lowest lane.
    ///
    /// It does not come out at the top again: that would take a group in which every lane passes
    /// carries on, and such a group generates none.
    pub fn around(&self, b: &mut Builder) -> Self {
        let leaving = self.leaving(b);
        self.entered(b, leaving)
    }

    /// The carries out of the groups, as a mask of the lowest lanes: what enters the blocks that continue
    /// the numbers.
    pub fn leaving(&self, b: &mut Builder) -> R32 {
        let out = self.out(b);
        let out = b.shr(out, self.group - 1);
        if self.group == 32 {
            return out;
        }
        b.and(out, group_tops(self.group) >> (self.group - 1))
    }

    /// The carries when one enters the groups that `incoming` names, a mask of their lowest lanes.
    ///
    /// bound: bit `i` of `2g + p + incoming` is `p_i xor k_i` as before; `incoming` is `k` of a lowest lane, where
    /// nothing else arrives.
    pub fn entered(&self, b: &mut Builder, incoming: R32) -> Self {
        let sum = b.add(self.sum, incoming);
        Self { sum, into: b.xor(sum, self.propagate_inside), ..*self }
    }

    /// The groups in whose lowest lane `enters` holds, as a mask for [`Carries::entered`].
    pub fn mask_of(b: &mut Builder, enters: Pred, group: u32) -> R32 {
        let all = b.ballot(enters);
        b.and(all, group_tops(group) >> (group - 1))
    }

    /// The carries out of the lanes, as a mask.
    fn out(&self, b: &mut Builder) -> R32 {
        let passed = b.and(self.propagate, self.into);
        b.or(self.generate, passed)
    }
}

/// Adds a carry to a row of 32 limbs, one in each lane of the warp.
///
/// `carry` is 0 or 1, the same in all lanes: the carry into the lowest lane. It becomes the carry out of the top lane.
/// `lane` is the number of the lane. All 32 lanes must take part.
pub fn add_carry_to_row(b: &mut Builder, limb: R32, carry: R32, lane: R32) -> R32 {
    let ones = b.compare(Cmp::Eq, limb, u32::MAX);
    let ones = b.ballot(ones);
    let sum = b.add(ones, carry);
    let into = b.xor(sum, ones);
    let all = b.compare(Cmp::Eq, ones, u32::MAX);
    let leaves = b.select(carry, 0, all);
    b.set(carry, leaves);
    let own = b.bit(into, lane);
    b.add(limb, own)
}

/// The top lane of this lane's group.
pub fn top_lane(b: &mut Builder, group: u32) -> R32 {
    let lane = b.special(Special::Lane);
    if group.is_power_of_two() {
        return b.or(lane, group - 1);
    }
    // Exact for all lanes: the error of the reciprocal is below 32 / 2³² .
    let number = b.mul_hi(lane, u32::MAX / group + 1);
    b.mad_lo(number, group, group - 1)
}

/// The top lane of every group, as a mask.
fn group_tops(group: u32) -> u32 {
    (0..32 / group).fold(0, |mask, g| mask | 1 << (g * group + group - 1))
}
