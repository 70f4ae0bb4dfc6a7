//! Squares by groups of lanes and by Karatsuba's method on the simulator: every number of levels, lengths around the
//! divisions, carries, and the counts that are the performance.

use warpmp::kernels::{Abilities, OperationShape, Settings};
use warpmp_kernel::ir::{Int, Op};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::products::{check_all_squares, check_square, check_squares, squaring};
use warpmp_testkit::kernels::{PATTERNS, algorithm};

const GROUP: &str = "group";
const KARATSUBA: &str = "karatsuba/group";

fn settings(levels: Option<u32>, block: Option<u32>) -> Settings {
    Settings { levels, block, ..Settings::default() }
}

#[test]
fn group_at_all_kinds_of_lengths() {
    for bits in [1, 33, 64, 100, 131, 512, 1025, 1568, 2000, 2048, 3001, 3072, 4096, 8192] {
        check_all_squares(GROUP, bits, &Settings::default(), 3, &PATTERNS);
    }
    for bits in [16384, 39680] {
        check_all_squares(GROUP, bits, &Settings::default(), 1, &[Pattern::Ones, Pattern::Carry]);
    }
}

/// Every number of lanes a square.
#[test]
fn group_with_short_blocks() {
    for block in [1, 2, 4, 5] {
        for limbs in (block..=31 * block).step_by(3 * block as usize - 1) {
            let bits = 32 * limbs as usize;
            check_all_squares(GROUP, bits, &settings(None, Some(block)), 2, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

#[test]
fn karatsuba_over_single_lanes() {
    for (levels, bits) in [
        (1, &[512, 1000, 2048, 3072][..]),
        (2, &[1024, 2047, 4096, 6144]),
        (3, &[2048, 4100, 8192, 12288]),
        (4, &[8193, 16384]),
        (5, &[16385, 32768]),
    ] {
        for &bits in bits {
            check_all_squares(KARATSUBA, bits, &settings(Some(levels), None), 3, &PATTERNS);
        }
    }
}

/// More limbs a leaf than a lane takes.
#[test]
fn karatsuba_over_groups() {
    for block in [5, 8, 13] {
        for levels in 1..=3 {
            for bits in [2100, 4096, 5000] {
                let settings = settings(Some(levels), Some(block));
                check_all_squares(KARATSUBA, bits, &settings, 3, &[Pattern::Carry, Pattern::Ones]);
            }
        }
    }
}

#[test]
fn karatsuba_at_the_widest() {
    for bits in [65535, 65536] {
        check_all_squares(KARATSUBA, bits, &Settings::default(), 2, &[Pattern::Ones, Pattern::Carry]);
    }
}

#[test]
fn patterns_of_runs_and_bits() {
    for pattern in [Pattern::Random, Pattern::Runs, Pattern::Sparse] {
        for (name, levels) in [(GROUP, None), (KARATSUBA, Some(2)), (KARATSUBA, Some(3))] {
            let spec = squaring(name, 8192, &settings(levels, None));
            check_square(&*spec, 8192, 16, pattern);
        }
    }
}

#[test]
fn blocks_that_lack_squares() {
    for (name, bits) in [(GROUP, 3072), (KARATSUBA, 6144), (KARATSUBA, 8192)] {
        for lanes in [1, 31, 32, 33, 127, 128, 129] {
            check_all_squares(name, bits, &Settings::default(), lanes, &[Pattern::Carry]);
        }
    }
}

/// Halves that are equal, and halves of either order: differences of zero and of either sign.
#[test]
fn differences_of_every_sign() {
    let half = 64;
    let ones = vec![u32::MAX; half];
    let zeros = vec![0; half];
    let with = |at: usize, limb: u32, rest: u32| {
        let mut limbs = vec![rest; half];
        limbs[at] = limb;
        limbs
    };
    let halves =
        [ones, zeros, with(0, 1, 0), with(half - 1, 1 << 31, 0), with(0, u32::MAX - 1, u32::MAX), with(32, 0, 7)];
    let rows: Vec<u32> =
        halves.iter().flat_map(|low| halves.iter().flat_map(|high| [low.clone(), high.clone()].concat())).collect();
    for levels in 1..=3 {
        let spec = squaring(KARATSUBA, 64 * half, &settings(Some(levels), None));
        check_squares(&*spec, 64 * half, &rows);
    }
    check_squares(&*squaring(GROUP, 64 * half, &Settings::default()), 64 * half, &rows);
}

/// Every length finds a division that holds it, and not much more.
#[test]
fn every_length_has_a_division() {
    for name in [GROUP, KARATSUBA] {
        let algorithm = algorithm(warpmp::Operation::Sqr, name);
        for limbs in
            [1, 2, 16, 17, 33, 47, 65, 97, 127, 129, 255, 257, 509, 769, 1021, 1240, 1536, 1537, 2039, 2048, 2049]
        {
            let shape = OperationShape::square(32 * limbs);
            if !(algorithm.fits)(shape) {
                let fits = if name == GROUP { 1..=1240 } else { 16..=2048 };
                assert!(!fits.contains(&limbs), "{name}, {limbs} limbs");
                continue;
            }
            let levels = if name == GROUP { 0..=0 } else { 1..=5_u32 };
            for levels in levels.map(|levels| Some(levels).filter(|it| *it > 0)) {
                let spec = algorithm.spec(shape, &settings(levels, None), Abilities::of(80)).unwrap();
                let n = u64::from(limbs);
                let least = n * (n + 1) / 2;
                let wide = spec.wide_products();
                assert!(wide <= 2 * least + 20, "{name}, {limbs} limbs, {levels:?} levels: {wide}, {least}");
                assert!(spec.grid(0, 1).shared_bytes <= 99 << 10);
            }
        }
    }
}

/// The wide products are those of pairs of limbs, and where leaves fill their warps no others are computed.
#[test]
fn wide_products_are_those_of_pairs() {
    let square = |limbs: u64| limbs * (limbs + 1) / 2;
    // Levels, bits, limbs that a lane squares whole, the power of 3 with halves, lanes that fill blocks of threads.
    for (levels, bits, leaf, threes, lanes) in [(1, 2048, 32, 3, 32), (2, 4096, 32, 9, 32), (2, 8192, 32, 27, 32)] {
        let settings = Settings { levels: Some(levels), block: Some(32), ..Settings::default() };
        let spec = squaring(KARATSUBA, bits, &settings);
        assert_eq!(spec.wide_products(), threes * square(leaf), "{}", spec.name());
        let counters = check_square(&*spec, bits, lanes, Pattern::Carry);
        let wide = counters.op(Op::MulWide(Int::U32)).threads;
        // Lanes without a leaf of their own compute with the others.
        assert!(wide >= 32 * spec.wide_products() && wide < 50 * spec.wide_products(), "{}: {wide}", spec.name());
    }
    // Two groups of 15 lanes a warp: the other two lanes mirror two of theirs.
    let settings = Settings { block: Some(8), warps: Some(1), ..Settings::default() };
    let spec = squaring(GROUP, 32 * 15 * 8, &settings);
    assert_eq!(spec.wide_products(), square(120), "{}", spec.name());
    let counters = check_square(&*spec, 3840, 32, Pattern::Carry);
    assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, 16 * 32 * square(120) / 15, "{}", spec.name());
}

/// Carries and borrows are resolved in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    for (name, levels) in [(GROUP, None), (KARATSUBA, Some(1)), (KARATSUBA, Some(2)), (KARATSUBA, Some(3))] {
        let spec = squaring(name, 4096, &settings(levels, None));
        let count = |pattern| check_square(&*spec, 4096, 16, pattern).instructions();
        let ones = count(Pattern::Ones);
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
            assert_eq!(count(pattern), ones, "{}, {pattern:?}", spec.name());
        }
    }
}

/// What makes it fast: the leaves are most of the work, few accesses wait for a bank, and memory is touched once.
#[test]
fn costs() {
    for (name, bits, lanes) in [
        (GROUP, 2048, 30),
        (GROUP, 4096, 12),
        (KARATSUBA, 2048, 30),
        (KARATSUBA, 4096, 28),
        (KARATSUBA, 8192, 28),
        (KARATSUBA, 16384, 12),
        (KARATSUBA, 32768, 6),
    ] {
        let spec = squaring(name, bits, &Settings::default());
        let counters = check_square(&*spec, bits, lanes, Pattern::Random);
        let warps = |name: &str| counters.section(name).map_or(0, |section| section.instructions().warps);
        let around: u64 = ["load", "evaluate", "interpolate", "store"].map(warps).iter().sum();
        assert!(around < warps("leaves"), "{bits} bits: {around} of {}", warps("leaves"));
        for name in ["load", "evaluate", "leaves", "interpolate", "store"] {
            let Some(section) = counters.section(name) else { continue };
            let (conflicts, least) = (section.bank_conflicts(), section.minimum_shared_wavefronts());
            assert!(4 * conflicts <= 3 * least, "{}, {name}: {conflicts} beside {least}", spec.name());
        }
        // Operands are read once and squares written once, whole sectors at a time.
        let sectors = lanes as u64 * bits as u64 / 256;
        assert_eq!(counters.distinct_load_sectors(), sectors, "{bits} bits");
        assert_eq!(counters.distinct_store_sectors(), 2 * sectors, "{bits} bits");
        // Pieces of 8 bytes let accesses begin within a sector.
        if name == KARATSUBA {
            assert_eq!(counters.load_sectors(), sectors, "{bits} bits");
            assert_eq!(counters.store_sectors(), 2 * sectors, "{bits} bits");
        }
    }
}
