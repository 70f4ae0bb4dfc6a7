//! How the digits of a long product are divided, and the scratch memory of a lane.
//!
//! ```text
//! digits    d = parts·height·width digits: the coefficients of a polynomial modulo x^d − i
//! balanced  digit j is u_j − 2ᵇ·[u_j ≥ 2ᵇ⁻¹] + [u_{j−1} ≥ 2ᵇ⁻¹] for the unsigned digits u: at most 2ᵇ⁻¹ in magnitude. The
//!           last digit stays unsigned. Only the neighbour's highest bit counts, so there is no chain of carries.
//! columns   coefficients `width` apart; they go down to the remainders modulo x^width − w, one for each root w. Short columns have
//!           7 to 10 coefficients: the remainders come from the digits at once, and a thread has a column of the product. Low columns
//!           have 16 or 32 in a part: a block has so many columns of the product that it makes words of them. All others are high
//! rows      the remainders: polynomials of `width` coefficients
//! complex   a factor with more than d digits: those from digit d on are the imaginary parts of the coefficients, because x^d is i. So the
//!           product is one modulo 2^2db + 1 for digits of b bits. Blocks that have all parts read such factors
//! pairs     two neighbouring coefficients `c` and `c'` are one number `c + 2ᵇ·c'` of 64 bits: half of the bytes of their points.
//!           Pairs of short columns stay in registers, those of low columns in shared memory
//! segments  neighbouring coefficients whose words know the carries from one to the other. Carries from segment to segment come last
//! scratch   the spectrum of `a`, which the product overwrites; the spectrum of `b`, which the pairs of high columns overwrite (of a
//!           square, the pairs alone; of short columns, no spectrum of a factor); flags and carries of the segments
//! ```

use crate::kernels::OperationShape;
use crate::kernels::transform::layout::{Change, POINT_BYTES, Swizzle};

/// Points of a thread.
pub(super) const POINTS: u32 = 16;

/// Coefficients of a chunk: a thread makes whole words from them.
pub(super) const CHUNK: u32 = 32;

/// The magnitude of a pair is at most two to this power.
const MOST_PAIR_BITS: u32 = 62;

/// Coefficients of a segment of high columns: the chunks of a warp.
pub(super) const SEGMENT: u32 = 32 * CHUNK;

/// A coefficient is at most `(d + 3)·4ᵇ⁻¹` in magnitude if the shorter factor has `d` digits that are not zero. All coefficients then make a limb below
/// 2²⁹ above the product's if `d + 3` is less than this number over `2ᵇ`.
const MOST_DIGITS_BELOW_TOP: u32 = 1 << 31;

/// Points of a low column in a part, at most: a block has whole words of its coefficients.
const MOST_LOW: u32 = 32;

/// Points of a block of low columns, at most: a multiprocessor has two of these blocks or more.
const MOST_LOW_POINTS: u32 = 5120;

/// Threads of a block of short columns: each has a column.
pub(super) const COLUMNS: u32 = 256;

/// Points of a block of columns, at least.
const LEAST_POINTS: u32 = 1024;

/// Columns that a block transforms down together, at least: a digit has few bits, so neighbours share the words that are read.
const LEAST_COLUMNS_DOWN: u32 = 8;

/// Columns that a block transforms down if it has all parts of them: as many as a warp has threads.
const COLUMNS_OF_PARTS: u32 = 32;

/// Columns that a block transforms up together, at least: their points are half a line of memory. A block has all parts of them.
const LEAST_COLUMNS_UP: u32 = 4;

/// The division of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Split {
    /// Limbs of the factors and of the result.
    pub(super) limbs: [u32; 3],
    /// Is it a square?
    pub(super) square: bool,
    /// Parts of a column: 1, 3, 5, 7 or 9.
    pub(super) parts: u32,
    /// Points of a column in a part: a power of two.
    pub(super) height: u32,
    /// Points of a row: 512, 1024 or 2048.
    pub(super) width: u32,
    /// Bits of a digit.
    pub(super) digit_bits: u32,
    /// Has the result a limb with a sign above those of all digits? Then it is a product modulo `Bᴺ + 1` of `N` limbs.
    pub(super) has_top: bool,
}

/// Parts, height and width of short columns.
const SHORT: [(u32, [u32; 2]); 4] = [(7, [1, 2048]), (1, [8, 2048]), (9, [1, 2048]), (5, [2, 2048])];

/// The greatest number of parts, heights and widths: low columns, because they take few passes, and blocks have many of them side by
/// side. A column of 128 points in five parts would not fit in registers.
const SIZES: [(u32, [u32; 2]); 8] = [
    (9, [16, 512]),
    (9, [16, 1024]),
    (9, [16, 2048]),
    (5, [32, 2048]),
    (5, [256, 512]),
    (5, [256, 1024]),
    (5, [256, 2048]),
    (1, [512, 2048]),
];

impl Split {
    /// The shortest division whose products are exact, if there is one.
    pub(super) fn of(shape: OperationShape) -> Option<Self> {
        let has_digits = |it: &Self| {
            let [longer, shorter, _] = it.limbs;
            let is_real = longer.max(shorter) <= it.digit_limbs();
            is_real || it.parts_together() && longer + shorter <= it.product_limbs()
        };
        Self::exact(shape, false, has_digits)
    }

    /// The shortest division for a product modulo `Bᴺ + 1` of `N ≥ least` limbs, where a factor has less than `N`. `limbs`: those of the factors.
    pub(super) fn modulo(shape: OperationShape, least: u32) -> Option<Self> {
        let has_digits = |it: &Self| {
            let [a, b, _] = it.limbs;
            let fits = it.product_limbs() >= least && a.max(b) < it.product_limbs();
            it.parts_together() && fits && it.least_digits() + 3 < MOST_DIGITS_BELOW_TOP >> it.digit_bits
        };
        let split = Self::exact(shape, true, has_digits)?;
        let [a, b, _] = split.limbs;
        Some(Self { limbs: [a, b, split.product_limbs() + 1], ..split })
    }

    /// The shortest division for which this holds and whose products are exact. High columns count a sixth more: they move so many more bytes.
    fn exact(shape: OperationShape, has_top: bool, has_digits: impl Fn(&Self) -> bool) -> Option<Self> {
        let square = shape.operands().len() == 1;
        let limbs = match shape.limbs() {
            [a, c, 0] if square => [a, a, c],
            limbs => limbs,
        };
        let parts_up_to = |most| [1, 3, 5, 9].into_iter().filter(move |&parts| parts <= most);
        let long = SIZES.into_iter().flat_map(|(most, size)| parts_up_to(most).map(move |parts| (parts, size)));
        let splits = SHORT.into_iter().chain(long).filter_map(|(parts, [height, width])| {
            let with = |digit_bits| Self { limbs, square, parts, height, width, digit_bits, has_top };
            (11..=16).rev().map(with).find(|it| it.is_exact() && it.has_pairs())
        });
        let cost = |it: &Self| it.digits() * if it.is_high() { 7 } else { 6 };
        splits.filter(has_digits).min_by_key(cost)
    }

    /// Limbs that the real digits of a factor have.
    const fn digit_limbs(self) -> u32 {
        (self.digits() as u64 * self.digit_bits as u64 / 32) as u32
    }

    /// Limbs that the digits of a product have.
    pub(super) const fn product_limbs(self) -> u32 {
        2 * self.digit_limbs()
    }

    /// Has a factor of these limbs complex coefficients?
    pub(super) const fn is_complex(self, limbs: u32) -> bool {
        limbs > self.digit_limbs()
    }

    /// Rows of digits of a factor of these limbs: those with the imaginary parts come after those with the real parts.
    pub(super) const fn digit_rows(self, limbs: u32) -> u32 {
        if self.is_complex(limbs) { 2 * self.rows() } else { self.rows() }
    }

    /// Digits of the factor with more of them.
    pub(super) const fn most_digits(self) -> u32 {
        let [a, b, _] = self.limbs;
        self.digit_rows(if a > b { a } else { b }) * self.width
    }

    /// Digits of the factor with fewer of them that are not zero, at most.
    fn least_digits(self) -> u32 {
        let [a, b, _] = self.limbs;
        (32 * a.min(b)).div_ceil(self.digit_bits) + 1
    }

    /// Do pairs of coefficients fit?
    fn has_pairs(self) -> bool {
        if self.is_short() { self.has_positive_pairs() } else { self.pair_bits() <= MOST_PAIR_BITS }
    }

    /// Digits of a factor, and complex points of its transform.
    pub(super) const fn digits(self) -> u32 {
        self.parts * self.height * self.width
    }

    /// Rows of a spectrum.
    pub(super) const fn rows(self) -> u32 {
        self.parts * self.height
    }

    /// Are columns short? Then the rows come from the digits at once, and a thread has a whole column of the product.
    pub(super) const fn is_short(self) -> bool {
        self.height < POINTS
    }

    /// Are columns high? Then their pairs go through scratch memory.
    pub(super) const fn is_high(self) -> bool {
        self.height > MOST_LOW
    }

    /// Has a block that transforms columns down all parts of them? Else it has one part, and the points of high columns leave no room for more.
    pub(super) const fn parts_together(self) -> bool {
        self.parts > 1 && !self.is_high() && !self.is_short()
    }

    /// Columns of a block that transforms them down.
    pub(super) const fn down_columns(self) -> u32 {
        if self.parts_together() { COLUMNS_OF_PARTS } else { self.columns(LEAST_COLUMNS_DOWN) }
    }

    /// Columns of a block that transforms them up: of columns that are not high, whole words of digits.
    pub(super) const fn up_columns(self) -> u32 {
        if self.is_short() || self.is_high() {
            return self.columns(LEAST_COLUMNS_UP);
        }
        if 2 * CHUNK * self.rows() <= MOST_LOW_POINTS { 2 * CHUNK } else { CHUNK }
    }

    /// Blocks that transform all columns of a part down.
    pub(super) const fn down_groups(self) -> u32 {
        self.width / self.down_columns()
    }

    /// Blocks that transform all columns up.
    pub(super) const fn up_groups(self) -> u32 {
        self.width / self.up_columns()
    }

    const fn columns(self, least: u32) -> u32 {
        if self.is_short() {
            return COLUMNS;
        }
        let columns = LEAST_POINTS / self.height;
        if columns > least { columns } else { least }
    }

    /// The radices of the passes down a column.
    pub(super) fn radices(self) -> Vec<u32> {
        let (mut rest, mut radices) = (self.height, Vec::new());
        while rest > 1 {
            radices.push(rest.min(POINTS));
            rest /= rest.min(POINTS);
        }
        radices
    }

    /// The points of a column in a part that inverse passes of radix 16 join.
    pub(super) const fn joined(self) -> u32 {
        if self.height >= 256 { 256 } else { 16 }
    }

    /// The power of two in the radix of the last inverse pass of the columns.
    pub(super) const fn last(self) -> u32 {
        self.height / self.joined()
    }

    /// Where points of so many columns are when each thread has points of `nodes` with this radix.
    pub(super) const fn swizzle(columns: u32, radix: u32) -> Swizzle {
        let change = Change { start: (4 * radix).ilog2(), bits: 1, times: 4 };
        Swizzle([if columns == 4 { Some(change) } else { None }, None])
    }

    /// Spectra of factors in scratch memory.
    const fn spectra(self) -> u32 {
        match (self.is_short(), self.square) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }

    /// Bytes of a spectrum.
    pub(super) const fn spectrum_bytes(self) -> u32 {
        POINT_BYTES * self.digits()
    }

    /// Where the pairs of coefficients begin in the scratch memory of a lane, in bytes.
    pub(super) const fn pairs(self) -> u32 {
        self.spectrum_bytes()
    }

    /// Bytes of the pairs: a point has two coefficients.
    pub(super) const fn pair_bytes(self) -> u32 {
        if self.is_high() { self.spectrum_bytes() / 2 } else { 0 }
    }

    /// Where the flags of the segments begin.
    pub(super) const fn flags(self) -> u32 {
        self.pairs() + if self.spectra() < 2 { self.pair_bytes() } else { self.spectrum_bytes() }
    }

    /// Coefficients of a segment.
    const fn segment(self) -> u32 {
        if self.is_high() { SEGMENT } else { self.up_columns() }
    }

    /// Words of a segment.
    pub(super) const fn segment_words(self) -> u32 {
        self.segment() * self.digit_bits / 32
    }

    /// Segments of a result.
    pub(super) const fn segments(self) -> u32 {
        2 * self.digits() / self.segment()
    }

    /// Where the carries into the segments begin, a bit a segment.
    pub(super) const fn carries(self) -> u32 {
        self.flags() + 4 * self.segments()
    }

    /// Bytes of scratch memory a lane: whole points.
    pub(super) const fn scratch_bytes(self) -> u32 {
        (self.carries() + 4 * self.segments().div_ceil(32)).next_multiple_of(POINT_BYTES)
    }

    /// The magnitude of coefficients is at most two to this power.
    pub(super) fn coefficient_bits(self) -> u32 {
        (u64::from(self.most_digits()) + 3).next_power_of_two().ilog2() + 2 * (self.digit_bits - 1)
    }

    /// The magnitude of pairs is at most two to this power.
    pub(super) fn pair_bits(self) -> u32 {
        self.coefficient_bits() + self.digit_bits + 1
    }

    /// Bits from a pair to the next.
    pub(super) const fn pair_step(self) -> u32 {
        2 * self.digit_bits
    }

    /// Bytes moved in scratch memory a lane: columns that are not short write each spectrum and the rows read it. The rows write the
    /// product and the columns read it. The pairs of high columns are written and read.
    pub(super) fn bytes_moved(self) -> u64 {
        u64::from(self.spectrum_bytes()) * u64::from(2 * self.spectra() + 2) + u64::from(self.pair_bytes()) * 2
    }
}
