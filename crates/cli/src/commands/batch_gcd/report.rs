//! Lines of the result, and the summary.

use std::time::Duration;

use dashu_int::UBig;
use serde::Serialize;

use super::arithmetic::Stages;
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
    text: String,
}

impl Lines {
    /// Lines to `output`.
    pub(super) const fn new(output: Output, hex: bool) -> Self {
        Self { output, hex, text: String::new() }
    }

    /// An integer with a factor that another one has, too.
    pub(super) fn shared(&mut self, line: u64, gcd: &UBig) -> Result<()> {
        let gcd = self.number(gcd);
        self.line(&format!("shared\t{line}\t{gcd}\n"))
    }

    /// Two integers and their gcd.
    pub(super) fn pair(&mut self, line: u64, other: u64, gcd: &UBig) -> Result<()> {
        let gcd = self.number(gcd);
        self.line(&format!("pair\t{line}\t{other}\t{gcd}\n"))
    }

    /// An integer that stands in line `first`, too.
    pub(super) fn duplicate(&mut self, line: u64, first: u64) -> Result<()> {
        self.line(&format!("duplicate\t{line}\t{first}\n"))
    }

    /// Zero or one.
    pub(super) fn trivial(&mut self, line: u64, is_zero: bool) -> Result<()> {
        self.line(&format!("{}\t{line}\n", if is_zero { "zero" } else { "one" }))
    }

    /// Completes the output: only now does a file appear.
    pub(super) fn finish(mut self) -> Result<()> {
        self.output.write_all(self.text.as_bytes())?;
        self.output.finish()
    }

    fn number(&self, number: &UBig) -> String {
        if self.hex { format!("{number:#x}") } else { number.to_string() }
    }

    fn line(&mut self, line: &str) -> Result<()> {
        self.text.push_str(line);
        if self.text.len() > BLOCK_BYTES {
            self.output.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }
}

/// The command's summary.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    op: &'static str,
    /// Bits of the widest integer.
    pub(super) bits: usize,
    /// Integers in the file.
    pub(super) lanes: u64,
    /// Integers that share a factor with a different one.
    pub(super) affected: u64,
    /// Pairs of these.
    pub(super) pairs: u64,
    /// Integers that stand in the file before.
    pub(super) duplicates: u64,
    /// Zeros and ones.
    pub(super) left_out: u64,
    pub(super) device: String,
    /// Reading, and making the engine ready.
    pub(super) read_seconds: f64,
    #[serde(flatten)]
    pub(super) stages: Stages,
    /// Integers whose factors were found again.
    pub(super) checked: u64,
    total_seconds: f64,
    lanes_per_second: f64,
}

impl Report {
    /// The work is done, after `total`.
    pub(super) fn finish(&mut self, total: Duration) {
        self.op = "batch-gcd";
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
