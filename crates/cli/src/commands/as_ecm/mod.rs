//! `warpmp as-ecm`, or `warpmp` called by the name `ecm`: GMP-ECM's options, output and exit codes, for programs that run GMP-ECM.
//!
//! ```text
//! options.rs     the command line
//! output.rs      lines and exit codes
//! ```

mod options;
mod output;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use num_bigint::BigUint;
use warpmp::Selector;
use warpmp_numtheory::factor::{BoundsError, Engine, Plan, Sigma, SigmaError, Told, resume_on, search_on};

use super::factor::{Until, engine_for, input, report::Saves, tell_long};
use crate::{
    console,
    error::{Error, FAILED, Result},
    io::STDIN,
    progress::Progress,
};
use options::Options;
use output::Output;

/// What is wrong with a command line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AsEcmError {
    #[error("{option} is not known here; `warpmp as-ecm` takes the options that `warpmp help as-ecm` lists")]
    Unknown { option: String },
    #[error("{option} needs a value")]
    NoValue { option: String },
    #[error("{option} {value}: {reason}")]
    Value { option: String, value: String, reason: String },
    #[error("no bound B1: ecm [OPTIONS] B1 [B2]")]
    NoBounds,
    #[error("a third bound, {value}: ecm [OPTIONS] B1 [B2]")]
    ThirdBound { value: u64 },
    #[error("'{text}' is neither an option nor a bound")]
    NoBound { text: String },
    #[error("-x0 is for -pm1 and -pp1")]
    StartOfCurve,
    #[error("-sigma {sigma} is not of -param {family}")]
    TwoFamilies { sigma: Sigma, family: u32 },
    #[error(transparent)]
    Bounds(BoundsError),
    #[error(transparent)]
    Sigma(SigmaError),
}

/// Is the program called by GMP-ECM's name?
pub(crate) fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "ecm")
}

/// Runs the command. Its exit code is GMP-ECM's, and 1 for every error.
pub(crate) fn run(words: &[OsString]) -> Result<()> {
    let error = match work(words) {
        Ok(0) => return Ok(()),
        Ok(code) => return Err(Error::Status(code)),
        Err(error @ (Error::BrokenPipe | Error::Interrupted)) => return Err(error),
        Err(error) => error,
    };
    console::note(&format!("error: {error}"));
    Err(Error::Status(FAILED))
}

/// Does what the command line asks for; the exit code.
fn work(words: &[OsString]) -> Result<u8> {
    let options = Options::read(words)?;
    if !options.quiet {
        let version = env!("CARGO_PKG_VERSION");
        console::print(&format!("WarpMP {version} [as GMP-ECM 7] [{}]\n", options.method.name()))?;
    }
    if let Some(file) = &options.resume {
        return resumed(&options, file);
    }
    let watch = Progress::new(None, "curves", true);
    let engine = engine(&options)?;
    let mut code = 0;
    let numbers = input::integers_of(options.input.as_deref().unwrap_or(STDIN.as_ref()))?;
    // After everything that can be wrong: a new file would be in the way of the next try.
    let mut saves = Saves::open(options.save.as_deref(), options.appends)?;
    tell_long(&engine, &numbers, options.quiet);
    let until = Until::new(&watch);
    for n in numbers {
        let attempts = options.attempts(engine.curves_together([n.bits()], options.bounds) as u64)?;
        let plan = Plan { bounds: options.bounds, attempts, one: options.one, told: Told::All };
        let mut output = Output::begin(&options, &n, plan.attempts.count())?;
        let mut told = Ok(());
        let outcome = search_on(&engine, &[n], &plan, &until, &mut |job, verdict| {
            if told.is_ok() {
                told = output.tell(plan.bounds, job, verdict).and_then(|()| saves.save(plan.bounds, job, verdict));
                // A line that cannot be written ends the work at once.
                if told.is_err() {
                    until.stop();
                }
            }
        })?;
        told?;
        code = after(code, output.end(&outcome.numbers[0])?);
        if outcome.stopped {
            return Err(Error::Interrupted);
        }
    }
    Ok(code)
}

/// Goes on from the save lines of a file; the exit code.
fn resumed(options: &Options, file: &OsStr) -> Result<u8> {
    let watch = Progress::new(None, "curves", true);
    let engine = engine(options)?;
    let mut code = 0;
    // Lines that run together; what they find is told before the next ones.
    let lines = input::save_lines(file)?;
    let mut saves = Saves::open(options.save.as_deref(), options.appends)?;
    let numbers: Vec<BigUint> = lines.iter().map(|line| line.n.clone()).collect();
    tell_long(&engine, &numbers, options.quiet);
    for lines in lines.chunks(engine.curves_together(numbers.iter().map(BigUint::bits), options.bounds)) {
        let bounds = vec![options.bounds; lines.len()];
        let mut verdicts = Vec::with_capacity(lines.len());
        let outcome = resume_on(&engine, lines, &bounds, &watch, &mut |_, job, verdict| {
            verdicts.push((job.clone(), verdict.clone()));
        })?;
        for ((job, verdict), found) in verdicts.iter().zip(&outcome.numbers) {
            let mut output = Output::begin(options, &job.n, 1)?;
            output.tell(options.bounds, job, verdict)?;
            saves.save(options.bounds, job, verdict)?;
            code = after(code, output.end(found)?);
        }
        if outcome.stopped {
            return Err(Error::Interrupted);
        }
        if options.one && code != 0 {
            break;
        }
    }
    Ok(code)
}

/// The exit code after another integer: the last find decides.
const fn after(code: u8, of_this: u8) -> u8 {
    if of_this == 0 { code } else { of_this }
}

/// The engine: a GPU if `-gpu` asks for one and there is one.
fn engine(options: &Options) -> Result<Engine> {
    let selector = match (options.gpu, options.device) {
        (false, _) => Selector::Cpu,
        (true, None) => Selector::Auto,
        (true, Some(device)) => Selector::Cuda(Some(device)),
    };
    engine_for(selector, u64::MAX, true)
}
