//! `div_rem`: quotients and remainders by divisors of any size, one a lane or one for all.
//!
//! computes   `q = ⌊a / d⌋`, `r = a mod d`; a zero divisor is the lane's status
//! launch     32·warps threads a block, 32/group numbers a warp; the divisor's limbs are spread over the group
//! cost       a lane: `length·la` wide products and 4 for each limb of `a`; a row takes about `4·length + 60`
//!            instructions in one lane, 40 more in a group
//! registers  about `5·length + 50`
//!
//! The divisor is shifted up until its top bit is the top bit of the lanes' limbs, and `a` with it, as their limbs
//! are read: lanes differ in the distance, so it is a matter of addresses. From then on all lanes do the same. A
//! row takes one limb of `a`, from the top: `R ← R·B + aᵢ − qᵢ·D`, with `qᵢ` from the top three limbs of `R` and
//! two of `D`. Instead of `−qᵢ·D` it adds `qᵢ·(B^n − D)`, which needs no borrows.
//!
//! bound: before each row `R < D`; in the first one because a quotient of numbers of `p` and `q` bits has its
//! highest digit at `⌊(p − q)/32⌋` or below. The estimate of `qᵢ` is right or one too large; then `R` is negative, which shows
//! in the limb above: it is `qᵢ − u + ⌊R / B^n⌋`, where `u` is the limb of `R·B` above `B^n`. Then `D` is
//! added back, which the warp does together if one of its lanes must: about one row in 2³¹ for random operands.
//!
//! source: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D; the estimate: see [`Reciprocal`].

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Reciprocal, Rows, assign, select};
use warpmp_kernel::ir::{Cmp, Kernel, Shuffle, Space, Vote};

use super::super::{Spec, piece};
use super::frame::{Frame, Signature};
use super::shifted::{Shifted, store_lowered};
use super::{Fault, Layout, Operand};

/// Up to this many times the divisor's length, the dividend's own length is looked at.
const MAX_PARTS: u32 = 4;

/// Which results there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// Quotient and remainder.
    Both,
    /// The remainder.
    Remainder,
}

/// Parameters of the kernel. Parameters of its launch: `a`, `d`, the results, statuses, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Division {
    /// The dividend; the quotient has its limbs.
    pub dividend: Operand,
    /// The divisor; the remainder has its limbs.
    pub divisor: Operand,
    /// The results.
    pub parts: Parts,
    /// How divisor and remainder lie in the lanes; in a group at least 3 limbs a lane.
    pub layout: Layout,
}

impl Division {
    /// The usual parameters.
    pub const fn new(dividend: Operand, divisor: Operand, parts: Parts) -> Self {
        Self { dividend, divisor, parts, layout: Layout::of(divisor.limbs) }
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let spread = frame.spread;
        let limbs = spread.group * spread.length as u32;
        let divisor = frame.load(b, 1);
        let bits = spread.bit_length(b, &divisor);
        let zero = b.compare(Cmp::Eq, bits, 0);
        let status = b.select(Fault::Zero as u32, 0, zero);
        let shift = b.sub(32 * limbs, bits);
        let divisor = Shifted::new(b, frame, 1, shift).block(b, frame, 0_u32);
        let numerator = Shifted::new(b, frame, 0, shift);
        let quotient = (self.parts == Parts::Both).then(|| frame.result_row(b, 0));
        let index = self.first_digit(b, frame, bits, quotient);
        let first = b.add(index, 1);
        let rest = numerator.block(b, frame, first);
        b.section("arithmetic");
        let division = Steps::new(b, frame, divisor);
        let fine = b.compare(Cmp::Eq, status, 0);
        let fine = b.select(u32::MAX, 0, fine);
        let mut reader = numerator.reader(b, index);
        b.do_while(|b| {
            let limb = reader.next(b);
            let digit = division.step(b, frame, &rest, limb);
            if let Some(row) = quotient {
                let digit = b.and(digit, fine);
                let address = b.mad_wide(index, 4, row);
                frame.by_bottom(b, |g| g.store_global(Space::Global, &[digit], address, 0));
            }
            let lower = b.sub(index, 1);
            b.set(index, lower);
            b.compare_signed(Cmp::Ge, index, 0)
        });
        b.section("store");
        let row = frame.result_row(b, usize::from(quotient.is_some()));
        store_lowered(b, frame, row, self.divisor.limbs, &rest, shift, fine);
        frame.store_status(b, status);
    }
}

impl Division {
    /// The highest digit that is not zero in some lane of the warp, by the lengths of the numbers; and zeros in the
    /// quotients. `bits`: of the divisor.
    fn first_digit(&self, b: &mut Builder, frame: &Frame, bits: R32, quotient: Option<R64>) -> R32 {
        let (limbs, held) = (self.dividend.limbs, frame.spread.group * frame.spread.length as u32);
        let index = b.copy(limbs - 1);
        if limbs.div_ceil(held) > MAX_PARTS {
            return index;
        }
        let length = b.copy(0);
        for start in (0..limbs).step_by(held as usize) {
            let part = frame.load_part(b, 0, start, held);
            let zeros: Vec<R32> = part.iter().map(|_| b.copy(0)).collect();
            if let Some(row) = quotient {
                let row = b.add64(row, u64::from(4 * start));
                frame.write(b, row, (limbs - start).min(held), piece(limbs).min(piece(start)), &zeros);
            }
            let part = frame.spread.bit_length(b, &part);
            let some = b.compare(Cmp::Ne, part, 0);
            let whole = b.add(part, 32 * start);
            let longer = b.select(whole, length, some);
            b.set(length, longer);
        }
        // Other threads may store digits where this one has stored zeros.
        frame.spread.fence(b);
        let longer = b.sub(length, bits);
        let shorter = b.compare(Cmp::Lt, length, bits);
        let longer = b.select(0, longer, shorter);
        let mut first = b.shr(longer, 5);
        for distance in [1, 2, 4, 8, 16] {
            let other = b.shuffle(Shuffle::Bfly, first, distance, 32);
            first = b.max(first, other);
        }
        let first = b.min(first, limbs - 1);
        b.set(index, first);
        index
    }
}

/// A normalised divisor.
struct Steps {
    divisor: Vec<R32>,
    /// `B^n` less the divisor.
    complement: Vec<R32>,
    top: Reciprocal,
}

impl Steps {
    fn new(b: &mut Builder, frame: &Frame, divisor: Vec<R32>) -> Self {
        let complement = frame.spread.negate(b, &divisor);
        let n = divisor.len();
        let low = if n > 1 { divisor[n - 2] } else { b.copy(0) };
        let top = Reciprocal::new(b, divisor[n - 1], low);
        Self { divisor, complement, top }
    }

    /// `rest ← rest·B + limb` less the digit times the divisor; the digit.
    fn step(&self, b: &mut Builder, frame: &Frame, rest: &[R32], limb: R32) -> R32 {
        let (spread, n) = (&frame.spread, rest.len());
        // The lowest lane takes in the limb, the others what leaves the lanes below.
        let incoming = spread.from_below(b, rest[n - 1]);
        let incoming = if spread.group == 1 { limb } else { spread.at_bottom(b, limb, incoming) };
        let shifted: Vec<R32> = std::iter::once(incoming).chain(rest[..n - 1].iter().copied()).collect();
        let above = rest[n - 1];
        // Only the top lane's estimate counts.
        let digit = if n == 1 {
            self.top.quotient(b, above, shifted[0], 0)
        } else {
            self.top.quotient(b, above, shifted[n - 1], shifted[n - 2])
        };
        let digit = spread.top(b, digit);
        let above = spread.top(b, above);
        let mut rows = Rows::on(b, &self.complement, &shifted);
        let low = rows.row(b, digit);
        let mut sum = vec![low];
        sum.extend(rows.finish(b));
        let excess = sum.pop().unwrap_or(low);
        let (sum, top) = spread.settle(b, &sum, excess);
        let expected = b.sub(digit, above);
        let negative = b.compare(Cmp::Ne, top, expected);
        assign(b, rest, &sum);
        let fixed = b.copy(digit);
        let any = b.vote(Vote::Any, negative);
        b.if_(any, |b| {
            let (restored, _) = spread.add(b, rest, &self.divisor);
            let restored = select(b, negative, &restored, rest);
            assign(b, rest, &restored);
            let less = b.sub(fixed, 1);
            let less = b.select(less, fixed, negative);
            b.set(fixed, less);
        });
        fixed
    }
}

impl Spec for Division {
    fn name(&self) -> String {
        let function = if self.parts == Parts::Both { "div_rem" } else { "rem" };
        format!("{function}{}{}{}", self.dividend.name(), self.divisor.name(), self.layout.name())
    }

    fn build(&self, _stage: usize) -> Kernel {
        let results = [self.dividend.limbs, self.divisor.limbs];
        let results = if self.parts == Parts::Both { &results[..] } else { &results[1..] };
        let signature = Signature { operands: &[self.dividend, self.divisor], results, status: true, scratch: 0 };
        self.layout.kernel(&self.name(), &signature, |b, frame| self.body(b, frame))
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        self.layout.grid(lanes)
    }

    fn max_lanes(&self) -> u32 {
        self.layout.max_lanes()
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.dividend.limbs) * u64::from(self.layout.group * (self.layout.length + 4))
    }
}
