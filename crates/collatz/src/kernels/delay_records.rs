//! `delay_records`: the starts of a window whose delay exceeds a bound.
//!
//! computes   for every residue B of the sieve and every u whose start n = W + B + u·2ᵏ the rule modulo 9 leaves: whether D(n) is above
//!            `longest`; those starts are reported with their delays, and with delay 0 those whose value would exceed 96 bits
//! requires   k ≤ 20, so that 3ᶜ and v = Tᵏ(B) fit into words; W a multiple of the window's size; n < 2⁶⁴; d ≤ t; nothing below
//!            2^(l+1) has a delay above `longest` + 1 − needs\[l\]
//! launch     [`THREADS`] threads a block; a warp takes a residue, its lanes the u
//! cost       a jump: two look-ups, 3 wide products, about 36 instructions; as a rule three or four jumps a start
//!
//! A trajectory that has taken s steps and is at a value below 2^(l+1) ends after at most `longest` steps in all if s < needs\[l\]: then it
//! is left. The values of the window fall below those bounds quickly, while the bound asks for many steps.
//!
//! bound: as in `delay`: the carry out of the third word is looked at in every jump.
//! source: which starts can be records: the book; the bound by earlier records: ours.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Address, Long, Word, fill_shared, parameters};

use super::common::{Jump, Report, jump_watched, small_modulo_nine};
use super::lookahead::Lookahead;
use super::starts::Starts;

/// Threads a block.
pub const THREADS: u32 = 256;
/// Words of the table of needs: by the number of the highest bit, and for more than two words.
pub const NEED_WORDS: u32 = 68;
/// Words of 3ᶜ with the standard steps of a jump.
pub const FACTOR_WORDS: u32 = 32;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// Four words each: B, Tᵏ(B), 3ᶜ, k + c.
        residues: Address,
        /// Residues.
        count: Word,
        /// W.
        base: Long,
        /// W mod 9.
        nine: Word,
        /// The table of the starts.
        places: Address,
        /// Jumps as the look-ahead's, 2ᵈ words; factors: 3ᶜ, d + c; needs.
        tables: Address,
        /// Table A, a word each.
        known: Address,
        /// The longest delay so far.
        longest: Word,
        /// Its records are a start, 64 bits, and its delay.
        report: Report,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DelayRecords {
    /// Steps of a jump, d.
    pub base_bits: u32,
    /// Bits of the numbers that table A has, t.
    pub known_bits: u32,
    /// Bits of the sieve, k.
    pub sieve_bits: u32,
    /// Bits of the window.
    pub window_bits: u32,
}

impl DelayRecords {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let Self { base_bits, known_bits, sieve_bits, window_bits } = self;
        format!("collatz_delay_records_d{base_bits}_a{known_bits}_k{sieve_bits}_n{window_bits}")
    }

    /// Its starts.
    pub const fn starts(&self) -> Starts {
        Starts { sieve_bits: self.sieve_bits, window_bits: self.window_bits, kept: 5 }
    }

    const fn table_words(&self) -> u32 {
        (1 << self.base_bits) + FACTOR_WORDS + NEED_WORDS
    }

    /// A grid of so many blocks.
    pub const fn grid(&self, blocks: u32) -> Grid {
        Grid { blocks, threads: THREADS, shared_bytes: 4 * self.table_words() }
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        let mut builder = Builder::new(&self.name(), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(THREADS), min_blocks: Some(6), max_registers: None });
        let inputs = Inputs::of(b, false);
        let thread = b.special(Special::Tid);
        let shared = b.shared_base();
        fill_shared(b, thread, THREADS, inputs.tables, shared, self.table_words());
        b.barrier();
        let work = Work { spec: *self, inputs, shared };
        Starts::residues(b, inputs.count, THREADS, |b, index| work.residue(b, index));
        builder.finish()
    }
}

/// A thread at work.
struct Work {
    spec: DelayRecords,
    inputs: Inputs,
    shared: R32,
}

impl Work {
    /// All u of a residue, by the lanes of the warp.
    fn residue(&self, b: &mut Builder, index: R32) {
        let spec = &self.spec;
        let row = b.mad_wide(index, 16, self.inputs.residues);
        let row = b.load_global(Space::GlobalConst, Vector::V4, row, 0);
        let nine = b.add(row[0], self.inputs.nine);
        let nine = small_modulo_nine(b, nine);
        let above = b.shr64(self.inputs.base, spec.sieve_bits);
        spec.starts().uppers(b, nine, self.inputs.places, |b, upper| {
            let upper = b.widen(upper);
            let above = b.add64(above, upper);
            self.start(b, above, &row);
        });
    }

    /// The start above·2ᵏ + B.
    fn start(&self, b: &mut Builder, above: R64, row: &[R32]) {
        let spec = &self.spec;
        let (h0, h1) = b.unpack(above);
        let rest = b.widen(row[1]);
        let low = b.mad_wide(h0, row[2], rest);
        let (z0, carry) = b.unpack(low);
        let carry = b.widen(carry);
        let high = b.mad_wide(h1, row[2], carry);
        let (z1, z2) = b.unpack(high);
        let z = [b.copy(z0), b.copy(z1), b.copy(z2)];
        let (steps, lost) = (b.copy(row[3]), b.copy(0));
        b.section("jump");
        b.do_while(|b| {
            let goes = self.goes_on(b, &z, steps, lost);
            b.if_(goes, |b| {
                let low = b.and(z[0], (1 << spec.base_bits) - 1);
                let address = b.mad_lo(low, 4, self.shared);
                let entry = b.load_shared(Vector::V1, address, 0)[0];
                let rest = b.shr(entry, 32 - Lookahead::rest_bits(spec.base_bits));
                let factor = b.and(entry, 0x78);
                let factor = b.add(factor, self.shared);
                let factor = b.load_shared(Vector::V2, factor, 4 << spec.base_bits);
                let over = jump_watched(b, &z, spec.base_bits, Jump { power: factor[0], rest });
                b.set(lost, over);
                b.increase(steps, factor[1]);
            });
            goes
        });
        b.section("end");
        let over = b.compare(Cmp::Ne, lost, 0);
        let hopeful = self.is_hopeful(b, &z, steps);
        let worth = b.or_pred(over, hopeful);
        b.if_(worth, |b| {
            let start = b.shl64(above, spec.sieve_bits);
            let residue = b.widen(row[0]);
            let start = b.or64(start, residue);
            let (n0, n1) = b.unpack(start);
            let over = b.compare(Cmp::Ne, lost, 0);
            b.if_else(
                over,
                |b| {
                    let none = b.copy(0);
                    self.inputs.report.put(b, &[n0, n1, none]);
                },
                |b| {
                    let address = b.mad_wide(z[0], 4, self.inputs.known);
                    let rest = b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0];
                    let delay = b.add(steps, rest);
                    let longer = b.compare(Cmp::Gt, delay, self.inputs.longest);
                    b.if_(longer, |b| self.inputs.report.put(b, &[n0, n1, delay]));
                },
            );
        });
        b.section("starts");
    }

    /// Is the value 2ᵗ or more, within three words, and may its delay be above the bound?
    fn goes_on(&self, b: &mut Builder, z: &[R32; 3], steps: R32, lost: R32) -> Pred {
        let low = b.shr(z[0], self.spec.known_bits);
        let large = b.lop3(low, z[1], z[2], 0xFE);
        let large = b.compare(Cmp::Ne, large, 0);
        let fits = b.compare(Cmp::Eq, lost, 0);
        let goes = b.and_pred(large, fits);
        let hopeful = self.is_hopeful(b, z, steps);
        b.and_pred(goes, hopeful)
    }

    fn is_hopeful(&self, b: &mut Builder, z: &[R32; 3], steps: R32) -> Pred {
        let two = b.compare(Cmp::Ne, z[1], 0);
        let word = b.select(z[1], z[0], two);
        let bit = b.bfind(word);
        let first = b.select(32, 0, two);
        let bit = b.add(bit, first);
        let three = b.compare(Cmp::Ne, z[2], 0);
        let bit = b.select(64, bit, three);
        let need = b.mad_lo(bit, 4, self.shared);
        let need = b.load_shared(Vector::V1, need, (4 << self.spec.base_bits) + 4 * FACTOR_WORDS)[0];
        b.compare(Cmp::Ge, steps, need)
    }
}
