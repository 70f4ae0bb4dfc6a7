//! The faults of a lane's operands, by the roles of the operands.
//!
//! Engines on the CPU ask before they compute. Kernels find the statuses themselves and are tested against this file.

use super::{Operation, Role, Status};

/// The conditions that the operands of an operation must meet, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct Preconditions {
    /// The number of the divisor or modulus; without one nothing is required.
    divisor: Option<usize>,
    /// Must it be odd?
    odd: bool,
    /// Operands, one bit each, that must be below the modulus, and below it times `R`.
    reduced: u8,
    reduced_products: u8,
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
        let of = |is: fn(Role) -> bool| {
            operands.iter().enumerate().fold(0, |bits, (i, operand)| bits | u8::from(is(operand.role)) << i)
        };
        Preconditions {
            divisor: operands.iter().position(|operand| divides(operand.role)),
            odd: of(|role| matches!(role, Role::OddModulus)) != 0,
            reduced: of(|role| matches!(role, Role::Reduced)),
            reduced_products: of(|role| matches!(role, Role::ReducedProduct)),
        }
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
        if self.odd && m[0] & 1 == 0 {
            return Status::EvenModulus;
        }
        let each = |bits: u8| (0..8).take_while(move |i| bits >> i > 0).filter(move |i| bits >> i & 1 == 1);
        let mut is_reduced = true;
        for i in each(self.reduced) {
            is_reduced &= is_less(row(i), m);
        }
        for i in each(self.reduced_products) {
            // Below m·R where the number over R is below m.
            is_reduced &= is_less(row(i).get(m.len()..).unwrap_or_default(), m);
        }
        if is_reduced { Status::Fine } else { Status::NotReduced }
    }

    /// [`Preconditions::check`] of operands of up to 128 bits, with `R` of `radix_bits`.
    #[inline]
    pub(crate) fn check_numbers(&self, number: impl Fn(usize) -> u128, radix_bits: usize) -> Status {
        let Some(divisor) = self.divisor else { return Status::Fine };
        let m = number(divisor);
        if m == 0 {
            return Status::DivisionByZero;
        }
        if self.odd && m & 1 == 0 {
            return Status::EvenModulus;
        }
        let all_below = |mut operands: u8, shift: usize| {
            let mut is_below = true;
            while operands != 0 {
                is_below &= number(operands.trailing_zeros() as usize) >> shift < m;
                operands &= operands - 1;
            }
            is_below
        };
        let is_reduced = all_below(self.reduced, 0) && all_below(self.reduced_products, radix_bits);
        if is_reduced { Status::Fine } else { Status::NotReduced }
    }
}

#[inline]
fn is_zero(row: &[u32]) -> bool {
    row.iter().all(|limb| *limb == 0)
}

/// Is `a < m`? The rows may differ in length.
#[inline]
fn is_less(a: &[u32], m: &[u32]) -> bool {
    if let ([.., a_top], [.., m_top]) = (a, m)
        && a.len() == m.len()
        && a_top != m_top
    {
        return a_top < m_top;
    }
    let common = a.len().min(m.len());
    let ((a, a_above), (m, m_above)) = (a.split_at(common), m.split_at(common));
    is_zero(a_above) && (!is_zero(m_above) || a.iter().rev().lt(m.iter().rev()))
}
