//! Engines and keeper at work in one process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use warpmp_campaign::records;

use super::keeper::{Keeper, solution};
use super::session::{Writer, resume};
use super::{Event, Found, Opened, points};
use crate::error::{Error, Result};
use crate::search::{Engine, Plan};

/// Between two looks of the keeper.
const PAUSE: Duration = Duration::from_millis(100);

/// Between two calls of the watcher.
const LOOK: Duration = Duration::from_millis(20);

/// An engine and its part of the work.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The engine.
    pub engine: Engine,
    /// Its name, for the log.
    pub name: String,
    /// How its walks are laid out.
    pub plan: Plan,
}

/// How far this process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps of this process.
    pub steps: u64,
    /// Points of this process.
    pub points: u64,
}

/// How a process's part has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The logarithm, whichever process has found it.
    pub found: Option<Found>,
    /// The work of this process.
    pub progress: Progress,
}

/// What the threads share.
struct Search<'o> {
    opened: &'o Opened,
    stop: AtomicBool,
    steps: AtomicU64,
    points: AtomicU64,
}

/// Searches with these engines, a thread each, until the logarithm is found by this process or by another one, or until `watch` says no.
/// The index takes `memory_bytes` of memory at most. `event` is told what a person should know.
///
/// # Errors
/// [`Error::Campaign`]; the devices'.
pub fn run(
    opened: &Opened,
    workers: &[Worker],
    memory_bytes: u64,
    event: &(dyn Fn(Event) + Sync),
    mut watch: impl FnMut(Progress) -> bool,
) -> Result<Outcome> {
    if let Some(found) = solution(&opened.campaign, &opened.problem)? {
        return Ok(Outcome { found: Some(found), progress: Progress::default() });
    }
    torn(opened, event)?;
    let search = Search { opened, stop: AtomicBool::new(false), steps: AtomicU64::new(0), points: AtomicU64::new(0) };
    thread::scope(|scope| {
        let search = &search;
        let work = |worker| scope.spawn(move || search.until_stopped(|| search.work(worker)));
        let workers: Vec<_> = workers.iter().map(work).collect();
        let keeper = scope.spawn(|| search.until_stopped(|| search.keep(memory_bytes, event)));
        while search.go_on() {
            if !watch(search.progress()) {
                search.stop.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
        for worker in workers {
            worker.join().unwrap_or(Err(Error::Bug))?;
        }
        let found = keeper.join().unwrap_or(Err(Error::Bug))?;
        Ok(Outcome { found, progress: search.progress() })
    })
}

/// Tells which files end within a block.
fn torn(opened: &Opened, event: &(dyn Fn(Event) + Sync)) -> Result<()> {
    let folder = opened.campaign.folder();
    for session in points::sessions(folder)? {
        let path = points::path(folder, session);
        let bytes = records::unfinished(&path)?;
        if bytes > 0 {
            event(Event::Torn { path, bytes });
        }
    }
    Ok(())
}

impl Search<'_> {
    fn progress(&self) -> Progress {
        Progress { steps: self.steps.load(Ordering::Relaxed), points: self.points.load(Ordering::Relaxed) }
    }

    fn go_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Does a part of the work. All parts end when one has ended, in whichever way.
    fn until_stopped<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        /// Stops the others even if this thread panics.
        struct Stop<'s>(&'s AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&self.stop);
        work()
    }

    /// Sessions of one engine, one after the other: a session has so many starts.
    fn work(&self, worker: &Worker) -> Result<()> {
        while self.go_on() {
            self.session(worker)?;
        }
        Ok(())
    }

    fn session(&self, worker: &Worker) -> Result<()> {
        let Opened { campaign, definition, .. } = self.opened;
        let words = definition.suspended_words();
        let mut writer = Writer::begin(campaign, &worker.name)?;
        let mut walks = definition.walks(&worker.engine, &worker.plan, writer.first_block())?;
        resume(campaign, &mut *walks, words)?;
        let mut waiting = Vec::new();
        let mut made = 0;
        while self.go_on() && writer.has_starts(&*walks) {
            let (count, steps) = (walks.walks(), walks.steps());
            let mut stored = Ok(());
            let reports = walks.advance(worker.plan.rounds, &mut || stored = writer.add(&waiting, count, steps))?;
            stored?;
            self.points.fetch_add(reports.len() as u64, Ordering::Relaxed);
            self.steps.fetch_add(walks.steps() - made, Ordering::Relaxed);
            made = walks.steps();
            waiting = reports;
        }
        writer.add(&waiting, walks.walks(), walks.steps())?;
        writer.end(&mut *walks, words)
    }

    fn keep(&self, memory_bytes: u64, event: &(dyn Fn(Event) + Sync)) -> Result<Option<Found>> {
        let Opened { campaign, problem, definition, .. } = self.opened;
        let go_on = || self.go_on();
        let mut keeper = Keeper::new(campaign, problem, definition, memory_bytes, &go_on, event);
        while self.go_on() {
            match keeper.look() {
                Err(Error::Stopped) => break,
                Ok(None) => thread::sleep(PAUSE),
                found => return found,
            }
        }
        Ok(None)
    }
}
