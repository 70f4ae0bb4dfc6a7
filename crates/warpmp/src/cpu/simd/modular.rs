//! Remainders, quotients and modular products of eight lanes at once, by long division.

use super::super::rows::Piece;
use super::group::Group;
use warpmp_simd::division::{self, Divisors};
use warpmp_simd::shift::Distances;
use warpmp_simd::{Ifma, MAX_LANES, Simd, digits, product, square};
use crate::operation::Operation;

/// Does the operation of a piece: one of those that take any modulus or divisor, or `to_mont`.
pub(super) fn run(s: Ifma, mut piece: Piece<'_>) {
    use Operation as O;
    let zero = s.zero();
    let operation = piece.operation;
    let limbs: Vec<usize> = piece.operands.iter().map(|rows| rows.limbs()).collect();
    let (m, last) = (limbs[limbs.len() - 1], limbs.len() - 1);
    let longest = limbs.iter().chain(piece.results.iter().map(|rows| &rows.limbs)).max().copied().unwrap_or(0);
    let mut words = vec![zero; digits::words::<Ifma>(longest)];
    // The dividend is a number of so many limbs.
    let dividend = match operation {
        O::MulMod => limbs[0] + limbs[1],
        O::SqrMod => 2 * limbs[0],
        O::ToMont => limbs[0] + m,
        _ => limbs[0],
    };
    let number = |i: usize| vec![zero; digits::count::<Ifma>(limbs[i])];
    let (mut a, mut b) = (number(0), number(last.min(1)));
    let (p, q) = (a.len(), b.len());
    let mut dividends = vec![zero; p + q.max(p) + 1];
    let mut scratch = vec![zero; product::scratch::<Ifma>(p, q).max(square::scratch::<Ifma>(p))];
    let mut modulus = vec![zero; division::count(m)];
    let (mut rest, mut quotients) = (Vec::new(), Vec::new());
    let radix = Distances::new(s, &[32 * m; MAX_LANES]);
    let harmless = vec![u32::MAX; m];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut divisors = Divisors::new(s, modulus.len());
    let mut known = None;
    for first in (0..lanes).step_by(Ifma::LANES) {
        let group = Group::new(s, &piece, first, lanes, &harmless);
        let fine = Some(group.fine());
        if !piece.operands[last].is_shared() || known != fine {
            digits::load(s, &group.moduli, &mut words, &mut modulus);
            divisors.set(&modulus, &group.bits());
            known = fine;
        }
        digits::load(s, &group.operands[0], &mut words, &mut a);
        let dividends: &[<Ifma as Simd>::Vector] = match operation {
            O::MulMod => {
                digits::load(s, &group.operands[1], &mut words, &mut b);
                product::mul(s, &a, &b, &mut dividends[..p + q], &mut scratch);
                &dividends[..p + q]
            }
            O::SqrMod => {
                square::sqr(s, &a, &mut dividends[..2 * p], &mut scratch);
                &dividends[..2 * p]
            }
            O::ToMont => {
                radix.up(&a, &mut dividends);
                &dividends
            }
            _ => &a,
        };
        let (above, count) = divisors.digits(32 * dividend);
        if rest.len() < above {
            rest.resize(above, zero);
            quotients.resize(count, zero);
        }
        let length = divisors.divide(dividends, 32 * dividend, &mut quotients, &mut rest);
        if operation == O::DivRem {
            group.store(&mut piece, 0, &mut quotients[..count], &mut words);
        }
        let result = usize::from(operation == O::DivRem);
        group.store(&mut piece, result, &mut rest[..length], &mut words);
        group.store_status(&mut piece);
    }
}
