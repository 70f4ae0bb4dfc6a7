//! The status of a lane: one word beside the results, which says whether the data of the lane are at fault.

use crate::batch::Batch;
use crate::error::{Error, Result};

/// Bits of a status result.
pub const STATUS_BITS: usize = 32;

/// How a lane ended. The results of a lane with a fault are zero; the other lanes are not affected.
///
/// If a lane has several faults, its status is the first of them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
#[non_exhaustive]
pub enum Status {
    /// The results are what the operation promises.
    Fine = 0,
    /// The divisor or modulus is zero.
    DivisionByZero = 1,
    /// The modulus is even where Montgomery's arithmetic needs an odd one.
    EvenModulus = 2,
    /// An operand is not below what the operation requires, such as its modulus.
    NotReduced = 3,
    /// The operand and the modulus have a common factor.
    NoInverse = 4,
    /// The division leaves a remainder.
    NotExact = 5,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Fine, Self::DivisionByZero, Self::EvenModulus, Self::NotReduced, Self::NoInverse, Self::NotExact];

    /// The word that kernels write.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The status of this word; none for a word that is no status.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.code() == code)
    }

    /// The status in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::DivisionByZero => "division by zero",
            Self::EvenModulus => "an even modulus",
            Self::NotReduced => "an operand that is not reduced",
            Self::NoInverse => "no inverse",
            Self::NotExact => "a remainder",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.words())
    }
}

/// The statuses of a batch: the last result of an operation that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(pub(crate) Batch<'static>);

impl Statuses {
    /// The statuses in the last result of [`Session::apply`](crate::Session::apply), or of
    /// [`Session::apply_device`](crate::Session::apply_device) when it is downloaded.
    ///
    /// # Errors
    /// [`Error::NotStatuses`] unless the batch has [`STATUS_BITS`] bits a lane.
    pub fn new(batch: Batch<'static>) -> Result<Self> {
        match batch.bits() {
            STATUS_BITS => Ok(Self(batch)),
            found => Err(Error::NotStatuses { expected: STATUS_BITS, found }),
        }
    }

    /// Did every lane end fine?
    pub fn is_fine(&self) -> bool {
        self.0.limbs().iter().all(|code| *code == 0)
    }

    /// The status of a lane; none beyond the last lane, or for a word that is no status.
    pub fn lane(&self, lane: usize) -> Option<Status> {
        self.0.limbs().get(lane).and_then(|code| Status::from_code(*code))
    }

    /// The first lane that did not end fine, and how it ended.
    pub fn first_fault(&self) -> Option<(usize, Status)> {
        let lane = self.0.limbs().iter().position(|code| *code != 0)?;
        Some((lane, self.lane(lane)?))
    }

    /// How many lanes ended with each status that occurs, [`Status::Fine`] included.
    pub fn counts(&self) -> Vec<(Status, usize)> {
        let count = |status: Status| self.0.limbs().iter().filter(|code| **code == status.code()).count();
        Status::ALL.into_iter().map(|status| (status, count(status))).filter(|(_, count)| *count > 0).collect()
    }

    /// The words, as a batch of [`STATUS_BITS`] bits a lane.
    pub const fn batch(&self) -> &Batch<'static> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Shape;

    #[test]
    fn faults_are_found_and_counted() {
        let batch = Batch::from_limbs(Shape::new(4, STATUS_BITS), vec![0, 4, 0, 1]).unwrap();
        let statuses = Statuses(batch);
        assert!(!statuses.is_fine());
        assert_eq!(statuses.first_fault(), Some((1, Status::NoInverse)));
        assert_eq!(statuses.lane(4), None);
        assert_eq!(statuses.counts(), [(Status::Fine, 2), (Status::DivisionByZero, 1), (Status::NoInverse, 1)]);
        assert_eq!(Status::from_code(6), None);
        assert_eq!(Statuses::new(Batch::from_u64s(&[0])), Err(Error::NotStatuses { expected: 32, found: 64 }));
    }
}
