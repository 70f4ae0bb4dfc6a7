//! The summary: verdicts, tests and times.

use std::time::Duration;

use serde::Serialize;
use warpmp_numtheory::primality::{Cost, Tester};

use crate::{
    error::plural,
    summary::{in_brackets, scaled, scaled_seconds},
};

/// The command's summary. Rates of integers are end to end, rates of tests by the kernels' time.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tally {
    op: &'static str,
    /// Bits of the widest integer.
    pub(super) bits: usize,
    /// Integers.
    pub(super) lanes: u64,
    pub(super) primes: u64,
    composites: u64,
    /// Integers that trial division left to the engine.
    candidates: u64,
    /// Strong tests to base 2 and to all others.
    strong_tests: u64,
    lucas_tests: u64,
    base_2_tests: u64,
    device: String,
    /// Why this device, if `auto` took it for the size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
    kernel_seconds: f64,
    base_2_seconds: f64,
    lucas_seconds: f64,
    total_seconds: f64,
    lanes_per_second: f64,
    strong_tests_per_second: f64,
    base_2_tests_per_second: f64,
    /// Verdicts that were found again by another test.
    pub(super) checked: u64,
}

impl Tally {
    /// The work is done by the engine of this name, after `total`. `is_lucas`: are the further tests Lucas tests?
    pub(super) fn end(&mut self, engine: &str, tester: &Tester<'_>, is_lucas: bool, total: Duration) {
        let (first, others) = (tester.base_2_tests(), tester.further_tests());
        let (further, lucas) = if is_lucas { (Cost::default(), others) } else { (others, Cost::default()) };
        (self.lucas_tests, self.lucas_seconds) = (lucas.tests, lucas.seconds);
        self.device = engine.into();
        self.candidates = tester.candidates();
        self.strong_tests = first.tests + further.tests;
        self.base_2_tests = first.tests;
        self.kernel_seconds = first.seconds + further.seconds;
        self.base_2_seconds = first.seconds;
        let rate = |count: u64, seconds: f64| count as f64 / seconds.max(1e-9);
        self.op = "is-prime";
        self.composites = self.lanes - self.primes;
        self.total_seconds = total.as_secs_f64();
        self.lanes_per_second = rate(self.lanes, self.total_seconds);
        self.strong_tests_per_second = rate(self.strong_tests, self.kernel_seconds);
        self.base_2_tests_per_second = rate(self.base_2_tests, self.base_2_seconds);
    }

    /// Three lines for people. Zero and one are neither prime nor composite; they count as not prime.
    pub(super) fn text(&self) -> String {
        let Self { lanes, bits, primes, composites, candidates, strong_tests, base_2_tests, device, checked, .. } =
            self;
        let checked = if *checked > 0 { format!("; {checked} checked") } else { String::new() };
        let device = format!("{device}{}", in_brackets(self.reason));
        let integers = format!("{lanes} integer{} of {bits} bits", plural(*lanes));
        if *strong_tests == 0 {
            return format!(
                "{integers}: {primes} prime, {composites} not; {device}{checked}\n\
                 no strong tests: trial division was enough; end to end {} ({} integers/s)",
                scaled_seconds(self.total_seconds),
                scaled(self.lanes_per_second),
            );
        }
        let further = if self.lucas_tests > 0 {
            format!("{} Lucas tests {}", self.lucas_tests, scaled_seconds(self.lucas_seconds))
        } else {
            let (time, rate) = (scaled_seconds(self.kernel_seconds), scaled(self.strong_tests_per_second));
            format!("{strong_tests} strong tests in all, kernel {time} ({rate} tests/s)")
        };
        format!(
            "{integers}: {primes} prime, {composites} not; {device}{checked}\n\
             {base_2_tests} strong tests to base 2 of {candidates} left by trial division, kernel {} ({} tests/s)\n\
             {further}, end to end {} ({} integers/s)",
            scaled_seconds(self.base_2_seconds),
            scaled(self.base_2_tests_per_second),
            scaled_seconds(self.total_seconds),
            scaled(self.lanes_per_second),
        )
    }
}
