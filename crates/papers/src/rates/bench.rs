//! Numbers a second by Algorithms 5 and 6, with the dissertation's workload, and by ours.

use std::{hint::black_box, sync::Arc, time::Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpmp::device::{Buffer, Device, Error as DeviceError};
use warpmp_collatz::{
    Error as CollatzError,
    cpu::{Cpu, PaperDelays as CpuDelays},
    dfs,
    engine::{Control, Engine as _},
    gpu::{
        Gpu, Settings as GpuSettings,
        delay::{Delays, SETTINGS as POOLS, Starts},
        delay_paper::PaperDelays as GpuDelays,
        honda::Honda,
    },
    honda,
    kernels::{
        delay::{Delay, Source},
        honda::{Begin, Honda as HondaKernel, Place, STARTS_PER_RESIDUE},
    },
    number::trace,
    window::Window,
};

use super::{Kind, Machine, Measure, On};
use crate::{
    error::{Error, Result},
    watch::Settings,
};

/// What one measurement may take, roughly.
const SECONDS: f64 = 2.0;
/// Threads of a block, as in the paper: 2⁸ values of the top bits.
const THREADS: u32 = 256;
/// Numbers of a run on one core, where nothing else is said: a second or two.
const CPU_CONVERGENCE: usize = 1 << 32;
const CPU_DELAYS: usize = 1 << 22;
/// Delays of a run on a GPU.
const GPU_DELAYS: usize = 1 << 26;
/// Table S on the CPU: beyond, it takes minutes and gigabytes.
const CPU_SIEVE_BITS: u32 = 32;
/// Numbers of a window of the default scheme, and of the campaign that its plan is chosen for.
const GPU_WINDOW: u128 = 1 << 44;
const GPU_CAMPAIGN: u128 = 1 << 54;
const CPU_WINDOW: u128 = 1 << 36;
/// Delays that are compared with single steps before anything is timed.
const CHECKED: usize = 100;

/// A rate.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) algorithm: String,
    /// The mean of the runs, and the middle one.
    pub(super) per_second: f64,
    pub(super) median: f64,
    pub(super) runs: usize,
    /// Of one run.
    pub(super) numbers: usize,
    pub(super) checked: Option<u64>,
}

/// The machine, and what rows have in common.
pub(super) struct Bench<'w> {
    settings: Settings<'w>,
    gpu: Option<Arc<dyn Device>>,
    sieve: Option<Honda>,
    starts: Option<(Vec<u64>, Buffer, Buffer)>,
    cpu: Cpu,
    one: ThreadPool,
    notes: Vec<String>,
}

impl<'w> Bench<'w> {
    pub(super) fn new(machine: Machine<'_>, settings: Settings<'w>) -> Result<Self> {
        // Table S is made once for all base bits.
        let cpu = machine.cache.map_or_else(Cpu::new, Cpu::with_cache);
        let one = ThreadPoolBuilder::new().num_threads(1).build().map_err(Error::Threads)?;
        let gpu = machine.gpu.cloned();
        let mut notes = Vec::new();
        if gpu.is_none() {
            notes.push("Not on a GPU: the rows of one have no figure of ours.".to_owned());
        }
        Ok(Self { settings, gpu, sieve: None, starts: None, cpu, one, notes })
    }

    pub(super) fn device(&self) -> String {
        self.gpu.as_ref().map_or_else(|| self.cpu.name(), |gpu| format!("{}; {}", gpu.info(), self.cpu.name()))
    }

    pub(super) fn notes(self) -> Vec<String> {
        self.notes
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// A row's figure in a column; none where there is no such table, or no GPU.
    pub(super) fn measure(&mut self, measure: Measure, column: u32) -> Result<Option<Rate>> {
        match measure {
            Measure::Convergence { on, base_bits, sieve_bits } => {
                let bits = (base_bits.unwrap_or(column), sieve_bits.unwrap_or(column));
                let Some(place) = on.place() else { return self.convergence_on_cpu(bits) };
                let measured = self.convergence_on_gpu(place, bits);
                self.left_out(measured, column)
            }
            Measure::Delay { on, base_bits, known_bits } => {
                let (base_bits, known_bits) = (base_bits.unwrap_or(column), known_bits.unwrap_or(column));
                // A jump from above table A must not pass 1.
                if known_bits < base_bits {
                    return Ok(None);
                }
                let Some(place) = on.place() else { return self.delays_on_cpu(base_bits, known_bits).map(Some) };
                let measured = self.delays_on_gpu(place, base_bits, known_bits);
                self.left_out(measured, column)
            }
            _ => Ok(None),
        }
    }

    /// What a device has no room for is noted.
    fn left_out(&mut self, measured: Result<Option<Rate>>, column: u32) -> Result<Option<Rate>> {
        match measured {
            Err(Error::Collatz(CollatzError::Device(error @ DeviceError::OutOfMemory { .. }))) => {
                self.sieve = None;
                self.note(format!("Left out at {column} bits: {error}."));
                Ok(None)
            }
            measured => measured,
        }
    }

    fn convergence_on_gpu(&mut self, place: Place, (base_bits, sieve_bits): (u32, u32)) -> Result<Option<Rate>> {
        let Some(gpu) = self.gpu.clone() else { return Ok(None) };
        let spec = HondaKernel { base_bits, place, begin: Begin::Start, sieve_bits, threads: THREADS };
        if !fits(&*gpu, place, 8 << base_bits, 14, base_bits) {
            return Ok(None);
        }
        // The sieve of other bits goes first: two of them may not fit.
        let mut sieve = match self.sieve.take().filter(|sieve| sieve.spec().sieve_bits == sieve_bits) {
            Some(mut sieve) => {
                sieve.change(spec)?;
                sieve
            }
            None => Honda::new(&gpu, spec)?,
        };
        let bits = 56 - sieve_bits;
        let numbers = (STARTS_PER_RESIDUE as usize) << sieve_bits;
        let rate = self.timed(&spec.name(), numbers, |run| {
            sieve.run(random(run) & ((1 << bits) - 1))?;
            Ok(())
        });
        self.sieve = Some(sieve);
        rate.map(Some)
    }

    fn convergence_on_cpu(&mut self, (base_bits, sieve_bits): (u32, u32)) -> Result<Option<Rate>> {
        if sieve_bits > CPU_SIEVE_BITS {
            self.note(format!("On the CPU, table S of more than {CPU_SIEVE_BITS} base bits is left out."));
            return Ok(None);
        }
        let plan = honda::Plan::new(sieve_bits, base_bits)?;
        let numbers = self.settings.products.unwrap_or(CPU_CONVERGENCE);
        let window = Window::new((1 << 64) - numbers as u128, numbers as u128)?;
        self.note(format!("On the CPU ours are the last {numbers} numbers below 2^64, in one thread."));
        // Tables are made on all cores.
        let first = Window::new(window.from(), 1)?;
        self.cpu.honda(&plan, &first, &Control::default())?;
        let mut cpu = std::mem::take(&mut self.cpu);
        let one = &self.one;
        let rate = self.timed(&format!("honda d={base_bits} k={sieve_bits}"), numbers, |_| {
            one.install(|| cpu.honda(&plan, &window, &Control::default()))?;
            Ok(())
        });
        self.cpu = cpu;
        rate.map(Some)
    }

    fn delays_on_gpu(&mut self, place: Place, base_bits: u32, known_bits: u32) -> Result<Option<Rate>> {
        let Some(gpu) = self.gpu.clone() else { return Ok(None) };
        if !fits(&*gpu, place, 16 << base_bits, 13, base_bits) {
            return Ok(None);
        }
        let spec = Delay { base_bits, place, known_bits, source: Source::Array, threads: THREADS };
        let mut delays = GpuDelays::new(&gpu, spec)?;
        self.delays_with(&*gpu, &spec.name(), |starts, count, out| delays.run(starts, count, out)).map(Some)
    }

    /// Delays of random numbers by a kernel, every one stored.
    fn delays_with(
        &mut self,
        gpu: &dyn Device,
        name: &str,
        mut run: impl FnMut(Starts<'_>, u32, &Buffer) -> warpmp_collatz::Result<u64>,
    ) -> Result<Rate> {
        let device = |error: DeviceError| Error::from(CollatzError::from(error));
        let count = self.settings.products.unwrap_or(GPU_DELAYS).min(1 << 30);
        let stream = gpu.stream().map_err(device)?;
        let (numbers, starts, out) = if let Some(starts) = self.starts.take() {
            starts
        } else {
            let numbers: Vec<u64> = (0..count as u64).map(|index| random(index).max(1)).collect();
            let words: Vec<u32> = numbers.iter().flat_map(|&n| [n as u32, (n >> 32) as u32]).collect();
            let starts = gpu.alloc(4 * words.len() as u64).map_err(device)?;
            gpu.upload(&stream, &words, &starts, 0).map_err(device)?;
            (numbers, starts, gpu.alloc(4 * count as u64).map_err(device)?)
        };
        run(Starts::In(&starts), count as u32, &out)?;
        let mut found = vec![0; CHECKED.min(count)];
        gpu.download(&stream, &out, 0, &mut found).map_err(device)?;
        check(numbers.iter().copied().zip(found))?;
        let rate = self.timed(name, count, |_| {
            run(Starts::In(&starts), count as u32, &out)?;
            Ok(())
        })?;
        self.starts = Some((numbers, starts, out));
        Ok(Rate { checked: Some(CHECKED.min(count) as u64), ..rate })
    }

    fn delays_on_cpu(&mut self, base_bits: u32, known_bits: u32) -> Result<Rate> {
        let tables = CpuDelays::new(base_bits, known_bits)?;
        let numbers = self.settings.products.unwrap_or(CPU_DELAYS);
        let delay = |index: u64| {
            let start = random(index).max(1);
            Ok((start, tables.delay(start)?))
        };
        let found: Vec<(u64, u32)> = (0..CHECKED.min(numbers) as u64).map(delay).collect::<Result<_>>()?;
        let checked = Some(found.len() as u64);
        check(found.into_iter())?;
        let rate = self.timed(&format!("algorithm 6, d={base_bits} a={known_bits}"), numbers, |_| {
            for index in 0..numbers as u64 {
                black_box(delay(index)?);
            }
            Ok(())
        })?;
        self.note(format!("On the CPU ours are {numbers} random 64-bit numbers, in one thread."));
        Ok(Rate { checked, ..rate })
    }

    /// What is chosen without a name: on the GPU, if there is one, or on all cores.
    pub(super) fn default(&mut self, kind: Kind, on_gpu: bool) -> Result<Option<Rate>> {
        let gpu = self.gpu.clone().filter(|_| on_gpu);
        match (kind, gpu) {
            (_, None) if on_gpu => Ok(None),
            (Kind::Convergence, Some(gpu)) => {
                let free = gpu.free_bytes().map_err(CollatzError::from)?;
                let plan = dfs::Plan::for_gpu(GPU_WINDOW, GPU_CAMPAIGN, free);
                let mut engine = Gpu::new(gpu, GpuSettings::default());
                self.note(format!("Ours by default on the GPU: windows of {GPU_WINDOW} numbers below 2^64."));
                self.depth_first(&mut engine, plan, GPU_WINDOW).map(Some)
            }
            (Kind::Convergence, None) => {
                let window = self.settings.products.map_or(CPU_WINDOW, |numbers| numbers as u128);
                self.note(format!("Ours by default on the CPU: the last {window} numbers below 2^64."));
                self.depth_first(&mut Cpu::new(), dfs::Plan::for_cpu(window), window).map(Some)
            }
            (Kind::Delay, Some(gpu)) => {
                let mut delays = Delays::new(&gpu, POOLS)?;
                let rate = self.delays_with(&*gpu, &POOLS.name(), |starts, count, out| delays.run(starts, count, out));
                rate.map(Some)
            }
            (Kind::Delay, None) => {
                let count = self.settings.products.unwrap_or(4 * CPU_DELAYS);
                let starts: Vec<u128> = (0..count as u64).map(|index| random(index).max(1).into()).collect();
                let mut out = vec![0; count];
                let mut cpu = Cpu::new();
                cpu.delays_of(&starts, &mut out, &Control::default())?;
                check(starts.iter().map(|start| *start as u64).zip(out.iter().copied()).take(CHECKED))?;
                let run = |_| Ok(cpu.delays_of(&starts, &mut out, &Control::default())?);
                self.timed("all cores", count, run).map(Some)
            }
        }
    }

    fn depth_first(
        &self,
        engine: &mut dyn warpmp_collatz::engine::Engine,
        plan: dfs::Plan,
        window: u128,
    ) -> Result<Rate> {
        let name = format!("dfs L={} S={}", plan.leaf_bits, plan.lookahead_bits);
        self.timed(&name, window as usize, |run| {
            let window = Window::new((1 << 64) - (u128::from(run) + 1) * window, window)?;
            engine.dfs(&plan, &window, &Control::default())?;
            Ok(())
        })
    }

    /// Runs once without a clock, then as often as was asked for, or as there is time.
    fn timed(&self, algorithm: &str, numbers: usize, mut run: impl FnMut(u64) -> Result<()>) -> Result<Rate> {
        run(0)?;
        let begin = Instant::now();
        let mut times = Vec::new();
        while times.is_empty() || times.len() < self.settings.runs && begin.elapsed().as_secs_f64() < SECONDS {
            let begin = Instant::now();
            run(times.len() as u64 + 1)?;
            times.push(begin.elapsed().as_secs_f64().max(1e-9));
        }
        times.sort_by(f64::total_cmp);
        let runs = times.len();
        let per_second = numbers as f64 * runs as f64 / times.iter().sum::<f64>();
        let median = numbers as f64 / times[runs / 2];
        Ok(Rate { algorithm: algorithm.into(), per_second, median, runs, numbers, checked: None })
    }
}

impl On {
    /// None for the CPU.
    fn place(self) -> Option<Place> {
        match self {
            Self::GpuShared => Some(Place::Shared),
            Self::GpuGlobal => Some(Place::Global),
            Self::Cpu => None,
        }
    }
}

/// Do tables of so many bytes fit the shared memory, if they are there?
fn fits(gpu: &dyn Device, place: Place, bytes: u32, most_bits: u32, bits: u32) -> bool {
    place == Place::Global || bits <= most_bits && bytes <= gpu.info().shared_bytes_per_block
}

/// Delays as single steps count them.
fn check(delays: impl Iterator<Item = (u64, u32)>) -> Result<()> {
    for (start, delay) in delays {
        let expected = trace(start.into(), |_| true)?.delay();
        if u64::from(delay) != expected {
            return Err(Error::WrongDelay { start: start.into(), found: delay.into(), expected });
        }
    }
    Ok(())
}

/// A well mixed number for each index (S. Vigna, `SplitMix64`).
fn random(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
