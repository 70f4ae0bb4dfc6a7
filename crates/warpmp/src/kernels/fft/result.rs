//! The last inverse pass of doubles, and the rounded coefficients as numbers of two words.
//!
//! A thread has pairs of neighbouring coefficients. A pair is a number of at most 61 bits that stands at a word of the
//! result.
//!
//! bound: a coefficient is an integer below `2¹²·(2¹⁶ − 1)² < 2⁴⁴`, and the error of its double is below 1/2 (`bound.rs`). The
//! fused operation that multiplies by its last factor adds `1.5·2⁵²` and rounds to the integer, because doubles from 2⁵² to 2⁵³ are the
//! integers. The bits of the sum are those of `1.5·2⁵²`, whose low 48 bits are zero, plus the integer. A pair is below `2⁴⁴ + 2⁶⁰`, so its
//! upper half is below 2²⁹. Wider digits are balanced, and a pair of their coefficients is made positive as in `shares.rs`, with an `E` that is as small as it can be: a division is taken only if
//! the pair is below 2⁶⁴ then, with an addend (`Layout::has_room`).
//!
//! Coefficients modulo `x^2d + 1` have signs: at most `r` products of digits come back to one with the other sign (`Layout::returning`), and at most 6142 do not. So `c` is
//! above `−r·(2¹⁶ − 1)²`. The last digit of a two's complement has a sign: the two products with it in a coefficient are at least `−2¹⁵·(2¹⁶ − 1)` each, so `r` is greater by 1 (`Layout::lacking`). It becomes `c + e` for `e = r·2¹⁶·(2¹⁶ − 1)`, as in `shares.rs`: positive and below 2⁴⁶, the upper half of a pair below 2³¹, and `E = r·2¹⁶` that
//! enters the first word makes the sum greater by `E·Bⁿ`. So the limb above `n` words, less `E`, makes the result a signed number that is the product modulo `Bⁿ + 1`. Its
//! magnitude is below `2²⁹·Bⁿ`.

use warpmp_kernel::build::{Builder, Emit, R32, R64};

use super::doubles::{self, Complex, Doubles, load_root};
use crate::kernels::transform::Place;
use crate::kernels::transform::carry::{Addend, Halves};
use crate::kernels::transform::codelet;
use crate::kernels::transform::layout::{DIGIT_BITS, JOINED, Layout, Points};
use crate::kernels::transform::ring::Ring;
use crate::kernels::transform::table::ROOT_BYTES;

/// Added to a coefficient to round it: 1.5·2⁵².
pub(super) const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Where the roots of a column of coefficients are: an address, and a number of roots after it.
pub(super) struct ColumnRoots {
    /// Those of the first level of the last inverse pass.
    pub(super) joining: (R64, u32),
    /// Those that twist the column.
    pub(super) twist: (R64, u32),
}

/// The second coefficient of a pair times `2ᵇ` for digits of `b` bits, from the words of its double: what stands above the coefficient leaves the words.
pub(super) fn shifted(b: &mut Builder, (low, high): Halves, bits: u32) -> [R32; 2] {
    let up = b.shl(low, bits);
    [up, if bits == DIGIT_BITS { b.prmt(low, high, 0x5432) } else { b.funnel_left(low, high, bits) }]
}

impl Layout {
    /// Finishes the product and writes its limbs to the row whose address `row` computes. `addend` is added.
    pub(super) fn finish_doubles(
        self,
        b: &mut Builder,
        place: &Place,
        addend: impl FnOnce(&mut Builder) -> Option<Addend>,
        row: impl FnOnce(&mut Builder) -> R64,
    ) {
        let write = |b: &mut Builder| {
            let first = b.add(place.shared, self.first_factor());
            let number = b.shl(place.thread, 1);
            let mut points = Points::new(b, Doubles, self.swizzle(), number, first);
            let column = |column| self.pairs(b, place, &mut points, 2 * self.finishers() * column);
            let mut halves: Vec<Vec<Halves>> = (0..self.columns()).map(column).collect();
            if let Some(addend) = addend(b) {
                for (halves, column) in halves.iter_mut().zip(0..) {
                    let firsts = (0..self.rows()).map(|row| self.row_numbers() * row + self.finishers() * column);
                    addend.add(b, halves, self.number_bits(), firsts, (place.thread, self.finishers()));
                }
            }
            self.finish(b, place, &halves, row);
        };
        self.in_finishers(b, place, 2, write);
    }

    /// The pairs of coefficients of two neighbouring columns, low and high word, a row after the other.
    fn pairs(self, b: &mut Builder, place: &Place, points: &mut Points<Doubles>, column: u32) -> Vec<Halves> {
        let even = self.column(b, place, points, column);
        // Of the high words only the low halves are of coefficients. Two share a register while the other column is
        // computed, because registers are short.
        let highs: Vec<R32> = even.chunks(2).map(|two| b.prmt(two[0].1, two[two.len() - 1].1, 0x5410)).collect();
        if self.parts > 1 {
            // `ptxas` moves loads of the second column to the first and spills registers. It moves none across a barrier.
            b.warp_barrier();
        }
        let odd = self.column(b, place, points, column + 1);
        let pair = |(row, (even, odd)): (usize, (Halves, Halves))| {
            let high = b.prmt(highs[row / 2], 0, if row.is_multiple_of(2) { 0x4410 } else { 0x4432 });
            let shifted = shifted(b, odd, self.digit_bits);
            let sum = [b.register(), b.register()];
            let mut chain = b.chain();
            chain.add_into(sum[0], even.0, shifted[0]);
            chain.end_add(sum[1], high, shifted[1]);
            (sum[0], sum[1])
        };
        even.into_iter().zip(odd).enumerate().map(pair).collect()
    }

    /// The rounded coefficients of a column, a row after the other: the low words, and words whose low halves are the bits
    /// above.
    fn column(self, b: &mut Builder, place: &Place, points: &mut Points<Doubles>, column: u32) -> Vec<Halves> {
        let x = self.join(b, place, points, (column, self.rounding()));
        b.section("round");
        let rows = x.iter().map(|x| x.re).chain(x.iter().map(|x| x.im)).take(self.rows() as usize);
        let rounded = rows.map(|sum| {
            let bits = b.bits_of_f64(sum);
            b.unpack(bits)
        });
        rounded.collect()
    }

    /// Added to a coefficient: it rounds, and makes a coefficient with a sign positive.
    pub(super) fn rounding(self) -> f64 {
        ROUNDING + f64::from(self.entering()) * f64::from((1_u32 << self.digit_bits) - 1)
    }

    /// The last inverse pass, of a column: the coefficients whose numbers are the column's plus multiples of 256, plus `rounding`,
    /// rounded once. The column is twice the thread's number, plus `offset`.
    fn join(
        self,
        b: &mut Builder,
        place: &Place,
        points: &mut Points<Doubles>,
        (offset, rounding): (u32, f64),
    ) -> Vec<Complex> {
        b.section("inverse 3");
        let from = b.mad_wide(place.thread, ROOT_BYTES, place.table);
        let (parity, column) = (offset % 2, offset / 2);
        let roots = ColumnRoots {
            joining: (from, self.joining() + parity * self.joining_of_parity() + column),
            twist: (from, self.twist() + parity * self.twist_of_parity() + column),
        };
        self.join_column(b, &roots, points, (offset, rounding))
    }

    /// As [`join`](Self::join), for the column that begins with point `offset`.
    ///
    /// A root of a level is a product of a root of the column and a constant, and so is a root of the twist. Those of the column come after
    /// the first level: then all roots are constants.
    pub(super) fn join_column(
        self,
        b: &mut Builder,
        roots_of: &ColumnRoots,
        points: &mut Points<Doubles>,
        (offset, rounding): (u32, f64),
    ) -> Vec<Complex> {
        let half = JOINED / 2;
        let (from, first) = roots_of.joining;
        let mut x: Vec<Complex> = (0..self.joins()).map(|i| points.load(b, i * JOINED + offset)).collect();
        for level in 0..self.joining_levels() {
            let (before, count) = codelet::roots_of_level(level);
            let roots = Doubles.load_roots(b, from, first + before * half, half, count);
            codelet::inverse_level(b, Doubles, &mut x, &roots, level);
        }
        let (from, first) = roots_of.twist;
        for (x, i) in x.chunks_mut(1 << self.joining_levels()).zip(0..) {
            let twist = load_root(b, from, first + i * half);
            for x in x {
                *x = doubles::product(b, twist, *x);
            }
        }
        for level in self.joining_levels()..self.joins_by_two().ilog2() {
            doubles::inverse_level_of_points(b, &mut x, level);
        }
        if self.odd() > 1 {
            doubles::join_parts_by_constants(b, &mut x, self.odd() as usize);
        }
        b.section("twist");
        let angle = |i| (self.twist_angle(i * JOINED), self.digits());
        x.into_iter().zip(0..).map(|(x, i)| doubles::turn_back_and_add(b, x, angle(i), rounding)).collect()
    }
}
