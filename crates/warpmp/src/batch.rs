//! A batch: many integers of one width, as rows of limbs.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::memory::HostBuffer;

/// Bits of a limb.
pub const LIMB_BITS: usize = 32;

/// The shape of a batch: how many integers, and how wide each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of integers.
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

    /// The bits that the top limb of a lane may use.
    const fn top_mask(self) -> u32 {
        match self.bits % LIMB_BITS {
            0 => u32::MAX,
            rest => (1 << rest) - 1,
        }
    }

    pub(crate) fn check(self, found_limbs: usize) -> Result<()> {
        if self.lanes == 0 {
            return Err(Error::ZeroLanes);
        }
        if self.bits == 0 {
            return Err(Error::ZeroBits);
        }
        let expected_limbs = self.words();
        if expected_limbs != found_limbs {
            return Err(Error::LimbCount { lanes: self.lanes, bits: self.bits, expected_limbs, found_limbs });
        }
        Ok(())
    }

    /// The first lane with a bit above `bits`, if any.
    fn check_reduced(self, limbs: &[u32]) -> Result<()> {
        let mask = self.top_mask();
        if mask == u32::MAX {
            return Ok(());
        }
        match limbs.chunks_exact(self.limbs()).position(|lane| lane[lane.len() - 1] & !mask != 0) {
            Some(lane) => Err(Error::NotReduced { lane, bits: self.bits }),
            None => Ok(()),
        }
    }
}

/// `lanes × bits`: unsigned integers of one width.
///
/// A lane is `⌈bits / 32⌉` limbs of 32 bits, least significant first; lanes follow one another
/// without gaps. The bits above `bits` in a lane's top limb are zero: constructors check that.
#[derive(Debug)]
pub struct Batch<'a> {
    shape: Shape,
    storage: Storage<'a>,
}

#[derive(Debug)]
enum Storage<'a> {
    /// Limbs elsewhere, and whether they are page-locked there.
    Borrowed(&'a [u32], bool),
    Owned(HostBuffer),
}

impl<'a> Batch<'a> {
    /// A view of limbs that stay where they are.
    ///
    /// # Errors
    /// [`Error::ZeroLanes`], [`Error::ZeroBits`]; [`Error::LimbCount`] unless there are exactly
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
    ///
    /// # Errors
    /// None; an empty slice gives a batch of one lane, zero.
    pub fn from_u64s(numbers: &[u64]) -> Self {
        let mut limbs: Vec<u32> = numbers.iter().flat_map(|n| [*n as u32, (n >> 32) as u32]).collect();
        if limbs.is_empty() {
            limbs = vec![0; 2];
        }
        Self { shape: Shape::new(limbs.len() / 2, 64), storage: Storage::Owned(limbs.into()) }
    }

    /// A lane for each row of little-endian bytes, of any lengths up to `⌈bits / 8⌉`: what
    /// `BigUint::to_bytes_le` of the big-integer libraries gives. Longer rows may end in zeros.
    ///
    /// # Errors
    /// [`Error::NotReduced`] names the first row that does not fit in `bits`;
    /// [`Error::ZeroLanes`], [`Error::ZeroBits`]; [`Error::OutOfMemory`].
    pub fn from_le_bytes<R: AsRef<[u8]>>(bits: usize, rows: &[R]) -> Result<Self> {
        let shape = Shape::new(rows.len(), bits);
        shape.check(shape.words())?;
        let mut limbs = HostBuffer::zeroed(shape.words())?;
        for (lane, (row, out)) in rows.iter().zip(limbs.as_mut_slice().chunks_exact_mut(shape.limbs())).enumerate() {
            let row = row.as_ref();
            let (kept, rest) = row.split_at(row.len().min(4 * out.len()));
            if rest.iter().any(|byte| *byte != 0) {
                return Err(Error::NotReduced { lane, bits });
            }
            for (limb, bytes) in out.iter_mut().zip(kept.chunks(4)) {
                let mut word = [0; 4];
                word[..bytes.len()].copy_from_slice(bytes);
                *limb = u32::from_le_bytes(word);
            }
        }
        Self::from_buffer(shape, limbs)
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

    /// The limbs of one lane, least significant first; `None` beyond the last lane.
    pub fn lane(&self, lane: usize) -> Option<&[u32]> {
        let limbs = self.shape.limbs();
        self.limbs().chunks_exact(limbs).nth(lane)
    }

    /// The lanes in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, u32> {
        self.limbs().chunks_exact(self.shape.limbs())
    }

    /// The bytes of one lane, least significant first, `4 · limbs` of them: what
    /// `BigUint::from_bytes_le` takes. Empty beyond the last lane.
    pub fn to_le_bytes(&self, lane: usize) -> Vec<u8> {
        self.lane(lane).unwrap_or_default().iter().flat_map(|limb| limb.to_le_bytes()).collect()
    }

    /// One lane in hexadecimal, lower case, without prefix or leading zeros; zero, and a lane beyond
    /// the last, is `0`.
    pub fn to_hex(&self, lane: usize) -> String {
        use std::fmt::Write as _;
        let limbs = self.lane(lane).unwrap_or_default();
        let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else {
            return "0".into();
        };
        let mut text = format!("{:x}", limbs[top]);
        for limb in limbs[..top].iter().rev() {
            // Writing to a String does not fail.
            let _ = write!(text, "{limb:08x}");
        }
        text
    }

    /// Some consecutive lanes, without a copy; the range is cut to the lanes there are.
    ///
    /// # Errors
    /// [`Error::ZeroLanes`] if nothing remains.
    pub fn slice(&self, lanes: std::ops::Range<usize>) -> Result<Batch<'_>> {
        let end = lanes.end.min(self.shape.lanes);
        if lanes.start >= end {
            return Err(Error::ZeroLanes);
        }
        let limbs = self.shape.limbs();
        let view = &self.limbs()[lanes.start * limbs..end * limbs];
        let shape = Shape::new(end - lanes.start, self.shape.bits);
        Ok(Batch { shape, storage: Storage::Borrowed(view, self.is_pinned()) })
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
