//! `group`: full product of any length, a group of lanes a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, 32/group products a warp
//! cost       passes·group·⌈lb/k⌉·k² IMAD.WIDE a product, that is la·lb where `k` divides both;
//!            one shuffle for `k` products; no shared memory
//! registers  about 5·k + 40
//!
//! Lane `l` of the group keeps block `l` of `a` (`k` limbs) and meets the blocks of `b` one after
//! the other: at step `s` its product stands at block `l + s` of the result. It adds its own window
//! (the high half of its last product) and the block that left lane `l + 1` in the last step, which
//! stands at `(l+1) + (s−1) = l + s` too. What leaves lane 0 is final. In the end the windows and the
//! last blocks are added, and the carries run through the group in constant time.
//! A longer `a` takes several passes, each on top of what the ones before have stored.
//!
//! bound: `(B^k−1)² + 2(B^k−1) = B^(2k) − 1`: a product, a window and an incoming block just fit.
//! The last sum's carry into the lane above is at most 1, and the top lane has none, because the
//! whole result fits in its blocks.
//!
//! source: the systolic order is that of the dissertation's sum-rotate with blocks for words; ours.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::{Rows, add_limbs, resolve_carries};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special};

use super::{MulAlgorithm, MulShape, Spec, piece, suffix, vector};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MulGroup {
    /// The operands.
    pub shape: MulShape,
    /// Limbs a block.
    pub block: u32,
    /// Lanes a product: a power of two, at most 32.
    pub group: u32,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block of threads.
    pub warps: u32,
}

/// Longest block, in limbs: what the registers hold.
const MAX_BLOCK: u32 = 32;

/// The row of the register.
pub(super) const ALGORITHM: MulAlgorithm = MulAlgorithm {
    name: "group",
    summary: "a group of lanes a product, a block of limbs a lane, blocks handed on by shuffles",
    accepts: "operands of any length",
    fits: |_| true,
    longer_first: true,
    spec: |shape, settings, _| {
        let (block, group) = division(shape, settings.block.unwrap_or(MAX_BLOCK));
        let mut spec = MulGroup { shape, block, group, glue: Glue::None, warps: settings.warps.unwrap_or(2) };
        // Steps that follow each other keep one chain at a time in flight by themselves.
        spec.glue = settings.glue_or(if spec.steps() > 1 { Glue::None } else { Glue::Every(2) });
        Box::new(spec)
    },
};

/// The cheapest division of a product: limbs a block, lanes a group.
///
/// The model counts a step in wide products: `k²` of them, the sums and shuffles of `k` limbs, and what
/// the accesses to global memory cost (measured: one to single words is worth about 14 products). Both
/// operands are padded to whole blocks.
fn division(shape: MulShape, longest: u32) -> (u32, u32) {
    let [la, lb, _] = shape.limbs;
    let cost = |&(k, group): &(u32, u32)| {
        let blocks = u64::from(la.div_ceil(k * group) * group) * u64::from(lb.div_ceil(k));
        let accesses = k / piece(k).min(piece(la)).min(piece(lb));
        blocks * u64::from(k * k + 6 * k + 14 * accesses + 20)
    };
    let candidates = (1..=longest).map(|k| (k, la.div_ceil(k).next_power_of_two().min(32)));
    candidates.min_by_key(cost).unwrap_or((1, 32))
}

/// The registers that live through the kernel.
struct State {
    a_row: R64,
    b_row: R64,
    c_row: R64,
    /// This lane's number in its group.
    member: R32,
    is_first: Pred,
    is_last: Pred,
}

impl MulGroup {
    /// How often the group goes over `b`.
    pub const fn passes(&self) -> u32 {
        self.shape.limbs[0].div_ceil(self.block * self.group)
    }

    /// Blocks of `b`.
    const fn steps(&self) -> u32 {
        self.shape.limbs[1].div_ceil(self.block)
    }

    /// Multiplies `group` blocks of `a`, from block `start` on, by all of `b`.
    fn pass(&self, b: &mut Builder, state: &State, start: R32) {
        let [la, lb, lc] = self.shape.limbs;
        let k = self.block;
        b.section("load");
        let block_a = b.add(start, state.member);
        let a = self.load_block(b, state.a_row, block_a, la, self.passes() * self.group, Space::GlobalConst);
        let window: Vec<R32> = (0..k).map(|_| b.copy(0)).collect();
        // What earlier passes left; nothing in the first. Branches, because predicates that live through
        // the carry chains would be spilled.
        let earlier = b.compare(Cmp::Ne, start, 0);
        if self.passes() > 1 {
            let within = b.compare(Cmp::Lt, state.member, self.steps());
            let valid = b.and_pred(within, earlier);
            b.if_(valid, |b| self.load_earlier(b, state, block_a, &window));
        }
        let incoming: Vec<R32> = (0..k).map(|_| b.copy(0)).collect();
        let step = b.copy(0);
        b.do_while(|b| {
            b.section("arithmetic");
            let multiplier = self.load_block(b, state.b_row, step, lb, self.steps(), Space::GlobalConst);
            let mut rows = Rows::on(b, &a, &window);
            let gone: Vec<R32> = multiplier.iter().map(|&y| rows.row(b, y)).collect();
            let (gone, high) = rows.finish_adding(b, &gone, &incoming);
            let place = b.add(start, step);
            // A branch again, and for the same reason.
            b.if_(state.is_first, |b| self.store_block(b, state.c_row, place, &gone, lc));
            for (&register, &limb) in incoming.iter().zip(&gone) {
                self.hand_down(b, state, register, limb);
            }
            if self.passes() > 1 {
                let top = b.add(place, self.group);
                let within = b.compare_signed(Cmp::Lt, step, self.steps().wrapping_sub(self.group));
                let earlier = b.compare(Cmp::Ne, start, 0);
                let last = b.compare(Cmp::Eq, state.member, self.group - 1);
                let valid = b.and_pred(within, earlier);
                let valid = b.and_pred(valid, last);
                b.if_(valid, |b| self.load_earlier(b, state, top, &incoming));
            }
            for (&register, &limb) in window.iter().zip(&high) {
                b.set(register, limb);
            }
            let next = b.add(step, 1);
            b.set(step, next);
            b.compare(Cmp::Lt, step, self.steps())
        });
        b.section("store");
        let (sum, carry) = add_limbs(b, &window, &incoming);
        let carries = b.compare(Cmp::Ne, carry, 0);
        let sum = resolve_carries(b, &sum, carries, self.group);
        let place = b.add(block_a, self.steps());
        self.store_block(b, state.c_row, place, &sum, lc);
    }

    /// `register ←` the limb that left the lane above; zero in the top lane.
    fn hand_down(&self, b: &mut Builder, state: &State, register: R32, limb: R32) {
        if self.group == 1 {
            b.set(register, 0);
            return;
        }
        let shifted = b.shuffle(Shuffle::Down, limb, 1, self.group);
        let value = b.select(0, shifted, state.is_last);
        b.set(register, value);
    }

    /// Block `index` of a row of `limbs` limbs; zeros above its end. `count`: the blocks there may be.
    fn load_block(&self, b: &mut Builder, row: R64, index: R32, limbs: u32, count: u32, space: Space) -> Vec<R32> {
        let k = self.block;
        let address = b.mad_wide(index, 4 * k, row);
        let width = piece(k).min(piece(limbs));
        let whole = limbs == count * k;
        let left = b.mad_lo(index, k.wrapping_neg(), limbs);
        (0..k)
            .step_by(width as usize)
            .flat_map(|i| {
                if whole {
                    return b.load_global(space, vector(width), address, 4 * i);
                }
                let registers: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
                let inside = b.compare_signed(Cmp::Gt, left, i);
                b.guarded(inside, true, |g| g.load_into(space, vector(width), &registers, address, 4 * i));
                registers
            })
            .collect()
    }

    /// Overwrites `registers` by a block of the product as earlier passes left it, up to the row's end.
    fn load_earlier(&self, b: &mut Builder, state: &State, index: R32, registers: &[R32]) {
        let lc = self.shape.limbs[2];
        let k = self.block;
        let address = b.mad_wide(index, 4 * k, state.c_row);
        let left = b.mad_lo(index, k.wrapping_neg(), lc);
        let width = piece(k).min(piece(lc));
        for (chunk, i) in registers.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), chunk, address, 4 * i));
        }
    }

    /// Stores a block of the product, up to the product's end.
    fn store_block(&self, b: &mut Builder, row: R64, index: R32, block: &[R32], limbs: u32) {
        let k = self.block;
        let address = b.mad_wide(index, 4 * k, row);
        let left = b.mad_lo(index, k.wrapping_neg(), limbs);
        let width = piece(k).min(piece(limbs));
        for (chunk, i) in block.chunks(width as usize).zip((0..k).step_by(width as usize)) {
            let inside = b.compare_signed(Cmp::Gt, left, i);
            b.guarded(inside, true, |g| g.store_global(Space::Global, chunk, address, 4 * i));
        }
    }
}

impl Spec for MulGroup {
    fn name(&self) -> String {
        let [la, lb, lc] = self.shape.limbs;
        let common = if self.shape.common_b { "_common" } else { "" };
        let suffix = suffix(self.glue, self.warps);
        format!("mul_group_{la}x{lb}_{lc}{common}_k{}_t{}{suffix}", self.block, self.group)
    }

    fn build(&self, _stage: usize) -> Kernel {
        let [la, lb, lc] = self.shape.limbs;
        let mut b = Builder::new(&self.name(), self.glue);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let (a, b_address, c) = (b.param_u64("a"), b.param_u64("b"), b.param_u64("c"));
        let lanes = b.param_u32("lanes");
        b.section("setup");
        let thread = b.special(Special::Tid);
        let block = b.special(Special::Ctaid);
        let thread = b.mad_lo(block, 32 * self.warps, thread);
        let row = b.shr(thread, self.group.trailing_zeros());
        let first_row = b.and(row, (32 / self.group - 1) ^ u32::MAX);
        let outside = b.compare(Cmp::Ge, first_row, lanes);
        b.return_if(outside);
        let member = b.and(thread, self.group - 1);
        let state = State {
            a_row: b.mad_wide(row, 4 * la, a),
            b_row: if self.shape.common_b { b_address } else { b.mad_wide(row, 4 * lb, b_address) },
            c_row: b.mad_wide(row, 4 * lc, c),
            is_first: b.compare(Cmp::Eq, member, 0),
            is_last: b.compare(Cmp::Eq, member, self.group - 1),
            member,
        };
        let start = b.copy(0);
        if self.passes() == 1 {
            self.pass(&mut b, &state, start);
        } else {
            b.do_while(|b| {
                self.pass(b, &state, start);
                // The next pass reads what other lanes of the warp have stored.
                b.warp_barrier();
                let next = b.add(start, self.group);
                b.set(start, next);
                b.compare(Cmp::Lt, start, self.passes() * self.group)
            });
        }
        b.finish()
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        let products = self.warps * 32 / self.group;
        Grid { blocks: lanes.div_ceil(products), threads: 32 * self.warps, shared_bytes: 0 }
    }

    fn max_lanes(&self) -> u32 {
        (1 << 31) / self.group
    }

    fn wide_products(&self) -> u64 {
        let blocks = u64::from(self.passes()) * u64::from(self.group) * u64::from(self.steps());
        blocks * u64::from(self.block).pow(2)
    }
}
