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
//! copies to its own part of shared memory in 16-byte pieces (`cp.async`, see `tile.rs`); each thread then
//! reads its row there, `a` whole, `b` as the rows of the product need it. Either way the product's low
//! words go to the row of `a` in shared memory, its high words to the row of `b`, and the warp copies the
//! tile of products out. No barrier is wider than a warp.
//!
//! bound: see `warpmp_kernel::fragment::Rows`; no limb of the product is lost because it has
//! `la + lb` limbs, and the caller drops the top one only when the operands' bits say it is zero.
//!
//! source: Comba 1990 and dissertation, Algorithm 2, for one thread a product; the staging is ours.

use serde::{Deserialize, Serialize};
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::Rows;
use warpmp_kernel::ir::{Bounds, Kernel};
use warpmp_launch::{Entry, Geometry, Stage};

use super::tile::{PaddedTile, Place, Results, Sink, Source};
use super::{Abilities, Algorithm, OperationShape, Order, Spec, ThreadSettings, With, candidates, suffix};

/// How the operands come from global memory to the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// Each thread reads its own row.
    Direct,
    /// The warp copies whole tiles to shared memory.
    Staged,
}

impl Input {
    /// The usual way for operands of this many limbs, or another that is asked for.
    pub(super) fn usual(limbs: u32, asked: Option<Self>, async_copies: bool) -> Self {
        let usual = if limbs < STAGED_FROM { Self::Direct } else { Self::Staged };
        if async_copies { asked.unwrap_or(usual) } else { Self::Direct }
    }

    /// In the name of a kernel.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Staged => "staged",
        }
    }
}

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MulThread {
    /// The operands.
    pub shape: OperationShape,
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
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "thread",
    summary: "one product a thread, schoolbook by rows with one wide multiplication a limb product",
    accepts: "operands to 1536 bits",
    fits: |shape| shape.max_limbs() <= MAX_LIMBS,
    order: Order::ShorterFirst,
    recipe: &With::<ThreadSettings> {
        spec: |shape, settings, Abilities { async_copies }| Box::new(MulThread::with(shape, settings, async_copies)),
        candidates: |shape| candidates::thread(shape.max_limbs()),
    },
};

impl MulThread {
    /// The kernel for these settings.
    pub(super) fn with(shape: OperationShape, settings: &ThreadSettings, async_copies: bool) -> Self {
        let input = Input::usual(shape.max_limbs(), settings.input, async_copies);
        Self { shape, input, glue: settings.glue.unwrap_or(Glue::Every(1)), warps: settings.warps.unwrap_or(2) }
    }

    const fn results(&self) -> Results {
        Results { limbs: self.shape.limbs() }
    }

    /// Copies the tile's operands to shared memory.
    fn fetch(&self, b: &mut Builder, addresses: &[R64; 3], place: &Place) {
        let [la, lb] = self.shape.limbs();
        let tile_a = PaddedTile::new(la);
        tile_a.copy_in(b, addresses[0], place, place.shared);
        if !self.shape.is_common(1) {
            let region = b.add(place.shared, tile_a.bytes());
            PaddedTile::new(lb).copy_in(b, addresses[1], place, region);
        }
        b.copy_commit();
        b.copy_wait(0);
        b.warp_barrier();
    }

    /// The product of this thread's row, into its rows of shared memory: the addresses of these.
    fn product(&self, b: &mut Builder, addresses: &[R64; 3], place: &Place) -> [R32; 2] {
        let [la, lb, _] = self.shape.limbs();
        let [row_a, row_b] = self.results().rows(b, place);
        let direct = self.input == Input::Direct;
        b.section(if direct { "load" } else { "arithmetic" });
        let source_a = if direct { place.global_row(b, addresses[0], la) } else { Source::Shared(row_a) };
        let source_b = match (self.shape.is_common(1), direct) {
            (true, _) => Source::Global(addresses[1]),
            (false, true) => place.global_row(b, addresses[1], lb),
            (false, false) => Source::Shared(row_b),
        };
        let a = source_a.read_all(b, la);
        // Direct loads are issued together: the wait is for the memory, once.
        let ahead = direct && !self.shape.is_common(1);
        let mut pieces: Vec<R32> = if ahead { source_b.read_all(b, lb) } else { Vec::new() };
        b.section("arithmetic");
        let mut sink = Sink::new([row_a, row_b], [la, lb]);
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
        [row_a, row_b]
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "c"], false);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let addresses = ports.first();
        let place = Place::of_warp(&mut b, self.warps, self.results().bytes(), ports.lanes);
        if self.input == Input::Staged {
            b.section("load");
            self.fetch(&mut b, &addresses, &place);
        }
        let rows = self.product(&mut b, &addresses, &place);
        b.section("store");
        self.results().copy_out(&mut b, &place, addresses[2], rows);
        b.finish()
    }
}

impl Spec for MulThread {
    fn name(&self) -> String {
        let input = self.input.name();
        let product = self.shape.product_name();
        format!("mul_thread_{product}_{input}{}", suffix(self.glue, self.warps))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_threads(self.warps).with_shared(self.warps * self.results().bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        self.shape.limb_products()
    }
}
