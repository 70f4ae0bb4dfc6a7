//! Every kernel of this crate on the simulator, against the oracle, and the counts of the papers.
//!
//! ```text
//! common.rs           the papers' multiplications by name, alone and through a session
//! thread.rs, warp.rs  multiplications by one thread, by one warp
//! epfl.rs             the EPFL report's experiments
//! ```

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod epfl;
mod thread;
mod warp;
