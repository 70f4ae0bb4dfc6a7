//! `--check N`: what some integers share with the others, found again: all others multiplied one by one modulo the
//! integer, and its gcd with that, by num-bigint. No tree, and no code of the engines.

use num_bigint::BigUint;
use rayon::prelude::*;

use crate::{commands::check::spread, error::Result, interrupt};

/// An integer whose gcd with the others is not as found.
#[derive(Debug, thiserror::Error)]
#[error("integer {line}: its gcd with the others is {found}, by one product after the other {expected}")]
pub(crate) struct WrongFactor {
    line: u64,
    found: String,
    expected: String,
}

/// An integer, the line it is in, and its gcd with the product of the others.
pub(super) struct Found {
    pub(super) line: u64,
    pub(super) number: BigUint,
    pub(super) shared: BigUint,
}

/// Checks about `wanted` of them, spread over all; those that share a factor come first. How many were checked.
///
/// # Errors
/// [`WrongFactor`] names the first that is wrong.
pub(super) fn check(found: &[Found], wanted: u64) -> Result<u64> {
    if found.is_empty() || wanted == 0 {
        return Ok(0);
    }
    let one = BigUint::from(1_u32);
    let (some, none): (Vec<usize>, Vec<usize>) = (0..found.len()).partition(|place| found[*place].shared != one);
    let wanted = wanted.min(found.len() as u64);
    let of = |places: &[usize], count: u64| -> Vec<usize> {
        if places.is_empty() {
            Vec::new()
        } else {
            spread(count, places.len()).into_iter().map(|k| places[k]).collect()
        }
    };
    // Half of the sample has factors, if there are as many.
    let first = (some.len() as u64).min(wanted.div_ceil(2).max(wanted.saturating_sub(none.len() as u64)));
    let sample = [of(&some, first), of(&none, wanted - first)].concat();
    let wrong = sample.par_iter().find_map_first(|place| {
        if let Err(error) = interrupt::check() {
            return Some(error);
        }
        let Found { line, number, shared } = &found[*place];
        let others = found.iter().enumerate().filter(|(other, _)| other != place).map(|(_, other)| &other.number);
        let product = others.fold(&one % number, |product, other| product * other % number);
        let expected = gcd(number.clone(), product);
        let wrong = || WrongFactor { line: *line, found: format!("{shared:#x}"), expected: format!("{expected:#x}") };
        (expected != *shared).then(|| wrong().into())
    });
    wrong.map_or(Ok(sample.len() as u64), Err)
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_factor_is_found() {
        let found = |shared: [u32; 4]| -> Vec<Found> {
            let numbers = [15_u32, 77, 21, 26];
            let zip = (1..).zip(numbers).zip(shared);
            zip.map(|((line, number), shared)| Found { line, number: number.into(), shared: shared.into() }).collect()
        };
        assert_eq!(check(&found([3, 7, 21, 1]), 4).unwrap(), 4);
        assert_eq!(check(&found([3, 7, 21, 1]), 99).unwrap(), 4);
        assert_eq!(check(&found([3, 7, 21, 1]), 1).unwrap(), 1);
        assert_eq!(check(&found([3, 7, 7, 1]), 0).unwrap(), 0);
        let error = check(&found([3, 7, 7, 1]), 4).unwrap_err().to_string();
        assert!(error.contains("integer 3") && error.contains("0x7") && error.contains("0x15"), "{error}");
        assert!(check(&found([3, 1, 21, 1]), 4).is_err());
    }
}
