//! `thread`: a square, one lane a thread.
//!
//! computes   c = a²             a: `la` limbs, c: `lc` = `2·la` or one less (a top limb that is zero)
//! requires   1 ≤ la ≤ 64; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block; a warp takes a tile of 32 lanes
//! cost       la·(la + 1)/2 IMAD.WIDE, about 3.5·la additions, 2·la shifts; by halves, 3·la·(la + 2)/8 IMAD.WIDE and
//!            about 5·la additions more; 4·(la + lc) bytes of global traffic a lane, every sector once
//! registers  about 3·la + 30; by halves 2.5·la + 30
//!
//! Long operands of an even number of limbs are squared by halves: one level of Karatsuba's method within the
//! thread. In and out as the products of `mul_thread`; what is the place of its second operand in shared memory takes
//! the high words of the square.
//!
//! bound: see `warpmp_kernel::fragment::{square, square_by_halves}`; no limb of the square is lost because it has `2·la` limbs, and
//! the caller drops the top one only when the operand's bits say it is zero.
//!
//! source: see there.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::{Quarters, square, square_by_halves};
use warpmp_kernel::ir::{Bounds, Kernel};
use warpmp_launch::{Entry, Geometry, Stage, piece};

use super::mul_thread::Input;
use super::tile::{PaddedTile, Place, Results, Sink, Source};
use super::{Abilities, Algorithm, OperationShape, Order, Spec, ThreadSquareSettings, With, candidates, suffix};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SqrThread {
    /// The operand.
    pub shape: OperationShape,
    /// The way in.
    pub input: Input,
    /// Is it squared by halves? Only for even numbers of limbs.
    pub halves: bool,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block.
    pub warps: u32,
}

/// Longest operand, in limbs: above it the registers do not suffice.
pub const MAX_LIMBS: u32 = 64;

/// Halves pay from this many limbs on.
const HALVES_FROM: u32 = 44;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "thread",
    summary: "one square a thread, one wide multiplication a pair of limbs",
    accepts: "operands to 2048 bits",
    fits: |shape| shape.max_limbs() <= MAX_LIMBS,
    order: Order::Given,
    recipe: &With::<ThreadSquareSettings> {
        spec: |shape, settings, Abilities { async_copies }| {
            let input = Input::usual(shape.max_limbs(), settings.input, async_copies);
            let warps = settings.warps.unwrap_or(2);
            let halves = settings.halves.unwrap_or(shape.max_limbs() >= HALVES_FROM);
            let halves = halves && shape.max_limbs().is_multiple_of(2);
            Box::new(SqrThread { shape, input, halves, glue: settings.glue.unwrap_or(Glue::Every(1)), warps })
        },
        candidates: |shape| candidates::thread_by_halves(shape.max_limbs()),
    },
};

impl SqrThread {
    const fn results(&self) -> Results {
        let [la, lc] = self.shape.limbs();
        Results { limbs: [la, la, lc] }
    }

    /// Copies the tile's operands to shared memory.
    fn fetch(&self, b: &mut Builder, a: R64, place: &Place) {
        PaddedTile::new(self.shape.max_limbs()).copy_in(b, a, place, place.shared);
        b.copy_commit();
        b.copy_wait(0);
        b.warp_barrier();
    }

    /// The square of this thread's row, into its rows of shared memory: the addresses of these.
    fn square(&self, b: &mut Builder, a: R64, place: &Place) -> [R32; 2] {
        let [la] = self.shape.limbs();
        let rows = self.results().rows(b, place);
        let direct = self.input == Input::Direct;
        b.section(if direct { "load" } else { "arithmetic" });
        let source = if direct { place.global_row(b, a, la) } else { Source::Shared(rows[0]) };
        if self.halves {
            b.section("arithmetic");
            square_by_halves(b, &Halves { source, rows, limbs: la / 2 });
            return rows;
        }
        let a = source.read_all(b, la);
        b.section("arithmetic");
        let mut sink = Sink::new(rows, [la, la]);
        for limb in square(b, &a) {
            sink.push(b, limb);
        }
        rows
    }
}

/// An operand and its square in this thread's rows.
struct Halves {
    source: Source,
    rows: [R32; 2],
    /// Limbs of half an operand.
    limbs: u32,
}

impl Halves {
    /// The row of a quarter, and where it begins there.
    const fn place(&self, quarter: u32) -> (R32, u32) {
        (self.rows[(quarter / 2) as usize], quarter % 2 * self.limbs)
    }
}

impl Quarters for Halves {
    fn half(&self, b: &mut Builder, half: u32) -> Vec<R32> {
        // Over a barrier the assembler does not load ahead: the registers are needed (168 instead of 254 at 64 limbs).
        b.warp_barrier();
        self.source.read_run(b, half * self.limbs, self.limbs)
    }

    fn load(&self, b: &mut Builder, quarter: u32) -> Vec<R32> {
        let (row, first) = self.place(quarter);
        Source::Shared(row).read_run(b, first, self.limbs)
    }

    fn store(&self, b: &mut Builder, quarter: u32, limbs: &[R32]) {
        let (row, first) = self.place(quarter);
        let width = piece(self.limbs);
        for (words, i) in limbs.chunks(width as usize).zip((first..).step_by(width as usize)) {
            b.store_shared(words, row, 4 * i);
        }
    }
}

impl SqrThread {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "c"], false);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let [a, c] = ports.first();
        let place = Place::of_warp(&mut b, self.warps, self.results().bytes(), ports.lanes);
        if self.input == Input::Staged {
            b.section("load");
            self.fetch(&mut b, a, &place);
        }
        let rows = self.square(&mut b, a, &place);
        b.section("store");
        self.results().copy_out(&mut b, &place, c, rows);
        b.finish()
    }
}

impl Spec for SqrThread {
    fn name(&self) -> String {
        let [la, lc] = self.shape.limbs();
        let halves = if self.halves { "_halves" } else { "" };
        format!("sqr_thread_{la}_{lc}{halves}_{}{}", self.input.name(), suffix(self.glue, self.warps))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_threads(self.warps).with_shared(self.warps * self.results().bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        let square = |limbs: u64| limbs * (limbs + 1) / 2;
        let la = u64::from(self.shape.max_limbs());
        if self.halves { 3 * square(la / 2) } else { square(la) }
    }
}
