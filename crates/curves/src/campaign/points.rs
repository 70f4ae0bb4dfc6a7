//! The points on disk: a file a session, read while it grows.
//!
//! A record has 16 bytes: the start of the walk and the hash of its end, little-endian.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use warpmp_campaign::records::{self, Kind};

use super::specification::Specification;
use crate::error::Result;
use crate::meetings::Distinguished;

/// Bytes of a record.
pub const BYTES: usize = 16;

const PREFIX: &str = "points-";
const SUFFIX: &str = ".records";

/// The file of a session's points.
pub fn path(folder: &Path, session: u32) -> PathBuf {
    folder.join(format!("{PREFIX}{session:08x}{SUFFIX}"))
}

/// The sessions with a file of points, in the order of their numbers.
pub(super) fn sessions(folder: &Path) -> Result<Vec<u32>> {
    let number = |name: &str| u32::from_str_radix(name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?, 16).ok();
    let mut numbers: Vec<u32> = super::names(folder)?.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The records of a campaign's points.
pub fn kind(specification: &Specification) -> Kind {
    Kind::new(&format!("distinguished points of walk {}", specification.checksum()), BYTES as u16)
}

pub(super) fn encode(point: Distinguished) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&point.start.to_le_bytes());
    bytes[8..].copy_from_slice(&point.hash.to_le_bytes());
    bytes
}

pub(super) fn decode(bytes: &[u8]) -> Distinguished {
    let [start, hash] = words(bytes);
    Distinguished { hash, start }
}

/// Words of a record, little-endian.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    std::array::from_fn(|i| bytes[8 * i..8 * i + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// Reads the points of all sessions, each only once.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    /// Where the next record of each session begins.
    ends: BTreeMap<u32, u64>,
}

/// A part of a file that is lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lost {
    /// The file.
    pub path: PathBuf,
    /// Its bytes that are damaged.
    pub bytes: Range<u64>,
}

impl Follower {
    pub(super) fn from(ends: BTreeMap<u32, u64>) -> Self {
        Self { ends }
    }

    pub(super) fn ends(&self) -> &BTreeMap<u32, u64> {
        &self.ends
    }

    /// Shows `each` new points of a session, up to the block that has point number `most`; the damaged places on the way.
    pub(super) fn read(
        &mut self,
        folder: &Path,
        session: u32,
        kind: Kind,
        most: u64,
        mut each: impl FnMut(Distinguished),
    ) -> Result<Vec<Lost>> {
        let path = path(folder, session);
        let end = self.ends.entry(session).or_default();
        // A lost file has nothing new; `check` finds it.
        if fs::metadata(&path).map_or(0, |metadata| metadata.len()) <= *end {
            return Ok(Vec::new());
        }
        let scan = records::read_some(&path, kind, *end, most, |record| each(decode(record)))?;
        *end = scan.end;
        Ok(scan.damaged.into_iter().map(|bytes| Lost { path: path.clone(), bytes }).collect())
    }
}
