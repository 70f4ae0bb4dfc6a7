//! Which residues need no test, and why.
//!
//! Let `n = q·2^k + B`, let `i ≤ k` steps with `c` odd ones have led to `y = T^i(n)`, and assume that every number below `n`
//! reaches 1. Then `n` needs no test as soon as some `m < n` is seen to have a trajectory that meets that of `n`.
//!
//! Exactly, `y = (3^c·n + r)/2^i` with `r = Σ 3^(c−1−j)·2^(s_j)` over the odd steps `j = 0 … c−1`, taken at steps
//! `s_0 < s_1 < …`: the term `+1` of the odd step at `s_j` is halved `i − s_j` times and tripled `c − 1 − j` times. While no rule
//! has applied, `2^(s_j) ≤ 3^j`, and so
//!
//! `r ≤ c·3^(c−1)`.   (∗)
//!
//! From (∗), *`3^c < 2^i` means `y < n`* as soon as `n > c·3^(c−1) / (2^i − 3^c)`, and the right-hand side is small: it is below
//! [`FLOOR`] for all `i ≤ 126` (a test computes it exactly). Starts below [`FLOOR`] are never sieved but followed.
//!
//! 1. **Descent.** `3^c < 2^i`: then `y < n` itself. Proof: (∗).
//! 2. **Same-level merge.** A smaller residue `B' < B` mod `2^k` has the same `c` and `T^k`: then `m = q·2^k + B' < n` and
//!    `T^k(m) = q·3^c + d = T^k(n)`. No floor is needed. ([`crate::alpha`])
//! 3. **Even-run merge.** The last `e` steps were even, `e ≥ 2` is even, and the step before them was odd:
//!    then `y ≡ 2 mod 3`, so `x = (2y − 1)/3` is an integer; it is odd, since `3x = 2y − 1` is, and `T(x) = y`. If `3^(c−1) < 2^(i−1)`,
//!    `x < 2y/3 = (3^(c−1)·n + r/3)/2^(i−1)` is below `n` above the floor. Proof of `y ≡ 2`: after an odd step
//!    `2z = 3x' + 1 ≡ 1`, so `z ≡ 2 mod 3`; a halving multiplies by `2^(−1) ≡ 2 mod 3`, two of them by 1.
//!    *The odd step must have been seen*: from a state whose past is unknown an even run counts only after the first odd step.
//! 4. **Odd-even-even.** `y` is odd and begins an odd run of `p` steps (or stands within one) that is followed by at least two even ones:
//!    then `x = (y − 1)/2` has `T^(p+1)(x) = T^(p+2)(y)`. If `3^c < 2^(i+1)`, `x < y/2` is below `n`. Proof of the meeting: write
//!    `y = 2^p·u − 1` with `u` odd. `T^p(y) = 3^p·u − 1`, and two halvings give `(3^p·u − 1)/4`. On the other side
//!    `x = 2^(p−1)·u − 1`, `T^(p−1)(x) = 3^(p−1)·u − 1` is even, `w = (3^(p−1)·u − 1)/2` comes next. From `3^p·u ≡ 1 mod 4` follows
//!    `3^(p−1)·u ≡ 3 mod 4`, so `w` is odd, and `T(w) = (3w + 1)/2 = (3^p·u − 1)/4`.
//! 5. **Mod 9.** `n ≡ 2, 5, 8 mod 9` (`n ≡ 2 mod 3`): `m = (2n − 1)/3` is odd, below `n`, and `T(m) = n`. `n ≡ 4 mod 9`: `m = (8n − 5)/9` is
//!    an odd integer below `n`; `T(m) = (4n − 1)/3` is odd again, `T²(m) = 2n`, `T³(m) = n`.
//!
//! A survivor's children inherit its state, so that the survivors of all levels form a tree, walked depth-first.
//!
//! Source: rules 1 and 2 are classical (dissertation § 4.3; D. Barina); rules 3 and 4 are V. Angeltveit's; mod 9 is T. Oliveira e
//! Silva's observation that predecessors suffice.

mod path;
mod survivors;

pub use path::{Origin, Path, RuleSet};
pub use survivors::{count_survivors, prefixes};

/// Starts below this are followed step by step, whatever the sieve says of their residue.
pub const FLOOR: u128 = 1 << 20;

/// Does rule 5 remove the start `n` with this `n mod 9`?
pub const fn mod9_removes(residue: u32) -> bool {
    matches!(residue, 2 | 4 | 5 | 8)
}

#[cfg(test)]
mod tests {
    use dashu_int::UBig;

    use super::*;
    use crate::power::{MAX_STEPS, min_odd};

    /// The bound of the module's documentation, exactly: `(c + 1)·3^c / (2^i − 3^c)` for the largest `c` with `3^c < 2^i`
    /// is at least what rules 1, 3 and 4 ask for, whose `c` differs from `i`'s by at most one.
    #[test]
    fn the_floor_is_above_every_bound() {
        let mut highest = UBig::ZERO;
        for steps in 1..=MAX_STEPS {
            let odd = min_odd(steps) - 1;
            let power = UBig::from(3u8).pow(odd);
            let bound = (&power * UBig::from(odd + 1)) / ((UBig::ONE << steps) - power) + UBig::ONE;
            highest = highest.max(bound);
        }
        assert!(highest < UBig::from(FLOOR) && highest > UBig::from(1000u32), "{highest}");
    }
}
