//! The engine's thread: it opens the engine, then tests what it is sent.

use std::{
    sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel},
    thread,
};

use warpmp::{EngineKind, Selector};

use super::{
    bases::Bases,
    gather::{Bin, Place},
    strong::{Cost, Tester},
};
use crate::{
    channel, engine,
    error::{Error, Result},
};

/// What the thread has to say.
#[derive(Debug)]
pub(super) enum Message {
    /// The engine is open.
    Open(EngineKind),
    /// Verdicts of a bin.
    Tested { places: Vec<Place>, verdicts: Vec<bool> },
    /// There was no more to test: the engine's name, and the cost of tests to base 2 and to others.
    Finished { name: String, first: Cost, further: Cost },
}

/// The thread, from outside.
pub(super) struct Worker {
    /// None: nothing more will come.
    work: Option<SyncSender<Bin>>,
    messages: Receiver<Result<Message>>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn spawn(selector: Selector, quiet: bool, bases: Bases) -> Result<Self> {
        // One bin waits while another is tested.
        let (work, bins) = sync_channel(1);
        let (sender, messages) = channel();
        let body = move || {
            let end = work_off(selector, quiet, bases, &bins, &sender);
            // Nobody listens any more only where something else has failed.
            let _ = sender.send(end);
        };
        thread::Builder::new().name("engine".into()).spawn(body).map_err(Error::Threads)?;
        Ok(Self { work: Some(work), messages })
    }

    /// The engine's kind, once it is open.
    pub(super) fn kind(&self) -> Result<EngineKind> {
        match channel::receive(&self.messages)? {
            Message::Open(kind) => Ok(kind),
            _ => Err(Error::Bug),
        }
    }

    /// Hands over a bin, once there is room for it.
    pub(super) fn send(&mut self, bin: Bin) -> Result<()> {
        match self.work.as_ref().map(|work| work.send(bin)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended, and its last message says why.
            _ => loop {
                channel::receive(&self.messages)?;
            },
        }
    }

    /// No more will come.
    pub(super) fn end(&mut self) {
        self.work = None;
    }

    /// A message, if there is one.
    pub(super) fn poll(&self) -> Result<Option<Message>> {
        match self.messages.try_recv() {
            Ok(message) => message.map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Error::Bug),
        }
    }

    /// The next message.
    pub(super) fn wait(&self) -> Result<Message> {
        channel::receive(&self.messages)
    }
}

fn work_off(
    selector: Selector,
    quiet: bool,
    bases: Bases,
    bins: &Receiver<Bin>,
    sender: &Sender<Result<Message>>,
) -> Result<Message> {
    let session = engine::open(selector, quiet)?;
    let send = |message| sender.send(Ok(message)).map_err(|_| Error::Interrupted);
    send(Message::Open(session.engine().kind))?;
    let mut tester = Tester::new(&session, bases);
    for mut bin in bins {
        let verdicts = tester.test(&bin.batch()?)?;
        send(Message::Tested { places: bin.places, verdicts })?;
    }
    Ok(Message::Finished { name: session.engine().name.clone(), first: tester.first, further: tester.further })
}
