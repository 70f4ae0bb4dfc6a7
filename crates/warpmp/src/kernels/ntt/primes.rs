//! The primes, their roots of unity, and residues with quotients.
//!
//! A factor `w` of a residue has a quotient `w' = w·2³²/p`, rounded, by which products are reduced (V. Shoup): see
//! `residues.rs`. Both are signed, and `w` is at most `p/2` in magnitude.

use crate::kernels::transform::angle::{Angle, QUARTER, TURN};

/// A prime below 2²⁶ that is 1 modulo [`ORDER`], with a generator of its multiplicative group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prime {
    pub(super) modulus: u32,
    generator: u32,
}

/// All roots of unity have an order that divides this number.
const ORDER: u32 = 3 << 13;

/// The three greatest of these primes.
pub(super) const PRIMES: [Prime; 3] = [
    Prime { modulus: 67_043_329, generator: 7 },
    Prime { modulus: 66_994_177, generator: 5 },
    Prime { modulus: 66_969_601, generator: 7 },
];

impl Prime {
    /// `a·b`.
    pub(super) fn product(self, a: u32, b: u32) -> u32 {
        (u64::from(a) * u64::from(b) % u64::from(self.modulus)) as u32
    }

    /// `a` to the power `n`.
    fn power(self, a: u32, n: u32) -> u32 {
        let square = |x: u32| self.product(x, x);
        (0..32).rev().fold(1, |x, bit| if n >> bit & 1 == 1 { self.product(square(x), a) } else { square(x) })
    }

    /// The inverse of `a`.
    pub(super) fn inverse(self, a: u32) -> u32 {
        self.power(a % self.modulus, self.modulus - 2)
    }

    /// The inverse of the prime modulo 2³².
    pub(super) fn inverse_of_modulus(self) -> u32 {
        // Each step doubles the number of right bits, from 3 on.
        (0..4).fold(self.modulus, |x, _| x.wrapping_mul(2_u32.wrapping_sub(self.modulus.wrapping_mul(x))))
    }

    /// The root of unity of this angle.
    pub(super) fn root(self, angle: Angle) -> u32 {
        let unit = TURN / Angle::from(ORDER);
        debug_assert!(angle.is_multiple_of(unit), "the prime has a root of this order");
        let exponent = (angle / unit % Angle::from(ORDER)) as u32;
        self.power(self.generator, (self.modulus - 1) / ORDER * exponent)
    }

    /// A factor and its quotient, as signed words.
    pub(super) fn factor(self, residue: u32) -> [u32; 2] {
        let modulus = i64::from(self.modulus);
        let residue = i64::from(residue);
        let factor = if 2 * residue > modulus { residue - modulus } else { residue };
        let quotient = ((factor << 33) + modulus).div_euclid(2 * modulus);
        [factor as u32, quotient as u32]
    }

    /// The entry of a table for the root of this angle: the root and its multiple by `i`, each with its quotient.
    pub(super) fn entry(self, angle: Angle) -> [u64; 2] {
        [angle, (angle + QUARTER) % TURN].map(|angle| {
            let [factor, quotient] = self.factor(self.root(angle));
            u64::from(quotient) << 32 | u64::from(factor)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_primes_are_primes_with_roots_of_all_orders() {
        for prime in PRIMES {
            let p = prime.modulus;
            assert!(p < 1 << 26 && p % ORDER == 1);
            assert!((2..8192).take_while(|n| n * n <= p).all(|n| p % n != 0), "{p} is a prime");
            assert_eq!(prime.modulus.wrapping_mul(prime.inverse_of_modulus()), 1);
            let [half, third] = [TURN / 2, TURN / 3].map(|angle| prime.root(angle));
            assert_eq!(half, p - 1);
            assert!(third != 1 && prime.product(third, prime.product(third, third)) == 1);
            let least = prime.root(TURN / Angle::from(ORDER));
            assert_eq!(prime.power(least, ORDER / 2), p - 1);
        }
    }

    #[test]
    fn quotients_are_rounded() {
        for prime in PRIMES {
            for residue in [0, 1, 2, 12345, prime.modulus / 2, prime.modulus / 2 + 1, prime.modulus - 1] {
                let [factor, quotient] = prime.factor(residue).map(|it| i64::from(it as i32));
                assert_eq!((factor - i64::from(residue)) % i64::from(prime.modulus), 0);
                assert!(2 * factor.abs() <= i64::from(prime.modulus));
                assert!(((quotient * i64::from(prime.modulus)) - (factor << 32)).abs() * 2 <= i64::from(prime.modulus));
            }
        }
    }
}
