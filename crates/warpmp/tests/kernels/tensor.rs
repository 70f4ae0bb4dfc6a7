//! `tensor` on the simulator: every number of panels, unequal lengths, carries, and the counts that are its performance.

use warpmp::kernels::{Settings, Spec};
use warpmp_kernel::ir::Op;
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{
    check, check_all, check_offers, check_square, multiplication, shape, squaring,
};

const NAME: &str = "tensor";

fn spec(bits: [usize; 2], settings: &Settings) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), settings, true)
}

fn usual(bits: usize) -> Box<dyn Spec> {
    spec([bits, bits], &Settings::default())
}

/// One warp a block, `products` products one after the other.
fn one_warp(products: u32) -> Settings {
    Settings { warps: Some(1), products: Some(products), ..Settings::default() }
}

#[test]
fn every_number_of_panels() {
    for panels in 3..=8 {
        let narrowest = 2048 * (panels - 1) + 1;
        for bits in [2048 * panels, 2048 * panels - 31, narrowest] {
            check(&*spec([bits, bits], &one_warp(2)), shape([bits, bits], false), 3, Pattern::Ones);
        }
        let bits = 2048 * panels - 500;
        check_all(NAME, [bits, bits], &one_warp(2), 2, &[Pattern::Carry]);
    }
}

/// Every number of quads, matrices and windows, with pieces of every width and bits left over. Rows of the result begin everywhere in a place of four words, one product of the warp after
/// another.
#[test]
fn every_length_in_quads() {
    for limbs in 32..=153 {
        for (bits, pattern) in [(32 * limbs, Pattern::Ones), (32 * limbs - 31, Pattern::Carry)] {
            check(&*spec([bits, bits], &one_warp(5)), shape([bits, bits], false), 5, pattern);
        }
    }
    for bits in [1024, 2048, 2080, 3072, 4096, 4128, 4608, 4896] {
        check_all(NAME, [bits, bits], &one_warp(2), 2, &PATTERNS);
    }
}

/// One factor ends everywhere in its quads, the other one everywhere in its matrices.
#[test]
fn quads_of_unequal_factors() {
    for longer in [32, 47, 48, 49, 64, 65, 96, 97, 104, 127, 128, 129, 144, 153] {
        for shorter in (0..longer).step_by(7).chain([15, 16, 31, 32, longer]).filter(|&limbs| limbs <= longer) {
            let bits = [(32 * shorter).max(1), 32 * longer];
            check(&*spec(bits, &one_warp(2)), shape(bits, false), 3, Pattern::Ones);
        }
    }
}

/// Every number of strips: lengths that fill them, that end within a limb, a piece and a block, and the shortest one.
#[test]
fn every_number_of_strips() {
    for strips in (5..=15).step_by(2).chain([10, 12]) {
        let filled = 1024 * strips;
        for bits in [filled, filled - 31, filled - 96, filled - 300, filled - 1023] {
            for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Runs] {
                check(&*spec([bits, bits], &one_warp(2)), shape([bits, bits], false), 3, pattern);
            }
        }
        check_all(NAME, [filled, filled], &one_warp(2), 2, &PATTERNS);
    }
}

/// One factor fills the strips. The other one is shorter and ends in different blocks: the highest byte of the first one meets zeros above.
#[test]
fn strips_of_unequal_factors() {
    for (strips, shorter) in [(5, 20), (13, 52)] {
        for blocks in (0..=shorter).step_by(shorter / 4) {
            for bits in [256 * blocks, 256 * blocks + 1, 256 * blocks + 250] {
                let bits = bits.max(1);
                check_all(NAME, [bits, 1024 * strips], &one_warp(2), 2, &[Pattern::Ones, Pattern::Carry]);
            }
        }
    }
}

#[test]
fn carries() {
    for bits in [1024, 2048, 3000, 3072, 4096, 5120] {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check(&*usual(bits), shape([bits, bits], false), 9, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [
        [1, 1024],
        [32, 2048],
        [1, 4096],
        [40, 6100],
        [2050, 8192],
        [1000, 4100],
        [2048, 4096],
        [4096, 2048],
        [255, 16384],
        [9000, 10000],
    ] {
        check_all(NAME, bits, &Settings::default(), 2, &PATTERNS);
    }
}

#[test]
fn squares() {
    for bits in [1000, 1024, 1984, 2048, 2080, 2112, 2500, 3001, 3072, 4064, 4096, 6144, 6200, 7168, 8192, 9216, 16384]
    {
        for pattern in PATTERNS {
            check_square(&*squaring(NAME, bits, &Settings::default()), bits, 3, pattern);
        }
    }
}

/// Squares with a kernel of their own: every number of panels, and lengths that end within a limb, a piece, a block, a panel and a group.
#[test]
fn long_squares() {
    for panels in 4..=8 {
        let narrowest = 2048 * (panels - 1) + 1;
        for bits in
            [2048 * panels, 2048 * panels - 31, 2048 * panels - 96, 2048 * panels - 500, narrowest, narrowest + 300]
        {
            for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Runs] {
                check_square(&*squaring(NAME, bits, &one_warp(2)), bits, 3, pattern);
            }
        }
    }
    for bits in [7000, 8192, 10240] {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check_square(&*squaring(NAME, bits, &Settings::default()), bits, 9, pattern);
        }
    }
}

/// Matrix products, instructions and wavefronts of shared memory a lane.
fn counted(counters: &Counters, lanes: u64) -> [u64; 3] {
    [counters.op(Op::MmaU8).warps, counters.instructions().warps, counters.shared_wavefronts()].map(|it| it / lanes)
}

/// A long square has fewer matrix products than a product. No access of its matrix products and of its digits waits for a bank.
#[test]
fn costs_of_long_squares() {
    for (bits, matrix_products, instructions, wavefronts) in [
        (8192, 204, 1045, 460),
        (10240, 270, 1468, 736),
        (12288, 408, 1709, 756),
        (14336, 504, 2162, 1116),
        (16384, 680, 2381, 1048),
    ] {
        let lanes = 8;
        let counters = check_square(&*squaring(NAME, bits, &one_warp(8)), bits, lanes, Pattern::Random);
        let lanes = lanes as u64;
        assert_eq!(counted(&counters, lanes), [matrix_products, instructions, wavefronts], "{bits} bits");
        let sectors = lanes * bits as u64 / 256;
        assert_eq!([counters.load_sectors(), counters.store_sectors()], [sectors, 2 * sectors], "{bits} bits");
        for name in ["multiply", "carry"] {
            assert_eq!(counters.section(name).unwrap().bank_conflicts(), 0, "{bits} bits, {name}");
        }
        let ones = check_square(&*squaring(NAME, bits, &one_warp(8)), bits, lanes as usize, Pattern::Ones);
        assert_eq!(ones.instructions(), counters.instructions(), "{bits} bits");
    }
}

/// Warps that have fewer products than others, and blocks that have fewer than a block takes.
#[test]
fn ragged_batches() {
    for (warps, products) in [(1, 1), (1, 3), (2, 5), (4, 4), (8, 32)] {
        let settings = Settings { warps: Some(warps), products: Some(products), ..Settings::default() };
        for lanes in [1, 2, 7, 31, 33] {
            check(&*spec([1100, 1100], &settings), shape([1100, 1100], false), lanes, Pattern::Carry);
        }
    }
}

/// Carries run in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    for bits in [2048, 4096, 8192] {
        let count = |pattern| check(&*usual(bits), shape([bits, bits], false), 3, pattern).instructions();
        let ones = count(Pattern::Ones);
        for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
            assert_eq!(count(pattern), ones, "{bits} bits, {pattern:?}");
        }
    }
}

/// Few matrix products meet a block that is not there: in quads those at both ends of `b`, in panels and strips none, because columns are counted modulo their number.
#[test]
fn matrix_products() {
    let per_product = |[a, b]: [usize; 2]| {
        let counters = check(&*spec([a, b], &one_warp(1)), shape([a, b], false), 2, Pattern::Carry);
        counters.op(Op::MmaU8).warps / 2
    };
    for (bits, expected) in [(2048, 24), (4096, 80), (8192, 264), (16384, 1040)] {
        assert_eq!(per_product([bits, bits]), expected, "{bits} bits");
    }
    for (bits, expected) in [
        ([1024, 1024], 8),
        ([3072, 3072], 48),
        ([3073, 3073], 49),
        ([5000, 5000], 105),
        ([512, 8192], 24),
        ([512, 9000], 27),
    ] {
        assert_eq!(per_product(bits), expected, "{bits:?} bits");
    }
}

/// Operands are read once and products written once, whole sectors at a time; no access waits for a bank but in the
/// copy of the limbs to the row, and where entries are made: one word of each pair is loaded alone. Products in quads have neither.
#[test]
fn costs() {
    for (bits, instructions, wavefronts) in
        [(1024, 129, 27), (2048, 199, 51), (3072, 301, 100), (4096, 383, 132), (8192, 998, 389), (16384, 2573, 611)]
    {
        let lanes = 8;
        let counters = check(&*spec([bits, bits], &one_warp(8)), shape([bits, bits], false), lanes, Pattern::Random);
        let lanes = lanes as u64;
        let counted = [counters.instructions().warps / lanes, counters.shared_wavefronts() / lanes];
        assert_eq!(counted, [instructions, wavefronts], "{bits} bits");
        let sectors = lanes * 2 * bits as u64 / 256;
        assert_eq!([counters.load_sectors(), counters.store_sectors()], [sectors, sectors], "{bits} bits");
        for (name, section) in counters.sections().filter(|(name, _)| *name != "store") {
            let alone =
                if name == "operands" && (8192..16384).contains(&bits) { lanes * bits as u64 / 2048 } else { 0 };
            assert_eq!(section.bank_conflicts(), alone, "{bits} bits, {name}");
        }
        let store = counters.section("store").unwrap();
        assert!(2 * store.bank_conflicts() <= store.minimum_shared_wavefronts(), "{bits} bits");
    }
}

/// Halves that are longer than a word: random numbers have none, and those of all ones take a few instructions more.
#[test]
fn costs_of_carries_of_halves() {
    for (bits, instructions, of_ones) in
        [(2080, 271, 319), (2304, 248, 291), (4128, 486, 627), (4608, 489, 625), (4896, 572, 725)]
    {
        let count = |pattern| {
            let counters = check(&*spec([bits, bits], &one_warp(8)), shape([bits, bits], false), 8, pattern);
            counters.instructions().warps / 8
        };
        assert_eq!([Pattern::Random, Pattern::Ones].map(count), [instructions, of_ones], "{bits} bits");
    }
}

/// Products in strips. With an odd number of them no access to digits waits for a bank.
#[test]
fn costs_of_strips() {
    for (strips, matrix_products, instructions, wavefronts) in
        [(5, 105, 631, 215), (7, 203, 821, 364), (9, 333, 1110, 464), (10, 410, 1278, 566), (13, 689, 1761, 664)]
    {
        let (bits, lanes) = (1024 * strips, 8);
        let counters = check(&*spec([bits, bits], &one_warp(8)), shape([bits, bits], false), lanes, Pattern::Random);
        let lanes = lanes as u64;
        assert_eq!(counted(&counters, lanes), [matrix_products, instructions, wavefronts], "{strips} strips");
        let sectors = lanes * 2 * bits as u64 / 256;
        assert_eq!([counters.load_sectors(), counters.store_sectors()], [sectors, sectors], "{strips} strips");
        let carry = counters.section("carry").unwrap();
        assert!(carry.bank_conflicts() == 0 || strips % 2 == 0, "{strips} strips");
        let ones = check(&*spec([bits, bits], &one_warp(8)), shape([bits, bits], false), 8, Pattern::Ones);
        assert_eq!(ones.instructions(), counters.instructions(), "{strips} strips");
    }
}

/// A GPU without matrix products of bytes is offered other algorithms.
#[test]
fn an_old_gpu_has_no_such_algorithm() {
    check_offers(NAME, 2048, &[(75, false), (80, true), (90, true)]);
}
