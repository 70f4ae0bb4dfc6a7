//! Walks on a device: a GPU or the simulator.

mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use warpmp_device::{Buffer, Device, DeviceInfo, Kind, Module, Stream};
use warpmp_launch::{Arguments as _, At};

use crate::cpu;
use crate::error::Result;
use crate::field::integer;
use crate::kernels::walk::HEADER_WORDS;
use crate::kernels::{Constants, begin, escape, starts, walk};
use crate::meetings::Distinguished;
use crate::search::{Walks, hash_of, limbs_of};
use crate::walk::{BLOCK, LOOK, Spot, Walk};

/// How the walks are laid out on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Blocks, one a multiprocessor.
    pub blocks: u32,
    /// Threads a block.
    pub threads: u32,
    /// Points a thread: they share an inversion.
    pub points: u32,
    /// Records that a report has room for.
    pub capacity: u32,
}

/// Threads a block at most. With 1024 threads instead of 768 fields of three to five limbs have 1.03 to 1.11 times the speed.
const THREADS: u32 = 1024;

/// The four schedulers of a multiprocessor get equally many warps: otherwise a field of five limbs has 0.92 of the speed.
const THREADS_STEP: u32 = 128;

/// A pool has starts for this many launches.
const POOL: u32 = 4;

/// The most points a thread. More make the share of an inversion no smaller that counts.
const POINTS: u32 = 256;

impl Layout {
    /// Walks at once.
    pub fn walks(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.threads) * u64::from(self.points)
    }

    /// Groups of walks for the processor's cores, not too many for so many expected steps.
    pub(crate) fn cpu(expected: f64) -> Self {
        let groups = 4 * rayon::current_num_threads() as u32;
        let points = (expected / 256.0).clamp(1.0, f64::from(groups) * cpu::GROUP as f64) as u32;
        Self { blocks: 1, threads: 1, points, capacity: 0 }
    }

    /// Walks for a device: a block a multiprocessor, as many points a thread as memory allows and as are useful, by the number of
    /// threads.
    pub(crate) fn on(info: &DeviceInfo, limbs: u32, useful: impl FnOnce(f64) -> f64) -> Self {
        let (blocks, threads) = match info.kind {
            Kind::Sim => (1, 32),
            Kind::Cuda => {
                let fitting = info.registers_per_multiprocessor / (10 * limbs + 10);
                (info.multiprocessors, THREADS.min(fitting / THREADS_STEP * THREADS_STEP).max(THREADS_STEP))
            }
        };
        let columns = f64::from(blocks * threads);
        let room = info.memory_bytes as f64 / 2.0 / columns / f64::from(32 * limbs + 8);
        let points = useful(columns).min(room).clamp(1.0, f64::from(POINTS)) as u32;
        Self { blocks, threads, points, capacity: 0 }
    }

    /// The same with room for the reports of a launch.
    pub fn with_room(self, rounds: u32, distinguished_bits: u32) -> Self {
        let expected = self.walks() as f64 * f64::from(rounds) / f64::from(distinguished_bits).exp2();
        Self { capacity: (1.5 * expected + 4096.0).min(f64::from(1 << 24)) as u32, ..self }
    }
}

/// The walks of a device.
#[derive(Debug)]
pub(crate) struct Engine<const W: usize> {
    device: Arc<dyn Device>,
    stream: Stream,
    kernel: walk::Walk,
    plain: Arc<Module>,
    watched: Arc<Module>,
    escape: Arc<Module>,
    state: Buffer,
    earlier: Buffer,
    smallest: Buffer,
    count: Buffer,
    table: Buffer,
    seeds: Buffer,
    report: Buffer,
    capacity: u32,
    pool: Pool<W>,
    /// Rounds so far.
    rounds: u64,
    /// Rounds since the last look for long cycles, and between two looks.
    unwatched: u32,
    rhythm: u32,
}

/// Starts on the device.
#[derive(Debug)]
struct Pool<const W: usize> {
    walk: Arc<Walk<W>>,
    module: Arc<Module>,
    firsts: Buffer,
    seconds: Buffer,
    starts: Buffer,
    /// Blocks of starts that it holds.
    blocks: u32,
    /// The first block that it holds.
    first: u64,
    /// The first block that no pool has held.
    next: u64,
    /// Starts taken from it.
    taken: u32,
}

impl<const W: usize> Engine<W> {
    /// The walks of the starts from block `first` on.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn new(device: &Arc<dyn Device>, walk: &Arc<Walk<W>>, layout: Layout, first: u64) -> Result<Self> {
        let Layout { blocks, threads, points, capacity } = layout;
        let kernel = walk::Walk {
            constants: Constants::new(integer(&walk.field.p), integer(&walk.a), walk.limbs),
            branch_bits: walk.settings.branch_bits,
            distinguished_bits: walk.settings.distinguished_bits,
            shift: walk.shift,
            points,
            threads,
            blocks,
            watched: false,
        };
        let stream = device.stream()?;
        let walks = u64::from(kernel.walks());
        let number = 4 * u64::from(walk.limbs);
        let room = (POOL * capacity).max(blocks * threads).div_ceil(BLOCK as u32);
        let pool = Pool::new(&**device, &stream, walk, &kernel, room, first)?;
        let record = 4 * kernel.record_words() as u64;
        let entries = kernel.entries();
        let mut words = vec![0; 2 * (entries.limbs * entries.stride) as usize];
        for (i, entry) in walk.table.iter().enumerate() {
            for (coordinate, number) in [entry.x, entry.y].iter().enumerate() {
                for (limb, word) in limbs_of(number, walk.limbs).enumerate() {
                    words[entries.word(coordinate as u32, i as u32, limb as u32)] = word;
                }
            }
        }
        let mut engine = Self {
            plain: device.load(&kernel.build())?,
            watched: device.load(&walk::Walk { watched: true, ..kernel.clone() }.build())?,
            escape: device.load(&escape::build(&kernel))?,
            state: device.alloc(3 * number * walks)?,
            earlier: device.alloc(3 * number * walks)?,
            smallest: device.alloc(2 * number * walks)?,
            count: device.alloc(16)?,
            table: upload(&**device, &stream, &words)?,
            seeds: device.alloc(8 * walks)?,
            report: device.alloc(4 * HEADER_WORDS as u64 + record * u64::from(capacity))?,
            device: device.clone(),
            capacity,
            kernel,
            stream,
            pool,
            rounds: 0,
            unwatched: 0,
            rhythm: walk.settings.rhythm(),
        };
        engine.begin()?;
        Ok(engine)
    }

    /// Gives every walk its first start.
    fn begin(&mut self) -> Result<()> {
        let device = &*self.device;
        let module = device.load(&begin::build(&self.kernel))?;
        let columns = self.kernel.columns();
        let row = self.row_words();
        for point in 0..self.kernel.points as usize {
            if self.pool.left() < columns.stride {
                self.pool.refill(device, &self.stream)?;
            }
            let walks = point * columns.stride as usize;
            let arguments = begin::Arguments {
                state: At::word(&self.state, point * row),
                seeds: At::word(&self.seeds, 2 * walks),
                pool: self.pool.at(),
                first: self.pool.next_start(),
            };
            arguments.launch(device, &self.stream, &module, escape::grid(&self.kernel))?;
            self.pool.taken += columns.stride;
        }
        Ok(())
    }

    /// [`LOOK`] rounds, after which walks in long cycles leave them. The reports, and how many walks left a cycle.
    fn look(&mut self) -> Result<(Vec<Distinguished>, u32)> {
        let device = &*self.device;
        device.copy(&self.stream, &self.state, 0, &self.earlier, 0, self.state.words())?;
        device.fill(&self.stream, &self.smallest, 0, u32::MAX, self.smallest.words())?;
        self.launch(LOOK, true)?;
        let device = &*self.device;
        device.fill(&self.stream, &self.count, 0, 0, 1)?;
        let arguments = escape::Arguments {
            state: (&self.state).into(),
            earlier: (&self.earlier).into(),
            smallest: (&self.smallest).into(),
            count: (&self.count).into(),
        };
        arguments.launch(device, &self.stream, &self.escape, escape::grid(&self.kernel))?;
        let mut left = [0];
        device.download(&self.stream, &self.count, 0, &mut left)?;
        Ok((self.collect()?, left[0]))
    }

    fn launch(&mut self, rounds: u32, watched: bool) -> Result<()> {
        let device = &*self.device;
        // A launch takes about as many starts as it has reports. Walks without a start take one later.
        if self.pool.left() < self.capacity {
            self.pool.refill(device, &self.stream)?;
        }
        device.fill(&self.stream, &self.report, 0, 0, HEADER_WORDS)?;
        let arguments = walk::Arguments {
            state: (&self.state).into(),
            table: (&self.table).into(),
            seeds: (&self.seeds).into(),
            pool: self.pool.at(),
            first: self.pool.next_start(),
            size: self.pool.left(),
            report: (&self.report).into(),
            capacity: self.capacity,
            rounds,
            smallest: watched.then(|| (&self.smallest).into()),
        };
        let module = if watched { &self.watched } else { &self.plain };
        arguments.launch(device, &self.stream, module, self.kernel.grid())?;
        self.rounds += u64::from(rounds);
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<Distinguished>> {
        let mut counters = [0; 2];
        self.device.download(&self.stream, &self.report, 0, &mut counters)?;
        let [count, taken] = counters;
        self.pool.taken += taken.min(self.pool.left());
        let record = self.kernel.record_words();
        let mut words = vec![0; count.min(self.capacity) as usize * record];
        self.device.download(&self.stream, &self.report, HEADER_WORDS, &mut words)?;
        let point = |words: &[u32]| Distinguished {
            start: u64::from(words[0]) | u64::from(words[1]) << 32,
            hash: hash_of(words[2..].iter().copied()),
        };
        Ok(words.chunks(record).map(point).collect())
    }
}

impl<const W: usize> Walks for Engine<W> {
    fn advance(&mut self, rounds: u32, meanwhile: &mut dyn FnMut()) -> Result<Vec<Distinguished>> {
        self.launch(rounds, false)?;
        meanwhile();
        let mut reports = self.collect()?;
        self.unwatched += rounds;
        if self.unwatched >= self.rhythm {
            reports.extend(self.look()?.0);
            self.unwatched = 0;
        }
        Ok(reports)
    }

    fn steps(&self) -> u64 {
        self.rounds * u64::from(self.kernel.walks())
    }

    fn walks(&self) -> u64 {
        self.kernel.walks().into()
    }

    fn next_block(&self) -> u64 {
        self.pool.next
    }

    fn suspend(&mut self, each: &mut dyn FnMut(&[u32])) -> Result<()> {
        self.show_walks(each)
    }

    fn resume(&mut self, walks: &[u32]) -> Result<usize> {
        self.set_walks(walks)
    }
}

impl<const W: usize> Pool<W> {
    fn new(
        device: &dyn Device,
        stream: &Stream,
        walk: &Arc<Walk<W>>,
        kernel: &walk::Walk,
        blocks: u32,
        first: u64,
    ) -> Result<Self> {
        let row = 8 * u64::from(walk.limbs);
        let starts = device.alloc(row * BLOCK * u64::from(blocks))?;
        Ok(Self {
            module: device.load(&starts::build(&kernel.constants))?,
            firsts: upload(device, stream, &rows(walk.limbs, walk.first_points()))?,
            seconds: device.alloc(row * u64::from(blocks))?,
            walk: walk.clone(),
            starts,
            blocks,
            first,
            next: first,
            // Nothing is in it yet.
            taken: blocks * BLOCK as u32,
        })
    }

    /// Starts that are left.
    fn left(&self) -> u32 {
        self.blocks * BLOCK as u32 - self.taken
    }

    /// Where the next start lies.
    fn at(&self) -> At<'_> {
        At::word(&self.starts, self.taken as usize * 2 * self.walk.limbs as usize)
    }

    /// The number of the next start.
    fn next_start(&self) -> u64 {
        self.first * BLOCK + u64::from(self.taken)
    }

    /// New starts.
    fn refill(&mut self, device: &dyn Device, stream: &Stream) -> Result<()> {
        self.first = self.next;
        self.next += u64::from(self.blocks);
        self.taken = 0;
        let seconds = self.walk.second_points(self.first..self.next);
        device.upload(stream, &rows(self.walk.limbs, seconds.iter()), &self.seconds, 0)?;
        let starts = self.blocks * BLOCK as u32;
        let arguments = starts::Arguments {
            firsts: (&self.firsts).into(),
            seconds: (&self.seconds).into(),
            pool: (&self.starts).into(),
            threads: starts / starts::EACH,
        };
        Ok(arguments.launch(device, stream, &self.module, starts::grid(starts))?)
    }
}

/// Rows of `x` and `y`.
fn rows<'s, const W: usize>(limbs: u32, spots: impl Iterator<Item = &'s Spot<W>>) -> Vec<u32> {
    spots.flat_map(|spot| limbs_of(&spot.x, limbs).chain(limbs_of(&spot.y, limbs)).collect::<Vec<_>>()).collect()
}

fn upload(device: &dyn Device, stream: &Stream, words: &[u32]) -> Result<Buffer> {
    let buffer = device.alloc(4 * words.len() as u64)?;
    device.upload(stream, words, &buffer, 0)?;
    Ok(buffer)
}
