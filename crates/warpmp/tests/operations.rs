//! Every operation against num-bigint, on every engine: one body, all precisions, carry-prone operands.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigUint;
use warpmp::operation::Group;
use warpmp::{Batch, Error, Operation, Options, Session, Shape};
use warpmp_testkit::conformance::{self, OperationCase};
use warpmp_testkit::operations::{self, PRECISIONS};
use warpmp_testkit::{Operands, Pattern, gpu, oracle};

/// Limbs and bits of each result.
type Found = Vec<(Vec<u32>, usize)>;

/// Runs a case by an algorithm, or by the one that is chosen.
fn run(
    session: &Session,
    operation: Operation,
    algorithm: Option<&str>,
) -> impl Fn(&OperationCase, &[Operands]) -> Result<Found, Error> {
    move |_, operands| apply(session, operation, algorithm, operands)
}

/// The results of an operation.
fn apply(
    session: &Session,
    operation: Operation,
    algorithm: Option<&str>,
    operands: &[Operands],
) -> Result<Found, Error> {
    let batches: Vec<Batch> =
        operands.iter().map(|it| Batch::borrow(Shape::new(it.lanes, it.bits), &it.limbs)).collect::<Result<_, _>>()?;
    let mut options = Options::new();
    options.algorithm = algorithm.map(str::to_owned);
    let (results, _) = session.apply(operation, &batches.iter().collect::<Vec<_>>(), options)?;
    Ok(results.into_iter().map(|batch| (batch.limbs().to_vec(), batch.bits())).collect())
}

/// The operands of a case, as the suite draws them.
fn draw(case: &OperationCase) -> Vec<Operands> {
    operations::draw(case.operation, &case.bits, &case.lanes, case.pattern, case.seed)
}

/// The operation with several constants, if it has one.
fn variants(operation: Operation) -> Vec<Operation> {
    match operation {
        Operation::StrongTest(_) => [2, u32::MAX].map(|n| operation.with_constant(n)).to_vec(),
        Operation::PowModPublic(_) => [0, 1, 3, 65537].map(|n| operation.with_constant(n)).to_vec(),
        _ if operation.constant().is_some() => [0, 1, 31, 32, 37, 200].map(|n| operation.with_constant(n)).to_vec(),
        _ => vec![operation],
    }
}

fn cases(operation: Operation, precision: usize, lanes: usize, patterns: &[Pattern]) -> Vec<OperationCase> {
    conformance::operation_cases(operation, precision, lanes, patterns)
}

/// Is a lane much work for the oracle?
fn is_slow(operation: Operation) -> bool {
    operation.name().starts_with("pow_mod")
        || matches!(operation, Operation::StrongTest(_) | Operation::MillerRabin)
        || matches!(operation, Operation::InvMod | Operation::GcdExt | Operation::Gcd)
}

fn on_cpu(groups: &[Group]) {
    let session = Session::cpu();
    for &operation in Operation::ALL.iter().filter(|it| groups.contains(&it.group())) {
        for variant in variants(operation) {
            for precision in PRECISIONS {
                let lanes = match (is_slow(operation), precision) {
                    (true, 1025..) => 2,
                    (true, 300..) => 7,
                    _ => 33,
                };
                let patterns: &[Pattern] =
                    if lanes < 33 { &[Pattern::Carry] } else { &[Pattern::Carry, Pattern::Edge, Pattern::Ones] };
                conformance::operation(&cases(variant, precision, lanes, patterns), run(&session, variant, None));
            }
        }
    }
}

#[test]
fn cpu_conforms_in_the_ring() {
    on_cpu(&[Group::Product, Group::ProductPart, Group::Linear]);
}

#[test]
fn cpu_conforms_in_linear_modular_arithmetic() {
    on_cpu(&[Group::LinearModular]);
}

#[test]
fn cpu_conforms_in_modular_arithmetic() {
    on_cpu(&[Group::Modular]);
}

#[test]
fn cpu_conforms_in_montgomery_arithmetic() {
    on_cpu(&[Group::Montgomery]);
}

#[test]
fn cpu_conforms_in_division() {
    on_cpu(&[Group::Division]);
}

/// Every algorithm of the CPU by name, whichever is the default here. Where the processor lacks the vectors, they are
/// skipped.
#[test]
fn every_cpu_algorithm_conforms() {
    let session = Session::cpu();
    // Around whole digits of 51 and 52 bits, whole words, and half words.
    let precisions = [1, 26, 32, 50, 51, 52, 53, 64, 96, 102, 104, 153, 207, 208, 256, 416, 417, 459, 520, 1000];
    let groups = [Group::Division, Group::Modular, Group::Montgomery];
    let mut done = std::collections::BTreeMap::<&str, usize>::new();
    for &operation in Operation::ALL.iter().filter(|it| groups.contains(&it.group())) {
        for algorithm in ["cpu-ifma", "cpu-avx2", "cpu-word", "cpu-words", "cpu-dashu"] {
            for precision in precisions {
                let lanes = if is_slow(operation) && precision > 100 { 5 } else { 19 };
                for case in cases(operation, precision, lanes, &[Pattern::Carry, Pattern::Ones]) {
                    match run(&session, operation, Some(algorithm))(&case, &draw(&case)) {
                        Err(Error::AlgorithmUnfit { .. } | Error::UnknownAlgorithm { .. }) => {}
                        result => {
                            conformance::operation(&[case], |_, _| result.clone());
                            *done.entry(algorithm).or_default() += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(done["cpu-words"] > 300 && done["cpu-dashu"] > 1000, "{done:?}");
    for algorithm in ["cpu-ifma", "cpu-avx2"] {
        if !done.contains_key(algorithm) {
            eprintln!("skipped: {algorithm}, for which the processor lacks instructions");
        }
    }
}

/// Words for moduli of every length, in rows of every number of limbs. There are faults among them: zeros, even moduli, operands above them.
#[test]
fn cpu_words_take_moduli_of_every_length() {
    use Operation as O;
    let session = Session::cpu();
    let divisions = [O::DivRem, O::Rem, O::Reduce, O::MulMod, O::SqrMod, O::ToMont];
    let reductions = [O::MontMul, O::MontSqr, O::FromMont, O::Redc];
    let powers = [O::PowMod, O::PowModPublic(5), O::StrongTest(2), O::StrongTest(3), O::MillerRabin];
    for operation in [&divisions[..], &reductions, &powers].concat() {
        for bits in (96..=512).step_by(if is_slow(operation) { 208 } else { 32 }) {
            let wide = if matches!(operation, O::DivRem | O::Rem | O::Reduce | O::Redc) { 2 * bits } else { bits };
            let last = operation.arity() - 1;
            let generate = |i: usize| {
                let pattern = Pattern::ALL[(i + bits / 32) % Pattern::ALL.len()];
                Operands::generate(pattern, bits + 1, if i == 0 && last > 0 { wide } else { bits }, i as u64)
            };
            let mut operands: Vec<Operands> = (0..=last).map(generate).collect();
            let must_be_below = operation == O::ToMont || reductions.contains(&operation);
            let radix_bits = if operation == O::Redc { bits } else { 0 };
            for lane in 0..=bits {
                let moduli = &mut operands[last];
                // So many bits, odd but for some, and 0.
                let random = oracle::number(moduli.lane(lane)) % (BigUint::from(1_u32) << lane);
                let top = (BigUint::from(1_u32) << lane) >> 1;
                let modulus = random | top | BigUint::from(u32::from(lane % 7 != 0));
                put(moduli, lane, &modulus);
                for operand in operands[..last].iter_mut().filter(|_| must_be_below && lane % 7 != 0 && lane % 9 != 8) {
                    let bound = &modulus << radix_bits;
                    let number = &bound - 1_u32 - oracle::number(operand.lane(lane)) % &bound;
                    put(operand, lane, &number);
                }
            }
            let found = apply(&session, operation, Some("cpu-words"), &operands).unwrap();
            for lane in 0..=bits {
                let values: Vec<_> = operands.iter().map(|it| oracle::Value::new(it.lane(lane), it.bits)).collect();
                for (expected, (limbs, bits)) in oracle::apply(operation, &values).iter().zip(&found) {
                    let width = bits.div_ceil(32);
                    let number = oracle::number(&limbs[lane * width..][..width]);
                    assert_eq!(number, expected.number, "{operation} of {values:x?}, lane {lane}");
                }
            }
        }
    }
}

/// Replaces the number of a lane.
fn put(operands: &mut Operands, lane: usize, number: &BigUint) {
    let width = operands.bits.div_ceil(32);
    operands.limbs[lane * width..][..width].copy_from_slice(&oracle::limbs(number, width));
}

/// Quotients without a fraction and just below one: where a digit that is estimated from above or below goes wrong.
#[test]
fn cpu_divides_multiples_of_the_divisor() {
    let session = Session::cpu();
    for (divisor_bits, quotient_bits) in [(32, 64), (51, 52), (52, 104), (104, 53), (256, 260), (515, 600), (1000, 30)]
    {
        for (seed, pattern) in (0..).zip(Pattern::ALL) {
            let lanes = 40;
            let mut v = Operands::generate(pattern, lanes, divisor_bits, seed);
            // Not zero.
            v.limbs.chunks_exact_mut(divisor_bits.div_ceil(32)).for_each(|row| row[0] |= 1);
            let q = Operands::generate(Pattern::Carry, lanes, quotient_bits, seed + 50);
            let bits = divisor_bits + quotient_bits;
            let number = |it: &Operands, lane: usize| BigUint::from_slice(it.lane(lane));
            let rest = |lane: usize| match lane % 4 {
                0 => number(&v, lane) - 1_u32,
                1 => BigUint::from(1_u32) % number(&v, lane),
                _ => BigUint::ZERO,
            };
            let dividends = (0..lanes)
                .flat_map(|lane| oracle::limbs(&(number(&v, lane) * number(&q, lane) + rest(lane)), bits.div_ceil(32)));
            let a = Operands { lanes, bits, limbs: dividends.collect() };
            for algorithm in [None, Some("cpu-words")] {
                let results = match apply(&session, Operation::DivRem, algorithm, &[a.clone(), v.clone()]) {
                    Err(Error::AlgorithmUnfit { .. }) => continue,
                    results => results.unwrap(),
                };
                for lane in 0..lanes {
                    let found = |i: usize| {
                        let width = results[i].1.div_ceil(32);
                        BigUint::from_slice(&results[i].0[lane * width..][..width])
                    };
                    let case = format!("{divisor_bits} and {quotient_bits} bits, {pattern:?}, lane {lane}");
                    assert_eq!((found(0), found(1)), (number(&q, lane), rest(lane)), "{case}");
                }
            }
        }
    }
}

/// Those that have kernels of their own at many widths.
fn algorithms(operation: Operation) -> &'static [&'static str] {
    if operation.group() == Group::ProductPart { &["thread", "group", "karatsuba/group"] } else { &["thread", "group"] }
}

/// The algorithms of the linear operations and of parts of products at every precision they take.
#[test]
fn kernels_conform() {
    let session = Session::on(warpmp::Selector::Sim).unwrap();
    let groups = [Group::ProductPart, Group::Linear, Group::LinearModular];
    for &operation in Operation::ALL.iter().filter(|it| groups.contains(&it.group())) {
        for (i, variant) in variants(operation).into_iter().enumerate() {
            for (j, precision) in PRECISIONS.into_iter().enumerate() {
                // Operations with constants are many: each constant at every third precision.
                if variant.constant().is_some() && (i + j) % 3 != 0 {
                    continue;
                }
                for algorithm in algorithms(operation) {
                    let lanes = if precision > 1024 { 3 } else { 35 };
                    for case in cases(variant, precision, lanes, &[Pattern::Carry]) {
                        match run(&session, variant, Some(algorithm))(&case, &draw(&case)) {
                            Err(Error::AlgorithmUnfit { .. }) => {}
                            result => conformance::operation(&[case], |_, _| result.clone()),
                        }
                    }
                }
            }
        }
    }
}

/// The GPU by what its table chooses.
fn on_gpu(precisions: &[usize]) {
    let Some(session) = gpu::or_skip(Session::on(warpmp::Selector::Cuda(None))) else { return };
    // Those of division and modular arithmetic have bounds and lengths of their own: `operations_modular`.
    let groups = [Group::ProductPart, Group::Linear, Group::LinearModular];
    for &operation in Operation::ALL.iter().filter(|it| groups.contains(&it.group())) {
        for (i, variant) in variants(operation).into_iter().enumerate() {
            for (j, &precision) in precisions.iter().enumerate() {
                // Each kernel is compiled: each constant at every third precision.
                if variant.constant().is_some() && (i + j) % 3 != 0 {
                    continue;
                }
                let lanes = if precision > 4096 { 2 } else { 129 };
                let cases = cases(variant, precision, lanes, &[Pattern::Carry]);
                conformance::operation(&cases, run(&session, variant, None));
            }
        }
    }
}

#[test]
fn gpu_conforms() {
    on_gpu(&[1, 32, 131, 256, 1000, 1024, 3000, 65536]);
}

/// Parts of products by every algorithm, also at lengths where only some of a warp's lanes, or of the last block's limbs, count.
#[test]
fn gpu_conforms_in_parts_of_products() {
    let Some(session) = gpu::or_skip(Session::on(warpmp::Selector::Cuda(None))) else { return };
    for operation in [Operation::MulLo, Operation::MulHi, Operation::MulAdd] {
        for algorithm in warpmp::kernels::Register::shipped().names(operation) {
            for precision in
                [160, 768, 769, 800, 1000, 1024, 1500, 1536, 2000, 2048, 3000, 4096, 5001, 8192, 16384, 40_000]
            {
                for case in cases(operation, precision, 129, &[Pattern::Carry, Pattern::Ones]) {
                    match run(&session, operation, Some(algorithm))(&case, &draw(&case)) {
                        Err(Error::AlgorithmUnfit { .. }) => {}
                        result => conformance::operation(&[case], |_, _| result.clone()),
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "minutes: thousands of kernels are compiled"]
fn gpu_conforms_at_every_precision() {
    on_gpu(&PRECISIONS);
}
