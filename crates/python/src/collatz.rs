//! Collatz: convergence, delays, trajectories, records.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashu_int::UBig;
use num_bigint::BigUint;
use numpy::PyArray1;
use pyo3::prelude::*;
use warpmp_collatz::dfs;
use warpmp_collatz::engine::{Control, Engine as _, Outcome};
use warpmp_collatz::number::{self, Value};
use warpmp_collatz::records::{self as search, Kind};
use warpmp_collatz::team::{Engines, Team};
use warpmp_collatz::window::Window;
use warpmp_numtheory::Watch as _;

use crate::engine;
use crate::error::{Failure, Result};
use crate::numbers::Big;
use crate::watch::{Halt, flag, watched};

/// Tested starts, starts followed step by step, starts that leave 128 bits, the checksum, and the highest value with its
/// start.
type Verified = (u64, u64, u64, u64, Option<(u128, Big)>);

/// Verifies that every start of a range converges.
#[pyfunction]
#[pyo3(signature = (start, count, device, progress=None))]
pub(crate) fn verify(
    py: Python<'_>,
    start: u128,
    count: u128,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Verified> {
    let range = Window::new(start, count)?;
    let windows = Arc::new(Windows::default());
    let watch = windows.clone();
    watched(py, &*watch, progress.as_ref(), move || {
        let engines = Engines::new(engine::team(&device)?, None)?;
        let gpu_share = engines.gpu_bytes.map(|_| count / engines.list.len() as u128);
        let length = dfs::window_count(gpu_share).min(count);
        let plan = engines.plan(length, count);
        let mut team = Team::new(engines.list);
        let mut found = Outcome::none();
        let (mut from, mut left) = (range.from(), count);
        while left > 0 {
            let length = length.min(left);
            windows.begin((count - left) as f64 / count as f64, length as f64 / count as f64);
            found.add(&team.dfs(&plan, &Window::new(from, length)?, &windows.control)?);
            from += length;
            left -= length;
        }
        let highest = found.heights.highest().map(|peak| (peak.start, big(&peak.value.to_le_bytes())));
        Ok((found.tested, found.plain, found.overflowed, found.checksum, highest))
    })
}

/// The progress of a range that is verified window by window.
#[derive(Debug, Default)]
struct Windows {
    control: Control,
    /// The bits of the share before the present window, and of its own.
    before: AtomicU64,
    own: AtomicU64,
}

impl Windows {
    /// A window begins.
    fn begin(&self, before: f64, own: f64) {
        self.control.begin();
        self.before.store(before.to_bits(), Ordering::Relaxed);
        self.own.store(own.to_bits(), Ordering::Relaxed);
    }
}

impl Halt for Windows {
    fn stop(&self) {
        self.control.stop();
    }

    fn share(&self) -> f64 {
        let share = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        share(&self.before) + share(&self.own) * self.control.progress()
    }
}

/// The delays of `count` starts from `start` on.
#[pyfunction]
#[pyo3(signature = (start, count, device, progress=None))]
pub(crate) fn delays<'py>(
    py: Python<'py>,
    start: u128,
    count: usize,
    device: String,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyArray1<u32>>> {
    Window::new(start, count as u128)?;
    let control = Arc::new(Control::default());
    let watch = control.clone();
    let delays = watched(py, &*watch, progress.as_ref(), move || {
        let mut delays = Vec::new();
        delays.try_reserve_exact(count).map_err(|_| Failure::memory(format!("{} B are needed", 4 * count as u128)))?;
        delays.resize(count, 0);
        Team::new(Engines::new(engine::team(&device)?, None)?.list).delays(start, &mut delays, &control)?;
        Ok(delays)
    })?;
    Ok(PyArray1::from_vec(py, delays))
}

/// A trajectory: the delay, the odd steps among its steps, the glide, the highest value, and the first values after the start.
type Traced = (u64, u64, u64, Big, Vec<Big>);

/// Bytes of the values of a trajectory that are kept.
const KEPT_BYTES: usize = 1 << 28;

/// Follows a start down to 1, and keeps at most `most` values, fewer where they are long.
#[pyfunction]
pub(crate) fn trace(py: Python<'_>, start: Big, most: usize) -> Result<Traced> {
    let flag = flag();
    let watch = flag.clone();
    watched(py, &*watch, None, move || {
        let (mut values, mut left) = (Vec::new(), KEPT_BYTES);
        let start = UBig::from_le_bytes(&start.0.to_bytes_le());
        let trace = number::trace_any(&start, |value| {
            if values.len() < most && left > 0 {
                let value = match value {
                    Value::Narrow(value) => Big(BigUint::from(*value)),
                    Value::Wide(value) => big(&value.to_le_bytes()),
                };
                left = left.saturating_sub(value.0.bits() as usize / 8);
                values.push(value);
            }
            flag.go_on()
        })?;
        Ok((trace.delay(), trace.odd_steps, trace.glide, big(&trace.highest.to_le_bytes()), values))
    })
}

fn kind_of(name: &str) -> Result<Kind> {
    match name {
        "delay" => Ok(Kind::Delay),
        "path" => Ok(Kind::Path),
        other => Err(Failure::value(format!("no kind of record is called '{other}'; there are delay and path"))),
    }
}

fn pairs(records: Vec<search::Record>) -> Vec<(u128, Big)> {
    records.into_iter().map(|record| (record.start, big(&record.figure.to_le_bytes()))).collect()
}

/// All records of a kind below a bound: starts and figures.
#[pyfunction]
#[pyo3(signature = (kind, below, device, progress=None))]
pub(crate) fn records(
    py: Python<'_>,
    kind: &str,
    below: u128,
    device: String,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<(u128, Big)>> {
    let kind = kind_of(kind)?;
    let control = Arc::new(Control::default());
    let watch = control.clone();
    watched(py, &*watch, progress.as_ref(), move || {
        Ok(pairs(search::search_on(&engine::team(&device)?, kind, below, &control)?))
    })
}

/// The published records of a kind.
#[pyfunction]
pub(crate) fn known_records(kind: &str) -> Result<Vec<(u128, Big)>> {
    Ok(pairs(search::known(kind_of(kind)?)))
}

fn big(bytes: &[u8]) -> Big {
    Big(BigUint::from_bytes_le(bytes))
}
