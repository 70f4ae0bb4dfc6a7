//! `warpmp factor`: whole factorisations of many integers.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    time::Instant,
};

use num_bigint::BigUint;
use serde_json::{Value, json};
use warpmp_numtheory::factor::{Composite, Depth, Factors, Level, Method, Origin, Prime, factor_on};

use super::{any_seed, digits_of, input, report};
use crate::{
    args::Factor,
    commands::expect::ExpectError,
    console,
    error::{Error, Result, plural},
    interrupt::Closing,
    io::output::Output,
    progress::Progress,
    summary::scaled_seconds,
};

/// Runs the command.
pub(crate) fn run(args: &Factor) -> Result<()> {
    let start = Instant::now();
    let expected = args.expect.as_deref().map(Expected::read).transpose()?;
    let mut numbers = Vec::new();
    for file in &args.inputs {
        numbers.extend(input::integers(file)?);
    }
    let object_alone = args.summary.json && args.output.is_none();
    let inputs: Vec<&OsStr> = args.inputs.iter().chain(&args.expect).map(OsString::as_os_str).collect();
    let output = if object_alone { None } else { Some(Output::open(args.output.as_deref(), &inputs)?) };
    let mut progress = Progress::new(Some(super::STEPS), "attempts", args.summary.quiet);
    progress.hide_if(output.as_ref().is_some_and(Output::is_terminal));
    let depth = Depth { digits: args.digits, seed: args.seed.unwrap_or_else(any_seed) };
    let curves = Level::of_digits(args.digits).map_or(u64::MAX, |level| level.curves);
    let curves = curves.saturating_mul(numbers.len() as u64);
    let engine = super::engine_for(args.device.selector, curves, args.summary.hides_notes())?;
    super::tell_long(&engine, &numbers, args.summary.hides_notes());
    // After Ctrl-C there is a minute to write what is found.
    let _closing = Closing::new();
    let known = factor_on(&engine, &numbers, depth, &progress)?;
    drop(progress);
    let mut lines = String::new();
    for number in &known.numbers {
        let _ = writeln!(lines, "{}{}", product(number), comment(number));
    }
    let found = known.numbers.iter().any(|number| !number.primes.is_empty() || number.composites.len() > 1);
    let on_stdout = super::deliver(output, &lines, known.stopped && !found)?;
    let seconds = start.elapsed().as_secs_f64();
    console::summary(args.summary, on_stdout, &object(&known.numbers, seconds), &text(&known.numbers, seconds))?;
    if known.stopped {
        return Err(Error::Interrupted);
    }
    if let Some(expected) = expected {
        expected.compare(&known.numbers)?;
    }
    let (slips, attempts) = known.numbers.iter().fold((0, 0), |sum, it| (sum.0 + it.slips, sum.1 + it.attempts));
    if slips > 0 { Err(super::FactorError::Slips { count: slips, attempts }.into()) } else { Ok(()) }
}

/// `N = p * q * (c)`.
fn product(number: &Factors) -> String {
    let primes = number.primes.iter().map(|it| &it.prime);
    report::line(&number.n, primes, number.composites.iter().map(|it| &it.number))
}

/// How each prime was found, and how far each composite was searched.
fn comment(number: &Factors) -> String {
    let prime = |it: &Prime| match &it.origin {
        Origin::Attempt { method, bounds, stage } => Some(format!(
            "{}: {}, B1 {}, B2 {}, stage {}",
            it.prime,
            report::method(method),
            bounds.b1(),
            bounds.b2(),
            report::number(*stage),
        )),
        Origin::Trial | Origin::Left => None,
    };
    let composite = |it: &Composite| format!("({}): composite, t{:.1}", shortened(&it.number), it.effort.level());
    let notes = number.primes.iter().filter_map(prime).chain(number.composites.iter().map(composite));
    let notes: Vec<String> = notes.collect();
    if notes.is_empty() { String::new() } else { format!("  # {}", notes.join("; ")) }
}

/// A long number by its ends.
fn shortened(number: &BigUint) -> String {
    let text = number.to_string();
    match text.len() {
        digits if digits > 20 => format!("{}…{}, {digits} digits", &text[..6], &text[digits - 6..]),
        _ => text,
    }
}

fn complete(numbers: &[Factors]) -> usize {
    numbers.iter().filter(|number| number.is_complete()).count()
}

fn text(numbers: &[Factors], seconds: f64) -> String {
    let (integers, attempts) = (numbers.len() as u64, numbers.iter().map(|it| it.attempts).sum());
    format!(
        "{integers} integer{}, {} factored completely; {attempts} attempt{} in {}",
        plural(integers),
        complete(numbers),
        plural(attempts),
        scaled_seconds(seconds),
    )
}

fn object(numbers: &[Factors], seconds: f64) -> Value {
    let prime = |it: &Prime| {
        let mut object = json!({ "prime": it.prime.to_string(), "method": null });
        match &it.origin {
            Origin::Trial => object["method"] = "trial division".into(),
            Origin::Left => {}
            Origin::Attempt { method, bounds, stage } => {
                object["method"] = method.name().into();
                if let Method::Ecm(sigma) = method {
                    object["sigma"] = sigma.to_string().into();
                }
                object["b1"] = bounds.b1().into();
                object["b2"] = bounds.b2().into();
                object["stage"] = report::number(*stage).into();
            }
        }
        object
    };
    let composite = |it: &Composite| {
        json!({
            "composite": it.number.to_string(), "digits": digits_of(&it.number), "curves": it.effort.curves(),
            "level": it.effort.level(),
        })
    };
    let number = |it: &Factors| {
        json!({
            "n": it.n.to_string(), "primes": it.primes.iter().map(prime).collect::<Vec<Value>>(),
            "composites": it.composites.iter().map(composite).collect::<Vec<Value>>(), "complete": it.is_complete(),
            "attempts": it.attempts,
        })
    };
    json!({
        "op": "factor", "integers": numbers.len(), "complete": complete(numbers),
        "attempts": numbers.iter().map(|it| it.attempts).sum::<u64>(),
        "slips": numbers.iter().map(|it| it.slips).sum::<u64>(),
        "numbers": numbers.iter().map(number).collect::<Vec<Value>>(), "total_seconds": seconds,
    })
}

/// The lines of a file with factorisations, without comments.
struct Expected {
    name: String,
    /// The number of each line, and its text.
    lines: Vec<(usize, String)>,
}

impl Expected {
    fn read(file: &OsStr) -> Result<Self> {
        let name = file.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).map_err(|source| Error::read(&name, source))?;
        let lines = (1..).zip(text.lines());
        let lines = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or(line).trim().to_owned()));
        Ok(Self { name, lines: lines.filter(|(_, line)| !line.is_empty()).collect() })
    }

    fn compare(&self, numbers: &[Factors]) -> Result<()> {
        let place = |line: usize| format!("{}:{line}", self.name);
        let end = self.lines.last().map_or(1, |(line, _)| line + 1);
        for (place_of, number) in numbers.iter().enumerate() {
            let found = product(number);
            match self.lines.get(place_of) {
                Some((_, expected)) if *expected == found => {}
                Some((line, expected)) => {
                    let expected = expected.clone();
                    return Err(ExpectError::Different { place: place(*line), expected, found }.into());
                }
                None => return Err(ExpectError::Missing { place: place(end) }.into()),
            }
        }
        match self.lines.get(numbers.len()) {
            Some((line, _)) => Err(ExpectError::Extra { place: place(*line), lanes: numbers.len() as u64 }.into()),
            None => Ok(()),
        }
    }
}
