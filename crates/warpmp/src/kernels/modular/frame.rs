//! What the kernels of modular arithmetic begin and end with.
//!
//! A number's row in global memory is read and written by the lanes that hold it, each its own limbs, in the
//! widest pieces that the lengths allow. A row that is shorter than the lanes' limbs together has zeros above.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Guarded, Pred, R32, R64};
use warpmp_kernel::fragment::{Factor, Montgomery, Spread, assign, repeat, select};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special};

use super::super::{piece, vector};
use super::{Layout, OperandShape};
use crate::operation::Status;

/// Factors stay in memory where lanes have at least so many limbs: registers are short there.
const STREAMED: usize = 20;

/// A kernel under way: the lane's place and its rows.
pub(super) struct Frame {
    pub(super) spread: Spread,
    /// This lane's number in the batch.
    row: R32,
    operands: Vec<(R64, OperandShape)>,
    /// Limbs of the results.
    results: Vec<(R64, u32)>,
    status: Option<R64>,
    /// The address of this number's scratch memory.
    pub(super) scratch: Option<R64>,
}

/// What a kernel takes and gives.
pub(super) struct Signature<'s> {
    pub(super) operands: &'s [OperandShape],
    /// Limbs of each.
    pub(super) results: &'s [u32],
    /// Is there a status a lane?
    pub(super) status: bool,
    /// Limbs of scratch memory a lane.
    pub(super) scratch: u32,
}

impl Layout {
    /// The kernel whose numbers are spread so.
    pub(super) fn kernel(
        self,
        name: &str,
        signature: &Signature<'_>,
        body: impl FnOnce(&mut Builder, &Frame),
    ) -> Kernel {
        let mut b = Builder::new(name, self.glue);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let operands = signature.operands.iter().zip(["a", "b", "c", "d"]);
        let operands = operands.map(|(&operand, name)| (b.param_u64(name), operand)).collect();
        let results = signature.results.iter().zip(["r", "s", "t"]);
        let results = results.map(|(&limbs, name)| (b.param_u64(name), limbs)).collect();
        let status = signature.status.then(|| b.param_u64("status"));
        let lanes = b.param_u32("lanes");
        let scratch = (signature.scratch > 0).then(|| b.param_u64("scratch"));
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let number = b.mad_lo(block, 32 * self.warps, thread);
        let row = b.shr(number, self.group.trailing_zeros());
        // The warp stays or goes as a whole: buffers hold whole tiles. So does a block with one number.
        let first_row = if self.group > 32 { row } else { b.and(row, (32 / self.group - 1) ^ u32::MAX) };
        let outside = b.compare(Cmp::Ge, first_row, lanes);
        b.return_if(outside);
        let spread = Spread::new(&mut b, self.group, self.length as usize, number);
        let scratch = scratch.map(|address| b.mad_wide(row, 4 * signature.scratch, address));
        let frame = Frame { spread, row, operands, results, status, scratch };
        body(&mut b, &frame);
        b.finish()
    }

    /// The launch for so many lanes.
    pub(super) const fn grid(self, lanes: u32) -> Grid {
        let numbers = self.warps * 32 / self.group;
        let shared_bytes = Spread::shared_bytes(self.group);
        Grid { blocks: lanes.div_ceil(numbers), threads: 32 * self.warps, shared_bytes }
    }

    /// The most lanes of a launch: thread numbers are 32 bits.
    pub(super) const fn max_lanes(self) -> u32 {
        (1 << 31) / self.group
    }
}

impl Frame {
    /// An operand, all of it.
    pub(super) fn load(&self, b: &mut Builder, operand: usize) -> Vec<R32> {
        let limbs = self.operands[operand].1.limbs();
        self.load_part(b, operand, 0, limbs)
    }

    /// Limbs of an operand from limb `start` on, at most `count` of them, as a number.
    pub(super) fn load_part(&self, b: &mut Builder, operand: usize, start: u32, count: u32) -> Vec<R32> {
        let limbs = self.operands[operand].1.limbs();
        let count = count.min(limbs.saturating_sub(start));
        let base = self.operand_row(b, operand);
        self.read(b, base, start, count, piece(limbs))
    }

    /// The address of an operand's row.
    pub(super) fn operand_row(&self, b: &mut Builder, operand: usize) -> R64 {
        let (address, operand) = self.operands[operand];
        if operand.common { address } else { b.mad_wide(self.row, 4 * operand.limbs(), address) }
    }

    /// `count` limbs of a row from limb `start` on; the row allows accesses of `width` words.
    pub(super) fn read(&self, b: &mut Builder, row: R64, start: u32, count: u32, width: u32) -> Vec<R32> {
        let (base, width) = self.blocks(b, row, start, count, width);
        let length = self.spread.length as u32;
        let mut words = Vec::new();
        for i in (0..length).step_by(width as usize) {
            words.extend(match self.inside(b, i, width, count) {
                Inside::All => b.load_global(Space::Global, vector(width), base, 4 * i),
                Inside::None => (0..width).map(|_| b.copy(0)).collect(),
                Inside::Where(inside) => {
                    let words: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
                    b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), &words, base, 4 * i));
                    words
                }
            });
        }
        words
    }

    /// A factor of so many limbs that is left in memory, in a row that this lane or group has written or an earlier
    /// kernel; none if it should be in registers.
    pub(super) fn stream(&self, row: R64, limbs: u32) -> Option<Factor<'static>> {
        // Wider accesses would hold more registers, for no time.
        let width = piece(limbs).min(piece(self.spread.length as u32)).min(2);
        self.streams().then(|| Factor::Memory(row, vector(width)))
    }

    /// An operand of so many limbs as such a factor.
    pub(super) fn stream_operand(&self, b: &mut Builder, operand: usize, limbs: u32) -> Option<Factor<'static>> {
        // A shorter row is followed by that of another lane, not by zeros.
        if !self.streams() || self.limbs(operand) != limbs {
            return None;
        }
        let row = self.operand_row(b, operand);
        self.stream(row, limbs)
    }

    /// Are factors left in memory?
    fn streams(&self) -> bool {
        self.spread.length >= STREAMED && self.spread.group <= 32
    }

    /// Writes a number to `count` limbs of a row.
    pub(super) fn write(&self, b: &mut Builder, row: R64, count: u32, width: u32, number: &[R32]) {
        let (base, width) = self.blocks(b, row, 0, count, width);
        for (words, i) in number.chunks(width as usize).zip((0..).step_by(width as usize)) {
            match self.inside(b, i, width, count) {
                Inside::All => b.store_global(Space::Global, words, base, 4 * i),
                Inside::None => {}
                Inside::Where(inside) => {
                    b.guarded(inside, true, |g| g.store_global(Space::Global, words, base, 4 * i));
                }
            }
        }
    }

    /// The address of a result's row.
    pub(super) fn result_row(&self, b: &mut Builder, result: usize) -> R64 {
        let (address, limbs) = self.results[result];
        b.mad_wide(self.row, 4 * limbs, address)
    }

    /// Stores a result.
    pub(super) fn store(&self, b: &mut Builder, result: usize, number: &[R32]) {
        let limbs = self.results[result].1;
        let row = self.result_row(b, result);
        self.write(b, row, limbs, piece(limbs), number);
    }

    /// A result that an earlier stage has stored.
    pub(super) fn load_result(&self, b: &mut Builder, result: usize) -> Vec<R32> {
        let limbs = self.results[result].1;
        let row = self.result_row(b, result);
        self.read(b, row, 0, limbs, piece(limbs))
    }

    /// The number's low bits; it has none above the limb that the last of them is in.
    pub(super) fn truncate(&self, b: &mut Builder, number: &[R32], bits: u32) -> Vec<R32> {
        let mut number = number.to_vec();
        if bits.is_multiple_of(32) {
            return number;
        }
        let (length, limb) = (self.spread.length as u32, bits / 32);
        let here = b.compare(Cmp::Eq, self.spread.member, limb / length);
        let mask = b.select((1 << (bits % 32)) - 1, u32::MAX, here);
        let place = &mut number[(limb % length) as usize];
        *place = b.and(*place, mask);
        number
    }

    /// Stores the status, and the results: zeros where it is a fault.
    pub(super) fn finish(&self, b: &mut Builder, status: R32, results: &[&[R32]]) {
        b.section("store");
        let fine = b.compare(Cmp::Eq, status, 0);
        for (i, &result) in results.iter().enumerate() {
            let zeros: Vec<R32> = result.iter().map(|_| b.copy(0)).collect();
            let result = select(b, fine, result, &zeros);
            self.store(b, i, &result);
        }
        self.store_status(b, status);
    }

    /// Stores the status.
    pub(super) fn store_status(&self, b: &mut Builder, status: R32) {
        let Some(address) = self.status else { return };
        let address = b.mad_wide(self.row, 4, address);
        self.by_bottom(b, |g| g.store_global(Space::Global, &[status], address, 0));
    }

    /// The lowest lane of each group does it.
    pub(super) fn by_bottom(&self, b: &mut Builder, body: impl FnOnce(&mut Guarded<'_>)) {
        let bottom = b.compare(Cmp::Eq, self.spread.member, 0);
        b.guarded(bottom, true, body);
    }

    /// The modulus made odd, and the status that says whether it was.
    pub(super) fn odd_modulus(&self, b: &mut Builder, modulus: &[R32]) -> (Vec<R32>, R32) {
        let spread = &self.spread;
        let lowest = spread.broadcast(b, modulus[0], 0);
        let parity = b.and(lowest, 1);
        let even = b.compare(Cmp::Eq, parity, 0);
        let zero = spread.is_zero(b, modulus);
        let status = b.select(Status::EvenModulus.code(), 0, even);
        let status = b.select(Status::DivisionByZero.code(), status, zero);
        let one = spread.small(b, 1);
        let mut odd = modulus.to_vec();
        odd[0] = b.or(odd[0], one[0]);
        (odd, status)
    }

    /// The status with a fault more, unless there is one already.
    pub(super) fn with_fault(b: &mut Builder, status: R32, fault: Status, p: Pred) -> R32 {
        let found = b.select(fault as u32, 0, p);
        let fine = b.compare(Cmp::Eq, status, 0);
        b.select(found, status, fine)
    }

    /// The status with [`Status::NotReduced`] where operand `operand` is not below `m·B^start`: its limbs from
    /// `start` on, as many as `m` has, are `part`.
    pub(super) fn require_below(
        &self,
        b: &mut Builder,
        status: R32,
        (operand, start): (usize, u32),
        part: &[R32],
        m: (&[R32], u32),
    ) -> R32 {
        let (_, borrow) = self.spread.sub(b, part, m.0);
        let mut not_below = b.compare(Cmp::Eq, borrow, 0);
        let limbs = self.limbs(operand);
        let held = self.spread.group * self.spread.length as u32;
        for start in (start + m.1..limbs).step_by(held as usize) {
            let part = self.load_part(b, operand, start, held);
            let zero = self.spread.is_zero(b, &part);
            let some = b.not_pred(zero);
            not_below = b.or_pred(not_below, some);
        }
        Self::with_fault(b, status, Status::NotReduced, not_below)
    }

    /// An operand as a residue for a modulus of `limbs` limbs; `square`: `R² mod m`.
    ///
    /// One of more limbs is `Σ aᵢ·Rⁱ`: with `aᵢ < R`, `aᵢ·R²/R < m`, and the sum is taken from the top,
    /// `x ← x·R + aᵢ`, in residues.
    pub(super) fn residue(
        &self,
        b: &mut Builder,
        ring: &Montgomery,
        (operand, limbs): (usize, u32),
        square: &[R32],
    ) -> Vec<R32> {
        let length = self.limbs(operand);
        let parts = length.div_ceil(limbs);
        let top = self.load_part(b, operand, (parts - 1) * limbs, limbs);
        let residue = ring.mul(b, &top, square);
        if parts == 1 {
            return residue;
        }
        let x: Vec<R32> = residue.iter().map(|&limb| b.copy(limb)).collect();
        let row = self.operand_row(b, operand);
        let row = b.add64(row, u64::from(4 * (parts - 1) * limbs));
        repeat(b, parts - 1, |b| {
            let lower = b.add64(row, u64::from(4 * limbs).wrapping_neg());
            b.set64(row, lower);
            let part = self.read(b, row, 0, limbs, piece(length).min(piece(limbs)));
            let higher = ring.mul(b, &x, square);
            let part = ring.mul(b, &part, square);
            let sum = ring.add(b, &higher, &part);
            assign(b, &x, &sum);
        });
        x
    }

    /// Limbs of an operand.
    pub(super) fn limbs(&self, operand: usize) -> u32 {
        self.operands[operand].1.limbs()
    }

    /// The address of this lane's first limb, and the width of accesses.
    fn blocks(&self, b: &mut Builder, row: R64, start: u32, count: u32, width: u32) -> (R64, u32) {
        let length = self.spread.length as u32;
        let width = width.min(piece(length)).min(piece(start)).min(piece(count));
        let row = if start == 0 { row } else { b.add64(row, u64::from(4 * start)) };
        let base = if self.spread.group == 1 { row } else { b.mad_wide(self.spread.member, 4 * length, row) };
        (base, width)
    }

    /// Which lanes' limbs from `i` to `i + width` are among the first `count`?
    fn inside(&self, b: &mut Builder, i: u32, width: u32, count: u32) -> Inside {
        let length = self.spread.length as u32;
        if (self.spread.group - 1) * length + i + width <= count {
            return Inside::All;
        }
        if i + width > count {
            return Inside::None;
        }
        let last = (count - i - width) / length;
        Inside::Where(b.compare(Cmp::Le, self.spread.member, last))
    }
}

/// Who has limbs.
enum Inside {
    All,
    None,
    Where(Pred),
}
