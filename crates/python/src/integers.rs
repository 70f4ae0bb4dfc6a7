//! Python's integers as lanes, and lanes as Python's integers.
//!
//! Where the layout of Python's integers is known, all cores read their digits, and lanes are written to the digits of new
//! integers. Elsewhere `int.to_bytes` and `int.from_bytes` convert each integer.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use num_bigint::{BigInt, BigUint};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};
use warpmp::Shape;

use crate::batch::Batch;
use crate::digits::{self, DIGIT_BITS};
use crate::error::Result;
use crate::long::{LEAST, Layout, Long, Outline};
use crate::numbers::{self, Big, Number};
use crate::rows::{Rows, is_negative, negated};

/// The most integers that are made between two looks for Ctrl-C, and about the most limbs that they have.
const PIECE: usize = 1 << 13;
const PIECE_LIMBS: usize = 1 << 20;

/// Are the digits of integers read and written in place, where this is possible?
static IN_PLACE: AtomicBool = AtomicBool::new(true);

/// Sets whether the digits of integers are read and written in place, where this is possible, and tells whether it is. Tests
/// compare both ways.
#[pyfunction]
pub(crate) fn convert_in_place(py: Python<'_>, wanted: bool) -> bool {
    IN_PLACE.store(wanted, Ordering::Relaxed);
    layout(py).is_some()
}

fn layout(py: Python<'_>) -> Option<Layout> {
    Layout::of(py).filter(|_| IN_PLACE.load(Ordering::Relaxed))
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
    let (rows, signed) = if let Some(layout) = layout(py) {
        let Some(longs) = layout.read(numbers) else { return Ok(None) };
        py.detach(|| numbers::build(longs.numbers(), bits, signed))?
    } else {
        let read = numbers.iter().map(|number| by_bytes(&number)).collect::<PyResult<Option<Vec<_>>>>()?;
        let Some(read) = read else { return Ok(None) };
        py.detach(|| numbers::build(&read, bits, signed))?
    };
    Ok(Some((Batch::host(rows), signed)))
}

/// The integer; none if the object is not of the type `int` itself.
fn by_bytes(number: &Bound<'_, PyAny>) -> PyResult<Option<BigInt>> {
    if !number.is_exact_instance_of::<PyInt>() {
        return Ok(None);
    }
    number.py().check_signals()?;
    let magnitude = BigInt::from(number.abs()?.extract::<Big>()?.0);
    Ok(Some(if number.lt(0)? { -magnitude } else { magnitude }))
}

impl Number for Long {
    fn is_negative(&self) -> bool {
        self.is_negative()
    }

    fn bits(&self) -> usize {
        self.digits().split_last().map_or(0, |(top, below)| below.len() * DIGIT_BITS + top.ilog2() as usize + 1)
    }

    fn is_power_of_two(&self) -> bool {
        self.digits().split_last().is_some_and(|(top, below)| top.is_power_of_two() && below.iter().all(|it| *it == 0))
    }

    fn write(&self, row: &mut [u32]) {
        digits::write_limbs(row, self.digits());
    }
}

/// Each lane as an integer.
pub(crate) fn to_ints<'py>(py: Python<'py>, rows: &Rows, signed: bool) -> Result<Bound<'py, PyList>> {
    let Shape { lanes, bits } = rows.shape();
    let limbs = rows.shape().limbs();
    let lane = |number: usize| &rows.limbs()[number * limbs..][..limbs];
    let negative = |lane: &[u32]| signed && is_negative(lane, bits);
    let magnitude = |lane| if negative(lane) { Cow::Owned(negated(lane, bits)) } else { Cow::Borrowed(lane) };
    let piece = (PIECE_LIMBS / limbs).clamp(1, PIECE);
    let numbers = if let Some(layout) = layout(py) {
        let lengths = py.detach(|| rows.bit_lengths(signed));
        let outline = |number: usize| {
            let (lane, bits) = (lane(number), lengths[number] as usize);
            match bits.div_ceil(DIGIT_BITS) {
                LEAST.. => Outline::Long { bits, negative: negative(lane) },
                _ => Outline::Small(small(&magnitude(lane), negative(lane))),
            }
        };
        let write = |number: usize, digits: &mut [u32]| digits::write_digits(digits, &magnitude(lane(number)));
        layout.cast(py, lanes, piece, outline, write)?
    } else {
        let mut numbers = Vec::with_capacity(lanes);
        for number in 0..lanes {
            if number.is_multiple_of(piece) {
                py.check_signals()?;
            }
            let lane = lane(number);
            let made = Big(BigUint::from_slice(&magnitude(lane))).into_pyobject(py)?;
            numbers.push(if negative(lane) { made.neg()? } else { made });
        }
        numbers
    };
    Ok(PyList::new(py, numbers)?)
}

/// A number whose magnitude has less than 64 bits.
fn small(magnitude: &[u32], negative: bool) -> i64 {
    let limb = |at| magnitude.get(at).map_or(0, |limb| i64::from(*limb));
    let number = limb(1) << 32 | limb(0);
    if negative { -number } else { number }
}
