//! The faults of the operands of modular arithmetic on long numbers.
//!
//! The highest limbs of two numbers mostly tell which one is greater. Where they are equal in a lane, lines compare whole rows in all lanes of
//! the launch.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Spec, Stage, thread_number};

use super::length::{FACTS, Length};
use super::line::{Line, Word};
use super::sequence::Steps;
use super::source::{Bit, Number};
use crate::operation::Status;

/// The requirements of operands.
pub(super) struct Checks<'c> {
    /// Each is below the modulus.
    pub(super) operands: &'c [Number],
    pub(super) modulus: Number,
    /// Must the modulus be odd?
    pub(super) is_odd: bool,
    /// Are the operands below `m·R`, not below `m`?
    pub(super) is_double: bool,
}

impl Checks<'_> {
    /// Stores the status of each lane; the bit that is set where the lane has no fault.
    pub(super) fn of(&self, steps: &mut Steps) -> Bit {
        let m = self.modulus;
        let verdict = steps.reserve(1);
        let mark = steps.mark();
        let [facts, unused] = [FACTS, 1].map(|limbs| steps.reserve(limbs));
        let length = Length { divisor: m.limbs, common: m.common, limbs: m.limbs, even: false, most: None };
        steps.push(Box::new(length), [m, facts, unused]);
        let undecided = steps.cleared_word();
        let belows: Vec<Number> = self.operands.iter().map(|_| steps.reserve(1)).collect();
        let from = if self.is_double { m.limbs } else { 0 };
        let order = Order { operands: self.operands.to_vec(), from, modulus: m };
        let rows = self.operands.iter().copied().chain([m]).chain(belows.iter().copied()).chain([undecided]);
        steps.push(Box::new(order), rows);
        steps.only_where(undecided, |steps| {
            for (operand, &below) in self.operands.iter().zip(&belows) {
                steps.line(Line {
                    limbs: operand.limbs.max(m.limbs),
                    result: None,
                    word: Some(Word::Borrow(below)),
                    ..Line::difference(operand.source().down(32 * from), m.source(), below.place(32))
                });
            }
        });
        let words: Vec<Number> = [facts, m].into_iter().chain(belows).collect();
        let rows: Vec<(u32, bool)> = words.iter().map(|it| (it.limbs, it.common)).collect();
        let status = steps.result(1).row;
        steps.push(Box::new(Verdict { rows, is_odd: self.is_odd }), words.into_iter().chain([verdict, status]));
        steps.release(mark);
        verdict.bit(0)
    }
}

/// Warps of a block: a warp a lane where highest limbs are compared, a thread a lane for the status.
const WARPS: u32 = 4;

/// Is each operand less than the modulus, by the highest 32 limbs? Parameters of its launch: the operands, the modulus, for each operand a word that becomes 1 where it
/// is less, else 0; then the word for all lanes that becomes 1 where these limbs are equal in a lane.
#[derive(Clone, Debug)]
struct Order {
    operands: Vec<Number>,
    /// Limbs of the operands that do not count, below.
    from: u32,
    modulus: Number,
}

impl Order {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let count = self.operands.len();
        let names = [&["a", "b"][..count], &["m"], &["below_a", "below_b"][..count], &["undecided"]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        b.bounds(Bounds { max_threads: Some(32 * WARPS), ..Bounds::default() });
        b.section("order");
        let block = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let lane = b.mad_lo(block, WARPS, warp);
        let outside = b.compare(Cmp::Ge, lane, ports.lanes);
        b.return_if(outside);
        let member = b.special(Special::Lane);
        let first = b.compare(Cmp::Eq, member, 0);
        for (i, &operand) in self.operands.iter().enumerate() {
            let row = operand.row(&mut b, ports.addresses[i], lane);
            let modulus = self.modulus.row(&mut b, ports.addresses[count], lane);
            let limbs = operand.limbs.saturating_sub(self.from).max(self.modulus.limbs);
            let highest = limbs.saturating_sub(32);
            let x = highest_limb(&mut b, member, row, [self.from + highest, operand.limbs]);
            let y = highest_limb(&mut b, member, modulus, [highest, self.modulus.limbs]);
            let [is_less, is_greater] = [[x, y], [y, x]].map(|[x, y]| b.compare(Cmp::Lt, x, y));
            // The highest limbs that differ have the highest bit of the two masks.
            let [less, greater] = [is_less, is_greater].map(|it| b.ballot(it));
            let is_below = b.compare(Cmp::Gt, less, greater);
            let below = b.select(1, 0, is_below);
            let to = b.mad_wide(lane, 4, ports.addresses[count + 1 + i]);
            b.guarded(first, true, |g| g.store_global(Space::Global, &[below], to, 0));
            let is_equal = b.compare(Cmp::Eq, less, greater);
            let tells = b.and_pred(first, is_equal);
            let one = b.copy(1);
            b.guarded(tells, true, |g| g.store_global(Space::Global, &[one], ports.addresses[2 * count + 1], 0));
        }
        b.finish()
    }
}

/// The limb of a thread, from limb `start` of the row on, or zero from limb `end` on.
fn highest_limb(b: &mut Builder, member: R32, row: R64, [start, end]: [u32; 2]) -> R32 {
    let from = b.mad_wide(member, 4, row);
    if start + 32 <= end {
        return b.load_global(Space::Global, Vector::V1, from, 4 * start)[0];
    }
    let limb = b.copy(0);
    if start < end {
        let inside = b.compare(Cmp::Lt, member, end - start);
        b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], from, 4 * start));
    }
    limb
}

impl Spec for Order {
    fn name(&self) -> String {
        let rows = self.operands.iter().chain([&self.modulus]);
        let rows = rows.map(|it| format!("_{}{}", it.limbs, if it.common { "c" } else { "" }));
        format!("order{}_from_{}", rows.collect::<String>(), self.from)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::new(32 * WARPS, WARPS), |entry| self.kernel(entry))]
    }
}

/// The status of a lane. Parameters of its launch: the facts of the modulus, the modulus, for each operand whether it is small
/// enough, then the verdict (1 if the lane is fine, else 0), and the status.
#[derive(Clone, Debug)]
struct Verdict {
    /// Limbs of the rows, and whether one serves every lane.
    rows: Vec<(u32, bool)>,
    /// Must the modulus be odd?
    is_odd: bool,
}

impl Verdict {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = ["facts", "m", "a", "b"];
        let names = [&names[..self.rows.len()], &["verdict", "status"]].concat();
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        b.bounds(Bounds { max_threads: Some(32 * WARPS), ..Bounds::default() });
        b.section("verdict");
        let lane = thread_number(&mut b, 32 * WARPS);
        let outside = b.compare(Cmp::Ge, lane, ports.lanes);
        b.return_if(outside);
        let mut rows = Vec::new();
        for (&(limbs, common), &address) in self.rows.iter().zip(&ports.addresses) {
            rows.push(if common { address } else { b.mad_wide(lane, 4 * limbs, address) });
        }
        let word =
            |b: &mut Builder, row: usize, offset: u32| b.load_global(Space::Global, Vector::V1, rows[row], offset)[0];
        let mut small = b.copy(1);
        for row in 2..self.rows.len() {
            let below = word(&mut b, row, 0);
            small = b.and(small, below);
        }
        let some = word(&mut b, 0, 4);
        let lowest = word(&mut b, 1, 0);
        let odd = b.and(lowest, 1);
        let is_small = b.compare(Cmp::Ne, small, 0);
        let is_odd = b.compare(Cmp::Ne, odd, 0);
        let is_some = b.compare(Cmp::Ne, some, 0);
        let status = b.select(Status::Fine.code(), Status::NotReduced.code(), is_small);
        let status = if self.is_odd { b.select(status, Status::EvenModulus.code(), is_odd) } else { status };
        let status = b.select(status, Status::DivisionByZero.code(), is_some);
        let is_fine = b.compare(Cmp::Eq, status, Status::Fine.code());
        let fine = b.select(1, 0, is_fine);
        let [verdict, to] = [0, 1].map(|i| ports.addresses[self.rows.len() + i]);
        let verdict = b.mad_wide(lane, 4, verdict);
        let to = b.mad_wide(lane, 4, to);
        b.store_global(Space::Global, &[fine], verdict, 0);
        b.store_global(Space::Global, &[status], to, 0);
        b.finish()
    }
}

impl Spec for Verdict {
    fn name(&self) -> String {
        let rows = self.rows.iter().map(|(limbs, common)| format!("_{limbs}{}", if *common { "c" } else { "" }));
        format!("verdict{}{}", if self.is_odd { "_odd" } else { "" }, rows.collect::<String>())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::of_threads(WARPS), |entry| self.kernel(entry))]
    }
}
