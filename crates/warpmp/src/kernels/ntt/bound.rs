//! Why products are exact: no word of a residue overflows, and no coefficient exceeds the primes.
//!
//! *Words.* A residue is a signed word. The bound follows its magnitude in multiples of the prime. A digit is at most 8/7. A butterfly
//! adds a product by a root, which is at most 3/4 (`residues.rs`). Sums without a product double the magnitude. The product of two points
//! of magnitude `f` is at most `f²·p/2³² + 1/2`. [`Layout::greatest_residue`] adds all this up; it must be below 2³¹.
//!
//! *Coefficients.* A coefficient of the product is a sum of at most `n` products of digits below 2³², where the shorter factor has `n`
//! digits. It must be below a quarter of the product of the primes: then the residues determine it, and `result.rs` finds it.

use super::primes::PRIMES;
use super::residues::{REDUCED, SUMS};
use crate::kernels::transform::layout::{Layout, RADIX};

/// Bits of a digit.
pub(super) const DIGIT_BITS: u32 = 32;

/// Magnitudes have this many bits after the point, in multiples of the prime.
const FRACTION_BITS: u32 = 8;

/// One prime.
const ONE: u64 = 1 << FRACTION_BITS;

/// A digit: at most 8/7 of the prime.
const DIGIT: u64 = (8 * ONE).div_ceil(7);

/// A product by a root.
const PRODUCT: u64 = REDUCED * ONE / 4;

/// The product of the primes.
pub(super) fn product_of_primes() -> u128 {
    PRIMES.iter().map(|it| u128::from(it.modulus)).product()
}

impl Layout {
    /// The greatest magnitude of a residue in any pass, in words' units.
    pub(super) fn greatest_residue(self) -> u64 {
        let greatest_prime = PRIMES.iter().map(|it| u64::from(it.modulus)).max().unwrap_or(0);
        let levels = |radix: u32| u64::from(radix.ilog2());
        let start = if self.parts == 1 {
            2 * DIGIT + (levels(RADIX) - 1) * PRODUCT
        } else {
            DIGIT + (u64::from(self.parts) - 1 + levels(RADIX)) * PRODUCT
        };
        let point = start + (levels(RADIX) + levels(self.last())) * PRODUCT;
        let product = ((point * point * greatest_prime) >> (32 + FRACTION_BITS)) + 1 + ONE / 2;
        let joined = (product << SUMS) + (levels(RADIX) - u64::from(SUMS) + levels(RADIX)) * PRODUCT;
        // An odd number of parts: a part and twice the product of another two.
        let joined = joined + levels(self.joins_by_two()) * PRODUCT + if self.odd() > 1 { 2 * PRODUCT } else { 0 };
        (point.max(joined) * greatest_prime) >> FRACTION_BITS
    }

    /// The greatest coefficient for digits of this many bits, in quarters of the product of the primes: below 1 it is exact.
    pub(super) fn coefficient_bound(self, digit_bits: u32) -> f64 {
        let digits = self.limbs[0].min(self.limbs[1]);
        let digit = ((1_u64 << digit_bits) - 1) as f64;
        4.0 * f64::from(digits) * digit * digit / product_of_primes() as f64
    }

    /// Is every product exact?
    pub(super) fn residues_are_exact(self) -> bool {
        self.greatest_residue() < 1 << 31 && self.coefficient_bound(DIGIT_BITS) < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digit is `word − ⌊word/2²⁶⌋·p`, which is greatest for the greatest word. Of the third prime it is more than 9/8.
    #[test]
    fn the_greatest_digit_is_bounded() {
        let greatest = PRIMES.map(|it| u64::from(u32::MAX) - 63 * u64::from(it.modulus));
        for (greatest, prime) in greatest.into_iter().zip(PRIMES) {
            assert!(greatest * ONE <= DIGIT * u64::from(prime.modulus), "{prime:?}");
        }
        assert!(8 * greatest[2] > 9 * u64::from(PRIMES[2].modulus));
    }
}
