//! The host's part of elliptic curves on a device: lanes a second, with a device that computes nothing. With the residues of all lanes, with
//! finds alone, and by searches on one integer, which make no jobs.
//!
//! ```sh
//! cargo run --release -p warpmp-numtheory --example host_lanes -- [BITS [B1 B2]]
//! ```

use std::sync::Arc;
use std::time::Instant;
use std::{env, error};

use num_bigint::BigUint;
use rayon::prelude::*;
use warpmp_device::{Device, DeviceInfo, Kind, open_sim};
use warpmp_numtheory::factor::{
    Attempts, Bounds, Engine, Family, Job, Plan, Sigma, SigmaError, Told, finds_on, run_on, search_on,
};
use warpmp_testkit::changed::{Changed, Changes, Work};

/// Multiprocessors of the device.
const MULTIPROCESSORS: u32 = 132;

/// A GPU whose kernels and copies take no time.
#[derive(Debug)]
struct Idle {
    /// Lanes of a chunk at most, and limbs of a number.
    lanes: usize,
    limbs: usize,
}

impl Idle {
    fn open(lanes: usize, bits: u64) -> Arc<dyn Device> {
        let idle = Self { lanes, limbs: bits.div_ceil(32) as usize };
        let gpu = |info| DeviceInfo { kind: Kind::Cuda, multiprocessors: MULTIPROCESSORS, ..info };
        Arc::new(Changed::new(open_sim(), idle).described(gpu))
    }
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut words = env::args().skip(1).map(|word| word.parse::<u64>());
    let mut next = |usual: u64| words.next().unwrap_or(Ok(usual));
    let (bits, bounds) = (next(96)?, Bounds::new(next(500)?, next(20_000)?)?);
    let n = (BigUint::from(1_u32) << bits) - 17_u32;
    let lanes = Engine::on(Idle::open(0, bits)).curves_together([bits], bounds);
    for (family, first) in [(Family::Word, 1_000_003_u64), (Family::Suyama, 0x1234_5678_9ABC_DEF1)] {
        // Chunks are an eighth of all at the most; a number has two limbs or more.
        let engine = Engine::on(Idle::open(lanes / 8, bits));
        let first = Sigma::new(family, first.into())?;
        let make = |number: u64| Ok(Job::ecm(n.clone(), first.after(number)?));
        // A search asks whether its integer is prime: this one is not.
        let plan = |attempts: Attempts| Plan { bounds, attempts, one: false, told: Told::Finds };
        let count = lanes as u64;
        let plans = [Attempts::curves_from(first.clone(), count)?, Attempts::Curves { seed: 7, count }].map(plan);
        let composite = ((BigUint::from(1_u32) << (bits - 2)) + 1_u32) * 3_u32;
        let mut best = [f64::INFINITY; 4];
        let mut timed = |place: usize, start: Instant| {
            best[place] = start.elapsed().as_secs_f64().min(best[place]);
        };
        for _ in 0..5 {
            let jobs: Vec<Job> = (0..lanes as u64).into_par_iter().map(make).collect::<Result<_, SigmaError>>()?;
            let start = Instant::now();
            let verdicts = run_on(&engine, &jobs, bounds, &())?;
            timed(0, start);
            verdicts.into_par_iter().for_each(drop);
            let start = Instant::now();
            let finds = finds_on(&engine, &jobs, bounds, &())?;
            timed(1, start);
            assert!(finds.is_empty(), "the device finds nothing");
            jobs.into_par_iter().for_each(drop);
            for (place, plan) in (2..).zip(&plans) {
                let start = Instant::now();
                let outcome = search_on(&engine, std::slice::from_ref(&composite), plan, &(), &mut |_, _| {})?;
                timed(place, start);
                assert_eq!(outcome.numbers[0].attempts, count, "all curves were made");
            }
        }
        for (what, best) in ["residues", "finds alone", "search", "search by a seed (family 0)"].into_iter().zip(best) {
            let (rate, cores) = (lanes as f64 / best, rayon::current_num_threads());
            println!(
                "family {}, {what}: {lanes} lanes of {bits} bits, {rate:.3e}/s, {:.3e} a core",
                family.number(),
                rate / cores as f64
            );
        }
    }
    Ok(())
}

impl Changes for Idle {
    fn does(&self, work: Work<'_>) -> bool {
        if let Work::Download(dst) = work {
            // A status of 0 for each lane; numbers are 1: no divisor.
            dst.fill(0);
            if dst.len() > self.lanes {
                dst.iter_mut().step_by(self.limbs).for_each(|limb| *limb = 1);
            }
        }
        true
    }
}
