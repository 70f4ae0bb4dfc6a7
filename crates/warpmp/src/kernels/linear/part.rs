//! `thread` for parts of products: `mul_lo`, `mul_hi` and `mul_add`, a row a thread.
//!
//! computes   of a·b the low limbs, the high ones, or all of them plus c; factors of `lx` and `ly` limbs
//! requires   5 ≤ max(lx, ly) ≤ 48, an addend no longer than the longer factor; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block; a warp takes a tile of 32 lanes; shared memory: `ly` limbs and the longer of `lx`
//!            with the addend and of the result, 128 bytes a limb and warp, 4 of a common operand
//! cost       `mul_lo`: `L(L+1)/2` products for `L` by `L` limbs, `L` of them low ones; else lx·ly wide ones; about
//!            4·L additions; every sector of operands and result once
//! registers  about 3·lx + 40
//!
//! One factor, `x`, is in registers as a whole, limbs of the other come from shared memory when their rows do, and limbs
//! of the result go there when they are complete. An addend costs nothing: it is what the accumulators begin with. The
//! result takes the place of `x` and of the addend, once all threads have read these.
//!
//! bound: `(B^lx − 1)(B^ly − 1) + B^lx − 1 < B^(lx+ly)`: rows on top of an addend of `lx` limbs fit their window. The
//! high part is cut from the whole product, all of whose carries are there; what is below it is computed and dropped.
//! source: `warpmp_kernel::fragment::{Rows, LowRows}`; ours.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{LowRows, Rows};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space};

use super::thread::{MAX_SHARED_BYTES, is_staged};
use crate::kernels::tile::Place;
use crate::kernels::{OperandShape, OperationShape, Spec, ThreadSettings, suffix};
use crate::operation::Operation;
use warpmp_kernel::build::Glue;
use warpmp_launch::{Entry, Geometry, Stage, Tile, TileRow, piece, vector};

/// Longest factor, in limbs: above it the registers do not suffice.
const MAX_LIMBS: u32 = 48;

/// Longest factor whose rows are better read where they lie, several tiles a warp.
const SHORT_LIMBS: u32 = 4;

/// Registers of a multiprocessor.
const REGISTERS: u32 = 1 << 16;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartThread {
    /// The operation with its operands.
    pub shape: OperationShape,
    /// Are rows copied to shared memory asynchronously?
    pub asynchronous: bool,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block.
    pub warps: u32,
}

/// Does the kernel take them?
pub(super) fn fits(shape: OperationShape) -> bool {
    if !matches!(shape.operation, Operation::MulLo | Operation::MulHi | Operation::MulAdd) {
        return false;
    }
    let longer = factors(shape).map(|i| shape.operands()[i].limbs()).into_iter().fold(0, u32::max);
    let addend = shape.operands().get(2).map_or(0, |c| c.limbs());
    (SHORT_LIMBS + 1..=MAX_LIMBS).contains(&longer) && addend <= longer
}

/// Which operand is held in registers, and which is read row by row. The result's limbs are no more than those that the
/// first leaves free, and its accumulators hold an addend.
fn factors(shape: OperationShape) -> [usize; 2] {
    let [a, b] = [0, 1].map(|i| shape.operands()[i].limbs());
    let longer_first = shape.operation != Operation::MulHi;
    if (a < b) == longer_first && a != b { [1, 0] } else { [0, 1] }
}

/// A factor or an addend on its way to the registers.
enum Source {
    /// It is there.
    Registers(Vec<R32>),
    /// The row of all threads, in shared memory at this address.
    Common(R32),
    /// The thread's row in shared memory.
    Shared(TileRow),
}

impl Source {
    /// The piece that begins at limb `i` of a row of `limbs`.
    fn read(&self, b: &mut Builder, limbs: u32, i: u32) -> Vec<R32> {
        let width = piece(limbs);
        match self {
            Self::Registers(words) => words[i as usize..][..width as usize].to_vec(),
            Self::Common(address) => b.load_shared(vector(width), *address, 4 * i),
            Self::Shared(row) => row.read_piece(b, i),
        }
    }

    fn read_all(&self, b: &mut Builder, limbs: u32) -> Vec<R32> {
        (0..limbs).step_by(piece(limbs) as usize).flat_map(|i| self.read(b, limbs, i)).collect()
    }
}

impl PartThread {
    pub(super) fn new(shape: OperationShape, settings: &ThreadSettings, asynchronous: bool) -> Self {
        let glue = settings.glue.unwrap_or(Glue::Every(1));
        let mut spec = Self { shape, asynchronous, glue, warps: settings.warps.unwrap_or(2) };
        spec.warps = spec.warps.min(MAX_SHARED_BYTES / spec.warp_bytes().max(1)).max(1);
        spec
    }

    /// Registers a thread, at most: the multiplicand, two rows of accumulators, addresses.
    fn usual_registers(&self) -> u32 {
        3 * self.operand(factors(self.shape)[0]).limbs() + 56
    }

    fn operand(&self, i: usize) -> OperandShape {
        self.shape.operands()[i]
    }

    fn result_limbs(&self) -> u32 {
        self.shape.results()[0].div_ceil(32)
    }

    /// The operands in the order of their places: `y`, whose place remains its own, then `x` and the addend.
    fn order(&self) -> Vec<usize> {
        let [x, y] = factors(self.shape);
        [y, x].into_iter().chain(2..self.shape.operands().len()).collect()
    }

    /// Bytes of shared memory of an operand. Of a common one there is a row: read from global memory, it would be loaded
    /// ahead as a whole, for which there are no registers.
    fn room(&self, i: usize) -> u32 {
        let OperandShape { common, .. } = self.operand(i);
        match self.operand(i).limbs() {
            limbs if !is_staged(limbs) => 0,
            limbs if common => (4 * limbs).next_multiple_of(16),
            limbs => Tile::new(limbs).bytes(),
        }
    }

    /// Where the result is in a warp's part of shared memory.
    fn result_offset(&self) -> u32 {
        self.room(self.order()[0])
    }

    /// Shared memory of a warp.
    fn warp_bytes(&self) -> u32 {
        let after_y: u32 = self.order()[1..].iter().map(|&i| self.room(i)).sum();
        let result = if is_staged(self.result_limbs()) { Tile::new(self.result_limbs()).bytes() } else { 0 };
        self.result_offset() + after_y.max(result)
    }

    /// Brings the operands to shared memory, and those that do not go there to registers: by their numbers.
    fn load(&self, b: &mut Builder, addresses: &[R64], place: &Place) -> Vec<Source> {
        let mut sources: Vec<Option<Source>> = addresses.iter().map(|_| None).collect();
        let mut offset = 0;
        for i in self.order() {
            let (limbs, room) = (self.operand(i).limbs(), self.room(i));
            if room == 0 {
                continue;
            }
            let region = b.add(place.shared, offset);
            offset += room;
            sources[i] = Some(if self.operand(i).common {
                self.copy_row(b, place, addresses[i], region, limbs);
                Source::Common(region)
            } else {
                let tile = Tile::new(limbs);
                let source = b.mad_wide(place.tile, 128 * limbs, addresses[i]);
                tile.copy_in(b, place.lane, source, region, self.asynchronous);
                Source::Shared(tile.row(b, place.lane, region))
            });
        }
        let mut all = Vec::new();
        for (i, source) in sources.into_iter().enumerate() {
            all.push(source.unwrap_or_else(|| {
                let OperandShape { common, .. } = self.operand(i);
                let limbs = self.operand(i).limbs();
                let lane = b.mad_lo(place.tile, 32, place.lane);
                let row = if common { addresses[i] } else { b.mad_wide(lane, 4 * limbs, addresses[i]) };
                Source::Registers(b.load_global(Space::GlobalConst, vector(limbs), row, 0))
            }));
        }
        if offset > 0 {
            if self.asynchronous {
                b.copy_commit();
                b.copy_wait(0);
            }
            b.warp_barrier();
        }
        all
    }

    /// Copies a row of all threads to shared memory, a word a lane and step.
    fn copy_row(&self, b: &mut Builder, place: &Place, address: R64, region: R32, limbs: u32) {
        let from = b.mad_wide(place.lane, 4, address);
        let to = b.mad_lo(place.lane, 4, region);
        for first in (0..limbs).step_by(32) {
            let inside = b.compare(Cmp::Lt, place.lane, limbs - first);
            b.guarded(inside, true, |g| {
                if self.asynchronous {
                    return g.copy_async(4, to, 4 * first, from, 4 * first);
                }
                let word = g.load_global(Space::GlobalConst, vector(1), from, 4 * first);
                g.store_shared(&word, to, 4 * first);
            });
        }
    }

    /// Multiplies; the result's limbs go to `sink` as they come.
    fn multiply(&self, b: &mut Builder, sources: &[Source], sink: &mut Sink) {
        let [x, y] = factors(self.shape);
        let (lx, ly) = (self.operand(x).limbs(), self.operand(y).limbs());
        let limbs = sources[x].read_all(b, lx);
        let addend = sources.get(2).map(|c| c.read_all(b, self.operand(2).limbs()));
        if sink.row.is_some() {
            // The result takes the place of what all threads have read by then.
            b.warp_barrier();
        }
        b.section("arithmetic");
        let mut factor: Vec<R32> = Vec::new();
        let mut limb_of_y = |b: &mut Builder, i: u32| {
            if i as usize == factor.len() {
                factor.extend(sources[y].read(b, ly, i));
            }
            factor[i as usize]
        };
        if self.shape.operation == Operation::MulLo {
            let mut rows = LowRows::new(&limbs);
            for i in 0..ly {
                let factor = limb_of_y(b, i);
                let limb = rows.row(b, factor);
                sink.push(b, limb);
            }
            for limb in rows.finish(b) {
                sink.push(b, limb);
            }
            return;
        }
        let mut rows = match addend {
            None => Rows::new(&limbs),
            Some(addend) => {
                let zero = b.copy(0);
                let window = addend.into_iter().chain(std::iter::repeat(zero)).take(lx as usize);
                Rows::on(b, &limbs, &window.collect::<Vec<R32>>())
            }
        };
        for i in 0..ly {
            let factor = limb_of_y(b, i);
            let limb = rows.row(b, factor);
            sink.push(b, limb);
        }
        for limb in rows.finish(b) {
            sink.push(b, limb);
        }
    }
}

/// Where the result's limbs go, in pieces, as those of the product come.
struct Sink {
    /// The row in shared memory; none: the row lies in global memory.
    row: Option<TileRow>,
    global: R64,
    bits: u32,
    /// Limbs, and then bits, of the product below the result.
    skip: u32,
    shift: u32,
    /// The limb before, where bits are skipped.
    before: Option<R32>,
    words: Vec<R32>,
    done: u32,
}

impl Sink {
    const fn limbs(&self) -> u32 {
        self.bits.div_ceil(32)
    }

    /// Takes the next limb of the product. What is above the result is zero. (A high part that begins within limb `l − 1` of
    /// the longer factor's `l` ends one limb below the product's highest: its limbs always have one above them.)
    fn push(&mut self, b: &mut Builder, limb: R32) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.shift == 0 {
            self.put(b, limb);
            return;
        }
        if let Some(before) = self.before.replace(limb) {
            let word = b.funnel_right(before, limb, self.shift);
            self.put(b, word);
        }
    }

    fn put(&mut self, b: &mut Builder, word: R32) {
        let index = self.done + self.words.len() as u32;
        if index >= self.limbs() {
            return;
        }
        let rest = self.bits % 32;
        let word = if index + 1 == self.limbs() && rest > 0 { b.and(word, (1 << rest) - 1) } else { word };
        self.words.push(word);
        if self.words.len() == piece(self.limbs()) as usize {
            match &self.row {
                Some(row) => row.write_piece(b, self.done, &self.words),
                None => b.store_global(Space::GlobalStream, &self.words, self.global, 4 * self.done),
            }
            self.done += self.words.len() as u32;
            self.words.clear();
        }
    }
}

impl PartThread {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let operands = self.shape.operands().len();
        let names = [&["a", "b", "c"][..operands], &["result0"]].concat();
        let (mut b, ports) = entry.open(&self.name(), self.glue, &names, false);
        let (operands, result) = (&ports.addresses[..operands], ports.addresses[operands]);
        // Left alone, ptxas would rather spill a few limbs of a short factor than give up a block of threads.
        let is_short = self.operand(factors(self.shape)[0]).limbs() <= 40;
        let min_blocks = is_short.then(|| (REGISTERS / (32 * self.warps * self.usual_registers())).max(1));
        b.bounds(Bounds { max_threads: Some(32 * self.warps), min_blocks, max_registers: None });
        let place = Place::of_warp(&mut b, self.warps, self.warp_bytes(), ports.lanes);
        b.section("load");
        let sources = self.load(&mut b, operands, &place);
        let limbs = self.result_limbs();
        let tile = Tile::new(limbs);
        let region = b.add(place.shared, self.result_offset());
        let row = is_staged(limbs).then(|| tile.row(&mut b, place.lane, region));
        let lane = b.mad_lo(place.tile, 32, place.lane);
        let global = b.mad_wide(lane, 4 * limbs, result);
        let below = if self.shape.operation == Operation::MulHi { self.shape.max_bits() } else { 0 };
        let (skip, shift) = (below / 32, below % 32);
        let bits = self.shape.results()[0];
        let mut sink = Sink { row, global, bits, skip, shift, before: None, words: Vec::new(), done: 0 };
        self.multiply(&mut b, &sources, &mut sink);
        if sink.row.is_some() {
            b.section("store");
            b.warp_barrier();
            let target = b.mad_wide(place.tile, 128 * limbs, result);
            tile.copy_out(&mut b, place.lane, target, region);
        }
        b.finish()
    }
}

impl Spec for PartThread {
    fn name(&self) -> String {
        let way = if self.asynchronous { "thread" } else { "thread_plain" };
        format!("{}_{way}{}", self.shape.name(), suffix(self.glue, self.warps))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_threads(self.warps).with_shared(self.warps * self.warp_bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        let [x, y] = factors(self.shape).map(|i| u64::from(self.operand(i).limbs()));
        if self.shape.operation == Operation::MulLo { (0..y).map(|row| x - row).sum() } else { x * y }
    }
}
