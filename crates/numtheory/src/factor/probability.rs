//! How many curves find a factor of some digits: the probability of a curve by Dickman's function.
//!
//! The order of a curve's group is taken to be as smooth as a random integer near `p / extra`, where `extra` tells how friendly the family
//! is. The share of `B1`-smooth integers near `x` is `ρ(u) − γ·ρ(u − 1)/log x` with `u = log x / log B1`: the derivative of `x·ρ` with its
//! second term. The second stage allows one more prime of `(B1, B2]`.
//!
//! bound: within 2 % of the numbers of curves that GMP-ECM prints for 35 to 55 digits (`ecm -v -power 1`); `extra` is fitted to them.

use super::{Bounds, Family};

/// Points of Dickman's function a unit, and its last unit.
const STEPS: usize = 500;
const UNITS: usize = 20;
/// Points of the integral over the primes of the second stage.
const POINTS: u32 = 2000;
/// Euler's constant.
const GAMMA: f64 = 0.577_215_664_901_532_9;

/// The number of curves of a family that find a factor of so many digits with probability `1 − 1/e`.
pub fn expected_curves(family: Family, digits: u32, bounds: Bounds) -> f64 {
    let extra: f64 = match family {
        Family::Suyama => 23.4,
        Family::SquareWord => 9.75,
        Family::Word => 7.75,
    };
    let rho = dickman();
    let log_x = (f64::from(digits) - 0.5) * std::f64::consts::LN_10 - extra.ln();
    let (low, high) = ((bounds.b1() as f64).ln(), (bounds.b2() as f64).ln());
    let width = (high - low) / f64::from(POINTS);
    let second: f64 = (0..POINTS)
        .map(|i| low + width * (f64::from(i) + 0.5))
        .map(|log_q| smooth(&rho, log_x - log_q, low) / log_q * width)
        .sum();
    1.0 / (smooth(&rho, log_x, low) + second)
}

/// The share of smooth integers.
fn smooth(rho: &[f64], log_x: f64, log_b1: f64) -> f64 {
    let u = log_x / log_b1;
    if u <= 1.0 { 1.0 } else { (value(rho, u) - GAMMA * value(rho, u - 1.0) / log_x).max(0.0) }
}

/// `ρ(u)`.
fn value(rho: &[f64], u: f64) -> f64 {
    if u <= 0.0 {
        return if u < 0.0 { 0.0 } else { 1.0 };
    }
    let at = u * STEPS as f64;
    let i = at as usize;
    rho.get(i + 1).map_or(0.0, |next| rho[i] + (at - i as f64) * (next - rho[i]))
}

/// `ρ` at multiples of `1/STEPS`: `u·ρ'(u) = −ρ(u − 1)`, by trapezia.
fn dickman() -> Vec<f64> {
    let mut rho = vec![1.0; STEPS + 1];
    for i in STEPS + 1..=UNITS * STEPS {
        let slope = rho[i - STEPS - 1] / (i - 1) as f64 + rho[i - STEPS] / i as f64;
        rho.push(rho[i - 1] - slope / 2.0);
    }
    rho
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by a panic")]
mod tests {
    use super::*;

    /// The numbers of curves that GMP-ECM 7.0.5 prints.
    #[test]
    fn curves_of_gmp_ecm() {
        let known = [
            (Family::Suyama, 1e6, 1e8, 35, 1676.0),
            (Family::Suyama, 1e6, 1e9, 35, 995.0),
            (Family::Suyama, 11e6, 1.1e9, 45, 10_273.0),
            (Family::SquareWord, 1e6, 1e8, 35, 1983.0),
            (Family::Word, 1e6, 1e8, 35, 2073.0),
            (Family::Word, 11e6, 1.1e9, 45, 12_452.0),
            (Family::Word, 110e6, 1.1e10, 55, 55_965.0),
        ];
        for (family, b1, b2, digits, curves) in known {
            let bounds = Bounds::new(b1 as u64, b2 as u64).unwrap();
            let ratio = expected_curves(family, digits, bounds) / curves;
            assert!((0.97..1.03).contains(&ratio), "{family:?} {b1} {b2} {digits}: {ratio}");
        }
    }
}
