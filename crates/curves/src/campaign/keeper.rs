//! The keeper: looks for meetings among the points of all sessions.
//!
//! One process of a directory at a time is its keeper. It holds a claim with a heartbeat; if it dies, another process takes over and
//! reads what the index on disk does not have. Meetings that tell nothing are recorded, so that nobody makes their walks again:
//! two starts and the reason, 24 bytes.

use std::collections::HashSet;
use std::path::Path;

use warpmp_campaign::records::{self, Appender, Kind};
use warpmp_campaign::{Claim, Claims, HEARTBEAT, PATIENCE, load, store};

use super::index::Index;
use super::points::{self, Follower, Lost, words};
use super::specification::{Found, Part, Specification, Unit};
use super::{Event, Folder};
use crate::error::{Error, Result};
use crate::meetings::{Distinguished, Meeting};
use crate::problem::Problem;
use crate::search::Definition;

/// Meetings that tell nothing, by their reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Meetings {
    /// Two walks with equal multiples of `Q`.
    pub useless: u64,
    /// One walk, reported twice.
    pub repeated: u64,
    /// Two points with one hash.
    pub coincidences: u64,
    /// Points that their walks do not lead to.
    pub wrong: u64,
}

impl Meetings {
    /// The meetings that a directory records.
    ///
    /// # Errors
    /// [`Error::Campaign`].
    pub(super) fn of(campaign: &Folder) -> Result<Self> {
        let mut meetings = Self::default();
        recorded(campaign, |_, reason| *meetings.count(reason) += 1)?;
        Ok(meetings)
    }

    fn count(&mut self, reason: u64) -> &mut u64 {
        match reason {
            USELESS => &mut self.useless,
            REPEATED => &mut self.repeated,
            COINCIDENCE => &mut self.coincidences,
            _ => &mut self.wrong,
        }
    }
}

const USELESS: u64 = 1;
const REPEATED: u64 = 2;
const COINCIDENCE: u64 = 3;
const WRONG: u64 = 4;

const FILE: &str = "meetings.records";

fn kind(specification: &Specification) -> Kind {
    Kind::new(&format!("meetings of walk {}", specification.checksum()), 24)
}

/// Shows the recorded meetings: the starts of both walks, the smaller one first, and the reason.
fn recorded(campaign: &Folder, mut each: impl FnMut([u64; 2], u64)) -> Result<()> {
    let path = campaign.folder().join(FILE);
    let read = records::read(&path, kind(campaign.specification()), |record| {
        let [one, other, reason] = words(record);
        each([one, other], reason);
    });
    match read {
        Err(error) if error.is_not_found() => Ok(()),
        read => Ok(read.map(drop)?),
    }
}

/// The logarithm that a directory has, if it is right.
pub(super) fn solution(campaign: &Folder, problem: &Problem) -> Result<Option<Found>> {
    match load::<Specification>(&campaign.path(&Unit::Solution)) {
        Ok(Ok(certificate)) => Ok(match certificate.part {
            Part::Solution(found) => Some(found).filter(|found| found.logarithm(problem).is_some()),
            Part::Session(_) => None,
        }),
        // A damaged file is replaced when the walks meet again.
        Ok(Err(_)) => Ok(None),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// One process's part in keeping the directory.
pub(super) struct Keeper<'s> {
    campaign: &'s Folder,
    problem: &'s Problem,
    definition: &'s Definition,
    memory_bytes: u64,
    go_on: &'s (dyn Fn() -> bool + Sync),
    event: &'s (dyn Fn(Event) + Sync),
    claims: Claims,
    office: Option<Office>,
}

/// What the keeper has in hand.
struct Office {
    follower: Follower,
    index: Index,
    known: HashSet<[u64; 2]>,
    records: Appender,
    told: HashSet<Lost>,
    _claim: Claim,
}

impl<'s> Keeper<'s> {
    pub(super) fn new(
        campaign: &'s Folder,
        problem: &'s Problem,
        definition: &'s Definition,
        memory_bytes: u64,
        go_on: &'s (dyn Fn() -> bool + Sync),
        event: &'s (dyn Fn(Event) + Sync),
    ) -> Self {
        let claims = Claims::new(campaign.folder(), HEARTBEAT, PATIENCE);
        Self { campaign, problem, definition, memory_bytes, go_on, event, claims, office: None }
    }

    /// Looks for the logarithm once: in the directory, and, if this process is the keeper, among the new points.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Campaign`].
    pub(super) fn look(&mut self) -> Result<Option<Found>> {
        if let Some(found) = solution(self.campaign, self.problem)? {
            return Ok(Some(found));
        }
        let mut office = match self.office.take() {
            Some(office) => office,
            None => match self.claims.take("index")? {
                Some(claim) => self.office(claim)?,
                None => return Ok(None),
            },
        };
        let found = match self.pass(&mut office) {
            Err(Error::IndexDamaged { path }) => {
                (self.event)(Event::IndexLost { path });
                office.index.reset()?;
                office.follower = Follower::default();
                None
            }
            found => found?,
        };
        self.office = Some(office);
        Ok(found)
    }

    /// Takes the directory over.
    fn office(&self, claim: Claim) -> Result<Office> {
        let specification = self.campaign.specification();
        let index = Index::open(&index_folder(self.campaign.folder()), specification, self.memory_bytes)?;
        let mut known = HashSet::new();
        recorded(self.campaign, |starts, _| {
            known.insert(starts);
        })?;
        let records = Appender::open(&self.campaign.folder().join(FILE), kind(specification))?;
        let follower = Follower::from(index.ends().clone());
        Ok(Office { follower, index, known, records, told: HashSet::new(), _claim: claim })
    }

    /// Reads all new points.
    fn pass(&self, office: &mut Office) -> Result<Option<Found>> {
        let folder = self.campaign.folder();
        let kind = points::kind(self.campaign.specification());
        for session in points::sessions(folder)? {
            loop {
                if !(self.go_on)() {
                    return Err(Error::Stopped);
                }
                let mut met = Vec::new();
                let Office { follower, index, told, .. } = office;
                let room = index.room() as u64;
                let lost = follower.read(folder, session, kind, room, |point| met.extend(index.insert(point)))?;
                for lost in lost {
                    if told.insert(lost.clone()) {
                        (self.event)(Event::Lost(lost));
                    }
                }
                if let Some(found) = self.resolve(office, met)? {
                    return Ok(Some(found));
                }
                if office.index.room() > 0 {
                    break;
                }
                let met = office.index.probe()?;
                if let Some(found) = self.resolve(office, met)? {
                    return Ok(Some(found));
                }
                office.index.store(office.follower.ends())?;
            }
        }
        let met = if office.index.is_due() { office.index.probe()? } else { Vec::new() };
        self.resolve(office, met)
    }

    /// Makes the walks of meetings again, until one of them tells the logarithm.
    fn resolve(&self, office: &mut Office, met: Vec<[Distinguished; 2]>) -> Result<Option<Found>> {
        for points in met {
            if !(self.go_on)() {
                return Err(Error::Stopped);
            }
            let mut starts = points.map(|point| point.start);
            starts.sort_unstable();
            if office.known.contains(&starts) {
                continue;
            }
            let reason = match self.definition.meet(self.problem, points, self.go_on)? {
                Meeting::Solved(k) => {
                    let found = Found::new(&k, points);
                    let certificate = self.campaign.specification().certificate(Part::Solution(found.clone()));
                    store::<Specification>(&self.campaign.path(&Unit::Solution), &certificate)?;
                    return Ok(Some(found));
                }
                Meeting::Useless => USELESS,
                Meeting::Repeated => REPEATED,
                Meeting::Coincidence => COINCIDENCE,
                Meeting::Wrong { start } => {
                    (self.event)(Event::Wrong { start });
                    WRONG
                }
            };
            office.known.insert(starts);
            let record: Vec<u8> = [starts[0], starts[1], reason].iter().flat_map(|word| word.to_le_bytes()).collect();
            office.records.append(&record)?;
            office.records.flush()?;
        }
        Ok(None)
    }
}

/// The index's directory.
pub(super) fn index_folder(folder: &Path) -> std::path::PathBuf {
    folder.join("index")
}
