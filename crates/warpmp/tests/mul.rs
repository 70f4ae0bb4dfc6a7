//! Multiplication against num-bigint on every engine: one body, carry-prone operands.

use proptest::prelude::*;
use warpmp::operation::MUL_MAX_BITS;
use warpmp::{Batch, Error, Operation, Options, Session, Shape};
use warpmp_testkit::conformance::{self, Case};
use warpmp_testkit::operands::around;
use warpmp_testkit::{Operands, Pattern};

/// Sizes at which the CPU engine changes its ways.
const THRESHOLDS: &[usize] = &[1, 32, 64, 128, 131, 192, 256, 384, 512, 1000, 1024, 2048, 2496, 4992];

fn batch(operands: &Operands) -> Batch<'_> {
    Batch::borrow(Shape::new(operands.lanes, operands.bits), &operands.limbs).expect("the testkit masks the top limb")
}

/// The session's products, as the suite wants them.
fn by(session: &Session, algorithm: Option<&str>) -> impl Fn(&Operands, &Operands) -> Result<Vec<u32>, Error> {
    move |a, b| {
        let mut options = Options::new();
        options.algorithm = algorithm.map(str::to_owned);
        session.apply(Operation::Mul, &[&batch(a), &batch(b)], options).map(|(mut c, _)| c.remove(0).into_limbs())
    }
}

/// Every size with itself, with the next, and with the one at the other end.
fn pairs(sizes: &[usize]) -> Vec<(usize, usize)> {
    let last = sizes.len() - 1;
    let partners =
        |i: usize| [(sizes[i], sizes[i]), (sizes[i], sizes[(i + 1) % sizes.len()]), (sizes[i], sizes[last - i])];
    (0..sizes.len()).flat_map(partners).collect()
}

#[test]
fn cpu_conforms_at_every_threshold() {
    let session = Session::cpu();
    conformance::mul(&conformance::cases(&pairs(&around(THRESHOLDS)), 129), by(&session, None));
}

#[test]
fn cpu_conforms_when_large() {
    let session = Session::cpu();
    let sizes = [(4096, 4096), (8191, 4097), (16384, 100), (32768, 32768), (65535, 65535), (65536, 65536), (1, 65536)];
    conformance::mul(&conformance::cases(&sizes, 3), by(&session, None));
}

#[test]
fn every_cpu_algorithm_conforms() {
    let session = Session::cpu();
    let sizes = pairs(&[1, 31, 33, 64, 65, 127, 131, 200, 257, 512, 777, 1024, 1500, 2048]);
    for algorithm in ["cpu-schoolbook", "cpu-dashu"] {
        conformance::mul(&conformance::cases(&sizes, 33), by(&session, Some(algorithm)));
    }
    let one = Batch::from_u64s(&[1]);
    for algorithm in ["cpu-ifma", "cpu-avx2"] {
        match session.apply(Operation::Mul, &[&one, &one], Options::new().algorithm(algorithm)) {
            Ok(_) => conformance::mul(&conformance::cases(&sizes, 33), by(&session, Some(algorithm))),
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
}

/// By name they take any lengths, also those for which they are no default.
#[test]
fn transforms_conform() {
    let session = Session::cpu();
    let sizes = [(1, 1), (33, 1000), (5000, 30), (16384, 16384), (20_000, 65_537), (100_000, 31), (150_001, 150_000)];
    for algorithm in ["cpu-fft", "cpu-fft-avx2"] {
        let one = Batch::from_u64s(&[1]);
        match session.apply(Operation::Mul, &[&one, &one], Options::new().algorithm(algorithm)) {
            Ok(_) => {
                let shared = [[3, 1], [1, 3], [3, 3]].into_iter().flat_map(|lanes| {
                    let patterns = [Pattern::Ones, Pattern::Random];
                    sizes.map(|(p, q)| Case { bits: [p, q], lanes, patterns, seed: 5 })
                });
                let cases: Vec<Case> = conformance::cases(&sizes, 2).into_iter().chain(shared).collect();
                conformance::mul(&cases, by(&session, Some(algorithm)));
            }
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn cpu_multiplies_any_lengths(
        // Small widths often, large ones sometimes: the logarithm is uniform.
        log_bits in [0.0..16.0f64, 0.0..16.0f64],
        lanes in 1usize..40,
        shared in 0..4,
        patterns in [0usize..7, 0usize..7],
        seed in any::<u32>(),
    ) {
        let session = Session::cpu();
        let bits = log_bits.map(|log| (log.exp2() as usize).clamp(1, MUL_MAX_BITS));
        let lanes = match shared { 0 => [1, lanes], 1 => [lanes, 1], _ => [lanes, lanes] };
        let case = Case { bits, lanes, patterns: patterns.map(|i| Pattern::ALL[i]), seed: seed.into() };
        conformance::mul(&[case], by(&session, None));
    }
}

#[test]
fn the_result_has_no_limb_too_many() {
    let c = Session::cpu()
        .mul(&Batch::from_le_bytes(131, &[[255; 16]]).unwrap(), &Batch::from_le_bytes(131, &[[2]]).unwrap());
    let c = c.unwrap();
    assert_eq!((c.bits(), c.shape().limbs()), (262, 9));
    assert_eq!(c.to_hex(0).unwrap(), "1fffffffffffffffffffffffffffffffe");
}

#[test]
fn lanes_that_do_not_pair_are_refused_with_both_numbers() {
    let error = Session::cpu().mul(&Batch::from_u64s(&[1, 2, 3]), &Batch::from_u64s(&[1, 2])).unwrap_err();
    assert_eq!(error, Error::ShapeMismatch { lanes_a: 3, lanes_b: 2 });
    let message = error.to_string();
    assert!(message.contains('3') && message.contains('2'), "{message}");
}

#[test]
fn an_operand_that_is_too_wide_is_refused() {
    let wide = Batch::from_le_bytes(MUL_MAX_BITS + 1, &[[1]]).unwrap();
    let error = Session::cpu().mul(&wide, &Batch::from_u64s(&[1])).unwrap_err();
    assert_eq!(error, Error::TooWide { operation: Operation::Mul, bits: MUL_MAX_BITS + 1, limit: MUL_MAX_BITS });
    assert!(Operation::Mul.results(&[Shape::new(1, MUL_MAX_BITS); 2]).is_ok());
}

#[test]
fn algorithms_are_known_by_name_and_limit() {
    let session = Session::cpu();
    let a = Batch::from_le_bytes(8192, &[[1]]).unwrap();
    let unknown = session.apply(Operation::Mul, &[&a, &a], Options::new().algorithm("abacus")).unwrap_err();
    assert!(
        matches!(&unknown, Error::UnknownAlgorithm { name, known, .. } if name == "abacus" && known.len() >= 2),
        "{unknown}"
    );
    let unfit = session.apply(Operation::Mul, &[&a, &a], Options::new().algorithm("cpu-schoolbook")).unwrap_err();
    assert!(unfit.to_string().contains("cpu-dashu"), "{unfit}");
}

#[test]
fn a_given_buffer_becomes_the_result() {
    let session = Session::cpu();
    let a = Batch::from_u64s(&[3, 4]);
    let into = |words| Options::new().into(session.host_buffer(words).unwrap());
    let (c, report) = session.apply(Operation::Mul, &[&a, &a], into(8)).unwrap();
    assert_eq!(c[0].iter().map(|lane| lane[0]).collect::<Vec<_>>(), [9, 16]);
    assert_eq!((report.lanes, report.bits, report.bytes), (2, vec![64, 64], 16 + 16 + 32));
    let error = session.apply(Operation::Mul, &[&a, &a], into(7)).unwrap_err();
    assert_eq!(error, Error::LimbCount { lanes: 2, bits: 128, expected_limbs: 8, found_limbs: 7 });
}
