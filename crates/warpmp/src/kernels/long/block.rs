//! A block of a [`Line`]: its limbs, the carries between them, and the carries between blocks.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, add_carry_to_row};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector, Vote};

use super::line::{BLOCK_WORDS, CarryIn, Function, Line, Negative, Place, Split, Terms, Word};
use super::source::{Bit, Number, Reader, Source};

/// A block of a kernel.
pub(super) struct Block<'l> {
    pub(super) line: &'l Line,
    pub(super) split: Split,
    pub(super) reader: Reader<'l>,
    /// The block's number among the blocks of the lane.
    pub(super) number: R32,
    /// The thread's warp in its block; 0 in a packed line, and in the second launch if each warp has a block.
    pub(super) warp: R32,
    /// The thread's number in its warp.
    pub(super) member: R32,
    /// The thread's first limb.
    pub(super) first: R32,
    pub(super) outputs: Vec<R64>,
    /// The flags of the lane's blocks.
    pub(super) flags: R64,
    pub(super) shared: R32,
}

impl Block<'_> {
    /// Stores the limbs of the result.
    fn store(&self, b: &mut Builder, limbs: &[R32]) {
        match self.line.lowered {
            None => self.store_from(b, self.first, limbs),
            Some((row, word)) => self.store_lowered(b, limbs, row, word),
        }
    }

    /// Stores the limbs of the result, which goes down by a distance of each lane. A limb that leaves it at the bottom is zero, as is one that
    /// is missing at the top, so the former takes the place of the latter.
    fn store_lowered(&self, b: &mut Builder, limbs: &[R32], row: Number, word: u32) {
        debug_assert!(self.line.is_packed, "one warp has all limbs");
        let Some(Place { row: _, from, bits }) = self.line.result else { return };
        let (count, all) = (bits.div_ceil(32), self.line.limbs);
        let distance = self.reader.word(b, row, word);
        let [words, bits] = [b.shr(distance, 5), b.and(distance, 31)];
        let lane_above = b.add(self.member, 1);
        let lane_above = b.and(lane_above, 31);
        let is_top = b.compare(Cmp::Eq, self.member, 31);
        let mut around: Vec<R32> = limbs.iter().map(|&limb| b.shuffle(Shuffle::Idx, limb, lane_above, 32)).collect();
        around.push(b.copy(0));
        let start = b.sub(self.first, words);
        for (&limb, i) in limbs.iter().zip(0..) {
            let above = b.select(around[i as usize + 1], around[i as usize], is_top);
            let limb = b.funnel_right(limb, above, bits);
            let index = b.add(start, 32 * i);
            let from_top = b.add(index, all);
            // Below the bottom the number wraps around.
            let stays = b.compare(Cmp::Lt, index, all);
            let index = b.select(index, from_top, stays);
            let mut inside = b.compare(Cmp::Lt, index, count);
            if self.reader.are_inside(i64::from(32 * i), all).is_none() {
                let own = b.add(self.first, 32 * i);
                let counts = b.compare(Cmp::Lt, own, all);
                inside = b.and_pred(inside, counts);
            }
            let to = b.mad_wide(index, 4, self.outputs[0]);
            b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], to, 4 * from));
        }
    }

    /// Stores limbs of the result: limb `first`, and those that are a multiple of 32 limbs above it.
    fn store_from(&self, b: &mut Builder, first: R32, limbs: &[R32]) {
        let Some(Place { row: _, from, bits }) = self.line.result else { return };
        let count = bits.div_ceil(32);
        let to = b.mad_wide(first, 4, self.outputs[0]);
        for (&limb, i) in limbs.iter().zip(0..) {
            let at = 4 * (from + 32 * i);
            // A packed line stores all of its limbs at once: `first` is the thread's first limb.
            match self.reader.are_inside(i64::from(32 * i), bits / 32) {
                Some(true) => {
                    b.store_global(Space::Global, &[limb], to, at);
                    continue;
                }
                Some(false) if 32 * i >= count => break,
                Some(false) | None => {}
            }
            let index = b.add(first, 32 * i);
            let limb = if bits.is_multiple_of(32) {
                limb
            } else {
                let top = b.compare(Cmp::Eq, index, count - 1);
                let mask = b.select((1 << (bits % 32)) - 1, u32::MAX, top);
                b.and(limb, mask)
            };
            let inside = b.compare(Cmp::Lt, index, count);
            b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], to, at));
        }
    }

    pub(super) fn bitwise(&self, b: &mut Builder) {
        b.section("limbs");
        let passes = self.split.passes;
        let x = self.reader.limbs(b, &self.line.x, self.first, passes);
        let limbs = match self.line.function {
            Function::First | Function::Sum(..) | Function::Terms(_) => x,
            Function::And(y) | Function::Or(y) | Function::Xor(y) => {
                let y = self.reader.limbs(b, &y, self.first, passes);
                let pairs = x.into_iter().zip(y);
                pairs
                    .map(|(x, y)| match self.line.function {
                        Function::And(_) => b.and(x, y),
                        Function::Or(_) => b.or(x, y),
                        Function::First | Function::Xor(_) | Function::Sum(..) | Function::Terms(_) => b.xor(x, y),
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
            | Function::Terms(_)
            | Function::First
            | Function::And(_)
            | Function::Or(_)
            | Function::Xor(_) => b.copy(0),
        }
    }

    /// The warp's limbs of the sum, and the carry that leaves them.
    fn warp_sum(&self, b: &mut Builder, enters: Option<R32>) -> (Vec<R32>, R32) {
        let passes = self.split.passes;
        let [x, y] = match &self.line.function {
            Function::Terms(terms) => self.halves(b, terms),
            Function::Sum(y, _) | Function::And(y) | Function::Or(y) | Function::Xor(y) => {
                [&self.line.x, y].map(|it| self.reader.limbs(b, it, self.first, passes))
            }
            Function::First => {
                [&self.line.x, &Source::constant(0)].map(|it| self.reader.limbs(b, it, self.first, passes))
            }
        };
        b.section("carry");
        add_rows(b, x, y, enters)
    }

    /// The lower halves of the limbs of a sum of terms, and the upper halves of the limbs below.
    fn halves(&self, b: &mut Builder, terms: &Terms) -> [Vec<R32>; 2] {
        let Terms { rows, multiple, words } = terms;
        let multiple = multiple.map(|(row, word, times)| (self.reader.word(b, row, word), times));
        let words = words.map(|(row, word)| [0, 1].map(|i| self.reader.word(b, row, word + i)));
        // What is subtracted, times a limb of ones.
        let less = words.map(|[_, less]| {
            let [high, low] = [b.pack(0, less), b.widen(less)];
            b.sub64(high, low)
        });
        let sums = |b: &mut Builder, first: R32, count: u32| -> Vec<(R32, R32)> {
            let mut limbs = |source: &Source| self.reader.limbs(b, source, first, count);
            let added: Vec<Vec<R32>> = [Some(self.line.x)].iter().chain(rows).flatten().map(&mut limbs).collect();
            let multiple = multiple.as_ref().map(|(factor, times)| (*factor, limbs(times)));
            let sum = |i: usize| {
                let mut sum = b.widen(added[0][i]);
                if let Some(less) = less {
                    sum = b.add64(sum, less);
                }
                for row in &added[1..] {
                    let limb = b.widen(row[i]);
                    sum = b.add64(sum, limb);
                }
                if let Some((factor, limbs)) = &multiple {
                    sum = b.mad_wide(limbs[i], *factor, sum);
                }
                b.unpack(sum)
            };
            (0..count as usize).map(sum).collect()
        };
        let enters = words.map_or_else(|| b.copy(0), |[enters, _]| enters);
        let mut below = if self.line.is_packed {
            enters
        } else {
            // The first lane takes the upper half of the warp below, which nobody hands on.
            let below = b.sub(self.first, 1);
            let (_, below) = sums(b, below, 1)[0];
            let is_lowest = b.compare(Cmp::Eq, self.first, 0);
            b.select(enters, below, is_lowest)
        };
        let is_bottom = b.compare(Cmp::Eq, self.member, 0);
        let lane_below = b.sub(self.member, 1);
        let lane_below = b.and(lane_below, 31);
        let limbs = sums(b, self.first, self.split.passes);
        let uppers = limbs.iter().map(|&(_, upper)| {
            let around = b.shuffle(Shuffle::Idx, upper, lane_below, 32);
            let into = b.select(below, around, is_bottom);
            below = around;
            into
        });
        let uppers = uppers.collect();
        [limbs.into_iter().map(|(lower, _)| lower).collect(), uppers]
    }

    /// The flag of a warp whose sum has these limbs without a carry into them: 1 if it generates a carry, 2 if it passes one on.
    fn flag(b: &mut Builder, limbs: &[R32], leaves: R32) -> R32 {
        let ones = limbs[1..].iter().fold(limbs[0], |all, &limb| b.and(all, limb));
        let ones = b.compare(Cmp::Eq, ones, u32::MAX);
        let ones = b.vote(Vote::All, ones);
        let passes_on = b.select(2, 0, ones);
        b.or(leaves, passes_on)
    }

    /// The sum: whole if the lane has one block, else without a carry into the block.
    pub(super) fn sum(&self, b: &mut Builder) {
        b.section("limbs");
        let Split { blocks, warps, .. } = self.split;
        if self.line.is_packed {
            let enters = self.carry_in(b);
            let (limbs, leaves) = self.warp_sum(b, Some(enters));
            let (limbs, leaves) = match self.line.less {
                Some((number, valid)) => self.reduced(b, limbs, number, valid),
                None => (limbs, leaves),
            };
            let limbs: Vec<R32> = limbs.into_iter().map(|limb| b.copy(limb)).collect();
            self.end(b, &limbs, leaves, None);
            return;
        }
        let (limbs, leaves) = self.warp_sum(b, None);
        let flag = Self::flag(b, &limbs, leaves);
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
            self.end(b, &limbs, leaves, Some(equal));
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
                let sum = add_carry_to_row(b, limb, carry, self.member);
                b.set(limb, sum);
            }
        });
    }

    /// Stores the limbs and the word about the sum. `leaves`: the carry out of the sum; `equal`: is the sum without the carry
    /// into it all ones?
    fn end(&self, b: &mut Builder, limbs: &[R32], leaves: R32, equal: Option<Pred>) {
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
            Negative::Corrects(root) => {
                debug_assert!(self.line.is_packed, "one warp has all limbs");
                let top = self.line.limbs - 1;
                let top = b.shuffle(Shuffle::Idx, limbs[(top / 32) as usize], top % 32, 32);
                let is_negative = b.compare_signed(Cmp::Lt, top, 0);
                b.if_(is_negative, |b| self.correct(b, limbs, root));
                self.store(b, limbs);
            }
        }
        self.tell(b, leaves, equal);
    }

    /// The limbs less a number where it fits, and 1 there; zeros where the bit is 0.
    fn reduced(&self, b: &mut Builder, limbs: Vec<R32>, number: Number, valid: Bit) -> (Vec<R32>, R32) {
        let valid = self.reader.bit(b, valid);
        let mask = b.sub(0, valid);
        // Above its limbs the sum has any bits.
        let limbs = limbs.into_iter().zip(0..).map(|(limb, i)| {
            let limb = self.reader.cut(b, limb, self.first, i, 32 * self.line.limbs);
            b.and(limb, mask)
        });
        let limbs: Vec<R32> = limbs.collect();
        let complement = self.reader.limbs(b, &number.source().turned(), self.first, self.split.passes);
        // Zeros and a complement make no carry without one that enters.
        let (less, fits) = add_rows(b, limbs.clone(), complement, Some(valid));
        let is_less = b.compare(Cmp::Ne, fits, 0);
        let limbs = limbs.into_iter().zip(less).map(|(limb, less)| b.select(less, limb, is_less)).collect();
        (limbs, fits)
    }

    /// Adds `2S − 1` to the limbs for the number `S`, from whose row it subtracts 1.
    fn correct(&self, b: &mut Builder, limbs: &[R32], number: Number) {
        let passes = self.split.passes;
        let [once, twice] = [0, 1].map(|bits| self.reader.limbs(b, &number.source().up(bits), self.first, passes));
        let once: Vec<R32> = once.into_iter().map(|limb| b.copy(limb)).collect();
        // In complements a 1 less is a 1 more.
        for limbs in [&once[..], limbs] {
            let carry = b.copy(1);
            for &limb in limbs {
                let turned = b.not(limb);
                let sum = add_carry_to_row(b, turned, carry, self.member);
                let sum = b.not(sum);
                b.set(limb, sum);
            }
        }
        let (sum, _) = add_rows(b, limbs.to_vec(), twice, None);
        for (&limb, sum) in limbs.iter().zip(sum) {
            b.set(limb, sum);
        }
        // Before a limb changes, all threads have read it.
        b.warp_barrier();
        let row = self.reader.row(b, number);
        let to = b.mad_wide(self.first, 4, row);
        for (&limb, i) in once.iter().zip(0..) {
            let index = b.add(self.first, 32 * i);
            let inside = b.compare(Cmp::Lt, index, number.limbs);
            b.guarded(inside, true, |g| g.store_global(Space::Global, &[limb], to, 128 * i));
        }
    }

    /// Replaces limbs of the sum by those of `x`.
    fn restore(&self, b: &mut Builder, limbs: &[R32]) {
        let x = self.reader.limbs(b, &self.line.x, self.first, self.split.passes);
        for (&limb, x) in limbs.iter().zip(x) {
            b.set(limb, x);
        }
    }

    /// Stores the word about the sum: one thread of the lane.
    fn tell(&self, b: &mut Builder, leaves: R32, equal: Option<Pred>) {
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
                b.select(0, order, equal.expect("a line that tells the order looks for equal numbers"))
            }
        };
        let to = self.outputs[self.outputs.len() - 1];
        let thread = b.or(self.warp, self.member);
        let thread = b.or(thread, self.number);
        let one = b.compare(Cmp::Eq, thread, 0);
        b.guarded(one, true, |g| g.store_global(Space::Global, &[value], to, 0));
    }

    /// The second launch: carries into the blocks.
    pub(super) fn finish(&self, b: &mut Builder) {
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
        b.section("finish");
        let from = b.mad_wide(self.number, 4 * BLOCK_WORDS, self.flags);
        let [generate, propagate] = [4, 8].map(|offset| b.load_global(Space::Global, Vector::V1, from, offset)[0]);
        // The carries into the warps without and with the carry into the block.
        let sum = b.add(generate, generate);
        let sum = b.add(sum, propagate);
        let with = b.add(sum, into_block);
        let changed = b.xor(sum, with);
        if self.line.result.is_some() {
            match self.line.negative {
                Negative::Stays | Negative::Corrects(_) => self.rewrite_warps(b, changed),
                Negative::Clears | Negative::Restores => {
                    let into = b.bit(changed, self.warp);
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

    /// Adds carries to the limbs of these warps of the block, which the first launch stored: a warp after the other.
    fn rewrite_warps(&self, b: &mut Builder, changed: R32) {
        // Of 32 warps the first ones exist.
        let left = b.and(changed, ((1_u64 << self.split.warps) - 1) as u32);
        let more = |b: &mut Builder| b.compare(Cmp::Ne, left, 0);
        b.while_(more, |b| {
            let minus = b.sub(0, left);
            let lowest = b.and(left, minus);
            let warp = b.bfind(lowest);
            self.rewrite_rows(b, warp);
            let others = b.xor(left, lowest);
            b.set(left, others);
        });
    }

    /// Adds 1 to the limbs of a warp of the block: 32 limbs, and the next 32 as long as a carry leaves them.
    fn rewrite_rows(&self, b: &mut Builder, warp: R32) {
        let Some(Place { from, bits, .. }) = self.line.result else { return };
        let Split { warps, passes, .. } = self.split;
        let start = b.mad_lo(self.number, warps, warp);
        let first = b.mad_lo(start, 32 * passes, self.member);
        let rows = b.copy(passes);
        let carry = b.copy(1);
        b.do_while(|b| {
            let at = b.mad_wide(first, 4, self.outputs[0]);
            let limb = b.copy(0);
            let inside = b.compare(Cmp::Lt, first, bits.div_ceil(32));
            b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], at, 4 * from));
            let sum = add_carry_to_row(b, limb, carry, self.member);
            self.store_from(b, first, &[sum]);
            b.increase(first, 32);
            b.decrease(rows, 1);
            let leaves = b.compare(Cmp::Ne, carry, 0);
            let more = b.compare(Cmp::Ne, rows, 0);
            b.and_pred(leaves, more)
        });
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

/// The sum of a warp's limbs, and the carry that leaves them.
fn add_rows(b: &mut Builder, x: Vec<R32>, y: Vec<R32>, enters: Option<R32>) -> (Vec<R32>, R32) {
    let mut incoming = enters;
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
    (limbs, incoming.expect("a warp has a pass"))
}

/// The carries between 32 parts by their flags, and whether each part generates or passes a carry on.
fn look_ahead(b: &mut Builder, flag: R32) -> (Carries, [Pred; 2]) {
    let parts = [1, 2].map(|bit| {
        let bit = b.and(flag, bit);
        b.compare(Cmp::Ne, bit, 0)
    });
    (Carries::look_ahead(b, parts[0], parts[1], 32), parts)
}
