//! Operations on rows of any length on the simulator, against num-bigint.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use warpmp::device::{self, SimConfig};
use warpmp::kernels::{Abilities, OperationShape, Settings};
use warpmp::operation::Group;
use warpmp::tuning::{self, Row, Table};
use warpmp::{Operation, Plan, Shape};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::numbers::{numbers, run, run_plain};
use warpmp_testkit::kernels::operations::{check, check_with};

/// Linear operations without a modulus.
fn linear() -> impl Iterator<Item = Operation> {
    Operation::ALL.iter().copied().filter(|it| it.group() == Group::Linear)
}

/// Checks an operation on operands of these bits; of a bit, one limb.
fn check_bits(operation: Operation, bits: [usize; 2], lanes: usize, patterns: &[Pattern]) {
    let mut next = bits.into_iter().cycle();
    let widths: Vec<usize> = operation
        .operands()
        .iter()
        .map(|it| if it.role == warpmp::operation::Role::Bit { 1 } else { next.next().unwrap() })
        .collect();
    for &pattern in patterns {
        check(operation, "long", &widths, &vec![lanes; widths.len()], pattern);
    }
}

#[test]
fn linear_operations_in_one_block() {
    for operation in linear() {
        for bits in [[1, 33], [32, 32], [128, 127], [1000, 4096], [16416, 16384], [70_000, 66_001]] {
            check_bits(operation, bits, 3, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

#[test]
fn linear_operations_in_blocks() {
    for operation in linear() {
        check_bits(operation, [550_000, 524_288], 1, &[Pattern::Carry]);
    }
    for operation in [Operation::Add, Operation::Sub, Operation::Cmp, Operation::Neg, Operation::CarryingAdd] {
        check_bits(operation, [1_100_000, 1_048_576], 1, &[Pattern::Ones, Pattern::OneHot, Pattern::Runs]);
    }
}

/// Shifts by whole limbs, by parts of limbs, and beyond the end.
#[test]
fn shifts() {
    for distance in [0, 1, 31, 32, 33, 1000, 70_000] {
        for operation in [Operation::Shl(distance), Operation::WrappingShl(distance), Operation::Shr(distance)] {
            check_bits(operation, [66_000, 66_000], 2, &[Pattern::Random]);
        }
    }
}

#[test]
fn parts_of_products() {
    for operation in [Operation::MulLo, Operation::MulHi, Operation::SignedMul, Operation::MulAdd] {
        for bits in
            [[2049, 2049], [2100, 33], [4096, 4096], [5000, 8192], [16_384, 16_384], [20_000, 24_000], [65_536, 65_536]]
        {
            check_parts(operation, bits, 5, &[Pattern::Carry, Pattern::Ones]);
        }
        for bits in [[66_001, 65_537], [131_072, 131_072], [70_000, 33]] {
            check_parts(operation, bits, 1, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

fn check_parts(operation: Operation, [a, b]: [usize; 2], lanes: usize, patterns: &[Pattern]) {
    let widths = [a, b, a];
    for &pattern in patterns {
        check(operation, "long", &widths[..operation.arity()], &vec![lanes; operation.arity()], pattern);
    }
}

#[test]
fn quotients_and_residues() {
    for bits in [
        [8200, 4100],
        [8300, 60],
        [12_288, 6144],
        [16_384, 8192],
        [16_416, 8208],
        [16_500, 16_450],
        [20_000, 33],
        [33, 20_000],
        [33_000, 17_000],
    ] {
        check(Operation::DivRem, "newton", &bits, &[3, 3], Pattern::Carry);
        check(Operation::Rem, "newton", &bits, &[3, 1], Pattern::Ones);
    }
    check(Operation::MulMod, "newton", &[16_416, 16_416, 16_416], &[2, 2, 2], Pattern::Carry);
    check(Operation::MulMod, "newton", &[8224, 9000, 8193], &[2, 2, 2], Pattern::Ones);
    check(Operation::SqrMod, "newton", &[9000, 16_416], &[2, 1], Pattern::Edge);
}

/// The table of the H200 has `newton` for many long quotients, `products` for many Montgomery products, and `group` for few of them and for short ones.
#[test]
fn defaults_of_divisions() {
    let device = device::open_sim_with(&SimConfig { memory_bytes: 1 << 32, ..SimConfig::default() });
    let default = |operation, bits: &[usize], lanes| {
        let operands: Vec<Shape> = bits.iter().map(|&bits| Shape::new(lanes, bits)).collect();
        Plan::new(operation, &operands, device.info(), &tuning::shipped(90), None).unwrap().algorithm()
    };
    for (operation, bits, lanes, name) in [
        (Operation::DivRem, &[32_768, 16_384][..], 20_000, "newton"),
        (Operation::DivRem, &[32_768, 16_384], 1000, "group"),
        (Operation::DivRem, &[28_672, 16_384], 20_000, "newton"),
        (Operation::DivRem, &[28_640, 16_384], 20_000, "group"),
        (Operation::Rem, &[16_384, 16_384], 20_000, "group"),
        (Operation::Rem, &[131_072, 65_536], 20_000, "newton"),
        (Operation::MulMod, &[12_288; 3], 50_000, "newton"),
        (Operation::MulMod, &[12_288; 3], 1000, "group"),
        (Operation::Reduce, &[20_000, 17_000], 50_000, "group"),
        (Operation::MontMul, &[11_584; 3], 50_000, "group"),
        (Operation::MontMul, &[11_616; 3], 8001, "products"),
        (Operation::MontMul, &[23_168; 3], 8000, "group"),
        (Operation::ToMont, &[16_384; 2], 50_000, "group"),
        (Operation::FromMont, &[23_200; 2], 2001, "products"),
        (Operation::MontSqr, &[40_960; 2], 2000, "group"),
        (Operation::MontSqr, &[40_992; 2], 100, "products"),
    ] {
        assert_eq!(default(operation, bits, lanes), name, "{operation} {bits:?} {lanes}");
    }
    // A user's own table has no rows for long quotients: the shipped rows for them decide.
    let row = Row {
        to_bits: 65536,
        to_lanes: None,
        algorithm: "group".into(),
        settings: Settings::default(),
        by_name_only: false,
        long_quotients: false,
        predicted: false,
    };
    let rows = BTreeMap::from([("division".to_owned(), vec![row])]);
    let own = Table { architecture: 90, measured_on: "a user's GPU".into(), rows, path: None, rest: None };
    let own = own.completed_by(tuning::shipped(90));
    for (bits, name, measured_on) in [(32_768, "newton", "H200"), (20_000, "group", "a user's GPU")] {
        let operands = [Shape::new(20_000, bits), Shape::new(20_000, 16_384)];
        let plan = Plan::new(Operation::DivRem, &operands, device.info(), &own, None).unwrap();
        assert_eq!(plan.algorithm(), name);
        assert!(plan.explain().contains(measured_on), "{}", plan.explain());
    }
}

/// Multiples of the divisor, one less and one more; divisors of all ones, powers of two, and neighbours of both; zero.
#[test]
fn quotients_at_their_edges() {
    for bits in [[16_416_usize, 8300_usize], [66_000, 33_000]] {
        let one = BigUint::from(1_u32);
        let ones = (&one << bits[1]) - 1_u32;
        let top = &one << (bits[1] - 1);
        let divisors =
            [ones.clone(), &ones - 1_u32, top.clone(), &top + 1_u32, &top - 1_u32, &ones >> 4000, BigUint::ZERO];
        let random = numbers(Pattern::Random, divisors.len(), bits[0] - bits[1], 3);
        let mut pairs = Vec::new();
        for (d, q) in divisors.into_iter().zip(random) {
            let all = (&one << (bits[0] - bits[1])) - 1_u32;
            pairs.push((&d * &all, d.clone()));
            pairs.push((&d * &q + (&d >> 1), d.clone()));
            if d > one {
                pairs.push((&d * &all + &d - 1_u32, d.clone()));
                pairs.push((&d * (&q + 1_u32) - 1_u32, d.clone()));
            }
        }
        if bits[0] > 60_000 {
            pairs.truncate(6);
        }
        divide(bits, &pairs);
    }
}

/// Divisors with leading zeros and dividends that make quotients as large, or leave as little or as much as they can. The kernels of the
/// digits that most quotients do not have end at once, unless a lane of the launch has more than 25 leading zeros.
#[test]
fn quotients_of_few_digits() {
    let one = BigUint::from(1_u32);
    let below = |bits: usize| (&one << bits) - 1_u32;
    for bits in [[17_000_usize, 8500_usize], [16_640, 8320], [25_000, 8330], [20_000, 11_111]] {
        let random = numbers(Pattern::Random, 6, bits[0], 4);
        let launch = |zeros: &[usize]| {
            let mut pairs = Vec::new();
            for &zeros in zeros {
                let (top, short) = (bits[1] - zeros, bits[1] / 2);
                let divisors =
                    [below(top), &one << (top - 1), (&one << (top - 1)) + below(short), below(top) - below(short)];
                for (d, a) in divisors.into_iter().zip(&random) {
                    let most = below(bits[0]);
                    pairs.extend([&most, a].map(|it| (it.clone(), d.clone())));
                    for a in [most, a >> 5] {
                        let multiple = a / &d * &d;
                        pairs.extend(
                            [(&multiple + &d - 1_u32) % &(&one << bits[0]), multiple].map(|it| (it, d.clone())),
                        );
                    }
                }
            }
            let lanes = pairs.len() as u64;
            divide(bits, &pairs).instructions().warps / lanes
        };
        let usual = launch(&[0, 1, 24, 25]);
        let more = launch(&[26, 31, 32, 33, 64, bits[1] / 3, 0]);
        assert!(20 * more > 21 * usual, "{bits:?}: {usual} {more}");
    }
}

/// Quotients whose digits are 0 or as large as they can be, and remainders near zero and near the divisor.
#[test]
fn digits_at_their_edges() {
    let bits = [16_640_usize, 8320_usize];
    let one = BigUint::from(1_u32);
    // A digit has whole pieces of four limbs, the upper one what is left.
    let digit = 32 * (bits[1] / 64).next_multiple_of(4);
    let [lower, upper] = [digit, bits[1] - digit].map(|bits| {
        let ones = (&one << bits) - 1_u32;
        [BigUint::ZERO, one.clone(), &ones - 1_u32, ones]
    });
    let divisors = [
        (&one << bits[1]) - 1_u32,
        (&one << (bits[1] - 1)) + 1_u32,
        numbers(Pattern::Random, 1, bits[1], 8)[0].clone(),
    ];
    let mut pairs = Vec::new();
    for d in divisors {
        for upper in &upper {
            for lower in &lower {
                let product = ((upper << digit) + lower) * &d;
                pairs.extend([BigUint::ZERO, one.clone(), &d - 1_u32].map(|rest| (&product + rest, d.clone())));
            }
        }
    }
    divide(bits, &pairs);
}

/// Divisors of 384 to 1024 limbs: products modulo `Bⁿ − 1` or `Bⁿ + 1` tell what remains, in the last case also what a reciprocal lacks. Divisors of other
/// lengths: products modulo `Bᴺ + 1` for the next power of two, if it is greater by eight limbs.
#[test]
fn remainders_modulo_neighbours_of_a_power() {
    let one = BigUint::from(1_u32);
    let of_powers =
        [[24_576_usize, 12_288_usize], [28_672, 14_336], [32_768, 16_384], [65_536, 32_768], [98_304, 32_768]];
    let of_others = [[33_280, 16_640], [65_024, 32_512], [65_088, 32_544], [80_000, 40_000], [130_560, 65_280]];
    for bits in of_powers.into_iter().chain(of_others) {
        let [random, other] = [1, 2].map(|seed| numbers(Pattern::Random, 2, bits[1], seed));
        let ones = (&one << bits[1]) - 1_u32;
        let top = &one << (bits[1] - 1);
        let divisors =
            [&random[0] | &top, ones.clone(), top.clone(), &top + 1_u32, &ones - (&ones >> (bits[1] / 2)), &ones >> 26];
        let limit = &one << bits[0];
        let mut pairs = Vec::new();
        for d in divisors {
            let most = (&limit - 1_u32) / &d;
            pairs.extend([&most * &d, &limit - 1_u32, &d * &other[0], &d * &other[0] - 1_u32].map(|a| (a, d.clone())));
            pairs.push((&d * &other[1] + (&d >> 1), d));
        }
        divide(bits, &pairs);
        // By a divisor of all lanes: its digits have as many limbs as it has, and one more.
        if bits[0] == 2 * bits[1] {
            let (dividends, _): (Vec<BigUint>, Vec<BigUint>) = pairs[..5].iter().cloned().unzip();
            divide_by_one(bits, &dividends, &pairs[0].1);
        }
    }
}

/// A divisor of 16384 limbs: products modulo `Bᴺ + 1` with more limbs than it has.
#[test]
fn remainders_modulo_a_greater_power() {
    let bits = [1_048_576_usize, 524_288];
    let one = BigUint::from(1_u32);
    let [random, other] = [1, 2].map(|seed| numbers(Pattern::Random, 1, bits[1], seed)[0].clone());
    let top = &one << (bits[1] - 1);
    let ones = (&one << bits[1]) - 1_u32;
    let most = |d: &BigUint| ((&one << bits[0]) - 1_u32) / d * d;
    let pairs = [
        (most(&(&random | &top)), &random | &top),
        ((&one << bits[0]) - 1_u32, ones.clone()),
        (&ones * &other - 1_u32, ones),
        (most(&top), top.clone()),
        (&top * &other + (&top >> 1), top),
        // The divisor of the last one goes up: its quotient has digits above the usual ones.
        (random.clone() << bits[1], random >> 26),
    ];
    divide(bits, &pairs);
    // The quotient by a divisor of all lanes has one digit, which is a limb longer than the divisor.
    for pair in &pairs {
        let below = if pair.0 == BigUint::ZERO { one.clone() } else { &pair.0 - 1_u32 };
        divide_by_one(bits, &[pair.0.clone(), below, &pair.1 - 1_u32], &pair.1);
    }
}

/// Divides by a divisor of each lane.
fn divide(bits: [usize; 2], pairs: &[(BigUint, BigUint)]) -> Counters {
    let (dividends, divisors): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
    divide_all(bits, &dividends, &divisors)
}

/// Divides by one divisor of all lanes.
fn divide_by_one(bits: [usize; 2], dividends: &[BigUint], divisor: &BigUint) -> Counters {
    divide_all(bits, dividends, std::slice::from_ref(divisor))
}

fn divide_all(bits: [usize; 2], dividends: &[BigUint], divisors: &[BigUint]) -> Counters {
    let lanes = [dividends.len(), divisors.len()];
    let shapes = [0, 1].map(|i| Shape::new(lanes[i], bits[i]));
    let shape = OperationShape::new(Operation::DivRem, &shapes).unwrap();
    let spec = algorithm(Operation::DivRem, "newton").spec(shape, &Settings::default(), Abilities::of(80)).unwrap();
    let operands = [(shape.operands()[0], dividends), (shape.operands()[1], divisors)];
    let [quotient, rest] = bits.map(|bits| bits.div_ceil(32) as u32);
    let outcome = run(&*spec, &operands, &[quotient, rest], lanes[0]);
    for (lane, (a, d)) in dividends.iter().zip(divisors.iter().cycle()).enumerate() {
        let zero = *d == BigUint::ZERO;
        let expected = if zero { (BigUint::ZERO, BigUint::ZERO) } else { (a / d, a % d) };
        assert!(outcome.results[0][lane] == expected.0, "quotient of lane {lane}");
        assert!(outcome.results[1][lane] == expected.1, "remainder of lane {lane}");
        assert_eq!(outcome.statuses[lane], u32::from(zero));
    }
    outcome.counters
}

/// A divisor or a modulus that serves all lanes: what depends on it alone is computed once.
#[test]
fn shared_divisors() {
    check(Operation::MulMod, "newton", &[16_416; 3], &[2, 2, 1], Pattern::Ones);
    check(Operation::MontMul, "products", &[16_416; 3], &[2, 2, 1], Pattern::Carry);
    // The reciprocal of a shared divisor costs the same for two lanes and for three.
    let divide = |lanes, pattern| check(Operation::DivRem, "newton", &[20_000, 16_500], &[lanes, 1], pattern);
    divide(2, Pattern::Edge);
    let [two, three] = [2, 3].map(|lanes| divide(lanes, Pattern::Carry).instructions().warps as i64);
    let (each, once) = (three - two, 3 * two - 2 * three);
    assert!(once > each / 2, "{each} {once}");
    zero_divides_nothing();
}

fn zero_divides_nothing() {
    let bits = [16_500_usize, 16_500];
    let dividends = numbers(Pattern::Random, 3, bits[0], 9);
    let shapes = [Shape::new(3, bits[0]), Shape::new(1, bits[1])];
    for operation in [Operation::DivRem, Operation::DivExact] {
        let shape = OperationShape::new(operation, &shapes).unwrap();
        let spec = algorithm(operation, "newton").spec(shape, &Settings::default(), Abilities::of(80)).unwrap();
        let operands = [(shape.operands()[0], &dividends[..]), (shape.operands()[1], &[BigUint::ZERO][..])];
        let limbs = vec![516; operation.result_names().len()];
        let outcome = run(&*spec, &operands, &limbs, 3);
        assert!(outcome.results.iter().flatten().all(|it| *it == BigUint::ZERO), "{operation}");
        assert_eq!(outcome.statuses, [1; 3], "{operation}");
    }
}

#[test]
fn exact_divisions() {
    for (bits, lanes) in [([16_500, 8208], [7, 7]), ([20_000, 17_000], [2, 1]), ([33, 16_500], [2, 2])] {
        check(Operation::DivExact, "newton", &bits, &lanes, Pattern::Carry);
    }
}

/// With the setting `levels` a block has a product of up to 196608 bits. It is the same product in fewer launches.
#[test]
fn products_of_blocks() {
    let blocks = Settings { levels: Some(1), ..Settings::default() };
    for (operation, bits) in [
        (Operation::MulLo, &[90_000, 86_000][..]),
        (Operation::MulAdd, &[131_072; 3]),
        (Operation::Rem, &[131_072, 65_600]),
    ] {
        let name = if operation == Operation::Rem { "newton" } else { "long" };
        check_with(operation, name, &blocks, bits, &vec![1; bits.len()], Pattern::Carry);
        let shapes: Vec<Shape> = bits.iter().map(|bits| Shape::new(1, *bits)).collect();
        let shape = OperationShape::new(operation, &shapes).unwrap();
        let launches = |settings: &Settings| {
            algorithm(operation, name).spec(shape, settings, Abilities::of(80)).unwrap().stages().len()
        };
        assert!(launches(&blocks) + 3 < launches(&Settings::default()), "{operation}");
    }
}

/// Products from 131073 to 262144 bits in three launches, with results cut off above and with a divisor that all lanes share.
#[test]
fn products_of_short_columns() {
    for operation in [Operation::MulLo, Operation::MulHi, Operation::MulAdd] {
        check_parts(operation, [262_144, 131_073], 1, &[Pattern::Carry, Pattern::Ones]);
    }
    for lanes in [[2, 2], [2, 1]] {
        check(Operation::DivRem, "newton", &[280_000, 140_000], &lanes, Pattern::Carry);
    }
}

/// Where no product goes to a block, the setting changes nothing, not even the name. So `warpmp tune` measures the kernels once.
#[test]
fn blocks_have_a_name_where_there_are_any() {
    let blocks = Settings { levels: Some(1), ..Settings::default() };
    for (bits, differ) in [([40_000, 20_000], false), ([131_072, 65_600], true)] {
        let shape = OperationShape::new(Operation::Rem, &bits.map(|bits| Shape::new(1, bits))).unwrap();
        let name = |settings: &Settings| {
            algorithm(Operation::Rem, "newton").spec(shape, settings, Abilities::of(80)).unwrap().name()
        };
        assert_eq!(name(&blocks) != name(&Settings::default()), differ, "{bits:?}");
    }
}

#[test]
fn roots() {
    for (bits, pattern) in [
        (4097, Pattern::Carry),
        (8192, Pattern::Ones),
        (12_001, Pattern::Edge),
        (16_384, Pattern::Carry),
        (32_768, Pattern::Runs),
        (33_001, Pattern::OneHot),
        (66_000, Pattern::Carry),
    ] {
        check(Operation::Sqrt, "zimmermann", &[bits], &[1], pattern);
    }
}

/// Of a lane: sectors of memory, and instructions of a warp.
#[test]
fn costs_of_roots() {
    for (bits, most_sectors, most_instructions) in [(16_384, 1600, 10_500), (32_768, 4500, 36_000)] {
        let counters = check(Operation::Sqrt, "zimmermann", &[bits], &[32], Pattern::Random);
        let sectors = (counters.load_sectors() + counters.store_sectors()) / 32;
        let instructions = counters.instructions().warps / 32;
        assert!(sectors <= most_sectors, "{bits} bits: {sectors}");
        assert!(instructions <= most_instructions, "{bits} bits: {instructions}");
    }
}

/// The same of a division.
#[test]
fn costs_of_divisions() {
    let counters = check(Operation::DivRem, "newton", &[32_768, 16_384], &[32; 2], Pattern::Random);
    let sectors = (counters.load_sectors() + counters.store_sectors()) / 32;
    let instructions = counters.instructions().warps / 32;
    assert!(sectors <= 4800, "{sectors}");
    assert!(instructions <= 23_500, "{instructions}");
}

/// Squares, one less and one more, zero, and numbers whose root's lower half is all ones; remainders twice the root, whose quotient is the largest.
/// The root goes straight to its row where it fills whole limbs.
#[test]
fn roots_at_their_edges() {
    for bits in [4100, 8192, 12_001, 16_384, 28_608, 28_640, 32_832] {
        let one = BigUint::from(1_u32);
        let mut values = vec![BigUint::ZERO, one.clone(), (&one << bits) - 1_u32];
        let half = (&one << (bits / 2)) - 1_u32;
        let random = numbers(Pattern::Random, 8, bits / 2, 5);
        let upper = (&half >> (bits / 4)) << (bits / 4);
        for root in [half.clone(), &half >> (bits / 4 - 8), upper, random[0].clone(), &random[1] >> (bits / 11)] {
            let square = &root * &root;
            values.extend([&square - 1_u32, square.clone(), &square + &root + &root]);
        }
        // Roots of the upper half of the limbs that leave as much as they can, or nothing, over lower limbs of ones or zeros.
        for root in &random {
            let root = root >> (bits / 4);
            let square = &root * &root;
            let ones = (&one << (bits / 2)) - 1_u32;
            values.extend([((&square + &root + &root) << (bits / 2)) + &ones, square << (bits / 2)]);
        }
        values.extend([&one << (bits - 1), &one << (bits - 2)]);
        check_roots(bits, &values);
    }
}

fn check_roots(bits: usize, values: &[BigUint]) {
    let shape = OperationShape::new(Operation::Sqrt, &[Shape::new(values.len(), bits)]).unwrap();
    let spec = algorithm(Operation::Sqrt, "zimmermann").spec(shape, &Settings::default(), Abilities::of(80)).unwrap();
    let limbs: Vec<u32> = shape.results().iter().map(|bits| bits.div_ceil(32)).collect();
    let outcome = run_plain(&*spec, &[(shape.operands()[0], values)], &limbs, values.len());
    for (lane, a) in values.iter().enumerate() {
        let root = a.sqrt();
        assert!(outcome.results[0][lane] == root, "{bits} bits: root of lane {lane}");
        assert!(outcome.results[1][lane] == a - &root * &root, "{bits} bits: remainder of lane {lane}");
    }
}

/// The plan takes these operations by itself, and tells their steps and their memory. No launch touches a lane too much.
#[test]
fn plans() {
    let device = device::open_sim_with(&SimConfig::default());
    let plan = |operation: Operation, bits: usize| {
        let operands = vec![Shape::new(3, bits); operation.arity()];
        Plan::new(operation, &operands, device.info(), &tuning::shipped(90), None).unwrap()
    };
    let served = |it: &&Operation| it.max_bits() > 65536 && !matches!(it.group(), Group::Product);
    for &operation in Operation::ALL.iter().filter(served) {
        let plan = plan(operation, 70_000);
        assert!(plan.explain().contains("passes over rows"), "{}", plan.explain());
        assert!(plan.spec().stages().iter().all(|stage| !stage.geometry.whole_tiles));
    }
    let explained = plan(Operation::Rem, 1 << 20).explain();
    for words in ["newton", "14 products, the longest of 1048576 bits", "bytes of scratch memory a lane"] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    let longest = plan(Operation::MontMul, 1 << 24);
    assert!(longest.scratch_words(3) <= 1 << 28, "{}", longest.explain());
}

/// A sum reads its operands once and writes its result once; a second launch adds what blocks say about carries, and little more.
#[test]
fn sums_move_each_row_once() {
    for (bits, blocks) in [(131_072_usize, 1), (1_048_576, 5)] {
        let counters = check(Operation::WrappingAdd, "long", &[bits; 2], &[1; 2], Pattern::Random);
        let row = bits as u64 / 256;
        let first = |name: &str| counters.section(name).unwrap();
        assert_eq!(first("limbs").load_sectors(), 2 * row, "{bits} bits");
        let again = 16 * (blocks - 1);
        assert!((row..=row + again).contains(&first("store").store_sectors()), "{bits} bits");
        assert!(counters.load_sectors() <= 2 * row + again, "{bits} bits: {}", counters.load_sectors());
        assert_eq!(counters.bank_conflicts(), 0, "{bits} bits");
        // Passes of 32 limbs.
        let passes = bits as u64 / 1024;
        assert!(counters.instructions().warps <= 47 * passes, "{bits} bits: {}", counters.instructions().warps);
    }
}
