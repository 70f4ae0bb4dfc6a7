//! `sqrt`: square roots, rounded down, and what remains.
//!
//! computes   `s = ⌊√a⌋`, `r = a − s²`
//! launch     32·warps threads a block, 32/group numbers a warp; the root's limbs are spread over the group, at
//!            least 2 a lane in groups
//! cost       a lane: for each limb of the root `length` wide products and about `12·length + 70` other instructions,
//!            in a group 40 more and 8 exchanges; before and after, about `30·length + 700`
//! registers  about `5·length + 60`
//!
//! By hand, a digit of a limb at a time: with `S` the digits so far at their places and `D = 2S`, the remainder is
//! `R = a' − S²` down to the limb at hand, and a step is one of a division by `T = D + q·B^i` instead of `D`:
//! `R ← R·B + aᵢ' − q·T`, then `D ← D + 2q·B^i`. Instead of `−q·T` it adds `q·(B^n − T)`, which below `B^i` has
//! zeros, at `B^i` the limb `−q`, and above it the complement of `D`; that is what is kept.
//!
//! `a' = a·4^(32w + e)` has its top bit third or fourth from the top of `2n` limbs, so that `D` fills `n` limbs; each lane
//! stops after its digit `w`. Then `S = ⌊2^e·√a⌋` in units of `B^w`, so `s = ⌊S/2^e⌋`, and with `t = S mod 2^e`
//! `r = (R + t·(D − t))/4^e`.
//!
//! bound: `R ≤ 2S = D < B^n`. A digit's estimate from the top limbs of `R` and `D` is not too small; from `T ≤ D·(1 + 2/B)`
//! at the second digit it is at most 3 too large, at others hardly ever 1. Then `R` is negative, and `D + (2q + 1)·B^i` with
//! the lesser `q` is added back. `D + 2q·B^i` carries into limb `i + 1`, which is even, and no further.
//!
//! source: the method of school; Knuth, The Art of Computer Programming 2, 4.3.1, for the digits.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Reciprocal, Rows, Spread, assign, repeat, select};
use warpmp_kernel::ir::{Cmp, Shuffle, Vote};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::shifted::{Distance, Reader, Shifted, store_lowered};

/// Parameters of the kernel. Parameters of its launch: `a`, root, remainder, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sqrt {
    /// The number.
    ///
    /// The root has half of its bits, the remainder one bit more than the root.
    pub value: OperandShape,
    /// How root and remainder lie in the lanes.
    pub layout: Layout,
}

impl Sqrt {
    /// The usual parameters.
    pub const fn new(value: OperandShape) -> Self {
        Self { value, layout: Layout::of(Self::limbs(value.bits)) }
    }

    /// Limbs of what is computed with: those of the remainder.
    pub const fn limbs(bits: u32) -> u32 {
        (bits.div_ceil(2) + 1).div_ceil(32)
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let spread = &frame.spread;
        let held = spread.group * spread.length as u32;
        let bits = self.bit_length(b, frame, held);
        let zero = b.compare(Cmp::Eq, bits, 0);
        let fine = b.select(0, u32::MAX, zero);
        let free = b.sub(64 * held - 2, bits);
        let shift = b.and(free, u32::MAX - 1);
        // That of numbers with their top bit.
        let usual = (64 * held - 2 - self.value.bits) / 32;
        let by = Distance::new(b, shift, usual);
        let value = Shifted::new(b, frame, 0, by);
        let rest = value.block(b, frame, held - 1, 1);
        let top = b.copy(2 * held - 1);
        let mut reader = value.reader(b, top);
        let [high, low] = [(); 2].map(|()| reader.next(b));
        // Zero is worked with as another number.
        let other = b.select(1 << 28, 0, zero);
        let high = b.or(high, other);
        b.section("arithmetic");
        let (first, left) = root_of_two_limbs(b, high, low);
        let state = State::new(b, frame, rest, first, left, shift);
        if held > 1 {
            let index = b.copy(held - 2);
            let reader = value.reader(b, index);
            state.digits(b, reader, index);
        }
        b.section("store");
        let down = b.shl(state.lowest, 5);
        let down = Distance::new(b, down, usual / 2);
        let [root_limbs, rest_limbs] = self.result_limbs();
        let root = state.root(b);
        let row = frame.result_row(b, 0);
        store_lowered(b, frame, (row, root_limbs), &root, down, fine);
        // The stores of both results at once would have more predicates than there are.
        b.warp_barrier();
        let rest = state.rest(b);
        let row = frame.result_row(b, 1);
        store_lowered(b, frame, (row, rest_limbs), &rest, down, fine);
    }

    const fn result_limbs(&self) -> [u32; 2] {
        let root = self.value.bits.div_ceil(2);
        [root.div_ceil(32), (root + 1).div_ceil(32)]
    }

    fn bit_length(&self, b: &mut Builder, frame: &Frame, held: u32) -> R32 {
        let bits = b.copy(0);
        for start in (0..self.value.limbs()).step_by(held as usize) {
            let part = frame.load_part(b, 0, start, held);
            let part = frame.spread.bit_length(b, &part);
            let some = b.compare(Cmp::Ne, part, 0);
            let whole = b.add(part, 32 * start);
            let longer = b.select(whole, bits, some);
            b.set(bits, longer);
        }
        bits
    }
}

/// The root of a number of two limbs below `2^62`, and what remains.
fn root_of_two_limbs(b: &mut Builder, high: R32, low: R32) -> (R32, R32) {
    let rest = b.pack(low, high);
    let rest = b.copy64(rest);
    let (root, bit) = (b.copy64(0), b.copy64(1 << 60));
    repeat(b, 31, |b| {
        let trial = b.add64(root, bit);
        let fits = b.compare64(Cmp::Ge, rest, trial);
        let less = b.sub64(rest, trial);
        let less = b.select64(less, rest, fits);
        let half = b.shr64(root, 1);
        let more = b.add64(half, bit);
        let next = b.select64(more, half, fits);
        let lower = b.shr64(bit, 2);
        b.set64(rest, less);
        b.set64(root, next);
        b.set64(bit, lower);
    });
    (b.unpack(root).0, b.unpack(rest).0)
}

/// A root under way. All but the limbs is the same in all lanes of a group.
struct State<'f> {
    spread: &'f Spread,
    /// `R`.
    rest: Vec<R32>,
    /// The complement of `D` at the digits so far, zero below them.
    complement: Vec<R32>,
    /// The number of this lane's lowest limb.
    base: R32,
    /// All ones in the top lane.
    at_top: R32,
    /// The lowest digit that counts, and the bits below `√a` in it.
    lowest: R32,
    fraction: R32,
    /// The last digit.
    last: R32,
}

impl<'f> State<'f> {
    /// After the first digit. `rest`: limbs of `a'` from `n − 1` on, of which the top ones have become `left`.
    fn new(b: &mut Builder, frame: &'f Frame, mut rest: Vec<R32>, first: R32, left: R32, shift: R32) -> Self {
        let spread = &frame.spread;
        let top = spread.length - 1;
        let is_top = b.compare(Cmp::Eq, spread.member, spread.group - 1);
        rest[top] = b.select(left, rest[top], is_top);
        let doubled = b.shl(first, 1);
        let flipped = b.not(doubled);
        let mut complement: Vec<R32> = (0..spread.length).map(|_| b.copy(0)).collect();
        complement[top] = b.select(flipped, 0, is_top);
        let rest = rest.iter().map(|&limb| b.copy(limb)).collect();
        let base = b.mul_lo(spread.member, spread.length as u32);
        let (lowest, fraction) = (b.shr(shift, 6), b.bfe(shift, 1, 5));
        let at_top = b.select(u32::MAX, 0, is_top);
        Self { spread, rest, complement, base, at_top, lowest, fraction, last: b.copy(first) }
    }

    /// The digits below the first, from limb `index` on.
    fn digits(&self, b: &mut Builder, mut reader: Reader, index: R32) {
        let spread = self.spread;
        let top = spread.length - 1;
        let mut end = self.lowest;
        let mut distance = spread.group;
        while distance < 32 {
            let other = b.shuffle(Shuffle::Bfly, end, distance, 32);
            end = b.min(end, other);
            distance *= 2;
        }
        let high = b.not(self.complement[top]);
        let low = b.copy(0);
        let reciprocal = Reciprocal::new(b, high, low);
        let count = b.copy(0);
        let more = |b: &mut Builder| b.compare_signed(Cmp::Ge, index, end);
        b.while_(more, |b| {
            self.digit(b, &mut reader, index, &reciprocal);
            // Two digits more, and the carries into them, are what the estimates depend on.
            let new = b.compare(Cmp::Lt, count, 2);
            b.if_(new, |b| {
                let [high, low] = [top, top - 1].map(|k| b.not(self.complement[k]));
                let next = Reciprocal::new(b, high, low);
                reciprocal.become_(b, &next);
            });
            let (lower, more) = (b.sub(index, 1), b.add(count, 1));
            b.set(index, lower);
            b.set(count, more);
        });
    }

    /// The digit at limb `index`.
    fn digit(&self, b: &mut Builder, reader: &mut Reader, index: R32, reciprocal: &Reciprocal) {
        let (spread, n) = (self.spread, self.spread.length);
        let limb = reader.next(b);
        // Groups that are done wait for the others of their warp.
        let active = b.compare_signed(Cmp::Ge, index, self.lowest);
        let active = b.select(u32::MAX, 0, active);
        let place = b.sub(index, self.base);
        let nowhere = b.copy(1 << 30);
        let place = b.lop3(active, place, nowhere, 0xCA);
        let incoming = spread.from_below(b, self.rest[n - 1]);
        let incoming = if spread.group == 1 { limb } else { spread.at_bottom(b, limb, incoming) };
        let shifted: Vec<R32> = std::iter::once(incoming).chain(self.rest[..n - 1].iter().copied()).collect();
        let above = self.rest[n - 1];
        // Only the top lane's estimate counts.
        let digit = reciprocal.quotient(b, above, shifted[n - 1], shifted[n - 2]);
        let digit = spread.top(b, digit);
        let above = spread.top(b, above);
        let negated = b.sub(0, digit);
        let factor = self.with(b, place, negated);
        let rows = Rows::on(b, &factor, &shifted);
        let (sum, over) = spread.settle_rows(b, rows, digit);
        // What R is in multiples of B^n: zero or negative.
        let expected = b.sub(digit, above);
        let level = b.sub(over, expected);
        let level = b.and(level, active);
        let going = b.compare(Cmp::Ne, active, 0);
        let sum = select(b, going, &sum, &self.rest);
        assign(b, &self.rest, &sum);
        let digit = b.copy(digit);
        let wrong = b.compare(Cmp::Ne, level, 0);
        let any = b.vote(Vote::Any, wrong);
        b.if_(any, |b| self.correct(b, place, level, digit));
        let doubled = b.shl(digit, 1);
        let flipped = b.not(doubled);
        let next = self.with(b, place, flipped);
        assign(b, &self.complement, &next);
        let carries = carry_above(b, digit, place);
        for (&limb, k) in self.complement.iter().zip(0..) {
            let carry = b.bit(carries, k);
            b.decrease(limb, carry);
        }
        let last = b.select(digit, self.last, going);
        b.set(self.last, last);
    }

    /// The complement with a limb at a place where it has zero.
    fn with(&self, b: &mut Builder, place: R32, limb: R32) -> Vec<R32> {
        let one_hot = b.shl(1, place);
        put(b, &self.complement, one_hot, limb)
    }

    /// Digits that are too large made less, where `level` is not zero.
    fn correct(&self, b: &mut Builder, place: R32, level: R32, digit: R32) {
        let level = b.copy(level);
        b.do_while(|b| {
            let wrong = b.compare(Cmp::Ne, level, 0);
            let less = b.sub(digit, 1);
            let less = b.select(less, digit, wrong);
            b.set(digit, less);
            let odd = b.mad_lo(digit, 2, 1);
            let following = b.add(place, 1);
            let doubled = self.doubled_root(b, following);
            let one_hot = b.shl(1, place);
            let carries = carry_above(b, digit, place);
            let addend: Vec<R32> = put(b, &doubled, one_hot, odd)
                .into_iter()
                .zip(0..)
                .map(|(limb, k)| {
                    let carry = b.bit(carries, k);
                    b.add(limb, carry)
                })
                .collect();
            let (restored, out) = self.spread.add(b, &self.rest, &addend);
            let restored = select(b, wrong, &restored, &self.rest);
            assign(b, &self.rest, &restored);
            let higher = b.add(level, out);
            let higher = b.select(higher, level, wrong);
            b.set(level, higher);
            let wrong = b.compare(Cmp::Ne, level, 0);
            b.vote(Vote::Any, wrong)
        });
    }

    /// `D`, whose digits begin at this place.
    fn doubled_root(&self, b: &mut Builder, place: R32) -> Vec<R32> {
        // Places below this lane's are its lowest.
        let sign = b.shr_signed(place, 31);
        let place = b.lop3(place, sign, 0, 0x30);
        let below = b.shl(1, place);
        let below = b.sub(below, 1);
        let own = self.complement.iter().zip(0..);
        own.map(|(&limb, k)| {
            let below = mask_of_bit(b, below, k);
            b.lop3(limb, below, 0, 0x03)
        })
        .collect()
    }

    /// The root in units of `B^lowest`.
    fn root(&self, b: &mut Builder) -> Vec<R32> {
        let place = b.sub(self.lowest, self.base);
        let one_hot = b.shl(1, place);
        let beyond = b.shl(2, self.fraction);
        let fraction = b.sub(beyond, 1);
        let whole = b.not(fraction);
        let doubled = self.doubled_root(b, place);
        let cut = doubled.iter().zip(0..).map(|(&limb, k)| {
            let here = mask_of_bit(b, one_hot, k);
            b.lop3(limb, here, whole, 0xB0)
        });
        let root: Vec<R32> = cut.collect();
        let [none, one] = [0, 1].map(|word: u32| b.copy(word));
        let (root, _) = self.lowered(b, &root, none, one);
        self.lowered(b, &root, none, self.fraction).0
    }

    /// The remainder in units of `B^lowest`.
    fn rest(&self, b: &mut Builder) -> Vec<R32> {
        let place = b.sub(self.lowest, self.base);
        let one_hot = b.shl(1, place);
        let beyond = b.shl(1, self.fraction);
        let fraction = b.sub(beyond, 1);
        let cut = b.and(self.last, fraction);
        let doubled = self.doubled_root(b, place);
        let factor = doubled.iter().zip(0..).map(|(&limb, k)| {
            let here = mask_of_bit(b, one_hot, k);
            let cut = b.and(cut, here);
            b.sub(limb, cut)
        });
        let factor: Vec<R32> = factor.collect();
        let rows = Rows::on(b, &factor, &self.rest);
        let (rest, above) = self.spread.settle_rows(b, rows, cut);
        let (rest, above) = self.lowered(b, &rest, above, self.fraction);
        self.lowered(b, &rest, above, self.fraction).0
    }

    /// A number, with a word above it, shifted down by less than a limb.
    fn lowered(&self, b: &mut Builder, number: &[R32], above: R32, bits: R32) -> (Vec<R32>, R32) {
        let spread = self.spread;
        let next = spread.from_above(b, number[0]);
        let next = b.lop3(self.at_top, above, next, 0xCA);
        let limbs = (0..number.len())
            .map(|k| b.funnel_right(number[k], number.get(k + 1).copied().unwrap_or(next), bits))
            .collect();
        (limbs, b.shr(above, bits))
    }
}

/// All ones where this bit of a word is set, else zero. No predicates: there would be one a limb.
fn mask_of_bit(b: &mut Builder, word: R32, bit: u32) -> R32 {
    let top = b.shl(word, 31 - bit);
    b.shr_signed(top, 31)
}

/// A number with a limb where the one-hot word says, if it has zero there.
fn put(b: &mut Builder, number: &[R32], one_hot: R32, limb: R32) -> Vec<R32> {
    let own = number.iter().zip(0..);
    own.map(|(&own, k)| {
        let here = mask_of_bit(b, one_hot, k);
        b.lop3(here, limb, own, 0xEA)
    })
    .collect()
}

/// The bit that twice a digit at a place carries into the limb above, as a word with a bit a limb.
fn carry_above(b: &mut Builder, digit: R32, place: R32) -> R32 {
    let carry = b.shr(digit, 31);
    let following = b.add(place, 1);
    b.shl(carry, following)
}

impl Spec for Sqrt {
    fn name(&self) -> String {
        format!("sqrt{}b{}{}", self.value.name(), self.value.bits, self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([self.value], self.result_limbs());
        vec![self.layout.stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }

    fn wide_products(&self) -> u64 {
        let held = u64::from(self.layout.group * self.layout.length);
        held * held
    }
}
