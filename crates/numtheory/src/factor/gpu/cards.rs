//! Several devices of any kinds: the chunks of a stage are dealt to them.
//!
//! A device has several workers: while one waits for its kernels, another one brings the next lanes to the device or reads the last ones.
//! A device that fails is not used any more, and others compute its chunks again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::Device;

use super::Gpu;
use super::kernels::Job;
use super::kind::Kind;
use super::second::Slots;
use crate::error::{Error, Result};
use crate::factor::exponent::Exponent;
use crate::factor::lane::Lane;
use crate::factor::meter::Meter;
use crate::factor::pairing::Pairing;
use crate::factor::places::{in_order, places_by};
use crate::factor::{Bounds, Verdict};

/// Workers of a device.
pub(super) const WORKERS: usize = 2;
/// Wide products that a device makes in a second, about. It only decides how many lanes run together.
const PRODUCTS_PER_SECOND: f64 = 1e13;
/// Lanes that run together keep a device busy for so long, if they need no more than [`MOST_CHUNKS`].
const BUSY_SECONDS: f64 = 0.1;
const MOST_CHUNKS: f64 = 8.0;

/// A device that failed.
#[derive(Clone, Debug)]
pub struct LostDevice {
    /// Its name.
    pub device: String,
    /// The reason.
    pub error: String,
}

/// Devices that compute together: one or more.
#[derive(Debug)]
pub(in crate::factor) struct Cards {
    cards: Vec<Gpu>,
    lost: Mutex<BTreeMap<usize, LostDevice>>,
}

/// Lanes that are together on a device.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) kind: Kind,
    pub(super) places: Vec<usize>,
}

impl Places {
    /// What a step of this chunk weighs: lanes times the square of their limbs.
    fn weight(&self) -> u64 {
        self.places.len() as u64 * u64::from(self.kind.class.limbs).pow(2)
    }
}

impl Cards {
    pub(in crate::factor) fn new(devices: Vec<Arc<dyn Device>>) -> Self {
        Self { cards: devices.into_iter().map(Gpu::new).collect(), lost: Mutex::default() }
    }

    pub(in crate::factor) fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.cards.iter().map(Gpu::device)
    }

    /// The devices that failed.
    pub(in crate::factor) fn lost(&self) -> Vec<LostDevice> {
        locked(&self.lost).values().cloned().collect()
    }

    /// The devices that did not fail.
    fn usable(&self) -> Vec<(usize, &Gpu)> {
        let lost = locked(&self.lost);
        self.cards.iter().enumerate().filter(|(number, _)| !lost.contains_key(number)).collect()
    }

    /// Notes that a device failed; false if no other one is left.
    fn lose(&self, number: usize, error: &Error) -> bool {
        let mut lost = locked(&self.lost);
        if lost.contains_key(&number) {
            return true;
        }
        if lost.len() + 1 == self.cards.len() {
            return false;
        }
        let device = self.cards[number].device().info().to_string();
        lost.insert(number, LostDevice { device, error: error.to_string() });
        true
    }

    /// The curves modulo integers of so many bits that fill the devices, and keep them busy for a while.
    pub(in crate::factor) fn lanes(&self, bits: u64, bounds: Bounds) -> usize {
        let class = Kind::of_word(bits).class;
        let products = 12.0 * bounds.b1() as f64 + (bounds.b2() - bounds.b1()) as f64 / 8.0;
        let products = products * 2.0 * f64::from(class.limbs).powi(2);
        let lanes = |gpu: &Gpu| {
            let lanes = gpu.filling(class);
            let chunks = BUSY_SECONDS * PRODUCTS_PER_SECOND / (products * lanes as f64);
            lanes * if gpu.is_simulator() { 1 } else { chunks.clamp(1.0, MOST_CHUNKS) as usize }
        };
        self.usable().into_iter().map(|(_, gpu)| lanes(gpu)).sum()
    }

    /// The first stage of curves.
    pub(in crate::factor) fn first_stage(
        &self,
        lanes: &[&Lane<'_>],
        exponent: &Exponent,
        meter: &Meter<'_>,
    ) -> Result<Vec<Verdict>> {
        let (words, bits) = (exponent.words(), exponent.bits() as u32);
        let chunks = self.chunks(lanes, true, 0)?;
        let total = chunks.iter().map(|chunk| chunk.weight() * u64::from(bits)).sum();
        let work = |gpu: &Gpu, places: &Places| {
            meter.check()?;
            gpu.first_stage(lanes, places, (&words, bits), &|bits| {
                meter.step(places.weight() * u64::from(bits), total);
                meter.check()
            })
        };
        self.deal(chunks, Job::FIRST, &work)
    }

    /// The second stage of curves: a divisor of each modulus, none if it is 1. The lanes start at the residues of the first stage.
    pub(in crate::factor) fn second_stage(
        &self,
        lanes: &[&Lane<'_>],
        pairing: &Pairing,
        meter: &Meter<'_>,
    ) -> Result<Vec<Option<BigUint>>> {
        let chunks = self.chunks(lanes, false, Slots::of(pairing).all())?;
        let total = chunks.iter().map(|chunk| chunk.weight() * pairing.sections()).sum();
        let work = |gpu: &Gpu, places: &Places| {
            meter.check()?;
            gpu.second_stage(lanes, places, pairing, meter, &|| {
                meter.step(places.weight(), total);
                meter.check()
            })
        };
        self.deal(chunks, Job::SECOND, &work)
    }

    /// The chunks of all lanes: of one kind each, and so many that each device has some.
    fn chunks(&self, lanes: &[&Lane<'_>], first: bool, slots: u32) -> Result<Vec<Places>> {
        let kinds: Vec<Kind> = lanes.par_iter().map(|lane| Kind::of(lane, first)).collect();
        let cards = self.usable();
        let mut chunks = Vec::new();
        for (kind, places) in places_by(&kinds) {
            let each = cards.iter().map(|(_, gpu)| gpu.most(kind.class, slots));
            let most = each.collect::<Result<Vec<usize>>>()?.into_iter().min().unwrap_or(1);
            // Chunks of equal length: none is nearly empty. A warp is not divided.
            let count = places.len().div_ceil(most).next_multiple_of(cards.len().max(1));
            let each = places.len().div_ceil(count).next_multiple_of(32).min(most);
            chunks.extend(places.chunks(each).map(|places| Places { kind, places: places.to_vec() }));
        }
        Ok(chunks)
    }

    /// Does the chunks on all devices: the results in the order of the lanes.
    fn deal<T: Send>(
        &self,
        chunks: Vec<Places>,
        jobs: &[Job],
        work: &(dyn Fn(&Gpu, &Places) -> Result<Vec<T>> + Sync),
    ) -> Result<Vec<T>> {
        let waiting: Mutex<Vec<usize>> = Mutex::new((0..chunks.len()).rev().collect());
        let done: Mutex<Vec<Option<Vec<T>>>> = Mutex::new(chunks.iter().map(|_| None).collect());
        let failure: Mutex<Option<Error>> = Mutex::default();
        let failed = |number: usize, error: Error| match &error {
            Error::Engine(_) if self.lose(number, &error) => {}
            _ => drop(locked(&failure).get_or_insert(error)),
        };
        let worker = |number: usize, gpu: &Gpu| {
            while locked(&failure).is_none() {
                let next = locked(&waiting).pop();
                let Some(chunk) = next else { return };
                match work(gpu, &chunks[chunk]) {
                    Ok(results) => locked(&done)[chunk] = Some(results),
                    Err(error) => {
                        locked(&waiting).push(chunk);
                        return failed(number, error);
                    }
                }
            }
        };
        while locked(&failure).is_none() && !locked(&waiting).is_empty() {
            let cards = self.usable();
            let kinds: Vec<Kind> = chunks.iter().map(|chunk| chunk.kind).collect();
            let prepare = |(number, gpu): &(usize, &Gpu)| {
                gpu.prepare(&kinds, jobs).map_err(|error| failed(*number, error)).is_ok()
            };
            let ready: Vec<(usize, &Gpu)> = cards.into_par_iter().filter(prepare).collect();
            let workers = if chunks.len() > ready.len() { WORKERS } else { 1 };
            thread::scope(|scope| {
                let all = ready.iter().flat_map(|card| [card].repeat(workers));
                // The first worker is this thread.
                let mut all = all.copied();
                let own = all.next();
                for (number, gpu) in all {
                    scope.spawn(move || worker(number, gpu));
                }
                if let Some((number, gpu)) = own {
                    worker(number, gpu);
                }
            });
        }
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let places = chunks.into_iter().map(|chunk| chunk.places);
        Ok(in_order(places.zip(done.into_iter().flatten()).collect()))
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
