//! Integers as lines of text.
//!
//! A line is one integer, decimal or hexadecimal with `0x`, of any length up to 16,777,216 bits. Commands that have a use for signs
//! take a minus before it, and `-` alone for a lane without a result.
//! The program ignores spaces around a number, a carriage return at the end, lines that start with `#`,
//! blank lines at the end of the file, and a byte-order mark. A blank line *between* numbers is an
//! error: a number may have been lost there, and all later pairs would be wrong.

use std::ops::Range;

use super::{column::NO_RESULT, decimal, error::LineProblem};

/// The longest line, in bytes. The longest result has 10,100,891 digits; a file with longer lines is no text.
pub(crate) const LINE_LIMIT: usize = 1 << 24;

/// The most bytes of numbers to which another line is appended.
const MOST_BYTES: usize = 1 << 31;

/// How much of a line a message shows.
const HEAD_CHARS: usize = 40;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The numbers of lines as they stand in the file, without the spaces around them.
#[derive(Debug, Default)]
pub(crate) struct RawText {
    bytes: Vec<u8>,
    /// Where in `bytes` each number ends; it starts where the one before ends.
    ends: Vec<u32>,
    lines: LineNumbers,
    /// The most bits of a number.
    limit: usize,
}

/// Each number's line, from 1. Most numbers stand in the line after the number before: only the others take memory.
#[derive(Debug, Default)]
pub(crate) struct LineNumbers {
    /// Numbers, counted from 0, and their lines. The numbers up to the next of these stand in the lines that follow.
    jumps: Vec<(usize, u64)>,
}

impl LineNumbers {
    /// The line of the next number, which is this one.
    fn push(&mut self, lane: usize, line: u64) {
        let follows = self.jumps.last().is_some_and(|(first, start)| start + (lane - first) as u64 == line);
        if !follows {
            self.jumps.push((lane, line));
        }
    }

    /// The line of a number.
    pub(crate) fn get(&self, lane: usize) -> u64 {
        let run = self.jumps.partition_point(|(first, _)| *first <= lane);
        run.checked_sub(1).map_or(0, |run| self.jumps[run].1 + (lane - self.jumps[run].0) as u64)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.jumps[..])
    }
}

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Number,
    Comment,
    Blank,
}

impl RawText {
    /// No numbers yet, of at most `limit` bits.
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The most bits of a number.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Number of integers.
    pub(crate) fn lanes(&self) -> usize {
        self.ends.len()
    }

    /// Memory that the numbers take, with their places.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..]) + self.lines.bytes()
    }

    /// Is there no room for another line? [`MOST_BYTES`] are many more than a chunk has.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() > MOST_BYTES
    }

    /// The text of one number.
    pub(crate) fn get(&self, lane: usize) -> &[u8] {
        let start = if lane == 0 { 0 } else { self.ends[lane - 1] };
        &self.bytes[start as usize..self.ends[lane] as usize]
    }

    /// The line of one number, from 1.
    pub(crate) fn line(&self, lane: usize) -> u64 {
        self.lines.get(lane)
    }

    /// The line of the first number with a zero byte. Text has none.
    pub(crate) fn line_of_zero_byte(&self) -> Option<u64> {
        let lane = (0..self.lanes()).find(|lane| self.get(*lane).contains(&0))?;
        Some(self.line(lane))
    }

    /// Each number's line.
    pub(crate) fn into_lines(self) -> LineNumbers {
        self.lines
    }

    /// Where a line starts that is now read into [`RawText::buffer`].
    pub(crate) fn begin_line(&self) -> usize {
        self.bytes.len()
    }

    /// A line is appended here.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends the text of a number, which stands in this line. Not to be called if the text [is full](RawText::is_full).
    pub(crate) fn push(&mut self, number: &[u8], line: u64) {
        self.bytes.extend_from_slice(number);
        self.end_number(line);
    }

    #[expect(clippy::cast_possible_truncation, reason = "MOST_BYTES and a line are less than 4 GiB")]
    fn end_number(&mut self, line: u64) {
        self.lines.push(self.ends.len(), line);
        self.ends.push(self.bytes.len() as u32);
    }

    /// The line from `start` is complete: keeps the number, drops anything else.
    pub(crate) fn end_line(&mut self, start: usize, line: u64) -> LineKind {
        let (kind, kept) = kept(&self.bytes[start..], line == 1);
        if kind == LineKind::Number {
            // Most lines lose their end only; an indented number moves to the left.
            if kept.start > 0 {
                self.bytes.copy_within(start + kept.start..start + kept.end, start);
            }
            self.bytes.truncate(start + kept.len());
            self.end_number(line);
        } else {
            self.bytes.truncate(start);
        }
        kind
    }
}

/// What a line holds, and where its text is without the spaces around it. Only the first line has a byte-order mark.
pub(super) fn kept(line: &[u8], is_first: bool) -> (LineKind, Range<usize>) {
    let mark = if is_first && line.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = line[mark..].trim_ascii_start();
    let start = line.len() - text.len();
    let text = text.trim_ascii_end();
    let kind = match text.first() {
        None => LineKind::Blank,
        Some(b'#') => LineKind::Comment,
        Some(_) => LineKind::Number,
    };
    (kind, start..start + text.len())
}

/// A number's digits, checked: without prefix and leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits<'a> {
    text: &'a [u8],
    hex: bool,
    /// The most bits that the number may have.
    limit: usize,
}

impl<'a> Digits<'a> {
    /// Checks the text of a line: a number of at most `limit` bits.
    pub(crate) fn check(line: &'a [u8], limit: usize) -> Result<Self, LineProblem> {
        let Some((digits, hex)) = split(line) else {
            return Err(complaint(line));
        };
        let digits = Self::new(digits, hex, limit);
        // The digits of 2^limit. A number with more digits has more bits; a number with as many is measured later.
        let most_digits = if hex { usize::MAX } else { limit * 30103 / 100_000 + 1 };
        if digits.text.len() > most_digits || (hex && digits.bits_bound() > limit) {
            return Err(too_wide(digits.bits(), limit));
        }
        Ok(digits)
    }

    /// The digits of the magnitude in a line that [`Digits::check`] or [`Entry::check`] found to be right.
    pub(crate) fn checked(line: &'a [u8], limit: usize) -> Self {
        let magnitude = line.strip_prefix(b"-").unwrap_or(line);
        let (digits, hex) = split_prefix(magnitude);
        Self::new(digits, hex, limit)
    }

    fn new(digits: &'a [u8], hex: bool, limit: usize) -> Self {
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        Self { text: &digits[zeros..], hex, limit }
    }

    /// At least the number's bits; exactly for hexadecimal, at most 2 and 1/10000 more for decimal.
    fn bits_bound(self) -> usize {
        let Some(first) = self.text.first().and_then(|digit| char::from(*digit).to_digit(16)) else { return 0 };
        if self.hex {
            4 * (self.text.len() - 1) + (u32::BITS - first.leading_zeros()) as usize
        } else {
            // 217706 / 65536 is a little more than log₂ 10.
            self.text.len() * 217_706 / 65536 + 1
        }
    }

    /// The number's bits.
    fn bits(self) -> usize {
        if self.hex { self.bits_bound() } else { decimal::read(self.text, bit_length) }
    }

    /// Are they hexadecimal?
    pub(crate) const fn is_hex(self) -> bool {
        self.hex
    }

    /// A bound of the number of limbs: at least 1, and at most one too many.
    pub(crate) fn limbs_bound(self) -> usize {
        self.bits_bound().div_ceil(32).max(1)
    }

    /// Writes the number's limbs, least significant first, zeros above. `limbs` has at least
    /// [`Digits::limbs_bound`] limbs.
    pub(crate) fn write(self, limbs: &mut [u32]) -> Result<(), LineProblem> {
        if self.hex {
            write_hex(self.text, limbs);
            return Ok(());
        }
        decimal::read(self.text, |words| {
            let bits = bit_length(words);
            if bits > self.limit {
                return Err(too_wide(bits, self.limit));
            }
            write_words(words, limbs);
            Ok(())
        })
    }
}

/// A result in a file of results: a number, maybe with a minus, or no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    /// The lane has no result.
    None,
    Number {
        is_negative: bool,
        digits: Digits<'a>,
    },
}

impl<'a> Entry<'a> {
    /// Checks the text of a result: a number whose magnitude has at most `limit` bits, or `-` for none.
    pub(crate) fn check(text: &'a [u8], limit: usize) -> Result<Self, LineProblem> {
        if text == NO_RESULT {
            return Ok(Self::None);
        }
        let magnitude = text.strip_prefix(b"-").unwrap_or(text);
        if split(magnitude).is_none() {
            return Err(complaint(text));
        }
        let digits = Digits::check(magnitude, limit)?;
        Ok(Self::Number { is_negative: magnitude.len() < text.len(), digits })
    }
}

/// The bits of a number of words, least significant first.
fn bit_length(words: &[u64]) -> usize {
    let top = words.iter().rposition(|word| *word != 0);
    top.map_or(0, |top| 64 * top + (u64::BITS - words[top].leading_zeros()) as usize)
}

/// Words to limbs; zeros above.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
fn write_words(words: &[u64], limbs: &mut [u32]) {
    let mut halves = words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
    limbs.fill_with(|| halves.next().unwrap_or(0));
}

fn write_hex(digits: &[u8], limbs: &mut [u32]) {
    let mut source = digits.rchunks(8).map(|piece| {
        piece.iter().fold(0, |limb, digit| limb << 4 | char::from(*digit).to_digit(16).unwrap_or_default())
    });
    limbs.fill_with(|| source.next().unwrap_or(0));
}

fn too_wide(bits: usize, limit: usize) -> LineProblem {
    LineProblem::TooWide { bits, limit }
}

/// The digits of a well-formed number, and whether they are hexadecimal.
fn split(number: &[u8]) -> Option<(&[u8], bool)> {
    let (digits, hex) = split_prefix(number);
    let valid = if hex { all(digits, u8::is_ascii_hexdigit) } else { all(digits, u8::is_ascii_digit) };
    (valid && !digits.is_empty()).then_some((digits, hex))
}

/// What follows the prefix, and whether there is the prefix of hexadecimal digits.
fn split_prefix(number: &[u8]) -> (&[u8], bool) {
    match number {
        [b'0', b'x' | b'X', digits @ ..] => (digits, true),
        digits => (digits, false),
    }
}

/// Are they all digits? The loop does not stop early, so that the compiler uses vectors.
fn all(digits: &[u8], is_digit: impl Fn(&u8) -> bool) -> bool {
    digits.iter().fold(true, |valid, digit| valid & is_digit(digit))
}

/// The fault of a line that is no number.
fn complaint(line: &[u8]) -> LineProblem {
    if line == NO_RESULT {
        return LineProblem::Gap;
    }
    if line.contains(&0) {
        return LineProblem::ZeroByte;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return LineProblem::NotUtf8;
    };
    let mut head: String = text.chars().take(HEAD_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(HEAD_CHARS).is_some() {
        head.push('…');
    }
    let rest_is_number = |rest: &str| split(rest.as_bytes()).is_some();
    if text.strip_prefix('-').is_some_and(rest_is_number) {
        LineProblem::Negative { head }
    } else if text.strip_prefix('+').is_some_and(rest_is_number) {
        LineProblem::Plus { head }
    } else if text.contains('_') && rest_is_number(&text.replace('_', "")) {
        LineProblem::Underscore { head }
    } else {
        LineProblem::NotANumber { head }
    }
}

/// Appends the number's digits and a line end.
pub(crate) fn write_line(limbs: &[u32], hex: bool, line: &mut Vec<u8>) {
    use std::io::Write as _;
    let top = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1);
    let limbs = &limbs[..top];
    // Writing to a Vec does not fail.
    let _ = match (limbs.split_last(), hex) {
        (None, false) => writeln!(line, "0"),
        (None, true) => writeln!(line, "0x0"),
        (Some((top, rest)), true) => write!(line, "0x{top:x}")
            .and_then(|()| rest.iter().rev().try_for_each(|limb| write!(line, "{limb:08x}")))
            .and_then(|()| writeln!(line)),
        (Some(_), false) => {
            decimal::write(limbs, line);
            writeln!(line)
        }
    };
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    const LIMIT: usize = 65536;

    fn limbs(text: &str) -> Vec<u32> {
        let digits = Digits::check(text.as_bytes(), LIMIT).unwrap();
        let mut limbs = vec![7; digits.limbs_bound()];
        digits.write(&mut limbs).unwrap();
        limbs
    }

    fn lines(content: &str) -> Vec<(LineKind, String)> {
        let mut text = RawText::default();
        let mut found = Vec::new();
        for (number, line) in content.split_inclusive('\n').enumerate() {
            let start = text.begin_line();
            text.buffer().extend_from_slice(line.as_bytes());
            let kind = text.end_line(start, number as u64 + 1);
            let last = text
                .lanes()
                .checked_sub(1)
                .map_or(String::new(), |lane| String::from_utf8(text.get(lane).to_vec()).unwrap());
            found.push((kind, last));
        }
        found
    }

    #[test]
    fn numbers_of_all_lengths_agree_with_the_oracle_both_ways() {
        for bits in (1..200).chain([319, 320, 321, 1023, 1024, 1025, 4096, 65535, 65536]) {
            for number in [BigUint::ZERO, (BigUint::from(1u8) << bits) - 1u8, BigUint::from(1u8) << (bits - 1)] {
                for (text, hex) in [(number.to_string(), false), (format!("{number:#x}"), true)] {
                    let limbs = limbs(&text);
                    assert_eq!(BigUint::new(limbs.clone()), number);
                    assert!(limbs.len() <= (number.bits() as usize).div_ceil(32).max(1) + 1, "{bits}");
                    let mut line = Vec::new();
                    write_line(&limbs, hex, &mut line);
                    assert_eq!(String::from_utf8(line).unwrap(), format!("{text}\n"));
                }
            }
        }
    }

    #[test]
    fn leading_zeros_cost_nothing() {
        assert_eq!(limbs(&format!("{}7", "0".repeat(50_000))), [7]);
        assert_eq!(limbs("0x0000000000000000000000000000000000000000fF"), [255]);
    }

    #[test]
    fn what_surrounds_a_number_goes() {
        use LineKind::{Blank, Comment, Number};
        let found = lines("\u{feff}12\r\n# 99\n  \t34  \n\n0x5");
        let last = |text: &str| text.to_owned();
        assert_eq!(
            found,
            [
                (Number, last("12")),
                (Comment, last("12")),
                (Number, last("34")),
                (Blank, last("34")),
                (Number, last("0x5"))
            ]
        );
    }

    /// A text takes little more memory than its digits, as long as numbers stand in one line after the other.
    #[test]
    fn short_lines_take_little_memory() {
        let mut text = RawText::with_limit(LIMIT);
        for lane in 0..1000 {
            text.push(b"7", lane + 3);
        }
        assert!(text.bytes() < 6 * 1000, "{} bytes of 1000 digits", text.bytes());
        assert_eq!([0, 1, 999].map(|lane| text.line(lane)), [3, 4, 1002]);
    }

    #[test]
    fn lines_are_those_that_were_pushed() {
        for stride in [1, 2, 3, 7] {
            let mut text = RawText::default();
            let line = |lane: u64| 5 + lane + lane / stride + lane / 64 * (1 << 40);
            (0..300).for_each(|lane| text.push(b"1", line(lane)));
            assert!((0..300).all(|lane| text.line(lane as usize) == line(lane)), "{stride}");
            let lines = text.into_lines();
            assert!((0..300).all(|lane| lines.get(lane as usize) == line(lane)), "{stride}");
        }
    }

    #[test]
    fn checked_lines_have_the_same_digits() {
        for line in ["0", "007", "0x0", "0X00ff", "123456789012345678901234567890", "00"] {
            assert_eq!(Digits::checked(line.as_bytes(), LIMIT), Digits::check(line.as_bytes(), LIMIT).unwrap());
            let negative = format!("-{line}");
            let Ok(Entry::Number { digits, is_negative: true }) = Entry::check(negative.as_bytes(), LIMIT) else {
                panic!("{negative}");
            };
            assert_eq!(Digits::checked(negative.as_bytes(), LIMIT), digits);
        }
        // A lane without a result counts as zero.
        assert_eq!(Digits::checked(NO_RESULT, LIMIT), Digits::checked(b"0", LIMIT));
    }

    #[test]
    fn each_complaint_says_what_is_wrong() {
        let complaint = |text: &[u8]| Digits::check(text, LIMIT).unwrap_err().to_string();
        assert_eq!(complaint(b"12x4"), "not a number: \"12x4\"");
        assert_eq!(complaint(b"0x"), "not a number: \"0x\"");
        assert!(complaint(b"-").ends_with("this command needs a number in every lane"));
        assert_eq!(complaint(b"1.5"), "not a number: \"1.5\"");
        let table = "; one number a line is needed, and `batch-gcd --column NAME` reads tables";
        assert_eq!(complaint(b"1 2"), format!("not a number: \"1 2\"{table}"));
        assert_eq!(complaint(b"-12"), "this command takes no negative numbers: \"-12\"");
        assert_eq!(complaint(b"-0xab"), "this command takes no negative numbers: \"-0xab\"");
        assert_eq!(complaint(b"+12"), "write numbers without '+': \"+12\"");
        assert_eq!(complaint(b"1_000"), "write numbers without '_': \"1_000\"");
        assert_eq!(complaint(b"12\xff"), "not UTF-8 text");
        assert_eq!(complaint(b"\xff\xfe1\0"), "a zero byte: neither text nor an .npy array");
        assert_eq!(complaint(&b"-+".repeat(400_000)), format!("not a number: \"{}…\"", "-+".repeat(20)));
    }

    #[test]
    fn more_than_65536_bits_are_refused_and_65536_are_not() {
        let limit: BigUint = BigUint::from(1u8) << 65536;
        let refused = |text: &str| {
            Digits::check(text.as_bytes(), LIMIT)
                .and_then(|digits| digits.write(&mut vec![0; digits.limbs_bound()]))
                .unwrap_err()
                .to_string()
        };
        for text in [limit.to_string(), format!("{limit:#x}")] {
            assert_eq!(refused(&text), "a number of 65537 bits; at most 65536 are supported");
        }
        let largest = limit - 1u8;
        assert_eq!(BigUint::new(limbs(&largest.to_string())), largest);
    }
}
