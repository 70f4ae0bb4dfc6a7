//! The papers' multiplications by one warp on the simulator: products of carry-prone operands against
//! the oracle, and the papers' counts.

use crate::common::{find, multiply_in_a_session};
use warpmp::kernels::{Settings, Spec};
use warpmp_kernel::ir::{Carry, Elem, Half, Op, Space, Vector};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::PATTERNS;
use warpmp_testkit::kernels::products::{check, check_all, multiplication, shape};

/// The kernel that an algorithm makes for separate operands of these bits.
fn spec(algorithm: &str, bits: [usize; 2]) -> Box<dyn Spec> {
    multiplication(find(algorithm), shape(bits, false), &Settings::default(), true)
}

/// What an algorithm does for so many products.
fn count(algorithm: &str, bits: [usize; 2], lanes: usize, pattern: Pattern) -> Counters {
    check(&*spec(algorithm, bits), shape(bits, false), lanes, pattern)
}

#[test]
fn comba_at_all_kinds_of_lengths() {
    for bits in [
        [32, 32],
        [1024, 1024],
        [1025, 1025],
        [1500, 1500],
        [2048, 2048],
        [3000, 3000],
        [3000, 700],
        [4096, 4096],
        [8192, 1056],
        [700, 3000],
        [1056, 9216],
    ] {
        check_all(find("comba/sum-rotate"), bits, &Settings::default(), 3, &PATTERNS);
    }
}

/// More than eight blocks a side: columns in several passes.
#[test]
fn comba_in_several_passes() {
    for bits in [[8192, 8192], [9216, 9216], [17000, 16500], [33000, 9300]] {
        check_all(find("comba/sum-rotate"), bits, &Settings::default(), 2, &[Pattern::Ones, Pattern::Carry]);
    }
    count("comba/sum-rotate", [65536, 65536], 1, Pattern::Ones);
}

const PRODUCT: Op = Op::Mad(Half::Lo, Carry::Out);
const LOAD: Op = Op::Ld(Space::GlobalConst, Vector::V1, Elem::U32);
const SCRATCH_LOAD: Op = Op::Ld(Space::Global, Vector::V1, Elem::U32);
const STORE: Op = Op::St(Space::Global, Vector::V1, Elem::U32);

/// Table 3.2, row Comba, for `w` words of 1024 bits: `w²` products, `2w² − 2` words read, `2w` written.
/// Ours reads two more: the table lets the outermost products keep a word from the column before.
#[test]
fn comba_counts() {
    for w in [1, 2, 3, 8, 9] {
        let bits = [1024 * w as usize; 2];
        let counters = count("comba/sum-rotate", bits, 1, Pattern::Carry);
        assert_eq!(counters.op(PRODUCT).threads, w * w * 1024, "{w} blocks");
        assert_eq!(counters.op(LOAD).threads, 32 * 2 * w * w, "{w} blocks");
        assert_eq!(counters.op(STORE).threads, 32 * 2 * w, "{w} blocks");
    }
}

/// Carries take constant time.
#[test]
fn comba_counts_do_not_depend_on_data() {
    let instructions = |pattern| count("comba/sum-rotate", [9216, 9216], 1, pattern).instructions();
    assert_eq!(instructions(Pattern::Ones), instructions(Pattern::Random));
}

#[test]
fn karatsuba_at_all_kinds_of_lengths() {
    for bits in
        [[1025, 1025], [1500, 1500], [2048, 2048], [3000, 3000], [3000, 700], [2500, 4096], [4096, 4096], [9300, 8192]]
    {
        check_all(find("karatsuba/sum-rotate"), bits, &Settings::default(), 3, &PATTERNS);
        if bits[0] > 2048 {
            check_all(find("karatsuba2/sum-rotate"), bits, &Settings::default(), 3, &PATTERNS);
        }
    }
    count("karatsuba/sum-rotate", [32768, 32768], 1, Pattern::Ones);
    count("karatsuba2/sum-rotate", [65536, 65536], 1, Pattern::Carry);
}

/// Table I for `w` words of 1024 bits: Karatsuba ¾w² products, (3/2)w² + (17/2)w − 2 words read,
/// (15/2)w + 4 written; Karatsuba² (9/16)w² products. The factors of the block products are read as often
/// here; the copy of the operands, the comparison before each difference and the copy of the product are
/// ours, and make the terms in `w` larger.
#[test]
fn karatsuba_counts() {
    for w in [2, 4, 8, 12] {
        let bits = [1024 * w as usize; 2];
        let counters = count("karatsuba/sum-rotate", bits, 1, Pattern::Carry);
        assert_eq!(counters.op(PRODUCT).threads, 3 * w * w / 4 * 1024, "{w} blocks");
        let loads = counters.op(LOAD).threads + counters.op(SCRATCH_LOAD).threads;
        assert_eq!(loads, 32 * (3 * w * w + 25 * w) / 2, "{w} blocks");
        assert_eq!(counters.op(STORE).threads, 32 * 10 * w, "{w} blocks");
    }
    for w in [4, 8, 12] {
        let counters = count("karatsuba2/sum-rotate", [1024 * w as usize; 2], 1, Pattern::Carry);
        assert_eq!(counters.op(PRODUCT).threads, 9 * w * w / 16 * 1024, "{w} blocks");
    }
}

/// Carries and signs take constant time.
#[test]
fn karatsuba_counts_do_not_depend_on_data() {
    let instructions = |pattern| count("karatsuba2/sum-rotate", [4096, 4096], 2, pattern).instructions();
    assert_eq!(instructions(Pattern::Ones), instructions(Pattern::Random));
}

/// Through a session, in chunks with scratch memory each, operands swapped where the second is longer.
#[test]
fn sessions_take_them_by_name() {
    let algorithms = ["comba/sum-rotate", "karatsuba/sum-rotate", "karatsuba2/sum-rotate", "toom-3"];
    multiply_in_a_session(1 << 20, &algorithms, &[(2100, 2100), (1000, 2200)], 65);
    multiply_in_a_session(1 << 20, &["toom-2", "toom-5"], &[(1100, 1100), (40, 1060)], 65);
}
