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

use warpmp_kernel::build::{Builder, Chain, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Shuffle, Vote};
use warpmp_launch::Stage;

use super::packed::{MAX_LIMBS, Packed, Place};
use super::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumRotate {
    /// The operands.
    pub shape: OperationShape,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "sum-rotate",
    summary: "the paper's Algorithm 3: a word a lane, columns handed on by shuffles, carries by a loop",
    accepts: "operands to 1024 bits",
    fits: |shape| shape.max_limbs() <= MAX_LIMBS,
    order: Order::ShorterFirst,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| Box::new(SumRotate { shape, warps: settings.warps.unwrap_or(16) }),
        candidates: candidates::warps,
    },
};

impl SumRotate {
    const fn frame(&self) -> Packed {
        Packed { shape: self.shape, warps: self.warps }
    }
}

impl Spec for SumRotate {
    fn name(&self) -> String {
        self.frame().name("sum_rotate")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![self.frame().stage("sum_rotate", 0, sum_rotate)]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.frame().width()).pow(2)
    }
}

/// Algorithm 3 on the words in the warp's registers: the low and the high word of thread `i`.
fn sum_rotate(b: &mut Builder, place: Place, [a, b_word]: [R32; 2]) -> [R32; 2] {
    let (right, left) = (place.right(b), place.left(b));
    let w = place.w;
    let last: Pred = b.compare(Cmp::Eq, place.i, w - 1);
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
    let any_carry = |b: &mut Builder| {
        let some = b.compare(Cmp::Ne, carry, 0);
        b.vote(Vote::Any, some)
    };
    b.while_(any_carry, |b| {
        let from_below = b.shuffle(Shuffle::Idx, carry, left, w);
        let mut chain = b.chain();
        chain.add_into(high, high, from_below);
        let out = chain.carry();
        b.set(carry, out);
    });
    [c, high]
}

/// Ends a chain with `t` plus the carry.
fn end_add(mut chain: Chain<'_>, t: R32) -> R32 {
    let sum: R32 = chain.register();
    chain.end_add(sum, t, 0);
    sum
}
