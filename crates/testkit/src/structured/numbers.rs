//! Single numbers of at most so many bits: powers of two and their neighbours, runs, limbs at their extremes.

use num_bigint::BigUint;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::operands::{Operands, Pattern};

/// Limbs at which sums, quotients and comparisons turn.
const LIMBS: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];

/// A few.
pub(super) fn number(n: u32) -> BigUint {
    BigUint::from(n)
}

/// `2^k`.
pub(super) fn power(k: usize) -> BigUint {
    number(1) << k
}

/// The greatest number of so many bits.
pub(super) fn ones(bits: usize) -> BigUint {
    power(bits) - 1_u32
}

/// The number without what lies above its bits.
pub(super) fn cut(number: &BigUint, bits: usize) -> BigUint {
    number & ones(bits)
}

/// `a − b`, or 0.
pub(super) fn less(a: &BigUint, b: &BigUint) -> BigUint {
    if a > b { a - b } else { BigUint::ZERO }
}

/// Yes, once in `n` times.
pub(super) fn one_in(rng: &mut ChaCha8Rng, n: u32) -> bool {
    rng.random_range(0..n) == 0
}

/// One of some.
pub(super) fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// A number up to a limit; often one that is short, near the limit, or at the edge of a limb.
pub(super) fn length(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    let edge = |rng: &mut ChaCha8Rng| 32 * rng.random_range(0..=limit / 32) + rng.random_range(0..3);
    match rng.random_range(0..6) {
        0 => limit,
        1 => limit.saturating_sub(rng.random_range(0..3)),
        2 => edge(rng).saturating_sub(1).min(limit),
        3 => rng.random_range(0..=limit.min(40)),
        4 => limit / 2 + rng.random_range(0..2).min(limit - limit / 2),
        _ => rng.random_range(0..=limit),
    }
}

/// Any number of at most so many bits.
pub(super) fn any(rng: &mut ChaCha8Rng, bits: usize) -> BigUint {
    if bits == 0 {
        return BigUint::ZERO;
    }
    let found = match rng.random_range(0..12) {
        0 => BigUint::ZERO,
        1 => number(rng.random_range(0..4)),
        2 => ones(bits) - number(rng.random_range(0..2)),
        3 => {
            let edge = power(length(rng, bits - 1));
            near(rng, &edge)
        }
        4 => {
            let [i, j] = [0; 2].map(|_| length(rng, bits - 1));
            if rng.random() { power(i.max(j)) - power(i.min(j)) } else { power(i) + power(j) }
        }
        5 => extreme_limbs(rng, bits),
        // Shorter than it may be.
        6 => up_to(rng, bits),
        _ => {
            let pattern = pick(rng, &Pattern::ALL);
            BigUint::from_slice(&Operands::generate(pattern, 5, bits, rng.random()).limbs[..bits.div_ceil(32)])
        }
    };
    cut(&found, bits)
}

/// Any number of any length up to these bits.
pub(super) fn up_to(rng: &mut ChaCha8Rng, bits: usize) -> BigUint {
    let bits = length(rng, bits);
    any(rng, bits)
}

/// A number, its neighbour, or its neighbour's neighbour.
pub(super) fn near(rng: &mut ChaCha8Rng, to: &BigUint) -> BigUint {
    let distance = number(rng.random_range(0..3));
    if rng.random() { to + distance } else { less(to, &distance) }
}

/// Of full length, its limbs from a short list, long stretches of one of them.
pub(super) fn extreme_limbs(rng: &mut ChaCha8Rng, bits: usize) -> BigUint {
    let mut limbs = Vec::with_capacity(bits.div_ceil(32));
    let mut limb = pick(rng, &LIMBS);
    let change = pick(rng, &[1, 2, 8, 64]);
    for _ in 0..bits.div_ceil(32) {
        if one_in(rng, change) {
            limb = pick(rng, &LIMBS);
        }
        limbs.push(limb);
    }
    let found = cut(&BigUint::new(limbs), bits);
    if rng.random() { found | power(bits - 1) } else { found }
}

/// A residue: at an edge, in the middle, or anywhere; now and then one that is not reduced.
pub(super) fn residue(rng: &mut ChaCha8Rng, m: &BigUint, bits: usize) -> BigUint {
    if *m == BigUint::ZERO {
        return any(rng, bits);
    }
    match rng.random_range(0..12) {
        0 => BigUint::ZERO,
        1 => number(1) % m,
        2 => m - 1_u32,
        3 => less(m, &number(2)),
        4 => m >> 1,
        5 => (m >> 1) + 1_u32,
        6 => near(rng, m),
        7 => power(length(rng, bits)) % m,
        _ => any(rng, bits) % m,
    }
}

/// A modulus or divisor; zero and even ones seldom where they are faults.
pub(super) fn modulus(rng: &mut ChaCha8Rng, bits: usize, odd: bool) -> BigUint {
    let found = match rng.random_range(0..10) {
        0 => ones(bits),
        1 => near(rng, &power(bits - 1)),
        2 => number(pick(rng, &[1, 3, 5, 7])),
        // The worst for an estimate from the top limbs: these at their least, the others at their greatest.
        3 => {
            let low = length(rng, bits - 1);
            power(bits - 1) + ones(low)
        }
        4 => extreme_limbs(rng, bits),
        _ => any(rng, bits),
    };
    let found = cut(&found, bits);
    let fault = one_in(rng, 24);
    if (odd || found == BigUint::ZERO) && !fault { found | number(1) } else { found }
}
