//! Strong Lucas tests on the engine, a lane an integer.
//!
//! The test is the one of [`super::bpsw`]: Selfridge's parameters, `P = 1` and `Q = (1 − D)/4`. With `n + 1 = d·2ˢ`, an integer passes if
//! `U_d = 0` or `V_(d·2ʳ) = 0` for an `r` below `s`.
//!
//! A ladder keeps `V_k`, `V_(k+1)` and `Q^k` of all lanes, in Montgomery form, and takes the bits of `d` from the top:
//!
//! ```text
//! bit 0:  V_2k     = V_k² − 2Q^k         V_(2k+1) = V_k·V_(k+1) − Q^k       Q^2k     = Q^k·Q^k
//! bit 1:  V_(2k+1) = V_k·V_(k+1) − Q^k   V_(2k+2) = V_(k+1)² − 2Q^(k+1)     Q^(2k+1) = Q^k·Q^(k+1)
//! ```
//!
//! Four Montgomery products a bit. It begins at `k = 0`, so that exponents of different lengths need no care: doubling 0 gives 0. In the end
//! `D·U_d = 2V_(d+1) − V_d`, and `D` has no factor in common with `n`.
//!
//! Source: M. Joye, J.-J. Quisquater, *Efficient computation of full Lucas sequences*, 1996.

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::{Batch, DeviceBatch, Operation, Session, Shape};

use super::bpsw::{jacobi_of_small, next_d};
use crate::{
    error::Result,
    watch::{Watch, check},
};

/// After as many `D` a square is likely enough to look for a root.
const FEW_D: usize = 32;
/// Bits between two looks at the watch.
const LOOK: u64 = 64;

/// The integers of a batch: odd, and without a prime factor below 100.
struct Candidates<'c> {
    batch: &'c Batch<'c>,
    /// `Q` of each lane; none if the lane is known to be composite.
    q: Vec<Option<i64>>,
}

/// Which lanes pass the strong Lucas test? All of them are odd and have no prime factor below 100.
pub(super) fn passed(session: &Session, watch: &dyn Watch, candidates: &Batch) -> Result<Vec<bool>> {
    let q = (0..candidates.lanes()).into_par_iter().map(|lane| parameter(&number(candidates, lane))).collect();
    let candidates = Candidates { batch: candidates, q };
    let order: Vec<BigUint> =
        (0..candidates.batch.lanes()).map(|lane| number(candidates.batch, lane) + 1_u32).collect();
    let twos: Vec<u64> = order.iter().map(|order| order.trailing_zeros().unwrap_or(0)).collect();
    let exponents: Vec<BigUint> = order.iter().zip(&twos).map(|(order, twos)| order >> twos).collect();
    let mut ladder = Ladder::new(session, &candidates)?;
    for bit in (0..exponents.iter().map(BigUint::bits).max().unwrap_or(0)).rev() {
        if bit.is_multiple_of(LOOK) {
            check(watch)?;
        }
        ladder.step(&exponents.iter().map(|exponent| u32::from(exponent.bit(bit))).collect::<Vec<_>>())?;
    }
    let (v, next) = (session.download(&ladder.v)?, session.download(&ladder.next)?);
    let is_u_zero = |lane: usize| number(&next, lane) * 2_u32 % number(candidates.batch, lane) == number(&v, lane);
    let mut passed: Vec<bool> = (0..v.lanes()).into_par_iter().map(is_u_zero).collect();
    for double in 0..twos.iter().copied().max().unwrap_or(0) {
        if double > 0 {
            check(watch)?;
            ladder.double()?;
        }
        let v = session.download(&ladder.v)?;
        for (lane, passed) in passed.iter_mut().enumerate() {
            *passed |= double < twos[lane] && v.lane(lane).is_some_and(|limbs| limbs.iter().all(|limb| *limb == 0));
        }
    }
    Ok(passed.iter().zip(&candidates.q).map(|(passed, q)| *passed && q.is_some()).collect())
}

fn number(batch: &Batch, lane: usize) -> BigUint {
    BigUint::from_slice(batch.lane(lane).unwrap_or_default())
}

/// Selfridge's `Q` for an odd `n` without a prime factor below 100; none if the search shows that `n` is composite.
fn parameter(n: &BigUint) -> Option<i64> {
    let mut d = 5_i64;
    for tried in 0.. {
        if tried == FEW_D {
            let root = n.sqrt();
            if &root * &root == *n {
                return None;
            }
        }
        match jacobi_of_small(d, n) {
            -1 => return Some((1 - d) / 4),
            // A common factor: n is composite unless it divides D, which is then larger than n.
            0 if BigUint::from(d.unsigned_abs()) % n != BigUint::ZERO => return None,
            _ => d = next_d(d),
        }
    }
    None
}

/// `V_k`, `V_(k+1)` and `Q^k` of all lanes, where the session computes.
struct Ladder<'s> {
    session: &'s Session,
    n: DeviceBatch,
    v: DeviceBatch,
    next: DeviceBatch,
    power: DeviceBatch,
    q: DeviceBatch,
    lanes: usize,
}

impl<'s> Ladder<'s> {
    /// `k = 0`: 2, 1 and 1.
    fn new(session: &'s Session, candidates: &Candidates<'_>) -> Result<Self> {
        let shape = candidates.batch.shape();
        let n = session.upload(candidates.batch)?;
        let constant = |value: &dyn Fn(usize) -> BigUint| -> Result<DeviceBatch> {
            let mut limbs = vec![0; shape.words()];
            for (lane, out) in limbs.chunks_exact_mut(shape.limbs()).enumerate() {
                let digits = value(lane).to_u32_digits();
                out[..digits.len()].copy_from_slice(&digits);
            }
            let plain = session.upload(&Batch::from_limbs(shape, limbs)?)?;
            apply(session, Operation::ToMont, &[&plain, &n])
        };
        let q = |lane: usize| {
            let q = candidates.q[lane].unwrap_or(1);
            let magnitude = BigUint::from(q.unsigned_abs());
            if q < 0 { number(candidates.batch, lane) - magnitude } else { magnitude }
        };
        Ok(Self {
            v: constant(&|_| 2_u32.into())?,
            next: constant(&|_| 1_u32.into())?,
            power: constant(&|_| 1_u32.into())?,
            q: constant(&q)?,
            lanes: shape.lanes,
            session,
            n,
        })
    }

    /// `k` becomes `2k`, and `2k + 1` in lanes whose bit is set.
    fn step(&mut self, bits: &[u32]) -> Result<()> {
        let bits = self.session.upload(&Batch::from_limbs(Shape::new(self.lanes, 1), bits.to_vec())?)?;
        let raised = self.mul(&self.power, &self.q)?;
        // Q^k or Q^(k+1), and the V that is squared.
        let factor = self.select(&bits, &raised, &self.power)?;
        let squared = self.select(&bits, &self.next, &self.v)?;
        let even = self.minus_twice(&squared, &factor)?;
        let product = self.mul(&self.v, &self.next)?;
        let odd = self.modular(Operation::SubMod, &product, &self.power)?;
        self.power = self.mul(&self.power, &factor)?;
        self.v = self.select(&bits, &odd, &even)?;
        self.next = self.select(&bits, &even, &odd)?;
        Ok(())
    }

    /// `k` becomes `2k`; `V_(k+1)` is not needed any more.
    fn double(&mut self) -> Result<()> {
        self.v = self.minus_twice(&self.v, &self.power)?;
        self.power = self.mul(&self.power, &self.power)?;
        Ok(())
    }

    /// `v² − 2·power`.
    fn minus_twice(&self, v: &DeviceBatch, power: &DeviceBatch) -> Result<DeviceBatch> {
        let square = self.mul(v, v)?;
        let twice = self.modular(Operation::AddMod, power, power)?;
        self.modular(Operation::SubMod, &square, &twice)
    }

    fn mul(&self, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        self.modular(Operation::MontMul, a, b)
    }

    fn modular(&self, operation: Operation, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        apply(self.session, operation, &[a, b, &self.n])
    }

    fn select(&self, bits: &DeviceBatch, a: &DeviceBatch, b: &DeviceBatch) -> Result<DeviceBatch> {
        apply(self.session, Operation::Select, &[bits, a, b])
    }
}

/// The first result of an operation.
fn apply(session: &Session, operation: Operation, operands: &[&DeviceBatch]) -> Result<DeviceBatch> {
    Ok(session.apply_device(operation, operands)?.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use warpmp::Selector;

    use super::{super::bpsw::passes_strong_lucas_test, *};

    fn is_rough(n: u32) -> bool {
        (2..100).all(|divisor| !n.is_multiple_of(divisor))
    }

    fn batch(numbers: &[BigUint], bits: usize) -> Batch<'static> {
        let shape = Shape::new(numbers.len(), bits);
        let mut limbs = vec![0; shape.words()];
        for (out, number) in limbs.chunks_exact_mut(shape.limbs()).zip(numbers) {
            let digits = number.to_u32_digits();
            out[..digits.len()].copy_from_slice(&digits);
        }
        Batch::from_limbs(shape, limbs).unwrap()
    }

    /// Primes, strong Lucas pseudoprimes (58519, 75077, 97439), other composites, squares; Mersenne primes, where `n + 1` is a power of 2.
    #[test]
    fn lanes_pass_as_single_integers_do() {
        let mut numbers: Vec<BigUint> = (58_001..60_000).filter(|n| is_rough(*n)).map(BigUint::from).collect();
        numbers.extend([75_077_u32, 97_439, 101 * 101, 65_537 * 101, 10_007].map(BigUint::from));
        numbers.extend([61_u32, 89, 107, 101, 103].map(|exponent| (BigUint::from(1_u32) << exponent) - 1_u32));
        numbers.push(BigUint::from(4_294_967_291_u32).pow(2));
        let expected: Vec<bool> = numbers.iter().map(passes_strong_lucas_test).collect();
        assert!(expected[..100].contains(&false));
        assert_eq!(passed(&Session::cpu(), &(), &batch(&numbers, 107)).unwrap(), expected);
        let sim = Session::on(Selector::Sim).unwrap();
        let few: Vec<BigUint> = numbers.iter().rev().take(5).cloned().collect();
        assert_eq!(
            passed(&sim, &(), &batch(&few, 107)).unwrap(),
            expected.iter().rev().take(5).copied().collect::<Vec<_>>()
        );
    }
}
