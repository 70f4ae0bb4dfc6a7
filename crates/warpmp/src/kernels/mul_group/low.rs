//! `group` for `mul_lo`: the low half of a product, by columns, a group of lanes a row.
//!
//! computes   a·b modulo B^n for factors of `n` limbs, of which the second may be shorter
//! requires   `n ≤ 2·group·block`; buffers padded to whole tiles of 32 lanes
//! launch     32·warps threads a block, 32/group rows a warp; shared memory for both factors and a half of the result
//! cost       `group·(2·group + 1)·k²` IMAD.WIDE a row, that is `n(n+k)/2` where `k` divides `n` into `2·group` blocks;
//!            a load of 4 limbs for `k²·4/3k` products, no shuffle; every sector of global memory once
//! registers  about 5·k + 40
//!
//! Column `j` is the block `j` of the result: it needs blocks 0 to `j` of one factor with blocks `j` to 0 of the other, so
//! long columns have more work than short ones. Lane `l` takes column `2·group − 1 − l` and then column `l`: all lanes take
//! `2·group + 1` blocks of products. Within one, row `r` adds `k` limbs of `a`, from limb `k·d − r` on, times a limb of `b`,
//! all at the same `k` limbs: what belongs to other columns is not computed. So nothing is handed from lane to lane until
//! the end; then each column carries two limbs into the next one.
//!
//! A lane that changes columns leaves the first one's sum in shared memory, in a branch of its own: with one lane of a group
//! at a time in it, the branch costs additions and stores beside 4·k² clocks of the multiplier.
//!
//! bound: a column is the sum of at most `2·group·k` rows, each below `B^(k+1)`: less than `B^(k+2)`. What two limbs from
//! below make overflow is below `B²`, so no block that carries is all ones, as `Carries` requires.
//! source: the columns are those of Comba 1990 with blocks for words; how lanes share them is ours.

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::{Carries, Window, all_ones, wrapping_add_small};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Special};
use warpmp_launch::{Entry, Geometry, GroupLane, Stage, divide};

use super::super::{GroupSettings, OperationShape, Spec, piece, suffix, vector};
use super::part::Part;
use super::staged::MAX_SHARED_BYTES;
use super::tile::{Layout, Tile};
use crate::operation::Operation;

/// Longest block, in limbs: what the registers hold.
const MAX_BLOCK: u32 = 32;

/// Longest block that leaves room for sixteen warps a multiprocessor, in registers and shared memory.
const USUAL_BLOCK: u32 = 20;

/// The kernel of a low half.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LowGroup {
    shape: OperationShape,
    /// The operands that are the longer and the shorter factor.
    factors: [usize; 2],
    /// Limbs a block: a multiple of 4.
    block: u32,
    /// Lanes a row.
    group: u32,
    glue: Glue,
    warps: u32,
}

/// The lane and its row.
struct Lane {
    number: R32,
    member: R32,
    /// The warp's first row.
    first_row: R32,
    /// The address of word `number` of the warp's part of shared memory.
    words: R32,
    /// The address of this lane's row in shared memory.
    row: R32,
}

impl LowGroup {
    /// The kernel; none if it does not suit these operands: a second factor so short that little would be left out.
    pub(in super::super) fn new(shape: OperationShape, settings: &GroupSettings) -> Option<Self> {
        if shape.operation != Operation::MulLo {
            return None;
        }
        let [a, b] = [0, 1].map(|i| shape.operands()[i].limbs());
        let factors = if a < b { [1, 0] } else { [0, 1] };
        let n = a.max(b);
        let longest = settings.block.unwrap_or(USUAL_BLOCK).clamp(4, MAX_BLOCK);
        let warps = settings.warps.unwrap_or(2);
        let glue = settings.glue.unwrap_or(Glue::None);
        let division = |block: u32| {
            let group = n.div_ceil(2 * block).next_power_of_two().max(2);
            Self { shape, factors, block, group, glue, warps }
        };
        // More lanes than a warp has there are not: then the shortest blocks that do.
        let possible = || (4..=MAX_BLOCK).step_by(4).map(division).filter(|it| it.group <= 32);
        let within = possible().filter(|it| it.block <= longest).min_by_key(Self::cost);
        let mut spec = within.or_else(|| possible().next())?;
        spec.warps = warps.min(MAX_SHARED_BYTES / spec.layout().bytes()).max(1);
        let fits = spec.layout().bytes() <= MAX_SHARED_BYTES;
        (fits && 2 * a.min(b) > n).then_some(spec)
    }

    /// The model counts wide products; a quarter of one for each other instruction: loads and counts of carries in a step,
    /// and copies and the last sums.
    const fn cost(&self) -> u64 {
        let k = self.block;
        let step = 4 * k * k + 3 * k + 25;
        (self.group * ((self.columns() + 1) * step + 28 * k)) as u64
    }

    /// Blocks of the result.
    const fn columns(&self) -> u32 {
        2 * self.group
    }

    fn limbs(&self, factor: usize) -> u32 {
        self.shape.operands()[self.factors[factor]].limbs()
    }

    /// A row: a block of zeros, the longer factor, the shorter one, the sums of the upper columns, and two limbs for each.
    const fn layout(&self) -> Layout {
        let blocks = 1 + 2 * self.columns() + self.group + (2 * self.group).div_ceil(self.block);
        Layout::new(self.block, blocks, self.group)
    }

    /// The block where the shorter factor begins.
    const fn second(&self) -> u32 {
        1 + self.columns()
    }

    /// The block where the sums of the upper columns begin.
    const fn sums(&self) -> u32 {
        1 + 2 * self.columns()
    }

    /// The block where what is above these begins.
    const fn above(&self) -> u32 {
        self.sums() + self.group
    }

    const fn block_bytes(&self) -> u32 {
        4 * self.layout().stride
    }

    fn tile(&self, limbs: u32, rows: u32, first_block: u32) -> Tile {
        Tile { layout: self.layout(), rows, limbs, first: first_block * self.block }
    }

    /// Copies the factors to shared memory, with zeros below the first and above both.
    fn copy_in(&self, b: &mut Builder, lane: &Lane, addresses: [R64; 2]) {
        let layout = self.layout();
        let mut copied = Vec::new();
        for (factor, first_block) in [(0, 1), (1, self.second())] {
            let limbs = self.limbs(factor);
            let common = self.shape.operands()[self.factors[factor]].common;
            let (rows, copies) = if common { (1, layout.rows) } else { (layout.rows, 1) };
            let source = if common {
                b.mad_wide(lane.number, 4, addresses[factor])
            } else {
                let tile = b.mad_wide(lane.first_row, 4 * limbs, addresses[factor]);
                b.mad_wide(lane.number, 4, tile)
            };
            // All loads come first: the wait for global memory is one.
            for run in self.tile(limbs, rows, first_block).runs() {
                copied.push((run, run.load(b, lane.number, source), copies));
            }
        }
        for (run, word, copies) in copied {
            run.store(b, lane.number, lane.words, word, copies);
        }
        let k = self.block;
        let ends = [1, 1 + self.columns(), self.sums()].map(|block| block * k);
        layout.clear(b, lane.member, lane.row, [0, ends[0]], self.group);
        layout.clear(b, lane.member, lane.row, [k + self.limbs(0), ends[1]], self.group);
        layout.clear(b, lane.member, lane.row, [ends[1] + self.limbs(1), ends[2]], self.group);
        b.warp_barrier();
    }

    fn load_block(&self, b: &mut Builder, address: R32, offset: u32) -> Vec<R32> {
        let load = |i: u32| b.load_shared(vector(4), address, offset + 4 * i);
        (0..self.block).step_by(4).flat_map(load).collect()
    }

    fn store_block(&self, b: &mut Builder, address: R32, offset: u32, limbs: &[R32]) {
        debug_assert_eq!(piece(self.block), 4);
        for (words, i) in limbs.chunks(4).zip((0..).step_by(16)) {
            b.store_shared(words, address, offset + i);
        }
    }

    /// The address of word `2·index` of what is above the upper columns.
    fn above_address(&self, b: &mut Builder, lane: &Lane, index: R32) -> R32 {
        // Two words never lie in two blocks.
        let word = b.shl(index, 1);
        let k = self.block;
        let block = if 2 * self.group <= k { b.copy(0) } else { divide(b, word, k, 2 * self.group) };
        let within = b.mad_lo(block, k.wrapping_neg(), word);
        let address = b.mad_lo(block, self.block_bytes(), lane.row);
        b.mad_lo(within, 4, address)
    }

    /// Both columns of this lane: the sum of the lower one; that of the upper one is in shared memory.
    fn multiply(&self, b: &mut Builder, lane: &Lane) -> (Vec<R32>, [R32; 2]) {
        let (k, stride) = (self.block as usize, self.block_bytes());
        let window = Window::column(b, k);
        // The blocks of the longer factor go down, from that of the column; below it lies the next one, in the end zeros.
        let opposite = b.sub(self.group - 1, lane.member);
        let upper = b.mad_lo(opposite, stride, lane.row);
        let first = b.add(upper, self.group * stride);
        let second = b.add(lane.row, self.second() * stride);
        let left = b.sub(self.columns(), lane.member);
        let steps = b.copy(self.columns() + 1);
        let above = self.above_address(b, lane, opposite);
        b.do_while(|b| {
            b.section("arithmetic");
            let mut limbs = self.load_block(b, first, 0);
            limbs.extend(self.load_block(b, first, stride));
            let multiplier = self.load_block(b, second, 0);
            let mut rows = window.clone();
            for (r, &limb) in multiplier.iter().enumerate() {
                rows.add(b, &limbs[k - r..2 * k - r], limb);
            }
            for (register, step) in [(first, stride.wrapping_neg()), (second, stride), (left, u32::MAX)] {
                b.increase(register, step);
            }
            let done = b.compare(Cmp::Eq, left, 0);
            b.if_(done, |b| {
                let (sum, carried) = window.sum(b);
                self.store_block(b, upper, self.sums() * stride, &sum);
                b.store_shared(&carried, above, self.above() * stride);
                window.clear(b);
                let own = b.mad_lo(lane.member, stride, lane.row);
                b.set(first, own);
                let start = b.add(lane.row, self.second() * stride);
                b.set(second, start);
            });
            b.decrease(steps, 1);
            b.compare(Cmp::Ne, steps, 0)
        });
        window.sum(b)
    }

    /// Adds to this lane's column what the one below carries into it, and what enters the lowest: the limbs, and what
    /// leaves the highest.
    fn resolve(&self, b: &mut Builder, limbs: &[R32], below: [R32; 2]) -> (Vec<R32>, R32) {
        let mut chain = b.chain();
        let mut sums: Vec<R32> = limbs[..2].iter().zip(below).map(|(&limb, word)| chain.add(limb, word)).collect();
        sums.extend(limbs[2..].iter().map(|&limb| chain.add(limb, 0)));
        let carry = chain.carry();
        let carries = b.compare(Cmp::Ne, carry, 0);
        let passes_on = all_ones(b, &sums);
        let carries = Carries::look_ahead(b, carries, passes_on, self.group);
        let into = carries.into_lane(b);
        let sums = wrapping_add_small(b, &sums, into);
        (sums, carries.out_of_group(b))
    }

    /// What the column below carries into this lane's, in lane 0 `lowest`.
    fn entering(&self, b: &mut Builder, lane: &Lane, above: [R32; 2], lowest: [R32; 2]) -> [R32; 2] {
        let is_lowest = b.compare(Cmp::Eq, lane.member, 0);
        [0, 1].map(|i| {
            let below = b.shuffle(Shuffle::Up, above[i], 1, self.group);
            b.select(lowest[i], below, is_lowest)
        })
    }

    /// The result, from the columns to its place in shared memory: that of the longer factor.
    fn put_together(&self, b: &mut Builder, lane: &Lane, lower: &[R32], lower_above: [R32; 2]) {
        let stride = self.block_bytes();
        let zero = b.copy(0);
        let below = self.entering(b, lane, lower_above, [zero; 2]);
        let (lower, out) = self.resolve(b, lower, below);
        let own = b.mad_lo(lane.member, stride, lane.row);
        let upper = self.load_block(b, own, self.sums() * stride);
        let above = self.above_address(b, lane, lane.member);
        let carried = b.load_shared(vector(2), above, self.above() * stride);
        // What leaves the lower half: two limbs of its highest column, and the carry that ran through it.
        let [low, high] = lower_above.map(|word| b.shuffle(Shuffle::Idx, word, self.group - 1, self.group));
        let top: R32 = b.register();
        let mut chain = b.chain();
        let entering = chain.add(low, out);
        chain.end_add(top, high, 0);
        let below = self.entering(b, lane, [carried[0], carried[1]], [entering, top]);
        let (upper, _) = self.resolve(b, &upper, below);
        self.store_block(b, own, stride, &lower);
        self.store_block(b, own, (1 + self.group) * stride, &upper);
        b.warp_barrier();
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let (mut b, ports) = entry.open(&self.name(), self.glue, &["a", "b", "result0"], false);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let [first, second, result] = ports.first();
        let GroupLane { thread, first_row, .. } = GroupLane::enter(&mut b, ports.lanes, self.group, self.warps);
        let layout = self.layout();
        let number = b.special(Special::Lane);
        let member = b.and(number, self.group - 1);
        let warp = b.shr(thread, 5);
        let base = b.shared_base();
        let shared = b.mad_lo(warp, layout.bytes(), base);
        let words = b.mad_lo(number, 4, shared);
        let row = b.shr(number, self.group.trailing_zeros());
        let row = b.mad_lo(row, 4 * layout.row, shared);
        let lane = Lane { number, member, first_row, words, row };
        b.section("load");
        let addresses = self.factors.map(|i| if i == 0 { first } else { second });
        self.copy_in(&mut b, &lane, addresses);
        let (lower, above) = self.multiply(&mut b, &lane);
        b.section("store");
        b.warp_barrier();
        self.put_together(&mut b, &lane, &lower, above);
        let limbs = self.limbs(0);
        let target = b.mad_wide(lane.first_row, 4 * limbs, result);
        let target = b.mad_wide(lane.number, 4, target);
        let part = Part { bits: self.shape.results()[0], ..Part::default() };
        for run in self.tile(limbs, layout.rows, 1).runs() {
            run.copy_part_out(&mut b, lane.number, lane.words, target, &part);
        }
        b.finish()
    }
}

impl Spec for LowGroup {
    fn name(&self) -> String {
        format!("{}_columns_k{}_t{}{}", self.shape.name(), self.block, self.group, suffix(self.glue, self.warps))
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::of_groups(self.warps, self.group).with_shared(self.warps * self.layout().bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.group * (self.columns() + 1)) * u64::from(self.block).pow(2)
    }
}
