//! `comba`: full product, one lane a thread, column by column.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less (a top limb that is zero)
//! requires   1 ≤ la, lb ≤ 2048; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, one lane a thread
//! cost       la·lb wide products and la·lb additions; 2·la·lb words read, `lc` written
//! registers  about 50, whatever the length
//! scratch    la + lb limbs a lane: the operands, limb-major
//!
//! The papers' Algorithm 2: a column's sum is three words in registers, and every limb of the product
//! is written once. Its two loops, over the columns below `w` and those from `w` on, are one here:
//! column `i` takes `aⱼ·bᵢ₋ⱼ` for `max(0, i − lb + 1) ≤ j ≤ min(i, la − 1)`.
//!
//! bound: a column has at most 2048 products below 2⁶⁴, and what the column below hands on is less
//! than 2⁶⁴, so the sum stays below `2049·2⁶⁴ < 2⁹⁶`.
//!
//! source: Comba 1990; Honda, Ito, Nakano, CANDAR 2015, Algorithm 2; Honda's dissertation § 3.2.2.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::Stage;

use super::limbs::{ACCEPTS, Limbs, UNROLL, fits, operand_limbs, repeat_if_any, thread_name, thread_stage};
use warpmp::kernels::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comba {
    /// The operands.
    pub shape: OperationShape,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "comba",
    summary: "the paper's Algorithm 2: one product a thread, column by column, the sum in registers",
    accepts: ACCEPTS,
    fits,
    order: Order::LongerFirst,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Box::new(Comba { shape, warps: settings.warps.unwrap_or(1) }),
        candidates: candidates::default_alone,
    },
};

impl Spec for Comba {
    fn name(&self) -> String {
        thread_name("comba", self.shape, self.warps)
    }

    fn scratch_limbs(&self) -> u32 {
        operand_limbs(self.shape)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![thread_stage(self.name(), self.shape, self.warps, 0, |b, lane| {
            comba(b, lane.a, lane.b, lane.c);
        })]
    }

    fn wide_products(&self) -> u64 {
        self.shape.limb_products()
    }
}

/// `{t, u, v}`.
#[derive(Clone, Copy)]
struct Sum([R32; 3]);

impl Sum {
    /// `{t, u, v} ← x·y + {t, u, v}`
    fn add_product(self, b: &mut Builder, x: R32, y: R32) {
        let Self([t, u, v]) = self;
        let mut chain = b.chain();
        chain.mad_lo_into(v, x, y, v);
        chain.mad_hi_into(u, x, y, u);
        chain.end_add(t, t, 0);
    }

    /// `v ← u, u ← t, t ← 0`
    fn shift(self, b: &mut Builder) {
        let Self([t, u, v]) = self;
        b.set(v, u);
        b.set(u, t);
        b.set(t, 0);
    }
}

/// Algorithm 2: `out = x·y`. `out` may lack the top limb, and must not overlap the factors.
pub(super) fn comba(b: &mut Builder, x: Limbs, y: Limbs, out: Limbs) {
    let columns = x.len + y.len - 1;
    let sum = Sum([(); 3].map(|()| b.copy(0)));
    let (i, words) = (b.copy(0), out.cursor(b));
    b.do_while(|b| {
        column(b, x, y, i, sum);
        words.store(b, &sum.0[2..]);
        words.up(b, 1);
        sum.shift(b);
        b.increase(i, 1);
        b.compare(Cmp::Lt, i, columns)
    });
    if out.len > columns {
        words.store(b, &sum.0[2..]);
    }
}

/// Adds the products of column `i`.
fn column(b: &mut Builder, x: Limbs, y: Limbs, i: R32, sum: Sum) {
    let start = b.max(i, y.len - 1);
    let start = b.sub(start, y.len - 1);
    let end = b.min(i, x.len - 1);
    let steps = b.sub(end, start);
    let count = b.add(steps, 1);
    let partner = b.sub(i, start);
    // The second factor is read downwards: the cursor stands at the lowest of the next four limbs.
    let (xs, ys) = (x.cursor_at(b, start, 0), y.cursor_at(b, partner, UNROLL - 1));
    let fours = b.shr(count, UNROLL.trailing_zeros());
    repeat_if_any(b, fours, |b| {
        let (x_limbs, y_limbs) = (xs.load(b, UNROLL), ys.load(b, UNROLL));
        for (&x, &y) in x_limbs.iter().zip(y_limbs.iter().rev()) {
            sum.add_product(b, x, y);
        }
        xs.up(b, UNROLL);
        ys.down(b, UNROLL);
    });
    let rest = b.and(count, UNROLL - 1);
    repeat_if_any(b, rest, |b| {
        let (x, y) = (xs.limb(b, 0), ys.limb(b, UNROLL - 1));
        sum.add_product(b, x, y);
        xs.up(b, 1);
        ys.down(b, 1);
    });
}
