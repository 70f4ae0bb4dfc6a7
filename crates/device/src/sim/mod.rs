//! The simulator as a device: everything happens at once, in the order of the calls.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::{Counters, Memory};

use crate::cache::{Cache, lock};
use crate::device::{Device, LoadOptions};
use crate::error::{Error, Result};
use crate::info::{DeviceInfo, Kind};
use crate::launch::{Arg, Grid, Rows, argument_values, check_grid, check_pinned, check_target, check_words};
use crate::objects::{self, Backend, Buffer, Module, Pinned, Resources, Transfer};

pub(crate) use warpmp_kernel::sim::Program;

/// The GPU that the simulator imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimConfig {
    /// Ten times the compute capability.
    pub capability: u32,
    /// Size of the memory. Host memory is taken only as it is used.
    pub memory_bytes: u64,
    /// The most shared memory a block may ask for.
    pub shared_bytes: u32,
}

impl Default for SimConfig {
    /// An H200 in all but memory: 4 GiB.
    fn default() -> Self {
        Self { capability: 90, memory_bytes: 4 << 30, shared_bytes: 227 << 10 }
    }
}

impl SimConfig {
    pub(crate) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            name: "simulator".into(),
            kind: Kind::Sim,
            ordinal: 0,
            capability: self.capability,
            multiprocessors: 1,
            memory_bytes: self.memory_bytes,
            shared_bytes_per_block: self.shared_bytes,
            // The system keeps 1 KiB of each block.
            shared_bytes_per_multiprocessor: self.shared_bytes.saturating_add(1 << 10),
            registers_per_multiprocessor: 64 << 10,
            threads_per_block: 1024,
            threads_per_multiprocessor: 2048,
            blocks_per_grid: i32::MAX as u32,
            l2_bytes: 0,
            clock_khz: 0,
            driver: None,
            memory_bandwidth_bytes_per_second: None,
            copy_engines: 0,
        }
    }
}

/// The simulated device.
#[derive(Debug)]
pub(crate) struct SimDevice {
    info: DeviceInfo,
    modules: Cache,
    state: Arc<State>,
}

/// The state that all objects of the device share.
#[derive(Debug)]
struct State {
    memory: Mutex<Memory>,
    counters: Mutex<Counters>,
}

/// Device memory of the simulator.
#[derive(Debug)]
pub(crate) struct Allocation {
    state: Arc<State>,
    address: u64,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        lock(&self.state.memory).free(self.address);
    }
}

/// A stream of the simulator: nothing ever waits in it.
#[derive(Debug)]
pub(crate) struct Stream {
    state: Arc<State>,
}

/// The time when an event was recorded.
#[derive(Debug)]
pub(crate) struct Event {
    state: Arc<State>,
    time: Mutex<Option<Instant>>,
}

impl SimDevice {
    pub(crate) fn new(config: &SimConfig) -> Self {
        let (memory, counters) = (Memory::new(config.memory_bytes).into(), Counters::default().into());
        Self { info: config.info(), modules: Cache::default(), state: Arc::new(State { memory, counters }) }
    }

    fn own(&self, state: &Arc<State>, what: &'static str) -> Result<()> {
        if Arc::ptr_eq(&self.state, state) { Ok(()) } else { Err(Error::WrongDevice { what }) }
    }

    fn check_stream(&self, stream: &objects::Stream) -> Result<()> {
        self.own(&stream.backend.sim("stream")?.state, "stream")
    }

    fn own_event<'e>(&self, event: &'e objects::Event) -> Result<&'e Event> {
        let event = event.backend.sim("event")?;
        self.own(&event.state, "event").map(|()| event)
    }

    fn address(&self, buffer: &Buffer) -> Result<u64> {
        let allocation = buffer.backend.sim("buffer")?;
        self.own(&allocation.state, "buffer").map(|()| allocation.address)
    }

    /// The address of these words of a buffer, if it has them.
    fn words(&self, buffer: &Buffer, offset: usize, words: usize) -> Result<u64> {
        check_words(buffer, offset, words)?;
        Ok(self.address(buffer)? + 4 * offset as u64)
    }
}

impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_bytes(&self) -> Result<u64> {
        Ok(lock(&self.state.memory).free_bytes())
    }

    fn alloc(&self, bytes: u64) -> Result<Buffer> {
        let mut memory = lock(&self.state.memory);
        let address = memory
            .alloc(bytes)
            .map_err(|_| Error::OutOfMemory { required_bytes: bytes, available_bytes: memory.free_bytes() })?;
        Ok(Buffer { bytes, backend: Backend::Sim(Allocation { state: self.state.clone(), address }) })
    }

    fn forget(&self, buffer: &Buffer) -> Result<()> {
        let address = self.address(buffer)?;
        lock(&self.state.memory).forget(address);
        Ok(())
    }

    fn pinned(&self, words: usize) -> Result<Pinned> {
        let mut memory = Vec::new();
        let refused = |_| Error::OutOfHostMemory { required_bytes: (words as u64).saturating_mul(4) };
        memory.try_reserve_exact(words).map_err(refused)?;
        memory.resize(words, 0);
        Ok(Pinned { backend: Backend::Sim(memory) })
    }

    fn stream(&self) -> Result<objects::Stream> {
        Ok(objects::Stream { backend: Backend::Sim(Stream { state: self.state.clone() }) })
    }

    fn load_with(&self, kernel: &Kernel, options: LoadOptions) -> Result<Arc<Module>> {
        check_target(&self.info, kernel)?;
        self.modules.get(kernel, options, |text| {
            let start = Instant::now();
            let unreadable = |reason| Error::KernelUnreadable { kernel: kernel.name.clone(), reason };
            let program = Program::parse(text).map_err(unreadable)?;
            let threads_per_block = kernel.bounds.max_threads.unwrap_or(self.info.threads_per_block);
            let load_time = start.elapsed();
            Ok(Module {
                name: kernel.name.clone(),
                params: kernel.params.clone(),
                resources: Resources { registers: None, local_bytes: None, threads_per_block, load_time },
                backend: Backend::Sim(program),
            })
        })
    }

    fn launch(&self, stream: &objects::Stream, module: &Module, grid: Grid, args: &[Arg<'_>]) -> Result<()> {
        self.check_stream(stream)?;
        let program = module.backend.sim("module")?;
        check_grid(&self.info, module, grid)?;
        let values = argument_values(module, args, |buffer| self.address(buffer))?;
        let counters = program.launch(grid, &values, &mut lock(&self.state.memory))?;
        *lock(&self.state.counters) += counters;
        Ok(())
    }

    fn upload(&self, stream: &objects::Stream, src: &[u32], dst: &Buffer, dst_offset_words: usize) -> Result<()> {
        self.check_stream(stream)?;
        let address = self.words(dst, dst_offset_words, src.len())?;
        Ok(lock(&self.state.memory).write(address, src)?)
    }

    fn download(&self, stream: &objects::Stream, src: &Buffer, src_offset_words: usize, dst: &mut [u32]) -> Result<()> {
        self.check_stream(stream)?;
        let address = self.words(src, src_offset_words, dst.len())?;
        Ok(lock(&self.state.memory).read(address, dst)?)
    }

    fn upload_pinned(
        &self,
        stream: &objects::Stream,
        src: Pinned,
        words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
    ) -> Result<Transfer> {
        check_pinned(&src, words)?;
        self.upload(stream, &src[..words], dst, dst_offset_words)?;
        Ok(Transfer::new(src, None))
    }

    fn download_pinned(
        &self,
        stream: &objects::Stream,
        src: &Buffer,
        src_offset_words: usize,
        mut dst: Pinned,
        words: usize,
    ) -> Result<Transfer> {
        check_pinned(&dst, words)?;
        self.download(stream, src, src_offset_words, &mut dst[..words])?;
        Ok(Transfer::new(dst, None))
    }

    fn copy(
        &self,
        stream: &objects::Stream,
        src: &Buffer,
        src_offset_words: usize,
        dst: &Buffer,
        dst_offset_words: usize,
        words: usize,
    ) -> Result<()> {
        self.check_stream(stream)?;
        let src = self.words(src, src_offset_words, words)?;
        let dst = self.words(dst, dst_offset_words, words)?;
        if src.abs_diff(dst) < 4 * words as u64 {
            return Err(Error::Overlap);
        }
        let mut memory = lock(&self.state.memory);
        let mut staged = vec![0; words];
        memory.read(src, &mut staged)?;
        Ok(memory.write(dst, &staged)?)
    }

    fn copy_rows(&self, stream: &objects::Stream, rows: Rows, src: &Buffer, dst: &Buffer) -> Result<()> {
        rows.check(src, dst)?;
        for row in 0..rows.count {
            self.copy(stream, src, rows.src_first + row * rows.src_stride, dst, row * rows.dst_stride, rows.words)?;
        }
        Ok(())
    }

    fn fill(
        &self,
        stream: &objects::Stream,
        dst: &Buffer,
        dst_offset_words: usize,
        value: u32,
        words: usize,
    ) -> Result<()> {
        self.check_stream(stream)?;
        let address = self.words(dst, dst_offset_words, words)?;
        Ok(lock(&self.state.memory).fill(address, value, words)?)
    }

    fn event(&self) -> Result<objects::Event> {
        Ok(objects::Event { backend: Backend::Sim(Event { state: self.state.clone(), time: Mutex::new(None) }) })
    }

    fn record(&self, stream: &objects::Stream, event: &objects::Event) -> Result<()> {
        self.check_stream(stream)?;
        *lock(&self.own_event(event)?.time) = Some(Instant::now());
        Ok(())
    }

    fn wait(&self, stream: &objects::Stream, event: &objects::Event) -> Result<()> {
        self.check_stream(stream)?;
        self.own_event(event).map(|_| ())
    }

    fn elapsed(&self, start: &objects::Event, end: &objects::Event) -> Result<Duration> {
        let time = |event| lock(&self.own_event(event)?.time).ok_or(Error::EventNotRecorded);
        Ok(time(end)?.saturating_duration_since(time(start)?))
    }

    fn synchronize(&self, stream: &objects::Stream) -> Result<()> {
        self.check_stream(stream)
    }

    fn counters(&self) -> Option<Counters> {
        Some(lock(&self.state.counters).clone())
    }

    fn reset_counters(&self) {
        *lock(&self.state.counters) = Counters::default();
    }
}
