//! Compressed files, by the ends of their names: `.gz`, `.zst`, and NumPy's `.npz`.
//!
//! `x.npz` with a single array is that array; `x.npz:name` is the array of this name in it.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead as _, BufReader, Chain, Cursor, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use flate2::{CrcReader, read::DeflateDecoder, read::MultiGzDecoder, write::GzEncoder};
use ruzstd::{
    decoding::{FrameDecoder, StreamingDecoder},
    encoding::{CompressionLevel, compress_to_vec},
};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions, write::StreamWriter};

use super::plain::PlainFile;

/// Bytes that are compressed together: a frame of `.zst`.
const FRAME_BYTES: usize = 4 << 20;
/// The name of the array that the program writes into an `.npz`, as `numpy.savez` calls it.
const ARRAY: &str = "arr_0.npy";

/// The forms of compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Npz,
}

/// What the end of a name says.
fn of(name: &OsStr) -> Option<Compression> {
    let name = name.as_encoded_bytes().to_ascii_lowercase();
    let ends = [(&b".gz"[..], Compression::Gzip), (b".zst", Compression::Zstd), (b".npz", Compression::Npz)];
    ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, compression)| compression)
}

/// Does a file of this name have an array of NumPy's?
pub(crate) fn is_array(name: &OsStr) -> bool {
    let lower = name.as_encoded_bytes().to_ascii_lowercase();
    let ends = |end: &[u8]| lower.ends_with(end);
    ends(b".npy") || ends(b".npy.gz") || ends(b".npy.zst") || ends(b".npz") || array_in_npz(name).is_some()
}

/// The file and the array of `FILE.npz:ARRAY`.
fn array_in_npz(name: &OsStr) -> Option<(PathBuf, String)> {
    let (file, array) = name.to_str()?.rsplit_once(':')?;
    (of(file.as_ref()) == Some(Compression::Npz)).then(|| (file.into(), array.into()))
}

/// An open file.
pub(crate) struct Input {
    pub(crate) reader: Box<dyn Read + Send>,
    /// Its length, if it is known beforehand.
    pub(crate) total_bytes: Option<u64>,
    /// The same file, if it is a regular one that is not compressed.
    pub(super) plain: Option<PlainFile>,
}

impl Input {
    fn new(reader: impl Read + Send + 'static, total_bytes: Option<u64>) -> Self {
        Self { reader: Box::new(reader), total_bytes, plain: None }
    }
}

/// Opens a file for reading. Compressed ones give what was compressed.
///
/// # Errors
/// Those of the system; of kind [`io::ErrorKind::IsADirectory`] for a directory.
pub(crate) fn open(name: &OsStr) -> io::Result<Input> {
    let array = if Path::new(name).exists() { None } else { array_in_npz(name) };
    let (path, array) = array.map_or((PathBuf::from(name), None), |(path, array)| (path, Some(array)));
    let mut file = File::open(&path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(match of(path.as_os_str()) {
        // Files of the system that say that they are empty may have bytes.
        None if metadata.is_file() && metadata.len() > 0 => {
            let plain = PlainFile::of(&file);
            let left = metadata.len().saturating_sub(file.stream_position()?);
            Input { plain, ..Input::new(file, Some(left)) }
        }
        None => Input::new(file, metadata.is_file().then_some(0)),
        Some(Compression::Gzip) => Input::new(MultiGzDecoder::new(beginning(file, "gzip", is_gzip)?), None),
        Some(Compression::Zstd) => {
            let source = BufReader::new(beginning(file, "Zstandard", is_zstd)?);
            Input::new(Frames { source: Some(source), frame: None }, None)
        }
        Some(Compression::Npz) => entry(file, array.as_deref())?,
    })
}

/// A file whose start was read, from its start on.
type Whole = Chain<Cursor<Vec<u8>>, File>;

/// The bytes that a file of a form begins with.
type Start = [u8; 4];

fn is_gzip(start: Start) -> bool {
    start.starts_with(&[0x1F, 0x8B])
}

/// A frame, or one that is passed over.
fn is_zstd(start: Start) -> bool {
    matches!(start, [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18])
}

/// A file from its start on, if it begins as one of this form.
fn beginning(file: File, form: &str, is_form: fn(Start) -> bool) -> io::Result<Whole> {
    let mut start = Vec::new();
    (&file).take(size_of::<Start>() as u64).read_to_end(&mut start)?;
    if !start.as_slice().try_into().is_ok_and(is_form) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("not compressed by {form}, whatever its name says"),
        ));
    }
    Ok(Cursor::new(start).chain(file))
}

/// An array of an `.npz` file: the one of this name, or the only one.
fn entry(file: File, name: Option<&str>) -> io::Result<Input> {
    let mut archive = ZipArchive::new(file.try_clone()?)?;
    let names: Vec<String> = archive.file_names().map(|name| name.trim_end_matches(".npy").to_owned()).collect();
    let place = match name {
        Some(name) => names.iter().position(|other| other == name),
        None if names.len() == 1 => Some(0),
        None => None,
    };
    let Some(place) = place else {
        return Err(io::Error::other(format!("its arrays are {}: name one as FILE.npz:NAME", names.join(", "))));
    };
    let (start, length, size, sum, method) = {
        let entry = archive.by_index_raw(place)?;
        (entry.data_start(), entry.compressed_size(), entry.size(), entry.crc32(), entry.compression())
    };
    let mut file = file;
    file.seek(SeekFrom::Start(start))?;
    let data = BufReader::new(file).take(length);
    let data: Box<dyn Read + Send> = match method {
        CompressionMethod::Stored => Box::new(data),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(data)),
        other => return Err(io::Error::other(format!("an array compressed by {other}"))),
    };
    Ok(Input::new(Checked { data: CrcReader::new(data), sum }, Some(size)))
}

/// The end of data whose checksum is not the stored one.
fn damaged() -> io::Error {
    io::Error::other("damaged: its checksum is another")
}

/// Data that end with an error if their checksum is not this one.
struct Checked {
    data: CrcReader<Box<dyn Read + Send>>,
    sum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.data.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.data.crc().sum() != self.sum {
            return Err(damaged());
        }
        Ok(read)
    }
}

/// Frames of `.zst`, one after the other.
struct Frames {
    /// None while a frame is read.
    source: Option<BufReader<Whole>>,
    frame: Option<StreamingDecoder<BufReader<Whole>, FrameDecoder>>,
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            if let Some(frame) = self.frame.take() {
                let (source, decoder) = frame.into_parts();
                let (stored, found) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
                if stored.is_some() && stored != found {
                    return Err(damaged());
                }
                self.source = Some(source);
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                self.source = Some(source);
                return Ok(0);
            }
            self.frame = Some(StreamingDecoder::new(source).map_err(|error| io::Error::other(error.to_string()))?);
        }
    }
}

/// Compresses an output.
#[derive(Debug)]
pub(crate) enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    /// Bytes of the frame to come.
    Zstd(Vec<u8>),
    Npz {
        archive: Box<ZipWriter<StreamWriter<Compressed>>>,
        compressed: Compressed,
    },
}

/// Compressed bytes on their way from an archive's writer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compressed(Arc<Mutex<Vec<u8>>>);

impl Compressed {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Encoder {
    /// The encoder that the end of an output's name asks for.
    ///
    /// # Errors
    /// None in practice: it writes to memory.
    pub(crate) fn for_name(name: &OsStr) -> io::Result<Option<Self>> {
        Ok(match of(name) {
            None => None,
            Some(Compression::Gzip) => Some(Self::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::fast()))),
            Some(Compression::Zstd) => Some(Self::Zstd(Vec::new())),
            Some(Compression::Npz) => {
                let compressed = Compressed::default();
                let mut archive = ZipWriter::new_stream(compressed.clone());
                let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
                archive.start_file(ARRAY, options.compression_level(Some(1)).large_file(true))?;
                Some(Self::Npz { archive: Box::new(archive), compressed })
            }
        })
    }

    /// Takes bytes and gives compressed ones.
    ///
    /// # Errors
    /// Those of compression.
    pub(crate) fn encode(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Self::Zstd(frame) => {
                frame.extend_from_slice(bytes);
                let mut compressed = Vec::new();
                if frame.len() >= FRAME_BYTES {
                    compressed = compress_to_vec(&frame[..], CompressionLevel::Fastest);
                    frame.clear();
                }
                Ok(compressed)
            }
            Self::Npz { archive, compressed } => archive.write_all(bytes).map(|()| compressed.take()),
        }
    }

    /// The last compressed bytes.
    ///
    /// # Errors
    /// Those of compression.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(frame) => Ok(compress_to_vec(&frame[..], CompressionLevel::Fastest)),
            Self::Npz { archive, compressed } => {
                archive.finish()?;
                Ok(compressed.take())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_form() {
        let is = |name: &str| (of(name.as_ref()), is_array(name.as_ref()));
        assert_eq!(is("a.txt"), (None, false));
        assert_eq!(is("a.txt.GZ"), (Some(Compression::Gzip), false));
        assert_eq!(is("a.npy.zst"), (Some(Compression::Zstd), true));
        assert_eq!(is("a.npz"), (Some(Compression::Npz), true));
        assert_eq!(is("a.npz:x"), (None, true));
        assert_eq!(is("a:x"), (None, false));
    }

    #[test]
    fn a_damaged_array_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut archive = ZipWriter::new(File::create(&path).unwrap());
        archive.start_file(ARRAY, SimpleFileOptions::default().compression_method(CompressionMethod::Stored)).unwrap();
        archive.write_all(b"an array as it is").unwrap();
        archive.finish().unwrap();
        let read = || open(path.as_os_str()).and_then(|mut file| file.reader.read_to_end(&mut Vec::new()));
        assert!(matches!(read(), Ok(17)));
        let mut bytes = std::fs::read(&path).unwrap();
        let place = bytes.windows(5).position(|window| window == b"array").unwrap();
        bytes[place + 9] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(read().is_err_and(|error| error.to_string().contains("damaged")));
    }

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..5_000_000_u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
        for name in ["a.gz", "a.zst", "a.npz"] {
            let path = folder.path().join(name);
            let mut encoder = Encoder::for_name(name.as_ref()).unwrap().unwrap();
            let mut compressed: Vec<u8> =
                bytes.chunks(1_000_000).flat_map(|piece| encoder.encode(piece).unwrap()).collect();
            compressed.extend(encoder.finish().unwrap());
            assert!(compressed.len() < bytes.len(), "{name}");
            std::fs::write(&path, &compressed).unwrap();
            let mut found = Vec::new();
            open(path.as_os_str()).unwrap().reader.read_to_end(&mut found).unwrap();
            assert!(found == bytes, "{name}");
            // A file that was cut is an error.
            std::fs::write(&path, &compressed[..compressed.len() / 2]).unwrap();
            let read = open(path.as_os_str()).and_then(|mut file| file.reader.read_to_end(&mut Vec::new()));
            assert!(read.is_err(), "{name}");
        }
    }
}
