//! Directories of several machines, brought together.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use warpmp_campaign::{Work as _, store, write_whole};

use super::points;
use super::{Folder, Opened, Part, Unit};
use crate::error::{Error, Result};

/// What was brought in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Sessions that were not there, or have more points now.
    pub copied: u64,
    /// Sessions that were there.
    pub known: u64,
    /// Their points.
    pub points: u64,
}

/// Copies the sessions of another directory of the same campaign. Its processes may work on; what they write later is copied by a
/// later call. Its unfinished walks stay there.
///
/// # Errors
/// [`Error::Campaign`], for a directory of another curve or walk too; [`Error::Differs`].
pub fn join(opened: &Opened, from: &Path) -> Result<Joined> {
    let source = Folder::open(from)?;
    let campaign = &opened.campaign;
    if source.specification() != campaign.specification() {
        let path = from.join("campaign.json");
        let found = source.specification().describe();
        return Err(Error::Campaign(warpmp_campaign::Error::OtherCampaign { path, found }));
    }
    let mut joined = Joined::default();
    // The logs first: the files of points have at least as many by then.
    for certificate in source.contents()?.done {
        match &certificate.part {
            Part::Solution(_) => drop(campaign.store(&certificate)?),
            Part::Session(session) => {
                let [there, here] = [from, campaign.folder()].map(|folder| points::path(folder, session.number));
                let path = campaign.path(&Unit::Session(session.number));
                if copy(&there, &here)? || !path.exists() {
                    store::<super::Specification>(&path, &certificate)?;
                    joined.copied += 1;
                    joined.points += session.points;
                } else {
                    joined.known += 1;
                }
            }
        }
    }
    Ok(joined)
}

/// Copies a file of points; false if the other directory has it already. A longer copy of the same file replaces it.
fn copy(from: &Path, to: &Path) -> Result<bool> {
    let source = File::open(from).map_err(|source| file(from, source))?;
    match File::open(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        there => {
            let there = there.map_err(|source| file(to, source))?;
            let [new, old] = [(&source, from), (&there, to)].map(|(open, path)| {
                open.metadata().map(|metadata| metadata.len()).map_err(|source| file(path, source))
            });
            let (new, old) = (new?, old?);
            if !same(&source, &there, new.min(old)).map_err(|source| file(from, source))? {
                return Err(Error::Differs { one: from.to_owned(), other: to.to_owned() });
            }
            if new <= old {
                return Ok(false);
            }
        }
    }
    let mut source = File::open(from).map_err(|source| file(from, source))?;
    write_whole(to, |out| io::copy(&mut source, out).map(drop))?;
    Ok(true)
}

/// Have both files the same first bytes?
fn same(one: &File, other: &File, bytes: u64) -> io::Result<bool> {
    let mut left = bytes;
    let mut buffers = [vec![0; 1 << 20], vec![0; 1 << 20]];
    while left > 0 {
        let part = left.min(1 << 20) as usize;
        for (buffer, mut file) in buffers.iter_mut().zip([one, other]) {
            file.read_exact(&mut buffer[..part])?;
        }
        if buffers[0][..part] != buffers[1][..part] {
            return Ok(false);
        }
        left -= part as u64;
    }
    Ok(true)
}

fn file(path: &Path, source: io::Error) -> Error {
    Error::Campaign(warpmp_campaign::Error::File { path: path.to_owned(), source })
}
