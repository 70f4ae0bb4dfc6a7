//! Factors: elliptic curves, P−1, P+1, and whole factorisations.

use num_bigint::BigUint;
use pyo3::prelude::*;
use warpmp_numtheory::factor::{
    Attempts, Bounds, Depth, Factorisation, Factors, LostDevice, Method, Origin, Plan, RATIO, Sigma, Stage, Told,
    factor_on, search_on,
};

use crate::batch::Batch;
use crate::engine;
use crate::error::{Failure, Result};
use crate::numbers::Big;
use crate::watch::{flag, watched};

/// A prime and how it was found: method, sigma, B1, B2 and stage, as far as there are any.
type Find = (Big, Option<&'static str>, Option<String>, u64, u64, u32);

/// The primes and the composites of an integer, and the attempts on it.
type Found = (Big, Vec<Find>, Vec<Big>, u64);

/// A find by an attempt.
fn find(prime: BigUint, method: &Method, bounds: Bounds, stage: Stage) -> Find {
    let sigma = match method {
        Method::Ecm(sigma) => Some(sigma.to_string()),
        Method::Curve(_) | Method::Pm1 | Method::Pp1 => None,
    };
    let stage = match stage {
        Stage::First => 1,
        Stage::Second => 2,
    };
    (Big(prime), Some(method.name()), sigma, bounds.b1(), bounds.b2(), stage)
}

fn row(found: Factorisation, bounds: Bounds) -> Found {
    let primes = found.primes.into_iter().map(|it| match it.by {
        Some((method, stage)) => find(it.prime, &method, bounds, stage),
        None => (Big(it.prime), None, None, 0, 0, 0),
    });
    let primes = primes.collect();
    (Big(found.n), primes, found.composites.into_iter().map(Big).collect(), found.attempts)
}

fn whole_row(found: Factors) -> Found {
    let primes = found.primes.into_iter().map(|it| match it.origin {
        Origin::Attempt { method, bounds, stage } => find(it.prime, &method, bounds, stage),
        Origin::Trial => (Big(it.prime), Some("trial division"), None, 0, 0, 0),
        Origin::Left => (Big(it.prime), None, None, 0, 0, 0),
    });
    let primes = primes.collect();
    (Big(found.n), primes, found.composites.into_iter().map(|it| Big(it.number)).collect(), found.attempts)
}

/// Warns of the devices that failed while others did their part.
fn tell_lost(py: Python<'_>, device: &str) -> Result<()> {
    for LostDevice { device, error } in engine::factoring(device)?.lost() {
        engine::warn(py, &format!("{device} failed, and the other devices did its part: {error}"))?;
    }
    Ok(())
}

/// Attempts of one method on all integers, on a device.
fn attempt(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    bounds: (u64, Option<u64>),
    attempts: Attempts,
    device: String,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    let rows = numbers.get().rows(py)?;
    let b2 = bounds.1.unwrap_or_else(|| bounds.0.saturating_mul(RATIO).min(Bounds::MOST));
    let bounds = Bounds::new(bounds.0, b2).map_err(|error| Failure::value(error.to_string()))?;
    let flag = flag();
    let watch = flag.clone();
    let engine = py.detach(|| engine::factoring(&device))?;
    let found = watched(py, &*watch, progress, move || {
        let plan = Plan { bounds, attempts, one: false, told: Told::Finds };
        let outcome = search_on(&engine, &rows.view().to_biguints(), &plan, &*flag, &mut |_, _| {})?;
        flag.check(1.0)?;
        Ok(outcome.numbers.into_iter().map(|found| row(found, bounds)).collect())
    })?;
    tell_lost(py, &device)?;
    Ok(found)
}

/// Elliptic curves on each lane: `curves` of them, from `sigma` on or by a seed.
#[pyfunction]
#[pyo3(signature = (numbers, b1, b2, curves, sigma, seed, device, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are the parameters of the method by their usual names")]
pub(crate) fn ecm(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    b1: u64,
    b2: Option<u64>,
    curves: u64,
    sigma: Option<&str>,
    seed: u64,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    let value = |error: warpmp_numtheory::factor::SigmaError| Failure::value(error.to_string());
    let attempts = match sigma {
        Some(sigma) => Attempts::curves_from(sigma.parse::<Sigma>().map_err(value)?, curves).map_err(value)?,
        None => Attempts::Curves { seed, count: curves },
    };
    attempt(py, numbers, (b1, b2), attempts, device, progress.as_ref())
}

/// P−1 on each lane.
#[pyfunction]
#[pyo3(signature = (numbers, b1, b2, x0, device, progress=None))]
pub(crate) fn pm1(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    b1: u64,
    b2: Option<u64>,
    x0: Big,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    attempt(py, numbers, (b1, b2), Attempts::Pm1 { base: [x0.0, 1_u32.into()] }, device, progress.as_ref())
}

/// P+1 on each lane, from each of the starts, or from the usual ones.
#[pyfunction]
#[pyo3(signature = (numbers, b1, b2, x0, device, progress=None))]
pub(crate) fn pp1(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    b1: u64,
    b2: Option<u64>,
    x0: Vec<Big>,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    let starts = x0.into_iter().map(|start| [start.0, BigUint::from(1_u32)]).collect::<Vec<_>>();
    let attempts = if starts.is_empty() { Attempts::pp1() } else { Attempts::Pp1 { starts } };
    attempt(py, numbers, (b1, b2), attempts, device, progress.as_ref())
}

/// Whole factorisations. Curves run on the device.
#[pyfunction]
#[pyo3(name = "factor", signature = (numbers, digits, seed, device, progress=None))]
pub(crate) fn factor_all(
    py: Python<'_>,
    numbers: &Bound<'_, Batch>,
    digits: u32,
    seed: u64,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Found>> {
    let rows = numbers.get().rows(py)?;
    let flag = flag();
    let watch = flag.clone();
    let engine = py.detach(|| engine::factoring(&device))?;
    let found = watched(py, &*watch, progress.as_ref(), move || {
        let known = factor_on(&engine, &rows.view().to_biguints(), Depth { digits, seed }, &*flag)?;
        flag.check(1.0)?;
        Ok(known.numbers.into_iter().map(whole_row).collect())
    })?;
    tell_lost(py, &device)?;
    Ok(found)
}
