//! The CPU engine: batches split over all cores, each product by the algorithm that a table of
//! measured crossovers names.
//!
//! ```text
//! mod.rs         the engine: choice, splitting, timing
//! rows.rs        a piece of a batch: rows of operands and of results
//! schoolbook.rs  small products: no allocation, words in registers and on the stack
//! simd/          eight products at once, where the processor has AVX-512 IFMA
//! library.rs     large products elsewhere: dashu-int's Karatsuba and Toom-3
//! ```

mod library;
mod rows;
mod schoolbook;
#[cfg(target_arch = "x86_64")]
mod simd;

use std::ops::RangeInclusive;
use std::time::Instant;

use rayon::prelude::*;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::report::{EngineInfo, EngineKind, Run};
use rows::{Piece, Rows};

/// A piece of work should keep its operands and results in a core's own cache.
const PIECE_BYTES: usize = 128 << 10;

/// Pieces are a multiple of this many lanes: the width of a vector.
const GROUP: usize = 8;

/// Multiplies the rows of a piece.
type Multiply = fn(Piece<'_>);

/// An algorithm of this engine.
#[derive(Debug)]
struct Algorithm {
    name: &'static str,
    /// The widest operand it takes, in bits.
    limit_bits: usize,
    /// It is preferred while the mean width of the operands, in bits, is within this range.
    best_bits: RangeInclusive<usize>,
    /// Does it run on this processor?
    available: fn() -> bool,
    multiply: Multiply,
}

/// The algorithms: the first one that runs here and is at its best is the default. The ranges are
/// crossovers measured by `examples/cpu_bench.rs`.
const ALGORITHMS: &[Algorithm] = &[
    #[cfg(target_arch = "x86_64")]
    Algorithm {
        name: "cpu-ifma",
        limit_bits: simd::LIMIT_BITS,
        best_bits: 257..=usize::MAX,
        available: simd::is_available,
        multiply: simd::multiply,
    },
    Algorithm {
        name: "cpu-schoolbook",
        limit_bits: schoolbook::LIMIT_BITS,
        best_bits: 0..=4096,
        available: || true,
        multiply: schoolbook::multiply,
    },
    Algorithm {
        name: "cpu-dashu",
        limit_bits: usize::MAX,
        best_bits: 0..=usize::MAX,
        available: || true,
        multiply: library::multiply,
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

    /// Multiplies `a` by `b` into `c`, whose length fits.
    pub(crate) fn mul(self, a: &Batch, b: &Batch, algorithm: Option<&str>, c: &mut [u32]) -> Result<Run> {
        let algorithm = choose(a.bits(), b.bits(), algorithm)?;
        let start = Instant::now();
        let (a_rows, b_rows) = (Rows::of(a), Rows::of(b));
        let lanes = a.lanes().max(b.lanes());
        let limbs = c.len() / lanes;
        let lane_bytes = 4 * (a.shape().limbs() + b.shape().limbs() + limbs);
        let piece = (PIECE_BYTES / lane_bytes).min(lanes.div_ceil(self.threads)).next_multiple_of(GROUP).max(GROUP);
        c.par_chunks_mut(piece * limbs).enumerate().for_each(|(number, c)| {
            let first = number * piece;
            let lanes = c.len() / limbs;
            (algorithm.multiply)(Piece { a: a_rows.slice(first, lanes), b: b_rows.slice(first, lanes), c, limbs });
        });
        Ok(Run { algorithm: algorithm.name.into(), kernel: start.elapsed() })
    }
}

/// The algorithm of this name, or the one that is best for these widths.
fn choose(bits_a: usize, bits_b: usize, name: Option<&str>) -> Result<&'static Algorithm> {
    let fits = |it: &&Algorithm| bits_a.max(bits_b) <= it.limit_bits && (it.available)();
    let best = |it: &&Algorithm| fits(it) && it.best_bits.contains(&bits_a.midpoint(bits_b));
    let names = |found: &mut dyn Iterator<Item = &'static Algorithm>| found.map(|it| it.name.to_owned()).collect();
    let Some(name) = name else {
        // The last algorithm takes everything.
        return Ok(ALGORITHMS.iter().find(best).unwrap_or(&ALGORITHMS[ALGORITHMS.len() - 1]));
    };
    match ALGORITHMS.iter().find(|it| it.name == name) {
        None => Err(Error::UnknownAlgorithm { name: name.into(), known: names(&mut ALGORITHMS.iter()) }),
        Some(it) if fits(&it) => Ok(it),
        Some(_) => Err(Error::AlgorithmUnfit {
            algorithm: name.into(),
            bits_a,
            bits_b,
            fits: names(&mut ALGORITHMS.iter().filter(fits)),
        }),
    }
}
