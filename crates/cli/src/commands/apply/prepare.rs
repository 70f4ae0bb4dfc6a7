//! Operands as an operation takes them: signs, and residues below their moduli.
//!
//! The library's operations take integers without signs, and some of them take residues alone. A person's file may have a minus, and
//! numbers of any size. So each batch passes here first; a batch that needs nothing passes as it is.

use std::borrow::Cow;

use num_bigint::{BigInt, BigUint, Sign};
use rayon::prelude::*;
use warpmp::{Batch, Operation, Options, Session, Shape, operation::Role};

use crate::{error::Result, io::column};

/// A number with a minus where it has no meaning. `place`: the number's file and line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignError {
    #[error("{place}: operand {operand} is negative, and {operation} takes no negative numbers there{}", advice(*.operation, .operand))]
    Negative { place: String, operand: &'static str, operation: Operation },
    #[error("{place}: operand {operand} has no two's complement of {bits} bits")]
    TooNegative { place: String, operand: &'static str, bits: usize },
}

fn advice(operation: Operation, operand: &str) -> &'static str {
    match (operation, operand) {
        (Operation::MulAdd, _) => ": use mul, then add",
        (Operation::PowMod | Operation::PowModSec, "e") => ": use inv-mod, then a positive exponent",
        (Operation::DivRem | Operation::Rem | Operation::DivExact, _) => ": use the magnitudes, or reduce for residues",
        _ => "",
    }
}

/// The meaning of a minus for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signs {
    /// The results do not depend on it.
    Free,
    /// Another operation does the same for two's complements.
    Form(Operation),
    /// A negative number stands for its residue.
    Residues,
    /// A negative number is a two's complement of this many bits.
    Complements(usize),
    /// None.
    Refused,
}

/// What happens to the operands of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preparation {
    pub(crate) operation: Operation,
    /// The bits that every operand has, if they are asked for.
    pub(crate) bits: Option<usize>,
    /// Does the user promise that operands are below their moduli?
    pub(crate) is_reduced: bool,
}

/// An operand's batch, or the only integer that it has, with the signs of the rows if there are any.
pub(crate) type Signed<'b> = (&'b Batch<'static>, Option<&'b [bool]>);

impl Preparation {
    fn signs(self) -> Signs {
        match (self.operation, self.bits) {
            (Operation::Sqr | Operation::Gcd | Operation::Lcm, _) => Signs::Free,
            (Operation::Mul, _) => Signs::Form(Operation::SignedMul),
            (Operation::Add, _) => Signs::Form(Operation::SignedAdd),
            (Operation::Sub, _) => Signs::Form(Operation::SignedSub),
            (Operation::Neg, _) => Signs::Form(Operation::SignedNeg),
            (Operation::Cmp, _) => Signs::Form(Operation::SignedCmp),
            (operation, _) if modulus(operation).is_some() => Signs::Residues,
            (operation, Some(bits)) if operation.depends_on_widths() => Signs::Complements(bits),
            _ => Signs::Refused,
        }
    }

    /// The operation that serves the command's operands, if some of them have signs.
    pub(crate) fn operation(self, has_signs: bool) -> Operation {
        match self.signs() {
            Signs::Form(operation) if has_signs => operation,
            _ => self.operation,
        }
    }

    /// Is a minus before an operand of this number an error?
    pub(super) fn refuses(self, operand: usize) -> bool {
        let role = self.operation.operands()[operand].role;
        match self.signs() {
            Signs::Free | Signs::Form(_) => false,
            Signs::Residues => !matches!(role, Role::Integer | Role::Reduced),
            Signs::Complements(_) => role != Role::Integer,
            Signs::Refused => true,
        }
    }

    /// The bits of two's complements, if negative operands must fit them.
    pub(super) fn complement_bits(self) -> Option<usize> {
        if let Signs::Complements(bits) = self.signs() { Some(bits) } else { None }
    }

    /// Does an operand with this role become a residue?
    fn reduces(self, role: Role, has_signs: bool) -> bool {
        match role {
            Role::Reduced => has_signs || !self.is_reduced,
            Role::Integer => has_signs,
            _ => false,
        }
    }

    /// The operands of some lanes, as the operation takes them.
    pub(super) fn batches<'b>(
        self,
        session: &Session,
        operands: &[Signed<'b>],
    ) -> Result<Vec<Cow<'b, Batch<'static>>>> {
        let has_signs = operands.iter().any(|(_, signs)| signs.is_some());
        let each = operands.iter().enumerate();
        let signs = self.signs();
        let prepare = |(i, (batch, negative)): (usize, &Signed<'b>)| -> Result<Cow<'b, Batch<'static>>> {
            match signs {
                Signs::Form(_) if has_signs => Ok(Cow::Owned(complements(batch, *negative, batch.bits() + 1)?)),
                Signs::Complements(bits) if negative.is_some() => Ok(Cow::Owned(complements(batch, *negative, bits)?)),
                Signs::Residues => {
                    let role = self.operation.operands()[i].role;
                    let m = modulus(self.operation).map(|modulus| operands[modulus].0);
                    match m.filter(|m| {
                        self.reduces(role, negative.is_some()) && (negative.is_some() || !is_below(batch, m))
                    }) {
                        Some(m) => Ok(Cow::Owned(residues(session, batch, *negative, m)?)),
                        None => Ok(Cow::Borrowed(*batch)),
                    }
                }
                _ => Ok(Cow::Borrowed(*batch)),
            }
        };
        each.map(prepare).collect()
    }

    /// The operands of one lane, by num-bigint: limbs and bits. An operand comes with its sign if it has one.
    pub(crate) fn lane(self, operands: &[(&[u32], usize, Option<bool>)]) -> Vec<(Vec<u32>, usize)> {
        let has_signs = operands.iter().any(|(_, _, sign)| sign.is_some());
        let value = |(limbs, _, sign): &(&[u32], usize, Option<bool>)| {
            BigInt::from_biguint(if *sign == Some(true) { Sign::Minus } else { Sign::Plus }, BigUint::from_slice(limbs))
        };
        let prepare = |(i, operand): (usize, &(&[u32], usize, Option<bool>))| -> (Vec<u32>, usize) {
            let (limbs, bits, sign) = operand;
            match self.signs() {
                Signs::Form(_) if has_signs => modulo(&value(operand), &(BigInt::from(1) << (bits + 1)), bits + 1),
                Signs::Complements(bits) if sign.is_some() => modulo(&value(operand), &(BigInt::from(1) << bits), bits),
                Signs::Residues if self.reduces(self.operation.operands()[i].role, sign.is_some()) => {
                    let m = modulus(self.operation).map(|modulus| &operands[modulus]);
                    match m.filter(|m| m.0.iter().any(|limb| *limb != 0)) {
                        Some(m) => modulo(&value(operand), &value(m), m.1),
                        None => (limbs.to_vec(), *bits),
                    }
                }
                _ => (limbs.to_vec(), *bits),
            }
        };
        operands.iter().enumerate().map(prepare).collect()
    }
}

/// The number of the operand that is the modulus.
fn modulus(operation: Operation) -> Option<usize> {
    operation.operands().iter().position(|operand| matches!(operand.role, Role::Modulus | Role::OddModulus))
}

/// The least number from zero on that is `value` modulo `m`, in `bits` bits.
fn modulo(value: &BigInt, m: &BigInt, bits: usize) -> (Vec<u32>, usize) {
    let residue: BigInt = ((value % m) + m) % m;
    let mut limbs = residue.magnitude().to_u32_digits();
    limbs.resize(bits.div_ceil(32), 0);
    (limbs, bits)
}

/// Two's complements of `bits` bits; `negative` has a sign a lane.
fn complements(batch: &Batch<'static>, negative: Option<&[bool]>, bits: usize) -> Result<Batch<'static>> {
    let shape = Shape::new(batch.lanes(), bits);
    let mut limbs = vec![0; shape.words()];
    limbs.par_chunks_exact_mut(shape.limbs()).enumerate().for_each(|(lane, out)| {
        let number = batch.lane(lane).unwrap_or_default();
        let kept = out.len().min(number.len());
        out[..kept].copy_from_slice(&number[..kept]);
        if negative.is_some_and(|negative| negative[lane]) {
            column::negate(out);
            if let (1.., Some(top)) = (bits % 32, out.last_mut()) {
                *top &= (1 << (bits % 32)) - 1;
            }
        }
    });
    Ok(Batch::from_limbs(shape, limbs)?)
}

/// The lane, or the only one.
fn lane_of<'b>(batch: &'b Batch<'static>, lane: usize) -> &'b [u32] {
    batch.lane(if batch.lanes() == 1 { 0 } else { lane }).unwrap_or_default()
}

/// Is every lane below its modulus?
fn is_below(batch: &Batch<'static>, m: &Batch<'static>) -> bool {
    let lanes = batch.lanes().max(m.lanes());
    (0..lanes).into_par_iter().all(|lane| is_less(lane_of(batch, lane), lane_of(m, lane)))
}

fn is_less(a: &[u32], m: &[u32]) -> bool {
    let limb = |number: &[u32], i: usize| number.get(i).copied().unwrap_or(0);
    let limbs = a.len().max(m.len());
    (0..limbs).rev().map(|i| limb(a, i)).lt((0..limbs).rev().map(|i| limb(m, i)))
}

/// The residues of numbers with signs, as wide as the moduli.
fn residues(
    session: &Session,
    batch: &Batch<'static>,
    negative: Option<&[bool]>,
    m: &Batch<'static>,
) -> Result<Batch<'static>> {
    let (mut results, _) = session.apply(Operation::Reduce, &[batch, m], Options::new())?;
    let residues = results.swap_remove(0);
    let Some(negative) = negative else { return Ok(residues) };
    let shape = residues.shape();
    let mut limbs = residues.into_limbs();
    limbs.par_chunks_exact_mut(shape.limbs()).enumerate().for_each(|(lane, out)| {
        let is_negative = negative[if negative.len() == 1 { 0 } else { lane }];
        if is_negative && out.iter().any(|limb| *limb != 0) {
            let mut borrow = false;
            for (limb, m) in out.iter_mut().zip(lane_of(m, lane)) {
                let (difference, first) = m.overflowing_sub(*limb);
                let (difference, second) = difference.overflowing_sub(u32::from(borrow));
                (*limb, borrow) = (difference, first | second);
            }
        }
    });
    Ok(Batch::from_limbs(shape, limbs)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bits: usize, limbs: &[u32]) -> Batch<'static> {
        Batch::from_limbs(Shape::new(limbs.len(), bits), limbs.to_vec()).unwrap()
    }

    /// The engine's operands and num-bigint's are the same, lane by lane.
    #[test]
    fn both_ways_agree() {
        let session = Session::cpu();
        let (a, b, m) =
            (batch(32, &[7, 100, 13, 0, u32::MAX]), batch(8, &[5, 9, 13, 200, 0]), batch(8, &[13, 13, 13, 7, 255]));
        let signs = [[true, false, true, true, true], [false, true, true, false, false]];
        for (operation, bits) in [
            (Operation::Sub, None),
            (Operation::AddMod, None),
            (Operation::MulMod, None),
            (Operation::Gcd, None),
            (Operation::WrappingAdd, Some(40)),
        ] {
            for is_reduced in [false, true] {
                let preparation = Preparation { operation, bits, is_reduced };
                for given in [[None, None], [Some(&signs[0][..]), Some(&signs[1])], [Some(&signs[0]), None]] {
                    let mut operands = vec![(&a, given[0]), (&b, given[1]), (&m, None)];
                    operands.truncate(operation.arity());
                    let found = preparation.batches(&session, &operands).unwrap();
                    for lane in 0..5 {
                        let of = |(batch, signs): &Signed<'_>| {
                            (lane_of(batch, lane).to_vec(), batch.bits(), signs.map(|signs| signs[lane]))
                        };
                        let owned: Vec<_> = operands.iter().map(of).collect();
                        let lanes: Vec<_> =
                            owned.iter().map(|(limbs, bits, sign)| (&limbs[..], *bits, *sign)).collect();
                        let expected = preparation.lane(&lanes);
                        for (batch, (limbs, _)) in found.iter().zip(expected) {
                            assert_eq!(
                                BigUint::from_slice(lane_of(batch, lane)),
                                BigUint::new(limbs),
                                "{operation} {lane}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn refusals() {
        let refuses = |operation, bits| {
            let preparation = Preparation { operation, bits, is_reduced: false };
            (0..operation.arity()).map(|operand| preparation.refuses(operand)).collect::<Vec<_>>()
        };
        assert_eq!(refuses(Operation::DivRem, None), [true, true]);
        assert_eq!(refuses(Operation::PowMod, None), [false, true, true]);
        assert_eq!(refuses(Operation::SignedAdd, None), [true, true]);
        assert_eq!(refuses(Operation::SignedAdd, Some(64)), [false, false]);
        assert_eq!(refuses(Operation::Mul, None), [false, false]);
    }
}
