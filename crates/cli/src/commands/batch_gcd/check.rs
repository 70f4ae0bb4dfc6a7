//! `--check N`: the lines of some integers found again from the file's integers, by num-bigint. No tree, and no code of
//! the engines; the lines are read as they are written.

use std::collections::{BTreeMap, HashSet};

use num_bigint::BigUint;
use rayon::prelude::*;

use crate::{commands::check::spread, error::Result, interrupt};

/// A line of the result that is wrong, or missing. A missing factor is 1.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WrongFactor {
    #[error(
        "integer {label}: the result has {found} as its gcd with the others, one product after the other gives {expected}"
    )]
    Shared { label: String, found: String, expected: String },
    #[error("integers {label} and {other}: the result has {found} as their gcd, Euclid's algorithm gives {expected}")]
    Pair { label: String, other: String, found: String, expected: String },
}

/// The lines of the result, read back.
#[derive(Default)]
struct Read {
    /// By label: the gcd with the product of the others.
    shared: BTreeMap<String, BigUint>,
    /// By label: the integers that share a factor, and the factor.
    pairs: BTreeMap<String, BTreeMap<String, BigUint>>,
    /// Are pairs among the lines?
    has_pairs: bool,
}

/// Checks the lines `text` of about `wanted` integers, spread over all different ones above 1. Integers that share a
/// factor make up half of the sample, if there are as many. Gives the number of integers that were checked.
///
/// # Errors
/// [`WrongFactor`] names the first integer whose lines are wrong.
pub(super) fn check(text: &str, labels: &[Box<str>], numbers: &[BigUint], wanted: u64, has_pairs: bool) -> Result<u64> {
    let read = Read { has_pairs, ..Read::new(text) };
    let one = BigUint::from(1_u32);
    let mut seen = HashSet::new();
    let different: Vec<(&str, &BigUint)> = labels
        .iter()
        .map(|label| &**label)
        .zip(numbers)
        .filter(|(_, number)| **number > one && seen.insert(*number))
        .collect();
    let (some, none): (Vec<usize>, Vec<usize>) =
        (0..different.len()).partition(|place| read.shared.contains_key(different[*place].0));
    let wanted = wanted.min(different.len() as u64);
    let of = |places: &[usize], count: u64| -> Vec<usize> {
        if places.is_empty() {
            Vec::new()
        } else {
            spread(count, places.len()).into_iter().map(|k| places[k]).collect()
        }
    };
    let first = (some.len() as u64).min(wanted.div_ceil(2).max(wanted.saturating_sub(none.len() as u64)));
    let sample = [of(&some, first), of(&none, wanted - first)].concat();
    let wrong = sample
        .par_iter()
        .find_map_first(|place| interrupt::check().and_then(|()| Ok(read.compare(&different, *place)?)).err());
    wrong.map_or(Ok(sample.len() as u64), Err)
}

impl Read {
    fn new(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["shared", label, gcd, _] => {
                    if let Some(gcd) = number(gcd) {
                        read.shared.insert(label.into(), gcd);
                    }
                }
                ["pair", label, other, gcd] => {
                    if let Some(gcd) = number(gcd) {
                        read.pairs.entry(label.into()).or_default().insert(other.into(), gcd.clone());
                        read.pairs.entry(other.into()).or_default().insert(label.into(), gcd);
                    }
                }
                _ => {}
            }
        }
        read
    }

    /// Are the lines of one of these integers right?
    fn compare(&self, numbers: &[(&str, &BigUint)], place: usize) -> Result<(), WrongFactor> {
        let (label, number) = numbers[place];
        let others = [&numbers[..place], &numbers[place + 1..]].concat();
        let one = BigUint::from(1_u32);
        let expected = gcd(number, &product(&others, number));
        let found = self.shared.get(label).unwrap_or(&one);
        if *found != expected {
            let (found, expected) = (format!("{found:#x}"), format!("{expected:#x}"));
            return Err(WrongFactor::Shared { label: label.into(), found, expected });
        }
        if !self.has_pairs {
            return Ok(());
        }
        let mut pairs = BTreeMap::new();
        sharing(&expected, &others, &mut pairs);
        let none = BTreeMap::new();
        let found = self.pairs.get(label).unwrap_or(&none);
        let other = pairs.keys().chain(found.keys()).find(|other| pairs.get(*other) != found.get(*other));
        other.map_or(Ok(()), |other| {
            let shown = |pairs: &BTreeMap<String, BigUint>| format!("{:#x}", pairs.get(other).unwrap_or(&one));
            Err(WrongFactor::Pair {
                label: label.into(),
                other: other.clone(),
                found: shown(found),
                expected: shown(&pairs),
            })
        })
    }
}

/// The product of all numbers, modulo `modulus`.
fn product(numbers: &[(&str, &BigUint)], modulus: &BigUint) -> BigUint {
    let one = BigUint::from(1_u32) % modulus;
    numbers.iter().fold(one, |product, (_, number)| product * *number % modulus)
}

/// Adds the numbers that share a factor with `factor`, and their gcds with it. Halves without one are left at once.
fn sharing(factor: &BigUint, numbers: &[(&str, &BigUint)], found: &mut BTreeMap<String, BigUint>) {
    let common = gcd(factor, &product(numbers, factor));
    match numbers {
        _ if common == BigUint::from(1_u32) => {}
        [] => {}
        [(label, _)] => {
            found.insert((*label).into(), common);
        }
        _ => {
            let (low, high) = numbers.split_at(numbers.len() / 2);
            sharing(factor, low, found);
            sharing(factor, high, found);
        }
    }
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// A factor as it is written: decimal, or hexadecimal with 0x.
fn number(text: &str) -> Option<BigUint> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    BigUint::parse_bytes(digits.as_bytes(), radix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 15, 77, 21, 26, a duplicate of 77, and 1, in lines 2 to 7.
    fn checked(text: &str, wanted: u64) -> Result<u64> {
        let numbers = [15_u32, 77, 21, 26, 77, 1].map(BigUint::from);
        check(text, &[2, 3, 4, 5, 6, 7].map(|line: u64| line.to_string().into()), &numbers, wanted, true)
    }

    const RIGHT: &str =
        "duplicate\t6\t3\nshared\t2\t3\t5\nshared\t3\t0x7\t11\nshared\t4\t21\t1\npair\t2\t4\t3\npair\t3\t4\t7\n";

    #[test]
    fn right_lines_pass() {
        for (wanted, checked_integers) in [(0, 0), (1, 1), (4, 4), (99, 4)] {
            assert_eq!(checked(RIGHT, wanted).unwrap(), checked_integers);
        }
        assert_eq!(check("", &[], &[], 9, true).unwrap(), 0);
    }

    #[test]
    fn every_wrong_line_is_found() {
        let errors = [
            ("shared\t4\t21", "shared\t4\t7", "integer 4: the result has 0x7 as its gcd with the others"),
            ("shared\t3\t0x7\t11\n", "", "integer 3: the result has 0x1 "),
            ("duplicate", "shared\t5\t2\t13\nduplicate", "integer 5: the result has 0x2 "),
            (
                "pair\t3\t4\t7",
                "pair\t3\t4\t77",
                "integers 3 and 4: the result has 0x4d as their gcd, Euclid's algorithm gives 0x7",
            ),
            ("pair\t3\t4\t7", "pair\t3\t5\t7", "integers 3 and 4: the result has 0x1 "),
            ("pair\t3\t4\t7", "pair\t3\t4", "integers 3 and 4: the result has 0x1 "),
            ("pair\t2\t4\t3\n", "", "integers 2 and 4: the result has 0x1 "),
            ("pair\t2\t4\t3\n", "pair\t2\t4\t3\npair\t2\t5\t13\n", "integers 2 and 5: the result has 0xd "),
        ];
        for (right, wrong, words) in errors {
            assert!(RIGHT.contains(right));
            let error = checked(&RIGHT.replace(right, wrong), 4).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        // A sample of one integer takes one that shares a factor.
        assert!(checked(&RIGHT.replace("pair\t2\t4\t3", "pair\t2\t4\t5"), 1).is_err());
    }
}
