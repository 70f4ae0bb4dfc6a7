//! Finds on standard error, the lines of the result, the summary, and save lines.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::Write as _,
    time::Duration,
};

use num_bigint::BigUint;
use serde_json::{Value, json};
use warpmp_numtheory::factor::{Bounds, Factorisation, Family, Find, Job, Method, SaveLine, Stage, Verdict};

use super::digits_of;
use crate::{
    console,
    error::{Error, Result, plural},
    summary::scaled_seconds,
};

/// Tells finds as they come.
pub(super) struct Finds {
    quiet: bool,
}

impl Finds {
    pub(super) const fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// A job has ended.
    pub(super) fn tell(&mut self, bounds: Bounds, job: &Job, verdict: &Verdict) {
        let how = || format!("{}, B1 {}, B2 {}", method(&job.method), bounds.b1(), bounds.b2());
        match verdict {
            _ if self.quiet => {}
            Verdict::Divisor { divisor, stage } => console::note(&format!(
                "found {divisor} ({} digits) by {}, stage {}",
                digits_of(divisor),
                how(),
                number(*stage),
            )),
            Verdict::Whole(stage) => console::note(&format!(
                "{}, stage {}: all primes of {} at once; smaller bounds or another start separate them",
                how(),
                number(*stage),
                job.n,
            )),
            Verdict::NoGroup => console::note(&format!("{} is of no use modulo {}", method(&job.method), job.n)),
            Verdict::Unsuitable => console::note(&format!("{} is even or below 3: nothing was tried", job.n)),
            // The end tells of slips.
            Verdict::Slipped | Verdict::Nothing(_) => {}
        }
    }
}

/// A method with its parameter.
pub(super) fn method(method: &Method) -> String {
    match method {
        Method::Ecm(sigma) => format!("ECM, sigma {sigma}"),
        Method::Curve(a) => format!("ECM, A {a}"),
        Method::Pm1 | Method::Pp1 => method.name().into(),
    }
}

pub(crate) const fn number(stage: Stage) -> u32 {
    match stage {
        Stage::First => 1,
        Stage::Second => 2,
    }
}

/// Writes save lines as they come.
pub(crate) struct Saves(Option<(String, File)>);

impl Saves {
    /// Makes the file, which must be new: it may hold days of work. With `appends` it may be there.
    pub(crate) fn open(name: Option<&OsStr>, appends: bool) -> Result<Self> {
        let Some(name) = name else { return Ok(Self(None)) };
        let shown = name.to_string_lossy().into_owned();
        let file = OpenOptions::new().append(true).create(appends).create_new(!appends).open(name);
        Ok(Self(Some((shown.clone(), file.map_err(|source| Error::write(&shown, source))?))))
    }

    /// A job has ended.
    pub(crate) fn save(&mut self, bounds: Bounds, job: &Job, verdict: &Verdict) -> Result<()> {
        let (Some((name, file)), Verdict::Nothing(x)) = (&mut self.0, verdict) else { return Ok(()) };
        let x0 = match &job.method {
            _ if job.done > 1 => None,
            Method::Ecm(sigma) if sigma.family() != Family::Suyama => Some(BigUint::from(2_u32)),
            Method::Ecm(_) | Method::Curve(_) | Method::Pm1 | Method::Pp1 => job.start.clone(),
        };
        let b1 = bounds.b1().max(job.done);
        let line = SaveLine { method: job.method.clone(), b1, n: job.n.clone(), x: x.clone(), x0 };
        // One write a line: a line is whole or not there.
        file.write_all(format!("{line}\n").as_bytes()).map_err(|source| Error::write(name, source))
    }
}

/// What the search has found, and what it cost.
pub(super) struct Report<'n> {
    op: &'static str,
    numbers: &'n [Factorisation],
    seconds: f64,
}

impl<'n> Report<'n> {
    pub(super) const fn new(op: &'static str, numbers: &'n [Factorisation], time: Duration) -> Self {
        Self { op, numbers, seconds: time.as_secs_f64() }
    }

    /// Attempts that were made.
    pub(super) fn attempts(&self) -> u64 {
        self.numbers.iter().map(|number| number.attempts).sum()
    }

    /// Attempts whose check failed.
    pub(super) fn slips(&self) -> u64 {
        self.numbers.iter().map(|number| number.slips).sum()
    }

    /// The integers with all factors known.
    fn complete(&self) -> usize {
        self.numbers.iter().filter(|number| number.is_complete()).count()
    }

    /// A line for each integer.
    pub(super) fn lines(&self) -> String {
        lines(self.numbers)
    }

    pub(super) fn object(&self) -> Value {
        let numbers: Vec<Value> = self.numbers.iter().map(object).collect();
        json!({
            "op": self.op, "integers": self.numbers.len(), "complete": self.complete(), "attempts": self.attempts(),
            "slips": self.slips(), "numbers": numbers, "total_seconds": self.seconds,
        })
    }

    pub(super) fn text(&self) -> String {
        let (integers, attempts) = (self.numbers.len() as u64, self.attempts());
        format!(
            "{integers} integer{}, {} factored completely; {attempts} attempt{} in {}",
            plural(integers),
            self.complete(),
            plural(attempts),
            scaled_seconds(self.seconds),
        )
    }
}

/// A line for each integer.
pub(super) fn lines(numbers: &[Factorisation]) -> String {
    numbers.iter().map(|number| product(number) + "\n").collect()
}

/// The factors, rising. Parts that are not prime stand in brackets.
fn product(number: &Factorisation) -> String {
    line(&number.n, number.primes.iter().map(|find| &find.prime), number.composites.iter())
}

/// `N = p * q * (c)`.
pub(super) fn line<'n>(
    n: &BigUint,
    primes: impl Iterator<Item = &'n BigUint>,
    composites: impl Iterator<Item = &'n BigUint>,
) -> String {
    let mut parts: Vec<(&BigUint, bool)> =
        primes.map(|it| (it, true)).chain(composites.map(|it| (it, false))).collect();
    parts.sort();
    if parts.is_empty() {
        return format!("{n} = {n}");
    }
    let part = |(part, is_prime): &(&BigUint, bool)| if *is_prime { part.to_string() } else { format!("({part})") };
    format!("{n} = {}", parts.iter().map(part).collect::<Vec<_>>().join(" * "))
}

pub(super) fn object(number: &Factorisation) -> Value {
    let prime = |find: &Find| {
        let (name, sigma, stage) = match &find.by {
            None => (None, None, None),
            Some((method, stage)) => {
                let sigma = match method {
                    Method::Ecm(sigma) => Some(sigma.to_string()),
                    Method::Curve(_) | Method::Pm1 | Method::Pp1 => None,
                };
                (Some(method.name()), sigma, Some(self::number(*stage)))
            }
        };
        json!({ "prime": find.prime.to_string(), "method": name, "sigma": sigma, "stage": stage })
    };
    json!({
        "n": number.n.to_string(), "primes": number.primes.iter().map(prime).collect::<Vec<_>>(),
        "composites": number.composites.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "complete": number.is_complete(), "attempts": number.attempts,
    })
}
