//! Products modulo `Bᴺ ± 1` in sequences, and whole products that are made from them.
//!
//! Modulo `Bᴺ + 1` the coefficients from `Bᴺ` on wrap around with the other sign. `H` is the number that they make.
//!
//! bound: of factors of `n` and `k` limbs, `k ≤ n ≤ N`, `H ≤ a·b / Bᴺ < B^k` if digits have no signs. That is so where a block has the transform, as it has at most 2048 points. In
//! four steps `N ≥ n + 8`, digits may have signs, and `−2²⁹ < H < B^(k−8) + 2²⁹`: see `unwrap.rs`.

use std::ops::RangeInclusive;

use warpmp_launch::Spec;

use super::product::{Extra, LEAST_LIMBS, TENSOR_LIMBS, factors};
use super::sequence::{ALIGNED_LIMBS, SECTOR_LIMBS, Steps};
use super::source::Number;
use super::unwrap::Unwrap;
use crate::kernels::OperationShape;
use crate::kernels::fft::large::Large;
use crate::kernels::fft::{BLOCK_LIMBS, Fft, complex_points, wrapped_limbs};
use crate::kernels::tensor::Tensor;

/// The limbs `n` for which products modulo `Bⁿ − 1` are by `tensor`: with fewer `ptxas` spills registers.
const CYCLIC_LIMBS: RangeInclusive<u32> = 384..=512;

/// The limbs of the longer factor for which a product from its lower limbs and from that modulo `Bⁿ + 1` is faster, as measured; then those for which a square is.
const WRAPPED_LIMBS: [[RangeInclusive<u32>; 8]; 2] = [
    [1025..=1072, 1150..=1440, 1537..=1824, 2049..=2656, 3073..=3712, 4097..=4992, 5121..=5568, 6145..=7679],
    [1025..=1072, 1150..=1328, 1537..=1792, 2049..=2592, 3073..=3584, 4097..=4992, 5121..=5376, 6145..=6528],
];

/// Limbs that a product modulo `Bᴺ + 1` has above those of its longer factor, at least, unless it has as many.
const LIMBS_ABOVE: u32 = 8;

/// What wraps around in a product modulo `Bᴺ + 1` whose digits have signs is greater than minus this number.
const EXCESS: u32 = 1 << 29;

impl Steps {
    /// `a·b` modulo `Bⁿ − 1`, for `n` limbs of `a`, by `tensor`: `n` limbs, and a limb of 0 or 1. None: another kernel is faster, or there is none.
    pub(super) fn cyclic_product(&mut self, a: Number, b: Number) -> Option<Number> {
        let n = a.limbs;
        if !CYCLIC_LIMBS.contains(&n) || b.limbs > n {
            return None;
        }
        let factors = if self.operand_shape(b).common && !self.operand_shape(a).common { [a, b] } else { [b, a] };
        let shapes = factors.map(|it| self.operand_shape(it));
        let spec = Tensor::cyclic(shapes, &self.tensor_settings(), factors.map(Number::within))?;
        self.count_product(n);
        let product = self.reserve(n + ALIGNED_LIMBS);
        let [first, second] = factors;
        self.push(Box::new(spec), [first, second, product]);
        Some(product.section(0, n + 1))
    }

    /// `a·b` modulo `Bᴺ + 1`: a signed number of `N + 1` limbs, in magnitude below `2²⁹·Bᴺ`. `N` is the number `n` of limbs of `a`, or greater by
    /// [`LIMBS_ABOVE`] or more. None: there is no kernel for that, or it would not be faster.
    pub(super) fn product_modulo(&mut self, a: Number, b: Number) -> Option<Number> {
        let n = a.limbs;
        if n < TENSOR_LIMBS[0] {
            return None;
        }
        if n > self.most_of_block() {
            return self.product_in_four_steps(a, b);
        }
        let points = complex_points(n.max(b.limbs))?;
        let is_far = points == n || points >= n + LIMBS_ABOVE;
        (is_far && points < n + b.limbs).then(|| self.product_in_block(a, b, points))
    }

    /// The lower `n` limbs of `a·b − H`, `n` limbs of `a`, for a number `H` that wraps around, and a number `e` so that `0 ≤ H + e < Bᵏ`, `k` limbs of `b`. `H` is
    /// 0 where no shorter product is faster.
    ///
    /// `b` is not longer than `a`.
    pub(super) fn product_less_wrapped(&mut self, a: Number, b: Number) -> (Number, u32) {
        let n = a.limbs;
        if n > self.most_of_block()
            && let Some(product) = self.product_modulo(a, b)
        {
            return (product.section(0, n), EXCESS);
        }
        let points = complex_points(n).filter(|_| n > TENSOR_LIMBS[0]);
        let product = match points {
            Some(points) => self.product_in_block(a, b, points),
            None => self.lower_product(a, b, n),
        };
        (product.section(0, n), 0)
    }

    /// `a·b`, if its lower limbs are known, as many as the longer factor has or more.
    pub(super) fn product_above(&mut self, [a, b]: [Number; 2], low: Number) -> Number {
        let product = self.reserve(a.limbs + b.limbs);
        let longest = a.limbs.max(b.limbs);
        match complex_points(longest).filter(|_| longest >= TENSOR_LIMBS[0]) {
            Some(n) if n < product.limbs => {
                let shape = self.product_shape([a, b], false, Extra::Nothing);
                let transform = Fft::wrapped(shape, n).expect("there is a division for these limbs");
                self.unwrap([a, b], Extra::Nothing, (transform, n), low, product);
            }
            _ => self.multiply(a, b, product),
        }
        product
    }

    /// `a·b` modulo `Bᴺ + 1` by a transform of `N` points in a block: `N + 1` limbs, or the product if it has no more than `N`. Digits have no signs, so nothing
    /// that wraps around is negative.
    fn product_in_block(&mut self, a: Number, b: Number, points: u32) -> Number {
        let [first, second] = self.common_second(a, b);
        let [x, y] = [first, second].map(|it| self.operand_shape(it));
        let spec = Fft::modulo(x, y, points).expect("there is a division for these limbs");
        debug_assert!(!spec.is_balanced(), "digits have no signs");
        let limbs = (a.limbs + b.limbs).min(points + 1);
        self.push_modulo(Box::new(spec), [first, second], limbs)
    }

    /// The same in four steps, if that takes fewer points than the product. `N` is greater than the limbs of `a` by [`LIMBS_ABOVE`] or more.
    fn product_in_four_steps(&mut self, a: Number, b: Number) -> Option<Number> {
        let factors = self.common_second(a, b);
        let [x, y] = factors.map(|it| self.operand_shape(it));
        let spec = Large::modulo(x, y, a.limbs + LIMBS_ABOVE)?;
        let whole = Large::new(OperationShape::product(x, y))?;
        let limbs = spec.result_limbs();
        (spec.digits() < whole.digits()).then(|| self.push_modulo(Box::new(spec), factors, limbs))
    }

    /// The factors, a common one second.
    fn common_second(&self, a: Number, b: Number) -> [Number; 2] {
        let is_common = |it: Number| self.operand_shape(it).common;
        if is_common(a) && !is_common(b) { [b, a] } else { [a, b] }
    }

    fn push_modulo(&mut self, spec: Box<dyn Spec>, factors: [Number; 2], limbs: u32) -> Number {
        self.count_product(factors[0].limbs.max(factors[1].limbs));
        let [first, second] = self.rows(factors);
        let product = self.reserve(limbs);
        self.push(spec, [first, second, product]);
        product
    }

    /// The limbs `n` if the lowest `limbs` limbs of `a·b` shall come from the product modulo `Bⁿ + 1`.
    pub(super) fn wrapped(&self, a: Number, b: Number, limbs: u32) -> Option<u32> {
        let longest = a.limbs.max(b.limbs);
        // The transform is in a block, though one of the whole product may not be.
        let in_block = longest <= BLOCK_LIMBS || self.settings.blocks == Some(true);
        if self.is_shared || !in_block || !WRAPPED_LIMBS[usize::from(a == b)].iter().any(|it| it.contains(&longest)) {
            return None;
        }
        let all = a.limbs + b.limbs;
        let fits = |n: &u32| limbs == all || (all - n + 2..=*n).contains(&limbs);
        wrapped_limbs(a.limbs, b.limbs).filter(fits)
    }

    /// `a·b` to a row, or the lower limbs that it has, from its lower limbs and from the product modulo `Bⁿ + 1`.
    pub(super) fn multiply_wrapped(&mut self, [a, b]: [Number; 2], extra: Extra, n: u32, product: Number) {
        let mark = self.mark();
        let is_square = a == b && !self.operand_shape(a).common;
        let shape = self.product_shape([a, b], is_square, extra).truncated(product.limbs);
        let transform = Fft::wrapped(shape, n).expect("there is a division for these limbs");
        // The lower limbs of the factors are enough for those of the product.
        let above = transform.limbs_above([a.limbs + b.limbs, product.limbs], n);
        let lower = above.max(LEAST_LIMBS).next_multiple_of(SECTOR_LIMBS);
        let [x, y] = if lower > a.limbs.min(b.limbs) { [a, b] } else { [a, b].map(|it| it.section(0, lower)) };
        let low = self.lower_product(x, y, lower);
        self.unwrap([a, b], extra, (transform, n), low, product);
        self.release(mark);
    }

    /// `a·b` to a row by its transform modulo `Bⁿ + 1` and by its lower limbs.
    fn unwrap(&mut self, [a, b]: [Number; 2], extra: Extra, (transform, n): (Fft, u32), low: Number, product: Number) {
        if self.notes.is_empty() {
            self.notes = transform.notes();
        }
        let is_square = a == b && !self.operand_shape(a).common;
        let is_signed = transform.is_balanced();
        let above = transform.limbs_above([a.limbs + b.limbs, product.limbs], n);
        let longest = a.limbs.max(b.limbs);
        self.count_product(longest);
        self.has_long_blocks |= longest > BLOCK_LIMBS;
        let [a, b] = self.rows([a, b]);
        self.push(Box::new(transform), factors([a, b], is_square, extra).into_iter().chain([product]));
        let (of_complements, addend) = match extra {
            Extra::Nothing => (false, None),
            Extra::Signs => (true, None),
            Extra::Addend(addend) => (false, Some(addend)),
        };
        let unwrap = Unwrap { low, result: product, modulus: n, above, is_signed, of_complements, addend };
        let rows = unwrap.rows();
        self.push(Box::new(unwrap), rows);
    }
}
