//! `begin`: a point of every thread is set to a start of the pool.
//!
//! computes   for thread `i`: the point of a row of the state becomes start `i` of the pool
//! launch     that of the walk's kernel without shared memory
//! cost       `16·L` bytes a start

use warpmp_kernel::build::{Builder, Emit, Glue};
use warpmp_kernel::ir::{Bounds, Kernel, Space, Vector};
use warpmp_launch::{Address, Long, parameters, thread_number};

use super::walk::Walk;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The row of the state.
        state: Address,
        /// The starts of the row's walks, 64 bits each.
        seeds: Address,
        /// Starts: rows of `x` and `y`.
        pool: Address,
        /// The number of the first start.
        first: Long,
    }
}

/// Writes the kernel for the walks of a kernel.
pub fn build(walk: &Walk) -> Kernel {
    let limbs = walk.constants.limbs;
    let mut b = Builder::new(&format!("begin_{}", walk.constants.name()), Glue::None);
    b.bounds(Bounds { max_threads: Some(walk.threads), ..Bounds::default() });
    let inputs = Inputs::of(&mut b, false);
    let column = thread_number(&mut b, walk.threads);
    let row = b.mad_wide(column, 8 * limbs, inputs.pool);
    for coordinate in 0..2 {
        let limb = |i| 4 * (coordinate * limbs + i);
        let number: Vec<_> = (0..limbs).flat_map(|i| b.load_global(Space::Global, Vector::V1, row, limb(i))).collect();
        walk.columns().store(&mut b, inputs.state, column, coordinate, &number);
    }
    let start = b.widen(column);
    let start = b.add64(start, inputs.first);
    let (low, high) = b.unpack(start);
    let seed = b.mad_wide(column, 8, inputs.seeds);
    b.store_global(Space::Global, &[low, high], seed, 0);
    b.finish()
}
