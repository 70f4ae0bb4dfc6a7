//! Products in sequences.
//!
//! A product is by `tensor` where that is faster for many products, else by `fft`. The lengths where one follows the other are
//! measured for the kernels of this folder, which are fewer than those of the shipped table.

use warpmp_launch::Spec;

use super::sequence::Steps;
use super::source::Number;
use crate::kernels::fft::large::Large;
use crate::kernels::fft::{BLOCK_LIMBS, Fft, MOST_LIMBS_OF_BLOCK, complex_points};
use crate::kernels::tensor::{self, LowProduct, Tensor};
use crate::kernels::{FftSettings, OperationShape, TensorSettings};

/// The longer factor of a product has at least this many limbs here.
pub(super) const LEAST_LIMBS: u32 = *tensor::LIMBS.start();

/// The limbs of the longest factor of products, and of the longest number whose square is by `tensor`.
pub(super) const TENSOR_LIMBS: [u32; 2] = [512, 416];

/// What a product has besides its factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    Nothing,
    /// The factors, of whole limbs and equally long, are two's complements.
    Signs,
    /// A number that is added, no longer than the longer factor.
    Addend(Number),
}

impl Steps {
    /// `a·b` to a row, or its lower limbs as many as the row has. The longer factor has at least [`LEAST_LIMBS`] limbs; of a part of a
    /// product that is no low half, 129.
    pub(super) fn multiply(&mut self, a: Number, b: Number, product: Number) {
        self.multiply_with([a, b], Extra::Nothing, product);
    }

    /// Does a product of so many limbs take in what it has besides these factors? Their transform in a block does.
    pub(super) fn takes_in(&self, [a, b]: [Number; 2], extra: Extra, limbs: u32) -> bool {
        let longest = a.limbs.max(b.limbs);
        let in_block =
            longest > TENSOR_LIMBS[0] && longest <= self.most_of_block() || self.wrapped(a, b, limbs).is_some();
        match extra {
            Extra::Nothing => true,
            Extra::Signs => in_block && a.limbs == b.limbs,
            Extra::Addend(addend) => in_block && addend.limbs <= longest,
        }
    }

    /// The same with something besides that [it takes in](Self::takes_in).
    pub(super) fn multiply_with(&mut self, [a, b]: [Number; 2], extra: Extra, product: Number) {
        assert!(self.takes_in([a, b], extra, product.limbs), "no other kernel has what is added");
        let is_common = |it: Number| self.operand_shape(it).common;
        let longest = a.limbs.max(b.limbs);
        let is_whole = product.limbs == a.limbs + b.limbs;
        if extra == Extra::Nothing
            && let Some(shape) = self.low_half([a, b], product.limbs)
        {
            let spec = LowProduct::within(shape, &self.tensor_settings(), [a, b].map(Number::within));
            self.count_product(longest);
            self.push(Box::new(spec), [a, b, product]);
            return;
        }
        if let Some(n) = self.wrapped(a, b, product.limbs) {
            return self.multiply_wrapped([a, b], extra, n, product);
        }
        let by_tensor = is_whole && longest <= TENSOR_LIMBS[usize::from(a == b)];
        // A square transforms one factor; for `tensor` it is a product of two. A common one stays a product of two, too: only operands
        // of products can be common.
        let is_square = a == b && !is_common(a) && !by_tensor;
        // A common factor second. Else `tensor` takes the shorter one first, `fft` the longer one.
        let swaps = if is_common(a) == is_common(b) {
            if by_tensor { a.limbs > b.limbs } else { a.limbs < b.limbs }
        } else {
            is_common(a)
        };
        let (a, b) = if swaps { (b, a) } else { (a, b) };
        let [a, b] = if by_tensor { [a, b] } else { self.rows([a, b]) };
        let shape = self.product_shape([a, b], is_square, extra).truncated(product.limbs);
        let most = self.most_of_block();
        self.has_long_blocks |= longest > BLOCK_LIMBS && longest <= most;
        self.count_product(longest);
        let by_fft = |a: u32, b: u32| {
            let usual = Fft::new(shape, &FftSettings::default());
            // A product of unequal factors may have fewer points with complex coefficients.
            let is_plain = is_whole && !is_square && extra == Extra::Nothing;
            let complex = complex_points(a + b).filter(|&points| is_plain && points < usual.digits());
            complex.and_then(|points| Fft::modulo(shape.operands()[0], shape.operands()[1], points)).unwrap_or(usual)
        };
        let spec: Box<dyn Spec> = if by_tensor {
            Box::new(Tensor::within(shape, &self.tensor_settings(), [a, b].map(Number::within)))
        } else if longest <= most {
            Box::new(by_fft(a.limbs, b.limbs))
        } else {
            Box::new(Large::new(shape).expect("the factors have at most the limbs of the longest product"))
        };
        self.push(spec, factors([a, b], is_square, extra).into_iter().chain([product]));
    }

    /// `a·b` in scratch memory. Where both are short, one gets zeros above it.
    pub(in crate::kernels) fn product(&mut self, a: Number, b: Number) -> Number {
        let is_short = a.limbs.max(b.limbs) < LEAST_LIMBS;
        let longer = if is_short { self.part(a.source(), LEAST_LIMBS) } else { a };
        let (a, b) = (longer, if a == b { longer } else { b });
        let product = self.reserve(a.limbs + b.limbs);
        self.multiply(a, b, product);
        product
    }

    /// The lower limbs of `a·b`, at least these.
    pub(super) fn lower_product(&mut self, a: Number, b: Number, limbs: u32) -> Number {
        if a.limbs.max(b.limbs) <= TENSOR_LIMBS[0] && self.low_half([a, b], limbs).is_none() {
            return self.product(a, b);
        }
        let product = self.reserve(limbs.min(a.limbs + b.limbs));
        self.multiply(a, b, product);
        product
    }

    /// The shape of the low half of `a·b`, if both factors have `limbs` limbs and `tensor` takes them.
    fn low_half(&self, factors: [Number; 2], limbs: u32) -> Option<OperationShape> {
        let [a, b] = factors.map(|it| self.operand_shape(it));
        let shape = OperationShape::low_product(a, b);
        (factors.iter().all(|it| it.limbs == limbs) && (tensor::PARTS.fits)(shape)).then_some(shape)
    }

    /// Counts a product with a factor of so many limbs.
    pub(super) const fn count_product(&mut self, longest: u32) {
        let counts = self.counts();
        counts.products += 1;
        if longest > counts.longest {
            counts.longest = longest;
        }
    }

    /// A block takes several products, unless the first lane is launched alone.
    pub(super) fn tensor_settings(&self) -> TensorSettings {
        let alone = self.is_shared.then_some(1);
        TensorSettings { warps: alone, products: alone }
    }

    /// The limbs of the longest factor of a product that a block has.
    pub(super) fn most_of_block(&self) -> u32 {
        if self.settings.blocks == Some(true) { MOST_LIMBS_OF_BLOCK } else { BLOCK_LIMBS }
    }

    /// A product of two numbers with something besides, or the square of the first one.
    pub(super) fn product_shape(&self, [a, b]: [Number; 2], is_square: bool, extra: Extra) -> OperationShape {
        if is_square {
            return OperationShape::square(32 * a.limbs);
        }
        let shape = OperationShape::product(self.operand_shape(a), self.operand_shape(b));
        match extra {
            Extra::Nothing => shape,
            Extra::Signs => shape.signed(),
            Extra::Addend(addend) => shape.plus(self.operand_shape(addend)),
        }
    }

    /// Rows that are the factors of a product. Equal factors have one row.
    pub(super) fn rows(&mut self, [a, b]: [Number; 2]) -> [Number; 2] {
        let first = self.row(a);
        [first, if a == b { first } else { self.row(b) }]
    }
}

/// The rows that a product reads.
pub(super) fn factors([a, b]: [Number; 2], is_square: bool, extra: Extra) -> Vec<Number> {
    let second = (!is_square).then_some(b);
    let addend = match extra {
        Extra::Nothing | Extra::Signs => None,
        Extra::Addend(addend) => Some(addend),
    };
    [a].into_iter().chain(second).chain(addend).collect()
}
