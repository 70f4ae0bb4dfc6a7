//! The table of roots that a kernel reads: what stands where.
//!
//! ```text
//! parts       for each part: the powers of its node, and the roots of the first pass (doubles: for more than one part)
//! second      for each part: the roots of the second pass, a node after the other
//! last        for each part: the roots of the last forward pass, those of a thread's blocks apart
//! middle      the roots of the second inverse pass
//! joining     the roots of the last inverse pass: of all its levels by two, or for doubles of the first one; doubles: those of
//!             even and odd columns apart, here and below
//! turning     residues: the roots by which an odd number of parts is joined
//! twist       doubles: for each column the roots of the transforms that are left after the first level. They turn the columns
//!             so that all roots after them are constants, and make the product right-angled
//! ```
//!
//! Threads that follow one another read roots that follow one another.

use super::angle::{Angle, TURN, inverse_roots, leaves, opposite, tree_roots, turns};
use super::codelet::roots_of_level;
use super::layout::{JOINED, Layout, Numbers, RADIX};

/// Bytes of a root: two doubles, or a residue and its multiple by `i`, each with its quotient.
pub(in crate::kernels) const ROOT_BYTES: u32 = 16;

/// Roots of a codelet of radix 16.
const ROOTS: u32 = RADIX / 2;

/// Roots of the second pass in a part.
pub(in crate::kernels) const SECOND_ROOTS: u32 = ROOTS * RADIX;

/// Where the tables begin, in roots.
impl Layout {
    /// Are the roots of the first pass in the table? The only part of doubles has them as constants.
    const fn has_part_roots(self) -> bool {
        self.parts > 1 || matches!(self.numbers, Numbers::Residues(_))
    }

    /// Roots of a part's own table: the powers of its node from the first on, then the roots of its first pass.
    pub(in crate::kernels) const fn part_roots(self) -> u32 {
        if self.has_part_roots() { self.parts - 1 + ROOTS } else { 0 }
    }

    /// Where the roots of the second pass begin.
    pub(in crate::kernels) const fn second(self) -> u32 {
        self.parts * self.part_roots()
    }

    /// Where the roots of the last forward pass begin.
    pub(in crate::kernels) const fn last_pass(self) -> u32 {
        self.second() + self.parts * SECOND_ROOTS
    }

    /// Roots of the last forward pass in a part.
    pub(in crate::kernels) const fn last_roots(self) -> u32 {
        JOINED * self.last() / 2
    }

    /// Where the roots of the second inverse pass begin.
    pub(in crate::kernels) const fn middle(self) -> u32 {
        self.last_pass() + self.parts * self.last_roots()
    }

    /// Where the roots of the last inverse pass begin.
    pub(in crate::kernels) const fn joining(self) -> u32 {
        self.middle() + ROOTS * RADIX
    }

    /// The levels of the last inverse pass whose roots are in the table.
    pub(in crate::kernels) const fn joining_levels(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => 1,
            Numbers::Residues(_) => self.joins_by_two().ilog2(),
        }
    }

    /// The roots of a column in the last inverse pass.
    const fn joining_roots(self) -> u32 {
        roots_of_level(self.joining_levels()).0
    }

    /// The roots of the last inverse pass for the columns of a parity.
    pub(in crate::kernels) const fn joining_of_parity(self) -> u32 {
        JOINED / self.parities() * self.joining_roots()
    }

    /// Where the roots begin by which an odd number of parts is joined.
    pub(in crate::kernels) const fn turning(self) -> u32 {
        self.joining() + JOINED * self.joining_roots()
    }

    /// The roots of a column by which an odd number of parts is joined.
    const fn turning_roots(self) -> u32 {
        match self.numbers {
            Numbers::Doubles => 0,
            Numbers::Residues(_) => (self.odd() - 1) * self.joins_by_two(),
        }
    }

    /// Where the roots begin that twist the coefficients.
    pub(in crate::kernels) const fn twist(self) -> u32 {
        self.turning() + JOINED * self.turning_roots()
    }

    /// The roots that twist the columns of a parity.
    pub(in crate::kernels) const fn twist_of_parity(self) -> u32 {
        JOINED / self.parities() * (self.joins() >> self.joining_levels())
    }

    /// The nodes of the parts: an odd number of nodes, then the leaves below each.
    pub(in crate::kernels) fn nodes(self) -> Vec<Angle> {
        let by_two = self.parts / self.odd();
        let node = |part: u32| {
            let number = part / by_two + self.odd() * reversed(part % by_two, by_two.ilog2());
            (self.angle + u64::from(number) * TURN) / u64::from(self.parts)
        };
        (0..self.parts).map(node).collect()
    }

    /// The angles of the roots in their order, those of the twist last.
    pub(in crate::kernels) fn angles(self) -> Vec<Angle> {
        let (levels, last) = (RADIX.ilog2(), self.last().ilog2());
        let nodes = self.nodes();
        let mut angles: Vec<Angle> = Vec::new();
        if self.has_part_roots() {
            for &node in &nodes {
                angles.extend((1..self.parts).map(|power| node * u64::from(power) % TURN));
                angles.extend(tree_roots(node, levels));
            }
        }
        for &node in &nodes {
            angles.extend(transposed(leaves(node, levels).into_iter().map(|it| tree_roots(it, levels))));
        }
        for &node in &nodes {
            let blocks = (RADIX / self.last()) as usize;
            let all: Vec<Angle> = leaves(node, 2 * levels);
            for block in 0..blocks {
                angles.extend(transposed(all.iter().skip(block).step_by(blocks).map(|&it| tree_roots(it, last))));
            }
        }
        angles.extend(transposed((0..RADIX).map(|j| inverse_roots(j, RADIX, levels))));
        let of_columns = |of: &dyn Fn(u32) -> Vec<Angle>| {
            let of_parity = |parity| transposed((parity..JOINED).step_by(self.parities() as usize).map(of));
            (0..self.parities()).flat_map(of_parity).collect::<Vec<Angle>>()
        };
        angles.extend(of_columns(&|j| inverse_roots(j, JOINED, self.joining_levels())));
        match self.numbers {
            Numbers::Residues(_) if self.odd() > 1 => angles.extend(of_columns(&|j| self.turning_angles(j))),
            Numbers::Residues(_) => {}
            Numbers::Doubles => angles.extend(of_columns(&|j| self.twist_angles(j))),
        }
        angles
    }

    /// The angles of the roots by which an odd number of parts is joined, for column `j`: of part `p` from 1 on, and of
    /// each coefficient `i` of the column in a part, `−p·i/digits` turns.
    fn turning_angles(self, j: u32) -> Vec<Angle> {
        let angle = |part: u32, i: u32| opposite(turns(u64::from(part * (j + JOINED * i)), self.digits().into()));
        (1..self.odd()).flat_map(|part| (0..self.joins_by_two()).map(move |i| angle(part, i))).collect()
    }

    /// The angles of the roots that twist column `j`, one for each transform that is left after the first levels:
    /// `−(k + 1/4)·j/digits` turns for the transform whose points have numbers `k` modulo the number of those transforms.
    fn twist_angles(self, j: u32) -> Vec<Angle> {
        let runs = self.joins_by_two() >> self.joining_levels();
        let angle = |part: u32, run: u32| {
            let number = part + self.odd() * reversed(run, runs.ilog2());
            opposite(turns(u64::from((4 * number + 1) * j), 4 * u64::from(self.digits())))
        };
        (0..self.odd()).flat_map(|part| (0..runs).map(move |run| angle(part, run))).collect()
    }

    /// The angle that twists coefficient `j` of a column of doubles back, if the column is twisted: `j/4d` turns.
    pub(in crate::kernels) fn twist_angle(self, j: u32) -> Angle {
        turns(j.into(), 4 * u64::from(self.digits()))
    }
}

/// The lowest bits of a number in the opposite order.
pub(in crate::kernels) const fn reversed(number: u32, bits: u32) -> u32 {
    if bits == 0 { 0 } else { number.reverse_bits() >> (32 - bits) }
}

/// The first roots of all codelets, then the second ones, and so on.
pub(in crate::kernels) fn transposed(codelets: impl Iterator<Item = Vec<Angle>>) -> Vec<Angle> {
    let codelets: Vec<Vec<Angle>> = codelets.collect();
    (0..codelets[0].len()).flat_map(|i| codelets.iter().map(move |roots| roots[i])).collect()
}
