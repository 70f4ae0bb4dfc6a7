//! The operations: what they take, and what they give.
//!
//! ```text
//! mod.rs     what may be asked of an operation
//! table.rs   the operations, a row each
//! row.rs     what a row says
//! status.rs  what the data of a lane may be at fault in
//! ```

/// Declares the operations and their table: one row a variant. A number in parentheses is the constant that
/// [`Operation::ALL`] and [`Operation::named`] give an operation that has one.
macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $(($constant:literal))? = $row:expr;)*) => {
        /// An operation on batches, lane by lane.
        ///
        /// `p`, `q`, `r` are the bits of the operands in their order. An operand with one lane serves every lane of
        /// the others. Integers are unsigned unless a two's complement is named; its bits above the width are zero
        /// in a batch, as those of any other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[$doc])* $variant $((operations!(@type $constant)))?,)*
        }

        impl Operation {
            /// Every operation; one that has a constant with an example of it.
            pub const ALL: &'static [Self] = &[$(Self::$variant $(($constant))?,)*];

            pub(super) fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant { .. } => {
                        const ROW: Row = $row;
                        &ROW
                    })*
                }
            }

            /// The constant that is a part of the operation, such as the distance of a shift; none for most.
            pub const fn constant(self) -> Option<u32> {
                match self {
                    $($(Self::$variant(n) => operations!(@some $constant n),)?)*
                    _ => None,
                }
            }

            /// The operation with another constant; itself if it has none.
            pub const fn with_constant(self, constant: u32) -> Self {
                match self {
                    $($(Self::$variant(_) => operations!(@with $constant Self::$variant, constant),)?)*
                    other => other,
                }
            }
        }
    };
    (@type $constant:literal) => { u32 };
    (@some $constant:literal $n:ident) => { Some($n) };
    (@with $constant:literal $variant:expr, $n:ident) => { $variant($n) };
}

mod row;
mod status;
mod table;

use std::fmt;

use crate::batch::Shape;
use crate::error::{Error, Result};
use row::Widths;
pub(crate) use row::product_bits;
pub use row::{Group, Operand, Role};
pub use status::{STATUS_BITS, Status, Statuses};
pub use table::Operation;

/// The widest operand of any operation, in bits.
pub const MAX_BITS: usize = 65536;

/// The widest operand of a multiplication, in bits.
pub const MUL_MAX_BITS: usize = MAX_BITS;

impl Operation {
    /// The name in tables and in the library: that of the method of [`Session`](crate::Session). People read it with `-`
    /// between the words, as the command line has it: [`fmt::Display`].
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The operation of this name, words joined by `_` or `-`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.iter().copied().find(|operation| operation.name() == name)
    }

    /// What it computes, in a line.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The family it belongs to.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Its operands.
    pub fn operands(self) -> &'static [Operand] {
        self.row().operands
    }

    /// How many operands it takes.
    pub fn arity(self) -> usize {
        self.operands().len()
    }

    /// What each result is called, but for the status.
    pub fn result_names(self) -> &'static [&'static str] {
        self.row().results
    }

    /// What the results are called, one or several together.
    pub fn results_name(self) -> &'static str {
        match self.result_names() {
            [one] => one,
            _ => "results",
        }
    }

    /// Is this result, by its number, a two's complement?
    pub fn is_signed(self, result: usize) -> bool {
        match self {
            Self::Sub
            | Self::Neg
            | Self::Cmp
            | Self::SignedMul
            | Self::SignedAdd
            | Self::SignedSub
            | Self::SignedNeg
            | Self::SignedCmp
            | Self::SignExtend(_)
            | Self::FromSignMagnitude => result == 0,
            Self::GcdExt => result == 2,
            _ => false,
        }
    }

    /// Do the values of the results depend on the widths of the operands, and not on their values alone?
    pub fn depends_on_widths(self) -> bool {
        match self {
            Self::MulLo
            | Self::MulHi
            | Self::SignedMul
            | Self::Not
            | Self::WrappingAdd
            | Self::WrappingSub
            | Self::WrappingNeg
            | Self::WrappingShl(_)
            | Self::CarryingAdd
            | Self::BorrowingSub
            | Self::SignedAdd
            | Self::SignedSub
            | Self::SignedNeg
            | Self::SignedCmp
            | Self::SignExtend(_)
            | Self::ToSignMagnitude => true,
            other => other.group() == Group::Montgomery,
        }
    }

    /// Is the last result a status a lane, of [`STATUS_BITS`] bits?
    pub fn has_status(self) -> bool {
        self.row().status
    }

    /// The widest operand, in bits.
    pub fn max_bits(self) -> usize {
        self.row().max_bits
    }

    /// The operation on operands of these shapes, for people: its name, widths and lanes, and what it gives.
    ///
    /// # Errors
    /// As [`Operation::results`].
    pub fn describe(self, operands: &[Shape]) -> Result<String> {
        Ok(self.described(operands, &self.results(operands)?))
    }

    /// [`Operation::describe`] for results that are known.
    pub(crate) fn described(self, operands: &[Shape], results: &[Shape]) -> String {
        let lanes = results.first().map_or(0, |shape| shape.lanes);
        let widths = |shapes: &[Shape], between| {
            shapes.iter().map(|shape| shape.bits.to_string()).collect::<Vec<_>>().join(between)
        };
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (results, status) = results.split_at(self.result_names().len());
        let status =
            if status.is_empty() { String::new() } else { format!(", and a status of {STATUS_BITS} bits a lane") };
        format!(
            "{self}: {} bits, {lanes} lane{}, result{} of {} bits{status}",
            widths(operands, " × "),
            plural(lanes),
            plural(results.len()),
            widths(results, " and ")
        )
    }

    /// The shapes of the results for operands of these shapes, the status last if there is one. An operand
    /// with one lane serves every lane of the others.
    ///
    /// # Errors
    /// [`Error::OperandCount`]; [`Error::ZeroBits`]; [`Error::TooWide`] for an operand;
    /// [`Error::ResultTooWide`] for a constant that makes a result too wide; [`Error::ShapeMismatch`] if two operands differ in lanes and neither has one.
    pub fn results(self, operands: &[Shape]) -> Result<Vec<Shape>> {
        if operands.len() != self.arity() {
            return Err(Error::OperandCount { operation: self, expected: self.arity(), found: operands.len() });
        }
        if operands.iter().any(|shape| shape.bits == 0) {
            return Err(Error::ZeroBits);
        }
        let limit = self.max_bits();
        if let Some(wide) = operands.iter().find(|shape| shape.bits > limit) {
            return Err(Error::TooWide { bits: wide.bits, limit });
        }
        let lanes = common_lanes(operands)?;
        let bits: Vec<usize> = operands.iter().map(|shape| shape.bits).collect();
        let constant = self.constant().unwrap_or(0);
        let mut widths = (self.row().widths)(&Widths { bits: &bits, constant });
        // No operation makes a result wider than this, but for a large constant.
        if let Some(wide) = widths.iter().find(|bits| **bits > 2 * limit + 1) {
            return Err(Error::ResultTooWide { operation: self, bits: *wide, limit: 2 * limit + 1 });
        }
        if self.has_status() {
            widths.push(STATUS_BITS);
        }
        Ok(widths.into_iter().map(|bits| Shape::new(lanes, bits)).collect())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().replace('_', "-"))
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
        for &operation in Operation::ALL {
            assert_eq!(Operation::named(operation.name()), Some(operation));
        }
        assert_eq!(Operation::named("abacus"), None);
        assert_eq!(Operation::named("add-mod"), Some(Operation::AddMod));
    }

    #[test]
    fn constants() {
        assert_eq!(Operation::Shl(7).constant(), Some(7));
        assert_eq!(Operation::Shl(7).with_constant(9), Operation::Shl(9));
        assert_eq!((Operation::Add.constant(), Operation::Add.with_constant(9)), (None, Operation::Add));
        assert_eq!(Operation::named("shr"), Some(Operation::Shr(1)));
    }

    #[test]
    fn result_shapes() {
        let shape = Shape::new;
        assert_eq!(Operation::Mul.results(&[shape(7, 131), shape(1, 64)]), Ok(vec![shape(7, 195)]));
        assert_eq!(Operation::Mul.results(&[shape(1, 131), shape(7, 64)]), Ok(vec![shape(7, 195)]));
        assert_eq!(Operation::Mul.results(&[shape(7, 131), shape(7, 1)]), Ok(vec![shape(7, 131)]));
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
        let error = Operation::Shl(1 << 20).results(&[shape(1, 2)]).unwrap_err();
        assert_eq!(error.to_string(), "'shl' would give a result of 1048578 bits; at most 131073 are supported");
    }

    #[test]
    fn a_status_is_no_result() {
        let shapes = |lanes, count| vec![Shape::new(lanes, 64); count];
        let of = |operation: Operation, lanes| operation.describe(&shapes(lanes, operation.arity())).unwrap();
        assert_eq!(of(Operation::Mul, 1), "mul: 64 × 64 bits, 1 lane, result of 128 bits");
        assert_eq!(of(Operation::Sqrt, 9), "sqrt: 64 bits, 9 lanes, results of 32 and 33 bits");
        assert_eq!(
            of(Operation::DivRem, 9),
            "div-rem: 64 × 64 bits, 9 lanes, results of 64 and 64 bits, and a status of 32 bits a lane"
        );
        assert_eq!(format!("{:<9}|{}", Operation::PowMod, Operation::PowMod.name()), "pow-mod  |pow_mod");
    }

    /// Bits of the results for operands of 131, 64 and 109 bits.
    #[test]
    fn result_bits() {
        let cases: &[(Operation, &[usize])] = &[
            (Operation::MulLo, &[131]),
            (Operation::MulHi, &[64]),
            (Operation::MulAdd, &[195]),
            (Operation::Add, &[132]),
            (Operation::CarryingAdd, &[131, 1]),
            (Operation::Cmp, &[2]),
            (Operation::Select, &[109]),
            (Operation::Shl(5), &[136]),
            (Operation::Shr(31), &[100]),
            (Operation::Shr(131), &[1]),
            (Operation::DivRem, &[131, 64, 32]),
            (Operation::GcdExt, &[131, 64, 132]),
            (Operation::Sqrt, &[66, 67]),
            (Operation::MulMod, &[109, 32]),
            (Operation::Redc, &[64, 32]),
        ];
        for (operation, expected) in cases {
            let operands: Vec<Shape> = [131, 64, 109][..operation.arity()].iter().map(|p| Shape::new(3, *p)).collect();
            let found: Vec<usize> = operation.results(&operands).unwrap().iter().map(|shape| shape.bits).collect();
            assert_eq!(found, *expected, "{operation}");
        }
    }
}
