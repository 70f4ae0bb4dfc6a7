//! Products of long numbers by a transform in doubles, one product at a time, all lanes of the vectors for it.
//!
//! computes   `c = a·b`, `c = a²`, of any lengths up to 2^24 bits each, and more if one is shorter
//! cost       three transforms of `d` complex points for a product, two for a square; `2d` digits of 13 to 18 bits hold the
//!            product. A step by four is 28 instructions for four vectors of points
//! memory     two vectors of `d` complex numbers, and tables of as many, which are made once
//! bound      [`Plan`]: every coefficient is rounded to the right integer, whatever the operands are
//!
//! ```text
//! limbs ─► digits ─► ends::enter ─► tree::forward ─► products ─► tree::backward ─► ends::leave ─► carry ─► limbs
//!
//! plan       lengths and digits, and the proof of the bound
//! doubles    the instructions: AVX-512 in eight.rs, AVX2 with fused operations in four.rs
//! digits     balanced digits from bytes
//! butterfly  transforms of 2, 3, 4, 5, 8 points
//! roots      roots of unity, correctly rounded;  table   the roots of each step
//! ```
//!
//! Digits are coefficients of a polynomial, and products are computed modulo `x^d − i`: the real parts are the lower half of
//! the product, the imaginary parts the upper half. So `d` points suffice for `2d` coefficients, and no zeros are transformed.

mod butterfly;
mod carry;
mod digits;
mod doubles;
#[cfg(target_arch = "x86_64")]
mod eight;
mod ends;
#[cfg(target_arch = "x86_64")]
mod four;
mod plan;
mod roots;
mod table;
mod tree;

#[cfg(not(target_arch = "x86_64"))]
pub use crate::absent::{Eight, Four};
pub use digits::Window;
pub use doubles::Doubles;
use doubles::{Complex, ComplexDoubles};
#[cfg(target_arch = "x86_64")]
pub use eight::Eight;
use ends::{Digits, ROUNDER};
#[cfg(target_arch = "x86_64")]
pub use four::Four;
pub use plan::Plan;
pub use table::Tables;

/// Multiplies numbers of the same lengths, one pair after the other.
#[derive(Debug)]
pub struct Multiplier<S: Doubles> {
    s: S,
    plan: Plan,
    first: Vec<Complex<S::Vector>>,
    /// The transform of the second factor; without a prepared one also the coefficients of the product.
    second: Vec<Complex<S::Vector>>,
    /// The coefficients of products with a prepared factor.
    coefficients: Option<Vec<Complex<S::Vector>>>,
}

impl<S: Doubles> Multiplier<S> {
    /// For factors of at most so many limbs; none if they are too long.
    pub fn new(s: S, a_limbs: usize, b_limbs: usize) -> Option<Self> {
        Plan::new(32 * a_limbs, 32 * b_limbs, S::LANES).map(|plan| Self::with_plan(s, plan))
    }

    /// With a plan, whose lanes are those of `S`.
    pub fn with_plan(s: S, plan: Plan) -> Self {
        let memory = || vec![s.nothing(); plan.length() / S::LANES];
        Self { s, plan, first: memory(), second: memory(), coefficients: None }
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// `c = a·b`. The factors have at most the limbs that the multiplier is for, `c` has as many as both together, or fewer if
    /// the product needs no more.
    pub fn multiply(&mut self, a: &[u32], b: &[u32], c: &mut [u32]) {
        self.coefficients = None;
        forward(self.s, &self.plan, b, &mut self.second);
        self.multiply_second(a, c);
    }

    /// Takes a factor for several products: [`multiply_prepared`](Self::multiply_prepared).
    pub fn prepare(&mut self, b: &[u32]) {
        forward(self.s, &self.plan, b, &mut self.second);
        self.coefficients = Some(vec![self.s.nothing(); self.second.len()]);
    }

    /// As [`multiply`](Self::multiply), with the factor that was prepared last.
    pub fn multiply_prepared(&mut self, a: &[u32], c: &mut [u32]) {
        self.multiply_second(a, c);
    }

    /// `c = a²`.
    pub fn square(&mut self, a: &[u32], c: &mut [u32]) {
        let (s, first) = (self.s, &mut self.first);
        self.coefficients = None;
        forward(s, &self.plan, a, first);
        s.compiled(
            #[inline(always)]
            || {
                for x in first.iter_mut() {
                    *x = s.product(*x, *x);
                }
            },
        );
        self.backward(c);
    }

    fn multiply_second(&mut self, a: &[u32], c: &mut [u32]) {
        let (s, first, second) = (self.s, &mut self.first, &self.second);
        forward(s, &self.plan, a, first);
        s.compiled(
            #[inline(always)]
            || {
                for (x, y) in first.iter_mut().zip(second) {
                    *x = s.product(*x, *y);
                }
            },
        );
        self.backward(c);
    }

    /// The steps by four back.
    fn up(&mut self) {
        let (s, plan, tables) = (self.s, &self.plan, S::tables());
        let levels: Vec<_> = (0..plan.fours as usize).map(|step| tables.fours(s, plan, step)).collect();
        for (number, part) in self.first.chunks_exact_mut(plan.part_length()).enumerate() {
            tree::backward(s, part, &levels, number);
        }
    }

    /// The number whose transform `first` is.
    fn backward(&mut self, c: &mut [u32]) {
        self.up();
        let (s, plan, tables) = (self.s, &self.plan, S::tables());
        let coefficients = self.coefficients.as_mut().unwrap_or(&mut self.second);
        ends::leave(s, plan, tables.steps(s, plan), &self.first, coefficients, ROUNDER);
        carry::limbs(s, coefficients, plan.digit_bits, c);
    }
}

/// The transform of a number.
fn forward<S: Doubles>(s: S, plan: &Plan, number: &[u32], parts: &mut [Complex<S::Vector>]) {
    let tables = S::tables();
    ends::enter(s, plan, tables.steps(s, plan), &Digits::new(number, plan), parts);
    let levels: Vec<_> = (0..plan.fours as usize).map(|step| tables.fours(s, plan, step)).collect();
    for (number, part) in parts.chunks_exact_mut(plan.part_length()).enumerate() {
        tree::forward(s, part, &levels, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the coefficients of a product of the largest digits are from integers before they are rounded.
    fn error<S: Doubles>(s: S, plan: Plan) -> f64 {
        let limbs = plan.length() * plan.digit_bits / 32;
        // Every digit is 2^(b−1) − 1: all bits but the uppermost one.
        let limb = |i: usize| {
            (0..32)
                .filter(|bit| !(32 * i + bit + 1).is_multiple_of(plan.digit_bits))
                .fold(0, |limb, bit| limb | 1 << bit)
        };
        let number: Vec<u32> = (0..limbs).map(limb).collect();
        let mut it = Multiplier::with_plan(s, plan);
        forward(s, &plan, &number, &mut it.first);
        forward(s, &plan, &number, &mut it.second);
        it.first.iter_mut().zip(&it.second).for_each(|(x, y)| *x = s.product(*x, *y));
        it.up();
        ends::leave(s, &plan, S::tables().steps(s, &plan), &it.first, &mut it.second, 0.0);
        let coefficients = it.second.iter().flat_map(|x| [s.bits(x.re), s.bits(x.im)]).flatten().map(f64::from_bits);
        coefficients.map(|x| (x - x.round()).abs()).fold(0.0, f64::max)
    }

    /// Errors are below the bound, and the bound is needed: with five bits more a digit they are not below 1/2.
    fn errors<S: Doubles>() {
        let Some(s) = S::find() else { return eprintln!("skipped: no such vectors") };
        for plan in Plan::all(S::LANES).filter(|plan| (4000..20_000).contains(&plan.length())) {
            let (found, bound) = (error(s, plan), plan.bound());
            assert!(found < bound && found > bound / 100.0, "{plan:?}: {found} of {bound}");
            let wrong = error(s, Plan { digit_bits: plan.digit_bits + 5, ..plan });
            assert!(wrong > 0.4, "{plan:?}: {wrong}");
        }
    }

    #[test]
    fn errors_of_eight_doubles_are_below_the_bound() {
        errors::<Eight>();
    }

    #[test]
    fn errors_of_four_doubles_are_below_the_bound() {
        errors::<Four>();
    }
}
