//! Sessions on several GPUs, which are simulators here: they share the lanes, and a lost one loses none.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use warpmp::device::{self, Device, SimConfig};
use warpmp::{Batch, Error, Operation, Options, Report, Session, Shape};
use warpmp_testkit::changed::{Call, Changed, Changes};
use warpmp_testkit::planted::Planted;
use warpmp_testkit::{Operands, Pattern, oracle};

/// Lanes of some chunks.
const LANES: usize = 300_007;
const BITS: usize = 64;

fn sims(count: usize) -> Vec<Arc<dyn Device>> {
    (0..count).map(|_| device::open_sim()).collect()
}

/// Products of these lanes, and what the operation cost.
fn products(session: &Session) -> (Vec<u32>, Report) {
    let shape = Shape::new(LANES, BITS);
    let [a, b] = [1, 2].map(|seed| Operands::generate(Pattern::Carry, LANES, BITS, seed));
    let batches = [&a, &b].map(|it| Batch::borrow(shape, &it.limbs).unwrap());
    let (mut results, report) = session.apply(Operation::Mul, &batches.each_ref(), Options::new()).unwrap();
    let found = results.remove(0).into_limbs();
    for lane in (0..LANES).step_by(997).chain([LANES - 1]) {
        let expected = oracle::mul(a.lane(lane), b.lane(lane), 2 * shape.limbs());
        assert_eq!(found[lane * expected.len()..][..expected.len()], expected[..], "lane {lane}");
    }
    (found, report)
}

/// A door that opens when so many GPUs have come. On a busy machine a GPU may else have done all chunks before another one begins.
#[derive(Debug)]
struct Door {
    missing: Mutex<usize>,
    opened: Condvar,
}

impl Door {
    fn new(missing: usize) -> Arc<Self> {
        Arc::new(Self { missing: Mutex::new(missing), opened: Condvar::new() })
    }

    /// The GPU comes to the door at its launch of this number, from 1 on. It waits there at every launch, or never.
    fn at(self: &Arc<Self>, launch: usize, waits: bool, device: Arc<dyn Device>) -> Arc<dyn Device> {
        Arc::new(Changed::new(device, Guest { door: self.clone(), launches: AtomicUsize::new(launch), waits }))
    }
}

#[derive(Debug)]
struct Guest {
    door: Arc<Door>,
    /// Launches until it comes.
    launches: AtomicUsize,
    waits: bool,
}

impl Changes for Guest {
    fn before(&self, call: Call) -> device::Result<()> {
        if call == Call::Launch {
            let mut missing = self.door.missing.lock().unwrap();
            if self.launches.fetch_sub(1, Ordering::Relaxed) == 1 {
                *missing -= 1;
                self.door.opened.notify_all();
            }
            if self.waits {
                // A door that stays shut fails the test; it does not hang.
                drop(self.door.opened.wait_timeout_while(missing, Duration::from_secs(60), |it| *it > 0).unwrap());
            }
        }
        Ok(())
    }
}

fn launches(device: &Arc<dyn Device>) -> usize {
    device.counters().map_or(0, |counters| counters.sections().count())
}

#[test]
fn all_gpus_share_the_lanes() {
    let (expected, alone) = products(&Session::with_devices(sims(1)).unwrap());
    assert!(alone.left_out.is_empty());
    let door = Door::new(3);
    let devices = sims(3).into_iter().map(|device| door.at(1, true, device)).collect();
    let session = Session::with_devices(devices).unwrap();
    let (found, report) = products(&session);
    assert!(found == expected && report.left_out.is_empty());
    assert_eq!(session.devices().count(), 3);
    assert!(session.engine().name.starts_with("3 × "), "{}", session.engine().name);
    assert!(session.devices().all(|device| launches(device) > 0), "a GPU had nothing to do");
    // One operand with one lane, which every GPU needs.
    let seven = Batch::from_u64s(&[7]);
    let numbers: Vec<u64> = (0..100_000).collect();
    let sevenfold = session.mul(&Batch::from_u64s(&numbers), &seven).unwrap();
    assert!((0..100_000).all(|lane| sevenfold.to_u64(lane) == Some(7 * lane as u64)));
}

#[test]
fn few_lanes_stay_on_one_gpu() {
    let session = Session::with_devices(sims(2)).unwrap();
    let squares = session.sqr(&Batch::from_u64s(&[3, 4, 5])).unwrap();
    assert_eq!(squares.to_u64(2), Some(25));
    assert_eq!(session.devices().map(launches).collect::<Vec<_>>().iter().filter(|count| **count > 0).count(), 1);
}

#[test]
fn a_lost_gpu_loses_no_lane() {
    let (expected, _) = products(&Session::with_devices(sims(1)).unwrap());
    for (lost_first, launch) in [(false, 1), (false, 3), (true, 1), (true, 2)] {
        let door = Door::new(1);
        let mut devices = vec![door.at(usize::MAX, true, device::open_sim())];
        devices.insert(usize::from(!lost_first), door.at(launch, false, Planted::lost(launch as i64, i64::MAX)));
        let session = Session::with_devices(devices).unwrap();
        let (found, report) = products(&session);
        assert!(found == expected, "lost at launch {launch}");
        let [left_out] = &report.left_out[..] else { panic!("{:?}", report.left_out) };
        assert!(matches!(left_out.reason, Error::Device(device::Error::DeviceLost { .. })), "{left_out}");
        assert!(
            left_out.to_string().starts_with("sim:0 (simulator) was left out, and the other GPUs did its part: "),
            "{left_out}"
        );
        products(&session);
        assert_eq!(session.left_out().len(), 1, "a GPU is named once");
    }
}

#[test]
fn a_gpu_without_memory_is_left_out() {
    let small = device::open_sim_with(&SimConfig { memory_bytes: 64 << 10, ..SimConfig::default() });
    let devices = vec![device::open_sim(), small];
    let (_, report) = products(&Session::with_devices(devices).unwrap());
    // It has room for some tiles, so it does a part.
    assert!(report.left_out.is_empty(), "{:?}", report.left_out);
    let tiny = || device::open_sim_with(&SimConfig { memory_bytes: 512, ..SimConfig::default() });
    let (_, report) = products(&Session::with_devices(vec![device::open_sim(), tiny()]).unwrap());
    assert!(matches!(report.left_out[..], [ref it] if matches!(it.reason, Error::OutOfMemory { .. })));
}

#[test]
fn without_a_gpu_that_works_the_operation_fails() {
    let session = Session::with_devices(vec![Planted::lost(1, i64::MAX), Planted::lost(2, i64::MAX)]).unwrap();
    let numbers: Vec<u64> = (0..LANES as u64).collect();
    let batch = Batch::from_u64s(&numbers);
    let error = session.sqr(&batch).unwrap_err();
    assert!(matches!(error, Error::Device(device::Error::DeviceLost { .. })), "{error}");
    assert!(matches!(Session::with_devices(Vec::new()), Err(Error::NoDevice)));
}
