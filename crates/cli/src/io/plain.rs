//! Regular files that all threads read at once.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom},
};

use rayon::prelude::*;

/// Bytes that a thread reads at a time.
const PIECE_BYTES: usize = 1 << 19;

/// A regular file, read at any place.
#[derive(Debug)]
pub(super) struct PlainFile(File);

impl PlainFile {
    /// A second handle to a file; none if the system does not read at a place.
    #[cfg(unix)]
    pub(super) fn of(file: &File) -> Option<Self> {
        file.try_clone().ok().map(Self)
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &File) -> Option<Self> {
        None
    }

    /// The file, to be read from this place on.
    pub(super) fn from(&self, start: u64) -> io::Result<File> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }

    /// The file's length now.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// Reads from this place on, by all threads. Fewer bytes than asked for: the file ends there.
    pub(super) fn read_at(&self, start: u64, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.len() <= PIECE_BYTES {
            return self.read_piece(start, bytes);
        }
        let pieces = bytes.par_chunks_mut(PIECE_BYTES).enumerate();
        pieces.map(|(i, piece)| self.read_piece(start + (i * PIECE_BYTES) as u64, piece)).sum()
    }

    #[cfg(unix)]
    fn read_piece(&self, start: u64, bytes: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt as _;
        read_whole(bytes, |done, rest| self.0.read_at(rest, start + done as u64))
    }

    #[cfg(not(unix))]
    fn read_piece(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Reads until all bytes are there or there are no more. `read` gets the number of bytes so far, and the rest.
pub(super) fn read_whole(
    bytes: &mut [u8],
    mut read: impl FnMut(usize, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match read(done, &mut bytes[done..]) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn all_threads_read_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        let content: Vec<u8> = (0..3 * PIECE_BYTES + 12345).map(|i| ((i * i) >> 7) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let file = PlainFile::of(&File::open(&path).unwrap()).unwrap();
        assert_eq!(file.bytes().unwrap(), content.len() as u64);
        for (start, length) in [(0, content.len()), (77, 2 * PIECE_BYTES), (5, 9), (PIECE_BYTES, 4 * PIECE_BYTES)] {
            let mut bytes = vec![0; length];
            let read = file.read_at(start as u64, &mut bytes).unwrap();
            assert_eq!(read, length.min(content.len() - start));
            assert!(bytes[..read] == content[start..][..read]);
        }
    }
}
