//! Operations on long operands, as sequences of kernels that walk rows of any length.
//!
//! ```text
//! source.rs     a row as an operand: shifted, complemented, left out
//! line.rs       sums and bitwise functions of rows
//! block.rs      a block of a line: carries from lane to lane and from block to block
//! sequence.rs   lines and products one after the other, scratch memory between them
//! product.rs    products by `tensor` or `fft` in a sequence
//! modulo.rs     products modulo `Bᴺ ± 1` in a sequence, and whole ones from them
//! linear.rs     operations in linear time
//! parts.rs      parts of products: a product by `fft`, then lines
//! wraparound.rs  `fft-wraparound`: products somewhat longer than a transform
//! unwrap.rs     a product from its lower limbs and from the product modulo `Bⁿ + 1`
//! doubling.rs   inverses by Newton's iteration: from short numbers to long ones
//! division.rs   quotients and remainders by Newton's iteration
//! estimate.rs   how often a divisor fits into a remainder
//! length.rs     the length of a divisor or a radicand
//! root.rs       square roots by divisions
//! montgomery.rs  Montgomery's arithmetic by products
//! residues.rs   sums and differences modulo long numbers
//! verdict.rs    the faults of operands of modular arithmetic
//! ```

mod block;
mod division;
mod doubling;
mod estimate;
mod length;
mod line;
mod linear;
mod low_inverse;
mod modulo;
mod montgomery;
mod parts;
mod product;
mod residues;
mod root;
mod sequence;
mod source;
mod unwrap;
mod verdict;
mod wraparound;

use std::ops::RangeInclusive;

use super::fft::MOST_LIMBS;

/// The limbs of the numbers for which products by transforms take the place of schoolbook rows.
const LIMBS: RangeInclusive<u32> = 513..=MOST_LIMBS;

pub(super) use division::{ALGORITHM as DIVISION, exact_quotient, quotient_of_short};
pub(super) use line::Line;
pub(super) use linear::ALGORITHM as LINEAR;
pub(super) use low_inverse::LowInverse;
pub(super) use montgomery::ALGORITHM as MONTGOMERY;
pub(super) use parts::ALGORITHM as PARTS;
pub(super) use residues::ALGORITHM as RESIDUES;
pub(super) use root::ALGORITHM as ROOTS;
pub(super) use sequence::{Shared, Steps};
pub(super) use source::{Number, Source};
pub(super) use wraparound::{ALGORITHM as WRAPAROUND, SQUARES as WRAPAROUND_SQUARES};
