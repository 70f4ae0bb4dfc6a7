//! `gcd_ext`: greatest common divisors with their cofactors.
//!
//! computes   `g = gcd(a, b)`; the least `x ≥ 0` with `a·x + b·y = g`; that `y`, in two's complement. For `b = 0`:
//!            `a`, 1 (0 if `a = 0`), 0
//! cost       that of a divisor, an inverse, a product and three divisions
//!
//! In seven stages: `g`; `a' = a/g` and `b' = b/g`; `x = a'⁻¹ mod b'`; `a'·x`; its quotient `q` by `b'`; and what
//! [`Last`] does: `y = −q`.
//!
//! bound: `a'·x = 1 + q·b'` if `b' > 1`, so `a·x − b·q = g`; and `x < b'` is the least. If `b' = 1`, then `x = 0`,
//! the remainder is 0 and `y = 1`.
//!
//! source: ours, by the other kernels.

use warpmp_kernel::build::{Builder, Emit};
use warpmp_kernel::fragment::{divsteps::negate_where, select};
use warpmp_launch::{Binding, Frame, Layout, Part, Sequence, Signature, Stage};

use super::super::{OperationShape, Spec};
use super::OperandShape;
use super::division::{Division, Parts};
use super::gcd::Gcd;
use super::inverse::InvMod;

/// The kernels for these operands. Parameters of their launches: `a`, `b`, `g`, `x`, `y`, lanes, scratch.
pub(super) fn stages(a: OperandShape, b: OperandShape, asynchronous: bool) -> Sequence {
    use Binding::{Parameter, Scratch};
    let wide = a.limbs().max(b.limbs());
    let mut scratch = 0;
    let mut rows = |limbs: u32| {
        scratch += limbs;
        Scratch(scratch - limbs)
    };
    let [a_part, b_part, status] = [a.limbs(), b.limbs(), 1].map(&mut rows);
    let product_limbs = a.limbs() + b.limbs();
    let [unused, product, quotient, rest] = [wide, product_limbs, product_limbs, b.limbs()].map(&mut rows);
    let each = |limbs: u32| OperandShape::each(32 * limbs);
    let divide = |operand: OperandShape, from: Binding, by: (OperandShape, Binding), to: Binding, rest: Binding| Part {
        spec: Box::new(Division::new(operand, by.0, Parts::Both)),
        bindings: vec![from, by.1, to, rest, status],
    };
    let g = (each(wide), Parameter(2));
    let longer_first =
        if a.limbs() >= b.limbs() { [(a, a_part), (b, Parameter(3))] } else { [(b, Parameter(3)), (a, a_part)] };
    let [longer, shorter] = longer_first.map(|(operand, _)| each(operand.limbs()));
    let shape = OperationShape::product(longer, shorter);
    let multiply = super::product_of(shape, asynchronous);
    let last = Last { divisor: each(b.limbs()), quotient: each(product_limbs), a: each(a.limbs()), y_bits: a.bits + 1 };
    let parts = vec![
        Part { spec: Box::new(Gcd::new(a, b)), bindings: vec![Parameter(0), Parameter(1), Parameter(2)] },
        divide(a, Parameter(0), g, a_part, unused),
        divide(b, Parameter(1), g, b_part, unused),
        Part {
            spec: Box::new(InvMod::new(each(a.limbs()), each(b.limbs()))),
            bindings: vec![a_part, b_part, Parameter(3), status],
        },
        Part { spec: multiply, bindings: vec![longer_first[0].1, longer_first[1].1, product] },
        divide(each(product_limbs), product, (each(b.limbs()), b_part), quotient, rest),
        Part { spec: Box::new(last), bindings: vec![b_part, quotient, rest, a_part, Parameter(3), Parameter(4)] },
    ];
    Sequence {
        name: format!("gcd_ext{}{}b{}b{}", a.name(), b.name(), a.bits, b.bits),
        rows: 5,
        parts,
        scratch,
        whole_tiles: true,
    }
}

/// The last stage: `x`, which is right but for `b = 0`, and `y`. Its operands: `b'`, the quotient, the remainder,
/// `a'`.
#[derive(Clone, Debug)]
struct Last {
    divisor: OperandShape,
    quotient: OperandShape,
    a: OperandShape,
    y_bits: u32,
}

impl Last {
    const fn y_limbs(&self) -> u32 {
        self.y_bits.div_ceil(32)
    }

    const fn layout(&self) -> Layout {
        let (x, y) = (self.divisor.limbs(), self.y_limbs());
        Layout::of(if x > y { x } else { y })
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        let spread = &frame.spread;
        let divisor = frame.load(b, 0);
        let quotient = frame.load_part(b, 1, 0, self.y_limbs());
        let rest = frame.load(b, 2);
        let ones = b.copy(u32::MAX);
        let negative = negate_where(b, spread, ones, &quotient);
        let one = spread.small(b, 1);
        let zero = spread.small(b, 0);
        let exact = spread.is_zero(b, &rest);
        let y = select(b, exact, &one, &negative);
        // b = 0: x is 1, or 0 if a = 0 too, when a' is 0.
        let no_b = spread.is_zero(b, &divisor);
        let y = select(b, no_b, &zero, &y);
        let a = frame.load_part(b, 3, 0, 1);
        let some = spread.broadcast(b, a[0], 0);
        let some = b.min(some, 1);
        let alone = spread.small(b, some);
        let x = frame.load_result(b, 0);
        let x = select(b, no_b, &alone, &x);
        frame.store(b, 0, &x);
        let y = frame.truncate(b, &y, self.y_bits);
        frame.store(b, 1, &y);
    }
}

impl Spec for Last {
    fn name(&self) -> String {
        format!("cofactors{}{}b{}", self.divisor.name(), self.a.name(), self.y_bits)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let operands = [self.divisor, self.quotient, self.divisor, self.a];
        let signature = Signature::new(operands, [self.divisor.limbs(), self.y_limbs()]);
        vec![self.layout().stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }
}
