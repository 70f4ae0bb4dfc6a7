//! Where everything stands in shared memory, and how the lanes share a level.
//!
//! Two regions, A and B, of one block of `k` limbs a leaf lane. They hold the numbers of every level:
//!
//! * *Operands.* At level `l` a product has `3^l` pairs of numbers of `n / 2^l` limbs, those of `a` one after
//!   the other in region A, those of `b` in B. Going down, number `j` becomes two, `2j` and `2j + 1`,
//!   where it stands, and its difference is appended: number `2·3^l + j` of the next level.
//! * *Products.* Leaf product `j` takes the place of its operands: the low half that of `a`, the high half
//!   that of `b`. So the chunk `c` (of a leaf's length) of the level's products is chunk `c / 2` of region
//!   A or B, by the parity of `c`, and going up the products `2j` and `2j + 1` are, side by side, the room
//!   of product `j`.
//!
//! Squares have no operand `b`: region B only takes the high halves of the products.
//!
//! banks: the stride of blocks is an odd multiple of the piece in which they are accessed, and the two
//! regions are apart by as much as two chunks, modulo the banks. For squares, whose leaves have one or two blocks,
//! numbers lie at strides of 2, 4, … blocks: there a piece of padding follows every 8 blocks (of 16-byte pieces).

use warpmp_kernel::build::{Builder, Emit, R32};

use super::super::piece;

/// The division of the work; all numbers are limbs unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// Karatsuba levels.
    pub(super) levels: u32,
    /// Blocks of a leaf's operand: lanes a leaf product. A square's two blocks belong to one lane.
    pub(super) group: u32,
    /// Limbs a lane's block.
    pub(super) block: u32,
    /// Products a block of threads.
    pub(super) products: u32,
    /// Warps a block of threads.
    pub(super) warps: u32,
    /// Operands of a product; 1: it is a square.
    pub(super) operands: u32,
}

impl Layout {
    /// Limbs of a leaf's operands.
    pub(super) const fn leaf(self) -> u32 {
        self.group * self.block
    }

    /// Limbs of the operands, padded.
    pub(super) const fn length(self) -> u32 {
        self.leaf() << self.levels
    }

    /// Blocks of half a number at a level.
    pub(super) const fn half(self, level: u32) -> u32 {
        self.group << (self.levels - 1 - level)
    }

    /// Leaf products of the block of threads.
    pub(super) const fn leaves(self) -> u32 {
        self.products * nodes(self.levels)
    }

    /// Threads a block.
    pub(super) const fn threads(self) -> u32 {
        32 * self.warps
    }

    /// How many leaves a warp multiplies, one batch after the other.
    pub(super) const fn rounds(self) -> u32 {
        self.leaves().div_ceil(32 / self.leaf_lanes()).div_ceil(self.warps)
    }

    /// Are the leaves, of two blocks, squared by halves, each by a single lane?
    pub(super) const fn by_halves(self) -> bool {
        self.operands == 1 && self.group == 2
    }

    /// Lanes at work on a leaf.
    pub(super) const fn leaf_lanes(self) -> u32 {
        if self.by_halves() { 1 } else { self.group }
    }

    /// Words from block to block: an odd multiple of the piece.
    pub(super) const fn stride(self) -> u32 {
        if self.block.is_multiple_of(8) { self.block + 4 } else { self.block }
    }

    /// Blocks of a product in a region.
    pub(super) const fn blocks(self) -> u32 {
        nodes(self.levels) * self.group
    }

    /// After this many blocks, as many as pieces in a pass over all banks, follows a piece of padding: then blocks at
    /// strides of 2, 4, … are in different banks too. None: there is no such padding, because runs of an odd number of
    /// blocks would straddle it (and products have a stride of chunks that does without).
    pub(super) const fn period(self) -> Option<u32> {
        if self.operands == 1 && self.group <= 2 { Some(32 / piece(self.block)) } else { None }
    }

    /// Words before a block of a region.
    pub(super) const fn words(self, block: u32) -> u32 {
        let padding = match self.period() {
            None => 0,
            Some(period) => block / period * piece(self.block),
        };
        block * self.stride() + padding
    }

    /// Words from region A to region B: as many as a chunk, modulo the 32 banks, or a piece or two; a multiple of 4.
    pub(super) const fn region(self) -> u32 {
        let used = self.words(self.products * self.blocks()).next_multiple_of(4);
        let apart = match self.period() {
            None => self.words(self.group).next_multiple_of(4),
            // By the counts of the simulator.
            Some(_) if self.group == 1 && self.levels == 2 => 4,
            Some(_) => 8,
        };
        used + (apart % 32 + 32 - used % 32) % 32
    }

    /// Where a block of zeros begins, in words.
    pub(super) const fn zeros(self) -> u32 {
        2 * self.region()
    }

    /// Where the signs of the middle products begin, in words.
    pub(super) const fn signs(self) -> u32 {
        let zeros = if self.operands == 2 { self.block.next_multiple_of(4) } else { 0 };
        self.zeros() + zeros
    }

    /// Signs of a product: of its middle products, but for squares, which have none.
    pub(super) const fn signs_each(self) -> u32 {
        if self.operands == 2 { (nodes(self.levels) - 1) / 2 } else { 0 }
    }

    /// Where the sums of squares by groups begin, in words: a multiple of 4.
    pub(super) const fn sums(self) -> u32 {
        (self.signs() + self.products * self.signs_each()).next_multiple_of(4)
    }

    /// Words of these sums a warp: a block and two counts of carries a lane.
    pub(super) const fn sums_each(self) -> u32 {
        let lanes = 32 / self.group * self.group;
        let squares_by_groups = self.operands == 1 && self.group > 2;
        if squares_by_groups { (lanes * (self.stride() + 2)).next_multiple_of(4) } else { 0 }
    }

    /// Bytes of shared memory.
    pub(super) const fn shared_bytes(self) -> u32 {
        let sums = self.warps * self.sums_each();
        if sums > 0 { 4 * (self.sums() + sums) } else { 4 * (self.signs() + self.products * self.signs_each()) }
    }

    /// How the lanes share the halves of a level's numbers; none: they cannot.
    pub(super) fn share(self, level: u32) -> Option<Share> {
        let half = self.half(level);
        let nodes = self.products * nodes(level);
        // Several blocks a lane if there are more than lanes. A chunk holds whole runs of them.
        let blocks = (1..=half).find(|it| self.group.is_multiple_of(*it) && half / it <= 32)?;
        let mut share = Share { limbs: blocks * self.block, lanes: half / blocks, nodes };
        // As many lanes as there are, but no less than 8 limbs each: the look-ahead has its price.
        while let Some(finer) = share.halved(self.block)
            && finer.warps() <= self.warps
        {
            share = finer;
        }
        Some(share)
    }

    /// Is there a place and a lane for everything?
    pub(super) fn is_possible(self) -> bool {
        (0..self.levels).all(|level| self.share(level).is_some_and(|it| it.limbs <= MAX_RUN))
    }
}

/// Numbers of a product's `a` at a level.
pub(super) const fn nodes(level: u32) -> u32 {
    3_u32.pow(level)
}

/// The longest run of limbs a lane, in the phases between leaves: what the registers hold.
const MAX_RUN: u32 = 56;

/// The lanes of a level: a group for each number, the same run of limbs of both halves for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Limbs a lane: some blocks, or a part of one.
    pub(super) limbs: u32,
    /// Lanes a number, at most 32.
    pub(super) lanes: u32,
    /// Numbers, of all products of the block of threads.
    pub(super) nodes: u32,
}

impl Share {
    /// Twice the lanes with half the limbs each, if they can be accessed as well as before.
    fn halved(self, block: u32) -> Option<Self> {
        let finer = Self { limbs: self.limbs / 2, lanes: 2 * self.lanes, nodes: self.nodes };
        let whole = self.limbs <= block && self.limbs.is_multiple_of(2) && finer.limbs >= 8;
        (whole && piece(finer.limbs) == piece(self.limbs) && finer.lanes <= 32).then_some(finer)
    }

    /// Warps that it takes.
    pub(super) const fn warps(self) -> u32 {
        self.nodes.div_ceil(32 / self.lanes)
    }
}

/// `x` divided by a small constant `d`, `x < 2³² / d`: quotient and remainder.
///
/// Exact: with `m = ⌈2³²/d⌉` the error of `x·m / 2³²` is below `x / 2³² < 1/d`.
pub(super) fn divide_with_remainder(b: &mut Builder, x: R32, divisor: u32) -> (R32, R32) {
    if divisor.is_power_of_two() {
        return (b.shr(x, divisor.trailing_zeros()), b.and(x, divisor - 1));
    }
    let quotient = b.mul_hi(x, u32::MAX / divisor + 1);
    let remainder = b.mad_lo(quotient, divisor.wrapping_neg(), x);
    (quotient, remainder)
}
