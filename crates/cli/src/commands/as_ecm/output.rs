//! Lines and exit codes as GMP-ECM has them.

use std::{fmt::Write as _, time::Instant};

use num_bigint::BigUint;
use warpmp_numtheory::{
    factor::{Bounds, Factorisation, Job, Method, Stage, Verdict, common_divisor, expected_curves},
    primality::is_bpsw_prime,
};

use super::options::Options;
use crate::{
    commands::factor::{digits_of, report::number},
    console,
    error::Result,
};

/// The factor is all of N.
const WHOLE: u8 = 8;
/// A factor was found.
const FOUND: u8 = 2;
/// And it is prime.
const PRIME: u8 = 4;
/// And its cofactor is prime.
const PRIME_COFACTOR: u8 = 8;
/// Digits of the table of `-v`.
const DIGITS: [u32; 7] = [20, 25, 30, 35, 40, 45, 50];

/// Tells about one integer as its attempts end.
pub(super) struct Output<'o> {
    options: &'o Options,
    n: BigUint,
    /// The parts of the integer that are known: a divisor splits one of them.
    parts: Vec<BigUint>,
    attempts: u64,
    done: u64,
    since: Instant,
    /// The exit code so far; 0: nothing was found.
    pub(super) code: u8,
}

impl<'o> Output<'o> {
    /// The first lines about an integer.
    pub(super) fn begin(options: &'o Options, n: &BigUint, attempts: u64) -> Result<Self> {
        let (since, parts) = (Instant::now(), vec![n.clone()]);
        let output = Self { options, n: n.clone(), parts, attempts, done: 0, since, code: 0 };
        output.print(&format!("Input number is {n} ({} digits)\n", digits_of(n)))?;
        Ok(output)
    }

    /// Prints unless `-q` says not to.
    fn print(&self, text: &str) -> Result<()> {
        if self.options.quiet { Ok(()) } else { console::print(text) }
    }

    /// An attempt has ended.
    pub(super) fn tell(&mut self, bounds: Bounds, job: &Job, verdict: &Verdict) -> Result<()> {
        // With `-one` the curves after a find do not count, though they ran beside it.
        if self.options.one && self.code != 0 {
            return Ok(());
        }
        self.done += 1;
        let mut text = String::new();
        if !self.options.gpu {
            if self.done > 1 {
                let _ = writeln!(text, "Run {} out of {}:", self.done, self.attempts);
            }
            let b1 = if job.done > 1 { format!("{}-{}", job.done, bounds.b1()) } else { bounds.b1().to_string() };
            let _ = writeln!(text, "Using B1={b1}, B2={}, {}", bounds.b2(), parameter(job));
            if self.options.verbose && self.done == 1 {
                text += &expected(bounds, job);
            }
            let (milliseconds, now) = (self.since.elapsed().as_millis(), Instant::now());
            self.since = now;
            let (step, both) = if bounds.b2() > bounds.b1() { (2, " (with step 1)") } else { (1, "") };
            let _ = writeln!(text, "Step {step} took {milliseconds}ms{both}");
        }
        match verdict {
            Verdict::Divisor { divisor, stage } => text += &self.divisor(divisor, *stage),
            // The part of an even integer that is odd, or another part: not N itself.
            Verdict::Whole(stage) if job.n != self.n => text += &self.divisor(&job.n, *stage),
            Verdict::Whole(stage) if self.code == 0 => text += &self.whole(*stage),
            Verdict::Slipped => text += "The check of this curve failed: the processor made a mistake\n",
            Verdict::NoGroup => text += "This parameter gives no curve modulo N\n",
            Verdict::Whole(_) | Verdict::Nothing(_) | Verdict::Unsuitable => {}
        }
        self.print(&text)
    }

    fn whole(&mut self, stage: Stage) -> String {
        self.code = WHOLE;
        format!("********** Factor found in step {}: {}\nFound input number N\n", number(stage), self.n)
    }

    /// A divisor of the integer: it says something new if it splits a part.
    fn divisor(&mut self, divisor: &BigUint, stage: Stage) -> String {
        let one = BigUint::from(1_u32);
        let split = self.parts.iter().enumerate().find_map(|(place, part)| {
            let common = common_divisor(divisor, part);
            (common != one && common != *part).then_some((place, common))
        });
        let Some((place, factor)) = split else { return String::new() };
        let cofactor = &self.parts[place] / &factor;
        self.parts[place].clone_from(&cofactor);
        self.parts.push(factor.clone());
        let [is_prime, is_cofactor_prime] = [&factor, &cofactor].map(is_bpsw_prime);
        self.code = FOUND + if is_prime { PRIME } else { 0 } + if is_cofactor_prime { PRIME_COFACTOR } else { 0 };
        let (digits, digits_left) = (digits_of(&factor), digits_of(&cofactor));
        format!(
            "********** Factor found in step {}: {factor}\nFound {} factor of {digits} digits: {factor}\n\
             {} cofactor {cofactor} has {digits_left} digits\n",
            number(stage),
            if is_prime { "prime" } else { "composite" },
            if is_cofactor_prime { "Prime" } else { "Composite" },
        )
    }

    /// All attempts on the integer have ended.
    pub(super) fn end(mut self, found: &Factorisation) -> Result<u8> {
        if self.options.gpu && found.attempts > 0 {
            let milliseconds = self.since.elapsed().as_millis();
            self.print(&format!("Computing {} curves took {milliseconds}ms\n", self.attempts))?;
        }
        // Of even integers, primes and powers the factors are seen without an attempt.
        let seen = found.primes.iter().map(|find| &find.prime).chain(&found.composites).min();
        if let (0, Some(factor)) = (self.code, seen.filter(|factor| found.attempts == 0 || **factor != self.n)) {
            let text =
                if *factor == self.n { self.whole(Stage::First) } else { self.divisor(&factor.clone(), Stage::First) };
            self.print(&text)?;
        }
        if self.options.quiet {
            let mut parts = self.parts.clone();
            parts.sort();
            console::print(&(parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ") + "\n"))?;
        }
        Ok(self.code)
    }
}

/// The parameter of an attempt.
fn parameter(job: &Job) -> String {
    match &job.method {
        Method::Ecm(sigma) => format!("polynomial x^1, sigma={sigma}"),
        Method::Curve(a) => format!("polynomial x^1, A={a}"),
        Method::Pm1 | Method::Pp1 => {
            format!("polynomial x^1, x0={}", job.start.as_ref().map(ToString::to_string).unwrap_or_default())
        }
    }
}

/// The table of `-v`.
fn expected(bounds: Bounds, job: &Job) -> String {
    let Method::Ecm(sigma) = &job.method else { return String::new() };
    let columns = |cell: &dyn Fn(u32) -> String| DIGITS.map(cell).join("\t");
    let curves = |digits: u32| format!("{:.0}", expected_curves(f64::from(digits), bounds, sigma.family()));
    format!(
        "Expected number of curves to find a factor of n digits:\n{}\n{}\n",
        columns(&|digits| digits.to_string()),
        columns(&curves)
    )
}
