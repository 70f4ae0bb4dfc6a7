//! `warpmp factor`, `ecm`, `pm1` and `pp1`: factors of many integers.
//!
//! ```text
//! bench.rs       `warpmp bench ecm`
//! input.rs       integers, expressions and save lines of files
//! report.rs      finds, lines of the result, the summary
//! whole.rs       `factor`: whole factorisations
//! campaign.rs    curves in a directory
//! facts.rs       what a page tells about them
//! explain.rs     the plan of the curves
//! ```

pub(crate) mod bench;
pub(crate) mod campaign;
pub(crate) mod explain;
pub(crate) mod facts;
pub(crate) mod input;
pub(crate) mod report;
pub(crate) mod whole;

use std::{
    ffi::OsStr,
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use num_bigint::BigUint;
use rand::Rng;
use warpmp::Selector;
use warpmp_numtheory::{
    Watch,
    factor::{
        Attempts, Bounds, BoundsError, Engine, Job, Level, LostDevice, Outcome, Plan, RATIO, SaveLine, SigmaError,
        Told, Verdict, campaign::FolderError, resume_on, search_on,
    },
};

use crate::{
    args::{Ecm, FactorArgs, Pm1, Pp1},
    console, engine,
    error::{Error, FAILED, INTERRUPTED, Result, USAGE},
    io::output::Output,
    progress::Progress,
};
use report::{Finds, Report, Saves};

/// Steps of the progress bar.
const STEPS: u64 = 10_000;
/// Curves below which `auto` takes the CPU: a GPU takes as long for one curve as for thousands.
const LEAST_ON_GPU: u64 = 256;
/// The other option that gives a bound.
const OR_DIGITS: &str = ", or --digits D";

/// Arguments and files of which no search comes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FactorError {
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    #[error("give --b1 B1, the bound of the first stage{0}")]
    NoBound(&'static str),
    #[error("the engine's verdicts differ from the CPU's: nothing was timed")]
    Differs,
    #[error(transparent)]
    Campaign(Box<FolderError>),
    #[error("interrupted; `{resume}` goes on, and makes the curves of the unit under way again")]
    Interrupted { resume: String },
    #[error("the processor made a mistake in {count} of {attempts} attempts: the results of these do not count")]
    Slips { count: u64, attempts: u64 },
    #[error("{path}: {damage}; it is in the way of other processes: {}",
            if *is_broken { "without --shared the command moves it aside" } else { "move it to another directory" })]
    InTheWay { path: String, damage: String, is_broken: bool },
    #[error(
        "{path}: another process has other divisors for the unit; both certificates are kept, and one of them is wrong"
    )]
    Disputed { path: String },
    #[error("the processor made a mistake in {count} attempts; `{resume}` makes their units again")]
    UnitSlips { count: u64, resume: String },
}

impl FactorError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Bounds(_) | Self::Sigma(_) | Self::NoBound(_) => USAGE,
            Self::Slips { .. }
            | Self::UnitSlips { .. }
            | Self::InTheWay { .. }
            | Self::Disputed { .. }
            | Self::Differs
            | Self::Campaign(_) => FAILED,
            Self::Interrupted { .. } => INTERRUPTED,
        }
    }
}

/// Runs `warpmp ecm`.
pub(crate) fn ecm(args: &Ecm) -> Result<()> {
    let level = args.digits.and_then(Level::of_digits);
    let count = level.map_or_else(|| args.curves.unwrap_or(1), |level| level.curves);
    if let (Some(folder), Some(file)) = (&args.campaign, &args.common.file) {
        let b1 = args.common.b1.or(level.map(|level| level.b1));
        let bounds = bounds(&args.common, b1.ok_or(FactorError::NoBound(OR_DIGITS))?)?;
        return campaign::run(args, folder, &input::integers(file)?, bounds, count);
    }
    args.sharing.mode(Some("--campaign"))?;
    let attempts = match &args.sigma {
        Some(first) => Attempts::curves_from(first.clone(), count).map_err(FactorError::from)?,
        None => Attempts::Curves { seed: args.seed.unwrap_or_else(any_seed), count },
    };
    let quiet = args.common.summary.hides_notes();
    let engine = |attempts: u64| engine_for(args.device.selector, attempts, quiet);
    run("ecm", &args.common, level.map(|level| level.b1), attempts, OR_DIGITS, &engine)
}

/// The engine for so many curves; `auto` takes the CPU for a few.
///
/// # Errors
/// As [`engine_of`].
pub(crate) fn engine_for(selector: Selector, curves: u64, quiet: bool) -> Result<Engine> {
    let few = selector == Selector::Auto && curves < LEAST_ON_GPU;
    Ok(engine_of(if few { Selector::Cpu } else { selector }, quiet)?.0)
}

/// The engine for so many attempts by P−1 or P+1. The cores compute fewer than `LEAST_SEQUENCES`; if a GPU was named, a note says so unless
/// `quiet`.
///
/// # Errors
/// As [`engine_of`].
fn engine_for_sequences(selector: Selector, attempts: u64, quiet: bool) -> Result<Engine> {
    let least = Engine::LEAST_SEQUENCES;
    match selector {
        Selector::Auto if attempts < least as u64 => Ok(engine_of(Selector::Cpu, quiet)?.0),
        Selector::Cuda(_) | Selector::AllCuda if attempts < least as u64 && !quiet => {
            console::note(&format!("note: the CPU computes fewer than {least} attempts by P-1 or P+1"));
            Ok(engine_of(selector, quiet)?.0)
        }
        Selector::Auto | Selector::Cpu | Selector::Cuda(_) | Selector::AllCuda | Selector::Sim => {
            Ok(engine_of(selector, quiet)?.0)
        }
    }
}

/// The engine that a `--device` stands for, with all GPUs if none is named, and its name. A GPU that fails during the work is told at once.
///
/// # Errors
/// For a device that was named and cannot be had.
pub(crate) fn engine_of(selector: Selector, quiet: bool) -> Result<(Engine, String)> {
    let gpus = engine::gpus(selector, quiet)?;
    if gpus.is_empty() {
        return Ok((Engine::cpu(), engine::cpu_name()));
    }
    let names: Vec<String> = gpus.iter().map(|device| device.info().name.clone()).collect();
    let tell = |LostDevice { device, error }: &LostDevice| {
        console::note(&format!("warning: {device} failed, and the other devices do its part: {error}"));
    };
    Ok((Engine::telling(gpus, tell), names.join(", ")))
}

/// A random number of so many bits.
fn any_bits(random: &mut impl Rng, bits: u64) -> BigUint {
    let words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| random.next_u32()).collect();
    BigUint::new(words) >> (bits.div_ceil(32) * 32 - bits)
}

/// A seed that differs from run to run.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().hash_one(0)
}

/// Runs `warpmp pm1`.
pub(crate) fn pm1(args: &Pm1) -> Result<()> {
    let quiet = args.common.summary.hides_notes();
    let engine = |attempts: u64| engine_for_sequences(args.device.selector, attempts, quiet);
    run("pm1", &args.common, None, Attempts::Pm1 { base: args.x0.clone() }, "", &engine)
}

/// Runs `warpmp pp1`.
pub(crate) fn pp1(args: &Pp1) -> Result<()> {
    let starts = if args.x0.is_empty() { Attempts::pp1() } else { Attempts::Pp1 { starts: args.x0.clone() } };
    let quiet = args.common.summary.hides_notes();
    let engine = |attempts: u64| engine_for_sequences(args.device.selector, attempts, quiet);
    run("pp1", &args.common, None, starts, "", &engine)
}

/// The bounds for a first one.
fn bounds(args: &FactorArgs, b1: u64) -> Result<Bounds> {
    bounds_of(args.b2, b1)
}

/// The bounds for a first one, and a second one if it is given.
fn bounds_of(b2: Option<u64>, b1: u64) -> Result<Bounds> {
    let b2 = b2.unwrap_or_else(|| b1.saturating_mul(RATIO).min(Bounds::MOST));
    Ok(Bounds::new(b1, b2).map_err(FactorError::from)?)
}

fn run(
    op: &'static str,
    args: &FactorArgs,
    b1: Option<u64>,
    attempts: Attempts,
    or: &'static str,
    engine: &dyn Fn(u64) -> Result<Engine>,
) -> Result<()> {
    let start = Instant::now();
    let inputs: Vec<&OsStr> = [&args.file, &args.resume].into_iter().flatten().map(AsRef::as_ref).collect();
    let b1 = args.b1.or(b1);
    // Only save lines need residues.
    let told = if args.save.is_some() { Told::All } else { Told::Finds };
    // What is wrong with the command is told before any file is read.
    let plan = match (b1, &args.resume) {
        (None, None) => return Err(FactorError::NoBound(or).into()),
        (None, Some(_)) => None,
        (Some(b1), _) => Some(Plan { bounds: bounds(args, b1)?, attempts, one: args.one, told }),
    };
    let object_alone = args.summary.json && args.output.is_none();
    let output = if object_alone { None } else { Some(Output::open(args.output.as_deref(), &inputs)?) };
    let mut saves = Saves::open(args.save.as_deref(), false)?;
    let mut progress = Progress::new(Some(STEPS), "attempts", args.summary.quiet);
    progress.hide_if(output.as_ref().is_some_and(Output::is_terminal));
    let mut finds = Finds::new(args.summary.hides_notes());
    // A search whose save lines cannot be written ends, so that no hours of work are lost.
    let (until, mut failed) = (Until::new(&progress), Ok(()));
    let mut each = |bounds: Bounds, job: &Job, verdict: &Verdict| {
        finds.tell(bounds, job, verdict);
        if failed.is_ok() {
            failed = saves.save(bounds, job, verdict).inspect_err(|_| until.stop());
        }
    };
    let outcome = match (&args.resume, &args.file, &plan) {
        (Some(file), ..) => {
            let lines = input::save_lines(file)?;
            let engine = engine(lines.len() as u64)?;
            let numbers: Vec<BigUint> = lines.iter().map(|line| line.n.clone()).collect();
            tell_long(&engine, &numbers, args.summary.hides_notes());
            begin(&progress, &engine, op, lines.len() as u64);
            resumed(&engine, args, &lines, b1, &until, &mut each)?
        }
        (None, Some(file), Some(plan)) => {
            let numbers = input::integers(file)?;
            let attempts = plan.attempts.count().saturating_mul(numbers.len() as u64);
            let engine = engine(attempts)?;
            tell_long(&engine, &numbers, args.summary.hides_notes());
            begin(&progress, &engine, op, attempts);
            search_on(&engine, &numbers, plan, &until, &mut |job, verdict| each(plan.bounds, job, verdict))?
        }
        (None, ..) => return Err(Error::Bug),
    };
    drop(progress);
    let report = Report::new(op, &outcome.numbers, start.elapsed());
    let is_early = outcome.stopped || failed.is_err();
    let found = outcome.numbers.iter().any(|it| it.divided || !it.primes.is_empty());
    let on_stdout = deliver(output, &report.lines(), is_early && !found)?;
    console::summary(args.summary, on_stdout, &report.object(), &report.text())?;
    failed?;
    if outcome.stopped {
        return Err(Error::Interrupted);
    }
    match report.slips() {
        0 => Ok(()),
        count => Err(FactorError::Slips { count, attempts: report.attempts() }.into()),
    }
}

/// Writes the lines of a search, and says whether they went to standard output. `is_vain`: the search ended early and has found nothing; then a file stays
/// as it was.
fn deliver(output: Option<Output>, lines: &str, is_vain: bool) -> Result<bool> {
    let Some(mut output) = output else { return Ok(false) };
    let on_stdout = output.is_stdout();
    if on_stdout || !is_vain {
        output.write_all(lines.as_bytes())?;
        output.finish()?;
    }
    Ok(on_stdout)
}

/// A watch that can be told to stop the work.
pub(crate) struct Until<'w> {
    watch: &'w Progress,
    is_over: AtomicBool,
}

impl<'w> Until<'w> {
    pub(crate) const fn new(watch: &'w Progress) -> Self {
        Self { watch, is_over: AtomicBool::new(false) }
    }

    /// The work ends soon.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Watch for Until<'_> {
    fn go_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed) && self.watch.go_on()
    }

    fn progress(&self, share: f64) {
        self.watch.progress(share);
    }
}

/// Says what takes seconds at the first use of a width, until the first attempts are done. The cores compute few sequences.
fn begin(progress: &Progress, engine: &Engine, op: &str, attempts: u64) {
    if engine.has_gpu() && (op == "ecm" || attempts >= Engine::LEAST_SEQUENCES as u64) {
        progress.phase(engine::COMPILING);
    }
}

/// Tells of integers that are too long for the device.
pub(crate) fn tell_long(engine: &Engine, numbers: &[BigUint], quiet: bool) {
    let long = numbers.iter().filter(|number| number.bits() > Engine::MOST_DEVICE_BITS).count();
    if engine.device().is_some() && long > 0 && !quiet {
        let most = Engine::MOST_DEVICE_BITS;
        console::note(&format!("note: integers with more than {most} bits: {long}; the CPU does them"));
    }
}

/// Goes on from save lines, those of each bound together.
fn resumed(
    engine: &Engine,
    args: &FactorArgs,
    lines: &[SaveLine],
    b1: Option<u64>,
    watch: &dyn Watch,
    each: &mut dyn FnMut(Bounds, &Job, &Verdict),
) -> Result<Outcome> {
    let own = |line: &SaveLine| bounds(args, b1.unwrap_or(line.b1));
    let bounds = lines.iter().map(own).collect::<Result<Vec<Bounds>>>()?;
    Ok(resume_on(engine, lines, &bounds, watch, each)?)
}

/// The digits of a number.
pub(crate) fn digits_of(number: &BigUint) -> usize {
    number.to_string().len()
}
