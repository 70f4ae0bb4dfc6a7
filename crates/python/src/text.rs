//! Numbers as text and as bytes.

use num_bigint::{BigInt, BigUint};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::batch::Batch;
use crate::error::{Failure, Result};
use crate::numbers;

/// One lane for each text: decimal, or with `0x`, `0o`, `0b`; a sign may stand before. Also whether the lanes are two's
/// complements.
///
/// # Errors
/// `ValueError` names the first text that is no number.
#[pyfunction]
#[pyo3(signature = (texts, bits=None, signed=None))]
pub(crate) fn from_text(
    py: Python<'_>,
    texts: Vec<String>,
    bits: Option<usize>,
    signed: Option<bool>,
) -> Result<(Batch, bool)> {
    py.detach(|| {
        let numbers: Vec<Option<BigInt>> = texts.par_iter().map(|text| parse(text.trim())).collect();
        let bad = numbers.iter().position(Option::is_none);
        if let Some(lane) = bad {
            return Err(Failure::value(format!("text {lane} is not a number; write it in decimal digits, or with 0x")));
        }
        let numbers: Vec<BigInt> = numbers.into_iter().flatten().collect();
        let (rows, signed) = numbers::build(&numbers, bits, signed)?;
        Ok((Batch::host(rows), signed))
    })
}

fn parse(text: &str) -> Option<BigInt> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let prefixed = |prefix: &str, radix| {
        let (start, rest) = digits.split_at_checked(2)?;
        start.eq_ignore_ascii_case(prefix).then_some((rest, radix))
    };
    let (digits, radix) =
        prefixed("0x", 16).or_else(|| prefixed("0o", 8)).or_else(|| prefixed("0b", 2)).unwrap_or((digits, 10));
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let magnitude = BigUint::parse_bytes(digits.as_bytes(), radix)?;
    let number = BigInt::from(magnitude);
    Some(if negative { -number } else { number })
}

/// One lane for each number in bytes, without sign.
#[pyfunction]
#[pyo3(signature = (rows, little, bits=None))]
pub(crate) fn from_bytes(py: Python<'_>, rows: Vec<Vec<u8>>, little: bool, bits: Option<usize>) -> Result<Batch> {
    py.detach(|| {
        let number = |row: &Vec<u8>| {
            let number = if little { BigUint::from_bytes_le(row) } else { BigUint::from_bytes_be(row) };
            BigInt::from(number)
        };
        let numbers: Vec<BigInt> = rows.par_iter().map(number).collect();
        Ok(Batch::host(numbers::build(&numbers, bits, Some(false))?.0))
    })
}
