//! Batches and the integers of other libraries.

#[cfg(feature = "num-bigint")]
use num_bigint::BigUint;
#[cfg(feature = "rug")]
use rug::{Integer, integer::Order};

use super::Batch;
#[cfg(feature = "rug")]
use crate::error::Error;
use crate::error::Result;

/// With the feature `num-bigint`.
#[cfg(feature = "num-bigint")]
impl Batch<'static> {
    /// One lane of `bits` bits for each number.
    ///
    /// # Errors
    /// [`Error::NotReduced`](crate::Error::NotReduced) names the first number that does not fit in `bits`;
    /// [`Error::ZeroBits`](crate::Error::ZeroBits); [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn from_biguints(bits: usize, numbers: &[BigUint]) -> Result<Self> {
        Self::from_rows(bits, numbers, |_, number| Ok(number.iter_u32_digits()))
    }
}

/// With the feature `num-bigint`.
#[cfg(feature = "num-bigint")]
impl Batch<'_> {
    /// One lane; `None` beyond the last lane.
    pub fn to_biguint(&self, lane: usize) -> Option<BigUint> {
        self.lane(lane).map(BigUint::from_slice)
    }

    /// Every lane.
    pub fn to_biguints(&self) -> Vec<BigUint> {
        self.iter().map(BigUint::from_slice).collect()
    }
}

/// With the feature `rug`.
#[cfg(feature = "rug")]
impl Batch<'static> {
    /// One lane of `bits` bits for each number.
    ///
    /// # Errors
    /// [`Error::Negative`] names the first number below zero, [`Error::NotReduced`] the first that does not fit
    /// in `bits`; [`Error::ZeroBits`]; [`Error::OutOfMemory`].
    pub fn from_integers(bits: usize, numbers: &[Integer]) -> Result<Self> {
        Self::from_rows(bits, numbers, |lane, number| {
            if number.is_negative() {
                return Err(Error::Negative { lane });
            }
            Ok(number.to_digits::<u32>(Order::Lsf))
        })
    }
}

/// With the feature `rug`.
#[cfg(feature = "rug")]
impl Batch<'_> {
    /// One lane; `None` beyond the last lane.
    pub fn to_integer(&self, lane: usize) -> Option<Integer> {
        self.lane(lane).map(|limbs| Integer::from_digits(limbs, Order::Lsf))
    }

    /// Every lane.
    pub fn to_integers(&self) -> Vec<Integer> {
        self.iter().map(|limbs| Integer::from_digits(limbs, Order::Lsf)).collect()
    }
}
