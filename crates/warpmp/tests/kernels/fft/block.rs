//! `fft` on the simulator: every division, unequal lengths, carries, and the counts that are its performance.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::fft::Fft;
use warpmp::kernels::{OperandShape, Settings, Spec};
use warpmp::{Operation, Plan, Shape, tuning};
use warpmp_kernel::ir::{Op, Pipe};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::numbers::{is_product_modulo, numbers, run_plain};
use warpmp_testkit::kernels::products::{check, check_square, check_squares, multiplication, shape, squaring};

const NAME: &str = "fft";

fn spec(bits: [usize; 2], settings: &Settings) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), settings, true)
}

fn levels(levels: u32) -> Settings {
    Settings { levels: Some(levels), ..Settings::default() }
}

#[test]
fn every_division() {
    for (bits, parts) in [(4097, 0), (8192, 0), (8193, 0), (16384, 1), (16385, 1), (32768, 0), (32769, 1), (65536, 1)] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(&*spec([bits, bits], &levels(parts)), shape([bits, bits], false), 2, pattern);
        }
    }
}

/// Three or five parts: lengths between powers of two.
#[test]
fn odd_numbers_of_parts() {
    for bits in [16385, 24576, 32769, 40960, 49152] {
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random] {
            check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, pattern);
        }
    }
}

/// Above 65536 bits a block has a product if it is asked to: in five or three parts to 98304 bits, then of balanced digits:
/// in two parts to 131072 bits, then in five or six parts, two at a time.
#[test]
fn threads_that_share_columns() {
    let shapes = [
        [65537, 65537],
        [81_920, 81_920],
        [98_304, 98_304],
        [98_304, 70_000],
        [80_000, 33],
        [98_272, 66_000],
        [98_304, 1],
        [98_305, 98_305],
        [131_072, 131_072],
        [131_072, 70_000],
        [100_000, 33],
        [131_040, 98_304],
        [131_072, 1],
        [131_073, 131_073],
        [163_840, 163_840],
        [163_840, 70_000],
        [163_808, 1],
        [163_841, 163_841],
        [196_608, 196_608],
        [196_608, 150_000],
        [180_000, 33],
        [196_608, 1],
    ];
    for (bits, pattern) in shapes.into_iter().flat_map(|bits| {
        [Pattern::Ones, Pattern::Carry, Pattern::Random, Pattern::OneHot].map(|pattern| (bits, pattern))
    }) {
        check(&*spec(bits, &levels(1)), shape(bits, false), 1, pattern);
    }
    // A factor for all lanes comes second, and may be the one whose last digit stays unsigned.
    for bits in [[1000, 131_072], [33, 196_608]] {
        let shape = shape(bits, true);
        check(&*multiplication(NAME, shape, &levels(1), true), shape, 1, Pattern::Ones);
    }
    for (bits, pattern) in [196_608, 163_840, 150_000, 131_072, 98_304, 90_000, 80_000]
        .into_iter()
        .flat_map(|bits| [Pattern::Ones, Pattern::Carry, Pattern::Random].map(|pattern| (bits, pattern)))
    {
        check_square(&*squaring(NAME, bits, &levels(1)), bits, 1, pattern);
    }
}

#[test]
fn carries() {
    for bits in [8192, 16384] {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 3, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [[4097, 1], [8192, 32], [8100, 4100], [16384, 1000], [2048, 16385], [30000, 49000], [65536, 20000]] {
        for (common, pattern) in [(false, Pattern::Ones), (false, Pattern::Carry), (true, Pattern::Carry)] {
            let shape = shape(bits, common);
            check(&*multiplication(NAME, shape, &Settings::default(), true), shape, 1, pattern);
        }
    }
}

#[test]
fn squares() {
    for bits in [4097, 8192, 12000, 16384, 24576, 32768, 40000, 49152, 65536] {
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::OneHot] {
            check_square(&*squaring(NAME, bits, &Settings::default()), bits, 1, pattern);
        }
    }
}

/// Digits of zero and of all ones whose signs follow a root of unity: the transforms have coefficients as large as possible.
#[test]
fn operands_of_one_frequency() {
    let digits = 4096_u32;
    for frequency in [0, 1, 2, digits / 3, digits / 2, digits - 1] {
        let digit = |j: u32| {
            let turns = f64::from(j * (4 * frequency + 1)) / f64::from(4 * digits);
            if (std::f64::consts::TAU * turns).cos() > 0.0 { 0xFFFF } else { 0 }
        };
        let row: Vec<u32> = (0..digits / 2).map(|word| digit(2 * word) | digit(2 * word + 1) << 16).collect();
        check_squares(&*squaring(NAME, 65536, &Settings::default()), 65536, &row);
    }
}

/// Carries run in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    for bits in [8192, 32768] {
        let count = |pattern| check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 2, pattern);
        let ones = count(Pattern::Ones).instructions();
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
            assert_eq!(count(pattern).instructions(), ones, "{bits} bits, {pattern:?}");
        }
    }
}

/// Operations on doubles that are rounded, negations apart; instructions; accesses to shared memory, of which none waits
/// for a bank; sectors, of which all but those of the operands are of the table.
#[test]
fn costs() {
    let cases = [
        (16384, 3032, 6144, 1621, 960),
        (24576, 5196, 10754, 2421, 1916),
        (32768, 6624, 12904, 3237, 1728),
        (49152, 11240, 22474, 4821, 4472),
        (65536, 14656, 28368, 6437, 3920),
        (98_304, 24192, 47608, 11209, 8432),
        (131_072, 31600, 66624, 15121, 10652),
        (163_840, 45600, 107_044, 18833, 26198),
        (196_608, 56432, 136_808, 22545, 35300),
    ];
    for (bits, doubles, instructions, wavefronts, sectors) in cases {
        let settings = if bits > 65536 { levels(1) } else { Settings::default() };
        let lanes = 2;
        let counters = check(&*spec([bits, bits], &settings), shape([bits, bits], false), lanes, Pattern::Random);
        let each = |count: u64| count / lanes as u64;
        let rounded = counters.pipe(Pipe::Fp64).warps - counters.op(Op::NegF64).warps;
        let found = [rounded, counters.instructions().warps, counters.shared_wavefronts(), counters.load_sectors()];
        assert_eq!(found.map(each), [doubles, instructions, wavefronts, sectors], "{bits} bits");
        assert_eq!(each(counters.store_sectors()), bits as u64 / 128, "{bits} bits");
        assert_eq!(counters.bank_conflicts(), 0, "{bits} bits");
    }
}

/// Each block asks for the lines of a later square, if there is one.
#[test]
fn later_factors_are_prefetched() {
    let (bits, lines) = (4128, 5);
    let blocks = 132 * 16;
    let lanes = blocks + 3;
    let counters = check_square(&*squaring(NAME, bits, &Settings::default()), bits, lanes, Pattern::Random);
    assert_eq!(counters.op(Op::Prefetch).threads, 3 * lines);
}

/// A square transforms one factor.
#[test]
fn squares_save_a_transform() {
    for (bits, fused) in [(16384, [2664, 1768]), (32768, [5824, 3840]), (65536, [12848, 8432])] {
        let product = check(&*spec([bits, bits], &Settings::default()), shape([bits, bits], false), 1, Pattern::Random);
        let square = check_square(&*squaring(NAME, bits, &Settings::default()), bits, 1, Pattern::Random);
        assert_eq!([product, square].map(|it| it.op(Op::Fma).warps), fused, "{bits} bits");
    }
}

/// The table of the H200 chooses `fft` on other GPUs only if they are fast with doubles.
#[test]
fn a_gpu_that_is_slow_with_doubles_has_other_defaults() {
    let operands = [Shape::new(64, 40000); 2];
    for (capability, chosen, asked) in [(75, false, false), (80, true, true), (89, false, true), (90, true, true)] {
        let device = device::open_sim_with(&SimConfig { capability, ..SimConfig::default() });
        let (info, table) = (device.info(), tuning::shipped(capability));
        let plan = Plan::new(Operation::Mul, &operands, info, &table, None).unwrap();
        assert_eq!(plan.algorithm() == NAME, chosen, "sm_{capability}: {}", plan.explain());
        assert_eq!(plan.explain().contains("slow with doubles"), capability == 89);
        assert_eq!(Plan::new(Operation::Mul, &operands, info, &table, Some(NAME)).is_ok(), asked, "sm_{capability}");
    }
}

/// Where only `fft` has a product, the plan of a GPU that is slow with doubles takes it, and does not advise against it.
#[test]
fn a_gpu_that_is_slow_with_doubles_takes_the_only_algorithm() {
    let device = device::open_sim_with(&SimConfig { capability: 89, ..SimConfig::default() });
    for bits in [100_000, 262_144] {
        let operands = [Shape::new(64, bits); 2];
        let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(89), None).unwrap();
        let explained = plan.explain();
        assert_eq!(plan.algorithm(), NAME);
        assert!(explained.contains("has no row of another algorithm that takes these lengths"), "{explained}");
        assert!(!explained.contains("not expected to be faster"), "{explained}");
    }
}

/// A block of 131072 bits needs more shared memory than many GPUs have: they take four steps.
#[test]
fn a_gpu_with_less_shared_memory_has_other_settings() {
    let operands = [Shape::new(64, 131_072); 2];
    for (capability, shared_bytes, block) in [(90, 227 << 10, true), (90, 163 << 10, false), (80, 163 << 10, false)] {
        let device = device::open_sim_with(&SimConfig { capability, shared_bytes, ..SimConfig::default() });
        let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(capability), None).unwrap();
        assert_eq!((plan.algorithm(), plan.stages() == 1), (NAME, block), "{}", plan.explain());
        assert_eq!(plan.explain().contains("bytes of shared memory a block, and the GPU has"), !block);
    }
}

#[test]
fn the_plan_tells_passes_and_bound() {
    let device = device::open_sim_with(&SimConfig::default());
    let operands = [Shape::new(64, 65536); 2];
    let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(90), None).unwrap().explain();
    for words in [
        "4096 of 16 bits a factor, as 2 × 2048 complex points",
        "remainders 2, forward 1 16, forward 2 16, forward 3 8, product 2, inverse 1 16, inverse 2 16, inverse 3 16, twist 1",
        "0.249: no coefficient has a greater error",
    ] {
        assert!(plan.contains(words), "{words}\n{plan}");
    }
}

/// Products modulo `Bⁿ + 1`, and products of at most `n` limbs by the same kernels. A limb above `n` has a sign.
#[test]
fn products_modulo_a_power_and_one() {
    for (a, b, n) in [
        (512, 512, 512),
        (512, 257, 512),
        (300, 40, 512),
        (1024, 514, 1024),
        (514, 259, 1024),
        (1024, 1024, 1024),
        (2048, 1025, 2048),
        (2048, 2048, 2048),
        (1536, 512, 2048),
        (2048, 1, 2048),
    ] {
        let fft = Fft::modulo(OperandShape::each(32 * a), OperandShape::each(32 * b), n).unwrap();
        assert!(fft.bound(16) < 0.5);
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::OneHot, Pattern::Random] {
            let [x, y] = [(a, 1), (b, 2)].map(|(limbs, seed)| numbers(pattern, 2, 32 * limbs as usize, seed));
            let shapes = [a, b].map(|limbs| OperandShape::each(32 * limbs));
            let limbs = (a + b).min(n + 1);
            let outcome = run_plain(&fft, &[(shapes[0], &x[..]), (shapes[1], &y[..])], &[limbs], 2);
            for lane in 0..2 {
                let (product, found) = (&x[lane] * &y[lane], &outcome.results[0][lane]);
                let is_right =
                    if a + b <= n { *found == product } else { is_product_modulo(&product, found, n as usize) };
                assert!(is_right, "{a} {b} {n} {pattern:?}");
            }
        }
    }
    for (a, b, n) in [(513, 100, 512), (100, 100, 768), (4096, 4096, 4096)] {
        assert!(Fft::modulo(OperandShape::each(32 * a), OperandShape::each(32 * b), n).is_none());
    }
}
