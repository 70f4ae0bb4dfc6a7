//! `column-shuffle` and `column-shared`: full product, two columns of words a thread.
//!
//! computes   c = a·b            a, b: at most `w` limbs, `w` = 2, 4, 8, 16 or 32 threads a product
//! launch     32·warps threads a block, 32/w products a warp; `column-shared`: 28 bytes of shared memory
//!            a thread
//! cost       `w` steps of one wide product, two shuffles or loads of shared memory, a comparison and three
//!            moves under its condition; then a loop of at most `2w − 1` rounds while any thread has a
//!            carry
//!
//! Thread `i` sums columns `i` and `w + i` of the product: `i + 1` and `w − 1 − i` word products, so all
//! threads have `w`. In step `s` it takes `b_s` and `a_(i−s mod w)`: the lower column's while `s ≤ i`, then
//! the upper one's. Every thread changes columns in a step of its own, which as branches would run one
//! after the other; here every thread goes on adding, and keeps in passing, by three conditional moves,
//! the sum that it has after step `i`: the lower column. The upper one is the difference.
//! With shuffles `a` goes round, a thread up a step. In shared memory it lies twice in a row, so that the
//! address never wraps; products lie `3w` words apart, and no two threads meet in a bank.
//!
//! bound: both columns together have `w` products, `{t, u, v} ≤ w(B−1)² < w·B²`, so `t < w`. The parts `u` and `t`
//! go one and two columns up; the value above column `2w − 1` is zero because the product has `2w` words.
//!
//! source: Honda's dissertation, Fig. 3.3 and Table 3.3, "parallel column-based", after Kitano.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Shuffle, Vector, Vote};
use warpmp_launch::Stage;

use super::packed::{MAX_LIMBS, Packed, Place, Slots};
use super::{Algorithm, OperationShape, Order, Spec, WarpSettings, With, candidates};

/// How words go from thread to thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// By shuffles.
    Shuffle,
    /// Through shared memory.
    Shared,
}

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// The operands.
    pub shape: OperationShape,
    /// How words go from thread to thread.
    pub exchange: Exchange,
    /// Warps a block.
    pub warps: u32,
}

/// The row of the register for shuffles.
pub(super) const SHUFFLE: Algorithm = Algorithm {
    name: "column-shuffle",
    summary: "two columns of words a thread, operands handed on by shuffles, carries by a loop",
    accepts: "operands to 1024 bits",
    order: Order::ShorterFirst,
    fits,
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| spec(shape, *settings, Exchange::Shuffle),
        candidates: candidates::warps,
    },
};

/// The row of the register for shared memory.
pub(super) const SHARED: Algorithm = Algorithm {
    name: "column-shared",
    summary: "two columns of words a thread, operands in shared memory, carries by a loop",
    recipe: &With::<WarpSettings> {
        spec: |shape, settings, _| spec(shape, *settings, Exchange::Shared),
        candidates: candidates::warps,
    },
    ..SHUFFLE
};

fn fits(shape: OperationShape) -> bool {
    shape.max_limbs() <= MAX_LIMBS
}

fn spec(shape: OperationShape, settings: WarpSettings, exchange: Exchange) -> Box<dyn Spec> {
    Box::new(Column { shape, exchange, warps: settings.warps.unwrap_or(8) })
}

/// Bytes of shared memory a thread for the operands: `a` twice, and `b`.
const OPERAND_BYTES: u32 = 12;

impl Column {
    const fn frame(&self) -> Packed {
        Packed { shape: self.shape, warps: self.warps }
    }

    const fn algorithm(&self) -> &'static str {
        match self.exchange {
            Exchange::Shuffle => "column_shuffle",
            Exchange::Shared => "column_shared",
        }
    }
}

impl Spec for Column {
    fn name(&self) -> String {
        self.frame().name(self.algorithm())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let shared_bytes = if self.exchange == Exchange::Shared { OPERAND_BYTES + Slots::BYTES } else { 0 };
        vec![self.frame().stage(self.algorithm(), shared_bytes, |b, place, words| {
            let left = place.left(b);
            let first = b.compare(Cmp::Eq, place.i, 0);
            let (columns, slots) = match self.exchange {
                Exchange::Shuffle => (columns_by_shuffles(b, place, left, words), None),
                Exchange::Shared => {
                    let threads = 32 * self.warps;
                    let slots = Slots::new(b, OPERAND_BYTES * threads, threads, &place, left);
                    (columns_by_shared_memory(b, place, words), Some(slots))
                }
            };
            let up = Up { left, first, width: place.w, slots };
            run_carries(b, &up, columns)
        })]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.frame().width()).pow(2)
    }
}

/// The sum of a column of word products, low word first: the paper's `{t, u, v}`.
type Sum = [R32; 3];

fn columns_by_shuffles(b: &mut Builder, place: Place, left: R32, [x, y]: [R32; 2]) -> [Sum; 2] {
    columns(b, place, |b, s| {
        if s > 0 {
            let rotated = b.shuffle(Shuffle::Idx, x, left, place.w);
            b.set(x, rotated);
        }
        [x, b.shuffle(Shuffle::Idx, y, s, place.w)]
    })
}

fn columns_by_shared_memory(b: &mut Builder, place: Place, [x, y]: [R32; 2]) -> [Sum; 2] {
    let shared = b.shared_base();
    let group = b.sub(place.thread, place.i);
    let start = b.mad_lo(group, OPERAND_BYTES, shared);
    let own = b.mad_lo(place.i, 4, start);
    for (copy, word) in [x, x, y].into_iter().zip(0..) {
        b.store_shared(&[copy], own, 4 * place.w * word);
    }
    b.warp_barrier();
    columns(b, place, |b, s| {
        let x = b.load_shared(Vector::V1, own, 4 * (place.w - s));
        [x[0], b.load_shared(Vector::V1, start, 4 * (2 * place.w + s))[0]]
    })
}

/// The thread's two columns. `words` gives `a_(i−s mod w)` and `b_s` for step `s`.
fn columns(b: &mut Builder, place: Place, mut words: impl FnMut(&mut Builder, u32) -> [R32; 2]) -> [Sum; 2] {
    let [low, sum]: [Sum; 2] = [0; 2].map(|_| [0; 3].map(|_| b.copy(0)));
    let [v, u, t] = sum;
    for s in 0..place.w {
        let [x, y] = words(b, s);
        let mut chain = b.chain();
        chain.mad_lo_into(v, x, y, v);
        chain.mad_hi_into(u, x, y, u);
        chain.end_add(t, t, 0);
        // Thread s has its lower column.
        let changes = b.compare(Cmp::Eq, place.i, s);
        b.guarded(changes, true, |g| {
            for (low, word) in low.into_iter().zip(sum) {
                g.set(low, word);
            }
        });
    }
    // The upper column is what came after.
    let high: Sum = std::array::from_fn(|_| b.register());
    let mut chain = b.chain();
    chain.sub_into(high[0], v, low[0]);
    chain.sub_into(high[1], u, low[1]);
    chain.end_sub(high[2], t, low[2]);
    [low, high]
}

/// The way of a pair of words, one for each of a thread's columns, to the columns above.
struct Up {
    left: R32,
    first: Pred,
    width: u32,
    slots: Option<Slots>,
}

impl Up {
    /// The words of the columns below. Nothing comes from the topmost column: its word must be zero.
    fn shift(&self, b: &mut Builder, [low, high]: [R32; 2]) -> [R32; 2] {
        let [low, high] = match self.slots {
            None => [low, high].map(|word| b.shuffle(Shuffle::Idx, word, self.left, self.width)),
            Some(slots) => {
                b.warp_barrier();
                slots.exchange(b, 0, [low, high])
            }
        };
        [b.select(high, low, self.first), b.select(low, high, self.first)]
    }
}

/// Brings the columns' sums to words: `while any(u)` for both columns of a thread.
fn run_carries(b: &mut Builder, up: &Up, [[v0, u0, t0], [v1, u1, t1]]: [Sum; 2]) -> [R32; 2] {
    let words = [v0, v1];
    let arrived = up.shift(b, [u0, u1]);
    let carries = up.shift(b, [t0, t1]);
    for i in 0..2 {
        let mut chain = b.chain();
        chain.add_into(words[i], words[i], arrived[i]);
        chain.end_add(carries[i], carries[i], 0);
    }
    let any = |b: &mut Builder| {
        let both = b.or(carries[0], carries[1]);
        let some = b.compare(Cmp::Ne, both, 0);
        b.vote(Vote::Any, some)
    };
    b.while_(any, |b| {
        let arrived = up.shift(b, carries);
        for i in 0..2 {
            let mut chain = b.chain();
            chain.add_into(words[i], words[i], arrived[i]);
            let carry = chain.carry();
            b.set(carries[i], carry);
        }
    });
    words
}
