//! `group`: full product of any length, a group of lanes a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, 32/group products a warp; shared memory: see `staged.rs`
//! cost       passes·group·⌈lb/k⌉·k² IMAD.WIDE a product, that is la·lb where `k` divides both;
//!            one shuffle for `k` products
//! registers  about 5·k + 40
//!
//! Lane `l` of the group keeps block `l` of `a` (`k` limbs) and meets the blocks of `b` one after
//! the other: at step `s` its product stands at block `l + s` of the result. It adds its own window
//! (the high half of its last product) and the block that left lane `l + 1` in the last step, which
//! stands at `(l+1) + (s−1) = l + s` too. What leaves lane 0 is final. In the end the windows and the
//! last blocks are added, and the carries run through the group in constant time.
//! A longer `a` takes several passes, each on top of what the ones before have stored.
//!
//! Blocks come from memory and go there in one of two ways: directly, by each lane's own accesses
//! (`direct.rs`), or staged in shared memory (`staged.rs`), where rows do not allow accesses of 16 bytes.
//! What is asked for may be a part of the product, or a sum (`part.rs`); low halves have an order of their own (`low.rs`).
//!
//! bound: `(B^k−1)² + 2(B^k−1) = B^(2k) − 1`: a product, a window and an incoming block just fit.
//! The last sum's carry into the lane above is at most 1, and the top lane has none, because the
//! whole result fits in its blocks.
//!
//! source: the systolic order is that of the dissertation's sum-rotate with blocks for words; ours.

mod direct;
pub mod low;
pub mod part;
mod staged;
mod tile;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::{Rows, add_limbs, resolve_carries};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle};
use warpmp_launch::{Entry, Geometry, GroupLane, Stage};

use super::mul_thread::Input;
use super::{Algorithm, GroupSettings, OperationShape, Order, Spec, With, candidates, piece, suffix};
use part::Part;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MulGroup {
    /// The operands.
    pub shape: OperationShape,
    /// Limbs a block.
    pub block: u32,
    /// Lanes a product: a power of two, at most 32.
    pub group: u32,
    /// The way between memory and registers; staged where [`MulGroup::can_stage`] says so.
    pub input: Input,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block of threads.
    pub warps: u32,
}

/// Longest block, in limbs: what the registers hold.
const MAX_BLOCK: u32 = 32;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "group",
    summary: "a group of lanes a product, a block of limbs a lane, blocks handed on by shuffles",
    accepts: "operands to 65536 bits",
    fits: |shape| shape.is_within_group(),
    order: Order::LongerFirst,
    recipe: &With::<GroupSettings> {
        spec: |shape, settings, _| Box::new(MulGroup::with(shape, settings)),
        candidates: |shape| candidates::group(shape.max_limbs()),
    },
};

/// The lane and its product.
struct Place {
    /// Addresses of the operands and of the result in global memory.
    a: R64,
    b: R64,
    c: R64,
    /// This lane's product.
    row: R32,
    /// The first product of the warp.
    first_row: R32,
    /// This lane's number in its group.
    member: R32,
}

/// What tells the ends of a group from its other lanes: masks, because predicates that live through the
/// carry chains would be spilled.
struct Ends {
    /// All ones in the bottom lane, else zero.
    bottom: R32,
    /// Zero in the top lane, else all ones.
    below_top: R32,
}

/// The way of blocks between memory and registers.
trait Way {
    /// Block `step` of `b`.
    fn multiplier(&self, b: &mut Builder, step: R32) -> Vec<R32>;

    /// Where the block that leaves lane 0 at `step` belongs.
    fn target(&self, b: &mut Builder, step: R32) -> R32;

    /// Lane 0 puts the block that left it where it belongs.
    fn put(&self, b: &mut Builder, ends: &Ends, target: R32, block: &[R32]);

    /// The last lane takes what earlier passes left for it; `incoming` stays as it is where there is
    /// nothing.
    fn refill(&self, _b: &mut Builder, _step: R32, _target: R32, _incoming: &[R32]) {}
}

impl MulGroup {
    /// Writes the kernel; `addresses`: of the factors and of the result.
    fn write(&self, b: &mut Builder, addresses: [R64; 3], lanes: R32, part: &Part) {
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let GroupLane { thread, number, row, first_row } = GroupLane::enter(b, lanes, self.group, self.warps);
        let member = b.and(number, self.group - 1);
        let [a, b_address, c] = addresses;
        let place = Place { a, b: b_address, c, row, first_row, member };
        match self.input {
            Input::Direct => self.direct(b, &place, part),
            Input::Staged => self.staged(b, &place, thread, part),
        }
    }

    /// The launch.
    fn geometry(&self) -> Geometry {
        Geometry::of_groups(self.warps, self.group).with_shared(self.shared_bytes())
    }

    /// The kernel for these settings.
    pub(super) fn with(shape: OperationShape, settings: &GroupSettings) -> Self {
        let mut spec = Self::cheapest(shape, settings);
        // Steps that follow each other keep one chain at a time in flight by themselves.
        spec.glue = settings.glue.unwrap_or(if spec.steps() > 1 { Glue::None } else { Glue::Every(2) });
        spec
    }

    /// The cheapest division of a product: limbs a block, lanes a group.
    fn cheapest(shape: OperationShape, settings: &GroupSettings) -> Self {
        let aligned = shape.limbs::<3>().iter().all(|&limbs| piece(limbs) == 4);
        let usual = if aligned { Input::Direct } else { Input::Staged };
        let candidate = |block| {
            let group = shape.operands()[0].limbs().div_ceil(block).next_power_of_two().min(32);
            let (input, warps) = (settings.input.unwrap_or(usual), settings.warps.unwrap_or(2));
            let mut spec = Self { shape, block, group, input, glue: Glue::None, warps };
            if !spec.can_stage() {
                spec.input = Input::Direct;
            }
            spec
        };
        // More limbs than this would not fit in the registers of a lane.
        let longest = settings.block.unwrap_or(MAX_BLOCK).min(MAX_BLOCK);
        (2..=longest)
            .map(candidate)
            .fold(candidate(1), |best, next| if next.cost() < best.cost() { next } else { best })
    }

    /// The model counts a step in wide products: `k²` of them, the sums and shuffles of `k` limbs, and
    /// what the accesses to memory cost (measured: one to single words of global memory is worth about
    /// 14 products; one to shared memory is issued beside them). Both operands are padded to whole
    /// blocks.
    fn cost(&self) -> u64 {
        let k = self.block;
        let accesses = match self.input {
            Input::Direct => 14 * (k / self.shape.limbs::<2>().iter().fold(piece(k), |width, &n| width.min(piece(n)))),
            Input::Staged => 2 * (k / piece(k)),
        };
        self.blocks() * u64::from(k * k + 6 * k + accesses + 20)
    }

    /// How often the group goes over `b`.
    pub const fn passes(&self) -> u32 {
        self.shape.limbs::<1>()[0].div_ceil(self.block * self.group)
    }

    /// Blocks of `b`.
    const fn steps(&self) -> u32 {
        self.shape.limbs::<2>()[1].div_ceil(self.block)
    }

    /// Products of a block by a block.
    fn blocks(&self) -> u64 {
        u64::from(self.passes()) * u64::from(self.group) * u64::from(self.steps())
    }

    /// Which end of its group this lane is.
    fn ends(&self, b: &mut Builder, member: R32) -> Ends {
        let is_bottom = b.compare(Cmp::Eq, member, 0);
        let is_top = b.compare(Cmp::Eq, member, self.group - 1);
        Ends { bottom: b.select(u32::MAX, 0, is_bottom), below_top: b.select(0, u32::MAX, is_top) }
    }

    /// Multiplies this lane's block of `a`, on top of `window`, by all of `b`; the blocks that leave the
    /// group go their way. What remains: the top `group` blocks of the result.
    fn sweep(&self, b: &mut Builder, ends: &Ends, way: &impl Way, a: &[R32], window: &[R32]) -> Vec<R32> {
        let incoming: Vec<R32> = a.iter().map(|_| b.copy(0)).collect();
        let step = b.copy(0);
        b.do_while(|b| {
            b.section("arithmetic");
            let multiplier = way.multiplier(b, step);
            let mut rows = Rows::on(b, a, window);
            let gone: Vec<R32> = multiplier.iter().map(|&y| rows.row(b, y)).collect();
            let (gone, high) = rows.finish_adding(b, &gone, &incoming);
            let target = way.target(b, step);
            way.put(b, ends, target, &gone);
            for (&register, &limb) in incoming.iter().zip(&gone) {
                self.hand_down(b, ends, register, limb);
            }
            way.refill(b, step, target, &incoming);
            for (&register, &limb) in window.iter().zip(&high) {
                b.set(register, limb);
            }
            b.increase(step, 1);
            b.compare(Cmp::Lt, step, self.steps())
        });
        b.section("store");
        let (sum, carry) = add_limbs(b, window, &incoming);
        let carries = b.compare(Cmp::Ne, carry, 0);
        resolve_carries(b, &sum, carries, self.group)
    }

    /// `register ←` the limb that left the lane above; zero in the top lane.
    fn hand_down(&self, b: &mut Builder, ends: &Ends, register: R32, limb: R32) {
        if self.group == 1 {
            b.set(register, 0);
            return;
        }
        let shifted = b.shuffle(Shuffle::Down, limb, 1, self.group);
        let value = b.and(shifted, ends.below_top);
        b.set(register, value);
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "c"], false);
        self.write(&mut b, ports.first(), ports.lanes, &Part::default());
        b.finish()
    }
}

impl Spec for MulGroup {
    fn name(&self) -> String {
        let product = self.shape.product_name();
        let staged = if self.input == Input::Staged { "_staged" } else { "" };
        let suffix = suffix(self.glue, self.warps);
        format!("mul_group_{product}_k{}_t{}{staged}{suffix}", self.block, self.group)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.geometry(), |entry| self.kernel(entry))]
    }
    fn wide_products(&self) -> u64 {
        self.blocks() * u64::from(self.block).pow(2)
    }
}
