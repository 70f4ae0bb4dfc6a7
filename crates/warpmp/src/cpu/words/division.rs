//! Quotients, remainders and modular products of few words, a lane at a time.
//!
//! computes   `⌊a / m⌋` and `a mod m`; `a·b mod m`, `a² mod m`, `a·R mod m` with `R = 2^(32L)` for `L` limbs of `m`
//! requires   operands of up to [`DIVIDEND_BITS`](super::DIVIDEND_BITS), factors and moduli of up to
//!            [`DIVISOR_BITS`](super::DIVISOR_BITS)
//! cost       a product, and `n + 2` word products for each word of the quotient, for `n` words of the modulus
//!
//! A modulus that serves consecutive lanes is prepared once. The bound and the source stand in [`warpmp_simd::words::division`].

use warpmp_simd::words::division::{Divisor, scratch_words};
use warpmp_simd::words::residues::{product, square};
use warpmp_simd::words::{self, multiply};

use super::super::rows::{Piece, RowsMut, load, load_words, store, store_words};
use super::super::simd::Dividend;
use super::{DIVIDEND_BITS, MAX_WORDS, by_words};
use crate::operation::Status;

/// Words of the longest dividend.
const DIVIDEND_WORDS: usize = DIVIDEND_BITS / 64;

/// Divides: of two results the first is the quotient, the last one the remainder.
pub(in super::super) fn run(piece: Piece<'_>, dividend: Dividend) {
    let limbs = piece.operands[piece.operands.len() - 1].limbs();
    by_words!(limbs, lanes(piece, dividend));
}

/// All lanes, for moduli of at most `N` words.
fn lanes<const N: usize>(mut piece: Piece<'_>, dividend: Dividend) {
    let (operands, preconditions) = (piece.operands, piece.operation.preconditions());
    let (first, moduli) = (operands[0], operands[operands.len() - 1]);
    let mut quotients = if piece.results.len() == 3 { Some(piece.results.remove(0)) } else { None };
    let [rests, statuses] = &mut piece.results[..] else { return };
    // A dividend that is raised has the words of a factor.
    let raised = if dividend == Dividend::Raised { 32 * moduli.limbs() } else { 0 };
    let mut scratch = [0; scratch_words(DIVIDEND_WORDS, 0, MAX_WORDS)];
    let mut wide = Wide([0; DIVIDEND_WORDS]);
    let mut known: Option<(&[u32], Divisor<N>)> = None;
    words::compiled(
        #[inline(always)]
        || {
            for (lane, code) in statuses.words.iter_mut().enumerate() {
                let status = preconditions.check(|i| operands[i].row(lane));
                *code = status.code();
                if status != Status::Fine {
                    quotients.iter_mut().for_each(|it| row_of(it, lane).fill(0));
                    row_of(rests, lane).fill(0);
                    continue;
                }
                let row = moduli.row(lane);
                let (_, divisor) = match known {
                    Some(same) if same.0 == row => same,
                    _ => (row, Divisor::new(load_words(row))),
                };
                known = Some((row, divisor));
                let fixed;
                let number = match dividend {
                    Dividend::Plain | Dividend::Raised => wide.row(first.row(lane)),
                    Dividend::Product => {
                        let (x, y) = (first.row(lane), operands[1].row(lane));
                        if x.len().max(y.len()) <= 2 * N {
                            fixed = product::<N>(&load_words(x), &load_words(y));
                            fixed.as_flattened()
                        } else {
                            wide.product(x, y)
                        }
                    }
                    Dividend::Square => {
                        let x = first.row(lane);
                        if x.len() <= 2 * N {
                            fixed = square::<N>(&load_words(x));
                            fixed.as_flattened()
                        } else {
                            wide.product(x, x)
                        }
                    }
                };
                let (rest, quotient) = divisor.divide(number, raised, &mut scratch);
                store_words(&rest, row_of(rests, lane));
                if let Some(quotients) = &mut quotients {
                    store(quotient, row_of(quotients, lane));
                }
            }
        },
    );
}

/// The row of a lane.
#[inline(always)]
fn row_of<'r>(rows: &'r mut RowsMut<'_>, lane: usize) -> &'r mut [u32] {
    &mut rows.words[lane * rows.limbs..][..rows.limbs]
}

/// Memory for a dividend.
struct Wide([u64; DIVIDEND_WORDS]);

impl Wide {
    /// The words of a row.
    #[inline(always)]
    fn row(&mut self, row: &[u32]) -> &[u64] {
        let words = &mut self.0[..row.len().div_ceil(2)];
        load(row, words);
        words
    }

    /// The product of two rows, of any two lengths.
    fn product(&mut self, x: &[u32], y: &[u32]) -> &[u64] {
        let [a, b] = [x, y].map(load_words::<MAX_WORDS>);
        let (m, n) = (x.len().div_ceil(2), y.len().div_ceil(2));
        multiply(&a[..m], &b[..n], &mut self.0[..m + n]);
        &self.0[..m + n]
    }
}
