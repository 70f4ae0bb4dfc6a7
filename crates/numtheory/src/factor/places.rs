//! Places by key: millions of jobs are sorted into a few kinds.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

/// Kinds that are looked for one after the other, by all threads.
const FEW: usize = 8;
/// Keys that a thread looks at in one go.
const PIECE: usize = 1 << 12;

/// The places of each key, rising.
pub(super) fn places_by<K: Ord + Copy + Send + Sync>(keys: &[K]) -> BTreeMap<K, Vec<usize>> {
    let of_piece = |piece: &[K]| {
        let mut all = BTreeSet::new();
        for run in piece.chunk_by(|one, other| one == other) {
            all.insert(run[0]);
        }
        all
    };
    let join = |mut one: BTreeSet<K>, mut other: BTreeSet<K>| {
        one.append(&mut other);
        one
    };
    let kinds = keys.par_chunks(PIECE).map(of_piece).reduce(BTreeSet::new, join);
    if kinds.len() == 1 {
        return kinds.into_iter().map(|kind| (kind, (0..keys.len()).into_par_iter().collect())).collect();
    }
    if kinds.len() <= FEW {
        let places = |kind: &K| (0..keys.len()).into_par_iter().filter(|place| keys[*place] == *kind).collect();
        return kinds.iter().map(|kind| (*kind, places(kind))).collect();
    }
    let mut places: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        places.entry(*key).or_default().push(place);
    }
    places
}

/// The results of parts in the order of all places. Each place is in one part.
pub(super) fn in_order<T>(mut parts: Vec<(Vec<usize>, Vec<T>)>) -> Vec<T> {
    let mut count = 0;
    let mut are_runs = true;
    for (places, _) in &parts {
        let run = count..count + places.len();
        are_runs &= places.first().is_none_or(|first| *first == run.start && places.last() == Some(&(run.end - 1)));
        count = run.end;
    }
    if are_runs && parts.len() == 1 {
        return parts.pop().map(|(_, results)| results).unwrap_or_default();
    }
    if are_runs {
        let mut all = Vec::with_capacity(count);
        for (_, mut results) in parts {
            all.append(&mut results);
        }
        return all;
    }
    let mut all: Vec<Option<T>> = (0..count).map(|_| None).collect();
    for (places, results) in parts {
        for (place, result) in places.into_iter().zip(results) {
            all[place] = Some(result);
        }
    }
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_under_its_key() {
        for kinds in [1, 2, 7, 8, 9, 300] {
            for count in [0, 1, 5, 4096, 10_007] {
                let keys: Vec<usize> = (0..count).map(|i| i * i % kinds).collect();
                let places = places_by(&keys);
                assert_eq!(places.values().map(Vec::len).sum::<usize>(), count);
                let parts = places.values().map(|places| (places.clone(), places.clone())).collect();
                assert!(in_order(parts).into_iter().eq(0..count));
                for (key, places) in places {
                    assert!(!places.is_empty() && places.is_sorted());
                    assert!(places.iter().all(|place| keys[*place] == key), "{kinds} kinds, {count} keys");
                }
            }
        }
    }
}
