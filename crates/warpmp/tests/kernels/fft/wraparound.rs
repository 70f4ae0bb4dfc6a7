//! `fft-wraparound` on the simulator: lengths above each transform, carries, and the counts that are its performance.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::{Abilities, OperationShape, Settings, Spec};
use warpmp::{Operation, Plan, Shape, tuning};
use warpmp_kernel::ir::{Op, Pipe};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::operations::check_with;
use warpmp_testkit::kernels::products::{check, check_rows, check_square, shape};

use super::lanes;

const NAME: &str = "fft-wraparound";

/// On a GPU of this compute capability, with the longest blocks.
fn spec(shape: OperationShape, capability: u32) -> Box<dyn Spec> {
    let algorithm = algorithm(shape.operation, NAME);
    assert!((algorithm.fits)(shape));
    let blocks = Settings { levels: Some(1), ..Settings::default() };
    algorithm.spec(shape, &blocks, Abilities::of(capability)).unwrap()
}

/// The shortest and the longest factors of each transform, and some between them.
#[test]
fn every_transform() {
    let lengths = [
        8193, 8224, 9000, 12256, 16385, 18432, 24544, 32769, 40960, 49120, 49_184, 57_344, 65_504, 65537, 73728, 81920,
        98272, 98_336, 114_688, 131_040, 131_073, 140_001, 147_456, 163_840, 163_872, 180_000, 196_576, 196_640,
        212_992, 229_344, 229_376, 229_408, 237_568, 245_728,
    ];
    for bits in lengths {
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random, Pattern::OneHot] {
            let shape = shape([bits, bits], false);
            check(&*spec(shape, 80), shape, lanes(pattern, 2), pattern);
            let square = OperationShape::square(bits as u32);
            check_square(&*spec(square, 80), bits, 1, pattern);
        }
    }
}

/// The lower limbs are a low half by `tensor`.
#[test]
fn lower_limbs() {
    for (bits, panels) in [(40960, 8), (53_248, 4), (73_728, 8), (118_784, 20)] {
        let shape = shape([bits, bits], false);
        let counters = check(&*spec(shape, 90), shape, 1, Pattern::Carry);
        assert_eq!(counters.op(Op::MmaU8).warps, 8 * panels * (panels + 1), "{bits} bits");
    }
}

/// Parts of products come from these products. Of a low half the carries alone are computed above the limbs that come back.
#[test]
fn parts() {
    let blocks = Settings { levels: Some(1), ..Settings::default() };
    for operation in [Operation::MulLo, Operation::MulHi, Operation::MulAdd, Operation::SignedMul] {
        for bits in [
            32_800, 40_960, 49_984, 56_000, 66_000, 73_728, 106_000, 132_096, 147_456, 159_968, 170_000, 196_640,
            212_992, 229_344, 240_000,
        ] {
            for pattern in [Pattern::Ones, Pattern::Carry, Pattern::OneHot] {
                let (count, lanes) = (operation.arity(), lanes(pattern, 2));
                check_with(operation, "long", &blocks, &vec![bits; count], &vec![lanes; count], pattern);
            }
        }
    }
}

/// Factors of digits 8000₁₆: balanced ones have signs, and so has what comes back. A factor of one bit leaves nothing above it.
#[test]
fn signs() {
    for (bits, factors) in [
        (131_104, [0x8000_8000, 0x8000_8000]),
        (140_000, [0x8000_8000, 0x7FFF_8000]),
        (147_456, [0x8000_0000, 0xFFFF_8000]),
    ] {
        let shape = shape([bits, bits], false);
        for top in [0, 1, 0x7FFF, 0x8000, 0xFFFF_FFFF] {
            let rows = factors.map(|word: u32| {
                let mut row = vec![word; bits / 32];
                row[bits / 32 - 1] = top;
                row
            });
            check_rows(&*spec(shape, 80), shape, &rows, (1, &top));
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [
        [8192, 8300],
        [12256, 4200],
        [9000, 12000],
        [40000, 30000],
        [25800, 40000],
        [70000, 65000],
        [60_000, 40_000],
        [120_000, 98_304],
        [190_000, 163_840],
        [229_344, 196_608],
        [245_728, 229_376],
        [200_000, 240_000],
        [98272, 33000],
        [140_000, 130_000],
    ] {
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::OneHot] {
            let shape = shape(bits, false);
            check(&*spec(shape, 90), shape, 2, pattern);
        }
    }
}

#[test]
fn a_common_factor() {
    for bits in [8448, 20000, 40000] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            let shape = shape([bits, bits], true);
            check(&*spec(shape, 80), shape, 5, pattern);
        }
    }
}

/// Operations on doubles that are rounded, matrix products of the low product, instructions, sectors that are loaded and stored: the transform of a
/// shorter product, and not much more. No access to points waits for a bank.
#[test]
fn costs() {
    let cases = [(36864, 6672, 160, 14175, [1889, 353]), (73728, 14784, 576, 31_121, [4313, 713])];
    for (bits, doubles, products, instructions, sectors) in cases {
        let (shape, lanes) = (shape([bits, bits], false), 4);
        let counters = check(&*spec(shape, 90), shape, lanes, Pattern::Random);
        let each = |count: u64| count / lanes as u64;
        let rounded = counters.pipe(Pipe::Fp64).warps - counters.op(Op::NegF64).warps;
        let matrices = counters.pipe(Pipe::Tensor).warps;
        let found = [rounded, matrices, counters.instructions().warps].map(each);
        assert_eq!(found, [doubles, products, instructions], "{bits} bits");
        let moved = [counters.load_sectors(), counters.store_sectors()].map(each);
        assert_eq!(moved, sectors, "{bits} bits");
        for section in ["forward 1", "forward 2", "product", "inverse 2", "inverse 3"] {
            assert_eq!(counters.section(section).unwrap().bank_conflicts(), 0, "{bits} bits, {section}");
        }
    }
}

/// A carry runs on in all ones, and hardly ever else.
#[test]
fn carries_run_seldom() {
    let shape = shape([40960, 40960], false);
    let [random, ones] = [Pattern::Random, Pattern::Ones].map(|pattern| {
        let counters = check(&*spec(shape, 90), shape, 8, pattern);
        [counters.load_sectors(), counters.instructions().warps]
    });
    assert!(ones[0] > random[0] && 10 * ones[1] < 11 * random[1], "{random:?} {ones:?}");
}

/// Large batches of lengths just above a transform have it by default. The plan tells the bound; few products take the longer transform.
#[test]
fn the_default_above_a_transform() {
    let device = device::open_sim_with(&SimConfig::default());
    let plan = |bits: usize, lanes: usize| {
        let operands = [Shape::new(lanes, bits); 2];
        Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(90), None).unwrap()
    };
    for bits in [
        33024, 40960, 46_080, 51_200, 57_344, 66_048, 73_728, 98_816, 106_496, 132_096, 147_456, 163_872, 176_128,
        196_640, 229_344, 229_376, 245_728,
    ] {
        assert_eq!(plan(bits, 100_000).algorithm(), NAME, "{bits} bits");
        assert_eq!(plan(bits, 40).algorithm(), "fft", "{bits} bits");
    }
    for bits in [
        16384, 16640, 20_480, 32768, 47_104, 49152, 60_000, 65536, 90_112, 98_304, 120_000, 131_072, 161_792, 163_840,
        190_000, 196_608, 245_760,
    ] {
        assert_ne!(plan(bits, 100_000).algorithm(), NAME, "{bits} bits");
    }
    // There, many products are by warpgroups.
    assert_eq!(plan(16640, 5000).algorithm(), NAME);
    let explained = plan(73_728, 100_000).explain();
    for words in ["4608 of 16 bits a factor, as 2 × 2048 complex points", "0.282: no coefficient has a greater error"]
    {
        assert!(explained.contains(words), "{words}\\n{explained}");
    }
}

/// Without the shared memory of a block of 131072 bits the product takes four steps.
#[test]
fn a_gpu_with_less_shared_memory_takes_four_steps() {
    let device = device::open_sim_with(&SimConfig { capability: 80, shared_bytes: 163 << 10, ..SimConfig::default() });
    for (bits, stages) in [(66_048, 3), (140_000, 3)] {
        let operands = [Shape::new(100_000, bits); 2];
        let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(80), None).unwrap();
        assert_eq!(plan.algorithm(), NAME);
        assert_eq!(plan.stages(), stages, "{}", plan.explain());
        assert_eq!(plan.explain().contains("bytes of shared memory a block, and the GPU has"), bits > 131_072);
    }
}
