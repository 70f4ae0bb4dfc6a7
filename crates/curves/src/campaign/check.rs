//! A campaign checked: every file read, and a sample of the points made again by independent code.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use warpmp_campaign::{Damage, records};

use super::keeper::solution;
use super::points::{self, Lost, decode};
use super::{Folder, Part, Unit};
use crate::error::{Error, Result};
use crate::meetings::Distinguished;
use crate::problem::Problem;
use crate::search::hash_of;
use crate::walk::limbs;
use crate::walk::reference::Reference;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Points in files.
    pub points: u64,
    /// Points whose walks were made again.
    pub sampled: u64,
    /// Rounds of these walks.
    pub rounds: u64,
    /// Files that end within a block, and its bytes that are there: their writers were killed, or write now.
    pub torn: Vec<(PathBuf, u64)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something wrong in a campaign's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A part of a file of points is damaged.
    Damaged(Lost),
    /// A sealed file is not trusted.
    NotTrusted {
        /// The file.
        path: PathBuf,
        /// Why.
        damage: Damage,
    },
    /// There are fewer points than the session's log counts.
    LostPoints {
        /// The file of points, which may be lost.
        path: PathBuf,
        /// Points that are there.
        found: u64,
        /// Points by the log.
        logged: u64,
    },
    /// Points without their session's log.
    LostLog {
        /// The log.
        path: PathBuf,
    },
    /// A point that its walk does not pass.
    Wrong {
        /// The file.
        path: PathBuf,
        /// The walk's start.
        start: u64,
    },
    /// A point of its walk that is not distinguished.
    NotDistinguished {
        /// The file.
        path: PathBuf,
        /// The walk's start.
        start: u64,
    },
    /// The file of the logarithm has a number that is none.
    WrongSolution {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(Lost { path, bytes }) => {
                write!(f, "{}: bytes {} to {} are damaged", path.display(), bytes.start, bytes.end)
            }
            Self::NotTrusted { path, damage } => write!(f, "{}: {damage}", path.display()),
            Self::LostPoints { path, found: 0, logged } if !path.exists() => {
                write!(f, "{}: lost, with {logged} points", path.display())
            }
            Self::LostPoints { path, found, logged } => {
                write!(f, "{}: {found} points, of the {logged} that the session has logged", path.display())
            }
            Self::LostLog { path } => write!(f, "{}: lost; the points of the session are there", path.display()),
            Self::Wrong { path, start } => {
                write!(f, "{}: the walk of start {start} does not pass the point that is stored", path.display())
            }
            Self::NotDistinguished { path, start } => {
                write!(
                    f,
                    "{}: the point of start {start} is a point of its walk, and is not distinguished",
                    path.display()
                )
            }
            Self::WrongSolution { path } => write!(f, "{}: k·P is not Q", path.display()),
        }
    }
}

/// A pseudo-random sequence: Steele, Lea and Flood's.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(bound)) >> 64) as u64
    }
}

/// Reads all files, and makes the walks of `sample` random points again, by num-bigint and plain affine arithmetic. `seed` chooses
/// them. `progress` is told the rounds so far, and ends the check by `false`.
///
/// # Errors
/// [`Error::Campaign`] if a file cannot be read; [`Error::Stopped`].
pub fn check(campaign: &Folder, sample: usize, seed: u64, progress: &(dyn Fn(u64) -> bool + Sync)) -> Result<Checked> {
    let problem = campaign.specification().problem()?;
    let mut checked = Checked::default();
    let chosen = read_all(campaign, &mut checked, sample, seed, progress)?;
    checked.findings.extend(sealed(campaign, &problem)?);
    let rounds = AtomicU64::new(0);
    // A walk's table takes long: each thread has one for all its walks.
    let share = chosen.len().div_ceil(rayon::current_num_threads()).max(1);
    let findings = chosen.par_chunks(share).map(|points| {
        let mut findings = Vec::new();
        let reference = Reference::new(&problem, campaign.specification().settings())?;
        for (path, point) in points {
            let go_on = || progress(rounds.fetch_add(1, Ordering::Relaxed) + 1);
            findings.extend(replay(campaign, &reference, &problem, path, *point, go_on)?);
        }
        Ok(findings)
    });
    checked.findings.extend(findings.collect::<Result<Vec<_>>>()?.concat());
    checked.sampled = chosen.len() as u64;
    checked.rounds = rounds.into_inner();
    Ok(checked)
}

/// Reads all points; the sample.
fn read_all(
    campaign: &Folder,
    checked: &mut Checked,
    sample: usize,
    seed: u64,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Vec<(PathBuf, Distinguished)>> {
    let folder = campaign.folder();
    let kind = points::kind(campaign.specification());
    // The logs first: a session that works now has more points by then.
    let contents = campaign.contents()?;
    let logs: Vec<(u32, u64)> = contents
        .done
        .iter()
        .filter_map(|certificate| match &certificate.part {
            Part::Session(session) => Some((session.number, session.points)),
            Part::Solution(_) => None,
        })
        .collect();
    let mut sessions = points::sessions(folder)?;
    for session in &sessions {
        let path = campaign.path(&Unit::Session(*session));
        if !logs.iter().any(|(number, _)| number == session) && !path.exists() {
            checked.findings.push(Finding::LostLog { path });
        }
    }
    sessions.extend(logs.iter().map(|(number, _)| *number));
    sessions.sort_unstable();
    sessions.dedup();
    let mut random = Random(seed);
    let mut chosen: Vec<(PathBuf, Distinguished)> = Vec::new();
    for session in sessions {
        if !progress(0) {
            return Err(Error::Stopped);
        }
        let path = points::path(folder, session);
        let each = |record: &[u8]| {
            checked.points += 1;
            // Each point so far is in the sample with the same probability.
            let place = random.below(checked.points) as usize;
            if chosen.len() < sample {
                chosen.push((path.clone(), decode(record)));
            } else if let Some(chosen) = chosen.get_mut(place) {
                *chosen = (path.clone(), decode(record));
            }
        };
        let scan = match records::read(&path, kind, each) {
            Err(error) if error.is_not_found() => records::Scan::default(),
            scan => scan?,
        };
        if scan.unfinished > 0 {
            checked.torn.push((path.clone(), scan.unfinished));
        }
        let damaged = scan.damaged.into_iter().map(|bytes| Lost { path: path.clone(), bytes });
        checked.findings.extend(damaged.map(Finding::Damaged));
        let logged = logs.iter().find(|(number, _)| *number == session).map_or(0, |(_, points)| *points);
        if scan.records < logged {
            checked.findings.push(Finding::LostPoints { path, found: scan.records, logged });
        }
    }
    Ok(chosen)
}

/// The sealed files.
fn sealed(campaign: &Folder, problem: &Problem) -> Result<Vec<Finding>> {
    let contents = campaign.contents()?;
    let damaged = contents.damaged.into_iter();
    let mut findings: Vec<Finding> = damaged.map(|(path, damage)| Finding::NotTrusted { path, damage }).collect();
    let solved = contents.done.iter().any(|certificate| matches!(certificate.part, Part::Solution(_)));
    if solved && solution(campaign, problem)?.is_none() {
        findings.push(Finding::WrongSolution { path: campaign.path(&Unit::Solution) });
    }
    Ok(findings)
}

/// Makes the walk of a point again.
fn replay(
    campaign: &Folder,
    reference: &Reference<'_>,
    problem: &Problem,
    path: &std::path::Path,
    point: Distinguished,
    mut go_on: impl FnMut() -> bool,
) -> Result<Option<Finding>> {
    let Distinguished { start, hash } = point;
    let path = path.to_owned();
    // One walk in e^64 is longer.
    let most = (64_usize << campaign.specification().settings().distinguished_bits) + (1 << 16);
    for (x, distinguished) in reference.path(start).take(most) {
        if !go_on() {
            return Err(Error::Stopped);
        }
        let mut words = x.to_u32_digits();
        words.resize(limbs(&problem.group.p) as usize, 0);
        match (hash_of(words) == hash, distinguished) {
            (true, true) => return Ok(None),
            (true, false) => return Ok(Some(Finding::NotDistinguished { path, start })),
            (false, true) => break,
            (false, false) => {}
        }
    }
    Ok(Some(Finding::Wrong { path, start }))
}
