//! `cpu-dashu`: full product by dashu-int (schoolbook, Karatsuba, Toom-3 by size).

use dashu_int::{UBig, Word};

use super::rows::{Piece, Rows};

/// Limbs of 32 bits in the library's word.
const LIMBS: usize = Word::BITS as usize / 32;

/// Multiplies the rows of a piece.
pub(super) fn multiply(piece: Piece<'_>) {
    let Piece { a, b, c, limbs } = piece;
    let (mut a, mut b) = (Operand::new(a), Operand::new(b));
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        a.load(lane);
        b.load(lane);
        let product = &a.value * &b.value;
        let words = product.as_words();
        let wholes = c.chunks_mut(LIMBS).zip(words);
        let filled = (words.len() * LIMBS).min(limbs);
        for (limbs, word) in wholes {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = (*word >> (32 * i)) as u32;
            }
        }
        c[filled..].fill(0);
    }
}

/// An operand as the library's number; a shared row is converted once.
struct Operand<'r> {
    rows: Rows<'r>,
    words: Vec<Word>,
    value: UBig,
    ready: bool,
}

impl<'r> Operand<'r> {
    fn new(rows: Rows<'r>) -> Self {
        let words = Vec::with_capacity(rows.limbs().div_ceil(LIMBS));
        Self { rows, words, value: UBig::ZERO, ready: false }
    }

    fn load(&mut self, lane: usize) {
        if self.ready && self.rows.is_shared() {
            return;
        }
        let join = |limbs: &[u32]| limbs.iter().rev().fold(0, |word: Word, limb| word << 16 << 16 | Word::from(*limb));
        self.words.clear();
        self.words.extend(self.rows.row(lane).chunks(LIMBS).map(join));
        self.value = UBig::from_words(&self.words);
        self.ready = true;
    }
}
