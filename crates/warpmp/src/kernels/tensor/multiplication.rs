//! A multiplication: what is kept of it, and where its rows are in global memory. `tensor` and `tensor-warpgroup` share this.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_launch::{Entry, Ports};

use super::part::{Addends, Part};
use crate::kernels::OperationShape;

/// A multiplication: a product, a square or a part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) struct Multiplication {
    shape: OperationShape,
    pub(in crate::kernels) part: Part,
}

impl Multiplication {
    /// That of an operation.
    ///
    /// # Panics
    /// If the operation is no multiplication.
    pub(in crate::kernels) fn of(shape: OperationShape) -> Self {
        let part = Part::of(shape);
        assert!(part.is_some(), "the operation is no multiplication");
        Self { shape, part: part.unwrap_or(Part::Whole) }
    }

    /// Limbs of the factors and of their whole product. A square has two equal factors.
    pub(in crate::kernels) fn limbs(self) -> [u32; 3] {
        match *self.shape.operands() {
            [_] => {
                let [a, c] = self.shape.limbs();
                [a, a, c]
            }
            [a, b, ..] => OperationShape::product(a, b).limbs(),
            [] => [0; 3],
        }
    }

    /// The limbs of the product that are kept.
    pub(in crate::kernels) fn kept(self) -> Range<u32> {
        let [half, _, all] = self.limbs();
        self.part.kept(half, all)
    }

    /// Do all lanes have the same factor `i`?
    pub(in crate::kernels) fn is_common(self, i: usize) -> bool {
        self.shape.operands()[self.operand_of(i)].common
    }

    /// Begins the kernel with this name.
    pub(in crate::kernels) fn open(self, entry: &Entry, name: &str) -> (Builder, Ports) {
        let operands = self.shape.operands().len();
        let result = if self.part == Part::Whole { "c" } else { "result0" };
        entry.open(name, Glue::None, &[&["a", "b", "c"][..operands], &[result]].concat(), false)
    }

    /// The row of factor `i`, 0 or 1.
    pub(in crate::kernels) fn factor(self, b: &mut Builder, ports: &Ports, product: R32, i: usize) -> R64 {
        self.operand(b, ports, product, self.operand_of(i))
    }

    /// The row of the result, as if all limbs of the product were kept.
    pub(in crate::kernels) fn result(self, b: &mut Builder, ports: &Ports, product: R32) -> R64 {
        let kept = self.kept();
        let row = b.mad_wide(product, 4 * kept.len() as u32, ports.addresses[self.shape.operands().len()]);
        if kept.start == 0 { row } else { b.sub64(row, u64::from(4 * kept.start)) }
    }

    /// What is added to a product.
    pub(in crate::kernels) fn addends(self, b: &mut Builder, ports: &Ports, product: R32) -> Addends {
        Addends::of(b, self.part, self.limbs()[0], |b, i| self.operand(b, ports, product, i))
    }

    /// The name of its kernel, but for the settings.
    pub(in crate::kernels) fn name(self, algorithm: &str) -> String {
        let Self { shape, part } = self;
        if part != Part::Whole {
            return format!("{}_{algorithm}", shape.name());
        }
        match (shape.operands(), self.limbs()) {
            ([_], [a, _, c]) => format!("sqr_{algorithm}_{a}_{c}"),
            _ => format!("mul_{algorithm}_{}", shape.product_name()),
        }
    }

    /// The operand that is factor `i`.
    fn operand_of(self, i: usize) -> usize {
        i.min(self.shape.operands().len() - 1)
    }

    fn operand(self, b: &mut Builder, ports: &Ports, product: R32, i: usize) -> R64 {
        let operand = self.shape.operands()[i];
        let address = ports.addresses[i];
        if operand.common { address } else { b.mad_wide(product, 4 * operand.limbs(), address) }
    }
}
