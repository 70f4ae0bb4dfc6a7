//! Which integers of a set share a factor with another one.
//!
//! ```text
//! tree.rs        the product tree, and down again, on the cores
//! arithmetic.rs  its levels
//! resident.rs    the tree in the memory of a GPU, its top in another way
//! levels.rs      the levels of that tree
//! ring.rs        its arithmetic
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

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Instant,
};

use dashu_int::{UBig, ops::Gcd as _};
use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::Session;

pub use arithmetic::Stages;

use crate::{error::Result, watch::Watch};
pub(crate) use arithmetic::Arithmetic;

mod arithmetic;
mod levels;
pub(crate) mod meter;
mod resident;
mod ring;
mod tree;

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
/// The product tree is in the memory of the session's GPU, if the cores would take long for it and the memory is enough. Else the cores
/// do it.
///
/// Memory: about the moduli's own, times the logarithm of their number to base 2, on the GPU or on the host.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); [`Error::OutOfMemory`](crate::Error::OutOfMemory) before the cores compute anything;
/// [`Error::Engine`](crate::Error::Engine).
pub fn batch_gcd(session: &Session, moduli: &[BigUint], watch: &dyn Watch) -> Result<Outcome> {
    let start = Instant::now();
    let (kept, left_out) = distinct(moduli);
    let numbers: Vec<UBig> = kept.par_iter().map(|place| to_ubig(&moduli[*place])).collect();
    let mut arithmetic = Arithmetic::new(session, watch);
    let gcds = tree::shared_factors(&numbers, &mut arithmetic)?;
    let shared = kept.into_iter().zip(gcds).filter(|(_, gcd)| !gcd.is_one()).collect();
    drop(numbers);
    let mut stages = arithmetic.stages;
    stages.prepare_seconds = (start.elapsed().as_secs_f64() - stages.timed_seconds()).max(0.0);
    Ok(Outcome { left_out, shared, stages })
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

pub(crate) fn to_ubig(number: &BigUint) -> UBig {
    UBig::from_le_bytes(&number.to_bytes_le())
}

pub(crate) fn to_biguint(number: &UBig) -> BigUint {
    BigUint::from_bytes_le(&number.to_le_bytes())
}
