//! A search in memory, by any number of engines together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use num_bigint::BigUint;

use super::{Definition, Engine, Plan};
use crate::error::{Error, Result};
use crate::meetings::{Distinguished, Meeting, Table};
use crate::problem::Problem;

/// The starts of an engine lie this many blocks after those of the engine before it.
const BLOCKS: u64 = 1 << 40;

/// Launches of each engine whose points wait to be stored.
const WAITING: usize = 2;

/// A logarithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// `k` with `Q = k·P`, checked by independent arithmetic.
    pub k: BigUint,
    /// Steps of each engine's walks.
    pub steps: Vec<u64>,
    /// Reported points.
    pub reports: u64,
    /// Meetings that told nothing.
    pub void: u64,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps so far.
    pub steps: u64,
    /// Reported points.
    pub reports: u64,
    /// Expected steps.
    pub expected: f64,
}

/// What an engine tells after a launch.
struct Launch {
    engine: usize,
    /// Steps of all its walks so far.
    steps: u64,
    points: Vec<Distinguished>,
}

/// An engine's end of the channel. It tells of a panic, too.
struct Teller(SyncSender<Result<Launch>>);

impl Teller {
    /// Does anybody listen?
    fn tell(&self, launch: Result<Launch>) -> bool {
        self.0.send(launch).is_ok()
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if thread::panicking() {
            self.tell(Err(Error::Bug));
        }
    }
}

/// The points of all engines.
struct Search<'p> {
    problem: &'p Problem,
    definition: Definition,
    table: Table,
    steps: Vec<u64>,
    reports: u64,
    void: u64,
}

/// Finds the logarithm in memory, by at least one engine. The plans have the same settings. `watch` is told how far the search is, and
/// stops it by `false`.
///
/// The cores of the processor, if they are the only engine, work in rayon's threads under the caller's. With several engines each has a
/// thread of its own, so a caller in a thread of rayon's must not name the processor among them.
///
/// # Errors
/// [`Error::Setting`], [`Error::Stopped`], [`Error::Replay`]; the device's.
pub fn solve(problem: &Problem, engines: &[(Engine, Plan)], watch: impl FnMut(Progress) -> bool) -> Result<Solution> {
    if let Some(k) = problem.trivial_solution() {
        return Ok(Solution { k, steps: vec![0; engines.len()], reports: 0, void: 0 });
    }
    let [(engine, plan), ..] = engines else { return Err(Error::NoEngine) };
    let definition = Definition::new(problem, plan.settings)?;
    let steps = vec![0; engines.len()];
    let search = Search { problem, definition, table: Table::default(), steps, reports: 0, void: 0 };
    match (engine, engines.len()) {
        (Engine::Cpu | Engine::Cores(_), 1) => search.alone(engine, plan, watch),
        _ => search.together(engines, watch),
    }
}

impl Search<'_> {
    /// One engine, launch by launch.
    fn alone(mut self, engine: &Engine, plan: &Plan, mut watch: impl FnMut(Progress) -> bool) -> Result<Solution> {
        let mut walks = self.definition.walks(engine, plan, 0)?;
        loop {
            let points = walks.advance(plan.rounds, &mut || {})?;
            let launch = Launch { engine: 0, steps: walks.steps(), points };
            if let Some(k) = self.take(launch, &mut watch)? {
                return Ok(self.solution(k));
            }
        }
    }

    /// Several engines, each in a thread. A GPU makes its next launch while the points of the last one are stored.
    fn together(self, engines: &[(Engine, Plan)], watch: impl FnMut(Progress) -> bool) -> Result<Solution> {
        let definition = self.definition.clone();
        let stop = AtomicBool::new(false);
        let (tell, told) = sync_channel(WAITING * engines.len());
        thread::scope(|scope| {
            let start = |(number, (engine, plan)): (usize, &(Engine, Plan))| {
                let (definition, stop) = (&definition, &stop);
                let (engine, plan) = (engine.clone(), *plan);
                let tell = Teller(tell.clone());
                scope.spawn(move || {
                    if let Err(error) = work(definition, number, &engine, &plan, stop, &tell) {
                        tell.tell(Err(error));
                    }
                })
            };
            let threads: Vec<_> = engines.iter().enumerate().map(start).collect();
            let found = self.listen(told, watch);
            stop.store(true, Ordering::Relaxed);
            for thread in threads {
                // A panic is told already.
                drop(thread.join());
            }
            found
        })
    }

    /// Takes the points of all engines until the logarithm is found. The channel is closed after that.
    fn listen(mut self, told: Receiver<Result<Launch>>, mut watch: impl FnMut(Progress) -> bool) -> Result<Solution> {
        for launch in told {
            if let Some(k) = self.take(launch?, &mut watch)? {
                return Ok(self.solution(k));
            }
        }
        Err(Error::Bug)
    }

    /// Stores the points of a launch; the logarithm, if two walks have met.
    fn take(&mut self, launch: Launch, watch: &mut impl FnMut(Progress) -> bool) -> Result<Option<BigUint>> {
        self.steps[launch.engine] = launch.steps;
        self.reports += launch.points.len() as u64;
        for point in launch.points {
            let Some(points) = self.table.insert(point) else { continue };
            match self.definition.meet(self.problem, points, &|| true)? {
                Meeting::Solved(k) => return Ok(Some(k)),
                Meeting::Wrong { start } => return Err(Error::Replay { start }),
                Meeting::Useless | Meeting::Coincidence | Meeting::Repeated => self.void += 1,
            }
        }
        let (steps, expected) = (self.steps.iter().sum(), self.problem.expected_steps());
        if !watch(Progress { steps, reports: self.reports, expected }) {
            return Err(Error::Stopped);
        }
        Ok(None)
    }

    fn solution(self, k: BigUint) -> Solution {
        Solution { k, steps: self.steps, reports: self.reports, void: self.void }
    }
}

/// The launches of one engine, until it is stopped or nobody listens.
fn work(
    definition: &Definition,
    number: usize,
    engine: &Engine,
    plan: &Plan,
    stop: &AtomicBool,
    teller: &Teller,
) -> Result<()> {
    let mut walks = definition.walks(engine, plan, number as u64 * BLOCKS)?;
    while !stop.load(Ordering::Relaxed) {
        let points = walks.advance(plan.rounds, &mut || {})?;
        if !teller.tell(Ok(Launch { engine: number, steps: walks.steps(), points })) {
            break;
        }
    }
    Ok(())
}
