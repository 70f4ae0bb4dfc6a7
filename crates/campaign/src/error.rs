//! The errors of a directory.

use std::{io, path::PathBuf};

use crate::restore::Remains;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or a directory could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is damaged, or another program version or rule set wrote it.
    #[error("{}: {damage}", path.display())]
    NotTrusted {
        /// The file.
        path: PathBuf,
        /// Why.
        damage: Damage,
    },
    /// Another process works in the directory. Wait until it ends, or choose another directory.
    #[error("{} is held by {holder}", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// The process that holds it.
        holder: String,
    },
    /// The directory has another campaign. Choose another directory.
    #[error("{} is of another campaign: {found}", path.display())]
    OtherCampaign {
        /// The campaign's specification.
        path: PathBuf,
        /// That campaign, in words.
        found: String,
    },
    /// The specification is lost or broken, but certificates are there. Start the campaign again with its old specification: this
    /// writes the file again.
    #[error(
        "{}: {reason}; {} certificates are there, {}: start the campaign again with the same specification, \
         which writes this file again{if_extended}",
        path.display(), remains.certificates, remains.summary
    )]
    LostSpecification {
        /// The specification's file.
        path: PathBuf,
        /// The reason.
        reason: String,
        /// The certificates.
        remains: Remains,
        /// What else to do if the campaign was extended.
        if_extended: &'static str,
    },
    /// The specification is lost or broken, and a certificate does not belong to the campaign that is asked for. Give the
    /// specification that the campaign had, or move the certificates of other campaigns to another directory.
    #[error(
        "campaign.json is lost, and {} does not belong to {asked}: give what the campaign had, \
         or move the certificates of other campaigns to another directory{if_extended}",
        certificate.display()
    )]
    OtherCertificates {
        /// A certificate that does not fit.
        certificate: PathBuf,
        /// The campaign that is asked for, in words.
        asked: String,
        /// What else to do if the campaign was extended.
        if_extended: &'static str,
    },
    /// Certificates in good order are not trusted: another program version, rule set or campaign wrote them. Move them to another
    /// directory, or allow that they are moved aside and their units are done again.
    #[error("{}: these files are in good order, but not trusted; move them to another directory: {}", folder.display(), listed(files))]
    Untrusted {
        /// The directory.
        folder: PathBuf,
        /// The certificates, and why each is not trusted.
        files: Vec<(PathBuf, Damage)>,
    },
}

impl Error {
    /// A failed access to `path`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// Is a file not there?
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Files that an error names at most.
const LISTED: usize = 8;

/// The first files, and the number of the others.
fn listed(files: &[(PathBuf, Damage)]) -> String {
    let file = |(path, damage): &(PathBuf, Damage)| {
        format!("{} ({damage})", path.file_name().unwrap_or_default().to_string_lossy())
    };
    let mut parts: Vec<String> = files.iter().take(LISTED).map(file).collect();
    if files.len() > LISTED {
        parts.push(format!("{} others", files.len() - LISTED));
    }
    parts.join(", ")
}

/// Why a certificate or a specification is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It is no sealed file.
    #[error("not a sealed file of this program: {reason}")]
    Unreadable {
        /// The reader's words.
        reason: String,
    },
    /// Its content changed after it was written.
    #[error("damaged: its SHA-256 is {found}, {written} was written")]
    Digest {
        /// The checksum of the content.
        found: String,
        /// The checksum in the file.
        written: String,
    },
    /// Another program version or rule set wrote it.
    #[error("of another kind: {what} {found}")]
    Foreign {
        /// What differs.
        what: String,
        /// The value in the file.
        found: String,
    },
    /// It is in good order, but its name or its parameters are of another campaign.
    #[error("of another campaign: {what}")]
    Misplaced {
        /// What does not fit.
        what: String,
    },
}

impl Damage {
    /// A file whose `what` differs from this program's.
    pub fn foreign(what: &str, found: impl Into<String>) -> Self {
        Self::Foreign { what: what.into(), found: found.into() }
    }

    /// Is the file of no use to anybody? If not, it may be valuable work that does not count here.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Digest { .. })
    }
}
