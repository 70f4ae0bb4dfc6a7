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

/// Operands for an operation, all as wide as `shape` says but for bits and for products below `m·R`, and such
/// that no lane is at fault: moduli, divisors and candidates are odd and have their top bit, what must be below has it not.
pub(crate) fn for_operation(
    operation: Operation,
    pattern: Pattern,
    shape: Shape,
    common: bool,
) -> Result<Vec<Batch<'static>>> {
    let operand = |(i, role): (usize, Role)| {
        // The carry runs in a product by all ones.
        let ripple = pattern == Pattern::Ripple && operation.arity() > 1 && i == 0;
        let pattern = if ripple { Pattern::Ones } else { pattern };
        let lanes = if common && i + 1 == operation.arity() { 1 } else { shape.lanes };
        let shape = Shape::new(lanes, tuning::operand_bits(role, shape.bits));
        let mut limbs = operands(pattern, shape, 0, i as u64 + 1)?.into_limbs();
        tuning::make_valid(role, shape, &mut limbs);
        Ok(Batch::from_limbs(shape, limbs)?)
    };
    operation.operands().iter().map(|operand| operand.role).enumerate().map(operand).collect()
}
