//! The index: every pair of equal hashes is found, in little memory, across restarts and damage.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use warpmp_curves::campaign::Specification;
use warpmp_curves::campaign::index::Index;
use warpmp_curves::search::Definition;
use warpmp_curves::walk::Settings;
use warpmp_curves::{Distinguished, Error, challenges};

fn specification() -> Specification {
    let problem = challenges::named("eccp-79").unwrap();
    let settings = Settings { branch_bits: 4, distinguished_bits: 10, seed: 0 };
    Specification::new(&problem, &Definition::new(&problem, settings).unwrap())
}

/// The sequence of Steele, Lea and Flood.
fn hash(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Points from one number to another; the hash of every hundredth is that of an earlier point.
fn point(number: u64) -> Distinguished {
    let of = if number % 100 == 99 { hash(number) % (number / 100 + 1) * 100 } else { number };
    Distinguished { hash: hash(of), start: number }
}

/// Inserts points, probes and stores as the keeper does; the hashes of the pairs.
fn insert(index: &mut Index, numbers: std::ops::Range<u64>) -> HashSet<u64> {
    let mut met = HashSet::new();
    for number in numbers {
        met.extend(index.insert(point(number)).map(|pair| pair[0].hash));
        if index.room() == 0 {
            met.extend(index.probe().unwrap().iter().map(|pair| pair[0].hash));
            index.store(&BTreeMap::from([(1, number + 1)])).unwrap();
        }
    }
    met
}

fn planted(numbers: std::ops::Range<u64>) -> HashSet<u64> {
    numbers.filter(|number| number % 100 == 99).map(|number| point(number).hash).collect()
}

fn runs(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.strip_suffix(".run").is_some()).count()
}

#[test]
fn all_pairs_are_found_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let specification = specification();
    let mut index = Index::open(folder.path(), &specification, 1 << 17).unwrap();
    let mut met = insert(&mut index, 0..9000);
    // Another process goes on: what was not stored is inserted again.
    let stored = index.ends()[&1];
    assert!(stored > 5000 && stored < 9000 && runs(folder.path()) > 0, "{stored}");
    drop(index);
    let mut index = Index::open(folder.path(), &specification, 1 << 17).unwrap();
    assert_eq!((index.ends()[&1], index.points()), (stored, index.points()));
    met.extend(insert(&mut index, stored..20_000));
    met.extend(index.probe().unwrap().iter().map(|pair| pair[0].hash));
    assert_eq!(met, planted(0..20_000));
    // Runs are merged: fewer than three a shard, though the table was full five times.
    assert!(runs(folder.path()) <= 3 * 64, "{}", runs(folder.path()));
}

#[test]
fn a_damaged_index_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let specification = specification();
    let full = |folder: &Path| {
        let mut index = Index::open(folder, &specification, 1 << 17).unwrap();
        let stored = index.ends().get(&1).copied().unwrap_or(0);
        insert(&mut index, stored..4000);
        index
    };
    let a_run = || {
        let mut paths = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|it| it == "run")).unwrap()
    };
    let mut index = full(folder.path());
    assert!(index.probe().is_ok());
    let mut bytes = fs::read(a_run()).unwrap();
    bytes[40] ^= 1;
    fs::write(a_run(), bytes).unwrap();
    assert!(matches!(index.probe(), Err(Error::IndexDamaged { .. })));
    index.reset().unwrap();
    assert_eq!((index.points(), runs(folder.path()), index.ends().len()), (0, 0, 0));
    let mut index = full(folder.path());
    fs::remove_file(a_run()).unwrap();
    assert!(matches!(index.probe(), Err(Error::IndexDamaged { .. })));
    // Without its list, the runs are nobody's.
    fs::write(folder.path().join("index.json"), "{").unwrap();
    let index = Index::open(folder.path(), &specification, 1 << 17).unwrap();
    assert_eq!((index.points(), runs(folder.path())), (0, 0));
}

/// What the index costs: `cargo test --release -p warpmp-curves --test index -- --ignored --nocapture`.
#[test]
#[ignore = "half a minute"]
fn the_cost_of_thirty_million_points() {
    const POINTS: u64 = 30_000_000;
    for memory_mib in [1024, 128] {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::open(folder.path(), &specification(), memory_mib << 20).unwrap();
        let begin = Instant::now();
        let met = insert(&mut index, 0..POINTS);
        let inserted = begin.elapsed().as_secs_f64();
        let probe = Instant::now();
        let last = index.probe().unwrap();
        let found: HashSet<u64> = met.into_iter().chain(last.iter().map(|pair| pair[0].hash)).collect();
        assert_eq!(found, planted(0..POINTS));
        let bytes: u64 = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
        println!(
            "{memory_mib} MiB: {:.2e} points/s, {:.1} bytes a point on disk, a probe {:.2} s",
            POINTS as f64 / inserted,
            bytes as f64 / POINTS as f64,
            probe.elapsed().as_secs_f64(),
        );
    }
}
