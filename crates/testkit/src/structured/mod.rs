//! Operands made for an operation: what its algorithms find hardest.
//!
//! ```text
//! numbers.rs    single numbers: powers of two and their neighbours, limbs at their extremes
//! relations.rs  numbers that belong together: dividends, chains of divisions, squares, residues
//! ```
//!
//! Patterns alone hardly ever give a quotient's estimate that is wrong by two, a root next to a square, or a common
//! divisor after as many steps as there can be. Three lanes of four are made so, the others are any numbers.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

mod numbers;
mod relations;

use num_bigint::BigUint;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpmp::Operation;

use crate::operands::Operands;
use crate::operations::is_divisor;
use crate::oracle;
use numbers::{any, cut, modulus, one_in, residue};
use relations::{chain, dividend, exponent, inverse, montgomery_partner, product, square, sum, tested, unreduced};

/// Draws operands of these bits and lanes for the operation; the same arguments give the same limbs.
pub fn draw(operation: Operation, bits: &[usize], lanes: &[usize], seed: u64) -> Vec<Operands> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let shapes = bits.iter().zip(lanes);
    let mut operands: Vec<Operands> = shapes
        .map(|(&bits, &lanes)| Operands { lanes, bits, limbs: Vec::with_capacity(lanes * bits.div_ceil(32)) })
        .collect();
    // What all lanes share; a modulus or divisor is at hand when the others are drawn.
    let mut shared: Option<Vec<BigUint>> = None;
    for lane in 0..lanes.iter().copied().max().unwrap_or(0) {
        let last = shared.as_ref().filter(|_| lanes.last() == Some(&1)).and_then(|numbers| numbers.last());
        let numbers = tuple(&mut rng, operation, bits, last);
        for ((operand, number), &bits) in operands.iter_mut().zip(&numbers).zip(bits) {
            if operand.lanes > 1 || lane == 0 {
                operand.limbs.extend(oracle::limbs(&cut(number, bits), bits.div_ceil(32)));
            }
        }
        shared.get_or_insert(numbers);
    }
    operands
}

/// The operands of a lane; `last`: the last one, where it is fixed.
fn tuple(rng: &mut ChaCha8Rng, operation: Operation, bits: &[usize], last: Option<&BigUint>) -> Vec<BigUint> {
    use Operation as O;
    if one_in(rng, 4) {
        let mut numbers: Vec<BigUint> = bits.iter().map(|bits| any(rng, *bits)).collect();
        if let (Some(number), Some(last)) = (numbers.last_mut(), last) {
            number.clone_from(last);
        }
        return numbers;
    }
    let p = bits[0];
    let q = bits.get(1).copied().unwrap_or(p);
    let width = bits[bits.len() - 1];
    let odd = operation.operands().last().and_then(|last| is_divisor(last.role)).unwrap_or(false);
    let m = |rng: &mut ChaCha8Rng| last.cloned().unwrap_or_else(|| modulus(rng, width, odd));
    match operation {
        O::Mul | O::MulLo | O::MulHi | O::SignedMul => product(rng, p, q).to_vec(),
        O::MulAdd => {
            let [a, b] = product(rng, p, q);
            let c = if one_in(rng, 2) { any(rng, width) } else { numbers::less(&numbers::power(p + q), &(&a * &b)) };
            vec![a, b, c]
        }
        O::DivRem | O::Rem | O::Reduce => {
            let m = m(rng);
            vec![dividend(rng, p, &m), m]
        }
        O::DivExact => {
            let m = m(rng);
            let a = cut(&dividend(rng, p, &m), p);
            vec![if m == BigUint::ZERO || one_in(rng, 4) { a } else { &a - &a % &m }, m]
        }
        O::Gcd | O::GcdExt | O::Lcm | O::Jacobi => chain(rng, p, q).to_vec(),
        O::InvMod => match last {
            Some(m) => vec![residue(rng, m, p), m.clone()],
            None => inverse(rng, p, q).to_vec(),
        },
        O::Sqrt => vec![square(rng, p)],
        O::StrongTest(_) => vec![tested(rng, p, p)[1].clone()],
        O::MillerRabin => {
            let [a, n] = tested(rng, p, q);
            vec![a, last.cloned().unwrap_or(n)]
        }
        O::AddMod | O::SubMod | O::MulMod => {
            let m = m(rng);
            let any = operation == O::MulMod && one_in(rng, 2);
            let a = if any { dividend(rng, p, &m) } else { residue(rng, &m, p) };
            // The sum next to the modulus, or any.
            let b = if one_in(rng, 3) { numbers::less(&m, &a) } else { residue(rng, &m, q) };
            vec![a, b, m]
        }
        O::MontMul => {
            let m = m(rng);
            let a = residue(rng, &m, p);
            let b = if one_in(rng, 2) { montgomery_partner(rng, &a, &m, width) } else { residue(rng, &m, q) };
            vec![a, b, m]
        }
        O::Redc => {
            let m = m(rng);
            vec![unreduced(rng, p, &m, width), m]
        }
        O::PowMod | O::PowModSec => {
            let m = m(rng);
            let a = if one_in(rng, 2) { dividend(rng, p, &m) } else { residue(rng, &m, p) };
            vec![a, exponent(rng, q), m]
        }
        O::NegMod | O::SqrMod | O::ToMont | O::FromMont | O::MontSqr | O::PowModPublic(_) => {
            let m = m(rng);
            vec![residue(rng, &m, p), m]
        }
        O::Add
        | O::WrappingAdd
        | O::Sub
        | O::WrappingSub
        | O::Cmp
        | O::And
        | O::Or
        | O::Xor
        | O::SignedAdd
        | O::SignedSub
        | O::SignedCmp
        | O::FromSignMagnitude => sum(rng, p, q).to_vec(),
        O::CarryingAdd | O::BorrowingSub if width == 1 => {
            let [a, b] = sum(rng, p, q);
            vec![a, b, any(rng, 1)]
        }
        O::CarryingAdd
        | O::BorrowingSub
        | O::Sqr
        | O::Neg
        | O::WrappingNeg
        | O::Shl(_)
        | O::WrappingShl(_)
        | O::Shr(_)
        | O::Not
        | O::Select
        | O::SignedNeg
        | O::SignExtend(_)
        | O::ToSignMagnitude => bits.iter().map(|bits| any(rng, *bits)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Value;

    fn number(operands: &Operands, lane: usize) -> BigUint {
        BigUint::from_slice(operands.lane(lane))
    }

    #[test]
    fn the_same_seed_gives_the_same_limbs_and_none_exceeds_its_bits() {
        for &operation in Operation::ALL {
            let arity = operation.arity();
            for width in [1, 2, 31, 32, 33, 300] {
                let (bits, lanes) = (&[width, 3, 65][3 - arity..], &[40, 1, 40][..arity]);
                let operands = draw(operation, bits, lanes, 7);
                assert_eq!(operands, draw(operation, bits, lanes, 7), "{operation}");
                for operand in &operands {
                    assert_eq!(operand.limbs.len(), operand.lanes * operand.bits.div_ceil(32), "{operation}");
                    assert!((0..40).all(|lane| number(operand, lane).bits() <= operand.bits as u64), "{operation}");
                }
            }
        }
    }

    #[test]
    fn hard_cases_come_up() {
        let roots = draw(Operation::Sqrt, &[128], &[200], 1);
        let whole = |n: &BigUint| n.sqrt().pow(2) == *n;
        assert!((0..200).filter(|lane| whole(&(number(&roots[0], *lane) + 1_u32))).count() > 20);
        let tests = draw(Operation::StrongTest(2), &[521], &[200], 1);
        let passes = |lane: &usize| {
            let n = Value::new(tests[0].lane(*lane), 521);
            oracle::apply(Operation::StrongTest(2), &[n])[0].number == BigUint::from(1_u32)
        };
        assert!((0..200).filter(passes).count() > 20);
        let sums = draw(Operation::Redc, &[256, 128], &[200; 2], 1);
        let edge = |lane: &usize| number(&sums[0], *lane) + 1_u32 == number(&sums[1], *lane) << 128_u32;
        assert!((0..200).filter(edge).count() > 10);
    }
}
