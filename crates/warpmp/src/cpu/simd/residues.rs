//! Montgomery's products, squares and reductions of eight lanes at once, with the library's `R = 2^(32L)`.
//!
//! Digits have another radix than limbs. So what is reduced is multiplied by `2^(52n − 32L)` first, which turns the
//! division by `2^(52n)` into one by `R`; it is below `R·m` before, and so below `2^(52n)·m` afterwards.

use std::arch::x86_64::_mm512_setzero_si512;

use super::super::reduction::Residue;
use super::super::rows::Piece;
use super::group::{Group, cut};
use super::montgomery::{self, Moduli};
use super::shift::Distances;
use super::{DIGIT_BITS, LANES, digits, product, square};

/// Reduces the lanes of a piece.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
pub(super) fn run(mut piece: Piece<'_>, residue: Residue) {
    let zero = _mm512_setzero_si512();
    let m = piece.operands[piece.operands.len() - 1];
    let (limbs, n) = (m.limbs(), montgomery::count(m.limbs()));
    let to_digits = Distances::new(&[DIGIT_BITS * n - 32 * limbs; LANES]);
    let mut words = vec![zero; digits::words(2 * limbs)];
    let number = || vec![zero; n];
    let (mut a, mut b, mut c) = (number(), number(), number());
    let (mut wide, mut t) = (vec![zero; 2 * n], vec![zero; 2 * n]);
    let mut scratch = vec![zero; product::scratch(n, n).max(square::scratch(n))];
    let harmless = vec![u32::MAX; limbs];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut moduli = Moduli::new(n);
    let mut known = None;
    for first in (0..lanes).step_by(LANES) {
        let group = Group::new(&piece, first, lanes, &harmless, |_| true);
        let fine = Some(group.fine());
        if !m.is_shared() || known != fine {
            digits::load(&group.moduli, &mut words, &mut c);
            moduli.set(&c);
            known = fine;
        }
        // Above the modulus there are zeros, or a fault.
        let long = if residue == Residue::Given { 2 * limbs } else { limbs };
        let row = cut(&group.operands[0], long);
        match residue {
            Residue::Product => {
                digits::load(&row, &mut words, &mut c);
                to_digits.up(&c, &mut a);
                digits::load(&cut(&group.operands[1], limbs), &mut words, &mut b);
                product::mul(&a, &b, &mut t, &mut scratch);
            }
            Residue::Square => {
                digits::load(&row, &mut words, &mut a);
                square::sqr(&a, &mut wide, &mut scratch);
                to_digits.up(&wide, &mut t);
            }
            Residue::Given => {
                digits::load(&row, &mut words, &mut wide);
                to_digits.up(&wide, &mut t);
            }
        }
        moduli.divide(&mut t, &mut c);
        moduli.reduce(&mut c);
        group.store(&mut piece, 0, &mut c, &mut words);
        group.store_status(&mut piece);
    }
}
