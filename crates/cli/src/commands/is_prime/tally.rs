//! What testing cost, and what was found.

use std::time::Duration;

use serde::Serialize;

use crate::summary::{scaled, scaled_seconds};

/// The command's summary. Rates are end to end.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tally {
    op: &'static str,
    /// Bits of the widest integer.
    bits: usize,
    /// Integers.
    pub(super) lanes: u64,
    primes: u64,
    composites: u64,
    /// Integers that trial division left to the engine.
    candidates: u64,
    /// Strong tests of all rounds.
    pub(super) strong_tests: u64,
    device: String,
    pub(super) kernel_seconds: f64,
    total_seconds: f64,
    lanes_per_second: f64,
    strong_tests_per_second: f64,
}

impl Tally {
    /// Nothing tested yet on `device`.
    pub(super) fn new(device: &str) -> Self {
        Self { op: "is-prime", device: device.into(), ..Self::default() }
    }

    /// Adds a batch's verdicts, a one for a prime; `candidates` of them came from the engine.
    pub(super) fn add(&mut self, bits: usize, verdicts: &[u32], candidates: usize) {
        let primes = verdicts.iter().filter(|verdict| **verdict == 1).count() as u64;
        self.bits = self.bits.max(bits);
        self.lanes += verdicts.len() as u64;
        self.primes += primes;
        self.composites += verdicts.len() as u64 - primes;
        self.candidates += candidates as u64;
    }

    /// The work is done, after `total`.
    pub(super) fn finish(&mut self, total: Duration) {
        self.total_seconds = total.as_secs_f64();
        self.lanes_per_second = self.lanes as f64 / self.total_seconds.max(1e-9);
        self.strong_tests_per_second = self.strong_tests as f64 / self.kernel_seconds.max(1e-9);
    }

    /// One object on one line.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Two lines for people. Zero and one are neither prime nor composite; they are counted with those that are not prime.
    pub(super) fn text(&self) -> String {
        let Self { lanes, bits, primes, composites, candidates, strong_tests, device, .. } = self;
        format!(
            "{lanes} integers of {bits} bits: {primes} prime, {composites} not; {device}\n\
             {strong_tests} strong tests of {candidates}, kernel {} ({} tests/s), end to end {} ({} integers/s)",
            scaled_seconds(self.kernel_seconds),
            scaled(self.strong_tests_per_second),
            scaled_seconds(self.total_seconds),
            scaled(self.lanes_per_second),
        )
    }
}
