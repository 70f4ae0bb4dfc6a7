//! `cpu-dashu`: full product by dashu-int (schoolbook, Karatsuba, Toom-3 by size).

use dashu_int::{UBig, Word};

use super::rows::{Piece, Product, Rows, Square};

/// Limbs of 32 bits in the library's word.
const LIMBS: usize = Word::BITS as usize / 32;

/// Multiplies the rows of a piece.
pub(super) fn multiply(piece: Piece<'_>) {
    let Product { a, b, c, limbs } = piece.product();
    let (mut a, mut b) = (Operand::new(a), Operand::new(b));
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        a.load(lane);
        b.load(lane);
        store((&a.value * &b.value).as_words(), c);
    }
}

/// Squares the rows of a piece.
pub(super) fn square(piece: Piece<'_>) {
    let Square { a, c, limbs } = piece.square();
    let mut a = Operand::new(a);
    for (lane, c) in c.chunks_exact_mut(limbs).enumerate() {
        a.load(lane);
        store(a.value.sqr().as_words(), c);
    }
}

/// Writes a number's words to a row of limbs that is long enough for it.
pub(super) fn store(words: &[Word], row: &mut [u32]) {
    let filled = (words.len() * LIMBS).min(row.len());
    for (limbs, word) in row.chunks_mut(LIMBS).zip(words) {
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = (*word >> (32 * i)) as u32;
        }
    }
    row[filled..].fill(0);
}

/// The words of a row of limbs.
pub(super) fn words(row: &[u32]) -> impl Iterator<Item = Word> + '_ {
    let join = |limbs: &[u32]| limbs.iter().rev().fold(0, |word: Word, limb| word << 16 << 16 | Word::from(*limb));
    row.chunks(LIMBS).map(join)
}

/// The limbs of a number.
pub(super) fn limbs(number: &UBig) -> Vec<u32> {
    let words = number.as_words();
    let mut row = vec![0; words.len() * LIMBS];
    store(words, &mut row);
    row
}

/// An operand as the library's number; a shared row is converted once.
pub(super) struct Operand<'r> {
    rows: Rows<'r>,
    words: Vec<Word>,
    value: UBig,
    ready: bool,
}

impl<'r> Operand<'r> {
    pub(super) fn new(rows: Rows<'r>) -> Self {
        let words = Vec::with_capacity(rows.limbs().div_ceil(LIMBS));
        Self { rows, words, value: UBig::ZERO, ready: false }
    }

    /// The number, once it is loaded.
    pub(super) const fn value(&self) -> &UBig {
        &self.value
    }

    pub(super) fn load(&mut self, lane: usize) {
        if self.ready && self.rows.is_shared() {
            return;
        }
        self.words.clear();
        self.words.extend(words(self.rows.row(lane)));
        self.value = UBig::from_words(&self.words);
        self.ready = true;
    }
}
