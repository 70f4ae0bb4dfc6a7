//! Carries across lanes in constant time.
//!
//! Each lane holds a block of limbs and a carry-out bit. With `g` the mask of lanes that carry out
//! and `p` the mask of lanes whose block is all ones, the carries *into* the lanes are
//! `(2g + p) xor p`: one addition of masks runs every carry through every all-ones block at once.
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
/// `group` consecutive lanes (a power of two, at most 32) hold one number, least significant block
/// in the lowest lane; `carry_out` tells whether the lane's block carried out. What leaves the top
/// lane of a group is dropped: the caller knows that nothing does. All 32 lanes must take part.
pub fn resolve_carries(b: &mut Builder, block: &[R32], carry_out: Pred, group: u32) -> Vec<R32> {
    if group == 1 {
        return block.to_vec();
    }
    let conjunction = block.iter().skip(1).fold(block[0], |all, &limb| b.and(all, limb));
    let all_ones = b.compare(Cmp::Eq, conjunction, u32::MAX);
    let inside = !group_tops(group);
    let (generate, propagate) = (b.ballot(carry_out), b.ballot(all_ones));
    let (generate, propagate) = (b.and(generate, inside), b.and(propagate, inside));
    let doubled = b.add(generate, generate);
    let sum = b.add(doubled, propagate);
    let into = b.xor(sum, propagate);
    let lane = b.special(Special::Lane);
    let carry_in = b.bfe(into, lane, 1);
    wrapping_add_small(b, block, carry_in)
}

/// The top lane of every group, as a mask.
fn group_tops(group: u32) -> u32 {
    (0..32 / group).fold(0, |mask, g| mask | 1 << (g * group + group - 1))
}
