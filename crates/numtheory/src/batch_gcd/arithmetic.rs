//! A level's products and remainders on the processor's cores, and products of any set on the engine or on the cores.
//!
//! The rule for products: the cores do some of a level's operations first, with a clock. If all operations would take the cores less
//! than [`WORTH_SECONDS`], the cores do them all, because the compilation of a kernel may take as long. Otherwise the
//! engine does them, if the numbers are not too long for it and have about the same length.

use std::time::Instant;

use dashu_int::{
    UBig, Word,
    ops::{BitTest, Gcd as _},
};
use rayon::prelude::*;
use serde::Serialize;
use warpmp::kernels::Register;
use warpmp::{Batch, EngineKind, Operation, Options, Session, Shape, long};

use super::meter::Meter;
use crate::{
    error::Result,
    watch::{Watch, check},
};

/// Work that takes the cores less time than this needs no GPU.
const WORTH_SECONDS: f64 = 0.5;
/// Operations with which the cores are measured, at most.
const SAMPLES: usize = 8;
/// One operation is enough if all would take so many times as long as the limit, or the limit so many times as long as all.
const CLEAR: f64 = 8.0;
/// Measuring takes at most this share of the limit, but for the last operation.
const ASKING: f64 = 0.1;
/// Rows may take twice the memory of their numbers, or this many limbs.
const PADDING_LIMBS: usize = 1 << 16;
/// The longest moduli whose remainders the CPU engine finds with vectors: their dividends have three times as many bits.
const VECTOR_BITS: usize = 33_000;
/// Limbs of 32 bits in a word of the library.
const WORD_LIMBS: usize = Word::BITS as usize / 32;
/// Bits of rows that are enough to fill a GPU.
const PIECE_BITS: usize = 1 << 29;
/// Operations of the cores between two looks at the watch.
const PIECE: usize = 1 << 14;

/// Where the time went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stages {
    /// All other work: duplicates, the order of the integers, their limbs, memory that is given back.
    pub prepare_seconds: f64,
    /// Kernels, which the driver compiles the first time.
    pub compile_seconds: f64,
    /// Products up the tree.
    pub product_seconds: f64,
    /// Products of all others, for the nodes of one level.
    pub all_pairs_seconds: f64,
    /// Remainders down the tree.
    pub remainder_seconds: f64,
    /// The gcds at the leaves.
    pub gcd_seconds: f64,
    /// Levels of products and of remainders that the engine did.
    pub engine_levels: usize,
    /// Levels of products and of remainders that the cores did.
    pub core_levels: usize,
    /// Nodes of the level where every node met every other; 0 without such a level.
    pub all_pairs: usize,
}

impl Stages {
    /// The seconds of all stages with a clock of their own.
    pub(super) fn timed_seconds(&self) -> f64 {
        let Self { compile_seconds, product_seconds, all_pairs_seconds, remainder_seconds, gcd_seconds, .. } = self;
        compile_seconds + product_seconds + all_pairs_seconds + remainder_seconds + gcd_seconds
    }
}

/// `value·other mod modulus`.
pub(super) struct Factors<'n> {
    pub(super) value: &'n UBig,
    pub(super) other: &'n UBig,
    pub(super) modulus: &'n UBig,
}

impl<'n> Factors<'n> {
    const fn operands(&self) -> [&'n UBig; 3] {
        [self.value, self.other, self.modulus]
    }
}

/// Does levels.
pub(crate) struct Arithmetic<'s> {
    pub(crate) session: &'s Session,
    pub(super) watch: &'s dyn Watch,
    pub(crate) meter: Meter<'s>,
    pub(crate) stages: Stages,
    /// The cores do the work that takes them less time than this.
    pub(super) worth_seconds: f64,
    /// The longest numbers for the engine.
    pub(super) most_bits: usize,
    /// Bits of the rows that an operation on a GPU has at a time. Operations need many times this memory.
    pub(super) piece_bits: usize,
}

impl<'s> Arithmetic<'s> {
    /// On this engine, and the cores.
    pub(crate) fn new(session: &'s Session, watch: &'s dyn Watch) -> Self {
        let (stages, meter) = (Stages::default(), Meter::new(watch));
        let most_bits = Operation::Mul.max_bits();
        Self { session, watch, meter, stages, worth_seconds: WORTH_SECONDS, most_bits, piece_bits: PIECE_BITS }
    }

    /// Is the engine another thing than the cores?
    pub(super) fn has_device(&self) -> bool {
        self.session.engine().kind != EngineKind::Cpu
    }

    /// The products of pairs.
    pub(crate) fn products(&mut self, pairs: &[[UBig; 2]]) -> Result<Vec<UBig>> {
        let start = Instant::now();
        let bits = widest(pairs.iter().flatten());
        let shapes = [Shape::new(pairs.len().max(2), bits); 2];
        let fits = bits <= self.most_bits
            && is_even(pairs.iter().flatten(), bits)
            && (!self.has_device()
                || Register::shipped().fitting(Operation::Mul, &shapes).is_ok_and(|fitting| !fitting.is_empty()));
        let by_cores = |pair: &[UBig; 2]| long::product(&pair[0], &pair[1]);
        // The CPU engine multiplies with vectors, and the cores do so without compiling anything.
        let pays = fits && (!self.has_device() || self.pays(pairs, by_cores));
        let products = if pays {
            let [a, b] = [0, 1].map(|i| batch(pairs.par_iter().map(|pair| &pair[i]), bits));
            self.stages.engine_levels += usize::from(self.has_device());
            self.stages.core_levels += usize::from(!self.has_device());
            numbers(&self.apply(Operation::Mul, &[&a?, &b?])?)
        } else {
            self.stages.core_levels += 1;
            self.on_cores(pairs, by_cores)?
        };
        self.stages.product_seconds += start.elapsed().as_secs_f64();
        Ok(products)
    }

    /// Remainders of products.
    pub(super) fn remainders(&mut self, factors: &[Factors<'_>]) -> Result<Vec<UBig>> {
        let start = Instant::now();
        let bits = [0, 1, 2].map(|i| widest(factors.iter().map(|it| it.operands()[i])));
        let found = if self.is_for_vectors(factors.iter().map(|it| it.modulus), bits[2]) {
            let [a, b, m] = [0, 1, 2].map(|i| batch(factors.par_iter().map(|it| it.operands()[i]), bits[i]));
            numbers(&self.apply(Operation::MulMod, &[&a?, &b?, &m?])?)
        } else {
            self.on_cores(factors, remainder)?
        };
        self.stages.core_levels += 1;
        self.meter.part(1, 1);
        self.stages.remainder_seconds += start.elapsed().as_secs_f64();
        Ok(found)
    }

    /// The greatest common divisors of pairs, on the cores.
    pub(super) fn divisors(&mut self, a: &[UBig], b: &[UBig]) -> Result<Vec<UBig>> {
        let start = Instant::now();
        let bits = widest(a.iter().chain(b));
        let found = if self.is_for_vectors(a.iter(), bits) {
            numbers(&self.apply(Operation::Gcd, &[&batch(a.par_iter(), bits)?, &batch(b.par_iter(), bits)?])?)
        } else {
            a.par_iter().zip(b).map(|(a, b)| a.gcd(b)).collect()
        };
        self.stages.gcd_seconds += start.elapsed().as_secs_f64();
        Ok(found)
    }

    /// Does the CPU engine divide by these numbers with vectors?
    fn is_for_vectors<'n>(&self, numbers: impl Iterator<Item = &'n UBig>, bits: usize) -> bool {
        !self.has_device() && bits <= VECTOR_BITS && is_even(numbers, bits)
    }

    fn apply(&self, operation: Operation, operands: &[&Batch]) -> Result<Batch<'static>> {
        let (mut results, _) = self.session.apply(operation, operands, Options::new())?;
        Ok(results.swap_remove(0))
    }

    /// Does operations on all cores.
    fn on_cores<T: Sync>(&self, items: &[T], operation: impl Fn(&T) -> UBig + Sync) -> Result<Vec<UBig>> {
        let mut results = Vec::with_capacity(items.len());
        for piece in items.chunks(PIECE) {
            check(self.watch)?;
            results.par_extend(piece.par_iter().map(&operation));
            self.meter.part(results.len(), items.len());
        }
        Ok(results)
    }

    /// Would the cores take long?
    fn pays<T>(&self, items: &[T], operation: impl Fn(&T) -> UBig) -> bool {
        if items.is_empty() || self.worth_seconds <= 0.0 {
            return !items.is_empty();
        }
        let seconds = |item: &T| {
            let start = Instant::now();
            std::hint::black_box(operation(item));
            start.elapsed().as_secs_f64()
        };
        core_seconds(items, rayon::current_num_threads(), self.worth_seconds, seconds) > self.worth_seconds
    }
}

/// The remainder of one product, on one core. Three divisions have one divisor.
fn remainder(it: &Factors<'_>) -> UBig {
    let divisor = long::Divisor::new(it.modulus.clone());
    let [value, other] = [it.value, it.other].map(|factor| divisor.div_rem(factor).1);
    divisor.div_rem(&long::product(&value, &other)).1
}

/// The seconds that so many cores would take for these operations, estimated by a few of them. `seconds` does one. The estimate ends when
/// it is clearly on one side of the limit, or when asking takes long.
fn core_seconds<T>(items: &[T], cores: usize, limit: f64, seconds: impl Fn(&T) -> f64) -> f64 {
    let step = items.len().div_ceil(SAMPLES).max(1);
    let rounds = items.len().div_ceil(cores) as f64;
    let (mut spent, mut all) = (0.0, 0.0);
    for (before, item) in items.iter().step_by(step).enumerate() {
        spent += seconds(item);
        all = spent / (before + 1) as f64 * rounds;
        if all > CLEAR * limit || CLEAR * all < limit || spent > ASKING * limit {
            break;
        }
    }
    all
}

/// Bits of the longest number, at least 1.
pub(super) fn widest<'n>(numbers: impl Iterator<Item = &'n UBig>) -> usize {
    numbers.map(BitTest::bit_len).max().unwrap_or(0).max(1)
}

/// Do rows of `bits` bits waste little memory on these numbers?
fn is_even<'n>(numbers: impl Iterator<Item = &'n UBig>, bits: usize) -> bool {
    let (count, sum) = numbers.fold((0, 0), |(count, sum), number| (count + 1, sum + number.bit_len().div_ceil(32)));
    count * bits.div_ceil(32) <= (2 * sum).max(PADDING_LIMBS)
}

/// Numbers of at most `bits` bits as a batch.
pub(super) fn batch<'n>(numbers: impl IndexedParallelIterator<Item = &'n UBig>, bits: usize) -> Result<Batch<'static>> {
    let (lanes, width) = (numbers.len(), bits.div_ceil(32));
    let mut limbs = vec![0; lanes * width];
    limbs.par_chunks_exact_mut(width).zip(numbers).for_each(|(row, number)| {
        // The last word may have one limb of zeros more than the row.
        for (limbs, word) in row.chunks_mut(WORD_LIMBS).zip(number.as_words()) {
            for (place, limb) in limbs.iter_mut().enumerate() {
                *limb = (*word >> (32 * place)) as u32;
            }
        }
    });
    Ok(Batch::from_limbs(Shape::new(lanes, bits), limbs)?)
}

/// A batch's numbers.
pub(super) fn numbers(batch: &Batch) -> Vec<UBig> {
    let number = |limbs: &[u32]| {
        let word = |limbs: &[u32]| limbs.iter().rev().fold(0, |word: Word, limb| word << 16 << 16 | Word::from(*limb));
        UBig::from_words(&limbs.chunks(WORD_LIMBS).map(word).collect::<Vec<_>>())
    };
    batch.limbs().par_chunks_exact(batch.shape().limbs()).map(number).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The estimate for so many operations of these seconds on 4 cores, with a limit of one second, and the operations done for it.
    fn asked(count: usize, seconds: f64) -> (f64, usize) {
        let done = Cell::new(0);
        let one = |(): &()| {
            done.set(done.get() + 1);
            seconds
        };
        (core_seconds(&vec![(); count], 4, 1.0, one), done.get())
    }

    #[test]
    fn asking_ends_when_the_answer_is_clear() {
        for (count, seconds, expected, operations) in [
            // Clearly little, clearly much.
            (100, 1e-3, 0.025, 1),
            (1_000_000, 1e-3, 250.0, 1),
            // Neither: all samples, for all of them together are short.
            (4000, 1e-3, 1.0, 8),
            // Neither, but asking is long: the second one is more than a tenth of the limit.
            (40, 0.06, 0.6, 2),
            (3, 1e-3, 1e-3, 1),
            (0, 1.0, 0.0, 0),
        ] {
            let (found, done) = asked(count, seconds);
            assert!((found - expected).abs() < 1e-9 * expected + 1e-12, "{count} {seconds}: {found}");
            assert_eq!(done, operations, "{count} {seconds}");
        }
    }
}
