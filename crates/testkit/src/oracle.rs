//! Numbers and limbs, and the results of every operation by num-bigint.

use num_bigint::BigUint;
pub use warpmp_oracle::{Value, apply, product_bits};

/// A number from its limbs.
pub fn number(limbs: &[u32]) -> BigUint {
    BigUint::from_slice(limbs)
}

/// The limbs of a number, filled up to `width`.
///
/// # Panics
/// If the number has more limbs.
pub fn limbs(number: &BigUint, width: usize) -> Vec<u32> {
    let mut limbs = number.to_u32_digits();
    assert!(limbs.len() <= width, "{} limbs do not fit in {width}", limbs.len());
    limbs.resize(width, 0);
    limbs
}

/// The product in `width` limbs.
///
/// # Panics
/// If it has more limbs.
pub fn mul(a: &[u32], b: &[u32], width: usize) -> Vec<u32> {
    limbs(&(number(a) * number(b)), width)
}
