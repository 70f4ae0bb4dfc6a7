//! How the digits of a product are divided.
//!
//! ```text
//! digits       d = parts·points digits of b bits: the coefficients of a polynomial modulo x^d − i. They have 16 bits, or 17 or 18 where a shorter
//!              transform holds the factors then
//! balanced     from 8192 digits on, and wider digits: digit j is u_j − 2ᵇ·[u_j ≥ 2ᵇ⁻¹] + [u_{j−1} ≥ 2ᵇ⁻¹] for the unsigned digits u, and the
//!              last one stays unsigned. So the bound holds for 12288 digits, and no chain of carries is needed
//! ```

use super::BLOCK_LIMBS;
use crate::kernels::OperationShape;
use crate::kernels::transform::angle::{Angle, QUARTER};
use crate::kernels::transform::layout::{Coefficients, DIGIT_BITS, Layout, Numbers, most_imaginary};
use crate::kernels::transform::limbs;
use crate::operation::Operation;

/// Parts and points of a part. Of two divisions with equal digits the first is the usual one.
const DIVISIONS: [[u32; 2]; 12] = [
    [1, 512],
    [1, 1024],
    [3, 512],
    [1, 2048],
    [3, 1024],
    [2, 2048],
    [2, 512],
    [2, 1024],
    [3, 2048],
    [2, 4096],
    [5, 2048],
    [6, 2048],
];

/// Bits of a digit. Of two divisions into equally many digits the one with fewer bits is taken.
const WIDTHS: [u32; 3] = [DIGIT_BITS, 17, 18];

/// Points of the only part if the coefficients of factors are complex. As many limbs have the modulus.
const COMPLEX_POINTS: [u32; 3] = [512, 1024, 2048];

/// The fewest points for complex coefficients of so many limbs.
pub(in crate::kernels) fn complex_points(limbs: u32) -> Option<u32> {
    COMPLEX_POINTS.into_iter().find(|&points| points >= limbs)
}

/// The divisions of products modulo `Bⁿ + 1` from which a product is made: `n` limbs have as many digits.
const WRAPPED_DIVISIONS: [[u32; 2]; 9] =
    [[1, 512], [1, 1024], [1, 2048], [3, 1024], [2, 2048], [3, 2048], [2, 4096], [5, 2048], [6, 2048]];

/// The limbs `n` of the shortest product modulo `Bⁿ + 1` from which a product of factors of these limbs can be made.
pub(in crate::kernels) fn wrapped_limbs(a: u32, b: u32) -> Option<u32> {
    let fits = |[parts, points]: &[u32; 2]| {
        let n = parts * points;
        n < a + b && 2 * a.max(b) < n + most_imaginary(*parts, *points)
    };
    // Of two transforms the longer one leaves a shorter product of lower limbs.
    WRAPPED_DIVISIONS.into_iter().rfind(fits).map(|[parts, points]| parts * points)
}

impl Layout {
    /// The shortest division for these operands, or the shortest one with `2^levels` parts if there is one. For more limbs than a usual block
    /// takes, levels only ask for a block.
    pub(super) fn of_doubles(shape: OperationShape, levels: Option<u32>) -> Self {
        let square = shape.operands().len() == 1;
        let limbs = limbs(shape);
        let bits = 32 * limbs[0].max(limbs[1]);
        let of = |([parts, points], digit_bits): ([u32; 2], u32)| Self {
            limbs,
            square,
            is_signed: shape.operation == Operation::SignedMul,
            points,
            parts,
            angle: QUARTER,
            digit_bits,
            numbers: Numbers::Doubles,
            coefficients: Coefficients::Real,
        };
        let shortest = |parts: Option<u32>| {
            let possible = |it: &Self| {
                it.digits() * it.digit_bits >= bits
                    && parts.is_none_or(|parts| parts == it.parts)
                    && (it.digit_bits == DIGIT_BITS || !it.is_long() && it.has_room())
            };
            let all = WIDTHS.into_iter().flat_map(|width| DIVISIONS.map(|division| of((division, width))));
            all.filter(|it| possible(it) && it.is_exact()).min_by_key(|it| it.digits())
        };
        let asked = levels.filter(|_| bits <= 32 * BLOCK_LIMBS).and_then(|levels| shortest(Some(1 << levels)));
        asked.or_else(|| shortest(None)).unwrap_or_else(|| of(([2, 2048], DIGIT_BITS)))
    }

    /// The division of a product modulo `Bⁿ + 1` for so many limbs `n`, also in the row of a whole product, or of a product of at most `n` limbs, if there is
    /// one.
    pub(super) fn of_complex_doubles(shape: OperationShape, n: u32) -> Option<Self> {
        let [a, b, c] = limbs(shape);
        let real = Self::of_doubles(shape, None);
        let coefficients = Coefficients::Complex { has_top: c > n };
        let layout =
            Self { limbs: [a, b, c.min(n)], parts: 1, points: n, digit_bits: DIGIT_BITS, coefficients, ..real };
        let has_row = c == a + b || c == n + 1 && c < a + b;
        let fits = COMPLEX_POINTS.contains(&n) && a.max(b) <= n && has_row && !layout.square;
        (fits && layout.is_exact()).then_some(layout)
    }

    /// The division of a product modulo `Bⁿ + 1` in whose row the product has room, or of some of its lower limbs, if there is one.
    pub(super) fn of_wrapped_doubles(shape: OperationShape, n: u32) -> Option<Self> {
        let [parts, points] = WRAPPED_DIVISIONS.into_iter().find(|[parts, points]| parts * points == n)?;
        let [a, b, c] = limbs(shape);
        let coefficients = Coefficients::Complex { has_top: c > n };
        let real = Self::of_doubles(shape, None);
        let layout = Self { limbs: [a, b, c.min(n)], parts, points, digit_bits: DIGIT_BITS, coefficients, ..real };
        (layout.has_real_upper_part() && layout.is_exact()).then_some(layout)
    }

    /// The roots of the table: their angles and divisors.
    pub(super) fn roots(self) -> Vec<(Angle, u32)> {
        self.angles().into_iter().map(|angle| (angle, 1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::OperandShape;

    /// Coefficients of the longest factors that wrap around are positive with the excess, and below 2⁴⁶.
    #[test]
    fn coefficients_that_lack_products_are_made_positive() {
        let greatest_product = u64::from(u16::MAX).pow(2);
        for [parts, points] in WRAPPED_DIVISIONS {
            let n = parts * points;
            let limbs = u32::midpoint(n, most_imaginary(parts, points)) - 1;
            let factor = OperandShape::each(32 * limbs);
            let product = OperationShape::product(factor, factor);
            for shape in [product, product.signed()] {
                let layout = Layout::of_wrapped_doubles(shape, n).unwrap();
                let [digits, returning] = [2 * limbs, layout.returning()].map(u64::from);
                assert_eq!(returning, 2 * digits - u64::from(2 * n));
                let excess = u64::from(layout.entering()) * u64::from(u16::MAX);
                if layout.is_balanced() {
                    let greatest = (digits + 3) << 30;
                    assert!(greatest < excess && excess + greatest < 1 << 45);
                    continue;
                }
                let of_signs = if layout.is_signed { 2 * (1 << 15) * u64::from(u16::MAX) } else { 0 };
                let least = returning * greatest_product + of_signs;
                assert!(least <= excess && digits * greatest_product + excess < 1 << 46);
            }
        }
    }
}
