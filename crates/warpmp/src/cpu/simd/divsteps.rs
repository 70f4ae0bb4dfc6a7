//! Greatest common divisors and inverses of eight lanes at once, by division steps.
//!
//! computes   `gcd(f, g)` for odd `f`; with `a = g` also `d` with `a·d = ±gcd mod m`, `m = f`
//! cost       about `2.1·b/52` batches for numbers of `b` bits: 52 steps of 19 instructions on one word, then `18n`
//!            instructions, with inverses `64n`, for `n` digits
//!
//! A batch of steps looks at the lowest digits alone. It gives a matrix, by which the numbers are multiplied, and the
//! products' lowest digits are zeros. Numbers are two's complements: their highest digit has a sign. The cofactors
//! `d`, `e` are residues modulo `m`; a negative entry multiplies `m − d` in place of `d`, and a multiple of `m` makes the
//! lowest digit zero.
//!
//! bound: the sum of a row's entries is at most `2^52` in magnitude. One may be `2^52` itself, of `f`'s row and beside a
//! zero: it has a row of its own. So numbers never exceed the larger one at the beginning, and cofactors are below
//! `(2^52·m + (2^52 − 1)·m)/2^52 < 2m` before one subtraction. A column is a sum of six halves of products, three digits
//! and a carry. After `(49b + 80)/17` steps `g` is zero.
//! source: Bernstein and Yang 2019, with Wuille's starting value (`libsecp256k1`, 2021).

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_cmplt_epi64_mask,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_add_epi64, _mm512_mask_mov_epi64, _mm512_mask_sub_epi64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srai_epi64, _mm512_srli_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask,
};

use super::DIGIT_BITS;
use super::digits::MASK;
use super::montgomery::Moduli;

const DIGIT: u32 = DIGIT_BITS as u32;

/// What a batch of steps does: `f ← (u·f + v·g)/2^52`, `g ← (q·f + r·g)/2^52`.
struct Matrix {
    f: [Entry; 2],
    g: [Entry; 2],
}

/// An entry of the matrix.
struct Entry {
    /// Modulo `2^52`.
    word: __m512i,
    magnitude: __m512i,
    negative: u8,
    /// Lanes where it is `2^52`, and where it is so in magnitude.
    over: u8,
    over_magnitude: u8,
}

impl Entry {
    #[target_feature(enable = "avx512f")]
    fn new(entry: __m512i) -> Self {
        let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
        let negative = _mm512_cmplt_epi64_mask(entry, zero);
        let magnitude = _mm512_mask_sub_epi64(entry, negative, zero, entry);
        let over_magnitude = _mm512_cmpeq_epi64_mask(magnitude, _mm512_set1_epi64(1 << DIGIT_BITS));
        Self {
            word: _mm512_and_si512(entry, mask),
            magnitude: _mm512_and_si512(magnitude, mask),
            negative,
            over: over_magnitude & !negative,
            over_magnitude,
        }
    }
}

/// 52 steps on the lowest digits; `zeta` is `−δ − 1/2`.
#[target_feature(enable = "avx512f")]
fn batch(f: __m512i, g: __m512i, zeta: &mut __m512i) -> Matrix {
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    let (mut f, mut g) = (f, g);
    let (mut u, mut v, mut q, mut r) = (one, zero, zero, one);
    for _ in 0..DIGIT_BITS {
        let odd = _mm512_test_epi64_mask(g, one);
        let swap = _mm512_cmplt_epi64_mask(*zeta, zero) & odd;
        let plus = odd & !swap;
        g = _mm512_mask_add_epi64(_mm512_mask_sub_epi64(g, swap, g, f), plus, g, f);
        q = _mm512_mask_add_epi64(_mm512_mask_sub_epi64(q, swap, q, u), plus, q, u);
        r = _mm512_mask_add_epi64(_mm512_mask_sub_epi64(r, swap, r, v), plus, r, v);
        let next = _mm512_sub_epi64(*zeta, one);
        *zeta = _mm512_mask_sub_epi64(next, swap, _mm512_set1_epi64(-2), *zeta);
        f = _mm512_mask_add_epi64(f, swap, f, g);
        u = _mm512_mask_add_epi64(u, swap, u, q);
        v = _mm512_mask_add_epi64(v, swap, v, r);
        g = _mm512_srai_epi64::<1>(g);
        u = _mm512_slli_epi64::<1>(u);
        v = _mm512_slli_epi64::<1>(v);
    }
    Matrix { f: [Entry::new(u), Entry::new(v)], g: [Entry::new(q), Entry::new(r)] }
}

/// Eight pairs of numbers, and cofactors where an inverse is wanted.
pub(super) struct Pairs {
    pub(super) f: Vec<__m512i>,
    pub(super) g: Vec<__m512i>,
    pub(super) d: Vec<__m512i>,
    pub(super) e: Vec<__m512i>,
    minus_d: Vec<__m512i>,
    minus_e: Vec<__m512i>,
}

impl Pairs {
    /// Memory for numbers of so many digits, two bits of which are free.
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(digits: usize) -> Self {
        let number = || vec![_mm512_setzero_si512(); digits];
        Self { f: number(), g: number(), d: number(), e: number(), minus_d: number(), minus_e: number() }
    }

    /// Steps until all `g` are zero; `f` is then the divisor or its negative. With moduli, `d` and `e` follow.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn run(&mut self, moduli: Option<&Moduli>) {
        let n = self.f.len();
        let zero = _mm512_setzero_si512();
        let mut zeta = _mm512_set1_epi64(-1);
        for _ in 0..=(3 * DIGIT_BITS * n + 80) / DIGIT_BITS {
            let any = self.g.iter().fold(zero, |any, g| _mm512_or_si512(any, *g));
            if _mm512_test_epi64_mask(any, any) == 0 {
                return;
            }
            let matrix = batch(self.f[0], self.g[0], &mut zeta);
            update(&mut self.f, &mut self.g, &matrix);
            if let Some(moduli) = moduli {
                self.follow(moduli, &matrix);
            }
        }
    }

    /// `d` and `e` multiplied by the matrix, over `2^52`, modulo `m`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn follow(&mut self, moduli: &Moduli, matrix: &Matrix) {
        let m = moduli.digits();
        difference(m, &self.d, &mut self.minus_d);
        difference(m, &self.e, &mut self.minus_e);
        let zero = _mm512_setzero_si512();
        let digits = |it: &Self, k: usize| [[it.d[k], it.minus_d[k]], [it.e[k], it.minus_e[k]]];
        let mut rows = [ResidueRow::new(&matrix.f), ResidueRow::new(&matrix.g)];
        for row in &mut rows {
            row.choose_quotient(digits(self, 0), moduli.inverse());
        }
        for (k, m) in m.iter().enumerate() {
            let digits = digits(self, k);
            let [d, e] = [rows[0].digit(digits, *m), rows[1].digit(digits, *m)];
            if k > 0 {
                (self.d[k - 1], self.e[k - 1]) = (d, e);
            }
        }
        let top = m.len() - 1;
        let [d, e] = [rows[0].digit([[zero; 2]; 2], zero), rows[1].digit([[zero; 2]; 2], zero)];
        (self.d[top], self.e[top]) = (d, e);
        moduli.reduce(&mut self.d);
        moduli.reduce(&mut self.e);
    }

    /// The absolute values of `f` in place of `f`; the lanes that were negative.
    #[target_feature(enable = "avx512f")]
    pub(super) fn make_positive(&mut self) -> u8 {
        let (zero, mask) = (_mm512_setzero_si512(), _mm512_set1_epi64(MASK));
        let negative = _mm512_cmplt_epi64_mask(self.f[self.f.len() - 1], zero);
        let mut carry = zero;
        for f in &mut self.f {
            let digit = _mm512_add_epi64(_mm512_mask_sub_epi64(*f, negative, zero, *f), carry);
            carry = _mm512_srai_epi64::<DIGIT>(digit);
            *f = _mm512_and_si512(digit, mask);
        }
        negative
    }

    /// `d` for positive `f`: `m − d` in these lanes.
    #[target_feature(enable = "avx512f")]
    pub(super) fn negate_cofactor(&mut self, moduli: &Moduli, lanes: u8) {
        difference(moduli.digits(), &self.d, &mut self.minus_d);
        for (d, minus) in self.d.iter_mut().zip(&self.minus_d) {
            *d = _mm512_mask_mov_epi64(*d, lanes, *minus);
        }
        moduli.reduce(&mut self.d);
    }
}

/// `f` and `g` multiplied by the matrix, over `2^52`.
#[target_feature(enable = "avx512f,avx512ifma")]
fn update(f: &mut [__m512i], g: &mut [__m512i], matrix: &Matrix) {
    let mask = _mm512_set1_epi64(MASK);
    let mut rows = [SignedRow::new(&matrix.f), SignedRow::new(&matrix.g)];
    for k in 0..f.len() {
        let digits = [f[k], g[k]];
        let columns = [rows[0].column(digits), rows[1].column(digits)];
        if k > 0 {
            (f[k - 1], g[k - 1]) = (_mm512_and_si512(columns[0], mask), _mm512_and_si512(columns[1], mask));
        }
    }
    // The highest digits have the signs.
    let top = f.len() - 1;
    (f[top], g[top]) = (rows[0].top(), rows[1].top());
}

/// A row of the matrix by two's complements, from the lowest digits up.
struct SignedRow<'m> {
    entries: &'m [Entry; 2],
    /// The digits below.
    below: [__m512i; 2],
    /// Upper halves of products with them, and what the columns below carry.
    upper: __m512i,
    carry: __m512i,
}

impl<'m> SignedRow<'m> {
    #[target_feature(enable = "avx512f")]
    fn new(entries: &'m [Entry; 2]) -> Self {
        let zero = _mm512_setzero_si512();
        Self { entries, below: [zero; 2], upper: zero, carry: zero }
    }

    /// The next column; what leaves its 52 bits is carried.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn column(&mut self, digits: [__m512i; 2]) -> __m512i {
        let mut column = self.rest();
        self.upper = _mm512_setzero_si512();
        for (entry, digit) in self.entries.iter().zip(digits) {
            column = _mm512_madd52lo_epu64(column, entry.word, digit);
            self.upper = _mm512_madd52hi_epu64(self.upper, entry.word, digit);
        }
        self.below = digits;
        self.carry = _mm512_srai_epi64::<DIGIT>(column);
        column
    }

    /// What comes from the digits below: an entry is its word, less `2^52` if it is negative.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rest(&self) -> __m512i {
        let mut column = _mm512_add_epi64(self.carry, self.upper);
        for (entry, below) in self.entries.iter().zip(self.below) {
            column = _mm512_mask_sub_epi64(column, entry.negative, column, below);
            if entry.over != 0 {
                column = _mm512_mask_add_epi64(column, entry.over, column, below);
            }
        }
        column
    }

    /// The column above the highest digits; a digit that is negative was taken for `2^52` more.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn top(&self) -> __m512i {
        let mut column = self.rest();
        for (entry, below) in self.entries.iter().zip(self.below) {
            let negative = _mm512_cmplt_epi64_mask(below, _mm512_setzero_si512());
            column = _mm512_mask_sub_epi64(column, negative, column, entry.word);
        }
        column
    }
}

/// A row of the matrix by residues, with a multiple of the modulus that makes the lowest digit zero.
struct ResidueRow<'m> {
    entries: &'m [Entry; 2],
    quotient: __m512i,
    below: [__m512i; 2],
    /// Upper halves of products with the digits below, and their column's carry.
    above: __m512i,
}

impl<'m> ResidueRow<'m> {
    #[target_feature(enable = "avx512f")]
    fn new(entries: &'m [Entry; 2]) -> Self {
        let zero = _mm512_setzero_si512();
        Self { entries, quotient: zero, below: [zero; 2], above: zero }
    }

    /// From the lowest digits, each of a residue and of its negative.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn choose_quotient(&mut self, digits: [[__m512i; 2]; 2], inverse: __m512i) {
        let zero = _mm512_setzero_si512();
        let mut column = zero;
        for (entry, [plus, minus]) in self.entries.iter().zip(digits) {
            column = _mm512_madd52lo_epu64(column, entry.magnitude, _mm512_mask_mov_epi64(plus, entry.negative, minus));
        }
        self.quotient = _mm512_madd52lo_epu64(zero, column, inverse);
    }

    /// The next digit.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn digit(&mut self, digits: [[__m512i; 2]; 2], m: __m512i) -> __m512i {
        let mut column = _mm512_madd52lo_epu64(self.above, self.quotient, m);
        let mut upper = _mm512_madd52hi_epu64(_mm512_setzero_si512(), self.quotient, m);
        for (i, (entry, [plus, minus])) in self.entries.iter().zip(digits).enumerate() {
            let digit = _mm512_mask_mov_epi64(plus, entry.negative, minus);
            column = _mm512_madd52lo_epu64(column, entry.magnitude, digit);
            upper = _mm512_madd52hi_epu64(upper, entry.magnitude, digit);
            if entry.over_magnitude != 0 {
                column = _mm512_mask_add_epi64(column, entry.over_magnitude, column, self.below[i]);
                self.below[i] = digit;
            }
        }
        self.above = _mm512_add_epi64(upper, _mm512_srli_epi64::<DIGIT>(column));
        _mm512_and_si512(column, _mm512_set1_epi64(MASK))
    }
}

/// `c = a − b` for `a ≥ b`, reduced.
#[target_feature(enable = "avx512f")]
fn difference(a: &[__m512i], b: &[__m512i], c: &mut [__m512i]) {
    let mask = _mm512_set1_epi64(MASK);
    let mut borrow = _mm512_setzero_si512();
    for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
        let digit = _mm512_add_epi64(_mm512_sub_epi64(*a, *b), borrow);
        borrow = _mm512_srai_epi64::<DIGIT>(digit);
        *c = _mm512_and_si512(digit, mask);
    }
}
