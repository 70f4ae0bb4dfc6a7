//! The way into Montgomery's form by two long divisions: `R mod m`, and `a·R mod m` for the bases `a` of powers.

use warpmp_simd::division::{self, Divisors};
use warpmp_simd::montgomery::Moduli;
use warpmp_simd::{MAX_LANES, Simd};

/// Memory for the divisions.
pub(super) struct Forms<S: Simd> {
    s: S,
    divisors: Divisors<S>,
    dividend: Vec<S::Vector>,
    quotients: Vec<S::Vector>,
    rest: Vec<S::Vector>,
    /// Bits of a base.
    base_bits: usize,
}

impl<S: Simd> Forms<S> {
    /// For moduli and bases of so many limbs.
    pub(super) fn new(s: S, modulus: usize, base: usize) -> Self {
        let divisors = Divisors::new(s, division::count::<S>(modulus));
        Self { s, divisors, dividend: Vec::new(), quotients: Vec::new(), rest: Vec::new(), base_bits: 32 * base }
    }

    /// `one = R mod m`, `residue = base·R mod m`; `bits` are the bits of the moduli.
    pub(super) fn enter(
        &mut self,
        moduli: &Moduli<S>,
        bits: &[usize; MAX_LANES],
        base: &[S::Vector],
        one: &mut [S::Vector],
        residue: &mut [S::Vector],
    ) {
        let (s, n) = (self.s, one.len());
        let radix_bits = S::DIGIT_BITS * n;
        let digits = self.divisors.count();
        self.divisors.set(&moduli.digits()[..digits], bits);
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

/// Digits into as many or more.
fn put<S: Simd>(s: S, from: &[S::Vector], to: &mut [S::Vector]) {
    let (below, above) = to.split_at_mut(from.len());
    below.copy_from_slice(from);
    above.fill(s.zero());
}
