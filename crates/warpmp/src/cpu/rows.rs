//! A piece of a batch: some rows of the operands, and the rows of their results.

use crate::batch::Batch;
use crate::operation::Operation;

/// Rows of one operand; a single row may stand for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'r> {
    words: &'r [u32],
    limbs: usize,
    bits: usize,
    /// Words from row to row: `limbs`, or 0 if one row serves every lane.
    stride: usize,
}

impl<'r> Rows<'r> {
    pub(super) fn of(batch: &'r Batch<'_>) -> Self {
        let limbs = batch.shape().limbs();
        Self { words: batch.limbs(), limbs, bits: batch.bits(), stride: if batch.lanes() == 1 { 0 } else { limbs } }
    }

    pub(super) fn slice(self, first: usize, lanes: usize) -> Self {
        let start = first * self.stride;
        Self { words: &self.words[start..start + (lanes - 1) * self.stride + self.limbs], ..self }
    }

    pub(super) fn row(self, lane: usize) -> &'r [u32] {
        &self.words[lane * self.stride..][..self.limbs]
    }

    /// Limbs a row.
    pub(super) const fn limbs(self) -> usize {
        self.limbs
    }

    /// Bits a row.
    pub(super) const fn bits(self) -> usize {
        self.bits
    }

    /// Is it one row for every lane?
    pub(super) const fn is_shared(self) -> bool {
        self.stride == 0
    }
}

/// Rows of one result.
#[derive(Debug)]
pub(super) struct RowsMut<'r> {
    pub(super) words: &'r mut [u32],
    /// Limbs a row.
    pub(super) limbs: usize,
    /// Bits a row.
    pub(super) bits: usize,
}

/// Work for one thread: some lanes of an operation.
#[derive(Debug)]
pub(super) struct Piece<'p> {
    pub(super) operation: Operation,
    pub(super) operands: Vec<Rows<'p>>,
    pub(super) results: Vec<RowsMut<'p>>,
}

/// Work for one thread: `c[i] = a[i]·b[i]`.
#[derive(Debug)]
pub(super) struct Product<'p> {
    pub(super) a: Rows<'p>,
    pub(super) b: Rows<'p>,
    /// The products, `limbs` words a row.
    pub(super) c: &'p mut [u32],
    pub(super) limbs: usize,
}

/// Work for one thread: `c[i] = a[i]²`.
#[derive(Debug)]
pub(super) struct Square<'p> {
    pub(super) a: Rows<'p>,
    /// The squares, `limbs` words a row.
    pub(super) c: &'p mut [u32],
    pub(super) limbs: usize,
}

impl<'p> Piece<'p> {
    /// Lanes of the piece.
    pub(super) fn lanes(&self) -> usize {
        self.results[0].words.len() / self.results[0].limbs
    }

    /// Two operands and one result.
    pub(super) fn product(mut self) -> Product<'p> {
        let RowsMut { words: c, limbs, .. } = self.results.swap_remove(0);
        Product { a: self.operands[0], b: self.operands[1], c, limbs }
    }

    /// One operand and one result.
    pub(super) fn square(mut self) -> Square<'p> {
        let RowsMut { words: c, limbs, .. } = self.results.swap_remove(0);
        Square { a: self.operands[0], c, limbs }
    }
}

/// The word of two limbs.
#[inline]
pub(super) const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The two limbs of a word.
#[inline]
pub(super) const fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Joins limbs to words; the missing half of an odd row is zero.
#[inline]
pub(super) fn load(limbs: &[u32], words: &mut [u64]) {
    let (pairs, rest) = limbs.as_chunks::<2>();
    for (word, [low, high]) in words.iter_mut().zip(pairs) {
        *word = join(*low, *high);
    }
    if let ([low], Some(word)) = (rest, words.get_mut(pairs.len())) {
        *word = join(*low, 0);
    }
}

/// Splits words to limbs; limbs beyond the words are zero, words beyond the limbs are dropped: the
/// caller knows that they are zero.
#[inline]
pub(super) fn store(words: &[u64], limbs: &mut [u32]) {
    let (pairs, rest) = limbs.as_chunks_mut::<2>();
    let odd = words.get(pairs.len()).map_or(0, |word| *word as u32);
    let filled = pairs.len().min(words.len());
    for (pair, word) in pairs.iter_mut().zip(words) {
        *pair = split(*word);
    }
    pairs[filled..].fill([0, 0]);
    rest.fill(odd);
}

/// [`load`] of `N` words, for rows of exactly as many without a loop.
#[inline]
pub(super) fn load_words<const N: usize>(limbs: &[u32]) -> [u64; N] {
    if let (pairs, []) = limbs.as_chunks::<2>()
        && let Ok(pairs) = <&[[u32; 2]; N]>::try_from(pairs)
    {
        return pairs.map(|[low, high]| join(low, high));
    }
    let mut words = [0; N];
    load(limbs, &mut words);
    words
}

/// [`store`] of `N` words, for rows of exactly as many without a loop.
#[inline]
pub(super) fn store_words<const N: usize>(words: &[u64; N], limbs: &mut [u32]) {
    if let (pairs, []) = limbs.as_chunks_mut::<2>()
        && let Ok(pairs) = <&mut [[u32; 2]; N]>::try_from(pairs)
    {
        *pairs = words.map(split);
    } else {
        store(words, limbs);
    }
}

/// [`store`] of `2N` words, for rows of exactly as many without a loop.
#[inline]
pub(super) fn store_pair<const N: usize>(words: &[[u64; N]; 2], limbs: &mut [u32]) {
    if let (pairs, []) = limbs.as_chunks_mut::<2>()
        && let Some((low, high)) = pairs.split_first_chunk_mut::<N>()
        && let Ok(high) = <&mut [[u32; 2]; N]>::try_from(high)
    {
        *low = words[0].map(split);
        *high = words[1].map(split);
    } else {
        store(words.as_flattened(), limbs);
    }
}

/// The window of the exponent that begins at a bit.
pub(super) fn digit_of(e: &[u32], bit: usize, window: usize) -> u64 {
    let limb = |i: usize| u64::from(e.get(i).copied().unwrap_or(0));
    let pair = limb(bit / 32) | limb(bit / 32 + 1) << 32;
    pair >> (bit % 32) & ((1 << window) - 1)
}
