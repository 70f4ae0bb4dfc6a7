//! One number from many: sums, products, greatest common divisors and least common multiples of whole sets, by trees.
//!
//! ```
//! use warpmp::Session;
//! use warpmp_numtheory::fold::{Fold, fold};
//!
//! let session = Session::cpu();
//! let numbers = [6_u32, 10, 15].map(Into::into);
//! let of = |kind| fold(&session, kind, &numbers, &()).map(|number| number.to_string());
//! assert_eq!((of(Fold::Sum)?, of(Fold::Product)?), ("31".into(), "900".into()));
//! assert_eq!((of(Fold::Gcd)?, of(Fold::Lcm)?), ("1".into(), "30".into()));
//! # Ok::<(), warpmp_numtheory::Error>(())
//! ```

use dashu_int::{UBig, ops::Gcd as _};
use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::Session;

use crate::{
    batch_gcd::{Arithmetic, to_biguint, to_ubig},
    error::Result,
    watch::{Watch, check},
};

/// Numbers that a core folds between two looks at the watch.
const PIECE: usize = 1 << 12;

/// The ways of making one number from many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum; 0 of no numbers.
    Sum,
    /// The product; 1 of no numbers.
    Product,
    /// The greatest common divisor; 0 of no numbers.
    Gcd,
    /// The least common multiple; 1 of no numbers.
    Lcm,
}

impl Fold {
    /// The value of no numbers.
    fn empty(self) -> UBig {
        match self {
            Self::Sum | Self::Gcd => UBig::ZERO,
            Self::Product | Self::Lcm => UBig::ONE,
        }
    }

    fn two(self, a: &UBig, b: &UBig) -> UBig {
        match self {
            Self::Sum => a + b,
            Self::Product => a * b,
            Self::Gcd if a.is_zero() => b.clone(),
            Self::Gcd if b.is_zero() => a.clone(),
            Self::Gcd => a.gcd(b),
            Self::Lcm if a.is_zero() || b.is_zero() => UBig::ZERO,
            Self::Lcm => a / a.gcd(b) * b,
        }
    }
}

/// The sum, the product, the greatest common divisor or the least common multiple of all numbers.
///
/// Levels of a product go to the session's GPU or to the cores, wherever they take less time. The cores do everything else.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); [`Error::Engine`](crate::Error::Engine).
pub fn fold(session: &Session, fold: Fold, numbers: &[BigUint], watch: &dyn Watch) -> Result<BigUint> {
    if fold == Fold::Product {
        return product(session, numbers, watch);
    }
    let piece = |numbers: &[BigUint]| -> Result<UBig> {
        check(watch)?;
        Ok(numbers.iter().map(to_ubig).fold(fold.empty(), |all, number| fold.two(&all, &number)))
    };
    let mut level = numbers.par_chunks(PIECE.min(piece_of(numbers.len()))).map(piece).collect::<Result<Vec<_>>>()?;
    while level.len() > 1 {
        let pair = |pair: &[UBig]| -> Result<UBig> {
            check(watch)?;
            Ok(if let [a, b] = pair { fold.two(a, b) } else { pair[0].clone() })
        };
        level = level.par_chunks(2).map(pair).collect::<Result<_>>()?;
    }
    Ok(to_biguint(&level.pop().unwrap_or_else(|| fold.empty())))
}

/// Numbers of a piece, such that every core has a few pieces. A least common multiple grows with its piece.
fn piece_of(count: usize) -> usize {
    count.div_ceil(4 * rayon::current_num_threads()).max(2)
}

fn product(session: &Session, numbers: &[BigUint], watch: &dyn Watch) -> Result<BigUint> {
    let mut arithmetic = Arithmetic::new(session, watch);
    arithmetic.meter.plan(numbers.len());
    let mut level: Vec<UBig> = numbers.iter().map(to_ubig).collect();
    // Neighbours of like lengths: a batch is as wide as its widest lane.
    level.sort_by_key(dashu_int::ops::BitTest::bit_len);
    while level.len() > 1 {
        check(watch)?;
        let (pairs, rest) = level.as_chunks::<2>();
        let mut products = arithmetic.products(pairs)?;
        products.extend(rest.iter().cloned());
        level = products;
    }
    Ok(to_biguint(&level.pop().unwrap_or(UBig::ONE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        a
    }

    #[test]
    fn folds_are_those_of_one_number_after_the_other() {
        let session = Session::cpu();
        for count in [0_u32, 1, 2, 3, 7, 100, 5000] {
            // Multiples of 6 of growing lengths, and few different ones, so that the least common multiple stays short.
            let number = |i: u32| BigUint::from(6_u32 * (1 + i % 11)) << (i % 90);
            let numbers: Vec<BigUint> = (0..count).map(number).collect();
            let of = |kind| fold(&session, kind, &numbers, &()).unwrap();
            assert_eq!(of(Fold::Sum), numbers.iter().sum());
            assert_eq!(of(Fold::Product), numbers.iter().product());
            let common = numbers.iter().fold(BigUint::ZERO, |all, number| gcd(all, number.clone()));
            assert_eq!(of(Fold::Gcd), common);
            let one = BigUint::from(1_u32);
            let multiple = numbers.iter().fold(one, |all, number| &all * number / gcd(all.clone(), number.clone()));
            assert_eq!(of(Fold::Lcm), multiple);
        }
        let with_zero = [0_u32, 4, 6].map(BigUint::from);
        assert_eq!(fold(&session, Fold::Gcd, &with_zero, &()).unwrap(), 2_u32.into());
        assert_eq!(fold(&session, Fold::Lcm, &with_zero, &()).unwrap(), BigUint::ZERO);
    }
}
