//! Records: starts with a longer delay, or a higher value, than every smaller start.
//!
//! Only starts that can be records are looked at; each search states its rule and proves it (`delay.rs`, `path.rs`).

mod delay;
mod path;

pub(crate) use delay::DelayRecords;
pub(crate) use path::search_below as path_records_below;

use std::{ops::Range, sync::Arc};

use dashu_int::UBig;
use warpmp_device::Device;

use crate::{
    engine::Control,
    error::{Allowed, Error, Result},
    gpu::{Settings, delay_records, path_records},
};

/// The figure that a record exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Standard steps down to 1.
    Delay,
    /// The highest value, `3n+1` not yet halved.
    Path,
}

impl Kind {
    /// The name of the figure: a column of a table.
    pub const fn figure(self) -> &'static str {
        match self {
            Self::Delay => "delay",
            Self::Path => "max",
        }
    }
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The start.
    pub start: u128,
    /// Its delay or its highest value.
    pub figure: UBig,
}

/// Starts below this are looked at one by one: no rule is proven for them.
const SMALL_BITS: u32 = 20;
/// Searches end here: larger ones would take centuries.
const MAX_BELOW: u128 = 1 << 64;

/// All records of a kind below `below`, ascending, searched on the CPU.
///
/// # Errors
/// [`Error::Parameter`] above `2^64`; [`Error::Stopped`]; [`Error::NoDescent`].
pub fn search(kind: Kind, below: u128, control: &Control) -> Result<Vec<Record>> {
    bounded(below)?;
    match kind {
        Kind::Delay => delay::search(below, control),
        Kind::Path => path::search_below(below, below, control),
    }
}

/// All records of a kind below `below`, ascending, searched on devices; on the CPU if there is no device.
///
/// # Errors
/// As [`search`], and the devices'.
pub fn search_on(devices: &[Arc<dyn Device>], kind: Kind, below: u128, control: &Control) -> Result<Vec<Record>> {
    match kind {
        _ if devices.is_empty() => search(kind, below, control),
        Kind::Delay => delay_records::search(devices, &delay_records::LADDER, below, control),
        Kind::Path => path_records::search(devices, &Settings::default(), &path_records::LADDER, below, control),
    }
}

/// The records `before`, of all starts below the range, and the records in the range, searched on devices.
///
/// # Errors
/// As [`search_on`]; [`Error::Parameter`] without devices.
pub fn go_on(
    devices: &[Arc<dyn Device>],
    kind: Kind,
    range: Range<u128>,
    before: Vec<Record>,
    control: &Control,
) -> Result<Vec<Record>> {
    match kind {
        Kind::Delay => delay_records::go_on(devices, &delay_records::LADDER, range, &before, control),
        Kind::Path => path_records::go_on(devices, &Settings::default(), &path_records::LADDER, range, before, control),
    }
}

/// The first start at which two lists of records, ascending, differ.
pub fn difference(one: &[Record], other: &[Record]) -> Option<u128> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    [one.get(same), other.get(same)].into_iter().flatten().map(|record| record.start).min()
}

/// [`Error::Parameter`] above 2⁶⁴.
pub(crate) fn bounded(below: u128) -> Result<()> {
    if below > MAX_BELOW {
        let allowed = Allowed::AtMost(MAX_BELOW);
        return Err(Error::Parameter { name: "the bound of the starts", value: below, allowed });
    }
    Ok(())
}

/// The known records of a kind, ascending, from the lists that `data/README.md` names.
pub fn known(kind: Kind) -> Vec<Record> {
    let text = match kind {
        Kind::Delay => include_str!("../../data/delay_records.csv"),
        Kind::Path => include_str!("../../data/path_records.csv"),
    };
    // Comments and the header parse as no numbers.
    text.lines()
        .filter_map(|line| line.split_once(','))
        .filter_map(|(start, figure)| Some(Record { start: start.parse().ok()?, figure: figure.parse().ok()? }))
        .collect()
}
