//! Several devices of any kinds: the chunks of a stage are dealt to them.
//!
//! A device has several workers: while one waits for its kernels, others bring the next lanes to the device or read the last ones.
//! A device that fails is not used any more, and others compute its chunks again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;
use warpmp_device::Device;

use super::kind::Kind;
use super::stages::{End, Task};
use super::{Gpu, PRODUCTS_PER_SECOND};
use crate::error::{Error, Result};
use crate::factor::Bounds;
use crate::factor::exponent::Exponent;
use crate::factor::lane::{Lane, Line};
use crate::factor::meter::Meter;
use crate::factor::pairing::Pairing;
use crate::factor::places::{in_order, places_by};

/// Workers of a device: the host's work on two chunks goes on beside the kernels of a third one.
pub(super) const WORKERS: usize = 3;
/// Chunks that run together, if they take little time; if they take long, each worker has one.
const MOST_CHUNKS: f64 = 8.0;
/// The products of lanes that run together take so long, as far as the number of chunks allows it.
const BUSY_SECONDS: f64 = 0.05;
/// Steps of a lane's progress.
const STEPS: u64 = 1 << 16;

/// A device that failed.
#[derive(Clone, Debug)]
pub struct LostDevice {
    /// Its name.
    pub device: String,
    /// The reason.
    pub error: String,
}

/// What is called at once with each device that fails.
pub(in crate::factor) type Tell = Box<dyn Fn(&LostDevice) + Send + Sync>;

/// Devices that compute together: one or more.
pub(in crate::factor) struct Cards {
    gpus: Vec<Gpu>,
    lost: Mutex<BTreeMap<usize, LostDevice>>,
    tell: Tell,
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cards").field("gpus", &self.gpus).field("lost", &self.lost).finish_non_exhaustive()
    }
}

/// Lanes that are together on a device.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) kind: Kind,
    pub(super) places: Vec<usize>,
}

impl Places {
    /// What this chunk weighs.
    fn weight(&self) -> u64 {
        self.places.len() as u64 * self.kind.weight()
    }
}

/// The lanes of a chunk on each device that is to compute `count` lanes together with the others, where each device has room for so many.
/// In each round every device has a chunk, so none waits for the others; a chunk has whole warps.
fn lengths(count: usize, room: &[usize]) -> Vec<usize> {
    let all: usize = room.iter().sum();
    let rounds = count.div_ceil(all.max(1)).max(1);
    let length = |room: &usize| (count * room).div_ceil(rounds * all).next_multiple_of(32).min(*room);
    room.iter().map(length).collect()
}

impl Cards {
    pub(in crate::factor) fn new(devices: Vec<Arc<dyn Device>>, tell: Tell) -> Self {
        Self { gpus: devices.into_iter().map(Gpu::new).collect(), lost: Mutex::default(), tell }
    }

    pub(in crate::factor) fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.gpus.iter().map(Gpu::device)
    }

    /// The devices that failed.
    pub(in crate::factor) fn lost(&self) -> Vec<LostDevice> {
        locked(&self.lost).values().cloned().collect()
    }

    /// The devices that did not fail.
    fn usable(&self) -> Vec<(usize, &Gpu)> {
        let lost = locked(&self.lost);
        self.gpus.iter().enumerate().filter(|(number, _)| !lost.contains_key(number)).collect()
    }

    fn is_usable(&self, number: usize) -> bool {
        !locked(&self.lost).contains_key(&number)
    }

    /// Notes that a device failed, and tells it at once; false if no other one is left.
    fn lose(&self, number: usize, error: &Error) -> bool {
        let mut lost = locked(&self.lost);
        if lost.contains_key(&number) {
            return true;
        }
        if lost.len() + 1 == self.gpus.len() {
            return false;
        }
        let device = LostDevice { device: self.gpus[number].device().info().to_string(), error: error.to_string() };
        lost.insert(number, device.clone());
        drop(lost);
        (self.tell)(&device);
        true
    }

    /// Is there no GPU among them?
    pub(in crate::factor) fn are_simulators(&self) -> bool {
        self.gpus.iter().all(Gpu::is_simulator)
    }

    /// The attempts on a line modulo integers of so many bits that fill the devices, and keep them busy for a while.
    pub(in crate::factor) fn lanes(&self, line: Line, bits: u64, bounds: Bounds) -> usize {
        let class = Kind::of_new(bits, line).class;
        // Products for each number up to B1: 1.44 bits of the exponent.
        let first = match line {
            Line::Curve => 12.0,
            Line::Lucas => 2.6,
            Line::Power => 2.0,
        };
        let products = first * bounds.b1() as f64 + (bounds.b2() - bounds.b1()) as f64 / 8.0;
        let cost = products * class.product();
        let lanes = |gpu: &Gpu| {
            let lanes = gpu.filling(class, cost);
            let chunks = BUSY_SECONDS * PRODUCTS_PER_SECOND / (cost * lanes as f64);
            lanes * if gpu.is_simulator() { 1 } else { chunks.clamp(WORKERS as f64, MOST_CHUNKS) as usize }
        };
        self.usable().into_iter().map(|(_, gpu)| lanes(gpu)).sum()
    }

    /// Both stages of lanes on a line; only the first one if the pairing has no sections.
    pub(in crate::factor) fn run(
        &self,
        line: Line,
        lanes: &[&Lane<'_>],
        exponent: &Exponent,
        pairing: &Pairing,
        meter: &Meter<'_>,
    ) -> Result<Vec<End>> {
        let kinds: Vec<Kind> = lanes.par_iter().map(|lane| Kind::of(lane, line)).collect();
        let total = kinds.par_iter().map(Kind::weight).sum::<u64>() * STEPS;
        let task = Task::new(line, exponent, pairing);
        let work = |gpu: &Gpu, places: &Places| {
            meter.check()?;
            let before = Cell::new(0);
            gpu.run(&task, lanes, places, meter, &|share| {
                let done = (share * STEPS as f64) as u64;
                meter.step(places.weight() * (done - before.replace(done)), total);
                meter.check()
            })
        };
        self.deal(&kinds, &task, &work)
    }

    /// Does lanes of these kinds on all devices: the results in the order of the lanes.
    fn deal<T: Send>(
        &self,
        kinds: &[Kind],
        task: &Task<'_>,
        work: &(dyn Fn(&Gpu, &Places) -> Result<Vec<T>> + Sync),
    ) -> Result<Vec<T>> {
        let waiting = Waiting(Mutex::new(places_by(kinds)));
        let done: Mutex<Vec<(Vec<usize>, Vec<T>)>> = Mutex::default();
        let failure: Mutex<Option<Error>> = Mutex::default();
        let failed = |number: usize, error: Error| match &error {
            Error::Engine(_) if self.lose(number, &error) => {}
            _ => drop(locked(&failure).get_or_insert(error)),
        };
        let worker = |card: &Ready<'_>| {
            while locked(&failure).is_none() && self.is_usable(card.number) {
                let Some(places) = waiting.take(&card.lengths) else { return };
                match work(card.gpu, &places) {
                    Ok(results) => locked(&done).push((places.places, results)),
                    Err(error) => {
                        waiting.put_back(places);
                        return failed(card.number, error);
                    }
                }
            }
        };
        loop {
            let counts = waiting.counts();
            if counts.is_empty() || locked(&failure).is_some() {
                break;
            }
            // The lanes of each kind that a device has room for, as long as no chunk is on it.
            let prepare = |(number, gpu): (usize, &'_ Gpu)| {
                let room = gpu.prepare(counts.keys(), task.jobs()).and_then(|()| {
                    counts
                        .keys()
                        .map(|kind| gpu.most(kind.class, task.slots(), task.products * kind.class.product()))
                        .collect::<Result<Vec<usize>>>()
                });
                room.map_err(|error| failed(number, error)).ok().map(|room| (number, room))
            };
            let rooms: Vec<(usize, Vec<usize>)> = self.usable().into_par_iter().filter_map(prepare).collect();
            let mut ready: Vec<Ready<'_>> = rooms
                .iter()
                .map(|(number, _)| Ready { number: *number, gpu: &self.gpus[*number], lengths: BTreeMap::new() })
                .collect();
            let mut chunks = 0;
            for (place, (kind, count)) in counts.iter().enumerate() {
                let room: Vec<usize> = rooms.iter().map(|(_, room)| room[place]).collect();
                let lengths = lengths(*count, &room);
                chunks += lengths.iter().max().map_or(0, |longest| count.div_ceil(*longest));
                for (card, length) in ready.iter_mut().zip(lengths) {
                    card.lengths.insert(*kind, length);
                }
            }
            let workers = if chunks > ready.len() { WORKERS } else { 1 };
            thread::scope(|scope| {
                let mut all = ready.iter().flat_map(|card| [card].repeat(workers));
                // The first worker is this thread.
                let own = all.next();
                for card in all {
                    scope.spawn(move || worker(card));
                }
                own.map(worker);
            });
        }
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(places, _)| places.first().copied());
        Ok(in_order(done))
    }
}

/// A device that has its kernels, and the lanes of a chunk of each kind.
struct Ready<'g> {
    number: usize,
    gpu: &'g Gpu,
    lengths: BTreeMap<Kind, usize>,
}

/// The lanes of each kind that no device has taken. There is no kind without lanes.
struct Waiting(Mutex<BTreeMap<Kind, Vec<usize>>>);

impl Waiting {
    fn counts(&self) -> BTreeMap<Kind, usize> {
        locked(&self.0).iter().map(|(kind, places)| (*kind, places.len())).collect()
    }

    /// The next chunk for a device with these lengths.
    fn take(&self, lengths: &BTreeMap<Kind, usize>) -> Option<Places> {
        let mut waiting = locked(&self.0);
        let mut first = waiting.first_entry()?;
        let (kind, places) = (*first.key(), first.get_mut());
        let length = lengths.get(&kind).copied().unwrap_or(32);
        let taken = places.split_off(places.len().saturating_sub(length));
        if places.is_empty() {
            first.remove();
        }
        Some(Places { kind, places: taken })
    }

    /// Lanes that a device has not done.
    fn put_back(&self, Places { kind, places }: Places) {
        let mut waiting = locked(&self.0);
        let all = waiting.entry(kind).or_default();
        all.extend(places);
        all.sort_unstable();
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::lengths;

    /// A device with little room has short chunks, and the others keep their length.
    #[test]
    fn each_device_has_chunks_of_its_own_length() {
        assert_eq!(lengths(1000, &[4096]), [1024]);
        assert_eq!(lengths(10_000, &[4096]), [3360]);
        assert_eq!(lengths(10_000, &[4096, 4096]), [2528, 2528]);
        assert_eq!(lengths(20_000, &[8192, 32]), [6656, 32]);
        assert_eq!(lengths(1, &[4096, 32, 64]), [32, 32, 32]);
        assert_eq!(lengths(0, &[32]), [0]);
        for count in [1, 33, 1000, 99_999] {
            for room in [&[64_usize][..], &[32, 96], &[4096, 32, 8192]] {
                let lengths = lengths(count, room);
                let each = lengths.iter().zip(room).all(|(length, room)| length <= room && length.is_multiple_of(32));
                // In so many rounds all lanes are done.
                let rounds = count.div_ceil(room.iter().sum());
                assert!(each && lengths.iter().sum::<usize>() * rounds >= count, "{count}: {lengths:?}");
            }
        }
    }
}
