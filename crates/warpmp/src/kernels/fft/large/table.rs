//! The tables of roots: what stands where. Threads that follow one another read roots that follow one another.

use super::split::{POINTS, Split};
use crate::kernels::transform::angle::{Angle, QUARTER, TURN, inverse_roots, leaves, opposite, tree_roots, turns};
use crate::kernels::transform::layout::{Coefficients, DIGIT_BITS, JOINED, Layout, Numbers};
use crate::kernels::transform::table::{reversed, transposed};

/// A root of a table: its angle and its divisor.
pub(super) type Entry = (Angle, u32);

/// Roots of a codelet of radix 16.
const ROOTS: u32 = POINTS / 2;

/// A pass down a column: its radix, the nodes before it, and where its roots begin in the table of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct DownPass {
    pub(super) radix: u32,
    pub(super) nodes: u32,
    pub(super) roots: u32,
}

impl Split {
    /// The angles of the parts' roots.
    pub(super) fn nodes(self) -> Vec<Angle> {
        (0..self.parts).map(|part| (QUARTER + u64::from(part) * TURN) / u64::from(self.parts)).collect()
    }

    /// The passes down a column.
    pub(super) fn down_passes(self) -> Vec<DownPass> {
        let (mut nodes, mut roots) = (1, self.parts - 1);
        let pass = |radix: u32| {
            let pass = DownPass { radix, nodes, roots };
            roots += nodes * radix / 2;
            nodes *= radix;
            pass
        };
        self.radices().into_iter().map(pass).collect()
    }

    /// Roots of a part for the passes down.
    pub(super) fn down_roots(self) -> u32 {
        self.down_passes().last().map_or(0, |it| it.roots + it.nodes * it.radix / 2)
    }

    /// For each part the powers of its node, then the roots of its passes.
    pub(super) fn down_table(self) -> Vec<Entry> {
        let mut angles = Vec::new();
        for node in self.nodes() {
            angles.extend((1..self.parts).map(|power| node * u64::from(power) % TURN));
            for DownPass { radix, nodes, .. } in self.down_passes() {
                let roots = leaves(node, nodes.ilog2()).into_iter().map(|it| tree_roots(it, radix.ilog2()));
                angles.extend(transposed(roots));
            }
        }
        whole(angles)
    }

    /// The transforms of the rows, modulo `x^width − 1`.
    pub(super) const fn row(self) -> Layout {
        Layout {
            limbs: [0; 3],
            square: self.square,
            is_signed: false,
            points: self.width,
            parts: 1,
            angle: 0,
            digit_bits: DIGIT_BITS,
            numbers: Numbers::Doubles,
            coefficients: Coefficients::Real,
        }
    }

    /// Where the roots of the last inverse pass of a row begin.
    pub(super) const fn row_joining(self) -> u32 {
        self.row().joining()
    }

    /// Where the roots of the first pass of each row begin.
    pub(super) const fn row_roots(self) -> u32 {
        self.row_joining() + JOINED * self.row().last() / 2
    }

    /// Where the roots begin that turn a row's coefficients back: for each row those of multiples of a sixteenth of the width.
    pub(super) const fn row_steps(self) -> u32 {
        self.row_roots() + ROOTS * self.rows()
    }

    /// Where the roots for the high parts of a number of turns begin.
    pub(super) const fn high_turns(self) -> u32 {
        self.row_steps() + (POINTS - 1) * self.rows()
    }

    /// Where the powers of the rows' own roots begin, for short columns.
    pub(super) const fn row_powers(self) -> u32 {
        self.low_turns() + (1 << self.low_bits())
    }

    /// The bits of the low part of a number of turns.
    pub(super) const fn low_bits(self) -> u32 {
        (4 * self.rows() * JOINED).ilog2().div_ceil(2)
    }

    /// Where the roots for the low parts begin.
    pub(super) const fn low_turns(self) -> u32 {
        self.high_turns() + ((4 * self.rows() * JOINED) >> self.low_bits()) + 1
    }

    /// The number of the root of a row, in turns over the number of rows, without the quarter.
    fn row_number(self, row: u32) -> u64 {
        let (part, leaf) = (row / self.height, row % self.height);
        u64::from(part + self.parts * reversed(leaf, self.height.ilog2()))
    }

    /// The roots of the passes over rows.
    pub(super) fn row_table(self) -> Vec<Entry> {
        let four_digits = 4 * u64::from(self.digits());
        let last = self.row().last();
        let angle_of_row = |row: u32| turns(1 + 4 * self.row_number(row), 4 * u64::from(self.rows()));
        let mut angles: Vec<Angle> = self.row().angles();
        angles.truncate(self.row_joining() as usize);
        angles.extend(transposed((0..JOINED).map(|j| inverse_roots(j, JOINED, last.ilog2()))));
        for row in 0..self.rows() {
            angles.extend(tree_roots(angle_of_row(row), POINTS.ilog2()));
        }
        for row in 0..self.rows() {
            let number = 1 + 4 * self.row_number(row);
            angles.extend((1..POINTS).map(|i| turns(number * u64::from(self.row_threads() * i), four_digits)));
        }
        let highs = self.low_turns() - self.high_turns();
        angles.extend((0..highs).map(|high| turns(u64::from(high) << self.low_bits(), four_digits)));
        angles.extend((0..1 << self.low_bits()).map(|low| turns(low, four_digits)));
        if self.is_short() {
            let powers = |row: u32| (1..self.rows()).map(move |power| angle_of_row(row) * u64::from(power) % TURN);
            angles.extend((0..self.rows()).flat_map(powers));
        }
        whole(angles)
    }

    /// Where the roots of the last pass up begin.
    pub(super) const fn up_last(self) -> u32 {
        if self.joined() > POINTS { ROOTS * POINTS } else { 0 }
    }

    /// Where the roots begin by which parts are joined.
    pub(super) const fn up_turning(self) -> u32 {
        self.up_last() + self.joined() * (self.last() / 2)
    }

    /// Where the roots begin that twist the coefficients.
    pub(super) const fn up_twist(self) -> u32 {
        self.up_turning() + self.joined() * (self.parts - 1) * self.last()
    }

    /// The roots of the passes up a column.
    pub(super) fn up_table(self) -> Vec<Entry> {
        if self.is_short() {
            return Vec::new();
        }
        let (joined, last) = (self.joined(), self.last());
        let mut angles = Vec::new();
        if joined > POINTS {
            angles.extend(transposed((0..POINTS).map(|j| inverse_roots(j, POINTS, POINTS.ilog2()))));
        }
        if last > 1 {
            angles.extend(transposed((0..joined).map(|j| inverse_roots(j, joined, last.ilog2()))));
        }
        let turning = |part: u32, i: u32, j: u32| turns(u64::from(part * (j + joined * i)), self.rows().into());
        for (part, i) in (1..self.parts).flat_map(|part| (0..last).map(move |i| (part, i))) {
            angles.extend((0..joined).map(|j| opposite(turning(part, i, j))));
        }
        let mut table = whole(angles);
        table.extend((0..self.rows()).map(|k| (self.twist(k), self.digits())));
        table
    }

    /// The angle by which row `k` of the coefficients is twisted.
    pub(super) fn twist(self, k: u32) -> Angle {
        opposite(turns(k.into(), 4 * u64::from(self.rows())))
    }
}

fn whole(angles: Vec<Angle>) -> Vec<Entry> {
    angles.into_iter().map(|angle| (angle, 1)).collect()
}
