//! `--check N`: some verdicts found again by another test, on another library: Baillie's and Wagstaff's.
//!
//! A strong test to base 2 and a strong test of Lucas, with Selfridge's parameters: the first `D` of 5, −7, 9, −11, … with
//! `(D/n) = −1`; `P = 1`, `Q = (1 − D)/4`. No composite is known to pass both, and below 2⁶⁴ none does. It shares nothing
//! with tests to many bases but the first of them.
//!
//! Source: R. Baillie, S. S. Wagstaff, *Lucas pseudoprimes*, 1980; D. Knuth, *The Art of Computer Programming* 2, 4.5.4.

use num_bigint::{BigInt, BigUint};

use crate::error::plural;

/// An integer whose verdict another test does not find.
#[derive(Debug, thiserror::Error)]
#[error("integer {line}, {number}: {found} by at most {bases} strong test{}, {expected} by Baillie's and Wagstaff's test",
        plural((*bases).into()))]
pub(crate) struct WrongVerdict {
    pub(super) line: u64,
    pub(super) number: String,
    pub(super) found: &'static str,
    pub(super) expected: &'static str,
    pub(super) bases: u32,
}

/// An integer whose verdict is to be found again.
#[derive(Debug)]
pub(super) struct Sample {
    /// Its place among the chunk's.
    pub(super) lane: usize,
    pub(super) line: u64,
    pub(super) limbs: Vec<u32>,
}

/// Is it prime, by this test?
pub(super) fn is_prime(number: &[u32]) -> bool {
    let n = BigUint::new(number.to_vec());
    let two = BigUint::from(2_u32);
    if n <= two {
        return n == two;
    }
    if !n.bit(0) || !warpmp_oracle::strong_test(&n, &two) {
        return false;
    }
    let root = n.sqrt();
    &root * &root != n && passes_lucas(&n)
}

/// The strong test of Lucas for an odd `n`, no square.
fn passes_lucas(n: &BigUint) -> bool {
    let mut d = 5_i64;
    loop {
        match jacobi(&residue(d, n), n) {
            -1 => break,
            // A common factor, unless it is n itself.
            0 if BigUint::from(d.unsigned_abs()) % n != BigUint::ZERO => return false,
            _ => d = if d > 0 { -d - 2 } else { 2 - d },
        }
    }
    let (d_mod, q) = (residue(d, n), residue((1 - d) / 4, n));
    let order = n + 1_u32;
    let twos = order.trailing_zeros().unwrap_or(0);
    let exponent: BigUint = &order >> twos;
    let half = |x: BigUint| if x.bit(0) { (x + n) >> 1 } else { x >> 1 };
    // U₁, V₁, Q¹; doubled for each further bit, one more where it is set.
    let (mut u, mut v, mut power) = (BigUint::from(1_u32), BigUint::from(1_u32), q.clone());
    let double = |v: &BigUint, power: &BigUint| (v * v + n + n - power - power) % n;
    for bit in (0..exponent.bits() - 1).rev() {
        u = &u * &v % n;
        v = double(&v, &power);
        power = &power * &power % n;
        if exponent.bit(bit) {
            (u, v) = (half((&u + &v) % n) % n, half((&d_mod * &u + &v) % n) % n);
            power = &power * &q % n;
        }
    }
    let mut passed = u == BigUint::ZERO;
    for _ in 0..twos {
        passed |= v == BigUint::ZERO;
        v = double(&v, &power);
        power = &power * &power % n;
    }
    passed
}

/// A small integer modulo `n`.
fn residue(value: i64, n: &BigUint) -> BigUint {
    let n = BigInt::from(n.clone());
    (((BigInt::from(value) % &n) + &n) % &n).magnitude().clone()
}

/// The symbol of Jacobi, of `a` below an odd `n`.
fn jacobi(a: &BigUint, n: &BigUint) -> i32 {
    let (mut a, mut n, mut sign) = (a.clone(), n.clone(), 1);
    let low = |x: &BigUint| x.iter_u32_digits().next().unwrap_or(0);
    while let Some(twos) = a.trailing_zeros() {
        a >>= twos;
        if twos % 2 == 1 && matches!(low(&n) % 8, 3 | 5) {
            sign = -sign;
        }
        if low(&a) % 4 == 3 && low(&n) % 4 == 3 {
            sign = -sign;
        }
        (a, n) = (&n % &a, a);
    }
    if n == BigUint::from(1_u32) { sign } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_those_of_a_sieve() {
        for n in 0..30_000_u32 {
            let expected = n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(is_prime(&[n, 0]), expected, "{n}");
        }
    }

    /// OEIS A217255: strong pseudoprimes of Lucas with these parameters, and nothing else below 20000.
    #[test]
    fn pseudoprimes_of_lucas() {
        let odd = (3..20_000_u32).step_by(2).filter(|n| n.isqrt().pow(2) != *n);
        let composite = |n: &u32| (2..*n).take_while(|d| d * d <= *n).any(|d| n.is_multiple_of(d));
        let found: Vec<u32> = odd.filter(composite).filter(|n| passes_lucas(&BigUint::from(*n))).collect();
        assert_eq!(found, [5459, 5777, 10877, 16109, 18971]);
    }

    #[test]
    fn long_numbers() {
        let power = |exponent: u32| BigUint::from(1_u32) << exponent;
        let verdict = |n: BigUint| is_prime(&n.to_u32_digits());
        assert!(verdict(power(521) - 1_u32) && verdict(power(127) - 1_u32));
        // They pass to base 2.
        assert!(!verdict(power(257) - 1_u32) && !verdict(power(128) + 1_u32));
    }
}
