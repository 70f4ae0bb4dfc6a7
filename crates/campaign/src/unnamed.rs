//! Files without a name: they get one when they are whole.
//!
//! Linux makes these files. If the program is killed, the system frees the file, and nothing is left behind.

#[cfg(target_os = "linux")]
mod system {
    use std::{fs::File, io, os::fd::AsRawFd as _, path::Path};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    /// The names of this process's open files: a file without a name gets one through them.
    const DESCRIPTORS: &str = "/proc/self/fd";

    /// A file in this directory, for reading and writing, with the permissions of any new file; none if the system makes
    /// no such file there.
    pub fn open(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
        Path::new(DESCRIPTORS).is_dir().then(|| file.into())
    }

    /// Gives the file a name that no other file has.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`], or another one of the system.
    pub fn link(file: &File, name: &Path) -> io::Result<()> {
        let descriptor = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, descriptor, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{fs::File, io, path::Path};

    /// None: only Linux makes files without a name.
    pub const fn open(_: &Path) -> Option<File> {
        None
    }

    /// Never done.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    pub fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub use system::{link, open};
