//! Product tree and remainder tree.
//!
//! With `P` the product of all `nᵢ`, the tree of products gives `P`, and going down again `P mod nᵢ²`; then
//! `gcd(nᵢ, (P mod nᵢ²)/nᵢ)` is what `nᵢ` shares with the product of the others: the division is exact, and
//! `(P mod nᵢ²)/nᵢ = (P/nᵢ) mod nᵢ`. Memory: about `log₂` of the count times the file, in binary.
//!
//! Source: D. J. Bernstein, *How to find smooth parts of integers*, 2004; N. Heninger, Z. Durumeric, E. Wustrow,
//! J. A. Halderman, *Mining your Ps and Qs*, 2012.

use dashu_int::{UBig, ops::Gcd as _};
use rayon::prelude::*;

use crate::{error::Result, interrupt};

/// For every integer its gcd with the product of the others; all are different and above one.
pub(super) fn shared_factors(numbers: Vec<UBig>) -> Result<Vec<UBig>> {
    let mut levels = vec![numbers];
    while let Some(last) = levels.last().filter(|level| level.len() > 1) {
        interrupt::check()?;
        let product = |pair: &[UBig]| pair.iter().skip(1).fold(pair[0].clone(), |product, other| product * other);
        levels.push(last.par_chunks(2).map(product).collect());
    }
    // The product is less than its own square.
    let mut remainders = levels.pop().unwrap_or_default();
    let mut numbers = remainders.clone();
    while let Some(level) = levels.pop() {
        interrupt::check()?;
        let remainder = |(place, number): (usize, &UBig)| &remainders[place / 2] % number.sqr();
        remainders = level.par_iter().enumerate().map(remainder).collect();
        numbers = level;
    }
    Ok(numbers.par_iter().zip(remainders).map(|(number, rest)| number.gcd(rest / number)).collect())
}

/// Those of `others` that have a factor in common with `gcd`, and this factor.
pub(super) fn common_with(gcd: &UBig, others: &[(u64, UBig)]) -> Vec<(u64, UBig)> {
    let common = others.par_iter().map(|(line, other)| (*line, gcd.gcd(other)));
    common.filter(|(_, common)| !common.is_one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_factors_of_any_count() {
        let numbers = [15u32, 77, 21, 26, 437, 391, 59 * 61];
        for count in 0..=numbers.len() {
            let found = shared_factors(numbers[..count].iter().map(|n| UBig::from(*n)).collect()).unwrap();
            let expected = (0..count).map(|i| {
                let others = (0..count).filter(|j| *j != i).map(|j| UBig::from(numbers[j])).product::<UBig>();
                others.gcd(UBig::from(numbers[i]))
            });
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
