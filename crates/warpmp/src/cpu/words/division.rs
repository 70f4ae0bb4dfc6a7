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

use super::super::rows::{Piece, RowsMut, load, load_words, store, store_pair, store_words};
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
    // One modulus for all lanes is prepared once.
    let mut divisor = None;
    words::compiled(
        #[inline(always)]
        || {
            for (lane, code) in statuses.words.iter_mut().enumerate() {
                let status = preconditions.check(|i| operands[i].row(lane));
                *code = status.code();
                if status != Status::Fine {
                    if let Some(quotients) = &mut quotients {
                        row_of(quotients, lane).fill(0);
                    }
                    row_of(rests, lane).fill(0);
                    continue;
                }
                if divisor.is_none() || !moduli.is_shared() {
                    divisor = Some(Divisor::<N>::new(load_words(moduli.row(lane))));
                }
                let Some(divisor) = &divisor else { continue };
                let x = first.row(lane);
                let y = if dividend == Dividend::Product { operands[1].row(lane) } else { x };
                let pair = if divisor.is_full() { pair::<N>(dividend, x, y) } else { None };
                if let Some(pair) = pair {
                    let (rest, quotient) = divisor.divide_pair(&pair);
                    store_words(&rest, row_of(rests, lane));
                    if let Some(quotients) = &mut quotients {
                        store_pair(&quotient, row_of(quotients, lane));
                    }
                    continue;
                }
                let number = match dividend {
                    Dividend::Plain | Dividend::Raised => wide.row(x),
                    Dividend::Product | Dividend::Square => wide.product(x, y),
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

/// A dividend that has just `2N` words.
#[inline(always)]
fn pair<const N: usize>(dividend: Dividend, x: &[u32], y: &[u32]) -> Option<[[u64; N]; 2]> {
    match dividend {
        Dividend::Plain => {
            let (low, high) = x.split_at_checked(2 * N)?;
            (high.len().div_ceil(2) == N).then(|| [load_words(low), load_words(high)])
        }
        Dividend::Product => (x.len().max(y.len()) <= 2 * N).then(|| product(&load_words(x), &load_words(y))),
        Dividend::Square => (x.len() <= 2 * N).then(|| square(&load_words(x))),
        Dividend::Raised => None,
    }
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
