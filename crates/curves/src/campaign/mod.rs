//! A search in a directory: any number of processes and machines, killed and started again at any time.
//!
//! ```text
//! DIR/campaign.json             the curve, the walk's settings and its checksum, sealed
//! DIR/lock                      shared by all processes that work
//! DIR/points-NNNNNNNN.records   the points of a session, appended in blocks with a checksum: start and hash, 16 bytes a point
//! DIR/session-NNNNNNNN.json     the session's log, sealed: engine, steps, seconds, points
//! DIR/walks-NNNNNNNN.records    unfinished walks of a session that ended in order
//! DIR/index.claim               held by the keeper: one process looks for meetings
//! DIR/index/                    sorted points; can be deleted
//! DIR/meetings.records          meetings that tell nothing: two starts and the reason, 24 bytes each
//! DIR/solution.json             the logarithm and the two walks that met, sealed
//! ```
//!
//! Every engine of every process is a *session*, which alone writes its files. So nothing is locked but for the keeper's claim.
//! A kill loses the points of the last two seconds and the walks that were under way.
//!
//! ```text
//! specification  what defines a campaign; the sealed files
//! session        the files of one engine
//! points         the points of all sessions, read while they grow
//! index          equal hashes among billions of points
//! keeper         meetings, and the logarithm
//! run            engines and keeper at work
//! status         how far it is, and how long it may take
//! check          points made again by independent code, lost and damaged files
//! join           directories of several machines
//! ```

mod check;
pub mod index;
mod join;
mod keeper;
pub mod points;
mod run;
mod session;
mod specification;
mod status;

use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use warpmp_campaign::{Begun, Lock};

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::search::Definition;
use crate::walk::Settings;
pub use check::{Checked, Finding, check};
pub use join::{Joined, join};
pub use keeper::Meetings;
pub use points::Lost;
pub use run::{Outcome, Progress, Worker, run};
pub use specification::{Certificate, Found, Part, Session, Specification, Unit};
pub use status::{Estimate, Status, status};

/// The directory of a campaign.
pub type Folder = warpmp_campaign::Campaign<Specification>;

/// A campaign to work on.
#[derive(Debug)]
pub struct Opened {
    pub(crate) campaign: Folder,
    pub(crate) problem: Problem,
    pub(crate) definition: Definition,
    _lock: Lock,
}

/// What a person should know, and no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A part of a file of points is damaged.
    Lost(Lost),
    /// A file of points ends within a block.
    Torn {
        /// The file.
        path: PathBuf,
        /// The block's bytes that are there.
        bytes: u64,
    },
    /// The walk of a start does not lead to its point.
    Wrong {
        /// The number of the start.
        start: u64,
    },
    /// A run of the index is damaged.
    IndexLost {
        /// The run.
        path: PathBuf,
    },
}

impl Event {
    /// Are points lost that were stored?
    pub const fn is_loss(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Wrong { .. })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(Lost { path, bytes }) => {
                write!(
                    f,
                    "{}: bytes {} to {} are damaged; their points are lost",
                    path.display(),
                    bytes.start,
                    bytes.end
                )
            }
            Self::Torn { path, bytes } => write!(
                f,
                "{} ends with {bytes} bytes of an unfinished block, which do not count: its writer was killed, or writes now",
                path.display()
            ),
            Self::Wrong { start } => {
                write!(f, "the walk of start {start} does not lead to its point; the point does not count")
            }
            Self::IndexLost { path } => {
                write!(f, "{} is damaged; the index is made again from the points", path.display())
            }
        }
    }
}

/// The campaign of a directory, which may not exist; none if there is none, or if its specification is lost.
///
/// # Errors
/// [`Error::Campaign`].
pub fn begun(folder: &Path) -> Result<Option<Specification>> {
    Ok(match Folder::begun(folder)? {
        Begun::Campaign(specification) => Some(specification),
        Begun::Nothing | Begun::Certificates(_) => None,
    })
}

impl Opened {
    /// Opens a directory to work on the logarithm of a problem, together with other processes. It is made if it is not there. A lost
    /// specification is written again if all files fit it.
    ///
    /// # Errors
    /// [`Error::Campaign`], for a directory of another curve or walk too; [`Error::Setting`].
    pub fn new(folder: &Path, problem: &Problem, settings: Settings) -> Result<Self> {
        let definition = Definition::new(problem, settings)?;
        let specification = Specification::new(problem, &definition);
        let joined = match Folder::join(folder, &specification) {
            Err(warpmp_campaign::Error::LostSpecification { .. }) => {
                drop(Folder::create(folder, &specification)?);
                Folder::join(folder, &specification)
            }
            joined => joined,
        };
        let (campaign, lock) = joined?;
        Ok(Self { campaign, problem: problem.clone(), definition, _lock: lock })
    }

    /// The settings of the walk.
    pub fn settings(&self) -> Settings {
        self.definition.settings()
    }

    /// How far the campaign is.
    ///
    /// # Errors
    /// [`Error::Campaign`].
    pub fn status(&self) -> Result<Status> {
        status(&self.campaign)
    }
}

/// The names of a directory's files.
fn names(folder: &Path) -> Result<Vec<String>> {
    let error = |source| Error::Campaign(warpmp_campaign::Error::File { path: folder.to_owned(), source });
    let entries = fs::read_dir(folder).map_err(error)?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// A number that no other process draws: the system's randomness makes the keys of the standard library's hash tables.
fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}
