//! `fft` above 65536 bits on the simulator.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::fft::large::Large;
use warpmp::kernels::{OperandShape, OperationShape};
use warpmp::{Operation, Plan, Shape, tuning};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{is_product_modulo, numbers, run_plain};
use warpmp_testkit::kernels::products::{check, check_square, check_squares, shape};

fn product(bits: [usize; 2]) -> Large {
    Large::new(shape(bits, false)).unwrap()
}

/// One, three, five and nine parts of a column.
#[test]
fn products() {
    for bits in [
        [65537, 65537],
        [131_072, 131_072],
        [131_073, 140_000],
        [229_376, 200_000],
        [262_144, 262_144],
        [294_912, 262_145],
        [327_680, 327_680],
        [327_681, 320_000],
        [550_000, 540_000],
        // Columns of 32 points.
        [960_000, 950_000],
        // Nine parts.
        [1_050_000, 1_048_576],
        [1_800_000, 1_300_000],
        // Columns of 256 points, in three parts and in one.
        [5_000_000, 4_900_000],
        [5_200_000, 4_700_000],
        // Complex coefficients.
        [550_000, 70_000],
        [1_150_000, 800_000],
        [1_800_000, 70_000],
        [4_300_000, 70_000],
    ] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(&product(bits), shape(bits, false), 1, pattern);
        }
    }
}

#[test]
fn carries() {
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Edge, Pattern::Runs, Pattern::Sparse] {
        for bits in [131_072, 229_376, 262_144, 294_912, 327_680] {
            check(&product([bits; 2]), shape([bits; 2], false), 1, pattern);
        }
    }
}

#[test]
fn unequal_lengths_and_lanes() {
    for bits in [[65600, 1], [66000, 40000], [131_073, 1], [200_000, 262_144]] {
        for common in [false, true] {
            let shape = shape(bits, common);
            check(&Large::new(shape).unwrap(), shape, 3, Pattern::Carry);
        }
    }
}

#[test]
fn squares() {
    for bits in [65537, 131_072, 131_073, 229_376, 262_144, 294_912, 300_000, 393_216] {
        for pattern in [Pattern::Ones, Pattern::Random] {
            let large = Large::new(OperationShape::square(bits as u32)).unwrap();
            check_square(&large, bits, 1, pattern);
        }
    }
}

/// Products modulo `Bᴺ + 1`. Factors with more than half of its limbs have complex coefficients.
#[test]
fn products_modulo_a_power_and_one() {
    for (a, b, least) in
        [(12_400, 12_300, 12_500), (16_384, 8196, 16_392), (32_768, 16_385, 32_776), (23_039, 23_039, 23_040)]
    {
        let shapes = [a, b].map(|limbs| OperandShape::each(32 * limbs));
        let large = Large::modulo(shapes[0], shapes[1], least).unwrap();
        let n = large.result_limbs() as usize - 1;
        assert!(n >= least as usize && n < (a + b) as usize);
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random, Pattern::OneHot, Pattern::Runs] {
            let [x, y] = [(a, 1), (b, 2)].map(|(limbs, seed)| numbers(pattern, 2, 32 * limbs as usize, seed));
            let outcome = run_plain(&large, &[(shapes[0], &x[..]), (shapes[1], &y[..])], &[n as u32 + 1], 2);
            for lane in 0..2 {
                let (product, found) = (&x[lane] * &y[lane], &outcome.results[0][lane]);
                assert!(is_product_modulo(&product, found, n), "{a} {b} {n} {pattern:?}");
            }
        }
    }
    let operand = |limbs: u32| OperandShape::each(32 * limbs);
    assert!(Large::modulo(operand(8192), operand(100), 8200).is_none(), "there is no wrap");
}

/// Digits of 2¹⁵ − 1, of −2¹⁵, and one half of each: the greatest coefficients and the least ones.
#[test]
fn greatest_coefficients() {
    for bits in [131_072, 262_144] {
        let large = Large::new(OperationShape::square(bits as u32)).unwrap();
        let half = bits / 64;
        let [positive, negative] = [0x7FFF_7FFF, 0x8000_8000].map(|word| vec![word; half]);
        let rows = [&positive, &positive, &negative, &negative, &positive, &negative].map(Vec::as_slice).concat();
        check_squares(&large, bits, &rows);
    }
}

/// Sectors of 32 bytes in scratch memory. For each digit a spectrum has 16 bytes, written once and read once.
///
/// High columns have 8 bytes of pairs a digit: a thread reads half a sector of its own pairs at a time, and the nearest two pairs below them.
/// Of low columns a block reads 64 and the four below them. No access to the rows, to remainders or to the pairs of a chunk waits for a bank.
#[test]
fn bytes_of_scratch_memory() {
    for (bits, is_high) in [(350_000_usize, false), (4_300_000, true)] {
        for factors in [1_u64, 2] {
            let (counters, digits, bytes) = if factors == 1 {
                let large = Large::new(OperationShape::square(bits as u32)).unwrap();
                (check_square(&large, bits, 1, Pattern::Random), large.digits(), large.bytes_moved())
            } else {
                let large = product([bits; 2]);
                (check(&large, shape([bits; 2], false), 1, Pattern::Random), large.digits(), large.bytes_moved())
            };
            let [spectrum, pairs] = [16, 8].map(|bytes| u64::from(digits) * bytes / 32);
            let pairs = if is_high { pairs } else { 0 };
            assert_eq!(bytes, 32 * (2 * spectrum * (factors + 1) + 2 * pairs));
            let section = |name: &str| counters.section(name).unwrap();
            assert_eq!(section("down 1").store_sectors(), if is_high { 0 } else { factors * spectrum });
            assert_eq!(section("turn back").store_sectors(), spectrum);
            assert_eq!(section("round").store_sectors(), pairs);
            if is_high {
                let read = ["words", "window"].map(|name| section(name).load_sectors());
                assert_eq!(read, [2 * pairs, pairs / 4]);
            } else {
                assert_eq!(section("up 1").load_sectors(), spectrum + spectrum / 16);
                for name in ["remainders", "down 1", "row", "words"] {
                    assert_eq!(section(name).bank_conflicts(), 0, "{name}");
                }
            }
        }
    }
}

/// Short columns: only the product's spectrum is in scratch memory. A block reads 256 neighbouring columns and the two below them, a
/// sector a row, and writes whole lines of the result.
#[test]
fn bytes_of_short_columns() {
    let bits = 262_144_usize;
    let square = Large::new(OperationShape::square(bits as u32)).unwrap();
    let large = product([bits; 2]);
    for (counters, large) in [
        (check_square(&square, bits, 1, Pattern::Random), square),
        (check(&large, shape([bits; 2], false), 1, Pattern::Random), large),
    ] {
        let spectrum = u64::from(large.digits()) * 16 / 32;
        assert_eq!(large.bytes_moved(), 32 * 2 * spectrum);
        let section = |name: &str| counters.section(name).unwrap();
        assert_eq!(section("turn back").store_sectors(), spectrum);
        assert_eq!(section("up 1").load_sectors(), spectrum + spectrum / 128);
        assert_eq!(section("store").store_sectors(), u64::from(large.digits()) * 4 / 32);
    }
}

/// The largest product has a division, and a longer one has none.
#[test]
fn the_longest_product() {
    let of = |bits: u32| {
        let operand = OperandShape::each(bits);
        Large::new(OperationShape::product(operand, operand))
    };
    assert!(of(1 << 24).is_some_and(|it| it.bound() < 0.5));
    assert!(of(1 << 25).is_none());
}

/// The plan takes long products, tells passes, bound and bytes, and divides batches by their scratch memory.
#[test]
fn plans() {
    let device = device::open_sim_with(&SimConfig::default());
    let plan = |operation, lanes, bits| {
        let operands = vec![Shape::new(lanes, bits); if operation == Operation::Mul { 2 } else { 1 }];
        Plan::new(operation, &operands, device.info(), &tuning::shipped(90), None).unwrap()
    };
    for bits in [98_304, 1 << 20, 1 << 24] {
        for operation in [Operation::Mul, Operation::Sqr] {
            let plan = plan(operation, 1000, bits);
            assert_eq!(plan.algorithm(), "fft");
            let most = plan.max_launch_lanes();
            assert!(
                most > 0 && plan.scratch_words(1000) == most.min(1024) * plan.scratch_limbs(),
                "{}",
                plan.explain()
            );
            assert!(4 * plan.scratch_words(1000) <= 1 << 30, "{}", plan.explain());
        }
    }
    let four_steps = ["16384 balanced ones of 16 bits", "1 × 8 rows of 2048", "no coefficient", "bytes moved"];
    let block =
        ["8192 balanced ones of 16 bits", "2 × 4096 complex points", "0.137: no coefficient", "measured fastest"];
    for (bits, words) in [(131_072, block), (262_144, four_steps)] {
        let explained = plan(Operation::Mul, 1, bits).explain();
        for words in words {
            assert!(explained.contains(words), "{words}\n{explained}");
        }
    }
    let unequal = [550_000, 70_000].map(|bits| Shape::new(1, bits));
    let complex = Plan::new(Operation::Mul, &unequal, device.info(), &tuning::shipped(90), None).unwrap().explain();
    assert!(complex.contains("49152 balanced ones of 15 bits in the longer factor, two a coefficient"), "{complex}");
}

/// Unequal factors have fewer points than two of the longer one's length.
#[test]
fn unequal_factors_have_complex_coefficients() {
    for bits in [[550_000, 70_000], [1_150_000, 800_000], [1_800_000, 70_000], [4_300_000, 70_000]] {
        let [unequal, equal] = [bits, [bits[0]; 2]].map(product);
        assert_eq!(unequal.most_digits(), 2 * unequal.digits());
        assert!(unequal.digits() < equal.digits() && equal.most_digits() == equal.digits(), "{bits:?}");
    }
}
