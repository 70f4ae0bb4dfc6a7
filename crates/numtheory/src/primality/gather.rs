//! Candidates of several chunks, gathered by width until they fill the engine.

use std::collections::BTreeMap;

use warpmp::{Batch, EngineKind, Shape};

use crate::error::Result;

/// Limbs of the candidates of a full bin on a GPU: at 683 bits 286 000 candidates, four times the number that an H200
/// works on at once.
const GPU_LIMBS: usize = 6 << 20;
/// The same for the other engines, which can be stopped between two bins.
const OTHER_LIMBS: usize = 32 << 10;
/// A bin of fewer candidates joins a wider one in the end: a width of its own is a kernel of its own.
const FEW: usize = 1024;

/// Where a candidate's verdict belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) chunk: u64,
    pub(super) batch: u32,
    pub(super) lane: u32,
}

/// Candidates of about the same width.
#[derive(Debug, Default)]
pub(super) struct Bin {
    /// The limbs of one candidate after the other, none of them zero at the top.
    limbs: Vec<u32>,
    /// Where each candidate ends in `limbs`.
    ends: Vec<usize>,
    pub(super) seats: Vec<Seat>,
}

/// Candidates by width.
pub(super) struct Gather {
    bins: BTreeMap<(Option<u32>, usize), Bin>,
    full_limbs: usize,
}

impl Gather {
    /// For an engine of this kind.
    pub(super) const fn new(kind: EngineKind) -> Self {
        let full_limbs = if matches!(kind, EngineKind::Cuda) { GPU_LIMBS } else { OTHER_LIMBS };
        Self { bins: BTreeMap::new(), full_limbs }
    }

    /// Takes a candidate. Gives back its bin if that is full now.
    pub(super) fn add(&mut self, number: &[u32], seat: Seat) -> Option<Bin> {
        let length = number.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1);
        let class = class(length);
        let bin = self.bins.entry(class).or_default();
        bin.limbs.extend(&number[..length]);
        bin.ends.push(bin.limbs.len());
        bin.seats.push(seat);
        if bin.limbs.len() >= self.full_limbs { self.bins.remove(&class) } else { None }
    }

    /// All candidates that are left.
    pub(super) fn rest(&mut self) -> Vec<Bin> {
        let mut found = Vec::new();
        let mut few: Option<Bin> = None;
        for mut bin in std::mem::take(&mut self.bins).into_values() {
            if let Some(narrower) = few.take() {
                bin.join(narrower);
            }
            if bin.seats.len() < FEW { few = Some(bin) } else { found.push(bin) }
        }
        found.extend(few);
        found
    }
}

/// Lengths of a class differ by half at most: 1, 2, 3, 4, 5 to 6, 7 to 8, 9 to 12, 13 to 16, … limbs.
fn class(length: usize) -> (Option<u32>, usize) {
    let last = length.saturating_sub(1);
    let octave = last.checked_ilog2();
    (octave, octave.map_or(0, |octave| last >> octave.saturating_sub(1)))
}

impl Bin {
    /// Takes the candidates of a narrower one.
    fn join(&mut self, narrower: Self) {
        self.ends.extend(narrower.ends.iter().map(|end| self.limbs.len() + end));
        self.limbs.extend(narrower.limbs);
        self.seats.extend(narrower.seats);
    }

    fn candidates(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.limbs[start..*end])
    }

    /// The candidates as a batch, which has the bits of the widest of them.
    pub(super) fn batch(&self) -> Result<Batch<'static>> {
        let bits = |number: &[u32]| number.last().map_or(0, |top| 32 * number.len() - top.leading_zeros() as usize);
        let bits = self.candidates().map(bits).max().unwrap_or(0).max(1);
        let mut limbs = vec![0; self.seats.len() * bits.div_ceil(32)];
        for (row, number) in limbs.chunks_exact_mut(bits.div_ceil(32)).zip(self.candidates()) {
            row[..number.len()].copy_from_slice(number);
        }
        Ok(Batch::from_limbs(Shape::new(self.seats.len(), bits), limbs)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(lane: u32) -> Seat {
        Seat { chunk: 7, batch: 0, lane }
    }

    #[test]
    fn classes_are_half_octaves() {
        let first_of_class: Vec<usize> = (2..40).filter(|length| class(*length) != class(length - 1)).collect();
        assert_eq!(first_of_class, [2, 3, 4, 5, 7, 9, 13, 17, 25, 33]);
    }

    #[test]
    fn a_batch_has_the_bits_of_its_widest_candidate() {
        let mut gather = Gather::new(EngineKind::Cuda);
        assert!(gather.add(&[5, 6, 7, 8, 9, 0, 0], seat(0)).is_none());
        assert!(gather.add(&[1, 1, 1, 1, 1 << 8, 0, 0], seat(1)).is_none());
        let [bin] = &gather.rest()[..] else { panic!("one bin") };
        let batch = bin.batch().unwrap();
        assert_eq!((batch.shape(), batch.limbs()), (Shape::new(2, 137), &[5, 6, 7, 8, 9, 1, 1, 1, 1, 256][..]));
        assert_eq!(bin.seats, [seat(0), seat(1)]);
        assert!(gather.rest().is_empty());
    }

    #[test]
    fn few_candidates_join_wider_ones() {
        let mut gather = Gather::new(EngineKind::Cuda);
        gather.add(&[3], seat(0));
        for lane in 0..FEW as u32 {
            gather.add(&[0, 0, 1], seat(lane));
        }
        gather.add(&[0, 0, 0, 0, 0, 0, 1], seat(1));
        let batches: Vec<Batch> = gather.rest().iter().map(|bin| bin.batch().unwrap()).collect();
        let shapes: Vec<Shape> = batches.iter().map(Batch::shape).collect();
        assert_eq!(shapes, [Shape::new(FEW + 1, 65), Shape::new(1, 193)]);
        assert_eq!(batches[0].lane(FEW), Some(&[3, 0, 0][..]));
    }

    #[test]
    fn a_bin_is_full_in_time() {
        let mut gather = Gather::new(EngineKind::Cpu);
        let lanes = OTHER_LIMBS as u32 / 2;
        let full: Vec<u32> = (1..=lanes).filter(|lane| gather.add(&[1, 1], seat(*lane)).is_some()).collect();
        assert_eq!(full, [lanes]);
        assert!(gather.rest().is_empty());
    }
}
