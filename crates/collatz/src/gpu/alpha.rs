//! The published checksum of work units on a device.

use std::sync::Arc;

use dashu_int::UBig;
use rayon::prelude::*;
use warpmp_device::{Buffer, Device, Module, Stream};
use warpmp_launch::Arguments as _;

use super::{leaves::upload, report::Report, tables};
use crate::{
    alpha::{MODULI, Plan, Sieve},
    engine::{Control, Outcome},
    error::{Allowed, Error, Result},
    heights::{Heights, Peak},
    kernels::alpha::{Alpha, Arguments, RESULT_WORDS, THREADS, UNIT_BITS},
    number::descend,
    window::Window,
};

/// Places of a residue's starts are computed exactly below 2 to this.
const PLACE_BITS: u32 = 24;

/// Units of fewer bits are not worth a launch.
const LEAST_UNIT_BITS: u32 = 8;
/// Overflowed starts that there is room for at first.
const REPORT_CAPACITY: u32 = 1 << 16;
/// Blocks on a multiprocessor, and how often one is replaced by another.
const BLOCKS: u32 = 6;

/// The result of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Starts that the sieve and the modulus leave.
    pub tested: u64,
    /// The sum of all α.
    pub checksum: u64,
    /// The highest value, an even one that is halved next in the iteration's words, and the least start that has it.
    pub highest: UBig,
    /// That start, less the unit's first number.
    pub offset: u64,
    /// Starts whose values exceed 128 bits, finished on the host.
    pub overflowed: u64,
}

/// A sieve on a device, and the kernel for it.
#[derive(Debug)]
pub struct Units {
    device: Arc<dyn Device>,
    spec: Alpha,
    stream: Stream,
    /// Of whole units, and of ranges.
    modules: [Arc<Module>; 2],
    residues: Buffer,
    count: u32,
    places: Buffer,
    powers: Buffer,
    sums: Buffer,
    results: Buffer,
    blocks: u32,
    report: Report,
}

impl Units {
    /// Units of 2^40 numbers under a sieve of at least 16 bits.
    ///
    /// # Errors
    /// As [`Units::new`].
    pub fn of(device: &Arc<dyn Device>, sieve: &Sieve) -> Result<Self> {
        let plan = sieve.plan();
        Self::new(device, (plan.sieve_bits, UNIT_BITS), plan.modulus, sieve.residues())
    }

    /// Units of 2^`unit_bits` numbers (published: 40) for the residues modulo 2^`sieve_bits` that a sieve leaves, all odd; `modulus`: 1, 3
    /// or 9.
    ///
    /// # Errors
    /// [`Error::Parameter`]; the device's.
    pub fn new(
        device: &Arc<dyn Device>,
        (sieve_bits, unit_bits): (u32, u32),
        modulus: u32,
        residues: &[u64],
    ) -> Result<Self> {
        Error::parameter("unit bits", unit_bits.into(), LEAST_UNIT_BITS.into(), UNIT_BITS.into())?;
        let least = unit_bits.saturating_sub(PLACE_BITS);
        Error::parameter("sieve bits", sieve_bits.into(), least.into(), unit_bits.into())?;
        let kept = match modulus {
            1 => 9,
            3 => 6,
            9 => 5,
            _ => return Err(Error::Parameter { name: "sieve modulus", value: modulus.into(), allowed: MODULI }),
        };
        let spec = Alpha { sieve_bits, unit_bits, kept, ranged: false };
        let module = |ranged| device.load(&Alpha { ranged, ..spec }.build());
        let stream = device.stream()?;
        let needed = residues.len().div_ceil(THREADS as usize / 32).max(1);
        let blocks = (device.info().multiprocessors * BLOCKS).min(needed as u32);
        Ok(Self {
            modules: [module(false)?, module(true)?],
            residues: upload(&**device, &stream, &tables::words(residues.iter().copied()))?,
            count: residues.len() as u32,
            places: upload(&**device, &stream, &spec.starts().places())?,
            powers: upload(&**device, &stream, &tables::powers())?,
            sums: device.alloc(16)?,
            results: device.alloc(4 * u64::from(RESULT_WORDS * THREADS * blocks))?,
            blocks,
            report: Report::new(&**device, REPORT_CAPACITY)?,
            device: device.clone(),
            spec,
            stream,
        })
    }

    /// The checksum of unit `unit`; of a range, from the first offset to below the second.
    ///
    /// # Errors
    /// [`Error::Parameter`] for the whole of unit 0, whose first starts no sieve is for, and past 2¹²⁷; [`Error::NoDescent`]; the device's.
    pub fn run(&mut self, unit: u128, range: Option<[u64; 2]>) -> Result<Unit> {
        let device = &*self.device;
        let last = (1_u128 << (127 - self.spec.unit_bits)) - 1;
        if unit == 0 && range.is_none() || unit > last {
            return Err(Error::Parameter { name: "unit", value: unit, allowed: Allowed::Between(1, last) });
        }
        let base = unit << self.spec.unit_bits;
        let module = &self.modules[usize::from(range.is_some())];
        let starts = self.report.collect(device, &self.stream, Some(&self.sums), |report| {
            let arguments = Arguments {
                residues: (&self.residues).into(),
                count: self.count,
                base: [base as u64, (base >> 64) as u64],
                nine: (base % 9) as u32,
                places: (&self.places).into(),
                powers: (&self.powers).into(),
                sums: (&self.sums).into(),
                results: (&self.results).into(),
                report: report.arguments(),
                range,
            };
            arguments.launch(device, &self.stream, module, Alpha::grid(self.blocks))
        })?;
        let mut sums = [0; 4];
        device.download(&self.stream, &self.sums, 0, &mut sums)?;
        let pair = |at: usize| u64::from(sums[at]) | u64::from(sums[at + 1]) << 32;
        let mut words = vec![0; self.results.words()];
        device.download(&self.stream, &self.results, 0, &mut words)?;
        let number = |words: &[u32]| words.iter().rev().fold(0_u128, |n, &word| n << 32 | u128::from(word));
        // The kernel's value of a reported start is below its true highest value.
        let results = words.chunks(RESULT_WORDS as usize).map(|w| (UBig::from(number(&w[..4])), number(&w[4..])));
        // Each α is the length of an odd run.
        let finish = |&start: &u128| descend(start).map(|it| (it.odd_steps, it.highest.to_ubig(), start));
        let finished: Vec<(u64, UBig, u128)> = starts.par_iter().map(finish).collect::<Result<_>>()?;
        let checksum = finished.iter().fold(pair(0), |a, (b, ..)| a.wrapping_add(*b));
        let all = results.chain(finished.iter().map(|(_, highest, start)| (highest.clone(), *start)));
        let best = all.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let (highest, start) = best.unwrap_or((UBig::ZERO, base));
        let overflowed = finished.len() as u64;
        let offset = start.saturating_sub(base) as u64;
        Ok(Unit { tested: pair(2), checksum, highest, offset, overflowed })
    }
}

/// A sieve, and the largest units that were asked for last.
#[derive(Debug)]
pub(super) struct Prepared {
    sieve: Arc<Sieve>,
    units: Option<Units>,
}

impl Prepared {
    pub(super) fn new(plan: Plan) -> Result<Self> {
        let sieve = Sieve::shared(&plan)?;
        Ok(Self { sieve, units: None })
    }

    pub(super) fn plan(&self) -> &Plan {
        self.sieve.plan()
    }

    /// Tests the window's starts, in the largest units that suit the sieve and fit into the window. The figures are those of
    /// [`crate::alpha::run`].
    pub(super) fn run(&mut self, device: &Arc<dyn Device>, window: &Window, control: &Control) -> Result<Outcome> {
        let plan = *self.sieve.plan();
        let least = plan.sieve_bits.max(LEAST_UNIT_BITS);
        let most = UNIT_BITS.min(plan.sieve_bits + PLACE_BITS);
        let unit_bits = (least..=most).rev().find(|&bits| !window.units(bits).units.is_empty()).unwrap_or(least);
        let present = self.units.take().filter(|units| units.spec.unit_bits == unit_bits);
        let units = if let Some(units) = present {
            self.units.insert(units)
        } else {
            let bits = (plan.sieve_bits, unit_bits);
            self.units.insert(Units::new(device, bits, plan.modulus, self.sieve.residues())?)
        };
        let (first, last) = (window.from() >> unit_bits, (window.end() - 1) >> unit_bits);
        let mut sum = Outcome::none();
        for unit in first..=last {
            control.check()?;
            let base = unit << unit_bits;
            let offset = |bound: u128| bound.saturating_sub(base).min(1 << unit_bits) as u64;
            let range = [offset(window.from()), offset(window.end())];
            let whole = range == [0, 1 << unit_bits];
            let done = units.run(unit, (!whole).then_some(range))?;
            let peak = (done.tested > 0).then(|| Peak { start: base + u128::from(done.offset), value: done.highest });
            sum.add(&Outcome {
                tested: done.tested,
                overflowed: done.overflowed,
                finished: done.overflowed,
                checksum: done.checksum,
                plain: 0,
                heights: Heights::of(peak, UBig::ZERO),
            });
            control.advance(1, (last - first) as u64 + 1);
        }
        Ok(sum)
    }
}
