//! Strong tests on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::strong::{Base, StrongTest};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{Outcome, numbers, odd_moduli, run_plain};

/// Composites that pass to base 2: the first of OEIS A001262, and some of A014233, which pass to several bases.
const PSEUDOPRIMES: [u64; 18] = [
    2047,
    3277,
    4033,
    4681,
    8321,
    15841,
    29341,
    42799,
    49141,
    52633,
    65281,
    74665,
    80581,
    3_215_031_751,
    2_152_302_898_747,
    3_474_749_660_383,
    341_550_071_728_321,
    3_825_123_056_546_413_051,
];

/// Longer ones: A014233's last two, and Arnault's (1995), which passes to all primes up to 31.
const LONG_PSEUDOPRIMES: [&str; 3] =
    ["318665857834031151167461", "3317044064679887385961981", "1195068768795265792518361315725116351898245581"];

/// By the powers themselves, each from its own exponent.
fn expected(n: &BigUint, a: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if !n.bit(0) || *n == one {
        return false;
    }
    let minus_one = n - 1_u32;
    let twos = minus_one.trailing_zeros().unwrap();
    a.modpow(&(&minus_one >> twos), n) == one
        || (1..=twos).any(|shift| a.modpow(&(&minus_one >> shift), n) == minus_one)
}

/// Runs a kernel on these numbers and compares every lane.
fn check(spec: &StrongTest, bases: &[BigUint], candidates: &[BigUint]) -> Outcome {
    let number = (spec.number, candidates);
    let (operands, lanes) = match spec.base {
        Base::Number(_) => (vec![number], candidates.len()),
        Base::Operand(base) => (vec![(base, bases), number], bases.len().max(candidates.len())),
    };
    let outcome = run_plain(spec, &operands, &[1], lanes);
    let of = |numbers: &[BigUint], lane: usize| numbers[if numbers.len() == 1 { 0 } else { lane }].clone();
    for lane in 0..lanes {
        let n = of(candidates, lane);
        let base = match spec.base {
            Base::Number(base) => base.into(),
            Base::Operand(_) => of(bases, lane),
        };
        let passes = BigUint::from(u8::from(expected(&n, &base)));
        assert_eq!(outcome.results[0][lane], passes, "{} lane {lane} n = {n:x} a = {base:x}", spec.name());
    }
    outcome
}

/// Candidates of at most `bits` bits: edges, pseudoprimes, many factors two in `n − 1`, even ones, 0 and 1.
fn candidates(bits: usize, lanes: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let long = LONG_PSEUDOPRIMES.map(|text| text.parse::<BigUint>().unwrap());
    let mersenne = [3, 5, 11, 23, 29, 67, 257, 523, 1061].map(|p| (&one << p) - 1_u32);
    let fermat = (0..11).map(|k| (&one << (1 << k)) + 1_u32);
    let proth = [3_u32, 5, 7, 13].map(|k| (BigUint::from(k) << bits.saturating_sub(5)) + 1_u32);
    let small = [0_u32, 1, 2, 3, 4, 5, 7, 9, 13, 24].map(BigUint::from);
    let known = PSEUDOPRIMES.map(BigUint::from).into_iter().chain(long).chain(mersenne).chain(fermat).chain(proth);
    let mut found: Vec<BigUint> = known.filter(|n| n.bits() <= bits as u64).collect();
    // The longest first: those of this width.
    found.sort_unstable_by(|x, y| y.cmp(x));
    found.truncate(lanes / 2);
    found.extend(small.into_iter().filter(|n| n.bits() <= bits as u64).take(lanes / 4));
    let rest = lanes - found.len();
    found.extend(odd_moduli(rest, bits, 5));
    found
}

fn wide(bits: usize) -> OperandShape {
    OperandShape::each(bits as u32)
}

#[test]
fn base_two_at_many_lengths() {
    // Four bits below whole limbs residues are no longer reduced.
    for bits in [1, 2, 12, 28, 29, 31, 32, 33, 60, 61, 64, 82, 124, 125, 128, 151, 257] {
        check(&StrongTest::new(Base::Number(2), wide(bits)), &[], &candidates(bits, 40));
    }
}

#[test]
fn base_two_of_long_numbers() {
    check(&StrongTest::new(Base::Number(2), wide(524)), &[], &candidates(524, 9));
    let group = |bits: usize, group: u32, length: u32| StrongTest {
        layout: Layout { group, length, warps: 1, glue: Glue::None },
        ..StrongTest::new(Base::Number(2), wide(bits))
    };
    for bits in [150, 160] {
        check(&group(bits, 2, 3), &[], &candidates(bits, 33));
        check(&group(bits, 8, 1), &[], &candidates(bits, 9));
    }
    check(&group(1029, 4, 9), &[], &candidates(1029, 4));
}

#[test]
fn by_blocks_of_threads() {
    for (bits, group, length) in [(200, 64, 1), (150, 128, 1), (524, 64, 2)] {
        let layout = Layout { group, length, warps: group / 32, glue: Glue::None };
        let candidates = candidates(bits, 8);
        let spec = StrongTest { layout, ..StrongTest::new(Base::Number(2), wide(bits)) };
        check(&spec, &[], &candidates);
        let bases = numbers(Pattern::Carry, 8, 300, 9);
        let base = Base::Operand(wide(300));
        check(&StrongTest { layout, ..StrongTest::new(base, wide(bits)) }, &bases, &candidates);
    }
}

#[test]
fn other_bases() {
    for bits in [2, 31, 64, 82, 124, 151, 160] {
        let candidates = candidates(bits, 36);
        for base in [0, 1, 3, 41, u32::MAX] {
            check(&StrongTest::new(Base::Number(base), wide(bits)), &[], &candidates);
        }
        for (base_bits, lanes) in [(bits, 36), (2 * bits + 9, 36), (7, 1)] {
            let mut bases = numbers(Pattern::Carry, lanes, base_bits, 9);
            if lanes > 1 {
                bases[0] = candidates[0].clone();
                bases[3] = &candidates[3] >> 1;
            }
            let operand = if lanes == 1 { OperandShape::common(32) } else { wide(base_bits) };
            check(&StrongTest::new(Base::Operand(operand), wide(bits)), &bases, &candidates);
        }
    }
}

#[test]
fn other_bases_by_groups() {
    for (bits, window) in [(150, 1), (160, 3), (150, 5)] {
        let candidates = candidates(bits, 20);
        let bases = numbers(Pattern::Carry, 20, bits, 9);
        let spec = StrongTest::new(Base::Operand(wide(bits)), wide(bits));
        let layout = Layout { group: 4, length: 2, warps: 1, glue: Glue::None };
        check(&StrongTest { layout, window, ..spec }, &bases, &candidates);
    }
}

/// One number for all lanes, many bases.
#[test]
fn a_common_candidate() {
    let bases: Vec<BigUint> = (0..40_u32).map(BigUint::from).collect();
    for n in [2047_u32, 8321, 3_215_031_751, 6_700_417] {
        let spec = StrongTest::new(Base::Operand(OperandShape::each(32)), OperandShape::common(33));
        check(&spec, &bases, &[BigUint::from(n)]);
    }
}

/// A doubling instead of a product a window: what base 2 is there for.
#[test]
fn base_two_takes_fewer_products() {
    let candidates: Vec<BigUint> =
        numbers(Pattern::Random, 32, 251, 1).into_iter().map(|n| n | BigUint::from(3_u32)).collect();
    let [two, three] =
        [2, 3].map(|base| check(&StrongTest::new(Base::Number(base), wide(251)), &[], &candidates).counters);
    let products = |counters: &Counters| counters.op(Op::MulWide(Int::U32)).threads as f64 / 32.0;
    assert!(products(&two) < 0.8 * products(&three), "{} {}", products(&two), products(&three));
    // 251 squares and R: 36 products and 8 rows of 8 each.
    let squares = products(&two) / (36.0 + 64.0);
    assert!((250.0..265.0).contains(&squares), "{squares}");
}
