//! Cosine and sine of a fraction of a turn, correctly rounded.
//!
//! An angle is an integer: a turn has [`TURN`] units, which thirds, fifths and many halves of it divide exactly. The series of
//! cosine and sine run in pairs of doubles with an error below 2⁻⁹⁵. The high part of a pair is the nearest double of its
//! value. Tests compare every entry of every table with a computation in long integers.

/// An angle, from zero to less than [`TURN`].
pub(super) type Angle = u64;

/// A whole turn.
pub(super) const TURN: Angle = 15 << 40;

/// A quarter of a turn.
pub(super) const QUARTER: Angle = TURN / 4;

/// `numerator / denominator` turns. The denominator divides [`TURN`].
pub(super) fn turns(numerator: u64, denominator: u64) -> Angle {
    debug_assert!(TURN.is_multiple_of(denominator), "the angle is a whole number of units");
    numerator % denominator * (TURN / denominator)
}

/// The angle in the other direction.
pub(super) const fn opposite(angle: Angle) -> Angle {
    (TURN - angle) % TURN
}

/// Terms of the series for angles to an eighth of a turn: the next term is below 2⁻¹⁰⁵.
const TERMS: u32 = 14;

/// The unevaluated sum of two doubles, the first of which is the nearest double of the sum.
#[derive(Clone, Copy, Debug)]
struct Pair(f64, f64);

impl Pair {
    const PI: Self = Self(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);

    /// `a + b`, where `|a| ≥ |b|` or `a = 0`.
    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        Self(s, b - (s - a))
    }

    fn add(self, other: Self) -> Self {
        let s = self.0 + other.0;
        let t = s - self.0;
        let error = (self.0 - (s - t)) + (other.0 - t);
        Self::sum(s, error + (self.1 + other.1))
    }

    fn mul(self, other: Self) -> Self {
        let p = self.0 * other.0;
        let error = self.0.mul_add(other.0, -p);
        Self::sum(p, error + (self.0 * other.1 + self.1 * other.0))
    }

    fn divide(self, n: f64) -> Self {
        let q = self.0 / n;
        let rest = (-q).mul_add(n, self.0) + self.1;
        Self::sum(q, rest / n)
    }
}

/// Cosine and sine of an angle, each the nearest double.
pub(super) fn cosine_and_sine(angle: Angle) -> [f64; 2] {
    divided_cosine_and_sine(angle, 1)
}

/// Cosine and sine of an angle over a divisor, each the nearest double.
pub(super) fn divided_cosine_and_sine(angle: Angle, divisor: u32) -> [f64; 2] {
    const EIGHTH: Angle = TURN / 8;
    let (octant, within) = (angle / EIGHTH, angle % EIGHTH);
    let part = if octant.is_multiple_of(2) { within } else { EIGHTH - within };
    // Exact: the part has fewer than 53 bits. A half turn is π.
    let x = Pair::PI.mul(Pair(part as f64 / (1_u64 << 39) as f64, 0.0)).divide((TURN >> 40) as f64);
    let minus_square = x.mul(Pair(-x.0, -x.1));
    let nearest = |it: Pair| it.divide(f64::from(divisor)).0;
    let [c, s] = [series(Pair(1.0, 0.0), minus_square, 1), series(x, minus_square, 2)].map(nearest);
    match octant {
        0 => [c, s],
        1 => [s, c],
        2 => [-s, c],
        3 => [-c, s],
        4 => [-c, -s],
        5 => [-s, -c],
        6 => [s, -c],
        _ => [c, -s],
    }
}

/// `first·(1 + z/(k(k+1)) + z²/(k(k+1)(k+2)(k+3)) + …)`.
fn series(first: Pair, z: Pair, k: u32) -> Pair {
    let mut terms = vec![first];
    for i in 0..TERMS {
        let divisor = f64::from((k + 2 * i) * (k + 2 * i + 1));
        terms.push(terms[i as usize].mul(z).divide(divisor));
    }
    // The smallest terms first.
    terms.into_iter().rev().fold(Pair(0.0, 0.0), Pair::add)
}

/// The angles of the points that the levels of a tree reach from the root `x^n = e(angle)`, in the order of the leaves.
pub(super) fn leaves(angle: Angle, levels: u32) -> Vec<Angle> {
    (0..levels).fold(vec![angle], |nodes, _| nodes.into_iter().flat_map(|it| [it / 2, it / 2 + 2 * QUARTER]).collect())
}

/// The roots of a forward codelet of this many levels whose node is `x^n = e(angle)`: one for its first level, then one
/// for each two neighbouring nodes of a level. The root of the second neighbour is `i` times the root of the first.
pub(super) fn tree_roots(angle: Angle, levels: u32) -> Vec<Angle> {
    let of_level = |level| {
        let nodes = leaves(angle, level);
        nodes.into_iter().step_by(2).map(|node| node / 2)
    };
    (0..levels).flat_map(of_level).collect()
}

/// The roots of an inverse codelet of this many levels, for coefficient `j` of transforms of `size` points: for each
/// level of `h` pairs the first half of its roots, or its only one. The roots of the second half are `−i` times
/// the roots of the first.
pub(super) fn inverse_roots(j: u32, size: u32, levels: u32) -> Vec<Angle> {
    let of_level = |level: u32| {
        let pairs = 1_u32 << level;
        let angle = move |k: u32| opposite(turns(u64::from(k * size + j), 2 * u64::from(pairs * size)));
        (0..pairs.div_ceil(2)).map(angle)
    };
    (0..levels).flat_map(of_level).collect()
}
