//! `div_exact`: quotients of divisions that leave nothing.
//!
//! computes   `a / b`; a zero divisor or a remainder is the lane's status
//! cost       that of a division, whose remainder is looked at in a second stage
//!
//! source: see [`division`](super::division).

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit};
use warpmp_kernel::ir::Kernel;

use super::super::Spec;
use super::division::{Division, Parts};
use super::frame::{Frame, Signature};
use super::redirect::{Place, Stage, Stages};
use super::{Layout, OperandShape};
use crate::operation::Status;

/// The kernels for these operands, the division in this layout. Parameters of their launches: `a`, `b`, the result,
/// statuses, lanes, scratch.
pub(super) fn stages(a: OperandShape, b: OperandShape, layout: Layout) -> Stages {
    use Place::{Param, Scratch};
    let each = |limbs: u32| OperandShape::each(32 * limbs);
    let (quotient, rest, status) = (Scratch(0), Scratch(a.limbs()), Scratch(a.limbs() + b.limbs()));
    let divide = Division { layout, ..Division::new(a, b, Parts::Both) };
    let check = Exact { quotient: each(a.limbs()), rest: each(b.limbs()) };
    let kernels = vec![
        Stage { spec: Box::new(divide), places: vec![Param(0), Param(1), quotient, rest, status] },
        Stage { spec: Box::new(check), places: vec![quotient, rest, status, Param(2), Param(3)] },
    ];
    let name = format!("div_exact{}{}{}", a.name(), b.name(), layout.name());
    Stages { name, addresses: 4, kernels, scratch: a.limbs() + b.limbs() + 1 }
}

/// The last stage: the quotient where the remainder is zero. Its operands: the quotient, the remainder, the status of the
/// division.
#[derive(Clone, Debug)]
struct Exact {
    quotient: OperandShape,
    rest: OperandShape,
}

impl Exact {
    const fn layout(&self) -> Layout {
        let (quotient, rest) = (self.quotient.limbs(), self.rest.limbs());
        Layout::of(if quotient > rest { quotient } else { rest })
    }

    fn body(b: &mut Builder, frame: &Frame) {
        let spread = &frame.spread;
        let rest = frame.load(b, 1);
        let exact = spread.is_zero(b, &rest);
        let remains = b.not_pred(exact);
        let status = frame.load(b, 2);
        let status = spread.broadcast(b, status[0], 0);
        let status = Frame::with_fault(b, status, Status::NotExact, remains);
        let quotient = frame.load(b, 0);
        frame.finish(b, status, &[&quotient]);
    }
}

impl Spec for Exact {
    fn name(&self) -> String {
        format!("exact{}{}", self.quotient.name(), self.rest.name())
    }

    fn build(&self, _stage: usize) -> Kernel {
        let operands = [self.quotient, self.rest, OperandShape::each(32)];
        let results = [self.quotient.limbs()];
        let signature = Signature { operands: &operands, results: &results, status: true, scratch: 0 };
        self.layout().kernel(&self.name(), &signature, Self::body)
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        self.layout().grid(lanes)
    }

    fn max_lanes(&self) -> u32 {
        self.layout().max_lanes()
    }

    fn wide_products(&self) -> u64 {
        0
    }
}
