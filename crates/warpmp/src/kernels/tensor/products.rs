//! The products of a warp, one after the other, and where their rows are.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Ports, piece};

use super::multiplication::Multiplication;
use super::part::Addends;
use super::warps::{Place, Warps};

/// Where the rows of products are.
pub(in crate::kernels) trait Rows {
    /// The row of factor `i`, 0 or 1, of a product.
    fn factor(&self, b: &mut Builder, product: R32, i: usize) -> R64;

    /// The row of its result, as if all limbs of the product were kept.
    fn result(&self, b: &mut Builder, product: R32) -> R64;

    /// What is added to it.
    fn addends(&self, b: &mut Builder, product: R32) -> Addends;

    /// Asks the second-level cache to load the row that is added to it, if there is one. All lanes of a warp do this.
    fn prefetch(&self, b: &mut Builder, lane: R32, product: R32);

    /// Limbs from the rows of a product, two factors and the result, to those of the next. None: the distances differ.
    fn strides(&self) -> Option<[u32; 3]>;
}

/// The rows of an operation.
pub(super) struct Own<'p> {
    pub(super) multiplication: Multiplication,
    pub(super) ports: &'p Ports,
}

impl Rows for Own<'_> {
    fn factor(&self, b: &mut Builder, product: R32, i: usize) -> R64 {
        self.multiplication.factor(b, self.ports, product, i)
    }

    fn result(&self, b: &mut Builder, product: R32) -> R64 {
        self.multiplication.result(b, self.ports, product)
    }

    fn addends(&self, b: &mut Builder, product: R32) -> Addends {
        self.multiplication.addends(b, self.ports, product)
    }

    fn prefetch(&self, b: &mut Builder, lane: R32, product: R32) {
        self.multiplication.prefetch(b, self.ports, lane, product);
    }

    fn strides(&self) -> Option<[u32; 3]> {
        let [a, b] = [0, 1].map(|i| self.multiplication.stride(i));
        Some([a, b, self.multiplication.kept().len() as u32])
    }
}

/// The products of a warp: `product`, which there is, and others below `end`, each `warps.count` after the one before.
pub(super) struct Products<'p, R> {
    pub(super) rows: &'p R,
    pub(super) multiplication: Multiplication,
    pub(super) warps: Warps,
    pub(super) product: R32,
    pub(super) end: R32,
}

impl<R: Rows> Products<'_, R> {
    /// Goes on to the next product.
    pub(super) fn advance(&self, b: &mut Builder) {
        b.increase(self.product, self.warps.count);
    }

    /// Is there this product?
    pub(super) fn is_there(&self, b: &mut Builder) -> Pred {
        b.compare(Cmp::Lt, self.product, self.end)
    }

    /// The product before this one.
    pub(super) fn before(&self, b: &mut Builder) -> R32 {
        b.sub(self.product, self.warps.count)
    }

    /// The address of the lane's first words in the row of factor `i`. Each lane has `words` neighbours.
    pub(super) fn factor(&self, b: &mut Builder, place: &Place, i: usize, words: u32) -> R64 {
        let row = self.rows.factor(b, self.product, i);
        b.mad_wide(place.lane, 4 * words, row)
    }

    /// The address of the lane's first piece of a product, as if all of its limbs were kept.
    pub(super) fn result(&self, b: &mut Builder, place: &Place, product: R32) -> R64 {
        let row = self.rows.result(b, product);
        let [_, _, limbs] = self.multiplication.limbs();
        b.mad_wide(place.lane, 4 * piece(limbs), row)
    }
}
