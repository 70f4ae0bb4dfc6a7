//! Linear kernels on the simulator: lane counts around warps and blocks, and what a launch costs, exactly.

use warpmp::Operation;
use warpmp_kernel::ir::{Int, Op};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::operations::check;
use warpmp_testkit::operands::LANES;

#[test]
fn any_number_of_lanes() {
    for lanes in LANES {
        for (operation, bits) in
            [(Operation::Add, 131), (Operation::AddMod, 1024), (Operation::CarryingAdd, 256), (Operation::Xor, 31)]
        {
            check(operation, "thread", &vec![bits; operation.arity()], &vec![lanes; operation.arity()], Pattern::Carry);
        }
        for (operation, bits) in [(Operation::Sub, 1024), (Operation::SubMod, 256), (Operation::Cmp, 2100)] {
            check(operation, "group", &vec![bits; operation.arity()], &vec![lanes; operation.arity()], Pattern::Carry);
        }
    }
    check(Operation::AddMod, "group", &[2048, 2048, 2048], &[33, 33, 1], Pattern::Ones);
    // Several tiles a warp, of which the last ones may not be there.
    for lanes in LANES {
        check(Operation::Add, "thread", &[32, 32], &[lanes, lanes], Pattern::Carry);
        check(Operation::Cmp, "thread", &[30, 17], &[lanes, lanes], Pattern::Carry);
        check(Operation::Select, "thread", &[1, 64, 60], &[lanes, lanes, 1], Pattern::Carry);
    }
    check(Operation::AddMod, "thread", &[96, 2, 96], &[1, 33, 33], Pattern::Carry);
}

#[test]
fn the_widest_rows() {
    for (operation, bits) in [(Operation::Add, 65536), (Operation::AddMod, 65536), (Operation::Sub, 65535)] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(operation, "group", &vec![bits; operation.arity()], &vec![2; operation.arity()], pattern);
        }
    }
    check(Operation::Shr(40_000), "group", &[65536], &[2], Pattern::Carry);
    check(Operation::Shl(65_000), "group", &[65536], &[2], Pattern::Carry);
    for (operation, bits) in [(Operation::Select, 2560), (Operation::SignedSub, 2559), (Operation::AddMod, 1536)] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(operation, "thread", &vec![bits; operation.arity()], &vec![33; operation.arity()], pattern);
        }
    }
}

/// What a row a thread costs: every sector of operands and results once, no bank conflict, and few instructions.
#[test]
fn thread_costs() {
    for bits in [31, 63, 131, 256, 512, 521, 768, 1000, 1024, 1280, 1536, 2048, 2500] {
        // Whole warps of the shortest rows, of which one takes several tiles.
        let lanes = 256;
        let counters = check(Operation::Add, "thread", &[bits, bits], &[lanes, lanes], Pattern::Carry);
        let limbs = |bits: usize| bits.div_ceil(32) as u64;
        let sectors = |limbs: u64| limbs * 4 * lanes as u64 / 32;
        assert_eq!(counters.load_sectors(), 2 * sectors(limbs(bits)), "{bits} bits");
        assert_eq!(counters.store_sectors(), sectors(limbs(bits + 1)), "{bits} bits");
        assert_eq!(counters.bank_conflicts(), 0, "{bits} bits");
        let warps = lanes as u64 / 32;
        let allowed = warps * (9 * limbs(bits) + 48);
        assert!(
            counters.instructions().warps <= allowed,
            "{bits} bits: {} of {allowed}",
            counters.instructions().warps
        );
        assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, 0);
    }
}

/// Carries are resolved in constant time, and nothing of a modular sum depends on its operands.
#[test]
fn counts_do_not_depend_on_data() {
    for (algorithm, bits) in [("thread", 256), ("group", 2048)] {
        for operation in [Operation::AddMod, Operation::SubMod, Operation::Cmp] {
            let arity = operation.arity();
            let count =
                |pattern| check(operation, algorithm, &vec![bits; arity], &vec![33; arity], pattern).instructions();
            assert_eq!(count(Pattern::Ones), count(Pattern::Random), "{operation}");
        }
    }
}
