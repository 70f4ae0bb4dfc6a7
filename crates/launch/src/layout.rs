//! How numbers lie in the lanes of a group.

use warpmp_kernel::build::Glue;
use warpmp_kernel::fragment::{Montgomery, Spread};

use crate::Geometry;

/// How the limbs of a number are divided among the lanes of a group, and how its kernels are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Lanes a number: a power of two. A group of more than 32 lanes is a whole block.
    pub group: u32,
    /// Limbs a lane.
    pub length: u32,
    /// Warps a block of threads: `group / 32` if a group has several warps.
    pub warps: u32,
    /// How carry chains are joined.
    pub glue: Glue,
}

impl Layout {
    /// Longest number that one thread holds, in limbs.
    pub const THREAD_LIMBS: u32 = 16;

    /// Most limbs a lane, unless 32 lanes need more.
    pub const BLOCK_LIMBS: u32 = 16;

    /// Most limbs a lane: the registers hold no more. Longer numbers take the lanes of several warps.
    pub const LANE_LIMBS: u32 = 32;

    /// The usual layout for numbers of this many limbs.
    pub const fn of(limbs: u32) -> Self {
        if limbs <= Self::THREAD_LIMBS {
            return Self::of_group(1).holding(limbs);
        }
        let mut group = 4;
        while group < 32 && limbs.div_ceil(group) > Self::BLOCK_LIMBS {
            group *= 2;
        }
        Self::of_group(group).of_lanes(limbs, Self::LANE_LIMBS)
    }

    /// Groups of this many lanes with a limb a lane, two warps a block.
    pub const fn of_group(group: u32) -> Self {
        Self { group, length: 1, warps: 2, glue: Glue::None }
    }

    /// The same or, where the lanes would hold more than `most` limbs each, a layout with more lanes, in several warps.
    pub const fn of_lanes(self, limbs: u32, most: u32) -> Self {
        let mut group = self.group;
        while limbs.div_ceil(group) > most {
            group *= 2;
        }
        if group <= 32 { Self { group, ..self } } else { Self { group, warps: group / 32, ..self } }.holding(limbs)
    }

    const fn holding(self, limbs: u32) -> Self {
        Self { length: limbs.div_ceil(self.group), ..self }
    }

    /// The layout with the fewest lanes a number that leaves at most `most` limbs a lane: for work that every lane does
    /// by itself. From 32 lanes on, a lane may hold `beyond` limbs.
    pub const fn narrow(limbs: u32, most: u32, beyond: u32) -> Self {
        let mut group = 1;
        while group < 32 && limbs.div_ceil(group) > most {
            group *= 2;
        }
        Self::of_group(group).of_lanes(limbs, beyond)
    }

    /// The launch: a lane for each group.
    pub const fn geometry(self) -> Geometry {
        Geometry::of_groups(self.warps, self.group).with_shared(Spread::shared_bytes(self.group))
    }

    /// Wide products of a Montgomery product for a modulus of this many limbs.
    pub const fn products(self, limbs: u32) -> u64 {
        2 * limbs as u64 * (self.group * self.length) as u64
    }

    /// Wide products of a Montgomery square.
    pub fn square_products(self, limbs: u32) -> u64 {
        if (self.length as usize) < Montgomery::SQUARE_FROM {
            return self.products(limbs);
        }
        // Row i of a block has the products of limb i with itself and the limbs above it; a block that ends early has
        // one more row.
        let (length, blocks, rest) = (self.length, limbs / self.length, limbs % self.length);
        let above = (0..rest).map(|i| length - i).sum::<u32>() + if rest > 0 { length - rest } else { 0 };
        let lane = blocks * length * (length + 1) / 2 + above;
        u64::from(self.group * lane) + self.products(limbs) / 2
    }

    /// Its part of a kernel's name.
    pub fn name(self) -> String {
        format!("_k{}_t{}{}", self.length, self.group, name_suffix(self.glue, self.warps))
    }
}

/// The part of a kernel's name that says how carry chains are joined and how many warps a block has.
pub fn name_suffix(glue: Glue, warps: u32) -> String {
    let glue = match glue {
        Glue::None => 0,
        Glue::Every(n) => n,
    };
    format!("_g{glue}_w{warps}")
}
