//! The search for path records on devices: the default scheme, with a bound on how high a start may climb.
//!
//! **Which starts are reported.** Let `H` be the highest value of `T` of all starts below some `W`: half of the record, which counts
//! `3n+1` before it is halved. Let `x = log2(H/E)` for a unit of starts `n` from `W` on, all below `E`. The kernel reports the tested
//! starts that are more than `x − p` bits above themselves at the end of a jump of `d` steps, where `p = 0.37·d + 0.1`. If
//! `x ≥ 0.585·(L + S) + 1.1` and `x ≥ d + 1.1`, a start that is not reported has values above `H` only on a smaller start's trajectory:
//!
//! * In `k` steps values are at most `(3/2)^k·(n + 1)`. So the first `L + S` steps stay below `H`. For a start that is not tested these
//!   are all steps before a smaller start's trajectory begins; for a tested start the first `L` steps are among them.
//! * For the later steps of a tested start [`crate::heights`] has the proof, with `climb = x − p`.
//!
//! The host follows the reported starts step by step in unbounded arithmetic. So the search finds all records with any plan: the plan
//! decides the speed only.

use std::{ops::Range, sync::Arc};

use dashu_int::UBig;
use rayon::prelude::*;
use warpmp_device::Device;

use super::{
    Gpu, Settings,
    deal::{Search, deal},
    tables::LEAST_START,
};
use crate::{
    dfs::Plan,
    engine::Control,
    error::{Allowed, Error, Result},
    heights::{SLACK, peak},
    kernels::lookahead::CANDIDATE_BITS,
    number::descend,
    power::LOG2_3,
    records::{Record, bounded, path_records_below},
};

/// The ladder for large GPUs: units of 2^32, 2^40 and 2^44 numbers.
pub const LADDER: [u32; 3] = [22, 30, 34];

/// All path records below `below`, ascending. The `ladder` has leaf bits, ascending. A unit has 2 to the leaf bits + 10 starts. Each size
/// serves from the second of its units on, or from [`LEAST_START`] if that is more. The CPU searches the starts below.
///
/// # Errors
/// As [`go_on`].
pub fn search(
    devices: &[Arc<dyn Device>],
    settings: &Settings,
    ladder: &[u32],
    below: u128,
    control: &Control,
) -> Result<Vec<Record>> {
    bounded(below)?;
    let first = ladder.first().map_or(LEAST_START, |&leaf_bits| begin(leaf_bits));
    let from = below.min(first);
    let records = path_records_below(from, below, control)?;
    go_on(devices, settings, ladder, from..below, records, control)
}

/// Where units of these leaf bits are used from on.
fn begin(leaf_bits: u32) -> u128 {
    LEAST_START.max(1 << (leaf_bits + CANDIDATE_BITS).min(100))
}

/// Goes on with a search: `records` are all path records below the range.
///
/// # Errors
/// [`Error::Parameter`] above 2⁶⁴, below [`LEAST_START`], for an empty ladder or one that does not fit the records;
/// [`Error::Stopped`]; [`Error::NoDescent`]; the devices'.
pub fn go_on(
    devices: &[Arc<dyn Device>],
    settings: &Settings,
    ladder: &[u32],
    range: Range<u128>,
    records: Vec<Record>,
    control: &Control,
) -> Result<Vec<Record>> {
    bounded(range.end)?;
    Error::parameter("kernels of the ladder", ladder.len() as u64, 1, u64::MAX)?;
    let mut search = PathSearch { records, range: range.clone() };
    let mut from = range.start;
    if from < range.end && from < LEAST_START {
        let allowed = Allowed::AtLeast(LEAST_START);
        return Err(Error::Parameter { name: "the first start", value: from, allowed });
    }
    for (number, &leaf_bits) in ladder.iter().enumerate() {
        let bits = leaf_bits + CANDIDATE_BITS;
        let end = ladder.get(number + 1).map_or(range.end, |&next| range.end.min(begin(next)));
        if from >= end {
            continue;
        }
        let share = (end - from) / devices.len().max(1) as u128;
        let plan = |device: &Arc<dyn Device>| -> Result<(PathRecords, Plan)> {
            let plan = Plan::for_gpu(1 << bits, share, device.free_bytes()?);
            Ok((PathRecords::new(device.clone(), *settings), Plan { leaf_bits, ..plan }))
        };
        let work = |(device, plan): &mut (PathRecords, Plan), unit: u128, highest: &UBig| {
            let found = device.higher(plan, unit, highest, control);
            control.advance(1 << bits, u64::try_from(range.end).unwrap_or(u64::MAX));
            found
        };
        deal(devices, from >> bits..end.div_ceil(1 << bits), &mut search, control, plan, work)?;
        from = end;
    }
    Ok(search.records)
}

/// Records so far.
struct PathSearch {
    records: Vec<Record>,
    /// The search goes up to this.
    range: Range<u128>,
}

impl Search for PathSearch {
    /// The highest value.
    type Known = UBig;
    type Found = Vec<Record>;

    fn known(&self) -> UBig {
        self.records.last().map(|last| last.figure.clone()).unwrap_or_default()
    }

    fn take(&mut self, _: u128, found: Vec<Record>) -> Result<()> {
        for record in found {
            if self.range.contains(&record.start) && record.figure > self.known() {
                self.records.push(record);
            }
        }
        Ok(())
    }
}

/// A device that looks for high values.
#[derive(Debug)]
pub struct PathRecords {
    gpu: Gpu,
}

impl PathRecords {
    /// Nothing is made yet.
    pub fn new(device: Arc<dyn Device>, settings: Settings) -> Self {
        Self { gpu: Gpu::new(device, settings) }
    }

    /// The tested starts of unit `unit`, of 2^(L + 10) numbers, with a value above `highest`: ascending, with their highest ones (`3n+1` not
    /// yet halved). Where `highest` leaves no room for the plan's look-ahead, a shorter one is taken.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a unit below [`LEAST_START`], or where there is room for no plan with these leaves; the device's.
    pub fn higher(&mut self, plan: &Plan, unit: u128, highest: &UBig, control: &Control) -> Result<Vec<Record>> {
        let bits = plan.leaf_bits + CANDIDATE_BITS;
        let clamp = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        Error::parameter("unit", clamp(unit), clamp(LEAST_START >> bits).max(1), u64::MAX >> bits)?;
        let jump_bits = self.gpu.settings.jump_bits;
        let room = highest.to_f64().value().log2() - 1.0 - (((unit + 1) << bits) as f64).log2();
        let steps = ((room - 1.0 - SLACK) / (LOG2_3 - 1.0)).floor().clamp(0.0, 100.0) as u32;
        let ahead = steps.saturating_sub(plan.leaf_bits);
        Error::parameter("steps below the record", steps.into(), (plan.leaf_bits + 6).into(), 100)?;
        Error::parameter("jump bits", jump_bits.into(), 4, ((room - 1.0 - SLACK) as u64).min(14))?;
        let plan = Plan {
            lookahead_bits: plan.lookahead_bits.min(ahead),
            rare_lookahead_bits: plan.rare_lookahead_bits.min(ahead),
            ..*plan
        };
        let (_, starts) = self.gpu.prepared(&plan)?.reported(unit, None, room - peak(jump_bits), control)?;
        let mut found: Vec<Record> = starts
            .par_iter()
            .map(|&start| Ok(Record { start, figure: descend(start)?.highest.to_ubig() << 1 }))
            .filter(|record| record.as_ref().map_or(true, |record| record.figure > *highest))
            .collect::<Result<_>>()?;
        found.sort_unstable_by_key(|record| record.start);
        Ok(found)
    }
}
