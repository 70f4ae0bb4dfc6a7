//! What to measure: sizes, batch counts, and at each of them every algorithm with its settings.

use crate::batch::Shape;
use crate::kernels::Settings;
use crate::operation::Operation;

/// An algorithm with settings, as a row of a table says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Its settings.
    pub settings: Settings,
    /// The name of the kernel that it comes to.
    pub kernel: String,
}

/// How many lanes a batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Lanes(usize),
    /// As many as make an operand of so many bytes.
    OperandBytes(u64),
}

/// The sizes and counts that a table is measured at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Bits of every operand, ascending.
    pub bits: Vec<usize>,
    /// Lanes, few before many; the last one is what rows without a limit of lanes are made for.
    pub counts: Vec<Count>,
}

impl Grid {
    /// For a table to keep.
    pub fn full() -> Self {
        Self {
            bits: vec![
                32, 64, 128, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 32768, 65536,
            ],
            counts: vec![
                Count::Lanes(1),
                Count::Lanes(32),
                Count::Lanes(1000),
                Count::Lanes(10_240),
                Count::Lanes(100_000),
                Count::OperandBytes(1 << 30),
            ],
        }
    }

    /// For a table in a minute: a full machine and a thousand lanes.
    pub fn quick() -> Self {
        Self {
            bits: vec![64, 128, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384, 65536],
            counts: vec![Count::Lanes(1000), Count::OperandBytes(1 << 28)],
        }
    }

    /// The numbers of lanes for an operation at a width, ascending, as far as `free_bytes` of device memory
    /// hold operands and results; at least one.
    pub fn lanes(&self, operation: Operation, bits: usize, free_bytes: u64) -> Vec<usize> {
        let operands = operands(operation, bits, 1);
        let results = operation.results(&operands).unwrap_or_default();
        let lane_bytes: u64 = operands.iter().chain(&results).map(|shape| shape.bytes()).sum();
        let most = (free_bytes / lane_bytes.max(1)).max(1) as usize;
        let mut lanes: Vec<usize> = self.counts.iter().map(|count| count.lanes(bits).min(most)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }
}

impl Count {
    /// Lanes of so many bits.
    fn lanes(self, bits: usize) -> usize {
        match self {
            Self::Lanes(lanes) => lanes,
            Self::OperandBytes(bytes) => (bytes / Shape::new(1, bits).bytes()).max(1) as usize,
        }
    }
}

/// The operands that an operation is measured with at a width: all of it.
pub fn operands(operation: Operation, bits: usize, lanes: usize) -> Vec<Shape> {
    vec![Shape::new(lanes, bits); operation.arity()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_a_width() {
        let grid =
            Grid { bits: vec![], counts: vec![Count::Lanes(1), Count::Lanes(1000), Count::OperandBytes(1 << 20)] };
        let plenty = 1 << 40;
        assert_eq!(grid.lanes(Operation::Mul, 1024, plenty), [1, 1000, 8192]);
        assert_eq!(grid.lanes(Operation::Mul, 65536, plenty), [1, 128, 1000]);
        // 128 + 128 + 256 bytes a lane.
        assert_eq!(grid.lanes(Operation::Mul, 1024, 512 * 700), [1, 700]);
        assert_eq!(grid.lanes(Operation::Mul, 1024, 0), [1]);
        assert_eq!(grid.lanes(Operation::Sqr, 1024, 384 * 2000), [1, 1000, 2000]);
    }

    #[test]
    fn grids_ascend_to_the_widest_operand() {
        for grid in [Grid::full(), Grid::quick()] {
            assert!(grid.bits.is_sorted());
            assert_eq!(grid.bits.last().copied(), Some(Operation::Mul.max_bits()));
        }
    }
}
