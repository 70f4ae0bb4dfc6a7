//! The directory of a campaign, and words about files in it that do not count.

use std::path::{Path, PathBuf};

use warpmp_collatz::{
    campaign::{Campaign, Contents, FolderError, Mode, Opened, Specification},
    certificate::Damage,
};

use super::{CollatzFailure, range::starts};
use crate::{
    commands::note_opened,
    console,
    error::{Error, Result},
};

/// Files or gaps that are listed; there may be thousands.
pub(super) const LISTED: usize = 20;

/// The campaign of a directory, to look at it.
///
/// # Errors
/// [`CollatzFailure::NoCampaign`]; the campaign's.
pub(super) fn look(folder: &Path) -> Result<Campaign> {
    Campaign::open(folder).map_err(|error| match error {
        error if error.is_not_found() => CollatzFailure::NoCampaign { folder: folder.display().to_string() }.into(),
        error => error.into(),
    })
}

/// Opens a directory for work on a campaign, and says what it finds. Broken files are moved aside; files in good order that are not
/// trusted are moved aside only with `redo`. Also returns the new names of the files.
///
/// # Errors
/// [`CollatzFailure::Untrusted`] without `redo`; the campaign's.
pub(super) fn open(
    folder: &Path,
    specification: &Specification,
    redo: bool,
    mode: Mode,
    quiet: bool,
) -> Result<(Opened, Vec<String>)> {
    let opened = Opened::new(folder, specification, mode)?;
    note_opened(folder, opened.stale(), opened.restored(), quiet);
    let folder = folder.display();
    if let (Some(before), false) = (opened.extended(), quiet) {
        let (before, now) = (starts(&before.whole()), starts(&specification.whole()));
        console::note(&format!("note: {folder} is extended: {before} before, {now} from now on"));
    }
    note_others(&opened.contents);
    let damaged = &opened.contents.damaged;
    if mode.is_shared && !damaged.is_empty() {
        damaged.iter().take(LISTED).for_each(|damaged| console::note(&line(damaged)));
        let in_order = damaged.iter().any(|(_, damage)| !damage.is_broken());
        return Err(CollatzFailure::InTheWay { folder: folder.to_string(), files: damaged.len(), in_order }.into());
    }
    let moved = opened.clear(redo).map_err(|error| match error {
        warpmp_collatz::Error::Campaign(FolderError::Untrusted { files, .. }) => {
            opened.contents.damaged.iter().for_each(|damaged| console::note(&line(damaged)));
            CollatzFailure::Untrusted { folder: folder.to_string(), files: files.len() }.into()
        }
        error => Error::from(error),
    })?;
    for aside in &moved {
        console::note(&format!("{aside}, and its window is done again"));
    }
    let moved = moved.into_iter().map(|aside| aside.to.display().to_string()).collect();
    Ok((opened, moved))
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

/// The names of the files that are left alone.
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
pub(super) fn complete(folder: &Path, campaign: &Campaign, contents: &Contents) -> Result<()> {
    match campaign.specification().missing(&contents.done) {
        0 => Ok(()),
        missing => Err(CollatzFailure::Incomplete { folder: folder.display().to_string(), missing }.into()),
    }
}
