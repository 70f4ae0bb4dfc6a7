//! Squares against num-bigint on every engine: one body, carry-prone operands.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use warpmp::operation::MUL_MAX_BITS;
use warpmp::{Batch, Error, Operation, Options, Session, Shape};
use warpmp_testkit::conformance::{self, Case};
use warpmp_testkit::operands::around;
use warpmp_testkit::{Operands, Pattern};

fn batch(operands: &Operands) -> Batch<'_> {
    Batch::borrow(Shape::new(operands.lanes, operands.bits), &operands.limbs).unwrap()
}

/// The session's squares, as the suite wants them.
fn by(session: &Session, algorithm: Option<&str>) -> impl Fn(&Operands) -> Result<Vec<u32>, Error> {
    move |a| {
        let mut options = Options::new();
        options.algorithm = algorithm.map(str::to_owned);
        session.apply(Operation::Sqr, &[&batch(a)], options).map(|(mut c, _)| c.remove(0).into_limbs())
    }
}

fn sizes(of: &[usize]) -> Vec<(usize, usize)> {
    of.iter().map(|&bits| (bits, bits)).collect()
}

#[test]
fn cpu_squares_around_every_threshold() {
    let thresholds = around(&[1, 32, 64, 128, 192, 256, 384, 512, 1024, 2048, 4096]);
    let near: Vec<usize> = thresholds.into_iter().filter(|&bits| bits > 0).collect();
    conformance::sqr(&conformance::cases(&sizes(&near), 33), by(&Session::cpu(), None));
}

#[test]
fn every_cpu_algorithm_squares() {
    let session = Session::cpu();
    // Digits of 52 bits: strips of 8, Karatsuba's method from 4160 bits, odd halves above.
    let near = sizes(&[1, 31, 33, 64, 65, 127, 131, 200, 257, 415, 417, 832, 1000, 2048, 4096]);
    let wide = sizes(&[4108, 4160, 4212, 8300, 8372, 16500, 33333, 65536]);
    for algorithm in ["cpu-schoolbook", "cpu-dashu", "cpu-ifma", "cpu-avx2", "cpu-fft", "cpu-fft-avx2"] {
        let one = Batch::from_u64s(&[1]);
        match session.apply(Operation::Sqr, &[&one], Options::new().algorithm(algorithm)) {
            Ok(_) => conformance::sqr(&conformance::cases(&near, 33), by(&session, Some(algorithm))),
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
    conformance::sqr(&conformance::cases(&wide, 9), by(&session, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cpu_squares_any_length(
        log_bits in 0.0..16.0f64,
        lanes in 1usize..40,
        pattern in 0usize..7,
        seed in any::<u32>(),
    ) {
        let bits = (log_bits.exp2() as usize).clamp(1, MUL_MAX_BITS);
        let pattern = Pattern::ALL[pattern];
        let case = Case { bits: [bits; 2], lanes: [lanes; 2], patterns: [pattern; 2], seed: seed.into() };
        conformance::sqr(&[case], by(&Session::cpu(), None));
    }
}

#[test]
fn a_square_is_an_operation_of_one_operand() {
    let session = Session::cpu();
    let a = Batch::from_u64s(&[3, u64::MAX]);
    let c = session.sqr(&a).unwrap();
    assert_eq!((c.to_u64(0), c.to_hex(1).as_deref()), (Some(9), Some("fffffffffffffffe0000000000000001")));
    let resident = session.upload(&a).unwrap();
    assert_eq!(session.download(&session.sqr_device(&resident).unwrap()).unwrap().limbs(), c.limbs());
    let error = session.apply(Operation::Sqr, &[&a, &a], Options::new()).unwrap_err();
    assert_eq!(error, Error::OperandCount { operation: Operation::Sqr, expected: 1, found: 2 });
}
