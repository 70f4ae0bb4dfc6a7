//! `lookahead`: convergence of a window, by leaves, bit vectors and thresholds.
//!
//! computes   for every leaf B (the survivors of L bits with c odd steps) and every a < 1024 that the leaf's vector and
//!            the rule modulo 9 leave: the trajectory of n = W + B + a·2ᴸ, in jumps of d steps, until rules 1, 3 or 4 say
//!            that a smaller number joins it; a start whose value might leave the limbs is reported
//! requires   windows of 2ᴸ⁺¹⁰ numbers at multiples W of it; n ≥ 2³² (below); S ≥ U·d for the steps S of the vector;
//!            tables as `gpu::tables` makes them; 64 words of a vector behind its end, equal to its first; 2 readable records
//!            behind the last
//! launch     32·warps threads a block; a warp takes chunks of [`CHUNK`] leaves from a common counter;
//!            [`Lookahead::shared_bytes`] of shared memory
//! cost       machine instructions of a warp (`sm_90`, three words, U = 3): 90 a batch, 41 a turn of the tail, 130 a leaf. With L = 34,
//!            S = 36, d = 12, 3.5·10⁻⁴ of the numbers are tested, 69 a leaf, and take 1.29 turns: 203 for 32 of them.
//!            Memory: 16 bytes a leaf and 33 words of its vector
//! registers  at most 40 with three blocks of 16 warps
//!
//! A warp takes a leaf; its lanes the 32 words of 1024 candidates: a funnel shift of two words of the vector, and the
//! leaf's row of the pattern modulo 9. Candidates, 16 bits each, go to a queue of the warp, at places found by prefix sums.
//! Batches of 32 take U *unconditional* jumps: the vector promises that they survive U·d ≤ S steps. Then a lane whose
//! ρ reaches the threshold of its low d bits goes to a second queue, from which batches take a jump each.
//!
//! ρ is at least log2(3ᶜ/2ⁱ), in 14 bits of 1/256 above the lane's tag, one more than it is: every jump adds its own
//! rounded up. The threshold of d low bits is the ratio from which on *no* prefix of the next d steps is dead, in 1/1024,
//! rounded down, less 2⁻¹⁰. So a lane is dropped only if some prefix is dead.
//!
//! bound: z = Tⁱ(n) = n·3ᶜ/2ⁱ·∏(1 + 1/3zⱼ) over the odd zⱼ before; as long as all are at least n (the first below n ends
//! the matter) the product is below exp(c/3n), and with c ≤ 2²² odd steps and n ≥ 2³² it is below 2^(2⁻¹⁰), the margin of the
//! thresholds. So each of the three comparisons with n that a rule needs holds exactly. That c ≤ 2²²: a jump adds at least
//! δ to ρ beyond the truth, δ > 2.4·10⁻⁴ for every d (a test), so that after 64/δ jumps ρ is over any limit. A lane whose ρ
//! is at most `limit` = min(32·limbs − ½ − log2 n, 54½) has z < 2^(32·limbs); one jump adds at most 0.585·d < 8.2
//! to ρ, so neither z's loss nor ρ's wrapping goes unseen, as every jump is followed by the comparison with the limit
//! ([`Lookahead::watched`]: the unconditional ones too, where c is so large that they may pass it).
//! source: depth-first leaves with rules 1, 3, 4: the book; vectors, thresholds and queues: the design notes.

mod batch;
mod candidates;

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector};
use warpmp_launch::{Address, Long, Word, fill_shared, parameters};

use super::common::Report;

/// Numbers of a leaf in a window, 2¹⁰: one word of candidates a lane.
pub const CANDIDATE_BITS: u32 = 10;
/// Leaves that a warp takes at a time.
pub const CHUNK: u32 = 128;
/// Leaves whose candidates may be in the first queue.
const RING: u32 = 32;
/// Words of the pattern modulo 9: rows for B mod 9 plus W mod 9.
pub const NINE_WORDS: u32 = 17 * 32;
/// Powers of three with what a jump adds to ρ.
pub const FACTOR_WORDS: u32 = 32;
/// The lowest bit of ρ in a lane's word; below it the leaf's number in its chunk, and a.
pub const RHO_SHIFT: u32 = 18;
/// ρ in 1/256 is stored with so much added: it never is negative.
pub const RHO_BIAS: u32 = 256;
/// Below these a number of candidates is waiting when a leaf adds at most 640.
const FIRST_QUEUE: u32 = 608;
const SECOND_QUEUE: u32 = 64;

/// Parameters of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lookahead {
    /// Steps of a jump, d: 4 to 14.
    pub jump_bits: u32,
    /// Jumps that all candidates take, U.
    pub sure_jumps: u32,
    /// Is ρ compared with the limit in each of them?
    pub watched: bool,
    /// Words of a value: 3 or 4.
    pub limbs: u32,
    /// Bits of the leaves, L.
    pub leaf_bits: u32,
    /// Warps a block.
    pub warps: u32,
    /// Blocks on a multiprocessor.
    pub blocks: u32,
    /// Are only the starts between two bounds tested?
    pub ranged: bool,
}

/// Where things are in a warp's part of the shared memory, in bytes.
struct Layout {
    second_tags: u32,
    ring: u32,
    first: u32,
    bytes: u32,
}

impl Lookahead {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let Self { jump_bits, sure_jumps, limbs, leaf_bits, warps, blocks, .. } = self;
        let watched = if self.watched { "_watched" } else { "" };
        let ranged = if self.ranged { "_ranged" } else { "" };
        format!("collatz_lookahead_d{jump_bits}_u{sure_jumps}_w{limbs}_l{leaf_bits}_t{warps}x{blocks}{watched}{ranged}")
    }

    const fn layout(&self) -> Layout {
        let second_tags = 16 * SECOND_QUEUE;
        let ring = second_tags + if self.limbs > 3 { 4 * SECOND_QUEUE } else { 0 };
        let first = ring + 16 * RING;
        Layout { second_tags, ring, first, bytes: first + 2 * FIRST_QUEUE }
    }

    /// Bytes of the tables in shared memory: jumps, thresholds, factors, the pattern modulo 9.
    const fn table_bytes(&self) -> u32 {
        (6 << self.jump_bits) + 4 * FACTOR_WORDS + 4 * NINE_WORDS
    }

    /// Shared memory a block in bytes.
    pub const fn shared_bytes(&self) -> u32 {
        self.table_bytes() + self.warps * self.layout().bytes
    }

    /// A grid of so many blocks.
    pub const fn grid(&self, blocks: u32) -> Grid {
        Grid { blocks, threads: 32 * self.warps, shared_bytes: self.shared_bytes() }
    }

    /// Bits of a low part's value after d steps, in its table entry's top.
    pub const fn rest_bits(jump_bits: u32) -> u32 {
        // Below 3ᵈ.
        3_u32.pow(jump_bits).ilog2() + 1
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        let mut builder = Builder::new(&self.name(), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(32 * self.warps), min_blocks: Some(self.blocks), max_registers: None });
        let inputs = Inputs::of(b, self.ranged);

        let base = b.shared_base();
        let thread = b.special(Special::Tid);
        fill_shared(b, thread, 32 * self.warps, inputs.tables, base, self.table_bytes() / 4);
        b.barrier();
        let lane = b.special(Special::Lane);
        let warp = b.shr(thread, 5);
        let queues = b.mad_lo(warp, self.layout().bytes, base);
        let queues = b.add(queues, self.table_bytes());
        let below = b.special(Special::LaneMaskLt);
        let own_words = b.mad_wide(lane, 4, inputs.vector);
        let total = b.copy(0);
        let (leaf, first, second) = (b.copy(0), b.copy(0), b.copy(0));
        let warp = Warp {
            spec: *self,
            inputs,
            lane,
            below,
            base,
            queues,
            own_words,
            first,
            second,
            leaf,
            total,
            checksum: b.copy64(0),
        };
        b.do_while(|b| {
            let leader = b.compare(Cmp::Eq, lane, 0);
            let chunk = b.copy(0);
            b.if_(leader, |b| {
                let taken = b.atomic_add_global(inputs.next, 0, 1);
                b.set(chunk, taken);
            });
            let chunk = b.shuffle(Shuffle::Idx, chunk, 0, 32);
            let start = b.mul_lo(chunk, CHUNK);
            let some = b.compare(Cmp::Lt, start, warp.inputs.count);
            b.if_(some, |b| warp.chunk(b, start));
            b.compare(Cmp::Lt, start, warp.inputs.count)
        });
        let leader = b.compare(Cmp::Eq, lane, 0);
        b.if_(leader, |b| {
            let total = b.widen(total);
            b.reduce_add64_global(inputs.sums, 0, total);
        });
        b.reduce_add64_global(inputs.sums, 8, warp.checksum);
        builder.finish()
    }
}

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The records of the group.
        records: Address,
        /// The residues of the group, 64 bits each.
        residues: Address,
        /// How many leaves the group has.
        count: Word,
        /// The bit vector.
        vector: Address,
        /// The words of the vector, less 1.
        word_mask: Word,
        /// W/2ᴸ/32, within the mask.
        word_offset: Word,
        /// 3ᶜ.
        power: Long,
        /// 3ᶜ·W/2ᴸ, 128 bits.
        offset: [Long; 2],
        /// W, 128 bits.
        base: [Long; 2],
        /// W mod 9.
        nine: Word,
        /// ρ of the leaves, in place.
        rho: Word,
        /// The most that ρ may be.
        limit: Word,
        /// The jump table (2ᵈ words), thresholds (2ᵈ⁻¹ words), factors, the pattern modulo 9.
        tables: Address,
        /// A word, zero at first: the chunks taken.
        next: Address,
        /// Two sums of 64 bits, added to: the number of candidates, and the sum of their Tᴸ(n).
        sums: Address,
        /// Where starts go that pass the limit.
        report: Report,
        /// The kernel tests the starts from W + the first to below W + the second, if it is ranged.
        range: Option<[Long; 2]>,
    }
}

/// A warp at work.
struct Warp {
    spec: Lookahead,
    inputs: Inputs,
    lane: R32,
    /// The mask of the lanes below.
    below: R32,
    /// Addresses: shared memory; the warp's part of it.
    base: R32,
    queues: R32,
    /// This lane's first word of the vector.
    own_words: R64,
    /// How many are in the queues.
    first: R32,
    second: R32,
    /// The leaf's number in the chunk.
    leaf: R32,
    /// Candidates so far.
    total: R32,
    /// The sum of this lane's Tᴸ(n), modulo 2⁶⁴.
    checksum: R64,
}

/// What is loaded ahead for a leaf: its record, and two words of its vector.
struct Ahead {
    record: [R32; 4],
    words: [R32; 2],
}

impl Warp {
    /// A chunk of leaves, from number `start` on.
    fn chunk(&self, b: &mut Builder, start: R32) {
        b.section("leaf");
        let inputs = &self.inputs;
        let left = b.sub(inputs.count, start);
        let leaves = b.min(left, CHUNK);
        let record = b.mad_wide(start, 16, inputs.records);
        let record = b.copy64(record);
        let residues = b.mad_wide(start, 8, inputs.residues);
        let ahead = self.first_leaf(b, record);
        for register in [self.first, self.second, self.leaf] {
            b.set(register, 0);
        }
        let leaf = self.leaf;
        b.do_while(|b| {
            b.section("leaf");
            self.collect(b, leaf, record, residues, &ahead);
            let done = self.full_batches(b, residues);
            b.section("leaf");
            // Before a slot of the ring is used again, and at the end, nothing may wait in the first queue.
            let count = b.add(leaf, 1);
            let slot = b.and(count, RING - 1);
            let ring_is_full = b.compare(Cmp::Eq, slot, 0);
            let last = b.compare(Cmp::Eq, count, leaves);
            let flush = b.or_pred(ring_is_full, last);
            b.if_else(
                flush,
                |b| {
                    let rest = b.sub(self.first, done);
                    let some = b.compare(Cmp::Ne, rest, 0);
                    b.if_(some, |b| {
                        self.batch(b, done, Some(rest), residues);
                        self.full_tails(b, residues);
                    });
                    b.set(self.first, 0);
                },
                |b| self.move_down(b, done),
            );
            b.set(leaf, count);
            b.compare(Cmp::Lt, leaf, leaves)
        });
        b.section("tail");
        let more = |b: &mut Builder| b.compare(Cmp::Ne, self.second, 0);
        b.while_(more, |b| {
            self.tail(b, false, residues);
        });
    }

    /// Batches of 32 as long as there are so many; how many candidates they took.
    fn full_batches(&self, b: &mut Builder, residues: R64) -> R32 {
        let done = b.copy(0);
        let enough = b.compare(Cmp::Ge, self.first, 32);
        b.if_(enough, |b| {
            b.do_while(|b| {
                self.batch(b, done, None, residues);
                b.increase(done, 32);
                self.full_tails(b, residues);
                let rest = b.sub(self.first, done);
                b.compare(Cmp::Ge, rest, 32)
            });
        });
        done
    }

    /// Steps of the second queue as long as it holds 32.
    fn full_tails(&self, b: &mut Builder, residues: R64) {
        let more = |b: &mut Builder| b.compare(Cmp::Ge, self.second, 32);
        b.while_(more, |b| {
            self.tail(b, true, residues);
        });
    }

    /// Moves what is left of the first queue, fewer than 32, to its start.
    fn move_down(&self, b: &mut Builder, done: R32) {
        let rest = b.sub(self.first, done);
        let moved = b.compare(Cmp::Ne, done, 0);
        b.if_(moved, |b| {
            let at = self.first_address(b, done);
            let mine = b.compare(Cmp::Lt, self.lane, rest);
            let candidate = b.copy(0);
            b.guarded(mine, true, |g| {
                let loaded = g.load_shared_half(at, self.spec.layout().first);
                g.set(candidate, loaded);
            });
            b.warp_barrier();
            let to = b.mad_lo(self.lane, 2, self.queues);
            b.guarded(mine, true, |g| g.store_shared_half(candidate, to, self.spec.layout().first));
            b.warp_barrier();
            b.set(self.first, rest);
        });
    }

    /// The address of this lane's entry of the first queue, from entry `from` on, less where the queue begins.
    fn first_address(&self, b: &mut Builder, from: R32) -> R32 {
        let entry = b.add(from, self.lane);
        b.mad_lo(entry, 2, self.queues)
    }

    /// In the lanes where `p` holds: reports the start that the tag names.
    fn report_start(&self, b: &mut Builder, p: Pred, tag: R32, residues: R64) {
        b.if_(p, |b| {
            let leaf = b.bfe(tag, CANDIDATE_BITS, RHO_SHIFT - CANDIDATE_BITS);
            let candidate = b.and(tag, (1 << CANDIDATE_BITS) - 1);
            let row = b.mad_wide(leaf, 8, residues);
            let residue = b.load_global64(Space::GlobalConst, row, 0);
            let candidate = b.widen(candidate);
            let high = b.shl64(candidate, self.spec.leaf_bits);
            let low = b.or64(residue, high);
            // The window begins at a multiple of its size.
            let low = b.or64(low, self.inputs.base[0]);
            let ((n0, n1), (n2, n3)) = (b.unpack(low), b.unpack(self.inputs.base[1]));
            self.inputs.report.put(b, &[n0, n1, n2, n3]);
        });
    }

    fn record(b: &mut Builder, address: R64, offset: u32) -> Vec<R32> {
        b.load_global(Space::GlobalConst, Vector::V4, address, offset)
    }
}
