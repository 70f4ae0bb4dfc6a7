//! The table of roots that a kernel reads: what stands where.
//!
//! ```text
//! parts       for each part: the powers of its node, and the roots of the first pass (doubles: for more than one part)
//! second      for each part: the roots of the second pass, a node after the other
//! last        for each part: the roots of the last forward pass, those of a thread's blocks apart
//! middle      the roots of the second inverse pass
//! joining     the roots of the last inverse pass; doubles: those of even and odd columns apart, here and below
//! turning     the roots by which an odd number of parts is joined
//! twist       doubles: for each column the root that makes the product right-angled, over the number of digits
//! ```
//!
//! Threads that follow one another read roots that follow one another.

use super::angle::{Angle, TURN, inverse_roots, leaves, opposite, tree_roots, turns};
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

    /// The roots of the last inverse pass for the columns of a parity.
    pub(in crate::kernels) const fn joining_of_parity(self) -> u32 {
        JOINED / self.parities() * self.joins_by_two() / 2
    }

    /// Where the roots begin by which an odd number of parts is joined.
    pub(in crate::kernels) const fn turning(self) -> u32 {
        self.joining() + JOINED * self.joins_by_two() / 2
    }

    /// The roots of a column by which an odd number of parts is joined.
    pub(in crate::kernels) const fn turning_roots(self) -> u32 {
        (self.odd() - 1) * self.joins_by_two()
    }

    /// Where the roots begin that twist the coefficients.
    pub(in crate::kernels) const fn twist(self) -> u32 {
        self.turning() + JOINED * self.turning_roots()
    }

    /// The nodes of the parts.
    pub(in crate::kernels) fn nodes(self) -> Vec<Angle> {
        (0..self.parts).map(|part| (self.angle + u64::from(part) * TURN) / u64::from(self.parts)).collect()
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
        for parity in 0..self.parities() {
            let columns = (parity..JOINED).step_by(self.parities() as usize);
            angles.extend(transposed(columns.map(|j| inverse_roots(j, JOINED, self.joins_by_two().ilog2()))));
        }
        if self.odd() > 1 {
            for parity in 0..self.parities() {
                angles.extend(transposed(
                    (parity..JOINED).step_by(self.parities() as usize).map(|j| self.turning_angles(j)),
                ));
            }
        }
        if self.numbers == Numbers::Doubles {
            for parity in 0..self.parities() {
                let columns = (parity..JOINED).step_by(self.parities() as usize);
                angles.extend(columns.map(|j| self.twist_angle(j)));
            }
        }
        angles
    }

    /// The angles of the roots by which an odd number of parts is joined, for column `j`: of part `p` from 1 on, and of
    /// each coefficient `i` of the column in a part, `−p·i/digits` turns.
    fn turning_angles(self, j: u32) -> Vec<Angle> {
        let angle = |part: u32, i: u32| opposite(turns(u64::from(part * (j + JOINED * i)), self.digits().into()));
        (1..self.odd()).flat_map(|part| (0..self.joins_by_two()).map(move |i| angle(part, i))).collect()
    }

    /// The angle that twists coefficient `j`: `−j/4d` turns.
    pub(in crate::kernels) fn twist_angle(self, j: u32) -> Angle {
        opposite(turns(j.into(), 4 * u64::from(self.digits())))
    }
}

/// The first roots of all codelets, then the second ones, and so on.
pub(in crate::kernels) fn transposed(codelets: impl Iterator<Item = Vec<Angle>>) -> Vec<Angle> {
    let codelets: Vec<Vec<Angle>> = codelets.collect();
    (0..codelets[0].len()).flat_map(|i| codelets.iter().map(move |roots| roots[i])).collect()
}
