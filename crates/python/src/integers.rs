//! Python's integers as lanes, and lanes as Python's integers.
//!
//! The stable interface of Python has no access to an integer's digits, and a call of `int.to_bytes` for each integer costs
//! more than its conversion. Two modules of the standard library convert whole lists in C: `marshal` writes integers as
//! digits of 15 bits faster than anything else, and `pickle` reads integers from bytes faster than anything else. The rest,
//! between these formats and limbs, is done on all cores.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rayon::prelude::*;

use crate::batch::Batch;
use crate::error::{Failure, Result};
use crate::numbers::{self, Number};
use crate::rows::{Rows, is_negative};

/// The version of the format: the last one that does not look for objects that occur twice.
const MARSHAL_VERSION: u32 = 2;
/// Bits of a digit of marshal.
const DIGIT_BITS: usize = 15;

/// An integer as marshal writes it.
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
    let Ok(data) = py.import("marshal")?.call_method1("dumps", (numbers, MARSHAL_VERSION)) else { return Ok(None) };
    let data = data.cast::<PyBytes>().map_err(PyErr::from)?;
    let data = data.as_bytes();
    py.detach(|| {
        let Some(numbers) = read(data) else { return Ok(None) };
        let (rows, signed) = numbers::build(&numbers, bits, signed)?;
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
pub(crate) fn to_ints<'py>(py: Python<'py>, rows: &Rows, signed: bool) -> Result<Bound<'py, PyAny>> {
    let shape = rows.shape();
    // A byte for the sign of numbers that have none.
    let bytes = shape.bits / 8 + 1;
    let head = if let Ok(short) = u8::try_from(bytes) {
        vec![0x8a, short]
    } else {
        let long = u32::try_from(bytes).map_err(|_| Failure::overflow("lanes are too wide for integers"))?;
        [&[0x8b], &long.to_le_bytes()[..]].concat()
    };
    let record = head.len() + bytes;
    let (begin, end) = (b"\x80\x02](", b"e.");
    let length = shape.lanes.checked_mul(record).and_then(|length| length.checked_add(begin.len() + end.len()));
    let length = length.ok_or_else(|| Failure::memory("the integers do not fit in memory"))?;
    let data = PyBytes::new_with(py, length, |data| {
        py.detach(|| {
            data[..begin.len()].copy_from_slice(begin);
            data[length - end.len()..].copy_from_slice(end);
            let records = &mut data[begin.len()..length - end.len()];
            let lanes = rows.limbs().par_chunks_exact(shape.limbs());
            records.par_chunks_exact_mut(record).zip(lanes).with_min_len(512).for_each(|(out, lane)| {
                let (before, out) = out.split_at_mut(head.len());
                before.copy_from_slice(&head);
                let negative = signed && is_negative(lane, shape.bits);
                write_bytes(out, lane, negative.then_some(shape.bits));
            });
        });
        Ok(())
    })?;
    Ok(py.import("pickle")?.call_method1("loads", (data,))?)
}

/// The bytes of a lane, least significant first. A negative lane has this number of bits, and ones above.
fn write_bytes(out: &mut [u8], lane: &[u32], negative_bits: Option<usize>) {
    out.fill(if negative_bits.is_some() { 0xff } else { 0 });
    for (place, limb) in out.chunks_mut(4).zip(lane) {
        let length = place.len();
        place.copy_from_slice(&limb.to_le_bytes()[..length]);
    }
    if let Some(bits) = negative_bits {
        for (number, byte) in out.iter_mut().enumerate().skip(bits / 8) {
            *byte |= if number == bits / 8 { 0xff << (bits % 8) } else { 0xff };
        }
    }
}
