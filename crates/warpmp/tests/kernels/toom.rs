//! Toom-k on the simulator: products of carry-prone operands against the oracle, and the counts of the
//! dissertation's Table 3.2.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::toom::Toom;
use warpmp::kernels::{ChainSettings, OperationShape};
use warpmp::{Batch, Operation, Options, Session, Shape};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Int, Op, Space};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, shape};
use warpmp_testkit::{Operands, Pattern, conformance};

fn toom(k: usize, shape: OperationShape, warps: u32) -> Toom {
    Toom::new(k as u32, shape, &ChainSettings { warps: Some(warps), glue: None })
}

fn check_bits(k: usize, bits: [usize; 2], common_b: bool, lanes: usize, patterns: &[Pattern]) {
    let shape = shape(bits, common_b);
    for &pattern in patterns {
        check(&toom(k, shape, 1), shape, lanes, pattern);
    }
}

/// The shortest operands, and lengths around the multiples of k.
#[test]
fn lengths_around_multiples_of_k() {
    for k in 2..=9 {
        check_bits(k, [1056, 1056], false, 2, &PATTERNS);
        let limbs = (33_usize + k).next_multiple_of(k);
        for bits in [32 * limbs - 32, 32 * limbs, 32 * limbs + 1] {
            check_bits(k, [bits, bits], false, 1, &[Pattern::Ones, Pattern::Carry]);
        }
    }
}

/// Parts of a multiple of 32 limbs, where a value has a limb of its own above its blocks, and one less or more.
#[test]
fn lengths_around_multiples_of_32_limbs() {
    for k in 2..=9 {
        check_bits(k, [1024 * k, 1024 * k], false, 2, &PATTERNS);
        for bits in [992 * k, 1024 * k - 5, 1024 * k + 1, 2048 * k] {
            check_bits(k, [bits, bits], false, 1, &[Pattern::Ones, Pattern::Edge]);
        }
    }
}

#[test]
fn unequal_lengths() {
    for k in 2..=9 {
        for bits in [[1100, 1], [4096, 33], [4096, 3000], [2048 * k, 1024 * k], [2047 * k, 2048 * k - 32]] {
            check_bits(k, bits, false, 1, &[Pattern::Ones, Pattern::Carry]);
        }
    }
}

#[test]
fn one_operand_for_all_lanes() {
    for k in 2..=9 {
        check_bits(k, [2000, 1300], true, 3, &[Pattern::Carry]);
        check_bits(k, [1024 * k, 1024 * k], true, 2, &[Pattern::Edge]);
    }
}

/// Several warps a block, several tiles, the last not full.
#[test]
fn tiles_and_warps() {
    for (k, warps, lanes) in [(3, 1, 35), (4, 8, 33), (2, 2, 7), (5, 32, 40), (9, 4, 5)] {
        let bits = [1060, 1056];
        let shape = shape(bits, false);
        check(&toom(k, shape, warps), shape, lanes, Pattern::Carry);
    }
}

#[test]
fn the_widest() {
    for k in [2, 8] {
        check_bits(k, [65536, 65536], false, 1, &[Pattern::Ones]);
    }
    check_bits(9, [65536, 65535], false, 1, &[Pattern::Carry]);
}

/// Table 3.2, column "multiplication": `(2k−1)/k²·w²` for the products at the points, as published, where a
/// part is whole warps of limbs. The published terms in `w` differ, since theirs count multiplications by
/// constants that we have as additions, or that evaluate by other sequences; ours are held to their own form.
#[test]
fn products_of_table_3_2() {
    for k in 2..=9_u64 {
        for t in [1, 2] {
            let w = 32 * t * k;
            let bits = [32 * w as usize; 2];
            let shape = shape(bits, false);
            let spec = Toom { k: k as u32, shape, glue: Glue::None, warps: 1 };
            let counters = check(&spec, shape, 1, Pattern::Carry);
            let wide = |section: &str| {
                let section = counters.section(section).unwrap();
                section.op(Op::MulWide(Int::U32)).threads + section.op(Op::MadWide(Int::U32)).threads
            };
            assert_eq!(wide("multiply"), (2 * k - 1) * w * w / (k * k), "toom-{k}");
            assert_eq!(spec.point_products(), wide("multiply"));
            // Every limb of both operands by its weight at every point, two addresses a thread, and the tops.
            let signs = counters.section("signs").unwrap().op(Op::MulWide(Int::S32)).threads;
            let addresses = (2 * k - 1) * 32 * 2;
            assert_eq!(wide("evaluate") + wide("signs") + signs - addresses, spec.evaluation_products(), "toom-{k}");
            assert_eq!(spec.evaluation_products(), (2 * k - 1) * (2 * w + 2 * w / k + 32), "toom-{k}");
        }
    }
}

/// Words that threads load from global memory, and that they store to it.
fn global_words(counters: &Counters) -> [u64; 2] {
    let mut words = [0; 2];
    for (op, count) in counters.ops() {
        match op {
            Op::Ld(Space::Global | Space::GlobalConst, vector, _) => words[0] += count.threads * vector.len() as u64,
            Op::St(Space::Global, vector, _) => words[1] += count.threads * vector.len() as u64,
            _ => {}
        }
    }
    words
}

/// Table 3.2, columns "memory read" and "memory write". The published reads grow with `w²`, because a warp
/// reads a block of both operands for each of its 1024-bit products; ours keeps the values in registers and
/// shared memory, and everything is linear in `w`.
#[test]
fn accesses_of_table_3_2() {
    for k in 2..=9_u64 {
        let (m, w) = (64, 64 * k);
        let bits = [32 * w as usize; 2];
        let shape = shape(bits, false);
        let spec = Toom { k: k as u32, shape, glue: Glue::None, warps: 1 };
        let counters = check(&spec, shape, 1, Pattern::Carry);
        let (points, limbs) = (2 * k - 1, 2 * m + 2);
        // Both operands at every point; the products; the coefficients, two terms a limb of the result.
        let reads = points * (2 * w + limbs + 2 * m) + points - 1;
        // The products, the coefficients, and rows of the result: a whole tile.
        let writes = points * (2 * limbs - 1) + 32 * 2 * w;
        assert_eq!(global_words(&counters), [reads, writes], "toom-{k}");
        let interpolation = counters.section("interpolate").unwrap().op(Op::MadWide(Int::U32)).threads;
        assert_eq!(interpolation, spec.interpolation_products(), "toom-{k}");
    }
}

/// What makes the second kernel fast: every access serves whole sectors, and nothing meets in a bank.
#[test]
fn accesses_are_coalesced() {
    let bits = [2048, 2048];
    let shape = shape(bits, false);
    let spec = Toom { k: 2, shape, glue: Glue::None, warps: 8 };
    let counters = check(&spec, shape, 32, Pattern::Random);
    for section in ["interpolate", "sum", "store"] {
        let counters = counters.section(section).unwrap();
        assert_eq!(counters.global_sectors(), counters.minimum_global_sectors(), "{section}");
        assert_eq!(counters.bank_conflicts(), 0, "{section}");
    }
}

/// Through a session, in chunks with scratch memory each, operands swapped where the second is longer.
#[test]
fn sessions_take_it_by_name() {
    let config = SimConfig { memory_bytes: 1 << 20, ..SimConfig::default() };
    let session = Session::with_device(device::open_sim_with(&config)).unwrap();
    let batch = |operands: &Operands| -> Batch<'static> {
        Batch::from_limbs(Shape::new(operands.lanes, operands.bits), operands.limbs.clone()).unwrap()
    };
    let cases = conformance::cases(&[(1100, 1100), (40, 1060)], 65);
    conformance::mul(&cases, |a, b| {
        let options = Options::new().algorithm("toom-8");
        session.apply(Operation::Mul, &[&batch(a), &batch(b)], options).map(|(mut c, _)| c.remove(0).into_limbs())
    });
}
