//! The bound on the error of a coefficient, by which a product is exact.
//!
//! Let `u` be 2⁻⁵³, `x` and `y` the vectors of the digits. Exact forward passes are unitary but for a factor, so their relative
//! errors in the Euclidean norm add up, to first order. The norm of an inverse pass is the sum of the greatest
//! coefficients of its blocks. An exact inverse butterfly does not increase it; after the products it is at most
//! `|x||y|`, and at the end it is the greatest coefficient. So with the errors `f` of the forward passes, `5u` of the
//! products of complex numbers, and the errors `i` of the inverse passes, the error of every coefficient is at most
//! `|x||y|·(exp(2Σf + 5u + Σi) − 1)`, and `|x||y| ≤ d·(2ᵇ − 1)²` for `d` digits of `b` bits. Balanced digits are at most 2ᵇ⁻¹ in
//! magnitude but for the last one, which is at most 2ᵇ: then `|x||y| ≤ (d + 3)·2²ᵇ⁻²`.
//!
//! Complex coefficients have two digits each: then `|x|` and `|y|` are those of vectors of `2d` digits.
//!
//! Products are made in pairs `p`, `q`, with their sum and difference. The first product `p` has an error of at most `2u|p|`. The
//! sum adds `q` by two fused operations a part. The first ones make `p` and one part of a factor of `q` times the other factor, at most
//! `|p| + |q|`: so each of the two makes an error of at most `u(|p| + |q|)`. The difference `2p` minus the sum has the same errors and one
//! more of at most `u(|p| + |q|)`. So all errors are at most `5u|p| + 3u|q|`.
//!
//! A digit with an offset times a factor is one fused operation with minus the offset times the factor, rounded. An error `e` of this
//! constant is as an error `e/2¹⁵` of the factor, because the bounds on `|x|` and `|y|` are at least those of digits of 2¹⁵. For balanced digits of 17 and 18 bits it is `e/2¹⁶` and `e/2¹⁷`.
//!
//! The errors of the passes below are in units of `u`. The test `fft_bound` follows the kernels' own instructions,
//! thread by thread, and proves that no pass has a greater error. It includes the errors of the roots in the table.
//!
//! source: the composition and the two norms are ours; products of complex numbers: Jeannerod, Kornerup, Louvet and
//! Muller, "Error bounds on complex floating-point multiplication with an FMA", 2017.

use crate::kernels::transform::layout::{Coefficients, Layout, RADIX};

/// Half the distance from 1 to the next double.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// The error of a coefficient must be smaller: then rounding gives the integer.
const LIMIT: f64 = 0.5;

/// A pass of the transforms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The section of the kernel that has its instructions.
    pub section: &'static str,
    /// The points of a codelet.
    pub radix: u32,
    /// Is it a pass of the forward transforms, whose error is in the Euclidean norm?
    pub forward: bool,
    /// The bound on its relative error, in units of 2⁻⁵³.
    pub error: f64,
}

impl Layout {
    /// The passes, in their order.
    pub(super) fn passes(self) -> Vec<Pass> {
        let pass = |forward: bool, section, radix, error| Pass { section, radix, forward, error };
        let mut passes = Vec::new();
        // A first pass of real digits makes fewer errors, and one whose upper digits are real. Wide digits make more: their offset is no power of two, so it times a root is rounded.
        let first = match (self.parts, self.is_complex(self.longest()), self.has_real_upper_part()) {
            (1, false, _) if self.has_wide_digits() => 13.05,
            (1, false, _) => 11.8,
            (1, true, true) => 12.4,
            (_, _, _) => 13.98,
        };
        if self.parts > 1 {
            passes.push(pass(true, "remainders", self.parts, self.remainders_error()));
        }
        passes.extend([
            pass(true, "forward 1", RADIX, first),
            pass(true, "forward 2", RADIX, 13.98),
            pass(true, "forward 3", self.last(), forward_error(self.last())),
            pass(false, "product", 2, PRODUCTS_ERROR),
            pass(false, "inverse 1", RADIX, AFTER_PRODUCTS_ERROR),
            pass(false, "inverse 2", RADIX, inverse_error(RADIX)),
            pass(false, "inverse 3", self.joins(), joining_error(self.joins())),
            pass(false, "twist", 1, 2.4),
        ]);
        passes
    }

    /// The error of the remainders. Of two parts only one has its offsets taken away before, and that of balanced digits is no power of
    /// two. An imaginary digit of the first part is one more term, one of the second part two products.
    fn remainders_error(self) -> f64 {
        match (self.parts, self.is_balanced(), self.is_complex(self.longest())) {
            (2, false, false) => 2.45,
            (2, false, true) => 2.95,
            (2, true, false) => 3.8,
            (2, true, true) => 4.3,
            (parts, _, false) => remainders_error(parts),
            (6, _, true) if 2 * self.longest() >= self.digits() + self.points => 12.75,
            (parts, _, true) => remainders_error(parts) + 0.35,
        }
    }

    /// The bound on the errors of coefficients if digits have this many bits.
    pub(super) fn bound(self, digit_bits: u32) -> f64 {
        let times = |pass: &Pass| if pass.forward { 2.0 } else { 1.0 };
        let error: f64 = self.passes().iter().map(|pass| times(pass) * pass.error * UNIT).sum();
        // The sums above have relative errors near 2⁻⁵⁰.
        self.norms(digit_bits) * error.exp_m1() * (1.0 + 1e-12)
    }

    /// The product of the norms of the factors, at most, if digits have this many bits.
    pub(super) fn norms(self, digit_bits: u32) -> f64 {
        let digits = match self.coefficients {
            Coefficients::Real => [self.digits(); 2],
            Coefficients::Complex { .. } => [2 * self.limbs[0], 2 * self.limbs[1]],
        };
        let squares = digits.map(|digits| {
            if self.is_balanced() {
                f64::from(digits + 3) * f64::from(2 * digit_bits - 2).exp2()
            } else {
                f64::from(digits) * (f64::from(digit_bits).exp2() - 1.0).powi(2)
            }
        });
        (squares[0] * squares[1]).sqrt()
    }

    /// Is every product exact?
    pub(super) fn is_exact(self) -> bool {
        self.bound(self.digit_bits) < LIMIT
    }
}

/// The error of the sums and differences of products.
pub(super) const PRODUCTS_ERROR: f64 = 5.0;

/// The error of the first inverse pass from its second level on.
pub(super) const AFTER_PRODUCTS_ERROR: f64 = 8.4;

/// The error of the last inverse pass of this radix: its first level, products with roots, and the levels with constant roots.
const fn joining_error(radix: u32) -> f64 {
    match radix {
        2 => 6.4,
        4 => 7.65,
        6 => 12.5,
        8 => 11.4,
        12 => 13.5,
        16 => 15.15,
        24 => 17.5,
        32 => 18.8,
        40 => 20.8,
        _ => 21.4,
    }
}

/// The error of the remainders modulo this number of parts, 3 or more.
pub(super) const fn remainders_error(parts: u32) -> f64 {
    match parts {
        3 => 3.4,
        5 => 8.0,
        6 => 10.3,
        7 => 13.2,
        8 => 15.7,
        9 => 18.4,
        _ => 21.5,
    }
}

/// The error of joining an odd number of parts.
pub(super) const fn odd_error(parts: u32) -> f64 {
    match parts {
        1 => 0.0,
        3 => 6.3,
        5 => 9.9,
        _ => 13.0,
    }
}

/// The error of a forward pass of this radix.
pub(super) const fn forward_error(radix: u32) -> f64 {
    match radix {
        2 => 3.8,
        4 => 7.35,
        8 => 10.75,
        _ => 14.1,
    }
}

/// The error of an inverse pass of this radix.
pub(super) const fn inverse_error(radix: u32) -> f64 {
    match radix {
        1 => 0.0,
        2 => 3.9,
        4 => 7.55,
        8 => 11.05,
        _ => 14.05,
    }
}
