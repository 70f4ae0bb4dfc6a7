//! The starts of a window, residue by residue: what `alpha` and `delay_records` have in common.
//!
//! A warp takes a residue B modulo 2ᵏ of a list, its lanes the upper numbers u of the starts W + B + u·2ᵏ. Of nine consecutive u the modulus
//! leaves the same places again and again, which a table tells from (W + B) mod 9; so no lane is spent on a start that is left
//! out.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Special, Vector};

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Starts {
    /// Bits of the sieve, k.
    pub sieve_bits: u32,
    /// Bits of the window; at most 26 more than k.
    pub window_bits: u32,
    /// Residues modulo 9 that are left: 5, 6 (modulo 3) or 9 (all).
    pub kept: u32,
}

impl Starts {
    /// For each W + B mod 9: the u below 9 that are left, nine words a row.
    pub fn places(&self) -> Vec<u32> {
        let step = (0..self.sieve_bits).fold(1, |power, _| power * 2 % 9);
        let left = |n: u32| match self.kept {
            9 => true,
            6 => n % 3 != 2,
            _ => !matches!(n % 9, 2 | 4 | 5 | 8),
        };
        let row = |first: u32| {
            let mut row: Vec<u32> = (0..9).filter(|u| left(first + step * u)).collect();
            row.resize(9, 0);
            row
        };
        (0..9).flat_map(row).collect()
    }

    /// Shows `each` the numbers of this warp's residues, of `count`, in blocks of `threads`.
    pub(super) fn residues(b: &mut Builder, count: R32, threads: u32, each: impl FnOnce(&mut Builder, R32)) {
        let (thread, block) = (b.special(Special::Tid), b.special(Special::Ctaid));
        let warp = b.shr(thread, 5);
        let residue = b.mad_lo(block, threads / 32, warp);
        let all = b.special(Special::Nctaid);
        let stride = b.mul_lo(all, threads / 32);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, residue, count);
        b.while_(more, |b| {
            each(b, residue);
            b.increase(residue, stride);
        });
    }

    /// Shows `each` this lane's u of a residue with `nine` = (W + B) mod 9, by the table `places`.
    pub(super) fn uppers(&self, b: &mut Builder, nine: R32, places: R64, each: impl FnOnce(&mut Builder, R32)) {
        let places = b.mad_wide(nine, 36, places);
        let uppers = 1_u32 << (self.window_bits - self.sieve_bits);
        let rounds = uppers.div_ceil(9) * self.kept;
        let lane = b.special(Special::Lane);
        let place = b.copy(lane);
        let more = |b: &mut Builder| b.compare(Cmp::Lt, place, rounds);
        b.while_(more, |b| {
            // place = kept·q + j: exact below 2²⁶.
            let nines = b.mul_hi(place, u32::MAX / self.kept + 1);
            let j = b.mad_lo(nines, self.kept.wrapping_neg(), place);
            let offset = b.mad_wide(j, 4, places);
            let offset = b.load_global(Space::GlobalConst, Vector::V1, offset, 0)[0];
            let upper = b.mad_lo(nines, 9, offset);
            let inside = b.compare(Cmp::Lt, upper, uppers);
            b.if_(inside, |b| each(b, upper));
            b.increase(place, 32);
        });
    }
}
