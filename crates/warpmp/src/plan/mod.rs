//! The plan: everything that is decided about an operation before a device is touched.
//!
//! ```text
//! mod.rs      the plan: kernels, launches, memory, chunks
//! choose.rs   which algorithm with which settings, from the register and the tuning table
//! explain.rs  the plan in words
//! ```
//!
//! A plan sees shapes, the facts of a device and a tuning table, never data and never a handle. What it
//! decides, and why, is what [`Plan::explain`] says.

mod choose;
mod explain;

use warpmp_device::{DeviceInfo, Grid};
use warpmp_kernel::ir::Kernel;

use crate::batch::Shape;
use crate::error::Result;
use crate::kernels::{Abilities, Register, Spec};
use crate::operation::Operation;
use crate::tuning::Table;
use choose::Request;

/// Lanes of a tile: device buffers hold whole tiles.
pub const TILE_LANES: usize = 32;

/// Scratch memory of a launch, at most, on a GPU with little memory.
const SCRATCH_BYTES: u64 = 1 << 30;

/// The share of a greater memory that it may be: powers with a table of residues a lane fill a large machine several times, so
/// that its last blocks count little.
const SCRATCH_SHARE: u64 = 32;

/// How an operation on batches will be done on a GPU.
#[derive(Debug)]
pub struct Plan {
    operation: Operation,
    operands: Vec<Shape>,
    results: Vec<Shape>,
    /// The kernel's operand `i` is the caller's operand `order[i]`.
    order: Vec<usize>,
    /// Name and summary of the algorithm.
    algorithm: [&'static str; 2],
    spec: Box<dyn Spec>,
    reasons: Vec<String>,
    device: String,
    /// Scratch memory of a launch, at most.
    scratch_bytes: u64,
}

impl Plan {
    /// Plans an operation, lane by lane, with the algorithms of this crate; an operand with one lane serves every lane
    /// of the others. `algorithm`: its name, if the caller asks for one.
    ///
    /// # Errors
    /// As [`Operation::results`]; [`Error::UnknownAlgorithm`](crate::Error::UnknownAlgorithm),
    /// [`Error::AlgorithmUnfit`](crate::Error::AlgorithmUnfit).
    pub fn new(
        operation: Operation,
        operands: &[Shape],
        device: &DeviceInfo,
        table: &Table,
        algorithm: Option<&str>,
    ) -> Result<Self> {
        Self::with_register(operation, operands, device, (table, &Register::shipped()), algorithm)
    }

    /// As [`Plan::new`], with the algorithms of a register.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_register(
        operation: Operation,
        operands: &[Shape],
        device: &DeviceInfo,
        (table, register): (&Table, &Register),
        algorithm: Option<&str>,
    ) -> Result<Self> {
        let results = operation.results(operands)?;
        let capability = device.capability;
        let shared_bytes = device.shared_bytes_per_block;
        let request = Request { operation, operands, table, register, asked: algorithm, capability, shared_bytes };
        let mut choice = request.choose()?;
        if !choice.order.is_sorted() {
            choice.reasons.push("the operands change places: the kernel treats them unequally".into());
        }
        let architecture = table.deciding(operation).architecture;
        if architecture != device.capability {
            choice.reasons.push(format!(
                "no table for sm_{}: the nearest is sm_{architecture}'s (`warpmp tune` measures one)",
                device.capability
            ));
        }
        if !Abilities::of(capability).async_copies {
            choice.reasons.push(format!("sm_{} has no asynchronous copies to shared memory", device.capability));
        }
        Ok(Self {
            operation,
            operands: operands.to_vec(),
            results,
            order: choice.order,
            algorithm: choice.algorithm,
            spec: choice.spec,
            reasons: choice.reasons,
            device: device.name.clone(),
            scratch_bytes: SCRATCH_BYTES.max(device.memory_bytes / SCRATCH_SHARE),
        })
    }

    /// The operation.
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// The algorithm's name.
    pub const fn algorithm(&self) -> &'static str {
        self.algorithm[0]
    }

    /// The kernel's operand `i` is the caller's operand `order()[i]`.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The kernels with their launches.
    pub fn spec(&self) -> &dyn Spec {
        &*self.spec
    }

    /// The name of kernel and parameters.
    pub fn spec_name(&self) -> String {
        self.spec.name()
    }

    /// How many kernels it takes.
    pub fn stages(&self) -> usize {
        self.spec.stages().len()
    }

    /// The kernels, in the order of their launches. Parameters: the addresses of operands and results
    /// (whole tiles), `lanes`, and the address of scratch memory if [`Plan::scratch_limbs`] is not zero.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.spec.kernels()
    }

    /// The launch of a kernel for this many lanes.
    pub fn grid(&self, stage: usize, lanes: u32) -> Grid {
        self.spec.grid(stage, lanes)
    }

    /// Limbs of scratch memory a lane.
    pub fn scratch_limbs(&self) -> usize {
        self.spec.scratch_limbs() as usize
    }

    /// The most lanes that one launch takes, so that it does not take too much scratch memory: whole tiles, or fewer lanes than
    /// a tile if the kernels allow that.
    pub fn max_launch_lanes(&self) -> usize {
        let scratch = self.scratch_bytes / (4 * self.scratch_limbs() as u64).max(1);
        let most = usize::try_from(scratch).unwrap_or(usize::MAX).min(self.spec.max_lanes() as usize);
        if most >= TILE_LANES {
            return most / TILE_LANES * TILE_LANES;
        }
        let whole_tiles = self.spec.stages().iter().any(|stage| stage.geometry.whole_tiles);
        if whole_tiles { TILE_LANES } else { most.max(1) }
    }

    /// Words of scratch memory that launches for this many lanes need.
    pub fn scratch_words(&self, lanes: usize) -> usize {
        whole_tiles(lanes).min(self.max_launch_lanes()) * self.scratch_limbs()
    }

    /// Lanes of the results.
    pub fn lanes(&self) -> usize {
        self.results[0].lanes
    }

    /// The shapes of the results.
    pub fn results(&self) -> &[Shape] {
        &self.results
    }

    /// The shapes of operands and results in the kernel's order.
    pub fn rows(&self) -> impl Iterator<Item = Shape> + '_ {
        self.order.iter().map(|&i| self.operands[i]).chain(self.results.iter().copied())
    }

    /// Bytes of operands read and results written, each once (saturating).
    pub fn bytes(&self) -> u64 {
        self.rows().map(Shape::bytes).fold(0, u64::saturating_add)
    }

    /// Wide products (32×32 → 64 bits) of the whole batch (saturating).
    pub fn wide_products(&self) -> u64 {
        self.spec.wide_products().saturating_mul(self.lanes() as u64)
    }

    /// Lanes a chunk, whole tiles, such that `buffers` sets of operands, results and
    /// scratch memory fit in `free_bytes` of device memory; at least a tile.
    pub fn chunk_lanes(&self, free_bytes: u64, buffers: u64) -> usize {
        let streams = |shape: Shape| if shape.lanes < self.lanes() { 0 } else { shape.limbs() };
        let lane_bytes = 4 * (self.rows().map(streams).sum::<usize>() + self.scratch_limbs()) as u64;
        let fit = (free_bytes / (buffers * lane_bytes)) as usize / TILE_LANES * TILE_LANES;
        fit.min(whole_tiles(self.lanes())).min(self.max_launch_lanes()).max(TILE_LANES)
    }
}

/// The lanes of whole tiles, or as many as can be counted.
fn whole_tiles(lanes: usize) -> usize {
    lanes.checked_next_multiple_of(TILE_LANES).unwrap_or(usize::MAX / TILE_LANES * TILE_LANES)
}
