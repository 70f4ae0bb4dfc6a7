//! The directory of a campaign.

use std::{
    collections::BTreeSet,
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::{
    error::{Damage, Error, Result},
    lock::Lock,
    part::{Mode, Part},
    restore::{self, Restored},
    seal::{TEMPORARY, seal, sealed, unseal, write_new},
    work::Work,
};

pub(crate) const SPECIFICATION: &str = "campaign.json";
/// The names of claims end with this.
pub(crate) const CLAIM: &str = ".claim";

/// A campaign's directory.
#[derive(Debug)]
pub struct Campaign<W> {
    pub(crate) folder: PathBuf,
    pub(crate) specification: W,
    pub(crate) restored: Option<Restored>,
    pub(crate) extended: Option<W>,
}

/// The files of a directory.
#[derive(Debug)]
pub struct Contents<W: Work> {
    /// The trusted certificates of the campaign, in the order of their units.
    pub done: Vec<W::Certificate>,
    /// Files with the name of a unit that are not trusted, and why not. They are in the way of that unit's certificate.
    pub damaged: Vec<(PathBuf, Damage)>,
    /// Other `.json` files: no unit of this campaign has their name, so they are in nobody's way.
    pub others: Vec<PathBuf>,
    /// Second certificates of a unit with another result. One of both is wrong: check both.
    pub disputed: Vec<PathBuf>,
    /// Claims: units that a process works on, or that a killed process has left.
    pub claims: usize,
}

/// A file that was moved out of the way.
#[derive(Clone, Debug)]
pub struct Aside {
    /// Its old name.
    pub from: PathBuf,
    /// Why it is not trusted.
    pub damage: Damage,
    /// Its new name.
    pub to: PathBuf,
}

/// The result of storing a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is stored.
    New,
    /// Another process had stored the same result.
    Again,
    /// Another process had stored another result: this one is stored beside it, and one of both is wrong.
    Differs(PathBuf),
}

impl fmt::Display for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; it is now {}", self.from.display(), self.damage, self.to.display())
    }
}

impl<W: Work> Campaign<W> {
    /// Opens the campaign of a directory to look at it.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if its specification is damaged, or another program version or rule set wrote it;
    /// [`Error::LostSpecification`] if the specification is lost or broken, and certificates are there.
    pub fn open(folder: &Path) -> Result<Self> {
        match restore::specification::<W>(folder)? {
            Ok(specification) => Ok(Self::of(folder, specification)),
            Err(lost) => Err(lost.error::<W>(folder)?),
        }
    }

    fn of(folder: &Path, specification: W) -> Self {
        Self { folder: folder.to_owned(), specification, restored: None, extended: None }
    }

    /// Opens a directory for one process that works alone on this campaign, and makes it if it is not there. A specification that
    /// is lost or broken is written again, if all certificates are of this campaign; [`Campaign::restored`] tells so. If this
    /// campaign extends the directory's ([`Work::extends`]), its specification is written; [`Campaign::extended`] tells so.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if another program version or rule set wrote the specification, or, where the
    /// specification is lost, a certificate; [`Error::Locked`] if another process works there; [`Error::OtherCampaign`] or
    /// [`Error::OtherCertificates`] if the directory has another campaign.
    pub fn create(folder: &Path, specification: &W) -> Result<(Self, Lock)> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let lock = Lock::take(folder)?;
        let mut campaign = Self::of(folder, specification.clone());
        match restore::specification::<W>(folder)? {
            Ok(found) if found == *specification => {}
            Ok(found) if specification.extends(&found) => {
                seal(&folder.join(SPECIFICATION), specification)?;
                campaign.extended = Some(found);
            }
            Ok(found) => return Err(campaign.other(&found)),
            Err(lost) => {
                campaign.restored = lost.restore(&campaign)?;
                seal(&folder.join(SPECIFICATION), specification)?;
            }
        }
        // Killed processes leave unfinished files. The lock is held: nobody is writing now.
        for entry in fs::read_dir(folder).map_err(Error::file(folder))?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok((campaign, lock))
    }

    /// Opens a directory that several processes share, on any hosts, and makes it if it is not there. Each process takes its units
    /// from [`Campaign::shared`].
    ///
    /// # Errors
    /// As [`Campaign::create`]; [`Error::LostSpecification`] too: only a process that works alone restores a specification.
    pub fn join(folder: &Path, specification: &W) -> Result<(Self, Lock)> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let lock = Lock::share(folder)?;
        let campaign = Self::of(folder, specification.clone());
        if let Err(lost) = campaign.found()? {
            if !lost.is_new::<W>(folder)? {
                return Err(lost.error::<W>(folder)?);
            }
            let path = folder.join(SPECIFICATION);
            // Another process may have been quicker.
            if !write_new(&path, &sealed(&path, specification)?)? {
                campaign.found()?.or_else(|lost| Err(lost.error::<W>(folder)?))?;
            }
        }
        Ok((campaign, lock))
    }

    /// Opens a directory as [`Campaign::create`] does, or as [`Campaign::join`] does if the work is shared.
    ///
    /// # Errors
    /// Theirs.
    pub fn enter(folder: &Path, specification: &W, mode: Mode) -> Result<(Self, Lock)> {
        if mode.is_shared { Self::join(folder, specification) } else { Self::create(folder, specification) }
    }

    /// Is the directory's specification this campaign's?
    fn found(&self) -> Result<Result<(), restore::Lost>> {
        match restore::specification::<W>(&self.folder)? {
            Ok(found) if found == self.specification => Ok(Ok(())),
            Ok(found) => Err(self.other(&found)),
            Err(lost) => Ok(Err(lost)),
        }
    }

    fn other(&self, found: &W) -> Error {
        Error::OtherCampaign { path: self.folder.join(SPECIFICATION), found: found.describe() }
    }

    /// The specification that the directory had before this one extended it; none if it was not extended now.
    pub fn extended(&self) -> Option<&W> {
        self.extended.as_ref()
    }

    /// How the specification was written again, if it was.
    pub fn restored(&self) -> Option<&Restored> {
        self.restored.as_ref()
    }

    /// The specification.
    pub fn specification(&self) -> &W {
        &self.specification
    }

    /// The directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a unit's certificate.
    pub fn path(&self, unit: &W::Unit) -> PathBuf {
        self.folder.join(file_name::<W>(unit))
    }

    /// Stores a certificate under its unit's name. If a trusted certificate is there already, both are compared.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotTrusted`] if another file is in the way. Nothing has changed then.
    pub fn store(&self, certificate: &W::Certificate) -> Result<Stored> {
        let path = self.path(&W::unit_of(certificate));
        let text = sealed(&path, certificate)?;
        while !write_new(&path, &text)? {
            match load::<W>(&path) {
                Ok(Ok(found)) if W::agree(&found, certificate) => return Ok(Stored::Again),
                Ok(Ok(_)) => {
                    // The same certificate may be stored again, as by a second copy of a directory.
                    let take =
                        |beside: &Path| Ok(write_new(beside, &text)? || fs::read(beside).is_ok_and(|it| it == text));
                    let beside = free_name(&path, "differs", take)?;
                    return Ok(Stored::Differs(beside));
                }
                Ok(Err(damage)) => return Err(Error::NotTrusted { path, damage }),
                // It was moved in the meantime.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Stored::New)
    }

    /// Reads all certificates.
    ///
    /// # Errors
    /// [`Error::File`] if the directory or a certificate cannot be read.
    pub fn contents(&self) -> Result<Contents<W>> {
        let (done, damaged, others, disputed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut contents = Contents { done, damaged, others, disputed, claims: 0 };
        for path in files(&self.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.contains(".json.differs") {
                contents.disputed.push(path);
                continue;
            }
            contents.claims += usize::from(name.ends_with(CLAIM));
            if !is_certificate(&name) {
                continue;
            }
            if named::<W>(&path).is_none_or(|unit| !self.specification.has(&unit)) {
                contents.others.push(path);
                continue;
            }
            match load::<W>(&path) {
                Ok(found) => match found.and_then(|certificate| self.belongs(&path, certificate)) {
                    Ok(certificate) => contents.done.push(certificate),
                    Err(damage) => contents.damaged.push((path, damage)),
                },
                // It was moved in the meantime.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        contents.done.sort_by_cached_key(W::unit_of);
        Ok(contents)
    }

    /// The trusted certificates of units that `known` does not have: what other processes have stored since the last look. Only their files
    /// are read. Files that are not trusted are passed over.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn news(&self, known: &BTreeSet<W::Unit>) -> Result<Vec<W::Certificate>> {
        let mut news = Vec::new();
        for path in files(&self.folder)? {
            let unit = named::<W>(&path).filter(|unit| self.specification.has(unit) && !known.contains(unit));
            if unit.is_none() {
                continue;
            }
            match load::<W>(&path) {
                Ok(found) => news.extend(found.and_then(|certificate| self.belongs(&path, certificate))),
                // It was moved in the meantime.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(news)
    }

    /// The units of a part that have no trusted certificate, in their order.
    pub fn missing<'a>(&'a self, contents: &Contents<W>, part: Part) -> impl Iterator<Item = W::Unit> + use<'a, W> {
        let done: BTreeSet<W::Unit> = contents.done.iter().map(W::unit_of).collect();
        let numbers = (0..self.specification.units()).filter(move |number| part.has(*number));
        let units = numbers.map_while(|number| self.specification.unit(number));
        units.filter(move |unit| !done.contains(unit))
    }

    /// Moves damaged files out of the way, so that their units can be done again: the broken ones, and with `redo` also those in good
    /// order that are not trusted. The caller has the directory's lock.
    ///
    /// # Errors
    /// [`Error::Untrusted`] if there are files in good order, and no `redo`: then nothing is moved. [`Error::File`].
    pub fn clear(&self, contents: &Contents<W>, redo: bool) -> Result<Vec<Aside>> {
        let in_order = contents.damaged.iter().filter(|(_, damage)| !damage.is_broken());
        let files: Vec<(PathBuf, Damage)> = in_order.cloned().collect();
        if !files.is_empty() && !redo {
            return Err(Error::Untrusted { folder: self.folder.clone(), files });
        }
        let move_aside = |(from, damage): &(PathBuf, Damage)| {
            Ok(Aside { from: from.clone(), damage: damage.clone(), to: set_aside(from)? })
        };
        contents.damaged.iter().map(move_aside).collect()
    }

    /// The certificate, if it is one of this campaign and stands under its own name.
    fn belongs(&self, path: &Path, certificate: W::Certificate) -> Result<W::Certificate, Damage> {
        self.specification.fits(&certificate)?;
        let unit = W::unit_of(&certificate);
        if path != self.path(&unit) {
            return Err(Damage::Misplaced { what: unit.to_string() });
        }
        Ok(certificate)
    }
}

/// Writes a certificate, whole. A file of that name is replaced.
///
/// # Errors
/// [`Error::File`]; nothing has changed then.
pub fn store<W: Work>(path: &Path, certificate: &W::Certificate) -> Result<()> {
    seal(path, certificate)
}

/// Reads a certificate that this program may trust: undamaged, of this version and with these rules.
///
/// # Errors
/// [`Error::File`] if it cannot be read; inside, [`Damage`] if it is not trusted.
pub fn load<W: Work>(path: &Path) -> Result<Result<W::Certificate, Damage>> {
    Ok(unseal::<W, W::Certificate>(path)?.and_then(|certificate| {
        W::check_certificate(&certificate)?;
        Ok(certificate)
    }))
}

/// The name of a unit's certificate.
pub(crate) fn file_name<W: Work>(unit: &W::Unit) -> String {
    format!("{}.json", W::name(unit))
}

/// The unit whose certificate has this file's name.
pub(crate) fn named<W: Work>(path: &Path) -> Option<W::Unit> {
    let name = path.file_name()?.to_str()?;
    let unit = W::named(name.strip_suffix(".json")?)?;
    (file_name::<W>(&unit) == name).then_some(unit)
}

/// Could this be the name of a certificate?
pub(crate) fn is_certificate(name: &str) -> bool {
    name != SPECIFICATION && !name.starts_with('.') && Path::new(name).extension().is_some_and(|it| it == "json")
}

/// All entries of a directory, by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(Error::file(folder)));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

impl<W: Work> Campaign<W> {
    /// Moves a file out of the way, to a new name, which it returns. The caller has the directory's lock.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn set_aside(path: &Path) -> Result<PathBuf> {
        set_aside(path)
    }
}

pub(crate) fn set_aside(path: &Path) -> Result<PathBuf> {
    free_name(path, "aside", |aside| {
        // A link that leads nowhere has its name, too.
        match fs::symlink_metadata(aside) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(aside)(error)),
            Ok(_) => return Ok(false),
        }
        fs::rename(path, aside).map_err(Error::file(path)).map(|()| true)
    })
}

/// The first of the names `PATH.WORD`, `PATH.WORD-2`, … that `take` takes.
fn free_name(path: &Path, word: &str, mut take: impl FnMut(&Path) -> Result<bool>) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut taken = path.with_file_name(format!("{name}.{word}"));
    for number in 2_u64.. {
        if take(&taken)? {
            break;
        }
        taken = path.with_file_name(format!("{name}.{word}-{number}"));
    }
    Ok(taken)
}
