//! `karatsuba/sum-rotate`, `karatsuba2/sum-rotate`: one or two of Karatsuba's steps over
//! `comba/sum-rotate`, one warp a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   buffers padded to whole tiles of 32 lanes; scratch memory: `4·3^d·h` blocks of 32 limbs a
//!            lane, where `d` is the number of steps and `h = ⌈max(la, lb) / (32·2^d)⌉`
//! launch     32·warps threads a block, a warp a product
//! cost       `3^d·h²` block products; sums and copies in proportion to the length
//! registers  about 2·8 + 40
//!
//! A step makes of two neighbouring pieces `X₀`, `X₁` of an operand a third, `|X₁ − X₀|`:
//!
//! ```text
//! c₀ = a₀b₀    c₂ = a₁b₁    a₀b₁ + a₁b₀ = c₀ + c₂ − (a₁ − a₀)(b₁ − b₀)
//! ```
//!
//! The papers use the sums `a₁ + a₀`; differences of the same length as the pieces leave no carry bit to
//! multiply. An operand lies in scratch memory with the pieces of every step behind it: the first step
//! adds one of half its length, the second, which takes all pieces there are in pairs, three of a quarter.
//! So the `3^d` factors lie one after the other, and so do their products: a loop multiplies them. Then
//! the steps are undone, the last one first: the products of a pair are neighbours and already stand in
//! their places, and the third is added or subtracted across their border, in place.
//!
//! Limb `l` of every block is written and read by thread `l` alone: no barriers.
//!
//! bound: differences and products are exact in their lengths. A limb of the combination is a sum of four
//! words and a carry of at most 4; to subtract is to add the complement and one, and to take one from the
//! carry at the end. That end carry is not negative because `a₀b₁ + a₁b₀` is not.
//!
//! source: CANDAR 2015, Table II, rows "Karatsuba" and "Karatsuba²" of one warp with shuffles.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector};
use warpmp_launch::{Entry, Geometry, Stage, name_suffix};

use super::blocks::{BLOCK, BLOCK_BYTES, Lane, Row, add_block};
use super::comba_sum_rotate::{DEFAULT_WARPS, MAX_BITS, comba, one_warp_a_product};
use warpmp::kernels::{Algorithm, ChainSettings, OperationShape, Order, Spec, With, candidates};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KaratsubaSumRotate {
    /// The operands.
    pub shape: OperationShape,
    /// Karatsuba's steps: 1 or 2.
    pub steps: u32,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block of threads.
    pub warps: u32,
}

/// The row of the register for one step.
pub(super) const ONCE: Algorithm = Algorithm {
    name: "karatsuba/sum-rotate",
    summary: "a warp a product, one of Karatsuba's steps over comba/sum-rotate",
    accepts: "operands to 65536 bits of which one is above 1024 bits",
    order: Order::LongerFirst,
    fits: |shape| longest(shape) > BLOCK && shape.max_bits() <= MAX_BITS,
    recipe: &With::<ChainSettings> {
        spec: |shape, settings, _| spec(shape, settings, 1),
        candidates: candidates::default_alone,
    },
};

/// The row of the register for two steps.
pub(super) const TWICE: Algorithm = Algorithm {
    name: "karatsuba2/sum-rotate",
    summary: "a warp a product, two of Karatsuba's steps over comba/sum-rotate",
    accepts: "operands to 65536 bits of which one is above 2048 bits",
    fits: |shape| longest(shape) > 2 * BLOCK && shape.max_bits() <= MAX_BITS,
    recipe: &With::<ChainSettings> {
        spec: |shape, settings, _| spec(shape, settings, 2),
        candidates: candidates::default_alone,
    },
    ..ONCE
};

fn longest(shape: OperationShape) -> u32 {
    shape.max_limbs()
}

fn spec(shape: OperationShape, settings: &ChainSettings, steps: u32) -> Box<dyn Spec> {
    let (glue, warps) = (settings.glue.unwrap_or(Glue::None), settings.warps.unwrap_or(DEFAULT_WARPS));
    Box::new(KaratsubaSumRotate { shape, steps, glue, warps })
}

/// Two pieces, neighbours in memory, and a third that belongs to them.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The number of the lower one, in pieces.
    lower: u32,
    /// The number of the third.
    third: u32,
    /// Blocks a piece.
    blocks: u32,
}

impl KaratsubaSumRotate {
    /// Blocks of a factor when all steps are taken.
    const fn leaf_blocks(&self) -> u32 {
        let [la, lb, _] = self.shape.limbs();
        let longest = if la > lb { la } else { lb };
        longest.div_ceil(BLOCK << self.steps)
    }

    /// Factors, and products.
    const fn leaves(&self) -> u32 {
        3_u32.pow(self.steps)
    }

    /// The pairs of every step, in the order in which their thirds can be made.
    fn pairs(&self) -> Vec<Pair> {
        (0..self.steps)
            .flat_map(|step| {
                let blocks = self.leaf_blocks() << (self.steps - 1 - step);
                // Pairs double with the halving of pieces, and thirds add half as many.
                let count = 3_u32.pow(step);
                (0..count).map(move |pair| Pair { lower: 2 * pair, third: 2 * count + pair, blocks })
            })
            .collect()
    }

    /// Copies an operand to scratch memory, zeros behind it, and makes the thirds. A mask for each:
    /// was the upper piece less than the lower one?
    fn pieces(&self, b: &mut Builder, lane: &Lane, operand: Row, to: R64) -> Vec<R32> {
        let to = b.mad_wide(lane.number, 4, to);
        each_block(b, 0, operand.blocks(), |b, i| {
            let limb = operand.load(b, lane, i, 1)[0];
            store(b, limb, to, i, 0);
        });
        let whole = self.leaf_blocks() << self.steps;
        if operand.blocks() < whole {
            let zero = b.copy(0);
            each_block(b, operand.blocks(), whole, |b, i| store(b, zero, to, i, 0));
        }
        self.pairs().into_iter().map(|pair| difference(b, lane, to, pair)).collect()
    }
}

/// `|X₁ − X₀|` to the third piece, and a mask that tells whether `X₁ < X₀`.
fn difference(b: &mut Builder, lane: &Lane, pieces: R64, Pair { lower, third, blocks }: Pair) -> R32 {
    let [lower, upper, third] = [lower, lower + 1, third].map(|piece| piece * blocks);
    let less = b.copy(0);
    each_block(b, 0, blocks, |b, i| {
        let [x, y] = load(b, pieces, i, [upper, lower]);
        let (below, above) = (b.compare(Cmp::Lt, x, y), b.compare(Cmp::Gt, x, y));
        let (below, above) = (b.ballot(below), b.ballot(above));
        // The highest limb that differs decides, and the highest block where one does.
        let differs = b.compare(Cmp::Ne, below, above);
        let decides = b.compare(Cmp::Gt, below, above);
        let mask = b.select(u32::MAX, 0, decides);
        let mask = b.select(mask, less, differs);
        b.set(less, mask);
    });
    let greater = b.not(less);
    let carry = b.copy(1);
    each_block(b, 0, blocks, |b, i| {
        let [x, y] = load(b, pieces, i, [upper, lower]);
        let (x, y) = (b.xor(x, less), b.xor(y, greater));
        let limb = add_block(b, lane, &[x, y], carry);
        store(b, limb, pieces, i, third);
    });
    less
}

/// Undoes a step: adds to the products of a pair, which lie one after the other, what belongs across
/// their border. `minus` is a mask: is the third product to be subtracted? The third is overwritten.
fn combine(b: &mut Builder, lane: &Lane, products: R64, Pair { lower, third, blocks }: Pair, minus: R32) {
    let quarter = |n: u32| (2 * lower + n) * blocks;
    let [third_low, third_high] = [2 * third, 2 * third + 1].map(|n| n * blocks);
    let one = b.and(minus, 1);
    let carry = b.copy(one);
    each_block(b, 0, blocks, |b, i| {
        let words = load(b, products, i, [quarter(0), quarter(1), quarter(2), third_low]);
        let [c0, c1, c2, m] = words;
        let m = b.xor(m, minus);
        let limb = add_block(b, lane, &[c0, c1, c2, m], carry);
        store(b, limb, products, i, quarter(1));
        // The next quarter needs what stood here.
        store(b, c1, products, i, third_low);
    });
    each_block(b, 0, blocks, |b, i| {
        let words = load(b, products, i, [third_low, quarter(2), quarter(3), third_high]);
        let [c1, c2, c3, m] = words;
        let m = b.xor(m, minus);
        let limb = add_block(b, lane, &[c1, c2, c3, m], carry);
        store(b, limb, products, i, quarter(2));
    });
    b.decrease(carry, one);
    each_block(b, 0, blocks, |b, i| {
        let [c3] = load(b, products, i, [quarter(3)]);
        let limb = add_block(b, lane, &[c3], carry);
        store(b, limb, products, i, quarter(3));
    });
}

/// The thread's limbs of the blocks `i + offset`, whose first lies at `start`.
fn load<const N: usize>(b: &mut Builder, start: R64, i: R32, offsets: [u32; N]) -> [R32; N] {
    let place = b.mad_wide(i, BLOCK_BYTES, start);
    offsets.map(|offset| b.load_global(Space::Global, Vector::V1, place, BLOCK_BYTES * offset)[0])
}

/// Stores the thread's limb of block `i + offset`.
fn store(b: &mut Builder, limb: R32, start: R64, i: R32, offset: u32) {
    let place = b.mad_wide(i, BLOCK_BYTES, start);
    b.store_global(Space::Global, &[limb], place, BLOCK_BYTES * offset);
}

/// A loop over the numbers from `first` to before `end`; there is at least one.
fn each_block(b: &mut Builder, first: u32, end: u32, body: impl FnOnce(&mut Builder, R32)) {
    let i = b.copy(first);
    b.do_while(|b| {
        body(b, i);
        b.increase(i, 1);
        b.compare(Cmp::Lt, i, end)
    });
}

impl KaratsubaSumRotate {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "c"], true);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let (lane, factors, c, product) = one_warp_a_product(&mut b, &ports, self.shape, self.warps);
        let [.., scratch]: [R64; 4] = ports.first();
        let scratch = b.mad_wide(product, 4 * self.scratch_limbs(), scratch);
        let blocks = self.leaf_blocks();
        let area = u64::from(self.leaves() * blocks * BLOCK_BYTES);
        let [a, y, products] = [0, area, 2 * area].map(|offset| b.add64(scratch, offset));
        b.section("pieces");
        let less_a = self.pieces(&mut b, &lane, factors[0], a);
        let less_b = self.pieces(&mut b, &lane, factors[1], y);
        b.section("products");
        each_block(&mut b, 0, self.leaves(), |b, leaf| {
            let mut row = |start: R64, blocks: u32| {
                let address = b.mad_wide(leaf, blocks * BLOCK_BYTES, start);
                Row { address, limbs: blocks * BLOCK, space: Space::Global }
            };
            let (factors, product) = ([row(a, blocks), row(y, blocks)], row(products, 2 * blocks));
            comba(b, &lane, factors, product);
        });
        b.section("combination");
        let products = b.mad_wide(lane.number, 4, products);
        for (i, pair) in self.pairs().into_iter().enumerate().rev() {
            let opposite = b.xor(less_a[i], less_b[i]);
            let minus = b.not(opposite);
            combine(&mut b, &lane, products, pair, minus);
        }
        each_block(&mut b, 0, c.blocks(), |b, i| {
            let [limb] = load(b, products, i, [0]);
            c.store(b, &lane, i, limb);
        });
        b.finish()
    }
}

impl Spec for KaratsubaSumRotate {
    fn name(&self) -> String {
        let product = self.shape.product_name();
        let suffix = name_suffix(self.glue, self.warps);
        format!("karatsuba{}_sum_rotate_{product}{suffix}", self.steps)
    }

    fn scratch_limbs(&self) -> u32 {
        4 * self.leaves() * self.leaf_blocks() * BLOCK
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_groups(self.warps, 32);
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.leaves()) * u64::from(self.leaf_blocks() * BLOCK).pow(2)
    }
}
