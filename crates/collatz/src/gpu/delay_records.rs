//! The search for delay records on devices.

use std::{ops::Range, sync::Arc};

use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::Arguments as _;

use super::{
    deal::{Search, deal},
    leaves::upload,
    report::Report,
    tables,
};
use crate::{
    dfs::Walk,
    engine::Control,
    error::{Error, Result},
    kernels::delay_records::{Arguments, DelayRecords as Kernel, NEED_WORDS, THREADS},
    number::trace,
    records::{DelayRecords as Found, Record, bounded},
};

/// Starts beyond the bound that there is room for at first.
const REPORT_CAPACITY: u32 = 1 << 16;
/// Starts below this power of two are too small for the sieve's proof.
const LEAST_BITS: u32 = 22;
/// Blocks on a multiprocessor.
const BLOCKS: u32 = 8;

/// The settings for large GPUs: windows of 2^40 numbers.
pub const SETTINGS: Kernel = Kernel { base_bits: 12, known_bits: 21, sieve_bits: 20, window_bits: 40 };

/// The ladder for large GPUs, from small starts on: 256 windows of a size, then larger ones.
pub const LADDER: [Kernel; 3] =
    [Kernel { window_bits: 24, ..SETTINGS }, Kernel { window_bits: 32, ..SETTINGS }, SETTINGS];

/// All delay records below `below`, ascending. The `ladder` has kernels with ascending windows: each serves from the second of its
/// windows on, or from 2²² if that is more. The CPU searches the starts below.
///
/// # Errors
/// [`Error::Parameter`] above 2⁶⁴ and for an empty ladder; [`Error::Stopped`]; [`Error::NoDescent`]; the devices'.
pub fn search(devices: &[Arc<dyn Device>], ladder: &[Kernel], below: u128, control: &Control) -> Result<Vec<Record>> {
    bounded(below)?;
    Error::parameter("kernels of the ladder", ladder.len() as u64, 1, u64::MAX)?;
    let from = below.min(begin(&ladder[0]));
    let mut records = Found::new(below);
    records.search(from, control)?;
    search_on(devices, ladder, from..below, records, control)
}

/// Where a kernel's windows are used from on.
fn begin(kernel: &Kernel) -> u128 {
    1 << kernel.window_bits.max(LEAST_BITS)
}

/// Goes on with a search: `records` are all delay records below the range.
///
/// # Errors
/// As [`search`]; [`Error::Parameter`] below 2²².
pub fn go_on(
    devices: &[Arc<dyn Device>],
    ladder: &[Kernel],
    range: Range<u128>,
    records: &[Record],
    control: &Control,
) -> Result<Vec<Record>> {
    bounded(range.end)?;
    let low = 1 << LEAST_BITS;
    Error::parameter("first start", u64::try_from(range.start).unwrap_or(u64::MAX), low, u64::MAX)?;
    let mut known = Found::new(range.end);
    for record in records {
        // No delay of a number below 2^64 has more than 32 bits.
        known.take(record.start, u32::try_from(&record.figure).unwrap_or(u32::MAX));
    }
    search_on(devices, ladder, range, known, control)
}

fn search_on(
    devices: &[Arc<dyn Device>],
    ladder: &[Kernel],
    Range { start: from, end: below }: Range<u128>,
    records: Found,
    control: &Control,
) -> Result<Vec<Record>> {
    let mut search = DelaySearch { records, from, below, bits: 0, end: from };
    for (number, kernel) in ladder.iter().enumerate() {
        let end = ladder.get(number + 1).map_or(below, |next| below.min(begin(next)));
        if search.end >= end {
            continue;
        }
        let bits = kernel.window_bits;
        search.bits = bits;
        search.records.doubles(search.end);
        let work = |device: &mut DelayRecords, window: u128, known: &Known| {
            let found = device.longer(window as u64, &known.records, known.below);
            control.advance(1 << bits, u64::try_from(below).unwrap_or(u64::MAX));
            found
        };
        let make = |device: &Arc<dyn Device>| DelayRecords::new(device, *kernel);
        deal(devices, search.end >> bits..end.div_ceil(1 << bits), &mut search, control, make, work)?;
    }
    Ok(search.records.finish())
}

/// Records so far.
struct DelaySearch {
    records: Found,
    from: u128,
    below: u128,
    /// Bits of the windows.
    bits: u32,
    /// All starts below this were looked at.
    end: u128,
}

/// All records below a bound.
struct Known {
    records: Vec<(u64, u32)>,
    below: u128,
}

impl Search for DelaySearch {
    type Known = Known;
    type Found = Vec<(u64, u32)>;

    fn known(&self) -> Known {
        Known { records: self.records.pairs(), below: self.end }
    }

    fn take(&mut self, window: u128, found: Vec<(u64, u32)>) -> Result<()> {
        for (start, delay) in found {
            if (self.from..self.below).contains(&start.into()) {
                self.records.take(start.into(), delay);
            }
        }
        self.end = (window + 1) << self.bits;
        self.records.doubles(self.end);
        Ok(())
    }
}

/// The sieve and the tables for delay records on a device.
#[derive(Debug)]
pub struct DelayRecords {
    device: Arc<dyn Device>,
    spec: Kernel,
    stream: Stream,
    module: Arc<Module>,
    residues: Buffer,
    count: u32,
    places: Buffer,
    known: Buffer,
    report: Report,
}

impl DelayRecords {
    /// Makes the sieve and the tables.
    ///
    /// # Errors
    /// [`Error::Parameter`], the device's.
    pub fn new(device: &Arc<dyn Device>, spec: Kernel) -> Result<Self> {
        Error::parameter("sieve bits", spec.sieve_bits.into(), 2, 20)?;
        let least = u64::from(spec.sieve_bits);
        Error::parameter("window bits", spec.window_bits.into(), least, least + 24)?;
        Error::parameter("base bits", spec.base_bits.into(), 4, 14)?;
        Error::parameter("bits of table A", spec.known_bits.into(), spec.base_bits.into(), 28)?;
        let stream = device.stream()?;
        let rows = residues(spec.sieve_bits);
        Ok(Self {
            module: device.load(&spec.build())?,
            residues: upload(&**device, &stream, &rows.concat())?,
            count: rows.len() as u32,
            places: upload(&**device, &stream, &spec.starts().places())?,
            known: upload(&**device, &stream, &tables::known_delays(spec.known_bits)?)?,
            report: Report::new(&**device, REPORT_CAPACITY)?,
            device: device.clone(),
            spec,
            stream,
        })
    }

    /// Residues of the sieve.
    pub fn residues(&self) -> u32 {
        self.count
    }

    /// The starts of window `window` that may be records, being longer than all of `records`: ascending, with their delays. `records`
    /// are all delay records below `below`, ascending, which is not past the window's first start; twice a record is not looked at.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a window below 2^22, where the sieve's proof does not hold, or past 2^64; the device's.
    pub fn longer(&mut self, window: u64, records: &[(u64, u32)], below: u128) -> Result<Vec<(u64, u32)>> {
        let bits = self.spec.window_bits;
        let least = 1_u64.checked_shl(LEAST_BITS.saturating_sub(bits)).unwrap_or(1);
        Error::parameter("window", window, least, u64::MAX.checked_shr(bits).unwrap_or(0))?;
        let device = &*self.device;
        let base = window << bits;
        let longest = records.last().map_or(0, |&(_, delay)| delay);
        let mut words = tables::delay_jumps(self.spec.base_bits, 0);
        words.extend(needs(below.min(base.into()), records));
        let tables = upload(device, &self.stream, &words)?;
        let blocks = (device.info().multiprocessors * BLOCKS).min(self.count.div_ceil(THREADS / 32));
        let (stream, grid) = (&self.stream, self.spec.grid(blocks));
        let reported = self.report.collect(device, stream, None, |report| {
            let arguments = Arguments {
                residues: (&self.residues).into(),
                count: self.count,
                base,
                nine: (base % 9) as u32,
                places: (&self.places).into(),
                tables: (&tables).into(),
                known: (&self.known).into(),
                longest,
                report: report.arguments(),
            };
            arguments.launch(device, stream, &self.module, grid)
        })?;
        let mut found: Vec<(u64, u32)> = reported
            .par_iter()
            .map(|&record| match (record as u64, (record >> 64) as u32) {
                (start, 0) => Ok((start, trace(start.into(), |_| true)?.delay() as u32)),
                done => Ok(done),
            })
            .collect::<Result<_>>()?;
        found.retain(|&(_, delay)| delay > longest);
        found.sort_unstable();
        Ok(found)
    }
}

/// By the number l of a value's highest bit: the steps without which nothing below 2^(l+1) leads to a delay above all records'.
fn needs(known: u128, records: &[(u64, u32)]) -> Vec<u32> {
    let longest = records.last().map_or(0, |&(_, delay)| delay);
    let need = |bit: u32| {
        let bound = 1_u128.checked_shl(bit + 1).filter(|&bound| bound <= known)?;
        let below = records.iter().rev().find(|&&(start, _)| u128::from(start) < bound)?;
        Some(longest + 1 - below.1)
    };
    (0..NEED_WORDS).map(|bit| need(bit).unwrap_or(0)).collect()
}

/// The odd residues that are the smallest with their odd steps and value, as the kernel has them.
fn residues(bits: u32) -> Vec<[u32; 4]> {
    let mut all: Vec<(u32, u64, u64)> = (0..1_u64 << bits)
        .map(|residue| {
            let Walk { odd, value, .. } = Walk::of(residue, bits);
            (odd, value, residue)
        })
        .collect();
    all.par_sort_unstable();
    all.dedup_by_key(|entry| (entry.0, entry.1));
    all.retain(|entry| entry.2 % 2 == 1);
    all.sort_unstable_by_key(|entry| entry.2);
    all.into_iter().map(|(odd, value, residue)| [residue as u32, value as u32, 3_u32.pow(odd), bits + odd]).collect()
}
