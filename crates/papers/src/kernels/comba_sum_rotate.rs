//! `comba/sum-rotate`: full product of any length, one warp a product, in blocks of 1024 bits.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, a warp a product
//! cost       with `n = ⌈la/32⌉` and `m = ⌈lb/32⌉` blocks: 32·n·m steps of a product in every thread
//!            (a broadcast, an IMAD.WIDE, an addition); 32 rotations (two shuffles, two selections, two
//!            additions) for up to eight block products of a column; 2·n·m block loads
//! registers  about 2·8 + 32
//!
//! Comba's order over blocks: column `k` of the result is the sum of the block products `Aᵢ·Bₖ₋ᵢ`.
//! Each is a sum-rotate: thread `l` keeps limb `l` of `Aᵢ`, the limbs of `Bⱼ` are broadcast one a step,
//! and the columns move a thread down. All products of a column stand at the same place in the same
//! step, so up to eight of them share one window and its rotation. What leaves thread 0 is final,
//! carries included, because everything below has been added. The window after the last step is the
//! upper half: it is kept as it is, words and carries apart, and the next column begins on it. Carries
//! run only once, at the very end, by ballots.
//!
//! bound: with `B = 2³²`, a pass adds `p` products a step to a window `{u, v} = X`. After the rotation
//! `X' ≤ (X + p(B−1)²)/B + B − 1 < X/B + (p+1)·B`, so a window ends below `(p+2)·B` and `u ≤ p + 1`. A column
//! of 64 products sums at most 64 such windows: far below `B²`, and `{t, u, v}` below `B³`.
//!
//! source: Honda, Ito, Nakano, CANDAR 2015, Algorithms 2 and 3; Honda's dissertation § 3.3.2. Sharing the
//! rotation within a column is ours.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space};
use warpmp_launch::{Entry, Geometry, Ports, Stage, name_suffix, thread_number};

use super::blocks::{BLOCK, Lane, Row, settle};
use warpmp::kernels::{Algorithm, ChainSettings, OperationShape, Order, Spec, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CombaSumRotate {
    /// The operands.
    pub shape: OperationShape,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block of threads.
    pub warps: u32,
}

/// Bits of the widest operand: the bound holds for columns of at most 64 block products.
pub(super) const MAX_BITS: u32 = 65536;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "comba/sum-rotate",
    summary: "a warp a product, blocks of 1024 bits in Comba's order, each product of blocks by sum-rotate",
    accepts: "operands to 65536 bits",
    order: Order::LongerFirst,
    fits: |shape| shape.max_bits() <= MAX_BITS,
    recipe: &With::<ChainSettings> {
        spec: |shape, settings, _| {
            Box::new(CombaSumRotate {
                shape,
                glue: settings.glue.unwrap_or(Glue::None),
                warps: settings.warps.unwrap_or(DEFAULT_WARPS),
            })
        },
        candidates: candidates::default_alone,
    },
};

/// Warps a block of threads, unless the settings say otherwise.
pub(super) const DEFAULT_WARPS: u32 = 4;
/// Block products that share a window, at most: two registers each.
const SHARED: u32 = 8;
/// Steps a turn of the inner loop.
const UNROLL: u32 = 4;

/// The running words of a thread's column.
#[derive(Clone, Copy, Debug)]
struct Window {
    v: R32,
    u: R32,
}

impl Window {
    fn zero(b: &mut Builder) -> Self {
        Self { v: b.copy(0), u: b.copy(0) }
    }

    fn set(self, b: &mut Builder, value: Self) {
        b.set(self.v, value.v);
        b.set(self.u, value.u);
    }

    /// Adds another window that stands at the same place.
    fn add(self, b: &mut Builder, other: Self) {
        let mut chain = b.chain();
        chain.add_into(self.v, self.v, other.v);
        chain.end_add(self.u, self.u, other.u);
    }
}

/// `c ← a·b`. `c` may leave out a top limb that is zero.
pub(super) fn comba(b: &mut Builder, lane: &Lane, factors: [Row; 2], c: Row) {
    let [n, m] = factors.map(|row| row.blocks());
    let window = Window::zero(b);
    let column = b.copy(0);
    b.do_while(|b| {
        let limb = multiply_column(b, lane, factors, column, window);
        c.store(b, lane, column, limb);
        b.increase(column, 1);
        b.compare(Cmp::Lt, column, n + m - 1)
    });
    if c.blocks() == n + m {
        let top = settle(b, lane, window.v, window.u);
        c.store(b, lane, column, top);
    }
}

/// Block `column` of the product: this thread's limb. `window` stands there, and then a block higher.
fn multiply_column(b: &mut Builder, lane: &Lane, factors: [Row; 2], column: R32, window: Window) -> R32 {
    let [n, m] = factors.map(|row| row.blocks());
    // Blocks of b from max(0, column − (n−1)) to min(column, m−1).
    let above = b.max(column, n - 1);
    let j = b.add(above, (n - 1).wrapping_neg());
    let end = b.min(column, m - 1);
    let end = b.add(end, 1);
    let left = b.sub(end, j);
    let limb = b.copy(0);
    if n.min(m) <= SHARED {
        pass(b, lane, factors, [column, j, left], window, limb);
        return limb;
    }
    let high = Window::zero(b);
    b.do_while(|b| {
        let size = b.min(left, SHARED);
        pass(b, lane, factors, [column, j, size], window, limb);
        high.add(b, window);
        // The next pass begins on what this one has left in the block.
        b.set(window.v, limb);
        b.set(window.u, 0);
        b.increase(j, size);
        b.decrease(left, size);
        b.compare(Cmp::Ne, left, 0)
    });
    window.set(b, high);
    limb
}

/// Adds to a column its products with `size` blocks of b from `j` on: one text for each size.
fn pass(b: &mut Builder, lane: &Lane, [x, y]: [Row; 2], [column, j, size]: [R32; 3], window: Window, limb: R32) {
    let after = b.add(column, 1);
    let after = b.sub(after, j);
    let i = b.sub(after, size);
    for count in 1..=x.blocks().min(y.blocks()).min(SHARED) {
        let this = b.compare(Cmp::Eq, size, count);
        b.if_(this, |b| {
            let x_limbs = x.load(b, lane, i, count);
            let y_limbs = y.load(b, lane, j, count);
            // The lowest block of a meets the highest one of b.
            let pairs: Vec<_> = x_limbs.into_iter().rev().zip(y_limbs).collect();
            sum_rotate(b, lane, &pairs, window, limb);
        });
    }
}

/// Algorithm 3, without its last loop, for several pairs of blocks whose products stand at the same
/// place. `limb` becomes the paper's `c'`, `window` its `{u, v}`.
fn sum_rotate(b: &mut Builder, lane: &Lane, pairs: &[(R32, R32)], window: Window, limb: R32) {
    let Window { v, u } = window;
    let step = b.copy(0);
    b.do_while(|b| {
        for k in 0..UNROLL {
            let source = if k == 0 { step } else { b.add(step, k) };
            let t = b.copy(0);
            for &(x, y) in pairs {
                // {t, u, v} ← a·b' + {t, u, v}
                let broadcast = b.shuffle(Shuffle::Idx, y, source, BLOCK);
                let mut chain = b.chain();
                chain.mad_lo_into(v, x, broadcast, v);
                chain.mad_hi_into(u, x, broadcast, u);
                chain.end_add(t, t, 0);
            }
            let below = b.shuffle(Shuffle::Idx, v, lane.right, BLOCK);
            let handed = b.shuffle(Shuffle::Idx, limb, lane.right, BLOCK);
            let handed = b.select(below, handed, lane.last);
            b.set(limb, handed);
            let below = b.select(0, below, lane.last);
            // {u, v} ← {t, u} + v
            let mut chain = b.chain();
            chain.add_into(v, below, u);
            chain.end_add(u, t, 0);
        }
        b.increase(step, UNROLL);
        b.compare(Cmp::Lt, step, BLOCK)
    });
}

impl CombaSumRotate {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "c"], false);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let (lane, factors, c, _) = one_warp_a_product(&mut b, &ports, self.shape, self.warps);
        b.section("arithmetic");
        comba(&mut b, &lane, factors, c);
        b.finish()
    }
}

impl Spec for CombaSumRotate {
    fn name(&self) -> String {
        let product = self.shape.product_name();
        format!("comba_sum_rotate_{product}{}", name_suffix(self.glue, self.warps))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_groups(self.warps, 32);
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        let [n, m] = [0, 1].map(|i| u64::from(self.shape.operands()[i].limbs().div_ceil(BLOCK)));
        n * m * u64::from(BLOCK).pow(2)
    }
}

/// Begins a kernel in which a warp computes a product: its place, the operands, the result, and the
/// number of the product. Warps beyond the last product end.
pub(super) fn one_warp_a_product(
    b: &mut Builder,
    ports: &Ports,
    shape: OperationShape,
    warps: u32,
) -> (Lane, [Row; 2], Row, R32) {
    let addresses: [R64; 3] = ports.first();
    b.section("setup");
    let thread = thread_number(b, 32 * warps);
    let product = b.shr(thread, BLOCK.trailing_zeros());
    let outside = b.compare(Cmp::Ge, product, ports.lanes);
    b.return_if(outside);
    let limbs: [u32; 3] = shape.limbs();
    let mut row = |i: usize, shared: bool, space| {
        let limbs = limbs[i];
        let address = if shared { addresses[i] } else { b.mad_wide(product, 4 * limbs, addresses[i]) };
        Row { address, limbs, space }
    };
    let factors = [row(0, false, Space::GlobalConst), row(1, shape.is_common(1), Space::GlobalConst)];
    let c = row(2, false, Space::Global);
    (Lane::new(b), factors, c, product)
}
