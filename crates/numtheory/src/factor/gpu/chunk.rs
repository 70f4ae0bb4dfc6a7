//! The lanes of a launch: their rows on the device, and the launches.

use std::ops::{Deref, Range};
use std::sync::Arc;

use num_bigint::BigUint;
use warpmp_device::{Buffer, Device, Stream};
use warpmp_launch::{Arguments as _, At, RowArguments};

use super::kernels::{Class, Job, constant, state};
use super::lanes::{Places, Read};
use super::memory::{HostRows, Lease};
use super::{Gpu, columns_words};
use crate::error::Result;
use crate::factor::Stage;
use crate::factor::lane::{Lane, Line, Parameter};

/// So many numbers are brought from the device one by one. A copy takes as long as some 100 KB of a longer one.
const FEW_NUMBERS: usize = 16;

/// Lanes on the device.
pub(super) struct Chunk<'g> {
    gpu: &'g Gpu,
    pub(super) device: &'g Arc<dyn Device>,
    pub(super) stream: Stream,
    pub(super) class: Class,
    /// Lanes that are wanted, and lanes that are computed.
    pub(super) wanted: usize,
    pub(super) lanes: u32,
    /// Lanes of a launch, where these take turns.
    pub(super) window: u32,
    pub(super) constants: Lease<'g>,
    pub(super) state: Lease<'g>,
    pub(super) total: Lease<'g>,
    /// The divisors that each stage has found.
    pub(super) found: [Lease<'g>; 2],
    /// Not 0: Suyama's parameter gives no curve, or has shown a divisor.
    pub(super) curve: Lease<'g>,
    /// Not 0: the ladder did not pass its check.
    pub(super) status: Lease<'g>,
    /// The ends of the lanes: see [`mark`](super::kernels::mark).
    verdict: Lease<'g>,
    pub(super) residue: Lease<'g>,
    pub(super) columns: Lease<'g>,
    pub(super) stage: Stage,
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

/// Writes the numbers of a lane into its row: the modulus, and what is [given](super::kernels::Given).
fn write(row: &mut [u32], limbs: usize, lane: &Lane<'_>) {
    let (modulus, given) = row.split_at_mut(limbs);
    put(modulus, lane.n);
    match &lane.parameter {
        Parameter::D(d) => {
            let (start, last) = given.split_at_mut(limbs);
            put(start, &lane.x);
            put(last, d);
        }
        Parameter::Word(word) => given[0] = *word,
        Parameter::Suyama(sigma) if sigma.value() < lane.n => put(given, sigma.value()),
        Parameter::Suyama(sigma) => put(given, &(sigma.value() % lane.n)),
    }
}

/// Writes a number, which the limbs hold.
fn put(limbs: &mut [u32], number: &BigUint) {
    let mut digits = number.iter_u64_digits();
    for pair in limbs.chunks_mut(2) {
        let digit = digits.next().unwrap_or(0);
        for (limb, word) in pair.iter_mut().zip([digit as u32, (digit >> 32) as u32]) {
            *limb = word;
        }
    }
}

impl<'g> Chunk<'g> {
    /// Brings the lanes to the device. `slots`: the points of each lane that there is room for in a second stage.
    pub(super) fn new(gpu: &'g Gpu, places: &Places<'_>, lane: Read<'_, '_>, slots: u32) -> Result<Self> {
        let class = places.class;
        // Whole tiles: the last lane is computed again where there are too few.
        let wanted = places.count();
        let count = wanted.next_multiple_of(32);
        let memory = |words: u64| gpu.memory.take(4 * words.max(1));
        let rows = |numbers: u32| memory(count as u64 * u64::from(numbers * class.limbs));
        let (limbs, row) = (class.limbs as usize, places.kind.given().row_limbs(class.limbs) as usize);
        let mut words = gpu.memory.rows(row * count)?;
        places.write(&mut words[..row * wanted], row, |place, row| write(row, limbs, &lane(place)));
        for further in wanted..count {
            words.copy_within(row * (wanted - 1)..row * wanted, row * further);
        }
        let chunk = Self {
            stream: gpu.device().stream()?,
            wanted,
            lanes: count as u32,
            window: gpu.window(class, count as u32),
            constants: rows(constant::COUNT)?,
            state: rows(state::COUNT)?,
            total: rows(1)?,
            found: [rows(1)?, rows(1)?],
            curve: memory(count as u64)?,
            status: memory(count as u64)?,
            verdict: memory(count as u64)?,
            residue: rows(1)?,
            columns: memory(columns_words(class, count as u32, slots))?,
            gpu,
            device: gpu.device(),
            class,
            stage: Stage::First,
        };
        let plain = chunk.upload(&words)?;
        let enter = if places.kind.suyama { Job::SuyamaEnter } else { Job::Enter };
        chunk.launch(enter, &[&*plain, &chunk.constants, &chunk.state, chunk.found()].map(At::from))?;
        drop(plain);
        drop(words);
        if places.kind.suyama {
            chunk.launch(Job::SuyamaBottom, &[&*chunk.constants, &chunk.total].map(At::from))?;
            chunk.invert()?;
            let rows = [&*chunk.total, chunk.found(), &chunk.constants, &chunk.curve].map(At::from);
            chunk.launch(Job::SuyamaStart, &rows)?;
        } else {
            chunk.device.fill(&chunk.stream, &chunk.curve, 0, 0, count)?;
        }
        Ok(chunk)
    }

    /// The residues of the first stage become the starts of the second one.
    pub(super) fn restart(&mut self) -> Result<()> {
        if self.class.line == Line::Power {
            let words = (self.lanes * self.class.limbs) as usize;
            self.device.copy(&self.stream, &self.residue, 0, &self.total, 0, words)?;
            self.invert()?;
        }
        self.stage = Stage::Second;
        self.launch(Job::Restart, &[&*self.residue, &self.total, &self.constants, self.found()].map(At::from))?;
        self.class = self.class.after();
        Ok(())
    }

    /// Words for all lanes.
    pub(super) fn upload(&self, words: &[u32]) -> Result<Common<'_>> {
        let memory = self.gpu.memory.take(4 * words.len().max(1) as u64)?;
        self.device.upload(&self.stream, words, &memory, 0)?;
        Ok(Common { memory, device: self.device, stream: &self.stream })
    }

    /// Launches a kernel: operands, then results.
    pub(super) fn launch(&self, job: Job, rows: &[At<'_>]) -> Result<()> {
        self.launch_lanes(job, self.lanes, rows)
    }

    /// The same for so many lanes: those whose rows come first, or those of a turn.
    pub(super) fn launch_lanes(&self, job: Job, lanes: u32, rows: &[At<'_>]) -> Result<()> {
        let (module, geometry) = self.gpu.kernel(job, self.class)?;
        let arguments = RowArguments { rows: rows.to_vec(), lanes, scratch: None };
        Ok(arguments.launch(&**self.device, &self.stream, &module, geometry.grid(lanes))?)
    }

    /// The lanes of the next turn, from lane `first` on; after the last lane come the first ones again. `goes_on`: does another part of the job
    /// follow this one?
    pub(super) fn turn(&self, first: u32, goes_on: bool) -> Range<u32> {
        first..first + if goes_on { self.window } else { self.window.min(self.lanes - first) }
    }

    /// The control words of kernels that take turns: of this part of the job, and of the next one, which is for the lanes after the last lane.
    pub(super) fn turn_control<const WORDS: usize>(
        &self,
        lanes: &Range<u32>,
        [here, next]: [[u32; WORDS]; 2],
    ) -> Result<Common<'_>> {
        if self.class.is_few() {
            self.upload(&[&[lanes.start, self.lanes], &here[..], &next].concat())
        } else {
            self.upload(&here)
        }
    }

    /// Where the numbers of a state begin with this one.
    pub(super) fn state_from(&self, number: u32) -> At<'_> {
        At::word(&self.state, (number * self.class.limbs) as usize)
    }

    /// The inverse of the total in its place; divisors are noted.
    pub(super) fn invert(&self) -> Result<()> {
        self.invert_lanes(&(0..self.lanes))
    }

    /// The same for the lanes of a turn. The kernel does not know of turns.
    pub(super) fn invert_lanes(&self, lanes: &Range<u32>) -> Result<()> {
        let wrapped = lanes.end.saturating_sub(self.lanes);
        for part in [lanes.start..lanes.end - wrapped, 0..wrapped].into_iter().filter(|part| !part.is_empty()) {
            let at = |buffer, numbers: u32| At::word(buffer, (part.start * numbers * self.class.limbs) as usize);
            let rows = [at(&*self.constants, constant::COUNT), at(&self.total, 1), at(self.found(), 1)];
            self.launch_lanes(Job::Invert, part.end - part.start, &rows)?;
        }
        Ok(())
    }

    /// The divisors of the stage that the chunk is in.
    fn found(&self) -> &Buffer {
        &self.found[self.stage as usize]
    }

    /// The ends of both stages, or of the first one if there was no second.
    pub(super) fn marks(&self) -> Result<HostRows<'_>> {
        let rows = [&*self.found[0], self.found(), &self.curve, &self.status, &self.verdict].map(At::from);
        self.launch(Job::Verdict, &rows)?;
        self.words(&self.verdict, self.wanted)
    }

    /// The divisors of a stage, of these lanes.
    pub(super) fn divisors(&self, stage: Stage, lanes: &[usize]) -> Result<Vec<BigUint>> {
        self.numbers_of(&self.found[stage as usize], lanes)
    }

    /// The residues of the first stage, of these lanes.
    pub(super) fn residues_of(&self, lanes: &[usize]) -> Result<Vec<BigUint>> {
        self.numbers_of(&self.residue, lanes)
    }

    /// A number of some lanes: of a few each by itself, else of all lanes at once.
    fn numbers_of(&self, buffer: &Lease<'_>, lanes: &[usize]) -> Result<Vec<BigUint>> {
        let limbs = self.class.limbs as usize;
        if lanes.len() > FEW_NUMBERS {
            let all = self.numbers(buffer)?;
            return Ok(lanes.iter().map(|lane| BigUint::from_slice(&all[lane * limbs..(lane + 1) * limbs])).collect());
        }
        let number = |lane: &usize| {
            let mut words = vec![0; limbs];
            self.device.download(&self.stream, buffer, lane * limbs, &mut words)?;
            Ok(BigUint::from_slice(&words))
        };
        lanes.iter().map(number).collect()
    }

    /// A number of each lane that is wanted, as limbs.
    pub(super) fn numbers(&self, buffer: &Lease<'_>) -> Result<HostRows<'_>> {
        self.words(buffer, self.wanted * self.class.limbs as usize)
    }

    fn words(&self, buffer: &Lease<'_>, count: usize) -> Result<HostRows<'_>> {
        let mut words = self.gpu.memory.rows(count)?;
        self.device.download(&self.stream, buffer, 0, &mut words)?;
        Ok(words)
    }
}
