//! Remainders, quotients and modular products of a group of lanes at once, by long division.

use warpmp_simd::division::{self, Divisors};
use warpmp_simd::shift::Distances;
use warpmp_simd::{MAX_LANES, Simd, digits, product, square};

use super::super::rows::Piece;
use super::group::Group;

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
pub(super) fn run<S: Simd>(s: S, mut piece: Piece<'_>, dividend: Dividend) {
    let zero = s.zero();
    let has_quotient = piece.results.len() == 3;
    let limbs: Vec<usize> = piece.operands.iter().map(|rows| rows.limbs()).collect();
    let (m, last) = (limbs[limbs.len() - 1], limbs.len() - 1);
    let longest = limbs.iter().chain(piece.results.iter().map(|rows| &rows.limbs)).max().copied().unwrap_or(0);
    let mut words = vec![zero; digits::words::<S>(longest)];
    let dividend_limbs = match dividend {
        Dividend::Plain => limbs[0],
        Dividend::Product => limbs[0] + limbs[1],
        Dividend::Square => 2 * limbs[0],
        Dividend::Raised => limbs[0] + m,
    };
    let number = |i: usize| vec![zero; digits::count::<S>(limbs[i])];
    let (mut a, mut b) = (number(0), number(last.min(1)));
    let (p, q) = (a.len(), b.len());
    let mut dividends = vec![zero; p + q.max(p) + 1];
    let mut scratch = vec![zero; product::scratch::<S>(p, q).max(square::scratch::<S>(p))];
    let mut modulus = vec![zero; division::count::<S>(m)];
    let (mut rest, mut quotients) = (Vec::new(), Vec::new());
    let radix = Distances::new(s, &[32 * m; MAX_LANES]);
    let harmless = vec![u32::MAX; m];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut divisors = Divisors::new(s, modulus.len());
    let mut known = None;
    for first in (0..lanes).step_by(S::LANES) {
        let group = Group::new(s, &piece, first, lanes, &harmless, |_| true);
        let fine = Some(group.fine());
        if !piece.operands[last].is_shared() || known != fine {
            digits::load(s, &group.moduli, &mut words, &mut modulus);
            divisors.set(&modulus, &group.bits());
            known = fine;
        }
        digits::load(s, &group.operands[0], &mut words, &mut a);
        let dividends: &[S::Vector] = match dividend {
            Dividend::Product => {
                digits::load(s, &group.operands[1], &mut words, &mut b);
                product::mul(s, &a, &b, &mut dividends[..p + q], &mut scratch);
                &dividends[..p + q]
            }
            Dividend::Square => {
                square::sqr(s, &a, &mut dividends[..2 * p], &mut scratch);
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
