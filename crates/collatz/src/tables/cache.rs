//! Table S on disk: made once, trusted only if its checksum is right.
//!
//! `mandatory-K.bin`, little-endian: the line `warpmp mandatory 1 K BLOCKS\n`; for each block its count (u32) and its bytes (u64); the
//! bytes; the SHA-256 of everything before.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use warpmp_campaign::{Error::File, write_whole};

use super::{Mandatory, mandatory::Block};
use crate::error::{Error, Result};

const DIGEST_BYTES: usize = 32;
const BLOCK_BYTES: usize = 12;

/// Where a table came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Read from this file.
    Read(PathBuf),
    /// Made, and written to this file.
    Written(PathBuf),
    /// Made, since the file there was damaged or of another kind; it has been replaced.
    Replaced(PathBuf),
    /// Made, and not stored: why not.
    NotStored(String),
}

/// The table for `sieve_bits`. It is read from `folder` if it is there and whole, else made and stored there.
///
/// # Errors
/// [`Error::Parameter`]. A folder that cannot be read or written is no error.
pub fn open_mandatory(sieve_bits: u32, folder: &Path) -> Result<(Mandatory, Loaded)> {
    Error::parameter("sieve bits", sieve_bits.into(), 3, 37)?;
    let path = folder.join(format!("mandatory-{sieve_bits}.bin"));
    let stored = fs::read(&path).ok();
    let damaged = stored.is_some();
    if let Some(table) = stored.and_then(|bytes| decode(sieve_bits, bytes)) {
        return Ok((table, Loaded::Read(path)));
    }
    let table = Mandatory::new(sieve_bits)?;
    let loaded = match store(&table, folder, &path) {
        Ok(()) if damaged => Loaded::Replaced(path),
        Ok(()) => Loaded::Written(path),
        Err(error) => Loaded::NotStored(error.to_string()),
    };
    Ok((table, loaded))
}

fn header(table: &Mandatory) -> Vec<u8> {
    let mut header = format!("warpmp mandatory 1 {} {}\n", table.sieve_bits, table.blocks.len()).into_bytes();
    for block in &table.blocks {
        header.extend(block.count.to_le_bytes());
        header.extend((block.end - block.begin).to_le_bytes());
    }
    header
}

/// Writes a table whole.
fn store(table: &Mandatory, folder: &Path, path: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| File { path: folder.to_owned(), source })?;
    let header = header(table);
    let digest = Sha256::new().chain_update(&header).chain_update(&table.bytes).finalize();
    Ok(write_whole(path, |file| {
        file.write_all(&header)?;
        file.write_all(&table.bytes)?;
        file.write_all(&digest)
    })?)
}

/// The table in a file's bytes; none if anything is wrong with them.
fn decode(sieve_bits: u32, mut bytes: Vec<u8>) -> Option<Mandatory> {
    let content = bytes.len().checked_sub(DIGEST_BYTES)?;
    if Sha256::digest(&bytes[..content])[..] != bytes[content..] {
        return None;
    }
    bytes.truncate(content);
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let blocks = 1usize << sieve_bits.saturating_sub(24);
    if bytes[..line] != *format!("warpmp mandatory 1 {sieve_bits} {blocks}").as_bytes() {
        return None;
    }
    let data = line + 1 + blocks * BLOCK_BYTES;
    let mut table = Mandatory { sieve_bits, blocks: Vec::with_capacity(blocks), bytes: Vec::new() };
    let mut begin = 0u64;
    for entry in bytes.get(line + 1..data)?.chunks_exact(BLOCK_BYTES) {
        let (count, size) = entry.split_at(4);
        let end = begin.checked_add(u64::from_le_bytes(size.try_into().ok()?))?;
        table.blocks.push(Block { count: u32::from_le_bytes(count.try_into().ok()?), begin, end });
        begin = end;
    }
    bytes.drain(..data);
    table.bytes = bytes;
    (begin == table.bytes.len() as u64).then_some(table)
}
