//! The windows of a campaign, dealt to engines.

use std::{collections::HashSet, path::Path};

use super::{Aside, Campaign, Contents, Event, Lock, Restored, Specification, Sums};
use crate::{
    certificate::Certificate,
    engine::{Control, Engine},
    error::{Error, Result},
    scheme::Scheme,
    window::Window,
};

/// A directory in which this process works alone.
#[derive(Debug)]
pub struct Opened {
    /// The campaign.
    pub campaign: Campaign,
    /// The files of the directory when it was opened.
    pub contents: Contents,
    lock: Lock,
}

impl Opened {
    /// Opens a directory for work on a campaign, and makes it if it is not there.
    ///
    /// # Errors
    /// As [`Campaign::create`].
    pub fn new(folder: &Path, specification: &Specification) -> Result<Self> {
        let (campaign, lock) = Campaign::create(folder, specification)?;
        let contents = campaign.contents()?;
        Ok(Self { campaign, contents, lock })
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
    /// trusted.
    ///
    /// # Errors
    /// As [`Campaign::clear`].
    pub fn clear(&self, redo: bool) -> Result<Vec<Aside>> {
        Ok(self.campaign.clear(&self.contents, redo)?)
    }
}

/// Verifies the windows of a campaign that are missing, on all engines at the same time, and stores their certificates in `opened`;
/// without it, all windows are missing, and nothing is stored. `each` sees what happens. The sums are those of the whole campaign.
///
/// # Errors
/// As [`run`].
pub fn verify(
    specification: &Specification,
    opened: Option<&Opened>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    mut each: impl FnMut(&Event) + Send,
) -> Result<Sums> {
    let done = opened.map_or(&[][..], |opened| &opened.contents.done);
    let mut sums: Sums = done.iter().collect();
    let windows: HashSet<Window> = done.iter().map(|certificate| certificate.window).collect();
    let all = (0..specification.windows()).filter_map(|number| specification.window(number));
    let missing = all.filter(|window| !windows.contains(window));
    let scheme = |window: &Window| specification.scheme_of(window).unwrap_or(specification.scheme);
    run_each(scheme, missing, engines, |event| {
        if let (Event::Done(_, certificate), Some(opened)) = (&event, opened) {
            opened.campaign.store(certificate)?;
        }
        if let Event::Done(_, certificate) = &event {
            sums.add(certificate);
        }
        each(&event);
        Ok(())
    })?;
    Ok(sums)
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
    run_each(|_| *scheme, windows, engines, each)
}

/// As [`run`], with a scheme for each window.
fn run_each(
    scheme: impl Fn(&Window) -> Scheme + Copy + Send,
    windows: impl IntoIterator<Item = Window, IntoIter: Send>,
    engines: Vec<(Box<dyn Engine>, &Control)>,
    each: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    let controls: Vec<&Control> = engines.iter().map(|(_, control)| *control).collect();
    let worker = |(mut engine, control): (Box<dyn Engine>, _)| {
        move |window: &Window| Certificate::make(&scheme(window), window, engine.as_mut(), control)
    };
    let is_lost = |error: &Error| matches!(error, Error::Device(_));
    let stop = || controls.iter().for_each(|control| control.stop());
    warpmp_campaign::deal(windows.into_iter(), engines.into_iter().map(worker).collect(), is_lost, stop, each)
}
