//! One process works alone in a directory, or several share it.

use std::{
    fs::{File, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::Path,
};

use crate::error::{Error, Result};

/// The right to work in a directory, until it is dropped or the process ends.
///
/// It is the system's lock on `DIR/lock`: a process that has ended cannot hold it. The file names the process that works alone. If
/// the name is there but the lock is free, that process was killed, and the next one takes the directory over.
#[derive(Debug)]
pub struct Lock {
    /// Holds the lock.
    file: File,
    /// The process that left its name: it was killed.
    stale: Option<String>,
}

impl Lock {
    /// Takes a directory for this process alone.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process works there, [`Error::File`].
    pub fn take(folder: &Path) -> Result<Self> {
        Self::acquire(folder, false)
    }

    /// Takes part in a directory that several processes share. A file system without locks is no obstacle.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process works there alone, [`Error::File`].
    pub fn share(folder: &Path) -> Result<Self> {
        Self::acquire(folder, true)
    }

    fn acquire(folder: &Path, shared: bool) -> Result<Self> {
        let path = folder.join("lock");
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(Error::file(&path))?;
        let locked = if shared { file.try_lock_shared() } else { file.try_lock() };
        let mut holder = String::new();
        let _ = (&file).take(200).read_to_string(&mut holder);
        let holder = Some(holder.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        match locked {
            Err(TryLockError::WouldBlock) => {
                // Processes that share leave no name; a process alone writes its name only after it has the lock.
                let holder = holder.unwrap_or_else(|| "another process".into());
                return Err(Error::Locked { path, holder });
            }
            Err(TryLockError::Error(error)) if shared && error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => return Err(Error::File { path, source }),
            Ok(()) => {}
        }
        let mut write = || {
            file.set_len(0)?;
            file.rewind()?;
            if !shared {
                writeln!(file, "process {}", std::process::id())?;
            }
            file.sync_all()
        };
        write().map_err(Error::file(&path))?;
        Ok(Self { file, stale: holder })
    }

    /// The process that had the directory alone and was killed.
    pub fn stale(&self) -> Option<&str> {
        self.stale.as_deref()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An empty file says that the work ended in order.
        let _ = self.file.set_len(0);
        // Closing alone would leave the lock to a child of this process that has not begun its own program yet.
        let _ = self.file.unlock();
    }
}
