//! Arithmetic modulo long numbers by lines and products on the simulator, against num-bigint.

use std::slice::from_ref;

use num_bigint::BigUint;
use warpmp::kernels::{Abilities, OperationShape, Settings};
use warpmp::operation::Status;
use warpmp::{Operation, Shape};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::numbers::{numbers, run};
use warpmp_testkit::kernels::operations::check;

/// `2^(32·limbs)`.
fn radix(limbs: usize) -> BigUint {
    BigUint::from(1_u32) << (32 * limbs)
}

/// An odd number of these bits whose highest bit is set.
fn random_modulus(bits: usize) -> BigUint {
    let one = BigUint::from(1_u32);
    &numbers(Pattern::Random, 1, bits, 9)[0] | (&one << (bits - 1)) | one
}

/// Runs an operation by an algorithm on rows of these bits, a number a lane or one for all lanes, and checks results and statuses. Returns the kernels' names.
fn check_rows(operation: Operation, name: &str, bits: &[usize], rows: &[&[BigUint]], levels: Option<u32>) -> String {
    let lanes = rows.iter().map(|it| it.len()).max().unwrap();
    let shapes: Vec<Shape> = bits.iter().zip(rows).map(|(&bits, row)| Shape::new(row.len(), bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let settings = Settings { levels, ..Settings::default() };
    let spec = algorithm(operation, name).spec(shape, &settings, Abilities::of(80)).unwrap();
    let limbs = bits[bits.len() - 1].div_ceil(32);
    let operands: Vec<_> = shape.operands().iter().copied().zip(rows.iter().copied()).collect();
    let outcome = run(&*spec, &operands, &[limbs as u32], lanes);
    for lane in 0..lanes {
        let of_lane: Vec<&BigUint> = rows.iter().map(|row| &row[lane % row.len()]).collect();
        let [operands @ .., m] = &of_lane[..] else { panic!("a modulus") };
        let found = &outcome.results[0][lane];
        let status = status(operation, operands, m, limbs);
        assert_eq!(outcome.statuses[lane], status.code(), "{operation} {bits:?}: status of lane {lane}");
        let is_right = match status {
            Status::Fine => found < *m && is_congruent(operation, operands, (m, limbs), found),
            _ => *found == BigUint::ZERO,
        };
        assert!(is_right, "{operation} {bits:?}: result of lane {lane}");
    }
    (0..spec.stages().len()).map(|stage| spec.build(stage).name + " ").collect()
}

fn status(operation: Operation, operands: &[&BigUint], m: &BigUint, limbs: usize) -> Status {
    let is_sum = matches!(operation, Operation::AddMod | Operation::SubMod | Operation::NegMod);
    let limit = if operation == Operation::Redc { m * radix(limbs) } else { m.clone() };
    match () {
        () if *m == BigUint::ZERO => Status::DivisionByZero,
        () if !is_sum && !m.bit(0) => Status::EvenModulus,
        () if operands.iter().any(|&it| *it >= limit) => Status::NotReduced,
        () => Status::Fine,
    }
}

/// Is the result right modulo `m`? A Montgomery product needs no inverse for that.
fn is_congruent(operation: Operation, operands: &[&BigUint], (m, limbs): (&BigUint, usize), found: &BigUint) -> bool {
    let sum = |x: &BigUint, y: &BigUint| (x + y) % m == BigUint::ZERO;
    match (operation, operands) {
        (Operation::AddMod, [a, b]) => (*a + *b) % m == *found,
        (Operation::SubMod, [a, b]) => (found + *b) % m == **a,
        (Operation::NegMod, [a]) => sum(a, found),
        (Operation::MontMul, [a, b]) => (found * radix(limbs)) % m == (*a * *b) % m,
        (Operation::MontSqr, [a]) => (found * radix(limbs)) % m == (*a * *a) % m,
        (Operation::FromMont | Operation::Redc, [t]) => (found * radix(limbs)) % m == *t % m,
        _ => panic!("{operation} is not checked here"),
    }
}

#[test]
fn montgomery() {
    for bits in [4097, 8192, 12_300, 16_450, 50_017] {
        for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Edge] {
            check(Operation::MontMul, "products", &[bits; 3], &[2; 3], pattern);
            check(Operation::Redc, "products", &[2 * bits, bits], &[2; 2], pattern);
        }
        check(Operation::MontSqr, "products", &[bits; 2], &[2, 1], Pattern::Carry);
        check(Operation::FromMont, "products", &[bits - 400, bits], &[3, 3], Pattern::Ones);
    }
    check(Operation::ToMont, "products", &[16_450; 2], &[2; 2], Pattern::Carry);
}

/// Quotients of zero, of few limbs and of all ones, digits of half of the radix, moduli that are shorter than their rows; even and zero moduli; numbers that are not
/// reduced. Moduli as long as a transform, a little shorter and longer, and of odd numbers of limbs.
#[test]
fn special_quotients() {
    for bits in [4097_usize, 14_336, 14_337, 16_384, 16_416, 21_824, 32_736, 32_768, 65_505, 65_536, 65_537] {
        let limbs = bits.div_ceil(32);
        let half = limbs.div_ceil(2);
        let one = BigUint::from(1_u32);
        let digits = |word: u32| (BigUint::from_slice(&vec![word; limbs]) % (&one << bits)) | &one;
        let random = random_modulus(bits);
        let moduli = [(&one << bits) - 1_u32, random.clone(), digits(0x8000_7fff), radix(half) - 1_u32, one.clone()];
        let quotients =
            [BigUint::ZERO, one.clone(), radix(8), radix(half) - 1_u32, radix(limbs) - 1_u32, digits(0x8000_8000)];
        let (mut products, mut of_products) = (Vec::new(), Vec::new());
        for (i, m) in moduli.iter().enumerate() {
            for (j, q) in quotients.iter().enumerate().filter(|(j, _)| bits < 20_000 || (i + j) % 3 == 0) {
                let upper = (m / 3_u32) * (j as u32);
                products.push((m * q + radix(limbs) * upper) % (m * radix(limbs)));
                of_products.push(m.clone());
            }
        }
        products.extend([&random * radix(limbs) - 1_u32, radix(2 * limbs) - 1_u32, one.clone(), one.clone()]);
        of_products.extend([random.clone(), radix(half) + 1_u32, BigUint::ZERO, &random - 1_u32]);
        for levels in [None, Some(1)].into_iter().take(if bits > 65_536 { 2 } else { 1 }) {
            check_rows(Operation::Redc, "products", &[64 * limbs, bits], &[&products, &of_products], levels);
        }
        // One number for all lanes: of the operands, then of the moduli.
        let two = [BigUint::from(2_u32)];
        check_rows(Operation::FromMont, "products", &[bits; 2], &[&two, &moduli], None);
        let values = [BigUint::ZERO, &random - 1_u32, random.clone(), &random >> 1];
        check_rows(Operation::MontSqr, "products", &[bits; 2], &[&values, from_ref(&random)], None);
        check_rows(Operation::MontSqr, "products", &[bits; 2], &[&values, &[&random - 1_u32]], None);
    }
}

/// A modulus so long that the inverse's steps have products modulo `Bᴺ + 1` in four steps.
#[test]
fn inverses_in_four_steps() {
    let limbs = 15_400;
    let bits = 32 * limbs;
    let m = random_modulus(bits);
    let values = [&m - 1_u32, (&m * (radix(23_040 - limbs) - 1_u32)) % radix(limbs / 2)];
    let names = check_rows(Operation::FromMont, "products", &[bits; 2], &[&values, &[m.clone(), m.clone()]], None);
    assert!(names.contains("_modulo"), "{names}");
}

/// Operands whose highest limbs are those of the modulus: whole rows tell whether they are below it. Rows that a warp has, a block, and several blocks.
#[test]
fn operands_near_the_modulus() {
    let near = |m: &BigUint| {
        let middle = BigUint::from(1_u32) << (m.bits() / 2);
        vec![m - 1_u32, m.clone(), m + 1_u32, m - &middle, m + middle, BigUint::ZERO, m >> 1]
    };
    for bits in [4128_usize, 14_368, 70_000] {
        let limbs = bits.div_ceil(32);
        let m = random_modulus(bits) - radix(1);
        let values = near(&m);
        let others: Vec<BigUint> = values.iter().rev().cloned().collect();
        let modulus = vec![m.clone(); values.len()];
        check_rows(Operation::MontMul, "products", &[bits; 3], &[&values, &others, &modulus], None);
        let products: Vec<BigUint> = values.iter().map(|it| it * radix(limbs) + (radix(limbs) - 1_u32)).collect();
        check_rows(Operation::Redc, "products", &[64 * limbs, bits], &[&products, &modulus], None);
    }
    for bits in [1000, 70_000, 520_000] {
        let m = random_modulus(bits) - 2_u32;
        let values = near(&m);
        let others: Vec<BigUint> = values.iter().rev().cloned().collect();
        check_rows(Operation::AddMod, "long-mod", &[bits; 3], &[&values, &others, from_ref(&m)], None);
        check_rows(Operation::SubMod, "long-mod", &[bits; 3], &[&others, &values, from_ref(&m)], None);
        check_rows(Operation::NegMod, "long-mod", &[bits; 2], &[&values, from_ref(&m)], None);
    }
}

#[test]
fn sums_modulo_long_numbers() {
    for operation in [Operation::AddMod, Operation::SubMod, Operation::NegMod] {
        for pattern in [Pattern::Carry, Pattern::Ones, Pattern::Edge] {
            check(operation, "long-mod", &vec![70_000; operation.arity()], &vec![5; operation.arity()], pattern);
        }
    }
}

/// A sum reads two operands, then itself and the modulus, and itself once more where it is less. Numbers that differ in their highest limbs are not compared
/// whole.
#[test]
fn sums_modulo_long_numbers_move_each_row_once() {
    let bits = 131_072;
    let counters = check(Operation::AddMod, "long-mod", &[bits; 3], &[1; 3], Pattern::Random);
    let row = bits as u64 / 256;
    let found = [counters.load_sectors(), counters.store_sectors()];
    assert!(found[0] < 6 * row && found[1] < 2 * row + row / 2, "{found:?}");
}
