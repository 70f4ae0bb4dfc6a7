//! Strong tests on the engine.
//!
//! First all candidates to base 2: an operation of its own, which few composites pass. Then the candidates that pass take
//! all their further tests: strong tests to all further bases at once, a lane for each pair of a number and a base, so that
//! few numbers fill the engine, too; or a strong Lucas test, on the engine where the cores would take long.
//!
//! Source: Miller 1976; Rabin 1980; Handbook of Applied Cryptography, 4.24.

use std::time::Instant;

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp::{Batch, EngineKind, Error as EngineError, Operation, Options, Report, Session, Shape};

use super::{bases::Bases, bpsw::passes_strong_lucas_test, lucas};
use crate::{
    error::Result,
    watch::{Watch, check},
};

/// Limbs of the numbers of a launch, at most.
const LAUNCH_LIMBS: usize = 6 << 20;
/// Lucas tests between two looks at the watch.
const LUCAS_TESTS: usize = 256;
/// A GPU makes Lucas tests that take the cores longer than this: compiling its kernels may take as long.
const GPU_WORTH_SECONDS: f64 = 1.0;
/// The CPU engine makes Lucas tests that take the cores longer than this a bit: it makes 11 operations a bit, and each has to start.
const CPU_WORTH_SECONDS: f64 = 200e-6;

/// The tests that follow the one to base 2.
#[derive(Clone, Debug)]
pub(super) enum Further {
    /// Strong tests to these bases.
    Bases(Box<Bases>),
    /// A strong Lucas test.
    Lucas,
}

/// Tests, and the time that the engine computed them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Number of tests.
    pub tests: u64,
    /// Seconds of the engine's kernels; the whole time of Lucas tests.
    pub seconds: f64,
}

/// Tests candidates on an engine.
pub(super) struct Strong<'s> {
    session: &'s Session,
    watch: &'s dyn Watch,
    further: Further,
    /// Tests to base 2.
    pub(super) base_2: Cost,
    /// All other tests.
    pub(super) others: Cost,
}

impl<'s> Strong<'s> {
    /// Nothing tested yet.
    pub(super) const fn new(session: &'s Session, watch: &'s dyn Watch, further: Further) -> Self {
        let none = Cost { tests: 0, seconds: 0.0 };
        Self { session, watch, further, base_2: none, others: none }
    }

    /// Do these candidates, odd and without a prime factor below 100, pass all their tests?
    pub(super) fn test(&mut self, candidates: &Batch) -> Result<Vec<bool>> {
        check(self.watch)?;
        let (passed, cost) = apply(self.session, Operation::StrongTest(2), &[candidates])?;
        self.base_2.add(cost);
        let mut prime: Vec<bool> = passed.limbs().iter().map(|verdict| *verdict == 1).collect();
        match &mut self.further {
            Further::Bases(bases) => {
                let cost = further_bases(self.session, self.watch, bases, candidates, &mut prime)?;
                self.others.add(cost);
            }
            Further::Lucas => self.others.add(lucas(self.session, self.watch, candidates, &mut prime)?),
        }
        Ok(prime)
    }
}

/// Tests the candidates that are still `prime` to all their further bases.
fn further_bases(
    session: &Session,
    watch: &dyn Watch,
    bases: &mut Bases,
    candidates: &Batch,
    prime: &mut [bool],
) -> Result<Cost> {
    let limbs = candidates.shape().limbs();
    let number = |lane: usize| &candidates.limbs()[lane * limbs..][..limbs];
    let left = (0..prime.len()).filter(|lane| prime[*lane]);
    let pairs: Vec<(usize, u32)> =
        left.flat_map(|lane| (1..bases.count(number(lane))).map(move |round| (lane, round))).collect();
    let mut all = Cost::default();
    for pairs in pairs.chunks((LAUNCH_LIMBS / limbs).max(1)) {
        check(watch)?;
        let shape = Shape::new(pairs.len(), candidates.bits());
        let mut rows = vec![0; shape.words()];
        let mut numbers = Vec::with_capacity(shape.words());
        for ((lane, round), base) in pairs.iter().zip(rows.chunks_exact_mut(limbs)) {
            bases.write(*round, number(*lane), base);
            numbers.extend(number(*lane));
        }
        let operands = [Batch::from_limbs(shape, rows)?, Batch::from_limbs(shape, numbers)?];
        let (passed, cost) = apply(session, Operation::MillerRabin, &operands.each_ref())?;
        all.add(cost);
        for ((lane, _), verdict) in pairs.iter().zip(passed.limbs()) {
            prime[*lane] &= *verdict == 1;
        }
    }
    Ok(all)
}

/// Gives the candidates that are still `prime` a strong Lucas test.
fn lucas(session: &Session, watch: &dyn Watch, candidates: &Batch, prime: &mut [bool]) -> Result<Cost> {
    let start = Instant::now();
    let left: Vec<usize> = (0..prime.len()).filter(|lane| prime[*lane]).collect();
    let number = |lane: &usize| BigUint::from_slice(candidates.lane(*lane).unwrap_or_default());
    let Some((first, rest)) = left.split_first() else { return Ok(Cost::default()) };
    prime[*first] = passes_strong_lucas_test(&number(first));
    let core_seconds = start.elapsed().as_secs_f64() * rest.len() as f64 / rayon::current_num_threads() as f64;
    let worth_seconds = match session.engine().kind {
        EngineKind::Cpu => CPU_WORTH_SECONDS * candidates.bits() as f64,
        _ => GPU_WORTH_SECONDS,
    };
    if core_seconds > worth_seconds {
        let limbs = candidates.shape().limbs();
        for lanes in rest.chunks((LAUNCH_LIMBS / limbs).max(1)) {
            let rows = lanes.iter().flat_map(|lane| candidates.lane(*lane).unwrap_or_default()).copied().collect();
            let batch = Batch::from_limbs(Shape::new(lanes.len(), candidates.bits()), rows)?;
            for (lane, passed) in lanes.iter().zip(lucas::passed(session, watch, &batch)?) {
                prime[*lane] = passed;
            }
        }
    } else {
        for lanes in rest.chunks(LUCAS_TESTS) {
            check(watch)?;
            let passed: Vec<bool> = lanes.par_iter().map(|lane| passes_strong_lucas_test(&number(lane))).collect();
            for (lane, passed) in lanes.iter().zip(passed) {
                prime[*lane] = passed;
            }
        }
    }
    Ok(Cost { tests: left.len() as u64, seconds: start.elapsed().as_secs_f64() })
}

impl Cost {
    fn of(report: &Report) -> Self {
        Self { tests: report.lanes as u64, seconds: report.kernel.as_secs_f64() }
    }

    fn add(&mut self, other: Self) {
        self.tests += other.tests;
        self.seconds += other.seconds;
    }
}

/// Tests every lane: in chunks if the engine's memory is short, and on the CPU if no kernel takes these widths, as a tuning
/// table may have it.
fn apply(session: &Session, operation: Operation, operands: &[&Batch]) -> Result<(Batch<'static>, Cost)> {
    match apply_at_once(session, operation, operands) {
        Err(EngineError::OutOfMemory { .. }) => {
            let (mut verdicts, report) = session.apply(operation, operands, Options::new())?;
            Ok((verdicts.swap_remove(0), Cost::of(&report)))
        }
        Err(EngineError::AlgorithmUnfit { .. }) => Ok(apply_at_once(&Session::cpu(), operation, operands)?),
        result => Ok(result?),
    }
}

/// Tests all lanes in one launch: candidates go up, verdicts come back.
fn apply_at_once(
    session: &Session,
    operation: Operation,
    operands: &[&Batch],
) -> Result<(Batch<'static>, Cost), EngineError> {
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

    /// To base 2 alone pseudoprimes pass. Further bases find them, by proof and by chance; so does a Lucas test.
    #[test]
    fn all_tests_have_a_say() {
        let session = Session::cpu();
        let numbers = [42_799, 65_537, 52_633, 3_215_031_751, 4_294_967_291, 10_403];
        let batch = Batch::from_limbs(Shape::new(6, 32), numbers.to_vec()).unwrap();
        let verdicts = |further: Further| {
            let mut strong = Strong::new(&session, &(), further);
            let verdicts = strong.test(&batch).unwrap();
            (verdicts, strong.base_2.tests, strong.others.tests)
        };
        let bases = |most| Further::Bases(Box::new(Bases::seeded(most, 1)));
        assert_eq!(verdicts(bases(1)), (vec![true, true, true, true, true, false], 6, 0));
        assert_eq!(verdicts(bases(2)), (vec![false, true, false, true, true, false], 6, 5));
        // Two bases prove the first three, four the others: ψ₄ itself needs a fifth.
        assert_eq!(verdicts(bases(33)), (vec![false, true, false, false, true, false], 6, 3 + 4 + 4));
        assert_eq!(verdicts(Further::Lucas), (vec![false, true, false, false, true, false], 6, 5));
    }
}
