//! NumPy's `.npy`: little-endian, C order. In two dimensions a row is an integer, least significant limb first; in one
//! dimension each element is an integer. Elements are `uint32` or `uint64`. Elements of `int32` and `int64` say that the
//! integers have signs: a row of several is one two's complement.
//!
//! The header is a line of Python: `{'descr': '<u4', 'fortran_order': False, 'shape': (3, 4), }`.
//! It is read as NumPy reads it ([`literal`]); `npy/numpy_tests.rs` compares the verdicts. What is not understood is named.

use std::{
    ffi::OsStr,
    fmt,
    io::{self, Read},
};

use super::{compressed, error::FileError};
use crate::error::{Error, Result};
use literal::Literal;

mod literal;
#[cfg(test)]
mod numpy_tests;

/// The first bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Bytes of the headers written here: the smallest that hold any shape, a multiple of 64.
pub(crate) const HEADER_BYTES: usize = 128;

/// No two-dimensional array of integers has a longer header, and NumPy reads no longer one.
const HEADER_LIMIT: usize = 10_000;

/// Must a file of this name be an array?
pub(crate) fn is_named(name: &OsStr) -> bool {
    compressed::is_array(name)
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    U32,
    U64,
    /// Limbs of two's complements.
    I32,
    /// Limbs of two's complements, in pairs.
    I64,
}

impl Dtype {
    /// Limbs of 32 bits in an element.
    pub(crate) const fn limbs(self) -> usize {
        match self {
            Self::U32 | Self::I32 => 1,
            Self::U64 | Self::I64 => 2,
        }
    }

    /// Are rows two's complements?
    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// The type of the same length whose rows are two's complements, or are not.
    pub(crate) const fn with_sign(self, is_signed: bool) -> Self {
        match (self.limbs(), is_signed) {
            (1, false) => Self::U32,
            (1, true) => Self::I32,
            (_, false) => Self::U64,
            (_, true) => Self::I64,
        }
    }

    /// The type that a header describes. One without a byte order is little-endian, as NumPy reads it here.
    fn of(descr: &Literal) -> Result<Self, NpyProblem> {
        let Literal::Text(name) = descr else {
            return Err(NpyProblem::Dtype { found: "of a structured array".into(), advice: "take one of its fields" });
        };
        let kind = name.strip_prefix(['<', '=', '|']).unwrap_or(name);
        // NumPy takes spaces, a plus and zeros before the bytes.
        let bytes = kind.strip_prefix(['u', 'i']).map(|bytes| bytes.trim_start().parse());
        match (kind.starts_with('i'), bytes) {
            (is_signed, Some(Ok(4_u8))) => Ok(Self::U32.with_sign(is_signed)),
            (is_signed, Some(Ok(8))) => Ok(Self::U64.with_sign(is_signed)),
            _ => Err(NpyProblem::Dtype { found: format!("'{}'", name.escape_debug()), advice: advice(name) }),
        }
    }

    const fn descr(self) -> &'static str {
        match self {
            Self::U32 => "<u4",
            Self::U64 => "<u8",
            Self::I32 => "<i4",
            Self::I64 => "<i8",
        }
    }
}

/// How an array of another type becomes one that can be read, without a loss.
fn advice(name: &str) -> &'static str {
    let kind = name.trim_start_matches(['<', '>', '=', '|']);
    match kind.chars().next() {
        _ if name.starts_with('>') => "array.astype(array.dtype.newbyteorder('<')) has the same numbers",
        Some('u') if kind == "u1" => {
            "rows of bytes, least significant first, are array.view('<u4') if 4 divides their length; \
             elements that are numbers are array.astype('<u4')"
        }
        Some('u' | 'b') => "array.astype('<u4') has the same numbers",
        Some('i') => "array.astype('<i8') has the same numbers",
        Some('f' | 'c') => {
            "a float has 53 bits and may have lost digits: make the numbers anew, as text or as Python's integers"
        }
        Some('O') => {
            "Python's integers become rows of 1024 bits by \
             np.frombuffer(b''.join(int(x).to_bytes(128, 'little') for x in array), '<u4').reshape(-1, 32)"
        }
        _ => "write the numbers as text, one a line",
    }
}

/// An array's shape: `rows` integers of `columns` elements each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) dtype: Dtype,
    pub(crate) rows: u64,
    pub(crate) columns: usize,
}

/// Why an `.npy` file is no operand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NpyProblem {
    #[error("not an .npy file, whatever its name says")]
    NoMagic,
    #[error("format version {major}.{minor} of .npy is not known")]
    Version { major: u8, minor: u8 },
    #[error("the .npy header is damaged ({what})")]
    Header { what: &'static str },
    #[error("dtype {found}; little-endian uint32 ('<u4') or uint64 ('<u8') is needed: {advice}")]
    Dtype { found: String, advice: &'static str },
    #[error("Fortran order; C order is needed: numpy.ascontiguousarray(array)")]
    FortranOrder,
    #[error("an array of shape {shape}; one dimension (numbers) or two (numbers, limbs) are needed")]
    Dimensions { shape: String },
    #[error("no numbers in it: its shape is {shape}")]
    Empty { shape: String },
    #[error("numbers of {bits} bits; at most {limit} are supported")]
    TooWide { bits: u64, limit: usize },
    #[error("row {row}: a number of {bits} bits; at most {limit} are supported")]
    RowTooWide { row: u64, bits: usize, limit: usize },
    #[error("row {row} is negative; this command takes no negative numbers")]
    NegativeRow { row: u64 },
    #[error("truncated: {found_bytes} bytes where its shape needs {expected_bytes}")]
    Truncated { found_bytes: u64, expected_bytes: u64 },
    #[error("truncated: it ends in row {row} of {rows}")]
    TruncatedAtRow { row: u64, rows: u64 },
    #[error("truncated within its header")]
    TruncatedHeader,
    #[error("more bytes than its shape needs")]
    TrailingBytes,
}

impl NpyHeader {
    /// Limbs of 32 bits a row.
    pub(crate) const fn row_limbs(&self) -> usize {
        self.columns * self.dtype.limbs()
    }

    /// Is the file exactly as long as its header says?
    pub(crate) fn check_size(&self, header_bytes: u64, found_bytes: u64) -> Result<(), NpyProblem> {
        let row_bytes = 4 * self.row_limbs() as u64;
        let expected_bytes = self.rows.saturating_mul(row_bytes).saturating_add(header_bytes);
        if found_bytes < expected_bytes {
            return Err(NpyProblem::Truncated { found_bytes, expected_bytes });
        }
        if found_bytes > expected_bytes { Err(NpyProblem::TrailingBytes) } else { Ok(()) }
    }

    /// The header's bytes, always [`HEADER_BYTES`] of them.
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        header(self.dtype.descr(), &format!("{}, {}", self.rows, self.columns))
    }
}

/// The header of an array of so many booleans, in one dimension.
pub(crate) fn flags_header(count: u64) -> [u8; HEADER_BYTES] {
    header("|b1", &format!("{count},"))
}

/// The header of an array of this type and shape.
fn header(descr: &str, shape: &str) -> [u8; HEADER_BYTES] {
    let mut bytes = [b' '; HEADER_BYTES];
    bytes[..6].copy_from_slice(MAGIC);
    bytes[6..8].copy_from_slice(&[1, 0]);
    bytes[8..10].copy_from_slice(&(HEADER_BYTES as u16 - 10).to_le_bytes());
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    bytes[10..10 + text.len()].copy_from_slice(text.as_bytes());
    bytes[HEADER_BYTES - 1] = b'\n';
    bytes
}

/// Reads the header and its length in bytes; rows have at most `limit` bits.
pub(crate) fn read_header(reader: &mut impl Read, name: &str, limit: usize) -> Result<(NpyHeader, u64)> {
    let problem = |problem| Error::from(FileError::Npy { path: name.into(), problem });
    let failed = |source: io::Error, at_end| match source.kind() {
        io::ErrorKind::UnexpectedEof => problem(at_end),
        _ => Error::read(name, source),
    };
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(|source| failed(source, NpyProblem::NoMagic))?;
    if start[..6] != MAGIC[..] {
        return Err(problem(NpyProblem::NoMagic));
    }
    let mut length = [0; 4];
    let length_bytes = match (start[6], start[7]) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        (major, minor) => return Err(problem(NpyProblem::Version { major, minor })),
    };
    let cut = NpyProblem::TruncatedHeader;
    reader.read_exact(&mut length[..length_bytes]).map_err(|source| failed(source, cut.clone()))?;
    let length = u32::from_le_bytes(length) as usize;
    if length > HEADER_LIMIT {
        return Err(problem(NpyProblem::Header { what: "its length" }));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(|source| failed(source, cut))?;
    let header = parse_header(&text, start[6] == 3, limit).map_err(problem)?;
    Ok((header, (8 + length_bytes + length) as u64))
}

fn parse_header(text: &[u8], is_utf8: bool, limit: usize) -> Result<NpyHeader, NpyProblem> {
    let damaged = |what| NpyProblem::Header { what };
    let text = if is_utf8 {
        std::str::from_utf8(text).map_err(|_| damaged("not text"))?.to_owned()
    } else {
        text.iter().copied().map(char::from).collect()
    };
    let Some(Literal::Dictionary(pairs)) = literal::parse(&text) else { return Err(damaged("no dictionary")) };
    let (mut descr, mut order, mut shape) = (None, None, None);
    // A key that stands there twice has its last value, as in Python.
    for (key, value) in &pairs {
        match key {
            Literal::Text(key) if key == "descr" => descr = Some(value),
            Literal::Text(key) if key == "fortran_order" => order = Some(value),
            Literal::Text(key) if key == "shape" => shape = Some(value),
            _ => return Err(damaged("a key that it has not")),
        }
    }
    let dtype = Dtype::of(descr.ok_or(damaged("no 'descr'"))?)?;
    let Literal::Boolean(is_fortran) = order.ok_or(damaged("no 'fortran_order'"))? else {
        return Err(damaged("'fortran_order'"));
    };
    let Literal::Tuple(sizes) = shape.ok_or(damaged("no 'shape'"))? else { return Err(damaged("'shape'")) };
    let size =
        |size: &Literal| if let Literal::Integer(Some(size)) = size { Ok(*size) } else { Err(damaged("'shape'")) };
    let sizes = sizes.iter().map(size).collect::<Result<Vec<u64>, _>>()?;
    let shape = shown(&sizes);
    let (rows, columns) = match sizes[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Err(NpyProblem::Dimensions { shape }),
    };
    if *is_fortran && sizes.len() > 1 {
        return Err(NpyProblem::FortranOrder);
    }
    if rows == 0 || columns == 0 {
        return Err(NpyProblem::Empty { shape });
    }
    let bits = columns.saturating_mul(32 * dtype.limbs() as u64);
    if bits > limit as u64 {
        return Err(NpyProblem::TooWide { bits, limit });
    }
    Ok(NpyHeader { dtype, rows, columns: columns as usize })
}

/// A shape as Python writes it.
fn shown(sizes: &[u64]) -> String {
    match sizes {
        [size] => format!("({size},)"),
        sizes => format!("({})", sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.descr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<NpyHeader, String> {
        parse_header(text.as_bytes(), true, 65536).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_written_header_reads_back() {
        for dtype in [Dtype::U32, Dtype::U64, Dtype::I32, Dtype::I64] {
            for rows in [1, u64::MAX] {
                let header = NpyHeader { dtype, rows, columns: 1024 };
                let bytes = header.to_bytes();
                let (read, length) = read_header(&mut &bytes[..], "x", 65536).unwrap();
                assert_eq!((read, length), (header, 128));
            }
        }
    }

    #[test]
    fn numpy_spellings_are_read() {
        let header = NpyHeader { dtype: Dtype::U32, rows: 3, columns: 4 };
        assert_eq!(parse("{'descr': '<u4', 'fortran_order': False, 'shape': (3, 4), }      \n"), Ok(header));
        assert_eq!(parse("{'shape': (3,4), 'fortran_order':False,'descr':'<u4'}"), Ok(header));
        // In one dimension both orders are the same.
        let flat = NpyHeader { dtype: Dtype::I64, rows: 3, columns: 1 };
        assert_eq!(parse("{'descr': '<i8', 'fortran_order': True, 'shape': (3,), }"), Ok(flat));
    }

    #[test]
    fn each_refusal_says_what_is_needed() {
        let header = |descr: &str, order: &str, shape: &str| {
            parse(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")).unwrap_err()
        };
        for (descr, advice) in [
            ("'>u4'", "newbyteorder"),
            ("'<f8'", "53 bits"),
            ("'|u1'", "view"),
            ("'<u2'", "astype('<u4')"),
            ("'<i2'", "astype('<i8')"),
            ("'|O'", "to_bytes"),
            ("'<U9'", "as text"),
        ] {
            let found = header(descr, "False", "(3, 4)");
            assert!(found.starts_with(&format!("dtype {descr}; little-endian")) && found.contains(advice), "{found}");
        }
        assert!(header("[('x', '<u4')]", "False", "(3,)").contains("structured"));
        assert!(header("'<u4'", "True", "(3, 4)").starts_with("Fortran order"));
        assert!(header("'<u4'", "False", "()").contains("one dimension"));
        assert!(header("'<u4'", "False", "(3, 4, 5)").contains("shape (3, 4, 5)"));
        assert!(header("'<u4'", "False", "(0, 4)").starts_with("no numbers"));
        assert!(header("'<u8'", "False", "(1, 1025)").starts_with("numbers of 65600 bits"));
        assert!(header("'<u8'", "False", "(1, 9999999999999999999)").starts_with("numbers of"));
        assert!(header("'<u8'", "False", "(1, -1)").contains("damaged"));
        assert!(parse("").unwrap_err().contains("damaged"));
        assert!(parse("{'descr'").unwrap_err().contains("damaged"));
    }

    #[test]
    fn a_size_that_cannot_be_is_truncation() {
        let header = NpyHeader { dtype: Dtype::U64, rows: u64::MAX, columns: 1024 };
        assert!(matches!(header.check_size(128, 1 << 40), Err(NpyProblem::Truncated { .. })));
    }
}
