//! Greatest common divisors of eight lanes at once, and inverses modulo odd numbers.

use std::arch::x86_64::{_mm512_cmpeq_epi64_mask, _mm512_set1_epi64, _mm512_setzero_si512};

use super::super::rows::Piece;
use super::divsteps::Pairs;
use super::group::{Group, bits, is_odd};
use super::montgomery::{self, Moduli};
use super::shift::Distances;
use super::{LANES, digits, rows};
use crate::operation::Status;

/// `gcd(a, b)`: of what remains without factors of two, times those that are common.
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
pub(super) fn gcd(piece: Piece<'_>) {
    let [a, b] = [0, 1].map(|i| piece.operands[i]);
    let limbs = a.limbs().max(b.limbs());
    let mut pairs = Pairs::new(montgomery::count(limbs));
    let mut words = vec![_mm512_setzero_si512(); digits::words(limbs)];
    let mut results = piece.results;
    let result = &mut results[0];
    let lanes = result.words.len() / result.limbs;
    for first in (0..lanes).step_by(LANES) {
        let filled = LANES.min(lanes - first);
        let (mut f, mut g) = (rows(a, first, filled), rows(b, first, filled));
        for (f, g) in f.iter_mut().zip(&mut g) {
            // Of two numbers one of which is zero the other is the divisor.
            if bits(f) == 0 {
                std::mem::swap(f, g);
            }
        }
        let twos = |row: &[u32]| {
            let zeros = row.iter().position(|limb| *limb != 0);
            zeros.map(|zeros| 32 * zeros + row[zeros].trailing_zeros() as usize)
        };
        let (of_f, of_g) = (f.map(twos), g.map(twos));
        digits::load(&f, &mut words, &mut pairs.f);
        digits::load(&g, &mut words, &mut pairs.g);
        Distances::new(&of_f.map(Option::unwrap_or_default)).down(&mut pairs.f);
        Distances::new(&of_g.map(Option::unwrap_or_default)).down(&mut pairs.g);
        pairs.run(None);
        pairs.make_positive();
        let both = std::array::from_fn(|lane| match (of_f[lane], of_g[lane]) {
            (Some(f), Some(g)) => f.min(g),
            (f, g) => f.or(g).unwrap_or(0),
        });
        // Cofactors are not wanted: there is memory.
        Distances::new(&both).up(&pairs.f, &mut pairs.d);
        let out = &mut result.words[first * result.limbs..][..filled * result.limbs];
        digits::store(&pairs.d, &mut words, out, result.limbs);
    }
}

/// The inverse modulo odd `m`. Lanes with an even one are returned: they are not done.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
pub(super) fn inverse(piece: &mut Piece<'_>) -> Vec<usize> {
    let [a, m] = [0, 1].map(|i| piece.operands[i]);
    let n = montgomery::count(a.limbs().max(m.limbs()));
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    let mut pairs = Pairs::new(n);
    let mut moduli = Moduli::new(n);
    let mut words = vec![zero; digits::words(a.limbs().max(m.limbs()))];
    let harmless = vec![u32::MAX; m.limbs()];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut even = Vec::new();
    for first in (0..lanes).step_by(LANES) {
        let mut group = Group::new(piece, first, lanes, &harmless, is_odd);
        even.extend(group.unsuited());
        digits::load(&group.moduli, &mut words, &mut pairs.f);
        digits::load(&group.operands[0], &mut words, &mut pairs.g);
        moduli.set(&pairs.f);
        pairs.d.fill(zero);
        pairs.e.fill(zero);
        pairs.e[0] = one;
        pairs.run(Some(&moduli));
        let negative = pairs.make_positive();
        pairs.negate_cofactor(&moduli, negative);
        let mut is_one = _mm512_cmpeq_epi64_mask(pairs.f[0], one);
        for digit in &pairs.f[1..] {
            is_one &= _mm512_cmpeq_epi64_mask(*digit, zero);
        }
        group.refuse(!is_one, Status::NoInverse);
        group.store(piece, 0, &mut pairs.d, &mut words);
        group.store_status(piece);
    }
    even
}
