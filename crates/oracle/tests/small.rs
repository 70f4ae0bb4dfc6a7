//! Small answers by hand, and the faults of operands by their definition.

use num_bigint::{BigInt, BigUint};
use warpmp::operation::Role;
use warpmp::{Operation, Shape, Status};
use warpmp_oracle::{Value, apply, kronecker};

/// An integer in its bits, a negative one as a two's complement.
fn value(number: i64, bits: usize) -> Value {
    let number = if number < 0 { BigInt::from(number) + (BigInt::from(1) << bits) } else { number.into() };
    Value { number: number.magnitude().clone(), bits }
}

fn values(operands: &[(i64, usize)]) -> Vec<Value> {
    operands.iter().map(|(number, bits)| value(*number, *bits)).collect()
}

#[test]
fn small_answers() {
    use Operation as O;
    let call = |operation: Operation, operands: &[(i64, usize)]| apply(operation, &values(operands));
    assert_eq!(call(O::Sub, &[(3, 8), (5, 4)]), [value(-2, 9)]);
    assert_eq!(call(O::Cmp, &[(3, 8), (5, 4)]), [value(3, 2)]);
    assert_eq!(call(O::SignedMul, &[(-8, 4), (-8, 4)]), [value(64, 8)]);
    assert_eq!(call(O::GcdExt, &[(12, 8), (8, 4)]), [value(4, 8), value(1, 4), value(-1, 9)]);
    assert_eq!(call(O::GcdExt, &[(5, 8), (0, 4)]), [value(5, 8), value(1, 4), value(0, 9)]);
    assert_eq!(call(O::DivExact, &[(15, 8), (5, 4)]), [value(3, 8), value(0, 32)]);
    assert_eq!(call(O::DivExact, &[(16, 8), (5, 4)]), [value(0, 8), value(5, 32)]);
    assert_eq!(call(O::DivExact, &[(16, 8), (0, 4)]), [value(0, 8), value(1, 32)]);
    assert_eq!(call(O::Lcm, &[(12, 8), (10, 4)]), [value(60, 12)]);
    assert_eq!(call(O::Lcm, &[(0, 8), (0, 4)]), [value(0, 12)]);
    assert_eq!(call(O::Jacobi, &[(2, 8), (15, 4)]), [value(1, 2)]);
    assert_eq!(call(O::Jacobi, &[(7, 8), (15, 4)]), [value(-1, 2)]);
    assert_eq!(call(O::PowMod, &[(3, 8), (5, 8), (10, 4)]), [value(3, 4), value(0, 32)]);
    assert_eq!(call(O::DivRem, &[(17, 8), (5, 4)]), [value(3, 8), value(2, 4), value(0, 32)]);
    assert_eq!(call(O::InvMod, &[(2, 8), (4, 4)]), [value(0, 4), value(4, 32)]);
    assert_eq!(call(O::AddMod, &[(4, 8), (4, 8), (5, 4)]), [value(3, 4), value(0, 32)]);
    assert_eq!(call(O::AddMod, &[(5, 8), (4, 8), (5, 4)]), [value(0, 4), value(3, 32)]);
    assert_eq!(call(O::PowModSec, &[(2, 8), (10, 8), (6, 4)]), [value(0, 4), value(2, 32)]);
    assert_eq!(call(O::Redc, &[(0, 8), (7, 4)]), [value(0, 4), value(0, 32)]);
}

/// The symbol by its definition: a product of Legendre's symbols, which come from the squares modulo a prime.
#[test]
fn symbols_are_products_over_primes() {
    let over_prime = |a: u32, prime: u32| {
        if prime == 2 {
            [0, 1, 0, -1, 0, -1, 0, 1][a as usize % 8]
        } else if a.is_multiple_of(prime) {
            0
        } else if (1..prime).any(|x| x * x % prime == a % prime) {
            1
        } else {
            -1
        }
    };
    for a in 0..80 {
        assert_eq!(kronecker(&a.into(), &BigUint::ZERO), i32::from(a == 1));
        for n in 1..120_u32 {
            let (mut rest, mut symbol) = (n, 1);
            for prime in 2..=n {
                while rest.is_multiple_of(prime) {
                    symbol *= over_prime(a, prime);
                    rest /= prime;
                }
            }
            assert_eq!(kronecker(&a.into(), &n.into()), symbol, "{a} over {n}");
        }
    }
}

/// All small operands of every operation: the widths are those that the library promises, and every result fits.
#[test]
fn results_fit_in_the_promised_widths() {
    for &operation in Operation::ALL {
        for number in 0..1 << (2 * operation.arity()) {
            let operand = |i: usize| (i64::from(number >> (2 * i) & 3), 2);
            let operands: Vec<(i64, usize)> = (0..operation.arity()).map(operand).collect();
            let found = apply(operation, &values(&operands));
            let shapes: Vec<Shape> = operands.iter().map(|(_, bits)| Shape::new(1, *bits)).collect();
            let promised: Vec<usize> =
                operation.results(&shapes).unwrap_or_default().iter().map(|shape| shape.bits).collect();
            assert_eq!(found.iter().map(|value| value.bits).collect::<Vec<_>>(), promised, "{operation}");
            assert!(found.iter().all(|value| value.number.bits() <= value.bits as u64), "{operation} {operands:?}");
        }
    }
}

/// The fault of a lane by the definitions of the roles, in integers.
fn fault(operation: Operation, operands: &[Value]) -> Status {
    let roles = || operation.operands().iter().map(|operand| operand.role).zip(operands);
    let Some((role, modulus)) =
        roles().find(|(role, _)| [Role::Divisor, Role::Modulus, Role::OddModulus].contains(role))
    else {
        return Status::Fine;
    };
    let m = &modulus.number;
    let limit = |role: Role| match role {
        Role::Reduced => Some(m.clone()),
        Role::ReducedProduct => Some(m << (32 * modulus.bits.div_ceil(32))),
        Role::Integer
        | Role::Bit
        | Role::Divisor
        | Role::Modulus
        | Role::OddModulus
        | Role::Exponent
        | Role::Candidate => None,
    };
    if *m == BigUint::ZERO {
        Status::DivisionByZero
    } else if role == Role::OddModulus && !m.bit(0) {
        Status::EvenModulus
    } else if roles().any(|(role, operand)| limit(role).is_some_and(|limit| operand.number >= limit)) {
        Status::NotReduced
    } else {
        Status::Fine
    }
}

/// Lengths that differ, and numbers on both sides of every limit.
#[test]
fn preconditions_are_the_definitions() {
    let mut counts = [0; Status::ALL.len()];
    for &operation in Operation::ALL {
        for widths in [[32_usize, 32, 32], [64, 31, 70], [20, 100, 33], [130, 64, 32], [100, 33, 64]] {
            for number in 0_u32..216 {
                let bits = &widths[3 - operation.arity()..];
                let last = bits[bits.len() - 1];
                let edge = |i: usize| {
                    let power = BigUint::from(1_u32) << (last - 1);
                    match number / 6_u32.pow(i as u32) % 6 {
                        0 => BigUint::ZERO,
                        1 => BigUint::from(1_u32),
                        2 => power - 1_u32,
                        3 => power,
                        4 => power + 1_u32,
                        // At m·R for the moduli above, or just below.
                        _ => (power << last.next_multiple_of(32)) - (number % 2),
                    }
                };
                let cut = |(i, bits): (usize, &usize)| Value {
                    number: edge(i) & ((BigUint::from(1_u32) << *bits) - 1_u32),
                    bits: *bits,
                };
                let operands: Vec<Value> = bits.iter().enumerate().map(cut).collect();
                let rows: Vec<Vec<u32>> = operands.iter().map(Value::limbs).collect();
                let found = operation.preconditions().check(|i| &rows[i]);
                assert_eq!(found, fault(operation, &operands), "{operation} {operands:x?}");
                counts[found.code() as usize] += 1;
            }
        }
    }
    assert!(counts[..4].iter().all(|count| *count > 500), "{counts:?}");
}
