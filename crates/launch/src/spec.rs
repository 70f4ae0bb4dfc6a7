//! Specifications: an operation with every parameter fixed, as kernels with their launches.

use std::fmt;

use warpmp_device::Grid;
use warpmp_kernel::ir::Kernel;

use crate::entry::TILE_LANES;
use crate::{Binding, Entry};

/// Most lanes of a launch, unless the geometry says less: numbers of threads have 32 bits.
const MAX_LANES: u32 = 1 << 30;

/// An operation with every parameter fixed: one kernel, or several that run one after the other.
///
/// The texts of the kernels are pure functions of the specification.
pub trait Spec: fmt::Debug + Send + Sync {
    /// The name. Equal specifications have equal names, different ones different names.
    fn name(&self) -> String;

    /// The kernels with their launches, in their order.
    ///
    /// All take the same parameters: the addresses of operands and results, the number of lanes, and the address of the
    /// scratch memory if there is any. All buffers hold whole tiles of 32 lanes; a common operand is one row.
    fn stages(&self) -> Vec<Stage<'_>>;

    /// Limbs of scratch memory a lane: the stages pass rows through it.
    fn scratch_limbs(&self) -> u32 {
        0
    }

    /// Wide products (32×32 → 64 bits) a lane, padding included.
    fn wide_products(&self) -> u64 {
        0
    }

    /// More about the kernels, for a reader of the plan: the subject of each line, and its words.
    fn notes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The kernels of all stages.
    fn kernels(&self) -> Vec<Kernel> {
        self.stages().iter().map(|stage| stage.write(&Entry::default())).collect()
    }

    /// The kernel of a stage.
    fn build(&self, stage: usize) -> Kernel {
        self.stages()[stage].write(&Entry::default())
    }

    /// The launch of a stage for this many lanes.
    fn grid(&self, stage: usize, lanes: u32) -> Grid {
        self.stages()[stage].geometry.grid(lanes)
    }

    /// The most lanes that one launch takes.
    fn max_lanes(&self) -> u32 {
        self.stages().iter().map(|stage| stage.geometry.max_lanes).min().unwrap_or(MAX_LANES)
    }
}

/// The launch of a kernel for any number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Threads a block.
    pub threads: u32,
    /// Lanes that `blocks` blocks take.
    pub lanes: u32,
    /// Blocks for this many lanes.
    pub blocks: u32,
    /// Shared memory a block, in bytes.
    pub shared_bytes: u32,
    /// The most lanes of a launch.
    pub max_lanes: u32,
    /// Does the kernel also write what pads the last tile?
    pub whole_tiles: bool,
    /// Is it launched for the first lane alone, whatever the number of lanes?
    pub first_lane_alone: bool,
}

impl Geometry {
    /// Blocks of `threads` threads that take `lanes` lanes each.
    pub const fn new(threads: u32, lanes: u32) -> Self {
        Self {
            threads,
            lanes,
            blocks: 1,
            shared_bytes: 0,
            max_lanes: MAX_LANES,
            whole_tiles: false,
            first_lane_alone: false,
        }
    }

    /// Blocks of `warps` warps, a lane a thread.
    pub const fn of_threads(warps: u32) -> Self {
        Self::new(32 * warps, 32 * warps)
    }

    /// Blocks of `warps` warps, a lane for each group of `group` threads.
    pub const fn of_groups(warps: u32, group: u32) -> Self {
        Self { max_lanes: (1 << 31) / group, ..Self::new(32 * warps, 32 * warps / group) }
    }

    /// The same with shared memory.
    pub const fn with_shared(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }

    /// The grid for this many lanes.
    pub const fn grid(self, lanes: u32) -> Grid {
        let lanes = match self {
            Self { first_lane_alone: true, .. } => 1,
            Self { whole_tiles: true, .. } => lanes.next_multiple_of(TILE_LANES),
            _ => lanes,
        };
        let Self { threads, shared_bytes, .. } = self;
        Grid { blocks: self.blocks * lanes.div_ceil(self.lanes), threads, shared_bytes }
    }
}

/// A kernel of a specification with its launch.
pub struct Stage<'s> {
    /// The launch.
    pub geometry: Geometry,
    write: Box<dyn Fn(&Entry) -> Kernel + 's>,
}

impl fmt::Debug for Stage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").field("geometry", &self.geometry).finish_non_exhaustive()
    }
}

impl<'s> Stage<'s> {
    /// A kernel that `write` writes, launched so.
    pub fn new(geometry: Geometry, write: impl Fn(&Entry) -> Kernel + 's) -> Self {
        Self { geometry, write: Box::new(write) }
    }

    /// The kernel.
    pub fn write(&self, entry: &Entry) -> Kernel {
        (self.write)(entry)
    }
}

/// A specification whose stages are stages of an operation.
#[derive(Debug)]
pub struct Part {
    /// The specification.
    pub spec: Box<dyn Spec>,
    /// Where its stages find their operands and results, and their scratch memory if they have any.
    pub bindings: Vec<Binding>,
}

/// An operation in several stages: specifications made for themselves, one after the other, with scratch memory between.
#[derive(Debug)]
pub struct Sequence {
    /// The name.
    pub name: String,
    /// Operands and results of the operation, statuses included.
    pub rows: usize,
    /// The parts, in their order.
    pub parts: Vec<Part>,
    /// Limbs of scratch memory a lane.
    pub scratch: u32,
    /// Do the parts read and write whole tiles? If not, no part touches a lane that the launch does not have.
    pub whole_tiles: bool,
}

impl Spec for Sequence {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let stages = self.parts.iter().flat_map(|part| part.spec.stages().into_iter().map(move |stage| (stage, part)));
        let stages = stages.enumerate().map(|(number, (stage, part))| {
            let geometry = Geometry { whole_tiles: self.whole_tiles, ..stage.geometry };
            let prefix = format!("{}_{number}_", self.name);
            Stage::new(geometry, move |entry| {
                stage.write(&entry.stage(&prefix, self.rows, &part.bindings, self.whole_tiles))
            })
        });
        stages.collect()
    }

    fn scratch_limbs(&self) -> u32 {
        self.scratch
    }

    fn wide_products(&self) -> u64 {
        self.parts.iter().map(|part| part.spec.wide_products()).sum()
    }
}
