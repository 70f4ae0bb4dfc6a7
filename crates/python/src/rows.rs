//! Lanes of the host.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use warpmp::{Batch, Shape};

use crate::error::{Failure, Result};

/// Lanes that a core takes at a time.
const PIECE: usize = 512;

/// Some consecutive lanes of a batch, which they share.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    batch: Arc<Batch<'static>>,
    lanes: Range<usize>,
}

impl From<Batch<'static>> for Rows {
    fn from(batch: Batch<'static>) -> Self {
        let lanes = 0..batch.lanes();
        Self { batch: Arc::new(batch), lanes }
    }
}

impl Rows {
    pub(crate) fn from_limbs(shape: Shape, limbs: Vec<u32>) -> Result<Self> {
        Ok(Batch::from_limbs(shape, limbs)?.into())
    }

    pub(crate) fn view(&self) -> Batch<'_> {
        self.batch.slice(self.lanes.clone())
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::new(self.lanes.len(), self.batch.bits())
    }

    /// All limbs, lane after lane.
    pub(crate) fn limbs(&self) -> &[u32] {
        let limbs = self.shape().limbs();
        &self.batch.limbs()[self.lanes.start * limbs..self.lanes.end * limbs]
    }

    /// Some of the lanes, without a copy. The range must be within.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        let lanes = self.lanes.start + range.start..self.lanes.start + range.end;
        Self { batch: self.batch.clone(), lanes }
    }

    /// The lanes of these numbers.
    pub(crate) fn take(&self, places: &[i64]) -> Result<Self> {
        let Shape { lanes, bits } = self.shape();
        if let Some(place) = places.iter().find(|place| usize::try_from(**place).map_or(true, |place| place >= lanes)) {
            return Err(Failure::value(format!("there is no lane {place}; there are {lanes}")));
        }
        let shape = Shape::new(places.len(), bits);
        let limbs = shape.limbs();
        let source = self.limbs();
        fill(shape, |lane, row| row.copy_from_slice(&source[places[lane] as usize * limbs..][..limbs]))
    }

    /// The same lanes in other bits: zeros above or, of two's complements, the sign. Bits that do not fit are cut off.
    pub(crate) fn resize(&self, bits: usize, signed: bool) -> Result<Self> {
        let old = self.shape();
        if old.bits == bits {
            return Ok(self.clone());
        }
        let shape = Shape::new(old.lanes, bits);
        let (from, to) = (old.limbs(), shape.limbs());
        let source = self.limbs();
        fill(shape, |lane, row| {
            let lane = &source[lane * from..][..from];
            let common = from.min(to);
            row[..common].copy_from_slice(&lane[..common]);
            if signed && is_negative(lane, old.bits) {
                row[common..].fill(u32::MAX);
                if bits > old.bits && !old.bits.is_multiple_of(32) {
                    row[from - 1] |= u32::MAX << (old.bits % 32);
                }
            }
            mask(row, bits);
        })
    }

    /// The bits of each lane's magnitude; of two's complements as Python counts them.
    pub(crate) fn bit_lengths(&self, signed: bool) -> Vec<i64> {
        let bits = self.shape().bits;
        self.map(move |lane| {
            if signed && is_negative(lane, bits) {
                let magnitude = negated(lane, bits);
                bit_length(&magnitude) as i64
            } else {
                bit_length(lane) as i64
            }
        })
    }

    /// The bits that each lane needs: of two's complements with the sign.
    pub(crate) fn needed_bits(&self, signed: bool) -> usize {
        let Shape { lanes, bits } = self.shape();
        if lanes == 0 {
            return 1;
        }
        let needed = |lane: &[u32]| match signed {
            false => bit_length(lane),
            true if is_negative(lane, bits) => leading_ones_end(lane, bits) + 1,
            true => bit_length(lane) + 1,
        };
        self.map(needed).into_iter().max().unwrap_or(1).max(1)
    }

    /// The first lane that does not fit in `bits`.
    pub(crate) fn first_wider(&self, bits: usize, signed: bool) -> Option<usize> {
        let old = self.shape().bits;
        let fits = move |lane: &[u32]| match signed {
            false => bit_length(lane) <= bits,
            true if is_negative(lane, old) => leading_ones_end(lane, old) < bits,
            true => bit_length(lane) < bits,
        };
        self.map(fits).into_iter().position(|fits| !fits)
    }

    /// The ones in each lane.
    pub(crate) fn popcounts(&self) -> Vec<i64> {
        self.map(|lane| lane.iter().map(|limb| i64::from(limb.count_ones())).sum())
    }

    /// A figure of each lane.
    fn map<T: Send>(&self, figure: impl Fn(&[u32]) -> T + Sync + Send) -> Vec<T> {
        self.limbs().par_chunks_exact(self.shape().limbs()).with_min_len(PIECE).map(figure).collect()
    }
}

/// New lanes, each written by `write`, on all cores.
pub(crate) fn fill(shape: Shape, write: impl Fn(usize, &mut [u32]) + Sync) -> Result<Rows> {
    let mut limbs = zeroed(shape)?;
    limbs.par_chunks_exact_mut(shape.limbs()).with_min_len(PIECE).enumerate().for_each(|(lane, row)| write(lane, row));
    Rows::from_limbs(shape, limbs)
}

/// Zeros. A vector ends the program if there is no memory: ask first.
pub(crate) fn zeroed(shape: Shape) -> Result<Vec<u32>> {
    if shape.bits == 0 {
        return Err(warpmp::Error::ZeroBits.into());
    }
    let (words, bytes) = (shape.words(), shape.bytes());
    Vec::<u32>::new().try_reserve_exact(words).map_err(|_| Failure::memory(format!("{bytes} B are needed")))?;
    Ok(vec![0; words])
}

/// Clears the bits above.
pub(crate) fn mask(row: &mut [u32], bits: usize) {
    if let (Some(top), true) = (row.last_mut(), !bits.is_multiple_of(32)) {
        *top &= u32::MAX >> (32 - bits % 32);
    }
}

/// The two's complement of a negative lane: negates, in `bits`.
pub(crate) fn negate(row: &mut [u32], bits: usize) {
    let mut carry = true;
    for limb in row.iter_mut() {
        (*limb, carry) = (!*limb).overflowing_add(u32::from(carry));
    }
    mask(row, bits);
}

pub(crate) fn negated(row: &[u32], bits: usize) -> Vec<u32> {
    let mut row = row.to_vec();
    negate(&mut row, bits);
    row
}

pub(crate) fn is_negative(row: &[u32], bits: usize) -> bool {
    row[(bits - 1) / 32] >> ((bits - 1) % 32) & 1 == 1
}

pub(crate) fn bit_length(row: &[u32]) -> usize {
    row.iter().rposition(|limb| *limb != 0).map_or(0, |top| 32 * top + row[top].ilog2() as usize + 1)
}

/// The least `n` so that all bits from `n` on are ones.
fn leading_ones_end(row: &[u32], bits: usize) -> usize {
    let mut complement: Vec<u32> = row.iter().map(|limb| !limb).collect();
    mask(&mut complement, bits);
    bit_length(&complement)
}
