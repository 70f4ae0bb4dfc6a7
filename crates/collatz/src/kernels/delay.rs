//! `delay`: delays of 64-bit starts, the dissertation's Algorithm 6.
//!
//! computes   `out[i]` = the number of standard steps (n/2 and 3n + 1 each one) from start i to 1; a start whose value
//!            would exceed 96 bits is reported, and its word left alone
//! requires   table A of the delays below 2ᵗ, d ≤ t ≤ 32: a jump from 2ᵗ or more, which is at least t steps above 1, does
//!            not pass 1; starts at least 1; d ≤ 20 (in shared memory d ≤ 13)
//! launch     `threads` threads a block, a start a thread at a time; 16·2ᵈ bytes of shared memory, if the tables are there
//! cost       a jump: one look-up, 3 wide products, 3 funnel shifts
//!
//! Tables B, C, J are one: an entry has 3ᶜ, Tᵈ(l) and the standard steps d + c, so that one access brings them.
//!
//! bound: as in `honda`: the carry out of the third word is not zero just if the value exceeds 96 bits.
//! source: Honda, dissertation, Algorithm 6.

use warpmp_device::{Arg, Buffer, Grid};
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Address, Parameter, Word, fill_shared, parameters};

use super::common::{Jump, Report, jump_watched};
use super::honda::Place;

/// Where starts come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Consecutive numbers from the first argument on.
    Range,
    /// 64 bits each in global memory, at the address that is the first argument.
    Array,
}

impl Source {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Array => "array",
        }
    }

    /// Start number `index`.
    pub(super) fn load(self, b: &mut Builder, from: R64, index: R32) -> [R32; 2] {
        match self {
            Self::Range => {
                let offset = b.widen(index);
                let start = b.add64(from, offset);
                let (low, high) = b.unpack(start);
                [low, high]
            }
            Self::Array => {
                let address = b.mad_wide(index, 8, from);
                let words = b.load_global(Space::GlobalConst, Vector::V2, address, 0);
                [words[0], words[1]]
            }
        }
    }
}

/// The starts of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Starts<'a> {
    /// Consecutive numbers from this one on.
    From(u64),
    /// 64 bits each in device memory.
    In(&'a Buffer),
}

impl Parameter for Source {
    type Register = R64;
    type Argument<'a> = Starts<'a>;

    fn declare(b: &mut Builder, name: &str, _optional: bool) -> R64 {
        b.param_u64(name)
    }

    fn append<'a>(starts: &Starts<'a>, list: &mut Vec<Arg<'a>>) {
        list.push(match *starts {
            Starts::From(first) => Arg::U64(first),
            Starts::In(buffer) => Arg::from(buffer),
        });
    }
}

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The starts.
        from: Source,
        /// How many starts there are.
        count: Word,
        /// Entries of four words: 3ᶜ, Tᵈ(l), d + c, 0.
        table: Address,
        /// Table A, a word each.
        known: Address,
        /// The delays, a word each.
        out: Address,
        /// Its records are a start and its number, 64 bits each.
        report: Report,
    }
}

/// The specification of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delay {
    /// Steps of a jump, d.
    pub base_bits: u32,
    /// Where the tables are.
    pub place: Place,
    /// Bits of the numbers that table A has, t.
    pub known_bits: u32,
    /// Where starts come from.
    pub source: Source,
    /// Threads a block.
    pub threads: u32,
}

impl Delay {
    /// The entry point's name.
    pub fn name(&self) -> String {
        let place = match self.place {
            Place::Shared => "shared",
            Place::Global => "global",
        };
        let Self { base_bits, known_bits, threads, .. } = self;
        format!("collatz_delay_{}_{place}_d{base_bits}_a{known_bits}_t{threads}", self.source.word())
    }

    /// A grid of so many blocks.
    pub const fn grid(&self, blocks: u32) -> Grid {
        let shared_bytes = match self.place {
            Place::Shared => 16 << self.base_bits,
            Place::Global => 0,
        };
        Grid { blocks, threads: self.threads, shared_bytes }
    }

    /// The kernel.
    pub fn build(&self) -> Kernel {
        let mut builder = Builder::new(&self.name(), Glue::None);
        let b = &mut builder;
        b.bounds(Bounds { max_threads: Some(self.threads), ..Bounds::default() });
        let inputs = Inputs::of(b, false);
        let thread = b.special(Special::Tid);
        let shared = match self.place {
            Place::Shared => {
                let base = b.shared_base();
                fill_shared(b, thread, self.threads, inputs.table, base, 4 << self.base_bits);
                b.barrier();
                Some(base)
            }
            Place::Global => None,
        };
        let (block, blocks) = (b.special(Special::Ctaid), b.special(Special::Nctaid));
        let index = b.mad_lo(block, self.threads, thread);
        let stride = b.mul_lo(blocks, self.threads);
        let some = b.compare(Cmp::Lt, index, inputs.count);
        b.if_(some, |b| {
            b.do_while(|b| {
                let n = self.source.load(b, inputs.from, index);
                self.trajectory(b, n, index, &inputs, shared);
                let next = b.add(index, stride);
                // The last round may pass the end of 32 bits.
                let grown = b.compare(Cmp::Gt, next, index);
                b.set(index, next);
                let inside = b.compare(Cmp::Lt, index, inputs.count);
                b.and_pred(grown, inside)
            });
        });
        builder.finish()
    }

    fn trajectory(&self, b: &mut Builder, n: [R32; 2], index: R32, inputs: &Inputs, shared: Option<R32>) {
        let z = [b.copy(n[0]), b.copy(n[1]), b.copy(0)];
        let (steps, lost) = (b.copy(0), b.copy(0));
        b.section("jump");
        let large = self.is_large(b, &z);
        b.if_(large, |b| {
            b.do_while(|b| {
                let low = b.and(z[0], (1 << self.base_bits) - 1);
                let entry = if let Some(base) = shared {
                    let address = b.mad_lo(low, 16, base);
                    b.load_shared(Vector::V4, address, 0)
                } else {
                    let address = b.mad_wide(low, 16, inputs.table);
                    b.load_global(Space::GlobalConst, Vector::V4, address, 0)
                };
                let above = jump_watched(b, &z, self.base_bits, Jump { power: entry[0], rest: entry[1] });
                b.set(lost, above);
                b.increase(steps, entry[2]);
                let large = self.is_large(b, &z);
                let fits = b.compare(Cmp::Eq, lost, 0);
                b.and_pred(large, fits)
            });
        });
        b.section("end");
        let fits = b.compare(Cmp::Eq, lost, 0);
        b.if_else(
            fits,
            |b| {
                let address = b.mad_wide(z[0], 4, inputs.known);
                let rest = b.load_global(Space::GlobalConst, Vector::V1, address, 0)[0];
                let delay = b.add(steps, rest);
                let address = b.mad_wide(index, 4, inputs.out);
                b.store_global(Space::Global, &[delay], address, 0);
            },
            |b| inputs.report.put(b, &[n[0], n[1], index]),
        );
    }

    /// Is the value 2ᵗ or more?
    fn is_large(&self, b: &mut Builder, z: &[R32; 3]) -> warpmp_kernel::build::Pred {
        let above = if self.known_bits == 32 { b.copy(0) } else { b.shr(z[0], self.known_bits) };
        let above = b.lop3(above, z[1], z[2], 0xFE);
        b.compare(Cmp::Ne, above, 0)
    }
}
