//! The directory of a campaign, opened for work; and what is said of files in it that do not count.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use warpmp_collatz::{
    campaign::{Campaign, Contents, Lock, Specification},
    certificate::Damage,
    window::Window,
};

use super::{CollatzFailure, sums::Sums};
use crate::{console, error::Result};

/// Files or gaps that are listed; there may be thousands.
pub(super) const LISTED: usize = 20;

/// A directory at whose windows this process works; by default none.
#[derive(Default)]
pub(super) struct Opened {
    campaign: Option<(Campaign, Lock)>,
    /// Windows that are done.
    pub(super) done: HashSet<Window>,
    /// What those add up to.
    pub(super) sums: Sums,
    /// The new names of files that were in the way.
    pub(super) aside: Vec<String>,
    /// Files that are not of the campaign.
    pub(super) others: Vec<String>,
}

impl Opened {
    /// The campaign, if there is a directory.
    pub(super) fn campaign(&self) -> Option<&Campaign> {
        self.campaign.as_ref().map(|(campaign, _)| campaign)
    }
}

/// Opens a directory for work on a campaign. Broken files are moved aside; files that are in good order, but not to be trusted, are only
/// if `redo`.
///
/// # Errors
/// [`CollatzFailure::Untrusted`] if not; and if the directory cannot be had.
pub(super) fn open(folder: &str, specification: &Specification, redo: bool, quiet: bool) -> Result<Opened> {
    let (campaign, lock) = Campaign::create(Path::new(folder), specification)?;
    if let (Some(holder), false) = (lock.stale(), quiet) {
        console::note(&format!("note: {folder} was left by {holder}, which has ended; going on from its certificates"));
    }
    if let Some(restored) = campaign.restored() {
        let was = match &restored.aside {
            Some(aside) => format!("was broken (now {})", aside.display()),
            None => "was lost".into(),
        };
        console::note(&format!(
            "note: {folder}/campaign.json {was}; written anew, {} certificates fit it",
            restored.certificates
        ));
    }
    let contents = campaign.contents()?;
    note_others(&contents);
    let keep = contents.damaged.iter().filter(|(_, damage)| !damage.is_broken()).count();
    let refused = keep > 0 && !redo;
    let mut aside = Vec::new();
    for damaged in &contents.damaged {
        if refused {
            console::note(&line(damaged));
            continue;
        }
        let now = Campaign::set_aside(&damaged.0)?.display().to_string();
        console::note(&format!("{}; it is now {now}, and its window is done again", line(damaged)));
        aside.push(now);
    }
    if refused {
        return Err(CollatzFailure::Untrusted { folder: folder.into(), files: keep }.into());
    }
    Ok(Opened {
        done: contents.done.iter().map(|certificate| certificate.window).collect(),
        sums: contents.done.iter().collect(),
        aside,
        others: names(&contents),
        campaign: Some((campaign, lock)),
    })
}

/// Names the files that are left alone, the first ones at least.
pub(super) fn note_others(contents: &Contents) {
    for path in contents.others.iter().take(LISTED) {
        console::note(&format!("note: {} is no certificate of this campaign, and is left alone", path.display()));
    }
    if contents.others.len() > LISTED {
        console::note(&format!("note: … and {} more files", contents.others.len() - LISTED));
    }
}

/// Of the files that are left alone.
pub(super) fn names(contents: &Contents) -> Vec<String> {
    contents.others.iter().map(|path| path.display().to_string()).collect()
}

/// A file that is not trusted, for people.
pub(super) fn line((path, damage): &(PathBuf, Damage)) -> String {
    format!("{}: {damage}", path.display())
}

/// Is every start of the range covered?
///
/// # Errors
/// [`CollatzFailure::Incomplete`] if not.
pub(super) fn complete(folder: &str, campaign: &Campaign, contents: &Contents) -> Result<()> {
    match contents.missing(&campaign.specification().range) {
        0 => Ok(()),
        missing => Err(CollatzFailure::Incomplete { folder: folder.into(), missing }.into()),
    }
}
