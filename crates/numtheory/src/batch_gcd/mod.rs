//! Which integers of a set share a factor with another one.
//!
//! ```text
//! tree.rs        the product tree, and down again
//! arithmetic.rs  its levels, on the engine or on the cores
//! pairs.rs       the top of the tree in another way, for GPUs
//! meter.rs       the share of the work that is done
//! ```
//!
//! ```
//! use num_bigint::BigUint;
//! use warpmp::Session;
//! use warpmp_numtheory::batch_gcd::{Finding, batch_gcd};
//!
//! let moduli = [15_u32, 77, 21, 26, 1, 77].map(BigUint::from);
//! let outcome = batch_gcd(&Session::cpu(), &moduli, &())?;
//! let findings: Vec<Finding> = outcome.findings().collect();
//! assert_eq!(findings[0], Finding::One { place: 4 });
//! assert_eq!(findings[1], Finding::Duplicate { place: 5, first: 1 });
//! assert_eq!(findings[2], Finding::Shared { place: 0, gcd: 3_u32.into() });
//! // 21 shares 3 with 15 and 7 with 77.
//! assert_eq!(findings[4], Finding::Shared { place: 2, gcd: 21_u32.into() });
//! assert_eq!(findings[5], Finding::Pair { places: [0, 2], gcd: 3_u32.into() });
//! assert_eq!(findings.len(), 7);
//! # Ok::<(), warpmp_numtheory::Error>(())
//! ```

use std::collections::{HashMap, hash_map::Entry};

use dashu_int::{UBig, ops::Gcd as _};
use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::Session;

pub use arithmetic::Stages;

use crate::{
    error::{Error, Result},
    watch::Watch,
};
pub(crate) use arithmetic::Arithmetic;

mod arithmetic;
pub(crate) mod meter;
mod pairs;
mod tree;

/// Bytes of a number besides its digits, in a level of the tree.
const NUMBER_BYTES: u64 = 48;

/// Something to be said about an integer. `place` is its index among the moduli.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The integer is zero, and was left out.
    Zero {
        /// The zero.
        place: usize,
    },
    /// The integer is one, and was left out.
    One {
        /// The one.
        place: usize,
    },
    /// The integer stands at an earlier place, too, and was left out here.
    Duplicate {
        /// The later place.
        place: usize,
        /// The first place.
        first: usize,
    },
    /// The integer shares a factor with at least one different integer.
    Shared {
        /// The integer.
        place: usize,
        /// Its gcd with the product of all different integers.
        gcd: BigUint,
    },
    /// Two different integers share a factor.
    Pair {
        /// The two, the smaller place first.
        places: [usize; 2],
        /// Their gcd.
        gcd: BigUint,
    },
}

/// What [`batch_gcd`] found.
#[derive(Clone, Debug)]
pub struct Outcome {
    left_out: Vec<Finding>,
    /// The integers that share a factor, each with its gcd with the product of the others.
    shared: Vec<(usize, UBig)>,
    /// Where the time went.
    pub stages: Stages,
}

impl Outcome {
    /// All findings: integers left out, then integers that share a factor, then pairs; each kind by place.
    ///
    /// The pairs are found while the iterator runs, with all cores. Their number can be as large as the square of the
    /// number of integers that share a factor.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let pairs = (0..self.shared.len()).flat_map(|first| self.pairs_with(first));
        self.findings_without_pairs().chain(pairs)
    }

    /// As [`Outcome::findings`], but without the pairs.
    pub fn findings_without_pairs(&self) -> impl Iterator<Item = Finding> {
        let shared = self.shared.iter().map(|(place, gcd)| Finding::Shared { place: *place, gcd: to_biguint(gcd) });
        self.left_out.iter().cloned().chain(shared)
    }

    /// The pairs of an integer that shares a factor, with the later ones. The gcd of two integers is also the gcd of
    /// their gcds with the product of the others, which are mostly shorter.
    fn pairs_with(&self, first: usize) -> Vec<Finding> {
        let (place, gcd) = &self.shared[first];
        let pair = |(other, other_gcd): &(usize, UBig)| {
            let common = gcd.gcd(other_gcd);
            (!common.is_one()).then(|| Finding::Pair { places: [*place, *other], gcd: to_biguint(&common) })
        };
        self.shared[first + 1..].par_iter().filter_map(pair).collect()
    }
}

/// Finds all integers that share a factor with a different one.
///
/// Levels of the product tree go to the session's GPU or to the cores, wherever they take less time.
///
/// Memory: about the moduli's own, times the logarithm of their number to base 2.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::OutOfMemory`] before anything is computed; [`Error::Engine`].
pub fn batch_gcd(session: &Session, moduli: &[BigUint], watch: &dyn Watch) -> Result<Outcome> {
    let (kept, left_out) = distinct(moduli);
    reserve(moduli, &kept)?;
    let numbers: Vec<UBig> = kept.iter().map(|place| to_ubig(&moduli[*place])).collect();
    let mut arithmetic = Arithmetic::new(session, watch);
    let gcds = tree::shared_factors(&numbers, &mut arithmetic)?;
    let shared = kept.into_iter().zip(gcds).filter(|(_, gcd)| !gcd.is_one()).collect();
    Ok(Outcome { left_out, shared, stages: arithmetic.stages })
}

/// The places of the first of every integer above one, and the others as findings.
fn distinct(moduli: &[BigUint]) -> (Vec<usize>, Vec<Finding>) {
    let mut first: HashMap<&BigUint, usize> = HashMap::with_capacity(moduli.len());
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (place, number) in moduli.iter().enumerate() {
        match number.bits() {
            0 => left_out.push(Finding::Zero { place }),
            1 => left_out.push(Finding::One { place }),
            _ => match first.entry(number) {
                Entry::Occupied(entry) => left_out.push(Finding::Duplicate { place, first: *entry.get() }),
                Entry::Vacant(entry) => {
                    entry.insert(place);
                    kept.push(place);
                }
            },
        }
    }
    (kept, left_out)
}

/// Asks the system for the memory of the tree and gives it back, because an allocation that fails later ends the program.
///
/// # Errors
/// [`Error::OutOfMemory`].
fn reserve(moduli: &[BigUint], kept: &[usize]) -> Result<()> {
    let bytes: u64 = kept.iter().map(|place| moduli[*place].bits().div_ceil(8) + NUMBER_BYTES).sum();
    // Every level of the tree; the values of two levels; the product and the quotient of a division at the top.
    let levels = u64::from(kept.len().max(1).ilog2()) + 6;
    let required_bytes = bytes.saturating_mul(levels);
    let words = usize::try_from(required_bytes.div_ceil(8)).unwrap_or(usize::MAX);
    Vec::<u64>::new().try_reserve_exact(words).map_err(|_| Error::OutOfMemory { required_bytes })
}

pub(crate) fn to_ubig(number: &BigUint) -> UBig {
    UBig::from_le_bytes(&number.to_bytes_le())
}

pub(crate) fn to_biguint(number: &UBig) -> BigUint {
    BigUint::from_bytes_le(&number.to_le_bytes())
}
