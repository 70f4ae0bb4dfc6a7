//! An experiment on a GPU, and its instructions on the simulator. Results are checked before anything is timed.

use std::sync::Arc;

use num_bigint::BigUint;
use warpmp::{
    Shape,
    device::{self, Arg, Buffer, Device, Grid as DeviceGrid, Kind, Module, Stream},
};
use warpmp_oracle::{
    measure::{Measured, checked_lanes},
    pattern::{self, Pattern},
};

use super::oracle;
use crate::{
    error::{Error, Result},
    kernels::epfl::Experiment,
    watch::Settings,
};

/// Numbers that are worked on while instructions are counted: a warp.
pub(super) const COUNTED: u32 = 32;

/// Bytes whose filling takes a GPU as long as the host needs to send so many launches: else small launches would be timed
/// by the host.
const BUSY_BYTES: u64 = 1 << 29;
const RUNS_WHILE_BUSY: usize = 10;

/// A grid of blocks of threads, each with a number of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) blocks: u32,
    pub(super) threads: u32,
}

impl Grid {
    pub(super) const fn numbers(self) -> u32 {
        self.blocks * self.threads
    }
}

/// The instructions of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// All but moves.
    pub(super) instructions: u64,
    /// 32 × 32 → 64 bits.
    pub(super) wide_products: u64,
}

/// What a GPU says of an experiment.
#[derive(Debug, Default)]
pub(super) struct Timed {
    /// The kernel's name.
    pub(super) algorithm: String,
    pub(super) registers: u32,
    pub(super) local_bytes: u32,
    pub(super) checked: u64,
    pub(super) launches: Vec<(Grid, Measured)>,
}

/// The machine.
pub(super) struct Bench<'w> {
    settings: Settings<'w>,
    gpu: Option<Arc<dyn Device>>,
    /// Operands and moduli of this many bits: rows of limbs.
    operands: Option<(u32, [Vec<u32>; 3])>,
    /// What keeps the stream busy until all launches wait in it.
    busy: Option<Buffer>,
}

/// The arrays of an experiment on a device.
struct Arrays {
    operands: Vec<Buffer>,
    result: Buffer,
}

impl<'w> Bench<'w> {
    /// The machine with this GPU, or without one.
    pub(super) fn new(gpu: Option<Arc<dyn Device>>, settings: Settings<'w>) -> Self {
        Self { settings, gpu, operands: None, busy: None }
    }

    /// The GPU's name.
    pub(super) fn device(&self) -> Option<String> {
        self.gpu.as_ref().map(|gpu| gpu.info().to_string())
    }

    /// The most numbers of a launch, for which arrays have room.
    pub(super) fn limit(&self) -> u32 {
        let wanted = self.settings.products.and_then(|products| u32::try_from(products).ok());
        wanted.unwrap_or(Experiment::MAX_ROOM).min(Experiment::MAX_ROOM)
    }

    /// Checks and times the launches; none without a GPU.
    pub(super) fn time(&mut self, experiment: &Experiment, grids: &[Grid]) -> Result<Option<Timed>> {
        let Some(gpu) = self.gpu.clone() else { return Ok(None) };
        let runs = self.settings.runs;
        let module = gpu.load(&experiment.build())?;
        let resources = module.resources();
        let mut timed = Timed {
            algorithm: experiment.name(),
            registers: resources.registers.unwrap_or(0),
            local_bytes: resources.local_bytes.unwrap_or(0),
            ..Timed::default()
        };
        let Some(&largest) = grids.iter().max_by_key(|grid| grid.numbers()) else { return Ok(Some(timed)) };
        // The operands of one precision are enough to keep.
        let rows = match self.operands.take().filter(|(bits, _)| *bits == experiment.bits) {
            Some((_, rows)) => rows,
            None => operands(experiment, Pattern::Random)?,
        };
        let (_, kept) = self.operands.insert((experiment.bits, rows));
        let rows = below_modulus(experiment, kept);
        let stream = gpu.stream()?;
        if self.busy.is_none() && gpu.info().kind == Kind::Cuda {
            self.busy = Some(gpu.alloc(BUSY_BYTES)?);
        }
        let arrays = Arrays::new(&*gpu, &stream, experiment, &rows)?;
        arrays.launch(&*gpu, &stream, &module, largest)?;
        timed.checked = arrays.check(&*gpu, &stream, experiment, &rows, largest.numbers())?;
        for &grid in grids {
            self.settings.check()?;
            if let Some(busy) = &self.busy {
                for _ in 0..runs.div_ceil(RUNS_WHILE_BUSY) {
                    gpu.fill(&stream, busy, 0, 0, busy.words())?;
                }
            }
            let times = arrays.time(&*gpu, &stream, &module, grid, runs)?;
            let measured = Measured { algorithm: timed.algorithm.clone(), times, checked: timed.checked, bytes: 0 };
            timed.launches.push((grid, measured));
        }
        Ok(Some(timed))
    }
}

impl Arrays {
    /// Operands in the experiment's layout, and room for the result.
    fn new(device: &dyn Device, stream: &Stream, experiment: &Experiment, [a, b, m]: &[Vec<u32>; 3]) -> Result<Self> {
        let limbs = experiment.limbs() as usize;
        let mut arrays = experiment.layout.arrange_operands([a, b], limbs);
        if experiment.has_modulus() {
            arrays.push(experiment.layout.arrange(m, limbs));
        }
        let upload = |words: &Vec<u32>| {
            let buffer = device.alloc(4 * words.len() as u64)?;
            device.upload(stream, words, &buffer, 0)?;
            Ok(buffer)
        };
        let operands = arrays.iter().map(upload).collect::<device::Result<Vec<Buffer>>>()?;
        let bytes = 4 * u64::from(experiment.room) * u64::from(experiment.result_limbs());
        Ok(Self { operands, result: device.alloc(bytes)? })
    }

    fn launch(&self, device: &dyn Device, stream: &Stream, module: &Module, grid: Grid) -> Result<()> {
        let grid = DeviceGrid { blocks: grid.blocks, threads: grid.threads, shared_bytes: 0 };
        let args: Vec<Arg<'_>> = self.operands.iter().chain([&self.result]).map(Arg::from).collect();
        Ok(device.launch(stream, module, grid, &args)?)
    }

    /// The times of `runs` launches that wait in the stream together, shortest first; one before them is not counted.
    fn time(
        &self,
        device: &dyn Device,
        stream: &Stream,
        module: &Module,
        grid: Grid,
        runs: usize,
    ) -> Result<Vec<std::time::Duration>> {
        let events = (0..=runs).map(|_| device.event()).collect::<device::Result<Vec<_>>>()?;
        self.launch(device, stream, module, grid)?;
        for (number, event) in events.iter().enumerate() {
            device.record(stream, event)?;
            if number < runs {
                self.launch(device, stream, module, grid)?;
            }
        }
        let elapsed = events.windows(2).map(|pair| device.elapsed(&pair[0], &pair[1]));
        let mut times = elapsed.collect::<device::Result<Vec<_>>>()?;
        times.sort_unstable();
        Ok(times)
    }

    /// Compares some of the first `numbers` results with the oracle's.
    fn check(
        &self,
        device: &dyn Device,
        stream: &Stream,
        experiment: &Experiment,
        rows: &[Vec<u32>; 3],
        numbers: u32,
    ) -> Result<u64> {
        let (limbs, result_limbs) = (experiment.limbs() as usize, experiment.result_limbs() as usize);
        let mut words = vec![0; self.result.words()];
        device.download(stream, &self.result, 0, &mut words)?;
        let lanes = checked_lanes(numbers as usize, 32 * limbs);
        for &lane in &lanes {
            let row = |rows: &'_ Vec<u32>| rows[lane * limbs..][..limbs].to_vec();
            let [a, b, m] = rows.each_ref().map(row);
            let word = |limb| words[experiment.layout.word(result_limbs, experiment.room as usize, lane, limb)];
            let found = BigUint::new((0..result_limbs).map(word).collect());
            let expected = oracle::result(experiment, [&a, &b, &m]);
            if found != expected {
                let [found, expected] = [found, expected].map(|value| format!("0x{value:x}"));
                return Err(Error::WrongExperiment { kernel: experiment.name(), lane: lane as u64, found, expected });
            }
        }
        Ok(lanes.len() as u64)
    }
}

/// Counts the instructions of one execution, on the simulator: those of two less those of one.
pub(super) fn count(experiment: &Experiment) -> Result<Counted> {
    let [once, twice] =
        [1, 2].map(|executions| tally(&Experiment { executions, turns: 1, room: COUNTED, ..*experiment }));
    let (once, twice) = (once?, twice?);
    Ok(Counted {
        instructions: twice.instructions - once.instructions,
        wide_products: twice.wide_products - once.wide_products,
    })
}

/// Operands and moduli: as many as there is room for, rows of limbs.
fn operands(experiment: &Experiment, kind: Pattern) -> Result<[Vec<u32>; 3]> {
    let shape = Shape::new(experiment.room as usize, experiment.bits as usize);
    let rows = |seed| Ok::<_, Error>(pattern::operands(kind, shape, 0, seed)?.into_limbs());
    Ok([rows(1)?, rows(2)?, rows(3)?])
}

/// With a modulus: its top bit is set, that of the operands is not.
fn below_modulus(experiment: &Experiment, rows: &[Vec<u32>; 3]) -> [Vec<u32>; 3] {
    let mut rows = rows.clone();
    if experiment.has_modulus() {
        let (limbs, top) = (experiment.limbs() as usize, 1 << ((experiment.bits - 1) % 32));
        let [a, b, m] = &mut rows;
        m.chunks_exact_mut(limbs).for_each(|row| row[limbs - 1] |= top);
        [a, b].into_iter().flat_map(|rows| rows.chunks_exact_mut(limbs)).for_each(|row| row[limbs - 1] &= !top);
    }
    rows
}

/// The instructions of the section with the arithmetic, on operands that make carries run; every result is checked.
fn tally(experiment: &Experiment) -> Result<Counted> {
    let simulator = device::open_sim();
    let device = simulator.as_ref();
    let rows = below_modulus(experiment, &operands(experiment, Pattern::Carry)?);
    let stream = device.stream()?;
    let arrays = Arrays::new(device, &stream, experiment, &rows)?;
    let module = device.load(&experiment.build())?;
    arrays.launch(device, &stream, &module, Grid { blocks: 1, threads: COUNTED })?;
    arrays.check(device, &stream, experiment, &rows, COUNTED)?;
    let no_section = || Error::NoSection { kernel: experiment.name() };
    let counters = device.counters().ok_or_else(no_section)?;
    let section = counters.section("arithmetic").ok_or_else(no_section)?;
    let sum = |counts: fn(&str) -> bool| -> u64 {
        section.ops().iter().filter(|(op, _)| counts(&op.mnemonic())).map(|(_, count)| count.warps).sum()
    };
    Ok(Counted {
        instructions: sum(|name| !is_move(name)),
        wide_products: sum(|name| name.starts_with("mul.wide") || name.starts_with("mad.wide")),
    })
}

/// Does it only name bits anew? `ret` ends the section.
fn is_move(mnemonic: &str) -> bool {
    mnemonic.starts_with("mov.") || matches!(mnemonic, "cvt.u64.u32" | "cvt.u32.u64" | "ret")
}
