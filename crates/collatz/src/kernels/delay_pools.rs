//! `delay_pools`: delays of 64-bit starts, the lanes regrouped by the size of their values.
//!
//! computes   as `delay`
//! requires   as `delay`, with 10 ≤ d ≤ 15; chunks of at most 4096 starts; delays below 2²⁰ (of 64-bit starts known
//!            ones have 12 bits; a lane with more would run 2¹⁵ jumps)
//! launch     32·warps threads a block; a warp takes chunks of starts from a common counter;
//!            4·2ᵈ + 128 + 2048·warps bytes of shared memory
//! cost       a jump of a small value: two look-ups, a wide product, a product, three shifts: about 14 instructions
//! registers  at most 65536/(32·warps·blocks)
//!
//! A warp has two pools of lanes, each of at most 64, in shared memory: *large* values of 2⁵⁴ and more take jumps on three
//! words, *small* ones on two. A turn takes 32 from a pool (or 32 new starts), makes a few jumps, each skipped by lanes that
//! have left their range, and puts every lane where it now belongs; so lanes that are done make room for others, and nearly all
//! jumps are of full warps. A value below 2ᵗ ends by table A; its delay is stored one turn later, when the table's word is there.
//! A small value that grows past 2⁵⁴ jumps on alone until it is small again: it is rare.
//!
//! bound: a small value below 2⁵⁴ grows by less than 0.585·d < 8.8 bits in a jump: below 2⁶³. On three words the carry out of
//! the last is looked at in every jump, the lane is reported if it is not zero.
//! A pool has at most 31 lanes when a turn begins that may put 32 into it.
//! source: two pools, ceilings, deferred stores: the design notes; Algorithm 6.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector, Vote};
use warpmp_launch::{Address, Word, fill_shared, parameters};

use super::common::{Jump, Report, jump, jump_watched};
use super::delay::Source;
use super::lookahead::Lookahead;

/// The high word's bits of a small value: it is below 2⁵⁴.
const SMALL_BITS: u32 = 22;
/// Bits of a start's number in its chunk; above them the tag counts steps.
pub const INDEX_BITS: u32 = 12;
const POOL_BYTES: u32 = 64 * 16;
/// Words of 3ᶜ with what a jump adds to a tag.
pub const FACTOR_WORDS: u32 = 32;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The starts.
        from: Source,
        /// How many starts there are.
        count: Word,
        /// Jumps as the look-ahead's, 2ᵈ words; then factors, 16 pairs: 3ᶜ and (d + c)·2¹².
        tables: Address,
        /// Table A, a word each.
        known: Address,
        /// The delays, a word each.
        out: Address,
        /// A word, zero at first: the chunks taken.
        next: Address,
        /// Its records are a start and its number.
        report: Report,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DelayPools {
    /// Steps of a jump, d.
    pub base_bits: u32,
    /// Bits of the numbers that table A has, t.
    pub known_bits: u32,
    /// Jumps of a turn with large values.
    pub large_jumps: u32,
    /// Jumps of a turn with small values.
    pub small_jumps: u32,
    /// Where starts come from.
    pub source: Source,
    /// Starts that a warp takes at a time.
    pub chunk: u32,
    /// Warps a block.
    pub warps: u32,
    /// Blocks on a multiprocessor.
    pub blocks: u32,
}

impl DelayPools {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let Self { base_bits, known_bits, large_jumps, small_jumps, chunk, warps, blocks, .. } = self;
        let source = self.source.word();
        format!(
            "collatz_delay_pools_{source}_d{base_bits}_a{known_bits}_j{large_jumps}x{small_jumps}_n{chunk}_t{warps}x{blocks}"
        )
    }

    const fn table_bytes(&self) -> u32 {
        (4 << self.base_bits) + 4 * FACTOR_WORDS
    }

    /// A grid of so many blocks.
    pub const fn grid(&self, blocks: u32) -> Grid {
        let shared_bytes = self.table_bytes() + self.warps * 2 * POOL_BYTES;
        Grid { blocks, threads: 32 * self.warps, shared_bytes }
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        let mut builder = Builder::new(&self.name(), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(32 * self.warps), min_blocks: Some(self.blocks), max_registers: None });
        let inputs = Inputs::of(b, false);
        let base = b.shared_base();
        let thread = b.special(Special::Tid);
        fill_shared(b, thread, 32 * self.warps, inputs.tables, base, self.table_bytes() / 4);
        b.barrier();
        let lane = b.special(Special::Lane);
        let below = b.special(Special::LaneMaskLt);
        let warp = b.shr(thread, 5);
        let pools = b.mad_lo(warp, 2 * POOL_BYTES, base);
        let large_pool = b.add(pools, self.table_bytes());
        let small_pool = b.add(large_pool, POOL_BYTES);
        let [large, small, position, length] = [b.copy(0), b.copy(0), b.copy(0), b.copy(0)];
        let first = b.copy(0);
        let pending = Pending { place: b.copy(0), steps: b.copy(0), rest: b.copy(0) };
        let ahead = [b.copy(0), b.copy(0)];
        let warp = Warp {
            spec: *self,
            inputs,
            base,
            lane,
            below,
            large: Pool { address: large_pool, size: large },
            small: Pool { address: small_pool, size: small },
            first,
            position,
            length,
            ahead,
            pending,
        };
        b.do_while(|b| {
            let leader = b.compare(Cmp::Eq, lane, 0);
            let taken = b.copy(0);
            b.if_(leader, |b| {
                let old = b.atomic_add_global(inputs.next, 0, 1);
                b.set(taken, old);
            });
            let taken = b.shuffle(Shuffle::Idx, taken, 0, 32);
            // Counts are below 2³², chunks at most 2¹²: past the end it may wrap, so the chunks are compared.
            let chunks = b.add(inputs.count, self.chunk - 1);
            let chunks = b.shr(chunks, self.chunk.ilog2());
            let start = b.mul_lo(taken, self.chunk);
            b.set(warp.first, start);
            let some = b.compare(Cmp::Lt, taken, chunks);
            b.if_(some, |b| {
                let left = b.sub(inputs.count, start);
                let length = b.min(left, self.chunk);
                b.set(warp.length, length);
                warp.chunk(b);
            });
            b.compare(Cmp::Lt, taken, chunks)
        });
        builder.finish()
    }
}

/// Lanes that wait, 16 bytes each.
#[derive(Clone, Copy)]
struct Pool {
    address: R32,
    size: R32,
}

/// A delay whose last part is being loaded.
#[derive(Clone, Copy)]
struct Pending {
    /// The start's number in the chunk, all ones if there is none.
    place: R32,
    steps: R32,
    rest: R32,
}

/// A lane's value, and its steps above its number in the chunk.
struct State {
    z: [R32; 3],
    tag: R32,
}

/// A warp at work.
struct Warp {
    spec: DelayPools,
    inputs: Inputs,
    base: R32,
    lane: R32,
    below: R32,
    large: Pool,
    small: Pool,
    /// The chunk's first start, how many of its starts are under way, and its length.
    first: R32,
    position: R32,
    length: R32,
    /// This lane's next start.
    ahead: [R32; 2],
    pending: Pending,
}

impl Warp {
    fn chunk(&self, b: &mut Builder) {
        b.section("chunk");
        for register in [self.large.size, self.small.size, self.position] {
            b.set(register, 0);
        }
        b.set(self.pending.place, u32::MAX);
        self.load_ahead(b);
        b.do_while(|b| {
            // New starts, or large values, as long as there are too few small ones.
            let fresh = b.compare(Cmp::Lt, self.position, self.length);
            let waiting = b.compare(Cmp::Ne, self.large.size, 0);
            let some = b.or_pred(fresh, waiting);
            let few = b.compare(Cmp::Lt, self.small.size, 32);
            let large = b.and_pred(some, few);
            b.if_else(large, |b| self.large_turn(b), |b| self.small_turn(b));
            let left = b.or(self.large.size, self.small.size);
            let waiting = b.compare(Cmp::Ne, left, 0);
            let fresh = b.compare(Cmp::Lt, self.position, self.length);
            b.or_pred(fresh, waiting)
        });
        self.store_pending(b);
    }

    /// Loads this lane's next start, if there is one.
    fn load_ahead(&self, b: &mut Builder) {
        let place = b.add(self.position, self.lane);
        let inside = b.compare(Cmp::Lt, place, self.length);
        b.if_(inside, |b| {
            let index = b.add(self.first, place);
            let start = self.spec.source.load(b, self.inputs.from, index);
            b.set(self.ahead[0], start[0]);
            b.set(self.ahead[1], start[1]);
        });
    }

    /// New starts or waiting large values.
    fn large_turn(&self, b: &mut Builder) {
        b.section("large");
        let state = State { z: [b.copy(0), b.copy(0), b.copy(0)], tag: b.copy(0) };
        let present = b.copy(0);
        let full = b.compare(Cmp::Ge, self.large.size, 32);
        let no_more = b.compare(Cmp::Ge, self.position, self.length);
        let waiting = b.or_pred(full, no_more);
        b.if_else(
            waiting,
            |b| {
                let inside = self.pop(b, self.large, &state);
                b.set(present, inside);
            },
            |b| {
                let place = b.add(self.position, self.lane);
                b.set(state.z[0], self.ahead[0]);
                b.set(state.z[1], self.ahead[1]);
                b.set(state.z[2], 0);
                b.set(state.tag, place);
                let inside = b.compare(Cmp::Lt, place, self.length);
                let inside = b.select(1, 0, inside);
                b.set(present, inside);
                b.increase(self.position, 32);
                self.load_ahead(b);
            },
        );
        let lost = b.copy(0);
        for _ in 0..self.spec.large_jumps {
            let large = Self::is_large(b, &state);
            let fits = b.compare(Cmp::Eq, lost, 0);
            let goes = b.and_pred(large, fits);
            b.if_(goes, |b| self.jump_large(b, &state, lost));
        }
        self.drop_lost(b, &state, present, lost);
        let here = b.compare(Cmp::Ne, present, 0);
        let large = Self::is_large(b, &state);
        let goes_on = b.and_pred(here, large);
        self.push(b, self.large, &state, goes_on);
        let large = Self::is_large(b, &state);
        let small = b.not_pred(large);
        let here = b.compare(Cmp::Ne, present, 0);
        let falls = b.and_pred(here, small);
        self.push(b, self.small, &state, falls);
        b.warp_barrier();
    }

    /// Waiting small values.
    fn small_turn(&self, b: &mut Builder) {
        b.section("small");
        let state = State { z: [b.copy(0), b.copy(0), b.copy(0)], tag: b.copy(0) };
        let present = self.pop(b, self.small, &state);
        for _ in 0..self.spec.small_jumps {
            let unknown = self.is_unknown(b, &state);
            let low = b.compare(Cmp::Lt, state.z[1], 1 << SMALL_BITS);
            let goes = b.and_pred(unknown, low);
            b.if_(goes, |b| self.jump_small(b, &state));
        }
        // Lanes beyond the pool's end hold a copy of another's value: they must not report.
        let lost = b.copy(0);
        let high = b.compare(Cmp::Ge, state.z[1], 1 << SMALL_BITS);
        b.if_(high, |b| {
            b.set(state.z[2], 0);
            b.do_while(|b| {
                self.jump_large(b, &state, lost);
                let large = Self::is_large(b, &state);
                let fits = b.compare(Cmp::Eq, lost, 0);
                b.and_pred(large, fits)
            });
        });
        self.drop_lost(b, &state, present, lost);
        let unknown = self.is_unknown(b, &state);
        let here = b.compare(Cmp::Ne, present, 0);
        let goes_on = b.and_pred(unknown, here);
        self.push(b, self.small, &state, goes_on);
        let known = b.not_pred(unknown);
        let done = b.and_pred(known, here);
        b.if_(done, |b| {
            self.store_pending(b);
            let place = b.and(state.tag, (1 << INDEX_BITS) - 1);
            b.set(self.pending.place, place);
            let steps = b.shr(state.tag, INDEX_BITS);
            b.set(self.pending.steps, steps);
            let address = b.mad_wide(state.z[0], 4, self.inputs.known);
            b.load_into(Space::GlobalConst, Vector::V1, &[self.pending.rest], address, 0);
        });
        b.warp_barrier();
    }

    /// Stores the delay that this lane has waiting, if it has one.
    fn store_pending(&self, b: &mut Builder) {
        let some = b.compare(Cmp::Ne, self.pending.place, u32::MAX);
        b.if_(some, |b| {
            let delay = b.add(self.pending.steps, self.pending.rest);
            let index = b.add(self.first, self.pending.place);
            let address = b.mad_wide(index, 4, self.inputs.out);
            b.store_global(Space::Global, &[delay], address, 0);
        });
    }

    /// Reports the lanes that have exceeded three words, and takes them out.
    fn drop_lost(&self, b: &mut Builder, state: &State, present: R32, lost: R32) {
        let gone = b.compare(Cmp::Ne, lost, 0);
        let any = b.vote(Vote::Any, gone);
        b.if_(any, |b| {
            let gone = b.compare(Cmp::Ne, lost, 0);
            let here = b.compare(Cmp::Ne, present, 0);
            let gone_here = b.and_pred(gone, here);
            b.if_(gone_here, |b| {
                let place = b.and(state.tag, (1 << INDEX_BITS) - 1);
                let index = b.add(self.first, place);
                let [low, high] = self.spec.source.load(b, self.inputs.from, index);
                self.inputs.report.put(b, &[low, high, index]);
            });
            b.guarded(gone, true, |g| g.set(present, 0));
        });
    }

    /// Is the value 2⁵⁴ or more?
    fn is_large(b: &mut Builder, state: &State) -> Pred {
        let above = b.funnel_right(state.z[1], state.z[2], SMALL_BITS);
        let far = b.shr(state.z[2], SMALL_BITS);
        let above = b.or(above, far);
        b.compare(Cmp::Ne, above, 0)
    }

    /// Is the value, of two words, 2ᵗ or more?
    fn is_unknown(&self, b: &mut Builder, state: &State) -> Pred {
        let bits = self.spec.known_bits;
        let above = if bits == 32 {
            b.copy(state.z[1])
        } else {
            let low = b.shr(state.z[0], bits);
            b.or(low, state.z[1])
        };
        b.compare(Cmp::Ne, above, 0)
    }

    /// The jump's factor and rest, and what it adds to the tag.
    fn entry(&self, b: &mut Builder, state: &State) -> Jump {
        let bits = self.spec.base_bits;
        let low = b.and(state.z[0], (1 << bits) - 1);
        let address = b.mad_lo(low, 4, self.base);
        let entry = b.load_shared(Vector::V1, address, 0)[0];
        let rest = b.shr(entry, 32 - Lookahead::rest_bits(bits));
        let factor = b.and(entry, 0x78);
        let factor = b.add(factor, self.base);
        let factor = b.load_shared(Vector::V2, factor, 4 << bits);
        b.increase(state.tag, factor[1]);
        Jump { power: factor[0], rest }
    }

    fn jump_large(&self, b: &mut Builder, state: &State, lost: R32) {
        let by = self.entry(b, state);
        let above = jump_watched(b, &state.z, self.spec.base_bits, by);
        b.set(lost, above);
    }

    fn jump_small(&self, b: &mut Builder, state: &State) {
        let by = self.entry(b, state);
        jump(b, &state.z[..2], self.spec.base_bits, by);
    }

    /// Takes up to 32 lanes from a pool; 1 in the lanes that got one. The others get a copy of the last.
    fn pop(&self, b: &mut Builder, pool: Pool, state: &State) -> R32 {
        let count = b.min(pool.size, 32);
        let rest = b.sub(pool.size, count);
        b.set(pool.size, rest);
        let inside = b.compare(Cmp::Lt, self.lane, count);
        let place = b.select(self.lane, 0, inside);
        let place = b.add(rest, place);
        let address = b.mad_lo(place, 16, pool.address);
        b.load_into(Space::Shared, Vector::V4, &[state.z[0], state.z[1], state.z[2], state.tag], address, 0);
        b.warp_barrier();
        b.select(1, 0, inside)
    }

    /// Puts lanes into a pool. A barrier must follow.
    fn push(&self, b: &mut Builder, pool: Pool, state: &State, which: Pred) {
        let mask = b.ballot(which);
        let mine = b.and(mask, self.below);
        let mine = b.popc(mine);
        let place = b.add(pool.size, mine);
        let address = b.mad_lo(place, 16, pool.address);
        let words = [state.z[0], state.z[1], state.z[2], state.tag];
        b.guarded(which, true, |g| g.store_shared(&words, address, 0));
        let count = b.popc(mask);
        b.increase(pool.size, count);
    }
}
