//! Products on the CPU, by one core and by all: GMP's where it is built in, else the CPU engine's.

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpmp::{Batch, Shape};

use warpmp_oracle::measure::{Error as MeasureError, Measured};

#[cfg(feature = "gmp")]
use crate::gmp::{library, multiply};
use crate::{
    error::{Error, Result},
    watch::Watch,
};

/// The result of a measurement.
type Timed = Result<Measured, MeasureError>;

/// What multiplies, for people.
#[cfg(not(feature = "gmp"))]
fn library() -> String {
    "WarpMP's CPU engine (GMP, as in the papers, if built with --features gmp)".to_owned()
}

/// What one measurement may take, roughly: a CPU needs minutes for what a GPU does in a second.
const SECONDS: f64 = 20.0;

/// A measurement of this share of the products tells how long all will take.
const SAMPLE: usize = 100;

/// How many cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    One,
    All,
}

/// The processor, measured by one library.
#[derive(Debug)]
pub(crate) struct Cpu {
    one: ThreadPool,
}

impl Cpu {
    pub(crate) fn new() -> Result<Self> {
        let one = ThreadPoolBuilder::new().num_threads(1).build().map_err(Error::Threads)?;
        Ok(Self { one })
    }

    /// What multiplies, for people.
    pub(crate) fn name() -> String {
        let cores = rayon::current_num_threads();
        format!("{}, one core and all {cores}", library())
    }

    /// Multiplies lane by lane, checks a sample, then times at most `runs` more, fewer if they take long.
    ///
    /// # Errors
    /// Those of [`MeasureError`].
    pub(crate) fn time(&self, a: &Batch, b: &Batch, cores: Cores, runs: usize, watch: &dyn Watch) -> Timed {
        patiently(a, b, runs, |a, b, runs| match cores {
            Cores::One => self.one.install(|| multiply(a, b, runs, watch)),
            Cores::All => multiply(a, b, runs, watch),
        })
    }
}

/// Measures a few lanes once, then all of them as often as a CPU does in [`SECONDS`]: at most `runs` times, and once
/// at least.
///
/// # Errors
/// Those of the measurement.
pub(crate) fn patiently(a: &Batch, b: &Batch, runs: usize, measure: impl Fn(&Batch, &Batch, usize) -> Timed) -> Timed {
    let lanes = a.lanes().div_ceil(SAMPLE);
    let sample = |batch: &Batch| -> warpmp::Result<Batch<'static>> {
        let shape = Shape::new(lanes, batch.bits());
        Batch::from_limbs(shape, batch.limbs()[..shape.words()].to_vec())
    };
    let trial = measure(&sample(a)?, &sample(b)?, 1)?.median();
    let seconds = trial * a.lanes() as f64 / lanes as f64;
    measure(a, b, ((SECONDS / seconds.max(1e-9)) as usize).clamp(1, runs))
}

/// On the threads of the pool that it is called in.
#[cfg(not(feature = "gmp"))]
fn multiply(a: &Batch, b: &Batch, runs: usize, watch: &dyn Watch) -> Timed {
    let session = warpmp::Session::cpu();
    warpmp_oracle::measure::operation(&session, warpmp::Operation::Mul, &[a, b], None, runs, &|| watch.go_on())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmp_oracle::pattern::{self, Pattern};

    #[test]
    fn one_core_and_all() {
        let cpu = Cpu::new().unwrap();
        for bits in [64, 1000] {
            let [a, b] = [1, 2].map(|seed| pattern::operands(Pattern::Carry, Shape::new(150, bits), 0, seed).unwrap());
            for cores in [Cores::One, Cores::All] {
                let measured = cpu.time(&a, &b, cores, 3, &()).unwrap();
                assert_eq!((measured.times.len(), measured.checked), (3, 100));
                assert!(measured.minimum() > 0.0 && !measured.algorithm.is_empty());
            }
        }
    }
}
