//! Single inverses and common divisors.

use dashu_int::{
    IBig, UBig,
    ops::{ExtendedGcd, Gcd},
};
use num_bigint::BigUint;

fn to_dashu(number: &BigUint) -> UBig {
    UBig::from_le_bytes(&number.to_bytes_le())
}

fn from_dashu(number: &UBig) -> BigUint {
    BigUint::from_bytes_le(&number.to_le_bytes())
}

/// `a⁻¹ mod n`.
///
/// # Errors
/// The greatest common divisor of both, if it is not 1.
pub(super) fn inverse(a: &BigUint, n: &BigUint) -> Result<BigUint, BigUint> {
    if a % n == BigUint::ZERO {
        return Err(n.clone());
    }
    let n = to_dashu(n);
    let (gcd, x, _) = to_dashu(a).gcd_ext(&n);
    if gcd != UBig::ONE {
        return Err(from_dashu(&gcd));
    }
    let modulus = IBig::from(n);
    let residue = (x % &modulus + &modulus) % &modulus;
    Ok(from_dashu(&residue.into_parts().1))
}

/// The greatest common divisor of `a` and `n`, above 0.
pub(super) fn common_divisor(a: &BigUint, n: &BigUint) -> BigUint {
    if *a == BigUint::ZERO { n.clone() } else { from_dashu(&to_dashu(a).gcd(&to_dashu(n))) }
}
