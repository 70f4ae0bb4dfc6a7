//! The native half of the Python package `warpmp`.
//!
//! ```text
//! batch       the class Batch: lanes on the host or on a device, in and out of NumPy
//! rows        lanes of the host: views, widths, gathering
//! numbers     numbers of any origin as lanes
//! integers    Python's integers as lanes, and back
//! long        the digits of Python's integers, in place
//! digits      limbs of 32 bits as digits of 30 bits, and back
//! share       limbs that other libraries share: DLPack, and memory of a GPU
//! text        numbers as text and as bytes
//! engine      sessions by the names of devices
//! apply       operations, in pieces where they take long
//! watch       Ctrl-C and progress of long work
//! numtheory   primality, next primes and common factors
//! factor      factors by elliptic curves, P−1 and P+1
//! collatz     convergence, delays, trajectories, records
//! ecdlp       discrete logarithms
//! error       errors as Python's exceptions
//! ```
//!
//! Python code (`python/warpmp`) has the types that people use. A call that computes detaches from the interpreter.

#![deny(unsafe_code)]

mod apply;
mod batch;
mod collatz;
mod digits;
mod ecdlp;
mod engine;
mod error;
mod factor;
mod integers;
#[allow(unsafe_code, reason = "Python's stable interface has no access to the digits of integers")]
mod long;
mod numbers;
mod numtheory;
mod rows;
#[allow(unsafe_code, reason = "other libraries give and take addresses")]
mod share;
mod text;
mod watch;

use pyo3::prelude::*;

/// The native half of `warpmp`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::apply::{apply, operations, statuses};
    #[pymodule_export]
    use crate::batch::{Batch, concatenate, from_bits, from_limbs, random};
    #[pymodule_export]
    use crate::collatz::{delays, known_records, records, trace, verify};
    #[pymodule_export]
    use crate::ecdlp::{curves, solve, solve_named};
    #[pymodule_export]
    use crate::engine::{describe, devices};
    #[pymodule_export]
    use crate::factor::{ecm, factor_all, pm1, pp1};
    #[pymodule_export]
    use crate::integers::{convert_in_place, from_ints};
    #[pymodule_export]
    use crate::numtheory::{batch_gcd, is_prime, next_primes};
    #[pymodule_export]
    use crate::share::from_gpu;
    #[pymodule_export]
    use crate::text::{from_bytes, from_text};
}
