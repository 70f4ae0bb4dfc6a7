//! Between rows of 32-bit limbs and vectors of digits.
//!
//! On the way stand *words*: vector `w` holds word `w`, 64 bits, of every lane. Rows become words by transposing square
//! blocks, words become digits by shifts of whole vectors.

use crate::simd::Simd;

/// Digits of a row.
pub const fn count<S: Simd>(limbs: usize) -> usize {
    (32 * limbs).div_ceil(S::DIGIT_BITS)
}

/// Words that a row takes while it is converted: whole blocks, and two of zeros above.
pub const fn words<S: Simd>(limbs: usize) -> usize {
    limbs.div_ceil(2 * S::LANES) * S::LANES + 2
}

/// Loads the digits of a row for each lane, and zeros above them; missing rows are empty.
///
/// # Panics
/// With fewer rows than lanes, or too few words: see [`words`].
pub fn load<S: Simd>(s: S, rows: &[&[u32]], words: &mut [S::Vector], digits: &mut [S::Vector]) {
    let limbs = rows[..S::LANES].iter().map(|row| row.len()).max().unwrap_or(0);
    let blocks = limbs.div_ceil(2 * S::LANES);
    s.vectorize(
        #[inline(always)]
        || {
            for (block, words) in words.chunks_exact_mut(S::LANES).take(blocks).enumerate() {
                s.load_block(rows, block * 2 * S::LANES, words);
            }
            let zero = s.zero();
            words[blocks * S::LANES..][..2].fill(zero);
            let (digits, above) = digits.split_at_mut(digits.len().min(count::<S>(limbs) + 1));
            above.fill(zero);
            for (i, digit) in digits.iter_mut().enumerate() {
                let (word, shift) = (i * S::DIGIT_BITS / 64, i * S::DIGIT_BITS % 64);
                *digit = s.digit(s.funnel(words[word], words[word + 1], shift));
            }
        },
    );
}

/// Stores reduced digits to consecutive rows of `limbs` limbs, one for each lane or fewer. Limbs above the digits become zero.
///
/// # Panics
/// With too few words: see [`words`].
pub fn store<S: Simd>(s: S, digits: &[S::Vector], words: &mut [S::Vector], rows: &mut [u32], limbs: usize) {
    let blocks = limbs.div_ceil(2 * S::LANES);
    s.vectorize(
        #[inline(always)]
        || {
            let words = &mut words[..blocks * S::LANES];
            for (w, word) in words.iter_mut().enumerate() {
                let (mut i, shift) = (64 * w / S::DIGIT_BITS, 64 * w % S::DIGIT_BITS);
                let digit = |i: usize| digits.get(i).copied().unwrap_or(s.zero());
                let mut bits = S::DIGIT_BITS - shift;
                *word = s.shr(digit(i), s.splat(shift as u64));
                while bits < 64 {
                    i += 1;
                    *word = s.or(*word, s.shl(digit(i), s.splat(bits as u64)));
                    bits += S::DIGIT_BITS;
                }
            }
            for (block, words) in words.chunks_exact(S::LANES).enumerate() {
                s.store_block(words, block * 2 * S::LANES, rows, limbs);
            }
        },
    );
}
