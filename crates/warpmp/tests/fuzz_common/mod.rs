//! Random cases on any engine against num-bigint, and what is left of one that fails.
//!
//! ```text
//! mod.rs     running: engines, comparison, the loop over cases
//! case.rs    a case: an operation, shapes, a way to do it
//! shrink.rs  a smaller case that fails as well
//! ```

mod case;
mod shrink;

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use warpmp::device::{SimConfig, open_sim_with};
use warpmp::tuning::{Row, Table};
use warpmp::{Batch, Error, Operation, Options, Selector, Session, Shape, Status};
use warpmp_papers::kernels::MULTIPLICATIONS;
use warpmp_testkit::oracle::{self, Value};
use warpmp_testkit::{Operands, structured};

use case::Way;
pub(crate) use case::{Case, Device};

/// How far a run goes.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) time: Duration,
    /// The widest operand, in bits.
    pub(crate) bits: usize,
    /// The most work of a case, in nanoseconds, roughly.
    pub(crate) work: f64,
    /// None: any.
    pub(crate) operation: Option<Operation>,
    /// Is every failure to be shown, not the first alone?
    pub(crate) verbose: bool,
}

/// Limbs and bits of each result.
type Found = Vec<(Vec<u32>, usize)>;

/// Why a case failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The lane that is wrong, if one is.
    lane: Option<usize>,
    what: String,
}

/// Runs cases until the limits are reached.
///
/// # Panics
/// If a case fails, with the smallest one that fails as well.
pub(crate) fn run(device: Device, limits: &Limits) {
    let start = Instant::now();
    let (mut done, mut unfit, mut lanes, mut failures) = (0, 0, 0, Vec::new());
    let mut ways = BTreeMap::<String, u64>::new();
    for seed in limits.seed..limits.seed + limits.cases {
        if start.elapsed() > limits.time {
            break;
        }
        let case = Case::draw(seed, device, limits);
        let operands = structured::draw(case.operation, &case.bits, &case.lanes, seed);
        let before = Instant::now();
        match check(&case, &operands) {
            Ok(true) => {
                done += 1;
                lanes += case.lanes.iter().max().unwrap_or(&0);
                *ways.entry(case.operation.name().into()).or_default() += 1;
            }
            Ok(false) => unfit += 1,
            Err(failure) => {
                let words = shrink::smallest(&case, &operands, &failure);
                if limits.verbose {
                    eprintln!("FAILED {words}\n");
                }
                failures.push(words);
                if !limits.verbose || failures.len() > 50 {
                    break;
                }
            }
        }
        if limits.verbose && before.elapsed() > Duration::from_secs(10) {
            eprintln!("slow: {:.1} s, {case}", before.elapsed().as_secs_f64());
        }
    }
    println!(
        "{device:?}, seeds from {}: {done} cases, {lanes} lanes, {unfit} that no device could launch or no algorithm \
         takes, {:.0} s; {} failed",
        limits.seed,
        start.elapsed().as_secs_f64(),
        failures.len()
    );
    if limits.verbose {
        println!("{ways:?}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(done > 0, "no case was run");
}

/// Does the case give what num-bigint gives? `Ok(false)`: it could not be done this way, and said so.
pub(crate) fn check(case: &Case, operands: &[Operands]) -> Result<bool, Failure> {
    let run = panic::catch_unwind(AssertUnwindSafe(|| compute(case, operands)));
    let failure = |what: String| Failure { lane: None, what };
    let found = match run {
        Ok(Ok(found)) => found,
        Ok(Err(error)) if may_be_unfit(case, &error) => return Ok(false),
        Ok(Err(error)) => return Err(failure(format!("error: {error}"))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("of no words");
            return Err(failure(format!("panic: {text}")));
        }
    };
    for lane in 0..case.lanes.iter().copied().max().unwrap_or(0) {
        let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
        let expected = oracle::apply(case.operation, &values);
        if expected.len() != found.len() {
            return Err(failure(format!("{} results, not {}", found.len(), expected.len())));
        }
        for (number, (expected, (limbs, bits))) in expected.iter().zip(&found).enumerate() {
            let width = bits.div_ceil(32);
            let got = limbs.get(lane * width..(lane + 1) * width).map(oracle::number);
            if expected.bits != *bits || got.as_ref() != Some(&expected.number) {
                let what = format!(
                    "lane {lane}, result {number}: expected {:x} in {} bits, got {:x} in {bits}",
                    expected.number,
                    expected.bits,
                    got.unwrap_or_default()
                );
                return Err(Failure { lane: Some(lane), what });
            }
        }
    }
    Ok(true)
}

/// What a wish that cannot be had may answer.
fn may_be_unfit(case: &Case, error: &Error) -> bool {
    use warpmp::device::Error as Device;
    match (&case.way, error) {
        (_, Error::OutOfMemory { .. }) => case.memory_bytes.is_some(),
        (Way::Named(_) | Way::With(..), Error::AlgorithmUnfit { .. })
        | (Way::With(..), Error::Device(Device::SharedMemory { .. } | Device::GridLimit { .. })) => true,
        _ => false,
    }
}

fn session(case: &Case) -> Result<Session, Error> {
    let session = match case.device {
        Device::Cpu => Session::cpu(),
        Device::Gpu => Session::on(Selector::Cuda(None))?,
        Device::Simulator => {
            let all = SimConfig::default();
            let memory_bytes = case.memory_bytes.unwrap_or(all.memory_bytes);
            let config = SimConfig { capability: if case.asynchronous { 90 } else { 75 }, memory_bytes, ..all };
            Session::with_device(open_sim_with(&config))?
        }
    };
    let session = session.with_algorithms(Operation::Mul, MULTIPLICATIONS);
    let Way::With(algorithm, settings) = &case.way else { return Ok(session) };
    let row = Row {
        to_bits: case.operation.max_bits(),
        to_lanes: None,
        algorithm: algorithm.clone(),
        settings: *settings,
        by_name_only: false,
        long_quotients: false,
        predicted: false,
    };
    let rows = BTreeMap::from([(case.operation.name().to_owned(), vec![row])]);
    Ok(session.with_table(Table { architecture: 90, measured_on: "nothing".into(), rows, path: None, rest: None }))
}

fn compute(case: &Case, operands: &[Operands]) -> Result<Found, Error> {
    let session = Arc::new(session(case)?);
    let batches: Vec<Batch> =
        operands.iter().map(|it| Batch::borrow(Shape::new(it.lanes, it.bits), &it.limbs)).collect::<Result<_, _>>()?;
    let algorithm = match &case.way {
        Way::Named(name) => Some(name.as_str()),
        _ => None,
    };
    let batches: Vec<&Batch> = batches.iter().collect();
    let results = if case.resident {
        let uploaded = batches.iter().map(|batch| session.upload(batch)).collect::<Result<Vec<_>, _>>()?;
        let uploaded: Vec<_> = uploaded.iter().collect();
        let shapes = case.operation.results(&case.shapes())?;
        let into = shapes.into_iter().map(|shape| session.reserve(shape)).collect::<Result<_, _>>()?;
        let (results, _) = session.apply_device_into(case.operation, &uploaded, algorithm, into)?;
        results.iter().map(|result| session.download(result)).collect::<Result<Vec<_>, _>>()?
    } else {
        let mut options = Options::new();
        options.algorithm = algorithm.map(str::to_owned);
        if case.dirty {
            for shape in case.operation.results(&case.shapes())? {
                options = options.into(vec![0xDEAD_BEEF; shape.words()].into());
            }
        }
        session.apply(case.operation, &batches, options)?.0
    };
    if case.operation == Operation::DivRem && !case.resident && algorithm.is_none() {
        counts_agree(&session, &batches, &results)?;
    }
    Ok(results.iter().map(|batch| (batch.limbs().to_vec(), batch.bits())).collect())
}

/// The statuses of the operation's own method are those of the batch, and counted.
fn counts_agree(session: &Session, operands: &[&Batch], results: &[Batch]) -> Result<(), Error> {
    let (_, statuses) = session.div_rem(operands[0], operands[1])?;
    let codes = results[results.len() - 1].limbs();
    let faults = codes.iter().filter(|code| **code == Status::DivisionByZero.code()).count();
    let mut expected = vec![(Status::Fine, codes.len() - faults), (Status::DivisionByZero, faults)];
    expected.retain(|(_, count)| *count > 0);
    assert_eq!(statuses.counts(), expected);
    assert_eq!(statuses.first_fault().map(|(lane, _)| lane), codes.iter().position(|code| *code != 0));
    Ok(())
}
