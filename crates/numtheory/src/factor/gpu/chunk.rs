//! The lanes of a launch: their rows on the device, and the launches.

use std::sync::Arc;

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Stream};
use warpmp_launch::{Arguments as _, At, RowArguments};

use super::kernels::{Class, Job, constant, state};
use super::{Gpu, Places, columns_words};
use crate::error::Result;
use crate::factor::lane::Lane;

/// Words of a control row.
const CONTROL: usize = 5;

/// Lanes on the device.
pub(super) struct Chunk<'g> {
    gpu: &'g Gpu,
    pub(super) device: Arc<dyn Device>,
    pub(super) stream: Stream,
    pub(super) class: Class,
    /// Lanes that are wanted, and lanes that are computed.
    wanted: usize,
    lanes: u32,
    pub(super) constants: Buffer,
    pub(super) state: Buffer,
    pub(super) total: Buffer,
    pub(super) found: Buffer,
    pub(super) status: Buffer,
    pub(super) residue: Buffer,
    pub(super) columns: Buffer,
}

/// Words that all lanes have in common.
pub(super) struct Common(pub(super) Buffer);

impl<'g> Chunk<'g> {
    /// Brings the lanes to the device. `slots`: the points of each lane that there is room for.
    pub(super) fn new(gpu: &'g Gpu, places: &Places, lanes: &[Lane], slots: u32) -> Result<Self> {
        let class = places.class;
        let all = places.lanes(lanes);
        let (device, count) = (gpu.device.clone(), all.len() as u32);
        let rows = |numbers: u32| device.alloc(4 * u64::from(count) * u64::from(numbers * class.limbs));
        let (limbs, row) = (class.limbs as usize, 3 * class.limbs as usize);
        let mut words = vec![0; row * all.len()];
        words.par_chunks_mut(row).zip(&all).for_each(|(row, lane)| {
            let word = lane.word.filter(|_| class.word).map(BigUint::from);
            let numbers = [&lane.n, &lane.x, word.as_ref().unwrap_or(&lane.d)];
            for (to, number) in row.chunks_mut(limbs).zip(numbers) {
                for (to, digit) in to.iter_mut().zip(number.iter_u32_digits()) {
                    *to = digit;
                }
            }
        });
        let chunk = Self {
            stream: device.stream()?,
            wanted: places.places.len(),
            lanes: count,
            constants: rows(constant::COUNT)?,
            state: rows(state::COUNT)?,
            total: rows(1)?,
            found: rows(1)?,
            status: device.alloc(4 * u64::from(count))?,
            residue: rows(1)?,
            columns: device.alloc(4 * columns_words(class, count, slots).max(1))?,
            gpu,
            device,
            class,
        };
        let plain = chunk.upload(&words)?;
        chunk.launch(Job::Enter, &[&plain.0, &chunk.constants, &chunk.state, &chunk.found].map(At::from))?;
        // The plain numbers are read before their memory is given back.
        chunk.device.synchronize(&chunk.stream)?;
        Ok(chunk)
    }

    /// Words for all lanes.
    pub(super) fn upload(&self, words: &[u32]) -> Result<Common> {
        let buffer = self.device.alloc(4 * words.len().max(1) as u64)?;
        self.device.upload(&self.stream, words, &buffer, 0)?;
        Ok(Common(buffer))
    }

    /// A control row.
    pub(super) fn control(&self, words: [u32; CONTROL]) -> Result<Common> {
        self.upload(&words)
    }

    /// Launches a kernel: operands, then results.
    pub(super) fn launch(&self, job: Job, rows: &[At<'_>]) -> Result<()> {
        let (module, geometry) = self.gpu.kernel(job, self.class)?;
        let arguments = RowArguments { rows: rows.to_vec(), lanes: self.lanes, scratch: None };
        Ok(arguments.launch(&*self.device, &self.stream, &module, geometry.grid(self.lanes))?)
    }

    /// Where the numbers of a state begin with this one.
    pub(super) fn state_from(&self, number: u32) -> At<'_> {
        At::word(&self.state, (number * self.class.limbs) as usize)
    }

    /// The inverse of the total in its place; divisors are noted.
    pub(super) fn invert(&self) -> Result<()> {
        self.launch(Job::Invert, &[&self.constants, &self.total, &self.found].map(At::from))
    }

    /// A number of each lane that is wanted.
    pub(super) fn numbers(&self, buffer: &Buffer) -> Result<Vec<BigUint>> {
        let limbs = self.class.limbs as usize;
        let words = self.words(buffer, self.wanted * limbs)?;
        Ok(words.par_chunks(limbs).map(BigUint::from_slice).collect())
    }

    /// The status of each lane that is wanted.
    pub(super) fn statuses(&self) -> Result<Vec<u32>> {
        self.words(&self.status, self.wanted)
    }

    fn words(&self, buffer: &Buffer, count: usize) -> Result<Vec<u32>> {
        let mut words = vec![0; count];
        self.device.download(&self.stream, buffer, 0, &mut words)?;
        Ok(words)
    }
}
