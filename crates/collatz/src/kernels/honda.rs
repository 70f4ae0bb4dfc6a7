//! `honda`: convergence of 64-bit starts, the dissertation's Algorithm 5 in its data format.
//!
//! computes   for every residue s of the sieve and every t < 256: the trajectory of n = M + t·2ʰ + s in jumps of d steps until
//!            it is below n, and the sum of these values; a start whose value would exceed 96 bits is reported instead
//! requires   s < 2ᵏ; M, 2ʰ and 2ᵏ have no bits in common with each other's multiples: M + 255·2ʰ + s < 2⁶⁴ without carries;
//!            n > 1; [`Begin::AfterSieve`]: k ≥ 32. The dissertation has h = 56; h = k makes windows of consecutive numbers
//! launch     `threads` threads a block, a multiple of 32; blocks·threads a multiple of 256; the lanes of a
//!            warp differ in t only, so that they share their table look-ups while t is above the low bits.
//!            8·2ᵈ bytes of shared memory, if the tables are there
//! cost       a jump: one look-up, 3 wide products, 3 funnel shifts, about 21 instructions in all
//!
//! bound: z < 2⁹⁶ before a jump, and 3ᶜ, Tᵈ(l) < 2³² as d ≤ 20. Each limb's h·3ᶜ + carry is below 2⁶⁴,
//! as (2³² − 1)² + 2³² − 1 < 2⁶⁴; the carry out of the last limb is not zero just if the value has more than
//! 96 bits: then the lane stops and reports.
//! source: Honda, dissertation, Algorithm 5, Fig. 4.1, section 4.4; the value after the sieve beside it: ours.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Address, Long, Word, fill_shared, parameters};

use super::common::{Jump, Report, jump_watched, reaches};

/// Where the tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In each block's shared memory: d ≤ 14.
    Shared,
    /// In global memory, behind its caches: d ≤ 20.
    Global,
}

/// What a trajectory begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Begin {
    /// The start itself, as in the dissertation.
    Start,
    /// Its k-th successor, whose low part is stored beside the residue.
    AfterSieve,
}

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// Pairs of 64-bit words: s, Tᵏ(s).
        residues: Address,
        /// A word each: the odd steps to Tᵏ(s) in the low byte.
        odd_steps: Address,
        /// Residues.
        count: Word,
        /// M.
        constant: Long,
        /// h.
        shift: Word,
        /// Powers of three, 64 bits each.
        powers: Address,
        /// Pairs of words: 3ᶜ, Tᵈ(l).
        table: Address,
        /// A sum of 64 bits, to which the values below the starts are added; in a ranged kernel, then the number of starts.
        sum: Address,
        /// Where starts go whose values exceed 96 bits.
        report: Report,
        /// The first start and the last, if the kernel is ranged.
        range: Option<[Long; 2]>,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Honda {
    /// Steps of a jump, d.
    pub base_bits: u32,
    /// Where the tables are.
    pub place: Place,
    /// What a trajectory begins with.
    pub begin: Begin,
    /// Bits of the sieve, k.
    pub sieve_bits: u32,
    /// Threads a block.
    pub threads: u32,
}

/// Starts that differ in their top bits only.
pub const STARTS_PER_RESIDUE: u32 = 256;

impl Honda {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let place = match self.place {
            Place::Shared => "shared",
            Place::Global => "global",
        };
        let begin = match self.begin {
            Begin::Start => "",
            Begin::AfterSieve => "_sieved",
        };
        let Self { base_bits, sieve_bits, threads, .. } = self;
        format!("collatz_honda_{place}_d{base_bits}_k{sieve_bits}_t{threads}{begin}")
    }

    /// Shared memory a block in bytes.
    pub const fn shared_bytes(&self) -> u32 {
        match self.place {
            Place::Shared => 8 << self.base_bits,
            Place::Global => 0,
        }
    }

    /// A grid of about `blocks` blocks.
    pub const fn grid(&self, blocks: u32) -> Grid {
        let unit = if self.threads < STARTS_PER_RESIDUE { STARTS_PER_RESIDUE / self.threads } else { 1 };
        let blocks = if blocks == 0 { unit } else { blocks.div_ceil(unit) * unit };
        Grid { blocks, threads: self.threads, shared_bytes: self.shared_bytes() }
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        self.kernel(false)
    }

    /// The kernel for the starts between two bounds. It adds their number to the second sum.
    pub fn build_ranged(&self) -> Kernel {
        self.kernel(true)
    }

    fn kernel(&self, ranged: bool) -> Kernel {
        let name = format!("{}{}", self.name(), if ranged { "_ranged" } else { "" });
        let mut builder = Builder::new(&name, Glue::None);
        let b = &mut builder;
        let blocks = (2048 / self.threads).min(if self.place == Place::Shared {
            227 * 1024 / self.shared_bytes().max(1)
        } else {
            16
        });
        b.bounds(Bounds {
            max_threads: Some(self.threads),
            min_blocks: Some(blocks.clamp(1, 16)),
            max_registers: None,
        });
        let inputs = Inputs::of(b, ranged);
        let thread = b.special(Special::Tid);
        let shared = if self.place == Place::Shared {
            let base = b.shared_base();
            fill_shared(b, thread, self.threads, inputs.table, base, 2 << self.base_bits);
            b.barrier();
            Some(base)
        } else {
            None
        };
        let block = b.special(Special::Ctaid);
        let unit = b.mad_lo(block, self.threads, thread);
        let top = b.and(unit, STARTS_PER_RESIDUE - 1);
        let entry = b.shr(unit, 8);
        let all = b.special(Special::Nctaid);
        let all = b.mul_lo(all, self.threads);
        let stride = b.shr(all, 8);
        let fixed = self.fixed(b, inputs.constant, top, inputs.shift);
        let sums = Sums { total: b.copy64(0), tested: b.copy(0) };
        let more = |b: &mut Builder| b.compare(Cmp::Lt, entry, inputs.count);
        b.while_(more, |b| {
            self.trajectory(b, (&inputs, shared), &fixed, entry, &sums);
            b.increase(entry, stride);
        });
        b.reduce_add64_global(inputs.sum, 0, sums.total);
        if ranged {
            let tested = b.widen(sums.tested);
            b.reduce_add64_global(inputs.sum, 8, tested);
        }
        builder.finish()
    }

    /// The bits of the start above the sieve, in place, and shifted down by k.
    fn fixed(&self, b: &mut Builder, constant: R64, top: R32, shift: R32) -> Fixed {
        let top = b.widen(top);
        let top = b.shl64(top, shift);
        let whole = b.or64(constant, top);
        let (low, high) = b.unpack(whole);
        let above = match self.begin {
            Begin::Start => None,
            Begin::AfterSieve => {
                let above = b.shr64(whole, self.sieve_bits);
                Some(b.truncate(above))
            }
        };
        Fixed { words: [low, high], above }
    }

    fn trajectory(
        &self,
        b: &mut Builder,
        (inputs, shared): (&Inputs, Option<R32>),
        fixed: &Fixed,
        entry: R32,
        sums: &Sums,
    ) {
        b.section("begin");
        let row = b.mad_wide(entry, 16, inputs.residues);
        let (n, z) = match fixed.above {
            None => {
                let residue = b.load_global(Space::GlobalConst, Vector::V2, row, 0);
                let n = [b.or(residue[0], fixed.words[0]), b.or(residue[1], fixed.words[1])];
                let z = [b.copy(n[0]), b.copy(n[1]), b.copy(0)];
                (n, z)
            }
            Some(above) => {
                let pair = b.load_global(Space::GlobalConst, Vector::V4, row, 0);
                let n = [b.or(pair[0], fixed.words[0]), b.or(pair[1], fixed.words[1])];
                let meta = b.mad_wide(entry, 4, inputs.odd_steps);
                let meta = b.load_global(Space::GlobalConst, Vector::V1, meta, 0)[0];
                let odd = b.and(meta, 0xFF);
                let power = b.mad_wide(odd, 8, inputs.powers);
                let power = b.load_global(Space::GlobalConst, Vector::V2, power, 0);
                let mut chain = b.chain();
                let z0 = chain.mad_lo(above, power[0], pair[2]);
                let z1 = chain.mad_hi(above, power[0], pair[3]);
                let carry = chain.carry();
                let sum = b.pack(z1, carry);
                let sum = b.mad_wide(above, power[1], sum);
                let (z1, z2) = b.unpack(sum);
                (n, [z0, z1, z2])
            }
        };
        let Some([first, last]) = inputs.range else { return self.jumps(b, (inputs, shared), n, &z, sums) };
        let start = b.pack(n[0], n[1]);
        let reached = b.compare64(Cmp::Ge, start, first);
        let before = b.compare64(Cmp::Le, start, last);
        let inside = b.and_pred(reached, before);
        b.if_(inside, |b| {
            b.increase(sums.tested, 1);
            self.jumps(b, (inputs, shared), n, &z, sums);
        });
    }

    /// The trajectory of n, from z on.
    fn jumps(&self, b: &mut Builder, (inputs, shared): (&Inputs, Option<R32>), n: [R32; 2], z: &[R32; 3], sums: &Sums) {
        let lost = b.copy(0);
        b.section("jump");
        b.do_while(|b| {
            let low = b.and(z[0], (1 << self.base_bits) - 1);
            let pair = if let Some(base) = shared {
                let address = b.mad_lo(low, 8, base);
                b.load_shared(Vector::V2, address, 0)
            } else {
                let address = b.mad_wide(low, 8, inputs.table);
                b.load_global(Space::GlobalConst, Vector::V2, address, 0)
            };
            let above = jump_watched(b, z, self.base_bits, Jump { power: pair[0], rest: pair[1] });
            b.set(lost, above);
            let going = reaches(b, z, &n);
            let fits = b.compare(Cmp::Eq, lost, 0);
            b.and_pred(going, fits)
        });
        b.section("report");
        let overflow = b.compare(Cmp::Ne, lost, 0);
        b.if_else(
            overflow,
            |b| inputs.report.put(b, &n),
            |b| {
                let value = b.pack(z[0], z[1]);
                b.increase64(sums.total, value);
            },
        );
    }
}

/// The start's bits above the sieve.
struct Fixed {
    words: [R32; 2],
    above: Option<R32>,
}

/// What a thread has found.
struct Sums {
    total: R64,
    /// Starts so far, of a range.
    tested: R32,
}
