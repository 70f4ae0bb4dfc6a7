//! A multiplication: what is kept of it, and where its rows are in global memory. `tensor` and `tensor-warpgroup` share this.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_launch::{Entry, Ports, prefetch_row};

use super::layout::PIECE_LIMBS;
use super::part::{Addends, Part};
use crate::kernels::{OperandShape, OperationShape, piece};

/// A multiplication: a product, a square or a part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) struct Multiplication {
    shape: OperationShape,
    pub(in crate::kernels) part: Part,
    /// The rows in which the factors are, where they are longer than the factors.
    within: [Option<Within>; 2],
}

/// A longer row that contains a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) struct Within {
    /// Limbs from the row of a lane to that of the next.
    pub(in crate::kernels) limbs: u32,
    /// The limb of the row at which the number begins.
    pub(in crate::kernels) from: u32,
}

impl Multiplication {
    /// That of an operation.
    ///
    /// # Panics
    /// If the operation is no multiplication.
    pub(in crate::kernels) fn of(shape: OperationShape) -> Self {
        let part = Part::of(shape);
        assert!(part.is_some(), "the operation is no multiplication");
        Self { shape, part: part.unwrap_or(Part::Whole), within: [None; 2] }
    }

    /// The product modulo `B^n − 1`, where the longer factor has `n` limbs.
    pub(in crate::kernels) fn cyclic(a: OperandShape, b: OperandShape) -> Self {
        let limbs = a.limbs().max(b.limbs()) + PIECE_LIMBS;
        Self { shape: OperationShape::product(a, b).truncated(limbs), part: Part::Cyclic, within: [None; 2] }
    }

    /// The same for factors in longer rows.
    pub(in crate::kernels) fn within(self, within: [Option<Within>; 2]) -> Self {
        Self { within, ..self }
    }

    /// Limbs of the factors and of their whole product, or of the product modulo `B^n − 1`. A square has two equal factors.
    pub(in crate::kernels) fn limbs(self) -> [u32; 3] {
        if self.part == Part::Cyclic {
            return self.shape.limbs();
        }
        match *self.shape.operands() {
            [_] => {
                let [a, c] = self.shape.limbs();
                [a, a, c]
            }
            [a, b, ..] => OperationShape::product(a, b).limbs(),
            [] => [0; 3],
        }
    }

    /// Are both factors the same number?
    pub(in crate::kernels) fn is_square(self) -> bool {
        self.shape.operands().len() == 1 && self.within[0] == self.within[1]
    }

    /// The widest accesses, in words, that the rows of the factors allow.
    pub(in crate::kernels) fn pieces(self) -> [u32; 2] {
        let limbs = self.limbs();
        [0, 1].map(|i| {
            let Within { limbs: row, from } = self.within[i].unwrap_or(Within { limbs: limbs[i], from: 0 });
            [limbs[i], row, from].into_iter().map(piece).min().unwrap_or(1)
        })
    }

    /// Limbs from factor `i` of a lane to that of the next: none if all lanes have the same.
    pub(in crate::kernels) fn stride(self, i: usize) -> u32 {
        let row = self.within[i].map_or(self.limbs()[i], |it| it.limbs);
        if self.shape.operands()[self.operand_of(i)].common { 0 } else { row }
    }

    /// The limbs of the product that are kept.
    pub(in crate::kernels) fn kept(self) -> Range<u32> {
        let [half, _, all] = self.limbs();
        self.part.kept(half, all)
    }

    /// Begins the kernel with this name.
    pub(in crate::kernels) fn open(self, entry: &Entry, name: &str) -> (Builder, Ports) {
        let operands = self.shape.operands().len();
        let result = if self.part == Part::Whole { "c" } else { "result0" };
        entry.open(name, Glue::None, &[&["a", "b", "c"][..operands], &[result]].concat(), false)
    }

    /// The row of factor `i`, 0 or 1.
    pub(in crate::kernels) fn factor(self, b: &mut Builder, ports: &Ports, product: R32, i: usize) -> R64 {
        let address = ports.addresses[self.operand_of(i)];
        let stride = self.stride(i);
        let row = if stride == 0 { address } else { b.mad_wide(product, 4 * stride, address) };
        match self.within[i] {
            Some(Within { from, .. }) if from > 0 => b.add64(row, u64::from(4 * from)),
            Some(_) | None => row,
        }
    }

    /// The row of the result, as if all limbs of the product were kept.
    pub(in crate::kernels) fn result(self, b: &mut Builder, ports: &Ports, product: R32) -> R64 {
        let kept = self.kept();
        let row = b.mad_wide(product, 4 * kept.len() as u32, ports.addresses[self.shape.operands().len()]);
        if kept.start == 0 { row } else { b.sub64(row, u64::from(4 * kept.start)) }
    }

    /// What is added to a product.
    pub(in crate::kernels) fn addends(self, b: &mut Builder, ports: &Ports, product: R32) -> Addends {
        Addends::of(b, self.part, self.limbs()[0], |b, i| {
            if i < self.within.len() { self.factor(b, ports, product, i) } else { self.addend(b, ports, product) }
        })
    }

    /// Asks the second-level cache to load the addend of a product, if it has one. The digits wait for its row, and no lane has read it before.
    pub(in crate::kernels) fn prefetch(self, b: &mut Builder, ports: &Ports, lane: R32, product: R32) {
        let Part::Sum(limbs) = self.part else { return };
        if self.shape.operands()[2].common {
            return;
        }
        let row = self.addend(b, ports, product);
        prefetch_row(b, (lane, 32), (row, 4 * limbs), None);
    }

    /// The name of its kernel, but for the settings.
    pub(in crate::kernels) fn name(self, algorithm: &str) -> String {
        let Self { shape, part, within } = self;
        let rows = within.iter().flatten().map(|Within { limbs, from }| format!("_from_{from}_of_{limbs}"));
        let rows: String = rows.collect();
        if part == Part::Cyclic {
            return format!("mul_{algorithm}_cyclic_{}{rows}", shape.product_name());
        }
        if part != Part::Whole {
            return format!("{}_{algorithm}{rows}", shape.name());
        }
        match (shape.operands(), self.limbs()) {
            ([_], [a, _, c]) => format!("sqr_{algorithm}_{a}_{c}{rows}"),
            _ => format!("mul_{algorithm}_{}{rows}", shape.product_name()),
        }
    }

    /// The operand that is factor `i`.
    fn operand_of(self, i: usize) -> usize {
        i.min(self.shape.operands().len() - 1)
    }

    /// The row of what is added.
    fn addend(self, b: &mut Builder, ports: &Ports, product: R32) -> R64 {
        let operand = self.shape.operands()[2];
        let address = ports.addresses[2];
        if operand.common { address } else { b.mad_wide(product, 4 * operand.limbs(), address) }
    }
}
