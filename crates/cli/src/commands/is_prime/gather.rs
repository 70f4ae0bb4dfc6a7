//! Candidates of several chunks, gathered by width until they fill an engine.

use std::collections::BTreeMap;

use warpmp::{Batch, EngineKind, Shape};

use crate::{
    error::Result,
    numbers::{bit_length, class, narrow, widened},
};

/// Limbs of all candidates that a GPU is given at a time: at 683 bits 286 000 candidates, four times what an H200
/// works on at once.
const GPU_LIMBS: usize = 6 << 20;
/// The same for the other engines, which are interrupted and show progress between two such pieces.
const OTHER_LIMBS: usize = 32 << 10;
/// Fewer candidates go along with wider ones: a width of its own is a kernel of its own.
const FEW: usize = 1024;

/// Where a candidate's verdict belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) chunk: u64,
    pub(super) batch: u32,
    pub(super) row: u32,
}

/// Candidates of about the same width.
#[derive(Debug, Default)]
pub(super) struct Bin {
    /// Limbs of each.
    width: usize,
    limbs: Vec<u32>,
    pub(super) places: Vec<Place>,
}

/// Candidates by width.
pub(super) struct Gather {
    bins: BTreeMap<usize, Bin>,
    full_limbs: usize,
}

impl Gather {
    /// For an engine of this kind.
    pub(super) const fn new(kind: EngineKind) -> Self {
        let full_limbs = if matches!(kind, EngineKind::Cuda) { GPU_LIMBS } else { OTHER_LIMBS };
        Self { bins: BTreeMap::new(), full_limbs }
    }

    /// Takes a candidate.
    pub(super) fn add(&mut self, number: &[u32], place: Place) {
        let length = bit_length(number).div_ceil(32).max(1);
        let bin = self.bins.entry(class(length)).or_default();
        bin.width = class(length);
        let kept = number.len().min(bin.width);
        bin.limbs.extend(&number[..kept]);
        bin.limbs.resize(bin.limbs.len() + bin.width - kept, 0);
        bin.places.push(place);
    }

    /// A bin that fills the engine.
    pub(super) fn full(&mut self) -> Option<Bin> {
        let width = *self.bins.iter().find(|(_, bin)| bin.limbs.len() >= self.full_limbs)?.0;
        self.bins.remove(&width)
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> Vec<Bin> {
        let mut found = Vec::new();
        let mut few: Option<Bin> = None;
        for mut bin in std::mem::take(&mut self.bins).into_values() {
            if let Some(narrower) = few.take() {
                bin.join(narrower);
            }
            if bin.places.len() < FEW { few = Some(bin) } else { found.push(bin) }
        }
        found.extend(few);
        found
    }
}

impl Bin {
    /// Takes the candidates of a narrower one.
    fn join(&mut self, narrower: Self) {
        self.limbs.extend(widened(&narrower.limbs, narrower.width, self.width));
        self.places.extend(narrower.places);
    }

    /// The candidates, as wide as the widest of them in bits.
    pub(super) fn batch(&mut self) -> Result<Batch<'static>> {
        let mut limbs = std::mem::take(&mut self.limbs);
        let bits = limbs.chunks_exact(self.width).map(bit_length).max().unwrap_or(0).max(1);
        narrow(&mut limbs, self.width, bits.div_ceil(32));
        Ok(Batch::from_limbs(Shape::new(self.places.len(), bits), limbs)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(row: u32) -> Place {
        Place { chunk: 7, batch: 0, row }
    }

    #[test]
    fn widths_are_true_ones() {
        let mut gather = Gather::new(EngineKind::Cuda);
        gather.add(&[5, 6, 7, 8, 9, 0, 0], place(0));
        gather.add(&[1, 1, 1, 1, 1 << 8, 0, 0], place(1));
        let [bin] = &mut gather.rest()[..] else { panic!("one bin") };
        let batch = bin.batch().unwrap();
        assert_eq!((batch.shape(), batch.limbs()), (Shape::new(2, 137), &[5, 6, 7, 8, 9, 1, 1, 1, 1, 256][..]));
        assert_eq!(bin.places, [place(0), place(1)]);
        assert!(gather.rest().is_empty());
    }

    #[test]
    fn few_go_along_with_wider_ones() {
        let mut gather = Gather::new(EngineKind::Cuda);
        gather.add(&[3], place(0));
        for row in 0..FEW as u32 {
            gather.add(&[0, 0, 1], place(row));
        }
        gather.add(&[0, 0, 0, 0, 0, 0, 1], place(1));
        let mut bins = gather.rest();
        let shapes: Vec<Shape> = bins.iter_mut().map(|bin| bin.batch().unwrap().shape()).collect();
        assert_eq!(shapes, [Shape::new(FEW + 1, 65), Shape::new(1, 193)]);
    }

    #[test]
    fn a_bin_is_full_in_time() {
        let mut gather = Gather::new(EngineKind::Cpu);
        let lanes = OTHER_LIMBS / 2;
        for row in 0..lanes as u32 {
            assert!(gather.full().is_none());
            gather.add(&[1, 1], place(row));
        }
        assert_eq!(gather.full().map(|bin| bin.places.len()), Some(lanes));
    }
}
