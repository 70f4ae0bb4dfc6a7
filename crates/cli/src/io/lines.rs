//! The lines of a plain file of text, split by all threads.
//!
//! A block of the file is read and split at once; then its numbers are taken one after the other. Blocks with a blank line, or with a line
//! that does not end in them, are left to the reader of single lines, which knows what to say about them.

use std::{
    fs::File,
    io::{self, BufRead as _},
};

use rayon::prelude::*;

use super::{
    plain::PlainFile,
    text::{LineKind, kept},
};

/// Bytes of a block: enough for all threads, and little beside a chunk.
const BLOCK_BYTES: u64 = 8 << 20;
/// Bytes that a thread splits at a time.
const PIECE_BYTES: usize = 1 << 19;

/// A file's numbers, a block at a time.
#[derive(Debug)]
pub(super) struct Lines {
    file: PlainFile,
    bytes: Vec<u8>,
    numbers: Vec<Number>,
    /// The numbers of the block that were taken.
    taken: usize,
    /// Where the block begins in the file, and where the next one does.
    start: u64,
    next_start: u64,
    /// Lines before the next block.
    before: u64,
}

/// A number's place.
#[derive(Clone, Copy, Debug)]
struct Number {
    /// Its text in the block, without the spaces around it.
    text: (usize, usize),
    /// The end of its line in the block.
    end: usize,
    /// Its line, counted from the first line of its piece, then of the file.
    line: u64,
}

/// The next number of a file.
#[derive(Debug)]
pub(super) enum Next<'l> {
    /// The text of a number, its line, and the end of the line in the file.
    Number { text: &'l [u8], line: u64, end: u64 },
    /// There is none. The file has this many bytes.
    End(u64),
    /// The block is not for this reader.
    Odd,
}

/// What a thread found in a piece.
#[derive(Debug, Default)]
struct Found {
    numbers: Vec<Number>,
    lines: u64,
    has_blank: bool,
}

impl Lines {
    pub(super) const fn new(file: PlainFile) -> Self {
        Self { file, bytes: Vec::new(), numbers: Vec::new(), taken: 0, start: 0, next_start: 0, before: 0 }
    }

    /// Takes the next number.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        while self.taken == self.numbers.len() {
            if !self.read_block()? {
                return Ok(Next::Odd);
            }
            if self.bytes.is_empty() {
                return Ok(Next::End(self.next_start));
            }
        }
        let Number { text, end, line } = self.numbers[self.taken];
        self.taken += 1;
        Ok(Next::Number { text: &self.bytes[text.0..text.1], line, end: self.start + end as u64 })
    }

    /// The file from the block on that is not for this reader, the bytes and the lines before it.
    pub(super) fn rest(self) -> io::Result<(File, [u64; 2])> {
        Ok((self.file.from(self.next_start)?, [self.next_start, self.before]))
    }

    /// Reads and splits the next block, which is empty at the end of the file. False: the block is not for this reader.
    fn read_block(&mut self) -> io::Result<bool> {
        let left = self.file.bytes()?.saturating_sub(self.next_start);
        self.bytes.resize(left.min(BLOCK_BYTES) as usize, 0);
        let read = self.file.read_at(self.next_start, &mut self.bytes)?;
        self.bytes.truncate(read);
        if read as u64 == BLOCK_BYTES {
            // The last line may go on in the next block.
            let Some(end) = self.bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(false) };
            self.bytes.truncate(end + 1);
        }
        let pieces = pieces(&self.bytes);
        let found: Vec<Found> = pieces.into_par_iter().map(|(from, to)| self.split(from, to)).collect();
        if found.iter().any(|it| it.has_blank) {
            return Ok(false);
        }
        self.numbers.clear();
        self.taken = 0;
        for piece in found {
            let before = self.before;
            self.numbers.extend(piece.numbers.into_iter().map(|it| Number { line: it.line + before, ..it }));
            self.before += piece.lines;
        }
        self.start = self.next_start;
        self.next_start += self.bytes.len() as u64;
        Ok(true)
    }

    /// The lines of a piece of the block.
    fn split(&self, from: usize, to: usize) -> Found {
        let mut found = Found::default();
        let mut start = from;
        while start < to {
            let mut rest = &self.bytes[start..to];
            // Reading from memory does not fail.
            let end = start + rest.skip_until(b'\n').unwrap_or(to - start);
            found.lines += 1;
            let is_first = self.next_start == 0 && start == 0;
            let (kind, text) = kept(&self.bytes[start..end], is_first);
            match kind {
                LineKind::Number => {
                    let text = (start + text.start, start + text.end);
                    found.numbers.push(Number { text, end, line: found.lines });
                }
                LineKind::Comment => {}
                LineKind::Blank => found.has_blank = true,
            }
            start = end;
        }
        found
    }
}

/// Where pieces of a block begin and end: all at ends of lines, but for the last one.
fn pieces(block: &[u8]) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let least = (start + PIECE_BYTES).min(block.len());
        let mut rest = &block[least..];
        let end = least + rest.skip_until(b'\n').unwrap_or(0);
        pieces.push((start, end));
        start = end;
    }
    pieces
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::source::{Raw, Source};

    /// A number and its line.
    type Found = (Vec<u8>, u64);

    /// All numbers, the bytes that were read, and the error at the end.
    fn all(mut source: Source) -> (Vec<Found>, u64, Option<String>) {
        let mut raw = source.empty();
        let error = loop {
            match source.push(&mut raw) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error.to_string().rsplit('/').next().unwrap_or_default().to_owned()),
            }
        };
        let Raw::Text(text) = raw else { panic!("a text") };
        let numbers = (0..text.lanes()).map(|lane| (text.get(lane).to_vec(), text.line(lane))).collect();
        (numbers, source.consumed_bytes(), error)
    }

    /// Blocks give the numbers, lines and errors of single lines.
    #[test]
    fn blocks_have_the_numbers_of_single_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let digits = "1234567890".repeat(200);
        let line = |i: usize| match i % 7 {
            0 => format!("# {i}\n"),
            1 => format!("  {}\t\r\n", &digits[..=i * 37 % 2000]),
            _ => format!("{}\n", &digits[..=i * 91 % 2000]),
        };
        let long: String = (0..10_000).map(line).collect();
        let mark = "\u{feff}";
        for content in [
            format!("{mark}{long}77"),
            format!("{long}\n\n"),
            format!("{long}\n5\n"),
            format!("{mark}\n"),
            "12".into(),
            "# 1\n".into(),
            format!("1\n{}\n2\n", "9".repeat(9 << 20)),
        ] {
            std::fs::write(&path, &content).unwrap();
            let found = all(Source::open(path.as_os_str(), 1 << 24).unwrap());
            let expected = all(Source::of_bytes("numbers", content.as_bytes(), true).unwrap());
            assert!(found == expected, "{} bytes: {:?}, {:?}", content.len(), found.2, expected.2);
        }
    }
}
