//! Remainders, quotients and modular products of eight lanes at once, by long division.

use std::arch::x86_64::{__m512i, _mm512_setzero_si512};

use super::super::rows::Piece;
use super::division::{self, Divisors};
use super::group::Group;
use super::shift::Distances;
use super::{LANES, digits, product, square};

/// The number that is divided by the last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Dividend {
    /// The first operand.
    Plain,
    /// The product of the first two operands.
    Product,
    /// The square of the first operand.
    Square,
    /// The first operand times `R`.
    Raised,
}

/// Divides: of two results the first is the quotient, the last one the remainder.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
pub(super) fn run(mut piece: Piece<'_>, dividend: Dividend) {
    let zero = _mm512_setzero_si512();
    let has_quotient = piece.results.len() == 3;
    let limbs: Vec<usize> = piece.operands.iter().map(|rows| rows.limbs()).collect();
    let (m, last) = (limbs[limbs.len() - 1], limbs.len() - 1);
    let longest = limbs.iter().chain(piece.results.iter().map(|rows| &rows.limbs)).max().copied().unwrap_or(0);
    let mut words = vec![zero; digits::words(longest)];
    let dividend_limbs = match dividend {
        Dividend::Plain => limbs[0],
        Dividend::Product => limbs[0] + limbs[1],
        Dividend::Square => 2 * limbs[0],
        Dividend::Raised => limbs[0] + m,
    };
    let number = |i: usize| vec![zero; digits::count(limbs[i])];
    let (mut a, mut b) = (number(0), number(last.min(1)));
    let (p, q) = (a.len(), b.len());
    let mut dividends = vec![zero; p + q.max(p) + 1];
    let mut scratch = vec![zero; product::scratch(p, q).max(square::scratch(p))];
    let mut modulus = vec![zero; division::count(m)];
    let (mut rest, mut quotients) = (Vec::new(), Vec::new());
    let radix = Distances::new(&[32 * m; LANES]);
    let harmless = vec![u32::MAX; m];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut divisors = Divisors::new(modulus.len());
    let mut known = None;
    for first in (0..lanes).step_by(LANES) {
        let group = Group::new(&piece, first, lanes, &harmless, |_| true);
        let fine = Some(group.fine());
        if !piece.operands[last].is_shared() || known != fine {
            digits::load(&group.moduli, &mut words, &mut modulus);
            divisors.set(&modulus, &group.bits());
            known = fine;
        }
        digits::load(&group.operands[0], &mut words, &mut a);
        let dividends: &[__m512i] = match dividend {
            Dividend::Product => {
                digits::load(&group.operands[1], &mut words, &mut b);
                product::mul(&a, &b, &mut dividends[..p + q], &mut scratch);
                &dividends[..p + q]
            }
            Dividend::Square => {
                square::sqr(&a, &mut dividends[..2 * p], &mut scratch);
                &dividends[..2 * p]
            }
            Dividend::Raised => {
                radix.up(&a, &mut dividends);
                &dividends
            }
            Dividend::Plain => &a,
        };
        let (above, count) = divisors.digits(32 * dividend_limbs);
        if rest.len() < above {
            rest.resize(above, zero);
            quotients.resize(count, zero);
        }
        let length = divisors.divide(dividends, 32 * dividend_limbs, &mut quotients, &mut rest);
        if has_quotient {
            group.store(&mut piece, 0, &mut quotients[..count], &mut words);
        }
        let result = usize::from(has_quotient);
        group.store(&mut piece, result, &mut rest[..length], &mut words);
        group.store_status(&mut piece);
    }
}
