//! `ntt`: every division, unequal lengths, carries, and the counts that are its performance.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::ntt::Ntt;
use warpmp::kernels::{OperationShape, Settings, Spec};
use warpmp::{Operation, Plan, Shape, tuning};
use warpmp_kernel::ir::Pipe;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_square, multiplication, shape, squaring};

const NAME: &str = "ntt";

fn spec(bits: [usize; 2]) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), &Settings::default(), true)
}

#[test]
fn every_division() {
    for bits in [2048, 8192, 8193, 16385, 24576, 24577, 32769, 49152, 49153, 65536] {
        check(&*spec([bits, bits]), shape([bits, bits], false), 1, Pattern::Ones);
    }
}

#[test]
fn carries() {
    for bits in [2100, 16384, 24576] {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check(&*spec([bits, bits]), shape([bits, bits], false), 2, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [[2048, 1], [16000, 32], [16000, 384], [1000, 31000], [48000, 1000], [130_000, 1000], [65536, 20000]] {
        for (common, pattern) in [(false, Pattern::Ones), (false, Pattern::Carry), (true, Pattern::Carry)] {
            let shape = shape(bits, common);
            check(&*multiplication(NAME, shape, &Settings::default(), true), shape, 1, pattern);
        }
    }
}

#[test]
fn squares() {
    for bits in [2048, 12000, 16384, 24576, 49152, 65536] {
        for pattern in [Pattern::Ones, Pattern::Random] {
            check_square(&*squaring(NAME, bits, &Settings::default()), bits, 1, pattern);
        }
    }
}

/// Runs of ones and of zeros that are longer than the words of a warp, and single bits: sums in the transforms are as large as possible.
#[test]
fn long_runs() {
    for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Runs, Pattern::Sparse] {
        check(&*spec([65536, 65536]), shape([65536, 65536], false), 1, pattern);
    }
}

/// No residue overflows and no coefficient exceeds the primes. Both checks can fail.
#[test]
fn bounds() {
    for bits in [2048, 8192, 24576, 32768, 49152, 65536] {
        let kernel = Ntt::new(OperationShape::square(bits));
        assert!(kernel.greatest_residue() < 1 << 31, "{bits} bits");
        assert!(kernel.coefficient_bound(32) < 1.0, "{bits} bits");
    }
    let longest = Ntt::new(OperationShape::square(65536));
    assert!(longest.greatest_residue() > 3 << 29);
    assert!(longest.coefficient_bound(33) > 1.0);
}

/// Carries run in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    let count = |pattern| check(&*spec([16384; 2]), shape([16384; 2], false), 2, pattern).instructions();
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
        assert_eq!(count(pattern), count(Pattern::Ones), "{pattern:?}");
    }
}

/// Of a warp: wide products, low products, all instructions, accesses to shared memory, sectors. No access waits for a bank, but
/// in the second pass of 512 points.
#[test]
fn costs() {
    let cases = [
        (16384, [1836, 3086, 12982, 1385, 2710]),
        (24576, [3010, 5430, 21338, 2905, 6319]),
        (32768, [3960, 6700, 27116, 2761, 5228]),
        (49152, [6452, 11676, 44746, 4073, 12062]),
        (65536, [8496, 14504, 57112, 5513, 10264]),
    ];
    for (bits, counts) in cases {
        let counters = check(&*spec([bits, bits]), shape([bits, bits], false), 1, Pattern::Random);
        let found = [
            counters.pipe(Pipe::WideMul).warps,
            counters.pipe(Pipe::Mul).warps,
            counters.instructions().warps,
            counters.shared_wavefronts(),
            counters.load_sectors(),
        ];
        assert_eq!(found, counts, "{bits} bits");
        assert_eq!(counters.store_sectors(), bits as u64 / 128, "{bits} bits");
        assert_eq!(counters.bank_conflicts() > 0, bits == 24576, "{bits} bits");
    }
}

/// A square transforms one factor.
#[test]
fn squares_save_a_transform() {
    let product = check(&*spec([32768; 2]), shape([32768; 2], false), 1, Pattern::Random);
    let square = check_square(&*squaring(NAME, 32768, &Settings::default()), 32768, 1, Pattern::Random);
    assert_eq!([product, square].map(|it| it.pipe(Pipe::WideMul).warps), [3960, 2992]);
}

/// GPUs that are slow with doubles take `ntt` where the others take `fft`.
#[test]
fn a_gpu_that_is_slow_with_doubles_takes_residues() {
    for (capability, chosen) in [(75, "group"), (80, "fft"), (86, NAME), (89, NAME), (90, "fft"), (120, NAME)] {
        let device = device::open_sim_with(&SimConfig { capability, ..SimConfig::default() });
        for (operation, operands) in [(Operation::Mul, 2), (Operation::Sqr, 1)] {
            for bits in [30000, 40000, 65536] {
                let operands = vec![Shape::new(100_000, bits); operands];
                let plan = Plan::new(operation, &operands, device.info(), &tuning::shipped(capability), None).unwrap();
                assert_eq!(plan.algorithm() == NAME, chosen == NAME, "sm_{capability}: {}", plan.explain());
                assert_eq!(plan.algorithm().starts_with("fft"), chosen == "fft", "sm_{capability}: {}", plan.explain());
                assert!(chosen != NAME || plan.explain().contains("expected to be fastest there, not measured"));
                let few: Vec<Shape> = operands.iter().map(|it| Shape::new(10, it.bits)).collect();
                let plan = Plan::new(operation, &few, device.info(), &tuning::shipped(capability), None).unwrap();
                assert!(plan.algorithm() != NAME, "sm_{capability}: {}", plan.explain());
            }
        }
    }
}

#[test]
fn the_plan_tells_primes_and_bound() {
    let device = device::open_sim_with(&SimConfig::default());
    let operands = [Shape::new(64, 65536); 2];
    let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(90), Some(NAME)).unwrap().explain();
    for words in [
        "32 bits each; 1 × 4096 points modulo each of the primes 67043329, 66994177, 66969601",
        "below 1 the product is exact",
    ] {
        assert!(plan.contains(words), "{words}\n{plan}");
    }
}
