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
pub(super) struct PlainFile {
    file: File,
    /// Where the file was when it was opened; places are counted from there.
    origin: u64,
}

impl PlainFile {
    /// A second handle to a file, from where it is now; none if the system does not read at a place.
    #[cfg(unix)]
    pub(super) fn of(mut file: &File) -> Option<Self> {
        let origin = file.stream_position().ok()?;
        Some(Self { file: file.try_clone().ok()?, origin })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &File) -> Option<Self> {
        None
    }

    /// The file, to be read from this place on.
    pub(super) fn from(&self, start: u64) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.origin + start))?;
        Ok(file)
    }

    /// Does the file end here?
    pub(super) fn ends_at(&self, place: u64) -> io::Result<bool> {
        Ok(self.read_piece(place, &mut [0])? == 0)
    }

    /// Reads from this place on, by all threads. Fewer bytes than asked for: the file ends there.
    pub(super) fn read_at(&self, start: u64, bytes: &mut [u8]) -> io::Result<usize> {
        read_pieces(bytes, |done, piece| self.read_piece(start + done as u64, piece))
    }

    #[cfg(unix)]
    fn read_piece(&self, start: u64, bytes: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt as _;
        read_whole(bytes, |done, rest| self.file.read_at(rest, self.origin + start + done as u64))
    }

    #[cfg(not(unix))]
    fn read_piece(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Reads pieces by all threads, and gives the number of bytes that were read without a gap. `read` gets a piece and its place.
fn read_pieces(bytes: &mut [u8], read: impl Fn(usize, &mut [u8]) -> io::Result<usize> + Sync) -> io::Result<usize> {
    if bytes.len() <= PIECE_BYTES {
        return read(0, bytes);
    }
    let pieces = bytes.par_chunks_mut(PIECE_BYTES).enumerate();
    let read = |(i, piece): (usize, &mut [u8])| Ok((read(i * PIECE_BYTES, piece)?, piece.len()));
    let read = pieces.map(read).collect::<io::Result<Vec<_>>>()?;
    // A file that was cut and grew again while it was read has bytes after a short piece: they are not the next ones.
    let whole = read.iter().take_while(|(read, length)| read == length).count();
    Ok(read.iter().take(whole + 1).map(|(read, _)| read).sum())
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
        assert!(file.ends_at(content.len() as u64).unwrap());
        assert!(!file.ends_at(content.len() as u64 - 1).unwrap());
        for (start, length) in [(0, content.len()), (77, 2 * PIECE_BYTES), (5, 9), (PIECE_BYTES, 4 * PIECE_BYTES)] {
            let mut bytes = vec![0; length];
            let read = file.read_at(start as u64, &mut bytes).unwrap();
            assert_eq!(read, length.min(content.len() - start));
            assert!(bytes[..read] == content[start..][..read]);
        }
    }

    /// A file that is cut while threads read it, and grows again, has a hole. What comes after the hole does not count.
    #[test]
    fn bytes_count_up_to_the_first_short_piece() {
        let mut bytes = vec![0; 4 * PIECE_BYTES + 9];
        let read = |short: usize| {
            move |place: usize, piece: &mut [u8]| Ok(if place == short * PIECE_BYTES { 5 } else { piece.len() })
        };
        for short in 0..4 {
            assert_eq!(read_pieces(&mut bytes, read(short)).unwrap(), short * PIECE_BYTES + 5);
        }
        assert_eq!(read_pieces(&mut bytes, read(9)).unwrap(), bytes.len());
        assert_eq!(read_pieces(&mut [], read(1)).unwrap(), 0);
    }

    #[test]
    fn places_count_from_where_the_file_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        std::fs::write(&path, "headtail").unwrap();
        let mut handle = File::open(&path).unwrap();
        handle.seek(SeekFrom::Start(4)).unwrap();
        let file = PlainFile::of(&handle).unwrap();
        let mut bytes = [0; 9];
        assert_eq!(file.read_at(1, &mut bytes).unwrap(), 3);
        assert_eq!(bytes[..3], *b"ail");
        assert!(file.ends_at(4).unwrap());
        assert_eq!(io::read_to_string(file.from(2).unwrap()).unwrap(), "il");
    }
}
