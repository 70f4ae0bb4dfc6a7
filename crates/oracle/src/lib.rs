//! The results of every operation by num-bigint, which shares no arithmetic with the engines.
//!
//! The command line compares results with this crate (`--check`, `selftest`), and so do the tests. The crate has its own
//! rules for the widths of results. The faults of operands come from [`Operation::preconditions`], which the tests of this
//! crate compare with their definition.
//!
//! ```text
//! lib.rs      the results of each operation
//! value.rs    a number in its bits
//! numbers.rs  divisors, cofactors, symbols, strong tests
//! pattern.rs  operands, the same for the same seed on every machine
//! check.rs    the comparison of an engine's results
//! measure.rs  timed runs, whose results are checked first
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

pub mod check;
pub mod measure;
mod numbers;
pub mod pattern;
mod value;

use num_bigint::{BigInt, BigUint, Sign};
use warpmp::operation::STATUS_BITS;
use warpmp::{Operation, Status};

use numbers::{cofactors, gcd};
pub use numbers::{kronecker, strong_test};
pub use value::Value;

/// Bits of a product: a factor of one bit adds none.
pub fn product_bits(p: usize, q: usize) -> usize {
    if p == 1 || q == 1 { p.max(q) } else { p + q }
}

/// The results of the operation on the operands of a lane. A status is the last; the results of a lane with a fault are
/// zero.
pub fn apply(operation: Operation, operands: &[Value]) -> Vec<Value> {
    let rows: Vec<Vec<u32>> = operands.iter().map(Value::limbs).collect();
    let fault = operation.preconditions().check(|i| &rows[i]);
    let Outcome { mut values, status } = Lane { operands, fault }.compute(operation);
    if operation.has_status() {
        values.push(Value { number: status.code().into(), bits: STATUS_BITS });
    }
    values
}

/// The operands of a lane.
struct Lane<'v> {
    operands: &'v [Value],
    fault: Status,
}

/// The results of a lane without the status, and the status.
struct Outcome {
    values: Vec<Value>,
    status: Status,
}

impl From<Value> for Outcome {
    fn from(value: Value) -> Self {
        Self { values: vec![value], status: Status::Fine }
    }
}

impl<const N: usize> From<[Value; N]> for Outcome {
    fn from(values: [Value; N]) -> Self {
        Self { values: values.to_vec(), status: Status::Fine }
    }
}

impl Lane<'_> {
    fn number(&self, i: usize) -> &BigUint {
        &self.operands[i].number
    }

    fn int(&self, i: usize) -> BigInt {
        self.number(i).clone().into()
    }

    fn signed(&self, i: usize) -> BigInt {
        self.operands[i].signed()
    }

    fn bit(&self, i: usize) -> i32 {
        self.number(i).bit(0).into()
    }

    fn bits(&self, i: usize) -> usize {
        self.operands[i].bits
    }

    /// Bits of the wider of the first two operands.
    fn wide(&self) -> usize {
        self.bits(0).max(self.bits(1))
    }

    /// Results of these bits; zeros where the lane has a fault.
    fn checked<const N: usize>(
        &self,
        bits: [usize; N],
        numbers: impl FnOnce() -> Result<[BigUint; N], Status>,
    ) -> Outcome {
        let found = if self.fault == Status::Fine { numbers() } else { Err(self.fault) };
        let (numbers, status) = match found {
            Ok(numbers) => (numbers, Status::Fine),
            Err(status) => (std::array::from_fn(|_| BigUint::ZERO), status),
        };
        let values = numbers.into_iter().zip(bits).map(|(number, bits)| Value { number, bits });
        Outcome { values: values.collect(), status }
    }

    /// A residue for the modulus, which is the last operand; `number` gets the modulus.
    fn residue(&self, number: impl FnOnce(&BigUint) -> BigUint) -> Outcome {
        let modulus = &self.operands[self.operands.len() - 1];
        self.checked([modulus.bits], || Ok([number(&modulus.number) % &modulus.number]))
    }

    /// A number over `R` modulo the last operand, where `R` is the power of two above the limbs of the modulus.
    fn over_radix(&self, number: &BigUint) -> Outcome {
        self.residue(|m| {
            // The modulus is odd, so (m + 1)/2 is the inverse of 2. The library takes seconds for an inverse of 65536 bits, and
            // hardly any time for its power.
            let half = (m + 1_u32) >> 1_u32;
            number * half.modpow(&BigUint::from(self.radix_bits()), m)
        })
    }

    fn radix(&self) -> BigUint {
        BigUint::from(1_u32) << self.radix_bits()
    }

    fn radix_bits(&self) -> usize {
        32 * self.bits(self.operands.len() - 1).div_ceil(32)
    }

    /// Every operation by its definition.
    fn compute(&self, operation: Operation) -> Outcome {
        use Operation as O;
        let int = |i: usize| self.int(i);
        let number = |i: usize| self.number(i);
        let signed = |i: usize| self.signed(i);
        let order = |ordering: std::cmp::Ordering| Value::signed_from(&BigInt::from(ordering as i8), 2).into();
        let p = self.bits(0);
        match operation {
            O::Mul => Value::exact(int(0) * int(1), product_bits(p, self.bits(1))).into(),
            O::Sqr => Value::exact(int(0) * int(0), product_bits(p, p)).into(),
            O::MulLo => Value::wrapped(&(int(0) * int(1)), self.wide()).into(),
            O::MulHi => Value::exact((int(0) * int(1)) >> self.wide(), p.min(self.bits(1))).into(),
            O::MulAdd => {
                let (product, r) = (p + self.bits(1), self.bits(2));
                let bits = if r <= self.wide() { product } else { product.max(r) + 1 };
                Value::exact(int(0) * int(1) + int(2), bits).into()
            }
            O::SignedMul => Value::signed_from(&(signed(0) * signed(1)), p + self.bits(1)).into(),
            O::Add => Value::exact(int(0) + int(1), self.wide() + 1).into(),
            O::WrappingAdd => Value::wrapped(&(int(0) + int(1)), self.wide()).into(),
            O::CarryingAdd => {
                let sum = int(0) + int(1) + self.bit(2);
                [Value::wrapped(&sum, self.wide()), Value::exact(sum >> self.wide(), 1)].into()
            }
            O::Sub => Value::signed_from(&(int(0) - int(1)), self.wide() + 1).into(),
            O::WrappingSub => Value::wrapped(&(int(0) - int(1)), self.wide()).into(),
            O::BorrowingSub => {
                let difference = int(0) - int(1) - self.bit(2);
                let borrow = i32::from(difference.sign() == Sign::Minus);
                [Value::wrapped(&difference, self.wide()), Value::exact(borrow, 1)].into()
            }
            O::Neg => Value::signed_from(&-int(0), p + 1).into(),
            O::WrappingNeg => Value::wrapped(&-int(0), p).into(),
            O::Cmp => order(number(0).cmp(number(1))),
            O::SignedCmp => order(signed(0).cmp(&signed(1))),
            O::Shl(n) => Value::exact(int(0) << n, p + n as usize).into(),
            O::WrappingShl(n) => Value::wrapped(&(int(0) << n), p).into(),
            O::Shr(n) => Value::exact(int(0) >> n, p.saturating_sub(n as usize).max(1)).into(),
            O::And => Value::exact(int(0) & int(1), self.wide()).into(),
            O::Or => Value::exact(int(0) | int(1), self.wide()).into(),
            O::Xor => Value::exact(int(0) ^ int(1), self.wide()).into(),
            O::Not => Value::exact((BigInt::from(1) << p) - 1 - int(0), p).into(),
            O::Select => Value::exact(int(if self.bit(0) == 1 { 1 } else { 2 }), self.bits(1).max(self.bits(2))).into(),
            O::SignedAdd => Value::signed_from(&(signed(0) + signed(1)), self.wide() + 1).into(),
            O::SignedSub => Value::signed_from(&(signed(0) - signed(1)), self.wide() + 1).into(),
            O::SignedNeg => Value::signed_from(&-signed(0), p + 1).into(),
            O::SignExtend(n) => Value::signed_from(&signed(0), p + n as usize).into(),
            O::ToSignMagnitude => {
                let sign = i32::from(signed(0).sign() == Sign::Minus);
                [Value::exact(signed(0).magnitude().clone(), p), Value::exact(sign, 1)].into()
            }
            O::FromSignMagnitude => Value::signed_from(&if self.bit(1) == 1 { -int(0) } else { int(0) }, p + 1).into(),
            O::DivRem => self.checked([p, self.bits(1)], || Ok([number(0) / number(1), number(0) % number(1)])),
            O::Rem => self.checked([self.bits(1)], || Ok([number(0) % number(1)])),
            O::DivExact => self.checked([p], || {
                let is_exact = number(0) % number(1) == BigUint::ZERO;
                if is_exact { Ok([number(0) / number(1)]) } else { Err(Status::NotExact) }
            }),
            O::Lcm => {
                let g = gcd(number(0), number(1)).max(1_u32.into());
                Value::exact(int(0) * int(1) / BigInt::from(g), p + self.bits(1)).into()
            }
            O::Jacobi => Value::signed_from(&kronecker(number(0), number(1)).into(), 2).into(),
            O::Gcd => Value::exact(gcd(number(0), number(1)), self.wide()).into(),
            O::GcdExt => {
                let [g, x, y] = cofactors(number(0), number(1));
                [Value::exact(g, self.wide()), Value::exact(x, self.bits(1)), Value::signed_from(&y, p + 1)].into()
            }
            O::Sqrt => {
                let root = number(0).sqrt();
                let (rest, half) = (number(0) - &root * &root, p.div_ceil(2));
                [Value::exact(root, half), Value::exact(rest, half + 1)].into()
            }
            O::AddMod => self.residue(|_| number(0) + number(1)),
            O::SubMod => self.residue(|m| number(0) + m - number(1)),
            O::NegMod => self.residue(|m| m - number(0)),
            O::MulMod => self.residue(|_| number(0) * number(1)),
            O::SqrMod => self.residue(|_| number(0) * number(0)),
            O::PowMod | O::PowModSec => self.residue(|m| number(0).modpow(number(1), m)),
            O::PowModPublic(e) => self.residue(|m| number(0).modpow(&e.into(), m)),
            O::InvMod => self.checked([self.bits(1)], || {
                let m = number(1);
                // Modulo 1 every number is the inverse of every other, and 0 is the least.
                let is_one = *m == BigUint::from(1_u32);
                let inverse = if is_one { Some(BigUint::ZERO) } else { (number(0) % m).modinv(m) };
                inverse.map(|inverse| [inverse]).ok_or(Status::NoInverse)
            }),
            O::StrongTest(base) => Value::exact(i32::from(strong_test(number(0), &base.into())), 1).into(),
            O::MillerRabin => Value::exact(i32::from(strong_test(number(1), number(0))), 1).into(),
            O::Reduce => self.residue(|_| number(0).clone()),
            O::ToMont => self.residue(|_| number(0) * self.radix()),
            O::FromMont | O::Redc => self.over_radix(number(0)),
            O::MontMul => self.over_radix(&(number(0) * number(1))),
            O::MontSqr => self.over_radix(&(number(0) * number(0))),
        }
    }
}
