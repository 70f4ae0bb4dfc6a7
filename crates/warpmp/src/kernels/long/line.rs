//! A line: an operation in linear time on rows of any length.
//!
//! computes   `r = x + y + c`, `r = x` or a bitwise function of `x` and `y`, from rows that are shifted, complemented or left out
//! launch     512 threads a block at most, up to 16384 limbs a block; rows of more limbs: several blocks and a second launch
//! cost       a limb: its rows read once and the result written once; about 20 instructions a sum. The second launch
//!            reads and writes the limbs of the warps that a carry reaches
//! registers  128 at most
//!
//! Limb `n` of a warp is with lane `n mod 32`, in pass `n / 32`. Carries run from lane to lane and from pass to pass by
//! ballots, from warp to warp by flags in shared memory, from block to block by flags in scratch memory.
//!
//! bound: [`Carries`]: a warp generates a carry, or passes one on if its limbs are all ones, never both. The same
//! holds for a block.
//! source: carry look-ahead by ballots, as in `group`; ours.

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32, R64};
use warpmp_kernel::fragment::Carries;
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector, Vote};
use warpmp_launch::{Entry, Geometry, Spec, Stage};

use super::source::{Bit, Number, Reader, Source};

/// Warps of a block, at most.
const MOST_WARPS: u32 = 16;

/// Limbs of a lane, at most.
const MOST_PASSES: u32 = 32;

/// Limbs of a lane, at least: a warp with fewer has more to do for its flags than for its limbs.
const LEAST_PASSES: u32 = 4;

/// Words of scratch memory a block: its flag, and the masks of its warps that generate and pass on carries.
const BLOCK_WORDS: u32 = 3;

/// The carry that enters a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CarryIn {
    Zero,
    One,
    Bit(Bit),
}

/// The function of the limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// `x`.
    First,
    And(Source),
    Or(Source),
    Xor(Source),
    /// `x + y + c`.
    Sum(Source, CarryIn),
}

/// What happens where no carry leaves the sum: where a difference is negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negative {
    /// The result is the sum.
    Stays,
    /// The result is 0.
    Clears,
    /// The result is `x`.
    Restores,
}

/// A word about the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The carry out of the sum.
    Carry(Number),
    /// 1 where no carry leaves the sum.
    Borrow(Number),
    /// Of a difference: 3, 0 or 1 where `x` is less, equal or greater. With the signs of two's complements.
    Order(Number, Option<[Bit; 2]>),
}

/// The place of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: Number,
    /// The limb of the row where the result begins.
    pub(super) from: u32,
    /// Bits that are stored.
    pub(super) bits: u32,
}

/// Parameters of the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) x: Source,
    pub(super) function: Function,
    /// Limbs of the sum.
    pub(super) limbs: u32,
    pub(super) result: Option<Place>,
    pub(super) negative: Negative,
    pub(super) word: Option<Word>,
}

/// How the limbs are divided.
#[derive(Clone, Copy)]
struct Split {
    blocks: u32,
    warps: u32,
    passes: u32,
}

/// A block of a kernel.
struct Block<'l> {
    line: &'l Line,
    split: Split,
    reader: Reader<'l>,
    /// The block's number among the blocks of the lane.
    number: R32,
    warp: R32,
    /// The thread's number in its warp.
    member: R32,
    /// The thread's first limb.
    first: R32,
    outputs: Vec<R64>,
    /// The flags of the lane's blocks.
    flags: R64,
    shared: R32,
}

impl Number {
    /// The first bits of the row.
    pub(super) const fn place(self, bits: u32) -> Place {
        Place { row: self, from: 0, bits }
    }
}

impl Line {
    /// `r = x`.
    pub(super) const fn copy(x: Source, result: Place) -> Self {
        Self::of(x, Function::First, result)
    }

    /// A function of the limbs of the result.
    pub(super) const fn of(x: Source, function: Function, result: Place) -> Self {
        let limbs = result.bits.div_ceil(32);
        Self { x, function, limbs, result: Some(result), negative: Negative::Stays, word: None }
    }

    /// `r = x + y + c` in the limbs of the result.
    pub(super) const fn sum(x: Source, y: Source, carry: CarryIn, result: Place) -> Self {
        Self::of(x, Function::Sum(y, carry), result)
    }

    /// `r = x − y` in the limbs of the result.
    pub(super) const fn difference(x: Source, y: Source, result: Place) -> Self {
        Self::sum(x, y.turned(), CarryIn::One, result)
    }

    fn split(&self) -> Split {
        let passes = self.limbs.div_ceil(32 * MOST_WARPS).clamp(LEAST_PASSES, MOST_PASSES);
        let blocks = self.limbs.div_ceil(32 * passes * MOST_WARPS);
        let warps = if blocks == 1 { self.limbs.div_ceil(32 * passes) } else { MOST_WARPS };
        Split { blocks, warps, passes }
    }

    /// The rows that the kernels read: each once.
    fn inputs(&self) -> Vec<Number> {
        let mut rows = self.x.rows();
        match self.function {
            Function::First => {}
            Function::And(y) | Function::Or(y) | Function::Xor(y) => rows.extend(y.rows()),
            Function::Sum(y, carry) => {
                rows.extend(y.rows());
                match carry {
                    CarryIn::Zero | CarryIn::One => {}
                    CarryIn::Bit(bit) => rows.push(bit.row),
                }
            }
        }
        if let Some(Word::Order(_, Some(signs))) = self.word {
            rows.extend(signs.map(|it| it.row));
        }
        let mut distinct: Vec<Number> = Vec::new();
        for row in rows {
            if !distinct.contains(&row) {
                distinct.push(row);
            }
        }
        distinct
    }

    fn outputs(&self) -> Vec<Number> {
        let word = self.word.map(|it| match it {
            Word::Carry(row) | Word::Borrow(row) | Word::Order(row, _) => row,
        });
        self.result.map(|it| it.row).into_iter().chain(word).collect()
    }

    /// The rows that it reads, then the rows that it writes.
    pub(super) fn rows(&self) -> Vec<Number> {
        self.inputs().into_iter().chain(self.outputs()).collect()
    }

    fn is_sum(&self) -> bool {
        matches!(self.function, Function::Sum(..))
    }

    fn kernel(&self, entry: &Entry, finishes: bool) -> Kernel {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let (inputs, count) = (self.inputs(), self.inputs().len() + self.outputs().len());
        let name = format!("line_{}{}", self.limbs, if finishes { "_finish" } else { "" });
        let scratch = self.scratch_limbs() > 0;
        let (mut b, ports) = entry.open(&name, Glue::None, &names[..count], scratch);
        let split = self.split();
        b.bounds(Bounds { max_threads: Some(32 * split.warps), ..Bounds::default() });
        b.section("setup");
        let block = b.special(Special::Ctaid);
        let thread = b.special(Special::Tid);
        let slots = split.blocks.next_power_of_two();
        let lane = b.shr(block, slots.ilog2());
        let number = b.and(block, slots - 1);
        if slots > split.blocks {
            let outside = b.compare(Cmp::Ge, number, split.blocks);
            b.return_if(outside);
        }
        let warp = b.shr(thread, 5);
        let member = b.special(Special::Lane);
        let start = b.mad_lo(number, split.warps, warp);
        let first = b.mad_lo(start, 32 * split.passes, member);
        let rows: Vec<(Number, R64)> = inputs.iter().copied().zip(ports.addresses.iter().copied()).collect();
        let outputs = self.outputs().into_iter().zip(&ports.addresses[inputs.len()..]);
        let outputs = outputs.map(|(row, address)| row.row(&mut b, *address, lane)).collect();
        let flags = match ports.addresses.last() {
            Some(address) if scratch => b.mad_wide(lane, 4 * BLOCK_WORDS * split.blocks, *address),
            _ => ports.addresses[0],
        };
        let shared = b.shared_base();
        let reader = Reader { lane, rows: &rows };
        let block = Block { line: self, split, reader, number, warp, member, first, outputs, flags, shared };
        match self.function {
            _ if finishes => block.finish(&mut b),
            Function::Sum(y, _) => block.sum(&mut b, &y),
            Function::First | Function::And(_) | Function::Or(_) | Function::Xor(_) => block.bitwise(&mut b),
        }
        b.finish()
    }
}

impl Block<'_> {
    /// Stores the limbs of the result.
    fn store(&self, b: &mut Builder, limbs: &[R32]) {
        let Some(Place { row: _, from, bits }) = self.line.result else { return };
        let count = bits.div_ceil(32);
        let to = b.mad_wide(self.first, 4, self.outputs[0]);
        for (&limb, i) in limbs.iter().zip(0..) {
            let index = b.add(self.first, 32 * i);
            let limb = if bits.is_multiple_of(32) {
                limb
            } else {
                let top = b.compare(Cmp::Eq, index, count - 1);
                let mask = b.select((1 << (bits % 32)) - 1, u32::MAX, top);
                b.and(limb, mask)
            };
            let inside = b.compare(Cmp::Lt, index, count);
            b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], to, 4 * (from + 32 * i)));
        }
    }

    fn bitwise(&self, b: &mut Builder) {
        b.section("limbs");
        let passes = self.split.passes;
        let x = self.reader.limbs(b, &self.line.x, self.first, passes);
        let limbs = match self.line.function {
            Function::First | Function::Sum(..) => x,
            Function::And(y) | Function::Or(y) | Function::Xor(y) => {
                let y = self.reader.limbs(b, &y, self.first, passes);
                let pairs = x.into_iter().zip(y);
                pairs
                    .map(|(x, y)| match self.line.function {
                        Function::And(_) => b.and(x, y),
                        Function::Or(_) => b.or(x, y),
                        Function::First | Function::Xor(_) | Function::Sum(..) => b.xor(x, y),
                    })
                    .collect()
            }
        };
        b.section("store");
        self.store(b, &limbs);
    }

    /// The carry into the lane's number.
    fn carry_in(&self, b: &mut Builder) -> R32 {
        match self.line.function {
            Function::Sum(_, CarryIn::One) => b.copy(1),
            Function::Sum(_, CarryIn::Bit(bit)) => self.reader.bit(b, bit),
            Function::Sum(_, CarryIn::Zero)
            | Function::First
            | Function::And(_)
            | Function::Or(_)
            | Function::Xor(_) => b.copy(0),
        }
    }

    /// The warp's limbs of the sum without a carry into them, and its flag: 1 if it generates a carry, 2 if it passes one on.
    fn warp_sum(&self, b: &mut Builder, y: &Source) -> (Vec<R32>, R32) {
        let passes = self.split.passes;
        let x = self.reader.limbs(b, &self.line.x, self.first, passes);
        let y = self.reader.limbs(b, y, self.first, passes);
        b.section("carry");
        let mut incoming = None;
        let mut limbs = Vec::new();
        for (x, y) in x.into_iter().zip(y) {
            let raw = b.add(x, y);
            let generates = b.compare(Cmp::Lt, raw, x);
            let passes_on = b.compare(Cmp::Eq, raw, u32::MAX);
            let mut carries = Carries::look_ahead(b, generates, passes_on, 32);
            if let Some(incoming) = incoming {
                carries = carries.entered(b, incoming);
            }
            let into = carries.into_lane(b);
            limbs.push(b.add(raw, into));
            incoming = Some(carries.leaving(b));
        }
        let ones = limbs[1..].iter().fold(limbs[0], |all, &limb| b.and(all, limb));
        let ones = b.compare(Cmp::Eq, ones, u32::MAX);
        let ones = b.vote(Vote::All, ones);
        let passes_on = b.select(2, 0, ones);
        let leaves = incoming.unwrap_or(passes_on);
        (limbs, b.or(leaves, passes_on))
    }

    /// The sum: whole if the lane has one block, else without a carry into the block.
    fn sum(&self, b: &mut Builder, y: &Source) {
        b.section("limbs");
        let Split { blocks, warps, .. } = self.split;
        let (limbs, flag) = self.warp_sum(b, y);
        let limbs: Vec<R32> = limbs.into_iter().map(|limb| b.copy(limb)).collect();
        b.section("warps");
        let bottom = b.compare(Cmp::Eq, self.member, 0);
        let to = b.mad_lo(self.warp, 4, self.shared);
        b.guarded(bottom, true, |g| g.store_shared(&[flag], to, 0));
        b.barrier();
        // Warps that are not there pass carries on.
        let flag = b.copy(2);
        let there = b.compare(Cmp::Lt, self.member, warps);
        let from = b.mad_lo(self.member, 4, self.shared);
        b.guarded(there, true, |g| g.load_into(Space::Shared, Vector::V1, &[flag], from, 0));
        let (mut carries, [_, passes_on]) = look_ahead(b, flag);
        if blocks == 1 {
            let enters = self.carry_in(b);
            carries = carries.entered(b, enters);
        }
        let into = carries.into_lane(b);
        let into = b.shuffle(Shuffle::Idx, into, self.warp, 32);
        let leaves = carries.leaving(b);
        self.add_carry(b, &limbs, into);
        let equal = b.vote(Vote::All, passes_on);
        if blocks == 1 {
            self.end(b, &limbs, leaves, equal);
            return;
        }
        b.section("store");
        self.store(b, &limbs);
        let generates = b.and(flag, 1);
        let generates = b.compare(Cmp::Ne, generates, 0);
        let masks = [generates, passes_on].map(|it| b.ballot(it));
        let all = b.select(2, 0, equal);
        let own = b.or(leaves, all);
        let to = b.mad_wide(self.number, 4 * BLOCK_WORDS, self.flags);
        let thread = b.or(self.warp, self.member);
        let one = b.compare(Cmp::Eq, thread, 0);
        b.guarded(one, true, |g| {
            for (word, i) in [own, masks[0], masks[1]].into_iter().zip(0..) {
                g.store_global(Space::Global, &[word], to, 4 * i);
            }
        });
    }

    /// Adds a carry to the warp's limbs in place.
    fn add_carry(&self, b: &mut Builder, limbs: &[R32], carry: R32) {
        let enters = b.compare(Cmp::Ne, carry, 0);
        b.if_(enters, |b| {
            let carry = b.copy(carry);
            for &limb in limbs {
                let ones = b.compare(Cmp::Eq, limb, u32::MAX);
                let ones = b.ballot(ones);
                let sum = b.add(ones, carry);
                let mask = b.xor(sum, ones);
                let all = b.compare(Cmp::Eq, ones, u32::MAX);
                let next = b.select(carry, 0, all);
                b.set(carry, next);
                let own = b.bfe(mask, self.member, 1);
                let sum = b.add(limb, own);
                b.set(limb, sum);
            }
        });
    }

    /// Stores the limbs and the word about the sum. `leaves`: the carry out of the sum; `equal`: is the sum without the carry
    /// into it all ones?
    fn end(&self, b: &mut Builder, limbs: &[R32], leaves: R32, equal: Pred) {
        b.section("store");
        match self.line.negative {
            Negative::Stays => self.store(b, limbs),
            Negative::Clears => {
                let mask = b.sub(0, leaves);
                let limbs: Vec<R32> = limbs.iter().map(|&limb| b.and(limb, mask)).collect();
                self.store(b, &limbs);
            }
            Negative::Restores => {
                let is_negative = b.compare(Cmp::Eq, leaves, 0);
                b.if_(is_negative, |b| self.restore(b, limbs));
                self.store(b, limbs);
            }
        }
        self.tell(b, leaves, equal);
    }

    /// Replaces limbs of the sum by those of `x`.
    fn restore(&self, b: &mut Builder, limbs: &[R32]) {
        let x = self.reader.limbs(b, &self.line.x, self.first, self.split.passes);
        for (&limb, x) in limbs.iter().zip(x) {
            b.set(limb, x);
        }
    }

    /// Stores the word about the sum: one thread of the lane.
    fn tell(&self, b: &mut Builder, leaves: R32, equal: Pred) {
        let Some(word) = self.line.word else { return };
        let value = match word {
            Word::Carry(_) => leaves,
            Word::Borrow(_) => b.xor(leaves, 1),
            Word::Order(_, signs) => {
                let mut less = b.xor(leaves, 1);
                for sign in signs.into_iter().flatten() {
                    let sign = self.reader.bit(b, sign);
                    less = b.xor(less, sign);
                }
                let twice = b.add(less, less);
                let order = b.or(twice, 1);
                b.select(0, order, equal)
            }
        };
        let to = self.outputs[self.outputs.len() - 1];
        let thread = b.or(self.warp, self.member);
        let thread = b.or(thread, self.number);
        let one = b.compare(Cmp::Eq, thread, 0);
        b.guarded(one, true, |g| g.store_global(Space::Global, &[value], to, 0));
    }

    /// The second launch: carries into the blocks.
    fn finish(&self, b: &mut Builder) {
        b.section("blocks");
        let blocks = self.split.blocks;
        let enters = self.carry_in(b);
        let mut incoming = enters;
        let into_block = b.copy(0);
        let mut equal = None;
        let group = b.shr(self.number, 5);
        let own = b.and(self.number, 31);
        for (number, first) in (0..).zip((0..blocks).step_by(32)) {
            let flag = b.copy(2);
            let from = b.mad_wide(self.member, 4 * BLOCK_WORDS, self.flags);
            let inside = b.compare(Cmp::Lt, self.member, blocks - first);
            b.guarded(inside, true, |g| {
                g.load_into(Space::Global, Vector::V1, &[flag], from, 4 * BLOCK_WORDS * first);
            });
            let (carries, [_, passes_on]) = look_ahead(b, flag);
            let carries = carries.entered(b, incoming);
            let into = carries.into_lane(b);
            let into = b.shuffle(Shuffle::Idx, into, own, 32);
            let here = b.compare(Cmp::Eq, group, number);
            let into = b.select(into, into_block, here);
            b.set(into_block, into);
            incoming = carries.leaving(b);
            let all = b.vote(Vote::All, passes_on);
            equal = Some(equal.map_or(all, |equal| b.and_pred(equal, all)));
        }
        let leaves = incoming;
        let equal = equal.expect("there is a block");
        b.section("finish");
        let from = b.mad_wide(self.number, 4 * BLOCK_WORDS, self.flags);
        let [generate, propagate] = [4, 8].map(|offset| b.load_global(Space::Global, Vector::V1, from, offset)[0]);
        // The carries into the warps without and with the carry into the block.
        let sum = b.add(generate, generate);
        let sum = b.add(sum, propagate);
        let with = b.add(sum, into_block);
        let changed = b.xor(sum, with);
        let into = b.bfe(changed, self.warp, 1);
        if self.line.result.is_some() {
            match self.line.negative {
                Negative::Stays => self.rewrite(b, into),
                Negative::Clears | Negative::Restores => {
                    let is_negative = b.compare(Cmp::Eq, leaves, 0);
                    b.if_else(
                        is_negative,
                        |b| {
                            let limbs: Vec<R32> = (0..self.split.passes).map(|_| b.copy(0)).collect();
                            if self.line.negative == Negative::Restores {
                                self.restore(b, &limbs);
                            }
                            self.store(b, &limbs);
                        },
                        |b| self.rewrite(b, into),
                    );
                }
            }
        }
        self.tell(b, leaves, equal);
    }

    /// Adds a carry to the warp's limbs of the result, which the first launch stored.
    fn rewrite(&self, b: &mut Builder, carry: R32) {
        let Some(Place { from, bits, .. }) = self.line.result else { return };
        let enters = b.compare(Cmp::Ne, carry, 0);
        b.if_(enters, |b| {
            let at = b.mad_wide(self.first, 4, self.outputs[0]);
            let limbs: Vec<R32> = (0..self.split.passes)
                .map(|i| {
                    let limb = b.copy(0);
                    let index = b.add(self.first, 32 * i);
                    let inside = b.compare(Cmp::Lt, index, bits.div_ceil(32));
                    b.guarded(inside, true, |g| {
                        g.load_into(Space::Global, Vector::V1, &[limb], at, 4 * (from + 32 * i));
                    });
                    limb
                })
                .collect();
            self.add_carry(b, &limbs, carry);
            self.store(b, &limbs);
        });
    }
}

/// The carries between 32 parts by their flags, and whether each part generates or passes a carry on.
fn look_ahead(b: &mut Builder, flag: R32) -> (Carries, [Pred; 2]) {
    let parts = [1, 2].map(|bit| {
        let bit = b.and(flag, bit);
        b.compare(Cmp::Ne, bit, 0)
    });
    (Carries::look_ahead(b, parts[0], parts[1], 32), parts)
}

impl Spec for Line {
    fn name(&self) -> String {
        let words = format!("{self:?}");
        words.chars().filter(char::is_ascii_alphanumeric).collect()
    }

    fn scratch_limbs(&self) -> u32 {
        let blocks = self.split().blocks;
        if self.is_sum() && blocks > 1 { BLOCK_WORDS * blocks } else { 0 }
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let Split { blocks, warps, .. } = self.split();
        let slots = blocks.next_power_of_two();
        let shared = if self.is_sum() { 4 * warps } else { 0 };
        let geometry = Geometry { blocks: slots, max_lanes: (1 << 30) / slots, ..Geometry::new(32 * warps, 1) };
        let first = Stage::new(geometry.with_shared(shared), |entry| self.kernel(entry, false));
        let second = (self.scratch_limbs() > 0).then(|| Stage::new(geometry, |entry| self.kernel(entry, true)));
        [first].into_iter().chain(second).collect()
    }
}
