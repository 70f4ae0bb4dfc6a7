//! Files with a checksum, written whole or not at all, and read with distrust.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::{
    error::{Damage, Error, Result},
    unnamed,
    work::Work,
};

/// The names of unfinished files begin with this, where files must have a name.
pub(crate) const TEMPORARY: &str = ".unfinished-";

/// No certificate is nearly as long: a longer file is something else with the name of a certificate.
const MOST_BYTES: u64 = 1 << 24;

/// The form of a file: a content, and the SHA-256 of its JSON without spaces.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    content: serde_json::Value,
    sha256: String,
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn digest(content: &serde_json::Value) -> String {
    // A value has its keys in alphabetical order: the text does not depend on the file's layout.
    hex(&Sha256::digest(content.to_string().as_bytes()))
}

/// Writes a file whole: after this returns, the new file is on the disk. If it fails, the old file is still there.
///
/// # Errors
/// [`Error::File`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_file(path, write, true).map(drop).map_err(Error::file(path))
}

/// Writes a file whole, unless there is one; was there none?
pub(crate) fn write_new(path: &Path, text: &[u8]) -> Result<bool> {
    write_file(path, |file| file.write_all(text), false).map_err(Error::file(path))
}

/// Writes a file, brings it to the disk, and gives it its name. False if there is a file of this name, which is not to be replaced.
fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>, replaces: bool) -> io::Result<bool> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Other people check these files: as for any new file, the process's mask decides who may read it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let put = if let Some(mut file) = unnamed::open(folder) {
        write(&mut file)?;
        file.sync_all()?;
        match unnamed::link(&file, path) {
            // A link replaces no file, a renamed file does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && replaces => {
                let linked = builder.make_in(folder, |path| unnamed::link(&file, path))?;
                linked.into_temp_path().persist(path).map_err(Into::into)
            }
            linked => linked,
        }
    } else {
        let mut file = builder.tempfile_in(folder)?;
        write(file.as_file_mut())?;
        file.as_file().sync_all()?;
        let put = if replaces { file.persist(path) } else { file.persist_noclobber(path) };
        put.map(drop).map_err(Into::into)
    };
    let is_new = match put {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !replaces => false,
        put => put.map(|()| true)?,
    };
    // The rename reaches the disk with the directory. Systems that cannot flush a directory do it by themselves.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(is_new)
}

/// The text of a sealed file.
pub(crate) fn sealed<T: Serialize>(path: &Path, content: &T) -> Result<Vec<u8>> {
    let text = || -> serde_json::Result<Vec<u8>> {
        let content = serde_json::to_value(content)?;
        let mut text = serde_json::to_vec_pretty(&Sealed { sha256: digest(&content), content })?;
        text.push(b'\n');
        Ok(text)
    };
    text().map_err(|error| Error::file(path)(io::Error::other(error)))
}

/// Writes a sealed content, whole. A file of that name is replaced.
///
/// # Errors
/// [`Error::File`]; nothing has changed then.
pub fn seal<T: Serialize>(path: &Path, content: &T) -> Result<()> {
    let text = sealed(path, content)?;
    write_whole(path, |file| file.write_all(&text))
}

/// The program that wrote the campaign of a directory, by the words of `campaign.json`: they tell the kind of the campaign, and nothing
/// is checked. None if the file does not say it.
///
/// # Errors
/// [`Error::File`] if the file cannot be read.
pub fn program(folder: &Path) -> Result<Option<String>> {
    let path = folder.join(crate::campaign::SPECIFICATION);
    let metadata = fs::metadata(&path).map_err(Error::file(&path))?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Ok(None);
    }
    let bytes = fs::read(&path).map_err(Error::file(&path))?;
    let file: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    Ok(file.and_then(|file| file["content"]["program"].as_str().map(str::to_owned)))
}

/// Reads a sealed content of this kind of work.
///
/// # Errors
/// [`Error::File`] if it cannot be read; inside, [`Damage`] if it changed after it was written, or if another version wrote it.
pub fn unseal<W: Work, T: DeserializeOwned>(path: &Path) -> Result<Result<T, Damage>> {
    let metadata = fs::metadata(path).map_err(Error::file(path))?;
    let unreadable = |reason: &str| Ok(Err(Damage::Unreadable { reason: reason.into() }));
    // Reading a pipe may never end.
    if !metadata.is_file() {
        return unreadable("a directory or something else that is no file");
    }
    if metadata.len() > MOST_BYTES {
        return unreadable(&format!("{} bytes long", metadata.len()));
    }
    Ok(unsealed::<W, T>(&fs::read(path).map_err(Error::file(path))?))
}

fn unsealed<W: Work, T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    let unreadable = |error: serde_json::Error| Damage::Unreadable { reason: error.to_string() };
    let file: serde_json::Value = serde_json::from_slice(bytes).map_err(unreadable)?;
    // A later version may seal in another way.
    let sealed = Sealed::deserialize(&file)
        .map_err(|error| of_another_version::<W>(&file["content"]).unwrap_or(unreadable(error)))?;
    let found = digest(&sealed.content);
    if found != sealed.sha256 {
        return Err(Damage::Digest { found, written: sealed.sha256 });
    }
    // The seal holds: if this program cannot read the content, another version wrote it.
    if let Some(damage) = of_another_version::<W>(&sealed.content) {
        return Err(damage);
    }
    T::deserialize(sealed.content).map_err(|error| Damage::foreign("content:", error.to_string()))
}

/// Does the content say that another version wrote it?
fn of_another_version<W: Work>(content: &serde_json::Value) -> Option<Damage> {
    match (content["format"].as_u64(), content["program"].as_str()) {
        (Some(format), _) if format != u64::from(W::FORMAT) => Some(Damage::foreign("format", format.to_string())),
        (_, Some(program)) if program != W::PROGRAM => Some(Damage::foreign("program", program)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seal is a digest of the content as it is written again, so each number must be read exactly.
    #[test]
    fn numbers_keep_their_seals() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let seconds = (0..10_000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 20) as f64 / 1e9
        });
        for seconds in seconds.chain([1.130_075_586_999_999_9, 0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX]) {
            let content = serde_json::json!({ "seconds": seconds });
            let text = serde_json::to_vec_pretty(&content).expect("text");
            let read: serde_json::Value = serde_json::from_slice(&text).expect("content");
            assert_eq!(digest(&content), digest(&read), "{seconds}");
        }
    }
}
