//! Montgomery's products, squares and reductions of a group of lanes at once, with the library's `R = 2^(32L)`.
//!
//! Digits have another radix than limbs. So what is reduced is multiplied by `2^(wn − 32L)` for digits of `w` bits first, which turns the
//! division by `2^(wn)` into one by `R`; it is below `R·m` before, and so below `2^(wn)·m` afterwards.

use warpmp_simd::montgomery::{self, Moduli};
use warpmp_simd::shift::Distances;
use warpmp_simd::{MAX_LANES, Simd, digits, product, square};

use super::super::reduction::Residue;
use super::super::rows::Piece;
use super::group::{Group, cut};

/// Reduces the lanes of a piece.
pub(super) fn run<S: Simd>(s: S, mut piece: Piece<'_>, residue: Residue) {
    let zero = s.zero();
    let m = piece.operands[piece.operands.len() - 1];
    let (limbs, n) = (m.limbs(), montgomery::count::<S>(m.limbs()));
    let to_digits = Distances::new(s, &[S::DIGIT_BITS * n - 32 * limbs; MAX_LANES]);
    let mut words = vec![zero; digits::words::<S>(2 * limbs)];
    let number = || vec![zero; n];
    let (mut a, mut b, mut c) = (number(), number(), number());
    let (mut wide, mut t) = (vec![zero; 2 * n], vec![zero; 2 * n]);
    let mut scratch = vec![zero; product::scratch::<S>(n, n).max(square::scratch::<S>(n))];
    let harmless = vec![u32::MAX; limbs];
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let mut moduli = Moduli::new(s, n);
    let mut known = None;
    for first in (0..lanes).step_by(S::LANES) {
        let group = Group::new(s, &piece, first, lanes, &harmless, |_| true);
        let fine = Some(group.fine());
        if !m.is_shared() || known != fine {
            digits::load(s, &group.moduli, &mut words, &mut c);
            moduli.set(&c);
            known = fine;
        }
        // Above the modulus there are zeros, or a fault.
        let long = if residue == Residue::Given { 2 * limbs } else { limbs };
        let row = cut(&group.operands[0], long);
        match residue {
            Residue::Product => {
                digits::load(s, &row, &mut words, &mut c);
                to_digits.up(&c, &mut a);
                digits::load(s, &cut(&group.operands[1], limbs), &mut words, &mut b);
                product::mul(s, &a, &b, &mut t, &mut scratch);
            }
            Residue::Square => {
                digits::load(s, &row, &mut words, &mut a);
                square::sqr(s, &a, &mut wide, &mut scratch);
                to_digits.up(&wide, &mut t);
            }
            Residue::Given => {
                digits::load(s, &row, &mut words, &mut wide);
                to_digits.up(&wide, &mut t);
            }
        }
        moduli.divide(&mut t, &mut c);
        moduli.reduce(&mut c);
        group.store(&mut piece, 0, &mut c, &mut words);
        group.store_status(&mut piece);
    }
}
