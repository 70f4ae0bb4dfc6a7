//! Timed runs of an operation, where the engine keeps its operands.

use std::time::Duration;

use warpmp::{Batch, Session};

use crate::{
    commands::check,
    engine,
    error::{Error, Result},
    interrupt,
};

/// Products that are checked before anything is timed.
const CHECKED: u64 = 100;

/// What a row of a benchmark rests on.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) algorithm: String,
    /// Each run's time in the engine, shortest first; never empty.
    pub(crate) times: Vec<Duration>,
    /// Products that were checked first.
    pub(crate) checked: u64,
    /// Operands and products, each once.
    pub(crate) bytes: u64,
    /// What the same device does in the same run, if it is a GPU.
    pub(crate) limits: Option<Limits>,
}

/// The ends of what a GPU can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Copying within the device's memory: bytes read and bytes written.
    pub(crate) copy_bytes_per_second: f64,
    /// Products of two 32-bit limbs to 64 bits.
    pub(crate) wide_products_per_second: f64,
}

impl Measured {
    /// The middle run.
    pub(crate) fn median(&self) -> f64 {
        let middle = self.times.len() / 2;
        let upper = self.times[middle].as_secs_f64();
        if self.times.len() % 2 == 1 { upper } else { f64::midpoint(self.times[middle - 1].as_secs_f64(), upper) }
    }

    /// The shortest run.
    pub(crate) fn minimum(&self) -> f64 {
        self.times[0].as_secs_f64()
    }

    /// From the shortest run to the longest, as a fraction of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.times[self.times.len() - 1].as_secs_f64() - self.minimum()) / self.median().max(1e-9)
    }
}

/// Multiplies once, checks a sample, then times `runs` more.
///
/// # Errors
/// The library's; [`Error::WrongProduct`] before anything is timed.
pub(crate) fn mul(session: &Session, a: &Batch, b: &Batch, algorithm: Option<&str>, runs: usize) -> Result<Measured> {
    let (mut product, report) = session.mul_with(a, b, engine::options(algorithm))?;
    let lanes = check::spread(CHECKED.min(product.lanes() as u64), product.lanes());
    for lane in &lanes {
        let row = |batch: &Batch| batch.lane(*lane).map(<[u32]>::to_vec).ok_or(Error::Bug);
        check::compare(*lane as u64, &row(a)?, &row(b)?, &row(&product)?)?;
    }
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        interrupt::check()?;
        let report;
        (product, report) = session.mul_with(a, b, engine::options(algorithm).into(product.into_buffer()))?;
        times.push(report.kernel);
    }
    times.sort_unstable();
    Ok(Measured { algorithm: report.algorithm, times, checked: lanes.len() as u64, bytes: report.bytes, limits: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_minimum_and_spread() {
        let measured = |seconds: &[u64]| Measured {
            algorithm: String::new(),
            times: seconds.iter().map(|s| Duration::from_secs(*s)).collect(),
            checked: 0,
            bytes: 0,
            limits: None,
        };
        let odd = measured(&[1, 2, 5]);
        assert_eq!([odd.median(), odd.minimum(), odd.spread()], [2.0, 1.0, 2.0]);
        assert_eq!(measured(&[1, 2, 4, 9]).median(), 3.0);
    }
}
