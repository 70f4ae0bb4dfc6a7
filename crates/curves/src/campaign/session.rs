//! A session: one engine's work, from its start to its end, and the files that it writes.
//!
//! The number of a session is drawn at random, and is the upper half of the numbers of its starts. So processes and machines share
//! no walk, without asking one another. Points and log reach the disk every two seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use warpmp_campaign::records::{self, Appender, Kind};
use warpmp_campaign::store;

use super::points::{self, encode};
use super::specification::{Part, Session, Specification, Unit};
use super::{Folder, names, random};
use crate::error::{Error, Result};
use crate::meetings::Distinguished;
use crate::search::Walks;
use crate::walk::BLOCK;

/// Points stay in memory no longer than this.
const FLUSH: Duration = Duration::from_secs(2);

/// Blocks of starts of a session.
const BLOCKS: u64 = (1 << 32) / BLOCK;

/// The files of a session that works now.
pub(super) struct Writer<'c> {
    campaign: &'c Folder,
    log: Session,
    points: Appender,
    begin: Instant,
    flushed: Instant,
}

impl<'c> Writer<'c> {
    /// A new session with a number of its own.
    pub(super) fn begin(campaign: &'c Folder, device: &str) -> Result<Self> {
        let kind = points::kind(campaign.specification());
        let (number, points) = loop {
            let number = random();
            // The log of a session may be there, and its points lost.
            if campaign.path(&Unit::Session(number)).exists() {
                continue;
            }
            if let Some(points) = Appender::create(&points::path(campaign.folder(), number), kind)? {
                break (number, points);
            }
        };
        let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let device = device.to_owned();
        let host = warpmp_campaign::host();
        let log = Session { number, device, host, walks: 0, begun, seconds: 0.0, steps: 0, points: 0, ended: false };
        let now = Instant::now();
        let mut writer = Self { campaign, log, points, begin: now, flushed: now };
        writer.flush()?;
        Ok(writer)
    }

    /// Its first block of starts.
    pub(super) fn first_block(&self) -> u64 {
        u64::from(self.log.number) * BLOCKS
    }

    /// Are there starts left?
    pub(super) fn has_starts(&self, walks: &dyn Walks) -> bool {
        walks.next_block() - self.first_block() < BLOCKS / 2
    }

    /// Stores points, and brings them to the disk if the last ones are old enough: an eighth of the session's time, or two seconds.
    pub(super) fn add(&mut self, reports: &[Distinguished], walks: u64, steps: u64) -> Result<()> {
        for report in reports {
            self.points.append(&encode(*report))?;
        }
        self.log.points += reports.len() as u64;
        (self.log.walks, self.log.steps) = (walks, steps);
        if self.flushed.elapsed() > FLUSH.min(self.begin.elapsed() / 8) {
            self.flush()?;
        }
        Ok(())
    }

    /// Brings everything to the disk: the points first, so that the log never counts more than there are.
    fn flush(&mut self) -> Result<()> {
        self.points.flush()?;
        self.log.seconds = self.begin.elapsed().as_secs_f64();
        let path = self.campaign.path(&Unit::Session(self.log.number));
        let certificate = self.campaign.specification().certificate(Part::Session(self.log.clone()));
        store::<Specification>(&path, &certificate)?;
        self.flushed = Instant::now();
        Ok(())
    }

    /// Ends in order: unfinished walks are saved for a later session.
    pub(super) fn end(mut self, walks: &mut dyn Walks, words: usize) -> Result<()> {
        self.flush()?;
        let mut saved = Vec::new();
        walks.suspend(&mut |walk| saved.extend_from_slice(walk))?;
        save(self.campaign, &saved, words)?;
        self.log.ended = true;
        self.flush()
    }
}

const PREFIX: &str = "walks-";
const SUFFIX: &str = ".records";

/// The records of saved walks.
fn saved_kind(specification: &Specification, words: usize) -> Kind {
    Kind::new(&format!("unfinished walks of walk {}", specification.checksum()), 4 * words as u16)
}

/// Files of walks that wait for a session.
pub(super) fn saved(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut names = names(folder)?;
    names.retain(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Saves walks of so many words each.
fn save(campaign: &Folder, walks: &[u32], words: usize) -> Result<()> {
    if walks.is_empty() {
        return Ok(());
    }
    let path = campaign.folder().join(format!("{PREFIX}{:08x}{SUFFIX}", random()));
    let bytes = |walk: &[u32]| -> Vec<u8> { walk.iter().flat_map(|word| word.to_le_bytes()).collect() };
    Ok(records::write(&path, saved_kind(campaign.specification(), words), walks.chunks_exact(words).map(bytes))?)
}

/// Lets saved walks go on. Each file is taken by one session: of several that try to rename it, one succeeds.
pub(super) fn resume(campaign: &Folder, walks: &mut dyn Walks, words: usize) -> Result<()> {
    let (mut found, mut files) = (Vec::new(), Vec::new());
    let kind = saved_kind(campaign.specification(), words);
    for path in saved(campaign.folder())? {
        if found.len() as u64 >= walks.walks() * words as u64 {
            break;
        }
        let taken = path.with_extension(format!("taken-{:08x}", random()));
        if fs::rename(&path, &taken).is_ok() {
            records::read(&taken, kind, |walk| {
                let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
                found.extend(walk.chunks_exact(4).map(word));
            })?;
            files.push(taken);
        }
    }
    let placed = walks.resume(&found)?;
    save(campaign, &found[placed * words..], words)?;
    for path in files {
        fs::remove_file(&path).map_err(|source| Error::Campaign(warpmp_campaign::Error::File { path, source }))?;
    }
    Ok(())
}
