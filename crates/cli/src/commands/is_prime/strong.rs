//! Strong tests on the engine.
//!
//! First all candidates to base 2, an operation of its own, which leaves the primes and next to nothing else. Then what is
//! left to all further bases at once, a lane for each pair of a number and a base, so that few numbers fill the engine, too.
//!
//! Source: Miller 1976; Rabin 1980; Handbook of Applied Cryptography, 4.24.

use warpmp::{Batch, Error as LibraryError, Operation, Options, Report, Session, Shape};

use super::bases::Bases;
use crate::{error::Result, interrupt};

/// Limbs of the numbers of a launch, at most.
const LAUNCH_LIMBS: usize = 6 << 20;

/// What tests cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) tests: u64,
    pub(super) kernel_seconds: f64,
}

/// Tests candidates on an engine.
pub(super) struct Tester<'s> {
    session: &'s Session,
    bases: Bases,
    /// Tests to base 2.
    pub(super) first: Cost,
    /// Tests to further bases.
    pub(super) further: Cost,
}

impl<'s> Tester<'s> {
    /// A tester on this engine.
    pub(super) fn new(session: &'s Session, bases: Bases) -> Self {
        Self { session, bases, first: Cost::default(), further: Cost::default() }
    }

    /// Do these candidates, odd and without a factor below 100, pass all their tests?
    pub(super) fn test(&mut self, candidates: &Batch) -> Result<Vec<bool>> {
        let (passed, cost) = apply(self.session, Operation::StrongTest(2), &[candidates])?;
        self.first.add(cost);
        let mut prime: Vec<bool> = passed.limbs().iter().map(|verdict| *verdict == 1).collect();
        let limbs = candidates.shape().limbs();
        let number = |lane: usize| &candidates.limbs()[lane * limbs..][..limbs];
        let left: Vec<(usize, u32)> =
            (0..prime.len()).filter(|lane| prime[*lane]).map(|lane| (lane, self.bases.count(number(lane)))).collect();
        let pairs: Vec<(usize, u32)> =
            left.iter().flat_map(|(lane, count)| (1..*count).map(|round| (*lane, round))).collect();
        for pairs in pairs.chunks((LAUNCH_LIMBS / limbs).max(1)) {
            interrupt::check()?;
            let shape = Shape::new(pairs.len(), candidates.bits());
            let mut bases = vec![0; shape.words()];
            let mut numbers = Vec::with_capacity(shape.words());
            for ((lane, round), base) in pairs.iter().zip(bases.chunks_exact_mut(limbs)) {
                self.bases.write(*round, number(*lane), base);
                numbers.extend(number(*lane));
            }
            let operands = [Batch::from_limbs(shape, bases)?, Batch::from_limbs(shape, numbers)?];
            let (passed, cost) = apply(self.session, Operation::MillerRabin, &operands.each_ref())?;
            self.further.add(cost);
            for ((lane, _), verdict) in pairs.iter().zip(passed.limbs()) {
                prime[*lane] &= *verdict == 1;
            }
        }
        Ok(prime)
    }
}

impl Cost {
    fn of(report: &Report) -> Self {
        Self { tests: report.lanes as u64, kernel_seconds: report.kernel.as_secs_f64() }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.kernel_seconds += other.kernel_seconds;
    }
}

/// A test of every lane; in chunks if the engine's memory is short, by the processor if no kernel takes them, which a tuning table
/// may bring about.
fn apply(session: &Session, operation: Operation, operands: &[&Batch]) -> Result<(Batch<'static>, Cost)> {
    match apply_at_once(session, operation, operands) {
        Err(LibraryError::OutOfMemory { .. }) => {
            let (mut verdicts, report) = session.apply(operation, operands, Options::new())?;
            Ok((verdicts.swap_remove(0), Cost::of(&report)))
        }
        Err(LibraryError::AlgorithmUnfit { .. }) => Ok(apply_at_once(&Session::cpu(), operation, operands)?),
        result => Ok(result?),
    }
}

/// All lanes in one launch: candidates go up, verdicts come back.
fn apply_at_once(
    session: &Session,
    operation: Operation,
    operands: &[&Batch],
) -> Result<(Batch<'static>, Cost), LibraryError> {
    let resident = operands.iter().map(|batch| session.upload(batch)).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape()).collect();
    let into = operation.results(&shapes)?.into_iter().map(|shape| session.reserve(shape)).collect::<Result<_, _>>()?;
    let resident: Vec<_> = resident.iter().collect();
    let (results, report) = session.apply_device_into(operation, &resident, None, into)?;
    let verdicts = session.download(&results[0])?;
    Ok((verdicts, Cost::of(&report)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To base 2 alone pseudoprimes pass; what further bases are for, by proof and by chance.
    #[test]
    fn all_bases_have_a_say() {
        let session = Session::cpu();
        let numbers = [42_799, 65_537, 52_633, 3_215_031_751, 4_294_967_291, 10_403];
        let batch = Batch::from_limbs(Shape::new(6, 32), numbers.to_vec()).unwrap();
        let verdicts = |most: u32| {
            let mut tester = Tester::new(&session, Bases::new(most, Some(1)));
            let verdicts = tester.test(&batch).unwrap();
            (verdicts, tester.first.tests, tester.further.tests)
        };
        assert_eq!(verdicts(1), (vec![true, true, true, true, true, false], 6, 0));
        assert_eq!(verdicts(2), (vec![false, true, false, true, true, false], 6, 5));
        // Two bases prove the first three, four the others: ψ₄ itself needs a fifth.
        assert_eq!(verdicts(33), (vec![false, true, false, false, true, false], 6, 3 + 4 + 4));
    }
}
