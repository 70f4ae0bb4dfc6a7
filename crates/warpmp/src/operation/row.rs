//! A row of the table of operations.

use super::{MAX_BITS, SLOW_MAX_BITS};

/// Families of operations. One family of kernels computes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// Full products and squares.
    Product,
    /// Parts of products, products with signs or an addend.
    ProductPart,
    /// Sums, comparisons, shifts and logic: time proportional to the length.
    Linear,
    /// Modular operations in linear time.
    LinearModular,
    /// Division, common divisors, roots.
    Division,
    /// Modular arithmetic with ordinary residues.
    Modular,
    /// Modular arithmetic with Montgomery's residues.
    Montgomery,
}

impl Group {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Product => "products",
            Self::ProductPart => "parts of products",
            Self::Linear => "linear",
            Self::LinearModular => "linear modular",
            Self::Division => "division",
            Self::Modular => "modular",
            Self::Montgomery => "montgomery",
        }
    }

    /// Its chapter of the book: each algorithm with its source, its cost and its bound.
    pub const fn chapter(self) -> &'static str {
        match self {
            Self::Product => "https://github.com/warpmp/warpmp/blob/main/book/src/multiplication.md",
            Self::ProductPart | Self::Linear | Self::LinearModular => {
                "https://github.com/warpmp/warpmp/blob/main/book/src/any-precision.md"
            }
            Self::Division | Self::Modular | Self::Montgomery => {
                "https://github.com/warpmp/warpmp/blob/main/book/src/modular.md"
            }
        }
    }
}

/// The meaning of an operand, and the condition that it must meet: see [`Preconditions`](super::Preconditions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Any integer.
    Integer,
    /// Only bit 0 counts: a carry, a sign, a condition.
    Bit,
    /// An integer; zero is a fault of the lane.
    Divisor,
    /// An integer; zero is a fault of the lane.
    Modulus,
    /// An integer; zero and even ones are faults of the lane.
    OddModulus,
    /// An exponent.
    Exponent,
    /// An integer under test; even integers fail.
    Candidate,
    /// An integer below the modulus; others are faults of the lane.
    Reduced,
    /// An integer below the modulus times `R`; others are faults of the lane.
    ReducedProduct,
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub role: Role,
}

/// The meaning of an operation's constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The distance of a shift.
    Distance,
    /// How many bits the result has more than the operand.
    Extension,
    /// An exponent.
    Exponent,
    /// The base of a strong test.
    Base,
}

impl Constant {
    /// The name of its option on the command line.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Distance | Self::Extension => "by",
            Self::Exponent => "exponent",
            Self::Base => "base",
        }
    }

    /// Its description, for help texts.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Distance => "How many places",
            Self::Extension => "How many bits more",
            Self::Exponent => "The exponent",
            Self::Base => "The base",
        }
    }

    /// May the command line leave it out, and take the usual one?
    pub const fn has_usual(self) -> bool {
        matches!(self, Self::Base)
    }
}

pub(super) const A: Operand = Operand { name: "a", role: Role::Integer };
pub(super) const B: Operand = Operand { name: "b", role: Role::Integer };
pub(super) const C: Operand = Operand { name: "c", role: Role::Integer };
pub(super) const E: Operand = Operand { name: "e", role: Role::Exponent };
pub(super) const M: Operand = Operand { name: "m", role: Role::Modulus };
pub(super) const ODD_M: Operand = Operand { name: "m", role: Role::OddModulus };
pub(super) const N: Operand = Operand { name: "n", role: Role::Candidate };
pub(super) const LOWER_N: Operand = Operand { name: "n", role: Role::Integer };
pub(super) const BIT: Operand = Operand { name: "bit", role: Role::Bit };
pub(super) const DIVISOR: Operand = Operand { name: "b", role: Role::Divisor };
pub(super) const BELOW_M_A: Operand = Operand { name: "a", role: Role::Reduced };
pub(super) const BELOW_M_B: Operand = Operand { name: "b", role: Role::Reduced };
pub(super) const BELOW_MR: Operand = Operand { name: "t", role: Role::ReducedProduct };

/// The bits of the operands, and the operation's constant.
#[derive(Clone, Copy)]
pub(super) struct Widths<'w> {
    pub(super) bits: &'w [usize],
    pub(super) constant: u32,
}

impl Widths<'_> {
    pub(super) const fn a(&self) -> usize {
        self.bits[0]
    }

    pub(super) const fn b(&self) -> usize {
        self.bits[1]
    }

    pub(super) const fn c(&self) -> usize {
        self.bits[2]
    }

    /// The wider of the first two.
    pub(super) fn max(&self) -> usize {
        self.a().max(self.b())
    }

    /// The narrower of the first two.
    pub(super) fn min(&self) -> usize {
        self.a().min(self.b())
    }

    /// The last one: the modulus where there is one.
    pub(super) fn last(&self) -> usize {
        self.bits[self.bits.len() - 1]
    }

    pub(super) const fn constant(&self) -> usize {
        self.constant as usize
    }
}

/// Bits of a product: `p + q`, or one less if an operand has one bit.
pub(crate) const fn product_bits(p: usize, q: usize) -> usize {
    if p == 1 || q == 1 { p + q - 1 } else { p + q }
}

/// The facts about an operation.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) operands: &'static [Operand],
    /// The names of the results, without the status.
    pub(super) results: &'static [&'static str],
    /// Bits of the results, without the status.
    pub(super) widths: fn(&Widths) -> Vec<usize>,
    /// The number of the result that is a two's complement, if one is.
    pub(super) signed: Option<usize>,
    /// Do the values of the results depend on the operands' widths?
    pub(super) depends_on_widths: bool,
    /// Is there a status a lane, the last result?
    pub(super) status: bool,
    /// The meaning of the constant, if there is one.
    pub(super) constant: Option<Constant>,
    /// The widest operand, in bits.
    pub(super) max_bits: usize,
}

impl Row {
    pub(super) const fn new(
        name: &'static str,
        summary: &'static str,
        operands: &'static [Operand],
        results: &'static [&'static str],
        widths: fn(&Widths) -> Vec<usize>,
    ) -> Self {
        Self {
            name,
            summary,
            operands,
            results,
            widths,
            signed: None,
            depends_on_widths: false,
            status: false,
            constant: None,
            max_bits: MAX_BITS,
        }
    }

    /// One result as wide as the modulus, which is the last operand, and a status.
    pub(super) const fn modular(
        name: &'static str,
        summary: &'static str,
        operands: &'static [Operand],
        results: &'static [&'static str],
    ) -> Self {
        Self::new(name, summary, operands, results, |w| vec![w.last()]).with_status()
    }

    pub(super) const fn with_status(self) -> Self {
        Self { status: true, ..self }
    }

    /// The result of this number is a two's complement.
    pub(super) const fn with_signed(self, result: usize) -> Self {
        Self { signed: Some(result), ..self }
    }

    /// The values of the results depend on the operands' widths.
    pub(super) const fn by_width(self) -> Self {
        Self { depends_on_widths: true, ..self }
    }

    /// Its time grows faster than the time of a product: it takes shorter operands.
    pub(super) const fn slow(self) -> Self {
        Self { max_bits: SLOW_MAX_BITS, ..self }
    }

    pub(super) const fn with_constant(self, constant: Constant) -> Self {
        Self { constant: Some(constant), ..self }
    }
}
