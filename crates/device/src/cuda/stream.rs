//! Streams and events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cudarc::driver::sys::{CUevent_st, CUstream_st};

use super::context::{Context, Handle};
use super::raw::Raw;
use crate::error::{Error, Result};

/// A queue of work on a GPU.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) context: Arc<Context>,
    pub(super) handle: Handle<CUstream_st>,
}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        let handle = context.with(Raw::create_stream)?;
        Ok(Self { context: context.clone(), handle: Handle::new(handle) })
    }

    /// Itself, if it is a stream of this context.
    pub(super) fn of(&self, context: &Context) -> Result<&Self> {
        if self.context.same(context) { Ok(self) } else { Err(Error::WrongDevice { what: "stream" }) }
    }

    pub(super) fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        self.context.with(|raw| unsafe { raw.synchronize_stream(self.handle.get()) })
    }

    /// Makes the stream wait; an event of another GPU is fine.
    pub(super) fn wait(&self, event: &Event) -> Result<()> {
        // SAFETY: both are alive.
        self.context.with(|raw| unsafe { raw.stream_wait(self.handle.get(), event.handle.get()) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed only here.
        self.context.release("a stream", |raw| unsafe { raw.destroy_stream(self.handle.get()) });
    }
}

/// A point in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    context: Arc<Context>,
    handle: Handle<CUevent_st>,
    recorded: AtomicBool,
}

impl Event {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self> {
        let handle = context.with(Raw::create_event)?;
        Ok(Self { context: context.clone(), handle: Handle::new(handle), recorded: AtomicBool::new(false) })
    }

    /// Itself, if it is an event of this context.
    pub(super) fn of(&self, context: &Context) -> Result<&Self> {
        if self.context.same(context) { Ok(self) } else { Err(Error::WrongDevice { what: "event" }) }
    }

    pub(super) fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: both are alive.
        self.context.with(|raw| unsafe { raw.record(self.handle.get(), stream.handle.get()) })?;
        self.recorded.store(true, Ordering::Release);
        Ok(())
    }

    /// Waits until it has happened.
    pub(crate) fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        self.context.with(|raw| unsafe { raw.synchronize_event(self.handle.get()) })
    }

    /// Time from this event to another, after waiting for both.
    pub(super) fn elapsed(&self, end: &Self) -> Result<Duration> {
        for event in [self, end] {
            if !event.recorded.load(Ordering::Acquire) {
                return Err(Error::EventNotRecorded);
            }
            event.synchronize()?;
        }
        let (start, end) = (self.handle.get(), end.handle.get());
        // SAFETY: both are alive.
        let milliseconds = self.context.with(|raw| unsafe { raw.elapsed_milliseconds(start, end) })?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed only here.
        self.context.release("an event", |raw| unsafe { raw.destroy_event(self.handle.get()) });
    }
}
