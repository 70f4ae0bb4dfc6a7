//! Number theory in bulk: which integers are prime, which have a factor in common, and which factors they have.
//!
//! * [`primality`]: trial division, then strong tests to many bases or the test of Baillie and Wagstaff (BPSW), for
//!   chunks of any number of integers of any widths; the next prime after each of many integers.
//! * [`batch_gcd`]: all integers of a set that share a factor with another one, by a product tree.
//! * [`factor`]: P−1, P+1 and elliptic curves, both stages, many integers and curves at a time, curves on a GPU, too; whole
//!   factorisations.
//! * [`fold`]: the sum, the product, the greatest common divisor or the least common multiple of a set, by trees.
//! * [`keys`]: the moduli of RSA keys, from the files in which people have them.
//!
//! The arithmetic runs on a [`Session`](warpmp::Session) of the crate `warpmp`: a GPU, its simulator, or the CPU. Work
//! that takes long reports to a [`Watch`], which can also stop it. Nothing here writes to a terminal, and only
//! [`factor::campaign`] reads and writes files.
#![forbid(unsafe_code)]

pub mod batch_gcd;
pub mod error;
pub mod factor;
pub mod fold;
pub mod keys;
pub mod primality;
pub mod watch;

pub use error::{Error, Result};
pub use watch::Watch;
