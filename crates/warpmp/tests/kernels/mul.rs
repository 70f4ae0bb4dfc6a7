//! Every kernel on the simulator: products of carry-prone operands against the oracle, and the counts
//! that are its performance.

use warpmp::kernels::mul_group::MulGroup;
use warpmp::kernels::mul_thread::{Input, MulThread};
use warpmp::kernels::{Settings, Spec};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Pipe;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_all, multiplication, shape};

#[test]
fn thread_at_every_length_to_24_limbs() {
    for limbs in 1..=24 {
        let bits = [32 * limbs, 32 * limbs];
        for glue in [0, 1, 3] {
            let settings = Settings { glue: Some(glue), ..Settings::default() };
            check_all("thread", bits, &settings, 33, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

#[test]
fn thread_at_long_odd_and_unequal_lengths() {
    for bits in [
        [1, 1],
        [31, 33],
        [131, 131],
        [109, 64],
        [64, 109],
        [1000, 1000],
        [32, 1024],
        [96, 1441],
        [1024, 32],
        [1536, 1536],
    ] {
        check_all("thread", bits, &Settings::default(), 40, &PATTERNS);
    }
    for input in [Input::Direct, Input::Staged] {
        let settings = Settings { input: Some(input), warps: Some(4), ..Settings::default() };
        check_all("thread", [256, 224], &settings, 129, &PATTERNS);
    }
}

#[test]
fn sum_rotate_at_every_packing() {
    for bits in [[32, 32], [64, 64], [65, 128], [131, 131], [256, 256], [500, 512], [1000, 1000], [1024, 1024]] {
        check_all("sum-rotate", bits, &Settings::default(), 33, &PATTERNS);
    }
}

#[test]
fn group_at_all_kinds_of_lengths() {
    for bits in [
        [32, 32],
        [96, 33],
        [1025, 1025],
        [1568, 1568],
        [2048, 2048],
        [3200, 3200],
        [2500, 100],
        [4096, 4096],
        [8192, 700],
    ] {
        check_all("group", bits, &Settings::default(), 3, &PATTERNS);
    }
}

/// Rows of no whole number of 16-byte pieces go through shared memory.
#[test]
fn group_at_lengths_that_are_staged() {
    for limbs in [49, 50, 51, 63, 65, 94, 99, 127] {
        check_all("group", [32 * limbs, 32 * limbs], &Settings::default(), 9, &[Pattern::Carry, Pattern::Ones]);
    }
    for limbs in [[50, 49], [63, 51], [65, 3], [94, 1], [99, 65], [127, 17], [127, 126], [64, 63], [999, 31]] {
        check_all("group", limbs.map(|n| 32 * n), &Settings::default(), 3, &PATTERNS);
    }
    // One limb less in the product; a common operand that is longer than the other.
    for bits in [[2000, 2000], [1601, 3000], [200, 1600], [31, 2100]] {
        let (longer, shorter) = (bits[0].max(bits[1]), bits[0].min(bits[1]));
        check_all("group", [longer, shorter], &Settings::default(), 33, &[Pattern::Ones, Pattern::Carry]);
        let common = shape(bits, true);
        let spec = multiplication("group", common, &Settings::default(), true);
        check(&*spec, common, 33, Pattern::Ones);
    }
}

/// Both ways at every length of a block, in every group.
#[test]
fn group_in_both_ways_at_every_block() {
    for input in [Input::Direct, Input::Staged] {
        for block in 1..=32 {
            for (group, limbs) in [(1, block), (2, 2 * block - block / 2), (8, 7 * block), (16, 15 * block)] {
                for common_b in [false, true] {
                    let short = (limbs / 2).clamp(1, 40);
                    let shape = shape([32 * limbs as usize, 32 * short as usize], common_b);
                    let spec = MulGroup { shape, block, group, input, glue: Glue::None, warps: 2 };
                    assert!(spec.can_stage());
                    check(&spec, shape, 2, Pattern::Carry);
                }
            }
        }
    }
}

#[test]
fn group_in_several_passes() {
    // Blocks of 4 limbs make one pass 128 limbs; the longer operand takes 2 to 5 of them.
    let settings = Settings { block: Some(4), ..Settings::default() };
    for bits in [[8192, 8192], [8192, 160], [4128, 4096], [20000, 2048], [12000, 12000]] {
        check_all("group", bits, &settings, 2, &[Pattern::Ones, Pattern::Carry]);
    }
    // Rows of odd lengths, which would be staged in one pass.
    for bits in [[4128, 4128], [4500, 2000], [8100, 4200]] {
        check_all("group", bits, &settings, 2, &[Pattern::Ones, Pattern::Carry]);
    }
    check_all("group", [65536, 33], &Settings::default(), 1, &[Pattern::Carry]);
    check_all("group", [32 * 1025, 32 * 33], &Settings::default(), 1, &[Pattern::Carry]);
}

#[test]
fn group_at_the_widest() {
    let shape = shape([65536, 65536], false);
    let spec = multiplication("group", shape, &Settings::default(), true);
    let counters = check(&*spec, shape, 1, Pattern::Ones);
    assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, 2048 * 2048);
}

/// What makes `thread` fast, exactly: the twins of its timings.
#[test]
fn thread_costs() {
    for bits in [32, 131, 256, 1000, 1024] {
        let shape = shape([bits, bits], false);
        let spec = multiplication("thread", shape, &Settings::default(), true);
        let lanes = 64;
        let counters = check(&*spec, shape, lanes, Pattern::Carry);
        let warps = lanes as u64 / 32;
        let limbs = u64::from(shape.max_limbs());
        assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, warps * limbs * limbs, "{bits} bits");
        let arithmetic = counters.section("arithmetic").unwrap();
        let others: u64 = [Pipe::Mul, Pipe::Alu, Pipe::Move].iter().map(|&p| arithmetic.pipe(p).warps).sum();
        let allowed = (5 * limbs * limbs).div_ceil(4) + 12 * limbs;
        assert!(others <= warps * allowed, "{bits} bits: {} of {allowed}", others / warps);
        assert_eq!(arithmetic.bank_conflicts(), 0, "{bits} bits");
        // Every sector of the operands is brought once, every sector of the product written once.
        let bytes = |limbs: u32| u64::from(limbs) * 4 * lanes as u64;
        let [la, lb, lc] = shape.limbs();
        assert_eq!(counters.distinct_load_sectors(), (bytes(la) + bytes(lb)) / 32);
        assert_eq!(counters.store_sectors(), bytes(lc) / 32, "{bits} bits");
        if limbs > 16 {
            assert_eq!(counters.load_sectors(), (bytes(la) + bytes(lb)) / 32, "{bits} bits");
        }
    }
}

/// What the staged way of `group` is for: no sector of global memory twice, shared memory nearly without
/// bank conflicts, and not a wide product more.
#[test]
fn group_costs_when_staged() {
    for (limbs, block) in
        [([50, 50], 25), ([63, 63], 32), ([94, 94], 24), ([65, 51], 17), ([127, 127], 32), ([99, 17], 25)]
    {
        let bits = limbs.map(|n| 32 * n);
        let shape = shape(bits, false);
        let spec = multiplication("group", shape, &Settings::default(), true);
        assert!(spec.name().contains(&format!("_k{block}_")) && spec.name().contains("_staged_"), "{}", spec.name());
        let lanes = 64;
        let counters = check(&*spec, shape, lanes, Pattern::Carry);
        let [la, lb, lc] = shape.limbs().map(|limbs| u64::from(limbs) * 4 * lanes as u64 / 32);
        assert_eq!(counters.distinct_load_sectors(), la + lb, "{limbs:?}");
        assert_eq!(counters.distinct_store_sectors(), lc, "{limbs:?}");
        assert_eq!(counters.load_sectors(), la + lb, "{limbs:?}");
        assert_eq!(counters.store_sectors(), lc, "{limbs:?}");
        assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, lanes as u64 * spec.wide_products());
        let arithmetic = counters.section("arithmetic").unwrap();
        assert_eq!(arithmetic.bank_conflicts(), 0, "{limbs:?}");
        assert_eq!(arithmetic.global_sectors(), 0, "{limbs:?}");
        // A run of 32 words takes one pass more for each row or block that ends in it.
        let runs = (la + lb + lc) / 4;
        assert!(2 * counters.bank_conflicts() <= 3 * runs, "{limbs:?}: {} of {runs}", counters.bank_conflicts());
    }
}

/// Carries are resolved in constant time: the counts do not depend on the operands.
#[test]
fn group_counts_do_not_depend_on_data() {
    let shape = shape([2048, 2048], false);
    let spec = MulGroup { shape, block: 16, group: 4, input: Input::Direct, glue: Glue::None, warps: 1 };
    let count = |pattern| check(&spec, shape, 8, pattern).instructions();
    assert_eq!(count(Pattern::Ones), count(Pattern::Random));
    assert_eq!(spec.wide_products(), 64 * 64);
}

#[test]
fn the_same_parameters_give_the_same_bytes() {
    let spec = MulThread { shape: shape([1024, 1024], false), input: Input::Staged, glue: Glue::Every(1), warps: 2 };
    assert_eq!(spec.build(0).to_string(), spec.clone().build(0).to_string());
    let other = MulThread { warps: 4, ..spec.clone() };
    assert_ne!(spec.name(), other.name());
}
