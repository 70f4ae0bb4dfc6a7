//! `--check N`: some verdicts found again by another test, on another library.
//!
//! The two tests have nothing in common but the first base. Baillie's and Wagstaff's test checks strong tests to many bases, and strong
//! tests to many bases check Baillie's and Wagstaff's test.

use num_bigint::BigUint;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use warpmp_numtheory::primality::{is_bpsw_prime, passes_strong_test};

use crate::{commands::check::head, error::plural};

/// The bases that check a verdict: they prove it below 3317044064679887385961981.
const BASES: [u32; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
/// Random bases beyond these.
const RANDOM_BASES: usize = 20;

/// An integer whose verdict another test does not find.
#[derive(Debug, thiserror::Error)]
#[error("integer {line}, {number}: {found} by {test}, {expected} by {other}")]
pub(crate) struct WrongVerdict {
    line: u64,
    number: String,
    found: &'static str,
    test: String,
    expected: &'static str,
    other: &'static str,
}

/// An integer whose verdict is to be found again.
#[derive(Debug)]
pub(super) struct Sample {
    /// Its place among the chunk's integers.
    pub(super) lane: usize,
    pub(super) line: u64,
    pub(super) limbs: Vec<u32>,
}

impl Sample {
    /// Is the verdict wrong that at most `bases` strong tests found, or without a number of bases Baillie's and Wagstaff's test?
    pub(super) fn wrong(&self, found: bool, bases: Option<u32>) -> Option<WrongVerdict> {
        let number = BigUint::from_slice(&self.limbs);
        let baillie = "Baillie's and Wagstaff's test";
        let (expected, test, other) = match bases {
            Some(bases) => {
                let test = format!("at most {bases} strong test{}", plural(bases.into()));
                (is_bpsw_prime(&number), test, baillie)
            }
            None => (passes_many_bases(&number), baillie.into(), "strong tests to 33 bases"),
        };
        let word = |prime| if prime { "prime" } else { "composite" };
        let (line, expected_word) = (self.line, word(expected));
        (expected != found).then(|| WrongVerdict {
            line,
            number: head(&self.limbs),
            found: word(found),
            test,
            expected: expected_word,
            other,
        })
    }
}

/// Does `n` pass strong tests to the first primes, and to random bases?
fn passes_many_bases(n: &BigUint) -> bool {
    if let Ok(small) = u32::try_from(n)
        && BASES.contains(&small)
    {
        return true;
    }
    let mut random =
        ChaCha8Rng::seed_from_u64(n.iter_u64_digits().fold(n.bits(), |seed, digit| seed.rotate_left(7) ^ digit));
    let mut digits = || BigUint::new((0..n.bits().div_ceil(32)).map(|_| random.random()).collect()) % n;
    let passes = |base: BigUint| base <= BigUint::from(1_u32) || passes_strong_test(n, &base);
    BASES.iter().all(|base| passes_strong_test(n, &(*base).into())) && (0..RANDOM_BASES).all(|_| passes(digits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_checks_find_a_wrong_verdict() {
        let sample = |number: u128| {
            let limbs = BigUint::from(number).to_u32_digits();
            Sample { lane: 0, line: 7, limbs }
        };
        for bases in [None, Some(33)] {
            for prime in [2, 3, 41, 43, (1 << 61) - 1, (1 << 127) - 1] {
                assert!(sample(prime).wrong(true, bases).is_none(), "{prime}");
                let wrong = sample(prime).wrong(false, bases).unwrap().to_string();
                assert!(wrong.starts_with("integer 7, 0x") && wrong.contains("prime by"), "{wrong}");
            }
            for composite in [0, 1, 4, 9, 2047, 3_215_031_751, (1 << 101) - 1] {
                assert!(sample(composite).wrong(false, bases).is_none(), "{composite}");
                assert!(sample(composite).wrong(true, bases).is_some(), "{composite}");
            }
        }
    }
}
