//! The product tree; and down again, modulo each node, the product of all other nodes of its level.
//!
//! Let `P` be the product of all numbers. Each node `n` gets the value `P/n mod n`. The root has the value 1. A node with
//! the value `c` and the children `a` and `b` gives them the values `c·b mod a` and `c·a mod b`. At the leaves,
//! `gcd(nᵢ, P/nᵢ mod nᵢ)` is the gcd of `nᵢ` and the product of the others. No divisor is longer than its node; a tree of
//! remainders modulo squares has divisors of twice the length.
//!
//! The top of the tree has few and very long numbers: too long for a GPU's kernels and too few for many cores. A GPU
//! finds these values in another way, and does all other levels, too: see [`super::resident`]. Here are the cores' levels.
//!
//! Memory: about the numbers' own, times `log₂` of their count.
//!
//! Source: D. J. Bernstein, *How to find smooth parts of integers*, 2004; N. Heninger, Z. Durumeric, E. Wustrow,
//! J. A. Halderman, *Mining your Ps and Qs*, 2012.

use dashu_int::{UBig, ops::BitTest as _};

use super::{
    arithmetic::{Arithmetic, Factors},
    resident,
};
use crate::{
    error::{Error, Result},
    watch::check,
};

/// Bytes of a number besides its digits, in a level of the tree.
const NUMBER_BYTES: u64 = 48;

/// For every integer its gcd with the product of the others; all are different and above one.
pub(super) fn shared_factors(numbers: &[UBig], arithmetic: &mut Arithmetic<'_>) -> Result<Vec<UBig>> {
    if let Some(gcds) = resident::shared_factors(numbers, arithmetic)? {
        return Ok(gcds);
    }
    reserve(numbers)?;
    // Neighbours of like lengths: all lanes of a batch are as wide as its widest.
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|place| numbers[*place].bit_len());
    let leaves: Vec<UBig> = order.iter().map(|place| numbers[*place].clone()).collect();
    let mut levels = vec![leaves];
    arithmetic.meter.plan(numbers.len());
    climb(&mut levels, arithmetic)?;
    let mut values = levels.last().map_or_else(Vec::new, |root| vec![UBig::ONE; root.len()]);
    while levels.len() > 1 {
        check(arithmetic.watch)?;
        levels.pop();
        if let Some(level) = levels.last() {
            arithmetic.meter.down(levels.len() - 1);
            values = descend(level, &values, arithmetic)?;
        }
    }
    let mut shared = vec![UBig::ONE; numbers.len()];
    let gcds = if numbers.is_empty() { Vec::new() } else { arithmetic.divisors(&levels[0], &values)? };
    for (place, gcd) in order.into_iter().zip(gcds) {
        shared[place] = gcd;
    }
    Ok(shared)
}

/// Asks the system for the memory of the tree and gives it back, because an allocation that fails later ends the program.
///
/// # Errors
/// [`Error::OutOfMemory`].
fn reserve(numbers: &[UBig]) -> Result<()> {
    let bytes: u64 = numbers.iter().map(|number| number.bit_len().div_ceil(8) as u64 + NUMBER_BYTES).sum();
    // Every level of the tree; the values of two levels; the product and the quotient of a division at the top.
    let levels = u64::from(numbers.len().max(1).ilog2()) + 6;
    let required_bytes = bytes.saturating_mul(levels);
    let words = usize::try_from(required_bytes.div_ceil(8)).unwrap_or(usize::MAX);
    Vec::<u64>::new().try_reserve_exact(words).map_err(|_| Error::OutOfMemory { required_bytes })
}

/// Adds levels of products up to the root.
fn climb(levels: &mut Vec<Vec<UBig>>, arithmetic: &mut Arithmetic<'_>) -> Result<()> {
    while let Some(last) = levels.last().filter(|level| level.len() > 1) {
        check(arithmetic.watch)?;
        arithmetic.meter.up(levels.len() - 1);
        let (pairs, rest) = last.as_chunks::<2>();
        let mut products = arithmetic.products(pairs)?;
        products.extend(rest.iter().cloned());
        levels.push(products);
    }
    Ok(())
}

/// The values of a level from those above.
fn descend(level: &[UBig], above: &[UBig], arithmetic: &mut Arithmetic<'_>) -> Result<Vec<UBig>> {
    let paired = level.len() / 2 * 2;
    let factors: Vec<Factors<'_>> = (0..paired)
        .map(|place| Factors { value: &above[place / 2], other: &level[place ^ 1], modulus: &level[place] })
        .collect();
    let mut values = arithmetic.remainders(&factors)?;
    // The last node of an odd number of nodes went up alone.
    values.extend(above.get(paired / 2).filter(|_| level.len() > paired).cloned());
    Ok(values)
}

#[cfg(test)]
pub(super) mod tests {
    use dashu_int::ops::Gcd as _;
    use warpmp::{Selector, Session};

    use super::*;

    /// The gcd of each and the product of the others, with nothing but the integers' own operations.
    pub(in super::super) fn expected(numbers: &[UBig]) -> Vec<UBig> {
        let others = |i: usize| (0..numbers.len()).filter(move |j| *j != i).map(|j| &numbers[j]).product::<UBig>();
        (0..numbers.len()).map(|i| others(i).gcd(&numbers[i])).collect()
    }

    #[test]
    fn shared_factors_of_any_count() {
        let numbers = [15u32, 77, 21, 26, 437, 391, 59 * 61, 4].map(UBig::from);
        for count in 0..=numbers.len() {
            let session = Session::cpu();
            let mut arithmetic = Arithmetic::new(&session, &());
            let found = shared_factors(&numbers[..count], &mut arithmetic).unwrap();
            assert_eq!(found, expected(&numbers[..count]));
        }
    }

    /// Every level and the top on a simulated GPU, which takes nothing longer than 160 bits there.
    #[test]
    fn a_gpu_does_the_same() {
        // All odd, and some even.
        let numbers = |twos: u32| -> Vec<UBig> {
            let odd = |i: u64| (1009 + 2 * i) * (65_537 + 6 * (i % 5)) * 3_u64.pow(i as u32 % 3);
            (0..21).map(|i| UBig::from(odd(i) << (twos * (i as u32 % 4)))).collect()
        };
        for (most, numbers) in [(80, numbers(0)), (160, numbers(0)), (160, numbers(1)), (100_000, numbers(1))] {
            let session = Session::on(Selector::Sim).unwrap();
            let mut arithmetic = Arithmetic::new(&session, &());
            (arithmetic.worth_seconds, arithmetic.most_bits) = (0.0, most);
            assert_eq!(shared_factors(&numbers, &mut arithmetic).unwrap(), expected(&numbers));
            let stages = &arithmetic.stages;
            assert!(stages.engine_levels > 1, "{stages:?}");
            assert_eq!(stages.all_pairs > 1, most < 1000, "{stages:?}");
        }
    }
}
