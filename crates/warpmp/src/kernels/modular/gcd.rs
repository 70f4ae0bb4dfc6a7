//! `gcd`: greatest common divisors.
//!
//! computes   `gcd(a, b)`; of 0 and 0 it is 0
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       about `2.1·d/30` batches of divsteps for numbers of `d` bits, at most `⌊(49d + 80)/17⌋/30`; each takes `4·length` wide
//!            products a lane and about `650 + 16·length` other instructions. Where a warp or more has one number: about `d/25.7` batches
//!            of quotients, each of `4·length` wide products and about `350 + 10·length` other instructions, and divsteps for the
//!            last three limbs
//! registers  about `6·length + 50`
//!
//! The twos that both have are taken out as the operands are read, and put back as the result is written; then one
//! of them is odd, and the steps begin with it. They end when all lanes of the warp have. Numbers that have whole warps take
//! quotients from their highest bits first, and divsteps when few limbs are left, or where numbers are far apart.
//!
//! bound: see [`divsteps`] and [`lehmer`]. One limb more than the longer operand has is sign.
//!
//! source: Bernstein and Yang 2019; Lehmer 1938.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::divsteps::{self, Pair, negate_where, sign};
use warpmp_kernel::fragment::{lehmer, select};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::shifted::{lowered, store_raised};

/// Limbs a lane, at most, unless 32 lanes need more. The steps take as long as products of 20 limbs, and each lane
/// does them, so that few lanes are best.
pub(super) const BLOCK: u32 = 17;

/// The same in the lanes of several warps.
pub(super) const LANE_LIMBS: u32 = 36;

/// Parameters of the kernel. Parameters of its launch: `a`, `b`, the result, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gcd {
    /// The operands. The result has the limbs of the longer one.
    pub operands: [OperandShape; 2],
    /// How the numbers lie in the lanes, with a limb more.
    pub layout: Layout,
}

/// The usual layout for numbers of this many limbs.
///
/// Two numbers in the halves of a warp take divsteps. A number in a whole warp takes quotients, with 0.6 as many instructions a number; four
/// numbers a warp take as many instructions a number by divsteps.
pub(super) const fn layout(limbs: u32) -> Layout {
    let layout = Layout::narrow(limbs, BLOCK, LANE_LIMBS);
    if layout.group == 16 { Layout::of_group(32).of_lanes(limbs, LANE_LIMBS) } else { layout }
}

/// A stage. Its body gets the address of the number's shared memory if the layout is one for quotients.
pub(super) fn stage<'s>(
    layout: Layout,
    name: String,
    signature: Signature,
    body: impl Fn(&mut Builder, &Frame, Option<R32>) + 's,
) -> Stage<'s> {
    if !lehmer::applies(layout.group, layout.length) {
        return layout.stage(name, signature, move |b, frame| body(b, frame, None));
    }
    let bytes = lehmer::shared_bytes(layout.length);
    layout.stage_with_shared(name, signature, bytes, move |b, frame, shared| body(b, frame, Some(shared)))
}

impl Gcd {
    /// The usual parameters.
    pub const fn new(a: OperandShape, b: OperandShape) -> Self {
        let limbs = if a.limbs() > b.limbs() { a.limbs() } else { b.limbs() };
        Self { operands: [a, b], layout: layout(limbs + 1) }
    }

    fn limbs(&self) -> u32 {
        self.operands[0].limbs().max(self.operands[1].limbs())
    }

    fn body(&self, b: &mut Builder, frame: &Frame, shared: Option<R32>) {
        b.section("load");
        let spread = &frame.spread;
        let (x, y) = (frame.load(b, 0), frame.load(b, 1));
        let both: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.or(x, y)).collect();
        let twos = spread.trailing_zeros(b, &both);
        let (x, y) = (lowered(b, frame, 0, twos), lowered(b, frame, 1, twos));
        let parity = b.and(x[0], 1);
        let parity = spread.broadcast(b, parity, 0);
        let odd = b.compare(Cmp::Ne, parity, 0);
        let (f, g) = (select(b, odd, &x, &y), select(b, odd, &y, &x));
        b.section("arithmetic");
        let numbers = Pair::new(b, &f, &g);
        if let Some(shared) = shared {
            lehmer::reduce(b, spread, shared, &numbers, None);
        }
        divsteps::greatest_common_divisor(b, spread, &numbers);
        let negative = sign(b, spread, &numbers.first);
        let divisor = negate_where(b, spread, negative, &numbers.first);
        b.section("store");
        let row = frame.result_row(b, 0);
        store_raised(b, frame, row, self.limbs(), &divisor, twos);
    }
}

impl Spec for Gcd {
    fn name(&self) -> String {
        format!("gcd{}{}{}", self.operands[0].name(), self.operands[1].name(), self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new(self.operands, [self.limbs()]);
        vec![stage(self.layout, self.name(), signature, |b, frame, shared| self.body(b, frame, shared))]
    }

    fn wide_products(&self) -> u64 {
        let bits = 32 * self.limbs();
        let by_quotients = lehmer::applies(self.layout.group, self.layout.length);
        let batches = if by_quotients { bits / lehmer::BITS } else { (49 * bits + 80) / 17 / 30 };
        4 * u64::from(batches) * u64::from(self.layout.group * self.layout.length)
    }
}
