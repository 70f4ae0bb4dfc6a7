//! A look at a directory for people: a map of its units, the processes at work, and checksums of its sealed files.

use std::{fs, path::Path, time::SystemTime};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    campaign::{CLAIM, Campaign, Contents, files, named},
    error::{Error, Result},
    seal::hex,
    work::Work,
};

/// Consecutive units of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The number of the first unit.
    pub first: u128,
    /// Units.
    pub units: u128,
    /// Units with a trusted certificate.
    pub done: u128,
    /// Units that a process has claimed, and perhaps left.
    pub claimed: u128,
    /// Files that are not trusted, and second certificates with another result.
    pub alarms: u128,
}

/// A claim of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenUnit {
    /// The unit's name.
    pub name: String,
    /// The owner's host; empty if the claim does not tell it. Nobody checks it.
    pub host: String,
    /// The owner's process number on its host.
    pub process: Option<u64>,
    /// The last heartbeat, by the clock of the file system.
    pub heartbeat: Option<SystemTime>,
}

/// Checksums of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checksums {
    /// Names in the order of their bytes, and the SHA-256 of each file in hexadecimal digits.
    pub files: Vec<(String, String)>,
    /// The SHA-256 of the text that `sha256sum` writes for these files in this order.
    pub of_all: String,
}

impl<W: Work> Campaign<W> {
    /// All units as at most `cells` cells of almost equal size; none for a campaign without units.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn map(&self, contents: &Contents<W>, cells: u64) -> Result<Vec<Cell>> {
        let units = self.specification.units();
        let cells = u128::from(cells).min(units);
        // Below 2^88 units the product below stays within 128 bits.
        let bound = |cell: u128| units / cells * cell + units % cells * cell / cells;
        let mut map: Vec<Cell> = (0..cells)
            .map(|cell| Cell { first: bound(cell), units: bound(cell + 1) - bound(cell), ..Cell::default() })
            .collect();
        let mut count = |unit: Option<W::Unit>, field: fn(&mut Cell) -> &mut u128| {
            let Some(number) = unit.and_then(|unit| self.specification.number(&unit)) else { return };
            let cell = map.partition_point(|cell| cell.first <= number);
            if let Some(cell) = cell.checked_sub(1).and_then(|cell| map.get_mut(cell)) {
                *field(cell) += 1;
            }
        };
        contents.done.iter().for_each(|certificate| count(Some(W::unit_of(certificate)), |cell| &mut cell.done));
        contents.damaged.iter().for_each(|(path, _)| count(named::<W>(path), |cell| &mut cell.alarms));
        for path in &contents.disputed {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let unit = name.split_once(".json.differs").and_then(|(name, _)| W::named(name));
            count(unit, |cell| &mut cell.alarms);
        }
        for OpenUnit { name, .. } in self.claims()? {
            count(W::named(&name), |cell| &mut cell.claimed);
        }
        Ok(map)
    }

    /// The claims of the directory, by name: units that processes work on, or have left.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn claims(&self) -> Result<Vec<OpenUnit>> {
        let claim = |path: std::path::PathBuf| {
            let name = path.file_name()?.to_str()?.strip_suffix(CLAIM)?.to_owned();
            // It may be given back at this moment.
            let text = fs::read_to_string(&path).ok()?;
            let owner = serde_json::from_str::<Value>(&text).map(|mut it| it["owner"].take()).unwrap_or_default();
            let host = owner["host"].as_str().unwrap_or_default().to_owned();
            let heartbeat = fs::metadata(&path).and_then(|it| it.modified()).ok();
            Some(OpenUnit { name, host, process: owner["process"].as_u64(), heartbeat })
        };
        Ok(files(&self.folder)?.into_iter().filter_map(claim).collect())
    }
}

/// The checksums of all sealed files of a directory: those whose names end with `.json`, and do not begin with a dot.
///
/// `find . -maxdepth 1 -type f -name '[!.]*.json' -printf '%f\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum` computes
/// [`Checksums::of_all`] again.
///
/// # Errors
/// [`Error::File`].
pub fn checksums(folder: &Path) -> Result<Checksums> {
    let mut sums = Checksums::default();
    let mut all = Sha256::new();
    let mut names: Vec<String> = files(folder)?
        .into_iter()
        .filter(|path| path.symlink_metadata().is_ok_and(|it| it.is_file()))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| name.strip_suffix(".json").is_some_and(|it| !it.is_empty() && !it.starts_with('.')))
        .collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        match fs::read(&path) {
            Ok(bytes) => {
                let sum = hex(&Sha256::digest(bytes));
                all.update(format!("{sum}  {name}\n"));
                sums.files.push((name, sum));
            }
            // It was moved in the meantime.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file(path)(error)),
        }
    }
    sums.of_all = hex(&all.finalize());
    Ok(sums)
}
