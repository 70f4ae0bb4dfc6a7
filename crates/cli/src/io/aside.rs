//! A file that appears whole: while it is written it has no name, or a temporary one.
//!
//! Linux makes files without a name ([`unnamed`]). If the program is killed, the system frees the file, and nothing is left behind. Other
//! systems, and file systems without this ability, get a temporary file in the same directory. A signal removes it ([`interrupt`]).

use std::{
    fs::{File, Permissions},
    io,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile, TempPath};
use warpmp_campaign::unnamed;

use super::error::inner;
use crate::interrupt;

/// A file on its way to its name.
#[derive(Debug)]
pub(super) struct Aside {
    file: File,
    /// None: the file has no name.
    temporary: Option<TempPath>,
    target: PathBuf,
}

impl Aside {
    /// A file that will be called `target`, with the permissions of the file that it replaces.
    pub(super) fn new(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = folder(&target);
        let (file, temporary) = if let Some(file) = unnamed::open(folder) {
            (file, None)
        } else {
            let mut unfinished = interrupt::unfinished();
            let (file, temporary) = named(folder, |builder, folder| builder.tempfile_in(folder))?.into_parts();
            unfinished.push(temporary.to_path_buf());
            (file, Some(temporary))
        };
        let aside = Self { file, temporary, target };
        if let Some(permissions) = permissions {
            aside.file.set_permissions(permissions)?;
        }
        Ok(aside)
    }

    /// The file, open for reading and writing.
    pub(super) const fn file(&self) -> &File {
        &self.file
    }

    /// Everything is written: brings the file to the disk and gives it its name.
    pub(super) fn complete(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let mut unfinished = interrupt::unfinished();
        match self.temporary.take() {
            Some(temporary) => {
                let path = temporary.to_path_buf();
                let renamed = temporary.persist(&self.target);
                unfinished.retain(|other| *other != path);
                renamed.map_err(|error| error.error)
            }
            None => match unnamed::link(&self.file, &self.target) {
                // A link replaces no file, a renamed file does.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let link = |builder: &Builder<'_, '_>, folder: &Path| {
                        builder.make_in(folder, |path| unnamed::link(&self.file, path))
                    };
                    let linked = named(folder(&self.target), link)?.into_temp_path();
                    linked.persist(&self.target).map_err(|error| error.error)
                }
                linked => linked,
            },
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let path = temporary.to_path_buf();
            let mut unfinished = interrupt::unfinished();
            let _ = temporary.close();
            unfinished.retain(|other| *other != path);
        }
    }
}

/// The directory of a file.
fn folder(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a file with a temporary name, which is short: every directory takes it.
fn named<T>(
    folder: &Path,
    make: impl FnOnce(&Builder<'_, '_>, &Path) -> io::Result<NamedTempFile<T>>,
) -> io::Result<NamedTempFile<T>> {
    let mut builder = Builder::new();
    builder.prefix(".warpmp-").suffix(".tmp");
    // The permissions of any new file, less the process's mask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    make(&builder, folder).map_err(inner)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    /// Both kinds of files, where the system has both.
    fn both(target: &Path) -> Vec<Aside> {
        let temporary = named(folder(target), |builder, folder| builder.tempfile_in(folder)).unwrap();
        let (file, temporary) = temporary.into_parts();
        interrupt::unfinished().push(temporary.to_path_buf());
        vec![
            Aside::new(target.to_owned(), None).unwrap(),
            Aside { file, temporary: Some(temporary), target: target.to_owned() },
        ]
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        for kind in 0..2 {
            for older in [None, Some("older")] {
                let folder = tempfile::tempdir().unwrap();
                let target = folder.path().join("x".repeat(255));
                if let Some(text) = older {
                    fs::write(&target, text).unwrap();
                }
                let names = || fs::read_dir(folder.path()).unwrap().count();
                for is_completed in [false, true] {
                    let mut aside = both(&target).swap_remove(kind);
                    aside.file.write_all(b"new").unwrap();
                    assert_eq!(fs::read_to_string(&target).ok().as_deref(), older);
                    if is_completed {
                        aside.complete().unwrap();
                        assert_eq!((fs::read_to_string(&target).unwrap().as_str(), names()), ("new", 1));
                    } else {
                        drop(aside);
                        assert_eq!(names(), usize::from(older.is_some()));
                    }
                }
                assert!(!interrupt::unfinished().iter().any(|path| path.starts_with(folder.path())));
            }
        }
    }
}
