//! `alpha`: the published checksum of a work unit.
//!
//! computes   for every residue s of the sieve and every u below 2⁴⁰⁻ᴷ whose start n₀ = W + s + u·2ᴷ the modulus leaves: the iteration
//!            "n + 1; α = number of its factors 2, replaced by as many 3s; − 1; strip the factors 2; until below n₀"; the sum of
//!            all α, how many starts there were, and each thread's start with the highest value; a start whose value would exceed
//!            128 bits is reported, and adds nothing to the sum; of a range, only the starts within
//! requires   s < 2ᴷ, odd; W a multiple of the unit; K at most the unit's bits N, and at least N − 24; n₀ < 2¹²⁷
//! launch     [`THREADS`] threads a block; a warp takes a residue, its lanes the u; 96 bytes of shared memory
//! cost       a pair of the iteration: about 60 instructions; a lane waits for the longest of its warp
//!
//! bound: a strip takes at most 20 factors at a time, so that 3ᵅ < 2³²; the carry out of the last word is not zero just if the
//! product exceeds 128 bits. n + 1 is below 2¹²⁸ too, or its carry would come before: n is odd, and n = 2¹²⁸ − 1 is the one
//! value of which n + 1 is not; then n + 1 = 0 has no odd part, and the lane reports as well.
//! source: Barina 2021, the ctz form of the iteration; the project's published checksums.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Address, Long, Word, parameters};

use super::common::{Report, modulo_nine, small_modulo_nine};
use super::starts::Starts;

/// Threads a block.
pub const THREADS: u32 = 256;
/// Words of a thread's result: the highest value and its start.
pub const RESULT_WORDS: u32 = 8;
/// Bits of a work unit.
pub const UNIT_BITS: u32 = 40;
/// Factors that are stripped at a time.
const MOST: u32 = 20;
/// Powers of three in shared memory.
const POWER_WORDS: u32 = 24;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The residues, 64 bits each.
        residues: Address,
        /// Residues.
        count: Word,
        /// W, 128 bits.
        base: [Long; 2],
        /// W mod 9.
        nine: Word,
        /// The table of the starts.
        places: Address,
        /// Powers of three, 64 bits each.
        powers: Address,
        /// Two sums of 64 bits, added to: all α, and the starts tested.
        sums: Address,
        /// [`RESULT_WORDS`] a thread.
        results: Address,
        /// Where starts go whose values exceed 128 bits.
        report: Report,
        /// The kernel tests the starts from W + the first to below W + the second, if it is ranged.
        range: Option<[Long; 2]>,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alpha {
    /// Bits of the sieve, K.
    pub sieve_bits: u32,
    /// Bits of the unit, 40; fewer in tests.
    pub unit_bits: u32,
    /// Residues modulo 9 that are tested: 5, 6 (modulo 3) or 9 (all).
    pub kept: u32,
    /// Are only the starts between two bounds tested?
    pub ranged: bool,
}

impl Alpha {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let ranged = if self.ranged { "_ranged" } else { "" };
        format!("collatz_alpha_k{}_n{}_of9_{}{ranged}", self.sieve_bits, self.unit_bits, self.kept)
    }

    /// A grid of so many blocks.
    pub const fn grid(blocks: u32) -> Grid {
        Grid { blocks, threads: THREADS, shared_bytes: 4 * POWER_WORDS }
    }

    /// Its starts.
    pub const fn starts(&self) -> Starts {
        Starts { sieve_bits: self.sieve_bits, window_bits: self.unit_bits, kept: self.kept }
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        let mut builder = Builder::new(&self.name(), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(THREADS), min_blocks: Some(4), max_registers: None });
        let inputs = Inputs::of(b, self.ranged);

        let (thread, block) = (b.special(Special::Tid), b.special(Special::Ctaid));
        let shared = b.shared_base();
        let one = b.compare(Cmp::Le, thread, MOST);
        b.if_(one, |b| {
            let from = b.mad_wide(thread, 8, inputs.powers);
            let power = b.load_global(Space::GlobalConst, Vector::V1, from, 0);
            let to = b.mad_lo(thread, 4, shared);
            b.store_shared(&power, to, 0);
        });
        b.barrier();
        let work = Work {
            spec: *self,
            inputs,
            shared,
            total: b.copy64(0),
            tested: b.copy(0),
            highest: std::array::from_fn(|_| b.copy(0)),
            start: std::array::from_fn(|_| b.copy(0)),
        };
        Starts::residues(b, inputs.count, THREADS, |b, index| work.residue(b, index));
        b.reduce_add64_global(inputs.sums, 0, work.total);
        let tested = b.widen(work.tested);
        b.reduce_add64_global(inputs.sums, 8, tested);
        let index = b.mad_lo(block, THREADS, thread);
        let result = b.mad_wide(index, 4 * RESULT_WORDS, inputs.results);
        b.store_global(Space::Global, &work.highest, result, 0);
        b.store_global(Space::Global, &work.start, result, 16);
        builder.finish()
    }
}

/// A thread at work.
struct Work {
    spec: Alpha,
    inputs: Inputs,
    shared: R32,
    /// The sum of all α.
    total: R64,
    /// Starts so far.
    tested: R32,
    highest: [R32; 4],
    start: [R32; 4],
}

impl Work {
    /// All u of a residue, by the lanes of the warp.
    fn residue(&self, b: &mut Builder, index: R32) {
        b.section("starts");
        let row = b.mad_wide(index, 8, self.inputs.residues);
        let residue = b.load_global(Space::GlobalConst, Vector::V2, row, 0);
        let nine = modulo_nine(b, residue[0], residue[1]);
        let nine = b.add(nine, self.inputs.nine);
        let nine = small_modulo_nine(b, nine);
        self.spec.starts().uppers(b, nine, self.inputs.places, |b, upper| {
            let wide = b.widen(upper);
            let wide = b.shl64(wide, self.spec.sieve_bits);
            let low = b.pack(residue[0], residue[1]);
            let offset = b.or64(low, wide);
            // W is a multiple of the unit.
            let low = b.or64(offset, self.inputs.base[0]);
            let ((n0, n1), (n2, n3)) = (b.unpack(low), b.unpack(self.inputs.base[1]));
            let start = [n0, n1, n2, n3];
            match self.inputs.range {
                None => self.start(b, &start),
                Some([from, end]) => {
                    let reached = b.compare64(Cmp::Ge, offset, from);
                    let before = b.compare64(Cmp::Lt, offset, end);
                    let inside = b.and_pred(reached, before);
                    b.if_(inside, |b| self.start(b, &start));
                }
            }
        });
    }

    /// One start.
    fn start(&self, b: &mut Builder, start: &[R32; 4]) {
        b.increase(self.tested, 1);
        let n: [R32; 4] = start.map(|word| b.copy(word));
        let (sum, lost) = (b.copy(0), b.copy(0));
        b.section("pair");
        b.do_while(|b| {
            add_one(b, &n);
            b.do_while(|b| {
                let twos = trailing_zeros(b, n[0]);
                let twos = b.min(twos, MOST);
                shift(b, &n, twos);
                let power = b.mad_lo(twos, 4, self.shared);
                let power = b.load_shared(Vector::V1, power, 0)[0];
                let above = multiply(b, &n, power);
                let any = b.or(lost, above);
                // Nothing is left of 2¹²⁸ − 1 and 1.
                let rest = b.lop3(n[0], n[1], n[2], 0xFE);
                let rest = b.or(rest, n[3]);
                let gone = b.compare(Cmp::Eq, rest, 0);
                let any = b.select(1, any, gone);
                b.set(lost, any);
                b.increase(sum, twos);
                let low = b.and(n[0], 1);
                let even = b.compare(Cmp::Eq, low, 0);
                let fits = b.compare(Cmp::Eq, lost, 0);
                b.and_pred(even, fits)
            });
            subtract_one(b, &n);
            let higher = less(b, &self.highest, &n);
            let fits = b.compare(Cmp::Eq, lost, 0);
            let higher = b.and_pred(higher, fits);
            b.if_(higher, |b| {
                for i in 0..4 {
                    b.set(self.highest[i], n[i]);
                    b.set(self.start[i], start[i]);
                }
            });
            let fits = b.compare(Cmp::Eq, lost, 0);
            b.if_(fits, |b| {
                b.do_while(|b| {
                    let twos = trailing_zeros(b, n[0]);
                    let twos = b.min(twos, 31);
                    shift(b, &n, twos);
                    let low = b.and(n[0], 1);
                    b.compare(Cmp::Eq, low, 0)
                });
            });
            let below = less(b, &n, start);
            let going = b.not_pred(below);
            let fits = b.compare(Cmp::Eq, lost, 0);
            b.and_pred(going, fits)
        });
        b.section("starts");
        let fits = b.compare(Cmp::Eq, lost, 0);
        b.if_else(
            fits,
            |b| {
                let wide = b.widen(sum);
                b.increase64(self.total, wide);
            },
            |b| self.inputs.report.put(b, start),
        );
    }
}

/// Trailing zeros of a word; 32 of zero.
fn trailing_zeros(b: &mut Builder, word: R32) -> R32 {
    let reversed = b.brev(word);
    b.clz(reversed)
}

fn add_one(b: &mut Builder, n: &[R32; 4]) {
    let mut chain = b.chain();
    chain.add_into(n[0], n[0], 1);
    chain.add_into(n[1], n[1], 0);
    chain.add_into(n[2], n[2], 0);
    chain.wrap_add(n[3], n[3], 0);
}

fn subtract_one(b: &mut Builder, n: &[R32; 4]) {
    let mut chain = b.chain();
    chain.sub_into(n[0], n[0], 1);
    chain.sub_into(n[1], n[1], 0);
    chain.sub_into(n[2], n[2], 0);
    chain.wrap_sub(n[3], n[3], 0);
}

/// `n >> count`, `count` less than 32.
fn shift(b: &mut Builder, n: &[R32; 4], count: R32) {
    for i in 0..3 {
        let word = b.funnel_right(n[i], n[i + 1], count);
        b.set(n[i], word);
    }
    let word = b.shr(n[3], count);
    b.set(n[3], word);
}

/// `n := n·factor`; what is lost above.
fn multiply(b: &mut Builder, n: &[R32; 4], factor: R32) -> R32 {
    let mut carry = b.copy(0);
    for &word in n {
        let addend = b.widen(carry);
        let product = b.mad_wide(word, factor, addend);
        let (low, high) = b.unpack(product);
        b.set(word, low);
        carry = high;
    }
    carry
}

/// Is `x` less than `y`?
fn less(b: &mut Builder, x: &[R32; 4], y: &[R32; 4]) -> warpmp_kernel::build::Pred {
    let mut chain = b.chain();
    for (&x, &y) in x.iter().zip(y) {
        chain.sub(x, y);
    }
    let borrow = chain.borrow_mask();
    b.compare(Cmp::Ne, borrow, 0)
}
