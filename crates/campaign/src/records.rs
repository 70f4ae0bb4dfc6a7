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
    fs::{File, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{
    error::{Damage, Error, Result},
    seal::write_whole,
};

const MAGIC: &[u8; 8] = b"warpmpB1";
const HEAD_BYTES: usize = 24;
const DIGEST_BYTES: usize = 16;
/// A block is written at the latest when it has this many bytes.
const MOST_PAYLOAD: usize = 1 << 20;
const MOST_BLOCK: usize = HEAD_BYTES + MOST_PAYLOAD + DIGEST_BYTES;
/// A reader holds this many bytes of a file.
const WINDOW: usize = 4 * MOST_BLOCK;

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
    /// Blocks were written since the last call of [`Appender::flush`].
    unsynced: bool,
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
    /// Where the last whole block ends: [`read_some`] goes on from here.
    pub end: u64,
}

impl Kind {
    /// Records of `record_bytes` bytes each, 1 to 2^16. The `name` has everything that defines them, such as the checksum of a
    /// campaign's specification.
    pub fn new(name: &str, record_bytes: u16) -> Self {
        let mut digest = [0; 8];
        digest.copy_from_slice(&Sha256::digest(name)[..8]);
        Self { digest, record_bytes: usize::from(record_bytes).max(1) }
    }

    /// Has the record this kind's size?
    fn admit(self, record: &[u8]) -> io::Result<()> {
        if record.len() == self.record_bytes {
            return Ok(());
        }
        let reason = format!("a record of {} bytes, not of {}", record.len(), self.record_bytes);
        Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
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
pub fn read(path: &Path, kind: Kind, each: impl FnMut(&[u8])) -> Result<Scan> {
    read_some(path, kind, 0, u64::MAX, each)
}

/// The same from a byte on, 0 or [`Scan::end`] of an earlier call, up to the block that has record number `most`. So a reader follows
/// a file while another process appends to it. Memory holds a few blocks at a time.
///
/// # Errors
/// As [`read`].
pub fn read_some(path: &Path, kind: Kind, from: u64, most: u64, mut each: impl FnMut(&[u8])) -> Result<Scan> {
    let mut window = Window::open(path, from).map_err(Error::file(path))?;
    let mut scan = Scan { end: from, ..Scan::default() };
    // A place that is no whole block: where it begins, and whether the file may end within a block that begins there.
    let mut gap: Option<(u64, bool)> = None;
    while scan.records < most {
        window.fill().map_err(Error::file(path))?;
        let (bytes, at) = (window.rest(), window.at());
        if bytes.is_empty() {
            break;
        }
        match block(bytes, kind) {
            Block::Whole(payload) => {
                bytes[HEAD_BYTES..HEAD_BYTES + payload].chunks_exact(kind.record_bytes).for_each(&mut each);
                scan.records += (payload / kind.record_bytes) as u64;
                scan.blocks += 1;
                // A damaged length may reach behind the end: a whole block after it says that this one was not the last.
                scan.damaged.extend(gap.take().map(|(begin, _)| begin..at));
                window.advance(HEAD_BYTES + payload + DIGEST_BYTES);
                scan.end = window.at();
            }
            Block::Foreign => {
                let damage = Damage::foreign("records at byte", at.to_string());
                return Err(Error::NotTrusted { path: path.to_owned(), damage });
            }
            found @ (Block::Unfinished | Block::Damaged) => {
                gap = gap.or(Some((at, matches!(found, Block::Unfinished))));
                let next = next_place(bytes);
                window.advance(next);
            }
        }
    }
    match gap {
        Some((begin, true)) => scan.unfinished = window.at() - begin,
        Some((begin, false)) => scan.damaged.push(begin..window.at()),
        None => {}
    }
    Ok(scan)
}

/// Bytes at a file's end that are the beginning of a block. Only the heads of the blocks are read.
///
/// # Errors
/// [`Error::File`].
pub fn unfinished(path: &Path) -> Result<u64> {
    let measure = || -> io::Result<u64> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut at = 0;
        while at < bytes {
            file.seek(SeekFrom::Start(at))?;
            let mut head = Vec::new();
            (&file).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
            let payload = head.get(8..12).map_or(0, word);
            if !head.starts_with(&MAGIC[..head.len().min(8)]) || payload > MOST_PAYLOAD {
                // Damaged: where the next block begins is not known.
                return Ok(0);
            }
            let end = at + (HEAD_BYTES + payload + DIGEST_BYTES) as u64;
            if head.len() < HEAD_BYTES || end > bytes {
                return Ok(bytes - at);
            }
            at = end;
        }
        Ok(0)
    };
    measure().map_err(Error::file(path))
}

/// Where the next block may begin, behind the first byte.
fn next_place(bytes: &[u8]) -> usize {
    let places = bytes.windows(MAGIC.len()).skip(1).position(|word| word == MAGIC);
    // The beginning of a block may stand at the very end.
    places.map_or(bytes.len().saturating_sub(MAGIC.len() - 1).max(1), |place| place + 1)
}

/// A file in pieces: from any place on, a whole block lies in memory if the file has it.
struct Window {
    file: File,
    bytes: Vec<u8>,
    /// Bytes of the window that were passed.
    passed: usize,
    /// Where the window begins in the file.
    begin: u64,
    ended: bool,
}

impl Window {
    fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Self { file, bytes: Vec::new(), passed: 0, begin: from, ended: false })
    }

    /// The place in the file.
    fn at(&self) -> u64 {
        self.begin + self.passed as u64
    }

    /// The bytes from the place on.
    fn rest(&self) -> &[u8] {
        &self.bytes[self.passed..]
    }

    /// Reads on, until there are at least as many bytes as a block has, or all.
    fn fill(&mut self) -> io::Result<()> {
        if !self.ended && self.bytes.len() - self.passed < MOST_BLOCK {
            self.bytes.drain(..self.passed);
            self.begin += self.passed as u64;
            self.passed = 0;
            let missing = WINDOW - self.bytes.len();
            let read = (&self.file).take(missing as u64).read_to_end(&mut self.bytes)?;
            self.ended = read < missing;
        }
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.passed += bytes;
    }
}

/// Writes a whole file of records, for a reader that comes later. A file of that name is replaced.
///
/// # Errors
/// [`Error::File`], also for a record of another size.
pub fn write<R: AsRef<[u8]>>(path: &Path, kind: Kind, records: impl IntoIterator<Item = R>) -> Result<()> {
    write_whole(path, |file| {
        let mut payload = Vec::new();
        for record in records {
            let record = record.as_ref();
            kind.admit(record)?;
            if payload.len() + record.len() > MOST_PAYLOAD {
                file.write_all(&sealed_block(kind, &payload))?;
                payload.clear();
            }
            payload.extend(record);
        }
        if payload.is_empty() { Ok(()) } else { file.write_all(&sealed_block(kind, &payload)) }
    })
}

/// A block with these records.
fn sealed_block(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut block = kind.head(payload.len()).to_vec();
    block.extend(payload);
    let digest = Sha256::digest(&block);
    block.extend(&digest[..DIGEST_BYTES]);
    block
}

impl Appender {
    /// Makes a file to append to it; none if there is a file of that name. Of several processes one gets it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn create(path: &Path, kind: Kind) -> Result<Option<Self>> {
        match File::options().read(true).write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            made => Self::new(path, kind, made.map_err(Error::file(path))?).map(Some),
        }
    }

    /// Opens a file to append to it, and makes it if it is not there. A block at its end that is cut short is removed.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Locked`] if another process appends to it; [`Error::NotTrusted`] if its records are of another kind.
    pub fn open(path: &Path, kind: Kind) -> Result<Self> {
        let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
        Self::new(path, kind, open.map_err(Error::file(path))?)
    }

    fn new(path: &Path, kind: Kind, mut file: File) -> Result<Self> {
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
        Ok(Self { path: path.to_owned(), file, kind, payload: Vec::new(), cut, unsynced: false })
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
        self.kind.admit(record).map_err(Error::file(&self.path))?;
        if self.payload.len() + record.len() > MOST_PAYLOAD {
            self.write()?;
        }
        self.payload.extend(record);
        Ok(())
    }

    /// Writes the records since the last block as a block; after this all records are on the disk.
    ///
    /// # Errors
    /// [`Error::File`]; records that were not written are kept for the next call.
    pub fn flush(&mut self) -> Result<()> {
        if !self.payload.is_empty() {
            self.write()?;
        }
        if std::mem::take(&mut self.unsynced) {
            self.file.sync_data().map_err(Error::file(&self.path))?;
        }
        Ok(())
    }

    /// Hands a block to the system.
    fn write(&mut self) -> Result<()> {
        let block = sealed_block(self.kind, &self.payload);
        let begin = self.file.stream_position().map_err(Error::file(&self.path))?;
        if let Err(error) = self.file.write_all(&block) {
            // A part of the block would be in the way of the next one.
            let _ = self.file.set_len(begin).and_then(|()| self.file.seek(SeekFrom::Start(begin)));
            return Err(Error::file(&self.path)(error));
        }
        self.payload.clear();
        self.unsynced = true;
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
