//! The first pass of doubles: from digits to points.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64, VF64};
use warpmp_kernel::fragment::assign;
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::doubles::{self, Complex, Doubles, Root, load_root};
use super::words::{DigitWords, End};
use crate::kernels::transform::Place;
use crate::kernels::transform::angle::{QUARTER, cosine_and_sine, tree_roots};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{Coefficients, Layout, Points, RADIX};
use crate::kernels::transform::passes::read_word;
use crate::kernels::transform::ring::Ring;

/// 2²⁰, and the upper half of its high word: the lower half is an integer that is added.
const TWO_20: f64 = 1_048_576.0;
const TWO_20_UPPER: u32 = 0x4130;

/// The high word of 2²⁰ − 2¹⁶.
const BELOW_TWO_20: u32 = 0x412E_0000;

/// The bits of a high word below the exponent.
const HIGH_BITS: u32 = 20;

/// Where the first pass finds roots and digits, and where its points go.
pub(super) struct Start<'s> {
    /// The regions of the factors.
    pub(super) regions: &'s [R32],
    /// The table of the part.
    pub(super) node: R64,
    /// How a thread takes its digits from words.
    pub(super) taking: Taking,
}

/// How a thread takes its digits from words.
#[derive(Clone, Copy)]
pub(super) enum Taking {
    /// Half of a word. The selector by which [`prmt`](Emit::prmt) takes it: threads with even numbers take the low digit. Balanced digits: from two
    /// words, with the digit below.
    Halves(R32),
    /// Bits of two neighbouring words: digits of other widths end somewhere in a word.
    Bits,
}

/// The words of a factor that have the digits of a thread.
struct Words {
    /// By the multiple of `points`, then by that of the threads.
    real: Vec<Vec<R32>>,
    /// By the multiple of the threads: imaginary digits of the first part, then of the second one.
    imaginary: Vec<R32>,
    /// Limbs of the factor.
    limbs: u32,
}

/// The digits of a thread, as [`Words`] has their words.
struct Digits {
    real: Vec<Vec<OffsetDigit>>,
    imaginary: Vec<OffsetDigit>,
}

impl Words {
    /// The digits that `digit` makes of the words and their numbers among those of the thread, the real ones first.
    fn digits(&self, mut digit: impl FnMut(R32, u32) -> OffsetDigit) -> Digits {
        let mut number = 0..;
        let mut digits = |words: &[R32]| words.iter().zip(&mut number).map(|(&word, i)| digit(word, i)).collect();
        Digits { real: self.real.iter().map(|words| digits(words)).collect(), imaginary: digits(&self.imaginary) }
    }
}

impl Layout {
    /// How a thread takes its digits from words.
    pub(super) fn taking(self, b: &mut Builder, thread: R32) -> Taking {
        if self.has_wide_digits() {
            return Taking::Bits;
        }
        let parity = b.and(thread, 1);
        // Bytes 0 to 3 are of the first word, bytes 4 to 7 of the second one, which has the upper half of 2²⁰ if digits are not
        // balanced.
        let [times, even] = if self.is_balanced() { [0x2222, 0x5432] } else { [0x0022, 0x5410] };
        Taking::Halves(b.mad_lo(parity, times, even))
    }

    /// The first pass of some factors. `factors`: their addresses and their limbs.
    pub(super) fn start_doubles(self, b: &mut Builder, place: &Place, factors: &[(R64, u32)], start: &Start<'_>) {
        if let (Coefficients::Complex { .. }, false, Taking::Halves(selector)) =
            (self.coefficients, self.has_real_upper_part(), start.taking)
        {
            for (&factor, &region) in factors.iter().zip(start.regions) {
                self.first_pass_of_complex(b, place, factor, (region, selector));
            }
            return;
        }
        if let (&[first, second], true) = (factors, self.parts_at_once() > 1) {
            return self.first_passes_in_turn(b, place, [first, second], start);
        }
        let words: Vec<Words> = factors.iter().map(|&factor| self.read(b, place, factor, start.taking)).collect();
        self.first_pass(b, place, &words, start);
    }

    /// The first passes of both factors in a loop: `ptxas` would mix two and run out of registers.
    fn first_passes_in_turn(self, b: &mut Builder, place: &Place, factors: [(R64, u32); 2], start: &Start<'_>) {
        let &Start { regions, node, taking } = start;
        let [(first_row, first), (second_row, second)] = factors;
        let (row, region) = (b.copy64(first_row), b.copy(regions[0]));
        b.do_while(|b| {
            let words = if first == second {
                self.read(b, place, (row, first), taking)
            } else {
                let real: Vec<Vec<R32>> = (0..self.parts).map(|_| (0..RADIX).map(|_| b.register()).collect()).collect();
                let imaginary: Vec<R32> =
                    (0..self.imaginary(first).max(self.imaginary(second))).map(|_| b.copy(0)).collect();
                let read = |b: &mut Builder, limbs| {
                    let read = self.read(b, place, (row, limbs), taking);
                    assign(b, &real.concat(), &read.real.concat());
                    for (i, &word) in imaginary.iter().enumerate() {
                        match read.imaginary.get(i) {
                            Some(&digit) => b.set(word, digit),
                            None => b.set(word, 0),
                        }
                    }
                };
                let is_second = b.compare(Cmp::Eq, region, regions[1]);
                b.if_else(is_second, |b| read(b, second), |b| read(b, first));
                Words { real, imaginary, limbs: first.max(second) }
            };
            self.first_pass(b, place, &[words], &Start { regions: &[region], node, taking });
            let again = b.compare(Cmp::Ne, region, regions[1]);
            b.set(region, regions[1]);
            b.set64(row, second_row);
            again
        });
    }

    /// The first pass of a factor whose upper digits are imaginary parts.
    fn first_pass_of_complex(
        self,
        b: &mut Builder,
        place: &Place,
        (row, limbs): (R64, u32),
        (region, selector): (R32, R32),
    ) {
        let read = |b: &mut Builder, row, limbs| self.read_halves(b, place, (row, limbs), selector).real.swap_remove(0);
        let half = self.digits() / 2;
        let real = read(b, row, limbs);
        let roots: Vec<Root> = tree_roots(self.nodes()[0], RADIX.ilog2()).into_iter().map(Root::constant).collect();
        let offset = |b: &mut Builder, words: &[R32]| OffsetDigit::all_unsigned(b, words, selector);
        let x = if self.is_complex(limbs) {
            let upper = b.add64(row, u64::from(4 * half));
            let imaginary = read(b, upper, limbs - half);
            let parts = [real, imaginary].map(|words| offset(b, &words));
            b.section("forward 1");
            let [re, im] = &parts;
            let point = |(re, im): (&OffsetDigit, &OffsetDigit)| Complex { re: re.digit(b), im: im.digit(b) };
            let mut x: Vec<Complex> = re.iter().zip(im).map(point).collect();
            codelet::forward(b, Doubles, &mut x, &roots);
            x
        } else {
            let digits = offset(b, &real);
            b.section("forward 1");
            let pairs = pairs_of_one(b, &digits, &[]);
            doubles::forward_of_pairs(b, &pairs, &roots)
        };
        let mut points = Points::new(b, Doubles, self.swizzle(), place.thread, region);
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * self.threads(), x);
        }
    }

    /// The words of a factor that have the digits of the thread. Words above the factor are zero, or its sign. For balanced digits a word has the digit and
    /// the digit below.
    fn read(self, b: &mut Builder, place: &Place, factor: (R64, u32), taking: Taking) -> Words {
        match taking {
            Taking::Halves(selector) => self.read_halves(b, place, factor, selector),
            Taking::Bits => self.read_bits(b, place, factor),
        }
    }

    /// The same for digits of other widths than half a word.
    fn read_bits(self, b: &mut Builder, place: &Place, factor: (R64, u32)) -> Words {
        b.section("digits");
        let span = (End::of(b, place.thread, self.digit_bits), self.threads());
        let words = if self.is_signed {
            DigitWords::of_complement(b, self.digit_bits, factor, span)
        } else {
            DigitWords::new(b, self.digit_bits, factor, span)
        };
        let read = |b: &mut Builder, part: u32, i: u32| words.word(b, part * self.points + i * self.threads());
        let real = (0..self.parts).map(|part| (0..RADIX).map(|i| read(b, part, i)).collect()).collect();
        Words { real, imaginary: Vec::new(), limbs: factor.1 }
    }

    /// The same for digits of half a word.
    fn read_halves(self, b: &mut Builder, place: &Place, (row, limbs): (R64, u32), selector: R32) -> Words {
        b.section("digits");
        let pair = b.shr(place.thread, 1);
        let from = b.mad_wide(pair, 4, row);
        let half = self.threads() / 2;
        let mut read = |part: u32, i: u32| {
            let first = part * self.points / 2 + i * half;
            let word = read_word(b, pair, half, from, [first, limbs]);
            if !self.is_balanced() {
                return word;
            }
            let below = self.read_below(b, pair, from, [first, limbs]);
            b.prmt(below, word, selector)
        };
        let real = (0..self.parts).map(|part| (0..RADIX).map(|i| read(part, i)).collect()).collect();
        Words { real, imaginary: (0..self.imaginary(limbs)).map(|i| read(self.parts, i)).collect(), limbs }
    }

    /// Imaginary digits of the first two parts that a thread has of a factor with these limbs, if upper digits are real.
    fn imaginary(self, limbs: u32) -> u32 {
        if self.coefficients == Coefficients::Real || !self.has_real_upper_part() {
            return 0;
        }
        let above = self.limbs_of_digits(limbs).saturating_sub(self.digits() / 2);
        above.div_ceil(self.threads() / 2)
    }

    /// The limbs that have the digits of a factor with these limbs. The digit above the last one of balanced digits may be 1, unless the last one has a sign.
    fn limbs_of_digits(self, limbs: u32) -> u32 {
        limbs + u32::from(self.is_balanced() && !self.is_signed)
    }

    /// The word below word `first` of a thread, or zero where the factor has none.
    fn read_below(self, b: &mut Builder, pair: R32, from: R64, [first, limbs]: [u32; 2]) -> R32 {
        let half = self.threads() / 2;
        let limbs = self.limbs_of_digits(limbs);
        if first > 0 {
            let before = b.sub64(from, 4);
            return read_word(b, pair, half, before, [first, limbs]);
        }
        let word = b.copy(0);
        let inside = b.compare(Cmp::Ne, pair, 0);
        let inside = if half <= limbs {
            inside
        } else {
            let below = b.compare(Cmp::Lt, pair, limbs);
            b.and_pred(inside, below)
        };
        let before = b.sub64(from, 4);
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], before, 0));
        word
    }

    /// The digits of a thread.
    fn digits_of(self, b: &mut Builder, place: &Place, words: &Words, taking: Taking) -> Digits {
        match taking {
            Taking::Halves(selector) if !self.is_balanced() => self.unsigned_digits(b, place, words, selector),
            Taking::Halves(_) | Taking::Bits => self.balanced_digits(b, place, words),
        }
    }

    /// Unsigned digits of a thread. Only the last one of a two's complement has a sign.
    fn unsigned_digits(self, b: &mut Builder, place: &Place, words: &Words, selector: R32) -> Digits {
        let last = 2 * words.limbs - 1;
        let is_last = self.is_signed.then(|| b.compare(Cmp::Eq, place.thread, last % self.threads()));
        words.digits(|word, number| match is_last.filter(|_| number == last / self.threads()) {
            Some(is_last) => OffsetDigit::signed(b, word, selector, is_last),
            None => OffsetDigit::unsigned(b, word, selector),
        })
    }

    /// Balanced digits of a thread.
    fn balanced_digits(self, b: &mut Builder, place: &Place, words: &Words) -> Digits {
        // The last digit of all stays unsigned, unless it has a sign. Above an imaginary digit there is another one.
        let fills = 32 * words.limbs == self.digits() * self.digit_bits;
        let is_last = fills && words.imaginary.is_empty() && !self.is_signed;
        let at_top = is_last.then(|| b.compare(Cmp::Eq, place.thread, self.threads() - 1));
        let last = RADIX * self.parts - 1;
        words.digits(|word, number| {
            let unsigned = at_top.filter(|_| number == last);
            OffsetDigit::balanced(b, word, unsigned, self.digit_bits)
        })
    }

    /// The first pass: of each factor the 16 coefficients of a part that are as far apart as there are threads.
    fn first_pass(self, b: &mut Builder, place: &Place, words: &[Words], start: &Start<'_>) {
        let &Start { regions, node, taking } = start;
        let mut roots: Option<Vec<Root>> = None;
        for (words, &region) in words.iter().zip(regions) {
            b.section("digits");
            let Digits { real: digits, imaginary } = self.digits_of(b, place, words, taking);
            let imaginary: Vec<F64> = imaginary.into_iter().map(|it| it.digit(b)).collect();
            let x = if self.parts == 1 {
                b.section("forward 1");
                let pairs = pairs_of_one(b, &digits[0], &imaginary);
                let constants = || tree_roots(self.nodes()[0], RADIX.ilog2()).into_iter().map(Root::constant).collect();
                doubles::forward_of_pairs(b, &pairs, roots.get_or_insert_with(constants))
            } else {
                b.section("remainders");
                let powers: Vec<Complex> = (0..self.parts - 1).map(|i| load_root(b, node, i)).collect();
                let mut x = if let [first, second] = &digits[..] {
                    remainders_of_two(b, [first, second], &imaginary, powers[0])
                } else {
                    let digit = |digits: &Vec<OffsetDigit>| digits.iter().map(|it| it.digit(b)).collect();
                    let digits: Vec<Vec<F64>> = digits.iter().map(digit).collect();
                    let mut x = remainders(b, &digits, &powers);
                    add_imaginary(b, &mut x, &imaginary, powers[0]);
                    x
                };
                b.section("forward 1");
                let roots = roots.get_or_insert_with(|| {
                    // `ptxas` moves loads to the front and spills registers. It moves none across a barrier.
                    b.warp_barrier();
                    Doubles.load_roots(b, node, self.parts - 1, 1, RADIX / 2)
                });
                codelet::forward(b, Doubles, &mut x, roots);
                x
            };
            let mut points = Points::new(b, Doubles, self.swizzle(), place.thread, region);
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * self.threads(), x);
            }
        }
    }
}

/// A double that is a digit plus an offset.
#[derive(Clone, Copy)]
pub(super) struct OffsetDigit {
    sum: F64,
    offset: f64,
}

impl OffsetDigit {
    fn of_high_word(b: &mut Builder, high: R32, offset: f64) -> Self {
        let bits = b.pack(0, high);
        Self { sum: b.f64_of_bits(bits), offset }
    }

    /// A digit of a word.
    fn unsigned(b: &mut Builder, word: R32, selector: R32) -> Self {
        let high = b.prmt(word, TWO_20_UPPER, selector);
        Self::of_high_word(b, high, TWO_20)
    }

    /// The digits of some words.
    fn all_unsigned(b: &mut Builder, words: &[R32], selector: R32) -> Vec<Self> {
        words.iter().map(|&word| Self::unsigned(b, word, selector)).collect()
    }

    /// A digit of a word; in threads where it is the last one of a two's complement, with the sign that the word's highest bit tells.
    fn signed(b: &mut Builder, word: R32, selector: R32, is_last: Pred) -> Self {
        let is_negative = b.compare_signed(Cmp::Lt, word, 0);
        let is_negative = b.and_pred(is_last, is_negative);
        let high = b.prmt(word, TWO_20_UPPER, selector);
        // Of a digit `e` less 2¹⁶ the double is below 2²⁰: in its high word a unit is 1/2, and the bits of the exponent are one less.
        let doubled = b.add(high, high);
        let less = b.add(doubled, BELOW_TWO_20.wrapping_sub(TWO_20_UPPER << 17));
        let high = b.select(less, high, is_negative);
        Self::of_high_word(b, high, TWO_20)
    }

    /// The balanced digit of a word that has an unsigned digit in its highest bits and the digit below it in the next ones.
    /// `unsigned`: the threads whose digit stays unsigned.
    ///
    /// The high word of `2.5·2ᵇ` plus the digit `e` comes from a shift, a sum and a mask. The sum is between `2ᵇ⁺¹` and `2ᵇ⁺²`, so the
    /// digit's lowest bit is bit `19 − b` of the high word.
    pub(super) fn balanced(b: &mut Builder, word: R32, unsigned: Option<Pred>, bits: u32) -> Self {
        let offset = f64::from(5_u32 << (bits - 1));
        let lowest = HIGH_BITS - 1 - bits;
        let down = 32 - bits - lowest;
        let mut shifted = b.shr_signed(word, down);
        if let Some(at_top) = unsigned {
            let unsigned = b.shr(word, down);
            shifted = b.select(unsigned, shifted, at_top);
        }
        // Half of the digit's lowest bit: it rounds by the highest bit of the digit below.
        let high = b.add(shifted, (offset.to_bits() >> 32) as u32 + (1 << (lowest - 1)));
        let high = b.and(high, !((1 << lowest) - 1));
        Self::of_high_word(b, high, offset)
    }

    /// The digit: exact, since it and the sum are doubles.
    pub(super) fn digit(self, b: &mut Builder) -> F64 {
        b.sub_f64(self.sum, self.offset)
    }
}

/// Of each two digits the first one, and the second one times a factor, rounded once. `minus_offset`: minus the offset times the factor.
fn terms(b: &mut Builder, [first, second]: [&[OffsetDigit]; 2], [factor, minus_offset]: [VF64; 2]) -> Vec<[F64; 2]> {
    let terms = |(first, second): (&OffsetDigit, &OffsetDigit)| {
        let product = b.fma(second.sum, factor, minus_offset);
        [first.digit(b), product]
    };
    first.iter().zip(second).map(terms).collect()
}

/// As [`remainders`], of two parts. The node is an eighth or five eighths of a turn: its two parts are equal. `imaginary`: the imaginary digits of
/// the first part that there are.
fn remainders_of_two(b: &mut Builder, digits: [&[OffsetDigit]; 2], imaginary: &[F64], node: Complex) -> Vec<Complex> {
    let minus_offset = b.mul_f64(node.im, -digits[1][0].offset);
    let terms = terms(b, digits, [node.im, minus_offset].map(VF64::from));
    let remainder = |(i, [x, y]): (usize, [F64; 2])| {
        let re = b.add_f64(x, y);
        Complex { re, im: imaginary.get(i).map_or(y, |&z| b.add_f64(z, y)) }
    };
    terms.into_iter().enumerate().map(remainder).collect()
}

/// The first level of the first pass of the only part. Its root is an eighth of a turn, as in [`remainders_of_two`].
fn pairs_of_one(b: &mut Builder, digits: &[OffsetDigit], imaginary: &[F64]) -> Vec<[Complex; 2]> {
    let (first, second) = digits.split_at(digits.len() / 2);
    let [factor, _] = cosine_and_sine(QUARTER / 2);
    let terms = terms(b, [first, second], [factor, -factor * second[0].offset].map(VF64::from));
    let pair = |(i, [x, y]): (usize, [F64; 2])| {
        let [sum, difference] = [b.add_f64(x, y), b.sub_f64(x, y)];
        let [up, down] = match imaginary.get(i) {
            Some(&z) => [b.add_f64(z, y), b.sub_f64(z, y)],
            None => [y, b.neg_f64(y)],
        };
        [Complex { re: sum, im: up }, Complex { re: difference, im: down }]
    };
    terms.into_iter().enumerate().map(pair).collect()
}

/// Adds the imaginary digits of the first part to remainders, and those of the second one times the node.
fn add_imaginary(b: &mut Builder, x: &mut [Complex], digits: &[F64], node: Complex) {
    let (first, second) = digits.split_at(digits.len().min(x.len()));
    for (x, &digit) in x.iter_mut().zip(first) {
        x.im = b.add_f64(digit, x.im);
    }
    if second.is_empty() {
        return;
    }
    let minus = b.neg_f64(node.im);
    for (x, &digit) in x.iter_mut().zip(second) {
        *x = Complex { re: b.fma(minus, digit, x.re), im: b.fma(node.re, digit, x.im) };
    }
}

/// The remainders of the polynomials of real digits modulo a node: digits of the first part, then those of the others
/// times powers of the node.
pub(super) fn remainders(b: &mut Builder, digits: &[Vec<F64>], powers: &[Complex]) -> Vec<Complex> {
    let [first, others @ ..] = digits else { return Vec::new() };
    let remainder = |i: usize| {
        let mut terms = others.iter().zip(powers).map(|(digits, power)| (digits[i], power));
        let (digit, power) = terms.next()?;
        let re = b.fma(power.re, digit, first[i]);
        let start = Complex { re, im: b.mul_f64(power.im, digit) };
        Some(terms.fold(start, |x, (digit, power)| {
            let re = b.fma(power.re, digit, x.re);
            Complex { re, im: b.fma(power.im, digit, x.im) }
        }))
    };
    (0..first.len()).filter_map(remainder).collect()
}
