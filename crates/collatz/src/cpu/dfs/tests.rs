//! How tested starts end, start by start. The figures of a window do not tell: they are there before the first jump.

use std::collections::BTreeSet;

use super::{Prepared, Walk, climb};
use crate::{cpu::lanes::BASE_BITS, dfs::Plan, window::Window};

/// The values of a start from itself on, until a rule ends it: the rules asked of the values.
fn until_the_end(start: u128) -> Vec<u128> {
    let mut values = vec![start];
    let mut value = start;
    // Since the last odd step, and was (y − 1)/2 below the start for an odd y of the run that it ended?
    let (mut halvings, mut joined): (Option<u32>, bool) = (None, false);
    loop {
        if value % 2 == 1 {
            joined = (halvings == Some(0) && joined) || value / 2 < start;
            halvings = Some(0);
            value = value.checked_add(value / 2 + 1).unwrap();
        } else {
            halvings = halvings.map(|count| count + 1);
            value /= 2;
        }
        values.push(value);
        let even_run = halvings.is_some_and(|count| count > 0 && count % 2 == 0) && (2 * value - 1) / 3 < start;
        if value < start || even_run || (halvings == Some(2) && joined) {
            return values;
        }
    }
}

/// Must it be reported: is it above the limit at the end of a jump, with none of the rules in sight for the next jump?
fn climbs(start: u128, leaf_bits: u32, climb: f64) -> bool {
    let values = until_the_end(start);
    let jump = BASE_BITS as usize;
    let above = |value: u128| (value as f64 / start as f64).log2() > climb + 0.01;
    let ends = (leaf_bits as usize..values.len()).step_by(jump);
    ends.take_while(|place| place + jump < values.len() - 1).any(|place| above(values[place]))
}

/// A start that a threshold ends too early climbs without being seen, and a reported start is followed to its end. So thresholds, heights
/// and values must report the right starts.
#[test]
fn who_climbs_is_reported() {
    for (leaf_bits, lookahead_bits, count, windows) in
        [(4, 6, 1 << 11, 600), (1, 12, 1 << 18, 60), (6, 18, 1 << 15, 90)]
    {
        let plan = Plan::new(leaf_bits, lookahead_bits, 6, 2).unwrap();
        for prepared in [Prepared::new(&plan), Prepared::new(&plan).portable()] {
            let told = format!("{plan:?}, vectors: {}", prepared.vectors.is_some());
            let (mut tested, mut expected, mut found) = (0, 0, 0);
            for place in 0..windows {
                let from = (1 << (40 + place * 7 % 61)) + 0x1234_5678_9abc_u128 * (place + 1);
                let window = Window::new(from, count).unwrap();
                let mut reported = BTreeSet::new();
                for prefix in &prepared.prefixes {
                    reported.extend(Walk::new(&prepared, &window).unwrap().reported(prefix));
                }
                found += reported.len();
                prepared.tested(&window, &mut |start| {
                    tested += 1;
                    if climbs(start, leaf_bits, climb(count, leaf_bits)) {
                        expected += 1;
                        assert!(reported.contains(&start), "{start} of {told}");
                    }
                });
            }
            assert!(expected > 30 && found < tested, "{expected} of {found} of {tested}: {told}");
            println!("{expected} of {found} of {tested}: {told}");
        }
    }
}
