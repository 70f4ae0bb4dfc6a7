//! The results of every operation by num-bigint, which shares no code with the engines.

use num_bigint::{BigInt, BigUint, Sign};
use warpmp::{Operation, Status};

/// A number and the bits that the engine has for it.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    value: BigUint,
    bits: usize,
}

impl Number {
    /// A lane's limbs.
    pub(crate) fn new(limbs: &[u32], bits: usize) -> Self {
        Self { value: BigUint::new(limbs.to_vec()), bits }
    }

    fn signed(&self) -> BigInt {
        let value = BigInt::from(self.value.clone());
        if self.value.bit(self.bits as u64 - 1) { value - (BigInt::from(1) << self.bits) } else { value }
    }
}

/// The results of the operation; negative ones are meant as two's complements, wrapping ones as they are before
/// they wrap. Or what is wrong with the lane.
pub(crate) fn results(operation: Operation, operands: &[Number]) -> Result<Vec<BigInt>, Status> {
    use Operation as O;
    let n = operation.constant().unwrap_or(0);
    let int = |i: usize| BigInt::from(operands[i].value.clone());
    let signed = |i: usize| operands[i].signed();
    let bit = |i: usize| BigInt::from(u8::from(operands[i].value.bit(0)));
    let widest = || operands[0].bits.max(operands[1].bits);
    let order = |ordering: std::cmp::Ordering| vec![BigInt::from(ordering as i8)];
    Ok(match operation {
        O::Mul | O::MulLo => vec![int(0) * int(1)],
        O::Sqr => vec![int(0) * int(0)],
        O::MulHi => vec![(int(0) * int(1)) >> widest()],
        O::MulAdd => vec![int(0) * int(1) + int(2)],
        O::SignedMul => vec![signed(0) * signed(1)],
        O::Add | O::WrappingAdd => vec![int(0) + int(1)],
        O::CarryingAdd => {
            let sum = int(0) + int(1) + bit(2);
            vec![sum.clone(), sum >> widest()]
        }
        O::Sub | O::WrappingSub => vec![int(0) - int(1)],
        O::BorrowingSub => {
            let difference = int(0) - int(1) - bit(2);
            let borrow = BigInt::from(u8::from(difference.sign() == Sign::Minus));
            vec![difference, borrow]
        }
        O::Neg | O::WrappingNeg => vec![-int(0)],
        O::Cmp => order(int(0).cmp(&int(1))),
        O::SignedCmp => order(signed(0).cmp(&signed(1))),
        O::Shl(_) | O::WrappingShl(_) => vec![int(0) << n],
        O::Shr(_) => vec![int(0) >> n],
        O::And => vec![int(0) & int(1)],
        O::Or => vec![int(0) | int(1)],
        O::Xor => vec![int(0) ^ int(1)],
        O::Not => vec![-int(0) - 1],
        O::Select => vec![if operands[0].value.bit(0) { int(1) } else { int(2) }],
        O::SignedAdd => vec![signed(0) + signed(1)],
        O::SignedSub => vec![signed(0) - signed(1)],
        O::SignedNeg => vec![-signed(0)],
        O::SignExtend(_) => vec![signed(0)],
        O::ToSignMagnitude => {
            let negative = signed(0).sign() == Sign::Minus;
            vec![signed(0).magnitude().clone().into(), u8::from(negative).into()]
        }
        O::FromSignMagnitude => vec![if operands[1].value.bit(0) { -int(0) } else { int(0) }],
        O::DivRem | O::Rem if operands[1].value == BigUint::ZERO => return Err(Status::DivisionByZero),
        O::DivRem => vec![int(0) / int(1), int(0) % int(1)],
        O::Rem => vec![int(0) % int(1)],
        O::Gcd => vec![gcd(&int(0), &int(1))],
        O::GcdExt => cofactors(&int(0), &int(1)),
        O::Sqrt => {
            let root = operands[0].value.sqrt();
            let rest = &operands[0].value - &root * &root;
            vec![root.into(), rest.into()]
        }
        O::StrongTest(base) => vec![u8::from(strong_test(&operands[0].value, &base.into())).into()],
        O::MillerRabin => vec![u8::from(strong_test(&operands[1].value, &operands[0].value)).into()],
        _ => vec![modular(operation, operands)?.into()],
    })
}

fn gcd(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigInt::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// `g`, the least `x ≥ 0` with `a·x + b·y = g`, and `y`.
fn cofactors(a: &BigInt, b: &BigInt) -> Vec<BigInt> {
    let g = gcd(a, b);
    if *b == BigInt::ZERO {
        let x = BigInt::from(u8::from(*a != BigInt::ZERO));
        return vec![g, x, BigInt::ZERO];
    }
    let (a, b) = (a / &g, b / &g);
    // Modulo 1 there is but 0.
    let x = (&a % &b).magnitude().modinv(b.magnitude()).map_or(BigInt::ZERO, BigInt::from);
    let y = (BigInt::from(1) - &a * &x) / &b;
    vec![g, x, y]
}

/// Is `n` odd, above 1 and a strong probable prime to base `a`?
pub(crate) fn strong_test(n: &BigUint, a: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if !n.bit(0) || *n == one {
        return false;
    }
    let minus_one = n - 1_u32;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let mut power = a.modpow(&(&minus_one >> twos), n);
    let mut passed = power == one;
    for _ in 0..twos {
        passed |= power == minus_one;
        power = &power * &power % n;
    }
    passed
}

fn modular(operation: Operation, operands: &[Number]) -> Result<BigUint, Status> {
    use Operation as O;
    let (m, bits) = operands.last().map_or((&BigUint::ZERO, 1), |m| (&m.value, m.bits));
    let radix = BigUint::from(1_u32) << (32 * bits.div_ceil(32));
    let a = &operands[0].value;
    let b = &operands[1].value;
    if *m == BigUint::ZERO {
        return Err(Status::DivisionByZero);
    }
    let any_modulus =
        matches!(operation, O::AddMod | O::SubMod | O::NegMod | O::MulMod | O::SqrMod | O::InvMod | O::Reduce);
    if !any_modulus && !m.bit(0) {
        return Err(Status::EvenModulus);
    }
    let reduced = match operation {
        O::AddMod | O::SubMod | O::MontMul => a < m && b < m,
        O::NegMod | O::ToMont | O::FromMont | O::MontSqr => a < m,
        O::Redc => *a < m * &radix,
        _ => true,
    };
    if !reduced {
        return Err(Status::NotReduced);
    }
    let one = *m == BigUint::from(1_u32);
    let over_radix = |number: BigUint| (&radix % m).modinv(m).map_or(BigUint::ZERO, |inverse| number * inverse % m);
    Ok(match operation {
        O::AddMod => (a + b) % m,
        O::SubMod => (a + m - b) % m,
        O::NegMod => (m - a) % m,
        O::MulMod => a * b % m,
        O::SqrMod => a * a % m,
        O::PowMod | O::PowModSec => a.modpow(b, m),
        O::PowModPublic(e) => a.modpow(&e.into(), m),
        O::InvMod if one => BigUint::ZERO,
        O::InvMod => (a % m).modinv(m).ok_or(Status::NoInverse)?,
        O::ToMont => a * radix % m,
        O::FromMont | O::Redc => over_radix(a.clone()),
        O::MontMul => over_radix(a * b),
        O::MontSqr => over_radix(a * a),
        _ => a % m,
    })
}

/// An integer in so many bits, as the engine has it: two's complement, without what does not fit.
pub(crate) fn pattern(number: &BigInt, bits: usize) -> BigUint {
    let modulus = BigInt::from(1) << bits;
    (((number % &modulus) + &modulus) % &modulus).magnitude().clone()
}
