//! Running a grid: blocks one after another, the warps of a block in turns.

use super::counters::{Counters, Tally};
use super::fault::{Cause, Fault, FaultKind, Site};
use super::memory::Memory;
use super::products::Meetings;
use super::program::Program;
use super::shared::Shared;
use super::warp::{Context, Pause, Warp};
use super::{Grid, WARP};
use crate::ir::Width;

/// Most threads a block can have.
const MAX_THREADS: u32 = 1024;
/// Most shared memory of a block in bytes, on the largest device that is supported.
const MAX_SHARED: u32 = 227 * 1024;
/// Most steps of a warp's turn.
const LONGEST_TURN: u32 = 4096;

impl Program {
    /// Runs the kernel over a grid. A 32-bit argument stands in the low half of its `u64`.
    ///
    /// # Errors
    /// The first [`Fault`]. The memory then holds everything that the kernel wrote before it.
    pub fn launch(&self, grid: Grid, args: &[u64], memory: &mut Memory) -> Result<Counters, Fault> {
        self.check(grid, args)?;
        let table = memory.lend(&self.table);
        let counters = self.run(grid, args, memory, table);
        memory.take_back(table, &self.table);
        counters
    }

    /// Runs the kernel, whose table has this address.
    fn run(&self, grid: Grid, args: &[u64], memory: &mut Memory, table: u64) -> Result<Counters, Fault> {
        memory.begin_launch();
        let warps = grid.threads.div_ceil(WARP as u32);
        let mut warps: Vec<Warp> = (0..warps).map(|index| Warp::new(index, self)).collect();
        let mut cx = Context {
            program: self,
            grid,
            args,
            block: 0,
            memory,
            table,
            shared: Shared::new(grid.shared_bytes),
            meetings: Meetings::default(),
            tallies: vec![Tally::default(); self.steps.len()],
        };
        let mut dice = Dice(self.seed.max(1));
        for block in 0..grid.blocks {
            cx.block = block;
            cx.shared.reset();
            cx.meetings.reset();
            for warp in &mut warps {
                let lanes = (grid.threads - warp.index * WARP as u32).min(WARP as u32);
                warp.reset(self, u32::MAX >> (WARP as u32 - lanes));
            }
            run_block(&mut warps, &mut cx, &mut dice)?;
        }
        let counters = Counters::fold(self, &cx.tallies, cx.memory);
        cx.memory.begin_launch();
        Ok(counters)
    }

    /// Checks the shape and the arguments of a launch.
    fn check(&self, grid: Grid, args: &[u64]) -> Result<(), FaultKind> {
        let Grid { blocks, threads, shared_bytes } = grid;
        if args.len() != self.params.len() {
            return Err(FaultKind::Arguments { expected: self.params.len(), given: args.len() });
        }
        for (index, (param, &value)) in self.params.iter().zip(args).enumerate() {
            if param.width == Width::W32 && value > u64::from(u32::MAX) {
                return Err(FaultKind::ArgumentTooWide { index, value });
            }
        }
        let limit = self.max_threads.unwrap_or(MAX_THREADS).min(MAX_THREADS);
        if blocks == 0 || threads == 0 || threads > limit {
            return Err(FaultKind::LaunchShape { blocks, threads, limit });
        }
        if shared_bytes > MAX_SHARED {
            return Err(FaultKind::LaunchShared { shared_bytes, limit: MAX_SHARED });
        }
        Ok(())
    }
}

/// Runs all warps of a block to their end.
fn run_block(warps: &mut [Warp], cx: &mut Context<'_>, dice: &mut Dice) -> Result<(), Fault> {
    let mut pauses = vec![Pause::Turn; warps.len()];
    let mut ready: Vec<usize> = (0..warps.len()).collect();
    loop {
        dice.shuffle(&mut ready);
        for &index in &ready {
            let turn = 1 + dice.below(LONGEST_TURN);
            let warp = &mut warps[index];
            pauses[index] = warp.run(cx, turn).map_err(|cause| blame(cause, warp, warp.pc, cx))?;
        }
        ready.retain(|&index| pauses[index] == Pause::Turn);
        if !ready.is_empty() {
            continue;
        }
        let Some(first) = pauses.iter().position(|&pause| pause != Pause::Exit) else {
            return check_meetings(warps, cx);
        };
        if pauses.iter().any(|&pause| pause != pauses[first]) {
            let warp = &warps[first];
            return Err(blame(deadlock(&pauses, pauses[first]).into(), warp, warp.pc - 1, cx));
        }
        cx.shared.barrier();
        ready.extend(0..warps.len());
    }
}

/// All warps have ended: has each executed what its warpgroup executes together?
fn check_meetings(warps: &[Warp], cx: &Context<'_>) -> Result<(), Fault> {
    let all_met = |warp: &&Warp| cx.meetings.are_complete(warp.index as usize, warp.products.met);
    match warps.iter().find(|warp| !all_met(warp)) {
        Some(warp) => Err(blame(FaultKind::WarpgroupApart.into(), warp, u32::MAX, cx)),
        None => Ok(()),
    }
}

/// The reason why the warps of a block cannot go on.
fn deadlock(pauses: &[Pause], first: Pause) -> FaultKind {
    let count = |wanted: Pause| pauses.iter().filter(|&&pause| pause == wanted).count() as u32;
    let (waiting, exited) = (count(first), count(Pause::Exit));
    let barrier = if let Pause::Barrier(number) = first { number } else { 0 };
    FaultKind::Deadlock { barrier, waiting, exited, elsewhere: pauses.len() as u32 - waiting - exited }
}

/// Says where a fault happened.
fn blame(cause: Cause, warp: &Warp, pc: u32, cx: &Context<'_>) -> Fault {
    let (line, instruction) = cx.program.source.get(pc as usize).cloned().unwrap_or_default();
    let site = Site {
        kernel: cx.program.name.clone(),
        line,
        instruction,
        block: cx.block,
        warp: warp.index,
        lane: cause.lane,
    };
    Fault { kind: cause.kind, site: Some(Box::new(site)) }
}

/// Reproducible random numbers (xorshift64*).
struct Dice(u64);

impl Dice {
    /// A number below the limit.
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * u64::from(limit)) >> 32) as u32
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u32 + 1) as usize);
        }
    }
}
