//! Both stages of elliptic curves on a device: a GPU or the simulator.
//!
//! ```text
//! chunk.rs   the lanes of a launch: their rows on the device, and the launches
//! first.rs   ladders in slices, checks, inverses
//! second.rs  baby steps, giant steps and pairs, block by block
//! kernels/   the kernels
//! ```
//!
//! The lanes are divided into classes of equal limbs, and these into chunks that fit on the device. A chunk has all its numbers on the
//! device from the beginning of a stage to its end. The work of a launch is bounded by time, so that a stage reports and can be
//! stopped.

mod chunk;
mod first;
mod kernels;
mod second;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::{Device, Kind, Module};
use warpmp_launch::{Geometry, Spec as _};

use super::Bounds;
use super::lane::Lane;
use super::pairing::{Counts, Pairing};
use crate::error::Result;
use kernels::{Class, Job, Kernel, SLOT_WORDS, constant, state};

/// Threads of a chunk at the least, so that the host's part is small.
const LEAST_THREADS: u32 = 1 << 18;

/// A kernel on the device, and its launch.
type Loaded = (Arc<Module>, Geometry);

/// A device, and the kernels that it has.
#[derive(Debug)]
pub(super) struct Gpu {
    device: Arc<dyn Device>,
    kernels: Mutex<BTreeMap<(Job, Class), Loaded>>,
}

/// The end of a first stage on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// `X/Z`; of no meaning if there is a divisor.
    pub(super) residue: BigUint,
    /// `gcd(Z, N)`.
    pub(super) divisor: BigUint,
    /// Does the ladder pass its check?
    pub(super) consistent: bool,
}

/// Lanes of a class that are together on the device.
struct Places {
    class: Class,
    places: Vec<usize>,
}

impl Gpu {
    pub(super) fn new(device: Arc<dyn Device>) -> Self {
        Self { device, kernels: Mutex::default() }
    }

    pub(super) fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// The longest moduli.
    pub(super) const MOST_BITS: u64 = Class::MOST_BITS;

    /// The lanes of a modulus of so many bits that fill the device.
    pub(super) fn lanes(&self, bits: u64) -> usize {
        self.filling(Class::of(bits, true, true))
    }

    /// As many lanes as the multiprocessors hold, in whole blocks; several times where they take little time.
    fn filling(&self, class: Class) -> usize {
        let layout = class.layout();
        let info = self.device.info();
        let threads = match info.kind {
            Kind::Sim => 64 * layout.group,
            Kind::Cuda => {
                let ladder = self.kernel(Job::Ladder, class).ok().and_then(|(module, _)| module.resources().registers);
                let registers = ladder.unwrap_or(10 * layout.length + 16).next_multiple_of(8);
                let block = 32 * layout.warps;
                let blocks = info.registers_per_multiprocessor / (registers * block);
                let held = blocks.clamp(1, info.threads_per_multiprocessor / block) * block * info.multiprocessors;
                held * (LEAST_THREADS / held).max(1)
            }
        };
        (threads / layout.group).next_multiple_of(32) as usize
    }

    /// The lanes of a class in a chunk, each with so many slots for points.
    fn most(&self, class: Class, slots: u32) -> Result<usize> {
        let layout = class.layout();
        let numbers = 3 + constant::COUNT + state::COUNT + 3;
        let bytes =
            4 * u64::from(numbers * class.limbs) + 4 * u64::from(layout.group * layout.length) * u64::from(slots);
        let fitting = self.device.free_bytes()? / 2 / bytes;
        Ok((fitting as usize / 32 * 32).clamp(32, self.filling(class)))
    }

    /// The chunks of all lanes, as [`class`](Self::class) has them.
    fn chunks(&self, lanes: &[Lane], first: bool, slots: u32) -> Result<Vec<Places>> {
        let mut classes: BTreeMap<Class, Vec<usize>> = BTreeMap::new();
        for (place, lane) in lanes.iter().enumerate() {
            classes.entry(Self::class(lane, first)).or_default().push(place);
        }
        let mut chunks = Vec::new();
        for (class, places) in classes {
            let most = self.most(class, slots)?;
            // Chunks of equal length: none is nearly empty.
            let each = places.len().div_ceil(places.len().div_ceil(most));
            chunks.extend(places.chunks(each).map(|places| Places { class, places: places.to_vec() }));
        }
        Ok(chunks)
    }

    /// Loads the kernels of a stage for all classes of some lanes: a driver compiles several at a time.
    fn prepare(&self, lanes: &[Lane], first: bool, jobs: &[Job]) -> Result<()> {
        let classes: BTreeSet<Class> = lanes.iter().map(|lane| Self::class(lane, first)).collect();
        let kernels: Vec<(Job, Class)> =
            classes.into_iter().flat_map(|class| jobs.iter().map(move |job| (*job, class))).collect();
        kernels.par_iter().try_for_each(|(job, class)| self.kernel(*job, *class).map(drop))
    }

    /// The class of a lane. `first`: is it for the first stage, where curves may start at 2?
    fn class(lane: &Lane, first: bool) -> Class {
        let two = first && lane.x.bits() == 2 && !lane.x.bit(0);
        Class::of(lane.n.bits(), lane.word.is_some(), two)
    }

    /// A kernel for a class.
    fn kernel(&self, job: Job, class: Class) -> Result<Loaded> {
        if let Some(loaded) = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&(job, class)) {
            return Ok(loaded.clone());
        }
        let kernel = Kernel { job, class };
        let geometry = kernel.stages()[0].geometry;
        let loaded = (self.device.load(&kernel.build(0))?, geometry);
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert((job, class), loaded.clone());
        Ok(loaded)
    }
}

/// All kernels for moduli of so many bits.
pub(super) fn kernels(bits: u64) -> Vec<warpmp_kernel::ir::Kernel> {
    let stages = [true, false].into_iter().flat_map(|word| {
        let class = move |two| Class::of(bits, word, two);
        let first = Job::FIRST.iter().map(move |job| (*job, class(true)));
        first.chain(Job::SECOND.iter().map(move |job| (*job, class(false))))
    });
    stages.map(|(job, class)| Kernel { job, class }.build(0)).collect()
}

/// The wide products of a curve of the third family in each stage, without inversions.
pub(super) fn products(bits: u64, bounds: Bounds) -> [f64; 2] {
    let class = Class::of(bits, true, true);
    let layout = class.layout();
    let [product, square] =
        [layout.products(class.limbs), layout.square_products(class.limbs)].map(|count| count as f64);
    // A row of a product by a word, and of its reduction.
    let row = 2.0 * f64::from(layout.group * layout.length);
    let exponent_bits = bounds.b1() as f64 * std::f64::consts::LOG2_E;
    let pairing = Pairing::new(bounds.b1(), bounds.b2());
    let Counts { passed, babies, giants, pairs } = pairing.counts();
    // A point is added, and normalised by four products. A baby step comes after others that are passed.
    let addition = 4.0 * product + 2.0 * square;
    let points = addition * (passed + giants) + 4.0 * product * (babies + giants);
    [exponent_bits * (4.0 * (product + square) + row), points + pairs * product]
}

impl Places {
    /// What a step of this chunk weighs: lanes times the square of their limbs.
    fn weight(&self) -> u64 {
        self.places.len() as u64 * u64::from(self.class.limbs).pow(2)
    }

    /// The lanes that are computed: whole tiles, the last lane again where there are too few.
    fn lanes<'l>(&self, lanes: &'l [Lane]) -> Vec<&'l Lane> {
        let mut all: Vec<&Lane> = self.places.iter().map(|place| &lanes[*place]).collect();
        if let Some(last) = all.last().copied() {
            all.resize(all.len().next_multiple_of(32), last);
        }
        all
    }
}

/// Words of the slots of points of a chunk.
const fn columns_words(class: Class, lanes: u32, slots: u32) -> u64 {
    let layout = class.layout();
    // Blocks are whole, so warps may come after those that have lanes; they end before they touch memory.
    let warps = (lanes * layout.group).div_ceil(32);
    warps as u64 * (SLOT_WORDS * layout.length) as u64 * slots as u64
}
