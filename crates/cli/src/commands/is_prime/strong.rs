//! Rounds of strong tests on the engine.
//!
//! `n − 1 = d·2^s` with `d` odd. `n` passes to base `a` if `a^d = 1`, or one of `a^d, a^(2d), … a^(2^(s−1)·d)` is
//! `n − 1`, modulo `n`. A round is one `pow_mod` for all lanes that are left, then a `sqr_mod` at a time for those that are
//! not decided; before each the lanes close up, so that no thread works for a lane that is known.
//!
//! Source: Miller 1976; Rabin 1980; Handbook of Applied Cryptography, 4.24.

use rayon::prelude::*;
use warpmp::{Batch, Operation, Session, Shape};

use super::{bases::Bases, tally::Tally};
use crate::{engine, error::Result, interrupt};

/// Tests lanes on an engine.
pub(super) struct Tester<'s> {
    session: &'s Session,
    bases: Bases,
}

/// How a lane's power stands in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    One,
    MinusOne,
    Other,
}

impl<'s> Tester<'s> {
    /// A tester on this engine.
    pub(super) const fn new(session: &'s Session, bases: Bases) -> Self {
        Self { session, bases }
    }

    /// Do the lanes `left` of the batch, odd and without a factor below 100, pass all their tests?
    pub(super) fn test(&mut self, batch: &Batch, left: &[usize], tally: &mut Tally) -> Result<Vec<bool>> {
        let limbs = batch.shape().limbs();
        let number = |lane: usize| &batch.limbs()[lane * limbs..][..limbs];
        let counts: Vec<u32> = left.iter().map(|lane| self.bases.count(number(*lane))).collect();
        let mut prime = vec![false; left.len()];
        let mut active: Vec<usize> = (0..left.len()).collect();
        let mut round = 0;
        while !active.is_empty() {
            interrupt::check()?;
            let numbers: Vec<&[u32]> = active.iter().map(|place| number(left[*place])).collect();
            let passed = self.round(round, &numbers, batch.shape().bits, tally)?;
            round += 1;
            let mut next = Vec::new();
            for (place, passed) in active.into_iter().zip(passed) {
                match (passed, round < counts[place]) {
                    (true, true) => next.push(place),
                    (passed, _) => prime[place] = passed,
                }
            }
            active = next;
        }
        Ok(prime)
    }

    /// Which of these pass a strong test to their base of this round?
    fn round(&mut self, round: u32, numbers: &[&[u32]], bits: usize, tally: &mut Tally) -> Result<Vec<bool>> {
        let moduli = gather(numbers, bits)?;
        let twos: Vec<u32> = numbers.par_iter().map(|number| trailing_zeros(number)).collect();
        let base = self.base(round, numbers, bits)?;
        let exponents = exponents(&moduli, &twos)?;
        let mut powers = self.apply(Operation::PowMod, &[&base, &exponents, &moduli], tally)?;
        tally.strong_tests += numbers.len() as u64;
        let mut passed = vec![false; numbers.len()];
        let mut active: Vec<usize> = (0..numbers.len()).collect();
        for squarings in 0.. {
            let stands: Vec<Power> = active
                .par_iter()
                .zip(powers.limbs().par_chunks_exact(powers.shape().limbs()))
                .map(|(lane, power)| stand(power, numbers[*lane]))
                .collect();
            let mut rows = Vec::new();
            for (row, (lane, stand)) in active.iter().zip(&stands).enumerate() {
                match stand {
                    Power::MinusOne => passed[*lane] = true,
                    // After a squaring it is the square of something that is neither 1 nor −1.
                    Power::One => passed[*lane] = squarings == 0,
                    Power::Other if squarings + 1 < twos[*lane] => rows.push(row),
                    Power::Other => {}
                }
            }
            if rows.is_empty() {
                break;
            }
            interrupt::check()?;
            let limbs = powers.shape().limbs();
            let left: Vec<&[u32]> = rows.iter().map(|row| &powers.limbs()[row * limbs..][..limbs]).collect();
            let squares = gather(&left, bits)?;
            active = rows.iter().map(|row| active[*row]).collect();
            let moduli: Vec<&[u32]> = active.iter().map(|lane| numbers[*lane]).collect();
            powers = self.apply(Operation::SqrMod, &[&squares, &gather(&moduli, bits)?], tally)?;
        }
        Ok(passed)
    }

    /// The bases of a round: a single one where all lanes have the same.
    fn base(&mut self, round: u32, numbers: &[&[u32]], bits: usize) -> Result<Batch<'static>> {
        if round == 0 {
            return Ok(Batch::from_limbs(Shape::new(1, 32), vec![2])?);
        }
        let limbs = bits.div_ceil(32);
        let mut bases = vec![0; numbers.len() * limbs];
        for (number, base) in numbers.iter().zip(bases.chunks_exact_mut(limbs)) {
            self.bases.write(round, number, base);
        }
        Ok(Batch::from_limbs(Shape::new(numbers.len(), bits), bases)?)
    }

    fn apply(&self, operation: Operation, operands: &[&Batch], tally: &mut Tally) -> Result<Batch<'static>> {
        let (result, report) = engine::apply(self.session, operation, operands, None, None)?;
        tally.kernel_seconds += report.kernel.as_secs_f64();
        Ok(result)
    }
}

/// Rows, one after the other.
fn gather(rows: &[&[u32]], bits: usize) -> Result<Batch<'static>> {
    Ok(Batch::from_limbs(Shape::new(rows.len(), bits), rows.concat())?)
}

/// The odd parts of the moduli less one; a modulus has `twos` factors two there.
fn exponents(moduli: &Batch, twos: &[u32]) -> Result<Batch<'static>> {
    let (shape, limbs) = (moduli.shape(), moduli.shape().limbs());
    let mut exponents = vec![0; shape.words()];
    exponents.par_chunks_exact_mut(limbs).zip(moduli.limbs().par_chunks_exact(limbs)).zip(twos).for_each(
        |((exponent, modulus), twos)| {
            let (words, shift) = ((twos / 32) as usize, twos % 32);
            // The one that is taken away is below the bits that stay: an odd modulus, at least one factor two.
            for (place, limb) in exponent[..limbs - words].iter_mut().enumerate() {
                let low = modulus[place + words];
                let high = modulus.get(place + words + 1).copied().unwrap_or(0);
                *limb = ((u64::from(high) << 32 | u64::from(low)) >> shift) as u32;
            }
        },
    );
    Ok(Batch::from_limbs(shape, exponents)?)
}

/// The factors two of `n − 1`, for an odd `n` above 1.
fn trailing_zeros(number: &[u32]) -> u32 {
    match (number[0] - 1).trailing_zeros() {
        32 => {
            (1..).zip(&number[1..]).find(|(_, limb)| **limb != 0).map_or(32, |(i, limb)| 32 * i + limb.trailing_zeros())
        }
        some => some,
    }
}

fn stand(power: &[u32], number: &[u32]) -> Power {
    if power[0] == 1 && power[1..].iter().all(|limb| *limb == 0) {
        Power::One
    } else if power[0] == number[0] - 1 && power[1..] == number[1..] {
        Power::MinusOne
    } else {
        Power::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_parts() {
        let rows: [&[u32]; 4] = [&[0x51, 0, 7], &[1, 0x100, 5], &[1, 0, 0x8000_0000], &[u32::MAX, 3, 0]];
        let twos = rows.map(trailing_zeros);
        assert_eq!(twos, [4, 40, 95, 1]);
        let exponents = exponents(&gather(&rows, 96).unwrap(), &twos).unwrap();
        assert_eq!(exponents.limbs(), [5, 0x7000_0000, 0, 0x0500_0001, 0, 0, 1, 0, 0, 0xffff_ffff, 1, 0]);
    }
}
