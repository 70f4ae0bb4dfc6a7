//! Every kernel on the simulator: products of carry-prone operands against the oracle, and the counts
//! that are its performance.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{PATTERNS, check, check_all, shape};
use warpmp::kernels::mul_group::MulGroup;
use warpmp::kernels::mul_thread::{Input, MulThread};
use warpmp::kernels::{MUL, Settings, Spec};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Pipe;
use warpmp_testkit::Pattern;

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

#[test]
fn group_in_several_passes() {
    // Blocks of 4 limbs make one pass 128 limbs; the longer operand takes 2 to 5 of them.
    let settings = Settings { block: Some(4), ..Settings::default() };
    for bits in [[8192, 8192], [8192, 160], [4128, 4096], [20000, 2048], [12000, 12000]] {
        check_all("group", bits, &settings, 2, &[Pattern::Ones, Pattern::Carry]);
    }
    check_all("group", [65536, 33], &Settings::default(), 1, &[Pattern::Carry]);
}

#[test]
fn group_at_the_widest() {
    let shape = shape([65536, 65536], false);
    let algorithm = MUL.iter().find(|it| it.name == "group").unwrap();
    let spec = (algorithm.spec)(shape, &Settings::default(), true);
    let counters = check(&*spec, shape, [65536, 65536], 1, Pattern::Ones);
    assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, 2048 * 2048);
}

/// What makes `thread` fast, exactly: the twins of its timings.
#[test]
fn thread_costs() {
    for bits in [32, 131, 256, 1000, 1024] {
        let shape = shape([bits, bits], false);
        let algorithm = MUL.iter().find(|it| it.name == "thread").unwrap();
        let spec = (algorithm.spec)(shape, &Settings::default(), true);
        let lanes = 64;
        let counters = check(&*spec, shape, [bits, bits], lanes, Pattern::Carry);
        let warps = lanes as u64 / 32;
        let limbs = u64::from(shape.limbs[0]);
        assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, warps * limbs * limbs, "{bits} bits");
        let arithmetic = counters.section("arithmetic").unwrap();
        let others: u64 = [Pipe::Mul, Pipe::Alu, Pipe::Move].iter().map(|&p| arithmetic.pipe(p).warps).sum();
        let allowed = (5 * limbs * limbs).div_ceil(4) + 12 * limbs;
        assert!(others <= warps * allowed, "{bits} bits: {} of {allowed}", others / warps);
        assert_eq!(arithmetic.bank_conflicts(), 0, "{bits} bits");
        // Every sector of the operands is brought once, every sector of the product written once.
        let bytes = |limbs: u32| u64::from(limbs) * 4 * lanes as u64;
        let [la, lb, lc] = shape.limbs;
        assert_eq!(counters.distinct_load_sectors(), (bytes(la) + bytes(lb)) / 32);
        assert_eq!(counters.store_sectors(), bytes(lc) / 32, "{bits} bits");
        if limbs > 16 {
            assert_eq!(counters.load_sectors(), (bytes(la) + bytes(lb)) / 32, "{bits} bits");
        }
    }
}

/// Carries are resolved in constant time: the counts do not depend on the operands.
#[test]
fn group_counts_do_not_depend_on_data() {
    let shape = shape([2048, 2048], false);
    let spec = MulGroup { shape, block: 16, group: 4, glue: Glue::None, warps: 1 };
    let count = |pattern| check(&spec, shape, [2048, 2048], 8, pattern).instructions();
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
