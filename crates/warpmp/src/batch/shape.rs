//! The shape of a batch.

use crate::error::{Error, Result};

/// Bits of a limb.
pub const LIMB_BITS: usize = 32;

/// The shape of a batch: how many integers, and how wide each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of integers. A batch may be empty.
    pub lanes: usize,
    /// Bits of each.
    pub bits: usize,
}

impl Shape {
    /// `lanes` integers of `bits` bits.
    pub const fn new(lanes: usize, bits: usize) -> Self {
        Self { lanes, bits }
    }

    /// Limbs of 32 bits a lane: `⌈bits / 32⌉`.
    pub const fn limbs(self) -> usize {
        self.bits.div_ceil(LIMB_BITS)
    }

    /// Limbs of the whole batch: `lanes · limbs`. Saturates, so that it can be compared with a
    /// length before anything is allocated.
    pub const fn words(self) -> usize {
        self.lanes.saturating_mul(self.limbs())
    }

    /// Bytes of the whole batch (saturating).
    pub const fn bytes(self) -> u64 {
        (self.words() as u64).saturating_mul(4)
    }

    /// The bits that the top limb of a lane must not use.
    const fn forbidden(self) -> u32 {
        match self.bits % LIMB_BITS {
            0 => 0,
            rest => u32::MAX << rest,
        }
    }

    /// Has the shape bits, and this number of limbs?
    pub(crate) fn check(self, found_limbs: usize) -> Result<()> {
        if self.bits == 0 {
            return Err(Error::ZeroBits);
        }
        let expected_limbs = self.words();
        if expected_limbs != found_limbs {
            return Err(Error::LimbCount { lanes: self.lanes, bits: self.bits, expected_limbs, found_limbs });
        }
        Ok(())
    }

    /// Does every lane fit in `bits`? The error names the first that does not.
    pub(super) fn check_reduced(self, limbs: &[u32]) -> Result<()> {
        let forbidden = self.forbidden();
        if forbidden == 0 {
            return Ok(());
        }
        match limbs.chunks_exact(self.limbs()).position(|lane| lane[lane.len() - 1] & forbidden != 0) {
            Some(lane) => Err(Error::NotReduced { lane, bits: self.bits }),
            None => Ok(()),
        }
    }

    /// Writes a number to a lane. False if the number does not fit.
    pub(super) fn fill(self, lane: &mut [u32], mut number: impl Iterator<Item = u32>) -> bool {
        for (place, limb) in lane.iter_mut().zip(&mut number) {
            *place = limb;
        }
        lane.last().is_none_or(|top| top & self.forbidden() == 0) && number.all(|limb| limb == 0)
    }
}
