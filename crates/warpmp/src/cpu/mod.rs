//! The CPU engine: batches split over all cores, each operation by the algorithm that measured crossovers name.
//!
//! ```text
//! mod.rs         the engine: splitting, timing
//! algorithms.rs  the algorithms of each operation, and the choice among them
//! rows.rs        a piece of a batch: rows of operands and of results
//! schoolbook.rs  small products: no allocation, words in registers and on the stack
//! simd/          several lanes at once, where the processor has AVX-512 IFMA or AVX2
//! transform.rs   long products: transforms in vectors of doubles, a lane at a time
//! library.rs     large products elsewhere: dashu-int's Karatsuba and Toom-3
//! parts.rs       parts of products: a product, then a linear step
//! linear.rs      what takes linear time
//! sums.rs        the frequent ones of these, as they lie
//! limbs.rs       sums, comparisons and shifts of rows
//! secret.rs      powers whose time does not depend on the exponent
//! reduction.rs   Montgomery's products and reductions in words
//! words/         few words: division, powers, strong tests and roots without vectors
//! word.rs        numbers of one word, modular ones
//! word_euclid.rs common divisors and cofactors of one word
//! general.rs     everything else: dashu-int
//! newton.rs      the same of long numbers: products by transforms, quotients and roots by Newton's iteration
//! euclid.rs      inverses and cofactors
//! ```

mod algorithms;
mod euclid;
mod general;
mod library;
mod limbs;
mod linear;
pub(crate) mod newton;
mod parts;
mod reduction;
mod rows;
mod schoolbook;
mod secret;
mod simd;
mod sums;
mod transform;
mod word;
mod word_euclid;
mod words;

use std::time::Instant;

use rayon::prelude::*;

use crate::batch::{Batch, Shape};
use crate::error::Result;
use crate::operation::Operation;
use crate::report::{EngineInfo, EngineKind, Run};
use rows::{Piece, Rows, RowsMut};

/// A piece of work should keep its operands and results in a core's own cache.
const PIECE_BYTES: usize = 128 << 10;

/// The engine: rayon's threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    threads: usize,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Self { threads: rayon::current_num_threads() }
    }

    pub(crate) fn info(self) -> EngineInfo {
        let threads = self.threads;
        let plural = if threads == 1 { "" } else { "s" };
        EngineInfo { kind: EngineKind::Cpu, name: format!("CPU, {threads} thread{plural}"), ordinal: 0 }
    }

    /// The names of the algorithms that do an operation.
    #[allow(clippy::unused_self, reason = "as engines of GPUs have it")]
    pub(crate) fn algorithms(self, operation: Operation) -> Vec<&'static str> {
        algorithms::all(operation).iter().map(|it| it.name).collect()
    }

    /// The algorithm for operands of these shapes, or the one that is asked for by name.
    #[allow(clippy::unused_self, reason = "as engines of GPUs have it")]
    pub(crate) fn algorithm_for(
        self,
        operation: Operation,
        operands: &[Shape],
        algorithm: Option<&str>,
    ) -> Result<&'static str> {
        let results = operation.results(operands)?;
        let lanes = results.iter().map(|shape| shape.lanes).max().unwrap_or(0);
        let bits: Vec<usize> = operands.iter().map(|shape| shape.bits).collect();
        Ok(algorithms::choose(operation, &bits, lanes, algorithm)?.name)
    }

    /// Does an operation into `out`, whose lengths fit the shapes of the results.
    pub(crate) fn apply(
        self,
        operation: Operation,
        operands: &[&Batch],
        results: &[Shape],
        algorithm: Option<&str>,
        out: Vec<&mut [u32]>,
    ) -> Result<Run> {
        let bits: Vec<usize> = operands.iter().map(|batch| batch.bits()).collect();
        let lanes = results[0].lanes;
        let algorithm = algorithms::choose(operation, &bits, lanes, algorithm)?;
        let start = Instant::now();
        let rows: Vec<Rows> = operands.iter().map(|batch| Rows::of(batch)).collect();
        let shapes = operands.iter().map(|batch| batch.shape()).chain(results.iter().copied());
        let lane_bytes = 4 * shapes.map(Shape::limbs).sum::<usize>();
        let piece = (PIECE_BYTES / lane_bytes)
            .min(lanes.div_ceil(self.threads))
            .next_multiple_of(algorithm.group)
            .max(algorithm.group);
        let mut chunks: Vec<_> =
            out.into_iter().zip(results).map(|(out, shape)| out.chunks_mut(piece * shape.limbs())).collect();
        let pieces: Vec<Piece> = (0..lanes.div_ceil(piece))
            .map(|number| {
                let first = number * piece;
                let lanes = piece.min(lanes - first);
                let results = chunks.iter_mut().zip(results);
                Piece {
                    operation,
                    operands: rows.iter().map(|rows| rows.slice(first, lanes)).collect(),
                    results: results
                        .filter_map(|(chunks, shape)| {
                            Some(RowsMut { words: chunks.next()?, limbs: shape.limbs(), bits: shape.bits })
                        })
                        .collect(),
                }
            })
            .collect();
        pieces.into_par_iter().for_each(algorithm.run);
        Ok(Run { algorithm: algorithm.name.into(), kernel: start.elapsed(), left_out: Vec::new() })
    }
}
