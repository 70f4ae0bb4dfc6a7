//! A level's products and remainders, on the engine or on the processor's cores.
//!
//! The rule: the cores do some of a level's operations first, with a clock. If all operations would take the cores less
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
/// Operations with which the cores are measured.
const SAMPLES: usize = 8;
/// Rows may take twice the memory of their numbers, or this many limbs.
const PADDING_LIMBS: usize = 1 << 16;
/// The longest moduli whose remainders the CPU engine finds with vectors: their dividends have three times as many bits.
const VECTOR_BITS: usize = 33_000;
/// Limbs of 32 bits in a word of the library.
const WORD_LIMBS: usize = Word::BITS as usize / 32;
/// Operations of the cores between two looks at the watch.
const PIECE: usize = 1 << 14;

/// Where the time went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stages {
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

/// `value·other mod modulus`.
pub(super) struct Factors<'n> {
    pub(super) value: &'n UBig,
    pub(super) other: &'n UBig,
    pub(super) modulus: &'n UBig,
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
}

impl<'s> Arithmetic<'s> {
    /// On this engine, and the cores.
    pub(crate) fn new(session: &'s Session, watch: &'s dyn Watch) -> Self {
        let (stages, meter) = (Stages::default(), Meter::new(watch));
        Self { session, watch, meter, stages, worth_seconds: WORTH_SECONDS, most_bits: Operation::Mul.max_bits() }
    }

    /// Is the engine another thing than the cores?
    pub(super) fn has_device(&self) -> bool {
        self.session.engine().kind != EngineKind::Cpu
    }

    /// Can the engine take products of two of these nodes as moduli?
    pub(super) fn is_within_reach(&self, level: &[UBig]) -> bool {
        self.has_device() && self.takes_moduli(2 * widest(level.iter()))
    }

    /// Can the engine reduce a product of two numbers of `bits` bits modulo a number of `bits` bits?
    pub(super) fn takes_moduli(&self, bits: usize) -> bool {
        let shapes = [Shape::new(2, 2 * bits), Shape::new(2, bits)];
        bits <= self.most_bits
            && Register::shipped().fitting(Operation::Rem, &shapes).is_ok_and(|fitting| !fitting.is_empty())
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
            let [a, b] = [0, 1].map(|i| batch(pairs.iter().map(|pair| &pair[i]), bits));
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
        let values = || factors.iter().map(|it| it.value);
        let others = || factors.iter().map(|it| it.other);
        let moduli = || factors.iter().map(|it| it.modulus);
        let bits = [widest(values()), widest(others()), widest(moduli())];
        let shapes = bits.map(|bits| Shape::new(factors.len().max(2), bits));
        let by_vectors = !self.has_device() && bits[2] <= VECTOR_BITS && is_even(moduli(), bits[2]);
        let fits = self.has_device()
            && bits.iter().all(|bits| *bits <= 2 * self.most_bits)
            && bits[2] <= self.most_bits
            && is_even(moduli(), bits[2])
            && Register::shipped().fitting(Operation::MulMod, &shapes).is_ok_and(|fitting| !fitting.is_empty());
        let found = if by_vectors || fits && self.pays(factors, remainder) {
            self.stages.engine_levels += usize::from(self.has_device());
            self.stages.core_levels += usize::from(!self.has_device());
            let (a, b, m) = (batch(values(), bits[0])?, batch(others(), bits[1])?, batch(moduli(), bits[2])?);
            numbers(&self.apply(Operation::MulMod, &[&a, &b, &m])?)
        } else {
            self.stages.core_levels += 1;
            self.on_cores(factors, remainder)?
        };
        self.meter.part(1, 1);
        self.stages.remainder_seconds += start.elapsed().as_secs_f64();
        Ok(found)
    }

    /// The greatest common divisors of pairs, on the cores.
    pub(super) fn divisors(&mut self, a: &[UBig], b: &[UBig]) -> Result<Vec<UBig>> {
        let start = Instant::now();
        let bits = widest(a.iter().chain(b));
        let found = if self.has_device() || bits > VECTOR_BITS || !is_even(a.iter(), bits) {
            a.par_iter().zip(b).map(|(a, b)| a.gcd(b)).collect()
        } else {
            numbers(&self.apply(Operation::Gcd, &[&batch(a.iter(), bits)?, &batch(b.iter(), bits)?])?)
        };
        self.stages.gcd_seconds += start.elapsed().as_secs_f64();
        Ok(found)
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
        core_seconds(items, operation) > self.worth_seconds
    }
}

/// The remainder of one product, on one core. Three divisions have one divisor.
fn remainder(it: &Factors<'_>) -> UBig {
    let divisor = long::Divisor::new(it.modulus.clone());
    let [value, other] = [it.value, it.other].map(|factor| divisor.div_rem(factor).1);
    divisor.div_rem(&long::product(&value, &other)).1
}

/// The seconds that all cores would take for these operations, estimated by a few of them.
pub(super) fn core_seconds<T>(items: &[T], operation: impl Fn(&T) -> UBig) -> f64 {
    let step = items.len().div_ceil(SAMPLES).max(1);
    let samples = items.iter().step_by(step);
    let count = samples.len().max(1);
    let start = Instant::now();
    for item in samples {
        std::hint::black_box(operation(item));
    }
    start.elapsed().as_secs_f64() / count as f64 * items.len().div_ceil(rayon::current_num_threads()) as f64
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
pub(super) fn batch<'n>(numbers: impl Iterator<Item = &'n UBig>, bits: usize) -> Result<Batch<'static>> {
    let width = bits.div_ceil(32);
    let mut limbs = Vec::new();
    let mut lanes = 0;
    for number in numbers {
        let words = number.as_words().iter();
        limbs.extend(words.flat_map(|word| (0..WORD_LIMBS).map(move |place| (*word >> (32 * place)) as u32)));
        lanes += 1;
        // The last word may have one limb of zeros too many.
        limbs.resize(lanes * width, 0);
    }
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
