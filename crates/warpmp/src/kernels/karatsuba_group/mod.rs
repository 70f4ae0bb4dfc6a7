//! `karatsuba/group`: full product by one to three levels of Karatsuba's method over products of `group`'s kind,
//! all in shared memory.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `max(la, lb) ≤ 2^levels·group·block`, to which both are padded; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` products a block
//! cost       `3^levels·leaf²` IMAD.WIDE a product, `leaf = group·block`; 4·(la + lb + lc) bytes of global
//!            traffic; `8·3^levels·leaf` bytes of shared memory a product, padding apart
//! registers  about 4·block + 30
//!
//! Phases, between barriers of the block: load · `evaluate` level by level · `leaves` ·
//! `interpolate` level by level · store. Products take the place of their operands
//! (`layout`), so that nothing needs room of its own.
//!
//! bound: every number fits where it stands: `|x₀ − x₁| < B^h`, products of `h` by `h` limbs have `2h`; the carries of
//! the sums are bounded in `interpolate`.
//!
//! source: Karatsuba, Ofman 1962, with the difference `|a₀ − a₁|·|b₀ − b₁|` (Knuth 4.3.3), so that no operand grows;
//! the leaves as in `group`; the layout is ours.

mod evaluate;
mod interpolate;
mod layout;
mod leaves;
pub mod part;
mod places;
mod roles;
mod square_leaves;
pub mod squares;
mod transfer;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Stage};

use super::{Algorithm, KaratsubaSettings, OperationShape, Order, Spec, With, candidates, piece, suffix, vector};
use layout::{Layout, Share, nodes};
use part::{Addend, Part};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KaratsubaGroup {
    shape: OperationShape,
    layout: Layout,
    glue: Glue,
}

/// Longest block, in limbs: what the registers hold.
const MAX_BLOCK: u32 = 32;

/// Most levels.
const MAX_LEVELS: u32 = 3;

/// Most warps a block.
const MAX_WARPS: u32 = 12;

/// Most products a block.
const MAX_PRODUCTS: u32 = 16;

/// Registers a thread: twelve warps, three a scheduler.
const REGISTERS: u32 = 168;

/// Most bytes of shared memory a block: what every GPU since `sm_80` has.
const MAX_SHARED_BYTES: u32 = 99 << 10;

/// The limbs of the longer operand that it takes.
const LIMBS: std::ops::RangeInclusive<u32> = 65..=2048;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "karatsuba/group",
    summary: "one to three levels of Karatsuba's method in shared memory over products by groups of lanes",
    accepts: "operands whose longer one has 2049 to 65536 bits",
    fits: |shape| LIMBS.contains(&shape.max_limbs()),
    order: Order::LongerFirst,
    recipe: &With::<KaratsubaSettings> {
        spec: |shape, settings, _| Box::new(KaratsubaGroup::with(shape, settings)),
        candidates: |_| candidates::karatsuba_group(1..=MAX_LEVELS),
    },
};

/// The cheapest division of a product, as far as the settings leave it open.
fn division(shape: OperationShape, settings: &KaratsubaSettings) -> Layout {
    let limbs = shape.max_limbs();
    let longest = settings.block.unwrap_or(MAX_BLOCK);
    // KaratsubaSettings that nothing satisfies give way: what the work is shared by, then the levels.
    let shared_freely = KaratsubaSettings { warps: None, products: None, ..*settings };
    let chosen = [*settings, shared_freely, KaratsubaSettings::default()].iter().find_map(|settings| {
        let candidates: Vec<Layout> = divisions(limbs, settings).collect();
        let usual = candidates.iter().filter(|it| it.block <= longest).min_by_key(|it| cost(**it));
        usual.or_else(|| candidates.iter().min_by_key(|it| (it.block, cost(**it)))).copied()
    });
    chosen.unwrap_or(Layout { levels: 3, group: 8, block: MAX_BLOCK, products: 1, warps: 7, operands: 2 })
}

/// Every division for operands of this many limbs, with the number of levels that the settings say.
fn divisions(limbs: u32, settings: &KaratsubaSettings) -> impl Iterator<Item = Layout> {
    let levels = settings.levels.map_or(1..=MAX_LEVELS, |it| it.clamp(1, MAX_LEVELS)..=it.clamp(1, MAX_LEVELS));
    let blocks = levels.flat_map(move |levels| {
        (2..=32).flat_map(move |group| {
            let block = limbs.div_ceil(group << levels);
            let mut blocks = [1, 2, 4].map(|multiple| block.next_multiple_of(multiple)).to_vec();
            blocks.dedup();
            blocks.into_iter().filter(|it| *it <= MAX_BLOCK).map(move |block| (levels, group, block))
        })
    });
    let warps = settings.warps.map_or(1..=MAX_WARPS, |it| it.clamp(1, MAX_WARPS)..=it.clamp(1, MAX_WARPS));
    let layouts = blocks.flat_map(move |(levels, group, block)| {
        let products = settings.products.map_or(1..=MAX_PRODUCTS, |it| it..=it);
        let products = products.filter(move |it| it * nodes(levels) * group <= 32 * 48);
        let warps = warps.clone();
        products.flat_map(move |products| {
            warps.clone().map(move |warps| Layout { levels, group, block, products, warps, operands: 2 })
        })
    });
    layouts.filter(|it| it.shared_bytes() <= MAX_SHARED_BYTES && it.is_possible())
}

/// What a product costs on a multiprocessor, by a model; then by the size of the block.
///
/// The model counts wide products of the busiest of the four schedulers: the steps of the leaves, with what their
/// additions and accesses are worth, for as many warps as it has; and the phases between, for all
/// blocks that a multiprocessor holds. A block that is alone waits at its barriers.
fn cost(layout: Layout) -> (u64, u32) {
    let Layout { levels, group, block, products, warps, .. } = layout;
    let registers = (4 * block + 38).next_multiple_of(8).min(REGISTERS);
    let by_registers = 65536 / (32 * registers) / warps;
    let by_shared = (228 << 10) / (layout.shared_bytes() + 1024);
    let blocks = by_registers.min(by_shared).min(32);
    if blocks == 0 {
        return (u64::MAX, layout.threads());
    }
    let step = block * block + 3 * block + block / piece(block) + 15;
    let leaves = u64::from((blocks * warps).div_ceil(4) * layout.rounds()) * u64::from(group * step + 20 * block);
    let levels = (0..levels).map(|l| u64::from(nodes(l) * layout.half(l) * block)).sum::<u64>();
    let around = u64::from(products) * (levels * 16 + u64::from(layout.length()) * 6) / 32;
    let around = around * u64::from(blocks) / 4 + if blocks < 2 { 4 * around } else { 0 };
    // Two warps a scheduler hide less than three.
    let idle = match blocks * warps {
        0..8 => 130,
        8..12 => 110,
        _ => 100,
    };
    (1000 * idle * (leaves + around) / u64::from(blocks * products), layout.threads())
}

/// Where a thread is.
struct Place {
    thread: R32,
    shared: R32,
    /// The block's first product.
    first: R32,
    /// How many of the block's products there are; none: all.
    present: Option<R32>,
}

impl Place {
    fn of_thread(b: &mut Builder, layout: Layout, lanes: R32) -> Self {
        let block = b.special(Special::Ctaid);
        let first = b.mul_lo(block, layout.products);
        // Blocks of 1, 2, 4 … products end with the tiles.
        let present = (!32_u32.is_multiple_of(layout.products)).then(|| b.sub(lanes, first));
        Self { first, present, thread: b.special(Special::Tid), shared: b.shared_base() }
    }

    /// The block's first row of `limbs` limbs.
    fn row(&self, b: &mut Builder, address: R64, limbs: u32) -> R64 {
        b.mad_wide(self.first, 4 * limbs, address)
    }
}

impl Layout {
    /// The launch.
    const fn geometry(self) -> Geometry {
        Geometry::new(self.threads(), self.products).with_shared(self.shared_bytes())
    }

    /// The product of numbers in shared memory: `leaves` multiplies those of the last level.
    fn multiply(self, b: &mut Builder, shared: R32, leaves: impl FnOnce(&mut Builder)) {
        self.multiply_and_add(b, shared, None, leaves);
    }

    /// The same, and the sum with a number.
    fn multiply_and_add(
        self,
        b: &mut Builder,
        shared: R32,
        addend: Option<&Addend>,
        leaves: impl FnOnce(&mut Builder),
    ) {
        b.section("evaluate");
        let share = |level| self.share(level).map(|share| (level, share));
        let shares: Vec<(u32, Share)> = (0..self.levels).filter_map(share).collect();
        for &(level, share) in &shares {
            self.evaluate(b, shared, level, share);
            b.barrier();
        }
        b.section("leaves");
        leaves(b);
        b.barrier();
        b.section("interpolate");
        for &(level, share) in shares.iter().rev() {
            self.interpolate(b, shared, level, share, addend.filter(|_| level == 0));
            b.barrier();
        }
    }
}

impl KaratsubaGroup {
    pub(super) fn with(shape: OperationShape, settings: &KaratsubaSettings) -> Self {
        Self { shape, layout: division(shape, settings), glue: settings.glue.unwrap_or(Glue::Every(8)) }
    }

    /// Writes the kernel, of the whole product or of a part of it; `addresses`: of the factors and of the result;
    /// `addend`: what is added to the product.
    fn write(
        &self,
        b: &mut Builder,
        [a, b_address, c]: [R64; 3],
        lanes: R32,
        part: Option<Part>,
        addend: impl FnOnce(&mut Builder, &Place) -> Option<Addend>,
    ) {
        let layout = self.layout;
        let [la, lb, lc] = self.shape.limbs();
        b.bounds(Bounds { max_threads: Some(layout.threads()), max_registers: Some(REGISTERS), ..Bounds::default() });
        b.section("load");
        let place = Place::of_thread(b, layout, lanes);
        let row_a = place.row(b, a, la);
        let (row_b, between_b) =
            if self.shape.is_common(1) { (b_address, 0) } else { (place.row(b, b_address, lb), lb) };
        let limbs = part.map_or(lc, |part| part.bits.div_ceil(32));
        let row_c = place.row(b, c, limbs);
        let addend = addend(b, &place);
        self.clear_zeros(b, &place);
        layout.load(b, &place, &[(row_a, la, la), (row_b, lb, between_b)]);
        b.barrier();
        layout.multiply_and_add(b, place.shared, addend.as_ref(), |b| self.multiply_leaves(b, &place));
        b.section("store");
        layout.store(b, &place, row_c, limbs, part);
    }

    /// Writes the block of zeros.
    fn clear_zeros(&self, b: &mut Builder, place: &Place) {
        let layout = self.layout;
        let first = b.compare(Cmp::Lt, place.thread, layout.block);
        let address = b.mad_lo(place.thread, 4, place.shared);
        let zero = b.copy(0);
        b.guarded(first, true, |g| g.store_shared(&[zero], address, 4 * layout.zeros()));
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "c"], false);
        self.write(&mut b, ports.first(), ports.lanes, None, |_, _| None);
        b.finish()
    }
}

impl Spec for KaratsubaGroup {
    fn name(&self) -> String {
        let product = self.shape.product_name();
        let Layout { levels, group, block, products, warps, .. } = self.layout;
        let suffix = suffix(self.glue, warps);
        format!("mul_karatsuba_group_{product}_l{levels}_k{block}_t{group}_p{products}{suffix}")
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.layout.geometry(), |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        u64::from(nodes(self.layout.levels)) * u64::from(self.layout.leaf()).pow(2)
    }
}
