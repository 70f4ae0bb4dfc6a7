//! `div_exact`: quotients of divisions that leave nothing.
//!
//! computes   `a / b`; a zero divisor or a remainder is the lane's status
//! cost       that of a division, whose remainder is looked at in a second stage
//!
//! source: see [`division`](super::division).

use warpmp_kernel::build::{Builder, Emit};
use warpmp_launch::{Binding, Frame, Layout, Part, Sequence, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::checks::Checks;
use super::division::{Division, Parts};
use crate::operation::Status;

/// The kernels for these operands, the division in this layout. Parameters of their launches: `a`, `b`, the result,
/// statuses, lanes, scratch.
pub(super) fn stages(a: OperandShape, b: OperandShape, layout: Layout) -> Sequence {
    use Binding::{Parameter, Scratch};
    let each = |limbs: u32| OperandShape::each(32 * limbs);
    let (quotient, rest, status) = (Scratch(0), Scratch(a.limbs()), Scratch(a.limbs() + b.limbs()));
    let divide = Division { layout, ..Division::new(a, b, Parts::Both) };
    let check = Exact { quotient: each(a.limbs()), rest: each(b.limbs()) };
    let parts = vec![
        Part { spec: Box::new(divide), bindings: vec![Parameter(0), Parameter(1), quotient, rest, status] },
        Part { spec: Box::new(check), bindings: vec![quotient, rest, status, Parameter(2), Parameter(3)] },
    ];
    let name = format!("div_exact{}{}{}", a.name(), b.name(), layout.name());
    Sequence { name, rows: 4, parts, scratch: a.limbs() + b.limbs() + 1, whole_tiles: true }
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

    fn stages(&self) -> Vec<Stage<'_>> {
        let operands = [self.quotient, self.rest, OperandShape::each(32)];
        let signature = Signature::new(operands, [self.quotient.limbs()]).with_status();
        vec![self.layout().stage(self.name(), signature, Self::body)]
    }
}
