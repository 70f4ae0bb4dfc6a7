//! The CPU engine: batches split over all cores, each operation by the algorithm that a table of
//! measured crossovers names.
//!
//! ```text
//! mod.rs         the engine: choice, splitting, timing
//! rows.rs        a piece of a batch: rows of operands and of results
//! schoolbook.rs  small products: no allocation, words in registers and on the stack
//! simd/          eight lanes at once, where the processor has AVX-512 IFMA
//! library.rs     large products elsewhere: dashu-int's Karatsuba and Toom-3
//! parts.rs       parts of products: a product, then a linear step
//! linear.rs      what takes linear time
//! sums.rs        the frequent ones of these, as they lie
//! limbs.rs       sums, comparisons and shifts of rows
//! secret.rs      powers whose time does not depend on the exponent
//! reduction.rs   Montgomery's products and reductions in words
//! general.rs     everything else: dashu-int
//! euclid.rs      inverses and cofactors
//! ```

mod euclid;
mod general;
mod library;
mod limbs;
mod linear;
mod parts;
mod reduction;
mod rows;
mod schoolbook;
mod secret;
mod simd;
mod sums;

use std::ops::RangeInclusive;
use std::time::Instant;

use rayon::prelude::*;
use warpmp_simd::Ifma;

use crate::batch::{Batch, Shape};
use crate::error::{Error, Result};
use crate::operation::{Group, Operation};
use crate::report::{EngineInfo, EngineKind, Run};
use rows::{Piece, Rows, RowsMut};

/// A piece of work should keep its operands and results in a core's own cache.
const PIECE_BYTES: usize = 128 << 10;

/// Pieces are a multiple of this many lanes: the width of a vector.
const GROUP: usize = 8;

/// An algorithm of this engine.
#[derive(Debug)]
struct Algorithm {
    /// Does it do this operation?
    serves: fn(Operation) -> bool,
    name: &'static str,
    /// The widest operand it takes, in bits.
    limit_bits: usize,
    /// It is preferred while the mean width of the operands, in bits, is within this range.
    best_bits: RangeInclusive<usize>,
    /// Does it run on this processor?
    available: fn() -> bool,
    run: fn(Piece<'_>),
}

/// The algorithms: the first one that runs here and is at its best is the default. The ranges are
/// crossovers measured by `examples/cpu_bench.rs`.
const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        serves: |it| it.group() == Group::Product,
        name: "cpu-ifma",
        limit_bits: simd::product_limit_bits::<Ifma>(),
        best_bits: 257..=usize::MAX,
        available: simd::is_available::<Ifma>,
        run: |piece| if piece.operation == Operation::Sqr { simd::square::<Ifma>(piece) } else { simd::multiply::<Ifma>(piece) },
    },
    Algorithm {
        serves: |it| it.group() == Group::Product,
        name: "cpu-schoolbook",
        limit_bits: schoolbook::LIMIT_BITS,
        best_bits: 0..=4096,
        available: || true,
        run: |piece| {
            if piece.operation == Operation::Sqr { schoolbook::square(piece) } else { schoolbook::multiply(piece) }
        },
    },
    Algorithm {
        serves: |it| it.group() == Group::Product,
        name: "cpu-dashu",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: |piece| if piece.operation == Operation::Sqr { library::square(piece) } else { library::multiply(piece) },
    },
    Algorithm {
        serves: |it| matches!(it.group(), Group::Linear | Group::LinearModular),
        name: "cpu-linear",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: linear::run,
    },
    Algorithm {
        serves: parts::serves,
        name: "cpu-parts",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: parts::run,
    },
    Algorithm {
        serves: |it| matches!(it, Operation::PowModSec),
        name: "cpu-constant-time",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: secret::power,
    },
    Algorithm {
        serves: |it| simd::serves(it) && it != Operation::Gcd,
        name: "cpu-ifma",
        limit_bits: simd::MODULAR_LIMIT_BITS,
        best_bits: 0..=usize::MAX,
        available: simd::is_available::<Ifma>,
        run: simd::modular,
    },
    Algorithm {
        serves: |it| it == Operation::Gcd,
        name: "cpu-ifma",
        limit_bits: simd::MODULAR_LIMIT_BITS,
        // The library's takes less than quadratic time.
        best_bits: 0..=24576,
        available: simd::is_available::<Ifma>,
        run: simd::modular,
    },
    Algorithm {
        serves: reduction::serves,
        name: "cpu-words",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: reduction::run,
    },
    Algorithm {
        serves: general::serves,
        name: "cpu-dashu",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        run: general::run,
    },
];

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

    /// Does an operation into `out`, whose lengths fit the shapes of the results.
    pub(crate) fn apply(
        self,
        operation: Operation,
        operands: &[&Batch],
        results: &[Shape],
        algorithm: Option<&str>,
        out: Vec<&mut [u32]>,
    ) -> Result<Run> {
        let algorithm = choose(operation, operands, algorithm)?;
        let start = Instant::now();
        let rows: Vec<Rows> = operands.iter().map(|batch| Rows::of(batch)).collect();
        let lanes = results[0].lanes;
        let shapes = operands.iter().map(|batch| batch.shape()).chain(results.iter().copied());
        let lane_bytes = 4 * shapes.map(Shape::limbs).sum::<usize>();
        let piece = (PIECE_BYTES / lane_bytes).min(lanes.div_ceil(self.threads)).next_multiple_of(GROUP).max(GROUP);
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
        Ok(Run { algorithm: algorithm.name.into(), kernel: start.elapsed() })
    }
}

impl Algorithm {
    /// Does it run here, on operands of these bits?
    fn fits(&self, bits: &[usize]) -> bool {
        bits.iter().all(|bits| *bits <= self.limit_bits) && (self.available)()
    }
}

/// The algorithms that do an operation.
fn all(operation: Operation) -> impl DoubleEndedIterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(move |it| (it.serves)(operation))
}

/// The one that is best for these widths; the last one takes everything.
fn best(operation: Operation, bits: &[usize]) -> Option<&'static Algorithm> {
    let mean = bits.iter().sum::<usize>() / bits.len().max(1);
    let best = |it: &&Algorithm| it.fits(bits) && it.best_bits.contains(&mean);
    all(operation).find(best).or_else(|| all(operation).next_back())
}

/// The algorithm of this name, or the one that is best for these widths.
fn choose(operation: Operation, operands: &[&Batch], name: Option<&str>) -> Result<&'static Algorithm> {
    let bits: Vec<usize> = operands.iter().map(|batch| batch.bits()).collect();
    let all = || all(operation);
    let fits = |it: &&Algorithm| it.fits(&bits);
    let names = |found: &mut dyn Iterator<Item = &'static Algorithm>| found.map(|it| it.name.to_owned()).collect();
    let unfit = |algorithm: &str| {
        Err(Error::AlgorithmUnfit {
            operation,
            algorithm: algorithm.into(),
            bits: bits.clone(),
            fits: names(&mut all().filter(fits)),
        })
    };
    let Some(name) = name else {
        return best(operation, &bits).map_or_else(|| unfit("the default"), Ok);
    };
    match all().find(|it| it.name == name) {
        None => Err(Error::UnknownAlgorithm { operation, name: name.into(), known: names(&mut all()) }),
        Some(it) if fits(&it) => Ok(it),
        Some(_) => unfit(name),
    }
}
