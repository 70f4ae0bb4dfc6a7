//! Divisors, cofactors, symbols, strong tests.

use num_bigint::{BigInt, BigUint};

/// The greatest common divisor by Euclid; of 0 and 0 it is 0.
pub(crate) fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// `g`, the least `x ≥ 0` with `a·x + b·y = g`, and `y`.
pub(crate) fn cofactors(a: &BigUint, b: &BigUint) -> [BigInt; 3] {
    let g = gcd(a, b);
    if *b == BigUint::ZERO {
        let x = i32::from(*a != BigUint::ZERO);
        return [g.into(), x.into(), BigInt::ZERO];
    }
    let (a, b) = (a / &g, b / &g);
    // Modulo 1 every integer is an inverse, and 0 is the least.
    let is_one = b == BigUint::from(1_u32);
    let x = BigInt::from(if is_one { BigUint::ZERO } else { (&a % &b).modinv(&b).unwrap_or_default() });
    let y = (BigInt::from(1) - BigInt::from(a) * &x) / BigInt::from(b);
    [g.into(), x, y]
}

/// The Kronecker symbol of `a` over `n`: by remainders of least magnitude, the sign of which is a factor of its own.
pub fn kronecker(a: &BigUint, n: &BigUint) -> i32 {
    const OVER_TWO: [i32; 8] = [0, 1, 0, -1, 0, -1, 0, 1];
    let one = BigUint::from(1_u32);
    let low = |number: &BigUint, modulus: u32| usize::try_from(number % modulus).unwrap_or(0);
    if *n == BigUint::ZERO {
        return i32::from(*a == one);
    }
    let twos = n.trailing_zeros().unwrap_or(0);
    let mut symbol = OVER_TWO[low(a, 8)].pow(twos as u32);
    let (mut a, mut n) = (a.clone(), n >> twos);
    while n != one {
        a %= &n;
        if &a + &a > n {
            // −1 over n is 1 for n = 1 modulo 4, else −1.
            a = &n - a;
            symbol *= 2 - low(&n, 4) as i32;
        }
        let Some(twos) = a.trailing_zeros() else { return 0 };
        a >>= twos;
        symbol *= OVER_TWO[low(&n, 8)].pow(twos as u32);
        if low(&a, 4) == 3 && low(&n, 4) == 3 {
            symbol = -symbol;
        }
        (a, n) = (n, a);
    }
    symbol
}

/// Is `n` odd, above 1 and a strong probable prime to base `a`?
pub fn strong_test(n: &BigUint, a: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if !n.bit(0) || *n == one {
        return false;
    }
    let minus_one = n - 1_u32;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let mut power = a.modpow(&(&minus_one >> twos), n);
    // One squaring for each zero at the end of `n − 1`. Carry-prone numbers have thousands of them, and a power for each would take minutes.
    power == one
        || (0..twos).any(|_| {
            let found = power == minus_one;
            power = &power * &power % n;
            found
        })
}
