//! Files that nobody meant to write: whatever stands in them, there are the numbers, or an error with the file's name, a
//! place and a reason; never a panic, and no more memory than a chunk takes.

use num_bigint::BigUint;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::fuzz;
use crate::io::{error::FileError, npy::Dtype};

const LIMIT: usize = warpmp::operation::SLOW_MAX_BITS;

/// All numbers of a source, read in chunks as commands do.
fn read(source: Result<Source>) -> Result<Vec<BigUint>> {
    let mut found = Vec::new();
    fuzz::each(source?, |limbs| found.push(BigUint::from_slice(limbs)))?;
    Ok(found)
}

/// The bytes as a stream of known or unknown length, or as a file in blocks of any size.
fn source(rng: &mut ChaCha8Rng, name: &str, bytes: &[u8]) -> Result<Source> {
    match rng.random_range(0..4) {
        0 => Source::of_bytes(name, bytes, false),
        1 => Source::of_bytes(name, bytes, true),
        _ => {
            let block = 1 << rng.random_range(0..16);
            let block = rng.random_range(block..2 * block);
            Source::of_file(name, bytes, Sizes { block, piece: rng.random_range(1..99) })
        }
    }
}

fn one_in(rng: &mut ChaCha8Rng, n: u32) -> bool {
    rng.random_range(0..n) == 0
}

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// The number of a line, by num-bigint; none if it is no number of so many bits.
fn number(line: &[u8]) -> Option<BigUint> {
    let (digits, radix) = match line {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    // Its parser takes signs and underscores, ours does not.
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_alphanumeric);
    let number = plain.then(|| BigUint::parse_bytes(digits, radix)).flatten()?;
    (number.bits() <= LIMIT as u64).then_some(number)
}

/// What a text means: its numbers, or every line that is at fault.
fn meaning(text: &[u8]) -> Result<Vec<BigUint>, Vec<u64>> {
    let (mut numbers, mut faults, mut blank) = (Vec::new(), Vec::new(), None);
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for (line, number_of_line) in text.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        match line.first() {
            None => blank = blank.or(Some(number_of_line)),
            Some(b'#') => {}
            Some(_) => {
                faults.extend(blank);
                match number(line) {
                    Some(number) => numbers.push(number),
                    None => faults.push(number_of_line),
                }
            }
        }
    }
    if faults.is_empty() { Ok(numbers) } else { Err(faults) }
}

/// A line that is a number more often than not.
fn line(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let bits = pick(rng, &[1, 8, 63, 64, 65, 127, 128, 129, 500, 4096, LIMIT - 1, LIMIT]);
    let edge: BigUint = (BigUint::from(1_u32) << bits) - rng.random_range(0..2_u32);
    let any = BigUint::from_slice(&(0..rng.random_range(1..9)).map(|_| rng.random()).collect::<Vec<u32>>());
    let number = if one_in(rng, 3) { edge } else { any >> rng.random_range(0..64) };
    let zeros = "0".repeat(if one_in(rng, 6) { rng.random_range(0..1300) } else { 0 });
    let spaces = pick(rng, &["", "", "", "", " ", "\t", "\r", "\x0c"]);
    let text = match rng.random_range(0..12) {
        0..5 => format!("{zeros}{number}"),
        5..9 => format!("{}{zeros}{number:x}", pick(rng, &["0x", "0X"])),
        9 => format!("# {number}"),
        10 if one_in(rng, 4) => String::new(),
        10 => number.to_string(),
        _ if one_in(rng, 3) => pick(
            rng,
            &["-5", "+5", "0x", "1_0", "x", "1e3", "0b1", "٣", "1,2", "0x-1", "NaN", "\u{feff}1", "\0", "1 2"],
        )
        .into(),
        _ => "7".into(),
    };
    format!("{spaces}{text}{}", pick(rng, &["", "", "", " ", "\r"])).into_bytes()
}

/// A file's bytes with some of them changed, lost, or doubled.
fn mutated(rng: &mut ChaCha8Rng, mut bytes: Vec<u8>, within: usize) -> Vec<u8> {
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..within.min(bytes.len()).max(1));
        let any = rng.random();
        let byte = pick(rng, &[0, b'0', b'9', b'\n', b'#', b'(', b',', b'\'', 0x80, 0xff, b'x', any]);
        match rng.random_range(0..5) {
            0 | 1 if at < bytes.len() => bytes[at] = byte,
            2 => bytes.insert(at.min(bytes.len()), byte),
            3 if at < bytes.len() => {
                bytes.remove(at);
            }
            4 if one_in(rng, 3) => bytes.truncate(at),
            _ => {
                let end = (at + rng.random_range(1..20)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..at.min(end), piece);
            }
        }
    }
    bytes
}

/// An array's bytes.
fn array(dtype: Dtype, rows: u64, columns: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = NpyHeader { dtype, rows, columns }.to_bytes().to_vec();
    bytes.extend((0..rows as usize * columns * 4 * dtype.limbs()).map(|_| rng.random::<u8>()));
    bytes
}

#[test]
fn texts_are_numbers_or_name_a_line() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut fine, mut wrong) = (0, 0);
    for _ in 0..1200 {
        let lines = (0..rng.random_range(0..12)).map(|_| line(&mut rng)).collect::<Vec<_>>();
        let mut bytes = lines.join(&b'\n');
        if one_in(&mut rng, 2) {
            bytes.push(b'\n');
        }
        if one_in(&mut rng, 10) {
            bytes.splice(0..0, *b"\xef\xbb\xbf");
        }
        if one_in(&mut rng, 4) {
            let within = bytes.len();
            bytes = mutated(&mut rng, bytes, within);
        }
        if bytes.first() == Some(&npy::MAGIC[0]) {
            continue;
        }
        let found = read(source(&mut rng, "some.txt", &bytes));
        let shown = String::from_utf8_lossy(&bytes);
        match (meaning(&bytes), found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found, expected, "{shown:?}");
                fine += 1;
            }
            (Ok(expected), Err(Error::File(FileError::NoNumbers { path }))) if expected.is_empty() => {
                assert_eq!(path, "some.txt");
            }
            (Err(faults), Err(error)) => {
                let Error::File(FileError::Line { path, line, .. }) = &error else { panic!("{shown:?}: {error}") };
                assert!(path == "some.txt" && faults.contains(line), "{shown:?}: {error}");
                wrong += 1;
            }
            (expected, found) => panic!("{shown:?}: {expected:?}, not {found:?}"),
        }
    }
    assert!(fine > 200 && wrong > 200, "{fine} texts of numbers, {wrong} with faults");
}

#[test]
fn arrays_are_numbers_or_name_the_file() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut fine, mut wrong) = (0, 0);
    for _ in 0..4000 {
        let dtype = pick(&mut rng, &[Dtype::U32, Dtype::U64]);
        let (rows, columns) = (rng.random_range(1..9), rng.random_range(1..5));
        let whole = array(dtype, rows, columns, &mut rng);
        let changed = !one_in(&mut rng, 4);
        let within = pick(&mut rng, &[12, 128, whole.len()]);
        let bytes = if changed { mutated(&mut rng, whole.clone(), within) } else { whole.clone() };
        let found = read(source(&mut rng, "some.npy", &bytes));
        match found {
            Ok(found) => {
                if !changed {
                    let row_bytes = 4 * columns * dtype.limbs();
                    let expected: Vec<BigUint> = whole[128..].chunks(row_bytes).map(BigUint::from_bytes_le).collect();
                    assert_eq!(found, expected);
                }
                fine += 1;
            }
            Err(error) => {
                assert!(changed, "{error}");
                assert!(
                    matches!(error, Error::File(FileError::Npy { .. })) && error.to_string().starts_with("some.npy: "),
                    "{error}"
                );
                wrong += 1;
            }
        }
    }
    assert!(fine > 800 && wrong > 800, "{fine} arrays, {wrong} with faults");
}

/// A header promises what it likes; memory is taken for what is there.
#[test]
fn promises_take_no_memory() {
    for rows in [1 << 60, u64::MAX] {
        for columns in [1, 64, 128] {
            let mut bytes = NpyHeader { dtype: Dtype::U32, rows, columns }.to_bytes().to_vec();
            bytes.extend([0; 600]);
            for source in [
                Source::of_bytes("some.npy", &bytes, true),
                Source::of_bytes("some.npy", &bytes, false),
                Source::of_file("some.npy", &bytes, Sizes::default()),
            ] {
                let error = read(source).unwrap_err().to_string();
                assert!(error.starts_with("some.npy: truncated"), "{error}");
            }
        }
    }
    let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (99999999999999999999999999, 4), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    let error = read(Source::of_bytes("some.npy", &bytes, false)).unwrap_err().to_string();
    assert_eq!(error, "some.npy: the .npy header is damaged ('shape')");
}

/// Standard input of a terminal: it goes on after its end, so nobody may read it then.
struct Terminal(&'static [u8], bool);

impl Read for Terminal {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!self.1, "read after its end");
        let read = self.0.read(buffer)?;
        self.1 = read == 0;
        Ok(read)
    }
}

#[test]
fn an_end_is_met_once() {
    let reader = BufReader::new(Box::new(Terminal(b"1\n2\n", false)) as Box<dyn Read + Send>);
    let mut source = Source::of_reader("a", reader, None, None, Sizes::default()).unwrap();
    let mut raw = source.empty();
    assert_eq!([(); 4].map(|()| source.push(&mut raw).unwrap()), [true, true, false, false]);
    assert_eq!(source.count_rest().unwrap(), 0);
}
