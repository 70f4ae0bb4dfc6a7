//! Timed runs of an operation, where the engine keeps its operands.

use std::time::Duration;

use warpmp::device::{self, Device, DeviceInfo, Kind};
use warpmp::operation::Group;
use warpmp::{Batch, DeviceBatch, Operation, Session, Shape};

use crate::check::{self, WrongResult};

/// Why an operation was not measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller stopped the runs.
    #[error("stopped")]
    Stopped,
    /// A result is wrong. Nothing was timed.
    #[error(transparent)]
    WrongResult(#[from] WrongResult),
    /// The engine failed: see its error.
    #[error(transparent)]
    Engine(#[from] warpmp::Error),
}

/// Lanes that are checked at most before anything is timed, and the bits of all their first operands together: a library takes
/// a second for a product of 16 Mbit.
const CHECKED: u64 = 100;
const CHECKED_BITS: u64 = 1 << 26;

/// Products of limbs of all lanes that are checked, where the library takes as many as schoolbook arithmetic: a second or two.
const CHECKED_LIMB_PRODUCTS: f64 = 8e9;

/// The lanes of an operation that are checked before anything is timed, from the first to the last.
fn sampled_lanes(operation: Operation, operands: &[Shape], lanes: usize) -> Vec<usize> {
    match operation.group() {
        Group::Product | Group::ProductPart | Group::Linear | Group::LinearModular => {
            checked_lanes(lanes, operands.first().map_or(0, |shape| shape.bits))
        }
        Group::Division | Group::Modular | Group::Montgomery => {
            let affordable = (CHECKED_LIMB_PRODUCTS / operation.limb_products(operands)).max(1.0) as u64;
            check::spread(CHECKED.min(affordable).min(lanes as u64), lanes)
        }
    }
}

/// The lanes of a batch of so wide operands that are checked before anything is timed, from the first to the last.
pub fn checked_lanes(lanes: usize, bits: usize) -> Vec<usize> {
    let affordable = (CHECKED_BITS / bits.max(1) as u64).max(1);
    check::spread(CHECKED.min(affordable).min(lanes as u64), lanes)
}

/// Bytes of a copy that measures the memory's bandwidth: far more than any cache holds.
const COPY_BYTES: u64 = 1 << 30;
const COPIES: usize = 20;

/// `IMAD.WIDE` (a product of two 32-bit limbs to 64 bits, and a sum) that a multiprocessor finishes in a
/// clock, by compute capability times ten. Half of the 64 a clock that the CUDA programming guide lists
/// for multiply-adds; measured on `sm_90`, and `sm_80` has the same pipes. Others were not measured, and
/// have no ceiling here.
const WIDE_PRODUCTS_PER_CLOCK: &[(u32, f64)] = &[(80, 32.0), (90, 32.0)];

/// What a row of a benchmark rests on.
#[derive(Debug)]
pub struct Measured {
    /// The algorithm that the engine took.
    pub algorithm: String,
    /// Each run's time in the engine, shortest first; never empty.
    pub times: Vec<Duration>,
    /// Products that were checked first.
    pub checked: u64,
    /// Operands and products, each once.
    pub bytes: u64,
}

/// What a GPU can do at the most, measured beside the rows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Copying within the device's memory: bytes read and bytes written.
    pub copy_bytes_per_second: f64,
    /// Products of two 32-bit limbs to 64 bits; none where the rate of the architecture is not known.
    pub wide_products_per_second: Option<f64>,
}

impl Limits {
    /// Of two GPUs together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let wide = self.wide_products_per_second.zip(other.wide_products_per_second);
        Self {
            copy_bytes_per_second: self.copy_bytes_per_second + other.copy_bytes_per_second,
            wide_products_per_second: wide.map(|(one, other)| one + other),
        }
    }
}

impl Measured {
    /// Of several engines that worked at the same time, each on lanes of its own: a run lasts until the last one has ended.
    pub fn together(mut all: Vec<Self>) -> Option<Self> {
        let mut first = all.pop()?;
        for other in all {
            first.times.iter_mut().zip(&other.times).for_each(|(time, other)| *time = (*time).max(*other));
            first.checked += other.checked;
            first.bytes += other.bytes;
        }
        Some(first)
    }

    /// All runs together, divided by their number.
    pub fn mean(&self) -> f64 {
        (self.times.iter().sum::<Duration>().as_secs_f64() / self.times.len() as f64).max(1e-9)
    }

    /// The middle run.
    pub fn median(&self) -> f64 {
        let middle = self.times.len() / 2;
        let upper = self.times[middle].as_secs_f64();
        if self.times.len() % 2 == 1 { upper } else { f64::midpoint(self.times[middle - 1].as_secs_f64(), upper) }
    }

    /// The shortest run.
    pub fn minimum(&self) -> f64 {
        self.times[0].as_secs_f64()
    }

    /// From the shortest run to the longest, as a fraction of the median.
    pub fn spread(&self) -> f64 {
        (self.times[self.times.len() - 1].as_secs_f64() - self.minimum()) / self.median().max(1e-9)
    }
}

/// Does the operation once, checks a sample, then times `runs` more; operands and results stay in the
/// engine's memory. The runs stop where `go_on` says no.
///
/// # Errors
/// Those of [`Error`].
pub fn operation(
    session: &Session,
    operation: Operation,
    operands: &[&Batch],
    algorithm: Option<&str>,
    runs: usize,
    go_on: &dyn Fn() -> bool,
) -> Result<Measured, Error> {
    let resident = operands.iter().map(|batch| session.upload(batch)).collect::<warpmp::Result<Vec<_>>>()?;
    let resident: Vec<&DeviceBatch> = resident.iter().collect();
    let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape()).collect();
    let into =
        operation.results(&shapes)?.into_iter().map(|shape| session.reserve(shape)).collect::<warpmp::Result<_>>()?;
    let (mut results, mut report) = session.apply_device_into(operation, &resident, algorithm, into)?;
    let found = results.iter().map(|batch| session.download(batch)).collect::<warpmp::Result<Vec<_>>>()?;
    let checked = check_sample(operation, operands, &found)?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        if !go_on() {
            return Err(Error::Stopped);
        }
        (results, report) = session.apply_device_into(operation, &resident, algorithm, results)?;
        times.push(report.kernel);
    }
    times.sort_unstable();
    Ok(Measured { algorithm: report.algorithm, times, checked, bytes: report.bytes })
}

fn check_sample(operation: Operation, operands: &[&Batch], results: &[Batch]) -> Result<u64, WrongResult> {
    let count = results.first().map_or(0, Batch::lanes);
    let shapes: Vec<Shape> = operands.iter().map(|batch| batch.shape()).collect();
    let lanes = sampled_lanes(operation, &shapes, count);
    for &lane in &lanes {
        let operands: Vec<check::Lane<'_>> = operands.iter().map(|batch| check::lane_of(batch, lane)).collect();
        let results: Vec<check::Lane<'_>> = results.iter().map(|batch| check::lane_of(batch, lane)).collect();
        check::compare(operation, lane as u64, &operands, &results)?;
    }
    Ok(lanes.len() as u64)
}

/// Measures the limits of the session's GPU; none on the other engines, where time means something else.
///
/// # Errors
/// Those of the device.
pub fn limits(session: &Session) -> warpmp::Result<Option<Limits>> {
    match session.device() {
        Some(device) if device.info().kind == Kind::Cuda => {
            let copy = copy_bytes_per_second(device.as_ref())?;
            let wide_products_per_second = wide_products_per_second(device.info());
            Ok(Some(Limits { copy_bytes_per_second: copy, wide_products_per_second }))
        }
        _ => Ok(None),
    }
}

/// The limit of a GPU's multipliers at its highest clock, in products of two 32-bit limbs to 64 bits; none where the rate of the
/// architecture is not known.
pub fn wide_products_per_second(info: &DeviceInfo) -> Option<f64> {
    let clocks = f64::from(info.clock_khz) * 1e3 * f64::from(info.multiprocessors);
    let wide = WIDE_PRODUCTS_PER_CLOCK.iter().find(|(capability, _)| *capability == info.capability);
    wide.map(|(_, per_clock)| per_clock * clocks)
}

/// The median of [`COPIES`] copies within the device's memory, counting bytes read and bytes written.
fn copy_bytes_per_second(device: &dyn Device) -> device::Result<f64> {
    let words = (COPY_BYTES.min(device.free_bytes()? / 4) / 4) as usize;
    let bytes = 4 * words as u64;
    let (from, into) = (device.alloc(bytes)?, device.alloc(bytes)?);
    let (stream, start, end) = (device.stream()?, device.event()?, device.event()?);
    device.fill(&stream, &from, 0, 0x5555_5555, words)?;
    let mut times = Vec::with_capacity(COPIES);
    for _ in 0..=COPIES {
        device.record(&stream, &start)?;
        device.copy(&stream, &from, 0, &into, 0, words)?;
        device.record(&stream, &end)?;
        times.push(device.elapsed(&start, &end)?);
    }
    // The first copy touches the memory for the first time.
    times.remove(0);
    times.sort_unstable();
    Ok(2.0 * bytes as f64 / times[COPIES / 2].as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_lanes_are_checked_where_one_takes_long() {
        assert_eq!(checked_lanes(1 << 20, 2048).len(), 100);
        assert_eq!(checked_lanes(3, 2048), [0, 1, 2]);
        assert_eq!(checked_lanes(64, 1 << 24), [0, 21, 42, 63]);
        assert_eq!(checked_lanes(2, 1 << 30), [0]);
        assert!(checked_lanes(0, 1 << 24).is_empty());
        let sampled = |operation, bits| sampled_lanes(operation, &[Shape::new(1000, bits); 2], 1000).len();
        assert_eq!([2048, 1 << 20].map(|bits| sampled(Operation::Mul, bits)), [100, 64]);
        assert_eq!([2048, 1 << 20].map(|bits| sampled(Operation::DivRem, bits)), [100, 1]);
        assert_eq!(sampled_lanes(Operation::DivRem, &[Shape::new(0, 64); 2], 0), [0; 0]);
    }

    #[test]
    fn median_minimum_and_spread() {
        let measured = |seconds: &[u64]| Measured {
            algorithm: String::new(),
            times: seconds.iter().map(|s| Duration::from_secs(*s)).collect(),
            checked: 0,
            bytes: 0,
        };
        let odd = measured(&[1, 2, 5]);
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(near(odd.median(), 2.0) && near(odd.minimum(), 1.0) && near(odd.spread(), 2.0));
        let even = measured(&[1, 2, 4, 9]);
        assert!(near(even.median(), 3.0) && near(even.mean(), 4.0));
    }
}
