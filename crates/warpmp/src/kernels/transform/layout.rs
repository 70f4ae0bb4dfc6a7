//! How a product is divided into parts, and where its points are in shared memory.
//!
//! ```text
//! points       the polynomials of the factors are taken modulo x^d − e(angle), d = parts·points
//! parts        x^d − e(angle) is the product of x^points − e(…) over the parts; one part after the other is transformed, or some
//!              parts of doubles beside each other, each by its own threads
//! passes       points = 16·16·last: two passes of radix 16 and one of radix `last`; 16 points a thread
//! shared       a region of points for the second factor, or one for each part that is transformed beside others, or none if points of the
//!              first factor stay in registers; then one for each part of the first factor, which the part's product overwrites; then what
//!              the carries need. Residues have the regions of the first factor for each prime
//! ```
//!
//! banks: a place is the number of the point with low bits changed by higher bits ([`Swizzle`]). Doubles have points of 16
//! bytes: bits 3 to 6 change bits 0 to 2. Eight neighbouring threads access points that are neighbours, or 2, 4 or 16 points
//! apart: they are in eight different places modulo 8. Residues have points of 4 bytes: bits 6 to 8 change bits 2 to 4, and bit
//! 5 changes bit 3. The threads of a warp access points that are neighbours, or runs of 16, 8 or 4 points that are 256, 128 or
//! 64 points apart: they are in 32 different places modulo 32. Eight threads whose points are 16 apart access four neighbouring
//! points each: they are in eight different places modulo 32 of which each is a multiple of 4.

use warpmp_kernel::build::{Builder, Emit, R32, R64};

use super::angle::Angle;
use super::ring::Ring;

/// Points of a thread, and the radix of the first passes.
pub(in crate::kernels) const RADIX: u32 = 16;

/// Points of the transforms that the last inverse pass joins.
pub(in crate::kernels) const JOINED: u32 = RADIX * RADIX;

/// Bytes of a complex point: two doubles.
pub(in crate::kernels) const POINT_BYTES: u32 = 16;

/// Bytes that an access to shared memory has at most. Places differ within this many bytes by whole pieces only.
const PIECE_BYTES: u32 = 16;

/// Bits of a digit of doubles, if they are not wider.
pub(in crate::kernels) const DIGIT_BITS: u32 = 16;

/// Digits of a factor of doubles, at least, if they are balanced although they are not wider.
const BALANCED_DIGITS: u32 = 8192;

/// The same of complex polynomials, at most, if they are not.
const MOST_UNSIGNED_DIGITS: u32 = 6144;

/// A factor has fewer imaginary digits than this: see [`has_real_upper_part`](Layout::has_real_upper_part).
pub(in crate::kernels) const fn most_imaginary(parts: u32, points: u32) -> u32 {
    match parts {
        1 => points / 2,
        6 => points + points / 2,
        _ => points,
    }
}

/// The numbers that are transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) enum Numbers {
    /// Complex doubles: a word of the result has two neighbouring coefficients.
    Doubles,
    /// Residues modulo this many primes: a word of the result has one coefficient.
    Residues(u32),
}

/// What the digits of a factor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) enum Coefficients {
    /// Coefficients of a polynomial. The imaginary parts of the coefficients of a product are the upper half of its digits.
    Real,
    /// Real parts of coefficients, then imaginary parts: `2d` digits, the coefficients of real polynomials modulo `x^2d + 1`. For doubles only.
    Complex {
        /// Is the result a product modulo `Bⁿ + 1` of `n` limbs and a limb above them? Else it is a product of at most `n` limbs.
        has_top: bool,
    },
}

/// The division of a product, and the shared memory of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernels) struct Layout {
    /// Limbs of the factors and of the result.
    pub(in crate::kernels) limbs: [u32; 3],
    /// Is it a square?
    pub(in crate::kernels) square: bool,
    /// Are the factors two's complements? They are equally long then.
    pub(in crate::kernels) is_signed: bool,
    /// Points of a part: 512, 1024, 2048 or 4096.
    pub(in crate::kernels) points: u32,
    /// Parts: 1, 2, 3, 5 or 6.
    pub(in crate::kernels) parts: u32,
    /// The angle of the root: polynomials are taken modulo `x^digits − e(angle)`.
    pub(in crate::kernels) angle: Angle,
    /// Bits of a digit: for doubles 16, or 17 or 18 if that makes the transform shorter; for residues 32.
    pub(in crate::kernels) digit_bits: u32,
    /// The numbers that are transformed.
    pub(in crate::kernels) numbers: Numbers,
    pub(in crate::kernels) coefficients: Coefficients,
}

impl Layout {
    /// Coefficients of a factor, and points of its transform.
    pub(in crate::kernels) const fn digits(self) -> u32 {
        self.parts * self.points
    }

    /// Limbs of the longer factor.
    pub(in crate::kernels) const fn longest(self) -> u32 {
        let [a, b, _] = self.limbs;
        if a > b { a } else { b }
    }

    /// Does a factor with these limbs have imaginary parts?
    pub(in crate::kernels) const fn is_complex(self, limbs: u32) -> bool {
        matches!(self.coefficients, Coefficients::Complex { .. }) && 2 * limbs > self.digits()
    }

    /// Are upper coefficients real? A single part may have imaginary digits in its lower half; six parts in the first one and in the lower half of the second one;
    /// other numbers of parts in the first one.
    pub(in crate::kernels) const fn has_real_upper_part(self) -> bool {
        2 * self.longest() < self.digits() + most_imaginary(self.parts, self.points)
    }

    /// How many products of digits a coefficient of complex polynomials lacks, at most: modulo `x^2d + 1` they come back with another sign.
    pub(in crate::kernels) const fn returning(self) -> u32 {
        match self.coefficients {
            Coefficients::Real => 0,
            Coefficients::Complex { .. } => (2 * (self.limbs[0] + self.limbs[1])).saturating_sub(2 * self.digits()),
        }
    }

    /// How many products of unsigned digits a coefficient lacks, at most. Two products at most have a digit with a sign, and each lacks half of one.
    pub(in crate::kernels) const fn lacking(self) -> u32 {
        self.returning() + self.is_signed as u32
    }

    /// Has a result with a sign a limb above it?
    pub(in crate::kernels) const fn has_top(self) -> bool {
        matches!(self.coefficients, Coefficients::Complex { has_top: true })
    }

    /// Are digits balanced? Then coefficients have signs.
    pub(in crate::kernels) const fn is_balanced(self) -> bool {
        match (self.numbers, self.coefficients) {
            (Numbers::Residues(_), _) => false,
            (Numbers::Doubles, Coefficients::Real) => self.has_wide_digits() || self.digits() >= BALANCED_DIGITS,
            (Numbers::Doubles, Coefficients::Complex { .. }) => 2 * self.longest() > MOST_UNSIGNED_DIGITS,
        }
    }

    /// Have digits more than half a word? Then they are balanced, and a number of the result is longer than a word.
    pub(in crate::kernels) const fn has_wide_digits(self) -> bool {
        matches!(self.numbers, Numbers::Doubles) && self.digit_bits > DIGIT_BITS
    }

    /// Bits from a number of the result to the next: two coefficients of doubles, or one of residues.
    pub(in crate::kernels) const fn number_bits(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => 2 * self.digit_bits,
            Numbers::Residues(_) => self.digit_bits,
        }
    }

    /// The greatest magnitude of a coefficient of wide digits: a coefficient has at most a product for each digit of the shorter factor, and two of them a last
    /// digit that may be twice as great as others.
    pub(in crate::kernels) const fn greatest_coefficient(self) -> u64 {
        let [a, b, _] = self.limbs;
        let shorter = (32 * if a < b { a } else { b }).div_ceil(self.digit_bits) + 1;
        let digits = if shorter < self.digits() { shorter } else { self.digits() };
        (digits as u64 + 3) << (2 * self.digit_bits - 2)
    }

    /// Enters the first number where coefficients with signs are made positive: `E·(2ᵇ − 1)` is added to each coefficient of digits of `b` bits.
    pub(in crate::kernels) const fn entering(self) -> u32 {
        if self.has_wide_digits() {
            self.greatest_coefficient().div_ceil((1 << self.digit_bits) - 1) as u32
        } else if self.is_balanced() {
            1 << 28
        } else {
            self.lacking() << 16
        }
    }

    /// Has a number of the result room for two coefficients of wide digits that are made positive, and for what is added to it?
    pub(in crate::kernels) const fn has_room(self) -> bool {
        let greatest = self.greatest_coefficient() + self.entering() as u64 * ((1 << self.digit_bits) - 1);
        (greatest as u128) * ((1 << self.digit_bits) + 1) + (1 << self.number_bits()) <= 1 << 64
    }

    /// Threads that transform a part.
    pub(in crate::kernels) const fn threads(self) -> u32 {
        self.points / RADIX
    }

    /// Parts that are transformed at a time, each by its own threads. Short parts leave a multiprocessor few warps, and so do blocks with all of its
    /// shared memory.
    pub(in crate::kernels) const fn parts_at_once(self) -> u32 {
        match self.numbers {
            Numbers::Doubles if self.odd() > 1 && self.points == 2 * JOINED => self.parts,
            Numbers::Doubles if self.digits() > 2 * RADIX * JOINED => 2,
            Numbers::Doubles | Numbers::Residues(_) => 1,
        }
    }

    /// Do the points of the first factor stay in registers after their last forward pass? Then those of the second one have their place, and
    /// a block takes less shared memory.
    pub(in crate::kernels) const fn keeps_points(self) -> bool {
        matches!(self.numbers, Numbers::Doubles) && !self.square && self.odd() > 1 && self.points > 2 * JOINED
    }

    /// Has a factor so many digits that a thread cannot have all rows of two columns of the result? Then threads exchange coefficients.
    pub(in crate::kernels) const fn is_long(self) -> bool {
        self.digits() > RADIX * JOINED
    }

    /// Threads of the block of a product.
    pub(in crate::kernels) const fn block_threads(self) -> u32 {
        self.parts_at_once() * self.threads()
    }

    /// Threads that finish the product: as many of them as divide a row.
    pub(in crate::kernels) const fn finishers(self) -> u32 {
        self.threads() << self.parts_at_once().ilog2()
    }

    /// The radix of the last forward pass.
    pub(in crate::kernels) const fn last(self) -> u32 {
        self.points / JOINED
    }

    /// The radix of the last inverse pass, which joins the transforms of all parts.
    pub(in crate::kernels) const fn joins(self) -> u32 {
        self.digits() / JOINED
    }

    /// The odd factor of the number of parts.
    pub(in crate::kernels) const fn odd(self) -> u32 {
        self.parts >> self.parts.trailing_zeros()
    }

    /// The power of two in the radix of the last inverse pass.
    pub(in crate::kernels) const fn joins_by_two(self) -> u32 {
        self.joins() / self.odd()
    }

    /// Where points are. For doubles, with 7 no access waits for a bank; with 5 some do where a part has 512 points.
    pub(in crate::kernels) const fn swizzle(self) -> Swizzle {
        match self.numbers {
            Numbers::Doubles => {
                let times = if self.odd() > 1 || self.angle == 0 { 7 } else { 5 };
                Swizzle([Some(Change { start: 3, bits: 3, times: 1 }), Some(Change { start: 6, bits: 1, times })])
            }
            Numbers::Residues(_) => {
                Swizzle([Some(Change { start: 6, bits: 3, times: 4 }), Some(Change { start: 5, bits: 1, times: 8 })])
            }
        }
    }

    /// Numbers of a row of the result.
    pub(in crate::kernels) const fn row_numbers(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => JOINED / 2,
            Numbers::Residues(_) => JOINED,
        }
    }

    /// Words of this many numbers of the result. The number is a multiple of 16.
    pub(in crate::kernels) const fn words(self, numbers: u32) -> u32 {
        numbers * self.number_bits() / 32
    }

    /// Segments of a row: a number a lane.
    pub(in crate::kernels) const fn segments(self) -> u32 {
        self.row_numbers() / 32
    }

    /// Neighbouring columns whose roots of the last inverse pass are apart in the table: a thread has as many.
    pub(in crate::kernels) const fn parities(self) -> u32 {
        JOINED / self.row_numbers()
    }

    /// Factors that are transformed.
    pub(in crate::kernels) const fn factors(self) -> u32 {
        if self.square { 1 } else { 2 }
    }

    /// Numbers of a row that a thread has.
    pub(in crate::kernels) const fn columns(self) -> u32 {
        self.row_numbers() / self.finishers()
    }

    /// A block with more threads than a row has numbers: as many threads share a column of numbers.
    pub(in crate::kernels) const fn sharing(self) -> u32 {
        let sharing = self.finishers() / self.row_numbers();
        if sharing > 1 { sharing } else { 1 }
    }

    /// Rows of the result. Threads that share columns have all rows that there can be.
    pub(in crate::kernels) const fn rows(self) -> u32 {
        if self.is_long() { 2 * self.joins() } else { self.limbs[2].div_ceil(self.words(self.row_numbers())) }
    }

    /// Bytes of a region of points.
    pub(in crate::kernels) const fn region_bytes(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => POINT_BYTES * self.points,
            Numbers::Residues(_) => 4 * self.points,
        }
    }

    /// The primes of residues, or 1.
    const fn moduli(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => 1,
            Numbers::Residues(primes) => primes,
        }
    }

    /// Where the parts of the first factor begin.
    pub(in crate::kernels) const fn first_factor(self) -> u32 {
        if self.keeps_points() { 0 } else { (self.factors() - 1) * self.parts_at_once() * self.region_bytes() }
    }

    /// Where the words begin that go to the next segment: zero before the first row, then a word a segment.
    pub(in crate::kernels) const fn passed(self) -> u32 {
        self.first_factor() + self.moduli() * self.parts * self.region_bytes()
    }

    /// Where the carries of the segments begin: two masks for a segment's numbers in 32 rows.
    pub(in crate::kernels) const fn masks(self) -> u32 {
        (self.passed() + 4 * (self.segments() * self.rows() + 1)).next_multiple_of(16)
    }

    /// Bytes of shared memory a block.
    pub(in crate::kernels) const fn bytes(self) -> u32 {
        self.masks() + 8 * self.segments() * if self.is_long() { 2 * self.sharing() } else { 1 }
    }
}

/// Some bits of a point's number, from `start` on. They change lower bits, as a number `times` theirs.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernels) struct Change {
    pub(in crate::kernels) start: u32,
    /// How many.
    pub(in crate::kernels) bits: u32,
    pub(in crate::kernels) times: u32,
}

/// Where points are among their region's: each place is the point's number with bits changed by higher bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernels) struct Swizzle(pub(in crate::kernels) [Option<Change>; 2]);

impl Swizzle {
    /// Where a point is, without its bytes.
    fn place(self, point: u32) -> u32 {
        let changed = |place: u32, it: Change| place ^ ((point >> it.start & ((1 << it.bits) - 1)) * it.times);
        self.0.into_iter().flatten().fold(point, changed)
    }
}

/// The points of a thread in a region: those whose numbers are the thread's plus constants without common bits.
pub(in crate::kernels) struct Points<R> {
    ring: R,
    swizzle: Swizzle,
    /// Bytes of the place of the thread's number.
    offset: R32,
    base: R32,
    /// Addresses that differ in the lowest pieces of the place.
    addresses: [Option<R32>; 8],
}

impl<R: Ring> Points<R> {
    /// The points of the region at `base` for a thread's `number`.
    pub(in crate::kernels) fn new(b: &mut Builder, ring: R, swizzle: Swizzle, number: R32, base: R32) -> Self {
        let changes: Vec<R32> = (swizzle.0.into_iter().flatten())
            .map(|Change { start, bits, times }| {
                let field = b.bfe(number, start, bits);
                if times == 1 { field } else { b.mul_lo(field, times) }
            })
            .collect();
        let place = changes.into_iter().fold(number, |place, bits| b.xor(place, bits));
        let offset = b.shl(place, R::POINT_BYTES.ilog2());
        Self { ring, swizzle, offset, base, addresses: [None; 8] }
    }

    /// Address and offset of the point whose number is `constant` more.
    fn at(&mut self, b: &mut Builder, constant: u32) -> (R32, u32) {
        let bytes = self.swizzle.place(constant) * R::POINT_BYTES;
        let piece = bytes / PIECE_BYTES % 8;
        let (offset, base) = (self.offset, self.base);
        let address = *self.addresses[piece as usize].get_or_insert_with(|| {
            let offset = if piece == 0 { offset } else { b.xor(offset, PIECE_BYTES * piece) };
            b.add(offset, base)
        });
        (address, bytes - PIECE_BYTES * piece)
    }

    /// Loads the point whose number is `constant` more.
    pub(in crate::kernels) fn load(&mut self, b: &mut Builder, constant: u32) -> R::Point {
        let (address, offset) = self.at(b, constant);
        self.ring.load(b, address, offset, 1)[0]
    }

    /// Loads `count` neighbouring points, a power of two.
    pub(in crate::kernels) fn load_run(&mut self, b: &mut Builder, constant: u32, count: u32) -> Vec<R::Point> {
        let together = count.min(PIECE_BYTES / R::POINT_BYTES);
        let runs = (constant..constant + count).step_by(together as usize);
        let load = |constant| {
            let (address, offset) = self.at(b, constant);
            self.ring.load(b, address, offset, together)
        };
        runs.flat_map(load).collect()
    }

    /// Starts to copy the point whose number is `constant` more from global memory. A point has the most bytes of an access.
    pub(in crate::kernels) fn copy(&mut self, b: &mut Builder, constant: u32, (from, at): (R64, u32)) {
        let (address, offset) = self.at(b, constant);
        b.copy_async(R::POINT_BYTES as u8, address, offset, from, at);
    }

    /// Stores the point whose number is `constant` more.
    pub(in crate::kernels) fn store(&mut self, b: &mut Builder, constant: u32, value: R::Point) {
        let (address, offset) = self.at(b, constant);
        self.ring.store(b, address, offset, &[value]);
    }

    /// Stores neighbouring points, whose number is a power of two.
    pub(in crate::kernels) fn store_run(&mut self, b: &mut Builder, constant: u32, values: &[R::Point]) {
        let together = PIECE_BYTES / R::POINT_BYTES;
        for (run, constant) in values.chunks(together as usize).zip((constant..).step_by(together as usize)) {
            let (address, offset) = self.at(b, constant);
            self.ring.store(b, address, offset, run);
        }
    }
}
