//! The index: finds points with one hash among billions, in bounded memory.
//!
//! New points stay in a table in memory, which sees at once whether a hash is there already. A full table is sorted, cut into
//! 64 *shards* by the leading bits of the hashes, and written: one sorted *run* a shard. Before that the sorted points
//! *probe* the runs, that is, they pass along all runs once and find equal hashes. Between two full tables they probe at
//! intervals, in a twentieth of the time at most. Runs of a shard are merged so that each is more than twice as long as the next.
//!
//! The index can be lost without harm: it is made again from the points. `index.json` names the runs, and how far the files of
//! points are in them.
//!
//! cost       16 bytes a point on disk, 20 to 39 bytes a point in memory, 34 while the table is sorted; a point is written about
//!            log₂(points/points in memory) times

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use warpmp_campaign::records::{self, Kind};
use warpmp_campaign::{Error as FolderError, seal, unseal};

use super::points::{BYTES, decode, encode};
use super::specification::Specification;
use crate::error::{Error, Result};
use crate::meetings::{Distinguished, Table};

/// The shards of an index: a shard has the points whose hashes begin with the same 6 bits.
const SHARD_BITS: u32 = 6;

/// Between two probes of a table that is not full passes this many times the time of the last one.
const REST: u32 = 20;

/// And at least this time.
const LEAST_REST: Duration = Duration::from_secs(10);

/// The index of a campaign.
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    kind: Kind,
    memory_bytes: u64,
    table: Table,
    /// Points that the table holds before it is written.
    capacity: usize,
    stored: Stored,
    /// Points in the table when it was last compared with the runs; when that was, and how long it took.
    probed: (usize, Instant, Duration),
}

/// The runs on disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    program: String,
    format: u32,
    /// The campaign's checksum.
    campaign: String,
    /// For each shard its runs, the longest first.
    shards: Vec<Vec<Run>>,
    /// How far the file of each session is in the runs, in bytes.
    ends: BTreeMap<u32, u64>,
}

/// A sorted run of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    name: String,
    points: u64,
}

impl Index {
    /// The index in a directory, which may not exist. An index that is lost, damaged or of another campaign is begun anew; the
    /// points that [`Index::ends`] does not name are to be inserted.
    ///
    /// # Errors
    /// [`Error::Campaign`] if a file cannot be read or written.
    pub fn open(folder: &Path, specification: &Specification, memory_bytes: u64) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| file(folder, source))?;
        let empty = Stored {
            program: <Specification as warpmp_campaign::Work>::PROGRAM.into(),
            format: <Specification as warpmp_campaign::Work>::FORMAT,
            campaign: specification.checksum().into(),
            shards: vec![Vec::new(); 1 << SHARD_BITS],
            ends: BTreeMap::new(),
        };
        let found = match unseal::<Specification, Stored>(&folder.join(MANIFEST)) {
            Err(error) if error.is_not_found() => None,
            found => found?.ok(),
        };
        let fits = |found: &Stored| found.campaign == empty.campaign && found.shards.len() == empty.shards.len();
        let index = Self {
            folder: folder.to_owned(),
            kind: Kind::new(&format!("sorted points of walk {}", specification.checksum()), BYTES as u16),
            memory_bytes,
            table: Table::default(),
            capacity: Table::points_of(memory_bytes),
            stored: found.filter(fits).unwrap_or(empty),
            probed: (0, Instant::now(), Duration::ZERO),
        };
        index.tidy()?;
        Ok(index)
    }

    /// How far the file of each session is in the runs.
    pub fn ends(&self) -> &BTreeMap<u32, u64> {
        &self.stored.ends
    }

    /// Points in the table and in the runs.
    pub fn points(&self) -> u64 {
        self.table.len() as u64 + self.stored.shards.iter().flatten().map(|run| run.points).sum::<u64>()
    }

    /// Points that the table still holds.
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.table.len())
    }

    /// Adds a point; a point of the same hash in the table, and this one.
    pub fn insert(&mut self, point: Distinguished) -> Option<[Distinguished; 2]> {
        self.table.insert(point)
    }

    /// Is it time to look for the table's points in the runs?
    pub fn is_due(&self) -> bool {
        let (points, when, took) = self.probed;
        let runs = self.stored.shards.iter().any(|runs| !runs.is_empty());
        runs && self.table.len() > points && when.elapsed() > LEAST_REST.max(REST * took)
    }

    /// The points of the table whose hashes are in the runs, each with the point there.
    ///
    /// # Errors
    /// [`Error::IndexDamaged`]; [`Error::Campaign`].
    pub fn probe(&mut self) -> Result<Vec<[Distinguished; 2]>> {
        let begin = Instant::now();
        let sorted = self.table.sorted();
        let met = self.probe_with(&sorted)?;
        self.probed = (sorted.len(), Instant::now(), begin.elapsed());
        Ok(met)
    }

    fn probe_with(&self, sorted: &[Distinguished]) -> Result<Vec<[Distinguished; 2]>> {
        let shards = self.stored.shards.par_iter().enumerate();
        let met = shards.map(|(shard, runs)| {
            let mut met = Vec::new();
            for run in runs {
                let mut left = part(sorted, shard);
                self.read(run, |point| {
                    while let [first, rest @ ..] = left
                        && first.hash < point.hash
                    {
                        left = rest;
                    }
                    if let [first, ..] = left
                        && first.hash == point.hash
                    {
                        met.push([point, *first]);
                    }
                })?;
            }
            Ok(met)
        });
        Ok(met.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Writes the table's points to the runs, and empties it. `ends` says how far the files of points are in the index now. The
    /// caller has dealt with the meetings of [`Index::probe`].
    ///
    /// # Errors
    /// As [`Index::probe`].
    pub fn store(&mut self, ends: &BTreeMap<u32, u64>) -> Result<()> {
        let sorted = self.table.sorted();
        let shards = self.stored.shards.par_iter().enumerate();
        let shards = shards.map(|(shard, runs)| self.extended(shard, runs, part(&sorted, shard)));
        let shards = shards.collect::<Result<Vec<_>>>()?;
        self.stored = Stored { shards, ends: ends.clone(), ..self.stored.clone() };
        seal(&self.folder.join(MANIFEST), &self.stored)?;
        self.table.clear();
        self.probed = (0, Instant::now(), self.probed.2);
        self.tidy()
    }

    /// The runs of a shard with one more, merged with shorter ones.
    fn extended(&self, shard: usize, runs: &[Run], new: &[Distinguished]) -> Result<Vec<Run>> {
        if new.is_empty() {
            return Ok(runs.to_vec());
        }
        let mut points = new.to_vec();
        let (mut kept, mut total) = (runs.len(), new.len() as u64);
        // A shard is merged in memory.
        let most = self.memory_bytes / 2 / rayon::current_num_threads() as u64 / BYTES as u64;
        while let Some(run) = kept.checked_sub(1).map(|last| &runs[last])
            && run.points <= 2 * total
            && run.points + total <= most
        {
            self.read(run, |point| points.push(point))?;
            total += run.points;
            kept -= 1;
        }
        points.sort();
        let name = format!("{shard:02x}-{:08x}{RUN}", super::random());
        records::write(&self.folder.join(&name), self.kind, points.iter().map(|point| encode(*point)))?;
        let mut runs = runs[..kept].to_vec();
        runs.push(Run { name, points: total });
        Ok(runs)
    }

    /// Shows `each` the points of a run, in order.
    fn read(&self, run: &Run, mut each: impl FnMut(Distinguished)) -> Result<()> {
        let path = self.folder.join(&run.name);
        let damaged = || Error::IndexDamaged { path: path.clone() };
        match records::read(&path, self.kind, |record| each(decode(record))) {
            Ok(scan) if scan.records == run.points && scan.damaged.is_empty() => Ok(()),
            Err(error @ FolderError::File { .. }) if !error.is_not_found() => Err(error.into()),
            _ => Err(damaged()),
        }
    }

    /// Removes runs that the index does not name: merged ones, and those of an index that was begun anew.
    fn tidy(&self) -> Result<()> {
        let named = |name: &String| self.stored.shards.iter().flatten().any(|run| run.name == *name);
        for name in super::names(&self.folder)? {
            if name.strip_suffix(RUN).is_some() && !named(&name) {
                let _ = fs::remove_file(self.folder.join(name));
            }
        }
        Ok(())
    }

    /// Begins anew, without any point.
    ///
    /// # Errors
    /// [`Error::Campaign`].
    pub fn reset(&mut self) -> Result<()> {
        self.stored.shards.iter_mut().for_each(Vec::clear);
        self.stored.ends.clear();
        self.table.clear();
        seal(&self.folder.join(MANIFEST), &self.stored)?;
        self.tidy()
    }
}

const MANIFEST: &str = "index.json";

/// The names of runs end with this.
const RUN: &str = ".run";

/// The points of a shard.
fn part(sorted: &[Distinguished], shard: usize) -> &[Distinguished] {
    let end = |shard: usize| sorted.partition_point(|point| point.hash >> (64 - SHARD_BITS) < shard as u64);
    &sorted[end(shard)..end(shard + 1)]
}

fn file(path: &Path, source: std::io::Error) -> Error {
    FolderError::File { path: path.to_owned(), source }.into()
}
