//! `cpu-words`: Montgomery's products and reductions, a lane at a time in words of 64 bits.
//!
//! computes   `t/R mod m` with `R = 2^(32L)` for `L` limbs of `m`, odd; `t` is given, or a product of two residues
//! cost       `2n² + n` word products for `n` words of the modulus, half of them for a number that is given
//!
//! An odd number of limbs leaves half a word free: then `t` is multiplied by `2^32` first, so that dividing by `2^(64n)`
//! divides by `R`. Moduli of up to [`MAX_WORDS`] words have a function for each number of words, which keeps them in registers. The bound and
//! the source stand in [`warpmp_simd::words`] and [`warpmp_simd::words::residues`].

use warpmp_simd::words::residues::{Odd, product, square};
use warpmp_simd::words::{self, Modulus};

use super::rows::{Piece, load, load_words, store, store_words};
use super::words::{MAX_WORDS, by_words};
use crate::operation::Status;

/// The number that is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residue {
    /// The product of two residues.
    Product,
    /// The square of a residue.
    Square,
    /// The operand itself.
    Given,
}

/// Reduces the lanes of a piece.
pub(super) fn run(piece: Piece<'_>, residue: Residue) {
    let limbs = piece.operands[piece.operands.len() - 1].limbs();
    if limbs <= 2 * MAX_WORDS {
        by_words!(limbs, few(piece, residue));
    } else {
        many(piece, residue);
    }
}

/// All lanes, for moduli of at most `N` words.
fn few<const N: usize>(mut piece: Piece<'_>, residue: Residue) {
    let (operands, preconditions) = (piece.operands, piece.operation.preconditions());
    let (first, moduli) = (operands[0], operands[operands.len() - 1]);
    let limbs = moduli.limbs();
    let [results, statuses] = &mut piece.results[..] else { return };
    // `t` is multiplied by 2^free first, so that dividing by 2^(64N) divides by `R`.
    let free = 64 * N - 32 * limbs;
    words::compiled(
        #[inline(always)]
        || {
            for (lane, (out, code)) in results.words.chunks_exact_mut(limbs).zip(&mut *statuses.words).enumerate() {
                let status = preconditions.check(|i| operands[i].row(lane));
                *code = status.code();
                if status != Status::Fine {
                    out.fill(0);
                    continue;
                }
                let m = Odd::<N>::new(load_words(moduli.row(lane)));
                // The limbs beyond are zero, as the factors are below the modulus.
                let factor = |row: &[u32]| load_words::<N>(&row[..row.len().min(limbs)]);
                let mut t = match residue {
                    Residue::Product => product(&factor(first.row(lane)), &factor(operands[1].row(lane))),
                    Residue::Square => square(&factor(first.row(lane))),
                    Residue::Given => given(first.row(lane), limbs),
                };
                if free != 0 {
                    words::shift_up(t.as_flattened_mut(), free);
                }
                store_words(&m.reduce(&t), out);
            }
        },
    );
}

/// The first `2·limbs` limbs of a row; the limbs beyond are zero, as the number is below `m·R`.
#[inline]
fn given<const N: usize>(row: &[u32], limbs: usize) -> [[u64; N]; 2] {
    let mut t = [[0; N]; 2];
    load(&row[..row.len().min(2 * limbs)], t.as_flattened_mut());
    t
}

/// All lanes, for moduli of any length.
fn many(mut piece: Piece<'_>, residue: Residue) {
    let m_rows = piece.operands[piece.operands.len() - 1];
    let limbs = m_rows.limbs();
    let n = limbs.div_ceil(2);
    let (mut a, mut b, mut t) = (vec![0; n], vec![0; n], vec![0; 2 * n]);
    let mut known: Option<(&[u32], Modulus)> = None;
    let (preconditions, operands) = (piece.operation.preconditions(), &piece.operands);
    let [results, statuses] = &mut piece.results[..] else { return };
    for (lane, (out, code)) in results.words.chunks_exact_mut(limbs).zip(&mut *statuses.words).enumerate() {
        let row = m_rows.row(lane);
        let first = operands[0].row(lane);
        let second = if residue == Residue::Product { operands[1].row(lane) } else { first };
        let status = preconditions.check(|i| operands[i].row(lane));
        *code = status.code();
        if status != Status::Fine {
            out.fill(0);
            continue;
        }
        let (_, modulus) = if let Some(same) = known.take().filter(|(known, _)| *known == row) {
            known.insert(same)
        } else {
            let mut words = vec![0; n];
            load(row, &mut words);
            known.insert((row, Modulus::new(words)))
        };
        if residue == Residue::Given {
            // The limbs beyond are zero: the number is below m·R.
            load_zeros(first, 2 * limbs, &mut t);
        } else {
            load_zeros(first, limbs, &mut a);
            load_zeros(second, limbs, &mut b);
            words::multiply(&a, &b, &mut t);
        }
        if limbs % 2 == 1 {
            // There is half a word free at the top.
            (0..2 * n).rev().for_each(|i| t[i] = t[i] << 32 | i.checked_sub(1).map_or(0, |i| t[i] >> 32));
        }
        modulus.divide(&mut t, &mut a);
        store(&a, out);
    }
}

/// The first limbs of a row as words, and zeros above.
fn load_zeros(row: &[u32], limbs: usize, words: &mut [u64]) {
    words.fill(0);
    load(&row[..row.len().min(limbs)], words);
}
