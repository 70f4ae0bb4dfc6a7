//! Delay records.
//!
//! **Which starts can be records.** Let `D` be the delay and `n ≥ 2^20`.
//!
//! * `n = 2m`: `D(n) = D(m) + 1`. Let `n` be a record and `r ≤ m` the first start with `D(r) = D(m)`. Then `r = m`: otherwise `2r < n`
//!   has the same delay as `n`. So an even record is twice a record, and no other record lies between.
//! * `n ≡ 2 mod 3`: `m = (2n − 1)/3 < n` is odd with `T(m) = n`, so `D(m) = D(n) + 2`. `n ≡ 4 mod 9`: `m = (8n − 5)/9 < n` has
//!   `T³(m) = n` (rule 5 of [`crate::rules`]), so `D(m) > D(n)`. Neither is a record.
//! * `n = q·2^k + B`, where a smaller residue `B'` has the same `c` and the same `T^k(B') = T^k(B)`: then `m = q·2^k + B' < n` has
//!   `T^k(m) = T^k(n)` after the same number of standard steps, `k + c`. Neither has met 1 before, since `n, m ≥ 2^20 − 2^16` and `T` at
//!   most halves. So `D(m) = D(n)`, and `n` is no record.
//!
//! The search looks at all other odd residues mod `2^16` and residues mod 9.

use dashu_int::UBig;
use rayon::prelude::*;

use super::{Record, SMALL_BITS};
use crate::{
    cpu::DelayTables, engine::Control, error::Result, number::Affine, rules::mod9_removes, tables::SmallDelays,
};

/// `k`.
const SIEVE_BITS: u32 = 16;
/// Starts of a task, and tasks between two updates of the records.
const TASK: u64 = 1 << 20;
const TASKS: u64 = 64;

pub(super) fn search(below: u128, control: &Control) -> Result<Vec<Record>> {
    let mut records = DelayRecords::new(below);
    records.search(below, control)?;
    Ok(records.finish())
}

impl DelayRecords {
    /// No records yet; the search goes up to `below`.
    pub(crate) fn new(below: u128) -> Self {
        Self { below, list: Vec::new() }
    }

    /// Searches all starts below `below` on the CPU, from the first one on.
    pub(crate) fn search(&mut self, below: u128, control: &Control) -> Result<()> {
        search_into(self, below, control)
    }

    /// All records, doubles included, ascending.
    pub(crate) fn finish(mut self) -> Vec<Record> {
        self.doubles(self.below);
        let record = |(start, delay)| Record { start, figure: UBig::from(delay) };
        self.list.into_iter().map(record).collect()
    }
}

fn search_into(records: &mut DelayRecords, below: u128, control: &Control) -> Result<()> {
    let small = SmallDelays::new(SMALL_BITS)?;
    for (start, delay) in small.delays().iter().enumerate().skip(1) {
        if (start as u128) < below {
            records.take(start as u128, (*delay).into());
        }
    }
    let tables = DelayTables::new(false)?;
    let residues = candidates();
    let end = u64::try_from(below).unwrap_or(u64::MAX);
    let mut from = 1u64 << SMALL_BITS;
    while from < end {
        let longest = records.longest();
        let found: Vec<Vec<(u128, u32)>> = (0..TASKS)
            .into_par_iter()
            .map(|task| {
                control.check()?;
                let begin = from.saturating_add(task * TASK);
                longer(begin, begin.saturating_add(TASK).min(end), &residues, longest, &tables)
            })
            .collect::<Result<_>>()?;
        for (start, delay) in found.into_iter().flatten() {
            records.take(start, delay);
        }
        from = from.saturating_add(TASKS * TASK);
        control.advance(TASKS * TASK, u64::try_from(records.below).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// The odd residues mod `2^16` that are the smallest with their `c` and `T^16`.
fn candidates() -> Vec<u64> {
    let mut all: Vec<(u32, u128, u64)> = (0..1u64 << SIEVE_BITS)
        .filter_map(|residue| {
            let affine = Affine::of(residue.into(), SIEVE_BITS).ok()?;
            Some((affine.odd_steps, affine.value, residue))
        })
        .collect();
    all.sort_unstable();
    all.dedup_by_key(|(odd_steps, value, _)| (*odd_steps, *value));
    let mut residues: Vec<u64> = all.into_iter().map(|(_, _, residue)| residue).filter(|r| r % 2 == 1).collect();
    residues.sort_unstable();
    residues
}

/// The starts of `from..end` with a delay above `longest`.
fn longer(from: u64, end: u64, residues: &[u64], longest: u32, tables: &DelayTables) -> Result<Vec<(u128, u32)>> {
    let mut found = Vec::new();
    let mut starts = Vec::with_capacity(DelayTables::BATCH);
    let mut delays = vec![0; DelayTables::BATCH];
    let mut flush = |starts: &mut Vec<u128>| -> Result<()> {
        tables.delays(starts, &mut delays)?;
        found.extend(starts.drain(..).zip(delays.iter().copied()).filter(|(_, delay)| *delay > longest));
        Ok(())
    };
    let mut base = from >> SIEVE_BITS << SIEVE_BITS;
    while base < end {
        for start in residues.iter().map(|residue| base + residue).filter(|start| (from..end).contains(start)) {
            if mod9_removes((start % 9) as u32) {
                continue;
            }
            starts.push(start.into());
            if starts.len() == DelayTables::BATCH {
                flush(&mut starts)?;
            }
        }
        base += 1 << SIEVE_BITS;
    }
    flush(&mut starts)?;
    Ok(found)
}

/// Delay records so far.
#[derive(Debug)]
pub(crate) struct DelayRecords {
    below: u128,
    list: Vec<(u128, u32)>,
}

impl DelayRecords {
    /// The records below 2⁶⁴, ascending.
    pub(crate) fn pairs(&self) -> Vec<(u64, u32)> {
        self.list.iter().filter_map(|&(start, delay)| Some((u64::try_from(start).ok()?, delay))).collect()
    }

    fn longest(&self) -> u32 {
        self.list.last().map_or(0, |(_, delay)| *delay)
    }

    /// The next start that may be a record; starts come in order.
    pub(crate) fn take(&mut self, start: u128, delay: u32) {
        self.doubles(start);
        if self.list.is_empty() || delay > self.longest() {
            self.list.push((start, delay));
        }
    }

    /// Twice the last record is a record, if no other came between.
    pub(crate) fn doubles(&mut self, before: u128) {
        while let Some((start, delay)) = self.list.last().copied()
            && start > 1
            && 2 * start < before.min(self.below)
        {
            self.list.push((2 * start, delay + 1));
        }
    }
}
