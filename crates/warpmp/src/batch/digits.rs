//! Batches and text: decimal and hexadecimal digits.

use std::fmt;

use dashu_int::UBig;

use super::Batch;
use crate::error::{Error, Result};

/// Lanes that [`fmt::Debug`] shows.
const SHOWN_LANES: usize = 4;
/// Hexadecimal digits of a lane that [`fmt::Debug`] shows.
const SHOWN_DIGITS: usize = 16;

impl Batch<'static> {
    /// One lane of `bits` bits for each decimal number.
    ///
    /// ```
    /// let batch = warpmp::Batch::from_dec(128, &["0", "340282366920938463463374607431768211455"])?;
    /// assert_eq!(batch.to_hex(1).as_deref(), Some("ffffffffffffffffffffffffffffffff"));
    /// # Ok::<(), warpmp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotANumber`] names the first row that is empty or has another character than a digit;
    /// [`Error::NotReduced`] the first number that does not fit in `bits`; [`Error::ZeroBits`];
    /// [`Error::OutOfMemory`].
    pub fn from_dec<R: AsRef<str>>(bits: usize, rows: &[R]) -> Result<Self> {
        Self::from_rows(bits, rows, |lane, row| limbs(lane, row.as_ref(), 10))
    }

    /// One lane of `bits` bits for each hexadecimal number, with or without `0x`.
    ///
    /// # Errors
    /// As [`Batch::from_dec`].
    pub fn from_hex<R: AsRef<str>>(bits: usize, rows: &[R]) -> Result<Self> {
        Self::from_rows(bits, rows, |lane, row| {
            let row = row.as_ref();
            limbs(lane, row.strip_prefix("0x").or(row.strip_prefix("0X")).unwrap_or(row), 16)
        })
    }
}

impl Batch<'_> {
    /// One lane in decimal, without leading zeros; `None` beyond the last lane.
    pub fn to_dec(&self, lane: usize) -> Option<String> {
        self.lane(lane).map(decimal)
    }

    /// One lane in hexadecimal, lower case, without prefix or leading zeros; `None` beyond the last lane.
    pub fn to_hex(&self, lane: usize) -> Option<String> {
        self.lane(lane).map(hexadecimal)
    }

    /// Writes each lane in a line of its own.
    fn write_lines(&self, f: &mut fmt::Formatter<'_>, prefix: &str, text: fn(&[u32]) -> String) -> fmt::Result {
        for (number, lane) in self.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{prefix}{}", text(lane))?;
        }
        Ok(())
    }
}

/// Every lane in decimal, one a line.
impl fmt::Display for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_lines(f, "", decimal)
    }
}

/// Every lane in hexadecimal, one a line; `{:#x}` puts `0x` before each.
impl fmt::LowerHex for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_lines(f, if f.alternate() { "0x" } else { "" }, hexadecimal)
    }
}

/// The shape, and the first digits of the first lanes.
impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} × {} bits: [", self.lanes(), self.bits())?;
        for (number, lane) in self.iter().take(SHOWN_LANES).enumerate() {
            let text = hexadecimal(lane);
            let (shown, rest) = text.split_at(text.len().min(SHOWN_DIGITS));
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}0x{shown}{}", if rest.is_empty() { "" } else { "…" })?;
        }
        f.write_str(if self.lanes() > SHOWN_LANES { ", …])" } else { "])" })
    }
}

/// The limbs of a row's number: digits, at least one, and nothing else.
fn limbs(lane: usize, text: &str, radix: u32) -> Result<Vec<u32>> {
    let valid = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    let number = valid.then(|| UBig::from_str_radix(text, radix).ok()).flatten();
    let number = number.ok_or(Error::NotANumber { lane, radix })?;
    Ok(number.to_le_bytes().chunks(4).map(super::word).collect())
}

fn number(limbs: &[u32]) -> UBig {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    UBig::from_le_bytes(&bytes)
}

fn decimal(limbs: &[u32]) -> String {
    number(limbs).to_string()
}

fn hexadecimal(limbs: &[u32]) -> String {
    format!("{:x}", number(limbs))
}
