//! Lines of the result, and the summary.

use std::time::Duration;

use num_bigint::BigUint;
use serde::Serialize;
use warpmp_numtheory::batch_gcd::{Finding, Stages};

use super::moduli::Moduli;
use crate::{
    error::{Result, plural},
    io::output::Output,
    summary::{in_brackets, scaled_seconds},
};

/// Bytes that are written at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// The result's lines.
pub(super) struct Lines {
    /// None if the lines go nowhere.
    output: Option<Output>,
    hex: bool,
    /// All lines, if they are to be checked: those that are not written, too.
    checked: Option<String>,
    /// Lines that are not written yet. Lines that are to be checked wait for it.
    text: String,
    /// The findings, if an object has them.
    findings: Option<Vec<Entry>>,
}

/// A finding in the object of `--json`; numbers are text, as in the lines.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    kind: &'static str,
    label: Box<str>,
    /// The other integer of a pair, or the first of equal ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Box<str>>,
    /// The common factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<String>,
    /// What the integer is divided by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<String>,
}

impl Lines {
    /// Lines to `output`.
    pub(super) fn new(output: Option<Output>, hex: bool, is_checked: bool, has_object: bool) -> Self {
        let checked = is_checked.then(String::new);
        Self { output, hex, checked, text: String::new(), findings: has_object.then(Vec::new) }
    }

    /// A finding as a line, unless its factor is below `least`.
    pub(super) fn write(
        &mut self,
        finding: &Finding,
        moduli: &Moduli,
        least: Option<&BigUint>,
        report: &mut Report,
    ) -> Result<()> {
        let at = |place: &usize| moduli.labels[*place].clone();
        let none = |kind, place| Entry { kind, label: at(place), other: None, p: None, q: None };
        let (entry, factor) = match finding {
            Finding::Zero { place } => (none("zero", place), None),
            Finding::One { place } => (none("one", place), None),
            Finding::Duplicate { place, first } => (Entry { other: Some(at(first)), ..none("duplicate", place) }, None),
            Finding::Shared { place, gcd } => {
                let (p, q) = (Some(self.number(gcd)), Some(self.number(&(&moduli.numbers[*place] / gcd))));
                (Entry { p, q, ..none("shared", place) }, Some(gcd))
            }
            Finding::Pair { places: [one, other], gcd } => {
                (Entry { other: Some(at(other)), p: Some(self.number(gcd)), ..none("pair", one) }, Some(gcd))
            }
        };
        let fields =
            [Some(entry.kind), Some(&entry.label), entry.other.as_deref(), entry.p.as_deref(), entry.q.as_deref()];
        let line = fields.into_iter().flatten().collect::<Vec<_>>().join("\t") + "\n";
        if let Some(checked) = &mut self.checked {
            checked.push_str(&line);
        }
        if least.zip(factor).is_some_and(|(least, factor)| factor < least) {
            return Ok(());
        }
        report.add(finding);
        if let Some(findings) = &mut self.findings {
            findings.push(entry);
        }
        if let Some(output) = &mut self.output {
            self.text.push_str(&line);
            if self.checked.is_none() && self.text.len() > BLOCK_BYTES {
                output.write_all(self.text.as_bytes())?;
                self.text.clear();
            }
        }
        Ok(())
    }

    /// All lines, if they are to be checked.
    pub(super) fn checked_text(&self) -> &str {
        self.checked.as_deref().unwrap_or_default()
    }

    /// Completes the output: only now does a file appear. Gives the findings for the object.
    pub(super) fn finish(self) -> Result<Option<Vec<Entry>>> {
        if let Some(output) = self.output {
            output.write(self.text.as_bytes())?;
        }
        Ok(self.findings)
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
    /// Why this device, if `auto` took it for the size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'static str>,
    /// Time to read the files.
    pub(super) read_seconds: f64,
    /// Time to open the engine.
    pub(super) open_seconds: f64,
    #[serde(flatten)]
    pub(super) stages: Stages,
    /// Time to find the pairs and to write lines.
    pub(super) pair_seconds: f64,
    /// Keys without a modulus.
    pub(super) skipped: u64,
    /// Integers whose lines were found again.
    pub(super) checked: u64,
    total_seconds: f64,
    lanes_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) findings: Option<Vec<Entry>>,
}

impl Report {
    /// Nothing found yet in these integers, by the engine of this name.
    pub(super) fn new(numbers: &[BigUint], engine: &str) -> Self {
        let (lanes, bits) = (numbers.len() as u64, numbers.iter().map(BigUint::bits).max().unwrap_or(0));
        Self { op: "batch-gcd", lanes, bits, device: engine.into(), ..Self::default() }
    }

    /// Counts a finding.
    const fn add(&mut self, finding: &Finding) {
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

    /// Two lines for people.
    pub(super) fn text(&self) -> String {
        let Self { lanes, bits, affected, pairs, duplicates, left_out, device, stages, checked, .. } = self;
        let checked = if *checked > 0 { format!("; {checked} checked") } else { String::new() };
        let skipped = if self.skipped > 0 { format!("; {} keys left out", self.skipped) } else { String::new() };
        let reason = in_brackets(self.reason);
        let all_pairs = if stages.all_pairs > 0 {
            format!(", {} nodes all with all {}", stages.all_pairs, scaled_seconds(stages.all_pairs_seconds))
        } else {
            String::new()
        };
        format!(
            "{lanes} integer{} of {bits} bits: {affected} share a factor, in {pairs} pair{}; {duplicates} duplicate{}, \
             {left_out} zeros and ones{skipped}; {device}{reason}, {}{checked}\n\
             read {}, engine {}, order {}, kernels {}, products {}{all_pairs}, remainders {}, gcds {}, pairs {}; {} levels on the engine, {} on the \
             cores",
            plural(*lanes),
            plural(*pairs),
            plural(*duplicates),
            scaled_seconds(self.total_seconds),
            scaled_seconds(self.read_seconds),
            scaled_seconds(self.open_seconds),
            scaled_seconds(stages.prepare_seconds),
            scaled_seconds(stages.compile_seconds),
            scaled_seconds(stages.product_seconds),
            scaled_seconds(stages.remainder_seconds),
            scaled_seconds(stages.gcd_seconds),
            scaled_seconds(self.pair_seconds),
            stages.engine_levels,
            stages.core_levels,
        )
    }
}
