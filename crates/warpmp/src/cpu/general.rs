//! `cpu-dashu`: parts of products, division, common divisors, roots, modular arithmetic and strong tests by dashu-int.

use std::cell::OnceCell;

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::{BitTest, DivRem, Gcd, SquareRootRem};
use dashu_int::{IBig, UBig};

use super::euclid::cofactor;
use super::library::Operand;
use super::rows::Piece;
use crate::operation::{Group, Operation, Status};

/// What a lane gives: its numbers, negative ones as two's complements, or what is wrong with it.
type Outcome = Result<Vec<IBig>, Status>;

/// All operations that have no algorithm of their own.
pub(super) fn serves(operation: Operation) -> bool {
    let linear = matches!(operation.group(), Group::Product | Group::Linear | Group::LinearModular);
    !linear && operation != Operation::PowModSec
}

/// Does the operation of a piece.
pub(super) fn run(mut piece: Piece<'_>) {
    let mut operands: Vec<Operand> = piece.operands.iter().map(|rows| Operand::new(*rows)).collect();
    let bits: Vec<usize> = piece.operands.iter().map(|rows| rows.bits()).collect();
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    let has_status = piece.operation.has_status();
    let mut modulus: Option<Modulus> = None;
    for lane in 0..lanes {
        for operand in &mut operands {
            operand.load(lane);
        }
        let numbers: Vec<&UBig> = operands.iter().map(Operand::value).collect();
        let outcome = match numbers.split_last() {
            Some((m, others)) if has_status && !matches!(piece.operation, Operation::DivRem | Operation::Rem) => {
                if modulus.as_ref().is_none_or(|known| known.m != **m) {
                    modulus = Some(Modulus::new(m, bits[bits.len() - 1]));
                }
                modulus.as_ref().map_or(Err(Status::DivisionByZero), |it| it.apply(piece.operation, others))
            }
            _ => whole(piece.operation, &numbers, &bits),
        };
        let (numbers, status) = match outcome {
            Ok(numbers) => (numbers, Status::Fine),
            Err(status) => (Vec::new(), status),
        };
        let count = piece.results.len() - usize::from(has_status);
        for result in 0..count {
            let zero = IBig::ZERO;
            let number = numbers.get(result).unwrap_or(&zero);
            piece.put_number(result, lane, number);
        }
        if has_status {
            piece.put_word(count, lane, u64::from(status.code()));
        }
    }
}

/// Operations without a modulus.
fn whole(operation: Operation, operands: &[&UBig], bits: &[usize]) -> Outcome {
    use Operation as O;
    let widest = || bits[0].max(bits[1]);
    let signed = |i: usize| {
        let number = IBig::from(operands[i].clone());
        if operands[i].bit(bits[i] - 1) { number - (IBig::ONE << bits[i]) } else { number }
    };
    let one = |number: UBig| Ok(vec![number.into()]);
    match operation {
        O::MulLo => one(operands[0] * operands[1]),
        O::MulHi => one((operands[0] * operands[1]) >> widest()),
        O::MulAdd => one(operands[0] * operands[1] + operands[2]),
        O::SignedMul => Ok(vec![signed(0) * signed(1)]),
        O::DivRem | O::Rem if operands[1].is_zero() => Err(Status::DivisionByZero),
        O::DivRem => {
            let (quotient, remainder) = operands[0].div_rem(operands[1]);
            Ok(vec![quotient.into(), remainder.into()])
        }
        O::Rem => one(operands[0] % operands[1]),
        O::Gcd => one(common_divisor(operands[0], operands[1])),
        O::GcdExt => Ok(cofactors(operands[0], operands[1])),
        O::StrongTest(base) => one(strong_test(operands[0], &base.into()).into()),
        O::MillerRabin => one(strong_test(operands[1], operands[0]).into()),
        _ => {
            let (root, rest) = operands[0].sqrt_rem();
            Ok(vec![root.into(), rest.into()])
        }
    }
}

/// The library panics for two zeros.
fn common_divisor(a: &UBig, b: &UBig) -> UBig {
    if a.is_zero() && b.is_zero() { UBig::ZERO } else { a.gcd(b) }
}

/// `g`, the least `x ≥ 0` with `a·x + b·y = g`, and `y`.
fn cofactors(a: &UBig, b: &UBig) -> Vec<IBig> {
    if b.is_zero() {
        let x = if a.is_zero() { IBig::ZERO } else { IBig::ONE };
        return vec![a.clone().into(), x, IBig::ZERO];
    }
    let (g, x) = cofactor(a, b);
    let y = (IBig::from(g.clone()) - IBig::from(a * &x)) / IBig::from(b.clone());
    vec![g.into(), x.into(), y]
}

/// Is `n` odd, above 1 and a strong probable prime to the base?
fn strong_test(n: &UBig, base: &UBig) -> bool {
    if !n.bit(0) || n.is_one() {
        return false;
    }
    let minus_one = n - UBig::ONE;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let ring = ConstDivisor::new(n.clone());
    let mut power = ring.reduce(base % n).pow(&(&minus_one >> twos));
    if power.residue().is_one() {
        return true;
    }
    for squarings in 0..twos {
        if squarings > 0 {
            power = power.sqr();
        }
        if power.residue() == minus_one {
            return true;
        }
    }
    false
}

/// A modulus, and what is computed from it once.
struct Modulus {
    m: UBig,
    /// None if it is zero.
    ring: Option<ConstDivisor>,
    /// `R = 2^radix_bits`.
    radix_bits: usize,
    /// `−m⁻¹ mod R`; none before it is needed.
    negative_inverse: OnceCell<UBig>,
}

impl Modulus {
    fn new(m: &UBig, bits: usize) -> Self {
        Self {
            m: m.clone(),
            ring: (!m.is_zero()).then(|| ConstDivisor::new(m.clone())),
            radix_bits: 32 * bits.div_ceil(32),
            negative_inverse: OnceCell::new(),
        }
    }

    /// `t·R⁻¹ mod m` for `t < m·R` and odd `m`: what is added makes the low bits zero, and is below `m·R`.
    ///
    /// source: Montgomery 1985; Handbook of Applied Cryptography 14.32.
    fn over_radix(&self, t: UBig) -> UBig {
        let inverse = self.negative_inverse.get_or_init(|| negative_inverse(&self.m, self.radix_bits));
        let mut low = t.clone();
        low.clear_high_bits(self.radix_bits);
        let mut quotient = low * inverse;
        quotient.clear_high_bits(self.radix_bits);
        let sum = (t + quotient * &self.m) >> self.radix_bits;
        if sum < self.m { sum } else { sum - &self.m }
    }

    /// An operation with this modulus.
    fn apply(&self, operation: Operation, operands: &[&UBig]) -> Outcome {
        use Operation as O;
        let Some(ring) = &self.ring else { return Err(Status::DivisionByZero) };
        let residue = |i: usize| operands[i] % &self.m;
        let needs_odd = !matches!(operation, O::MulMod | O::SqrMod | O::InvMod | O::Reduce);
        if needs_odd && !self.m.bit(0) {
            return Err(Status::EvenModulus);
        }
        let reduced = match operation {
            O::ToMont | O::FromMont | O::MontMul | O::MontSqr => operands.iter().all(|a| **a < self.m),
            O::Redc => *operands[0] < &self.m << self.radix_bits,
            _ => true,
        };
        if !reduced {
            return Err(Status::NotReduced);
        }
        // The library's one is not reduced modulo 1.
        let is_one = self.m.is_one();
        let power = |e: &UBig| if is_one { UBig::ZERO } else { ring.reduce(residue(0)).pow(e).residue() };
        let result = match operation {
            O::MulMod => residue(0) * residue(1) % &self.m,
            O::SqrMod => residue(0).sqr() % &self.m,
            O::PowMod => power(operands[1]),
            O::PowModPublic(e) => power(&UBig::from(e)),
            O::InvMod => match cofactor(operands[0], &self.m) {
                (g, x) if g.is_one() => x,
                _ => return Err(Status::NoInverse),
            },
            O::ToMont => (operands[0] << self.radix_bits) % &self.m,
            O::FromMont | O::Redc => self.over_radix(operands[0].clone()),
            O::MontMul => self.over_radix(operands[0] * operands[1]),
            O::MontSqr => self.over_radix(operands[0].sqr()),
            _ => residue(0),
        };
        Ok(vec![result.into()])
    }
}

/// `−m⁻¹` modulo a power of two, for odd `m`: of one bit it is 1, and a step of Newton's doubles the bits.
fn negative_inverse(m: &UBig, bits: usize) -> UBig {
    let mut inverse = UBig::ONE;
    let mut known = 1;
    while known < bits {
        known = (2 * known).min(bits);
        // From `m·x = −1 + e` comes `m·x·(2 + m·x) = −1 + e²`.
        let mut factor = m * &inverse + UBig::from(2_u32);
        factor.clear_high_bits(known);
        inverse *= factor;
        inverse.clear_high_bits(known);
    }
    inverse
}

impl Piece<'_> {
    /// Stores a number, a negative one as a two's complement.
    fn put_number(&mut self, result: usize, lane: usize, number: &IBig) {
        let bits = self.results[result].bits;
        let (sign, magnitude) = number.clone().into_parts();
        let pattern = match sign {
            dashu_int::Sign::Positive => magnitude,
            dashu_int::Sign::Negative => (UBig::ONE << bits) - magnitude,
        };
        let words: Vec<u64> = words(&pattern);
        self.put(result, lane, &words);
    }
}

/// The words of a number, those of 64 bits, whatever the library's are.
pub(super) fn words(number: &UBig) -> Vec<u64> {
    let bytes: Vec<u8> = number.as_words().iter().flat_map(|word| word.to_le_bytes()).collect();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).map(word).collect()
}
