//! Numbers that are shifted, each lane by its own distance, as they are read from or written to their rows.
//!
//! Registers cannot be chosen by a number, addresses can: whole limbs are a matter of addresses, and what lies
//! outside of the row is zero. The distances are the same in all lanes of a group.

use warpmp_kernel::build::{Builder, Emit, R32, R64, V32};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::frame::Frame;

/// An operand shifted up by whole limbs and bits, as it is read.
#[derive(Clone, Copy)]
pub(super) struct Shifted {
    pub(super) row: R64,
    pub(super) limbs: u32,
    /// Whole limbs.
    pub(super) words: R32,
    pub(super) bits: R32,
}

impl Shifted {
    pub(super) fn new(b: &mut Builder, frame: &Frame, operand: usize, shift: R32) -> Self {
        let row = frame.operand_row(b, operand);
        Self { row, limbs: frame.limbs(operand), words: b.shr(shift, 5), bits: b.and(shift, 31) }
    }

    /// The limb with this index of the operand; zero outside.
    fn limb(&self, b: &mut Builder, index: R32) -> R32 {
        let word = b.copy(0);
        let inside = b.compare(Cmp::Lt, index, self.limbs);
        let address = b.mad_wide(index, 4, self.row);
        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[word], address, 0));
        word
    }

    /// The lane's limbs of the shifted number above limb `start`.
    pub(super) fn block(&self, b: &mut Builder, frame: &Frame, start: impl Into<V32>) -> Vec<R32> {
        let length = frame.spread.length as u32;
        let first = b.mad_lo(frame.spread.member, length, start);
        let first = b.sub(first, self.words);
        let limb = |b: &mut Builder, offset: u32| {
            let index = b.add(first, offset);
            self.limb(b, index)
        };
        let mut below = limb(b, u32::MAX);
        let next = |k: u32| {
            let own = limb(b, k);
            let shifted = b.funnel_left(below, own, self.bits);
            below = own;
            shifted
        };
        (0..length).map(next).collect()
    }

    /// Reads limbs of the shifted number from limb `index` downwards.
    pub(super) fn reader(self, b: &mut Builder, index: R32) -> Reader {
        let index = b.sub(index, self.words);
        let own = self.limb(b, index);
        Reader { number: self, index, own }
    }
}

/// Limbs of a shifted number from the top.
pub(super) struct Reader {
    number: Shifted,
    /// Of the operand, the limb that comes next; it is in `own`.
    index: R32,
    own: R32,
}

impl Reader {
    pub(super) fn next(&mut self, b: &mut Builder) -> R32 {
        let lower = b.sub(self.index, 1);
        b.set(self.index, lower);
        let below = self.number.limb(b, self.index);
        let limb = b.funnel_left(below, self.own, self.number.bits);
        b.set(self.own, below);
        limb
    }
}

/// The lane's limbs of an operand shifted down.
pub(super) fn lowered(b: &mut Builder, frame: &Frame, operand: usize, shift: R32) -> Vec<R32> {
    let number = Shifted::new(b, frame, operand, shift);
    let length = frame.spread.length as u32;
    let first = b.mul_lo(frame.spread.member, length);
    let first = b.add(first, number.words);
    let mut own = number.limb(b, first);
    let next = |k: u32| {
        let index = b.add(first, k + 1);
        let above = number.limb(b, index);
        let limb = b.funnel_right(own, above, number.bits);
        own = above;
        limb
    };
    (0..length).map(next).collect()
}

/// Stores a number shifted down, whose lowest `shift` bits are zero, to a row of so many limbs.
pub(super) fn store_lowered(
    b: &mut Builder,
    frame: &Frame,
    row: R64,
    limbs: u32,
    number: &[R32],
    shift: R32,
    mask: R32,
) {
    let spread = &frame.spread;
    let (length, all) = (spread.length as u32, spread.group * spread.length as u32);
    let (words, bits) = (b.shr(shift, 5), b.and(shift, 31));
    let above = spread.from_above(b, number[0]);
    let last = b.compare(Cmp::Eq, spread.member, spread.group - 1);
    let above = b.select(0, above, last);
    let first = b.mul_lo(spread.member, length);
    let first = b.sub(first, words);
    for k in 0..length {
        let high = number.get(k as usize + 1).copied().unwrap_or(above);
        let limb = b.funnel_right(number[k as usize], high, bits);
        let limb = b.and(limb, mask);
        // What stands below the number are zeros: they go to its top.
        let index = b.add(first, k);
        let around = b.add(index, all);
        let below = b.compare_signed(Cmp::Lt, index, 0);
        let index = b.select(around, index, below);
        let inside = b.compare(Cmp::Lt, index, limbs);
        let address = b.mad_wide(index, 4, row);
        b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], address, 0));
    }
}

/// Stores a number shifted up, whose highest `shift` bits are zero, to a row of so many limbs.
pub(super) fn store_raised(b: &mut Builder, frame: &Frame, row: R64, limbs: u32, number: &[R32], shift: R32) {
    let spread = &frame.spread;
    let (length, all) = (spread.length as u32, spread.group * spread.length as u32);
    let (words, bits) = (b.shr(shift, 5), b.and(shift, 31));
    let mut below = spread.from_below(b, number[number.len() - 1]);
    let first = b.mul_lo(spread.member, length);
    let first = b.add(first, words);
    for (&limb, k) in number.iter().zip(0..) {
        let shifted = b.funnel_left(below, limb, bits);
        below = limb;
        // What stands above the number are zeros: they go to its bottom.
        let index = b.add(first, k);
        let around = b.sub(index, all);
        let above = b.compare(Cmp::Ge, index, all);
        let index = b.select(around, index, above);
        let inside = b.compare(Cmp::Lt, index, limbs);
        let address = b.mad_wide(index, 4, row);
        b.guarded(inside, true, |g| g.store_global(Space::Global, &[shifted], address, 0));
    }
}
