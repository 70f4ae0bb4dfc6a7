//! Squares on the simulator: carry-prone operands against the oracle, and the counts that are the performance.

use warpmp::kernels::Settings;
use warpmp::kernels::mul_thread::Input;
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Pipe;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check_all_squares, check_square, check_squares, squaring};

#[test]
fn thread_at_every_length_to_24_limbs() {
    for limbs in 1..=24 {
        for glue in [0, 1, 3] {
            let settings = Settings { glue: Some(glue), ..Settings::default() };
            check_all_squares("thread", 32 * limbs, &settings, 33, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

#[test]
fn thread_at_long_and_odd_lengths() {
    for bits in [1, 16, 17, 31, 33, 131, 500, 521, 1000, 1024, 1025, 1408, 1441, 1536, 2017, 2048] {
        check_all_squares("thread", bits, &Settings::default(), 33, &PATTERNS);
    }
}

#[test]
fn thread_at_all_counts_of_lanes() {
    for input in [Input::Direct, Input::Staged] {
        let settings = Settings { input: Some(input), warps: Some(4), ..Settings::default() };
        for lanes in [1, 31, 32, 33, 127, 128, 129] {
            for bits in [224, 256, 270] {
                check_all_squares("thread", bits, &settings, lanes, &PATTERNS);
            }
        }
    }
}

#[test]
fn thread_by_halves_and_whole() {
    for limbs in [2, 4, 6, 8, 10, 16, 18, 24, 34, 50, 64] {
        for bits in [32 * limbs, 32 * limbs - 17] {
            for levels in [0, 1] {
                let settings = Settings { levels: Some(levels), ..Settings::default() };
                check_all_squares("thread", bits, &settings, 8, &[Pattern::Carry, Pattern::Ones]);
            }
        }
    }
}

/// Halves that are equal, and halves of either order.
#[test]
fn thread_by_halves_with_differences_of_every_sign() {
    let half = 4;
    let fill = |limb: u32| vec![limb; half];
    let with = |limb: u32, rest: u32| [vec![limb], vec![rest; half - 1]].concat();
    let halves = [fill(u32::MAX), fill(0), with(1, 0), with(0, u32::MAX), with(u32::MAX - 1, u32::MAX), fill(1 << 31)];
    let pairs = halves.iter().flat_map(|low| halves.iter().map(move |high| [low.clone(), high.clone()].concat()));
    let rows: Vec<u32> = pairs.flatten().collect();
    let spec = squaring("thread", 64 * half, &Settings { levels: Some(1), ..Settings::default() });
    check_squares(&*spec, 64 * half, &rows);
}

/// One of the limbs at its maximum, the others zero, and the reverse.
#[test]
fn thread_with_one_limb_that_differs() {
    for limbs in [2_usize, 3, 7, 8, 33] {
        let one_hot = |on: u32, off: u32| (0..limbs * limbs).map(move |i| if i % (limbs + 1) == 0 { on } else { off });
        let rows: Vec<u32> =
            one_hot(u32::MAX, 0).chain(one_hot(0, u32::MAX)).chain(one_hot(1 << 31, u32::MAX)).collect();
        let spec = squaring("thread", 32 * limbs, &Settings::default());
        check_squares(&*spec, 32 * limbs, &rows);
    }
}

/// What makes `thread` fast, exactly: half the wide products, few other instructions, each sector once.
#[test]
fn thread_costs() {
    for bits in [32, 131, 256, 1000, 1024, 1408, 2048] {
        let spec = squaring("thread", bits, &Settings::default());
        let lanes = 64;
        let counters = check_square(&*spec, bits, lanes, Pattern::Carry);
        let warps = lanes as u64 / 32;
        let limbs = bits.div_ceil(32) as u64;
        let by_halves = limbs >= 44;
        let wide = if by_halves { 3 * limbs * (limbs + 2) / 8 } else { limbs * (limbs + 1) / 2 };
        assert_eq!(spec.wide_products(), wide, "{bits} bits");
        assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, warps * wide, "{bits} bits");
        let arithmetic = counters.section("arithmetic").unwrap();
        // A wide product and the addition that the assembler makes a part of it, and what the contract says; moves
        // of pairs are names for registers.
        let others: u64 = [Pipe::Mul, Pipe::Alu].iter().map(|&p| arithmetic.pipe(p).warps).sum();
        let allowed = 2 * wide + if by_halves { 14 } else { 6 } * limbs;
        assert!(others <= warps * allowed, "{bits} bits: {} of {allowed}", others / warps);
        // Pieces of half a row may be narrower than the stride of rows is made for.
        if !by_halves || limbs.is_multiple_of(8) {
            assert_eq!(arithmetic.bank_conflicts(), 0, "{bits} bits");
        }
        let [read, written] =
            [bits, 2 * bits].map(|bits| bits.div_ceil(32) as u64).map(|limbs| limbs * 4 * lanes as u64 / 32);
        assert_eq!(counters.distinct_load_sectors(), read, "{bits} bits");
        assert_eq!(counters.store_sectors(), written, "{bits} bits");
        if limbs > 16 {
            assert_eq!(counters.load_sectors(), read, "{bits} bits");
        }
    }
}
