//! What the products by transforms share: the order of the passes, the places of the points in shared memory, the order of the
//! roots in the table, and the carries.
//!
//! ```text
//! ring.rs      the numbers that are transformed: what a ring must know. `fft` has complex doubles, `ntt` residues
//! angle.rs     roots of unity as fractions of a turn
//! codelet.rs   transforms of 2 to 16 points in registers
//! layout.rs    parts and points of a product, and their places in shared memory
//! table.rs     the order of the roots in the table of a kernel
//! passes.rs    the passes over the points of a block
//! carry.rs     from numbers of two words at each word of the result to the result
//! ```

pub(super) mod angle;
pub(super) mod carry;
pub(super) mod codelet;
pub(super) mod layout;
pub(super) mod passes;
pub(super) mod ring;
pub(super) mod table;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Bounds, Special};
use warpmp_launch::Ports;

use super::OperationShape;
use layout::Layout;

/// Shared memory of a multiprocessor, in bytes: a block takes 1024 bytes more than it asks for.
pub(super) const SHARED_BYTES: u32 = 227 << 10;

/// The oldest GPU whose shared memory holds a block, as compute capability times ten.
pub(super) const SHARED_MEMORY_FROM: u32 = 80;

/// Registers of a multiprocessor.
pub(super) const REGISTERS: u32 = 65536;

/// The place of a thread, and where it finds things.
pub(super) struct Place {
    /// Number of the thread in its block.
    pub(super) thread: R32,
    /// Number of the lane in its warp.
    pub(super) lane: R32,
    /// Where the block's shared memory begins.
    pub(super) shared: R32,
    /// Where the table begins.
    pub(super) table: R64,
}

impl Layout {
    /// As many blocks a multiprocessor as shared memory allows and as leave each thread the registers that the passes need.
    pub(super) fn bounds(self, registers: u32) -> Bounds {
        let threads = self.block_threads();
        let blocks = (SHARED_BYTES / (self.bytes() + 1024)).min(REGISTERS / (threads * registers));
        Bounds { max_threads: Some(threads), min_blocks: Some(blocks.max(1)), ..Bounds::default() }
    }
}

/// The limbs of the factors and of the result of a product, or of a square as a product.
pub(super) fn limbs(shape: OperationShape) -> [u32; 3] {
    let [a, b, _] = shape.limbs();
    let c = shape.results()[0].div_ceil(32);
    [a, if shape.operands().len() == 1 { a } else { b }, c]
}

/// The address of row `i` of the block's product: the operands come first.
pub(super) fn row(b: &mut Builder, shape: OperationShape, ports: &Ports, i: usize) -> R64 {
    let limbs = shape.limbs::<4>()[i];
    let address = ports.addresses[i];
    if shape.is_common(i) {
        return address;
    }
    let product = b.special(Special::Ctaid);
    b.mad_wide(product, 4 * limbs, address)
}
