//! `sum-rotate`: full product, one word of the operands a lane of the warp.
//!
//! computes   c = a·b            a, b: at most `w` limbs, `w` = 2, 4, 8, 16 or 32 lanes a product
//! launch     32·warps threads a block, 32/w products a warp
//! cost       `w` steps of one wide product, three shuffles, five additions and selections, then a
//!            loop of at most `w − 1` rounds while any lane has a carry
//!
//! Thread `i` keeps `aᵢ` and, for the row of `bⱼ`, the running words `{u, v}` of its column; every
//! step the columns move one thread down, and the limb that leaves thread 0 is handed round through
//! `c'`. The last loop runs as often as the longest run of all-ones words demands: the paper's own
//! carry, kept here under its name.
//!
//! bound: `aᵢ·b' + {u, v} ≤ (2³²−1)² + 2⁶⁴−1 < 2⁶⁵`, hence one bit of `t`; `{t, u} + v < 2⁶⁴`. Thread
//! `w−1` never carries out of the loop because the product has `2w` words.
//!
//! source: Honda, Ito, Nakano, CANDAR 2015, Algorithm 3; Honda's dissertation § 3.3, and § 3.4 for
//! several products in a warp.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Chain, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Kernel, Shuffle, Space, Special, Vector, Vote};

use super::{MulAlgorithm, MulShape, Spec};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumRotate {
    /// The operands.
    pub shape: MulShape,
    /// Warps a block.
    pub warps: u32,
}

/// Longest operand, in limbs: a word a lane.
pub const MAX_LIMBS: u32 = 32;

/// The row of the register.
pub(super) const ALGORITHM: MulAlgorithm = MulAlgorithm {
    name: "sum-rotate",
    summary: "the paper's Algorithm 3: a word a lane, columns handed on by shuffles, carries by a loop",
    accepts: "operands to 1024 bits",
    fits: |shape| shape.limbs[0].max(shape.limbs[1]) <= MAX_LIMBS,
    longer_first: false,
    spec: |shape, settings, _| Box::new(SumRotate { shape, warps: settings.warps.unwrap_or(16) }),
};

impl SumRotate {
    /// Lanes of the warp that share a product: the paper's `w`.
    pub fn width(&self) -> u32 {
        let [la, lb, _] = self.shape.limbs;
        la.max(lb).next_power_of_two().max(2)
    }
}

impl Spec for SumRotate {
    fn name(&self) -> String {
        let [la, lb, lc] = self.shape.limbs;
        let common = if self.shape.common_b { "_common" } else { "" };
        format!("sum_rotate_{la}x{lb}_{lc}{common}_w{}", self.warps)
    }

    fn build(&self, _stage: usize) -> Kernel {
        let [la, lb, lc] = self.shape.limbs;
        let w = self.width();
        let mut b = Builder::new(&self.name(), Glue::None);
        let (a_address, b_address, c_address) = (b.param_u64("a"), b.param_u64("b"), b.param_u64("c"));
        let lanes = b.param_u32("lanes");
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let thread = b.mad_lo(block, 32 * self.warps, thread);
        let row = b.shr(thread, w.trailing_zeros());
        // The warp as a whole stays or goes: its rows start at a multiple of 32/w, and the buffers'
        // padding to 32 rows covers the rest.
        let products = 32 / w;
        let first = b.and(row, (products - 1) ^ u32::MAX);
        let outside = b.compare(Cmp::Ge, first, lanes);
        b.return_if(outside);
        let i = b.and(thread, w - 1);
        b.section("load");
        let word = |b: &mut Builder, address: R64, limbs: u32, row: Option<R32>| {
            let start = row.map_or(address, |row| b.mad_wide(row, 4 * limbs, address));
            let place = b.mad_wide(i, 4, start);
            if limbs == w {
                return b.load_global(Space::GlobalConst, Vector::V1, place, 0)[0];
            }
            let value = b.copy(0);
            let inside = b.compare(Cmp::Lt, i, limbs);
            b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[value], place, 0));
            value
        };
        let a_word = word(&mut b, a_address, la, Some(row));
        let b_word = word(&mut b, b_address, lb, (!self.shape.common_b).then_some(row));
        b.section("arithmetic");
        let (low, high) = sum_rotate(&mut b, a_word, b_word, i, w);
        b.section("store");
        let start = b.mad_wide(row, 4 * lc, c_address);
        let place = b.mad_wide(i, 4, start);
        for (word, first) in [(low, 0), (high, w)] {
            if first + w <= lc {
                b.store_global(Space::Global, &[word], place, 4 * first);
            } else if first < lc {
                let inside = b.compare(Cmp::Lt, i, lc - first);
                b.guarded(inside, true, |g| g.store_global(Space::Global, &[word], place, 4 * first));
            }
        }
        b.finish()
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        let products = self.warps * 32 / self.width();
        Grid { blocks: lanes.div_ceil(products), threads: 32 * self.warps, shared_bytes: 0 }
    }

    fn max_lanes(&self) -> u32 {
        (1 << 31) / self.width()
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.width()).pow(2)
    }
}

/// Algorithm 3 on the words in the warp's registers: the low and the high word of thread `i`.
fn sum_rotate(b: &mut Builder, a: R32, b_word: R32, i: R32, w: u32) -> (R32, R32) {
    let next = b.add(i, 1);
    let right = b.and(next, w - 1);
    let previous = b.add(i, w - 1);
    let left = b.and(previous, w - 1);
    let last: Pred = b.compare(Cmp::Eq, i, w - 1);
    let (mut u, mut v, mut c) = (b.copy(0), b.copy(0), b.copy(0));
    for j in 0..w {
        let broadcast = b.shuffle(Shuffle::Idx, b_word, j, w);
        // {t, u, v} ← a·b' + {u, v}
        let mut chain = b.chain();
        v = chain.mad_lo(a, broadcast, v);
        u = chain.mad_hi(a, broadcast, u);
        let t = chain.carry();
        let below = b.shuffle(Shuffle::Idx, v, right, w);
        let handed = b.shuffle(Shuffle::Idx, c, right, w);
        c = b.select(below, handed, last);
        v = b.select(0, below, last);
        // {u, v} ← {t, u} + v
        let mut chain = b.chain();
        v = chain.add(v, u);
        u = end_add(chain, t);
    }
    let (carry, high) = (b.copy(u), b.copy(v));
    let any_carry = |b: &mut Builder, carry: R32| {
        let some = b.compare(Cmp::Ne, carry, 0);
        b.vote(Vote::Any, some)
    };
    let some = any_carry(b, carry);
    b.if_(some, |b| {
        b.do_while(|b| {
            let from_below = b.shuffle(Shuffle::Idx, carry, left, w);
            let mut chain = b.chain();
            chain.add_into(high, high, from_below);
            let out = chain.carry();
            b.set(carry, out);
            any_carry(b, carry)
        });
    });
    (c, high)
}

/// Ends a chain with `t` plus the carry.
fn end_add(mut chain: Chain<'_>, t: R32) -> R32 {
    let sum: R32 = chain.register();
    chain.end_add(sum, t, 0);
    sum
}
