//! `--check N`: some verdicts found again by another test, on another library.
//!
//! Baillie's and Wagstaff's test has nothing in common with strong tests to many bases but the first base.

use num_bigint::BigUint;
use warpmp_numtheory::primality::is_bpsw_prime;

use crate::{commands::check::head, error::plural};

/// An integer whose verdict another test does not find.
#[derive(Debug, thiserror::Error)]
#[error("integer {line}, {number}: {found} by at most {bases} strong test{}, {expected} by Baillie's and Wagstaff's test",
        plural((*bases).into()))]
pub(crate) struct WrongVerdict {
    line: u64,
    number: String,
    found: &'static str,
    expected: &'static str,
    bases: u32,
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
    /// Is the verdict wrong that at most `bases` strong tests found?
    pub(super) fn wrong(&self, found: bool, bases: u32) -> Option<WrongVerdict> {
        let expected = is_bpsw_prime(&BigUint::from_slice(&self.limbs));
        let word = |prime| if prime { "prime" } else { "composite" };
        (expected != found).then(|| WrongVerdict {
            line: self.line,
            number: head(&self.limbs),
            found: word(found),
            expected: word(expected),
            bases,
        })
    }
}
