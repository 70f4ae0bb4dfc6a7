//! The operations: their operands, their results, their faults.
//!
//! ```text
//! table.rs         the operations, one row each
//! row.rs           the fields of a row
//! mod.rs           the questions that a row answers
//! precondition.rs  the faults of a lane's operands, by the roles of the operands
//! status.rs        the status of a lane
//! ```

/// Declares the operations and their table, group by group, one row an operation.
///
/// The number in parentheses is the constant that [`Operation::ALL`] and [`Operation::named`] give an operation that has a
/// constant. Each group also gets a pattern macro under its lower-case name, which matches all operations of the group: a
/// `match` on [`Operation`] names the operations that it serves and closes with the patterns of the other groups, so that a
/// new operation does not compile where it is forgotten.
macro_rules! operations {
    ($($group:ident $pattern:ident {
        $($(#[$doc:meta])* $variant:ident $(($constant:literal))? = $row:expr;)*
    })*) => {
        /// An operation on batches, lane by lane.
        ///
        /// `p`, `q`, `r` are the bits of the operands in their order. An operand with one lane serves every lane of
        /// the others. Integers are unsigned unless the description says two's complement. A batch stores a two's
        /// complement as its bit pattern: the bits above its width are zero.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operation {
            $($($(#[$doc])* $variant $((operations!(@type $constant)))?,)*)*
        }

        impl Operation {
            /// Every operation; an operation with a constant has an example of it.
            pub const ALL: &'static [Self] = &[$($(Self::$variant $(($constant))?,)*)*];

            /// The family of the operation.
            pub const fn group(self) -> Group {
                match self {
                    $($(Self::$variant { .. })|* => Group::$group,)*
                }
            }

            pub(super) fn row(self) -> &'static Row {
                match self {
                    $($(Self::$variant { .. } => {
                        const ROW: Row = $row;
                        &ROW
                    })*)*
                }
            }

            /// The constant that is part of the operation, such as the distance of a shift; most operations have none.
            pub const fn constant(self) -> Option<u32> {
                $($($(
                    if let Self::$variant(n) = self {
                        return operations!(@some $constant n);
                    }
                )?)*)*
                None
            }

            /// The operation with another constant; an operation without a constant stays as it is.
            pub const fn with_constant(self, constant: u32) -> Self {
                $($($(
                    if let Self::$variant(_) = self {
                        return operations!(@with $constant Self::$variant, constant);
                    }
                )?)*)*
                self
            }
        }

        $(
            macro_rules! $pattern {
                () => { $(crate::operation::Operation::$variant { .. })|* };
            }
            pub(crate) use $pattern;
        )*
    };
    (@type $constant:literal) => { u32 };
    (@some $constant:literal $n:ident) => { Some($n) };
    (@with $constant:literal $variant:expr, $n:ident) => { $variant($n) };
}

mod precondition;
mod row;
mod status;
mod table;

use std::fmt;

use crate::batch::Shape;
use crate::error::{Error, Result};
pub use precondition::Preconditions;
use row::Widths;
pub(crate) use row::product_bits;
pub use row::{Constant, Group, Operand, Role};
pub use status::{STATUS_BITS, Status, Statuses};
pub use table::Operation;
pub(crate) use table::{division, linear, linear_modular, modular, montgomery, product, product_part};

/// The widest operand of any operation, in bits.
pub const MAX_BITS: usize = 1 << 24;

/// The widest operand of operations whose time grows faster than the time of a product: common divisors, inverses, powers.
pub const SLOW_MAX_BITS: usize = 65536;

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

    /// The formula, in one line.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// Its operands.
    pub fn operands(self) -> &'static [Operand] {
        self.row().operands
    }

    /// How many operands it takes.
    pub fn arity(self) -> usize {
        self.operands().len()
    }

    /// The name of each result, without the status.
    pub fn result_names(self) -> &'static [&'static str] {
        self.row().results
    }

    /// The name of all results together.
    pub fn results_name(self) -> &'static str {
        if let [one] = self.result_names() { one } else { "results" }
    }

    /// Is the result of this number a two's complement?
    pub fn is_signed(self, result: usize) -> bool {
        self.row().signed == Some(result)
    }

    /// Do the values of the results depend on the widths of the operands, and not on the operands' values alone?
    pub fn depends_on_widths(self) -> bool {
        self.row().depends_on_widths
    }

    /// The meaning of [`Operation::constant`]; none for an operation without a constant.
    pub fn constant_role(self) -> Option<Constant> {
        self.row().constant
    }

    /// Is a lane a power or a strong test: as many products as the exponent or the candidate has bits?
    pub fn is_power(self) -> bool {
        let exponent = matches!(self.constant_role(), Some(Constant::Exponent));
        exponent || self.operands().iter().any(|it| matches!(it.role, Role::Exponent | Role::Candidate))
    }

    /// About as many products of limbs as a lane of these operands takes on a processor: to cut work into pieces and to compare
    /// engines, not to predict times.
    pub fn limb_products(self, operands: &[Shape]) -> f64 {
        let limbs = |shape: &Shape| shape.limbs() as f64;
        let longest = operands.iter().map(limbs).fold(1.0, f64::max);
        let square = longest * longest;
        match self.group() {
            Group::Linear | Group::LinearModular => longest,
            // A square has one operand.
            Group::Product | Group::ProductPart => {
                operands.first().map_or(1.0, limbs) * operands.get(1).or(operands.first()).map_or(1.0, limbs)
            }
            Group::Division => 4.0 * square + 64.0 * longest,
            Group::Modular if self.is_power() => {
                let exponent = match self.constant() {
                    Some(exponent) if self.constant_role() == Some(Constant::Exponent) => f64::from(exponent).log2(),
                    _ => operands.get(1).or(operands.first()).map_or(1.0, |shape| shape.bits as f64),
                };
                2.0 * square * exponent.max(1.0)
            }
            Group::Modular | Group::Montgomery => 8.0 * square + 64.0 * longest,
        }
    }

    /// Is the last result a status a lane, of [`STATUS_BITS`] bits?
    pub fn has_status(self) -> bool {
        self.row().status
    }

    /// The widest operand, in bits, but for a product of two residues ([`Operation::operand_max_bits`]).
    pub fn max_bits(self) -> usize {
        self.row().max_bits
    }

    /// The most bits of the operand of this number. A product of two residues is twice as wide as the widest modulus.
    pub fn operand_max_bits(self, operand: usize) -> usize {
        match self.operands().get(operand).map(|operand| operand.role) {
            Some(Role::ReducedProduct) => 2 * self.max_bits(),
            _ => self.max_bits(),
        }
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
        for (number, Shape { bits, .. }) in operands.iter().enumerate() {
            let limit = self.operand_max_bits(number);
            if *bits > limit {
                return Err(Error::TooWide { operation: self, bits: *bits, limit });
            }
        }
        let lanes = common_lanes(operands)?;
        let bits: Vec<usize> = operands.iter().map(|shape| shape.bits).collect();
        let constant = self.constant().unwrap_or(0);
        let mut widths = (self.row().widths)(&Widths { bits: &bits, constant });
        // No operation makes a result wider than this, but for a large constant.
        let limit = self.max_bits();
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
    fn work_grows_with_lengths_and_exponents() {
        let work = |operation: Operation, bits: &[usize]| {
            operation.limb_products(&bits.iter().map(|bits| Shape::new(1, *bits)).collect::<Vec<_>>())
        };
        assert!((work(Operation::Mul, &[1024, 2048]) - 2048.0).abs() < 1e-9);
        assert!((work(Operation::Sqr, &[1024]) - 1024.0).abs() < 1e-9);
        assert!(work(Operation::PowMod, &[1024, 1024, 1024]) > 50.0 * work(Operation::PowMod, &[1024, 17, 1024]));
        assert!(work(Operation::StrongTest(2), &[1024]) > 100.0 * work(Operation::MulMod, &[1024, 1024, 1024]));
        assert!(
            work(Operation::PowModPublic(65537), &[1024, 1024]) < work(Operation::PowMod, &[1024, 1024, 1024]) / 50.0
        );
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
            Operation::Sqr.results(&[shape(1, MUL_MAX_BITS + 1)]),
            Err(Error::TooWide { operation: Operation::Sqr, bits: MUL_MAX_BITS + 1, limit: MUL_MAX_BITS })
        );
        let error = Operation::Gcd.results(&[shape(1, 7), shape(1, SLOW_MAX_BITS + 1)]).unwrap_err();
        assert_eq!(error.to_string(), "'gcd' takes operands of at most 65536 bits; one has 65537");
        let error = Operation::Shl(1 << 26).results(&[shape(1, 2)]).unwrap_err();
        assert_eq!(error.to_string(), "'shl' would give a result of 67108866 bits; at most 33554433 are supported");
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
