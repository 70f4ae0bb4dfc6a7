//! The survivors of the rules, made by kernels on the simulator, against the rules themselves and the published counts.

use crate::common::{Bench, dead, need, powers, small_steps};
use warpmp_collatz::kernels::leaves::{Count, Expand, GROUPS, Scatter, grid};

/// Nodes, states and their number after `bits` levels.
fn expand(bench: &mut Bench, bits: u32, merges: bool) -> (u64, u64, u32) {
    let kernel = Expand { merges }.build();
    let powers = bench.pairs(&powers());
    let (mut nodes, mut states, mut count) = (bench.pairs(&[0, 0]), bench.words(&[0]), 1_u32);
    for level in 0..bits {
        let room = 2 * count as usize;
        let (children, child_states, counter) = (bench.empty(4 * room), bench.empty(room), bench.words(&[0]));
        let (here, next) = (need(level).into(), need(level + 1).into());
        let args = [nodes, states, count.into(), children, child_states, counter, level.into(), here, next, powers];
        bench.run(&kernel, grid(count), &args);
        (nodes, states, count) = (children, child_states, bench.read(counter, 1)[0]);
    }
    (nodes, states, count)
}

#[test]
fn survivors_are_those_of_the_rules() {
    for (merges, limit) in [(true, 13), (false, 11)] {
        for bits in [1, 2, 5, 8, limit] {
            let mut bench = Bench::new();
            let (nodes, _, count) = expand(&mut bench, bits, merges);
            let rows = bench.read_pairs(nodes, 2 * count as usize);
            let mut found: Vec<(u64, u64)> = rows.chunks(2).map(|row| (row[0], row[1])).collect();
            found.sort_unstable();
            let expected: Vec<(u64, u64)> = (0..1 << bits)
                .filter(|&residue| !dead(residue, bits, merges, (0, 0)))
                .map(|residue| (residue, small_steps(residue, bits).1))
                .collect();
            assert_eq!(found, expected, "{bits} bits, {merges}");
        }
    }
}

#[test]
fn survivors_are_as_many_as_published() {
    let mut bench = Bench::new();
    assert_eq!(expand(&mut bench, 16, true).2, 1370);
    assert_eq!(expand(&mut bench, 20, true).2, 16264);
    assert_eq!(expand(&mut bench, 16, false).2, 2114);
    assert_eq!(expand(&mut bench, 20, false).2, 27328);
}

#[test]
fn records_are_grouped() {
    let mut bench = Bench::new();
    let bits = 14;
    let (nodes, states, count) = expand(&mut bench, bits, true);
    let histogram = bench.words(&[0; GROUPS as usize]);
    bench.run(&Count.build(), grid(count), &[states, count.into(), histogram]);
    let sizes = bench.read(histogram, GROUPS as usize);
    assert_eq!(sizes.iter().sum::<u32>(), count);
    let starts: Vec<u32> = sizes.iter().scan(0, |next, &size| Some(std::mem::replace(next, *next + size))).collect();
    let inverse = (0..GROUPS).scan(1_u64, |p, _| Some(std::mem::replace(p, p.wrapping_mul(0xAAAA_AAAA_AAAA_AAAB))));
    let inverses: Vec<u64> = inverse.collect();
    let vector_bits = |group: usize| 12 + group as u32 % 25;
    let masks: Vec<u64> = (0..GROUPS as usize).map(|group| (1 << vector_bits(group)) - 1).collect();
    let (cursors, inverses, masks) = (bench.words(&starts), bench.pairs(&inverses), bench.pairs(&masks));
    let (records, residues) = (bench.empty(4 * count as usize), bench.empty(2 * count as usize));
    let args = [nodes, states, count.into(), cursors, inverses, masks, records, residues];
    bench.run(&Scatter.build(), grid(count), &args);
    let (records, residues) =
        (bench.read_pairs(records, 2 * count as usize), bench.read_pairs(residues, count as usize));
    let mut seen = residues.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count as usize);
    for (at, (record, &residue)) in records.chunks(2).zip(&residues).enumerate() {
        let (odd, value) = small_steps(residue, bits);
        assert!(!dead(residue, bits, true, (0, 0)));
        assert!((starts[odd as usize]..starts[odd as usize] + sizes[odd as usize]).contains(&(at as u32)));
        assert_eq!(record[0], value);
        let index = (record[1] & 0xFFFF_FFFF) << 5 | record[1] >> 32 & 31;
        let mask = (1_u64 << vector_bits(odd as usize)) - 1;
        assert_eq!(index.wrapping_mul(3_u64.pow(odd)) & mask, value & mask, "3^c·index ≡ v");
        assert_eq!(record[1] >> 60, residue % 9);
    }
}
