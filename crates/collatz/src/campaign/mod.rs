//! A range of starts, verified window by window into a directory.
//!
//! ```text
//! DIR/campaign.json                  the range, the windows' size and the scheme, sealed
//! DIR/lock                           held by the process at work; the system lets go of it when that ends, however it ends
//! DIR/FROM-COUNT.json                a certificate a window
//! DIR/NAME.aside, NAME.aside-2, …    what was in the way of one of them
//! ```
//!
//! The windows are cut at multiples of their size; a window is done if its certificate is there, whole and of this program and rules. So a
//! campaign that was killed at any moment resumes with exactly the windows that are missing.
//!
//! No file is ever deleted or overwritten that this program has not written for itself: what stands in the way is moved aside, and
//! what does not is left alone.

mod lock;
mod restore;
mod specification;
mod work;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub use lock::Lock;
pub use restore::{Begun, Remains, Restored};
pub use specification::Specification;
pub use work::{Event, run};

use crate::{
    certificate::{Certificate, Damage, TEMPORARY, load, seal},
    error::{Error, Result},
    window::Window,
};

const SPECIFICATION: &str = "campaign.json";

/// What a directory holds.
#[derive(Debug)]
pub struct Contents {
    /// Trusted certificates of the campaign's windows, in the windows' order.
    pub done: Vec<Certificate>,
    /// Files that are not trusted, and why. They have the names of windows, and are in the way of those.
    pub damaged: Vec<(PathBuf, Damage)>,
    /// Other `.json` files, which are in nobody's way: they have no name of a window of this campaign.
    pub others: Vec<PathBuf>,
}

/// A campaign's directory.
#[derive(Debug)]
pub struct Campaign {
    folder: PathBuf,
    specification: Specification,
    restored: Option<Restored>,
}

impl Campaign {
    /// Opens the campaign of a directory, as it is.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if its description is damaged or of another program or rule set; [`Error::LostDescription`] if
    /// it is lost or broken, and certificates are there.
    pub fn open(folder: &Path) -> Result<Self> {
        match restore::description(folder)? {
            Ok(specification) => Ok(Self { folder: folder.to_owned(), specification, restored: None }),
            Err(lost) => Err(lost.error(folder)?),
        }
    }

    /// Opens the directory for work on this campaign, making it if it is not there. A description that is lost or broken is written anew, if
    /// all certificates that are there are of this campaign; [`Campaign::restored`] tells.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if the directory's description is of another program or rule set, or a certificate is where there
    /// is no description; [`Error::Locked`] if another process works there; [`Error::OtherCampaign`] or [`Error::OtherCertificates`] if the directory has a campaign that is not the same.
    pub fn create(folder: &Path, specification: &Specification) -> Result<(Self, Lock)> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let lock = Lock::take(folder)?;
        let mut campaign = Self { folder: folder.to_owned(), specification: specification.clone(), restored: None };
        match restore::description(folder)? {
            Ok(found) if found == *specification => {}
            Ok(found) => {
                let path = folder.join(SPECIFICATION);
                return Err(Error::OtherCampaign { path, range: found.range, window_count: found.window_count });
            }
            Err(lost) => {
                campaign.restored = lost.restore(&campaign)?;
                seal(&folder.join(SPECIFICATION), specification)?;
            }
        }
        // What a killed process had begun to write. The lock is held: nobody is writing now.
        for entry in fs::read_dir(folder).map_err(Error::file(folder))?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok((campaign, lock))
    }

    /// How the description was written anew, if it was.
    pub fn restored(&self) -> Option<&Restored> {
        self.restored.as_ref()
    }

    /// What the campaign is about.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// The file of a window's certificate.
    pub fn path(&self, window: &Window) -> PathBuf {
        self.folder.join(name(window))
    }

    /// Is this the name of the certificate of a window of this campaign?
    fn is_ours(&self, path: &Path) -> bool {
        let window = named(path);
        window.is_some_and(|window| self.specification.number(&window).is_some() && self.path(&window) == path)
    }

    /// Reads all certificates.
    ///
    /// # Errors
    /// [`Error::File`] if the directory or a certificate cannot be read.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents { done: Vec::new(), damaged: Vec::new(), others: Vec::new() };
        for path in json_files(&self.folder)? {
            if !self.is_ours(&path) {
                contents.others.push(path);
                continue;
            }
            match load(&path) {
                Ok(found) => match found.and_then(|certificate| self.belongs(&path, certificate)) {
                    Ok(certificate) => contents.done.push(certificate),
                    Err(damage) => contents.damaged.push((path, damage)),
                },
                // It was moved in the meantime.
                Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        contents.done.sort_by_key(|certificate| certificate.window);
        Ok(contents)
    }

    /// Moves a file out of the way, to a name that no file has; that name. Who calls this has the directory's lock.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn set_aside(path: &Path) -> Result<PathBuf> {
        restore::set_aside(path)
    }

    /// The certificate, if it is one of this campaign and stands under its own name.
    fn belongs(&self, path: &Path, certificate: Certificate) -> Result<Certificate, Damage> {
        let misplaced = |what: String| Err(Damage::Misplaced { what });
        if certificate.scheme != self.specification.scheme {
            return misplaced(format!("scheme {:?}", certificate.scheme));
        }
        if path != self.path(&certificate.window) {
            return misplaced(format!("window {}", certificate.window));
        }
        Ok(certificate)
    }
}

impl Contents {
    /// Starts that trusted certificates cover.
    pub fn covered(&self) -> u128 {
        self.done.iter().map(|certificate| certificate.window.count()).sum()
    }

    /// Starts of the range that are not covered.
    pub fn missing(&self, range: &Window) -> u128 {
        self.gaps(range).iter().map(Window::count).sum()
    }

    /// What of the range is not covered, in order, neighbouring windows joined.
    pub fn gaps(&self, range: &Window) -> Vec<Window> {
        let mut gaps = Vec::new();
        let mut next = range.from();
        for certificate in &self.done {
            gaps.extend(Window::of(next..certificate.window.from()));
            next = next.max(certificate.window.end());
        }
        gaps.extend(Window::of(next..range.end()));
        gaps
    }
}

/// The file name of a window's certificate.
fn name(window: &Window) -> String {
    format!("{:039}-{}.json", window.from(), window.count())
}

/// The window of which a file has the name of the certificate.
fn named(path: &Path) -> Option<Window> {
    let text = path.file_name()?.to_str()?;
    let (from, count) = text.strip_suffix(".json")?.split_once('-')?;
    let window = Window::new(from.parse().ok()?, count.parse().ok()?).ok()?;
    (name(&window) == text).then_some(window)
}

/// The `.json` files of a directory but for the description, by name.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name != SPECIFICATION && !name.starts_with('.') && name.ends_with(".json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
