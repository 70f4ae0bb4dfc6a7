//! Parts of products on the simulator: the low half, the high half, an addend; and what they cost, exactly.

use warpmp::kernels::Register;
use warpmp::kernels::Settings;
use warpmp::{Operation, Shape};
use warpmp_kernel::ir::{Carry, Half, Int, Op, Width};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::operations::{check, check_with};
use warpmp_testkit::operands::LANES;

const PARTS: [Operation; 3] = [Operation::MulLo, Operation::MulHi, Operation::MulAdd];

/// Wide products a warp.
fn wide(counters: &Counters) -> u64 {
    counters.op(Op::MulWide(Int::U32)).warps
}

/// Low products a warp, with an addend or without.
fn low(counters: &Counters) -> u64 {
    counters.op(Op::Mul(Half::Lo, Width::W32)).warps + counters.op(Op::Mad(Half::Lo, Carry::None)).warps
}

#[test]
fn a_row_a_thread() {
    for operation in PARTS {
        for bits in [133, 160, 256, 511, 513, 768, 769, 800, 1000, 1024, 1535, 1536] {
            for pattern in [Pattern::Carry, Pattern::Ones] {
                check(operation, "thread", &vec![bits; operation.arity()], &vec![33; operation.arity()], pattern);
            }
        }
    }
}

#[test]
fn factors_of_different_lengths_and_common_ones() {
    for algorithm in ["thread", "group"] {
        for operation in PARTS {
            for [p, q] in [[1024, 64], [64, 1000], [1000, 1001], [1023, 1], [32, 1024], [769, 1500], [131, 1536]] {
                for lanes in [[33, 33, 33], [1, 33, 33], [33, 1, 1], [1, 1, 33]] {
                    let arity = operation.arity();
                    let lanes =
                        if operation == Operation::MulAdd { lanes } else { [lanes[0].max(lanes[2]), lanes[1], 1] };
                    check(operation, algorithm, &[p, q, 500][..arity], &lanes[..arity], Pattern::Carry);
                }
            }
        }
    }
}

#[test]
fn any_number_of_lanes() {
    for lanes in LANES {
        for operation in PARTS {
            let arity = operation.arity();
            check(operation, "thread", &vec![320; arity], &vec![lanes; arity], Pattern::Carry);
        }
    }
    let one_warp = Settings { warps: Some(1), glue: Some(3), ..Settings::default() };
    check_with(Operation::MulAdd, "thread", &one_warp, &[992, 1024, 40], &[65, 65, 65], Pattern::Edge);
}

/// Sectors of operands and results once, no bank conflict, half of the products where half are asked for.
#[test]
fn what_a_row_a_thread_costs() {
    for bits in [256_usize, 768, 1000, 1024, 1280, 1536] {
        let (lanes, limbs) = (64_usize, bits.div_ceil(32) as u64);
        let warps = lanes as u64 / 32;
        let cost = |operation: Operation| {
            let arity = operation.arity();
            check(operation, "thread", &vec![bits; arity], &vec![lanes; arity], Pattern::Carry)
        };
        let [lo, hi, add] = PARTS.map(cost);
        // And a few low ones for addresses, which the kernel without any of a product's has as well.
        assert_eq!(wide(&lo), warps * limbs * (limbs - 1) / 2, "{bits} bits");
        assert_eq!(low(&lo) - low(&hi), warps * limbs, "{bits} bits");
        assert_eq!([wide(&hi), wide(&add)], [warps * limbs * limbs; 2], "{bits} bits");
        let sectors = |limbs: u64| limbs * 4 * lanes as u64 / 32;
        let sums = (2 * bits).div_ceil(32) as u64;
        for (counters, operands, result) in [(&lo, 2, limbs), (&hi, 2, limbs), (&add, 3, sums)] {
            assert_eq!(counters.load_sectors(), operands * sectors(limbs), "{bits} bits");
            assert_eq!(counters.store_sectors(), sectors(result), "{bits} bits");
            assert_eq!(counters.bank_conflicts(), 0, "{bits} bits");
        }
    }
}

#[test]
fn a_row_a_group() {
    for operation in PARTS {
        for bits in [769, 800, 1000, 1024, 1536, 2048, 3000, 4096] {
            for pattern in [Pattern::Carry, Pattern::Ones] {
                check(operation, "group", &vec![bits; operation.arity()], &vec![9; operation.arity()], pattern);
            }
        }
        check(operation, "group", &[2048, 640, 700][..operation.arity()], &vec![33; operation.arity()], Pattern::Carry);
        check(operation, "group", &[2600, 641, 700][..operation.arity()], &vec![5; operation.arity()], Pattern::Ones);
        check(operation, "group", &vec![8192; operation.arity()], &vec![3; operation.arity()], Pattern::Ones);
        check(operation, "group", &vec![160; operation.arity()], &vec![65; operation.arity()], Pattern::Carry);
    }
}

/// Half as many products in blocks: `n(n + k)/2`, where `n` limbs are `2·group` blocks of `k`; and no shuffle in the loop.
#[test]
fn what_a_low_half_by_columns_costs() {
    for (bits, block) in [(1024_usize, 8), (2048, 16), (2048, 4), (4096, 16), (3072, 12)] {
        let (n, lanes) = (bits.div_ceil(32) as u64, 16);
        let settings = Settings { block: Some(block), ..Settings::default() };
        let counters = check_with(Operation::MulLo, "group", &settings, &[bits; 2], &[lanes; 2], Pattern::Ones);
        let k = u64::from(block);
        assert_eq!(counters.op(Op::MulWide(Int::U32)).threads, lanes as u64 * n * (n + k) / 2, "{bits} bits");
        let sectors = n * 4 * lanes as u64 / 32;
        assert_eq!([counters.load_sectors(), counters.store_sectors()], [2 * sectors, sectors], "{bits} bits");
        let shuffles: u64 =
            counters.ops().into_iter().filter(|(op, _)| matches!(op, Op::Shfl(_))).map(|(_, it)| it.warps).sum();
        let warps = lanes as u64 * n / (2 * k) / 32;
        assert_eq!(shuffles, 6 * warps, "{bits} bits");
    }
}

/// Every kernel that is worth measuring is right.
#[test]
fn candidates_are_right() {
    let info = warpmp::device::open_sim().info().clone();
    for (operation, bits) in
        [(Operation::MulLo, 1024), (Operation::MulLo, 2500), (Operation::MulHi, 2500), (Operation::MulAdd, 2112)]
    {
        let shapes = vec![Shape::new(3, bits); operation.arity()];
        let candidates = Register::shipped().candidates(operation, &shapes, &info).unwrap();
        assert!(candidates.len() > 8);
        for it in candidates {
            check_with(
                operation,
                it.algorithm,
                &it.settings,
                &vec![bits; operation.arity()],
                &vec![3; operation.arity()],
                Pattern::Carry,
            );
        }
    }
}

#[test]
fn by_karatsuba() {
    for operation in PARTS {
        for bits in [2080, 3000, 4096, 5001] {
            for pattern in [Pattern::Carry, Pattern::Ones] {
                check(
                    operation,
                    "karatsuba/group",
                    &vec![bits; operation.arity()],
                    &vec![3; operation.arity()],
                    pattern,
                );
            }
        }
        check(operation, "karatsuba/group", &vec![8192; operation.arity()], &vec![3; operation.arity()], Pattern::Ones);
        for (bits, lanes) in
            [([2100, 3000, 1000], [3, 3, 3]), ([4000, 3999, 4000], [3, 1, 3]), ([32, 2050, 2060], [1, 3, 1])]
        {
            let (arity, common) = (operation.arity(), if operation == Operation::MulAdd { lanes } else { [3; 3] });
            check(operation, "karatsuba/group", &bits[..arity], &common[..arity], Pattern::Carry);
        }
    }
    // Blocks of threads whose products do not end with the tiles.
    let three = Settings { products: Some(3), warps: Some(4), ..Settings::default() };
    for operation in PARTS {
        check_with(
            operation,
            "karatsuba/group",
            &three,
            &[2112, 2112, 2000][..operation.arity()],
            &vec![34; operation.arity()],
            Pattern::Ones,
        );
    }
}

#[test]
fn after_the_whole_product() {
    check(Operation::MulHi, "group", &[2048, 640], &[33, 33], Pattern::Ones);
    check(Operation::SignedMul, "group", &[640, 2048], &[33, 1], Pattern::Ones);
    check(Operation::SignedMul, "group", &[640, 2048], &[1, 33], Pattern::Carry);
    check(Operation::MulAdd, "group", &[1025, 1025, 4000], &[33, 33, 1], Pattern::Ones);
    check(Operation::MulAdd, "group", &[1025, 1000, 400], &[1, 1, 33], Pattern::Ones);
    check(Operation::SignedMul, "thread", &[1000, 1536], &[33, 33], Pattern::Ones);
    check(Operation::MulAdd, "thread", &[1024, 1024, 2100], &[33, 33, 33], Pattern::Ones);
    check(Operation::SignedMul, "karatsuba/group", &[3000, 2500], &[33, 33], Pattern::Ones);
    check(Operation::MulAdd, "karatsuba/group", &[2500, 2080, 6000], &[1, 1, 3], Pattern::Ones);
    for operation in PARTS {
        check(
            operation,
            "toom-8",
            &[2500, 3000, 2600][..operation.arity()],
            &vec![33; operation.arity()],
            Pattern::Ones,
        );
    }
}

/// Every number of panels; lengths that end within a block, a piece, a panel and at its end; one product of a warp and several.
#[test]
fn a_low_half_a_warp_on_tensor_cores() {
    for bits in (1..=20).map(|panels| 2048 * panels) {
        for pattern in [Pattern::Carry, Pattern::Ones] {
            check(Operation::MulLo, "tensor", &[bits; 2], &[3; 2], pattern);
        }
    }
    for bits in
        [1024, 1056, 1088, 1120, 2016, 2080, 2112, 3008, 4064, 4128, 6112, 6176, 8160, 10272, 14368, 16352, 18464]
    {
        check(Operation::MulLo, "tensor", &[bits; 2], &[3; 2], Pattern::Carry);
    }
    for bits in [1952, 4096, 6144, 16384] {
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Edge, Pattern::Sparse] {
            check(Operation::MulLo, "tensor", &[bits; 2], &[17; 2], pattern);
        }
    }
    for lanes in [[1, 5], [5, 1]] {
        check(Operation::MulLo, "tensor", &[4096; 2], &lanes, Pattern::Carry);
    }
}

/// Every number of strips; lengths that end within a block, a piece, a strip and at its end.
#[test]
fn a_low_half_in_strips() {
    for strips in (3..=13).step_by(2) {
        let filled = 1024 * strips;
        for bits in [filled, filled - 32, filled - 128, filled - 512, filled - 992] {
            for pattern in [Pattern::Carry, Pattern::Ones, Pattern::Runs] {
                check(Operation::MulLo, "tensor", &[bits; 2], &[3; 2], pattern);
            }
        }
    }
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Edge, Pattern::Sparse] {
        check(Operation::MulLo, "tensor", &[3072; 2], &[17; 2], pattern);
    }
    for lanes in [[1, 5], [5, 1]] {
        check(Operation::MulLo, "tensor", &[5120; 2], &lanes, Pattern::Carry);
    }
}

/// Matrix products, instructions and accesses to shared memory of a low half in strips, and how many of these waited for banks.
#[test]
fn what_a_low_half_in_strips_costs() {
    for (strips, expected) in [(3, [216, 99, 12]), (5, [352, 180, 23]), (7, [425, 311, 37]), (13, [960, 575, 68])] {
        let bits = 1024 * strips;
        let settings = Settings { warps: Some(1), products: Some(16), ..Settings::default() };
        let count = |lanes: usize| {
            let counters = check_with(Operation::MulLo, "tensor", &settings, &[bits; 2], &[lanes; 2], Pattern::Random);
            let waits = counters.shared_wavefronts() - counters.minimum_shared_wavefronts();
            let matrices = counters.op(Op::MmaU8).warps;
            [matrices, counters.instructions().warps, counters.shared_wavefronts(), waits]
        };
        let [few, many] = [8, 16].map(count);
        let found: Vec<u64> = many.iter().zip(few).map(|(many, few)| (many - few) / 8).collect();
        let matrices = 2 * strips as u64 * (strips as u64 + 1);
        assert_eq!(found[0], matrices, "{bits} bits");
        assert_eq!(found[1..], expected, "{bits} bits");
    }
}

/// Matrix products, instructions and accesses to shared memory of a low half: a little more than half of the matrix products of a whole product. Rows move once.
#[test]
fn what_a_low_half_a_warp_on_tensor_cores_costs() {
    for (panels, instructions, wavefronts) in
        [(1, 166, 52), (2, 320, 104), (3, 505, 193), (4, 679, 248), (6, 976, 489), (8, 1422, 625), (20, 6078, 1304)]
    {
        let bits = 2048 * panels;
        let settings = Settings { warps: Some(1), products: Some(16), ..Settings::default() };
        let count = |lanes: usize| {
            let counters = check_with(Operation::MulLo, "tensor", &settings, &[bits; 2], &[lanes; 2], Pattern::Random);
            assert_eq!(counters.section("multiply").unwrap().bank_conflicts(), 0, "{bits} bits");
            if panels.is_power_of_two() {
                assert_eq!(counters.section("carry").unwrap().bank_conflicts(), 0, "{bits} bits");
            }
            let counts = [counters.op(Op::MmaU8).warps, counters.instructions().warps, counters.shared_wavefronts()];
            (counts, [counters.load_sectors(), counters.store_sectors()])
        };
        let [(few, _), (many, sectors)] = [8, 16].map(count);
        let found: Vec<u64> = many.iter().zip(few).map(|(many, few)| (many - few) / 8).collect();
        let matrices = 8 * panels as u64 * (panels as u64 + 1);
        assert_eq!(found, [matrices, instructions, wavefronts], "{bits} bits");
        let row = 16 * bits as u64 / 256;
        assert_eq!(sectors, [2 * row, row], "{bits} bits");
    }
}

const BY_TENSOR: [Operation; 3] = [Operation::MulHi, Operation::MulAdd, Operation::SignedMul];

/// Every number of panels, factors that end within one, within a half and at its end.
#[test]
fn a_product_a_warp_on_tensor_cores() {
    for operation in BY_TENSOR {
        for bits in [
            1024, 1152, 1920, 2048, 2176, 3072, 4096, 4224, 4608, 4864, 5120, 6144, 7168, 8064, 8192, 9216, 10240,
            11264, 12288,
        ] {
            if operation == Operation::SignedMul && bits <= 2048 {
                continue;
            }
            for pattern in [Pattern::Carry, Pattern::Ones] {
                check(operation, "tensor", &vec![bits; operation.arity()], &vec![3; operation.arity()], pattern);
            }
        }
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Edge, Pattern::Sparse] {
            check(operation, "tensor", &vec![4096; operation.arity()], &vec![17; operation.arity()], pattern);
        }
    }
}

/// A warp asks for the lines of an addend a product before it adds them. One addend for all lanes stays in the caches.
#[test]
fn addends_are_prefetched_on_tensor_cores() {
    let settings = Settings { warps: Some(1), products: Some(4), ..Settings::default() };
    for (bits, lines) in [(4096, 4), (5120, 5), (8192, 8)] {
        let asked = |operation: Operation, lanes: &[usize]| {
            let counters = check_with(operation, "tensor", &settings, &vec![bits; lanes.len()], lanes, Pattern::Carry);
            counters.op(Op::Prefetch).threads
        };
        assert_eq!(asked(Operation::MulAdd, &[4; 3]), 3 * lines, "{bits} bits");
        assert_eq!(asked(Operation::MulAdd, &[4, 4, 1]), 0, "{bits} bits");
        assert_eq!(asked(Operation::SignedMul, &[4; 2]), 0, "{bits} bits");
    }
}

/// A row is read again and added only if the other factor is negative: all ones are, half of the random numbers are.
#[test]
fn signs_cost_what_is_negative() {
    for bits in [4096, 5120] {
        let [ones, random] = [Pattern::Ones, Pattern::Random].map(|pattern| {
            let counters = check(Operation::SignedMul, "tensor", &[bits; 2], &[16; 2], pattern);
            [counters.instructions().warps, counters.load_sectors()]
        });
        assert!(ones[0] > random[0] && ones[1] > random[1], "{bits} bits: {ones:?} {random:?}");
    }
}

#[test]
fn common_operands_and_short_addends_on_tensor_cores() {
    for lanes in [[1, 5, 5], [5, 1, 5], [1, 5, 1], [5, 5, 1]] {
        check(Operation::MulAdd, "tensor", &[4096, 4096, 4096], &lanes, Pattern::Carry);
        check(Operation::MulAdd, "tensor", &[6144, 6144, 6144], &lanes, Pattern::Carry);
    }
    for lanes in [[1, 5], [5, 1]] {
        for operation in [Operation::MulHi, Operation::SignedMul] {
            check(operation, "tensor", &[4096, 4096], &lanes, Pattern::Carry);
        }
    }
    for addend in [128, 256, 1920] {
        check(Operation::MulAdd, "tensor", &[2048, 2048, addend], &[5; 3], Pattern::Ones);
        check(Operation::MulAdd, "tensor", &[3968, 3968, addend], &[5; 3], Pattern::Ones);
        check(Operation::MulAdd, "tensor", &[8192, 8192, addend], &[3; 3], Pattern::Ones);
    }
}

/// The patterns that carry, all lengths that differ in how rows are divided, and the ends of the range.
#[test]
fn a_product_four_warps_on_tensor_cores() {
    for operation in [Operation::MulLo, Operation::MulHi, Operation::MulAdd, Operation::SignedMul] {
        for bits in [12416, 12544, 14336, 16256, 16384, 16512, 17024, 18432, 20480, 20608, 24576, 28672] {
            for pattern in [Pattern::Carry, Pattern::Ones, Pattern::Runs] {
                let arity = operation.arity();
                check(operation, "tensor-warpgroup", &vec![bits; arity], &vec![3; arity], pattern);
            }
        }
    }
    for lanes in [[1, 3, 3], [3, 1, 1], [3, 3, 1]] {
        check(Operation::MulAdd, "tensor-warpgroup", &[16384, 16384, 16384], &lanes, Pattern::Carry);
        check(Operation::SignedMul, "tensor-warpgroup", &[14336, 14336], &lanes[..2], Pattern::Carry);
    }
    for addend in [128, 4096, 8320, 12800] {
        check(Operation::MulAdd, "tensor-warpgroup", &[12800, 12800, addend], &[3; 3], Pattern::Ones);
        check(Operation::MulAdd, "tensor-warpgroup", &[18048, 18048, addend], &[3; 3], Pattern::Carry);
    }
}
