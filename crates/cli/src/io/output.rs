//! Where results go: standard output, a device, a pipe, or a file that appears whole.
//!
//! A file is written aside ([`Aside`]). It gets its name when it is complete and on the disk. If anything fails, or the program is
//! interrupted, no new file appears, and an older file of the name stays as it was.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{STDIN, aside::Aside, compressed::Encoder, early::Early, error::FileError};
use crate::{
    closed, console,
    error::{Error, Result},
};

/// Names of standard output.
const STDOUT_NAMES: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// The most links that lead from one to the next; Linux follows as many.
const MOST_LINKS: usize = 40;

/// An open output.
#[derive(Debug)]
pub(crate) struct Output {
    /// For messages.
    name: String,
    destination: Destination,
    /// Compresses what is written, until the end.
    encoder: Option<Encoder>,
}

#[derive(Debug)]
enum Destination {
    Stdout(io::Stdout),
    /// A device or a pipe: there is nothing to rename.
    Special(File),
    Aside(Aside, Early),
}

impl Output {
    /// Opens the output `name`; none or `-` is standard output.
    ///
    /// # Errors
    /// [`FileError::SamePath`] or [`FileError::SameStreams`] if it is one of `inputs`, under any name; [`FileError::Write`] if it cannot
    /// be written.
    pub(crate) fn open(name: Option<&OsStr>, inputs: &[&OsStr]) -> Result<Self> {
        let Some(name) = name.filter(|name| *name != "-") else {
            console::check_stdout()?;
            refuse_same(None, stream_identity(io::stdout()), inputs)?;
            return Ok(Self {
                name: "standard output".into(),
                destination: Destination::Stdout(io::stdout()),
                encoder: None,
            });
        };
        refuse_same(Some(name), fs::metadata(name).ok().and_then(|metadata| identity(&metadata)), inputs)?;
        let name_shown = name.to_string_lossy().into_owned();
        let destination = open_destination(name.as_ref()).map_err(|source| Error::write(&name_shown, source))?;
        let encoder = Encoder::for_name(name).map_err(|source| Error::write(&name_shown, source))?;
        Ok(Self { name: name_shown, destination, encoder })
    }

    /// Opens the output `name` of a command that reads no files.
    ///
    /// # Errors
    /// As [`Output::open`].
    pub(crate) fn to(name: impl AsRef<OsStr>) -> Result<Self> {
        Self::open(Some(name.as_ref()), &[])
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
            _ if self.encoder.is_some() => None,
            Destination::Aside(aside, _) => Some(aside.file().try_clone().map_err(|source| self.error(source))),
            Destination::Stdout(_) | Destination::Special(_) => None,
        }
    }

    /// Appends bytes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.encoder {
            None => self.write_plain(bytes),
            Some(encoder) => {
                let compressed = encoder.encode(bytes).map_err(|source| Error::write(&self.name, source))?;
                self.write_plain(&compressed)
            }
        }
    }

    /// Writes what the encoder still holds.
    fn end_encoding(&mut self) -> Result<()> {
        let Some(encoder) = self.encoder.take() else { return Ok(()) };
        let compressed = encoder.finish().map_err(|source| self.error(source))?;
        self.write_plain(&compressed)
    }

    fn write_plain(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.destination {
            Destination::Stdout(stdout) => stdout.write_all(bytes),
            Destination::Special(file) => file.write_all(bytes),
            Destination::Aside(aside, early) => {
                let mut file = aside.file();
                file.write_all(bytes).and_then(|()| early.wrote(file, bytes.len() as u64))
            }
        };
        written.map_err(|source| self.error(source))
    }

    /// Everything is written: brings a file to the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.end_encoding()?;
        let synced = match &mut self.destination {
            Destination::Aside(aside, early) => early.join().and_then(|()| aside.file().sync_all()),
            Destination::Stdout(_) | Destination::Special(_) => Ok(()),
        };
        synced.map_err(|source| self.error(source))
    }

    /// Everything is written: makes it appear under its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.end_encoding()?;
        let finished = match self.destination {
            Destination::Stdout(mut stdout) => stdout.flush(),
            Destination::Special(mut file) => file.flush(),
            Destination::Aside(aside, mut early) => early.join().and_then(|()| aside.complete()),
        };
        finished.map_err(|source| Error::write(&self.name, source))
    }

    /// Writes all of it, and makes it appear under its name.
    pub(crate) fn write(mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes)?;
        self.finish()
    }

    /// The same for rows, as CSV below a line of names.
    pub(crate) fn write_csv(self, rows: impl IntoIterator<Item: Serialize>) -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            writer.serialize(row).map_err(|error| self.error(error.into()))?;
        }
        let bytes = writer.into_inner().map_err(|error| self.error(error.into_error()))?;
        self.write(&bytes)
    }

    /// A failure of this output.
    pub(crate) fn error(&self, source: io::Error) -> Error {
        Error::write(&self.name, source)
    }
}

/// Opens what has this name, or a file that will have it.
fn open_destination(name: &Path) -> io::Result<Destination> {
    if STDOUT_NAMES.iter().any(|other| name.as_os_str() == *other) && closed::stdout_was_closed() {
        return Err(closed::error());
    }
    // The system follows links that have no path, too: a pipe in /dev/fd.
    let existing = match fs::metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        metadata => Some(metadata?),
    };
    let Some(metadata) = existing else {
        return Ok(Destination::Aside(Aside::new(missing(name)?, None)?, Early::default()));
    };
    let stream =
        |name: &Path| Ok(Destination::Special(OpenOptions::new().write(true).truncate(metadata.is_file()).open(name)?));
    if !metadata.is_file() {
        return stream(name);
    }
    // A link stays a link: the file that it leads to is replaced. In /dev/fd there are files that have lost their names.
    let Ok(target) = fs::canonicalize(name) else { return stream(name) };
    // A file that may not be written may not be replaced either.
    drop(OpenOptions::new().append(true).open(&target)?);
    Ok(Destination::Aside(Aside::new(target, Some(metadata.permissions()))?, Early::default()))
}

/// The file to make for a name that leads to no file: the name itself, or the end of a chain of links.
fn missing(name: &Path) -> io::Result<PathBuf> {
    if name.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "there is no such directory, and a file needs a name without / at its end",
        ));
    }
    let mut end = name.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&end) else { return Ok(end) };
        end = end.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// Refuses a name of the same file as an earlier name. Devices may be written twice.
///
/// # Errors
/// [`FileError::SameOutput`].
pub(crate) fn refuse_twice(names: &[impl AsRef<OsStr>]) -> Result<()> {
    let names: Vec<&OsStr> = names.iter().map(AsRef::as_ref).collect();
    let is_device = |name: &OsStr| fs::metadata(name).is_ok_and(|it| !it.is_file());
    let place = |name: &OsStr| -> Option<PathBuf> {
        let path = std::path::absolute(name).ok()?;
        let file = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
        fs::canonicalize(&path).ok().or_else(file)
    };
    let same = |one: &OsStr, other: &OsStr| one == other || place(one).is_some_and(|it| Some(it) == place(other));
    let again = |(i, name): &(usize, &&OsStr)| !is_device(name) && names[..*i].iter().any(|it| same(it, name));
    match names.iter().enumerate().find(again) {
        Some((_, name)) => Err(FileError::SameOutput { path: name.to_string_lossy().into() }.into()),
        None => Ok(()),
    }
}

/// Refuses an output that is an input, too; without a name it is standard output.
fn refuse_same(name: Option<&OsStr>, output: Option<Identity>, inputs: &[&OsStr]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    let identity_of = |input: &OsStr| {
        if input == STDIN {
            return stream_identity(io::stdin());
        }
        fs::metadata(input).ok().and_then(|metadata| identity(&metadata))
    };
    let Some(input) = inputs.iter().find(|input| identity_of(input) == Some(output)) else { return Ok(()) };
    match name {
        None if *input == STDIN => Err(FileError::SameStreams.into()),
        name => Err(FileError::SamePath { path: name.unwrap_or(input).to_string_lossy().into() }.into()),
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
fn stream_identity(stream: impl std::os::fd::AsFd) -> Option<Identity> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    identity(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<Identity> {
    None
}

#[cfg(not(unix))]
fn stream_identity<T>(_: T) -> Option<Identity> {
    None
}
