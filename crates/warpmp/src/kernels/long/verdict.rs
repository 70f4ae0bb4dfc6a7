//! The faults of the operands of modular arithmetic on long numbers.

use warpmp_kernel::build::{Builder, Emit, Glue};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Spec, Stage};

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
        let mut words = vec![facts, m];
        for operand in self.operands {
            let below = steps.reserve(1);
            let upper = operand.source().down(if self.is_double { 32 * m.limbs } else { 0 });
            steps.line(Line {
                limbs: operand.limbs.max(m.limbs),
                result: None,
                word: Some(Word::Borrow(below)),
                ..Line::difference(upper, m.source(), below.place(32))
            });
            words.push(below);
        }
        let rows: Vec<(u32, bool)> = words.iter().map(|it| (it.limbs, it.common)).collect();
        let status = steps.result(1).row;
        steps.push(Box::new(Verdict { rows, is_odd: self.is_odd }), words.into_iter().chain([verdict, status]));
        steps.release(mark);
        verdict.bit(0)
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
        b.bounds(Bounds { max_threads: Some(32), ..Bounds::default() });
        b.section("verdict");
        let lane = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let other = b.compare(Cmp::Ne, thread, 0);
        b.return_if(other);
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
        vec![Stage::new(Geometry::new(32, 1), |entry| self.kernel(entry))]
    }
}
