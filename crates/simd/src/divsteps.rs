//! Greatest common divisors and inverses by division steps: one pair of numbers for each lane.
//!
//! computes   `gcd(f, g)` for odd `f`; with `a = g` also `d` with `a·d = gcd mod m`, `m = f`
//! cost       about `2.1·b/w` batches for numbers of `b` bits and digits of `w` bits: `w` steps of 19 instructions on one word, then
//!            4 products for each digit of the numbers, which shrink, and 6 for each digit of the cofactors
//!
//! A batch of steps looks at the lowest digits alone. It gives a matrix, by which the numbers are multiplied, and the
//! products' lowest digits are zeros. Numbers are two's complements: their highest digit has a sign. The cofactors
//! `d`, `e` are integers modulo `m`; a multiple `q·m` makes the lowest digit of a product zero.
//!
//! bound: the sum of a row's entries is at most `x = 2^w` in magnitude. So numbers never exceed the larger one at the
//! beginning. A digit goes where it and its neighbour tell no more than the sign, which leaves a bit free.
//! `q` is in `[−x/2, x/2)`, so a batch adds at most `m/2` to the magnitude of the cofactors. They have a digit more than `m`,
//! and are reduced in the end. A column is a sum of three products, three digits and a carry. After `(49b + 80)/17` steps `g` is
//! zero.
//! source: Bernstein and Yang 2019, with Wuille's starting value (`libsecp256k1`, 2021).

use crate::montgomery::Moduli;
use crate::product::subtract_if_not_less;
use crate::shift::Distances;
use crate::simd::{MAX_LANES, Simd};

/// The effect of a batch of steps: `f ← (u·f + v·g)/x`, `g ← (q·f + r·g)/x`, by rows.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<S: Simd> {
    /// The entries as integers.
    pub integers: [[S::Vector; 2]; 2],
    /// The entries as factors.
    pub factors: [[S::Signed; 2]; 2],
}

/// Multiples of a modulus that are added to two numbers, and the modulus.
pub type Multiples<'m, S> = ([<S as Simd>::Signed; 2], &'m [<S as Simd>::Vector]);

/// As many steps on the lowest digits as a digit has bits; `zeta` is `−δ − 1/2`.
#[inline(always)]
fn batch<S: Simd>(s: S, f: S::Vector, g: S::Vector, zeta: &mut S::Vector) -> Matrix<S> {
    let (zero, one) = (s.zero(), s.splat(1));
    let (mut f, mut g) = (f, g);
    let (mut u, mut v, mut q, mut r) = (one, zero, zero, one);
    for _ in 0..S::DIGIT_BITS {
        let odd = s.is_odd(g);
        let swap = s.both(s.is_negative(*zeta), odd);
        let plus = s.except(odd, swap);
        g = s.add_where(plus, s.sub_where(swap, g, f), f);
        q = s.add_where(plus, s.sub_where(swap, q, u), u);
        r = s.add_where(plus, s.sub_where(swap, r, v), v);
        let next = s.sub(*zeta, one);
        *zeta = s.select(swap, s.sub(s.splat(-2_i64 as u64), *zeta), next);
        f = s.add_where(swap, f, g);
        u = s.add_where(swap, u, q);
        v = s.add_where(swap, v, r);
        g = s.half(g);
        u = s.add(u, u);
        v = s.add(v, v);
    }
    let factors = [[s.signed_factor(u), s.signed_factor(v)], [s.signed_factor(q), s.signed_factor(r)]];
    Matrix { integers: [[u, v], [q, r]], factors }
}

/// A pair of numbers for each lane, and cofactors where an inverse is wanted.
#[derive(Clone, Debug)]
pub struct Pairs<S: Simd> {
    s: S,
    /// Odd numbers; in the end the greatest common divisors.
    pub f: Vec<S::Vector>,
    /// Numbers; in the end zeros.
    pub g: Vec<S::Vector>,
    /// The cofactors that belong to `f`. They have a digit more.
    pub d: Vec<S::Vector>,
    /// The cofactors that belong to `g`.
    e: Vec<S::Vector>,
}

/// Batches for numbers of so many digits.
const fn batches<S: Simd>(digits: usize) -> usize {
    (3 * S::DIGIT_BITS * digits + 80) / S::DIGIT_BITS + 1
}

impl<S: Simd> Pairs<S> {
    /// Memory for numbers of so many digits, two bits of which are free.
    pub fn new(s: S, digits: usize) -> Self {
        let number = |digits| vec![s.zero(); digits];
        Self { s, f: number(digits), g: number(digits), d: number(digits + 1), e: number(digits + 1) }
    }

    /// Replaces `f` by the greatest common divisors, and `g` by zeros.
    pub fn divisors(&mut self) {
        self.run(None);
    }

    /// The same, and `d`, below `m`, with `g·d = gcd` modulo `m = f`.
    pub fn inverses(&mut self, moduli: &Moduli<S>) {
        let s = self.s;
        self.d.fill(s.zero());
        self.e.fill(s.zero());
        self.e[0] = s.splat(1);
        let negative = self.run(Some(moduli));
        self.reduce(moduli, negative);
    }

    /// Steps until all `g` are zero. Returns the lanes in which the cofactor belongs to `−f`.
    fn run(&mut self, moduli: Option<&Moduli<S>>) -> S::Mask {
        let (s, n) = (self.s, self.f.len());
        s.vectorize(
            #[inline(always)]
            || {
                let mut zeta = s.splat(-1_i64 as u64);
                let mut length = n;
                for _ in 0..batches::<S>(n) {
                    let (f, g) = (&mut self.f[..length], &mut self.g[..length]);
                    let mut any = s.zero();
                    for g in &*g {
                        any = s.or(any, *g);
                    }
                    if is_everywhere(s, s.equal(any, s.zero())) {
                        break;
                    }
                    let matrix = batch(s, f[0], g[0], &mut zeta);
                    s.combine([f, g], &matrix, None);
                    if let Some(moduli) = moduli {
                        self.follow(moduli, &matrix);
                    }
                    length = self.shrink(length);
                }
                self.make_positive(length)
            },
        )
    }

    /// `d` and `e` multiplied by the matrix, over `x`, modulo `m`.
    #[inline(always)]
    fn follow(&mut self, moduli: &Moduli<S>, matrix: &Matrix<S>) {
        let s = self.s;
        let lowest = [s.digit(self.d[0]), s.digit(self.e[0])];
        let quotients =
            [quotient(s, matrix, 0, lowest, moduli.inverse()), quotient(s, matrix, 1, lowest, moduli.inverse())];
        s.combine([&mut self.d, &mut self.e], matrix, Some((quotients, moduli.digits())));
    }

    /// Fewer digits of `f` and `g` where the highest ones are no more than signs in all lanes.
    #[inline(always)]
    fn shrink(&mut self, mut length: usize) -> usize {
        let s = self.s;
        while length > 1 {
            let numbers = [&mut self.f, &mut self.g];
            let [f, g] = [is_sign(s, &numbers[0][length - 2..]), is_sign(s, &numbers[1][length - 2..])];
            if !is_everywhere(s, s.both(f, g)) {
                break;
            }
            for number in numbers {
                let sign = s.shl(number[length - 1], s.splat(S::DIGIT_BITS as u64));
                number[length - 2] = s.or(number[length - 2], sign);
                number[length - 1] = s.zero();
            }
            length -= 1;
        }
        length
    }

    /// Replaces `f` by its absolute value; returns the lanes that were negative.
    #[inline(always)]
    fn make_positive(&mut self, length: usize) -> S::Mask {
        let s = self.s;
        let f = &mut self.f[..length];
        let negative = s.is_negative(f[length - 1]);
        for f in &mut *f {
            *f = s.select(negative, s.sub(s.zero(), *f), *f);
        }
        s.carry_up_signed(f, s.zero());
        negative
    }

    /// `d` modulo `m`, of `−d` in these lanes.
    fn reduce(&mut self, moduli: &Moduli<S>, negative: S::Mask) {
        let (s, n) = (self.s, self.f.len());
        // Above the magnitude of all cofactors, over m.
        let most = (batches::<S>(n) / 2 + 2).next_power_of_two();
        let mut multiple = vec![s.zero(); n + 1];
        let mut raise = |by: usize| {
            Distances::new(s, &[by; MAX_LANES]).up(moduli.digits(), &mut multiple);
            multiple.clone()
        };
        let more = raise(most.ilog2() as usize);
        s.vectorize(
            #[inline(always)]
            || {
                for (d, more) in self.d.iter_mut().zip(&more) {
                    *d = s.add(s.select(negative, s.sub(s.zero(), *d), *d), *more);
                }
                s.carry_up_signed(&mut self.d, s.zero());
            },
        );
        for by in (0..=most.ilog2() as usize).rev() {
            subtract_if_not_less(s, &mut self.d, &raise(by));
        }
    }
}

/// The multiple of the modulus that makes the lowest digit zero.
#[inline(always)]
fn quotient<S: Simd>(s: S, matrix: &Matrix<S>, row: usize, [d, e]: [S::Vector; 2], inverse: S::Vector) -> S::Signed {
    let [u, v] = matrix.integers[row];
    let column = s.add(s.low_digit(u, d), s.low_digit(v, e));
    let quotient = s.low_digit(column, inverse);
    // The upper half stands for negative ones.
    let half = s.splat(1 << (S::DIGIT_BITS - 1));
    s.signed_factor(s.sub(quotient, s.shl(s.and(quotient, half), s.splat(1))))
}

/// The lanes where the second digit is the sign of the first one and nothing else.
#[inline(always)]
fn is_sign<S: Simd>(s: S, digits: &[S::Vector]) -> S::Mask {
    let bit = s.shr(s.digit(digits[0]), s.splat(S::DIGIT_BITS as u64 - 1));
    s.equal(s.add(digits[1], bit), s.zero())
}

/// Is the mask set in all lanes?
#[inline(always)]
fn is_everywhere<S: Simd>(s: S, mask: S::Mask) -> bool {
    !s.any(s.except(s.mask(u8::MAX), mask))
}

/// Two numbers multiplied by the matrix, over `x`: `(u·f + v·g)/x` and `(q·f + r·g)/x`, both with a multiple of the modulus if there
/// is one.
#[inline(always)]
pub(crate) fn combine<S: Simd>(
    s: S,
    [f, g]: [&mut [S::Vector]; 2],
    matrix: &Matrix<S>,
    multiples: Option<Multiples<'_, S>>,
) {
    let zero = s.zero();
    let top = f.len() - 1;
    // Digits of signed numbers: the highest one is a digit and a sign.
    let signs = [s.is_negative(f[top]), s.is_negative(g[top])];
    (f[top], g[top]) = (s.digit(f[top]), s.digit(g[top]));
    let mut columns = [[zero; 2]; 2];
    for k in 0..=top {
        let digits = [s.digit_factor(f[k]), s.digit_factor(g[k])];
        let mut carries = [zero; 2];
        for ((row, columns), carry) in matrix.factors.iter().zip(&mut columns).zip(&mut carries) {
            // The carry comes last: the products do not wait for it.
            (*carry, columns[0]) = (columns[0], zero);
            for (entry, digit) in row.iter().zip(digits) {
                *columns = s.mul_signed(*columns, *entry, digit);
            }
        }
        if let Some((quotients, modulus)) = multiples
            && k < modulus.len()
        {
            let digit = s.digit_factor(modulus[k]);
            for (quotient, columns) in quotients.iter().zip(&mut columns) {
                *columns = s.mul_signed(*columns, *quotient, digit);
            }
        }
        for (columns, carry) in columns.iter_mut().zip(carries) {
            columns[0] = s.add(columns[0], carry);
        }
        if k > 0 {
            (f[k - 1], g[k - 1]) = (s.digit(columns[0][0]), s.digit(columns[1][0]));
        }
        for [low, high] in &mut columns {
            (*low, *high) = (s.add(*high, s.signed_carry(*low)), zero);
        }
    }
    for (row, columns) in matrix.integers.iter().zip(&mut columns) {
        for (entry, sign) in row.iter().zip(signs) {
            columns[0] = s.sub_where(sign, columns[0], *entry);
        }
    }
    (f[top], g[top]) = (columns[0][0], columns[1][0]);
}
