//! The lines of a plain file of text, split by all threads.
//!
//! All threads read and split a block of the file. Then its numbers are taken one after the other. A block with a blank line, or with a
//! line longer than the block, goes to the reader of single lines, as the whole file from there on: that reader has the words for faults.

use std::{
    fs::File,
    io::{self, BufRead as _},
};

use rayon::prelude::*;

use super::{
    plain::PlainFile,
    text::{LineKind, kept},
};

/// How a file is divided, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// A block, which is read at once.
    pub(crate) block: usize,
    /// A piece of a block, which a thread splits: at least this many bytes.
    pub(crate) piece: usize,
}

impl Default for Sizes {
    /// A block is enough for all threads, and little beside a chunk.
    fn default() -> Self {
        Self { block: 8 << 20, piece: 1 << 19 }
    }
}

/// A file's numbers, a block at a time.
#[derive(Debug)]
pub(super) struct Lines {
    file: PlainFile,
    sizes: Sizes,
    /// The memory of a block, and how many of its bytes are lines that are complete.
    bytes: Vec<u8>,
    filled: usize,
    /// The block's pieces in order, and the numbers that were taken: of the pieces before, and of this piece.
    pieces: Vec<Piece>,
    piece: usize,
    taken: usize,
    /// Where the block begins in the file, and where the next one does.
    start: u64,
    next_start: u64,
    /// Does the file end with this block?
    is_last: bool,
    /// Lines before the next block.
    before: u64,
}

/// A number's place.
#[derive(Clone, Copy, Debug)]
struct Number {
    /// Its text in the block, without the spaces around it.
    start: u32,
    end: u32,
    /// Its line, counted from the first line of its piece.
    line: u32,
}

/// The next number of a file.
#[derive(Debug)]
pub(super) enum Next<'l> {
    /// The text of a number, its line, and where its text ends in the file.
    Number { text: &'l [u8], line: u64, end: u64 },
    /// There is none. The file has this many bytes.
    End(u64),
    /// The block is not for this reader.
    Odd,
}

/// What a thread found in a piece.
#[derive(Debug, Default)]
struct Piece {
    numbers: Vec<Number>,
    /// Lines before the piece, and in it.
    before: u64,
    lines: u32,
    has_blank: bool,
}

impl Lines {
    /// The lines of a file, whose blocks and pieces have these sizes. A block has less than 4 GiB.
    pub(super) const fn new(file: PlainFile, sizes: Sizes) -> Self {
        Self {
            file,
            sizes,
            bytes: Vec::new(),
            filled: 0,
            pieces: Vec::new(),
            piece: 0,
            taken: 0,
            start: 0,
            next_start: 0,
            is_last: false,
            before: 0,
        }
    }

    /// Takes the next number.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        while self.pieces.get(self.piece).is_none_or(|piece| self.taken == piece.numbers.len()) {
            self.taken = 0;
            self.piece += 1;
            if self.piece < self.pieces.len() {
                continue;
            }
            if self.is_last {
                return Ok(Next::End(self.next_start));
            }
            if !self.read_block()? {
                return Ok(Next::Odd);
            }
        }
        let piece = &self.pieces[self.piece];
        let Number { start, end, line } = piece.numbers[self.taken];
        self.taken += 1;
        let text = &self.bytes[start as usize..end as usize];
        Ok(Next::Number { text, line: piece.before + u64::from(line), end: self.start + u64::from(end) })
    }

    /// The file from the block on that is not for this reader, the bytes and the lines before it.
    pub(super) fn rest(self) -> io::Result<(File, [u64; 2])> {
        Ok((self.file.from(self.next_start)?, [self.next_start, self.before]))
    }

    /// Reads and splits the next block, which may be empty at the end of the file. False: the block is not for this reader.
    fn read_block(&mut self) -> io::Result<bool> {
        // The length that the system tells may be wrong by now: the file ends where nothing more can be read.
        if self.bytes.is_empty() {
            self.bytes = vec![0; self.sizes.block];
        }
        self.filled = self.file.read_at(self.next_start, &mut self.bytes)?;
        let is_last = self.filled < self.bytes.len();
        if !is_last {
            // The last line may go on in the next block.
            let Some(end) = self.bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(false) };
            self.filled = end + 1;
        }
        let pieces = self.cut();
        let mut pieces: Vec<Piece> = pieces.into_par_iter().map(|(from, to)| self.split(from, to)).collect();
        if pieces.iter().any(|piece| piece.has_blank) {
            return Ok(false);
        }
        for piece in &mut pieces {
            piece.before = self.before;
            self.before += u64::from(piece.lines);
        }
        (self.pieces, self.piece, self.taken, self.is_last) = (pieces, 0, 0, is_last);
        self.start = self.next_start;
        self.next_start += self.filled as u64;
        Ok(true)
    }

    /// Where pieces of the block begin and end: all at ends of lines, but for the last one.
    fn cut(&self) -> Vec<(usize, usize)> {
        let block = &self.bytes[..self.filled];
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < block.len() {
            let least = (start + self.sizes.piece).min(block.len());
            let mut rest = &block[least..];
            // Reading from memory does not fail.
            let end = least + rest.skip_until(b'\n').unwrap_or(0);
            pieces.push((start, end));
            start = end;
        }
        pieces
    }

    /// The lines of a piece of the block.
    #[expect(clippy::cast_possible_truncation, reason = "a block has less than 4 GiB")]
    fn split(&self, from: usize, to: usize) -> Piece {
        let mut found = Piece::default();
        let mut start = from;
        while start < to {
            let mut rest = &self.bytes[start..to];
            let end = start + rest.skip_until(b'\n').unwrap_or(to - start);
            found.lines += 1;
            let is_first = self.next_start == 0 && start == 0;
            let (kind, text) = kept(&self.bytes[start..end], is_first);
            match kind {
                LineKind::Number => {
                    let (start, end) = ((start + text.start) as u32, (start + text.end) as u32);
                    found.numbers.push(Number { start, end, line: found.lines });
                }
                LineKind::Comment => {}
                LineKind::Blank => found.has_blank = true,
            }
            start = end;
        }
        found
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::source::{Raw, Source};
    use super::Sizes;

    /// A number and its line.
    type Found = (Vec<u8>, u64);

    /// All numbers, the bytes that were read, and the error at the end.
    fn all(mut source: Source) -> (Vec<Found>, u64, Option<String>) {
        let mut raw = source.empty();
        let error = loop {
            match source.push(&mut raw) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let Raw::Text(text) = raw else { panic!("a text") };
        let numbers = (0..text.lanes()).map(|lane| (text.get(lane).to_vec(), text.line(lane))).collect();
        (numbers, source.consumed_bytes(), error)
    }

    /// Blocks give the numbers, lines and errors of single lines.
    #[test]
    fn blocks_have_the_numbers_of_single_lines() {
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
            String::new(),
            "12".into(),
            "# 1\n".into(),
            format!("1\n{}\n2\n", "9".repeat(9 << 20)),
        ] {
            let expected = all(Source::of_bytes("numbers", content.as_bytes(), true).unwrap());
            // Small blocks end everywhere: within lines, at their ends, and at the end of the file.
            for sizes in [Sizes::default(), Sizes { block: 1 << 16, piece: 5000 }, Sizes { block: 64, piece: 8 }] {
                let found = all(Source::of_file("numbers", content.as_bytes(), sizes).unwrap());
                assert!(found == expected, "{} bytes, {sizes:?}: {:?}, {:?}", content.len(), found.2, expected.2);
            }
        }
    }

    /// What is appended to a file after its end was found does not belong to its numbers.
    #[test]
    fn a_file_ends_once() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        std::fs::write(&path, "1\n2\n3").unwrap();
        let mut source = Source::open(path.as_os_str(), 64).unwrap();
        let mut raw = source.empty();
        assert!(source.push(&mut raw).unwrap());
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"4\n5\n").unwrap();
        while source.push(&mut raw).unwrap() {}
        assert!(!source.push(&mut raw).unwrap());
        let Raw::Text(text) = raw else { panic!("a text") };
        assert_eq!((0..text.lanes()).map(|lane| text.get(lane)).collect::<Vec<_>>(), [b"1", b"2", b"3"]);
        assert_eq!(source.consumed_bytes(), 5);
    }
}
