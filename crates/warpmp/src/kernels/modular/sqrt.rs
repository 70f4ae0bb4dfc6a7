//! `sqrt`: square roots, rounded down, and what remains.
//!
//! computes   `s = ⌊√a⌋`, `r = a − s²`
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       a lane: for each two bits of `a` about `9·length + 15` instructions, in a group 30 more
//! registers  about `6·length + 40`
//!
//! By hand, two bits of `a` and one of `s` at a time: `r ← 4r + two bits`; if `4s + 1 ≤ r`, then
//! `r ← r − (4s + 1)` and the next bit of `s` is set.
//!
//! bound: before each step `r ≤ 2s` and `s < 2^i` after `i` steps, so `4r + 3 < 2^(i+3)`: three bits more than the root.
//!
//! source: the method of school, in base 2.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{assign, repeat, select};
use warpmp_kernel::ir::{Cmp, Kernel, Space, Vector};

use super::super::Spec;
use super::frame::{Frame, Signature};
use super::{Layout, Operand};

/// Parameters of the kernel. Parameters of its launch: `a`, root, remainder, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sqrt {
    /// The number.
    pub value: Operand,
    /// Its bits; the root has half as many, the remainder one more than the root.
    pub bits: u32,
    /// How root and remainder lie in the lanes, with three bits more.
    pub layout: Layout,
}

impl Sqrt {
    /// The usual parameters.
    pub const fn new(value: Operand, bits: u32) -> Self {
        Self { value, bits, layout: Layout::of(Self::limbs(bits)) }
    }

    /// Limbs of what is computed with.
    pub const fn limbs(bits: u32) -> u32 {
        (bits.div_ceil(2) + 3).div_ceil(32)
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("arithmetic");
        let spread = &frame.spread;
        let [root, rest] = [(); 2].map(|()| -> Vec<R32> { (0..spread.length).map(|_| b.copy(0)).collect() });
        let row = frame.operand_row(b, 0);
        let steps = self.bits.div_ceil(2);
        let bit = b.copy(2 * (steps - 1));
        repeat(b, steps, |b| {
            let index = b.shr(bit, 5);
            let address = b.mad_wide(index, 4, row);
            let word = b.load_global(Space::Global, Vector::V1, address, 0)[0];
            let place = b.and(bit, 31);
            let pair = b.bfe(word, place, 2);
            let lower = b.sub(bit, 2);
            b.set(bit, lower);
            let one = b.copy(1);
            let next = shifted_by_two(b, frame, &rest, pair);
            let trial = shifted_by_two(b, frame, &root, one);
            let (difference, borrow) = spread.sub(b, &next, &trial);
            let less = b.compare(Cmp::Ne, borrow, 0);
            let next = select(b, less, &next, &difference);
            assign(b, &rest, &next);
            let (doubled, _) = spread.double(b, &root);
            assign(b, &root, &doubled);
            let digit = b.select(0, 1, less);
            let digit = spread.small(b, digit);
            let low = b.or(root[0], digit[0]);
            b.set(root[0], low);
        });
        b.section("store");
        frame.store(b, 0, &root);
        frame.store(b, 1, &rest);
    }
}

/// `4x + low`.
fn shifted_by_two(b: &mut Builder, frame: &Frame, x: &[R32], low: R32) -> Vec<R32> {
    let below = frame.spread.from_below(b, x[x.len() - 1]);
    let mut shifted: Vec<R32> =
        (0..x.len()).map(|k| b.funnel_left(if k == 0 { below } else { x[k - 1] }, x[k], 2)).collect();
    let low = frame.spread.small(b, low);
    shifted[0] = b.or(shifted[0], low[0]);
    shifted
}

impl Spec for Sqrt {
    fn name(&self) -> String {
        format!("sqrt{}b{}{}", self.value.name(), self.bits, self.layout.name())
    }

    fn build(&self, _stage: usize) -> Kernel {
        let root = self.bits.div_ceil(2);
        let results = [root.div_ceil(32), (root + 1).div_ceil(32)];
        let signature = Signature { operands: &[self.value], results: &results, status: false, scratch: 0 };
        self.layout.kernel(&self.name(), &signature, |b, frame| self.body(b, frame))
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        self.layout.grid(lanes)
    }

    fn max_lanes(&self) -> u32 {
        self.layout.max_lanes()
    }

    fn wide_products(&self) -> u64 {
        0
    }
}
