//! Single inverses and common divisors.

use dashu_int::{
    IBig, UBig,
    ops::{ExtendedGcd, Gcd},
};
use num_bigint::BigUint;

use crate::batch_gcd::{to_biguint, to_ubig};

/// `a⁻¹ mod n`.
///
/// # Errors
/// The greatest common divisor of both, if it is not 1.
pub(super) fn inverse(a: &BigUint, n: &BigUint) -> Result<BigUint, BigUint> {
    if a % n == BigUint::ZERO {
        return Err(n.clone());
    }
    let n = to_ubig(n);
    let (gcd, x, _) = to_ubig(a).gcd_ext(&n);
    if gcd != UBig::ONE {
        return Err(to_biguint(&gcd));
    }
    let modulus = IBig::from(n);
    let residue = (x % &modulus + &modulus) % &modulus;
    Ok(to_biguint(&residue.into_parts().1))
}

/// The greatest common divisor of `a` and `n`, above 0.
pub fn common_divisor(a: &BigUint, n: &BigUint) -> BigUint {
    if *a == BigUint::ZERO { n.clone() } else { to_biguint(&to_ubig(a).gcd(&to_ubig(n))) }
}
