//! The products by transforms on the simulator.
//!
//! ```text
//! block.rs       `fft` with a block a product
//! wide.rs        the same with digits of 17 and 18 bits
//! large.rs       `fft` in four steps
//! wraparound.rs  `fft-wraparound`
//! extras.rs      addends and signs
//! ntt.rs         `ntt`
//! ```

mod block;
mod extras;
mod large;
mod ntt;
mod wide;
mod wraparound;

use warpmp_testkit::Pattern;

/// How many lanes operands of a pattern have: one if all lanes are the same.
fn lanes(pattern: Pattern, others: usize) -> usize {
    if pattern == Pattern::Ones { 1 } else { others }
}
