//! Limbs one after the other from the top, a block of them at a time: of a dividend as they are read, of a quotient as they
//! are stored.
//!
//! Every lane of a group holds some of the block's limbs, so that neighbours read and write neighbouring words, and does so
//! once a block: limb `j` of a block is word `j / group` of lane `j mod group`. Of a group in several warps the lowest
//! warp has them.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector};
use warpmp_launch::{Frame, piece};

use super::shifted::Shifted;

/// Lanes that share the limbs of a block.
fn sharing(frame: &Frame) -> u32 {
    frame.spread.group.min(32)
}

/// Limbs of a shifted number, read a block ahead.
pub(super) struct Incoming {
    number: Shifted,
    block: u32,
    /// Of the block at hand.
    words: Vec<R32>,
    /// Of the operand, the limb that this lane's first word of the next block is made of.
    index: R32,
}

/// Limbs of the next block, on their way.
pub(super) struct Ahead(Vec<R32>);

impl Incoming {
    /// From limb `count − 1` downwards, in blocks of so many limbs.
    pub(super) fn new(b: &mut Builder, frame: &Frame, number: Shifted, count: R32, block: u32) -> Self {
        let first = b.sub(count, 1);
        let first = b.sub(first, frame.spread.member);
        let index = b.sub(first, number.by.words);
        let mut incoming = Self { number, block, words: Vec::new(), index };
        let words = incoming.fetch(b, frame);
        incoming.words = words.0.iter().map(|&word| b.copy(word)).collect();
        incoming
    }

    /// Reads the next block.
    pub(super) fn fetch(&self, b: &mut Builder, frame: &Frame) -> Ahead {
        let group = sharing(frame);
        let count = self.block.div_ceil(group);
        // The lowest limb is one below that of the last word.
        let lowest = (count - 1) * group + 1;
        let low = b.sub(self.index, lowest);
        let bytes = b.mul_wide_signed(low, 4);
        let base = b.add64(self.number.row, bytes);
        let limb = |b: &mut Builder, below: u32| {
            let offset = lowest - below;
            let word = b.copy(0);
            let index = b.add(low, offset);
            let inside = b.compare(Cmp::Lt, index, self.number.limbs);
            b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[word], base, 4 * offset));
            word
        };
        let mut own = limb(b, 0);
        let mut words = Vec::new();
        for i in 0..count {
            let below = limb(b, i * group + 1);
            words.push(b.funnel_left(below, own, self.number.by.bits));
            if i + 1 < count {
                own = if group == 1 { below } else { limb(b, (i + 1) * group) };
            }
        }
        b.decrease(self.index, self.block);
        Ahead(words)
    }

    /// Limb `j` of the block at hand, in the lowest lane and perhaps in others.
    pub(super) fn limb(&self, b: &mut Builder, frame: &Frame, j: u32) -> R32 {
        let group = sharing(frame);
        let word = self.words[(j / group) as usize];
        if j.is_multiple_of(group) { word } else { b.shuffle(Shuffle::Idx, word, j % group, group) }
    }

    /// The next block is at hand.
    pub(super) fn advance(&self, b: &mut Builder, ahead: &Ahead) {
        for (&to, &from) in self.words.iter().zip(&ahead.0) {
            b.set(to, from);
        }
    }
}

/// Limbs of a block to store.
pub(super) struct Outgoing {
    block: u32,
    words: Vec<R32>,
}

impl Outgoing {
    /// None yet.
    pub(super) const fn new(block: u32) -> Self {
        Self { block, words: Vec::new() }
    }

    /// The next limb, the same in all lanes of the group.
    pub(super) fn push(&mut self, b: &mut Builder, frame: &Frame, j: u32, limb: R32) {
        let group = sharing(frame);
        match self.words.get_mut((j / group) as usize) {
            None => self.words.push(limb),
            Some(word) => {
                let mine = b.compare(Cmp::Eq, frame.spread.member, j % group);
                *word = b.select(limb, *word, mine);
            }
        }
    }

    /// Stores the block, whose lowest limb has this index, a multiple of its length, to a row of so many limbs.
    pub(super) fn store(&self, b: &mut Builder, frame: &Frame, (row, limbs): (R64, u32), low: R32, mask: R32) {
        let group = sharing(frame);
        let words: Vec<R32> = self.words.iter().map(|&word| b.and(word, mask)).collect();
        if group == 1 {
            let words: Vec<R32> = words.into_iter().rev().collect();
            let width = piece(limbs).min(piece(self.block));
            let base = b.mad_wide(low, 4, row);
            for (words, i) in words.chunks(width as usize).zip((0..).step_by(width as usize)) {
                let index = b.add(low, i);
                let inside = b.compare(Cmp::Lt, index, limbs);
                b.guarded(inside, true, |g| g.store_global(Space::Global, words, base, 4 * i));
            }
            return;
        }
        for (&word, i) in words.iter().zip(0..) {
            // What lanes have that are not asked lies below the block.
            let asked = self.block - i * group;
            let from_top = b.sub(asked - 1, frame.spread.member);
            let index = b.add(low, from_top);
            let mut inside = b.compare(Cmp::Lt, index, limbs);
            if asked < frame.spread.group {
                let here = b.compare(Cmp::Lt, frame.spread.member, asked);
                inside = b.and_pred(inside, here);
            }
            let address = b.mad_wide(index, 4, row);
            b.guarded(inside, true, |g| g.store_global(Space::Global, &[word], address, 0));
        }
    }
}
