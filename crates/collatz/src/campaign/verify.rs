//! The windows of a campaign, dealt to engines.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use warpmp_campaign::{Claimed, Mode, Stored};

use super::{Aside, Campaign, Contents, Event, FolderError, Lock, Restored, Specification, Sums};
use crate::{
    certificate::Certificate,
    engine::{Control, Engine},
    error::{Error, Result},
    scheme::Scheme,
    window::Window,
};

/// A directory in which this process works.
#[derive(Debug)]
pub struct Opened {
    /// The campaign.
    pub campaign: Campaign,
    /// The files of the directory when it was opened.
    pub contents: Contents,
    /// Alone, or beside other processes.
    pub mode: Mode,
    lock: Lock,
}

/// The result of work in a directory.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// All certificates of the campaign, of this process and of others.
    pub all: Sums,
    /// The windows of this process.
    pub now: Sums,
    /// Certificates of this process whose windows another one had certified with other figures: one of both is wrong.
    pub disputed: Vec<PathBuf>,
}

impl Opened {
    /// Opens a directory for work on a campaign, and makes it if it is not there.
    ///
    /// # Errors
    /// As [`Campaign::enter`].
    pub fn new(folder: &Path, specification: &Specification, mode: Mode) -> Result<Self> {
        let (campaign, lock) = Campaign::enter(folder, specification, mode)?;
        let contents = campaign.contents()?;
        Ok(Self { campaign, contents, mode, lock })
    }

    /// The process that worked here and was killed.
    pub fn stale(&self) -> Option<&str> {
        self.lock.stale()
    }

    /// How the specification was written again, if it was.
    pub fn restored(&self) -> Option<&Restored> {
        self.campaign.restored()
    }

    /// The campaign that the directory had, if this one extends it.
    pub fn extended(&self) -> Option<&Specification> {
        self.campaign.extended()
    }

    /// Moves damaged files out of the way, so that their windows are done again; with `redo` also files in good order that are not
    /// trusted. In a directory that processes share, none is moved.
    ///
    /// # Errors
    /// As [`Campaign::clear`].
    pub fn clear(&self, redo: bool) -> Result<Vec<Aside>> {
        if self.mode.is_shared {
            return Ok(Vec::new());
        }
        Ok(self.campaign.clear(&self.contents, redo)?)
    }
}

/// A window, and the right to work on it where processes share a directory.
type Held = (Window, Option<Claimed<Window>>);

/// Verifies the windows of a campaign that are missing, on all engines at the same time, and stores their certificates in `opened`;
/// without it, all windows are missing, and nothing is stored. `each` sees what happens.
///
/// # Errors
/// As [`run`].
pub fn verify(
    specification: &Specification,
    opened: Option<&Opened>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    mut each: impl FnMut(&Event) + Send,
) -> Result<Verified> {
    let done = opened.map_or(&[][..], |opened| &opened.contents.done);
    let mut verified = Verified { all: done.iter().collect(), ..Verified::default() };
    // While a process waits for the windows of others, its first engine's control stops it.
    let waiting = Control::default();
    let control = engines.first().map_or(&waiting, |(_, control)| *control);
    let go_on = || control.check().is_ok();
    let failed: Mutex<Option<FolderError>> = Mutex::new(None);
    let windows: Box<dyn Iterator<Item = Held> + Send> = match opened {
        None => Box::new((0..specification.windows()).map_while(|number| Some((specification.window(number)?, None)))),
        Some(opened) => Box::new(opened.campaign.units(&opened.contents, opened.mode, &go_on)?.map_while(|claimed| {
            let fail = |error| *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            let claimed = claimed.map_err(fail).ok()?;
            Some((claimed.unit, Some(claimed)))
        })),
    };
    let scheme = |window: &Window| specification.scheme_of(window).unwrap_or(specification.scheme);
    run_each(
        |(window, _): &Held| (scheme(window), *window),
        windows,
        engines,
        |event| {
            if let (Event::Done(_, certificate), Some(opened)) = (&event, opened)
                && let Stored::Differs(path) = opened.campaign.store(certificate)?
            {
                verified.disputed.push(path);
            }
            if let Event::Done(_, certificate) = &event {
                verified.all.add(certificate);
                verified.now.add(certificate);
            }
            each(&event);
            Ok(())
        },
    )?;
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error.into());
    }
    // Others have worked, too, and a process that was stopped while it waited has left windows to them.
    if let Some(opened) = opened.filter(|opened| opened.mode.is_shared) {
        let contents = opened.campaign.contents()?;
        if opened.campaign.missing(&contents, opened.mode.part).next().is_some() {
            control.check()?;
        }
        verified.all = contents.done.iter().collect();
    }
    Ok(verified)
}

/// Deals the windows to the engines, one window at a time for each, and shows `each` what happens, in the order in which it happens.
///
/// A device's failure costs only its window: another engine does it again, or the same one if it is the last.
///
/// # Errors
/// The first error of an engine that is not its device's, or of `each`; [`Error::Stopped`]. All engines stop then.
pub fn run(
    scheme: &Scheme,
    windows: impl IntoIterator<Item = Window, IntoIter: Send>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    each: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    run_each(|window: &Window| (*scheme, *window), windows, engines, each)
}

/// As [`run`], for anything that tells its window and its scheme.
fn run_each<U: Clone + Send>(
    task: impl Fn(&U) -> (Scheme, Window) + Copy + Send,
    units: impl IntoIterator<Item = U, IntoIter: Send>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    mut each: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    let controls: Vec<&Control> = engines.iter().map(|(_, control)| *control).collect();
    let worker = |(mut engine, control): (Box<dyn Engine>, _)| {
        move |unit: &U| {
            let (scheme, window) = task(unit);
            Certificate::make(&scheme, &window, engine.as_mut(), control)
        }
    };
    let is_lost = |error: &Error| matches!(error, Error::Device(_));
    let stop = || controls.iter().for_each(|control| control.stop());
    // A unit is kept until its certificate is stored: then its claim may go.
    let each = |event: warpmp_campaign::Event<U, Certificate, Error>| match event {
        warpmp_campaign::Event::Done(unit, certificate) => each(Event::Done(task(&unit).1, certificate)),
        warpmp_campaign::Event::Lost(unit, error) => each(Event::Lost(task(&unit).1, error)),
    };
    warpmp_campaign::deal(units.into_iter(), engines.into_iter().map(worker).collect(), is_lost, stop, each)
}
