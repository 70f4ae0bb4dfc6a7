//! The products by transforms on the simulator.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod extras;
mod fft;
mod ntt;
mod wraparound;
