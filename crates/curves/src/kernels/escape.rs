//! `escape`: walks that came back to an earlier state leave their cycle.
//!
//! computes   for each walk: if its state is that of `earlier`, the state becomes the smallest point seen since, to be
//!            doubled next
//! requires   between the two states a whole number of rounds with [`Walk::watched`](super::walk::Walk)
//! launch     that of the walk's kernel without shared memory
//! cost       `16·L` bytes a walk; a cycle is rare
//!
//! source: Bernstein, Lange, Schwabe 2011.

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Emit, Glue};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel};
use warpmp_launch::{Address, parameters, thread_number};

use super::curve::{Curve, same};
use super::walk::Walk;

parameters! {
    /// The parameters of the kernel.
    pub(crate) struct Inputs, Arguments {
        /// The state of all walks.
        state: Address,
        /// A copy of the state that was made some rounds before.
        earlier: Address,
        /// The smallest point of each walk since.
        smallest: Address,
        /// Counts the walks that left a cycle.
        count: Address,
    }
}

/// The launch.
pub fn grid(walk: &Walk) -> Grid {
    Grid { blocks: walk.blocks, threads: walk.threads, shared_bytes: 0 }
}

/// Writes the kernel for the walks of a kernel.
pub fn build(walk: &Walk) -> Kernel {
    let mut b = Builder::new(&format!("escape_{}", walk.constants.name()), Glue::Every(1));
    b.bounds(Bounds { max_threads: Some(walk.threads), ..Bounds::default() });
    let inputs = Inputs::of(&mut b, false);
    let column = thread_number(&mut b, walk.threads);
    let curve = Curve::new(&mut b, &walk.constants, column);
    let columns = walk.columns();
    let [state, earlier, smallest] = [inputs.state, inputs.earlier, inputs.smallest].map(|address| b.copy64(address));
    let index = b.copy(0);
    b.do_while(|b| {
        let now = [0, 1].map(|i| columns.load(b, state, column, i)).concat();
        let before = [0, 1].map(|i| columns.load(b, earlier, column, i)).concat();
        let back = same(b, &now, &before);
        b.if_(back, |b| {
            let [x, y] = [0, 1].map(|i| columns.load(b, smallest, column, i));
            let flag = curve.negate(b, &y);
            columns.store(b, state, column, 0, &x);
            columns.store(b, state, column, 1, &flag);
            b.atomic_add_global(inputs.count, 0, 1);
        });
        for (address, numbers) in [(state, 3), (earlier, 3), (smallest, 2)] {
            let next = b.add64(address, u64::from(numbers * columns.bytes()));
            b.set64(address, next);
        }
        b.increase(index, 1);
        b.compare(Cmp::Lt, index, walk.points)
    });
    b.finish()
}
