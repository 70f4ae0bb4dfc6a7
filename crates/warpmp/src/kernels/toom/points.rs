//! Toom-k over the integers: evaluation points, and the way back from the values to the coefficients.
//!
//! An operand is a polynomial with `k` parts as coefficients, the product `C` one with `2k − 1`. It is
//! known at the points 0, 1, −1, 2, −2, …, k−2, −(k−2), k−1 and ∞ (its leading coefficient).
//!
//! # Interpolation
//!
//! For `j = 1 … k−2` the sum and the difference of the values at `j` and `−j` separate
//!
//! ```text
//! C(x) = E(x²) + x·O(x²),    C(j) + C(−j) = 2·E(j²),    C(j) − C(−j) = 2j·O(j²).
//! ```
//!
//! `E` has degree `k − 1`, and is known at the squares of 0 … k−2 and at ∞. Newton's divided differences
//!
//! ```text
//! E[a…b] = (E[a+1…b] − E[a…b−1]) / (b² − a²)
//! ```
//!
//! give its coefficients in Newton's basis, Horner's scheme those in powers of `x²`. Then `E((k−1)²)` is
//! known, hence `O((k−1)²)`, and `O`, of degree `k − 2` and known at the squares of 1 … k−1, is found
//! likewise.
//!
//! # Exact, without signs
//!
//! Everything is computed modulo `B^N`, `B = 2³²`, on two's complements. Sums and products need no bound
//! there, and an odd `δ` has an inverse: if `δ` divides `v`, then the quotient modulo `B^N` is `v·δ⁻¹`.
//! Only powers of two cannot be divided out. So a number is kept with a *scale* `s`, as `2^s` times its
//! value: a division by `2^e·δ` divides by `δ` and adds `e` to the scale, and two numbers meet at the
//! larger of their scales. What counts in the end is a coefficient, `0 ≤ C_i < k·B^(2m)` for parts of `m`
//! limbs, at a scale `s ≤ 25`: `2^s·C_i < B^(2m+1)`, so `N = 2m + 2` limbs hold it, and a shift ends it.
//! That every division is exact is checked in the tests on a basis of all polynomials.
//!
//! # Carries
//!
//! A step runs over the limbs `x`, `y` of its operands with one word `c` of carry:
//!
//! ```text
//! (α·x + β·y)/1:  n = α·x + β·y + c             the limb is n mod B,           c' = ⌊n/B⌋
//! (α·x − β·y)/1:  n = α·x + β·(B−1−y) + c       the same;                      c = β at first
//! (α·x − β·y)/δ:  n = α·(B−1−x) + β·y + c       the limb is q = −n·δ⁻¹ mod B,  c' = (n + δ·q)/B;  c = α at first
//! ```
//!
//! A negative term `−β·y` is `β·(B−1−y) + β − β·B`: the carry holds that `β` in advance, and so is never
//! negative. If `c ≤ α + β + δ` then `n + δ·q ≤ (B − 1)(α + β + δ) + c`, hence `c' ≤ α + β + δ` again; with
//! `α + β + δ < 2²⁶` (a test) `c` fits in a word and `n + δ·q` in two.

/// A step: `target ← (alpha·x + beta·y) / divisor`, an exact division by an odd number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) target: usize,
    pub(super) alpha: u32,
    pub(super) x: usize,
    /// Not positive unless the divisor is 1.
    pub(super) beta: i32,
    pub(super) y: usize,
    pub(super) divisor: u32,
}

impl Step {
    /// Is `x` complemented?
    pub(super) const fn negates_x(&self) -> bool {
        self.divisor > 1
    }

    /// Is `y` complemented?
    pub(super) const fn negates_y(&self) -> bool {
        self.divisor == 1 && self.beta < 0
    }

    /// The carry into the lowest limb: the coefficient of the complemented operand.
    pub(super) const fn first_carry(&self) -> u32 {
        match (self.negates_x(), self.negates_y()) {
            (true, _) => self.alpha,
            (_, true) => self.beta.unsigned_abs(),
            _ => 0,
        }
    }

    /// `−δ⁻¹` modulo 2³², by Newton's iteration: each round doubles the bits that are right, from 3 on.
    pub(super) const fn negated_inverse(&self) -> u32 {
        let d = self.divisor;
        let mut inverse = d;
        let mut round = 0;
        while round < 4 {
            inverse = inverse.wrapping_mul(2_u32.wrapping_sub(d.wrapping_mul(inverse)));
            round += 1;
        }
        inverse.wrapping_neg()
    }
}

/// A number under way: where it is, and the power of two that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub(super) slot: usize,
    pub(super) scale: u32,
}

/// The way from the values to the coefficients.
///
/// Slot `p` holds the value at point `p` at first; one slot more is for what is passing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interpolation {
    /// What to do, in order.
    pub(super) steps: Vec<Step>,
    /// Where the coefficients are in the end, from the lowest.
    pub(super) coefficients: Vec<Scaled>,
}

/// Points of Toom-k.
pub(super) const fn points(k: u32) -> u32 {
    2 * k - 1
}

/// The point's number: 0, 1, −1, 2, −2, …, k−1, ∞ (none).
#[cfg(test)]
pub(super) fn point(k: u32, index: u32) -> Option<i32> {
    let distance = index.div_ceil(2) as i32;
    (index + 1 < points(k)).then_some(if index.is_multiple_of(2) { -distance } else { distance })
}

impl Interpolation {
    /// The sequence for Toom-k.
    pub(super) fn new(k: u32) -> Self {
        let slot = |point: u32| point as usize;
        let infinity = Scaled { slot: slot(2 * k - 2), scale: 0 };
        let mut it = Self { steps: Vec::new(), coefficients: Vec::new() };
        // 2j·O(j²) replaces C(j), and 2·E(j²) replaces C(−j).
        for j in 1..k - 1 {
            let (plus, minus) = (slot(2 * j - 1), slot(2 * j));
            it.push(plus, (1, plus), (-1, minus), 1);
            it.push(minus, (2, minus), (1, plus), 1);
        }
        let mut even: Vec<Scaled> = (0..k - 1).map(|j| Scaled { slot: slot(2 * j), scale: u32::from(j > 0) }).collect();
        it.divided_differences(&mut even, 0);
        even.push(infinity);
        it.powers(&mut even, 0);
        // (k−1)·O((k−1)²) = C(k−1) − E((k−1)²).
        let last = slot(2 * k - 3);
        let value = it.horner(&even, (k - 1).pow(2), slot(2 * k - 1));
        it.push(last, (1 << value.scale, last), (-1, value.slot), 1);
        let mut odd: Vec<Scaled> = (1..k - 1).map(|j| Scaled { slot: slot(2 * j - 1), scale: 1 }).collect();
        odd.push(Scaled { slot: last, scale: value.scale });
        for (value, j) in odd.iter_mut().zip(1..) {
            it.divide(value, j);
        }
        it.divided_differences(&mut odd, 1);
        it.powers(&mut odd, 1);
        it.coefficients = (0..2 * k as usize - 1).map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] }).collect();
        it
    }

    fn push(&mut self, target: usize, (alpha, x): (u32, usize), (beta, y): (i32, usize), divisor: u32) {
        self.steps.push(Step { target, alpha, x, beta, y, divisor });
    }

    /// `target ← target − factor·other`, at the larger of the two scales.
    fn subtract(&mut self, target: &mut Scaled, factor: u32, other: Scaled, divisor: u32) {
        let scale = target.scale.max(other.scale);
        let beta = (factor << (scale - other.scale)) as i32;
        self.push(target.slot, (1 << (scale - target.scale), target.slot), (-beta, other.slot), divisor);
        target.scale = scale;
    }

    /// `value ← value / divisor`.
    fn divide(&mut self, value: &mut Scaled, divisor: u32) {
        let twos = divisor.trailing_zeros();
        if divisor >> twos > 1 {
            self.push(value.slot, (1, value.slot), (0, value.slot), divisor >> twos);
        }
        value.scale += twos;
    }

    /// From the values at the squares of `first`, `first + 1`, … to Newton's coefficients.
    fn divided_differences(&mut self, values: &mut [Scaled], first: u32) {
        for order in 1..values.len() {
            for b in (order..values.len()).rev() {
                let (low, high) = (first + (b - order) as u32, first + b as u32);
                let divisor = high.pow(2) - low.pow(2);
                let twos = divisor.trailing_zeros();
                let below = values[b - 1];
                self.subtract(&mut values[b], 1, below, divisor >> twos);
                values[b].scale += twos;
            }
        }
    }

    /// From Newton's coefficients for the squares of `first`, `first + 1`, … to those of the powers.
    fn powers(&mut self, values: &mut [Scaled], first: u32) {
        for i in (0..values.len() - 1).rev() {
            let node = (first + i as u32).pow(2);
            for j in i..values.len() - 1 {
                if node > 0 {
                    let above = values[j + 1];
                    self.subtract(&mut values[j], node, above, 1);
                }
            }
        }
    }

    /// The value at `x` of the polynomial with these coefficients, at least two, in `slot`.
    fn horner(&mut self, coefficients: &[Scaled], x: u32, slot: usize) -> Scaled {
        let (below, top) = coefficients.split_at(coefficients.len() - 1);
        let mut value = top[0];
        for &coefficient in below.iter().rev() {
            let scale = value.scale.max(coefficient.scale);
            let beta = (x << (scale - value.scale)) as i32;
            self.push(slot, (1 << (scale - coefficient.scale), coefficient.slot), (beta, value.slot), 1);
            value = Scaled { slot, scale };
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    /// Runs the steps on whole numbers; every division must be exact.
    fn run(interpolation: &Interpolation, values: &[BigInt]) -> Vec<BigInt> {
        let mut slots = values.to_vec();
        slots.push(BigInt::ZERO);
        for step in &interpolation.steps {
            let sum = step.alpha * &slots[step.x] + step.beta * &slots[step.y];
            assert_eq!(&sum % step.divisor, BigInt::ZERO, "{step:?}");
            slots[step.target] = sum / step.divisor;
        }
        interpolation.coefficients.iter().map(|it| slots[it.slot].clone()).collect()
    }

    fn values(k: u32, coefficients: &[BigInt]) -> Vec<BigInt> {
        let at = |x: i32| coefficients.iter().rev().fold(BigInt::ZERO, |sum, c| sum * x + c);
        let infinity = coefficients.last().unwrap();
        (0..points(k)).map(|p| point(k, p).map_or(infinity.clone(), at)).collect()
    }

    #[test]
    fn the_points_are_the_papers() {
        let list = |k| (0..points(k)).map(|p| point(k, p)).collect::<Vec<_>>();
        assert_eq!(list(2), [Some(0), Some(1), None]);
        assert_eq!(list(3), [Some(0), Some(1), Some(-1), Some(2), None]);
        assert_eq!(list(4), [Some(0), Some(1), Some(-1), Some(2), Some(-2), Some(3), None]);
    }

    /// The steps are linear, so the powers of `x` prove them for all polynomials.
    #[test]
    fn every_power_comes_back_and_every_division_is_exact() {
        for k in 2..=9 {
            let interpolation = Interpolation::new(k);
            for power in 0..points(k) as usize {
                let mut coefficients = vec![BigInt::ZERO; points(k) as usize];
                coefficients[power] = 1.into();
                for (i, found) in run(&interpolation, &values(k, &coefficients)).into_iter().enumerate() {
                    let expected = BigInt::from(u8::from(i == power)) << interpolation.coefficients[i].scale;
                    assert_eq!(found, expected, "toom-{k}, power {power}, coefficient {i}");
                }
            }
        }
    }

    /// What the carries and the width of the numbers rest on.
    #[test]
    fn constants_and_scales_are_bounded() {
        for k in 2..=9 {
            let interpolation = Interpolation::new(k);
            for step in &interpolation.steps {
                assert!(step.divisor % 2 == 1 && (step.divisor == 1 || step.beta <= 0), "{step:?}");
                let sum = u64::from(step.alpha) + u64::from(step.beta.unsigned_abs()) + u64::from(step.divisor);
                assert!(sum < 1 << 26, "toom-{k}: {step:?}");
            }
            for coefficient in &interpolation.coefficients {
                // k·2^s ≤ B, and a shift within a word.
                assert!(u64::from(k) << coefficient.scale <= 1 << 32, "toom-{k}: {coefficient:?}");
                assert!(coefficient.scale <= 25);
            }
        }
    }

    /// The rules for limbs and carries, as the kernel follows them, on numbers of every kind.
    #[test]
    fn limbs_with_one_carry_word_are_the_numbers_modulo_a_power() {
        const LIMBS: usize = 6;
        for k in 2..=9 {
            let interpolation = Interpolation::new(k);
            for seed in 0..20_u32 {
                let coefficient = |i: u32| match (seed + i) % 4 {
                    0 => BigInt::ZERO,
                    1 => k * ((BigInt::from(1) << 128) - 2_u32 * (BigInt::from(1) << 64) + 1),
                    2 => (BigInt::from(1) << 128) - 1,
                    _ => BigInt::from(u128::from(0x9e37_79b9_u32.wrapping_mul(seed * 31 + i)) << 90),
                };
                let coefficients: Vec<BigInt> = (0..points(k)).map(coefficient).collect();
                let modulus = BigInt::from(1) << (32 * LIMBS);
                let mut slots: Vec<Vec<u32>> = values(k, &coefficients)
                    .iter()
                    .map(|v| {
                        let mut digits = (((v % &modulus) + &modulus) % &modulus).to_u32_digits().1;
                        digits.resize(LIMBS, 0);
                        digits
                    })
                    .collect();
                slots.push(vec![0; LIMBS]);
                for step in &interpolation.steps {
                    slots[step.target] = by_limbs(step, &slots[step.x], &slots[step.y]);
                }
                for (found, expected) in interpolation.coefficients.iter().zip(&coefficients) {
                    let number = slots[found.slot].iter().rev().fold(BigInt::ZERO, |sum, &limb| (sum << 32) + limb);
                    assert_eq!(number, expected << found.scale, "toom-{k}, seed {seed}");
                }
            }
        }
    }

    fn by_limbs(step: &Step, x: &[u32], y: &[u32]) -> Vec<u32> {
        let [alpha, beta, divisor] = [step.alpha, step.beta.unsigned_abs(), step.divisor].map(u64::from);
        let mut carry = u64::from(step.first_carry());
        let limbs = x.iter().zip(y).map(|(&x, &y)| {
            let (x, y) = (if step.negates_x() { !x } else { x }, if step.negates_y() { !y } else { y });
            let n = alpha * u64::from(x) + beta * u64::from(y) + carry;
            let q = if divisor == 1 { 0 } else { (n as u32).wrapping_mul(step.negated_inverse()) };
            let sum = n.checked_add(divisor * u64::from(q)).unwrap();
            carry = sum >> 32;
            assert!(carry <= alpha + beta + divisor);
            if divisor == 1 {
                n as u32
            } else {
                assert_eq!(sum as u32, 0);
                q
            }
        });
        limbs.collect()
    }
}
