//! Path records.
//!
//! **Which starts can be records.** Let `R` be the highest value of all starts below `n`, and let the schemes' rules join `n` to a
//! smaller `m` within `k` steps. After the meeting all values of `n` are values of `m`, so none is above `R`. Before the meeting values
//! are at most `2·(3/2)^k·(n + 1)`, as `T(x) + 1 ≤ (3/2)·(x + 1)` and `3x + 1 = 2·T(x)`. If this is at most `R`, `n` is no record. So for
//! `n < 2^(b+1)` and a plan with `L + S ≤ k`, where `b + 2 + k·log2(3/2) ≤ log2(R)`, only tested starts can be records. The same argument
//! ends each walk as soon as it is below its start.

use dashu_int::{UBig, ops::BitTest as _};
use rayon::prelude::*;

use super::{Record, SMALL_BITS};
use crate::{
    cpu::Tester,
    dfs::Plan,
    engine::Control,
    error::Result,
    number::{descend, trace},
    window::Window,
};

/// Starts of a task, and tasks between two updates of the records.
const TASK: u64 = 1 << 22;
const TASKS: u64 = 64;
/// The largest `L` and `S`.
const LEAF_BITS: u32 = 14;
const LOOKAHEAD_BITS: u32 = 24;

/// All path records below `below`. The progress counts a search that goes on to `total`.
pub(crate) fn search_below(below: u128, total: u128, control: &Control) -> Result<Vec<Record>> {
    let mut list: Vec<Record> = Vec::new();
    for start in 1..below.min(1 << SMALL_BITS) {
        let figure = trace(start, |_| true)?.highest;
        if list.last().is_none_or(|last| figure > last.figure) {
            list.push(Record { start, figure });
        }
    }
    let end = u64::try_from(below).unwrap_or(u64::MAX);
    let mut from = 1u64 << SMALL_BITS;
    let mut tester: Option<(Plan, Tester)> = None;
    while from < end {
        let highest = list.last().map(|last| last.figure.clone()).unwrap_or_default();
        // Up to the next power of two: a bound for the plan.
        let bits = 64 - from.leading_zeros();
        let limit = end.min(1u64.checked_shl(bits).unwrap_or(u64::MAX));
        let plan = plan(bits, &highest)?;
        if tester.as_ref().is_none_or(|(present, _)| *present != plan) {
            tester = Some((plan, Tester::new(&plan)));
        }
        let Some((_, tester)) = &tester else { break };
        let found: Vec<Vec<Record>> = (0..TASKS)
            .into_par_iter()
            .map(|task| {
                control.check()?;
                let begin = from.saturating_add(task * TASK);
                higher(begin, begin.saturating_add(TASK).min(limit), &highest, tester)
            })
            .collect::<Result<_>>()?;
        for record in found.into_iter().flatten() {
            if list.last().is_none_or(|last| record.figure > last.figure) {
                list.push(record);
            }
        }
        let next = from.saturating_add(TASKS * TASK).min(limit);
        control.advance(next - from, u64::try_from(total).unwrap_or(u64::MAX));
        from = next;
    }
    Ok(list)
}

/// A plan for starts below `2^bits` whose steps stay below the present record.
fn plan(bits: u32, highest: &UBig) -> Result<Plan> {
    // log2(3/2) < 0.585; the record has at least this many bits less one.
    let room = f64::from((highest.bit_len() as u32).saturating_sub(1)) - f64::from(bits + 1);
    let steps = (room / 0.585).floor().max(6.0) as u32;
    let lookahead = steps.saturating_sub(LEAF_BITS).clamp(6, LOOKAHEAD_BITS);
    Plan::new(LEAF_BITS.min(steps.saturating_sub(lookahead)), lookahead, lookahead, 64)
}

/// The tested starts of `from..end` with a value above `highest`, ascending.
fn higher(from: u64, end: u64, highest: &UBig, tester: &Tester) -> Result<Vec<Record>> {
    let Some(window) = Window::of(from.into()..end.into()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let half = u128::try_from(highest >> 1).unwrap_or(u128::MAX);
    let mut failed = Ok(());
    tester.tested(&window, &mut |start| {
        if failed.is_ok() && exceeds(start, half) {
            match descend(start) {
                Ok(descent) => {
                    let figure = descent.highest.to_ubig() << 1;
                    if figure > *highest {
                        found.push(Record { start, figure });
                    }
                }
                Err(error) => failed = Err(error),
            }
        }
    });
    failed?;
    found.sort_unstable_by_key(|record| record.start);
    Ok(found)
}

/// May a value of `T` before the trajectory is below its start exceed `half`?
fn exceeds(start: u128, half: u128) -> bool {
    let mut value = start;
    let mut highest = start;
    while value >= start {
        if value & 1 == 1 {
            // A value that leaves 128 bits is looked at again, without bounds.
            match value.checked_add((value >> 1) + 1) {
                Some(next) => value = next,
                None => return true,
            }
            highest = highest.max(value);
        } else {
            value >>= 1;
        }
    }
    highest > half
}
