//! The shape of a kernel: an operation with the widths of its operands and results.

use warpmp_launch::Rows;

use crate::batch::Shape;
use crate::error::Result;
use crate::operation::{Operation, Role, product_bits};

/// The widest operand of kernels that a group of lanes or a block of threads holds in its registers, in bits.
pub(crate) const GROUP_BITS: u32 = 65536;

/// An operation has at most this many operands.
const MAX_OPERANDS: usize = 3;

/// An operation has at most this many results, the status included.
const MAX_RESULTS: usize = 4;

/// An operand of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperandShape {
    /// Bits a lane.
    pub bits: u32,
    /// Does one integer serve every lane?
    pub common: bool,
}

impl OperandShape {
    /// One integer of this many bits for each lane.
    pub const fn each(bits: u32) -> Self {
        Self { bits, common: false }
    }

    /// One integer of this many bits for all lanes.
    pub const fn common(bits: u32) -> Self {
        Self { bits, common: true }
    }

    /// Limbs a lane.
    pub const fn limbs(self) -> u32 {
        self.bits.div_ceil(32)
    }

    /// The same operand with all bits of its limbs.
    pub(super) const fn whole(self) -> Self {
        Self { bits: 32 * self.limbs(), ..self }
    }

    /// Its part of the name of a kernel that is made for limbs, not bits.
    pub fn name(self) -> String {
        format!("_{}{}", self.limbs(), if self.common { "c" } else { "" })
    }
}

impl From<OperandShape> for Rows {
    fn from(operand: OperandShape) -> Self {
        Self { limbs: operand.limbs(), common: operand.common }
    }
}

/// An operation with the widths of its operands and results: what a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperationShape {
    /// The operation.
    pub operation: Operation,
    operands: [OperandShape; MAX_OPERANDS],
    results: [u32; MAX_RESULTS],
    counts: [usize; 2],
}

impl OperationShape {
    /// The operation on operands of these shapes.
    ///
    /// # Errors
    /// As [`Operation::results`].
    pub fn new(operation: Operation, operands: &[Shape]) -> Result<Self> {
        let found = operation.results(operands)?;
        let lanes = found.iter().map(|shape| shape.lanes).max().unwrap_or(0);
        let mut shape = Self {
            operation,
            operands: Default::default(),
            results: Default::default(),
            counts: [operands.len(), found.len()],
        };
        for (own, operand) in shape.operands.iter_mut().zip(operands) {
            *own = OperandShape { bits: operand.bits as u32, common: operand.lanes < lanes };
        }
        for (own, result) in shape.results.iter_mut().zip(&found) {
            *own = result.bits as u32;
        }
        Ok(shape)
    }

    /// The product `a·b`.
    pub const fn product(a: OperandShape, b: OperandShape) -> Self {
        let bits = product_bits(a.bits as usize, b.bits as usize) as u32;
        let (operands, results) = ([a, b, OperandShape::each(0)], [bits, 0, 0, 0]);
        Self { operation: Operation::Mul, operands, results, counts: [2, 1] }
    }

    /// The low half of the product `a·b` of factors of equal lengths.
    pub(super) const fn low_product(a: OperandShape, b: OperandShape) -> Self {
        let (operands, results) = ([a, b, OperandShape::each(0)], [a.bits, 0, 0, 0]);
        Self { operation: Operation::MulLo, operands, results, counts: [2, 1] }
    }

    /// The square `a²` of operands of this many bits.
    pub const fn square(bits: u32) -> Self {
        let none = OperandShape::each(0);
        let results = [product_bits(bits as usize, bits as usize) as u32, 0, 0, 0];
        Self { operation: Operation::Sqr, operands: [OperandShape::each(bits), none, none], results, counts: [1, 1] }
    }

    /// The operands, in their order.
    pub fn operands(&self) -> &[OperandShape] {
        &self.operands[..self.counts[0]]
    }

    /// Bits of the results, in their order; the status is the last one.
    pub fn results(&self) -> &[u32] {
        &self.results[..self.counts[1]]
    }

    /// Limbs of the first `N` operands and results, the operands first; 0 where there are fewer.
    pub const fn limbs<const N: usize>(&self) -> [u32; N] {
        let [operands, results] = self.counts;
        let mut limbs = [0; N];
        let mut i = 0;
        while i < N {
            if i < operands {
                limbs[i] = self.operands[i].limbs();
            } else if i < operands + results {
                limbs[i] = self.results[i - operands].div_ceil(32);
            }
            i += 1;
        }
        limbs
    }

    /// Does one integer serve every lane as operand `i`?
    pub const fn is_common(&self, i: usize) -> bool {
        i < self.counts[0] && self.operands[i].common
    }

    /// Bits of the widest operand.
    pub fn max_bits(&self) -> u32 {
        self.operands().iter().map(|operand| operand.bits).max().unwrap_or(0)
    }

    /// Limbs of the longest operand.
    pub fn max_limbs(&self) -> u32 {
        self.max_bits().div_ceil(32)
    }

    /// Does the straight-line code of a kernel stay short enough: are all operands and results within [`GROUP_BITS`], and
    /// what may be twice as wide within twice of it?
    pub(super) fn is_within_group(&self) -> bool {
        let mut operands = self.operands().iter().zip(self.operation.operands());
        let twice = 2 * GROUP_BITS + 1;
        operands.all(|(it, operand)| it.bits <= if operand.role == Role::ReducedProduct { twice } else { GROUP_BITS })
            && self.results().iter().all(|bits| *bits <= twice)
    }

    /// Wide products of each limb of the first operand with each limb of the second.
    pub fn limb_products(&self) -> u64 {
        self.limbs::<2>().into_iter().map(u64::from).product()
    }

    /// The same with its first two operands in the other order.
    pub(crate) const fn swapped(mut self) -> Self {
        let [a, b, _] = self.operands;
        (self.operands[0], self.operands[1]) = (b, a);
        self
    }

    /// The same product with a first result of this many limbs: its lower ones.
    pub(super) const fn truncated(mut self, limbs: u32) -> Self {
        self.results[0] = 32 * limbs;
        self
    }

    /// The same product of two's complements.
    pub(super) const fn signed(mut self) -> Self {
        self.operation = Operation::SignedMul;
        self
    }

    /// The same product and an addend.
    pub(super) const fn plus(mut self, addend: OperandShape) -> Self {
        self.operation = Operation::MulAdd;
        self.operands[2] = addend;
        self.counts = [3, 1];
        self
    }

    /// Everything in a kernel's name: operation, constant, bits of the operands, `c` for common ones.
    pub fn name(&self) -> String {
        use std::fmt::Write as _;
        let mut name = self.operation.name().to_owned();
        if let Some(constant) = self.operation.constant() {
            let _ = write!(name, "_by{constant}");
        }
        for OperandShape { bits, common } in self.operands() {
            let _ = write!(name, "_{bits}{}", if *common { "c" } else { "" });
        }
        name
    }

    /// The part of the name of a product's kernel that says limbs: `{a}x{b}_{c}`, with `_common` for a common `b`.
    pub fn product_name(&self) -> String {
        let [la, lb, lc] = self.limbs();
        format!("{la}x{lb}_{lc}{}", if self.is_common(1) { "_common" } else { "" })
    }
}
