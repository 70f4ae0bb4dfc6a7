//! A warp: its lanes' program counters, and the loop that executes its steps.

use super::copies::Copies;
use super::counters::Tally;
use super::execution::Execution;
use super::fault::{Cause, FaultKind};
use super::memory::Memory;
use super::order::Order;
use super::products::{Meetings, Products};
use super::program::{Action, Condition, Program};
use super::registers::Registers;
use super::shared::Shared;
use super::{Grid, WARP};

/// Everything outside the warp that its steps read and write.
pub(super) struct Context<'l> {
    pub(super) program: &'l Program,
    pub(super) grid: Grid,
    pub(super) args: &'l [u64],
    pub(super) block: u32,
    pub(super) memory: &'l mut Memory,
    /// The address of the kernel's table.
    pub(super) table: u64,
    pub(super) shared: Shared,
    pub(super) meetings: Meetings,
    /// By step.
    pub(super) tallies: Vec<Tally>,
}

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// Its turn is over.
    Turn,
    /// It waits at the barrier of this number.
    Barrier(u32),
    /// All its lanes have ended.
    Exit,
}

/// Lanes that wait at a later step for the others to catch up.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    pc: u32,
    lanes: u32,
}

/// A warp of a block.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Its number in the block.
    pub(super) index: u32,
    pub(super) registers: Registers,
    /// The carry flag of each lane, 0 or 1.
    pub(super) carry: [u32; WARP],
    /// The lanes in which the carry flag is defined.
    pub(super) carry_defined: u32,
    /// The lanes whose carry flag is the borrow of a subtraction.
    pub(super) carry_borrows: u32,
    /// The step to execute.
    pub(super) pc: u32,
    /// The lanes that execute it.
    pub(super) active: u32,
    /// The lanes that have not ended.
    pub(super) live: u32,
    /// Live lanes that are not active, by descending step.
    behind: Vec<Waiting>,
    pub(super) order: Order,
    pub(super) copies: Copies,
    pub(super) products: Products,
    /// Steps executed.
    pub(super) executed: u64,
}

impl Warp {
    pub(super) fn new(index: u32, program: &Program) -> Self {
        Self {
            index,
            registers: Registers::new(&program.files),
            carry: [0; WARP],
            carry_defined: 0,
            carry_borrows: 0,
            pc: 0,
            active: 0,
            live: 0,
            behind: Vec::new(),
            order: Order::new(),
            copies: Copies::default(),
            products: Products::new(program),
            executed: 0,
        }
    }

    /// Begins another block, with these lanes of the warp.
    pub(super) fn reset(&mut self, program: &Program, lanes: u32) {
        self.registers.reset(&program.files);
        self.carry_defined = 0;
        (self.pc, self.active, self.live) = (0, lanes, lanes);
        self.behind.clear();
        self.order = Order::new();
        self.copies.reset();
        self.products.reset();
        self.executed = 0;
    }

    /// Executes steps until the turn is over, a barrier is reached or the last lane ends.
    pub(super) fn run(&mut self, cx: &mut Context<'_>, turn: u32) -> Result<Pause, Cause> {
        for _ in 0..turn {
            if self.behind.last().is_some_and(|waiting| waiting.pc <= self.pc) {
                self.reconverge();
            }
            if let Some(pause) = self.step(cx)? {
                return Ok(pause);
            }
        }
        Ok(Pause::Turn)
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Result<Option<Pause>, Cause> {
        let program = cx.program;
        let step = program.steps.get(self.pc as usize).ok_or(FaultKind::MissingReturn)?;
        self.executed += 1;
        if self.executed > program.limit {
            return Err(FaultKind::Runaway { limit: program.limit }.into());
        }
        if step.labelled {
            self.carry_defined &= !self.active;
        }
        let mask = match step.condition {
            None => self.active,
            Some(condition) => self.chosen(condition, program)?,
        };
        let count = &mut cx.tallies[self.pc as usize].count;
        count.warps += 1;
        count.threads += u64::from(mask.count_ones());
        let op = match step.action {
            Action::Branch(target) => {
                self.branch(mask, target);
                return Ok(None);
            }
            Action::Op(op) => op,
        };
        if mask == 0 {
            self.pc += 1;
            return Ok(None);
        }
        for &slot in step.sources() {
            let undefined = mask & !self.registers.defined(slot);
            if undefined != 0 {
                return Err(uninitialised(program, slot, undefined));
            }
        }
        self.products.note(program, op, step)?;
        let pause = Execution { warp: self, cx, step, mask }.execute(op)?;
        self.pc += 1;
        if self.active == 0 {
            self.reconverge();
        }
        Ok(pause)
    }

    /// The active lanes in which the condition holds.
    fn chosen(&self, condition: Condition, program: &Program) -> Result<u32, Cause> {
        let undefined = self.active & !self.registers.defined(condition.slot);
        if undefined != 0 {
            return Err(uninitialised(program, condition.slot, undefined));
        }
        let pred = self.registers.pred(condition.slot);
        Ok(self.active & if condition.negated { !pred } else { pred })
    }

    /// The lanes in `taken` go to the target, the others on.
    fn branch(&mut self, taken: u32, target: u32) {
        self.carry_defined &= !self.active;
        let others = self.active & !taken;
        if taken == 0 {
            self.pc += 1;
            return;
        }
        if others != 0 {
            self.wait(Waiting { pc: self.pc + 1, lanes: others });
        }
        (self.pc, self.active) = (target, taken);
    }

    /// Puts lanes aside.
    fn wait(&mut self, waiting: Waiting) {
        let place = self.behind.partition_point(|other| other.pc > waiting.pc);
        match self.behind.get_mut(place) {
            Some(other) if other.pc == waiting.pc => other.lanes |= waiting.lanes,
            _ => self.behind.insert(place, waiting),
        }
    }

    /// Continues with the lanes at the lowest step.
    fn reconverge(&mut self) {
        if self.active != 0 {
            self.wait(Waiting { pc: self.pc, lanes: self.active });
        }
        if let Some(Waiting { pc, lanes }) = self.behind.pop() {
            (self.pc, self.active) = (pc, lanes);
        }
    }
}

impl Execution<'_, '_> {
    /// `bar.sync`.
    pub(super) fn block_barrier(&mut self) -> Result<Option<Pause>, Cause> {
        if self.mask != self.warp.live {
            return Err(FaultKind::Divergent { active: self.mask, expected: self.warp.live }.into());
        }
        Ok(Some(Pause::Barrier(self.step.imm[0])))
    }

    /// `ret`.
    pub(super) fn end(&mut self) -> Option<Pause> {
        self.warp.live &= !self.mask;
        self.warp.active &= !self.mask;
        (self.warp.live == 0).then_some(Pause::Exit)
    }
}

fn uninitialised(program: &Program, slot: u32, lanes: u32) -> Cause {
    Cause::first(lanes, FaultKind::UninitialisedRegister { register: program.files.register(slot) })
}
