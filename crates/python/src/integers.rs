//! Python's integers as lanes, and lanes as Python's integers.
//!
//! Where the layout of Python's integers is known, all cores read their digits, and lanes are written to the digits of new
//! integers. Elsewhere `int.to_bytes` and `int.from_bytes` convert each integer.

use std::sync::atomic::{AtomicBool, Ordering};

use num_bigint::{BigInt, BigUint};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::batch::Batch;
use crate::digits::{self, DIGIT_BITS};
use crate::error::Result;
use crate::long::{Layout, Long, Mould};
use crate::numbers::{self, Big, Number};
use crate::rows::{Rows, bit_length, is_negative, negated};

/// Integers that are made between two looks for Ctrl-C.
const PIECE: usize = 1 << 16;

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
    if let Some(layout) = layout(py) {
        let read = numbers.iter().map(|number| layout.read(number)).collect();
        built(py, read, bits, signed)
    } else {
        let read = numbers.iter().map(|number| by_bytes(&number)).collect::<PyResult<_>>()?;
        built::<BigInt>(py, read, bits, signed)
    }
}

fn built<N: Number + Send>(
    py: Python<'_>,
    numbers: Option<Vec<N>>,
    bits: Option<usize>,
    signed: Option<bool>,
) -> Result<Option<(Batch, bool)>> {
    let Some(numbers) = numbers else { return Ok(None) };
    let (rows, signed) = py.detach(|| numbers::build(&numbers, bits, signed))?;
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
    let shape = rows.shape();
    let mut maker = Maker { py, bits: shape.bits, signed, mould: layout(py).map(Mould::new) };
    let mut numbers = Vec::with_capacity(shape.lanes);
    for piece in rows.limbs().chunks(PIECE * shape.limbs()) {
        py.check_signals()?;
        for lane in piece.chunks_exact(shape.limbs()) {
            numbers.push(maker.number(lane)?);
        }
    }
    Ok(PyList::new(py, numbers)?)
}

/// Makes integers of lanes.
struct Maker<'py> {
    py: Python<'py>,
    /// The bits of a lane, and whether it is a two's complement.
    bits: usize,
    signed: bool,
    mould: Option<Mould<'py>>,
}

impl<'py> Maker<'py> {
    fn number(&mut self, lane: &[u32]) -> PyResult<Bound<'py, PyAny>> {
        if self.signed && is_negative(lane, self.bits) {
            self.signed_magnitude(&negated(lane, self.bits), true)
        } else {
            self.signed_magnitude(lane, false)
        }
    }

    fn signed_magnitude(&mut self, limbs: &[u32], negative: bool) -> PyResult<Bound<'py, PyAny>> {
        let bits = bit_length(limbs);
        if bits < u64::BITS as usize {
            let limb = |at| limbs.get(at).map_or(0, |limb| i64::from(*limb));
            let small = limb(1) << 32 | limb(0);
            return Ok((if negative { -small } else { small }).into_pyobject(self.py)?.into_any());
        }
        if let Some(mould) = &mut self.mould {
            return mould.cast(self.py, limbs, bits, negative);
        }
        let number = Big(BigUint::from_slice(limbs)).into_pyobject(self.py)?;
        if negative { number.neg() } else { Ok(number) }
    }
}
