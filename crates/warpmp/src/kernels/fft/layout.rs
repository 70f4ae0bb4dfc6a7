//! How the digits of a product are divided, and where its points are in shared memory.
//!
//! ```text
//! digits       d = parts·points digits of 16 bits: the coefficients of a polynomial modulo x^d − i
//! parts        x^d − i is the product of x^points − e(angle) over the parts; one part after the other is transformed
//! balanced     with 4096 points a part: digit j is u_j − 2¹⁶·[u_j ≥ 2¹⁵] + [u_{j−1} ≥ 2¹⁵] for the unsigned digits u, and the
//!              last one stays unsigned. So the bound holds for 8192 digits, and no chain of carries is needed
//! passes       points = 16·16·last: two passes of radix 16 and one of radix `last`; 16 points a thread
//! shared       a region of points for the second factor, then one for each part of the first factor, which the
//!              part's product overwrites; then what the carries need
//! ```
//!
//! banks: point `i` is in place `i xor x`, `x` from bits 3 to 6 of `i`. Eight neighbouring threads access points that are
//! neighbours, or 2, 4 or 16 points apart: they are in eight different places modulo 8.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::ir::{Space, Vector};

use super::angle::{Angle, QUARTER};
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

/// Parts and points of a part. Of two divisions with equal digits the first is the usual one.
const DIVISIONS: [[u32; 2]; 9] =
    [[1, 512], [1, 1024], [3, 512], [1, 2048], [3, 1024], [2, 2048], [2, 512], [2, 1024], [2, BALANCED_POINTS]];

/// Points of a part whose digits are balanced.
const BALANCED_POINTS: u32 = 4096;

/// The division of a product, and the shared memory of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Limbs of the factors and of the result.
    pub(super) limbs: [u32; 3],
    /// Is it a square?
    pub(super) square: bool,
    /// Points of a part: 512, 1024, 2048 or 4096.
    pub(super) points: u32,
    /// Parts: 1, 2 or 3.
    pub(super) parts: u32,
    /// The angle of the root: polynomials are taken modulo `x^digits − e(angle)`.
    pub(super) angle: Angle,
}

impl Layout {
    /// The shortest division for these operands, or the shortest one with `2^levels` parts if there is one.
    pub(super) fn of(shape: OperationShape, levels: Option<u32>) -> Self {
        let square = shape.operands().len() == 1;
        let limbs = match shape.limbs() {
            [a, c, 0] if square => [a, a, c],
            limbs => limbs,
        };
        let digits = limbs[0].max(limbs[1]) * 32 / DIGIT_BITS;
        let divisions =
            || DIVISIONS.map(|[parts, points]| Self { limbs, square, points, parts, angle: QUARTER }).into_iter();
        let shortest = |parts: Option<u32>| {
            let possible = |it: &Self| it.digits() >= digits && parts.is_none_or(|parts| parts == it.parts);
            divisions().filter(|it| possible(it) && it.is_exact()).min_by_key(|it| it.digits())
        };
        let asked = levels.and_then(|levels| shortest(Some(1 << levels)));
        asked.or_else(|| shortest(None)).unwrap_or(Self { limbs, square, points: 2048, parts: 2, angle: QUARTER })
    }

    /// Digits of a factor, and complex points of its transform.
    pub(super) const fn digits(self) -> u32 {
        self.parts * self.points
    }

    /// Threads of the block of a product.
    pub(super) const fn threads(self) -> u32 {
        self.points / RADIX
    }

    /// Are digits balanced? Then coefficients have signs, and a thread has a column of coefficients, not two.
    pub(super) const fn is_balanced(self) -> bool {
        self.points == BALANCED_POINTS
    }

    /// A thread with balanced digits has the words of some rows only: this many threads share a column of words.
    pub(super) const fn sharing(self) -> u32 {
        if self.is_balanced() { self.threads() / ROW_WORDS } else { 1 }
    }

    /// The radix of the last forward pass.
    pub(super) const fn last(self) -> u32 {
        self.points / JOINED
    }

    /// The radix of the last inverse pass, which joins the transforms of all parts.
    pub(super) const fn joins(self) -> u32 {
        self.digits() / JOINED
    }

    /// The odd factor of the number of parts.
    pub(super) const fn odd(self) -> u32 {
        self.parts >> self.parts.trailing_zeros()
    }

    /// The power of two in the radix of the last inverse pass.
    pub(super) const fn joins_by_two(self) -> u32 {
        self.joins() / self.odd()
    }

    /// Where points are. With 7 no access waits for a bank; with 5 some do where a part has 512 points.
    pub(super) const fn swizzle(self) -> Swizzle {
        Swizzle { near: true, bit: 6, value: if self.odd() > 1 || self.angle == 0 { 7 } else { 5 } }
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
        if self.is_balanced() { 2 * self.joins() } else { self.limbs[2].div_ceil(ROW_WORDS) }
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

    /// Where the carries of the segments begin: two masks for a segment's words in 32 rows.
    pub(super) const fn masks(self) -> u32 {
        (self.passed() + 4 * (SEGMENTS * self.rows() + 1)).next_multiple_of(16)
    }

    /// Bytes of shared memory a block.
    pub(super) const fn bytes(self) -> u32 {
        self.masks() + 8 * SEGMENTS * self.sharing()
    }
}

/// Where points are among their region's: each place is the point's number with bits changed by higher bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swizzle {
    /// Do bits 3 to 5 change the three lowest bits?
    pub(super) near: bool,
    /// The number of a bit that changes the bits of `value`.
    pub(super) bit: u32,
    /// The bits that it changes; 0: there is no such bit.
    pub(super) value: u32,
}

impl Swizzle {
    /// Where a point is, without its bytes.
    const fn place(self, point: u32) -> u32 {
        let near = if self.near { point >> 3 & 7 } else { 0 };
        point ^ near ^ ((point >> self.bit & 1) * self.value)
    }
}

/// The points of a thread in a region: those whose numbers are the thread's plus constants without common bits.
pub(super) struct Points {
    swizzle: Swizzle,
    /// Bytes of the place of the thread's number.
    offset: R32,
    base: R32,
    /// Addresses that differ in the lowest bits of the place.
    addresses: [Option<R32>; 8],
}

impl Points {
    /// The points of the region at `base` for a thread's `number`.
    pub(super) fn new(b: &mut Builder, swizzle: Swizzle, number: R32, base: R32) -> Self {
        let low = swizzle.near.then(|| b.bfe(number, 3, 3));
        let high = (swizzle.value != 0).then(|| b.bfe(number, swizzle.bit, 1)).map(|bit| b.mul_lo(bit, swizzle.value));
        let place = low.into_iter().chain(high).fold(number, |place, bits| b.xor(place, bits));
        let offset = b.shl(place, POINT_BYTES.ilog2());
        Self { swizzle, offset, base, addresses: [None; 8] }
    }

    /// Address and offset of the point whose number is `constant` more.
    fn at(&mut self, b: &mut Builder, constant: u32) -> (R32, u32) {
        let place = self.swizzle.place(constant);
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
