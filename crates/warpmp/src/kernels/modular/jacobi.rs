//! `jacobi`: Kronecker symbols.
//!
//! computes   `(a / n)` in two's complement of two bits, for any `a` and `n`; of `n = 0` it is 1 for `a = 1`, else 0
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       that of [`gcd`](super::gcd), and 15 instructions more a step
//! registers  about `6·length + 60`
//!
//! With `n = 2^k·f`, `f` odd, it is `(a / 2)^k·(a / f)`. The second symbol is followed through the steps that find the
//! greatest common divisor; where that is not 1, the symbol is 0.
//!
//! bound: see [`symbol`]. One limb more than the longer operand has is sign.
//!
//! source: Hamburg 2021; see [`symbol`].

use warpmp_kernel::build::{Builder, Emit};
use warpmp_kernel::fragment::divsteps::{Pair, negate_where, sign};
use warpmp_kernel::fragment::symbol;
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::gcd::{BLOCK, LANE_LIMBS};
use super::shifted::lowered;

/// −1 in two bits.
const MINUS_ONE: u32 = 3;

/// Parameters of the kernel. Parameters of its launch: `a`, `n`, the result, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Jacobi {
    /// The operands.
    pub operands: [OperandShape; 2],
    /// How the numbers lie in the lanes, with a limb more.
    pub layout: Layout,
}

impl Jacobi {
    /// The usual parameters.
    pub const fn new(a: OperandShape, n: OperandShape) -> Self {
        let limbs = if a.limbs() > n.limbs() { a.limbs() } else { n.limbs() };
        Self { operands: [a, n], layout: Layout::narrow(limbs + 1, BLOCK, LANE_LIMBS) }
    }

    fn body(b: &mut Builder, frame: &Frame) {
        b.section("load");
        let spread = &frame.spread;
        let (a, n) = (frame.load(b, 0), frame.load(b, 1));
        let one = spread.small(b, 1);
        // Over zero.
        let over_zero = spread.is_zero(b, &n);
        let other: Vec<_> = a.iter().zip(&one).map(|(&a, &one)| b.xor(a, one)).collect();
        let is_one = spread.is_zero(b, &other);
        let symbol_over_zero = b.select(1, 0, is_one);
        // Over the power of two.
        let twos = spread.trailing_zeros(b, &n);
        let low = spread.broadcast(b, a[0], 0);
        let upper = b.shr(low, 1);
        let differ = b.xor(low, upper);
        let differ = b.shr(differ, 1);
        let start = b.and(differ, twos);
        let even = b.and(low, 1);
        let even = b.compare(Cmp::Eq, even, 0);
        let some = b.compare(Cmp::Ne, twos, 0);
        let both_even = b.and_pred(even, some);
        let mut f = lowered(b, frame, 1, twos);
        // Of zero nothing odd is left.
        f[0] = b.or(f[0], one[0]);
        b.section("arithmetic");
        let numbers = Pair::new(b, &f, &a);
        let parity = symbol(b, spread, &numbers);
        let negative = sign(b, spread, &numbers.first);
        let divisor = negate_where(b, spread, negative, &numbers.first);
        let one = spread.small(b, 1);
        let other: Vec<_> = divisor.iter().zip(&one).map(|(&limb, &one)| b.xor(limb, one)).collect();
        let coprime = spread.is_zero(b, &other);
        let parity = b.xor(parity, start);
        let parity = b.and(parity, 1);
        let negative = b.compare(Cmp::Ne, parity, 0);
        let found = b.select(MINUS_ONE, 1, negative);
        let found = b.select(found, 0, coprime);
        let found = b.select(0, found, both_even);
        let found = b.select(symbol_over_zero, found, over_zero);
        b.section("store");
        let found = spread.small(b, found);
        frame.store(b, 0, &found);
    }
}

impl Spec for Jacobi {
    fn name(&self) -> String {
        format!("jacobi{}{}{}", self.operands[0].name(), self.operands[1].name(), self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new(self.operands, [1]);
        vec![self.layout.stage(self.name(), signature, Self::body)]
    }

    fn wide_products(&self) -> u64 {
        let limbs = self.operands[0].limbs().max(self.operands[1].limbs());
        let batches = (49 * 32 * limbs + 80) / 17 / 30;
        4 * u64::from(batches) * u64::from(self.layout.group * self.layout.length)
    }
}
