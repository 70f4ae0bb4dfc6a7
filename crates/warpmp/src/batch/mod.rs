//! A batch: many integers of one width, as rows of limbs.
//!
//! ```text
//! mod.rs      the batch: views, lanes, bytes and words
//! shape.rs    how many lanes, and how wide
//! digits.rs   decimal and hexadecimal text
//! numbers.rs  integers of num-bigint and rug, behind features
//! ```

mod digits;
#[cfg(any(feature = "num-bigint", feature = "rug"))]
mod numbers;
mod shape;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::memory::HostBuffer;
pub use shape::{LIMB_BITS, Shape};

/// `lanes × bits`: unsigned integers of one width.
///
/// A lane is `⌈bits / 32⌉` limbs of 32 bits, least significant first; lanes follow one another
/// without gaps. The bits above `bits` in a lane's top limb are zero: constructors check that. A batch without
/// lanes is a batch like any other.
pub struct Batch<'a> {
    shape: Shape,
    storage: Storage<'a>,
}

enum Storage<'a> {
    /// Limbs elsewhere, and whether they are page-locked there.
    Borrowed(&'a [u32], bool),
    Owned(HostBuffer),
}

impl<'a> Batch<'a> {
    /// A view of limbs that stay where they are.
    ///
    /// # Errors
    /// [`Error::ZeroBits`]; [`Error::LimbCount`] unless there are exactly
    /// `shape.words()` limbs; [`Error::NotReduced`] names the first lane with a bit above `bits`.
    pub fn borrow(shape: Shape, limbs: &'a [u32]) -> Result<Self> {
        shape.check(limbs.len())?;
        shape.check_reduced(limbs)?;
        Ok(Self { shape, storage: Storage::Borrowed(limbs, false) })
    }

    /// A view of a buffer, for which transfers are as fast as for the buffer itself.
    ///
    /// # Errors
    /// As [`Batch::borrow`].
    pub fn borrow_buffer(shape: Shape, buffer: &'a HostBuffer) -> Result<Self> {
        let view = Self::borrow(shape, buffer.as_slice())?;
        Ok(Self { storage: Storage::Borrowed(buffer.as_slice(), buffer.is_pinned()), ..view })
    }
}

impl Batch<'static> {
    /// Takes limbs over, without a copy.
    ///
    /// # Errors
    /// As [`Batch::borrow`].
    pub fn from_limbs(shape: Shape, limbs: Vec<u32>) -> Result<Self> {
        Self::from_buffer(shape, limbs.into())
    }

    /// Takes a buffer over, without a copy; [`Batch::into_buffer`] gives it back.
    ///
    /// # Errors
    /// As [`Batch::borrow`].
    pub fn from_buffer(shape: Shape, buffer: HostBuffer) -> Result<Self> {
        shape.check(buffer.len())?;
        shape.check_reduced(buffer.as_slice())?;
        Ok(Self { shape, storage: Storage::Owned(buffer) })
    }

    /// One lane of 64 bits for each number.
    pub fn from_u64s(numbers: &[u64]) -> Self {
        let limbs: Vec<u32> = numbers.iter().flat_map(|n| halves(*n)).collect();
        Self { shape: Shape::new(numbers.len(), 64), storage: Storage::Owned(limbs.into()) }
    }

    /// A lane of `bits` bits for each row of words of 64 bits, least significant first: the layout of most
    /// libraries with integers of a fixed length. Rows have any lengths; what does not fit must be zero.
    ///
    /// # Errors
    /// As [`Batch::from_le_bytes`].
    pub fn from_u64_limbs<R: AsRef<[u64]>>(bits: usize, rows: &[R]) -> Result<Self> {
        Self::from_rows(bits, rows, |_, row| Ok(row.as_ref().iter().flat_map(|word| halves(*word))))
    }

    /// A lane of `bits` bits for each row of little-endian bytes, such as `BigUint::to_bytes_le` of the big-integer
    /// libraries gives. Rows have any lengths; what does not fit must be zero.
    ///
    /// # Errors
    /// [`Error::NotReduced`] names the first row that does not fit in `bits`; [`Error::ZeroBits`];
    /// [`Error::OutOfMemory`].
    pub fn from_le_bytes<R: AsRef<[u8]>>(bits: usize, rows: &[R]) -> Result<Self> {
        Self::from_rows(bits, rows, |_, row| Ok(row.as_ref().chunks(4).map(word)))
    }

    /// A lane of `bits` bits for each row; `limbs` gives a row's limbs, least significant first.
    fn from_rows<'r, R, L: IntoIterator<Item = u32>>(
        bits: usize,
        rows: &'r [R],
        limbs: impl Fn(usize, &'r R) -> Result<L>,
    ) -> Result<Self> {
        let shape = Shape::new(rows.len(), bits);
        shape.check(shape.words())?;
        let mut buffer = HostBuffer::zeroed(shape.words())?;
        for (lane, (row, out)) in rows.iter().zip(buffer.as_mut_slice().chunks_exact_mut(shape.limbs())).enumerate() {
            if !shape.fill(out, limbs(lane, row)?.into_iter()) {
                return Err(Error::NotReduced { lane, bits });
            }
        }
        Ok(Self { shape, storage: Storage::Owned(buffer) })
    }
}

impl Batch<'_> {
    /// Lanes and bits.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of integers.
    pub const fn lanes(&self) -> usize {
        self.shape.lanes
    }

    /// Bits of each.
    pub const fn bits(&self) -> usize {
        self.shape.bits
    }

    /// All limbs, lane after lane.
    pub fn limbs(&self) -> &[u32] {
        match &self.storage {
            Storage::Borrowed(limbs, _) => limbs,
            Storage::Owned(buffer) => buffer.as_slice(),
        }
    }

    /// Are the limbs page-locked, so that a GPU reads them where they are?
    pub fn is_pinned(&self) -> bool {
        match &self.storage {
            Storage::Borrowed(_, pinned) => *pinned,
            Storage::Owned(buffer) => buffer.is_pinned(),
        }
    }

    /// Has the batch no lanes?
    pub const fn is_empty(&self) -> bool {
        self.shape.lanes == 0
    }

    /// The limbs of one lane, least significant first; `None` beyond the last lane.
    pub fn lane(&self, lane: usize) -> Option<&[u32]> {
        self.iter().nth(lane)
    }

    /// The limbs of every lane, in order: `for lane in &batch` does the same.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, u32> {
        self.limbs().chunks_exact(self.shape.limbs())
    }

    /// The bytes of one lane, least significant first, `4 · limbs` of them: what
    /// `BigUint::from_bytes_le` takes. `None` beyond the last lane.
    pub fn to_le_bytes(&self, lane: usize) -> Option<Vec<u8>> {
        Some(self.lane(lane)?.iter().flat_map(|limb| limb.to_le_bytes()).collect())
    }

    /// One lane as a word; `None` beyond the last lane, and for a number of more than 64 bits.
    pub fn to_u64(&self, lane: usize) -> Option<u64> {
        let limbs = self.lane(lane)?;
        let (low, high) = limbs.split_at(limbs.len().min(2));
        let value = low.iter().rev().fold(0, |value, limb| value << 32 | u64::from(*limb));
        high.iter().all(|limb| *limb == 0).then_some(value)
    }

    /// Some consecutive lanes, without a copy; the range is cut to the lanes there are.
    #[must_use]
    pub fn slice(&self, lanes: std::ops::Range<usize>) -> Batch<'_> {
        let end = lanes.end.min(self.shape.lanes);
        let start = lanes.start.min(end);
        let limbs = self.shape.limbs();
        let view = &self.limbs()[start * limbs..end * limbs];
        let shape = Shape::new(end - start, self.shape.bits);
        Batch { shape, storage: Storage::Borrowed(view, self.is_pinned()) }
    }

    /// The memory of the batch, to be used again; a borrowed batch is copied.
    pub fn into_buffer(self) -> HostBuffer {
        match self.storage {
            Storage::Borrowed(limbs, _) => limbs.to_vec().into(),
            Storage::Owned(buffer) => buffer,
        }
    }

    /// The limbs as a vector: without a copy if the batch was made from one.
    pub fn into_limbs(self) -> Vec<u32> {
        self.into_buffer().into_vec()
    }

    /// A batch that borrows nothing: without a copy if it owns its limbs already.
    pub fn into_owned(self) -> Batch<'static> {
        Batch { shape: self.shape, storage: Storage::Owned(self.into_buffer()) }
    }
}

impl Batch<'static> {
    /// The result of an operation that keeps the invariant by construction.
    pub(crate) fn trusted(shape: Shape, buffer: HostBuffer) -> Self {
        debug_assert!(shape.check(buffer.len()).is_ok() && shape.check_reduced(buffer.as_slice()).is_ok());
        Self { shape, storage: Storage::Owned(buffer) }
    }
}

impl PartialEq for Batch<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.limbs() == other.limbs()
    }
}

impl Eq for Batch<'_> {}

impl Clone for Batch<'_> {
    /// A view stays a view; owned limbs are copied into ordinary memory.
    fn clone(&self) -> Self {
        let storage = match &self.storage {
            Storage::Borrowed(limbs, pinned) => Storage::Borrowed(limbs, *pinned),
            Storage::Owned(buffer) => Storage::Owned(buffer.as_slice().to_vec().into()),
        };
        Self { shape: self.shape, storage }
    }
}

impl<'a> From<Batch<'a>> for Cow<'a, [u32]> {
    fn from(batch: Batch<'a>) -> Self {
        match batch.storage {
            Storage::Borrowed(limbs, _) => Cow::Borrowed(limbs),
            Storage::Owned(buffer) => Cow::Owned(buffer.into_vec()),
        }
    }
}

impl<'a> IntoIterator for &'a Batch<'_> {
    type Item = &'a [u32];
    type IntoIter = std::slice::ChunksExact<'a, u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The limb of up to four bytes, least significant first.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// The limbs of a word of 64 bits.
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
