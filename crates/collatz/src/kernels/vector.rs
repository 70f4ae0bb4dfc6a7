//! `vector`: which values survive the next S steps, as a bit vector for each number of odd steps c so far.
//!
//! computes   bit i is 1 just if x = 3ᶜ·i mod 2ˢ, as the value after L steps with c odd ones, is not dead by rules 1, 3 and
//!            4 within S more steps
//! requires   5 ≤ S ≤ 39: then the value stays below 3³⁹ < 2⁶⁴; the filter, if there is one, is the vector of the same c
//!            and L for fewer steps
//! launch     [`THREADS`] threads a block, a word of the vector a thread
//! cost       about 27 instructions a step; the filter leaves a few of a hundred bits to be stepped through
//!
//! The candidates a of a leaf with value v have Tᴸ = v + 3ᶜ·a: with i = v·3⁻ᶜ mod 2ˢ they are the contiguous bits i, i + 1, ….
//! Rule 3 counts halvings only after the first odd step that it sees itself: what came before the L steps' end is
//! not known here. Rule 4 sees the part of a run that lies here, which is a run too. So each bit that is 0 has its proof.
//!
//! source: bits indexed by v·3⁻ᶜ: the design notes; rules: the book.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector};
use warpmp_launch::{Address, Long, Word, parameters, thread_number};

/// Threads a block.
pub const THREADS: u32 = 256;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The vector.
        vector: Address,
        /// A vector for fewer steps, or all ones.
        filter: Address,
        /// The words of the filter, less one.
        filter_mask: Word,
        /// A word each: the least c with 3ᶜ ≥ 2ⁱ, for i from L to L + S.
        needs: Address,
        /// c.
        odd_steps: Word,
        /// 3ᶜ.
        power: Long,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitVector {
    /// Steps looked ahead, S.
    pub steps: u32,
}

impl BitVector {
    /// Words of the vector.
    pub const fn words(self) -> u32 {
        1 << (self.steps - 5)
    }

    /// Its grid.
    pub const fn grid(self) -> Grid {
        Grid { blocks: self.words().div_ceil(THREADS), threads: THREADS, shared_bytes: 0 }
    }

    /// The kernel.
    pub fn build(self) -> Kernel {
        let mut builder = Builder::new(&format!("collatz_vector_s{}", self.steps), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(THREADS), ..Bounds::default() });
        let inputs = Inputs::of(b, false);
        let word = thread_number(b, THREADS);
        let inside = b.compare(Cmp::Lt, word, self.words());
        b.if_(inside, |b| {
            let within = b.and(word, inputs.filter_mask);
            let source = b.mad_wide(within, 4, inputs.filter);
            let left = b.load_global(Space::GlobalConst, Vector::V1, source, 0)[0];
            let result = b.copy(0);
            let more = |b: &mut Builder| b.compare(Cmp::Ne, left, 0);
            b.while_(more, |b| {
                let reversed = b.brev(left);
                let bit = b.clz(reversed);
                let less = b.sub(left, 1);
                let rest = b.and(left, less);
                b.set(left, rest);
                let index = b.mul_wide(word, 32);
                let wide = b.widen(bit);
                let index = b.add64(index, wide);
                let value = b.mul_lo64(index, inputs.power);
                let value = b.and64(value, (1_u64 << self.steps) - 1);
                let alive = self.survives(b, value, inputs.odd_steps, inputs.needs);
                let mask = b.shl(alive, bit);
                let sum = b.or(result, mask);
                b.set(result, sum);
            });
            let target = b.mad_wide(word, 4, inputs.vector);
            b.store_global(Space::Global, &[result], target, 0);
        });
        builder.finish()
    }

    /// 1 if the value survives the steps.
    fn survives(self, b: &mut Builder, value: R64, odd_steps: R32, needs: R64) -> R32 {
        let y = b.copy64(value);
        let [c, run, halvings, done, alive] = [b.copy(odd_steps), b.copy(0), b.copy(0), b.copy(0), b.copy(1)];
        let here = b.load_global(Space::GlobalConst, Vector::V1, needs, 0)[0];
        let here = b.copy(here);
        b.section("step");
        b.do_while(|b| {
            let place = b.mad_wide(done, 4, needs);
            let next = b.load_global(Space::GlobalConst, Vector::V1, place, 4)[0];
            let low = b.truncate(y);
            let odd = b.and(low, 1);
            let is_odd = b.compare(Cmp::Ne, odd, 0);
            let half = b.shr64(y, 1);
            let grown = b.add64(y, half);
            let grown = b.add64(grown, 1);
            let value = b.select64(grown, half, is_odd);
            b.set64(y, value);
            // An odd y: does it begin a run, and is it below twice the start?
            let goes_on = b.compare(Cmp::Eq, halvings, 0);
            let before = b.select(run, 0, goes_on);
            let small = b.compare(Cmp::Lt, c, next);
            let flagged = b.select(1, before, small);
            let flag = b.select(flagged, run, is_odd);
            b.set(run, flag);
            b.increase(c, odd);
            let halved = b.add(halvings, 1);
            let halved = b.select(0, halved, is_odd);
            b.set(halvings, halved);
            // Rule 1.
            let fallen = b.compare(Cmp::Lt, c, next);
            // Rule 4: the second halving after a run with such a y.
            let second = b.compare(Cmp::Eq, halvings, 2);
            let flagged = b.compare(Cmp::Ne, run, 0);
            let fourth = b.and_pred(second, flagged);
            // Rule 3: an even number of halvings after an odd step seen here.
            let parity = b.and(halvings, 1);
            let even = b.compare(Cmp::Eq, parity, 0);
            let seen = b.compare(Cmp::Ne, c, odd_steps);
            let third = b.and_pred(even, seen);
            let is_even = b.compare(Cmp::Eq, odd, 0);
            let third = b.and_pred(third, is_even);
            let close = b.compare(Cmp::Le, c, here);
            let third = b.and_pred(third, close);
            let dead = b.or_pred(fallen, fourth);
            let dead = b.or_pred(dead, third);
            let verdict = b.select(0, 1, dead);
            b.set(alive, verdict);
            b.set(here, next);
            b.increase(done, 1);
            let more = b.compare(Cmp::Lt, done, self.steps);
            let lives = b.not_pred(dead);
            b.and_pred(more, lives)
        });
        b.section("bits");
        alive
    }
}
