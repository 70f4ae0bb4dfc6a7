//! A range of starts, verified window by window into a directory.
//!
//! ```text
//! DIR/campaign.json                  the range, the windows' size and the scheme, sealed
//! DIR/lock                           held by the process at work; the system lets go of it when that ends, however it ends
//! DIR/FROM-COUNT.json                a certificate a window
//! ```
//!
//! The windows are cut at multiples of their size; a window is done if its certificate is there, whole and of this program and rules. So a
//! campaign that was killed at any moment resumes with exactly the windows that are missing.

mod lock;
mod work;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub use lock::Lock;
pub use work::{Event, run};

use crate::{
    certificate::{Certificate, Damage, PROGRAM, Scheme, TEMPORARY, fingerprint, load, seal, unseal},
    error::{Error, Result},
    window::Window,
};

const SPECIFICATION: &str = "campaign.json";

/// What a campaign is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// The range.
    pub range: Window,
    /// Starts of a window; the last one may have fewer.
    pub window_count: String,
    /// The scheme.
    pub scheme: Scheme,
    /// The program.
    pub program: String,
    /// The rules' fingerprint.
    pub rules: String,
}

impl Specification {
    /// A campaign of this program.
    ///
    /// # Errors
    /// [`Error::ZeroCount`] for windows without starts.
    pub fn new(range: Window, window_count: u128, scheme: Scheme) -> Result<Self> {
        if window_count == 0 {
            return Err(Error::ZeroCount);
        }
        let window_count = window_count.min(range.count()).to_string();
        Ok(Self { range, window_count, scheme, program: PROGRAM.into(), rules: fingerprint() })
    }

    /// Starts of a window; 1 if the text is no number, which no sealed file has.
    fn size(&self) -> u128 {
        self.window_count.parse().unwrap_or(1).max(1)
    }

    /// How many windows there are. They are cut at multiples of their size, which suits engines that need alignment: the first one
    /// may have fewer starts, too.
    pub fn windows(&self) -> u128 {
        (self.range.end() - 1) / self.size() - self.range.from() / self.size() + 1
    }

    /// The window with this number.
    pub fn window(&self, number: u128) -> Option<Window> {
        let from = (self.range.from() / self.size()).checked_add(number)?.checked_mul(self.size())?;
        Window::of(from.max(self.range.from())..from.checked_add(self.size())?.min(self.range.end()))
    }

    /// The number of this window; none if it is not one of the campaign's.
    pub fn number(&self, window: &Window) -> Option<u128> {
        let number = (window.from() / self.size()).checked_sub(self.range.from() / self.size())?;
        (self.window(number) == Some(*window)).then_some(number)
    }
}

/// What a directory holds.
#[derive(Debug)]
pub struct Contents {
    /// Trusted certificates of the campaign's windows, in the windows' order.
    pub done: Vec<Certificate>,
    /// Files that are not trusted, and why.
    pub damaged: Vec<(PathBuf, Damage)>,
}

/// A campaign's directory.
#[derive(Debug)]
pub struct Campaign {
    folder: PathBuf,
    specification: Specification,
}

impl Campaign {
    /// Opens the campaign of a directory, as it is.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if its description is damaged or of another program or rule set.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(SPECIFICATION);
        let not_trusted = |damage| Error::NotTrusted { path: path.clone(), damage };
        let specification: Specification = unseal(&path)?.map_err(not_trusted)?;
        let foreign = |what: &str, found: &str| not_trusted(Damage::Foreign { what: what.into(), found: found.into() });
        if specification.program != PROGRAM {
            return Err(foreign("program", &specification.program));
        }
        if specification.rules != fingerprint() {
            return Err(foreign("rules", &specification.rules));
        }
        if !specification.scheme.is_valid() {
            return Err(foreign("scheme", &format!("{:?}", specification.scheme)));
        }
        Ok(Self { folder: folder.to_owned(), specification })
    }

    /// Opens the directory for work on this campaign, making it if it is not there.
    ///
    /// # Errors
    /// As [`Campaign::open`]; [`Error::Locked`] if another process works there; [`Error::OtherCampaign`] if the directory has one
    /// that is not the same.
    pub fn create(folder: &Path, specification: &Specification) -> Result<(Self, Lock)> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let lock = Lock::take(folder)?;
        let path = folder.join(SPECIFICATION);
        let campaign = if path.exists() {
            Self::open(folder)?
        } else {
            seal(&path, specification)?;
            Self { folder: folder.to_owned(), specification: specification.clone() }
        };
        if campaign.specification != *specification {
            let found = campaign.specification;
            return Err(Error::OtherCampaign { path, range: found.range, window_count: found.window_count });
        }
        // What a killed process had begun to write. The lock is held: nobody is writing now.
        for entry in fs::read_dir(folder).map_err(Error::file(folder))?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok((campaign, lock))
    }

    /// What the campaign is about.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// The file of a window's certificate.
    pub fn path(&self, window: &Window) -> PathBuf {
        self.folder.join(format!("{:039}-{}.json", window.from(), window.count()))
    }

    /// Reads all certificates.
    ///
    /// # Errors
    /// [`Error::File`] if the directory or a file cannot be read.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents { done: Vec::new(), damaged: Vec::new() };
        let mut paths: Vec<PathBuf> = fs::read_dir(&self.folder)
            .map_err(Error::file(&self.folder))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(Error::file(&self.folder))?;
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name == SPECIFICATION || name.starts_with('.') || !name.ends_with(".json") {
                continue;
            }
            match load(&path)?.and_then(|certificate| self.belongs(&path, certificate)) {
                Ok(certificate) => contents.done.push(certificate),
                Err(damage) => contents.damaged.push((path, damage)),
            }
        }
        contents.done.sort_by_key(|certificate| certificate.window);
        Ok(contents)
    }

    /// The certificate, if it is one of this campaign and stands under its own name.
    fn belongs(&self, path: &Path, certificate: Certificate) -> Result<Certificate, Damage> {
        let misplaced = |what: String| Err(Damage::Misplaced { what });
        if certificate.scheme != self.specification.scheme {
            return misplaced(format!("scheme {:?}", certificate.scheme));
        }
        if self.specification.number(&certificate.window).is_none() {
            return misplaced(format!("window {}", certificate.window));
        }
        if path != self.path(&certificate.window) {
            return misplaced(format!("file name of window {}", certificate.window));
        }
        Ok(certificate)
    }
}

impl Contents {
    /// Starts that trusted certificates cover.
    pub fn covered(&self) -> u128 {
        self.done.iter().map(|certificate| certificate.window.count()).sum()
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
