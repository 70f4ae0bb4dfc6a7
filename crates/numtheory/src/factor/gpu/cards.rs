//! Several devices of any kinds: the chunks of a stage are dealt to them.
//!
//! A device has several workers: while one waits for its kernels, others bring the next lanes to the device or read the last ones.
//! A device that fails is not used any more, and others compute its chunks again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;
use warpmp_device::Device;

use super::kernels::Class;
use super::kind::Kind;
use super::lanes::{Places, Run, Source};
use super::stages::{End, Task};
use super::{Gpu, PRODUCTS_PER_SECOND};
use crate::error::{Error, Result};
use crate::factor::exponent::Exponent;
use crate::factor::lane::Line;
use crate::factor::meter::Meter;
use crate::factor::pairing::Pairing;
use crate::factor::{Bounds, Verdict};

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

/// Does a chunk on a device: the ends of lanes that found something.
type Work<'w> = dyn Fn(&Gpu, &mut Places<'_>) -> Result<Vec<(usize, End)>> + Sync + 'w;

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

    /// The same with the form of this number, or with the last form, for all lanes.
    #[cfg(test)]
    pub(in crate::factor) fn with_form(self, number: usize) -> Self {
        Self { gpus: self.gpus.into_iter().map(|gpu| gpu.with_form(number)).collect(), ..self }
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

    /// Both stages of lanes on a line; only the first one if the pairing has no sections. Gives the ends of lanes that found something, their
    /// places rising; of the others it writes the verdict to its place if `verdicts` are wanted.
    pub(in crate::factor) fn run(
        &self,
        line: Line,
        source: Source<'_, '_>,
        exponent: &Exponent,
        pairing: &Pairing,
        meter: &Meter<'_>,
        verdicts: Option<&mut [Verdict]>,
    ) -> Result<Vec<(usize, End)>> {
        let Source { runs, lane } = source;
        let total = runs.iter().map(|(places, kind)| places.len() as u64 * kind.weight()).sum::<u64>() * STEPS;
        let task = Task::new(line, exponent, pairing);
        let work = |gpu: &Gpu, places: &mut Places<'_>| {
            meter.check()?;
            let (before, weight) = (Cell::new(0), places.count() as u64 * places.kind.weight());
            gpu.run(&task, lane, places, meter, &|share| {
                let done = (share * STEPS as f64) as u64;
                meter.step(weight * (done - before.replace(done)), total);
                meter.check()
            })
        };
        self.deal(&Waiting::new(runs, verdicts), &task, &work)
    }

    /// The class of curves of family 3 modulo integers of so many bits, in the form that suits so many of them; none: as many as fill the devices.
    pub(in crate::factor) fn class(&self, bits: u64, curves: Option<usize>) -> Class {
        let class = Kind::of_word(bits).class;
        let usable = self.usable();
        match (usable.first(), curves) {
            (Some((_, gpu)), Some(curves)) => gpu.formed(class, curves.div_ceil(usable.len())),
            _ => class,
        }
    }

    /// The lanes of a launch on the first device, if fewer than its part of so many lanes together.
    pub(in crate::factor) fn launch(&self, class: Class, lanes: usize) -> Option<usize> {
        let usable = self.usable();
        let part = lanes.div_ceil(usable.len().max(1));
        let (_, gpu) = usable.first()?;
        let window = gpu.window(class, u32::try_from(part).ok()?) as usize;
        (window < part).then_some(window)
    }

    /// Does the lanes that wait on all devices.
    fn deal(&self, waiting: &Waiting<'_>, task: &Task<'_>, work: &Work<'_>) -> Result<Vec<(usize, End)>> {
        let done: Mutex<Vec<(usize, End)>> = Mutex::default();
        let failure: Mutex<Option<Error>> = Mutex::default();
        let failed = |number: usize, error: Error| match &error {
            Error::Engine(_) if self.lose(number, &error) => {}
            _ => drop(locked(&failure).get_or_insert(error)),
        };
        let worker = |card: &Ready<'_>| {
            while locked(&failure).is_none() && self.is_usable(card.number) {
                let Some(mut places) = waiting.take(&card.shares) else { return };
                match work(card.gpu, &mut places) {
                    Ok(ends) => locked(&done).extend(ends),
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
            let usable = self.usable();
            // Of each kind the class, in the form that suits this device's part of the lanes, and the lanes that the device has room for, as long as
            // no chunk is on it.
            let prepare = |(number, gpu): (usize, &'_ Gpu)| {
                let formed =
                    |(kind, count): (&Kind, &usize)| (*kind, gpu.formed(kind.class, count.div_ceil(usable.len())));
                let classes: Vec<(Kind, Class)> = counts.iter().map(formed).collect();
                let rooms = gpu.prepare(classes.iter().copied(), task.jobs()).and_then(|()| {
                    let alone = (counts.len() == 1).then(|| counts.values().sum::<usize>().div_ceil(usable.len()));
                    let most = |class: Class| gpu.most(class, task.slots(), task.products * class.product(), alone);
                    classes
                        .iter()
                        .map(|(_, class)| Ok((*class, most(*class)?)))
                        .collect::<Result<Vec<(Class, usize)>>>()
                });
                rooms.map_err(|error| failed(number, error)).ok().map(|rooms| (number, rooms))
            };
            let rooms: Vec<(usize, Vec<(Class, usize)>)> = usable.par_iter().copied().filter_map(prepare).collect();
            let mut ready: Vec<Ready<'_>> = rooms
                .iter()
                .map(|(number, _)| Ready { number: *number, gpu: &self.gpus[*number], shares: BTreeMap::new() })
                .collect();
            let mut chunks = 0;
            for (place, (kind, count)) in counts.iter().enumerate() {
                let room: Vec<usize> = rooms.iter().map(|(_, rooms)| rooms[place].1).collect();
                let lengths = lengths(*count, &room);
                chunks += lengths.iter().max().map_or(0, |longest| count.div_ceil(*longest));
                for ((card, length), (_, rooms)) in ready.iter_mut().zip(lengths).zip(&rooms) {
                    card.shares.insert(*kind, (rooms[place].0, length));
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
        done.par_sort_unstable_by_key(|(place, _)| *place);
        Ok(done)
    }
}

/// A device that has its kernels, and of each kind the class and the lanes of a chunk.
struct Ready<'g> {
    number: usize,
    gpu: &'g Gpu,
    shares: BTreeMap<Kind, (Class, usize)>,
}

/// The lanes of each kind that no device has taken. There is no kind without lanes.
struct Waiting<'v>(Mutex<BTreeMap<Kind, Vec<Run<'v>>>>);

impl<'v> Waiting<'v> {
    /// Runs in their order, with their parts of the verdicts.
    fn new(runs: Vec<(Range<usize>, Kind)>, mut verdicts: Option<&'v mut [Verdict]>) -> Self {
        let mut kinds: BTreeMap<Kind, Vec<Run<'v>>> = BTreeMap::new();
        let mut end = 0;
        for (places, kind) in runs {
            let verdicts = verdicts.as_mut().map(|rest| {
                let (_, after) = mem::take(rest).split_at_mut(places.start - end);
                let (own, after) = after.split_at_mut(places.len());
                *rest = after;
                own
            });
            end = places.end;
            kinds.entry(kind).or_default().push(Run { places, verdicts });
        }
        Self(Mutex::new(kinds))
    }

    fn counts(&self) -> BTreeMap<Kind, usize> {
        locked(&self.0).iter().map(|(kind, runs)| (*kind, runs.iter().map(|run| run.places.len()).sum())).collect()
    }

    /// The next chunk for a device with these classes and lengths.
    fn take(&self, shares: &BTreeMap<Kind, (Class, usize)>) -> Option<Places<'v>> {
        let mut waiting = locked(&self.0);
        let mut first = waiting.first_entry()?;
        let (kind, runs) = (*first.key(), first.get_mut());
        let (class, mut left) = shares.get(&kind).copied().unwrap_or((kind.class, 32));
        let mut taken = Vec::new();
        while left > 0
            && let Some(run) = runs.pop()
        {
            let (rest, last) = run.split(left);
            left -= last.places.len();
            taken.push(last);
            runs.extend(rest);
        }
        if runs.is_empty() {
            first.remove();
        }
        taken.reverse();
        Some(Places { kind, class, runs: taken })
    }

    /// Lanes that a device has not done.
    fn put_back(&self, Places { kind, class: _, runs }: Places<'v>) {
        let mut waiting = locked(&self.0);
        let all = waiting.entry(kind).or_default();
        all.extend(runs);
        all.sort_unstable_by_key(|run| run.places.start);
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
