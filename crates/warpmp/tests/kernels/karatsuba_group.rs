//! `karatsuba/group` on the simulator: every number of levels, lengths around the divisions, carries, and the
//! counts that are its performance.

use num_bigint::BigUint;
use warpmp::kernels::{OperationShape, Settings, Spec};
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::{Memory, Program};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::products::{check, check_all, multiplication, shape};
use warpmp_testkit::kernels::{PATTERNS, algorithm};

const NAME: &str = "karatsuba/group";

fn spec(shape: OperationShape, levels: Option<u32>, block: Option<u32>) -> Box<dyn Spec> {
    multiplication(NAME, shape, &Settings { levels, block, ..Settings::default() }, true)
}

fn levels(levels: u32) -> Settings {
    Settings { levels: Some(levels), ..Settings::default() }
}

#[test]
fn one_level() {
    for bits in [[2049, 2049], [2080, 2048], [4064, 4064], [4096, 4096], [4128, 4100], [8192, 8192], [8200, 8191]] {
        check_all(NAME, bits, &levels(1), 5, &PATTERNS);
    }
}

#[test]
fn two_levels() {
    for bits in [[2100, 2100], [4096, 4096], [6144, 6144], [8191, 8193], [16384, 16384], [16416, 12000]] {
        check_all(NAME, bits, &levels(2), 3, &PATTERNS);
    }
}

#[test]
fn three_levels() {
    for bits in [[2080, 2080], [8192, 8192], [16385, 16384], [32768, 32768]] {
        check_all(NAME, bits, &levels(3), 2, &PATTERNS);
    }
}

#[test]
fn at_the_widest() {
    let shape = shape([65536, 65536], false);
    for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Edge] {
        check(&*spec(shape, None, None), shape, 5, pattern);
    }
}

#[test]
fn unequal_lengths() {
    for bits in [[2049, 1], [4096, 2048], [8192, 33], [20000, 10000]] {
        check_all(NAME, bits, &Settings::default(), 3, &PATTERNS);
    }
}

/// Short blocks: many lanes a leaf, several numbers a warp, warps with a part of their lanes at work.
#[test]
fn short_blocks() {
    for block in [5, 8, 13, 16, 24] {
        for levels in [None, Some(1), Some(2), Some(3)] {
            let settings = Settings { block: Some(block), levels, ..Settings::default() };
            for bits in [[2100, 2100], [3072, 3072], [5000, 5000]] {
                check_all(NAME, bits, &settings, 3, &[Pattern::Carry, Pattern::Ones]);
            }
        }
    }
}

#[test]
fn patterns_of_runs_and_bits() {
    let shape = shape([8192, 8192], false);
    for pattern in [Pattern::Random, Pattern::Runs, Pattern::Sparse] {
        for levels in 1..=3 {
            check(&*spec(shape, Some(levels), None), shape, 16, pattern);
        }
    }
}

/// One `b` for all, in blocks of threads that are not full.
#[test]
fn blocks_that_lack_products() {
    for (bits, levels) in [(6144, 2), (8192, 2), (8192, 1), (12288, 3)] {
        for lanes in [1, 4, 17] {
            check_all(NAME, [bits, bits], &self::levels(levels), lanes, &[Pattern::Carry]);
        }
    }
}

/// Halves that are equal, and halves of either order: differences of zero and middle products of either sign.
#[test]
fn differences_of_every_sign() {
    let zero = BigUint::default();
    for levels in 1..=3 {
        let limbs = 128_usize;
        let ones = |n: usize| (BigUint::from(1_u32) << (32 * n)) - 1_u32;
        let half = |low: BigUint, high: BigUint| low + (high << (16 * limbs));
        let one = BigUint::from(1_u32);
        let values = [
            half(zero.clone(), ones(limbs / 2)),
            half(ones(limbs / 2), zero.clone()),
            half(one.clone(), ones(limbs / 2)),
            half(ones(limbs / 2), one.clone()),
            half(&one << (16 * limbs - 1), one.clone()),
            // All quarters are equal; neighbours differ by one at the bottom.
            half(ones(limbs / 4), ones(limbs / 4)),
            half(ones(limbs / 2), ones(limbs / 2) - 1_u32),
            half(ones(limbs / 2) - 1_u32, ones(limbs / 2)),
        ];
        let pairs: Vec<_> = values.iter().flat_map(|x| values.iter().map(move |y| (x.clone(), y.clone()))).collect();
        let shape = shape([32 * limbs, 32 * limbs], false);
        multiply(&*spec(shape, Some(levels), None), shape, &pairs);
    }
}

/// Every length finds a division that holds it, and not much more.
#[test]
fn every_length_has_a_division() {
    let algorithm = algorithm(warpmp::Operation::Mul, NAME);
    for limbs in [65_u32, 66, 67, 97, 127, 129, 191, 257, 509, 512, 513, 769, 1021, 1025, 1536, 2039, 2047, 2048] {
        let shape = shape([32 * limbs as usize; 2], false);
        assert!((algorithm.fits)(shape));
        for levels in 1..=3_u32 {
            let spec = spec(shape, Some(levels), None);
            let least = 3_u64.pow(levels) * u64::from(limbs).pow(2) / 4_u64.pow(levels);
            let wide = spec.wide_products();
            assert!(least <= wide && wide <= 2 * least, "{limbs} limbs, {levels} levels: {wide}, {least}");
        }
    }
    for limbs in [64, 2049] {
        assert!(!(algorithm.fits)(shape([32 * limbs, 1], false)));
    }
}

/// The wide products are those of the leaves, and where groups fill their warps no others are computed.
#[test]
fn wide_products_are_those_of_the_leaves() {
    for (bits, levels, leaf, lanes) in [(4096, 1, 64, 16), (8192, 1, 128, 8), (16384, 1, 256, 4)] {
        let shape = shape([bits, bits], false);
        let spec = spec(shape, Some(levels), None);
        assert_eq!(spec.wide_products(), 3_u64.pow(levels) * leaf * leaf);
        let counters = check(&*spec, shape, lanes, Pattern::Carry);
        assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, lanes as u64 * spec.wide_products(), "{bits} bits");
    }
    for (bits, levels, leaf) in [(16384, 2, 128), (65536, 3, 256)] {
        let wide = spec(shape([bits, bits], false), Some(levels), Some(32)).wide_products();
        // A block's length may be padded so that more leaves fit into a warp.
        let least = 3_u64.pow(levels) * leaf * leaf;
        assert!((least..least + least / 20).contains(&wide), "{bits} bits: {wide}");
    }
}

/// Carries and borrows are resolved in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    for levels in 1..=3 {
        let shape = shape([4096, 4096], false);
        let spec = spec(shape, Some(levels), None);
        let count = |pattern| check(&*spec, shape, 16, pattern).instructions();
        let ones = count(Pattern::Ones);
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
            assert_eq!(count(pattern), ones, "{levels} levels, {pattern:?}");
        }
    }
}

/// What makes it fast: the leaves are nearly all of the work, and hardly any access waits for a bank.
#[test]
fn costs() {
    for (bits, levels) in [(8192, 1), (16384, 1), (16384, 2), (32768, 2), (65536, 3)] {
        let shape = shape([bits, bits], false);
        let spec = spec(shape, Some(levels), None);
        let counters = check(&*spec, shape, 8, Pattern::Random);
        let warps = |name: &str| counters.section(name).unwrap().instructions().warps;
        let around: u64 = ["load", "evaluate", "interpolate", "store"].map(warps).iter().sum();
        assert!(8 * around < warps("leaves"), "{bits} bits: {around} of {}", warps("leaves"));
        for name in ["load", "evaluate", "interpolate", "store"] {
            let section = counters.section(name).unwrap();
            let (conflicts, least) = (section.bank_conflicts(), section.minimum_shared_wavefronts());
            assert!(conflicts <= least, "{bits} bits, {name}: {conflicts} beside {least}");
        }
        let conflicts = counters.section("leaves").unwrap().bank_conflicts();
        assert!(conflicts * 25 < warps("leaves"), "{bits} bits, leaves: {conflicts} in {}", warps("leaves"));
        // Operands are read once and products written once, whole sectors at a time.
        assert_eq!(counters.load_sectors(), 8 * 2 * bits as u64 / 256, "{bits} bits");
        assert_eq!(counters.store_sectors(), 8 * 2 * bits as u64 / 256, "{bits} bits");
    }
}

/// Multiplies these pairs and compares every product.
fn multiply(spec: &dyn Spec, shape: OperationShape, pairs: &[(BigUint, BigUint)]) {
    let mut memory = Memory::new(1 << 26);
    let rows = pairs.len().next_multiple_of(32);
    let [la, lb, lc] = shape.limbs();
    let mut place = |numbers: &mut dyn Iterator<Item = &BigUint>, width: u32| {
        let address = memory.alloc(4 * rows as u64 * u64::from(width)).unwrap();
        let mut words: Vec<u32> = Vec::new();
        for number in numbers {
            words.extend(number.iter_u32_digits());
            words.resize(words.len().next_multiple_of(width as usize), 0);
        }
        words.resize(rows * width as usize, 0);
        memory.write(address, &words).unwrap();
        address
    };
    let a = place(&mut pairs.iter().map(|(x, _)| x), la);
    let b = place(&mut pairs.iter().map(|(_, y)| y), lb);
    let c = memory.alloc(4 * rows as u64 * u64::from(lc)).unwrap();
    let program = Program::parse(&spec.build(0).to_string()).unwrap();
    program.launch(spec.grid(0, pairs.len() as u32), &[a, b, c, pairs.len() as u64], &mut memory).unwrap();
    let mut words = vec![0; pairs.len() * lc as usize];
    memory.read(c, &mut words).unwrap();
    for (product, (x, y)) in words.chunks(lc as usize).zip(pairs) {
        assert_eq!(BigUint::from_slice(product), x * y, "{x:x} · {y:x}");
    }
}
