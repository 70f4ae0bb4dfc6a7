//! `warpmp selftest`: known answers through every algorithm of an engine.
//!
//! The answers are num-bigint's, which shares no code with the engines, for operands that make carries
//! run, at the widths where kernels change.

use warpmp::{EngineKind, Error as LibraryError, Operation, Session, Shape};

use super::{check::compare, pattern};
use crate::{
    args::{Pattern, Selftest},
    console, engine,
    error::{Error, Result},
    interrupt,
};

/// Widths of the two operands: around limbs, packed groups, a warp's 1024 bits, and the ends.
const WIDTHS: &[(usize, usize)] = &[
    (1, 1),
    (31, 33),
    (32, 32),
    (64, 64),
    (128, 128),
    (131, 131),
    (256, 256),
    (512, 512),
    (1000, 1000),
    (1024, 1024),
    (1024, 64),
    (1025, 1025),
    (1536, 1536),
    (2048, 2048),
    (4096, 4096),
    (8192, 300),
    (65536, 65536),
];

/// Lanes of a case: more than a warp, and not a multiple of one.
const LANES: usize = 35;
/// Fewer lanes where each of them is much work.
const WIDE_LANES: usize = 3;
const WIDE_BITS: usize = 8192;
/// The widest on the simulator, which takes seconds for what a GPU does in no time.
const SIMULATED_BITS: usize = 8192;

/// Runs the command.
pub(crate) fn run(args: &Selftest) -> Result<()> {
    let session = engine::open(args.device.0, false)?;
    let mut failed = 0;
    let mut total = 0;
    console::print(&format!("{}\n", session.engine().name))?;
    let most = if session.engine().kind == EngineKind::Sim { SIMULATED_BITS } else { usize::MAX };
    for algorithm in engine::algorithms(&session, Operation::Mul)? {
        let mut passed = 0;
        let mut first_fault = None;
        for (bits_a, bits_b) in WIDTHS.iter().filter(|(bits_a, _)| *bits_a <= most) {
            for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random] {
                interrupt::check()?;
                match case(&session, &algorithm, *bits_a, *bits_b, pattern) {
                    Ok(true) => passed += 1,
                    Ok(false) => {}
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(fault) => {
                        failed += 1;
                        first_fault.get_or_insert(format!("{bits_a} × {bits_b} bits, {pattern:?}: {fault}"));
                    }
                }
            }
        }
        total += passed;
        match first_fault {
            None => console::print(&format!("  pass  {algorithm}: {passed} known answers\n"))?,
            Some(fault) => console::print(&format!("  FAIL  {algorithm}: {fault}\n"))?,
        }
    }
    total += failed;
    if failed == 0 { Ok(()) } else { Err(Error::SelfTest { failed, total }) }
}

/// Does the algorithm give the right products? False if it does not take these widths.
fn case(session: &Session, algorithm: &str, bits_a: usize, bits_b: usize, pattern: Pattern) -> Result<bool> {
    let lanes = if bits_a.max(bits_b) >= WIDE_BITS { WIDE_LANES } else { LANES };
    let a = pattern::operands(pattern, Shape::new(lanes, bits_a), 0, 1)?;
    let b = pattern::operands(pattern, Shape::new(lanes, bits_b), 0, 2)?;
    let (products, _) = match engine::apply(session, Operation::Mul, &[&a, &b], Some(algorithm), None) {
        Err(LibraryError::AlgorithmUnfit { .. }) => return Ok(false),
        result => result?,
    };
    for (lane, ((a, b), product)) in a.iter().zip(&b).zip(&products).enumerate() {
        compare(Operation::Mul, lane as u64, &[a, b], &[product])?;
    }
    Ok(true)
}
