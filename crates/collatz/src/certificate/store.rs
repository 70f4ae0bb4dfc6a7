//! Certificates as files: whole or not there, and read with distrust.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use super::{Certificate, FORMAT, PROGRAM, fingerprint::hex};
use crate::error::{Error, Result};

/// Why a certificate, or a campaign's description, is not to be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It is not readable as one.
    #[error("not a sealed file of this program: {reason}")]
    Unreadable {
        /// What the reader says.
        reason: String,
    },
    /// Its content is not what was written.
    #[error("damaged: its SHA-256 is {found}, {written} was written")]
    Digest {
        /// Of the content.
        found: String,
        /// In the file.
        written: String,
    },
    /// Another program version or rule set wrote it.
    #[error("of another kind: {what} {found}")]
    Foreign {
        /// What differs.
        what: String,
        /// What stands there.
        found: String,
    },
    /// It is in good order, and not what its name says, or of another scheme.
    #[error("of another campaign: {what}")]
    Misplaced {
        /// What does not fit.
        what: String,
    },
}

impl Damage {
    /// Is the file of no use to anybody? If not, it may be somebody's work, in good order, which does not count here.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Digest { .. })
    }
}

/// What stands in a file: a content, and the SHA-256 of its JSON without spaces.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    content: serde_json::Value,
    sha256: String,
}

fn digest(content: &serde_json::Value) -> String {
    // Keys are in alphabetical order in a value, so the text does not depend on how the file was laid out.
    hex(&Sha256::digest(content.to_string().as_bytes()))
}

/// Writes a sealed content to `path`, whole: after this returns it is on the disk, and until then the old file is.
pub(crate) fn seal<T: Serialize>(path: &Path, content: &T) -> Result<()> {
    let error = |source| Error::File { path: path.to_owned(), source };
    let content = serde_json::to_value(content).map_err(|e| error(io::Error::other(e)))?;
    let sealed = Sealed { sha256: digest(&content), content };
    let mut text = serde_json::to_string_pretty(&sealed).map_err(|e| error(io::Error::other(e)))?;
    text.push('\n');
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Others are to check it: as any new file, the process's mask takes away what it takes away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(error)?;
    file.write_all(text.as_bytes()).map_err(error)?;
    file.as_file().sync_all().map_err(error)?;
    file.persist(path).map_err(|e| error(e.error))?;
    // The rename itself reaches the disk with the directory. Systems that cannot flush one do it themselves.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Beginning of the names of files that are being written.
pub(crate) const TEMPORARY: &str = ".unfinished-";

/// No certificate comes near: what is longer is something else under a certificate's name.
const MOST_BYTES: u64 = 1 << 24;

/// Reads a sealed content.
///
/// # Errors
/// [`Error::File`] if there is no reading it; [`Damage`] inside if it is not what was written, or if another version wrote it.
pub(crate) fn unseal<T: DeserializeOwned>(path: &Path) -> Result<Result<T, Damage>> {
    let metadata = fs::metadata(path).map_err(Error::file(path))?;
    let unreadable = |reason: &str| Ok(Err(Damage::Unreadable { reason: reason.into() }));
    // A pipe would keep us waiting.
    if !metadata.is_file() {
        return unreadable("a directory or something else that is no file");
    }
    if metadata.len() > MOST_BYTES {
        return unreadable(&format!("{} bytes long", metadata.len()));
    }
    Ok(unsealed(&fs::read(path).map_err(Error::file(path))?))
}

fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    let unreadable = |error: serde_json::Error| Damage::Unreadable { reason: error.to_string() };
    let file: serde_json::Value = serde_json::from_slice(bytes).map_err(unreadable)?;
    // A later version may seal in another way.
    let sealed = Sealed::deserialize(&file)
        .map_err(|error| of_another_version(&file["content"]).unwrap_or(unreadable(error)))?;
    let found = digest(&sealed.content);
    if found != sealed.sha256 {
        return Err(Damage::Digest { found, written: sealed.sha256 });
    }
    // What is sealed was written like that: if it cannot be read, another version wrote it.
    if let Some(damage) = of_another_version(&sealed.content) {
        return Err(damage);
    }
    T::deserialize(sealed.content)
        .map_err(|error| Damage::Foreign { what: "content:".into(), found: error.to_string() })
}

/// Does the content say that another version wrote it?
fn of_another_version(content: &serde_json::Value) -> Option<Damage> {
    let foreign = |what: &str, found: String| Some(Damage::Foreign { what: what.into(), found });
    match (content["format"].as_u64(), content["program"].as_str()) {
        (Some(format), _) if format != u64::from(FORMAT) => foreign("format", format.to_string()),
        (_, Some(program)) if program != PROGRAM => foreign("program", program.into()),
        _ => None,
    }
}

/// Writes a certificate, whole.
///
/// # Errors
/// [`Error::File`]; nothing has changed then.
pub fn store(path: &Path, certificate: &Certificate) -> Result<()> {
    seal(path, certificate)
}

/// Reads a certificate, which this program may trust: undamaged, of this version and these rules.
///
/// # Errors
/// [`Error::File`] if there is no reading it; [`Damage`] inside says why it is not trusted.
pub fn load(path: &Path) -> Result<Result<Certificate, Damage>> {
    Ok(unseal::<Certificate>(path)?.and_then(|certificate| {
        certificate.is_ours()?;
        Ok(certificate)
    }))
}
