//! Units dealt to the workers of one process.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
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

/// Where workers take units and give them back. Units that failed come last.
struct Desk<I, U> {
    /// The units that nobody has taken. Its lock may be held for long: an iterator may wait for other processes.
    units: Mutex<I>,
    state: Mutex<State<U>>,
    changed: Condvar,
}

/// What happened to the units that were taken.
struct State<U> {
    again: VecDeque<(U, u32)>,
    /// Units that workers hold or are about to take. One of them may come back, so a worker without a unit waits for them.
    held: usize,
    /// Are there no new units?
    is_exhausted: bool,
    /// Did the work end by an error?
    is_closed: bool,
}

/// A unit that a worker holds. It counts as held until this is dropped, also by a panic.
struct Held<'d, I, U> {
    desk: &'d Desk<I, U>,
}

impl<I, U> Desk<I, U> {
    fn new(units: I) -> Self {
        let state = State { again: VecDeque::new(), held: 0, is_exhausted: false, is_closed: false };
        Self { units: Mutex::new(units), state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<U>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, state: &mut State<U>) -> Held<'_, I, U> {
        state.held += 1;
        Held { desk: self }
    }

    /// No unit is dealt any more.
    fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }
}

impl<I: Iterator<Item = U>, U> Desk<I, U> {
    /// The next unit, and how often it has failed. Waits while others hold units; none once all are done.
    fn take(&self) -> Option<(U, u32, Held<'_, I, U>)> {
        self.take_new().or_else(|| self.take_again())
    }

    fn take_new(&self) -> Option<(U, u32, Held<'_, I, U>)> {
        let held = {
            let mut state = self.state();
            if state.is_exhausted || state.is_closed {
                return None;
            }
            self.hold(&mut state)
        };
        let unit = self.units.lock().unwrap_or_else(PoisonError::into_inner).next();
        if unit.is_none() {
            self.state().is_exhausted = true;
        }
        unit.map(|unit| (unit, 0, held))
    }

    fn take_again(&self) -> Option<(U, u32, Held<'_, I, U>)> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some((unit, attempts)) = state.again.pop_front() {
                return Some((unit, attempts, self.hold(&mut state)));
            }
            if state.held == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<I, U> Held<'_, I, U> {
    /// The unit is to be done again.
    fn give_back(self, unit: U, attempts: u32) {
        self.desk.state().again.push_back((unit, attempts));
    }
}

impl<I, U> Drop for Held<'_, I, U> {
    fn drop(&mut self) {
        self.desk.state().held -= 1;
        self.desk.changed.notify_all();
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
    let desk = Desk::new(units);
    let working = AtomicUsize::new(workers.len());
    let (sender, events) = mpsc::channel();
    thread::scope(|scope| {
        for mut worker in workers {
            let sender = sender.clone();
            let (desk, working, is_lost) = (&desk, &working, &is_lost);
            scope.spawn(move || {
                let mut lost = 0;
                loop {
                    let Some((unit, attempts, held)) = desk.take() else { return };
                    let event = match worker(&unit) {
                        Err(error) if is_lost(&error) && attempts + 1 < ATTEMPTS => {
                            held.give_back(unit.clone(), attempts + 1);
                            Ok(Event::Lost(unit, error))
                        }
                        done => {
                            drop(held);
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
                desk.close();
            }
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// One worker has no unit any more while the other fails twice and retires: the unit is done all the same.
    #[test]
    fn a_unit_that_comes_back_late_is_done() {
        for _ in 0..50 {
            let both = Barrier::new(2);
            let worker = |is_broken: bool| {
                let both = &both;
                let mut calls = 0;
                move |_: &u32| {
                    calls += 1;
                    if calls == 1 {
                        both.wait();
                    }
                    if is_broken {
                        thread::sleep(std::time::Duration::from_millis(1));
                        return Err("broken");
                    }
                    Ok(())
                }
            };
            let mut done = Vec::new();
            let all = deal(
                0..2,
                vec![worker(false), worker(true)],
                |_| true,
                || {},
                |event| {
                    if let Event::Done(unit, ()) = event {
                        done.push(unit);
                    }
                    Ok(())
                },
            );
            done.sort_unstable();
            assert_eq!((all, done), (Ok(()), vec![0, 1]));
        }
    }
}
