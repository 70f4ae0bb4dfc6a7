//! The readers of operands, for the targets in `fuzz/` and their corpora.

use warpmp::operation::SLOW_MAX_BITS;

use crate::{
    error::Result,
    io::{
        lines::Sizes,
        source::Source,
        text::{LINE_LIMIT, write_line},
        tuple::TupleReader,
    },
    numbers::{self, Lines, Numbers},
};

/// Bytes of a chunk: so few that files have several.
const CHUNK: usize = 64;

/// Blocks and pieces so small that lines cross them.
const SIZES: Sizes = Sizes { block: 64, piece: 8 };

/// The integers of a file with this name and this content, as hexadecimal text. They are read twice: as a stream, and as a file whose
/// blocks all threads read.
///
/// # Errors
/// The message that a command gives for the file.
pub fn read(name: &str, bytes: &[u8]) -> Result<Vec<String>, String> {
    let stream = integers(Source::of_bytes(name, bytes, true));
    assert_eq!(integers(Source::of_file(name, bytes, SIZES)), stream, "a file and a stream of the same bytes");
    stream
}

/// The integers of a source, as hexadecimal text.
fn integers(source: Result<Source>) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    let read = source.and_then(|source| each(source, |limbs| write_line(limbs, true, &mut lines)));
    read.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&lines).lines().map(str::to_owned).collect())
}

/// Shows `each` all integers of a source, read in chunks as commands do.
pub(crate) fn each(source: Source, mut each: impl FnMut(&[u32])) -> Result<()> {
    let mut reader = TupleReader::new(vec![source], CHUNK)?;
    let names = reader.names();
    while let Some(mut chunk) = reader.next_chunk()? {
        let most = CHUNK + SLOW_MAX_BITS / 8 + LINE_LIMIT;
        assert!(chunk.bytes() <= most, "{} bytes of a chunk", chunk.bytes());
        let operands = numbers::operands(&mut chunk, &names, None, Lines::Unsigned)?;
        let numbers::Operands { mut columns, places, lanes, .. } = operands;
        let numbers = Numbers::new(columns.swap_remove(0).unwrap_or_default(), places);
        (0..lanes).for_each(|lane| each(numbers.lane(lane)));
    }
    Ok(())
}
