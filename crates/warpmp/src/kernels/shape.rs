//! What a kernel of any operation is made for.

use crate::batch::Shape;
use crate::error::Result;
use crate::operation::Operation;

/// Operands of an operation at the most.
const MAX_OPERANDS: usize = 3;

/// Results of an operation at the most, a status included.
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
    /// Limbs a lane.
    pub const fn limbs(self) -> u32 {
        self.bits.div_ceil(32)
    }
}

/// An operation with the widths of its operands and results.
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

    /// The operands, in their order.
    pub fn operands(&self) -> &[OperandShape] {
        &self.operands[..self.counts[0]]
    }

    /// Bits of the results, in their order; that of a status is the last.
    pub fn results(&self) -> &[u32] {
        &self.results[..self.counts[1]]
    }

    /// Bits of the widest operand.
    pub fn max_bits(&self) -> u32 {
        self.operands().iter().map(|operand| operand.bits).max().unwrap_or(0)
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
}
