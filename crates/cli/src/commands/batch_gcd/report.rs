//! Lines of the result, and the summary.

use std::time::Duration;

use num_bigint::BigUint;
use serde::Serialize;
use warpmp_numtheory::batch_gcd::{Finding, Stages};

use crate::{
    error::{Result, plural},
    io::output::Output,
    summary::scaled_seconds,
};

/// Bytes that are written at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// The result's lines.
pub(super) struct Lines {
    output: Output,
    hex: bool,
    /// Do all lines wait for the end?
    held: bool,
    /// Lines that are not written yet.
    text: String,
}

impl Lines {
    /// Lines to `output`. Held lines wait for [`Lines::finish`].
    pub(super) const fn new(output: Output, hex: bool, held: bool) -> Self {
        Self { output, hex, held, text: String::new() }
    }

    /// A finding as a line. `lines`: where the integers stand in the file.
    pub(super) fn write(&mut self, finding: &Finding, lines: &[u64]) -> Result<()> {
        let at = |place: &usize| lines[*place];
        let line = match finding {
            Finding::Zero { place } => format!("zero\t{}\n", at(place)),
            Finding::One { place } => format!("one\t{}\n", at(place)),
            Finding::Duplicate { place, first } => format!("duplicate\t{}\t{}\n", at(place), at(first)),
            Finding::Shared { place, gcd } => format!("shared\t{}\t{}\n", at(place), self.number(gcd)),
            Finding::Pair { places: [one, other], gcd } => {
                format!("pair\t{}\t{}\t{}\n", at(one), at(other), self.number(gcd))
            }
        };
        self.text.push_str(&line);
        if !self.held && self.text.len() > BLOCK_BYTES {
            self.output.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    /// The lines that are not written yet: all, if they are held.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Completes the output: only now does a file appear.
    pub(super) fn finish(mut self) -> Result<()> {
        self.output.write_all(self.text.as_bytes())?;
        self.output.finish()
    }

    fn number(&self, number: &BigUint) -> String {
        if self.hex { format!("{number:#x}") } else { number.to_string() }
    }
}

/// The command's summary.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    op: &'static str,
    /// Bits of the widest integer.
    bits: u64,
    /// Integers in the file.
    lanes: u64,
    /// Integers that share a factor with a different one.
    affected: u64,
    /// Pairs of these.
    pairs: u64,
    /// Integers that stand in an earlier line, too.
    duplicates: u64,
    /// Zeros and ones.
    left_out: u64,
    device: String,
    /// Time to open the engine and to read the file.
    pub(super) read_seconds: f64,
    #[serde(flatten)]
    pub(super) stages: Stages,
    /// Integers whose lines were found again.
    pub(super) checked: u64,
    total_seconds: f64,
    lanes_per_second: f64,
}

impl Report {
    /// Nothing found yet in these integers, by the engine of this name.
    pub(super) fn new(numbers: &[BigUint], engine: &str) -> Self {
        let (lanes, bits) = (numbers.len() as u64, numbers.iter().map(BigUint::bits).max().unwrap_or(0));
        Self { op: "batch-gcd", lanes, bits, device: engine.into(), ..Self::default() }
    }

    /// Counts a finding.
    pub(super) const fn add(&mut self, finding: &Finding) {
        match finding {
            Finding::Zero { .. } | Finding::One { .. } => self.left_out += 1,
            Finding::Duplicate { .. } => self.duplicates += 1,
            Finding::Shared { .. } => self.affected += 1,
            Finding::Pair { .. } => self.pairs += 1,
        }
    }

    /// The work is done, after `total`.
    pub(super) fn finish(&mut self, total: Duration) {
        self.total_seconds = total.as_secs_f64();
        self.lanes_per_second = self.lanes as f64 / self.total_seconds.max(1e-9);
    }

    /// One object on one line.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Two lines for people.
    pub(super) fn text(&self) -> String {
        let Self { lanes, bits, affected, pairs, duplicates, left_out, device, stages, checked, .. } = self;
        let checked = if *checked > 0 { format!("; {checked} checked") } else { String::new() };
        let all_pairs = if stages.all_pairs > 0 {
            format!(", {} nodes all with all {}", stages.all_pairs, scaled_seconds(stages.all_pairs_seconds))
        } else {
            String::new()
        };
        format!(
            "{lanes} integer{} of {bits} bits: {affected} share a factor, in {pairs} pair{}; {duplicates} duplicate{}, \
             {left_out} zeros and ones; {device}, {}{checked}\n\
             read {}, products {}{all_pairs}, remainders {}, gcds {}; {} levels on the engine, {} on the cores",
            plural(*lanes),
            plural(*pairs),
            plural(*duplicates),
            scaled_seconds(self.total_seconds),
            scaled_seconds(self.read_seconds),
            scaled_seconds(stages.product_seconds),
            scaled_seconds(stages.remainder_seconds),
            scaled_seconds(stages.gcd_seconds),
            stages.engine_levels,
            stages.core_levels,
        )
    }
}
