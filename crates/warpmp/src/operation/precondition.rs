//! The faults of a lane's operands, by the roles of the operands.
//!
//! Engines on the CPU ask before they compute. Kernels find the statuses themselves and are tested against this file.

use super::{Operand, Operation, Role, Status};

/// The conditions that the operands of an operation must meet, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct Preconditions {
    operands: &'static [Operand],
    /// The number of the divisor or modulus; without one nothing is required.
    divisor: Option<usize>,
}

impl Operation {
    /// The conditions that the operands must meet.
    pub fn preconditions(self) -> Preconditions {
        let operands = self.operands();
        let divides = |role: Role| match role {
            Role::Divisor | Role::Modulus | Role::OddModulus => true,
            Role::Integer | Role::Bit | Role::Exponent | Role::Candidate | Role::Reduced | Role::ReducedProduct => {
                false
            }
        };
        Preconditions { operands, divisor: operands.iter().position(|operand| divides(operand.role)) }
    }
}

impl Preconditions {
    /// The first fault of a lane, in the order of [`Status`]; `row` gives the limbs of an operand by its number.
    ///
    /// Faults that only the result shows, such as [`Status::NoInverse`], are not among them.
    #[inline]
    pub fn check<'r>(&self, row: impl Fn(usize) -> &'r [u32]) -> Status {
        let Some(divisor) = self.divisor else { return Status::Fine };
        let m = row(divisor);
        if is_zero(m) {
            return Status::DivisionByZero;
        }
        if matches!(self.operands[divisor].role, Role::OddModulus) && m[0] & 1 == 0 {
            return Status::EvenModulus;
        }
        let is_reduced = |(i, operand): (usize, &Operand)| match operand.role {
            Role::Reduced => is_less(row(i), m),
            // Below m·R where the number over R is below m.
            Role::ReducedProduct => is_less(row(i).get(m.len()..).unwrap_or_default(), m),
            Role::Integer
            | Role::Bit
            | Role::Divisor
            | Role::Modulus
            | Role::OddModulus
            | Role::Exponent
            | Role::Candidate => true,
        };
        if self.operands.iter().enumerate().all(is_reduced) { Status::Fine } else { Status::NotReduced }
    }
}

#[inline]
fn is_zero(row: &[u32]) -> bool {
    row.iter().all(|limb| *limb == 0)
}

/// Is `a < m`? The rows may differ in length.
#[inline]
fn is_less(a: &[u32], m: &[u32]) -> bool {
    let common = a.len().min(m.len());
    let ((a, a_above), (m, m_above)) = (a.split_at(common), m.split_at(common));
    is_zero(a_above) && (!is_zero(m_above) || a.iter().rev().lt(m.iter().rev()))
}
