//! Operands that belong together: quotients and roots next to whole ones, long chains of divisions, residues whose
//! product is at an edge, numbers that pass strong tests.

use num_bigint::BigUint;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::numbers::{
    any, cut, extreme_limbs, length, less, modulus, near, number, one_in, ones, pick, power, residue, up_to,
};

/// `[a, b]`: sums and differences whose carries run far.
pub(super) fn sum(rng: &mut ChaCha8Rng, p: usize, q: usize) -> [BigUint; 2] {
    let b = any(rng, q);
    let a = match rng.random_range(0..4) {
        0 => near(rng, &b),
        1 => ones(p) ^ cut(&b, p),
        2 => {
            let edge = power(length(rng, p));
            less(&near(rng, &edge), &b)
        }
        // Equal but for a bit.
        _ => cut(&b, p) ^ power(length(rng, p - 1)),
    };
    [a, b]
}

/// `[a, b]`: products next to powers of two and to all ones.
pub(super) fn product(rng: &mut ChaCha8Rng, p: usize, q: usize) -> [BigUint; 2] {
    match rng.random_range(0..4) {
        0 => [ones(p), ones(q)],
        // (2^k − 1)(2^k + 1).
        1 => [ones(p), power(p.min(q - 1)) + 1_u32],
        2 => {
            let b = any(rng, q) | number(1);
            [near(rng, &(power(p + b.bits() as usize - 1) / &b)), b]
        }
        _ => [extreme_limbs(rng, p), extreme_limbs(rng, q)],
    }
}

/// A dividend for a divisor: remainders at their edges, quotients of extreme limbs, the dividend's top like the
/// divisor's.
pub(super) fn dividend(rng: &mut ChaCha8Rng, p: usize, b: &BigUint) -> BigUint {
    if *b == BigUint::ZERO {
        return any(rng, p);
    }
    let room = p.saturating_sub(b.bits() as usize);
    match rng.random_range(0..6) {
        0 => b * ones(room) + (b - 1_u32),
        1 => b * extreme_limbs(rng, room.max(1)) + residue(rng, b, p),
        2 => {
            let shifted = b << length(rng, room);
            near(rng, &shifted)
        }
        3 => less(&(b << length(rng, room)), &power(length(rng, p))),
        4 => {
            let multiple = b * any(rng, room);
            near(rng, &multiple)
        }
        // Quotient limbs estimated from equal tops.
        _ => (b << room) - power(room.min(rng.random_range(0..=64))),
    }
}

/// `[a, b]` with a common divisor, often a power of two, and quotients of Euclid's algorithm that are all 1, short, or a
/// single long one among short ones.
pub(super) fn chain(rng: &mut ChaCha8Rng, p: usize, q: usize) -> [BigUint; 2] {
    let least = p.min(q);
    let divisor = match rng.random_range(0..5) {
        0 => up_to(rng, least) | number(1),
        1 => power(length(rng, least - 1)),
        2 => power(length(rng, least - 1)) * number(rng.random_range(1..100)),
        _ => number(1),
    };
    let bits = least.saturating_sub(divisor.bits() as usize);
    let long = bits > 0 && one_in(rng, 3);
    let jump = if long { rng.random_range(0..bits) } else { usize::MAX };
    let most = pick(rng, &[1, 1, 3, 1 << 16]);
    let [mut x, mut y] = [number(1), number(u32::from(rng.random::<bool>()))];
    let mut jumped = false;
    while (x.bits() as usize) < bits {
        let quotient = if !jumped && x.bits() as usize > jump {
            jumped = true;
            up_to(rng, bits - x.bits() as usize) + 1_u32
        } else {
            number(rng.random_range(1..=most))
        };
        let next = &x * quotient + &y;
        if next.bits() as usize > bits {
            break;
        }
        (x, y) = (next, x);
    }
    let (x, y) = (x * &divisor, y * divisor);
    match rng.random_range(0..6) {
        // Equal ones, multiples, and the longer far above the shorter.
        0 => [x.clone(), x],
        1 => [&x * any(rng, p.saturating_sub(x.bits() as usize)), x],
        2 => [x, y],
        3 => [near(rng, &(&x << p.saturating_sub(x.bits() as usize))), x],
        _ => [y, x],
    }
}

/// Squares and their neighbours, up to the last number with the same root.
pub(super) fn square(rng: &mut ChaCha8Rng, p: usize) -> BigUint {
    let half = p.div_ceil(2);
    let root = match rng.random_range(0..3) {
        0 => ones(half),
        1 => extreme_limbs(rng, half),
        _ => any(rng, half),
    };
    let square = &root * &root;
    match rng.random_range(0..4) {
        0 => near(rng, &square),
        1 => square + (root << 1_u32),
        2 => square + root,
        _ => less(&square, &number(1)),
    }
}

/// `[a, m]` for inverses: 1, `m − 1`, multiples of a factor, chains as for common divisors.
pub(super) fn inverse(rng: &mut ChaCha8Rng, p: usize, q: usize) -> [BigUint; 2] {
    let m = modulus(rng, q, false);
    match rng.random_range(0..5) {
        0 => chain(rng, p, q),
        1 => [residue(rng, &m, p), m],
        2 => [any(rng, p) | number(1), power(length(rng, q - 1))],
        3 => {
            let factor = number(pick(rng, &[2, 3, 5, 0x1_0001]));
            [any(rng, p) / &factor * &factor, &m / &factor * factor]
        }
        _ => [dividend(rng, p, &m), m],
    }
}

/// A partner of `a` with which the Montgomery product is next to 0 or `m`; any residue where there is none.
pub(super) fn montgomery_partner(rng: &mut ChaCha8Rng, a: &BigUint, m: &BigUint, bits: usize) -> BigUint {
    let target = residue(rng, m, bits);
    let inverse = if *m > number(1) { (a % m).modinv(m) } else { None };
    inverse.map_or_else(|| residue(rng, m, bits), |inverse| (target << (32 * bits.div_ceil(32))) * inverse % m)
}

/// A number to be reduced from `m·R`: its end, multiples of the modulus and of `R`, and now and then beyond.
pub(super) fn unreduced(rng: &mut ChaCha8Rng, p: usize, m: &BigUint, bits: usize) -> BigUint {
    let limbs = bits.div_ceil(32);
    let end = m << (32 * limbs);
    match rng.random_range(0..7) {
        0 => less(&end, &number(1)),
        1 => less(&end, m),
        2 => near(rng, &end),
        3 => m * any(rng, 32 * limbs),
        4 => less(m, &number(1)) << (32 * rng.random_range(0..=limbs)),
        5 => less(&end, &any(rng, p)),
        _ => any(rng, p) % (end + 1_u32),
    }
}

/// An exponent.
pub(super) fn exponent(rng: &mut ChaCha8Rng, bits: usize) -> BigUint {
    match rng.random_range(0..5) {
        0 => number(rng.random_range(0..4)),
        1 => power(length(rng, bits - 1)),
        2 => ones(length(rng, bits)),
        _ => any(rng, bits),
    }
}

/// `[a, n]` for strong tests: Mersenne and Fermat numbers, which pass to base 2; pseudoprimes; numbers with many twos
/// below them; bases ±1, multiples of the number, longer than it.
pub(super) fn tested(rng: &mut ChaCha8Rng, p: usize, q: usize) -> [BigUint; 2] {
    const EXPONENTS: [usize; 24] = [
        2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 131, 257, 263, 521, 607, 1031, 1279, 2053, 2203, 2281, 3217, 4253,
    ];
    const PSEUDOPRIMES: [u32; 12] =
        [2047, 3277, 4033, 561, 1105, 1729, 121, 703, 25_326_001, 3_215_031_751, 1_373_653, 4_294_967_291];
    let short: Vec<usize> = EXPONENTS.into_iter().filter(|exponent| *exponent <= q).collect();
    let n = match rng.random_range(0..7) {
        0 if !short.is_empty() => ones(pick(rng, &short)),
        1 => power(1 << rng.random_range(0..q.ilog2().max(1) as usize)) + 1_u32,
        2 => number(pick(rng, &PSEUDOPRIMES)),
        3 => (any(rng, q.div_ceil(2)) << length(rng, q / 2)) + 1_u32,
        4 => number(2 * rng.random_range(0..100) + 1),
        _ => modulus(rng, q, true),
    };
    let n = cut(&n, q);
    let a = match rng.random_range(0..6) {
        0 => number(rng.random_range(0..4)),
        1 => less(&n, &number(1)),
        2 => &n * any(rng, p.saturating_sub(n.bits() as usize)),
        3 => number(2),
        _ => any(rng, p),
    };
    [a, n]
}
