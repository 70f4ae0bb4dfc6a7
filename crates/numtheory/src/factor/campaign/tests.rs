//! Units that slipped, and integers that are looked at once.

use std::sync::atomic::{AtomicU64, Ordering};

use num_bigint::BigUint;

use super::super::{Bounds, Engine, Sigma};
use super::{Mode, Opened, Specification};
use crate::Watch;

/// Counts reports of progress.
#[derive(Default)]
struct Reports(AtomicU64);

impl Watch for Reports {
    fn progress(&self, _: f64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn units_that_slipped_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    // A curve finds the first one; the primes of the second one have 31 digits.
    let number = |text: &str| text.parse::<BigUint>().unwrap();
    let hard = number("1000000000000000000000000000057") * number("1000000000000000000000000000099");
    let numbers = [number("14517577769892627371"), hard];
    let bounds = Bounds::new(200, 10_000).unwrap();
    let sigma: Sigma = "3:2227979598".parse().unwrap();
    let specification = Specification::new(&numbers, bounds, &sigma, 4, 2).unwrap();
    let open = || Opened::new(folder.path(), &specification, Mode::ALONE).unwrap().0;
    let run = |opened: &Opened| {
        let reports = Reports::default();
        let status = opened.status(&reports).unwrap();
        assert_eq!(reports.0.into_inner(), numbers.len() as u64);
        opened.run(status, &Engine::cpu(), &(), &mut |_, _, _| {}).unwrap()
    };
    let opened = open();
    let sound = run(&opened);
    assert_eq!((sound.units, sound.slips, opened.slipped()), ([2, 2], 0, 0));
    assert!(sound.known.numbers[0].is_complete() && !sound.known.numbers[1].is_complete());
    drop(opened);
    // A certificate as a processor leaves it that makes a mistake.
    let opened = open();
    let mut certificate = opened.contents.done[0].clone();
    assert!(!certificate.made.found.is_empty());
    certificate.made.slips = 1;
    warpmp_campaign::store::<Specification>(&opened.campaign.path(&certificate.unit), &certificate).unwrap();
    drop(opened);
    let opened = open();
    let status = opened.status(&()).unwrap();
    assert_eq!((status.units, status.slips, opened.slipped()), ([1, 2], 1, 1));
    assert_eq!(status.effort(&specification).curves(), 2);
    let again = run(&opened);
    assert_eq!((again.units, again.slips), ([2, 2], 0));
    assert_eq!(again.attempts, sound.attempts + 2, "only the integer that is left has curves again");
    drop(opened);
    // The divisor of the first pass is kept.
    let opened = open();
    let kept = opened.status(&()).unwrap();
    assert_eq!((kept.units, kept.slips, kept.attempts), ([2, 2], 0, again.attempts));
    assert_eq!(kept.known.numbers, sound.known.numbers, "finds and their sigmas");
}
