//! Where results go: standard output, a device, a pipe, or a file that appears whole.
//!
//! A file gets a temporary name in the same directory; when it is complete and on the disk, it is renamed. If anything
//! fails, or the program is interrupted, the temporary file is removed, and an older file of the name stays as it was.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::error::{FileError, inner};
use crate::{
    error::{Error, Result},
    interrupt,
};

/// An open output.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    destination: Destination,
}

#[derive(Debug)]
enum Destination {
    Stdout(io::Stdout),
    /// A device or a pipe: there is nothing to rename.
    Special(File),
    Aside {
        /// Gone once it is complete.
        file: Option<NamedTempFile>,
        target: PathBuf,
    },
}

impl Output {
    /// Opens the output `name`; none or `-` is standard output.
    ///
    /// # Errors
    /// [`FileError::SamePath`] if it is one of `inputs`, under any name; [`FileError::Write`] if it cannot be
    /// written.
    pub(crate) fn open(name: Option<&str>, inputs: &[&str]) -> Result<Self> {
        let Some(name) = name.filter(|name| *name != "-") else {
            refuse_same("standard output", stdout_identity(), inputs)?;
            return Ok(Self { name: "standard output".into(), destination: Destination::Stdout(io::stdout()) });
        };
        refuse_same(name, fs::metadata(name).ok().and_then(|metadata| identity(&metadata)), inputs)?;
        let destination = open_destination(name).map_err(|source| Error::write(name, source))?;
        Ok(Self { name: name.into(), destination })
    }

    /// Is it standard output, and standard output a terminal?
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(&self.destination, Destination::Stdout(stdout) if stdout.is_terminal())
    }

    /// Is it standard output?
    pub(crate) const fn is_stdout(&self) -> bool {
        matches!(self.destination, Destination::Stdout(_))
    }

    /// A second handle to a file that can be written at any place and read back; none for a stream.
    pub(crate) fn seekable(&self) -> Option<Result<File>> {
        match &self.destination {
            Destination::Aside { file: Some(file), .. } => {
                Some(File::options().read(true).write(true).open(file.path()).map_err(|source| self.error(source)))
            }
            _ => None,
        }
    }

    /// Appends bytes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.destination {
            Destination::Stdout(stdout) => stdout.write_all(bytes),
            Destination::Special(file) => file.write_all(bytes),
            Destination::Aside { file: Some(file), .. } => file.as_file_mut().write_all(bytes),
            Destination::Aside { file: None, .. } => Ok(()),
        };
        written.map_err(|source| self.error(source))
    }

    /// Brings a file to the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        match &self.destination {
            Destination::Aside { file: Some(file), .. } => {
                file.as_file().sync_all().map_err(|source| self.error(source))
            }
            _ => Ok(()),
        }
    }

    /// Everything is written: makes it appear under its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let finished = match &mut self.destination {
            Destination::Stdout(stdout) => stdout.flush(),
            Destination::Special(file) => file.flush(),
            Destination::Aside { file, target } => file.take().map_or(Ok(()), |file| complete(file, target)),
        };
        finished.map_err(|source| self.error(source))
    }

    /// A failure of this output.
    pub(crate) fn error(&self, source: io::Error) -> Error {
        Error::write(&self.name, source)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Destination::Aside { file: Some(file), .. } = &self.destination {
            let path = file.path().to_owned();
            let mut unfinished = interrupt::unfinished();
            let _ = fs::remove_file(&path);
            unfinished.retain(|other| *other != path);
        }
    }
}

fn open_destination(name: &str) -> io::Result<Destination> {
    // A link stays a link: the file that it leads to is replaced.
    let target = fs::canonicalize(name).unwrap_or_else(|_| missing(Path::new(name)));
    let existing = fs::metadata(&target).ok();
    match &existing {
        Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(metadata) if !metadata.is_file() => {
            return Ok(Destination::Special(OpenOptions::new().write(true).open(&target)?));
        }
        // A file that may not be written may not be replaced either.
        Some(_) => drop(OpenOptions::new().append(true).open(&target)?),
        None => {}
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let stem = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
    let mut unfinished = interrupt::unfinished();
    let file = aside(&stem, directory)?;
    unfinished.push(file.path().to_owned());
    if let Some(metadata) = existing {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(Destination::Aside { file: Some(file), target })
}

/// The file to make for a name that leads to no file: the name itself, or the target of a link.
fn missing(name: &Path) -> PathBuf {
    let linked = fs::read_link(name).ok();
    linked.map_or_else(|| name.into(), |file| name.parent().map_or_else(|| file.clone(), |folder| folder.join(&file)))
}

#[cfg(unix)]
fn aside(stem: &str, directory: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut builder = tempfile::Builder::new();
    // The permissions of any new file, less the process's mask.
    builder.permissions(fs::Permissions::from_mode(0o666));
    builder.prefix(&format!(".{stem}.")).suffix(".tmp").tempfile_in(directory).map_err(inner)
}

#[cfg(not(unix))]
fn aside(stem: &str, directory: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(&format!(".{stem}.")).suffix(".tmp").tempfile_in(directory).map_err(inner)
}

fn complete(file: NamedTempFile, target: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    let mut unfinished = interrupt::unfinished();
    let path = file.path().to_owned();
    let renamed = file.persist(target);
    unfinished.retain(|other| *other != path);
    renamed.map(drop).map_err(|error| error.error)
}

/// Refuses a name of the same file as an earlier name. Devices may be written twice.
///
/// # Errors
/// [`FileError::SameOutput`].
pub(crate) fn refuse_twice(names: &[impl AsRef<str>]) -> Result<()> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let is_device = |name: &str| fs::metadata(name).is_ok_and(|it| !it.is_file());
    let place = |name: &str| -> Option<PathBuf> {
        let path = std::path::absolute(name).ok()?;
        let file = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
        fs::canonicalize(&path).ok().or_else(file)
    };
    let same = |one: &str, other: &str| one == other || place(one).is_some_and(|it| Some(it) == place(other));
    let again = |(i, name): &(usize, &&str)| !is_device(name) && names[..*i].iter().any(|it| same(it, name));
    match names.iter().enumerate().find(again) {
        Some((_, name)) => Err(FileError::SameOutput { path: (*name).into() }.into()),
        None => Ok(()),
    }
}

fn refuse_same(name: &str, output: Option<Identity>, inputs: &[&str]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    let same = |input: &&&str| fs::metadata(input).ok().and_then(|metadata| identity(&metadata)) == Some(output);
    match inputs.iter().find(same) {
        None => Ok(()),
        Some(input) if name == "standard output" => Err(FileError::SamePath { path: (*input).into() }.into()),
        Some(_) => Err(FileError::SamePath { path: name.into() }.into()),
    }
}

/// The identity of a regular file under any name: device and number.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn stdout_identity() -> Option<Identity> {
    use std::os::fd::AsFd as _;
    let file = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    identity(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<Identity> {
    None
}

#[cfg(not(unix))]
fn stdout_identity() -> Option<Identity> {
    None
}
