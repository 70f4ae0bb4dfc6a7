//! The windows of a campaign, dealt to engines.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::{
    certificate::{Certificate, Scheme},
    engine::{Control, Engine},
    error::{Error, Result},
    window::Window,
};

/// A window may fail so often on a lost device before the campaign gives up.
const ATTEMPTS: u32 = 3;

/// What happens while windows are worked on.
#[derive(Debug)]
pub enum Event {
    /// A window is done.
    Done(Box<Certificate>),
    /// A device failed under a window, which will be done again. After two failures in a row the engine retires, if others are
    /// left.
    Lost {
        /// The window.
        window: Window,
        /// What happened.
        error: Error,
    },
}

/// Deals the windows to the engines, one each at a time, and shows `each` what happens, in the order in which it happens.
///
/// A device's failure costs its window only, which goes back to the others, or to the same engine if it is the last one.
///
/// # Errors
/// The first error of an engine that is not a device's, or of `each`; [`Error::Stopped`]. All engines stop then.
pub fn run(
    scheme: &Scheme,
    windows: impl IntoIterator<Item = Window>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    mut each: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    let queue: Mutex<VecDeque<(Window, u32)>> = Mutex::new(windows.into_iter().map(|window| (window, 0)).collect());
    let controls: Vec<&Control> = engines.iter().map(|(_, control)| *control).collect();
    let working = AtomicUsize::new(controls.len());
    let (sender, events) = mpsc::channel();
    thread::scope(|scope| {
        for (mut engine, control) in engines {
            let sender = sender.clone();
            let (queue, working) = (&queue, &working);
            scope.spawn(move || {
                let mut lost = 0;
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some((window, attempts)) = next else { return };
                    let made = Certificate::make(scheme, &window, engine.as_mut(), control);
                    let event = match made {
                        Err(error @ Error::Device(_)) if attempts + 1 < ATTEMPTS => {
                            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                            queue.push_back((window, attempts + 1));
                            Ok(Event::Lost { window, error })
                        }
                        made => made.map(|certificate| Event::Done(Box::new(certificate))),
                    };
                    lost = if matches!(event, Ok(Event::Lost { .. })) { lost + 1 } else { 0 };
                    let failed = event.is_err();
                    if sender.send(event).is_err() || failed {
                        return;
                    }
                    // The last engine stays: somebody has to say in the end that the work cannot be done.
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
                for control in &controls {
                    control.stop();
                }
                queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
        }
        result
    })
}
