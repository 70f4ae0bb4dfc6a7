//! Ways into Montgomery's form: `R mod m` and `a·R mod m` for the bases `a` of powers.

use warpmp_simd::division::{self, Divisors};
use warpmp_simd::montgomery::Moduli;
use warpmp_simd::product::add_to;
use warpmp_simd::{Ifma, MAX_LANES, Simd};

/// A way into Montgomery's form.
pub(super) trait Forms<S: Simd> {
    /// For moduli and bases of so many limbs.
    fn new(s: S, modulus: usize, base: usize) -> Self;

    /// `one = R mod m`, `residue = base·R mod m`, below `2m`; `bits` are the bits of the moduli.
    fn enter(
        &mut self,
        moduli: &Moduli<S>,
        bits: &[usize; MAX_LANES],
        base: &[S::Vector],
        one: &mut [S::Vector],
        residue: &mut [S::Vector],
    );
}

/// By two long divisions.
pub(super) struct ByDivision {
    s: Ifma,
    divisors: Divisors,
    dividend: Vec<<Ifma as Simd>::Vector>,
    quotients: Vec<<Ifma as Simd>::Vector>,
    rest: Vec<<Ifma as Simd>::Vector>,
    /// Bits of a base.
    base_bits: usize,
}

impl Forms<Ifma> for ByDivision {
    fn new(s: Ifma, modulus: usize, base: usize) -> Self {
        let divisors = Divisors::new(s, division::count(modulus));
        Self { s, divisors, dividend: Vec::new(), quotients: Vec::new(), rest: Vec::new(), base_bits: 32 * base }
    }

    fn enter(
        &mut self,
        moduli: &Moduli<Ifma>,
        bits: &[usize; MAX_LANES],
        base: &[<Ifma as Simd>::Vector],
        one: &mut [<Ifma as Simd>::Vector],
        residue: &mut [<Ifma as Simd>::Vector],
    ) {
        let (s, n) = (self.s, one.len());
        let radix_bits = Ifma::DIGIT_BITS * n;
        self.divisors.set(moduli.digits(), bits);
        let longest = (radix_bits + self.base_bits).max(radix_bits + 1);
        let (above, steps) = self.divisors.digits(longest);
        self.quotients.resize(steps, s.zero());
        self.rest.resize(above, s.zero());
        self.dividend.resize(n + base.len(), s.zero());
        self.dividend[..n].fill(s.zero());
        self.dividend[n..].copy_from_slice(base);
        let length = self.divisors.divide(&self.dividend, longest, &mut self.quotients, &mut self.rest);
        put(s, &self.rest[..length], residue);
        self.dividend[n] = s.splat(1);
        let length = self.divisors.divide(&self.dividend[..=n], radix_bits + 1, &mut self.quotients, &mut self.rest);
        put(s, &self.rest[..length], one);
    }
}

/// By doubling: without a division.
pub(super) struct ByDoubling<S: Simd> {
    s: S,
    square: Vec<S::Vector>,
    part: Vec<S::Vector>,
    scratch: Vec<S::Vector>,
}

impl<S: Simd> Forms<S> for ByDoubling<S> {
    fn new(s: S, modulus: usize, _: usize) -> Self {
        let n = warpmp_simd::montgomery::count::<S>(modulus);
        let number = || vec![s.zero(); n];
        Self { s, square: number(), part: number(), scratch: vec![s.zero(); n + Moduli::<S>::scratch(n)] }
    }

    fn enter(
        &mut self,
        moduli: &Moduli<S>,
        bits: &[usize; MAX_LANES],
        base: &[S::Vector],
        one: &mut [S::Vector],
        residue: &mut [S::Vector],
    ) {
        let (s, n) = (self.s, one.len());
        moduli.radix(bits, one);
        moduli.radix_square(one, &mut self.square, &mut self.scratch);
        residue.fill(s.zero());
        // The base is Σ partᵢ·Rⁱ, taken from the top.
        for part in base.chunks(n).rev() {
            put(s, part, &mut self.part);
            let (product, scratch) = self.scratch.split_at_mut(n);
            moduli.multiply(&self.part, &self.square, product, scratch);
            self.part.copy_from_slice(product);
            moduli.multiply(residue, &self.square, product, scratch);
            residue.copy_from_slice(product);
            moduli.reduce(residue);
            moduli.reduce(&mut self.part);
            add_to(s, residue, &self.part);
        }
    }
}

/// Digits into as many or more.
fn put<S: Simd>(s: S, from: &[S::Vector], to: &mut [S::Vector]) {
    let (below, above) = to.split_at_mut(from.len());
    below.copy_from_slice(from);
    above.fill(s.zero());
}
