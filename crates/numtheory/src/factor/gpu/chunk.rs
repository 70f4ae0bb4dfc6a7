//! The lanes of a launch: their rows on the device, and the launches.

use std::ops::Deref;
use std::sync::Arc;

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Stream};
use warpmp_launch::{Arguments as _, At, RowArguments};

use super::cards::Places;
use super::kernels::{Class, Job, constant, state};
use super::memory::Lease;
use super::{Gpu, columns_words};
use crate::error::Result;
use crate::factor::lane::{Lane, Line, Parameter};

/// Words of a control row.
const CONTROL: usize = 5;
/// Lanes that a thread of the host takes in one go.
pub(super) const PIECE: usize = 512;

/// Lanes on the device.
pub(super) struct Chunk<'g> {
    gpu: &'g Gpu,
    pub(super) device: &'g Arc<dyn Device>,
    pub(super) stream: Stream,
    pub(super) class: Class,
    /// Lanes that are wanted, and lanes that are computed.
    pub(super) wanted: usize,
    lanes: u32,
    pub(super) constants: Lease<'g>,
    pub(super) state: Lease<'g>,
    pub(super) total: Lease<'g>,
    pub(super) found: Lease<'g>,
    pub(super) status: Lease<'g>,
    pub(super) residue: Lease<'g>,
    pub(super) columns: Lease<'g>,
    /// The lanes whose parameter gives no curve, or whose curve has shown a divisor.
    pub(super) faults: Vec<usize>,
}

impl Drop for Chunk<'_> {
    /// Waits for the work on its memory, which others take then. After an error there may be some.
    fn drop(&mut self) {
        // A device that cannot say when its work ends does no work any more.
        let _ = self.device.synchronize(&self.stream);
    }
}

/// Words that all lanes have in common.
pub(super) struct Common<'c> {
    memory: Lease<'c>,
    device: &'c Arc<dyn Device>,
    stream: &'c Stream,
}

impl Deref for Common<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.memory
    }
}

impl Drop for Common<'_> {
    /// As a chunk's.
    fn drop(&mut self) {
        let _ = self.device.synchronize(self.stream);
    }
}

/// Writes the numbers of a lane as limbs into its row: the modulus, the start, and the number that tells the curve.
fn write(row: &mut [u32], limbs: usize, lane: &Lane<'_>) {
    let put = |to: &mut [u32], number: &BigUint| {
        for (to, digit) in to.iter_mut().zip(number.iter_u32_digits()) {
            *to = digit;
        }
    };
    let (modulus, rest) = row.split_at_mut(limbs);
    let (start, last) = rest.split_at_mut(limbs);
    put(modulus, lane.n);
    put(start, &lane.x);
    match &lane.parameter {
        Parameter::D(d) => put(last, d),
        Parameter::Word(word) => last[0] = *word,
        Parameter::Suyama(sigma) if sigma.value() < lane.n => put(last, sigma.value()),
        Parameter::Suyama(sigma) => put(last, &(sigma.value() % lane.n)),
    }
}

impl<'g> Chunk<'g> {
    /// Brings the lanes to the device. `slots`: the points of each lane that there is room for in a second stage.
    pub(super) fn new(gpu: &'g Gpu, places: &Places, lanes: &[&Lane<'_>], slots: u32) -> Result<Self> {
        let class = places.kind.class;
        // Whole tiles: the last lane is computed again where there are too few.
        let wanted = places.places.len();
        let count = wanted.next_multiple_of(32);
        let memory = |words: u64| gpu.memory.take(4 * words.max(1));
        let rows = |numbers: u32| memory(count as u64 * u64::from(numbers * class.limbs));
        let (limbs, row) = (class.limbs as usize, 3 * class.limbs as usize);
        let mut words = vec![0; row * count];
        words.par_chunks_mut(row).enumerate().with_min_len(PIECE).for_each(|(place, row)| {
            write(row, limbs, lanes[places.places[place.min(wanted - 1)]]);
        });
        let mut chunk = Self {
            stream: gpu.device().stream()?,
            wanted,
            lanes: count as u32,
            constants: rows(constant::COUNT)?,
            state: rows(state::COUNT)?,
            total: rows(1)?,
            found: rows(1)?,
            status: memory(count as u64)?,
            residue: rows(1)?,
            columns: memory(columns_words(class, count as u32, slots))?,
            gpu,
            device: gpu.device(),
            class,
            faults: Vec::new(),
        };
        let plain = chunk.upload(&words)?;
        chunk.launch(Job::Enter, &[&*plain, &chunk.constants, &chunk.state, &chunk.found].map(At::from))?;
        drop(plain);
        if places.kind.suyama {
            chunk.curves_of_suyama()?;
        }
        Ok(chunk)
    }

    /// The curves from Suyama's parameters.
    fn curves_of_suyama(&mut self) -> Result<()> {
        self.launch(Job::SuyamaBottom, &[&*self.constants, &self.total].map(At::from))?;
        self.invert()?;
        self.launch(Job::SuyamaStart, &[&*self.total, &self.found, &self.constants, &self.status].map(At::from))?;
        let statuses = self.words(&self.status, self.wanted)?;
        self.faults = (0..self.wanted).into_par_iter().filter(|place| statuses[*place] != 0).collect();
        Ok(())
    }

    /// The residues of the first stage become the starts of the second one.
    pub(super) fn restart(&mut self) -> Result<()> {
        if self.class.line == Line::Power {
            let words = (self.lanes * self.class.limbs) as usize;
            self.device.copy(&self.stream, &self.residue, 0, &self.total, 0, words)?;
            self.invert()?;
        }
        self.launch(Job::Restart, &[&*self.residue, &self.total, &self.constants, &self.found].map(At::from))?;
        self.class = self.class.after();
        Ok(())
    }

    /// Words for all lanes.
    pub(super) fn upload(&self, words: &[u32]) -> Result<Common<'_>> {
        let memory = self.gpu.memory.take(4 * words.len().max(1) as u64)?;
        self.device.upload(&self.stream, words, &memory, 0)?;
        Ok(Common { memory, device: self.device, stream: &self.stream })
    }

    /// A control row.
    pub(super) fn control(&self, words: [u32; CONTROL]) -> Result<Common<'_>> {
        self.upload(&words)
    }

    /// Launches a kernel: operands, then results.
    pub(super) fn launch(&self, job: Job, rows: &[At<'_>]) -> Result<()> {
        let (module, geometry) = self.gpu.kernel(job, self.class)?;
        let arguments = RowArguments { rows: rows.to_vec(), lanes: self.lanes, scratch: None };
        Ok(arguments.launch(&**self.device, &self.stream, &module, geometry.grid(self.lanes))?)
    }

    /// Where the numbers of a state begin with this one.
    pub(super) fn state_from(&self, number: u32) -> At<'_> {
        At::word(&self.state, (number * self.class.limbs) as usize)
    }

    /// The inverse of the total in its place; divisors are noted.
    pub(super) fn invert(&self) -> Result<()> {
        self.launch(Job::Invert, &[&*self.constants, &self.total, &self.found].map(At::from))
    }

    /// A number of each lane that is wanted, as limbs.
    pub(super) fn numbers(&self, buffer: &Lease<'_>) -> Result<Vec<u32>> {
        self.words(buffer, self.wanted * self.class.limbs as usize)
    }

    pub(super) fn words(&self, buffer: &Lease<'_>, count: usize) -> Result<Vec<u32>> {
        let mut words = vec![0; count];
        self.device.download(&self.stream, buffer, 0, &mut words)?;
        Ok(words)
    }
}

/// Is it 1?
pub(super) fn is_one(limbs: &[u32]) -> bool {
    limbs[0] == 1 && limbs[1..].iter().all(|limb| *limb == 0)
}
