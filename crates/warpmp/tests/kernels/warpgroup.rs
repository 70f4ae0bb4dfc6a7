//! `tensor-warpgroup` on the simulator: unequal lengths, carries, and the counts that are its performance.

use warpmp::device::{self, SimConfig};
use warpmp::kernels::{Settings, Spec};
use warpmp::{Operation, Plan, Shape, tuning};
use warpmp_kernel::ir::{Op, Target};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{
    check, check_all, check_offers, check_square, multiplication, shape, squaring,
};

const NAME: &str = "tensor-warpgroup";

/// Lengths of limbs that differ in how rows are divided into pieces, every number of columns, the limbs of 0 to 4 warps and a few more behind the
/// chunks of threads, and the ends of the range.
const LENGTHS: [usize; 26] = [
    12289, 12321, 13000, 14336, 14337, 16352, 16384, 16385, 16513, 16640, 16769, 16896, 16897, 17408, 17920, 18000,
    18400, 18432, 18433, 20480, 20481, 22528, 24576, 24577, 26624, 28672,
];

fn spec(bits: [usize; 2], settings: &Settings) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), settings, true)
}

fn products(products: u32) -> Settings {
    Settings { products: Some(products), ..Settings::default() }
}

#[test]
fn carries() {
    for bits in LENGTHS {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check(&*spec([bits, bits], &products(4)), shape([bits, bits], false), 3, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [
        [12289, 16384],
        [16384, 12289],
        [12300, 13000],
        [14336, 12352],
        [15999, 16001],
        [12289, 20480],
        [12289, 21472],
        [13312, 20352],
        [15000, 20000],
        [12300, 24576],
        [17440, 19200],
        [24575, 13000],
        [28672, 20000],
    ] {
        check_all(NAME, bits, &Settings::default(), 2, &[Pattern::Ones, Pattern::Carry]);
    }
}

#[test]
fn squares() {
    for bits in LENGTHS {
        for pattern in PATTERNS {
            check_square(&*squaring(NAME, bits, &products(2)), bits, 3, pattern);
        }
    }
}

/// A factor that all lanes share is the second one, even if it is shorter. Then a quarter of `a` may have half as many blocks as `b`.
#[test]
fn shorter_common_factors() {
    for bits in [[28672, 12289], [16000, 13000], [20480, 16384], [18000, 14337]] {
        let shape = shape(bits, true);
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Random] {
            check(&*multiplication(NAME, shape, &products(3), true), shape, 4, pattern);
        }
    }
}

/// Blocks that have fewer products than a block takes.
#[test]
fn ragged_batches() {
    for (most, lanes) in [(1, 1), (1, 3), (5, 7), (16, 1), (16, 31), (32, 33)] {
        check(&*spec([12289, 12289], &products(most)), shape([12289, 12289], false), lanes, Pattern::Carry);
    }
}

/// Carries run in constant time: the counts do not depend on the operands.
#[test]
fn counts_do_not_depend_on_data() {
    let count = |pattern| check(&*spec([16384; 2], &products(3)), shape([16384; 2], false), 3, pattern).instructions();
    let ones = count(Pattern::Ones);
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
        assert_eq!(count(pattern), ones, "{pattern:?}");
    }
}

/// Operands are read once and products written once, whole sectors at a time. A step has two matrix products, or four where no instruction has so many
/// columns. No access waits for a bank but some of the copies of rows that end within a pass.
#[test]
fn costs() {
    for (bits, [a, b], steps, instructions, wavefronts, conflicts) in [
        (12544, [32, 24], 14, 3537, 1015, 3),
        (14336, [32, 24], 15, 3683, 1061, 2),
        (16384, [64, 0], 17, 3573, 1234, 0),
        (16640, [48, 24], 18, 4455, 1426, 4),
        (16896, [48, 24], 18, 4455, 1428, 5),
        (17408, [48, 24], 18, 4496, 1435, 7),
        (18432, [48, 24], 19, 4771, 1515, 10),
        (20480, [80, 0], 21, 5193, 1903, 0),
        (22528, [64, 24], 23, 6102, 2168, 2),
        (24576, [96, 0], 25, 5889, 2429, 0),
        (26624, [80, 24], 27, 7030, 2774, 2),
        (28672, [112, 0], 29, 6781, 3082, 0),
    ] {
        let lanes = 8;
        let counters = check(&*spec([bits, bits], &products(8)), shape([bits, bits], false), lanes, Pattern::Random);
        let lanes = lanes as u64;
        // Each of the four warps.
        for columns in [a, b].into_iter().filter(|it| *it > 0) {
            assert_eq!(counters.op(Op::Wgmma(columns)).warps / lanes, 4 * 2 * steps, "{bits} bits, {columns} columns");
        }
        let found = [counters.instructions().warps, counters.shared_wavefronts(), counters.bank_conflicts()];
        assert_eq!(found.map(|it| it / lanes), [instructions, wavefronts, conflicts], "{bits} bits");
        let sectors = lanes * 2 * bits as u64 / 256;
        assert_eq!([counters.load_sectors(), counters.store_sectors()], [sectors, sectors], "{bits} bits");
        for section in ["multiply", "carry", "store"] {
            let conflicts = counters.section(section).unwrap().bank_conflicts();
            let expected = if section == "carry" { waits_behind_chunks(bits) } else { 0 };
            assert_eq!(conflicts, lanes * expected, "{bits} bits, {section}");
        }
    }
}

/// Half warps whose digits behind the 1024 limbs of the chunks are of two blocks: the padding between these shifts one onto banks of the other.
fn waits_behind_chunks(bits: usize) -> u64 {
    match bits / 16 {
        limbs @ 1025..=1152 => (limbs as u64 - 1024) / 16,
        _ => 0,
    }
}

/// Only GPUs of this compute capability are offered it, and it is for no other.
#[test]
fn other_gpus_have_no_such_algorithm() {
    assert_eq!(spec([16384; 2], &Settings::default()).build(0).target(), Target::Sm90a);
    let gpus = [(80, false), (89, false), (90, true), (100, false), (120, false)];
    for (capability, runs) in gpus {
        assert_eq!(Target::Sm90a.runs_on(capability), runs);
    }
    check_offers(NAME, 16384, &gpus);
}

/// The table of the architecture serves others, too: where it names this algorithm, they use the next one.
#[test]
fn the_default_for_many_long_products() {
    let choice = |capability, bits: [usize; 2], lanes| {
        let device = device::open_sim_with(&SimConfig { capability, ..SimConfig::default() });
        let operands = bits.map(|bits| Shape::new(lanes, bits));
        let plan = Plan::new(Operation::Mul, &operands, device.info(), &tuning::shipped(90), None).unwrap();
        plan.algorithm().to_owned()
    };
    let many = 1 << 19;
    assert_eq!(choice(90, [16384; 2], many), NAME);
    for bits in [13313, 14337, 16385, 18944, 20481, 24577, 28672] {
        assert_eq!(choice(90, [bits; 2], many), NAME, "{bits} bits");
    }
    for (capability, bits, lanes) in [
        (80, [16384; 2], many),
        (100, [16384; 2], many),
        (90, [13312; 2], many),
        (90, [16384; 2], 32000),
        (90, [8192, 16384], many),
    ] {
        assert_eq!(choice(capability, bits, lanes), "tensor", "sm_{capability}, {bits:?} bits, {lanes} lanes");
    }
}
