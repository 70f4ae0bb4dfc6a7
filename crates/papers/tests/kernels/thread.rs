//! The papers' multiplications by one thread on the simulator: products against the oracle, and
//! operation counts against Table I of the CANDAR paper.

use crate::common::{find, multiply_in_a_session};
use warpmp::kernels::{OperationShape, Settings, Spec};
use warpmp_kernel::ir::{Elem, Int, Op, Space, Vector};
use warpmp_kernel::sim::Pipe;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_all, multiplication, shape};

const ALGORITHMS: [&str; 4] = ["school", "comba", "karatsuba", "karatsuba2"];

fn spec(algorithm: &str, shape: OperationShape) -> Box<dyn Spec> {
    multiplication(find(algorithm), shape, &Settings::default(), true)
}

fn limbs(lengths: [usize; 2]) -> [usize; 2] {
    lengths.map(|n| 32 * n)
}

#[test]
fn every_short_length() {
    for algorithm in ALGORITHMS {
        for la in 1..=9 {
            for lb in 1..=la {
                check_all(find(algorithm), limbs([la, lb]), &Settings::default(), 5, &PATTERNS);
            }
        }
    }
}

#[test]
fn lengths_of_the_tables_and_odd_ones() {
    for algorithm in ALGORITHMS {
        for bits in [[31 * 32; 2], [1000; 2], [1024; 2], [33 * 32; 2], [47 * 32; 2], [2048; 2], [3200; 2], [3201; 2]] {
            check_all(find(algorithm), bits, &Settings::default(), 5, &PATTERNS);
        }
    }
}

/// The shorter operand around half the longer one, where Karatsuba gives up a level, and the shorter
/// one first, as when the longer is common.
#[test]
fn unequal_lengths() {
    for algorithm in ALGORITHMS {
        for lengths in
            [[100, 1], [64, 31], [64, 32], [64, 33], [63, 32], [63, 33], [65, 49], [50, 47], [33, 40], [3, 70]]
        {
            check_all(find(algorithm), limbs(lengths), &Settings::default(), 5, &PATTERNS);
        }
        for bits in [[1, 1], [131, 131], [2047, 1025], [1025, 1024], [3170, 2111]] {
            check_all(find(algorithm), bits, &Settings::default(), 5, &[Pattern::Ones, Pattern::Carry]);
        }
    }
}

/// A factor that all lanes share stays a row, whose parts begin at any limb.
#[test]
fn common_factors() {
    for algorithm in ALGORITHMS {
        for lengths in [[153, 88], [41, 24], [33, 32], [24, 24]] {
            let shape = shape(limbs(lengths), true);
            check(&*spec(algorithm, shape), shape, 2, Pattern::Random);
        }
    }
}

/// Lanes around a tile and a block. Few limbs and many lanes: all pairs of signs of the differences
/// occur, and zero.
#[test]
fn several_warps_and_tiles() {
    let settings = Settings { warps: Some(2), ..Settings::default() };
    for algorithm in ALGORITHMS {
        for lanes in [31, 32, 33, 129] {
            check_all(find(algorithm), [128, 128], &settings, lanes, &[Pattern::Carry, Pattern::Sparse]);
        }
        check_all(find(algorithm), [64, 64], &settings, 300, &[Pattern::Carry, Pattern::Edge, Pattern::Runs]);
    }
}

#[test]
fn widest() {
    for algorithm in ALGORITHMS {
        check_all(find(algorithm), [65536, 96], &Settings::default(), 1, &[Pattern::Carry]);
        check_all(find(algorithm), [8192, 8192], &Settings::default(), 2, &[Pattern::Ones]);
    }
    let shape = shape([65536, 65536], false);
    check(&*spec("karatsuba2", shape), shape, 1, Pattern::Runs);
}

/// Through a session on a device of little memory: operands in chunks, each with its own scratch memory,
/// either operand the longer one or common.
#[test]
fn through_a_session() {
    multiply_in_a_session(1 << 18, &ALGORITHMS, &[(131, 131), (1000, 700), (700, 1025)], 129);
}

/// Wide products, words read and words written by the arithmetic, a lane.
fn counts(algorithm: &str, words: usize) -> [u64; 3] {
    let bits = limbs([words; 2]);
    let shape = shape(bits, false);
    let spec = spec(algorithm, shape);
    let counters = check(&*spec, shape, 32, Pattern::Carry);
    let arithmetic = counters.section("arithmetic").unwrap();
    let moved = |op: fn(Vector) -> Op| -> u64 {
        let words = |vector: Vector| arithmetic.op(op(vector)).threads * vector.len() as u64;
        [Vector::V1, Vector::V2, Vector::V4].map(words).iter().sum()
    };
    // `mad.wide` makes addresses; a product of limbs is a pair `mad.lo.cc; madc.hi`.
    let products = counters.pipe(Pipe::WideMul).threads - counters.op(Op::MadWide(Int::U32)).threads;
    assert_eq!(products, 32 * spec.wide_products(), "{algorithm}");
    [
        products / 32,
        moved(|v| Op::Ld(Space::Global, v, Elem::U32)) / 32,
        moved(|v| Op::St(Space::Global, v, Elem::U32)) / 32,
    ]
}

/// Table I: multiplications, memory reads, memory writes for `w` words, the paper's and ours.
///
/// * `school`: the same.
/// * `comba`: two reads more. The paper saves two, presumably by keeping a₀ and b₀ for the second column.
/// * `karatsuba`: the same products. We read `w/2 − 2` words less and write `w/2 + 4` less: differences
///   have no carry words, as the paper's sums do, and the result is written in one pass.
/// * `karatsuba2`: the same products. The paper's `9/4·w²` reads do not follow from its own row for one
///   level: nine products of `w/4` words read `9·2·(w/4)² = 9/8·w²`, as ours do. The linear term is the same.
#[test]
fn table_1() {
    for words in [32, 64, 128] {
        let w = words as u64;
        let square = w * w;
        let paper = [
            ("school", [square, 2 * square, square + w]),
            ("comba", [square, 2 * square - 2, 2 * w]),
            ("karatsuba", [square * 3 / 4, square * 3 / 2 + w * 17 / 2 - 2, w * 15 / 2 + 4]),
            ("karatsuba2", [square * 9 / 16, square * 9 / 4 + 20 * w - 4, w * 31 / 2 + 14]),
        ];
        let fewer = [
            [0, 0, 0],
            [0, -2, 0],
            [0, w as i64 / 2 - 2, w as i64 / 2 + 4],
            [0, square as i64 * 9 / 8 - 4, w as i64 + 14],
        ];
        for ((algorithm, paper), fewer) in paper.into_iter().zip(fewer) {
            let ours = counts(algorithm, words);
            println!("{algorithm:10} w = {words:3}: paper {paper:?}, ours {ours:?}");
            let difference = [0, 1, 2].map(|k| paper[k] as i64 - ours[k] as i64);
            assert_eq!(difference, fewer, "{algorithm}, {words} words");
        }
    }
}

/// Reading and writing numbers in scratch memory is coalesced: a limb of 32 lanes is four sectors.
#[test]
fn accesses_of_the_arithmetic_are_coalesced() {
    for algorithm in ALGORITHMS {
        let shape = shape([1024, 1024], false);
        let counters = check(&*spec(algorithm, shape), shape, 32, Pattern::Carry);
        let arithmetic = counters.section("arithmetic").unwrap();
        assert_eq!(arithmetic.load_sectors(), arithmetic.minimum_load_sectors(), "{algorithm}");
    }
}

/// The counts do not depend on the operands: nothing is skipped, no carry is chased.
#[test]
fn counts_do_not_depend_on_data() {
    for algorithm in ALGORITHMS {
        let shape = shape([1024, 1024], false);
        let spec = spec(algorithm, shape);
        let count = |pattern| check(&*spec, shape, 32, pattern).instructions();
        assert_eq!(count(Pattern::Ones), count(Pattern::Random), "{algorithm}");
    }
}
