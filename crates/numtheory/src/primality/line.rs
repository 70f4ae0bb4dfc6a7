//! The way of integers through the two threads: the caller's divides by small primes, the engine's makes strong tests.

use std::{
    sync::mpsc::{Receiver, SyncSender, channel, sync_channel},
    thread::{self, Scope},
};

use warpmp::Session;

use super::{
    Chunk,
    board::Board,
    gather::{Bin, Gather, Seat},
    strong::Strong,
    trial::Trial,
};
use crate::error::{Error, Result};

/// Lanes that wait for verdicts, at most: beyond this the engine gets bins that do not fill it.
const MOST_WAITING: usize = 1 << 24;
/// The verdicts of a bin, as the engine's thread sends them back.
type Answer = Result<(Vec<Seat>, Vec<bool>)>;

/// The engine's thread, from the caller's.
pub(super) struct Engine {
    /// None once no more bins will come.
    work: Option<SyncSender<Bin>>,
    answers: Receiver<Answer>,
}

impl Engine {
    /// Starts the thread. It ends when no more bins can come, or after the first error.
    pub(super) fn spawn<'s>(scope: &'s Scope<'s, '_>, strong: &'s mut Strong<'_>) -> Result<Self> {
        // One bin waits while the engine tests another.
        let (work, bins) = sync_channel(1);
        let (sender, answers) = channel();
        let test_bins = move || {
            for bin in bins {
                let answer = answer(strong, bin);
                let is_last = answer.is_err();
                if sender.send(answer).is_err() || is_last {
                    break;
                }
            }
        };
        thread::Builder::new().name("engine".into()).spawn_scoped(scope, test_bins).map_err(Error::Threads)?;
        Ok(Self { work: Some(work), answers })
    }
}

fn answer(strong: &mut Strong<'_>, bin: Bin) -> Answer {
    let verdicts = strong.test(&bin.batch()?)?;
    Ok((bin.seats, verdicts))
}

/// The work of the caller's thread.
pub(super) struct Line<'t, T, D> {
    pub(super) session: &'t Session,
    pub(super) trial: &'t Trial,
    pub(super) gather: Gather,
    pub(super) candidates: &'t mut u64,
    pub(super) engine: Engine,
    pub(super) board: Board<T>,
    pub(super) deliver: D,
}

impl<T, D> Line<'_, T, D> {
    /// A chunk: trial division, and the candidates that fill bins to the engine.
    pub(super) fn take<E: From<Error>>(&mut self, chunk: Chunk<'_, T>) -> Result<(), E>
    where
        D: FnMut(T, Vec<Vec<bool>>) -> Result<(), E>,
    {
        let (number, batches) = self.board.begin(chunk);
        for (batch, numbers) in (0..).zip(&batches) {
            let known = self.trial.divide(numbers, self.session.engine().kind);
            for ((lane, verdict), limbs) in (0..).zip(known).zip(numbers.iter()) {
                let seat = Seat { chunk: number, batch, lane };
                if let Some(prime) = verdict {
                    self.board.put(seat, prime);
                } else {
                    *self.candidates += 1;
                    if let Some(bin) = self.gather.add(limbs, seat) {
                        self.send(bin)?;
                    }
                }
            }
        }
        if self.board.waiting_lanes() > MOST_WAITING {
            self.send_rest()?;
        }
        while let Ok(answer) = self.engine.answers.try_recv() {
            self.put(answer?);
        }
        self.deliver()
    }

    /// All chunks are taken: the remaining candidates to the engine, and the remaining verdicts back.
    pub(super) fn finish<E: From<Error>>(mut self) -> Result<(), E>
    where
        D: FnMut(T, Vec<Vec<bool>>) -> Result<(), E>,
    {
        self.send_rest()?;
        // The engine's thread ends when no more bins can come.
        self.engine.work = None;
        while let Ok(answer) = self.engine.answers.recv() {
            self.put(answer?);
            self.deliver()?;
        }
        self.deliver()
    }

    fn send_rest(&mut self) -> Result<()> {
        self.gather.rest().into_iter().try_for_each(|bin| self.send(bin))
    }

    /// Hands a bin to the engine's thread, once there is room for it.
    fn send(&mut self, bin: Bin) -> Result<()> {
        if self.engine.work.as_ref().is_some_and(|work| work.send(bin).is_ok()) {
            return Ok(());
        }
        // The thread has ended, and its last answer is the error. Without one it has panicked, and so will the scope.
        loop {
            let answer = self.engine.answers.recv().unwrap_or(Err(Error::Stopped))?;
            self.put(answer);
        }
    }

    fn put(&mut self, (seats, verdicts): (Vec<Seat>, Vec<bool>)) {
        seats.into_iter().zip(verdicts).for_each(|(seat, prime)| self.board.put(seat, prime));
    }

    /// Delivers the chunks whose verdicts are all known.
    fn deliver<E>(&mut self) -> Result<(), E>
    where
        D: FnMut(T, Vec<Vec<bool>>) -> Result<(), E>,
    {
        while let Some((tag, verdicts)) = self.board.leave() {
            (self.deliver)(tag, verdicts)?;
        }
        Ok(())
    }
}
