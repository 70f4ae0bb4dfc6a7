//! The EPFL report's experiments: one operation a thread, several times over, in each form that the report compares.
//!
//! computes   c = a + b modulo 2^(32·L), a + b mod m, or a·b, `executions·turns` times; a, b, m: L limbs of `bits` bits
//! requires   33 ≤ `bits` ≤ 512; `a, b < m` where there is a modulus; room for 2²⁰ numbers or fewer, and no more threads
//! launch     any grid of any blocks to 1024 threads: thread `t` of the launch takes number `t`
//! cost       see [`Work`] and [`Arithmetic`]; the loads and stores of [`Place`]
//! registers  at most 64, so that a block may have 1024 threads
//!
//! These kernels are instruments: what a form costs is measured with them, and products for use have other kernels
//! (`thread`). With [`Place::Local`] the operands are read once, each execution takes its first operand from the
//! result before it, so that none can be left out, and the last result is stored:
//!
//! ```text
//! sums       a ← c
//! products   a ← (c mod B^L) xor ⌊c / B^(lc−L)⌋, modulo 2^bits          c has lc limbs, B = 2³²
//! ```
//!
//! With [`Place::Global`] every execution reads its operands from memory wherever it needs a limb, and writes the
//! limbs of the result there whenever they change; all executions do the same. That is what the report's
//! `_glo` macros do.
//!
//! bound: see `sums.rs` and `products.rs`.
//! source: A. Carlessi, S. Kashani, *Implementing generic multiple-precision arithmetic on CUDA GPUs*, EPFL, 2013:
//! chapters 3 and 4. That executions hang together, and the forms that are not the report's, are ours.

mod layout;
mod number;
mod products;
mod sums;

use serde::Deserialize;
use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};

pub use layout::{Layout, Operands, Order};
use number::Number;

/// `(a xor b) and c` for `lop3`.
const FOLD: u8 = 0x28;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// `a + b` modulo 2^(32·L): the report's `add_loc`, 3.6.4.
    Add,
    /// `a + b mod m` without a branch: `add_m_loc`, Listing 3.14.
    AddMod,
    /// `a·b`, every limb by every limb: `mul_loc`, 3.6.8.
    School,
    /// `a·b` by Karatsuba's method once, with sums of halves: `mul_karatsuba_loc`, 3.6.9.
    Karatsuba,
}

/// How carries go from limb to limb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// The report's PTX. Sums: `add.cc` and `addc.cc`. Products: column by column, `mad.lo.cc` and `mad.hi.cc`,
    /// each followed by an `addc` that counts carries (Listings 3.17 to 3.19).
    #[default]
    Flag,
    /// 64-bit sums of 32-bit words, as one writes in C; products row by row.
    Wide,
    /// 32-bit words, and a comparison that tells if a sum has wrapped: Listing 3.1, put right.
    Compared,
    /// Sums as [`Flag`](Self::Flag); products by rows of wide products in two rows of accumulators, as
    /// `thread` has them.
    Rows,
}

/// Where operands and result are during an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In registers: the report's local vectors.
    #[default]
    Local,
    /// In global memory.
    Global,
}

/// Parameters of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Experiment {
    /// The operation.
    pub work: Work,
    /// Its carries.
    pub arithmetic: Arithmetic,
    /// Its operands' place.
    pub place: Place,
    /// The order of the limbs in memory.
    pub layout: Layout,
    /// Bits of an operand.
    pub bits: u32,
    /// How often the operation stands in the text.
    pub executions: u32,
    /// How often all of them are done, in a loop: long straight code is another experiment, since the assembler interleaves
    /// executions, and may run out of predicates for their carries.
    pub turns: u32,
    /// Numbers that each array has room for: limbs of a limb-major array are so far apart.
    pub room: u32,
}

impl Experiment {
    /// The bits that it takes.
    pub const BITS: std::ops::RangeInclusive<u32> = 33..=512;

    /// The most numbers in an array: the report's.
    pub const MAX_ROOM: u32 = 1 << 20;

    /// Limbs of an operand.
    pub const fn limbs(&self) -> u32 {
        self.bits.div_ceil(32)
    }

    /// Limbs of the result.
    pub const fn result_limbs(&self) -> u32 {
        match self.work {
            Work::Add | Work::AddMod => self.limbs(),
            Work::School | Work::Karatsuba => (2 * self.bits).div_ceil(32),
        }
    }

    /// Has it a modulus?
    pub const fn has_modulus(&self) -> bool {
        matches!(self.work, Work::AddMod)
    }

    /// The kernel's name.
    pub fn name(&self) -> String {
        let Self { work, arithmetic, place, layout, bits, executions, turns, room } = self;
        let times = if *turns == 1 { format!("x{executions}") } else { format!("x{turns}x{executions}") };
        let words = format!("epfl_{work:?}_{arithmetic:?}_{place:?}_{}_{bits}_{times}_n{room}", layout.name());
        words.to_lowercase()
    }

    /// Writes the kernel. Parameters: the addresses of `a` and `b` (of both together where they are interleaved), of
    /// `m` if there is one, and of `c`.
    pub fn build(&self) -> Kernel {
        let glue = if self.arithmetic == Arithmetic::Rows { Glue::Every(1) } else { Glue::None };
        let mut b = Builder::new(&self.name(), glue);
        b.bounds(Bounds { max_threads: Some(1024), ..Bounds::default() });
        let a_address = b.param_u64("a");
        let b_address = if self.layout.operands == Operands::Separate { b.param_u64("b") } else { a_address };
        let m_address = self.has_modulus().then(|| b.param_u64("m"));
        let c_address = b.param_u64("c");
        b.section("setup");
        let (tid, block, threads) = (b.special(Special::Tid), b.special(Special::Ctaid), b.special(Special::Ntid));
        let thread = b.mad_lo(block, threads, tid);
        let row = Row { layout: self.layout, thread, room: self.room };
        let limbs = self.limbs();
        let operands = row.operands(&mut b, [a_address, b_address], limbs);
        let modulus = m_address.map(|address| row.alone(&mut b, address, limbs));
        let result = row.alone(&mut b, c_address, self.result_limbs());
        match self.place {
            Place::Local => self.local(&mut b, operands, modulus, result),
            Place::Global => self.global(&mut b, &operands, modulus.as_ref(), result),
        }
        b.finish()
    }

    /// Operands to registers, the executions, the result to memory.
    fn local(&self, b: &mut Builder, operands: [Number; 2], modulus: Option<Number>, mut result: Number) {
        b.section("load");
        let [first, second] = if self.layout.operands == Operands::Pairs {
            number::load_pairs(b, &operands)
        } else {
            operands.map(|operand| operand.to_registers(b))
        };
        let modulus = modulus.map(|modulus| modulus.to_registers(b));
        b.section("arithmetic");
        let mut last = Number::new(0);
        self.repeat(b, |b| {
            last = self.in_a_row(b, first.clone(), &second, modulus.as_ref());
            if self.turns > 1 {
                let next = self.next(b, &last).registers(b);
                for (limb, next) in first.registers(b).into_iter().zip(next) {
                    b.set(limb, next);
                }
            }
        });
        b.section("store");
        for i in 0..self.result_limbs() {
            let limb = last.get(b, i);
            result.set(b, i, limb);
        }
    }

    /// The executions of a turn, each with what the one before hands on: the last result.
    fn in_a_row(&self, b: &mut Builder, mut first: Number, second: &Number, modulus: Option<&Number>) -> Number {
        let mut last = Number::new(self.result_limbs());
        for execution in 0..self.executions {
            if execution > 0 {
                first = self.next(b, &last);
            }
            last = Number::new(self.result_limbs());
            self.execute(b, [&first, second], modulus, &mut last);
        }
        last
    }

    /// The executions, on memory.
    fn global(&self, b: &mut Builder, operands: &[Number; 2], modulus: Option<&Number>, mut result: Number) {
        b.section("arithmetic");
        self.repeat(b, |b| {
            for _ in 0..self.executions {
                self.execute(b, operands.each_ref(), modulus, &mut result);
            }
        });
    }

    /// The body once a turn.
    fn repeat(&self, b: &mut Builder, body: impl FnOnce(&mut Builder)) {
        if self.turns == 1 {
            return body(b);
        }
        let left = b.copy(self.turns);
        b.do_while(|b| {
            body(b);
            b.decrease(left, 1);
            b.compare(Cmp::Ne, left, 0)
        });
    }

    /// The first operand after this result.
    fn next(&self, b: &mut Builder, result: &Number) -> Number {
        let limbs = self.limbs();
        match self.work {
            Work::Add | Work::AddMod => result.clone(),
            Work::School | Work::Karatsuba => {
                let above = self.result_limbs() - limbs;
                let mut next = Number::new(limbs);
                for i in 0..limbs {
                    let (low, high) = (result.get(b, i), result.get(b, i + above));
                    let top = i + 1 == limbs && !self.bits.is_multiple_of(32);
                    let mask = (1 << (self.bits % 32)) - 1;
                    let limb = if top { b.lop3(low, high, mask, FOLD) } else { b.xor(low, high) };
                    next.set(b, i, limb);
                }
                next
            }
        }
    }

    fn execute(&self, b: &mut Builder, [x, y]: [&Number; 2], modulus: Option<&Number>, out: &mut Number) {
        match (self.work, modulus) {
            (Work::Add, _) | (Work::AddMod, None) => sums::add(b, self.arithmetic, x, y, out),
            (Work::AddMod, Some(modulus)) => sums::add_mod(b, self.arithmetic, self.bits, [x, y, modulus], out),
            (Work::School, _) => products::school(b, self.arithmetic, x, y, out),
            (Work::Karatsuba, _) => products::karatsuba(b, self.arithmetic, self.bits, x, y, out),
        }
    }
}

/// The numbers of a thread in memory.
struct Row {
    layout: Layout,
    /// The number of the thread in the launch.
    thread: R32,
    room: u32,
}

impl Row {
    /// Both operands.
    fn operands(&self, b: &mut Builder, [first, second]: [R64; 2], limbs: u32) -> [Number; 2] {
        if self.layout.operands == Operands::Separate {
            return [self.alone(b, first, limbs), self.alone(b, second, limbs)];
        }
        let places = self.places(b, first, limbs, 8);
        [0, 4].map(|word| Number::in_memory(places.iter().map(|&(base, offset)| (base, offset + word))))
    }

    /// A number in an array of its own.
    fn alone(&self, b: &mut Builder, array: R64, limbs: u32) -> Number {
        Number::in_memory(self.places(b, array, limbs, 4).into_iter())
    }

    /// Where limbs are that take this many bytes each: addresses and bytes above them.
    fn places(&self, b: &mut Builder, array: R64, limbs: u32, bytes: u32) -> Vec<(R64, u32)> {
        let (row, distance) = match self.layout.order {
            Order::RowMajor => (bytes * limbs, bytes),
            Order::LimbMajor => (bytes, bytes * self.room),
        };
        let base = b.mad_wide(self.thread, row, array);
        (0..limbs).map(|i| (base, distance * i)).collect()
    }
}
