//! Made-up measurements, and the rows they must give.

use super::*;

fn timing(bits: usize, lanes: usize, algorithm: &str, warps: Option<u32>, seconds: f64) -> Timing {
    let settings = Settings { warps, ..Settings::default() };
    Timing { operation: Operation::Mul, bits, lanes, algorithm: algorithm.into(), settings, seconds }
}

/// `thread` takes 1536 bits, `group` everything, `karatsuba/group` what is above 2048.
fn fitting(_: Operation, bits: usize) -> Vec<&'static str> {
    let limits = [("thread", 1..=1536), ("group", 1..=65536), ("karatsuba/group", 2049..=65536)];
    limits.into_iter().filter(|(_, range)| range.contains(&bits)).map(|(name, _)| name).collect()
}

/// Each row as `bits[/lanes] algorithm[ wN][ by name]`.
fn rows(timings: &[Timing]) -> Vec<String> {
    let table = table(90, "a test", timings, fitting);
    table.check(&crate::kernels::Register::shipped()).unwrap();
    let describe = |row: &Row| {
        let lanes = row.to_lanes.map_or_else(String::new, |lanes| format!("/{lanes}"));
        let warps = row.settings.warps.map_or_else(String::new, |warps| format!(" w{warps}"));
        let by_name = if row.by_name_only { " by name" } else { "" };
        format!("{}{lanes} {}{warps}{by_name}", row.to_bits, row.algorithm)
    };
    table.rows["mul"].iter().map(describe).collect()
}

#[test]
fn thresholds_lie_between_widths() {
    let times = [
        timing(256, 1000, "thread", None, 1e-3),
        timing(256, 1000, "group", None, 2e-3),
        timing(1024, 1000, "thread", None, 3e-3),
        timing(1024, 1000, "group", None, 2e-3),
    ];
    assert_eq!(rows(&times), ["512 thread", "65536 group"]);
}

#[test]
fn neighbours_that_agree_are_one_row() {
    let times = [
        timing(64, 1000, "thread", None, 1.0),
        timing(128, 1000, "thread", None, 1.0),
        // Half a percent is noise, two are not.
        timing(256, 1000, "thread", None, 1.005),
        timing(256, 1000, "group", None, 1.0),
        timing(512, 1000, "thread", None, 1.02),
        timing(512, 1000, "group", None, 1.0),
    ];
    assert_eq!(rows(&times), ["352 thread", "65536 group"]);
}

/// 1536 bits are the last that `thread` takes: what is nearest to them and wider goes to the next best.
#[test]
fn an_algorithm_ends_where_it_does_not_fit() {
    let times = [
        timing(1536, 1000, "thread", None, 1e-3),
        timing(1536, 1000, "group", Some(4), 2e-3),
        timing(1536, 1000, "group", None, 3e-3),
        timing(4096, 1000, "karatsuba/group", None, 1e-3),
        timing(4096, 1000, "group", Some(4), 3e-3),
        timing(4096, 1000, "group", None, 2e-3),
    ];
    let expected =
        ["1536 thread", "1536 group w4 by name", "2496 group w4", "65536 karatsuba/group", "65536 group by name"];
    assert_eq!(rows(&times), expected);
}

#[test]
fn few_lanes_have_rows_where_it_matters() {
    // Units of ten seconds hide what events resolve, units of ten microseconds show it.
    let times = |unit: f64, few: f64| {
        vec![
            timing(1024, 1, "thread", None, unit),
            timing(1024, 1, "group", None, 1.02 * unit),
            timing(1024, 1000, "thread", None, few * unit),
            timing(1024, 1000, "group", None, unit),
            timing(1024, 1_000_000, "thread", None, 100.0 * unit),
            timing(1024, 1_000_000, "group", None, 200.0 * unit),
        ]
    };
    // Up to half a decade above the count; one lane is within the tolerance of either.
    assert_eq!(rows(&times(10.0, 2.0))[..2], ["1536/3162 group", "1536 thread"]);
    assert_eq!(rows(&times(10.0, 1.04))[..2], ["1536/3162 group", "1536 thread"]);
    assert_eq!(rows(&times(10.0, 1.02))[..1], ["1536 thread"]);
    assert_eq!(rows(&times(1e-5, 1.07))[..1], ["1536 thread"]);
    // A row for the middle alone.
    let mut three = times(10.0, 2.0);
    three[1].seconds = 100.0;
    assert_eq!(rows(&three)[..3], ["1536/3 thread", "1536/3162 group", "1536 thread"]);
}

/// What was not measured for a batch, because it would take too long, is not chosen for it.
#[test]
fn what_was_left_out_is_not_chosen() {
    let times = [
        timing(1024, 1000, "thread", None, 1e-5),
        timing(1024, 1000, "group", None, 2e-5),
        timing(1024, 10_000, "group", None, 2e-4),
    ];
    assert_eq!(rows(&times)[..2], ["1536/3162 thread", "1536 group"]);
}

#[test]
fn settings_for_those_who_ask() {
    let times = [
        timing(512, 10, "thread", Some(2), 1e-3),
        timing(512, 10, "group", Some(4), 2e-3),
        timing(512, 10, "group", Some(8), 3e-3),
        timing(512, 10, "karatsuba/group", None, 4e-3),
        timing(512, 1000, "thread", Some(2), 1e-2),
        timing(512, 1000, "group", Some(4), 3e-2),
        timing(512, 1000, "group", Some(8), 2e-2),
    ];
    // Those of the largest batch; wider than `thread` goes, `group` is the rule.
    let expected = ["1536 thread w2", "1536 group w8 by name", "65536/31 group w4", "65536 group w8"];
    assert_eq!(rows(&times), expected);
    let table = table(90, "a test", &times, fitting);
    let settings = |name| table.row(Operation::Mul, 100, 5, Some(name)).map(|row| row.settings.warps);
    assert_eq!([settings("thread"), settings("group")], [Some(Some(2)), Some(Some(8))]);
}

/// Narrow measurements of what takes narrow operands alone.
#[test]
fn widths_that_nothing_measured_takes_have_a_row() {
    assert_eq!(rows(&[timing(64, 10, "thread", Some(2), 1.0)]), ["1536 thread w2", "65536 group"]);
}

#[test]
fn operations_without_measurements_have_no_rows() {
    let table = table(90, "a test", &[timing(64, 1, "group", None, 1.0)], fitting);
    assert_eq!(table.rows.keys().collect::<Vec<_>>(), ["mul"]);
}

#[test]
fn the_ranking_has_each_algorithm_once() {
    let times = [
        timing(64, 1, "group", None, 3.0),
        timing(64, 1, "group", Some(2), 2.0),
        timing(64, 1, "thread", None, 1.0),
        timing(64, 2, "thread", None, 0.5),
    ];
    let names: Vec<(&str, f64)> =
        ranking(&times, Operation::Mul, 64, 1).iter().map(|it| (it.algorithm.as_str(), it.seconds)).collect();
    assert_eq!(names, [("thread", 1.0), ("group", 2.0)]);
}

#[test]
fn rows_end_at_every_limb_and_above_65536_bits_at_fewer_widths() {
    assert!(widths_to(256).eq((32..=256).step_by(32)));
    let long: Vec<usize> = widths_to(1 << 24).skip_while(|bits| *bits < WHOLE_BITS).collect();
    assert!(long.len() < 200 && long.last() == Some(&(1 << 24)) && long.is_sorted());
    assert!(long.windows(2).all(|pair| pair[1] % 32 == 0 && pair[1] <= pair[0] + pair[0] / 16));
}
