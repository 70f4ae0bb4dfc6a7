//! Numbers of any origin as lanes.

use num_bigint::{BigInt, BigUint, Sign};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};
use rayon::prelude::*;
use warpmp::{Error, Shape};

use crate::error::Result;
use crate::rows::{self, Rows};

/// Numbers that a core measures at a time.
const PIECE: usize = 512;

/// A number: sign and magnitude.
pub(crate) trait Number: Sync {
    fn is_negative(&self) -> bool;

    /// The bits of the magnitude.
    fn bits(&self) -> usize;

    /// Is the magnitude a power of two?
    fn is_power_of_two(&self) -> bool;

    /// Writes the limbs of the magnitude. The row is zero and has room.
    fn write(&self, row: &mut [u32]);

    /// The bits of a lane for the number.
    fn needed(&self, signed: bool) -> usize {
        match signed {
            true if self.is_negative() && self.is_power_of_two() => self.bits(),
            true => self.bits() + 1,
            false => self.bits(),
        }
    }
}

/// One lane for each number: two's complements if some number is negative, or if `signed` says so. Without `bits` as many
/// bits as the longest number needs.
///
/// # Errors
/// `OverflowError` names the first number that does not fit, or that is negative where it must not be.
pub(crate) fn build<N: Number>(numbers: &[N], bits: Option<usize>, signed: Option<bool>) -> Result<(Rows, bool)> {
    // Numbers lie all over the memory: as a rule they are looked at twice, here and when they are written.
    let [negative, widest, widest_signed] = measure(numbers);
    let signed = match (signed, negative) {
        (Some(false), Some(lane)) => return Err(Error::Negative { lane }.into()),
        (Some(signed), _) => signed,
        (None, negative) => negative.is_some(),
    };
    let needed = if signed { widest_signed } else { widest }.unwrap_or(1).max(1);
    let bits = bits.unwrap_or(needed);
    if needed > bits.max(1) {
        let wider = |number: &N| number.needed(signed) > bits.max(1);
        let lane = numbers.par_iter().position_first(wider).unwrap_or_default();
        return Err(Error::NotReduced { lane, bits }.into());
    }
    let rows = rows::fill(Shape::new(numbers.len(), bits), |lane, row| {
        let number = &numbers[lane];
        number.write(row);
        if number.is_negative() {
            rows::negate(row, bits);
        }
    })?;
    Ok((rows, signed))
}

/// The first negative number, the most bits that a number needs, and the most with signs.
fn measure<N: Number>(numbers: &[N]) -> [Option<usize>; 3] {
    let one = |(lane, number): (usize, &N)| {
        [number.is_negative().then_some(lane), Some(number.needed(false)), Some(number.needed(true))]
    };
    let both = |a: [Option<usize>; 3], b: [Option<usize>; 3]| {
        let first = [a[0], b[0]].into_iter().flatten().min();
        [first, a[1].max(b[1]), a[2].max(b[2])]
    };
    numbers.par_iter().enumerate().with_min_len(PIECE).map(one).reduce(|| [None; 3], both)
}

impl Number for BigInt {
    fn is_negative(&self) -> bool {
        self.sign() == Sign::Minus
    }

    fn bits(&self) -> usize {
        BigInt::bits(self) as usize
    }

    fn is_power_of_two(&self) -> bool {
        self.trailing_zeros().is_some_and(|zeros| zeros + 1 == BigInt::bits(self))
    }

    fn write(&self, row: &mut [u32]) {
        for (place, limb) in row.iter_mut().zip(self.iter_u32_digits()) {
            *place = limb;
        }
    }
}

/// A number on its way from or to Python.
pub(crate) struct Big(pub(crate) BigUint);

impl<'py> IntoPyObject<'py> for Big {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, &self.0.to_bytes_le());
        py.get_type::<PyInt>().call_method1("from_bytes", (bytes, "little"))
    }
}

impl<'py> FromPyObject<'_, 'py> for Big {
    type Error = PyErr;

    fn extract(number: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bits: usize = number.call_method0("bit_length")?.extract()?;
        let bytes = number.call_method1("to_bytes", (bits.div_ceil(8), "little"))?;
        Ok(Self(BigUint::from_bytes_le(bytes.cast::<PyBytes>()?.as_bytes())))
    }
}
