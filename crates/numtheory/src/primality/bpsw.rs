//! The test of Baillie, Pomerance, Selfridge and Wagstaff, for single integers on the CPU.
//!
//! A strong test to base 2 and a strong Lucas test with Selfridge's parameters: the first `D` of 5, −7, 9, −11, … with
//! `(D/n) = −1`; `P = 1`, `Q = (1 − D)/4`. Below 2⁶⁴ no composite passes both, and nobody knows one above.
//!
//! This file shares no code with the engines, so that it can check their verdicts.
//!
//! Source: R. Baillie, S. S. Wagstaff, *Lucas pseudoprimes*, 1980; C. Pomerance, J. L. Selfridge, S. S. Wagstaff, *The
//! pseudoprimes to 25·10⁹*, 1980; D. Knuth, *The Art of Computer Programming* 2, 4.5.4.

use num_bigint::{BigInt, BigUint};

/// Is `n` prime, as far as the tests of Baillie, Pomerance, Selfridge and Wagstaff tell? `false` is a proof, and so is
/// `true` below 2⁶⁴.
///
/// ```
/// use num_bigint::BigUint;
/// use warpmp_numtheory::primality::is_bpsw_prime;
///
/// let mersenne = |exponent: u32| (BigUint::from(1_u32) << exponent) - 1_u32;
/// assert!(is_bpsw_prime(&mersenne(521)));
/// assert!(!is_bpsw_prime(&mersenne(523)));
/// ```
pub fn is_bpsw_prime(n: &BigUint) -> bool {
    let two = BigUint::from(2_u32);
    if !n.bit(0) || *n <= two {
        return *n == two;
    }
    passes_strong_test(n, &two) && passes_strong_lucas_test(n)
}

/// Is `n` odd, above 1 and a strong probable prime to this base?
///
/// ```
/// use warpmp_numtheory::primality::passes_strong_test;
///
/// // The least composite that passes to base 2 is 23·89.
/// assert!(passes_strong_test(&2047_u32.into(), &2_u32.into()));
/// assert!(!passes_strong_test(&2047_u32.into(), &3_u32.into()));
/// ```
pub fn passes_strong_test(n: &BigUint, base: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if !n.bit(0) || *n == one {
        return false;
    }
    let minus_one = n - 1_u32;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let mut power = base.modpow(&(&minus_one >> twos), n);
    let mut passed = power == one;
    for _ in 0..twos {
        passed |= power == minus_one;
        power = &power * &power % n;
    }
    passed
}

/// Is `n` odd, above 1, no square, and a strong Lucas probable prime with Selfridge's parameters?
///
/// ```
/// use warpmp_numtheory::primality::passes_strong_lucas_test;
///
/// // The least composite that passes is 53·103.
/// assert!(passes_strong_lucas_test(&5459_u32.into()));
/// assert!(!passes_strong_lucas_test(&2047_u32.into()));
/// ```
pub fn passes_strong_lucas_test(n: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    let root = n.sqrt();
    // No D has (D/n) = −1 if n is a square: the search would not end.
    if !n.bit(0) || *n == one || &root * &root == *n {
        return false;
    }
    let mut d = 5_i64;
    loop {
        match jacobi_of_small(d, n) {
            -1 => break,
            // D and n have a common factor. It is a factor below n, unless n divides D.
            0 if BigUint::from(d.unsigned_abs()) % n != BigUint::ZERO => return false,
            _ => d = next_d(d),
        }
    }
    let (d_mod, q) = (residue(d, n), residue((1 - d) / 4, n));
    let order = n + 1_u32;
    let twos = order.trailing_zeros().unwrap_or(0);
    let exponent: BigUint = &order >> twos;
    let half = |x: BigUint| if x.bit(0) { (x + n) >> 1 } else { x >> 1 };
    // U₁, V₁, Q¹. Each further bit of the exponent doubles the index, and a bit that is set adds one.
    let (mut u, mut v, mut power) = (one.clone(), one, q.clone());
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

/// The next of Selfridge's 5, −7, 9, −11, …
pub(super) const fn next_d(d: i64) -> i64 {
    if d > 0 { -d - 2 } else { 2 - d }
}

/// The Jacobi symbol of an odd `d` over an odd `n`, by the law of quadratic reciprocity.
pub(super) fn jacobi_of_small(d: i64, n: &BigUint) -> i32 {
    let (magnitude, low) = (d.unsigned_abs(), n.iter_u32_digits().next().unwrap_or(0));
    let residue = n % magnitude;
    let symbol = jacobi(&residue, &magnitude.into());
    let is_minus = (d < 0 && low % 4 == 3) != (magnitude % 4 == 3 && low % 4 == 3);
    if is_minus { -symbol } else { symbol }
}

/// The Jacobi symbol of `a` below an odd `n`.
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

    fn is_prime_by_division(n: u32) -> bool {
        n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
    }

    #[test]
    fn primes_are_those_of_trial_division() {
        for n in 0..30_000_u32 {
            assert_eq!(is_bpsw_prime(&n.into()), is_prime_by_division(n), "{n}");
        }
    }

    /// OEIS A217255: strong Lucas pseudoprimes with these parameters, and nothing else below 20000.
    #[test]
    fn strong_lucas_pseudoprimes() {
        let passing = (0..20_000_u32).filter(|n| passes_strong_lucas_test(&(*n).into()));
        let (primes, composites): (Vec<u32>, Vec<u32>) = passing.partition(|n| is_prime_by_division(*n));
        assert_eq!(composites, [5459, 5777, 10877, 16109, 18971]);
        assert_eq!(primes.len(), (3..20_000).filter(|n| is_prime_by_division(*n)).count());
    }

    #[test]
    fn long_numbers() {
        let power = |exponent: u32| BigUint::from(1_u32) << exponent;
        assert!(is_bpsw_prime(&(power(521) - 1_u32)) && is_bpsw_prime(&(power(127) - 1_u32)));
        // These composites pass the strong test to base 2.
        assert!(!is_bpsw_prime(&(power(257) - 1_u32)) && !is_bpsw_prime(&(power(128) + 1_u32)));
        let square = (power(127) - 1_u32).pow(2);
        assert!(!passes_strong_lucas_test(&square) && !is_bpsw_prime(&square));
    }
}
