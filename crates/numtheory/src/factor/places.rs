//! Places by key: millions of jobs are sorted into a few kinds.

use std::ops::Range;

use rayon::prelude::*;

/// Keys that a thread looks at in one go.
pub(super) const PIECE: usize = 1 << 12;

/// Places that follow one another and have the same key.
pub(super) type Run<K> = (Range<usize>, K);

/// The places from 0 to `count` as runs of equal keys, in their order. Jobs of one kind are mostly neighbours: a run takes the memory of a few
/// words, whatever its length.
pub(super) fn runs_by<K: PartialEq + Send>(count: usize, key: impl Fn(usize) -> K + Sync) -> Vec<Run<K>> {
    let of_piece = |piece: usize| {
        let mut runs = Vec::new();
        for place in piece * PIECE..count.min((piece + 1) * PIECE) {
            push(&mut runs, (place..place + 1, key(place)));
        }
        runs
    };
    joined((0..count.div_ceil(PIECE)).into_par_iter().map(of_piece).collect())
}

/// The runs of pieces that follow one another.
pub(super) fn joined<K: PartialEq>(pieces: Vec<Vec<Run<K>>>) -> Vec<Run<K>> {
    let mut runs = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
    for run in pieces.into_iter().flatten() {
        push(&mut runs, run);
    }
    runs
}

/// Adds a run after the last one, which becomes longer if the key is the same and no place is between them. A run without places is none.
pub(super) fn push<K: PartialEq>(runs: &mut Vec<Run<K>>, run: Run<K>) {
    if run.0.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some((places, key)) if *key == run.1 && places.end == run.0.start => places.end = run.0.end,
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_in_a_run_of_its_key() {
        for length in [1, 2, 7, 4095, 4096, 5000, 100_000] {
            for count in [0, 1, 5, 4096, 10_007] {
                let key = |place: usize| place / length % 3;
                let runs = runs_by(count, key);
                assert!(runs.iter().flat_map(|(places, _)| places.clone()).eq(0..count));
                assert!(runs.iter().all(|(places, it)| places.clone().all(|place| key(place) == *it)));
                assert_eq!(runs.len(), count.div_ceil(length), "{count} keys in runs of {length}");
            }
        }
    }
}
