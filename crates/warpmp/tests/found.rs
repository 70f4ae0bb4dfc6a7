//! What random cases have found, each with its numbers, on the engines that run everywhere.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp::kernels::Settings;
use warpmp::tuning::{Candidate, Table};
use warpmp::{Batch, Operation, Options, Plan, Selector, Session, Shape};
use warpmp_testkit::oracle::{self, Value};

/// The sum of these powers of two.
fn powers(exponents: &[usize]) -> BigUint {
    exponents.iter().map(|exponent| BigUint::from(1_u32) << *exponent).sum()
}

/// One lane of numbers in these bits, by this algorithm or any.
fn check(session: &Session, operation: Operation, operands: &[(&BigUint, usize)], algorithm: Option<&str>) {
    let values: Vec<Value> =
        operands.iter().map(|(number, bits)| Value { number: (*number).clone(), bits: *bits }).collect();
    let expected = oracle::apply(operation, &values);
    let batches: Vec<Batch> = operands
        .iter()
        .map(|(number, bits)| {
            Batch::from_limbs(Shape::new(1, *bits), oracle::limbs(number, bits.div_ceil(32))).unwrap()
        })
        .collect();
    let mut options = Options::new();
    options.algorithm = algorithm.map(str::to_owned);
    let (found, _) = session.apply(operation, &batches.iter().collect::<Vec<_>>(), options).unwrap();
    let found: Vec<Value> = found.iter().map(|batch| Value::new(batch.limbs(), batch.bits())).collect();
    assert_eq!(found, expected, "{operation} of {values:?}");
}

/// The library's inverse of `R` ended with a panic for the one modulus, and was another number for the other; it was
/// taken even where nobody had asked for it.
#[test]
fn inverses_of_the_cpu_engine() {
    use Operation as O;
    let session = Session::cpu();
    let long = powers(&[3103, 1537]) - 1_u32;
    let sparse = powers(&[1549, 578, 573, 0]);
    let one = powers(&[0]);
    for (m, bits) in [(&long, 3104_usize), (&sparse, 3393)] {
        let below = m - 1_u32;
        let radix = powers(&[32 * bits.div_ceil(32)]);
        for a in [&one, &below] {
            check(&session, O::MulMod, &[(a, bits), (a, bits), (m, bits)], None);
            check(&session, O::FromMont, &[(a, bits), (m, bits)], None);
            check(&session, O::MontMul, &[(a, bits), (a, bits), (m, bits)], None);
            check(&session, O::Redc, &[(a, bits), (m, bits)], None);
        }
        check(&session, O::InvMod, &[(&radix, 4000), (m, bits)], None);
        check(&session, O::GcdExt, &[(&radix, 4000), (m, bits)], None);
        check(&session, O::GcdExt, &[(m, bits), (&radix, 4000)], None);
    }
    let simulator = Session::on(Selector::Sim).unwrap();
    check(&simulator, O::FromMont, &[(&one, 3393), (&sparse, 3393)], None);
}

/// A table's block that no lane could hold was taken by its word: what it would cost left 32 bits, and the kernel could
/// become a text without end.
#[test]
fn blocks_beyond_the_registers() {
    let device = Session::on(Selector::Sim).unwrap().device().unwrap().info().clone();
    let plan = |block: Option<u32>, bits: usize| {
        let candidate = Candidate {
            algorithm: "group",
            settings: Settings { block, ..Settings::default() },
            kernel: String::new(),
        };
        let table = Table::of_one(Operation::Mul, 90, &candidate);
        Plan::new(Operation::Mul, &[Shape::new(1, bits); 2], &device, &table, None).map(|plan| plan.spec_name())
    };
    for bits in [20, 1000, 5000, 65536] {
        for block in [33, 64, 1 << 15, 1 << 16] {
            assert_eq!(plan(Some(block), bits).unwrap(), plan(None, bits).unwrap());
        }
        let error = plan(Some(u32::MAX), bits).unwrap_err().to_string();
        assert!(error.ends_with("block is 4294967295; it may be 1 to 65536"), "{error}");
    }
}
