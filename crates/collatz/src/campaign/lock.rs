//! One process a directory.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
};

use crate::error::{Error, Result};

/// The right to work in a directory, until it is dropped or the process ends.
///
/// It is the system's lock on `DIR/lock`, which no ended process can hold; the file names the holder for people. A file without a
/// holder is what a killed process left behind: it is taken over.
#[derive(Debug)]
pub struct Lock {
    /// Holds the lock.
    file: File,
    /// The process that left its name without letting go in order.
    stale: Option<String>,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process holds it, [`Error::File`].
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::file(&path))?;
        let locked = file.try_lock();
        let mut holder = String::new();
        let _ = (&file).take(200).read_to_string(&mut holder);
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // It may have taken the lock a moment ago, and not have written its name yet.
                let holder =
                    Some(holder.trim()).filter(|name| !name.is_empty()).unwrap_or("another process").to_owned();
                return Err(Error::Locked { path, holder });
            }
            Err(TryLockError::Error(source)) => return Err(Error::File { path, source }),
        }
        let stale = (!holder.trim().is_empty()).then(|| holder.trim().to_owned());
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "process {}", std::process::id())?;
            file.sync_all()
        };
        write(&mut file).map_err(Error::file(&path))?;
        Ok(Self { file, stale })
    }

    /// Who held the lock and ended without letting go.
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
