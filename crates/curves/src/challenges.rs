//! The curves of published challenges, by name.

use num_bigint::BigUint;

use crate::affine::Group;
use crate::error::{Error, Result};
use crate::problem::Problem;

const TABLE: &str = include_str!("challenges.csv");

/// The names of the built-in curves, smallest first.
pub fn names() -> Vec<&'static str> {
    rows().map(|row| row[0]).collect()
}

/// The problem of this name; case does not matter.
///
/// # Errors
/// [`Error::UnknownCurve`].
pub fn named(name: &str) -> Result<Problem> {
    let unknown = || Error::UnknownCurve { name: name.into(), known: names().join(", ") };
    let row = rows().find(|row| row[0].eq_ignore_ascii_case(name)).ok_or_else(unknown)?;
    let numbers: Option<Vec<BigUint>> =
        row[1..].iter().map(|digits| BigUint::parse_bytes(digits.as_bytes(), 16)).collect();
    let [p, a, b, n, px, py, qx, qy] = numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(unknown)?;
    Ok(Problem::new(row[0], Group { p, a, b }, n, Some((px, py)), Some((qx, qy)))?)
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_challenge_passes_the_checks() {
        assert_eq!(names(), ["eccp-79", "eccp-89", "eccp-97", "eccp-109", "eccp-131", "secp112r1"]);
        for name in names() {
            let problem = named(name).unwrap();
            assert_eq!(problem.small_embedding_degree(), None, "{name}");
            assert_eq!(problem.trivial_solution(), None, "{name}");
        }
    }

    #[test]
    fn names_in_any_case_and_unknown_names() {
        assert_eq!(named("ECCp-79").unwrap().name, "eccp-79");
        let text = named("eccp-80").unwrap_err().to_string();
        assert!(text.contains("'eccp-80'") && text.contains("secp112r1"), "{text}");
    }
}
