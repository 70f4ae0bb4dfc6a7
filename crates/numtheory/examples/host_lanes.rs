//! The host's part of elliptic curves on a device: lanes a second, with a device that computes nothing.
//!
//! ```sh
//! cargo run --release -p warpmp-numtheory --example host_lanes -- [BITS [B1 B2]]
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, error};

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::{
    Arg, Buffer, Device, DeviceInfo, Event, Grid, Kind, LoadOptions, Module, Pinned, Result, Rows, Stream, Transfer,
    open_sim,
};
use warpmp_kernel::ir::Kernel;
use warpmp_numtheory::factor::{Bounds, Engine, Family, Job, Sigma, SigmaError, run_on};

/// Multiprocessors of the device.
const MULTIPROCESSORS: u32 = 132;

/// A GPU whose kernels and copies take no time.
#[derive(Debug)]
struct Idle {
    inner: Arc<dyn Device>,
    info: DeviceInfo,
    /// Lanes of a chunk at most, and limbs of a number.
    lanes: usize,
    limbs: usize,
}

impl Idle {
    fn open(lanes: usize, bits: u64) -> Arc<dyn Device> {
        let inner = open_sim();
        let info = DeviceInfo { kind: Kind::Cuda, multiprocessors: MULTIPROCESSORS, ..inner.info().clone() };
        Arc::new(Self { inner, info, lanes, limbs: bits.div_ceil(32) as usize })
    }
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut words = env::args().skip(1).map(|word| word.parse::<u64>());
    let mut next = |usual: u64| words.next().unwrap_or(Ok(usual));
    let (bits, bounds) = (next(96)?, Bounds::new(next(500)?, next(20_000)?)?);
    let n = (BigUint::from(1_u32) << bits) - 17_u32;
    let lanes = Engine::on(Idle::open(0, bits)).curves_together(bits, bounds);
    for (family, first) in [(Family::Word, 1_000_003_u64), (Family::Suyama, 0x1234_5678_9ABC_DEF1)] {
        // Chunks are an eighth of all at the most; a number has two limbs or more.
        let engine = Engine::on(Idle::open(lanes / 8, bits));
        let first = Sigma::new(family, first.into())?;
        let make = |number: u64| Ok(Job::ecm(n.clone(), first.after(number)?));
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let jobs: Vec<Job> = (0..lanes as u64).into_par_iter().map(make).collect::<Result<_, SigmaError>>()?;
            let start = Instant::now();
            let verdicts = run_on(&engine, &jobs, bounds, &())?;
            best = best.min(start.elapsed().as_secs_f64());
            verdicts.into_par_iter().for_each(drop);
            jobs.into_par_iter().for_each(drop);
        }
        let (rate, cores) = (lanes as f64 / best, rayon::current_num_threads());
        println!(
            "family {}: {lanes} lanes of {bits} bits, {rate:.3e}/s, {:.3e} a core",
            family.number(),
            rate / cores as f64
        );
    }
    Ok(())
}

impl Device for Idle {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_bytes(&self) -> Result<u64> {
        self.inner.free_bytes()
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.inner.alloc(bytes)
    }

    fn pinned(&self, words: usize) -> Result<Pinned> {
        self.inner.pinned(words)
    }

    fn stream(&self) -> Result<Stream> {
        self.inner.stream()
    }

    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>> {
        self.inner.load_with(kernel, options)
    }

    fn launch(&self, _: &Stream, _: &Module, _: Grid, _: &[Arg<'_>]) -> Result<()> {
        Ok(())
    }

    fn upload(&self, _: &Stream, _: &[u32], _: &Buffer, _: usize) -> Result<()> {
        Ok(())
    }

    fn download(&self, _: &Stream, _: &Buffer, _: usize, dst: &mut [u32]) -> Result<()> {
        // A status of 0 for each lane; numbers are 1: no divisor.
        dst.fill(0);
        if dst.len() > self.lanes {
            dst.iter_mut().step_by(self.limbs).for_each(|limb| *limb = 1);
        }
        Ok(())
    }

    fn copy_rows(&self, stream: &Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()> {
        self.inner.copy_rows(stream, rows, src, dst)
    }

    fn upload_pinned(
        &self,
        stream: &Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        offset: usize,
    ) -> Result<Transfer> {
        self.inner.upload_pinned(stream, src, words, dst, offset)
    }

    fn download_pinned(
        &self,
        stream: &Stream,
        src: &Buffer,
        offset: usize,
        dst: Pinned,
        words: usize,
    ) -> Result<Transfer> {
        self.inner.download_pinned(stream, src, offset, dst, words)
    }

    fn copy(
        &self,
        stream: &Stream,
        src: &Buffer,
        src_offset: usize,
        dst: &Buffer,
        dst_offset: usize,
        words: usize,
    ) -> Result<()> {
        self.inner.copy(stream, src, src_offset, dst, dst_offset, words)
    }

    fn fill(&self, stream: &Stream, dst: &Buffer, offset: usize, value: u32, words: usize) -> Result<()> {
        self.inner.fill(stream, dst, offset, value, words)
    }

    fn event(&self) -> Result<Event> {
        self.inner.event()
    }

    fn record(&self, stream: &Stream, event: &Event) -> Result<()> {
        self.inner.record(stream, event)
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<()> {
        self.inner.wait(stream, event)
    }

    fn elapsed(&self, start: &Event, end: &Event) -> Result<Duration> {
        self.inner.elapsed(start, end)
    }

    fn synchronize(&self, stream: &Stream) -> Result<()> {
        self.inner.synchronize(stream)
    }
}
