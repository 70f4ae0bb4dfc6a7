//! Cosine and sine of a fraction of a turn, correctly rounded.
//!
//! An angle is an integer: a turn has [`TURN`] units, which ninths, sevenths, fifths and many halves of it divide exactly. The bound on
//! the errors stands in [`double_double`]. Tests compare every entry of every table with a computation in long integers.

use warpmp_simd::double_double;

/// An angle, from zero to less than [`TURN`].
pub(in crate::kernels) type Angle = u64;

/// A whole turn.
pub(in crate::kernels) const TURN: Angle = 315 << 40;

/// A quarter of a turn.
pub(in crate::kernels) const QUARTER: Angle = TURN / 4;

/// `numerator / denominator` turns. The denominator divides [`TURN`].
pub(in crate::kernels) fn turns(numerator: u64, denominator: u64) -> Angle {
    debug_assert!(TURN.is_multiple_of(denominator), "the angle is a whole number of units");
    numerator % denominator * (TURN / denominator)
}

/// The angle in the other direction.
pub(in crate::kernels) const fn opposite(angle: Angle) -> Angle {
    (TURN - angle) % TURN
}

/// Cosine and sine of an angle, each the nearest double.
pub(in crate::kernels) fn cosine_and_sine(angle: Angle) -> [f64; 2] {
    divided_cosine_and_sine(angle, 1)
}

/// Cosine and sine of an angle over a divisor, each the nearest double.
pub(in crate::kernels) fn divided_cosine_and_sine(angle: Angle, divisor: u32) -> [f64; 2] {
    double_double::cosine_and_sine(angle, TURN).map(|it| it.divide(f64::from(divisor)).nearest())
}

/// The tangent of an angle of at most an eighth of a turn, the nearest double.
pub(in crate::kernels) fn tangent(angle: Angle) -> f64 {
    debug_assert!(angle <= QUARTER / 2, "the tangent is at most 1");
    let [cosine, sine] = double_double::cosine_and_sine(angle, TURN);
    (sine / cosine).nearest()
}

/// The angles of the points that the levels of a tree reach from the root `x^n = e(angle)`, in the order of the leaves.
pub(in crate::kernels) fn leaves(angle: Angle, levels: u32) -> Vec<Angle> {
    (0..levels).fold(vec![angle], |nodes, _| nodes.into_iter().flat_map(|it| [it / 2, it / 2 + 2 * QUARTER]).collect())
}

/// The roots of a forward codelet of this many levels whose node is `x^n = e(angle)`: one for its first level, then one
/// for each two neighbouring nodes of a level. The root of the second neighbour is `i` times the root of the first.
pub(in crate::kernels) fn tree_roots(angle: Angle, levels: u32) -> Vec<Angle> {
    let of_level = |level| {
        let nodes = leaves(angle, level);
        nodes.into_iter().step_by(2).map(|node| node / 2)
    };
    (0..levels).flat_map(of_level).collect()
}

/// The roots of an inverse codelet of this many levels, for coefficient `j` of transforms of `size` points: for each
/// level of `h` pairs the first half of its roots, or its only one. The roots of the second half are `−i` times
/// the roots of the first.
pub(in crate::kernels) fn inverse_roots(j: u32, size: u32, levels: u32) -> Vec<Angle> {
    let of_level = |level: u32| {
        let pairs = 1_u32 << level;
        let angle = move |k: u32| opposite(turns(u64::from(k * size + j), 2 * u64::from(pairs * size)));
        (0..pairs.div_ceil(2)).map(angle)
    };
    (0..levels).flat_map(of_level).collect()
}
