//! Integers modulo one odd prime, kept in registers: the building blocks of a walk on an elliptic curve.
//!
//! computes   products, squares, sums, differences, negatives, powers and inverses modulo `p`, one for each lane
//! requires   `p` odd; `N` digits with 4 spare bits: `R = x^N ≥ 16p`, `x = 2^DIGIT_BITS`; see [`digits`]
//! cost       a product is `2N² + N` digit products, a square from 4 digits on about `1.5N²`
//!
//! A [`Number`] carries its bound in its type: `Number<S, N, 4>` is below `4p`. Sums and differences are not reduced;
//! the compiler checks that their bounds fit, so a formula reduces only where it must.
//!
//! ```
//! use warpmp_simd::{Ifma, Simd, field::{Field, Number}};
//!
//! # fn main() {
//! let Some(s) = Ifma::detect() else { return };
//! // The prime 2^89 − 1 has 89 bits: two digits of 52 bits.
//! let Some(field) = Field::<Ifma, 2>::new(s, &[u32::MAX, u32::MAX, 0x1ff_ffff]) else { return };
//! let third = s.vectorize(
//!     #[inline(always)]
//!     || {
//!         let three = field.constant(&[3]);
//!         let x: Number<Ifma, 2, 3> = field.add(field.square(three), three); // 12, below 3p
//!         let quarter = field.invert(field.mul(x, field.one()));
//!         field.mul(quarter, field.constant(&[4]))
//!     },
//! );
//! let mut rows = [0; 8 * 3];
//! field.store(field.mul(third, field.constant(&[3])), &mut rows, 3);
//! assert_eq!(rows[..3], [1, 0, 0]);
//! # }
//! ```
//!
//! All methods but [`pow`](Field::pow), [`invert`](Field::invert) and [`invert_all`](Field::invert_all) are a few
//! instructions and belong inside [`Simd::vectorize`]: wrap a whole loop, not a product. A product waits for itself most of
//! the time; a loop over several independent numbers keeps the processor busy.
//!
//! bound: a product of numbers below `A·p` and `B·p` is `(a·b + q·p)/R < (A·B·p² + R·p)/R ≤ 2p` for `A·B ≤ 16`. A column gets
//! `2N` products of digits and a carry.
//! source: Montgomery 1985; lazy reduction as in Bernstein, Curve25519, 2006.

use crate::montgomery::negative_inverse;
use crate::simd::Simd;
use crate::{digits as rows, simd::MAX_LANES};

/// Bits of a window of an exponent.
const WINDOW: usize = 4;
/// `R ≥ 2^SPARE_BITS·p`.
const SPARE_BITS: usize = 4;
/// The product of two factors' bounds is at most this.
const MAX_BOUND: usize = 1 << SPARE_BITS;

/// Digits for a modulus of so many bits: the number `N` of [`Field`].
pub const fn digits<S: Simd>(bits: usize) -> usize {
    (bits + SPARE_BITS).div_ceil(S::DIGIT_BITS)
}

/// An integer below `BOUND·p` for each lane, in Montgomery's form: `v` stands for `v/R mod p`. Its digits are reduced.
#[derive(Clone, Copy, Debug)]
pub struct Number<S: Simd, const N: usize, const BOUND: usize>([S::Vector; N]);

impl<S: Simd, const N: usize, const BOUND: usize> Number<S, N, BOUND> {
    /// The number `v` with these digits, least significant first. The caller sees to it that they are reduced and that the number
    /// is below `BOUND·p`.
    #[inline(always)]
    pub const fn from_digits(digits: [S::Vector; N]) -> Self {
        Self(digits)
    }

    /// The digits, least significant first.
    #[inline(always)]
    pub const fn digits(&self) -> &[S::Vector; N] {
        &self.0
    }

    /// The same number under a weaker bound.
    #[inline(always)]
    pub const fn widen<const WIDER: usize>(self) -> Number<S, N, WIDER> {
        const { assert!(BOUND <= WIDER, "the wider bound is smaller") };
        Number(self.0)
    }
}

/// A modulus, the same one for each lane, of `N` digits.
#[derive(Clone, Debug)]
pub struct Field<S: Simd, const N: usize> {
    s: S,
    /// `p`, `2p`, `4p`, `8p`.
    multiples: [[S::Vector; N]; SPARE_BITS],
    /// `−p⁻¹ mod 2^DIGIT_BITS`.
    inverse: S::Vector,
    /// `R mod p` and `R² mod p`.
    one: Number<S, N, 1>,
    square: Number<S, N, 1>,
    /// `p − 2`.
    exponent: Vec<u32>,
}

impl<S: Simd, const N: usize> Field<S, N> {
    /// The field of an odd prime, by its limbs. None if it is even or 1, or if `N` is not the number of its [`digits`].
    ///
    /// Nothing checks that the number is prime. If it is composite, inverses are wrong and all other results are right.
    pub fn new(s: S, p: &[u32]) -> Option<Self> {
        let bits =
            p.iter().rposition(|limb| *limb != 0).map_or(0, |top| 32 * (top + 1) - p[top].leading_zeros() as usize);
        if bits < 2 || p[0] & 1 == 0 || digits::<S>(bits) != N {
            return None;
        }
        let mut exponent = p.to_vec();
        let mut borrow = 2;
        for limb in &mut exponent {
            let (difference, below) = limb.overflowing_sub(borrow);
            (*limb, borrow) = (difference, below.into());
        }
        let p: [S::Vector; N] = splat(s, p);
        let mut field = Self {
            s,
            multiples: [p; SPARE_BITS],
            inverse: s.zero(),
            one: Number([s.zero(); N]),
            square: Number([s.zero(); N]),
            exponent,
        };
        s.vectorize(
            #[inline(always)]
            || field.prepare(),
        );
        Some(field)
    }

    /// Computes everything that depends on `p` alone.
    #[inline(always)]
    fn prepare(&mut self) {
        let s = self.s;
        self.inverse = negative_inverse(s, self.multiples[0][0]);
        for i in 1..SPARE_BITS {
            let below = self.multiples[i - 1];
            self.multiples[i] = sum(s, &below, &below);
        }
        let mut power = Number::<S, N, 1>([s.zero(); N]);
        power.0[0] = s.splat(1);
        for _ in 0..2 {
            for _ in 0..N * S::DIGIT_BITS {
                power = self.canonical(self.add::<1, 1, 2>(power, power));
            }
            (self.one, self.square) = (self.square, power);
        }
    }

    /// The proof that the processor has the instructions.
    pub const fn simd(&self) -> S {
        self.s
    }

    /// 0.
    #[inline(always)]
    pub fn zero(&self) -> Number<S, N, 1> {
        Number([self.s.zero(); N])
    }

    /// 1.
    #[inline(always)]
    pub const fn one(&self) -> Number<S, N, 1> {
        self.one
    }

    /// The same number in every lane, taken modulo `p`.
    ///
    /// # Panics
    /// With a number that has more than `N` digits.
    pub fn constant(&self, limbs: &[u32]) -> Number<S, N, 1> {
        let number = Number::<S, N, MAX_BOUND>(splat(self.s, limbs));
        self.s.vectorize(
            #[inline(always)]
            || self.canonical(self.product(&number.0, &self.square.0)),
        )
    }

    /// One number for each lane from rows of limbs, taken modulo `p`.
    ///
    /// # Panics
    /// With fewer rows than lanes, or with numbers that have more than `N` digits.
    pub fn load(&self, limbs: &[&[u32]]) -> Number<S, N, 1> {
        let s = self.s;
        let longest = limbs[..S::LANES].iter().map(|row| row.len()).max().unwrap_or(0);
        let mut words = vec![s.zero(); rows::words::<S>(longest)];
        let mut all = vec![s.zero(); rows::count::<S>(longest).max(N)];
        rows::load(s, limbs, &mut words, &mut all);
        for above in &all[N..] {
            assert!(
                s.lanes(s.equal(*above, s.zero())).count_ones() as usize == S::LANES,
                "a number of more than {N} digits"
            );
        }
        let number: [S::Vector; N] = std::array::from_fn(|i| all[i]);
        s.vectorize(
            #[inline(always)]
            || self.canonical(self.product(&number, &self.square.0)),
        )
    }

    /// The numbers themselves, below `p`, as consecutive rows of so many limbs: one for each lane or fewer.
    pub fn store<const A: usize>(&self, x: Number<S, N, A>, to: &mut [u32], limbs: usize) {
        const { assert!(A <= MAX_BOUND, "the number is not below R") };
        let s = self.s;
        let number = s.vectorize(
            #[inline(always)]
            || {
                let mut unit = [s.zero(); N];
                unit[0] = s.splat(1);
                self.canonical(self.product(&x.0, &unit))
            },
        );
        let mut words = vec![s.zero(); rows::words::<S>(limbs)];
        rows::store(s, &number.0, &mut words, to, limbs);
    }

    /// Numbers from a table of canonical numbers: digit `i` of entry `j` is `table[i][j]`. Indexes are taken modulo the
    /// table's length.
    ///
    /// # Panics
    /// With a length that is no power of two.
    #[inline(always)]
    pub fn choose(&self, table: &[Vec<u64>; N], indexes: S::Vector) -> Number<S, N, 1> {
        Number(digitwise(
            self.s,
            #[inline(always)]
            |i| self.s.gather(&table[i], indexes),
        ))
    }

    /// `a·b`.
    #[inline(always)]
    pub fn mul<const A: usize, const B: usize>(&self, a: Number<S, N, A>, b: Number<S, N, B>) -> Number<S, N, 2> {
        const { assert!(A * B <= MAX_BOUND, "the factors are too large: reduce one of them") };
        self.product(&a.0, &b.0)
    }

    /// `a²`.
    #[inline(always)]
    pub fn square<const A: usize>(&self, a: Number<S, N, A>) -> Number<S, N, 2> {
        const { assert!(A * A <= MAX_BOUND, "the number is too large: reduce it") };
        // Below 4 digits doubling costs as much as a square saves.
        if N < 4 { self.product(&a.0, &a.0) } else { self.square_columns(&a.0) }
    }

    /// `a + b`, not reduced.
    #[inline(always)]
    pub fn add<const A: usize, const B: usize, const C: usize>(
        &self,
        a: Number<S, N, A>,
        b: Number<S, N, B>,
    ) -> Number<S, N, C> {
        const { assert!(A + B <= C && C <= MAX_BOUND, "the sum's bound is too small, or above R") };
        Number(sum(self.s, &a.0, &b.0))
    }

    /// `a − b`, not reduced: `a + B·p − b`. `B` is 1, 2, 4 or 8.
    #[inline(always)]
    pub fn sub<const A: usize, const B: usize, const C: usize>(
        &self,
        a: Number<S, N, A>,
        b: Number<S, N, B>,
    ) -> Number<S, N, C> {
        const { assert!(B.is_power_of_two() && B < MAX_BOUND, "no multiple of p for this bound") };
        const { assert!(A + B <= C && C <= MAX_BOUND, "the difference's bound is too small, or above R") };
        let (s, p) = (self.s, &self.multiples[B.trailing_zeros() as usize]);
        let mut c = digitwise(
            s,
            #[inline(always)]
            |i| s.add(a.0[i], s.sub(p[i], b.0[i])),
        );
        s.carry_up_signed(&mut c, s.zero());
        Number(c)
    }

    /// `−x` in the lanes of the mask, `x` in the others. `A` is 1, 2, 4 or 8.
    #[inline(always)]
    pub fn negate_where<const A: usize, const C: usize>(&self, lanes: S::Mask, x: Number<S, N, A>) -> Number<S, N, C> {
        // The negative of 0 is A·p, which is not below A·p.
        const { assert!(A.is_power_of_two() && A < C && C <= MAX_BOUND, "the negative's bound is too small, or above R") };
        Number(self.negative(lanes, A.trailing_zeros() as usize, &x.0))
    }

    /// The even one of `x` and `p − x`, and the lanes where it is `p − x`: one number for each pair `x`, `−x`.
    #[inline(always)]
    pub fn make_even(&self, x: Number<S, N, 1>) -> (Number<S, N, 1>, S::Mask) {
        // An odd number is not 0: its negative is below p.
        let odd = self.s.is_odd(x.0[0]);
        (Number(self.negative(odd, 0, &x.0)), odd)
    }

    /// `yes` in the lanes of the mask, `no` in the others.
    #[inline(always)]
    pub fn select<const A: usize>(&self, lanes: S::Mask, yes: Number<S, N, A>, no: Number<S, N, A>) -> Number<S, N, A> {
        Number(digitwise(
            self.s,
            #[inline(always)]
            |i| self.s.select(lanes, yes.0[i], no.0[i]),
        ))
    }

    /// The same number below half of the bound: `A = 2·B`.
    #[inline(always)]
    pub fn reduce<const A: usize, const B: usize>(&self, x: Number<S, N, A>) -> Number<S, N, B> {
        const { assert!(A == 2 * B && A.is_power_of_two() && A <= MAX_BOUND, "one subtraction halves the bound") };
        Number(self.subtract_if_not_less(B.trailing_zeros() as usize, x.0))
    }

    /// The number below `p`.
    #[inline(always)]
    pub fn canonical<const A: usize>(&self, x: Number<S, N, A>) -> Number<S, N, 1> {
        const { assert!(A <= MAX_BOUND, "the number is not below R") };
        let mut x = x.0;
        for i in (0..SPARE_BITS).rev() {
            if A > 1 << i {
                x = self.subtract_if_not_less(i, x);
            }
        }
        Number(x)
    }

    /// `x·digit/2^DIGIT_BITS`, for a digit of at most half of the radix: `2^(DIGIT_BITS − i)` divides by `2^i`. A part
    /// `1/N` of a product.
    ///
    /// bound: `(x·digit + q·p)/2^DIGIT_BITS < 2p/2 + p`.
    #[inline(always)]
    pub fn mul_digit(&self, x: Number<S, N, 2>, digit: S::Vector) -> Number<S, N, 2> {
        let mut columns = [self.s.zero(); N];
        self.row(&mut columns, digit, &x.0);
        carry_up(self.s, &mut columns);
        Number(columns)
    }

    /// The lanes where `a < b`.
    #[inline(always)]
    pub fn below<const A: usize, const B: usize>(&self, a: Number<S, N, A>, b: Number<S, N, B>) -> S::Mask {
        let s = self.s;
        let mut difference: [S::Vector; N] = digitwise(
            s,
            #[inline(always)]
            |i| s.sub(a.0[i], b.0[i]),
        );
        s.is_negative(s.carry_up_signed(&mut difference, s.zero()))
    }

    /// The lanes where two numbers are equal.
    #[inline(always)]
    pub fn equal(&self, a: Number<S, N, 1>, b: Number<S, N, 1>) -> S::Mask {
        let s = self.s;
        let mut lanes = s.equal(a.0[0], b.0[0]);
        for i in 1..N {
            lanes = s.both(lanes, s.equal(a.0[i], b.0[i]));
        }
        lanes
    }

    /// `x^e` for an exponent by its limbs, which is no secret.
    pub fn pow<const A: usize>(&self, x: Number<S, N, A>, e: &[u32]) -> Number<S, N, 2> {
        const { assert!(2 * A <= MAX_BOUND, "the number is too large: reduce it") };
        self.s.vectorize(
            #[inline(always)]
            || {
                let mut table = [self.one.widen::<2>(); 1 << WINDOW];
                for i in 1..table.len() {
                    table[i] = self.mul(table[i - 1], x);
                }
                let mut power = self.one.widen();
                for nibble in e.iter().rev().flat_map(|limb| (0..32 / WINDOW).rev().map(move |i| limb >> (WINDOW * i)))
                {
                    for _ in 0..WINDOW {
                        power = self.square(power);
                    }
                    power = self.mul(power, table[nibble as usize % table.len()]);
                }
                power
            },
        )
    }

    /// `1/x`; 0 for 0.
    ///
    /// source: Fermat: `x^(p − 2)`.
    pub fn invert<const A: usize>(&self, x: Number<S, N, A>) -> Number<S, N, 2> {
        self.pow(x, &self.exponent)
    }

    /// Replaces numbers by their inverses: 3 products a number and one inverse for all. Returns the lanes in which a number is 0;
    /// all results of such a lane are 0.
    ///
    /// source: Montgomery, Speeding the Pollard and elliptic curve methods of factorization, 1987.
    pub fn invert_all(&self, numbers: &mut [Number<S, N, 2>], scratch: &mut Vec<Number<S, N, 2>>) -> u8 {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                scratch.clear();
                let mut product = self.one.widen();
                for x in &*numbers {
                    scratch.push(product);
                    product = self.mul(product, *x);
                }
                let zeros = s.lanes(self.equal(self.canonical(product), self.zero()));
                let mut inverse = self.invert(product);
                for (x, before) in numbers.iter_mut().zip(&*scratch).rev() {
                    let next = self.mul(inverse, *x);
                    *x = self.mul(inverse, *before);
                    inverse = next;
                }
                zeros
            },
        )
    }

    /// `a·b/R`, below `2p`: rows of the product and of the quotient by turns, in `N` columns.
    #[inline(always)]
    fn product(&self, a: &[S::Vector; N], b: &[S::Vector; N]) -> Number<S, N, 2> {
        let mut columns = [self.s.zero(); N];
        for digit in a {
            self.row(&mut columns, *digit, b);
        }
        carry_up(self.s, &mut columns);
        Number(columns)
    }

    /// `low = (low + a·b)/2^DIGIT_BITS` modulo `p`, for one digit `a`.
    #[inline(always)]
    fn row(&self, low: &mut [S::Vector; N], a: S::Vector, b: &[S::Vector; N]) {
        let (s, p) = (self.s, &self.multiples[0]);
        let mut high = [s.zero(); N];
        for j in 0..N {
            low[j] = s.mul_low(low[j], a, b[j]);
            high[j] = s.mul_high(high[j], a, b[j]);
        }
        let q = s.low_digit(low[0], self.inverse);
        for j in 0..N {
            low[j] = s.mul_low(low[j], q, p[j]);
            high[j] = s.mul_high(high[j], q, p[j]);
        }
        // The lowest column is a multiple of the digit's radix: its carry goes on, all columns move down.
        let carry = s.carry(low[0]);
        for j in 1..N {
            low[j - 1] = s.add(low[j], high[j - 1]);
        }
        low[N - 1] = high[N - 1];
        low[0] = s.add(low[0], carry);
    }

    /// `a²/R`, below `2p`: products of different digits once, doubled, then the squares and the quotient's rows.
    #[inline(always)]
    fn square_columns(&self, a: &[S::Vector; N]) -> Number<S, N, 2> {
        let (s, p) = (self.s, &self.multiples[0]);
        let mut t = [[s.zero(); N]; 2];
        let t = t.as_flattened_mut();
        for i in 0..N {
            for j in i + 1..N {
                t[i + j] = s.mul_low(t[i + j], a[i], a[j]);
                t[i + j + 1] = s.mul_high(t[i + j + 1], a[i], a[j]);
            }
        }
        for i in 0..N {
            (t[2 * i], t[2 * i + 1]) = (s.add(t[2 * i], t[2 * i]), s.add(t[2 * i + 1], t[2 * i + 1]));
            t[2 * i] = s.mul_low(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = s.mul_high(t[2 * i + 1], a[i], a[i]);
        }
        for i in 0..N {
            let q = s.low_digit(t[i], self.inverse);
            for j in 0..N {
                t[i + j] = s.mul_low(t[i + j], q, p[j]);
                t[i + j + 1] = s.mul_high(t[i + j + 1], q, p[j]);
            }
            t[i + 1] = s.add(t[i + 1], s.carry(t[i]));
        }
        let mut square = digitwise(
            s,
            #[inline(always)]
            |i| t[N + i],
        );
        carry_up(s, &mut square);
        Number(square)
    }

    /// `2^i·p − x` in the lanes of the mask, `x` in the others.
    #[inline(always)]
    fn negative(&self, lanes: S::Mask, i: usize, x: &[S::Vector; N]) -> [S::Vector; N] {
        let (s, p) = (self.s, &self.multiples[i]);
        let mut negative = digitwise(
            s,
            #[inline(always)]
            |i| s.select(lanes, s.sub(p[i], x[i]), x[i]),
        );
        s.carry_up_signed(&mut negative, s.zero());
        negative
    }

    /// `x − 2^i·p` in the lanes where that is not negative, `x` in the others.
    #[inline(always)]
    fn subtract_if_not_less(&self, i: usize, x: [S::Vector; N]) -> [S::Vector; N] {
        let (s, p) = (self.s, &self.multiples[i]);
        let mut difference: [S::Vector; N] = digitwise(
            s,
            #[inline(always)]
            |i| s.sub(x[i], p[i]),
        );
        let less = s.is_negative(s.carry_up_signed(&mut difference, s.zero()));
        digitwise(
            s,
            #[inline(always)]
            |i| s.select(less, x[i], difference[i]),
        )
    }
}

/// A vector for each digit. The compiler does not inline `std::array::from_fn` and chains of iterators into code with more
/// instructions: their closures would be compiled without these, as calls.
#[inline(always)]
fn digitwise<S: Simd, const N: usize>(s: S, digit: impl Fn(usize) -> S::Vector) -> [S::Vector; N] {
    let mut digits = [s.zero(); N];
    for (i, place) in digits.iter_mut().enumerate() {
        *place = digit(i);
    }
    digits
}

/// The sum of two numbers that has no more digits than they have.
#[inline(always)]
fn sum<S: Simd, const N: usize>(s: S, a: &[S::Vector; N], b: &[S::Vector; N]) -> [S::Vector; N] {
    let mut c = digitwise(
        s,
        #[inline(always)]
        |i| s.add(a[i], b[i]),
    );
    carry_up(s, &mut c);
    c
}

/// Carries columns up; nothing leaves the highest digit.
#[inline(always)]
fn carry_up<S: Simd, const N: usize>(s: S, columns: &mut [S::Vector; N]) {
    let mut carry = s.zero();
    for column in columns {
        let sum = s.add(*column, carry);
        carry = s.carry(sum);
        *column = s.digit(sum);
    }
}

/// The digits of one number in every lane.
///
/// # Panics
/// With a number of more than `N` digits.
fn splat<S: Simd, const N: usize>(s: S, limbs: &[u32]) -> [S::Vector; N] {
    let limb = |i: usize| u64::from(limbs.get(i).copied().unwrap_or(0));
    let digit = |i: usize| {
        let (first, shift) = (i * S::DIGIT_BITS / 32, i * S::DIGIT_BITS % 32);
        let bits = u128::from(limb(first) | limb(first + 1) << 32) | u128::from(limb(first + 2)) << 64;
        (bits >> shift) as u64 & S::DIGIT
    };
    assert!((N..rows::count::<S>(limbs.len())).all(|i| digit(i) == 0), "a number of more than {N} digits");
    std::array::from_fn(|i| s.from_words([digit(i); MAX_LANES]))
}
