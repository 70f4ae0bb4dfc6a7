//! `group` and `karatsuba/group` for squares: none to five levels of Karatsuba's method, in shared memory, over squares
//! by groups of lanes or by single lanes.
//!
//! computes   c = a²             a: `la` limbs, c: `lc` = `2·la` or one less
//! requires   `la ≤ 2^levels·group·block`, to which `a` is padded; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` squares a block
//! cost       `3^levels·leaf·(leaf + 1)/2` IMAD.WIDE a square, `leaf = group·block`, or 3/4 of it (see `square_leaves`);
//!            4·(la + lc) bytes of global traffic;
//!            `8·3^levels·leaf` bytes of shared memory a square, padding apart, and `4·block` a lane where groups square
//! registers  `3·block + 30` with single lanes, `2.5·block + 40` if they square by halves, `4·block + 40` with groups
//!
//! Phases and layout are those of the product; but only one operand is evaluated, and all three products of a level are
//! squares: `2·a₀·a₁ = a₀² + a₁² − (a₀ − a₁)²`. So there are no signs, and a leaf has no more than half its wide products.
//!
//! bound: as for the product; `a₀² + a₁² − (a₀ − a₁)² ≥ 0`.
//!
//! source: as for the product; leaves by single lanes, and the pairs of a group, are ours.

use std::ops::RangeInclusive;

use warpmp_kernel::build::{Emit, Glue};
use warpmp_kernel::ir::{Bounds, Kernel};
use warpmp_launch::{Entry, Stage};

use super::super::{
    Algorithm, KaratsubaSettings, OperationShape, Order, SharedGroupSettings, Spec, With, candidates, piece, suffix,
};
use super::layout::{Layout, nodes};
use super::{MAX_PRODUCTS, MAX_SHARED_BYTES, MAX_WARPS, Place};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SqrKaratsubaGroup {
    shape: OperationShape,
    layout: Layout,
    glue: Glue,
}

/// Longest leaf of a lane that squares by itself, in limbs: what the registers hold.
const MAX_LEAF: u32 = 48;

/// Longest half of a leaf of a lane that squares by halves.
const MAX_HALF: u32 = 32;

/// Longest block of a lane of a group.
const MAX_BLOCK: u32 = 40;

/// Most lanes a leaf.
const MAX_GROUP: u32 = 31;

/// Most levels.
const MAX_LEVELS: u32 = 5;

/// The limbs that `karatsuba/group` takes.
const LIMBS: RangeInclusive<u32> = 16..=2048;

/// A group of lanes a square.
pub(in super::super) const GROUP: Algorithm = Algorithm {
    name: "group",
    summary: "a group of lanes a square, a block of limbs a lane, every pair of blocks once",
    accepts: "operands to 39680 bits",
    fits: |shape| shape.max_limbs() <= MAX_GROUP * MAX_BLOCK,
    order: Order::Given,
    recipe: &With::<SharedGroupSettings> {
        spec: |shape, settings, _| {
            let SharedGroupSettings { warps, glue, block, products } = *settings;
            let settings = KaratsubaSettings { warps, glue, block, levels: None, products };
            Box::new(SqrKaratsubaGroup::cheapest(shape, &settings, 0..=0))
        },
        candidates: |_| candidates::shared_group(),
    },
};

/// Karatsuba's method over squares by lanes or groups.
pub(in super::super) const KARATSUBA: Algorithm = Algorithm {
    name: "karatsuba/group",
    summary: "one to five levels of Karatsuba's method in shared memory over squares by lanes or groups of lanes",
    accepts: "operands of 481 to 65536 bits",
    fits: |shape| LIMBS.contains(&shape.max_limbs()),
    order: Order::Given,
    recipe: &With::<KaratsubaSettings> {
        spec: |shape, settings, _| {
            let levels = settings.levels.map_or(1..=MAX_LEVELS, |it| it.clamp(1, MAX_LEVELS)..=it.clamp(1, MAX_LEVELS));
            Box::new(SqrKaratsubaGroup::cheapest(shape, settings, levels))
        },
        candidates: |_| candidates::square_karatsuba_group(1..=MAX_LEVELS),
    },
};

impl SqrKaratsubaGroup {
    /// The cheapest division of a square, as far as the settings leave it open.
    fn cheapest(shape: OperationShape, settings: &KaratsubaSettings, levels: RangeInclusive<u32>) -> Self {
        let longest = settings.block.unwrap_or(u32::MAX);
        // KaratsubaSettings that nothing satisfies give way one after the other: warps and products, levels, the block.
        let freed = KaratsubaSettings { warps: None, products: None, ..*settings };
        let attempts = [(levels.clone(), settings), (levels.clone(), &freed), (*levels.start()..=MAX_LEVELS, &freed)];
        let chosen = attempts.into_iter().find_map(|(levels, settings)| {
            let candidates: Vec<Layout> = divisions(shape.max_limbs(), levels, settings).collect();
            let usual = candidates.iter().filter(|it| it.block <= longest).min_by_key(|it| cost(**it));
            usual.or_else(|| candidates.iter().min_by_key(|it| (it.block, cost(**it)))).copied()
        });
        let fallback = Layout { levels: 4, group: 9, block: 15, products: 1, warps: 6, operands: 1 };
        let layout = chosen.unwrap_or(fallback);
        Self { shape, layout, glue: settings.glue.unwrap_or(Glue::Every(1)) }
    }
}

/// Every division for operands of this many limbs.
fn divisions(limbs: u32, levels: RangeInclusive<u32>, settings: &KaratsubaSettings) -> impl Iterator<Item = Layout> {
    let blocks = levels.flat_map(move |levels| {
        // Without levels a single lane would be another `thread`; groups are odd.
        let groups = (3..=MAX_GROUP).step_by(2);
        let single = [1, 2].into_iter().filter(move |_| levels > 0);
        single.chain(groups).flat_map(move |group| {
            let block = limbs.div_ceil(group << levels);
            let most = match group {
                1 => MAX_LEAF,
                2 => MAX_HALF,
                _ => MAX_BLOCK,
            };
            let mut blocks = [1, 2, 4].map(|multiple| block.next_multiple_of(multiple)).to_vec();
            blocks.dedup();
            blocks.into_iter().filter(move |it| *it <= most).map(move |block| (levels, group, block))
        })
    });
    let warps = settings.warps.map_or(1..=MAX_WARPS, |it| it.clamp(1, MAX_WARPS)..=it.clamp(1, MAX_WARPS));
    let layouts = blocks.flat_map(move |(levels, group, block)| {
        let products = settings.products.map_or(1..=MAX_PRODUCTS, |it| it..=it);
        let products = products.filter(move |it| it * nodes(levels) * group <= 32 * 48);
        let warps = warps.clone();
        let layout = move |products, warps| Layout { levels, group, block, products, warps, operands: 1 };
        products.flat_map(move |products| warps.clone().map(move |warps| layout(products, warps)))
    });
    layouts.filter(|it| it.shared_bytes() <= MAX_SHARED_BYTES && it.is_possible())
}

/// Registers a thread, about.
fn registers(layout: Layout) -> u32 {
    let registers = match layout.group {
        2 => 5 * layout.block + 24,
        1 => 3 * layout.block + 28,
        _ => 4 * layout.block + 40,
    };
    registers.next_multiple_of(8).max(64)
}

/// What a square costs on a multiprocessor, by a model; then by the size of the block.
///
/// The model counts wide products of the busiest of the four schedulers, as for the product.
fn cost(layout: Layout) -> (u64, u32) {
    let Layout { levels, group, block, products, warps, .. } = layout;
    let by_registers = 65536 / (32 * registers(layout)) / warps;
    let by_shared = (228 << 10) / (layout.shared_bytes() + 1024);
    let blocks = by_registers.min(by_shared).min(32).min(64 / warps);
    if blocks == 0 {
        return (u64::MAX, layout.threads());
    }
    let accesses = block / piece(block);
    let step = block * block + 4 * block + 2 * accesses + 20;
    let own = |block: u32| block * (block + 1) / 2 + 3 * block;
    let own =
        if layout.by_halves() { 3 * own(block) + 4 * block + 4 * accesses } else { own(block) } + 2 * accesses + 10;
    let leaf = if layout.leaf_lanes() == 1 { own } else { own + 8 * block + group / 2 * step };
    let leaves = u64::from((blocks * warps).div_ceil(4) * layout.rounds()) * u64::from(leaf);
    let levels = (0..levels).map(|l| u64::from(nodes(l) * layout.half(l) * block)).sum::<u64>();
    let around = u64::from(products) * (levels * 16 + u64::from(layout.length()) * 5) / 32;
    let around = around * u64::from(blocks) / 4 + if blocks < 2 { 4 * around } else { 0 };
    // Two warps a scheduler hide less than three.
    let idle = match blocks * warps {
        0..8 => 130,
        8..12 => 110,
        _ => 100,
    };
    (1000 * idle * (leaves + around) / u64::from(blocks * products), layout.threads())
}

impl SqrKaratsubaGroup {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let layout = self.layout;
        let [la, lc] = self.shape.limbs();
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "c"], false);
        b.bounds(Bounds {
            max_threads: Some(layout.threads()),
            // Without a bound the assembler takes more than it needs, and fewer warps fit.
            max_registers: layout.by_halves().then(|| registers(layout)),
            ..Bounds::default()
        });
        let [a, c] = ports.first();
        b.section("load");
        let place = Place::of_thread(&mut b, layout, ports.lanes);
        let row_a = place.row(&mut b, a, la);
        layout.load(&mut b, &place, &[(row_a, la, la)]);
        b.barrier();
        layout.multiply(&mut b, place.shared, |b| layout.square_leaves(b, place.shared));
        b.section("store");
        // The address is computed here so that no register holds it through the squares.
        let row_c = place.row(&mut b, c, lc);
        layout.store(&mut b, &place, row_c, lc, None);
        b.finish()
    }
}

impl Spec for SqrKaratsubaGroup {
    fn name(&self) -> String {
        let [la, lc] = self.shape.limbs();
        let Layout { levels, group, block, products, warps, .. } = self.layout;
        let suffix = suffix(self.glue, warps);
        let kind = if levels == 0 { "group".to_owned() } else { format!("karatsuba_group_l{levels}") };
        format!("sqr_{kind}_{la}_{lc}_k{block}_t{group}_p{products}{suffix}")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.layout.geometry(), |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        let square = |limbs: u32| u64::from(limbs) * u64::from(limbs + 1) / 2;
        let leaf = self.layout.leaf();
        let leaf = if self.layout.by_halves() { 3 * square(self.layout.block) } else { square(leaf) };
        u64::from(nodes(self.layout.levels)) * leaf
    }
}
