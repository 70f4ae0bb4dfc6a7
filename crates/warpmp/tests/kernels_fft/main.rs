//! The products by transforms on the simulator.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod extras;
mod fft;
mod ntt;
mod wraparound;

use warpmp_testkit::Pattern;

/// How many lanes operands of a pattern have: one if all lanes are the same.
fn lanes(pattern: Pattern, others: usize) -> usize {
    if pattern == Pattern::Ones { 1 } else { others }
}
