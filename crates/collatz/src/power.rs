//! Powers of three, and the comparisons of `3^c` with `2^i` on which every rule rests. All comparisons are exact.

/// The largest exponent whose power of three fits 127 bits.
pub const MAX_EXPONENT: usize = 80;

/// Steps up to which [`min_odd`] is known.
pub const MAX_STEPS: usize = 126;

/// `log2(3)`, right to `2^-52`. Only bounds with a margin may rest on it.
pub const LOG2_3: f64 = 1.584_962_500_721_156;

const POWERS: [u128; MAX_EXPONENT + 1] = powers();
const MIN_ODD: [u8; MAX_STEPS + 1] = minima();

const fn powers() -> [u128; MAX_EXPONENT + 1] {
    let mut table = [1; MAX_EXPONENT + 1];
    let mut exponent = 1;
    while exponent <= MAX_EXPONENT {
        table[exponent] = table[exponent - 1] * 3;
        exponent += 1;
    }
    table
}

const fn minima() -> [u8; MAX_STEPS + 1] {
    let powers = powers();
    let mut table = [0; MAX_STEPS + 1];
    let mut steps = 1;
    let mut odd = 0;
    while steps <= MAX_STEPS {
        while powers[odd] < 1 << steps {
            odd += 1;
        }
        table[steps] = odd as u8;
        steps += 1;
    }
    table
}

/// `3^exponent`, for exponents up to [`MAX_EXPONENT`].
///
/// # Panics
/// Above [`MAX_EXPONENT`].
#[inline]
pub const fn pow3(exponent: usize) -> u128 {
    POWERS[exponent]
}

/// The fewest odd steps among `steps` steps that keep a trajectory up: the least `c` with `3^c ≥ 2^steps`.
///
/// `c < min_odd(i)` is therefore the same as `3^c < 2^i`. Equality occurs at `i = 0` only.
///
/// # Panics
/// Above [`MAX_STEPS`].
#[inline]
pub const fn min_odd(steps: usize) -> usize {
    MIN_ODD[steps] as usize
}

/// `3^-exponent` mod `2^64`.
pub const fn inverse_pow3(exponent: usize) -> u64 {
    let mut inverse = 1u64;
    let mut i = 0;
    while i < exponent {
        inverse = inverse.wrapping_mul(0xaaaa_aaaa_aaaa_aaab);
        i += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_odd_steps_that_keep_up() {
        for steps in 1..=MAX_STEPS {
            let odd = min_odd(steps);
            assert!(pow3(odd) > 1 << steps && pow3(odd - 1) < 1 << steps, "{steps}");
        }
        assert_eq!(min_odd(0), 0);
    }

    #[test]
    fn inverses_of_powers_of_three() {
        for exponent in 0..=MAX_EXPONENT {
            assert_eq!(inverse_pow3(exponent).wrapping_mul(pow3(exponent) as u64), 1, "{exponent}");
        }
    }
}
