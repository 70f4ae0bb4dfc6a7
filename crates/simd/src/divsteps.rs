//! Greatest common divisors and inverses by division steps: one pair of numbers for each lane.
//!
//! computes   `gcd(f, g)` for odd `f`; with `a = g` also `d` with `a·d = ±gcd mod m`, `m = f`
//! cost       about `2.1·b/w` batches for numbers of `b` bits and digits of `w` bits: `w` steps of 19 instructions on one word, then
//!            `18n` instructions, with inverses `64n`, for `n` digits
//!
//! A batch of steps looks at the lowest digits alone. It gives a matrix, by which the numbers are multiplied, and the
//! products' lowest digits are zeros. Numbers are two's complements: their highest digit has a sign. The cofactors
//! `d`, `e` are residues modulo `m`; a negative entry multiplies `m − d` in place of `d`, and a multiple of `m` makes the
//! lowest digit zero.
//!
//! bound: the sum of a row's entries is at most `x = 2^w` in magnitude. One may be `x` itself, of `f`'s row and beside a
//! zero: it has a row of its own. So numbers never exceed the larger one at the beginning, and cofactors are below
//! `(x·m + (x − 1)·m)/x < 2m` before one subtraction. A column is a sum of three products, three digits
//! and a carry. After `(49b + 80)/17` steps `g` is zero.
//! source: Bernstein and Yang 2019, with Wuille's starting value (`libsecp256k1`, 2021).

use crate::montgomery::Moduli;
use crate::product::{assign, difference};
use crate::simd::Simd;

/// The effect of a batch of steps: `f ← (u·f + v·g)/x`, `g ← (q·f + r·g)/x`.
struct Matrix<S: Simd> {
    f: [Entry<S>; 2],
    g: [Entry<S>; 2],
}

/// An entry of the matrix.
struct Entry<S: Simd> {
    /// Modulo `x`.
    word: S::Vector,
    magnitude: S::Vector,
    negative: S::Mask,
    /// Lanes where the entry is `x`, and where it is `x` in magnitude.
    over: S::Mask,
    over_magnitude: S::Mask,
}

impl<S: Simd> Entry<S> {
    #[inline(always)]
    fn new(s: S, entry: S::Vector) -> Self {
        let negative = s.is_negative(entry);
        let magnitude = s.select(negative, s.sub(s.zero(), entry), entry);
        let over_magnitude = s.equal(magnitude, s.splat(1 << S::DIGIT_BITS));
        Self {
            word: s.digit(entry),
            magnitude: s.digit(magnitude),
            negative,
            over: s.except(over_magnitude, negative),
            over_magnitude,
        }
    }
}

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
    Matrix { f: [Entry::new(s, u), Entry::new(s, v)], g: [Entry::new(s, q), Entry::new(s, r)] }
}

/// A pair of numbers for each lane, and cofactors where an inverse is wanted.
#[derive(Clone, Debug)]
pub struct Pairs<S: Simd> {
    s: S,
    /// Odd numbers; in the end the greatest common divisors.
    pub f: Vec<S::Vector>,
    /// Numbers; in the end zeros.
    pub g: Vec<S::Vector>,
    /// The cofactors that belong to `f`.
    pub d: Vec<S::Vector>,
    /// The cofactors that belong to `g`.
    pub e: Vec<S::Vector>,
    minus_d: Vec<S::Vector>,
    minus_e: Vec<S::Vector>,
}

impl<S: Simd> Pairs<S> {
    /// Memory for numbers of so many digits, two bits of which are free.
    pub fn new(s: S, digits: usize) -> Self {
        let number = || vec![s.zero(); digits];
        Self { s, f: number(), g: number(), d: number(), e: number(), minus_d: number(), minus_e: number() }
    }

    /// Steps until all `g` are zero; `f` is then the divisor or its negative. With moduli, `d` and `e` follow.
    pub fn run(&mut self, moduli: Option<&Moduli<S>>) {
        let (s, n) = (self.s, self.f.len());
        s.vectorize(
            #[inline(always)]
            || {
                let mut zeta = s.splat(-1_i64 as u64);
                for _ in 0..=(3 * S::DIGIT_BITS * n + 80) / S::DIGIT_BITS {
                    let mut any = s.zero();
                    for g in &self.g {
                        any = s.or(any, *g);
                    }
                    if !s.any(s.except(s.mask(u8::MAX), s.equal(any, s.zero()))) {
                        return;
                    }
                    let matrix = batch(s, self.f[0], self.g[0], &mut zeta);
                    update(s, &mut self.f, &mut self.g, &matrix);
                    if let Some(moduli) = moduli {
                        self.follow(moduli, &matrix);
                    }
                }
            },
        );
    }

    /// `d` and `e` multiplied by the matrix, over `x`, modulo `m`.
    #[inline(always)]
    fn follow(&mut self, moduli: &Moduli<S>, matrix: &Matrix<S>) {
        let (s, m) = (self.s, moduli.digits());
        difference(s, m, &self.d, &mut self.minus_d);
        difference(s, m, &self.e, &mut self.minus_e);
        let mut rows = [ResidueRow::new(s, &matrix.f), ResidueRow::new(s, &matrix.g)];
        for row in &mut rows {
            row.choose_quotient(self.cofactors(0), moduli.inverse());
        }
        for (k, m) in m.iter().enumerate() {
            let digits = self.cofactors(k);
            let [d, e] = [rows[0].digit(digits, *m), rows[1].digit(digits, *m)];
            if k > 0 {
                (self.d[k - 1], self.e[k - 1]) = (d, e);
            }
        }
        let (top, none) = (m.len() - 1, [[s.zero(); 2]; 2]);
        let [d, e] = [rows[0].digit(none, s.zero()), rows[1].digit(none, s.zero())];
        (self.d[top], self.e[top]) = (d, e);
        moduli.reduce(&mut self.d);
        moduli.reduce(&mut self.e);
    }

    /// Digits of `d` and `e`, each beside the digit of its negative.
    #[inline(always)]
    fn cofactors(&self, k: usize) -> [[S::Vector; 2]; 2] {
        [[self.d[k], self.minus_d[k]], [self.e[k], self.minus_e[k]]]
    }

    /// Replaces `f` by its absolute value; returns the lanes that were negative.
    pub fn make_positive(&mut self) -> S::Mask {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                let negative = s.is_negative(self.f[self.f.len() - 1]);
                let mut carry = s.zero();
                for f in &mut self.f {
                    let digit = s.add(s.select(negative, s.sub(s.zero(), *f), *f), carry);
                    carry = s.signed_carry(digit);
                    *f = s.digit(digit);
                }
                negative
            },
        )
    }

    /// `d` for positive `f`: `m − d` in these lanes.
    pub fn negate_cofactor(&mut self, moduli: &Moduli<S>, lanes: S::Mask) {
        difference(self.s, moduli.digits(), &self.d, &mut self.minus_d);
        assign(self.s, lanes, &mut self.d, &self.minus_d);
        moduli.reduce(&mut self.d);
    }
}

/// `f` and `g` multiplied by the matrix, over `x`.
#[inline(always)]
fn update<S: Simd>(s: S, f: &mut [S::Vector], g: &mut [S::Vector], matrix: &Matrix<S>) {
    let mut rows = [SignedRow::new(s, &matrix.f), SignedRow::new(s, &matrix.g)];
    for k in 0..f.len() {
        let digits = [f[k], g[k]];
        let columns = [rows[0].column(digits), rows[1].column(digits)];
        if k > 0 {
            (f[k - 1], g[k - 1]) = (s.digit(columns[0]), s.digit(columns[1]));
        }
    }
    // The highest digits have the signs.
    let top = f.len() - 1;
    (f[top], g[top]) = (rows[0].top(), rows[1].top());
}

/// A row of the matrix by two's complements, from the lowest digits up.
struct SignedRow<'m, S: Simd> {
    s: S,
    entries: &'m [Entry<S>; 2],
    /// The digits below.
    below: [S::Vector; 2],
    /// The parts of products with them that belong here, and the carry of the columns below.
    upper: S::Vector,
    carry: S::Vector,
}

impl<'m, S: Simd> SignedRow<'m, S> {
    #[inline(always)]
    fn new(s: S, entries: &'m [Entry<S>; 2]) -> Self {
        Self { s, entries, below: [s.zero(); 2], upper: s.zero(), carry: s.zero() }
    }

    /// The next column; the bits above its digit are carried.
    #[inline(always)]
    fn column(&mut self, digits: [S::Vector; 2]) -> S::Vector {
        let s = self.s;
        let mut column = self.rest();
        self.upper = s.zero();
        for (entry, digit) in self.entries.iter().zip(digits) {
            let digit = s.factor(digit);
            column = s.mul_low(column, entry.word, digit);
            self.upper = s.mul_high(self.upper, entry.word, digit);
        }
        self.below = digits;
        self.carry = s.signed_carry(column);
        column
    }

    /// The part of a column that comes from the digits below: an entry is its word, less `x` if it is negative.
    #[inline(always)]
    fn rest(&self) -> S::Vector {
        let s = self.s;
        let mut column = s.add(self.carry, self.upper);
        for (entry, below) in self.entries.iter().zip(self.below) {
            column = s.sub_where(entry.negative, column, below);
            if s.any(entry.over) {
                column = s.add_where(entry.over, column, below);
            }
        }
        column
    }

    /// The column above the highest digits; a digit that is negative was taken for `x` more.
    #[inline(always)]
    fn top(&self) -> S::Vector {
        let s = self.s;
        let mut column = self.rest();
        for (entry, below) in self.entries.iter().zip(self.below) {
            column = s.sub_where(s.is_negative(below), column, entry.word);
        }
        column
    }
}

/// A row of the matrix by residues, with a multiple of the modulus that makes the lowest digit zero.
struct ResidueRow<'m, S: Simd> {
    s: S,
    entries: &'m [Entry<S>; 2],
    quotient: S::Vector,
    below: [S::Vector; 2],
    /// The parts of products with the digits below that belong here, and the carry of their column.
    above: S::Vector,
}

impl<'m, S: Simd> ResidueRow<'m, S> {
    #[inline(always)]
    fn new(s: S, entries: &'m [Entry<S>; 2]) -> Self {
        Self { s, entries, quotient: s.zero(), below: [s.zero(); 2], above: s.zero() }
    }

    /// From the lowest digits, each of a residue and of its negative.
    #[inline(always)]
    fn choose_quotient(&mut self, digits: [[S::Vector; 2]; 2], inverse: S::Vector) {
        let s = self.s;
        let mut column = s.zero();
        for (entry, [plus, minus]) in self.entries.iter().zip(digits) {
            column = s.mul_low(column, entry.magnitude, s.select(entry.negative, minus, plus));
        }
        self.quotient = s.low_digit(column, inverse);
    }

    /// The next digit.
    #[inline(always)]
    fn digit(&mut self, digits: [[S::Vector; 2]; 2], m: S::Vector) -> S::Vector {
        let s = self.s;
        let mut column = s.mul_low(self.above, self.quotient, m);
        let mut upper = s.mul_high(s.zero(), self.quotient, m);
        for (i, (entry, [plus, minus])) in self.entries.iter().zip(digits).enumerate() {
            let digit = s.select(entry.negative, minus, plus);
            column = s.mul_low(column, entry.magnitude, digit);
            upper = s.mul_high(upper, entry.magnitude, digit);
            if s.any(entry.over_magnitude) {
                column = s.add_where(entry.over_magnitude, column, self.below[i]);
                self.below[i] = digit;
            }
        }
        self.above = s.add(upper, s.carry(column));
        s.digit(column)
    }
}
