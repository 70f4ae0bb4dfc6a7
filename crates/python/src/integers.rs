//! Python's integers as lanes, and lanes as Python's integers.
//!
//! The stable interface of Python has no access to an integer's digits, and a call of `int.to_bytes` for each integer costs
//! more than its conversion. Two modules of the standard library convert whole lists in C: `marshal` writes integers as
//! digits of 15 bits faster than anything else, and `pickle` reads integers from bytes faster than anything else. Python
//! converts a list in pieces that fit in a core's cache. All cores turn the pieces that Python wrote into limbs, and another
//! thread writes the pieces that Python reads next.

use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyList;
use rayon::prelude::*;

use crate::batch::Batch;
use crate::error::{Failure, Result};
use crate::numbers::{self, Number};
use crate::rows::{Rows, is_negative};

/// The version of the format: the last one that does not look for objects that occur twice.
const MARSHAL_VERSION: u32 = 2;
/// Bits of a digit of marshal.
const DIGIT_BITS: usize = 15;

/// Bytes of a piece, about.
const PIECE_BYTES: usize = 1 << 19;
/// The integers of a piece that marshal writes.
const PIECE: usize = 4096;
/// The most pieces that wait for Python.
const WAITING: usize = 4;

/// An integer as marshal writes it.
#[derive(Clone, Copy)]
enum Marshalled<'a> {
    Small(i32),
    /// Digits of 15 bits in two bytes each, least significant first; the last one is not zero.
    Long {
        negative: bool,
        digits: &'a [u8],
    },
}

/// One lane for each integer of a list, and whether they are two's complements.
///
/// None if the list holds anything but integers of the type `int`.
#[pyfunction]
#[pyo3(signature = (numbers, bits=None, signed=None))]
pub(crate) fn from_ints(
    numbers: &Bound<'_, PyList>,
    bits: Option<usize>,
    signed: Option<bool>,
) -> Result<Option<(Batch, bool)>> {
    let py = numbers.py();
    let dumps = py.import("marshal")?.getattr("dumps")?;
    let mut pieces: Vec<PyBackedBytes> = Vec::with_capacity(numbers.len() / PIECE + 1);
    for first in (0..numbers.len()).step_by(PIECE) {
        py.check_signals()?;
        let piece = numbers.get_slice(first, first + PIECE);
        let Ok(data) = dumps.call1((piece, MARSHAL_VERSION)) else { return Ok(None) };
        pieces.push(data.extract().map_err(PyErr::from)?);
    }
    py.detach(|| {
        let read: Option<Vec<_>> = pieces.par_iter().map(|data| read(data)).collect();
        let Some(numbers) = read else { return Ok(None) };
        let (rows, signed) = numbers::build(&numbers.concat(), bits, signed)?;
        Ok(Some((Batch::host(rows), signed)))
    })
}

/// The integers of a marshalled list; none if there is anything else in it.
fn read(data: &[u8]) -> Option<Vec<Marshalled<'_>>> {
    let (b'[', rest) = data.split_first()? else { return None };
    let (count, mut rest) = split_u32(rest)?;
    let mut numbers = Vec::with_capacity(rest.len() / 5);
    for _ in 0..count {
        let (code, after) = rest.split_first()?;
        let number;
        (number, rest) = match code {
            b'i' => {
                let (word, after) = split_u32(after)?;
                (Marshalled::Small(word as i32), after)
            }
            b'l' => {
                let (word, after) = split_u32(after)?;
                let digits = (word as i32).unsigned_abs() as usize;
                let (digits, after) = after.split_at_checked(2 * digits)?;
                (Marshalled::Long { negative: (word as i32) < 0, digits }, after)
            }
            b'T' => (Marshalled::Small(1), after),
            b'F' => (Marshalled::Small(0), after),
            _ => return None,
        };
        numbers.push(number);
    }
    Some(numbers)
}

fn split_u32(data: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = data.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

fn digits(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u32> + '_ {
    bytes.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]])))
}

impl Number for Marshalled<'_> {
    fn is_negative(&self) -> bool {
        match self {
            Self::Small(number) => *number < 0,
            Self::Long { negative, .. } => *negative,
        }
    }

    fn bits(&self) -> usize {
        match self {
            Self::Small(number) => (u32::BITS - number.unsigned_abs().leading_zeros()) as usize,
            Self::Long { digits: bytes, .. } => {
                let top = digits(bytes).next_back().unwrap_or(0);
                (bytes.len() / 2).saturating_sub(1) * DIGIT_BITS + (u32::BITS - top.leading_zeros()) as usize
            }
        }
    }

    fn is_power_of_two(&self) -> bool {
        match self {
            Self::Small(number) => number.unsigned_abs().is_power_of_two(),
            Self::Long { digits: bytes, .. } => digits(bytes).map(u32::count_ones).sum::<u32>() == 1,
        }
    }

    fn write(&self, row: &mut [u32]) {
        let bytes = match self {
            Self::Small(number) => return row[0] = number.unsigned_abs(),
            Self::Long { digits, .. } => *digits,
        };
        let (mut buffer, mut held, mut place) = (0_u64, 0, 0);
        for digit in digits(bytes) {
            buffer |= u64::from(digit) << held;
            held += DIGIT_BITS;
            if held >= 32 {
                row[place] = buffer as u32;
                place += 1;
                buffer >>= 32;
                held -= 32;
            }
        }
        if buffer != 0 {
            row[place] = buffer as u32;
        }
    }
}

/// Each lane as an integer.
pub(crate) fn to_ints<'py>(py: Python<'py>, rows: &Rows, signed: bool) -> Result<Bound<'py, PyList>> {
    let shape = rows.shape();
    let pickle = Pickle::new(shape.bits, signed)?;
    let loads = py.import("pickle")?.getattr("loads")?;
    let lanes = (PIECE_BYTES / pickle.record_bytes()).max(1);
    let read = |data| loads.call1((PyArray1::from_vec(py, data),));
    if shape.lanes <= lanes {
        let numbers = read(pickle.write(rows, 0..shape.lanes))?;
        return Ok(numbers.cast_into().map_err(PyErr::from)?);
    }
    let numbers = PyList::empty(py);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let write = move || {
            for first in (0..shape.lanes).step_by(lanes) {
                // Nobody listens any more if the caller was interrupted.
                if sender.send(pickle.write(rows, first..(first + lanes).min(shape.lanes))).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("warpmp".into()).spawn_scoped(scope, write)?;
        for data in receiver {
            py.check_signals()?;
            numbers.call_method1("extend", (read(data)?,))?;
        }
        Ok::<_, PyErr>(())
    })?;
    Ok(numbers)
}

/// How the lanes of a batch are pickled: each as a record of the same length.
struct Pickle {
    /// The bits of a lane, and whether it is a two's complement.
    bits: usize,
    signed: bool,
    /// The operation that reads an integer, with the number of its bytes.
    head: Vec<u8>,
    bytes: usize,
}

impl Pickle {
    fn new(bits: usize, signed: bool) -> Result<Self> {
        // A byte for the sign of numbers that have none.
        let bytes = bits / 8 + 1;
        let head = if let Ok(short) = u8::try_from(bytes) {
            vec![0x8a, short]
        } else {
            let long = u32::try_from(bytes).map_err(|_| Failure::overflow("lanes are too wide for integers"))?;
            [&[0x8b], &long.to_le_bytes()[..]].concat()
        };
        Ok(Self { bits, signed, head, bytes })
    }

    fn record_bytes(&self) -> usize {
        self.head.len() + self.bytes
    }

    /// A pickled list of these lanes.
    fn write(&self, rows: &Rows, lanes: Range<usize>) -> Vec<u8> {
        let (begin, end) = (b"\x80\x02](", b"e.");
        let limbs = rows.shape().limbs();
        let mut data = Vec::with_capacity(begin.len() + lanes.len() * self.record_bytes() + end.len());
        data.extend_from_slice(begin);
        for lane in rows.limbs()[lanes.start * limbs..lanes.end * limbs].chunks_exact(limbs) {
            data.extend_from_slice(&self.head);
            self.write_lane(&mut data, lane);
        }
        data.extend_from_slice(end);
        data
    }

    /// The bytes of a lane, least significant first, with a sign.
    fn write_lane(&self, data: &mut Vec<u8>, lane: &[u32]) {
        let start = data.len();
        for limb in lane {
            data.extend_from_slice(&limb.to_le_bytes());
        }
        data.resize(start + self.bytes, 0);
        if self.signed && is_negative(lane, self.bits) {
            // Ones above the lane's bits.
            data[start + self.bits / 8] |= 0xff << (self.bits % 8);
        }
    }
}
