//! How the digits of a product are divided, and where its points are in shared memory.
//!
//! ```text
//! digits       d = parts·points digits of 16 bits: the coefficients of a polynomial modulo x^d − i
//! parts        x^d − i is the product of x^points − e(angle) over the parts; one part after the other is transformed
//! passes       points = 16·16·last: two passes of radix 16 and one of radix `last`; 16 points a thread
//! shared       a region of points for the second factor, then one for each part of the first factor, which the
//!              part's product overwrites; then what the carries need
//! ```
//!
//! banks: point `i` is in place `i xor x`, `x` from bits 3 to 6 of `i`. Eight neighbouring threads access points that are
//! neighbours, or 2, 4 or 16 points apart: they are in eight different places modulo 8.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Space, Vector};

use super::codelet::Complex;
use crate::kernels::OperationShape;

/// Bits of a digit.
pub(super) const DIGIT_BITS: u32 = 16;

/// Points of a thread, and the radix of the first passes.
pub(super) const RADIX: u32 = 16;

/// Points of the transforms that the last inverse pass joins.
pub(super) const JOINED: u32 = RADIX * RADIX;

/// Bytes of a point: two doubles.
const POINT_BYTES: u32 = 16;

/// Words of a row of the result: a pair of coefficients of each two neighbouring transforms' columns.
pub(super) const ROW_WORDS: u32 = JOINED / 2;

/// Segments of a row: a word a lane.
pub(super) const SEGMENTS: u32 = ROW_WORDS / 32;

/// The division of a product, and the shared memory of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of the factors and of the result.
    pub(super) limbs: [u32; 3],
    /// Is it a square?
    pub(super) square: bool,
    /// Points of a part: 512, 1024 or 2048.
    pub(super) points: u32,
    /// Parts: 1 or 2.
    pub(super) parts: u32,
}

impl Layout {
    /// The usual division for these operands, or the one with `2^levels` parts if there is one.
    pub(super) fn of(shape: OperationShape, levels: Option<u32>) -> Self {
        let square = shape.operands().len() == 1;
        let limbs = match shape.limbs() {
            [a, c, 0] if square => [a, a, c],
            limbs => limbs,
        };
        let digits = (limbs[0].max(limbs[1]) * 32 / DIGIT_BITS).next_power_of_two().max(512);
        let usual = u32::from(digits > 2048);
        let with = |levels: u32| Self { limbs, square, points: digits >> levels, parts: 1 << levels };
        let possible = |layout: &Self| (512..=2048).contains(&layout.points) && layout.is_exact();
        levels.filter(|&levels| levels <= 1).map(with).filter(possible).unwrap_or_else(|| with(usual))
    }

    /// Digits of a factor, and complex points of its transform.
    pub(super) const fn digits(self) -> u32 {
        self.parts * self.points
    }

    /// Threads of the block of a product.
    pub(super) const fn threads(self) -> u32 {
        self.points / RADIX
    }

    /// The radix of the last forward pass.
    pub(super) const fn last(self) -> u32 {
        self.points / JOINED
    }

    /// The radix of the last inverse pass, which joins the transforms of all parts.
    pub(super) const fn joins(self) -> u32 {
        self.digits() / JOINED
    }

    /// Factors that are transformed.
    pub(super) const fn factors(self) -> u32 {
        if self.square { 1 } else { 2 }
    }

    /// Words of a row that a thread has.
    pub(super) const fn columns(self) -> u32 {
        ROW_WORDS / self.threads()
    }

    /// Rows of the result: the low halves of the coefficients' pairs, then the high ones.
    pub(super) const fn rows(self) -> u32 {
        self.limbs[2].div_ceil(ROW_WORDS)
    }

    /// Bytes of a region of points.
    pub(super) const fn region_bytes(self) -> u32 {
        POINT_BYTES * self.points
    }

    /// Where the parts of the first factor begin.
    pub(super) const fn first_factor(self) -> u32 {
        (self.factors() - 1) * self.region_bytes()
    }

    /// Where the words begin that go to the next segment: zero before the first row, then a word a segment.
    pub(super) const fn passed(self) -> u32 {
        self.first_factor() + self.parts * self.region_bytes()
    }

    /// Where the carries of the segments begin: two masks a segment.
    pub(super) const fn masks(self) -> u32 {
        (self.passed() + 4 * (SEGMENTS * self.rows() + 1)).next_multiple_of(16)
    }

    /// Bytes of shared memory a block.
    pub(super) const fn bytes(self) -> u32 {
        self.masks() + 8 * SEGMENTS
    }
}

/// Where a point is among its region's, without its bytes.
const fn place(point: u32) -> u32 {
    point ^ (point >> 3 & 7) ^ ((point >> 6 & 1) * 5)
}

/// The points of a thread in a region: those whose numbers are the thread's plus constants without common bits.
pub(super) struct Points {
    /// Bytes of the place of the thread's number.
    offset: R32,
    base: R32,
    /// Addresses that differ in the lowest bits of the place.
    addresses: [Option<R32>; 8],
}

impl Points {
    /// The points of the region at `base` for a thread's `number`.
    pub(super) fn new(b: &mut Builder, number: R32, base: R32) -> Self {
        let low = b.bfe(number, 3, 3);
        let high = b.bfe(number, 6, 1);
        let high = b.mul_lo(high, 5);
        let place = b.xor(number, low);
        let place = b.xor(place, high);
        let offset = b.shl(place, POINT_BYTES.ilog2());
        Self { offset, base, addresses: [None; 8] }
    }

    /// Address and offset of the point whose number is `constant` more.
    fn at(&mut self, b: &mut Builder, constant: u32) -> (R32, u32) {
        let place = place(constant);
        let low = place % 8;
        let (offset, base) = (self.offset, self.base);
        let address = *self.addresses[low as usize].get_or_insert_with(|| {
            let offset = if low == 0 { offset } else { b.xor(offset, POINT_BYTES * low) };
            b.add(offset, base)
        });
        (address, POINT_BYTES * (place - low))
    }

    pub(super) fn load(&mut self, b: &mut Builder, constant: u32) -> Complex {
        let (address, offset) = self.at(b, constant);
        let pair = b.load_f64(Space::Shared, Vector::V2, address, offset);
        Complex { re: pair[0], im: pair[1] }
    }

    pub(super) fn store(&mut self, b: &mut Builder, constant: u32, value: Complex) {
        let (address, offset) = self.at(b, constant);
        b.store_f64(Space::Shared, &[value.re, value.im], address, offset);
    }
}
