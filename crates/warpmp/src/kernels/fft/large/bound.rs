//! The bound on the error of a coefficient of a long product.
//!
//! As for short products (`fft/bound.rs`), with more passes. Balanced digits are at most 2ᵇ⁻¹ in magnitude, and the last
//! one at most 2ᵇ: so `|x||y| ≤ (d + 3)·4ᵇ⁻¹`. Complex coefficients make it `2d` for `d`.

use super::super::bound::{
    AFTER_PRODUCTS_ERROR, PRODUCTS_ERROR, Pass, UNIT, forward_error, inverse_error, odd_error, remainders_error,
};
use super::split::Split;

/// A root that is a product of two entries of a table has an error of at most 3.42 units, by the errors of the entries
/// (half a unit in the last place of each part) and of their product (2 units); a product with it makes 2 more.
const TURN: f64 = 5.45;

/// As [`TURN`], with one factor more: 8.13 units. A test that takes real and imaginary parts apart finds a little more.
const TURN_BACK: f64 = 9.8;

/// A root over the number of digits is the nearest pair of doubles: at most a unit; a product with it makes 2 more.
const TWIST: f64 = 3.25;

impl Split {
    /// The passes, in their order. The name of a pass is its section in one of the kernels.
    pub(super) fn passes(self) -> Vec<Pass> {
        if self.is_short() {
            return self.passes_of_short_columns();
        }
        let down = |section, radix, error| Pass { section, radix, forward: true, error };
        let up = |section, radix, error| Pass { section, radix, forward: false, error };
        let mut passes = Vec::new();
        if self.parts > 1 {
            passes.push(down("remainders", self.parts, self.remainders_error()));
        }
        for (radix, (number, section)) in self.radices().into_iter().zip((0..).zip(["down 1", "down 2", "down 3"])) {
            let error = if number == 0 && self.parts == 1 { 11.8 } else { forward_error(radix) };
            passes.push(down(section, radix, error));
        }
        passes.extend(self.passes_of_rows());
        passes.push(up("up 1", 16, 9.4));
        if self.joined() > 16 {
            passes.push(up("up 2", 16, inverse_error(16)));
        }
        let joins = self.last() * self.parts;
        if joins > 1 {
            passes.push(up("up 3", joins, inverse_error(self.last()) + odd_error(self.parts)));
        }
        passes.push(up("twist", 1, TWIST));
        passes
    }

    /// The error of the remainders. Those of all parts at once have fewer operations one after the other; those of complex coefficients are sums
    /// of two.
    fn remainders_error(self) -> f64 {
        let is_complex = self.most_digits() > self.digits();
        match (self.parts_together(), self.parts) {
            (true, 3) if is_complex => 4.3,
            (true, 5) if is_complex => 8.0,
            (true, _) if is_complex => 10.3,
            (true, 3) => 2.4,
            (true, 5) => 5.0,
            (true, _) => 6.65,
            (false, parts) => remainders_error(parts),
        }
    }

    /// As [`passes`](Self::passes), where rows come from the digits at once.
    fn passes_of_short_columns(self) -> Vec<Pass> {
        let mut passes = vec![Pass {
            section: "remainders",
            radix: self.rows(),
            forward: true,
            error: remainders_error(self.rows()),
        }];
        passes.extend(self.passes_of_rows());
        let error = match self.rows() {
            7 => 11.0,
            8 => 6.6,
            _ => 13.0,
        };
        passes.push(Pass { section: "up 1", radix: self.rows(), forward: false, error });
        passes.push(Pass { section: "twist", radix: 1, forward: false, error: TWIST });
        passes
    }

    /// The passes of the rows, after they have their coefficients.
    fn passes_of_rows(self) -> [Pass; 9] {
        let last = self.width / 256;
        [
            ("row", 16, true, forward_error(16)),
            ("turn", 1, true, TURN),
            ("forward 2", 16, true, forward_error(16)),
            ("forward 3", last, true, forward_error(last)),
            ("product", 2, false, PRODUCTS_ERROR),
            ("inverse 1", 16, false, AFTER_PRODUCTS_ERROR),
            ("inverse 2", 16, false, inverse_error(16)),
            ("inverse 3", last, false, inverse_error(last)),
            ("turn back", 1, false, TURN_BACK),
        ]
        .map(|(section, radix, forward, error)| Pass { section, radix, forward, error })
    }

    /// The bound on the errors of coefficients.
    pub(super) fn bound(self) -> f64 {
        let times = |pass: &Pass| if pass.forward { 2.0 } else { 1.0 };
        let error: f64 = self.passes().iter().map(|pass| times(pass) * pass.error * UNIT).sum();
        let digit = f64::from(1_u32 << (self.digit_bits - 1));
        // The sums above have relative errors near 2⁻⁵⁰.
        (f64::from(self.most_digits()) + 3.0) * digit * digit * error.exp_m1() * (1.0 + 1e-12)
    }

    /// Is every product exact?
    pub(super) fn is_exact(self) -> bool {
        self.bound() < 0.5
    }
}
