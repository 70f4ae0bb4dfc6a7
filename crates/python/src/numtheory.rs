//! Primality and common factors.

use num_bigint::{BigInt, BigUint};
use numpy::PyArray1;
use pyo3::prelude::*;
use warpmp::{EngineKind, Operation, Shape};
use warpmp_numtheory::Watch;
use warpmp_numtheory::batch_gcd::{self as shared_factors, Finding};
use warpmp_numtheory::primality::{self, Bases, Tester};

use crate::apply::piece_lanes;
use crate::batch::Batch;
use crate::engine;
use crate::error::Result;
use crate::numbers::{self, Big};
use crate::watch::{Flag, flag, watched};

/// Stops the tests of a piece. Their progress is only a piece's.
struct Pieces<'f>(&'f Flag);

impl Watch for Pieces<'_> {
    fn go_on(&self) -> bool {
        self.0.go_on()
    }
}

/// Is each lane prime? Computed on a device, by the test of Baillie and Wagstaff, or by `rounds` strong tests.
#[pyfunction]
#[pyo3(signature = (numbers, rounds, seed, device, progress=None))]
pub(crate) fn is_prime<'py>(
    py: Python<'py>,
    numbers: &Bound<'py, Batch>,
    rounds: Option<u32>,
    seed: Option<u64>,
    device: String,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyArray1<bool>>> {
    let rows = numbers.get().rows(py)?;
    let flag = flag();
    let (watch, name) = (flag.clone(), device.clone());
    let verdicts = watched(py, &*watch, progress.as_ref(), move || {
        let engine = engine::whole(&device)?;
        let session = &engine.session;
        let pieces = Pieces(&flag);
        let mut tester = match (rounds, seed) {
            (None, _) => Tester::bpsw(session, &pieces),
            (Some(rounds), None) => Tester::new(session, Bases::new(rounds), &pieces),
            (Some(rounds), Some(seed)) => Tester::new(session, Bases::seeded(rounds, seed), &pieces),
        };
        let Shape { lanes, .. } = rows.shape();
        // A GPU is quick, and wants all lanes at once.
        let piece = match session.engine().kind {
            EngineKind::Cpu => piece_lanes(Operation::StrongTest(2).limb_products(&[rows.shape()])),
            EngineKind::Cuda | EngineKind::Sim => lanes.max(1),
        };
        let mut verdicts = Vec::with_capacity(lanes);
        for first in (0..lanes).step_by(piece) {
            flag.check(first as f64 / lanes as f64)?;
            verdicts.extend(tester.test(&rows.slice(first..(first + piece).min(lanes)).view())?);
        }
        Ok(verdicts)
    })?;
    engine::tell_left_out(py, &name)?;
    Ok(PyArray1::from_vec(py, verdicts))
}

/// For each lane the least prime above it, computed on a device.
#[pyfunction]
#[pyo3(signature = (numbers, device, progress=None))]
pub(crate) fn next_primes(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Batch> {
    let rows = numbers.get().rows(py)?;
    let flag = flag();
    let (watch, name) = (flag.clone(), device.clone());
    let primes = watched(py, &*watch, progress.as_ref(), move || {
        let found = primality::next_primes(&engine::whole(&device)?.session, &rows.view().to_biguints(), &*flag)?;
        let found: Vec<BigInt> = found.into_iter().map(BigInt::from).collect();
        Ok(Batch::host(numbers::build(&found, None, Some(false))?.0))
    })?;
    engine::tell_left_out(py, &name)?;
    Ok(primes)
}

/// A finding: its kind, a place, another place or -1, and the common divisor.
type Found = (&'static str, usize, i64, Big);

/// The integers that share a factor with another one, computed on a device.
#[pyfunction]
#[pyo3(signature = (moduli, pairs, device, progress=None))]
pub(crate) fn batch_gcd(
    py: Python<'_>,
    moduli: &Bound<'_, Batch>,
    pairs: bool,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    let rows = moduli.get().rows(py)?;
    let flag = flag();
    let (watch, name) = (flag.clone(), device.clone());
    let findings = watched(py, &*watch, progress.as_ref(), move || {
        let numbers = rows.view().to_biguints();
        let outcome = shared_factors::batch_gcd(&engine::whole(&device)?.session, &numbers, &*flag)?;
        let mut found = Vec::new();
        for finding in outcome.findings() {
            flag.check(1.0)?;
            if !pairs && matches!(finding, Finding::Pair { .. }) {
                break;
            }
            found.push(row(finding));
        }
        Ok(found)
    })?;
    engine::tell_left_out(py, &name)?;
    Ok(findings)
}

fn row(finding: Finding) -> Found {
    match finding {
        Finding::Zero { place } => ("zero", place, -1, Big(BigUint::ZERO)),
        Finding::One { place } => ("one", place, -1, Big(BigUint::from(1_u32))),
        Finding::Duplicate { place, first } => ("duplicate", place, first as i64, Big(BigUint::ZERO)),
        Finding::Shared { place, gcd } => ("shared", place, -1, Big(gcd)),
        Finding::Pair { places: [place, other], gcd } => ("pair", place, other as i64, Big(gcd)),
    }
}
