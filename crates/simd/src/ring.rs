//! Residues of several lanes modulo one odd modulus each, with lazy sums: for formulas that add, subtract and multiply.
//!
//! computes   in Montgomery's form with `R = x^n` for `n` digits, `x = 2^DIGIT_BITS`, `R ≥ 16m`
//!
//! bound: a *residue* is below `2m`, a *sum* (the result of [`Ring::add`] and [`Ring::sub`] on residues) below `4m`. Factors are
//! residues or sums: `t = a·b < 16m²` gives `(t + q·m)/R < (16m² + R·m)/R ≤ 2m`, a residue. No sum is a term of a sum.
//! source: Montgomery 1985; the lazy bound as in Walter 1999, with two bits more.

use crate::digits;
use crate::montgomery::Moduli;
use crate::product::{add_to, equal, subtract_if_not_less};
use crate::simd::{MAX_LANES, Simd};

/// A modulus for each lane, and the memory for products.
#[derive(Clone, Debug)]
pub struct Ring<S: Simd> {
    s: S,
    moduli: Moduli<S>,
    /// `2m`: differences stay positive.
    twice: Vec<S::Vector>,
    /// `R² mod m`: the way into Montgomery's form.
    square: Vec<S::Vector>,
    words: Vec<S::Vector>,
    scratch: Vec<S::Vector>,
}

impl<S: Simd> Ring<S> {
    /// Digits of a residue for moduli of this many bits.
    pub const fn digits(bits: usize) -> usize {
        (bits + 4).div_ceil(S::DIGIT_BITS)
    }

    /// The longest moduli in bits.
    pub const MOST_BITS: usize = (S::MAX_DIGITS * S::DIGIT_BITS).saturating_sub(4);

    /// The bits of `R` for moduli of at most `bits` bits.
    pub const fn radix_bits(bits: usize) -> usize {
        Self::digits(bits) * S::DIGIT_BITS
    }

    /// A ring for odd moduli of at most `bits` bits, one in each lane. `squares` are `R² mod m`.
    ///
    /// Lanes without rows compute nothing of use.
    pub fn new(s: S, bits: usize, moduli: &[&[u32]], squares: &[&[u32]]) -> Self {
        let n = Self::digits(bits);
        let limbs = bits.div_ceil(32);
        let mut ring = Self {
            s,
            moduli: Moduli::new(s, n),
            twice: vec![s.zero(); n],
            square: vec![s.zero(); n],
            words: vec![s.zero(); digits::words::<S>(limbs.max(digits::count::<S>(limbs) * S::DIGIT_BITS / 32 + 2))],
            scratch: vec![s.zero(); Moduli::<S>::scratch(n)],
        };
        let mut m = ring.load(moduli);
        ring.moduli.set(&m);
        ring.square = ring.load(squares);
        let copy = m.clone();
        add_to(s, &mut m, &copy);
        ring.twice = m;
        ring
    }

    /// Zero.
    pub fn zero(&self) -> Vec<S::Vector> {
        vec![self.s.zero(); self.twice.len()]
    }

    /// A number of each lane as digits. Missing rows are zero.
    fn load(&mut self, rows: &[&[u32]]) -> Vec<S::Vector> {
        let mut all = [&[][..]; MAX_LANES];
        for (all, row) in all.iter_mut().zip(rows) {
            *all = row;
        }
        let mut loaded = self.zero();
        digits::load(self.s, &all, &mut self.words, &mut loaded);
        loaded
    }

    /// Numbers below the moduli as residues in Montgomery's form.
    pub fn enter(&mut self, rows: &[&[u32]]) -> Vec<S::Vector> {
        let plain = self.load(rows);
        let mut residue = self.zero();
        self.moduli.multiply(&plain, &self.square, &mut residue, &mut self.scratch);
        residue
    }

    /// A factor out of Montgomery's form, below the modulus, as consecutive rows of `limbs` limbs.
    pub fn leave(&mut self, x: &[S::Vector], rows: &mut [u32], limbs: usize) {
        let mut one = self.zero();
        one[0] = self.s.splat(1);
        let mut plain = self.zero();
        self.moduli.multiply(x, &one, &mut plain, &mut self.scratch);
        self.moduli.reduce(&mut plain);
        digits::store(self.s, &plain, &mut self.words, rows, limbs);
    }

    /// The lanes, one bit each, in which two factors are the same residue.
    pub fn same(&mut self, a: &[S::Vector], b: &[S::Vector]) -> u8 {
        let mut one = self.zero();
        one[0] = self.s.splat(1);
        let [a, b] = [a, b].map(|x| {
            let mut plain = self.zero();
            self.moduli.multiply(x, &one, &mut plain, &mut self.scratch);
            self.moduli.reduce(&mut plain);
            plain
        });
        self.s.lanes(equal(self.s, &a, &b))
    }

    /// `c = a·b` of factors: a residue.
    pub fn mul(&mut self, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
        self.moduli.multiply(a, b, c, &mut self.scratch);
    }

    /// `x ← x²` of a factor: a residue.
    pub fn square(&mut self, x: &mut [S::Vector]) {
        self.moduli.square(x, &mut self.scratch);
    }

    /// `c = a + b` of residues: a sum.
    pub fn add(&self, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
                    *c = s.add(*a, *b);
                }
                s.carry_up_signed(c, s.zero());
            },
        );
    }

    /// `c = a − b` of residues: a sum.
    pub fn sub(&self, a: &[S::Vector], b: &[S::Vector], c: &mut [S::Vector]) {
        let s = self.s;
        s.vectorize(
            #[inline(always)]
            || {
                for (c, ((a, b), twice)) in c.iter_mut().zip(a.iter().zip(b).zip(&self.twice)) {
                    *c = s.sub(s.add(*a, *twice), *b);
                }
                s.carry_up_signed(c, s.zero());
            },
        );
    }

    /// A sum becomes a residue.
    pub fn fold(&self, x: &mut [S::Vector]) {
        subtract_if_not_less(self.s, x, &self.twice);
    }
}
