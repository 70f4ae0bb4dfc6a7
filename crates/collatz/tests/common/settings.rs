//! Settings of a GPU for the simulator.

use warpmp_collatz::{
    gpu::{Settings, delay},
    kernels::delay_pools::DelayPools,
};

/// Small tables, and a launch of one block.
pub(crate) const SETTINGS: Settings = Settings {
    jump_bits: 6,
    warps: 2,
    blocks: 1,
    report_capacity: 16,
    delays: DelayPools { base_bits: 10, known_bits: 12, chunk: 64, warps: 2, blocks: 1, ..delay::SETTINGS },
};
