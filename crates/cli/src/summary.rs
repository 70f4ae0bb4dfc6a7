//! What a command cost: a line for people, an object for programs.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use warpmp::{Operation, Report, Session};

use crate::console;

/// Lanes without a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Lost {
    /// How many, by what was wrong.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    faults: BTreeMap<&'static str, u64>,
    /// Where the first of them comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_fault: Option<String>,
}

impl Lost {
    /// The reason of a lane that has no operand.
    pub(crate) const NO_OPERAND: &str = "no operand";

    /// Counts a lane without a result, which comes from `place`, and has none for this reason.
    pub(crate) fn add(&mut self, reason: &'static str, place: impl FnOnce() -> String) {
        *self.faults.entry(reason).or_default() += 1;
        self.first_fault.get_or_insert_with(place);
    }

    /// Says how many of `lanes` have no result, also to people who want no summary.
    pub(crate) fn warn(&self, lanes: u64) {
        let Some(first) = &self.first_fault else { return };
        let faults = self.faults.iter().map(|(what, count)| format!("{count} with {what}"));
        let (lost, faults) = (self.faults.values().sum::<u64>(), faults.collect::<Vec<_>>().join(", "));
        console::note(&format!("warning: {lost} of {lanes} lanes without a result: {faults}; the first is {first}"));
    }
}

/// The cost of an operation, all chunks together. Rates are end to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) op: String,
    /// Bits of the widest first operand.
    pub(crate) bits_a: usize,
    /// Bits of the widest second operand, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bits_b: Option<usize>,
    /// Bits of the widest third operand, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bits_c: Option<usize>,
    pub(crate) lanes: u64,
    pub(crate) device: String,
    /// Why this device, if `auto` took it for the size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// The algorithm; several, if the widths need it, with `+` between them.
    pub(crate) algorithm: String,
    pub(crate) kernel_seconds: f64,
    pub(crate) total_seconds: f64,
    pub(crate) ops_per_second: f64,
    pub(crate) gb_per_second: f64,
    /// Results that were computed again by another library.
    pub(crate) checked: u64,
    /// Results that are as a file has them, if one was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) expected: Vec<&'static str>,
    /// The GPUs that could not do their part, which others did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    #[serde(flatten)]
    pub(crate) lost: Lost,
    #[serde(skip)]
    results_name: &'static str,
    #[serde(skip)]
    result_count: usize,
    #[serde(skip)]
    bytes: u64,
    /// The least bits of each operand's batches.
    #[serde(skip)]
    least_bits: Vec<usize>,
}

/// The reason for a device after its name.
pub(crate) fn in_brackets(reason: Option<&'static str>) -> String {
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

impl Summary {
    /// Nothing done yet on `device`.
    pub(crate) fn new(operation: Operation, device: &str) -> Self {
        let (op, results_name) = (operation.to_string(), operation.results_name());
        let result_count = operation.result_names().len();
        Self { op, results_name, result_count, device: device.into(), ..Self::default() }
    }

    /// Adds a part of the work.
    pub(crate) fn add(&mut self, report: &Report) {
        let bits = |i: usize| report.bits.get(i).copied();
        self.bits_a = self.bits_a.max(bits(0).unwrap_or(0));
        self.bits_b = self.bits_b.max(bits(1));
        self.bits_c = self.bits_c.max(bits(2));
        self.least_bits.resize(report.bits.len(), usize::MAX);
        self.least_bits.iter_mut().zip(&report.bits).for_each(|(least, bits)| *least = (*least).min(*bits));
        self.lanes += report.lanes as u64;
        self.kernel_seconds += report.kernel.as_secs_f64();
        self.bytes += report.bytes;
        for text in report.left_out.iter().map(ToString::to_string) {
            if !self.left_out.contains(&text) {
                console::note(&format!("warning: {text}"));
                self.left_out.push(text);
            }
        }
        if !self.algorithm.split('+').any(|name| name == report.algorithm) {
            if !self.algorithm.is_empty() {
                self.algorithm.push('+');
            }
            self.algorithm.push_str(&report.algorithm);
        }
    }

    /// The work is done, after `total`.
    pub(crate) fn finish(&mut self, total: Duration) {
        self.total_seconds = total.as_secs_f64();
        let seconds = self.total_seconds.max(1e-9);
        self.ops_per_second = self.lanes as f64 / seconds;
        self.gb_per_second = self.bytes as f64 / 1e9 / seconds;
    }

    /// Two lines for people.
    pub(crate) fn text(&self) -> String {
        let Self { lanes, device, algorithm, checked, results_name: name, .. } = self;
        let kernel = scaled_seconds(self.kernel_seconds);
        let total = scaled_seconds(self.total_seconds);
        let kernel_rate = scaled(*lanes as f64 / self.kernel_seconds.max(1e-9));
        let results = if *lanes == 1 { name.trim_end_matches('s') } else { name };
        let checks = if *checked == 0 { "none checked".into() } else { format!("{checked} checked") };
        let expected = match (&self.expected[..], self.result_count) {
            ([], _) => String::new(),
            (names, count) if names.len() == count => ", all as expected".into(),
            (names, _) => format!(", {} as expected", names.join(" and ")),
        };
        let widest: Vec<usize> = [Some(self.bits_a), self.bits_b, self.bits_c].into_iter().flatten().collect();
        let shown = |widths: &[usize]| widths.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
        let widths = if self.least_bits.iter().zip(&widest).any(|(least, most)| 2 * least <= *most) {
            format!("{} to {}", shown(&self.least_bits), shown(&widest))
        } else {
            shown(&widest)
        };
        let reason = in_brackets(self.reason);
        format!(
            "{lanes} {results} of {widths} bits, {checks}{expected}; {device}{reason}, {algorithm}\n\
             kernel {kernel} ({kernel_rate} {name}/s), end to end {total} ({} {name}/s, {})",
            scaled(self.ops_per_second),
            byte_rate(1e9 * self.gb_per_second),
        )
    }
}

/// The cost of a command that does several operations. Rates are end to end.
#[derive(Debug, Serialize)]
pub(crate) struct Cost {
    op: &'static str,
    /// Bits of the widest number that the command is about.
    pub(crate) bits: u64,
    pub(crate) lanes: u64,
    device: String,
    /// Why this device, if `auto` took it for the size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Results that were computed again by another library, of a command that does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<u64>,
    #[serde(flatten)]
    pub(crate) lost: Lost,
    total_seconds: f64,
    lanes_per_second: f64,
}

impl Cost {
    /// Nothing done yet on the session's device, which is chosen for this reason.
    pub(crate) fn new(op: &'static str, session: &Session, reason: Option<&'static str>) -> Self {
        Self {
            op,
            bits: 0,
            lanes: 0,
            device: session.engine().name.clone(),
            reason,
            checked: None,
            lost: Lost::default(),
            total_seconds: 0.0,
            lanes_per_second: 0.0,
        }
    }

    /// The work is done, after `total`.
    pub(crate) fn finish(&mut self, total: Duration) {
        self.total_seconds = total.as_secs_f64();
        self.lanes_per_second = self.lanes as f64 / self.total_seconds.max(1e-9);
    }

    /// The device, the time, and the rate of these things, for people.
    pub(crate) fn rate(&self, things: &str) -> String {
        let (time, rate) = (scaled_seconds(self.total_seconds), scaled(self.lanes_per_second));
        format!("{}{}, end to end {time} ({rate} {things}/s)", self.device, in_brackets(self.reason))
    }
}

/// Three digits and a prefix of the metric system, or an exponent above 10²¹: 6.52 G.
pub(crate) fn scaled(number: f64) -> String {
    let prefixes = [(1e18, " E"), (1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    if number >= 1e21 {
        return format!("{number:.2e}");
    }
    match prefixes.iter().find(|(scale, _)| number >= *scale) {
        Some((scale, prefix)) => format!("{}{prefix}", significant(number / scale)),
        None => significant(number),
    }
}

/// Bytes a second, in the unit that suits them.
fn byte_rate(bytes: f64) -> String {
    let text = scaled(bytes);
    let space = if text.contains(' ') { "" } else { " " };
    format!("{text}{space}B/s")
}

/// Seconds in the unit that suits them.
pub(crate) fn scaled_seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        s if s >= 1.0 => format!("{} s", significant(s)),
        s if s >= 1e-3 => format!("{} ms", significant(s * 1e3)),
        s => format!("{} µs", significant(s * 1e6)),
    }
}

/// A time in the unit that suits it; before days and years stands `of`, such as `card-`.
pub(crate) fn duration(seconds: f64, of: &str) -> String {
    const DAY: f64 = 86400.0;
    match seconds {
        s if s < 60.0 => scaled_seconds(s),
        s if s < 3600.0 => format!("{} minutes", significant(s / 60.0)),
        s if s < DAY => format!("{} hours", significant(s / 3600.0)),
        s if s < 365.25 * DAY => format!("{} {of}days", significant(s / DAY)),
        s => format!("{} {of}years", scaled(s / (365.25 * DAY))),
    }
}

/// About three significant digits, without an exponent.
pub(crate) fn significant(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        n if n >= 99.95 => format!("{n:.0}"),
        n if n >= 9.995 => format!("{n:.1}"),
        n if n >= 0.1 => format!("{n:.2}"),
        n => format!("{n:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(scaled(6.519e9), "6.52 G");
        assert_eq!(scaled(123_456.0), "123 k");
        assert_eq!(scaled(12.34), "12.3");
        assert_eq!((scaled(0.0), scaled_seconds(0.0)), ("0".into(), "0 s".into()));
        assert_eq!([3.49e19, 2.1e16, 3.0157e38].map(scaled), ["34.9 E", "21.0 P", "3.02e38"]);
        assert_eq!(scaled_seconds(0.000_055), "55.0 µs");
        assert_eq!(scaled_seconds(1.5), "1.50 s");
        assert_eq!((byte_rate(6.52e9), byte_rate(32.0)), ("6.52 GB/s".into(), "32.0 B/s".into()));
    }

    #[test]
    fn algorithms_and_widths_are_named_once() {
        let report = |bits: usize, algorithm: &str| Report {
            operation: Operation::Mul,
            bits: vec![bits, 64],
            lanes: 1,
            device: String::new(),
            algorithm: algorithm.into(),
            kernel: Duration::from_millis(1),
            total: Duration::from_millis(1),
            bytes: 32,
            left_out: Vec::new(),
        };
        let mut summary = Summary::new(Operation::Mul, "CPU");
        for name in ["one", "two", "one"] {
            summary.add(&report(64, name));
        }
        assert!(summary.text().starts_with("3 products of 64 × 64 bits"), "{}", summary.text());
        summary.finish(Duration::from_secs(3));
        assert_eq!((summary.algorithm.as_str(), summary.lanes, summary.ops_per_second), ("one+two", 3, 1.0));
        summary.add(&report(65_536, "one"));
        assert!(summary.text().starts_with("4 products of 64 × 64 to 65536 × 64 bits"), "{}", summary.text());
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let texts = [0.5, 59.0, 460.0, 10_440.0, 734_400.0, 1.89e9, 4.3e28].map(|seconds| duration(seconds, "card-"));
        assert_eq!(
            texts,
            [
                "500 ms",
                "59.0 s",
                "7.67 minutes",
                "2.90 hours",
                "8.50 card-days",
                "59.9 card-years",
                "1.36e21 card-years"
            ]
        );
    }
}
