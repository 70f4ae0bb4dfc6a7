//! Append-only files of small records, with a checksum a block.
//!
//! A file has one writer at a time; a campaign gives each of its processes a file of its own, and its readers read all of them. Records
//! are collected and written as a *block*:
//!
//! ```text
//! 8 bytes   "warpmpB1"
//! 4 bytes   length n of the payload, little-endian
//! 4 bytes   size of a record, little-endian
//! 8 bytes   the kind: the first 8 bytes of the SHA-256 of the kind's name
//! n bytes   the payload: whole records
//! 16 bytes  the first 16 bytes of the SHA-256 of everything before
//! ```
//!
//! A kill or a power cut loses at most the block that was being written: the next writer cuts off a block that the file's end has cut
//! short. A reader checks every block, skips damaged blocks, goes on at the next whole one, and says where it skipped.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek as _, SeekFrom, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::error::{Damage, Error, Result};

const MAGIC: &[u8; 8] = b"warpmpB1";
const HEAD_BYTES: usize = 24;
const DIGEST_BYTES: usize = 16;
/// A block is written at the latest when it has this many bytes.
const MOST_PAYLOAD: usize = 1 << 20;

/// The kind of a file's records: files of another kind are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    digest: [u8; 8],
    record_bytes: usize,
}

/// Appends records to a file.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    kind: Kind,
    payload: Vec<u8>,
    cut: u64,
}

/// The result of reading a file of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Records in whole blocks.
    pub records: u64,
    /// Whole blocks.
    pub blocks: u64,
    /// Places in the file that are damaged, in bytes: their records are lost.
    pub damaged: Vec<Range<u64>>,
    /// Bytes at the end that are the beginning of a block: a writer was killed, or is writing now.
    pub unfinished: u64,
}

impl Kind {
    /// Records of `record_bytes` bytes each, 1 to 2^16. The `name` has everything that defines them, such as the checksum of a
    /// campaign's specification.
    pub fn new(name: &str, record_bytes: u16) -> Self {
        let mut digest = [0; 8];
        digest.copy_from_slice(&Sha256::digest(name)[..8]);
        Self { digest, record_bytes: usize::from(record_bytes).max(1) }
    }

    fn head(self, payload_bytes: usize) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(MAGIC);
        head[8..12].copy_from_slice(&(payload_bytes as u32).to_le_bytes());
        head[12..16].copy_from_slice(&(self.record_bytes as u32).to_le_bytes());
        head[16..].copy_from_slice(&self.digest);
        head
    }
}

/// A block at the beginning of some bytes.
enum Block {
    /// Whole: the length of its payload.
    Whole(usize),
    /// Whole, of another kind.
    Foreign,
    /// The bytes end within it.
    Unfinished,
    /// None.
    Damaged,
}

fn word(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte))
}

fn block(bytes: &[u8], kind: Kind) -> Block {
    let begin = &MAGIC[..bytes.len().min(8)];
    if !bytes.starts_with(begin) {
        return Block::Damaged;
    }
    if bytes.len() < HEAD_BYTES {
        return Block::Unfinished;
    }
    let payload = word(&bytes[8..12]);
    if payload > MOST_PAYLOAD {
        return Block::Damaged;
    }
    let end = HEAD_BYTES + payload;
    let Some(digest) = bytes.get(end..end + DIGEST_BYTES) else { return Block::Unfinished };
    match Sha256::digest(&bytes[..end])[..DIGEST_BYTES] == *digest {
        false => Block::Damaged,
        true if bytes[..HEAD_BYTES] == kind.head(payload) => Block::Whole(payload),
        true => Block::Foreign,
    }
}

/// Shows `each` every record of a file that is whole.
///
/// # Errors
/// [`Error::File`]; [`Error::NotTrusted`] if a block is of another kind.
pub fn read(path: &Path, kind: Kind, mut each: impl FnMut(&[u8])) -> Result<Scan> {
    let bytes = fs::read(path).map_err(Error::file(path))?;
    let mut scan = Scan::default();
    let mut at = 0;
    while at < bytes.len() {
        match block(&bytes[at..], kind) {
            Block::Whole(payload) => {
                let begin = at + HEAD_BYTES;
                bytes[begin..begin + payload].chunks_exact(kind.record_bytes).for_each(&mut each);
                scan.records += (payload / kind.record_bytes) as u64;
                scan.blocks += 1;
                at = begin + payload + DIGEST_BYTES;
            }
            Block::Foreign => {
                let damage = Damage::foreign("records at byte", at.to_string());
                return Err(Error::NotTrusted { path: path.to_owned(), damage });
            }
            // A damaged length may reach behind the end: a whole block after it says that this one was not the last.
            Block::Unfinished | Block::Damaged => {
                let whole = |next: &usize| matches!(block(&bytes[*next..], kind), Block::Whole(_) | Block::Foreign);
                let next = places(&bytes, at + 1).find(whole);
                if next.is_none() && matches!(block(&bytes[at..], kind), Block::Unfinished) {
                    scan.unfinished = (bytes.len() - at) as u64;
                    break;
                }
                let next = next.unwrap_or(bytes.len());
                scan.damaged.push(at as u64..next as u64);
                at = next;
            }
        }
    }
    Ok(scan)
}

/// Where a block may begin, from a place on.
fn places(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    (from..bytes.len().saturating_sub(HEAD_BYTES)).filter(|at| bytes[*at..].starts_with(MAGIC))
}

impl Appender {
    /// Opens a file to append to it, and makes it if it is not there. A block at its end that is cut short is removed.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Locked`] if another process appends to it; [`Error::NotTrusted`] if its records are of another kind.
    pub fn open(path: &Path, kind: Kind) -> Result<Self> {
        let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open.map_err(Error::file(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { path: path.to_owned(), holder: "another process".into() });
            }
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(Error::file(path)(error));
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let cut = read(path, kind, |_| {})?.unfinished;
        let end = file.seek(SeekFrom::End(0)).map_err(Error::file(path))? - cut;
        file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end))).map_err(Error::file(path))?;
        Ok(Self { path: path.to_owned(), file, kind, payload: Vec::new(), cut })
    }

    /// Bytes at the file's end that were removed: the last writer was killed while it wrote them.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Appends a record, which is on the disk after the next [`Appender::flush`].
    ///
    /// # Errors
    /// [`Error::File`], also for a record of another size.
    pub fn append(&mut self, record: &[u8]) -> Result<()> {
        if record.len() != self.kind.record_bytes {
            let reason = format!("a record of {} bytes, not of {}", record.len(), self.kind.record_bytes);
            return Err(Error::file(&self.path)(io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        if self.payload.len() + record.len() > MOST_PAYLOAD {
            self.flush()?;
        }
        self.payload.extend(record);
        Ok(())
    }

    /// Writes the records since the last call as a block; after this they are on the disk.
    ///
    /// # Errors
    /// [`Error::File`]; the records are kept for the next call.
    pub fn flush(&mut self) -> Result<()> {
        if self.payload.is_empty() {
            return Ok(());
        }
        let mut block = self.kind.head(self.payload.len()).to_vec();
        block.extend(&self.payload);
        let digest = Sha256::digest(&block);
        block.extend(&digest[..DIGEST_BYTES]);
        let begin = self.file.stream_position().map_err(Error::file(&self.path))?;
        if let Err(error) = self.file.write_all(&block).and_then(|()| self.file.sync_data()) {
            // A part of the block would be in the way of the next one.
            let _ = self.file.set_len(begin).and_then(|()| self.file.seek(SeekFrom::Start(begin)));
            return Err(Error::file(&self.path)(error));
        }
        self.payload.clear();
        Ok(())
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // A caller that needs to know of an error calls `flush` before.
        let _ = self.flush();
        let _ = self.file.unlock();
    }
}
