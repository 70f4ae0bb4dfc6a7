//! Units dealt to the workers of one process.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// A unit may lose its worker this often before the campaign gives up.
const ATTEMPTS: u32 = 3;

/// An event of the work on units.
#[derive(Debug)]
pub enum Event<U, C, E> {
    /// A unit is done.
    Done(U, C),
    /// A worker failed and lost its unit, which is done again. After two failures in a row the worker retires, unless it is the
    /// last one.
    Lost(U, E),
}

/// The units that are left. Units that failed come last.
struct Queue<I, U> {
    units: I,
    again: VecDeque<(U, u32)>,
    /// Units that workers hold. One of them may come back, so a worker without a unit waits for them.
    held: usize,
}

impl<I: Iterator<Item = U>, U> Queue<I, U> {
    fn next(&mut self) -> Option<(U, u32)> {
        self.units.next().map(|unit| (unit, 0)).or_else(|| self.again.pop_front())
    }
}

/// Deals the units to the workers, one unit at a time for each, and shows `each` what happens, in the order in which it happens.
///
/// A worker's failure for which `is_lost` is true costs only its unit: another worker takes it, or the same one if it is the last.
/// Any other error, of a worker or of `each`, ends the work: `stop` is called, so that the other workers end soon.
///
/// # Errors
/// The first error that ended the work.
pub fn deal<U: Clone + Send, C: Send, E: Send, W: FnMut(&U) -> Result<C, E> + Send>(
    units: impl Iterator<Item = U> + Send,
    workers: Vec<W>,
    is_lost: impl Fn(&E) -> bool + Sync,
    stop: impl Fn(),
    mut each: impl FnMut(Event<U, C, E>) -> Result<(), E>,
) -> Result<(), E> {
    let queue = Mutex::new(Some(Queue { units, again: VecDeque::new(), held: 0 }));
    let changed = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let take = || {
        let mut queue = lock();
        loop {
            let inner = queue.as_mut()?;
            if let Some(next) = inner.next() {
                inner.held += 1;
                return Some(next);
            }
            if inner.held == 0 {
                return None;
            }
            queue = changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    };
    let put_back = |again: Option<(U, u32)>| {
        if let Some(queue) = lock().as_mut() {
            queue.held -= 1;
            queue.again.extend(again);
        }
        changed.notify_all();
    };
    let working = AtomicUsize::new(workers.len());
    let (sender, events) = mpsc::channel();
    thread::scope(|scope| {
        for mut worker in workers {
            let sender = sender.clone();
            let (take, put_back, working, is_lost) = (&take, &put_back, &working, &is_lost);
            scope.spawn(move || {
                let mut lost = 0;
                loop {
                    let Some((unit, attempts)) = take() else { return };
                    let event = match worker(&unit) {
                        Err(error) if is_lost(&error) && attempts + 1 < ATTEMPTS => {
                            put_back(Some((unit.clone(), attempts + 1)));
                            Ok(Event::Lost(unit, error))
                        }
                        done => {
                            put_back(None);
                            done.map(|certificate| Event::Done(unit, certificate))
                        }
                    };
                    lost = if matches!(event, Ok(Event::Lost(..))) { lost + 1 } else { 0 };
                    let failed = event.is_err();
                    if sender.send(event).is_err() || failed {
                        return;
                    }
                    // The last worker stays: it has to say in the end that the work cannot be done.
                    let others =
                        || working.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n > 1).then(|| n - 1));
                    if lost > 1 && others().is_ok() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut result = Ok(());
        for event in events {
            if let Err(error) = event.and_then(&mut each)
                && result.is_ok()
            {
                result = Err(error);
                stop();
                *lock() = None;
                changed.notify_all();
            }
        }
        result
    })
}
