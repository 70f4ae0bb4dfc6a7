//! Greatest common divisors with cofactors, of a group of lanes at once.
//!
//! computes   `g = gcd(a, b)`, the least `x ≥ 0` with `a·x + b·y = g`, and `y`
//! cost       an inverse, a product and a division; where a lane has `g > 1`, also divisions by `g`
//!
//! Common factors of two are taken out first. Then one number is odd, `m`; let `o` be the other one. Division steps give `d`
//! with `o·d = g` modulo `m`. With `m' = m/g`, `o' = o/g`, `d' = d mod m'` and `u = (o·d' − g)/m`: `o·d' − m·u = g`.
//!
//! * If `m` is `b`: `x = d'`, `y = −u`.
//! * If `m` is `a`: `x = −u` and `y = d'` if `u = 0`, else `x = o' − u` and `y = d' − m'`.
//!
//! bound: `0 < d' < m'` makes `0 ≤ u < o·m'/m = o'`: so `x` is below `b/g`, the least one. Lanes with a zero, and lanes where
//! `m` divides `o`, which have `d' = 0`, go to another algorithm.

use warpmp_simd::division::Divisors;
use warpmp_simd::divsteps::Pairs;
use warpmp_simd::montgomery::{self, Moduli};
use warpmp_simd::product;
use warpmp_simd::shift::Distances;
use warpmp_simd::{MAX_LANES, Simd, digits};

use super::super::limbs::clear_above;
use super::super::rows::Piece;
use super::group::twos;
use super::rows;

/// Computes a piece. Lanes that are returned are not done.
pub(super) fn run<S: Simd>(s: S, piece: &mut Piece<'_>) -> Vec<usize> {
    let lanes = piece.lanes();
    let mut memory = Memory::new(s, piece);
    let mut undone = Vec::new();
    for first in (0..lanes).step_by(S::LANES) {
        let other = memory.group(piece, first, S::LANES.min(lanes - first));
        undone.extend((0..MAX_LANES).filter(|lane| other >> lane & 1 == 1).map(|lane| first + lane));
    }
    undone
}

/// Memory for the numbers of a group.
struct Memory<S: Simd> {
    s: S,
    limbs: usize,
    pairs: Pairs<S>,
    moduli: Moduli<S>,
    words: Vec<S::Vector>,
    /// `o`, `o'`, `m'`, `d'` and the divisor.
    other: Vec<S::Vector>,
    other_part: Vec<S::Vector>,
    modulus_part: Vec<S::Vector>,
    cofactor: Vec<S::Vector>,
    divisor: Vec<S::Vector>,
    /// Twice as long: products, quotients, rests.
    product: Vec<S::Vector>,
    quotient: Vec<S::Vector>,
    rest: Vec<S::Vector>,
    scratch: Vec<S::Vector>,
    /// As long as the results.
    x: Vec<S::Vector>,
    y: Vec<S::Vector>,
}

impl<S: Simd> Memory<S> {
    fn new(s: S, piece: &Piece<'_>) -> Self {
        let limbs = piece.operands[0].limbs().max(piece.operands[1].limbs());
        let n = montgomery::count::<S>(limbs);
        let memory = |count: usize| vec![s.zero(); count];
        let number = || memory(n);
        let long = || memory(3 * n + 4);
        Self {
            s,
            limbs,
            pairs: Pairs::new(s, n),
            moduli: Moduli::new(s, n),
            words: memory(digits::words::<S>(limbs + 1)),
            other: number(),
            other_part: number(),
            modulus_part: number(),
            cofactor: number(),
            divisor: number(),
            product: memory(2 * n),
            quotient: long(),
            rest: long(),
            scratch: memory(product::scratch::<S>(n, n)),
            x: memory(n + 1),
            y: memory(n + 1),
        }
    }

    /// Computes a group; returns the lanes, one bit each, that are not done.
    fn group(&mut self, piece: &mut Piece<'_>, first: usize, filled: usize) -> u8 {
        let s = self.s;
        let [a, b] = [0, 1].map(|i| rows(piece.operands[i], first, filled));
        // A short modulus would make the divisions of all lanes longer.
        let harmless = vec![u32::MAX; self.limbs];
        let (mut of_m, mut of_o) = ([&harmless[..]; MAX_LANES], [&[1_u32][..]; MAX_LANES]);
        let (mut common, mut swapped, mut undone) = ([0; MAX_LANES], 0, 0_u8);
        for lane in 0..filled {
            let (Some(p), Some(q)) = (twos(a[lane]), twos(b[lane])) else {
                undone |= 1 << lane;
                continue;
            };
            common[lane] = p.min(q);
            let is_swapped = q > p;
            swapped |= u8::from(is_swapped) << lane;
            (of_m[lane], of_o[lane]) = if is_swapped { (a[lane], b[lane]) } else { (b[lane], a[lane]) };
        }
        digits::load(s, &of_m, &mut self.words, &mut self.pairs.f);
        digits::load(s, &of_o, &mut self.words, &mut self.pairs.g);
        let distances = Distances::new(s, &common);
        distances.down(&mut self.pairs.f);
        distances.down(&mut self.pairs.g);
        self.moduli.set(&self.pairs.f);
        self.other.copy_from_slice(&self.pairs.g);
        self.steps();
        undone |= self.divide_by_divisor();
        self.other_cofactor();
        self.choose(s.mask(swapped));
        let n = self.cofactor.len();
        distances.up(&self.divisor, &mut self.product[..n]);
        for (i, digits) in [&self.product[..n], &self.x, &self.y].into_iter().enumerate() {
            let (limbs, bits) = (piece.results[i].limbs, piece.results[i].bits);
            let out = &mut piece.results[i].words[first * limbs..][..filled * limbs];
            digits::store(s, digits, &mut self.words, out, limbs);
            out.chunks_exact_mut(limbs).for_each(|row| clear_above(row, bits));
        }
        undone & ((1_u16 << filled) - 1) as u8
    }

    /// `g` and `d`.
    fn steps(&mut self) {
        self.pairs.inverses(&self.moduli);
        self.divisor.copy_from_slice(&self.pairs.f);
        self.cofactor.copy_from_slice(&self.pairs.d[..self.divisor.len()]);
    }

    /// `m'`, `o'` and `d'`; returns the lanes where `d'` is zero.
    fn divide_by_divisor(&mut self) -> u8 {
        let (s, n) = (self.s, self.cofactor.len());
        let lengths = lengths(s, &self.divisor);
        let longest = lengths[..S::LANES].iter().copied().max().unwrap_or(1);
        self.modulus_part.copy_from_slice(self.moduli.digits());
        self.other_part.copy_from_slice(&self.other);
        if longest > 1 {
            let number_bits = S::DIGIT_BITS * n;
            let mut by_g = Divisors::new(s, (longest + 1).div_ceil(S::DIGIT_BITS));
            by_g.set(&self.divisor, &lengths);
            for part in [&mut self.modulus_part, &mut self.other_part] {
                // A quotient may have fewer digits than the numbers.
                self.quotient.fill(s.zero());
                by_g.divide(part, number_bits, &mut self.quotient, &mut self.rest);
                part.copy_from_slice(&self.quotient[..n]);
            }
            let mut by_m = Divisors::new(s, n);
            by_m.set(&self.modulus_part, &self::lengths(s, &self.modulus_part));
            by_m.divide(&self.cofactor, number_bits, &mut self.quotient, &mut self.rest);
            self.cofactor.copy_from_slice(&self.rest[..n]);
        }
        let mut any = s.zero();
        s.vectorize(
            #[inline(always)]
            || {
                for digit in &self.cofactor {
                    any = s.or(any, *digit);
                }
            },
        );
        s.lanes(s.equal(any, s.zero()))
    }

    /// `u`, the first digits of the quotient.
    fn other_cofactor(&mut self) {
        let (s, n) = (self.s, self.cofactor.len());
        product::mul(s, &self.other, &self.cofactor, &mut self.product, &mut self.scratch);
        s.vectorize(
            #[inline(always)]
            || {
                for (product, divisor) in self.product.iter_mut().zip(&self.divisor) {
                    *product = s.sub(*product, *divisor);
                }
                // It is negative in lanes that are not done.
                s.carry_up_signed(&mut self.product, s.zero());
                let top = &mut self.product[2 * n - 1];
                *top = s.select(s.is_negative(s.sub(s.splat(S::DIGIT / 2), *top)), s.zero(), *top);
            },
        );
        let mut by_m = Divisors::new(s, n);
        by_m.set(self.moduli.digits(), &lengths(s, self.moduli.digits()));
        self.quotient.fill(s.zero());
        by_m.divide(&self.product, 64 * self.limbs, &mut self.quotient, &mut self.rest);
    }

    /// `x` and `y` from `d'`, `u`, `m'` and `o'`.
    fn choose(&mut self, swapped: S::Mask) {
        let (s, n) = (self.s, self.cofactor.len());
        let u = &self.quotient[..n];
        s.vectorize(
            #[inline(always)]
            || {
                let zero = s.zero();
                let mut any = zero;
                for digit in u {
                    any = s.or(any, *digit);
                }
                let around = s.except(swapped, s.equal(any, zero));
                for (i, u) in u.iter().enumerate() {
                    let swapped_x = s.select(around, s.sub(self.other_part[i], *u), zero);
                    self.x[i] = s.select(swapped, swapped_x, self.cofactor[i]);
                    let swapped_y = s.sub_where(around, self.cofactor[i], self.modulus_part[i]);
                    self.y[i] = s.select(swapped, swapped_y, s.sub(zero, *u));
                }
                (self.x[n], self.y[n]) = (zero, zero);
                s.carry_up_signed(&mut self.x, zero);
                s.carry_up_signed(&mut self.y, zero);
            },
        );
    }
}

/// Bits of the numbers, of zeros 1.
fn lengths<S: Simd>(s: S, digits: &[S::Vector]) -> [usize; MAX_LANES] {
    let mut lengths = [1; MAX_LANES];
    let mut open = S::LANES;
    for (i, digit) in digits.iter().enumerate().rev() {
        for (length, word) in lengths.iter_mut().zip(s.to_words(*digit)).take(S::LANES) {
            if *length == 1 && word > 0 {
                *length = S::DIGIT_BITS * i + 64 - word.leading_zeros() as usize;
                open -= 1;
            }
        }
        if open == 0 {
            break;
        }
    }
    lengths
}
