//! The matrix products of a warpgroup: four neighbouring warps, each with its own 16 rows of `A` and of the sums.
//!
//! A warp computes its rows when it issues a product. Until the warp waits for the product, its registers and the words of
//! `B` belong to the product: touching the registers is a fault, and so is writing the words. The warps of a warpgroup
//! execute the same instructions with the same descriptors; they are compared, one by one.

use super::WARP;
use super::convert::SHARED_BASE;
use super::counters::Traffic;
use super::execution::Execution;
use super::fault::{Cause, FaultKind};
use super::program::{Program, Step};
use super::shared::Accessor;
use crate::ir::Op;

/// Warps of a warpgroup.
const WARPS: usize = 4;
/// Rows of `A` that a warp has.
const ROWS: usize = 16;
/// Bytes of a row of `A`, and of a column of `B`.
const DEPTH: usize = 32;
/// Bytes of a row of a core matrix: `B` in shared memory consists of matrices of 8 such rows, one after the other, a row a
/// column of `B`.
const CORE_BYTES: usize = 16;
/// The bits of a descriptor that say where `B` is. All others are zero: no swizzling, no base offset.
const DESCRIPTOR: u64 = 0x3FFF_3FFF_3FFF;

/// An instruction that the warps of a warpgroup execute together: its step, and the operands that they have in common.
type Meeting = (u32, u64);

/// What the warps of each warpgroup have executed together, by the one that was first.
#[derive(Debug, Default)]
pub(super) struct Meetings(Vec<Vec<Meeting>>);

impl Meetings {
    /// Another block begins.
    pub(super) fn reset(&mut self) {
        self.0.clear();
    }

    /// A warp executes its next common instruction. Is it that of the others?
    fn meet(&mut self, warp: usize, number: usize, meeting: Meeting) -> bool {
        let group = warp / WARPS;
        if self.0.len() <= group {
            self.0.resize(group + 1, Vec::new());
        }
        let log = &mut self.0[group];
        if log.len() == number {
            log.push(meeting);
        }
        log[number] == meeting
    }

    /// Has the warp, which executed this many, executed all common instructions of its warpgroup?
    pub(super) fn are_complete(&self, warp: usize, number: usize) -> bool {
        self.0.get(warp / WARPS).is_none_or(|log| log.len() == number)
    }
}

/// A product that nobody has waited for.
#[derive(Clone, Debug)]
struct Pending {
    sums: Vec<u32>,
    a: Vec<u32>,
    words: Vec<usize>,
    /// The number of groups that were closed before.
    group: u32,
}

/// The products of a warp.
#[derive(Clone, Debug)]
pub(super) struct Products {
    /// By slot: was it written since the last fence? Empty if the program has no such products.
    touched: Vec<bool>,
    pending: Vec<Pending>,
    /// Groups that were closed.
    closed: u32,
    /// Common instructions that were executed.
    pub(super) met: usize,
}

impl Products {
    pub(super) fn new(program: &Program) -> Self {
        let files = &program.files;
        let slots = files.narrow.len() + files.wide.len() + files.preds.len();
        let touched = if program.has_warpgroups { vec![false; slots as usize] } else { Vec::new() };
        Self { touched, pending: Vec::new(), closed: 0, met: 0 }
    }

    pub(super) fn reset(&mut self) {
        self.touched.fill(false);
        self.pending.clear();
        (self.closed, self.met) = (0, 0);
    }

    /// Notes a step's registers, which no pending product may use. A product itself is checked when it is executed.
    pub(super) fn note(&mut self, program: &Program, op: Op, step: &Step) -> Result<(), FaultKind> {
        if self.touched.is_empty() || matches!(op, Op::Wgmma(_)) {
            return Ok(());
        }
        let condition = step.condition.map(|it| it.slot);
        for &slot in step.sources().iter().chain(step.targets()).chain(&condition) {
            if self.pending.iter().any(|it| it.sums.contains(&slot) || it.a.contains(&slot)) {
                return Err(FaultKind::PendingProduct { register: program.files.register(slot) });
            }
        }
        for &slot in step.targets() {
            self.touched[slot as usize] = true;
        }
        Ok(())
    }
}

impl Execution<'_, '_> {
    /// The whole warp, and all warps of the warpgroup, execute this.
    fn meet(&mut self, common: u64) -> Result<(), Cause> {
        if self.mask != u32::MAX {
            return Err(FaultKind::Divergent { active: self.mask, expected: u32::MAX }.into());
        }
        let number = self.warp.products.met;
        self.warp.products.met += 1;
        if self.cx.meetings.meet(self.warp.index as usize, number, (self.warp.pc, common)) {
            Ok(())
        } else {
            Err(FaultKind::WarpgroupApart.into())
        }
    }

    /// `wgmma.fence`.
    pub(super) fn warpgroup_fence(&mut self) -> Result<(), Cause> {
        self.meet(0)?;
        self.warp.products.touched.fill(false);
        Ok(())
    }

    /// `wgmma.commit_group`.
    pub(super) fn commit_products(&mut self) -> Result<(), Cause> {
        self.meet(0)?;
        self.warp.products.closed += 1;
        Ok(())
    }

    /// `wgmma.wait_group`.
    pub(super) fn await_products(&mut self) -> Result<(), Cause> {
        self.meet(0)?;
        let products = &mut self.warp.products;
        let closed = products.closed;
        let done = |it: &Pending| closed - it.group > self.step.imm[0];
        let by = Accessor { warp: self.warp.index, lane: 0, order: &self.warp.order };
        for &word in products.pending.iter().filter(|it| done(it)).flat_map(|it| &it.words) {
            self.cx.shared.release(word, by);
        }
        products.pending.retain(|it| !done(it));
        Ok(())
    }

    /// `fence.proxy.async` for shared memory.
    pub(super) fn proxy_fence(&mut self) {
        self.cx.shared.fence(self.warp.index, self.mask);
    }

    /// `wgmma.mma_async` of unsigned bytes: this warp's rows of `D = A·B (+ D)`.
    ///
    /// Lane `4g + t` holds, of `A`, the columns `4t…4t+3` and `16+4t…16+4t+3` of rows `g` and `g+8`; of `D` the columns
    /// `8i + 2t` and `8i + 2t + 1` of the same rows.
    pub(super) fn warpgroup_product(&mut self, columns: u8) -> Result<(), Cause> {
        let descriptor = self.source::<u64>(4)[0];
        let adds = self.condition(5);
        if self.source::<u64>(4).iter().any(|&it| it != descriptor) || ![0, u32::MAX].contains(&adds) {
            return Err(FaultKind::WarpgroupApart.into());
        }
        self.meet(descriptor ^ u64::from(adds) << 32)?;
        self.check_registers(adds != 0)?;
        let (b, words) = self.columns(descriptor, columns.into())?;
        let a = self.rows();
        for (number, &slot) in self.step.targets().iter().enumerate() {
            let (i, x, h) = (number / 4, number / 2 % 2, number % 2);
            let old = *self.warp.registers.get::<u32>(slot);
            let sums: [u32; WARP] = std::array::from_fn(|lane| {
                let (row, column) = (&a[lane / 4 + 8 * x], &b[8 * i + lane % 4 * 2 + h]);
                let sum: u32 = row.iter().zip(column).map(|(&x, &y)| u32::from(x) * u32::from(y)).sum();
                if adds == 0 { sum } else { old[lane].wrapping_add(sum) }
            });
            self.warp.registers.set(slot, u32::MAX, &sums);
        }
        let [sums, a] = [self.step.targets(), &self.step.src[..4]].map(<[u32]>::to_vec);
        let group = self.warp.products.closed;
        self.warp.products.pending.push(Pending { sums, a, words, group });
        // The warps share one read of B.
        if (self.warp.index as usize).is_multiple_of(WARPS) {
            let wavefronts = u64::from(columns) * DEPTH as u64 / (4 * WARP as u64);
            self.note(Traffic { wavefronts, minimum_wavefronts: wavefronts, ..Traffic::default() });
        }
        Ok(())
    }

    /// Products under way may add to the same sums, and read the same rows; nothing else may touch them. Other instructions
    /// have written none of the registers since the last fence.
    fn check_registers(&self, adds: bool) -> Result<(), FaultKind> {
        let (sums, a) = (self.step.targets(), &self.step.src[..4]);
        let products = &self.warp.products;
        let name = |slot| self.cx.program.files.register(slot);
        for &slot in sums.iter().chain(a) {
            if products.touched[slot as usize] {
                return Err(FaultKind::UnfencedRegister { register: name(slot) });
            }
        }
        for it in &products.pending {
            let others = if it.sums == sums { &[] } else { sums };
            let touched = |slots: &[u32], by: &[u32]| by.iter().copied().find(|slot| slots.contains(slot));
            let found = touched(&it.sums, others).or_else(|| touched(&it.a, sums)).or_else(|| touched(&it.sums, a));
            if let Some(slot) = found {
                return Err(FaultKind::PendingProduct { register: name(slot) });
            }
        }
        let undefined = |slot: &&u32| self.warp.registers.defined(**slot) != u32::MAX;
        match sums.iter().find(undefined) {
            Some(&slot) if adds => Err(FaultKind::UninitialisedRegister { register: name(slot) }),
            _ => Ok(()),
        }
    }

    /// This warp's rows of `A`.
    fn rows(&self) -> [[u8; DEPTH]; ROWS] {
        let mut a = [[0; DEPTH]; ROWS];
        for (register, &slot) in self.step.src[..4].iter().enumerate() {
            for (lane, word) in self.warp.registers.get::<u32>(slot).iter().enumerate() {
                let first = lane % 4 * 4 + register / 2 * 16;
                a[lane / 4 + register % 2 * 8][first..first + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        a
    }

    /// The columns of `B` where the descriptor says, and the words in which they are.
    fn columns(&mut self, descriptor: u64, columns: usize) -> Result<(Vec<[u8; DEPTH]>, Vec<usize>), FaultKind> {
        if descriptor & !DESCRIPTOR != 0 {
            return Err(FaultKind::Descriptor { descriptor });
        }
        // From a core matrix to the next in the direction of the depth, and in that of the columns.
        let [start, along, across] = [0, 16, 32].map(|bit| (descriptor >> bit & 0x3FFF) as usize * 16);
        let (size, by) = (self.cx.shared.bytes(), Accessor { warp: self.warp.index, lane: 0, order: &self.warp.order });
        let mut b = vec![[0; DEPTH]; columns];
        let mut words = Vec::new();
        for (column, bytes) in b.iter_mut().enumerate() {
            for (half, bytes) in bytes.chunks_exact_mut(CORE_BYTES).enumerate() {
                let address = start + half * along + column / 8 * across + column % 8 * CORE_BYTES;
                let offset = (address as u32).wrapping_sub(SHARED_BASE);
                if u64::from(offset) + CORE_BYTES as u64 > u64::from(size) {
                    return Err(FaultKind::SharedOutOfBounds { offset, bytes: CORE_BYTES as u32, size });
                }
                for (word, bytes) in (offset as usize / 4..).zip(bytes.chunks_exact_mut(4)) {
                    bytes.copy_from_slice(&self.cx.shared.hold(word, by)?.to_le_bytes());
                    words.push(word);
                }
            }
        }
        Ok((b, words))
    }
}
