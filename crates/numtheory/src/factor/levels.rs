//! Levels: bounds and curves that find factors of D digits, and the level that some curves have reached.
//!
//! A curve finds `p` if the order of its group is a product of primes up to B1, and of one more prime up to B2. The order is taken
//! to be as smooth as a random integer near `p/e`, where `e` depends on the family. Near `x` the density of integers without a
//! prime factor above `y` is `ρ(u) − γ·ρ(u − 1)/log x` with `u = log x/log y`, Dickman's `ρ` and Euler's `γ`.
//!
//! `e` is fitted to the numbers that GMP-ECM 7.0.5 prints with `-v -power 1`. From 35 digits on they agree within 2 %.
//!
//! source: Dickman 1930; Brent 1986; Zimmermann, Dodson 2006.

use std::sync::LazyLock;

use super::{Bounds, Family};

/// Euler's constant.
const GAMMA: f64 = 0.577_215_664_901_532_9;
/// Points of the table of `ρ` in an interval of length 1.
const POINTS: usize = 1000;
/// The table ends here: `ρ(25)` is below 10⁻³⁷.
const END: usize = 25;
/// Points of the integral over the primes of the second stage.
const PRIMES: u32 = 400;
/// The second stage's bound is so many times the first one's, if nobody says otherwise.
pub const RATIO: u64 = 100;

/// A level: curves of Suyama's family after which a factor of these digits is still hidden with a probability of 1/e. The second
/// bound is 100·B1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The factor's decimal digits.
    pub digits: u32,
    /// The bound of the first stage.
    pub b1: u64,
    /// The number of curves.
    pub curves: u64,
}

/// The levels from 10 to 65 digits. The bounds are those of GMP-ECM's README from 20 digits on.
pub const LEVELS: [Level; 12] = {
    const fn level(digits: u32, b1: u64, curves: u64) -> Level {
        Level { digits, b1, curves }
    }
    [
        level(10, 150, 10),
        level(15, 2000, 24),
        level(20, 11_000, 88),
        level(25, 50_000, 287),
        level(30, 250_000, 682),
        level(35, 1_000_000, 1699),
        level(40, 3_000_000, 4911),
        level(45, 11_000_000, 10_369),
        level(50, 43_000_000, 18_732),
        level(55, 110_000_000, 47_300),
        level(60, 260_000_000, 120_880),
        level(65, 850_000_000, 209_307),
    ]
};

impl Level {
    /// The first level for factors of so many digits; none above 65.
    pub fn of_digits(digits: u32) -> Option<Self> {
        LEVELS.into_iter().find(|level| digits <= level.digits)
    }

    /// The level's bounds.
    pub const fn bounds(self) -> Bounds {
        Bounds { b1: self.b1, b2: self.b1 * RATIO }
    }
}

/// `ρ` at multiples of 1/[`POINTS`]: `u·ρ(u)` is the integral of `ρ` from `u − 1` to `u`, by the trapezium rule. All terms are
/// positive, so small values are as exact as large ones.
static RHO: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut rho = vec![1.0; POINTS + 1];
    for first in (POINTS..END * POINTS).step_by(POINTS) {
        // Values between the ends of the integral: the last ones of the interval before, and those of this one so far.
        let add = |sum: &mut f64, value: &f64| {
            *sum += value;
            Some(*sum)
        };
        let mut before: Vec<f64> = rho[first - POINTS + 1..=first].iter().rev().scan(0.0, add).collect();
        before.reverse();
        let mut here = 0.0;
        for i in first + 1..=first + POINTS {
            let inner = before.get(i - first).unwrap_or(&0.0) + here;
            let value = (rho[i - POINTS] / 2.0 + inner) / (i as f64 - 0.5);
            here += value;
            rho.push(value);
        }
    }
    rho
});

/// Dickman's function.
fn rho(u: f64) -> f64 {
    let place = u * POINTS as f64;
    match (u < 0.0, RHO.get(place as usize..place as usize + 2)) {
        (false, Some([low, high])) => low + place.fract() * (high - low),
        _ => 0.0,
    }
}

/// The density of integers near `x` without a prime factor above `y`.
fn smooth(log_x: f64, log_y: f64) -> f64 {
    let u = log_x / log_y;
    if u <= 1.0 { 1.0 } else { (rho(u) - GAMMA * rho(u - 1.0) / log_x).max(0.0) }
}

/// How much smaller than `p` an integer is that is as smooth as the order of a curve modulo `p`.
const fn friendliness(family: Family) -> f64 {
    match family {
        Family::Suyama => 23.4,
        Family::SquareWord => 9.75,
        Family::Word => 7.75,
    }
}

/// The probability that a curve finds a prime factor of so many decimal digits. A fraction of a digit counts.
pub fn probability(digits: f64, bounds: Bounds, family: Family) -> f64 {
    let log_x = ((digits - 0.5) * std::f64::consts::LN_10 - friendliness(family).ln()).max(1.0);
    let [low, high] = [bounds.b1(), bounds.b2()].map(|bound| (bound as f64).ln());
    let step = (high - low) / f64::from(PRIMES);
    // An order has the prime q with a probability of 1/q; of log q, the density is 1/log q.
    let second = |i: u32| {
        let log_q = low + step * (f64::from(i) + 0.5);
        smooth(log_x - log_q, low) / log_q * step
    };
    (smooth(log_x, low) + (0..PRIMES).map(second).sum::<f64>()).min(1.0)
}

/// The expected number of curves that find a prime factor of so many decimal digits; infinite where the probability is below 10⁻³⁷.
///
/// ```
/// use warpmp_numtheory::factor::{Bounds, Family, expected_curves};
///
/// let curves = expected_curves(35.0, Bounds::new(1_000_000, 100_000_000)?, Family::Suyama);
/// assert!((1650.0..1750.0).contains(&curves));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expected_curves(digits: f64, bounds: Bounds, family: Family) -> f64 {
    1.0 / probability(digits, bounds, family)
}

/// Curves that were made on an integer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effort(Vec<(Bounds, Family, u64)>);

impl Effort {
    /// Some curves more.
    pub fn add(&mut self, bounds: Bounds, family: Family, curves: u64) {
        match self.0.iter_mut().find(|(its, of, _)| (*its, *of) == (bounds, family)) {
            Some((.., count)) => *count += curves,
            None if curves > 0 => self.0.push((bounds, family, curves)),
            None => {}
        }
    }

    /// The number of curves.
    pub fn curves(&self) -> u64 {
        self.0.iter().map(|(.., count)| count).sum()
    }

    /// The curves by bounds and family.
    pub fn parts(&self) -> &[(Bounds, Family, u64)] {
        &self.0
    }

    /// The expected number of factors of so many digits that the curves find, if there is one: a level is reached at 1.
    pub fn of_level(&self, digits: f64) -> f64 {
        self.0.iter().map(|(bounds, family, count)| *count as f64 * probability(digits, *bounds, *family)).sum()
    }

    /// The level that is reached, in digits: a factor of so many digits is still hidden with a probability of 1/e. 0 without curves.
    pub fn level(&self) -> f64 {
        let (mut low, mut high) = (0.0, 100.0);
        if self.0.is_empty() {
            return low;
        }
        while high - low > 0.01 {
            let middle = f64::midpoint(low, high);
            *(if self.of_level(middle) >= 1.0 { &mut low } else { &mut high }) = middle;
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `ecm -v -power 1` of GMP-ECM 7.0.5 prints.
    #[test]
    fn curves_as_gmp_ecm_expects() {
        let known = [
            (Family::Suyama, 1_000_000, 100_000_000, 35.0, 1676.0),
            (Family::Suyama, 1_000_000, 1_000_000_000, 35.0, 995.0),
            (Family::Suyama, 1_000_000, 1_000_000_000, 40.0, 9520.0),
            (Family::Suyama, 11_000_000, 1_100_000_000, 45.0, 10_273.0),
            (Family::SquareWord, 1_000_000, 100_000_000, 35.0, 1983.0),
            (Family::Word, 1_000_000, 100_000_000, 35.0, 2073.0),
            (Family::Word, 11_000_000, 1_100_000_000, 45.0, 12_452.0),
            (Family::Word, 110_000_000, 11_000_000_000, 55.0, 55_965.0),
        ];
        for (family, b1, b2, digits, printed) in known {
            let curves = expected_curves(digits, Bounds::new(b1, b2).unwrap(), family);
            assert!((0.98..1.02).contains(&(curves / printed)), "{family:?} {b1} {b2}: {curves}, GMP-ECM {printed}");
        }
        // ρ(2) = 1 − log 2, ρ(3) = 0.0486…
        assert!((rho(2.0) - (1.0 - 2_f64.ln())).abs() < 1e-6 && (rho(3.0) - 0.048_608_388).abs() < 1e-6);
        // Two values of published tables.
        let is_near = |u: f64, value: f64| (0.999..1.001).contains(&(rho(u) / value));
        assert!(is_near(10.0, 2.770_17e-11) && is_near(20.0, 2.461_78e-29), "{:e} {:e}", rho(10.0), rho(20.0));
        assert_eq!((rho(-0.1), rho(0.0), rho(26.0)), (0.0, 1.0, 0.0));
    }

    /// Far beyond the factors that the bounds suit, too: never fewer curves for a longer factor.
    #[test]
    fn longer_factors_take_more_curves() {
        for level in LEVELS {
            let curves = |digits: u32| expected_curves(f64::from(digits), level.bounds(), Family::Word);
            let all: Vec<f64> = (5..=65).step_by(5).map(curves).collect();
            // The shortest ones are all found by the first curve.
            let rises = |pair: &[f64]| pair[0] < pair[1] || pair[0] <= 1.0 || pair[1].is_infinite();
            assert!(all.windows(2).all(rises), "{level:?}: {all:?}");
        }
    }

    #[test]
    fn each_level_has_its_curves() {
        for level in LEVELS {
            let curves = expected_curves(f64::from(level.digits), level.bounds(), Family::Suyama);
            assert!((level.curves as f64 - curves).abs() < 1.0 + 0.01 * curves, "{level:?}: {curves}");
            let mut effort = Effort::default();
            effort.add(level.bounds(), Family::Suyama, level.curves);
            assert!((effort.level() - f64::from(level.digits)).abs() < 0.3, "{level:?}: {}", effort.level());
        }
        assert_eq!(Level::of_digits(21).map(|level| level.digits), Some(25));
        assert_eq!(Level::of_digits(66), None);
    }

    #[test]
    fn curves_add_up() {
        let (small, large) = (LEVELS[3].bounds(), LEVELS[4].bounds());
        let mut effort = Effort::default();
        assert_eq!((effort.level(), effort.curves()), (0.0, 0));
        for _ in 0..2 {
            effort.add(small, Family::Suyama, 100);
        }
        let before = effort.level();
        effort.add(large, Family::Word, 300);
        assert_eq!((effort.curves(), effort.parts().len()), (500, 2));
        assert!(before > 20.0 && effort.level() > before + 1.0 && effort.level() < 30.0);
    }
}
