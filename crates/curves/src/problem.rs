//! A curve, a base point of prime order, and the point whose logarithm is wanted.

use num_bigint::BigUint;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::affine::{Group, Point};
use crate::error::{Error, Refusal, Result};
use crate::prime::is_prime;

/// The fewest bits of a field.
pub const MIN_BITS: u64 = 32;

/// The most bits of a field.
pub const MAX_BITS: u64 = 256;

/// Embedding degrees up to this one get a warning.
const TINY_DEGREE: u32 = 20;

/// Find `k` with `Q = k·P`, where `P` has the prime order `n`.
///
/// A value of this type has passed every check of [`Problem::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What people call it; empty for a curve without a name.
    pub name: String,
    /// The curve.
    pub group: Group,
    /// The order of the base point, a prime.
    pub n: BigUint,
    /// The base point.
    pub base: Point,
    /// The point whose logarithm is wanted.
    pub target: Point,
}

/// The curve with `a` and `b` reduced modulo `p`: `p` is a prime of [`MIN_BITS`] to [`MAX_BITS`] bits, and the curve is not singular.
pub(crate) fn checked(group: Group) -> std::result::Result<Group, Refusal> {
    let bits = group.p.bits();
    if !(MIN_BITS..=MAX_BITS).contains(&bits) {
        return Err(Refusal::FieldSize { bits, least: MIN_BITS, most: MAX_BITS });
    }
    if !is_prime(&group.p) {
        return Err(Refusal::FieldNotPrime { p: group.p });
    }
    let group = Group { a: &group.a % &group.p, b: &group.b % &group.p, p: group.p };
    if group.discriminant() == BigUint::ZERO {
        return Err(Refusal::Singular);
    }
    Ok(group)
}

impl Problem {
    /// Reduces `a` and `b` modulo `p` and checks the parameters: `p` prime, the curve not singular, the points on it, `n` prime, `n·P` and `n·Q` the point at
    /// infinity, a number of points that Hasse's bound allows, and `n ≠ p`.
    ///
    /// # Errors
    /// [`Refusal`] with the first violation.
    pub fn new(name: &str, group: Group, n: BigUint, base: Point, target: Point) -> std::result::Result<Self, Refusal> {
        let group = checked(group)?;
        if base.is_none() {
            return Err(Refusal::NoBase);
        }
        for (name, point) in [("P", &base), ("Q", &target)] {
            if !group.contains(point) {
                return Err(Refusal::NotOnCurve { name });
            }
        }
        if !is_prime(&n) {
            return Err(Refusal::OrderNotPrime { n });
        }
        for (name, point) in [("P", &base), ("Q", &target)] {
            if group.multiply(&n, point).is_some() {
                return Err(Refusal::WrongOrder { name });
            }
        }
        if n == group.p {
            return Err(Refusal::Anomalous);
        }
        if !hasse(&group.p, &n) {
            return Err(Refusal::Hasse { n });
        }
        Ok(Self { name: name.into(), group, n, base, target })
    }

    /// A curve over a field of this many bits, for measurements. Its logarithms are no challenge: the curve `y² = x³ + 1` with
    /// `p = 6n − 1` has `p + 1` points, so the embedding degree is 2.
    ///
    /// # Errors
    /// [`Refusal::FieldSize`].
    pub fn for_measurements(bits: u64) -> std::result::Result<Self, Refusal> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(Refusal::FieldSize { bits, least: MIN_BITS, most: MAX_BITS });
        }
        // Digits of e, so that p is not near a power of two.
        let digits = BigUint::from_slice(&[
            0x9045_190c,
            0x56a7_84d9,
            0x38b4_da56,
            0x62e7_160f,
            0xcf4f_3c76,
            0xbf71_5880,
            0xed2a_6abf,
            0xb7e1_5162,
        ]);
        let one = BigUint::from(1_u32);
        let mut n = ((digits >> (MAX_BITS - bits)) / 6_u32) | &one;
        let p = loop {
            let p = &n * 6_u32 - &one;
            if p.bits() == bits && is_prime(&n) && is_prime(&p) {
                break p;
            }
            n += 2_u32;
        };
        let group = Group { p: p.clone(), a: BigUint::ZERO, b: one };
        // Every number has one cube root modulo p.
        let root = (&p * 2_u32 - 1_u32) / 3_u32;
        let point = |y: u32| {
            let x = BigUint::from(y * y - 1).modpow(&root, &p);
            group.multiply(&BigUint::from(6_u32), &Some((x, y.into())))
        };
        let (base, target) = (point(4), point(5));
        Self::new("", group, n, base, target)
    }

    /// The curve of a JSON text: `{"p": …, "a": …, "b": …, "n": …, "P": [x, y], "Q": [x, y]}`, numbers or strings, decimal
    /// or hexadecimal with `0x`. A point may be `null`: the point at infinity.
    ///
    /// # Errors
    /// [`Error::Text`], [`Error::Refused`].
    pub fn from_json(name: &str, text: &str) -> Result<Self> {
        let file: File = serde_json::from_str(text).map_err(|error| Error::Text { reason: error.to_string() })?;
        let group = Group { p: number("p", &file.p)?, a: number("a", &file.a)?, b: number("b", &file.b)? };
        let n = number("n", &file.n)?;
        let (base, target) = (point("P", file.base.as_ref())?, point("Q", file.target.as_ref())?);
        Ok(Self::new(name, group, n, base, target)?)
    }

    /// The problem as JSON, numbers as hexadecimal strings.
    pub fn to_json(&self) -> String {
        let hex = |number: &BigUint| format!("0x{number:x}");
        let point = |point: &Point| point.as_ref().map(|(x, y)| [hex(x), hex(y)]);
        let Group { p, a, b } = &self.group;
        let value = serde_json::json!({
            "p": hex(p), "a": hex(a), "b": hex(b), "n": hex(&self.n), "P": point(&self.base), "Q": point(&self.target),
        });
        value.to_string()
    }

    /// Is `k` the logarithm?
    pub fn is_solution(&self, k: &BigUint) -> bool {
        k < &self.n && self.group.multiply(k, &self.base) == self.target
    }

    /// The logarithm where it is seen at once: `Q` is the point at infinity, `P` or `−P`.
    pub fn trivial_solution(&self) -> Option<BigUint> {
        let one = BigUint::from(1_u32);
        [BigUint::ZERO, one.clone(), &self.n - one].into_iter().find(|k| self.is_solution(k))
    }

    /// The least `k ≤ 20` with `p^k = 1` modulo `n`, if there is one. Then a pairing moves the logarithm into the
    /// multiplicative group of a field of `k` times as many bits, where it is likely to be much easier.
    pub fn small_embedding_degree(&self) -> Option<u32> {
        let one = BigUint::from(1_u32);
        let mut power = one.clone();
        (1..=TINY_DEGREE).find(|_| {
            power = &power * &self.group.p % &self.n;
            power == one
        })
    }

    /// Expected steps of Pollard's rho with the negation map, `√(π·n/4)`.
    pub fn expected_steps(&self) -> f64 {
        // The leading 64 bits are exact enough for a figure of people.
        let shift = self.n.bits().saturating_sub(64);
        let leading = (&self.n >> shift).iter_u64_digits().next().unwrap_or(0) as f64;
        (std::f64::consts::PI / 4.0 * leading).sqrt() * (shift as f64 / 2.0).exp2()
    }
}

/// Does a multiple of `n` lie within `2√p` of `p + 1`?
fn hasse(p: &BigUint, n: &BigUint) -> bool {
    let middle = p + 1_u32;
    let below = &middle % n;
    let distance = (n - &below).min(below);
    &distance * &distance <= p * 4_u32
}

/// A curve file. Numbers stay text: they are longer than any number type of the parser.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    p: Box<RawValue>,
    a: Box<RawValue>,
    b: Box<RawValue>,
    n: Box<RawValue>,
    // A point that is `null` is there; without the attribute a point that is left out would be `null`.
    #[serde(rename = "P", deserialize_with = "Option::deserialize")]
    base: Option<[Box<RawValue>; 2]>,
    #[serde(rename = "Q", deserialize_with = "Option::deserialize")]
    target: Option<[Box<RawValue>; 2]>,
    /// Free text; the program does not read it.
    #[serde(default, rename = "comment")]
    _comment: Option<Box<RawValue>>,
}

fn number(name: &str, value: &RawValue) -> Result<BigUint> {
    let digits = value.get().trim_matches('"').trim();
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
        None => BigUint::parse_bytes(digits.as_bytes(), 10),
    };
    parsed.ok_or_else(|| Error::Text { reason: format!("{name} is {}, not an unsigned integer", value.get()) })
}

fn point(name: &str, value: Option<&[Box<RawValue>; 2]>) -> Result<Point> {
    let Some([x, y]) = value else { return Ok(None) };
    Ok(Some((number(name, x)?, number(name, y)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenges;

    /// The textbook's curve is too small for a search; these tests change one parameter of a challenge.
    fn changed(change: impl FnOnce(&mut Problem)) -> Refusal {
        let mut problem = challenges::named("eccp-79").unwrap();
        change(&mut problem);
        Problem::new("", problem.group, problem.n, problem.base, problem.target).unwrap_err()
    }

    fn moved(point: &Point) -> Point {
        point.as_ref().map(|(x, y)| (x.clone(), y + 1_u32))
    }

    #[test]
    fn each_violation_is_named() {
        assert_eq!(changed(|it| it.group.p = 97_u32.into()), Refusal::FieldSize { bits: 7, least: 32, most: 256 });
        assert!(matches!(changed(|it| it.group.p += 2_u32), Refusal::FieldNotPrime { .. }));
        assert_eq!(changed(|it| (it.group.a, it.group.b) = (BigUint::ZERO, BigUint::ZERO)), Refusal::Singular);
        assert_eq!(changed(|it| it.base = None), Refusal::NoBase);
        assert_eq!(changed(|it| it.base = moved(&it.base)), Refusal::NotOnCurve { name: "P" });
        assert_eq!(changed(|it| it.target = moved(&it.target)), Refusal::NotOnCurve { name: "Q" });
        assert!(matches!(changed(|it| it.n *= 3_u32), Refusal::OrderNotPrime { .. }));
        assert_eq!(changed(|it| it.n = 1_000_003_u32.into()), Refusal::WrongOrder { name: "P" });
    }

    #[test]
    fn numbers_of_people() {
        let problem = challenges::named("eccp-131").unwrap();
        assert_eq!(Problem::from_json("eccp-131", &problem.to_json()).unwrap(), problem);
        // Plain numbers, longer than any machine word.
        let Group { p, a, b } = &problem.group;
        let both = |point: &Point| point.as_ref().map(|(x, y)| format!("[{x}, {y}]")).unwrap();
        let decimal = format!(
            r#"{{"p": {p}, "a": {a}, "b": {b}, "n": {}, "P": {}, "Q": {}, "comment": "decimal"}}"#,
            problem.n,
            both(&problem.base),
            both(&problem.target)
        );
        assert_eq!(Problem::from_json("eccp-131", &decimal).unwrap(), problem);
    }

    #[test]
    fn files_that_are_none() {
        for (text, hint) in [
            ("", "EOF"),
            ("{}", "missing field"),
            (r#"{"p": 1, "q": 2}"#, "unknown field `q`"),
            (r#"{"p": 1, "a": 1, "b": 1, "n": 1, "P": null}"#, "missing field `Q`"),
            (r#"{"p": 1, "a": 1, "b": 1, "n": 1, "Q": null}"#, "missing field `P`"),
            (r#"{"p": -1, "a": 1, "b": 1, "n": 1, "P": null, "Q": null}"#, "p is -1"),
            (r#"{"p": 1.5, "a": 1, "b": 1, "n": 1, "P": null, "Q": null}"#, "p is 1.5"),
            (r#"{"p": "x", "a": 1, "b": 1, "n": 1, "P": null, "Q": null}"#, "p is \"x\""),
        ] {
            let error = Problem::from_json("", text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn curves_for_measurements_have_the_bits_that_are_wanted() {
        for bits in [32, 79, 97, 131, 160, 256] {
            let problem = Problem::for_measurements(bits).unwrap();
            assert_eq!((problem.group.p.bits(), problem.small_embedding_degree()), (bits, Some(2)));
        }
        for bits in [31, 257] {
            assert_eq!(
                Problem::for_measurements(bits).unwrap_err(),
                Refusal::FieldSize { bits, least: MIN_BITS, most: MAX_BITS }
            );
        }
    }

    #[test]
    fn expected_steps_of_the_challenges() {
        // √(π·n/4), from the design of the search.
        for (name, steps) in [("eccp-79", 6.05e11), ("eccp-89", 1.8e13), ("eccp-97", 3.0e14), ("eccp-131", 3.5e19)] {
            let found = challenges::named(name).unwrap().expected_steps();
            assert!((found / steps - 1.0).abs() < 0.03, "{name}: {found:e}");
        }
    }
}
