//! `thread`: full product, one lane a thread.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less (a top limb that is zero)
//! requires   1 ≤ la, lb ≤ 48; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block; a warp takes a tile of 32 lanes
//! cost       la·lb IMAD.WIDE, about as many carry additions (fused by ptxas) and 6·(la + lb) more;
//!            4·(la + lb + lc) bytes of global traffic a lane, every sector once
//! registers  about 3·la + 32, and lb more if the operands come directly
//!
//! A tile is contiguous in memory whatever the length. Short operands are loaded by each thread from
//! its own row (the first access brings the sectors that the next ones use). Longer ones the warp
//! copies to its own part of shared memory in 16-byte pieces (`cp.async`); each thread then reads its
//! row there, `a` whole, `b` as the rows of the product need it. Either way the product's low words go
//! to the row of `a` in shared memory, its high words to the row of `b`, and the warp copies the tile
//! of products out in 16-byte pieces in the order of addresses, whatever the length (rows that such
//! pieces would straddle are first moved together). No barrier is wider than a warp.
//!
//! banks: a row is accessed in the widest pieces its length allows; the row stride is an odd multiple
//! of the piece (padded by 16 bytes when the length is a multiple of 8 limbs), so a phase of the
//! access touches every bank once.
//!
//! bound: see `warpmp_kernel::fragment::Rows`; no limb of the product is lost because it has
//! `la + lb` limbs, and the caller drops the top one only when the operands' bits say it is zero.
//!
//! source: Comba 1990 and dissertation, Algorithm 2, for one thread a product; the staging is ours.

use serde::{Deserialize, Serialize};
use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::Rows;
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special};

use super::{MulAlgorithm, MulShape, Spec, piece, suffix, vector};

/// How the operands come from global memory to the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// Each thread reads its own row.
    Direct,
    /// The warp copies whole tiles to shared memory.
    Staged,
}

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MulThread {
    /// The operands.
    pub shape: MulShape,
    /// The way in.
    pub input: Input,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block.
    pub warps: u32,
}

/// Longest operand, in limbs: above it the registers do not suffice.
pub const MAX_LIMBS: u32 = 48;

/// Staging pays from this many limbs on.
const STAGED_FROM: u32 = 17;

/// The row of the register.
pub(super) const ALGORITHM: MulAlgorithm = MulAlgorithm {
    name: "thread",
    summary: "one product a thread, schoolbook by rows with one wide multiplication a limb product",
    accepts: "operands to 1536 bits",
    fits: |shape| shape.limbs[0].max(shape.limbs[1]) <= MAX_LIMBS,
    longer_first: false,
    spec: |shape, settings, async_copies| {
        let longest = shape.limbs[0].max(shape.limbs[1]);
        let usual = if longest < STAGED_FROM { Input::Direct } else { Input::Staged };
        let input = if async_copies { settings.input.unwrap_or(usual) } else { Input::Direct };
        let warps = settings.warps.unwrap_or(2);
        Box::new(MulThread { shape, input, glue: settings.glue_or(Glue::Every(1)), warps })
    },
};

/// A tile of 32 rows in shared memory.
#[derive(Clone, Copy, Debug)]
struct Tile {
    /// Limbs a row.
    limbs: u32,
    /// Words from row to row.
    stride: u32,
}

impl Tile {
    const fn new(limbs: u32) -> Self {
        let padding = if limbs.is_multiple_of(8) { 4 } else { 0 };
        Self { limbs, stride: limbs + padding }
    }

    const fn bytes(self) -> u32 {
        128 * self.stride
    }
}

impl MulThread {
    fn warp_bytes(&self) -> u32 {
        Tile::new(self.shape.limbs[0]).bytes() + Tile::new(self.shape.limbs[1]).bytes()
    }

    /// Copies the tile's operands to shared memory.
    fn fetch(&self, b: &mut Builder, place: &Place) {
        let tile_a = Tile::new(self.shape.limbs[0]);
        copy_in(b, tile_a, place.addresses.a, place, place.shared);
        if !self.shape.common_b {
            let region = b.add(place.shared, tile_a.bytes());
            copy_in(b, Tile::new(self.shape.limbs[1]), place.addresses.b, place, region);
        }
        b.copy_commit();
        b.copy_wait(0);
        b.warp_barrier();
    }

    /// The product of this thread's row, into its rows of shared memory: the addresses of these.
    fn product(&self, b: &mut Builder, place: &Place) -> [R32; 2] {
        let [la, lb, _] = self.shape.limbs;
        let (tile_a, tile_b) = (Tile::new(la), Tile::new(lb));
        let row_a = b.mad_lo(place.lane, 4 * tile_a.stride, place.shared);
        let row_b = b.mad_lo(place.lane, 4 * tile_b.stride, place.shared);
        let row_b = b.add(row_b, tile_a.bytes());
        let direct = self.input == Input::Direct;
        b.section(if direct { "load" } else { "arithmetic" });
        let source_a = if direct { place.global_row(b, place.addresses.a, la) } else { Source::Shared(row_a) };
        let source_b = match (self.shape.common_b, direct) {
            (true, _) => Source::Global(place.addresses.b),
            (false, true) => place.global_row(b, place.addresses.b, lb),
            (false, false) => Source::Shared(row_b),
        };
        let a = source_a.read_all(b, la);
        // Direct loads are issued together: the wait is for the memory, once.
        let ahead = direct && !self.shape.common_b;
        let mut pieces: Vec<R32> = if ahead { source_b.read_all(b, lb) } else { Vec::new() };
        b.section("arithmetic");
        let mut sink = Sink { rows: [row_a, row_b], lengths: [la, lb], words: Vec::new(), done: 0 };
        let mut rows = Rows::new(&a);
        for i in 0..lb as usize {
            if i == pieces.len() {
                pieces.extend(source_b.read(b, lb, i as u32));
            }
            let limb = rows.row(b, pieces[i]);
            sink.push(b, limb);
        }
        for limb in rows.finish(b) {
            sink.push(b, limb);
        }
        sink.rows
    }

    /// Copies the tile of products from the rows in shared memory to global memory, 16 bytes a lane and
    /// step, in the order of addresses.
    fn copy_rows_out(&self, b: &mut Builder, place: &Place) {
        let [la, lb, lc] = self.shape.limbs;
        let (tile_a, tile_b) = (Tile::new(la), Tile::new(lb));
        let base = b.mad_wide(place.tile, 128 * lc, place.addresses.c);
        let base = b.mad_wide(place.lane, 16, base);
        let columns = lc / 4;
        b.warp_barrier();
        for k in 0..columns {
            // Unit `lane + 32k` of the tile is column `unit % columns` of row `unit / columns`.
            let unit = b.add(place.lane, 32 * k);
            let row = divide(b, unit, columns, 32 * columns);
            let negative = b.mul_lo(row, columns.wrapping_neg());
            let column = b.add(unit, negative);
            let low = b.compare(Cmp::Lt, column, la / 4);
            let in_a = b.mad_lo(row, 4 * tile_a.stride, place.shared);
            let in_b = b.mad_lo(row, 4 * tile_b.stride, place.shared);
            let in_b = b.add(in_b, tile_a.bytes().wrapping_sub(4 * la));
            let start = b.select(in_a, in_b, low);
            let address = b.mad_lo(column, 16, start);
            let piece = b.load_shared(vector(4), address, 0);
            b.store_global(Space::GlobalStream, &piece, base, 512 * k);
        }
    }

    /// The same for rows whose length is no multiple of 4 limbs: each thread first moves its product to
    /// where it stands in the tile of global memory, so that the tile can be copied as it is.
    fn copy_flat_out(&self, b: &mut Builder, place: &Place, rows: [R32; 2]) {
        let [la, lb, lc] = self.shape.limbs;
        let mut product = Source::Shared(rows[0]).read_all(b, la);
        product.extend(Source::Shared(rows[1]).read_all(b, lb));
        product.truncate(lc as usize);
        b.warp_barrier();
        let row = b.mad_lo(place.lane, 4 * lc, place.shared);
        let width = piece(lc);
        for (words, i) in product.chunks(width as usize).zip((0..lc).step_by(width as usize)) {
            b.store_shared(words, row, 4 * i);
        }
        b.warp_barrier();
        let base = b.mad_wide(place.tile, 128 * lc, place.addresses.c);
        let base = b.mad_wide(place.lane, 16, base);
        let from = b.mad_lo(place.lane, 16, place.shared);
        for k in 0..lc.div_ceil(4) {
            let unit = b.add(place.lane, 32 * k);
            if 4 * (k + 1) <= lc {
                let words = b.load_shared(vector(4), from, 512 * k);
                b.store_global(Space::GlobalStream, &words, base, 512 * k);
            } else {
                let inside = b.compare(Cmp::Lt, unit, 8 * lc);
                b.guarded(inside, true, |g| {
                    let words = g.load_shared(vector(4), from, 512 * k);
                    g.store_global(Space::GlobalStream, &words, base, 512 * k);
                });
            }
        }
    }
}

impl Spec for MulThread {
    fn name(&self) -> String {
        let [la, lb, lc] = self.shape.limbs;
        let input = if self.input == Input::Direct { "direct" } else { "staged" };
        let common = if self.shape.common_b { "_common" } else { "" };
        format!("mul_thread_{la}x{lb}_{lc}{common}_{input}{}", suffix(self.glue, self.warps))
    }

    fn build(&self, _stage: usize) -> Kernel {
        let mut b = Builder::new(&self.name(), self.glue);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let addresses = Addresses { a: b.param_u64("a"), b: b.param_u64("b"), c: b.param_u64("c") };
        let lanes = b.param_u32("lanes");
        b.section("setup");
        let thread = b.special(Special::Tid);
        let warp = b.shr(thread, 5);
        let block = b.special(Special::Ctaid);
        let tile = b.mad_lo(block, self.warps, warp);
        let first_lane = b.shl(tile, 5);
        let outside = b.compare(Cmp::Ge, first_lane, lanes);
        b.return_if(outside);
        let lane = b.special(Special::Lane);
        let base = b.shared_base();
        let shared = b.mad_lo(warp, self.warp_bytes(), base);
        let place = Place { addresses, lane, shared, tile };
        if self.input == Input::Staged {
            b.section("load");
            self.fetch(&mut b, &place);
        }
        let rows = self.product(&mut b, &place);
        b.section("store");
        if self.shape.limbs.iter().all(|&limbs| piece(limbs) == 4) {
            self.copy_rows_out(&mut b, &place);
        } else {
            self.copy_flat_out(&mut b, &place, rows);
        }
        b.finish()
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        let shared_bytes = self.warps * self.warp_bytes();
        Grid { blocks: lanes.div_ceil(32 * self.warps), threads: 32 * self.warps, shared_bytes }
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.shape.limbs[0]) * u64::from(self.shape.limbs[1])
    }
}

/// Where the warp and the thread are.
struct Place {
    addresses: Addresses,
    lane: R32,
    /// The warp's part of shared memory.
    shared: R32,
    /// The warp's tile.
    tile: R32,
}

impl Place {
    fn global_row(&self, b: &mut Builder, address: R64, limbs: u32) -> Source {
        let lane = b.mad_lo(self.tile, 32, self.lane);
        Source::Global(b.mad_wide(lane, 4 * limbs, address))
    }
}

struct Addresses {
    a: R64,
    b: R64,
    c: R64,
}

/// A row of limbs to read.
#[derive(Clone, Copy)]
enum Source {
    Shared(R32),
    Global(R64),
}

impl Source {
    fn read_all(self, b: &mut Builder, limbs: u32) -> Vec<R32> {
        (0..limbs).step_by(piece(limbs) as usize).flat_map(|i| self.read(b, limbs, i)).collect()
    }

    /// The piece that starts at limb `i`.
    fn read(self, b: &mut Builder, limbs: u32, i: u32) -> Vec<R32> {
        let vector = vector(piece(limbs));
        match self {
            Self::Shared(row) => b.load_shared(vector, row, 4 * i),
            Self::Global(row) => b.load_global(Space::GlobalConst, vector, row, 4 * i),
        }
    }
}

/// Where the product's limbs go, in pieces, as they come: the row of `a`, then that of `b`. The words
/// of `b` that are overwritten have been read: limb `la + t` of the product comes after row `t`.
struct Sink {
    rows: [R32; 2],
    lengths: [u32; 2],
    words: Vec<R32>,
    done: u32,
}

impl Sink {
    fn push(&mut self, b: &mut Builder, limb: R32) {
        self.words.push(limb);
        let [la, lb] = self.lengths;
        let (row, offset, width) = if self.done < la {
            (self.rows[0], self.done, piece(la))
        } else {
            (self.rows[1], self.done - la, piece(lb))
        };
        if self.words.len() == width as usize {
            b.store_shared(&self.words, row, 4 * offset);
            self.done += width;
            self.words.clear();
        }
    }
}

/// Copies a tile of 32 rows to shared memory, 16 bytes a lane and step.
fn copy_in(b: &mut Builder, tile: Tile, address: R64, place: &Place, region: R32) {
    let pieces = 8 * tile.limbs;
    let from = b.mad_wide(place.tile, 128 * tile.limbs, address);
    let from = b.mad_wide(place.lane, 16, from);
    let flat = b.mad_lo(place.lane, 16, region);
    for k in 0..pieces.div_ceil(32) {
        let unit = b.add(place.lane, 32 * k);
        let to = if tile.stride == tile.limbs {
            flat
        } else {
            // Each row is followed by one piece of padding.
            let row = divide(b, unit, tile.limbs / 4, pieces);
            b.mad_lo(row, 16, flat)
        };
        if 32 * (k + 1) <= pieces {
            b.copy_async(16, to, 512 * k, from, 512 * k);
        } else {
            let inside: Pred = b.compare(Cmp::Lt, unit, pieces);
            b.guarded(inside, true, |g| g.copy_async(16, to, 512 * k, from, 512 * k));
        }
    }
}

/// `x / divisor` for `x < limit`, a small constant divisor: one multiplication and a shift.
///
/// Exact: with `m = ⌈2²⁰/d⌉` the error of `x·m/2²⁰` is below `x/2²⁰ < 1/d` as long as `x·(m·d − 2²⁰) < 2²⁰`.
pub(super) fn divide(b: &mut Builder, x: R32, divisor: u32, limit: u32) -> R32 {
    if divisor.is_power_of_two() {
        return b.shr(x, divisor.trailing_zeros());
    }
    let m = (1_u32 << 20).div_ceil(divisor);
    debug_assert!(limit * (m * divisor - (1 << 20)) < 1 << 20);
    let scaled = b.mul_lo(x, m);
    b.shr(scaled, 20)
}
