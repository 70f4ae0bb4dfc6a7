//! `warpmp campaign sync`: the certificates of another directory.

use std::path::{Path, PathBuf};

use serde_json::json;
use warpmp_campaign::{Begun, Campaign, Stored, Work};
use warpmp_collatz::campaign::Specification as Collatz;
use warpmp_curves::campaign::{self as logarithm, Joined, Opened};
use warpmp_numtheory::factor::campaign::Specification as Curves;

use super::{
    super::resume::{Kind, kind},
    args,
};
use crate::{
    console,
    error::{Result, plural},
    interrupt,
};

/// Certificates that contradict each other.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SyncError {
    #[error("{path}: {from} has another result for this unit; both are kept, and one of them is wrong{}",
            match *more { 0 => String::new(), more => format!("; {more} more") })]
    Disputed { path: String, from: String, more: usize },
}

/// What was done.
#[derive(Default)]
struct Synced {
    copied: u64,
    known: u64,
    not_trusted: Vec<String>,
    disputed: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &args::Sync) -> Result<()> {
    let (from, to) = (&args.from, &args.folder);
    let synced = match kind(from)? {
        Kind::Collatz => certificates::<Collatz>(from, to)?,
        Kind::Curves => certificates::<Curves>(from, to)?,
        Kind::Logarithm => sessions(from, to)?,
    };
    let Synced { copied, known, not_trusted, disputed } = synced;
    for file in &not_trusted {
        console::note(&format!("note: {file}; it is not copied"));
    }
    if args.object.json {
        let object = json!({"copied": copied, "known": known, "not_trusted": not_trusted, "disputed": disputed});
        console::report_object(&object)?;
    } else {
        console::report(&format!("{copied} certificate{} copied, {known} were there\n", plural(copied)))?;
    }
    match &disputed[..] {
        [] => Ok(()),
        [first, more @ ..] => {
            let (path, from) = (first.display().to_string(), from.display().to_string());
            Err(SyncError::Disputed { path, from, more: more.len() }.into())
        }
    }
}

fn certificates<W: Work>(from: &Path, to: &Path) -> Result<Synced> {
    let source = Campaign::<W>::open(from)?;
    let specification = match Campaign::<W>::begun(to)? {
        // A longer campaign has the units of the shorter one, too.
        Begun::Campaign(longer) if longer.extends(source.specification()) => longer,
        Begun::Campaign(_) | Begun::Nothing | Begun::Certificates(_) => source.specification().clone(),
    };
    let (campaign, _lock) = Campaign::join(to, &specification)?;
    let contents = source.contents()?;
    let not_trusted = contents.damaged.iter().map(|(path, damage)| format!("{}: {damage}", path.display())).collect();
    let mut synced = Synced { not_trusted, ..Synced::default() };
    for certificate in &contents.done {
        interrupt::check()?;
        match campaign.store(certificate)? {
            Stored::New => synced.copied += 1,
            Stored::Again => synced.known += 1,
            Stored::Differs(path) => synced.disputed.push(path),
        }
    }
    Ok(synced)
}

fn sessions(from: &Path, to: &Path) -> Result<Synced> {
    let specification = match logarithm::begun(to)? {
        Some(specification) => specification,
        None => logarithm::Folder::open(from)?.specification().clone(),
    };
    let opened = Opened::new(to, &specification.problem()?, specification.settings())?;
    let Joined { copied, known, points: _ } = logarithm::join(&opened, from)?;
    Ok(Synced { copied, known, ..Synced::default() })
}
