//! `cpu-dashu`: division, common divisors, roots, modular arithmetic and strong tests by dashu-int.

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::{BitTest, DivRem, Gcd, SquareRootRem};
use dashu_int::{IBig, UBig};

use super::euclid::cofactor;
use super::library::{Operand, store};
use super::reduction;
use super::rows::Piece;
use crate::operation::{Group, Operation, Status};

/// What a lane gives: its numbers, negative ones as two's complements, or what is wrong with it.
type Outcome = Result<Vec<IBig>, Status>;

/// All operations that have no algorithm of their own.
pub(super) fn serves(operation: Operation) -> bool {
    let others = [Group::Product, Group::ProductPart, Group::Linear, Group::LinearModular];
    !others.contains(&operation.group()) && operation != Operation::PowModSec && !reduction::serves(operation)
}

/// Does the operation of a piece.
pub(super) fn run(mut piece: Piece<'_>) {
    let lanes = piece.results[0].words.len() / piece.results[0].limbs;
    run_lanes(&mut piece, 0..lanes);
}

/// Does some lanes of a piece.
pub(super) fn run_lanes(piece: &mut Piece<'_>, lanes: impl IntoIterator<Item = usize>) {
    let mut operands: Vec<Operand> = piece.operands.iter().map(|rows| Operand::new(*rows)).collect();
    let bits: Vec<usize> = piece.operands.iter().map(|rows| rows.bits()).collect();
    let has_status = piece.operation.has_status();
    let mut modulus: Option<Modulus> = None;
    for lane in lanes {
        for operand in &mut operands {
            operand.load(lane);
        }
        let numbers: Vec<&UBig> = operands.iter().map(Operand::value).collect();
        let outcome = match numbers.split_last() {
            Some((m, others)) if has_status && !matches!(piece.operation, Operation::DivRem | Operation::Rem) => {
                if modulus.as_ref().is_none_or(|known| known.m != **m) {
                    modulus = Some(Modulus::new(m, bits[bits.len() - 1]));
                }
                modulus.as_mut().map_or(Err(Status::DivisionByZero), |it| it.apply(piece.operation, others))
            }
            _ => whole(piece.operation, &numbers),
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
fn whole(operation: Operation, operands: &[&UBig]) -> Outcome {
    use Operation as O;
    let one = |number: UBig| Ok(vec![number.into()]);
    match operation {
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
    /// For powers, once there was one.
    ring: Option<ConstDivisor>,
    /// Bits of `R`.
    radix_bits: usize,
}

impl Modulus {
    fn new(m: &UBig, bits: usize) -> Self {
        Self { m: m.clone(), ring: None, radix_bits: 32 * bits.div_ceil(32) }
    }

    /// An operation with this modulus.
    fn apply(&mut self, operation: Operation, operands: &[&UBig]) -> Outcome {
        use Operation as O;
        if self.m.is_zero() {
            return Err(Status::DivisionByZero);
        }
        let needs_odd = matches!(operation, O::PowMod | O::PowModPublic(_) | O::ToMont);
        if needs_odd && !self.m.bit(0) {
            return Err(Status::EvenModulus);
        }
        if operation == O::ToMont && *operands[0] >= self.m {
            return Err(Status::NotReduced);
        }
        let result = match operation {
            O::MulMod => operands[0] * operands[1] % &self.m,
            O::SqrMod => operands[0].sqr() % &self.m,
            O::PowMod => self.power(operands[0], operands[1]),
            O::PowModPublic(e) => self.power(operands[0], &e.into()),
            O::InvMod => match cofactor(operands[0], &self.m) {
                (g, x) if g.is_one() => x,
                _ => return Err(Status::NoInverse),
            },
            O::ToMont => (operands[0] << self.radix_bits) % &self.m,
            _ => operands[0] % &self.m,
        };
        Ok(vec![result.into()])
    }

    fn power(&mut self, a: &UBig, e: &UBig) -> UBig {
        // The library's one is not reduced modulo 1.
        if self.m.is_one() {
            return UBig::ZERO;
        }
        let ring = self.ring.get_or_insert_with(|| ConstDivisor::new(self.m.clone()));
        ring.reduce(a % &self.m).pow(e).residue()
    }
}

impl Piece<'_> {
    /// Stores a number, a negative one as a two's complement.
    fn put_number(&mut self, result: usize, lane: usize, number: &IBig) {
        let rows = &mut self.results[result];
        let row = &mut rows.words[lane * rows.limbs..][..rows.limbs];
        match number.as_sign_words() {
            (dashu_int::Sign::Positive, words) => store(words, row),
            (dashu_int::Sign::Negative, words) => {
                let pattern = (UBig::ONE << rows.bits) - UBig::from_words(words);
                store(pattern.as_words(), row);
            }
        }
    }
}
