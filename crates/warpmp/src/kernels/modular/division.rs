//! `div_rem`: quotients and remainders by divisors of any size, one a lane or one for all.
//!
//! computes   `q = ⌊a / d⌋`, `r = a mod d`; a zero divisor is the lane's status
//! launch     32·warps threads a block, 32/group numbers a warp; the divisor's limbs are spread over the group
//! cost       a lane: for each limb that `a` is longer than `d`, `length + 3` wide products and about 30 other instructions;
//!            before and after, about `25·length + 300`, in a group 450
//! registers  about `3·length + 48`
//!
//! The divisor is shifted up until its top bit is the top bit of the lanes' limbs, and `a` with it, as their limbs
//! are read: lanes differ in the distance, so it is a matter of addresses. From then on all lanes do the same. Of `a` as
//! many limbs as the lanes hold are the first remainder, less the divisor if that is not larger: the quotient's top
//! digit, the only one where `a` is not longer than `d`. Then a row takes one limb of `a`, from the top: see
//! [`Remainder`]. Rows come in blocks, without a branch: digits that might be wrong are noticed in the end, and
//! then the warp divides again, carefully (`exact.rs`). Random operands do it once in 10⁸ digits.
//!
//! bound: with `p` and `q` the bits of `a` and `d`, `⌈(p − q)/32⌉` rows suffice: above them `a` is less than `B^n`, hence less
//! than `2D`. More rows than that find zeros. Rows: see [`Remainder`].
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; digits without corrections are ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Divisor, Remainder, assign, select};
use warpmp_kernel::ir::{Bounds, Cmp, Shuffle, Space, Vote};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::{Spec, piece};
use super::digits::{Incoming, Outgoing};
use super::shifted::{Distance, Shifted, placed, store_lowered};
use super::{OperandShape, exact};
use crate::operation::Status;

/// Up to this many times the divisor's length, the dividend's own length is looked at.
const MAX_PARTS: u32 = 4;

/// From more limbs a lane on the registers are bounded, to those of twelve warps: left to itself `ptxas` aims at as many and
/// spills a few words, told so it does not.
const LONG: u32 = 24;
const REGISTERS: u32 = 168;

/// Which results there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// Quotient and remainder.
    Both,
    /// The quotient.
    Quotient,
    /// The remainder.
    Remainder,
}

/// Parameters of the kernel. Parameters of its launch: `a`, `d`, the results, statuses, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Division {
    /// The dividend; the quotient has its limbs.
    pub dividend: OperandShape,
    /// The divisor; the remainder has its limbs.
    pub divisor: OperandShape,
    /// The results.
    pub parts: Parts,
    /// How divisor and remainder lie in the lanes; in a group at least 3 limbs a lane.
    pub layout: Layout,
}

impl Division {
    /// The usual parameters.
    pub const fn new(dividend: OperandShape, divisor: OperandShape, parts: Parts) -> Self {
        Self { dividend, divisor, parts, layout: Layout::of(divisor.limbs()) }
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        let Layout { group, length, warps, .. } = self.layout;
        if length > LONG && group <= 32 {
            b.bounds(Bounds { max_threads: Some(32 * warps), max_registers: Some(REGISTERS), ..Bounds::default() });
        }
        b.section("load");
        let spread = frame.spread;
        let limbs = spread.group * spread.length as u32;
        // Most divisors have as many limbs as they may: they are looked for at the top.
        let offset = limbs - self.divisor.limbs();
        let divisor_row = frame.operand_row(b, 1);
        let (below, divisor) = placed(b, frame, (divisor_row, self.divisor.limbs()), offset, 0, 0);
        let bits = spread.bit_length(b, &divisor);
        let zero = b.compare(Cmp::Eq, bits, 0);
        let fine = b.select(0, u32::MAX, zero);
        let shift = b.sub(32 * (limbs + offset), bits);
        let by = Distance::new(b, shift, offset);
        let shifted = Shifted::new(b, frame, 1, by);
        let divisor = shifted.block_of(b, frame, (below, &divisor));
        let complement = spread.negate(b, &divisor);
        let numerator = Shifted::new(b, frame, 0, by);
        let quotient = (self.parts != Parts::Remainder).then(|| frame.result_row(b, 0));
        let bits = b.sub(bits, 32 * offset);
        let rows = self.rows(b, frame, (bits, fine), quotient);
        let rest = numerator.block(b, frame, rows, self.block());
        b.section("arithmetic");
        let (less, reaches) = spread.add(b, &rest, &complement);
        let enough = b.compare(Cmp::Ne, reaches, 0);
        let less = select(b, enough, &less, &rest);
        assign(b, &rest, &less);
        if let Some(row) = quotient {
            let digit = b.and(reaches, fine);
            // Only the lowest lane's number is so small.
            let place = b.mad_lo(spread.member, 1 << 20, rows);
            let stored = b.compare(Cmp::Lt, place, self.dividend.limbs());
            let address = b.mad_wide(rows, 4, row);
            b.guarded(stored, true, |g| g.store_global(Space::Global, &[digit], address, 0));
        }
        let some = b.compare(Cmp::Ne, rows, 0);
        b.if_(some, |b| {
            let divisor = Divisor::new(b, spread, &divisor, &complement);
            let void = self.quick(b, frame, &divisor, numerator, rows, quotient.map(|row| (row, fine)), &rest);
            let void = b.select(fine, 0, void);
            let void = b.compare(Cmp::Ne, void, 0);
            let any = b.vote(Vote::Any, void);
            b.if_(any, |b| {
                b.section("exact");
                // Other threads may store digits where this one has stored some.
                frame.spread.fence(b);
                let first = b.min(rows, self.dividend.limbs() - 1);
                exact::divide(b, frame, (numerator, &complement), first, quotient.map(|row| (row, fine)), &rest);
            });
        });
        b.section("store");
        if self.parts != Parts::Quotient {
            let row = frame.result_row(b, usize::from(quotient.is_some()));
            store_lowered(b, frame, (row, self.divisor.limbs()), &rest, by, fine);
        }
        let status = b.lop3(fine, Status::DivisionByZero.code(), 0, 0x0C);
        frame.store_status(b, status);
    }

    /// All rows: the remainder to `rest`, which has what to begin with, the digits to their row; and whether all of that
    /// may be wrong.
    #[allow(clippy::too_many_arguments, reason = "what a division is made of")]
    fn quick(
        &self,
        b: &mut Builder,
        frame: &Frame,
        divisor: &Divisor,
        numerator: Shifted,
        rows: R32,
        quotient: Option<(R64, R32)>,
        rest: &[R32],
    ) -> Pred {
        let block = self.block();
        let remainder = Remainder::new(b, rest);
        let low = b.copy(rows);
        let incoming = Incoming::new(b, frame, numerator, rows, block);
        b.section("rows");
        b.do_while(|b| {
            let ahead = incoming.fetch(b, frame);
            let mut next = remainder.clone();
            let mut outgoing = Outgoing::new(block);
            for j in 0..block {
                let limb = incoming.limb(b, frame, j);
                let digit = next.row(b, divisor, limb);
                if quotient.is_some() {
                    outgoing.push(b, frame, j, digit);
                }
            }
            remainder.become_(b, &next);
            incoming.advance(b, &ahead);
            // Not before: the predicate of its end would live through the rows.
            b.decrease(low, block);
            if let Some((row, mask)) = quotient {
                outgoing.store(b, frame, (row, self.dividend.limbs()), low, mask);
            }
            b.compare(Cmp::Ne, low, 0)
        });
        b.section("arithmetic");
        let settled = remainder.settle(b, divisor);
        assign(b, rest, &settled.limbs);
        if let Some((row, mask)) = quotient {
            let any = b.vote(Vote::Any, settled.corrected);
            b.if_(any, |b| {
                // Another thread may have stored the digit before.
                frame.spread.fence(b);
                let digit = b.and(settled.digit, mask);
                frame.by_bottom(b, |g| g.store_global(Space::Global, &[digit], row, 0));
            });
        }
        settled.void
    }

    /// Rows of a block, a power of two: so that the usual number of rows is not rounded up by much, and what is done for a
    /// block is little for a row.
    fn block(&self) -> u32 {
        let rows = self.dividend.limbs().saturating_sub(self.divisor.limbs()).max(1);
        let (length, group) = (self.layout.length, self.layout.group);
        // A thread holds all limbs of a block.
        let blocks = if group == 1 { &[1, 2, 4][..] } else { &[1, 2, 4, 8] };
        // Issue slots of a scheduler: a wide product takes four.
        let row = (4 * (length + 3)).max(length + 33);
        let cost = |block: u32| rows.div_ceil(block) * (block * row + 25);
        blocks.iter().copied().min_by_key(|&block| cost(block)).unwrap_or(1)
    }

    /// How many rows the warp takes, whole blocks, by the lengths of the numbers; and zeros in the quotients above.
    /// `bits`: of the divisor; and whether it is not zero, as a mask.
    fn rows(&self, b: &mut Builder, frame: &Frame, (bits, fine): (R32, R32), quotient: Option<R64>) -> R32 {
        let block = self.block();
        let (limbs, held) = (self.dividend.limbs(), frame.spread.group * frame.spread.length as u32);
        if limbs.div_ceil(held) > MAX_PARTS {
            return b.copy(limbs.next_multiple_of(block));
        }
        let length = b.copy(0);
        for start in (0..limbs).step_by(held as usize).rev() {
            // The parts below matter where all above are zero.
            let none = b.compare(Cmp::Eq, length, 0);
            let any = b.vote(Vote::Any, none);
            b.if_(any, |b| {
                let part = frame.load_part(b, 0, start, held);
                let part = frame.spread.bit_length(b, &part);
                let some = b.compare(Cmp::Ne, part, 0);
                let whole = b.add(part, 32 * start);
                let whole = b.select(whole, 0, some);
                let longer = b.max(whole, length);
                b.set(length, longer);
            });
        }
        let longer = b.sub(length, bits);
        let shorter = b.compare(Cmp::Lt, length, bits);
        let longer = b.select(0, longer, shorter);
        let longer = b.and(longer, fine);
        let up = b.add(longer, 32 * block - 1);
        let mut rows = b.shr(up, 5);
        for distance in [1, 2, 4, 8, 16] {
            let other = b.shuffle(Shuffle::Bfly, rows, distance, 32);
            rows = b.max(rows, other);
        }
        let rows = b.and(rows, (block - 1) ^ u32::MAX);
        if let Some(row) = quotient {
            self.clear(b, frame, row, rows);
            // Other threads may store digits where this one has stored zeros.
            frame.spread.fence(b);
        }
        rows
    }

    /// Zeros in the quotient from digit `from` on, and perhaps in some digits below.
    fn clear(&self, b: &mut Builder, frame: &Frame, row: R64, from: R32) {
        let (limbs, group) = (self.dividend.limbs(), frame.spread.group);
        let width = piece(limbs);
        let zeros: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
        let first = b.mul_lo(frame.spread.member, width);
        let base = b.mad_wide(first, 4, row);
        let end = b.add(first, width);
        for start in (0..limbs).step_by((group * width) as usize) {
            let end = b.add(end, start);
            let mut clear = b.compare(Cmp::Gt, end, from);
            if start + group * width > limbs {
                let inside = b.compare(Cmp::Le, end, limbs);
                clear = b.and_pred(clear, inside);
            }
            b.guarded(clear, true, |g| g.store_global(Space::Global, &zeros, base, 4 * start));
        }
    }
}

impl Spec for Division {
    fn name(&self) -> String {
        let function = match self.parts {
            Parts::Both => "div_rem",
            Parts::Quotient => "div",
            Parts::Remainder => "rem",
        };
        format!("{function}{}{}{}", self.dividend.name(), self.divisor.name(), self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let results = [self.dividend.limbs(), self.divisor.limbs()];
        let results = match self.parts {
            Parts::Both => &results[..],
            Parts::Quotient => &results[..1],
            Parts::Remainder => &results[1..],
        };
        let signature = Signature::new([self.dividend, self.divisor], results.iter().copied()).with_status();
        vec![self.layout.stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.dividend.limbs()) * u64::from(self.layout.group * (self.layout.length + 3))
    }
}
