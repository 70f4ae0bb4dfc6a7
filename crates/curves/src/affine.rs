//! Plain affine arithmetic on a curve, by num-bigint.
//!
//! This is the definition that everything else is checked against: parameters, solved logarithms, replayed walks. It shares
//! no code with the engines, and it is slow: one modular inversion an addition.

use num_bigint::BigUint;

/// A point of a curve; none is the point at infinity.
pub type Point = Option<(BigUint, BigUint)>;

/// The group of a curve `y² = x³ + a·x + b` over the integers modulo `p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The prime of the field.
    pub p: BigUint,
    /// The coefficient of `x`.
    pub a: BigUint,
    /// The constant coefficient.
    pub b: BigUint,
}

impl Group {
    /// Is the point at infinity or on the curve, with coordinates below `p`?
    pub fn contains(&self, point: &Point) -> bool {
        let Some((x, y)) = point else { return true };
        let right = (x * x * x + &self.a * x + &self.b) % &self.p;
        x < &self.p && y < &self.p && y * y % &self.p == right
    }

    /// `4a³ + 27b² mod p`: zero for a singular curve.
    pub fn discriminant(&self) -> BigUint {
        (&self.a * &self.a * &self.a * 4_u32 + &self.b * &self.b * 27_u32) % &self.p
    }

    /// `−S`.
    pub fn negate(&self, point: &Point) -> Point {
        point.as_ref().map(|(x, y)| (x.clone(), (&self.p - y) % &self.p))
    }

    /// `S + T`.
    pub fn add(&self, s: &Point, t: &Point) -> Point {
        let (Some((x1, y1)), Some((x2, y2))) = (s, t) else { return s.clone().or_else(|| t.clone()) };
        let p = &self.p;
        let (rise, run) = if x1 == x2 {
            if (y1 + y2) % p == BigUint::ZERO {
                return None;
            }
            (x1 * x1 * 3_u32 + &self.a, y1 * 2_u32)
        } else {
            (y2 + p - y1, x2 + p - x1)
        };
        // Neither a doubled ordinate that is not zero nor a difference of two abscissas is divisible by the prime.
        let slope = rise * run.modinv(p)? % p;
        let x = (&slope * &slope + p + p - x1 - x2) % p;
        let y = (slope * (x1 + p - &x) + p - y1) % p;
        Some((x, y))
    }

    /// `k·S`.
    pub fn multiply(&self, k: &BigUint, s: &Point) -> Point {
        let mut sum = None;
        for bit in (0..k.bits()).rev() {
            sum = self.add(&sum, &sum);
            if k.bit(bit) {
                sum = self.add(&sum, s);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y² = x³ + x + 6` over the integers modulo 11 has 13 points: a textbook example (Stinson).
    fn small() -> Group {
        Group { p: 11_u32.into(), a: 1_u32.into(), b: 6_u32.into() }
    }

    #[allow(clippy::unnecessary_wraps, reason = "the type of points")]
    fn at(x: u32, y: u32) -> Point {
        Some((x.into(), y.into()))
    }

    #[test]
    fn multiples_of_a_generator() {
        let group = small();
        let listed = [(2, 7), (5, 2), (8, 3), (10, 2), (3, 6), (7, 9), (7, 2), (3, 5), (10, 9), (8, 8), (5, 9), (2, 4)];
        for (i, (x, y)) in listed.into_iter().enumerate() {
            assert_eq!(group.multiply(&(i as u32 + 1).into(), &at(2, 7)), at(x, y));
            assert!(group.contains(&at(x, y)));
        }
        assert_eq!(group.multiply(&13_u32.into(), &at(2, 7)), None);
        assert!(!group.contains(&at(2, 6)) && !group.contains(&at(13, 7)));
    }

    #[test]
    fn exceptional_sums() {
        let group = small();
        let (s, infinity) = (at(8, 3), None);
        assert_eq!(group.add(&s, &infinity), s);
        assert_eq!(group.add(&infinity, &s), s);
        assert_eq!(group.add(&s, &group.negate(&s)), None);
        assert_eq!(group.add(&s, &s), group.multiply(&2_u32.into(), &s));
        assert_eq!(group.add(&infinity, &infinity), None);
    }
}
