//! The passes: from the digits of the factors to the coefficients of the product, before they are rounded.
//!
//! A pass takes 16 points a thread from shared memory, transforms them in registers and puts them back. The first pass
//! begins with digits, and the last forward pass, the product and the first inverse pass are one. Only the first and
//! the last pass exchange points between warps.

use warpmp_kernel::build::{Builder, Emit, F64, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Space, Vector};

use super::Place;
use super::angle::{Angle, cosine_and_sine, tree_roots};
use super::codelet::{self, Complex, Root};
use super::layout::{JOINED, Layout, Points, RADIX};
use super::table::{ROOT_BYTES, SECOND_ROOTS};

/// 2⁵² as the high word of a double: the low word adds to it.
const TWO_52_HIGH: u32 = 0x4330_0000;

/// 2⁵².
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// 2⁵² + 2¹⁵.
const TWO_52_AND_15: f64 = 4_503_599_627_403_264.0;

/// Where the roots of a column of coefficients are.
pub(super) struct ColumnRoots {
    /// The roots of the last inverse pass: an address, and a number of roots after it.
    pub(super) joining: (R64, u32),
    /// The roots by which an odd number of parts is joined.
    pub(super) turning: (R64, u32),
    /// The root of the twist.
    pub(super) twist: (R64, u32),
}

impl Layout {
    /// Transforms both factors part after part, multiplies them and transforms the products as far as a part goes.
    /// `rows`: the addresses of the factors.
    pub(super) fn transform(self, b: &mut Builder, place: &Place, rows: &[R64]) {
        let first = b.add(place.shared, self.first_factor());
        let table = b.copy64(place.table);
        let node = b.copy64(place.table);
        let part = |b: &mut Builder| {
            let words: Vec<Vec<Vec<R32>>> =
                rows.iter().zip(self.limbs).map(|(&row, limbs)| self.read(b, place, row, limbs)).collect();
            let regions = if self.square { vec![first] } else { vec![first, place.shared] };
            self.first_pass(b, place, &words, &regions, node);
            b.barrier();
            self.second_pass(b, place, &regions, table);
            b.warp_barrier();
            self.product_pass(b, place, &regions, table);
            b.warp_barrier();
            self.middle_pass(b, place, first);
            b.barrier();
        };
        if self.parts == 1 {
            part(b);
            return;
        }
        let last = b.add(first, (self.parts - 1) * self.region_bytes());
        b.do_while(|b| {
            part(b);
            let again = b.compare(Cmp::Lt, first, last);
            let next = b.add(first, self.region_bytes());
            b.set(first, next);
            let next = b.add64(node, u64::from(ROOT_BYTES * self.part_roots()));
            b.set64(node, next);
            let next = b.add64(table, u64::from(ROOT_BYTES * SECOND_ROOTS));
            b.set64(table, next);
            again
        });
    }

    /// The words of a factor that have the digits of the thread: by the multiple of `points`, then by that of the
    /// threads. Words above the factor are zero. For balanced digits a word has the digit and the digit below.
    fn read(self, b: &mut Builder, place: &Place, row: R64, limbs: u32) -> Vec<Vec<R32>> {
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
            b.prmt(below, word, place.selector)
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

    /// The selector by which [`prmt`](Emit::prmt) takes a thread's digit from a word: threads with even numbers take the low digit.
    /// Balanced digits: from two words, with the digit below.
    pub(super) fn digit_selector(self, b: &mut Builder, thread: R32) -> R32 {
        let parity = b.and(thread, 1);
        // Bytes 0 to 3 are of the first word, bytes 4 to 7 of the second one, which is zero if digits are not balanced.
        if self.is_balanced() { b.mad_lo(parity, 0x2222, 0x5432) } else { b.mad_lo(parity, 0x0022, 0x4410) }
    }

    /// The digits of a thread as doubles.
    fn digits_of(self, b: &mut Builder, place: &Place, words: &[Vec<R32>], limbs: u32) -> Vec<Vec<F64>> {
        if !self.is_balanced() {
            return words.iter().map(|words| words.iter().map(|&word| place.digit(b, word)).collect()).collect();
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
    fn first_pass(self, b: &mut Builder, place: &Place, words: &[Vec<Vec<R32>>], regions: &[R32], node: R64) {
        let mut roots: Option<Vec<Root>> = None;
        for ((words, &region), limbs) in words.iter().zip(regions).zip(self.limbs) {
            b.section("digits");
            let digits = self.digits_of(b, place, words, limbs);
            let x = if self.parts == 1 {
                b.section("forward 1");
                let constants = || tree_roots(self.nodes()[0], RADIX.ilog2()).into_iter().map(Root::constant).collect();
                codelet::forward_real(b, &digits[0], roots.get_or_insert_with(constants))
            } else {
                b.section("remainders");
                let powers: Vec<Complex> = (0..self.parts - 1).map(|i| load_root(b, node, i)).collect();
                let mut x = remainders(b, &digits, &powers);
                b.section("forward 1");
                let roots = roots.get_or_insert_with(|| {
                    // `ptxas` moves loads to the front and spills registers. It moves none across a barrier.
                    b.warp_barrier();
                    load_roots(b, node, self.parts - 1, 1, RADIX / 2)
                });
                codelet::forward(b, &mut x, roots);
                x
            };
            let mut points = Points::new(b, self.swizzle(), place.thread, region);
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * self.threads(), x);
            }
        }
    }

    /// The second pass: 16 nodes, of which each has `threads / 16` threads.
    pub(super) fn second_pass(self, b: &mut Builder, place: &Place, regions: &[R32], table: R64) {
        b.section("forward 2");
        let last = self.last();
        let node = b.shr(place.thread, last.ilog2());
        let from = b.mad_wide(node, ROOT_BYTES, table);
        let roots = load_roots(b, from, self.second(), RADIX, RADIX / 2);
        let column = b.and(place.thread, last - 1);
        let number = b.mad_lo(node, RADIX * last, column);
        let region = b.copy(regions[0]);
        let pass = |b: &mut Builder| {
            let mut points = Points::new(b, self.swizzle(), number, region);
            let mut x: Vec<Complex> = (0..RADIX).map(|i| points.load(b, i * last)).collect();
            codelet::forward(b, &mut x, &roots);
            for (x, i) in x.into_iter().zip(0..) {
                points.store(b, i * last, x);
            }
        };
        let &[_, second] = regions else { return pass(b) };
        // A loop: `ptxas` would mix two passes and run out of registers.
        b.do_while(|b| {
            pass(b);
            let again = b.compare(Cmp::Ne, region, second);
            b.set(region, second);
            again
        });
    }

    /// The last forward pass, the product, and the inverse transform of each thread's 16 points.
    pub(super) fn product_pass(self, b: &mut Builder, place: &Place, regions: &[R32], table: R64) {
        b.section("forward 3");
        let number = b.shl(place.thread, RADIX.ilog2());
        let mut points: Vec<Points> =
            regions.iter().map(|&region| Points::new(b, self.swizzle(), number, region)).collect();
        // The second pass moves `table` on by its own roots; the last pass has more or fewer a part.
        let from = b.mad_wide(place.thread, ROOT_BYTES, place.table);
        let part = b.sub64(table, place.table);
        let from = self.scaled(b, part, from);
        let last = self.last();
        let roots_of_block = self.last_roots() * last / RADIX;
        let mut products: Vec<Complex> = Vec::new();
        for block in 0..RADIX / last {
            b.section("forward 3");
            let first = self.last_pass() + block * roots_of_block;
            let roots = load_roots(b, from, first, self.threads(), last / 2);
            let transformed: Vec<Vec<Complex>> = points
                .iter_mut()
                .map(|points| {
                    let mut x: Vec<Complex> = (0..last).map(|i| points.load(b, block * last + i)).collect();
                    codelet::forward(b, &mut x, &roots);
                    x
                })
                .collect();
            b.section("product");
            for i in 0..last as usize {
                products.push(match &transformed[..] {
                    [x, y] => codelet::product(b, x[i], y[i]),
                    _ => codelet::square(b, transformed[0][i]),
                });
            }
        }
        b.section("inverse 1");
        codelet::inverse_of_points(b, &mut products);
        for (x, i) in products.into_iter().zip(0..) {
            points[0].store(b, i, x);
        }
    }

    /// The address of a thread's roots of the last forward pass in this part. `part`: the bytes of the roots of the
    /// second pass in the parts before.
    fn scaled(self, b: &mut Builder, part: R64, from: R64) -> R64 {
        if self.parts == 1 {
            return from;
        }
        let times = b.mul_lo64(part, u64::from(self.last_roots() / SECOND_ROOTS));
        b.add64(from, times)
    }

    /// The second inverse pass: joins 16 transforms of 16 points.
    pub(super) fn middle_pass(self, b: &mut Builder, place: &Place, region: R32) {
        b.section("inverse 2");
        let column = b.and(place.thread, RADIX - 1);
        let from = b.mad_wide(column, ROOT_BYTES, place.table);
        let roots = load_roots(b, from, self.middle(), RADIX, RADIX / 2);
        let group = b.shr(place.thread, RADIX.ilog2());
        let number = b.mad_lo(group, JOINED, column);
        let mut points = Points::new(b, self.swizzle(), number, region);
        let mut x: Vec<Complex> = (0..RADIX).map(|i| points.load(b, i * RADIX)).collect();
        codelet::inverse(b, &mut x, &roots);
        for (x, i) in x.into_iter().zip(0..) {
            points.store(b, i * RADIX, x);
        }
    }

    /// The last inverse pass, of a column: the coefficients whose numbers are the column's plus multiples of 256. The
    /// column is twice the thread's number, plus `offset`.
    pub(super) fn join(self, b: &mut Builder, place: &Place, points: &mut Points, offset: u32) -> Vec<Complex> {
        b.section("inverse 3");
        let from = b.mad_wide(place.thread, ROOT_BYTES, place.table);
        let (parity, column) = (offset % 2, offset / 2);
        let roots = ColumnRoots {
            joining: (from, self.joining() + parity * self.joining_of_parity() + column),
            turning: (from, self.turning() + parity * JOINED / 2 * self.turning_roots() + column),
            twist: (from, self.twist() + parity * JOINED / 2 + column),
        };
        self.join_column(b, &roots, points, offset)
    }

    /// As [`join`](Self::join), for the column that begins with point `offset`.
    pub(super) fn join_column(
        self,
        b: &mut Builder,
        roots_of: &ColumnRoots,
        points: &mut Points,
        offset: u32,
    ) -> Vec<Complex> {
        let half = JOINED / 2;
        let (from, first) = roots_of.joining;
        let mut x: Vec<Complex> = (0..self.joins()).map(|i| points.load(b, i * JOINED + offset)).collect();
        for level in 0..self.joins_by_two().ilog2() {
            if level >= RADIX.ilog2() - 1 {
                // `ptxas` moves loads to the front and spills registers. It moves none across a barrier.
                b.warp_barrier();
            }
            let (before, count) = codelet::roots_of_level(level);
            let roots = load_roots(b, from, first + before * half, half, count);
            codelet::inverse_level(b, &mut x, &roots, level);
        }
        if self.odd() > 1 {
            let (from, first) = roots_of.turning;
            codelet::join_parts(b, &mut x, self.odd() as usize, |b, i| load_root(b, from, first + i * half));
        }
        b.section("twist");
        let (from, first) = roots_of.twist;
        let twist = load_root(b, from, first);
        for (x, i) in x.iter_mut().zip(0..) {
            let turned = if i == 0 { twist } else { times_root(b, twist, self.twist_angle(i * JOINED)) };
            *x = codelet::product(b, turned, *x);
        }
        x
    }
}

impl Place {
    /// The thread's digit of a word, as a double: exact, since 2⁵² plus a digit is a double.
    fn digit(&self, b: &mut Builder, word: R32) -> F64 {
        let digit = b.prmt(word, 0, self.selector);
        let bits = b.pack(digit, TWO_52_HIGH);
        let sum = b.f64_of_bits(bits);
        b.sub_f64(sum, TWO_52)
    }
}

/// Word `first` of the factor at `from`, counted from the word `pair` of a thread, or zero if the number of a word is not below
/// `limbs`. The threads have `half` words.
fn read_word(b: &mut Builder, pair: R32, half: u32, from: R64, [first, limbs]: [u32; 2]) -> R32 {
    if first + half <= limbs {
        return b.load_global(Space::GlobalConst, Vector::V1, from, 4 * first)[0];
    }
    let word = b.copy(0);
    if first < limbs {
        let inside = b.compare(Cmp::Lt, pair, limbs - first);
        b.guarded(inside, true, |g| g.load_into(Space::GlobalConst, Vector::V1, &[word], from, 4 * first));
    }
    word
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

/// Loads a root.
pub(super) fn load_root(b: &mut Builder, from: R64, number: u32) -> Complex {
    let pair = b.load_f64(Space::GlobalConst, Vector::V2, from, ROOT_BYTES * number);
    Complex { re: pair[0], im: pair[1] }
}

/// Loads `count` roots that are `stride` roots apart.
pub(super) fn load_roots(b: &mut Builder, from: R64, first: u32, stride: u32, count: u32) -> Vec<Root> {
    let loaded: Vec<Complex> = (0..count).map(|i| load_root(b, from, first + i * stride)).collect();
    loaded.into_iter().map(|root| Root::register(b, root)).collect()
}

/// A root times the root of this angle.
fn times_root(b: &mut Builder, root: Complex, angle: Angle) -> Complex {
    let [re, im] = cosine_and_sine(angle);
    let both = b.mul_f64(root.im, -im);
    let re_product = b.fma(root.re, re, both);
    let cross = b.mul_f64(root.im, re);
    Complex { re: re_product, im: b.fma(root.re, im, cross) }
}
