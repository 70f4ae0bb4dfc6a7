//! Every kernel of this crate on the simulator, against plain iteration and the rules.
//!
//! ```text
//! lookahead.rs, honda.rs  verification: the look-ahead, Algorithm 5
//! leaves.rs, vector.rs    survivors of the rules, and the bit vectors of the look-ahead
//! alpha.rs, delay.rs      checksums of work units, delays
//! ```

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod alpha;
#[path = "../common/mod.rs"]
mod common;
mod delay;
mod honda;
mod leaves;
mod lookahead;
mod vector;
