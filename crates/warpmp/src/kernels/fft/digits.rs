//! The first pass of doubles: from digits to points.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::doubles::{self, Complex, Doubles, Root, load_root};
use crate::kernels::transform::Place;
use crate::kernels::transform::angle::tree_roots;
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{Layout, Points, RADIX};
use crate::kernels::transform::passes::read_word;
use crate::kernels::transform::ring::Ring;

/// 2⁵² as the high word of a double: the low word adds to it.
const TWO_52_HIGH: u32 = 0x4330_0000;

/// 2⁵².
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// 2⁵² + 2¹⁵.
const TWO_52_AND_15: f64 = 4_503_599_627_403_264.0;

/// Where the first pass finds roots and digits, and where its points go.
pub(super) struct Start<'s> {
    /// The regions of the factors.
    pub(super) regions: &'s [R32],
    /// The table of the part.
    pub(super) node: R64,
    /// Takes the thread's digit from a word, or with the digit below from two words: see
    /// [`digit_selector`](Layout::digit_selector).
    pub(super) selector: R32,
}

impl Layout {
    /// The selector by which [`prmt`](Emit::prmt) takes a thread's digit from a word: threads with even numbers take the low digit.
    /// Balanced digits: from two words, with the digit below.
    pub(super) fn digit_selector(self, b: &mut Builder, thread: R32) -> R32 {
        let parity = b.and(thread, 1);
        // Bytes 0 to 3 are of the first word, bytes 4 to 7 of the second one, which is zero if digits are not balanced.
        if self.is_balanced() { b.mad_lo(parity, 0x2222, 0x5432) } else { b.mad_lo(parity, 0x0022, 0x4410) }
    }

    /// The first pass of both factors. `rows`: their addresses.
    pub(super) fn start_doubles(self, b: &mut Builder, place: &Place, rows: &[R64], start: &Start<'_>) {
        let words: Vec<Vec<Vec<R32>>> = rows
            .iter()
            .zip(self.limbs)
            .map(|(&row, limbs)| self.read(b, place, (row, limbs), start.selector))
            .collect();
        self.first_pass(b, place, &words, start);
    }

    /// The words of a factor that have the digits of the thread: by the multiple of `points`, then by that of the
    /// threads. Words above the factor are zero. For balanced digits a word has the digit and the digit below.
    fn read(self, b: &mut Builder, place: &Place, (row, limbs): (R64, u32), selector: R32) -> Vec<Vec<R32>> {
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
        (0..self.parts).map(|part| (0..RADIX).map(|i| read(part, i)).collect()).collect()
    }

    /// The word below word `first` of a thread, or zero where the factor has none.
    fn read_below(self, b: &mut Builder, pair: R32, from: R64, [first, limbs]: [u32; 2]) -> R32 {
        let half = self.threads() / 2;
        if first > 0 {
            let before = b.sub64(from, 4);
            return read_word(b, pair, half, before, [first, limbs + 1]);
        }
        let word = b.copy(0);
        let inside = b.compare(Cmp::Ne, pair, 0);
        let inside = if half <= limbs + 1 {
            inside
        } else {
            let below = b.compare(Cmp::Lt, pair, limbs + 1);
            b.and_pred(inside, below)
        };
        let before = b.sub64(from, 4);
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], before, 0));
        word
    }

    /// The digits of a thread as doubles.
    fn digits_of(
        self,
        b: &mut Builder,
        place: &Place,
        words: &[Vec<R32>],
        (limbs, selector): (u32, R32),
    ) -> Vec<Vec<F64>> {
        if !self.is_balanced() {
            return words
                .iter()
                .map(|words| words.iter().map(|&word| unsigned_digit(b, word, selector)).collect())
                .collect();
        }
        // The last digit of all stays unsigned.
        let at_top = (2 * limbs == self.digits()).then(|| b.compare(Cmp::Eq, place.thread, self.threads() - 1));
        let last = words.len() * words[0].len() - 1;
        let mut number = 0..;
        words
            .iter()
            .map(|words| {
                let digits = words.iter().zip(&mut number);
                digits.map(|(&word, number)| balanced_digit(b, word, at_top.filter(|_| number == last))).collect()
            })
            .collect()
    }

    /// The first pass: of each factor the 16 coefficients of a part that are as far apart as there are threads.
    fn first_pass(self, b: &mut Builder, place: &Place, words: &[Vec<Vec<R32>>], start: &Start<'_>) {
        let &Start { regions, node, selector } = start;
        let mut roots: Option<Vec<Root>> = None;
        for ((words, &region), limbs) in words.iter().zip(regions).zip(self.limbs) {
            b.section("digits");
            let digits = self.digits_of(b, place, words, (limbs, selector));
            let x = if self.parts == 1 {
                b.section("forward 1");
                let constants = || tree_roots(self.nodes()[0], RADIX.ilog2()).into_iter().map(Root::constant).collect();
                doubles::forward_real(b, &digits[0], roots.get_or_insert_with(constants))
            } else {
                b.section("remainders");
                let powers: Vec<Complex> = (0..self.parts - 1).map(|i| load_root(b, node, i)).collect();
                let mut x = remainders(b, &digits, &powers);
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

/// A digit of a word, as a double: exact, since 2⁵² plus a digit is a double.
fn unsigned_digit(b: &mut Builder, word: R32, selector: R32) -> F64 {
    let digit = b.prmt(word, 0, selector);
    let bits = b.pack(digit, TWO_52_HIGH);
    let sum = b.f64_of_bits(bits);
    b.sub_f64(sum, TWO_52)
}

/// The balanced digit of a word that has an unsigned digit and the digit below it, as a double: exact. `unsigned`: the threads
/// whose digit stays unsigned.
fn balanced_digit(b: &mut Builder, word: R32, unsigned: Option<Pred>) -> F64 {
    let mut half = b.shr_signed(word, 1);
    if let Some(unsigned) = unsigned {
        let whole = b.shr(word, 1);
        half = b.select(whole, half, unsigned);
    }
    // Half of 2¹⁵, which rounds, and half of 2³¹: all digits are positive then.
    let sum = b.add(half, (1 << 14) + (1 << 30));
    let digit = b.shr(sum, 15);
    let bits = b.pack(digit, TWO_52_HIGH);
    let sum = b.f64_of_bits(bits);
    b.sub_f64(sum, TWO_52_AND_15)
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
