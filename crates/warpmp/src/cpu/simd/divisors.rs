//! Greatest common divisors of a group of lanes at once, and inverses modulo odd numbers.

use warpmp_simd::divsteps::Pairs;
use warpmp_simd::montgomery::{self, Moduli};
use warpmp_simd::shift::Distances;
use warpmp_simd::{Simd, digits};

use super::super::rows::Piece;
use super::group::{Group, bits, is_odd, twos};
use super::rows;
use crate::operation::Status;

/// `gcd(a, b)`: of what remains without factors of two, times those that are common.
pub(super) fn gcd<S: Simd>(s: S, piece: Piece<'_>) {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    let limbs = a.limbs().max(b.limbs());
    let mut pairs = Pairs::new(s, montgomery::count::<S>(limbs));
    let mut words = vec![s.zero(); digits::words::<S>(limbs)];
    let mut results = piece.results;
    let result = &mut results[0];
    let lanes = result.words.len() / result.limbs;
    for first in (0..lanes).step_by(S::LANES) {
        let filled = S::LANES.min(lanes - first);
        let (mut f, mut g) = (rows(a, first, filled), rows(b, first, filled));
        for (f, g) in f.iter_mut().zip(&mut g) {
            // Of two numbers one of which is zero the other is the divisor.
            if bits(f) == 0 {
                std::mem::swap(f, g);
            }
        }
        let (of_f, of_g) = (f.map(twos), g.map(twos));
        digits::load(s, &f, &mut words, &mut pairs.f);
        digits::load(s, &g, &mut words, &mut pairs.g);
        Distances::new(s, &of_f.map(Option::unwrap_or_default)).down(&mut pairs.f);
        Distances::new(s, &of_g.map(Option::unwrap_or_default)).down(&mut pairs.g);
        pairs.divisors();
        let both = std::array::from_fn(|lane| match (of_f[lane], of_g[lane]) {
            (Some(f), Some(g)) => f.min(g),
            (f, g) => f.or(g).unwrap_or(0),
        });
        // Cofactors are not wanted: there is memory.
        Distances::new(s, &both).up(&pairs.f, &mut pairs.d);
        let out = &mut result.words[first * result.limbs..][..filled * result.limbs];
        digits::store(s, &pairs.d, &mut words, out, result.limbs);
    }
}

/// The inverse modulo odd `m`. Lanes with an even one are returned: they are not done.
pub(super) fn inverse<S: Simd>(s: S, piece: &mut Piece<'_>) -> Vec<usize> {
    let [a, m] = [0, 1].map(|i| piece.operands[i]);
    let n = montgomery::count::<S>(a.limbs().max(m.limbs()));
    let (zero, one) = (s.zero(), s.splat(1));
    let mut pairs = Pairs::new(s, n);
    let mut moduli = Moduli::new(s, n);
    let mut words = vec![zero; digits::words::<S>(a.limbs().max(m.limbs()))];
    let harmless = vec![u32::MAX; m.limbs()];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut even = Vec::new();
    for first in (0..lanes).step_by(S::LANES) {
        let mut group = Group::new(s, piece, first, lanes, &harmless, is_odd);
        even.extend(group.unsuited());
        digits::load(s, &group.moduli, &mut words, &mut pairs.f);
        digits::load(s, &group.operands[0], &mut words, &mut pairs.g);
        moduli.set(&pairs.f);
        pairs.inverses(&moduli);
        let mut is_one = s.equal(pairs.f[0], one);
        for digit in &pairs.f[1..] {
            is_one = s.both(is_one, s.equal(*digit, zero));
        }
        group.refuse(!s.lanes(is_one), Status::NoInverse);
        group.store(piece, 0, &mut pairs.d, &mut words);
        group.store_status(piece);
    }
    even
}
