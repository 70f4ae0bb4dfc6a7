//! Operands by pattern for the commands, such that no lane is at fault.

use warpmp::{Batch, Error as LibraryError, Operation, Shape, operation::Role, tuning};
pub(crate) use warpmp_oracle::pattern::BLOCK_LANES;

use crate::{
    args::Pattern,
    error::{Error, Result},
};

/// Lanes from `first_lane` (a multiple of [`BLOCK_LANES`]) of the sequence that `pattern` and `seed` name.
pub(crate) fn operands(pattern: Pattern, shape: Shape, first_lane: u64, seed: u64) -> Result<Batch<'static>> {
    warpmp_oracle::pattern::operands(pattern.into(), shape, first_lane, seed).map_err(|error| match error {
        LibraryError::OutOfMemory { required_bytes, .. } => Error::Memory { bytes: required_bytes },
        other => other.into(),
    })
}

/// How the operands of an operation differ from operands of one width, one of each for every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Bits of the first operand for each bit of the others.
    pub(crate) first_ratio: usize,
    /// Have all lanes one last operand?
    pub(crate) common: bool,
}

impl Form {
    /// Operands that do not differ.
    pub(crate) const EQUAL: Self = Self { first_ratio: 1, common: false };

    /// Does the operation take a first operand of any width beside the width of the others? A residue is below its modulus, and a bit
    /// has no width.
    pub(crate) fn has_free_first(operation: Operation) -> bool {
        match operation.operands() {
            [first, others @ ..] => {
                first.role == Role::Integer && others.iter().any(|other| !matches!(other.role, Role::Bit))
            }
            [] => false,
        }
    }

    /// The shapes of the operands. `shape` has the lanes of the batch and the bits of the operands after the first.
    fn shapes(self, operation: Operation, shape: Shape) -> impl Iterator<Item = Shape> {
        operation.operands().iter().enumerate().map(move |(i, operand)| {
            let lanes = if self.common && i + 1 == operation.arity() { 1 } else { shape.lanes };
            let ratio = if i == 0 { self.first_ratio } else { 1 };
            Shape::new(lanes, ratio * tuning::operand_bits(operand.role, shape.bits))
        })
    }
}

/// Operands for an operation, all as wide as `shape` and the form say but for bits and for products below `m·R`, and such
/// that no lane is at fault: moduli, divisors and candidates are odd and have their top bit, what must be below has it not.
pub(crate) fn for_operation(
    operation: Operation,
    pattern: Pattern,
    shape: Shape,
    form: Form,
) -> Result<Vec<Batch<'static>>> {
    let shapes: Vec<Shape> = form.shapes(operation, shape).collect();
    // A width that no engine takes is an error before memory is.
    operation.results(&shapes)?;
    let operand = |(i, shape): (usize, Shape)| {
        // The carry runs in a product by all ones.
        let ripple = pattern == Pattern::Ripple && operation.arity() > 1 && i == 0;
        let pattern = if ripple { Pattern::Ones } else { pattern };
        let mut limbs = operands(pattern, shape, 0, i as u64 + 1)?.into_limbs();
        tuning::make_valid(operation.operands()[i].role, shape, &mut limbs);
        Ok(Batch::from_limbs(shape, limbs)?)
    };
    shapes.into_iter().enumerate().map(operand).collect()
}
