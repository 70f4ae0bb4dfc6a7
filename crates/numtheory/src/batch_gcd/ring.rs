//! Batches in the memory of a GPU, and Montgomery's arithmetic with inverses that are kept.
//!
//! Everything is made of whole products of `w` by `w` bits: each length has few kernels, which the driver compiles. The halves of a
//! product are copies of its rows.
//!
//! bound: a reduction of `t = t₁·R + t₀ < m·R`, `R = 2^w`, takes `q = t₀·x mod R` with `x = 1/m mod R`. The lower halves of `t` and `q·m`
//! are equal, so `t/R = t₁ − ⌊q·m/R⌋` modulo `m`, and both terms are less than `m`.

use warpmp::{Batch, DeviceBatch, Operation, Session, Shape};

use crate::error::Result;

/// Halvings of the width in Newton's iteration.
const HALVINGS: usize = 4;

/// Odd moduli of whole limbs, and their inverses modulo `R`.
pub(super) struct Ring<'s> {
    pub(super) session: &'s Session,
    pub(super) moduli: DeviceBatch,
    pub(super) inverses: DeviceBatch,
}

impl<'s> Ring<'s> {
    /// The operations of a ring of this shape, to load their kernels.
    pub(super) fn operations(shape: Shape) -> [(Operation, Vec<Shape>); 2] {
        [(Operation::Mul, vec![shape; 2]), (Operation::SubMod, vec![shape; 3])]
    }

    /// The operations that [`Ring::new`] and [`ones`] need besides.
    pub(super) fn operations_of_new(shape: Shape) -> Vec<(Operation, Vec<Shape>)> {
        let mut operations = vec![(Operation::WrappingAdd, vec![Shape::new(1, 1), shape])];
        let mut at = shape;
        for halvings in (0..=HALVINGS).rev() {
            operations.push((Operation::Mul, vec![at; 2]));
            operations.push((Operation::WrappingSub, vec![Shape::new(1, 2), at]));
            if halvings == 0 || !has_half(at.bits) {
                break;
            }
            let half = Shape { bits: at.bits / 2, ..at };
            operations.push((Operation::WrappingAdd, vec![Shape::new(1, at.bits), half]));
            at = half;
        }
        operations
    }

    /// Computes the inverses.
    pub(super) fn new(session: &'s Session, moduli: DeviceBatch) -> Result<Self> {
        let inverses = inverses(session, &moduli, HALVINGS)?;
        Ok(Self { session, moduli, inverses })
    }

    /// `t/R` modulo the moduli, for `t` in two halves, the lower one first.
    pub(super) fn reduce(&self, [lower, upper]: [&DeviceBatch; 2]) -> Result<DeviceBatch> {
        let quotients = lower_product(self.session, lower, &self.inverses)?;
        let products = one(self.session, Operation::Mul, &[&quotients, &self.moduli])?;
        let taken = half(self.session, &products, 1)?;
        one(self.session, Operation::SubMod, &[upper, &taken, &self.moduli])
    }

    /// `a·b/R` modulo the moduli, for `a` less than they and `b < R`.
    pub(super) fn multiply(&self, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        let products = one(self.session, Operation::Mul, &[a, b])?;
        self.reduce([&half(self.session, &products, 0)?, &half(self.session, &products, 1)?])
    }
}

/// `1/m mod R`: `x ← x·(2 − m·x)` doubles the bits that are right. The first ones are those of the inverses of the lower halves, so many times,
/// then the lowest three of `m`. The steps at a sixteenth of the width take little time.
fn inverses(session: &Session, moduli: &DeviceBatch, halvings: usize) -> Result<DeviceBatch> {
    let shape = moduli.shape();
    let (mut right, mut inverses) = if halvings > 0 && has_half(shape.bits) {
        let lower = inverses(session, &half(session, moduli, 0)?, halvings - 1)?;
        let zero = session.zeros(Shape::new(1, shape.bits))?;
        (shape.bits / 2, one(session, Operation::WrappingAdd, &[&zero, &lower])?)
    } else {
        (3, some_lanes(session, moduli, 0, shape.lanes)?)
    };
    let two = session.upload(&Batch::from_limbs(Shape::new(1, 2), vec![2])?)?;
    while right < shape.bits {
        let products = lower_product(session, moduli, &inverses)?;
        let factors = one(session, Operation::WrappingSub, &[&two, &products])?;
        inverses = lower_product(session, &inverses, &factors)?;
        right *= 2;
    }
    Ok(inverses)
}

/// Has half of the width whole limbs?
const fn has_half(bits: usize) -> bool {
    bits.is_multiple_of(64)
}

/// `a·b mod R`.
pub(super) fn lower_product(session: &Session, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
    half(session, &one(session, Operation::Mul, &[a, b])?, 0)
}

/// A half of each row: the lower one is 0, the upper one is 1.
pub(super) fn half(session: &Session, batch: &DeviceBatch, number: usize) -> Result<DeviceBatch> {
    let Shape { lanes, bits } = batch.shape();
    let into = session.reserve(Shape::new(lanes, bits / 2))?;
    Ok(session.copy_limbs(batch, number * into.shape().limbs(), into)?)
}

/// A batch of ones.
pub(super) fn ones(session: &Session, shape: Shape) -> Result<DeviceBatch> {
    let bit = session.upload(&Batch::from_limbs(Shape::new(1, 1), vec![1])?)?;
    one(session, Operation::WrappingAdd, &[&bit, &session.zeros(shape)?])
}

/// Some lanes of a batch, from lane `first` on.
pub(super) fn some_lanes(session: &Session, batch: &DeviceBatch, first: usize, lanes: usize) -> Result<DeviceBatch> {
    let into = session.reserve(Shape { lanes, ..batch.shape() })?;
    Ok(session.copy_lanes(batch, first, into)?)
}

/// The first result of an operation.
pub(super) fn one(session: &Session, operation: Operation, operands: &[&DeviceBatch]) -> Result<DeviceBatch> {
    Ok(session.apply_device(operation, operands)?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use dashu_int::UBig;
    use rayon::prelude::*;
    use warpmp::Selector;

    use super::super::arithmetic::{batch, numbers};
    use super::*;

    /// Products with carries everywhere, against the integers' own operations: `a·b ≡ r·R` modulo `m`, and `r < m`.
    #[test]
    fn products_over_r() {
        let session = Session::on(Selector::Sim).unwrap();
        for bits in [32, 64, 160, 1056, 2048] {
            let r = UBig::ONE << bits;
            let moduli = [1_u32, 3, 0xffff_fffb].map(UBig::from).into_iter().chain([&r - 1_u32, &r / 2_u32 + 1_u32]);
            let moduli: Vec<UBig> = moduli.collect();
            let up = |numbers: &[UBig]| session.upload(&batch(numbers.par_iter(), bits).unwrap()).unwrap();
            let ring = Ring::new(&session, up(&moduli)).unwrap();
            let inverses = numbers(&session.download(&ring.inverses).unwrap());
            assert!(moduli.iter().zip(&inverses).all(|(m, x)| (m * x) % &r == UBig::ONE));
            let b = vec![&r - 1_u32; moduli.len()];
            for below in [1_u32, 2] {
                let a: Vec<UBig> = moduli.iter().map(|m| m - m.min(&UBig::from(below))).collect();
                let found = numbers(&session.download(&ring.multiply(&up(&a), &up(&b)).unwrap()).unwrap());
                for (((a, b), m), found) in a.iter().zip(&b).zip(&moduli).zip(&found) {
                    assert!(found < m && (a * b) % m == (found * &r) % m, "{bits}");
                }
            }
        }
    }
}
