//! The operations: what they take, and what they give.

use std::fmt;

use crate::batch::Shape;
use crate::error::{Error, Result};

/// The widest operand of a multiplication, in bits.
pub const MUL_MAX_BITS: usize = 65536;

/// An operation on batches, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Operation {
    /// `a·b`, all bits.
    Mul,
    /// `a²`, all bits.
    Sqr,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 2] = [Self::Mul, Self::Sqr];

    /// The name on the command line, in tables and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mul => "mul",
            Self::Sqr => "sqr",
        }
    }

    /// The operation of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// How many operands it takes.
    pub const fn arity(self) -> usize {
        match self {
            Self::Mul => 2,
            Self::Sqr => 1,
        }
    }

    /// What the results are called, one or several together.
    pub const fn results_name(self) -> &'static str {
        match self {
            Self::Mul => "products",
            Self::Sqr => "squares",
        }
    }

    /// The widest operand, in bits.
    pub const fn max_bits(self) -> usize {
        match self {
            Self::Mul | Self::Sqr => MUL_MAX_BITS,
        }
    }

    /// The shapes of the results for operands of these shapes. An operand with one lane serves every lane
    /// of the others.
    ///
    /// # Errors
    /// [`Error::OperandCount`]; [`Error::TooWide`]; [`Error::ShapeMismatch`] if two operands differ in
    /// lanes and neither has one.
    pub fn results(self, operands: &[Shape]) -> Result<Vec<Shape>> {
        if operands.len() != self.arity() {
            return Err(Error::OperandCount { operation: self, expected: self.arity(), found: operands.len() });
        }
        let limit = self.max_bits();
        if let Some(wide) = operands.iter().find(|shape| shape.bits > limit) {
            return Err(Error::TooWide { bits: wide.bits, limit });
        }
        let lanes = common_lanes(operands)?;
        let bits = match self {
            Self::Mul => operands[0].bits + operands[1].bits,
            Self::Sqr => 2 * operands[0].bits,
        };
        Ok(vec![Shape::new(lanes, bits)])
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of lanes that all operands with more than one have.
fn common_lanes(operands: &[Shape]) -> Result<usize> {
    operands.iter().try_fold(1, |lanes, operand| match (lanes, operand.lanes) {
        (1, n) | (n, 1) => Ok(n),
        (m, n) if m == n => Ok(n),
        (lanes_a, lanes_b) => Err(Error::ShapeMismatch { lanes_a, lanes_b }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for operation in Operation::ALL {
            assert_eq!(Operation::named(operation.name()), Some(operation));
        }
        assert_eq!(Operation::named("abacus"), None);
    }

    #[test]
    fn result_shapes() {
        let shape = Shape::new;
        assert_eq!(Operation::Mul.results(&[shape(7, 131), shape(1, 64)]), Ok(vec![shape(7, 195)]));
        assert_eq!(Operation::Mul.results(&[shape(1, 131), shape(7, 64)]), Ok(vec![shape(7, 195)]));
        assert_eq!(Operation::Sqr.results(&[shape(7, 131)]), Ok(vec![shape(7, 262)]));
        assert_eq!(
            Operation::Mul.results(&[shape(7, 1), shape(6, 1)]),
            Err(Error::ShapeMismatch { lanes_a: 7, lanes_b: 6 })
        );
        assert_eq!(
            Operation::Sqr.results(&[shape(7, 1), shape(7, 1)]),
            Err(Error::OperandCount { operation: Operation::Sqr, expected: 1, found: 2 })
        );
        assert_eq!(
            Operation::Sqr.results(&[shape(1, 65537)]),
            Err(Error::TooWide { bits: 65537, limit: MUL_MAX_BITS })
        );
    }
}
