use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use super::*;
use crate::claim::HEARTBEAT;

fn order(count: u32, seed: u64) -> Order<u32> {
    Order::new((0..count).collect(), seed)
}

#[test]
fn every_unit_has_its_turn() {
    for count in [0, 1, 2, 3, 60, 97, 1000] {
        for seed in [0, 1, u64::MAX, 0x1234_5678_9abc_def0, 12 << 32 | 6] {
            let mut order = order(count, seed);
            let mut units = Vec::new();
            while let Step::Ask(unit) = order.step() {
                units.push(unit);
                order.taken();
            }
            assert_eq!(order.step(), Step::End);
            units.sort_unstable();
            assert_eq!(units, (0..count).collect::<Vec<_>>(), "{seed}");
        }
    }
}

/// With claims of others alone it asks for a few, and waits longer each time.
#[test]
fn claimed_units_come_back() {
    for count in [3, 100] {
        let mut order = order(count, 5);
        let (mut waits, mut asked) = (Vec::new(), 0);
        while waits.len() < 12 {
            match order.step() {
                Step::Ask(unit) => {
                    asked += 1;
                    order.claimed(unit);
                }
                Step::Wait(time) => waits.push(time),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(asked, 12 * count.min(CLAIMED));
        assert!(waits[0] == SHORTEST && waits.is_sorted() && waits[11] == LONGEST);
    }
}

#[test]
fn a_list_of_the_rest_saves_questions() {
    let mut order = order(1000, 77);
    for _ in 0..DONE {
        assert!(matches!(order.step(), Step::Ask(_)));
        order.done();
    }
    assert_eq!(order.step(), Step::List);
    order.listed(Arc::from([4, 5]));
    let mut rest = Vec::new();
    while let Step::Ask(unit) = order.step() {
        rest.push(unit);
        order.done();
    }
    rest.sort_unstable();
    assert_eq!((rest, order.step()), (vec![4, 5], Step::End));
}

/// Thousands of processes in one directory, each on its own host. Times are in milliseconds.
struct Cluster {
    missing: Vec<u32>,
    /// Where a unit is in `missing`.
    place: Vec<Option<u32>>,
    claims: HashMap<u32, Holder>,
    dice: u64,
    counts: Counts,
}

/// A claim: the process, and the time when its heart stopped, if it did.
#[derive(Clone, Copy)]
struct Holder {
    process: u32,
    since: u64,
    stopped: Option<u64>,
}

/// What happened, and the operations on files by kind.
#[derive(Debug, Default)]
struct Counts {
    stored: u32,
    /// When the last unit was stored.
    last: u64,
    again: u32,
    deaths: u32,
    frozen: u32,
    asked: u64,
    reads: u64,
    writes: u64,
    lists: u64,
    /// Operations in each minute.
    minutes: Vec<u64>,
}

/// One of the processes.
struct Process {
    order: Order<u32>,
    /// Claims of others: the beat when they were seen first, and when that was.
    seen: HashMap<u32, ((u32, u64), u64)>,
    /// The unit that it works on.
    unit: Option<u32>,
    fate: Fate,
}

/// The end of the work on a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stores,
    Dies,
    /// Its host sleeps, comes back and goes on.
    Freezes,
}

const MINUTE: u64 = 60_000;
/// A unit takes 8 to 12 minutes.
const UNIT: u64 = 10 * MINUTE;
/// One death a process and day; the scheduler's next process comes after two minutes.
const LIFE: u64 = 24 * 60 * MINUTE;
const RESTART: u64 = 2 * MINUTE;
/// One in ten hosts that seem dead only sleeps for so long.
const FREEZE: u64 = 20 * MINUTE;

impl Cluster {
    fn below(&mut self, count: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % count
    }

    fn count(&mut self, now: u64, operations: u64) {
        let minute = (now / MINUTE) as usize;
        if self.counts.minutes.len() <= minute {
            self.counts.minutes.resize(minute + 1, 0);
        }
        self.counts.minutes[minute] += operations;
    }

    fn process(&mut self) -> Process {
        let seed = self.below(1 << 31) << 32 | self.below(1 << 31);
        let order = Order::new(self.missing.clone().into(), seed);
        self.counts.lists += 1;
        Process { order, seen: HashMap::new(), unit: None, fate: Fate::Stores }
    }

    /// The fate of a unit's work, and the time until then.
    fn fate(&mut self) -> (Fate, u64) {
        if self.below(LIFE) >= UNIT {
            return (Fate::Stores, UNIT * 4 / 5 + self.below(UNIT * 2 / 5));
        }
        (if self.below(10) == 0 { Fate::Freezes } else { Fate::Dies }, self.below(UNIT * 4 / 5))
    }

    fn store(&mut self, unit: u32, now: u64) {
        let Some(at) = self.place[unit as usize].take() else {
            self.counts.again += 1;
            return;
        };
        self.counts.last = now;
        self.counts.stored += 1;
        self.missing.swap_remove(at as usize);
        if let Some(&moved) = self.missing.get(at as usize) {
            self.place[moved as usize] = Some(at);
        }
    }

    /// Asks for a unit by the rules of claims; is it the process's now?
    fn ask(&mut self, number: u32, process: &mut Process, unit: u32, now: u64) -> bool {
        self.counts.asked += 1;
        self.count(now, 1);
        if self.place[unit as usize].is_none() {
            process.order.done();
            return false;
        }
        self.counts.reads += 1;
        self.count(now, 1);
        if let Some(holder) = self.claims.get(&unit) {
            let beats = (holder.stopped.unwrap_or(now).min(now) - holder.since) / HEARTBEAT.as_millis() as u64;
            let text = (holder.process, beats);
            let seen = process.seen.entry(unit).or_insert((text, now));
            if seen.0 != text {
                *seen = (text, now);
            }
            if now - seen.1 < PATIENCE.as_millis() as u64 {
                process.order.claimed(unit);
                return false;
            }
        }
        self.counts.writes += 1;
        self.count(now, 3);
        self.claims.insert(unit, Holder { process: number, since: now, stopped: None });
        process.order.taken();
        true
    }
}

/// The claim protocol at 10,000 processes that die, come back late and are replaced: no unit is lost, hardly any is done twice, and
/// the directory is asked a bounded number of times. docs/scale.md has the figures.
#[test]
fn ten_thousand_processes_share_a_directory() {
    let (processes, units) = (10_000, 40_000);
    let missing: Vec<u32> = (0..units).collect();
    let place = missing.iter().copied().map(Some).collect();
    let mut cluster = Cluster { missing, place, claims: HashMap::new(), dice: 1, counts: Counts::default() };
    let all: Arc<[u32]> = cluster.missing.clone().into();
    let mut events = BinaryHeap::new();
    let mut running: Vec<Option<Process>> = Vec::new();
    for number in 0..processes {
        let seed = cluster.below(1 << 31) << 32 | cluster.below(1 << 31);
        let order = Order::new(all.clone(), seed);
        running.push(Some(Process { order, seen: HashMap::new(), unit: None, fate: Fate::Stores }));
        events.push(Reverse((cluster.below(MINUTE), number)));
    }
    while let Some(Reverse((now, number))) = events.pop() {
        let Some(mut process) = running[number as usize].take() else { continue };
        if let Some(unit) = process.unit {
            let own = cluster.claims.get(&unit).is_some_and(|it| it.process == number);
            if process.fate != Fate::Stores {
                if let Some(holder) = cluster.claims.get_mut(&unit).filter(|_| own) {
                    holder.stopped = Some(now);
                }
                if process.fate == Fate::Freezes {
                    cluster.counts.frozen += 1;
                    running[number as usize] = Some(Process { fate: Fate::Stores, ..process });
                    events.push(Reverse((now + FREEZE, number)));
                } else {
                    cluster.counts.deaths += 1;
                    events.push(Reverse((now + RESTART, running.len() as u32)));
                    let next = cluster.process();
                    running.push(Some(next));
                }
                continue;
            }
            cluster.store(unit, now);
            cluster.count(now, 4);
            if own {
                cluster.claims.remove(&unit);
            }
            process.unit = None;
        }
        let next = loop {
            match process.order.step() {
                Step::Ask(unit) => {
                    if cluster.ask(number, &mut process, unit, now) {
                        let (fate, time) = cluster.fate();
                        process = Process { unit: Some(unit), fate, ..process };
                        break Some(now + time);
                    }
                }
                Step::List => {
                    cluster.counts.lists += 1;
                    process.order.listed(cluster.missing.clone().into());
                }
                Step::Wait(time) => break Some(now + time.as_millis() as u64),
                Step::End => break None,
            }
        };
        if let Some(next) = next {
            events.push(Reverse((next, number)));
            running[number as usize] = Some(process);
        }
    }
    let counts = &cluster.counts;
    let ideal = UNIT * u64::from(units) / u64::from(processes);
    let busiest = counts.minutes.iter().max().unwrap_or(&0) / 60;
    println!(
        "{:.2} of the ideal time, {busiest} operations a second at most, {counts:?}",
        counts.last as f64 / ideal as f64
    );
    assert!(cluster.missing.is_empty() && counts.stored == units);
    assert!(counts.deaths > 100 && counts.frozen > 0);
    assert!(counts.again > 0 && counts.again < units / 1000);
    assert!(counts.last < 2 * ideal);
    assert!(busiest < 10_000 && counts.asked < 200 * u64::from(units));
}
