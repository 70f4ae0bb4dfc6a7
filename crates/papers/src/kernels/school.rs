//! `school`: full product, one lane a thread, row by row.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less (a top limb that is zero)
//! requires   1 ≤ la, lb ≤ 2048; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, one lane a thread
//! cost       la·lb wide products and 2·la·lb additions; `la·lb` words written, twice as many read
//! registers  at most 64, whatever the length
//! scratch    2·(la + lb) limbs a lane: the operands, limb-major, and the product while it grows
//!
//! The papers' Algorithm 1: the product accumulates in memory, `b` limb by limb. The first row finds
//! nothing to add to and writes alone, which is line 1 of the algorithm and the paper's count.
//!
//! bound: `aᵢ·bⱼ + c + u ≤ (2³²−1)² + 2·(2³²−1) = 2⁶⁴ − 1`, so `{u, v}` holds it; `aᵢ·bⱼ + c` alone is
//! less still, so that no product carries out of its own pair. (Line 8 is `c_{w+j} ← u`.)
//!
//! source: Honda, Ito, Nakano, CANDAR 2015, Algorithm 1; Honda's dissertation § 3.2.1.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_launch::Stage;

use super::limbs::{ACCEPTS, Cursor, Lane, Limbs, fits, operand_limbs, repeat, thread_name, thread_stage, walk};
use warpmp::kernels::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct School {
    /// The operands.
    pub shape: OperationShape,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "school",
    summary: "the paper's Algorithm 1: one product a thread, row by row, the sum in memory",
    accepts: ACCEPTS,
    fits,
    order: Order::LongerFirst,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Box::new(School { shape, warps: settings.warps.unwrap_or(1) }),
        candidates: candidates::default_alone,
    },
};

impl Spec for School {
    fn name(&self) -> String {
        thread_name("school", self.shape, self.warps)
    }

    fn scratch_limbs(&self) -> u32 {
        operand_limbs(self.shape) + self.product_limbs()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![thread_stage(self.name(), self.shape, self.warps, self.product_limbs(), |b, lane| {
            school(b, lane);
            b.section("store");
            lane.scratch.part(0, lane.c.len).copy_to(b, lane.c);
        })]
    }

    fn wide_products(&self) -> u64 {
        self.shape.limb_products()
    }
}

impl School {
    fn product_limbs(&self) -> u32 {
        self.shape.limbs::<2>().iter().sum()
    }
}

/// Algorithm 1.
fn school(b: &mut Builder, lane: &Lane) {
    let (limbs, sums) = (lane.b.cursor(b), lane.scratch.cursor(b));
    let limb = limbs.limb(b, 0);
    row(b, lane.a, limb, sums, false);
    if lane.b.len == 1 {
        return;
    }
    let rows = b.copy(lane.b.len - 1);
    repeat(b, rows, |b| {
        limbs.up(b, 1);
        sums.up(b, 1);
        let limb = limbs.limb(b, 0);
        row(b, lane.a, limb, sums, true);
    });
}

/// Lines 3 to 8: the row of a limb of `b`, added to what is there or written to a fresh place.
fn row(b: &mut Builder, a: Limbs, limb: R32, start: Cursor, add: bool) {
    let high = b.copy(0);
    let (a_limbs, sums) = (a.cursor(b), start.fork(b));
    walk(b, a.len, &[a_limbs, sums], |b, n| {
        let words = a_limbs.load(b, n);
        let before = if add { sums.load(b, n) } else { Vec::new() };
        let mut after = Vec::new();
        for (k, &word) in words.iter().enumerate() {
            // {u, v} ← aᵢ·bⱼ + c + u
            let low: R32 = b.register();
            let mut chain = b.chain();
            match before.get(k) {
                Some(&c) => chain.mad_lo_into(low, word, limb, c),
                None => chain.mad_lo_into(low, word, limb, 0),
            }
            let product_high: R32 = chain.register();
            chain.end_mad_hi(product_high, word, limb, 0);
            let mut chain = b.chain();
            chain.add_into(low, low, high);
            chain.end_add(high, product_high, 0);
            after.push(low);
        }
        sums.store(b, &after);
    });
    sums.store(b, &[high]);
}
