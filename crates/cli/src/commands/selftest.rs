//! `warpmp selftest`: known answers through every algorithm of an engine.
//!
//! The answers are num-bigint's, which shares no code with the engines, for operands that make carries
//! run, at the widths where kernels change.

use warpmp::{Batch, EngineKind, Error as LibraryError, Operation, Options, Session, Shape, operation::Group};

use super::{
    check::{borrowed, compare, lane_of},
    pattern::{self, Form},
};
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

/// Widths of all operands of the other operations, as pairs like the others: at a limb, packed, beyond a thread.
const OTHER_WIDTHS: &[(usize, usize)] = &[(1, 1), (64, 64), (131, 131), (1024, 1024), (1600, 1600)];

/// Lanes of a case: more than a warp, and not a multiple of one.
const LANES: usize = 35;
/// Fewer lanes where each of them is much work.
const WIDE_LANES: usize = 3;
const WIDE_BITS: usize = 8192;
/// The same for modular arithmetic on the simulator.
const SIMULATED_WIDE_BITS: usize = 1024;
/// The widest on the simulator, which takes seconds for what a GPU does in no time.
const SIMULATED_BITS: usize = 8192;

/// Known answers that an engine does not give.
#[derive(Debug, thiserror::Error)]
#[error("{failed} of {total} known answers were wrong")]
pub(crate) struct WrongAnswers {
    failed: usize,
    total: usize,
}

/// Runs the command.
pub(crate) fn run(args: &Selftest) -> Result<()> {
    let session = engine::open(args.device.selector, false)?;
    let mut failed = 0;
    let mut total = 0;
    console::report(&format!("{}\n", session.engine().name))?;
    let most = if session.engine().kind == EngineKind::Sim { SIMULATED_BITS } else { usize::MAX };
    let operations = if args.operation.is_empty() { Operation::ALL } else { &args.operation };
    for &operation in operations {
        let widths = if operation == Operation::Mul { WIDTHS } else { OTHER_WIDTHS };
        for algorithm in session.algorithms(operation) {
            let mut passed = 0;
            let mut first_fault = None;
            for widths in widths.iter().filter(|(bits_a, _)| *bits_a <= most) {
                for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random] {
                    interrupt::check()?;
                    match case(&session, operation, algorithm, *widths, pattern) {
                        Ok(true) => passed += 1,
                        Ok(false) => {}
                        Err(Error::Interrupted) => return Err(Error::Interrupted),
                        Err(fault) => {
                            failed += 1;
                            first_fault
                                .get_or_insert(format!("{} × {} bits, {pattern:?}: {fault}", widths.0, widths.1));
                        }
                    }
                }
            }
            total += passed;
            match first_fault {
                None if passed == 0 => {
                    console::report(&format!("  skip  {operation} by {algorithm}: {}\n", unfit(algorithm)))?;
                }
                None => console::report(&format!("  pass  {operation} by {algorithm}: {passed} known answers\n"))?,
                Some(fault) => console::report(&format!("  FAIL  {operation} by {algorithm}: {fault}\n"))?,
            }
        }
    }
    total += failed;
    if failed == 0 {
        console::report(&format!("{total} known answers, all of them right\n"))
    } else {
        Err(WrongAnswers { failed, total }.into())
    }
}

/// Why an algorithm takes none of the widths.
fn unfit(algorithm: &str) -> &'static str {
    match algorithm {
        "cpu-ifma" => "this processor has no AVX-512 IFMA",
        "cpu-avx2" => "this processor has no AVX2 with FMA",
        _ => "takes none of these widths",
    }
}

/// Does the algorithm give the right results? False if it does not take these widths.
fn case(
    session: &Session,
    operation: Operation,
    algorithm: &str,
    (bits_a, bits_b): (usize, usize),
    pattern: Pattern,
) -> Result<bool> {
    // Powers of long numbers are what takes the simulator longest.
    let is_simulated = session.engine().kind == EngineKind::Sim && operation.group() == Group::Modular;
    let wide_bits = if is_simulated { SIMULATED_WIDE_BITS } else { WIDE_BITS };
    let lanes = if bits_a.max(bits_b) >= wide_bits { WIDE_LANES } else { LANES };
    let operands = if operation == Operation::Mul {
        let operand = |bits, seed| pattern::operands(pattern, Shape::new(lanes, bits), 0, seed);
        vec![operand(bits_a, 1)?, operand(bits_b, 2)?]
    } else {
        pattern::for_operation(operation, pattern, Shape::new(lanes, bits_a), Form::EQUAL)?
    };
    let mut options = Options::new();
    options.algorithm = Some(algorithm.to_owned());
    let results = match session.apply(operation, &operands.iter().collect::<Vec<_>>(), options) {
        Err(LibraryError::AlgorithmUnfit { .. }) => return Ok(false),
        result => result?.0,
    };
    for lane in 0..lanes {
        let view = |batches: &'_ [Batch<'static>]| -> Vec<(Vec<u32>, usize)> {
            batches.iter().map(|batch| lane_of(batch, lane)).map(|(limbs, bits)| (limbs.to_vec(), bits)).collect()
        };
        let (operands, results) = (view(&operands), view(&results));
        compare(operation, lane as u64, &borrowed(&operands), &borrowed(&results))?;
    }
    Ok(true)
}
