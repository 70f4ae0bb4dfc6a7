//! Numbers that are shifted, each lane by its own distance, as they are read from or written to their rows.
//!
//! Registers cannot be chosen by a number, addresses can: whole limbs are a matter of addresses, and what lies
//! outside of the row is zero. The distances are the same in all lanes of a group.
//!
//! Mostly all numbers of a warp are shifted by the same whole limbs, none if their top limbs are not zero; then
//! they are read and written as vectors, and only bits are shifted.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64, V32};
use warpmp_kernel::fragment::assign;
use warpmp_kernel::ir::{Cmp, Space, Vector, Vote};
use warpmp_launch::{Frame, piece, vector};

/// How far a number is shifted.
#[derive(Clone, Copy)]
pub(super) struct Distance {
    /// Whole limbs, and how many there are mostly.
    pub(super) words: R32,
    usual: u32,
    /// The bits besides.
    pub(super) bits: R32,
}

impl Distance {
    /// So many bits; `usual`: the whole limbs in most of them.
    pub(super) fn new(b: &mut Builder, bits: R32, usual: u32) -> Self {
        Self { words: b.shr(bits, 5), usual, bits: b.and(bits, 31) }
    }

    /// Is it of the usual number of limbs in the whole warp?
    fn is_usual(self, b: &mut Builder) -> Pred {
        let usual = b.compare(Cmp::Eq, self.words, self.usual);
        b.vote(Vote::All, usual)
    }
}

/// An operand shifted up by whole limbs and bits, as it is read.
#[derive(Clone, Copy)]
pub(super) struct Shifted {
    pub(super) row: R64,
    pub(super) limbs: u32,
    pub(super) by: Distance,
}

impl Shifted {
    pub(super) fn new(b: &mut Builder, frame: &Frame, operand: usize, by: Distance) -> Self {
        Self { row: frame.operand_row(b, operand), limbs: frame.limbs(operand), by }
    }

    /// The limb with this index of the operand; zero outside.
    fn limb(&self, b: &mut Builder, index: R32) -> R32 {
        let word = b.copy(0);
        let inside = b.compare(Cmp::Lt, index, self.limbs);
        let address = b.mad_wide(index, 4, self.row);
        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[word], address, 0));
        word
    }

    /// The lane's limbs of the shifted number above limb `start`, a multiple of `step`.
    pub(super) fn block(&self, b: &mut Builder, frame: &Frame, start: impl Into<V32>, step: u32) -> Vec<R32> {
        let start = start.into();
        let result: Vec<R32> = (0..frame.spread.length).map(|_| b.register()).collect();
        let usual = self.by.is_usual(b);
        b.if_else(
            usual,
            |b| {
                let (below, limbs) = placed(b, frame, (self.row, self.limbs), self.by.usual, start, step);
                let shifted = shift_up(b, below, &limbs, self.by.bits);
                assign(b, &result, &shifted);
            },
            |b| {
                let shifted = self.distant(b, frame, start);
                assign(b, &result, &shifted);
            },
        );
        result
    }

    /// The same of a number whose limbs are at hand where they are mostly: those of [`placed`].
    pub(super) fn block_of(&self, b: &mut Builder, frame: &Frame, (below, limbs): (R32, &[R32])) -> Vec<R32> {
        let result = shift_up(b, below, limbs, self.by.bits);
        let result: Vec<R32> = result.into_iter().map(|limb| b.copy(limb)).collect();
        let usual = self.by.is_usual(b);
        let unusual = b.not_pred(usual);
        b.if_(unusual, |b| {
            let shifted = self.distant(b, frame, V32::Imm(0));
            assign(b, &result, &shifted);
        });
        result
    }

    /// The block, limb by limb.
    fn distant(&self, b: &mut Builder, frame: &Frame, start: V32) -> Vec<R32> {
        let length = frame.spread.length as u32;
        let first = b.mad_lo(frame.spread.member, length, start);
        let first = b.sub(first, self.by.words);
        let limb = |b: &mut Builder, offset: u32| {
            let index = b.add(first, offset);
            self.limb(b, index)
        };
        let below = limb(b, u32::MAX);
        let limbs: Vec<R32> = (0..length).map(|k| limb(b, k)).collect();
        shift_up(b, below, &limbs, self.by.bits)
    }

    /// Reads limbs of the shifted number from limb `index` downwards.
    pub(super) fn reader(self, b: &mut Builder, index: R32) -> Reader {
        let index = b.sub(index, self.by.words);
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
        b.decrease(self.index, 1);
        let below = self.number.limb(b, self.index);
        let limb = b.funnel_left(below, self.own, self.number.by.bits);
        b.set(self.own, below);
        limb
    }
}

/// The lane's limbs of a row's number times `B^offset`, above limb `start`, a multiple of `step`; and the limb below them.
pub(super) fn placed(
    b: &mut Builder,
    frame: &Frame,
    (row, limbs): (R64, u32),
    offset: u32,
    start: impl Into<V32>,
    step: u32,
) -> (R32, Vec<R32>) {
    let length = frame.spread.length as u32;
    let start = start.into();
    let width = piece(limbs).min(piece(length)).min(piece(offset)).min(piece(step));
    let first = b.mad_lo(frame.spread.member, length, start);
    let first = b.sub(first, offset);
    let bytes = b.mul_wide_signed(first, 4);
    let base = b.add64(row, bytes);
    let certain = start == V32::Imm(0) && offset == 0 && frame.spread.group * length == limbs;
    let read = |b: &mut Builder, count: u32, at: u32| {
        if certain && at != u32::MAX {
            return b.load_global(Space::Global, vector(count), base, 4 * at);
        }
        let words: Vec<R32> = (0..count).map(|_| b.copy(0)).collect();
        let index = b.add(first, at);
        let inside = b.compare(Cmp::Lt, index, limbs);
        let address = if at == u32::MAX { b.sub64(base, 4) } else { base };
        let bytes = if at == u32::MAX { 0 } else { 4 * at };
        b.guarded(inside, true, |g| g.load_into(Space::Global, vector(count), &words, address, bytes));
        words
    };
    let below = read(b, 1, u32::MAX)[0];
    (below, (0..length).step_by(width as usize).flat_map(|i| read(b, width, i)).collect())
}

/// Shifted up by bits, fewer than 32.
fn shift_up(b: &mut Builder, mut below: R32, limbs: &[R32], bits: R32) -> Vec<R32> {
    let shift = |&limb: &R32| {
        let shifted = b.funnel_left(below, limb, bits);
        below = limb;
        shifted
    };
    limbs.iter().map(shift).collect()
}

/// The lane's limbs of an operand shifted down.
pub(super) fn lowered(b: &mut Builder, frame: &Frame, operand: usize, shift: R32) -> Vec<R32> {
    let by = Distance::new(b, shift, 0);
    let number = Shifted::new(b, frame, operand, by);
    let length = frame.spread.length as u32;
    let first = b.mul_lo(frame.spread.member, length);
    let first = b.add(first, number.by.words);
    let mut own = number.limb(b, first);
    let next = |k: u32| {
        let index = b.add(first, k + 1);
        let above = number.limb(b, index);
        let limb = b.funnel_right(own, above, number.by.bits);
        own = above;
        limb
    };
    (0..length).map(next).collect()
}

/// Stores a number shifted down to a row of so many limbs; the bits that it is shifted by are zero.
pub(super) fn store_lowered(
    b: &mut Builder,
    frame: &Frame,
    (row, limbs): (R64, u32),
    number: &[R32],
    by: Distance,
    mask: R32,
) {
    let spread = &frame.spread;
    let (length, all) = (spread.length as u32, spread.group * spread.length as u32);
    let above = spread.from_above(b, number[0]);
    let last = b.compare(Cmp::Eq, spread.member, spread.group - 1);
    let above = b.select(0, above, last);
    let shift_down = |k: usize| {
        let high = number.get(k + 1).copied().unwrap_or(above);
        let limb = b.funnel_right(number[k], high, by.bits);
        b.and(limb, mask)
    };
    let lowered: Vec<R32> = (0..number.len()).map(shift_down).collect();
    let first = b.mul_lo(spread.member, length);
    let usual = by.is_usual(b);
    b.if_else(
        usual,
        |b| {
            let width = piece(limbs).min(piece(length)).min(piece(by.usual));
            let first = b.sub(first, by.usual);
            let bytes = b.mul_wide_signed(first, 4);
            let base = b.add64(row, bytes);
            for (words, i) in lowered.chunks(width as usize).zip((0..).step_by(width as usize)) {
                if by.usual == 0 && limbs == all {
                    b.store_global(Space::Global, words, base, 4 * i);
                    continue;
                }
                let index = b.add(first, i);
                let inside = b.compare(Cmp::Lt, index, limbs);
                b.guarded(inside, true, |g| g.store_global(Space::Global, words, base, 4 * i));
            }
        },
        |b| {
            let first = b.sub(first, by.words);
            for (&limb, k) in lowered.iter().zip(0..) {
                // What stands below the number are zeros: they go to its top.
                let index = b.add(first, k);
                let around = b.add(index, all);
                let below = b.compare_signed(Cmp::Lt, index, 0);
                let index = b.select(around, index, below);
                let inside = b.compare(Cmp::Lt, index, limbs);
                let address = b.mad_wide(index, 4, row);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], address, 0));
            }
        },
    );
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
