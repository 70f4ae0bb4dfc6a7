//! The lanes of a chunk: runs of places, and their rows in the host's memory.

use std::ops::Range;

use num_bigint::BigUint;
use rayon::prelude::*;

use super::kernels::Class;
use super::kind::Kind;
use crate::factor::Verdict;
use crate::factor::lane::Lane;

/// Lanes that a thread of the host takes in one go.
const PIECE: usize = 512;

/// Reads the lane of a place. It is called when the lane's chunk begins, and for its end.
pub(super) type Read<'s, 'l> = &'s (dyn Fn(usize) -> Lane<'l> + Sync);

/// Lanes for devices.
pub(in crate::factor) struct Source<'s, 'l> {
    /// Their places, rising, with their kinds.
    pub(in crate::factor) runs: Vec<(Range<usize>, Kind)>,
    pub(in crate::factor) lane: Read<'s, 'l>,
}

/// Places that follow one another.
pub(super) struct Run<'v> {
    pub(super) places: Range<usize>,
    /// Where their verdicts go, if they are wanted.
    pub(super) verdicts: Option<&'v mut [Verdict]>,
}

impl Run<'_> {
    /// A run of places without verdicts.
    #[cfg(test)]
    pub(super) fn of(places: Range<usize>) -> Self {
        Self { places, verdicts: None }
    }

    /// The first part if there is one, and a last part of at most `length` places.
    pub(super) fn split(self, length: usize) -> (Option<Self>, Self) {
        let Self { places, verdicts } = self;
        let Some(count) = places.len().checked_sub(length).filter(|count| *count > 0) else {
            return (None, Self { places, verdicts });
        };
        let middle = places.start + count;
        let (first, last) = match verdicts.map(|verdicts| verdicts.split_at_mut(count)) {
            Some((first, last)) => (Some(first), Some(last)),
            None => (None, None),
        };
        let first = Self { places: places.start..middle, verdicts: first };
        (Some(first), Self { places: middle..places.end, verdicts: last })
    }
}

/// Lanes of one kind that are together on a device.
pub(super) struct Places<'v> {
    pub(super) kind: Kind,
    /// Their class, in the form of their kernels.
    pub(super) class: Class,
    pub(super) runs: Vec<Run<'v>>,
}

impl Places<'_> {
    pub(super) fn count(&self) -> usize {
        self.runs.iter().map(|run| run.places.len()).sum()
    }

    /// Some of the lanes as places, from their rising numbers in the chunk.
    pub(super) fn places(&self, numbers: &[usize]) -> Vec<usize> {
        let mut runs = self.runs.iter();
        let (mut before, mut run) = (0, 0..0);
        let place = |number: &usize| {
            while *number - before >= run.len() {
                let Some(next) = runs.next() else { break };
                before += run.len();
                run = next.places.clone();
            }
            run.start + number - before
        };
        numbers.iter().map(place).collect()
    }

    /// Writes rows of `length` words, in parallel.
    pub(super) fn write(&self, mut rows: &mut [u32], length: usize, write: impl Fn(usize, &mut [u32]) + Sync) {
        let mut pieces = Vec::new();
        for run in &self.runs {
            let (own, rest) = rows.split_at_mut(run.places.len() * length);
            rows = rest;
            let firsts = run.places.clone().step_by(PIECE);
            pieces.extend(firsts.zip(own.chunks_mut((PIECE * length).max(1))));
        }
        pieces.into_par_iter().for_each(|(first, rows)| {
            for (place, row) in (first..).zip(rows.chunks_exact_mut(length)) {
                write(place, row);
            }
        });
    }

    /// Writes the verdicts of lanes that found nothing, with these residues of so many limbs; nothing if no verdicts are wanted.
    pub(super) fn write_verdicts(&mut self, mut residues: &[u32], limbs: usize) {
        let mut pieces = Vec::new();
        for run in &mut self.runs {
            let Some(verdicts) = &mut run.verdicts else { continue };
            let (own, rest) = residues.split_at(verdicts.len() * limbs);
            residues = rest;
            pieces.extend(verdicts.chunks_mut(PIECE).zip(own.chunks(PIECE * limbs)));
        }
        pieces.into_par_iter().for_each(|(verdicts, residues)| {
            for (verdict, residue) in verdicts.iter_mut().zip(residues.chunks_exact(limbs)) {
                *verdict = Verdict::Nothing(BigUint::from_slice(residue));
            }
        });
    }

    /// Are verdicts wanted?
    pub(super) fn want_verdicts(&self) -> bool {
        self.runs.iter().any(|run| run.verdicts.is_some())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by a panic")]
mod tests {
    use super::*;
    use crate::factor::lane::Line;

    #[test]
    fn lanes_have_their_places_and_rows() {
        let mut all: Vec<Verdict> = vec![Verdict::Slipped; 3000];
        let (first, rest) = all.split_at_mut(1200);
        let runs = vec![
            Run { places: 100..1300, verdicts: Some(first) },
            Run { places: 2000..2001, verdicts: Some(&mut rest[..1]) },
            Run::of(3000..3000),
        ];
        let kind = Kind::of_new(96, Line::Curve);
        let mut places = Places { kind, class: kind.class, runs };
        assert_eq!((places.count(), places.want_verdicts()), (1201, true));
        assert_eq!(places.places(&[0, 7, 1199, 1200]), [100, 107, 1299, 2000]);
        let mut rows = vec![0; 2 * 1201];
        places.write(&mut rows, 2, |place, row| row.copy_from_slice(&[place as u32, 1]));
        let written: Vec<u32> = rows.chunks(2).map(|row| row[0]).collect();
        assert!(written.into_iter().eq((100..1300).chain([2000])) && rows.iter().skip(1).step_by(2).all(|it| *it == 1));
        places.write_verdicts(&rows, 2);
        let numbers = |verdict: &Verdict| match verdict {
            Verdict::Nothing(x) => Some(x.iter_u32_digits().next().unwrap()),
            _ => None,
        };
        assert!(all.iter().filter_map(numbers).eq((100..1300).chain([2000])));
    }

    #[test]
    fn runs_are_split_from_their_end() {
        let mut all = vec![Verdict::Slipped; 10];
        let run = Run { places: 5..15, verdicts: Some(&mut all) };
        let (first, last) = run.split(4);
        let first = first.unwrap();
        assert_eq!((first.places.clone(), last.places.clone()), (5..11, 11..15));
        assert_eq!((first.verdicts.as_ref().unwrap().len(), last.verdicts.unwrap().len()), (6, 4));
        let (none, all) = first.split(6);
        assert!(none.is_none() && all.places == (5..11));
    }
}
