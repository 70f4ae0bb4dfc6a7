//! Division, modular and Montgomery operations by the kernels, through a session, against num-bigint.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::operation::Group;
use warpmp::{Batch, Error, Operation, Options, Selector, Session, Shape};
use warpmp_testkit::conformance::{self, OperationCase};
use warpmp_testkit::operations::{self, PRECISIONS};
use warpmp_testkit::{Operands, Pattern, gpu};

/// The results of a case by an algorithm.
fn run(
    session: &Session,
    operation: Operation,
    algorithm: Option<&str>,
    operands: &[Operands],
) -> Result<Vec<(Vec<u32>, usize)>, Error> {
    let batches: Vec<Batch> =
        operands.iter().map(|it| Batch::borrow(Shape::new(it.lanes, it.bits), &it.limbs)).collect::<Result<_, _>>()?;
    let mut options = Options::new();
    options.algorithm = algorithm.map(str::to_owned);
    let (results, _) = session.apply(operation, &batches.iter().collect::<Vec<_>>(), options)?;
    Ok(results.into_iter().map(|batch| (batch.limbs().to_vec(), batch.bits())).collect())
}

/// Is it a power of long numbers?
fn is_power(operation: Operation) -> bool {
    operation.name().starts_with("pow_mod") || matches!(operation, Operation::StrongTest(_) | Operation::MillerRabin)
}

/// Lanes that keep the simulator and the oracle short.
fn lanes(operation: Operation, precision: usize) -> usize {
    let slow = operation.group() == Group::Modular || operation.name().starts_with("gcd");
    match (slow, precision) {
        (true, 1025..) => 1,
        (true, 300..) | (false, 1025..) => 3,
        (true, ..300) | (false, ..1025) => 35,
    }
}

fn conform(group: Group) {
    let session = Session::on(Selector::Sim).unwrap();
    let mut done = 0;
    for &operation in Operation::ALL.iter().filter(|it| it.group() == group) {
        for (i, precision) in PRECISIONS.into_iter().enumerate() {
            let is_power = is_power(operation);
            if is_power && precision > 2048 {
                continue;
            }
            let lanes = lanes(operation, precision);
            // Long ones in one pattern; short ones in another each.
            let pattern =
                [Pattern::Carry, Pattern::Runs, Pattern::Edge, Pattern::Ones][if precision > 300 { 0 } else { i % 4 }];
            for algorithm in ["thread", "group"] {
                let all = conformance::operation_cases(operation, precision, lanes, &[Pattern::Carry, pattern]);
                let few = if precision > 300 { 2 } else { all.len() };
                for case in all.into_iter().take(if is_power && precision > 300 { 1 } else { few }) {
                    let result = run(&session, operation, Some(algorithm), &draw(&case));
                    if matches!(result, Err(Error::AlgorithmUnfit { .. })) {
                        continue;
                    }
                    conformance::operation(&[case], |_, _| result.clone());
                    done += 1;
                }
            }
        }
    }
    assert!(done > 100, "{done} cases");
}

/// The operands of a case, as the suite draws them.
fn draw(case: &OperationCase) -> Vec<Operands> {
    operations::draw(case.operation, &case.bits, &case.lanes, case.pattern, case.seed)
}

#[test]
fn division() {
    conform(Group::Division);
}

#[test]
fn modular() {
    conform(Group::Modular);
}

#[test]
fn montgomery() {
    conform(Group::Montgomery);
}

/// The GPU by what its table chooses: all operations at lengths on both sides of where threads give way to groups.
#[test]
fn gpu_conforms() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    let groups = [Group::Division, Group::Modular, Group::Montgomery];
    for &operation in Operation::ALL.iter().filter(|it| groups.contains(&it.group())) {
        for precision in [1, 32, 131, 256, 512, 1024, 2048] {
            // The oracle's powers of long numbers take a while.
            let lanes = if is_power(operation) && precision > 512 { 8 } else { 129 };
            for case in conformance::operation_cases(operation, precision, lanes, &[Pattern::Carry]) {
                let result = run(&session, operation, None, &draw(&case));
                conformance::operation(&[case], |_, _| result.clone());
            }
        }
    }
}

/// The same where a warp, or several, have a number.
#[test]
fn gpu_conforms_on_long_numbers() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    let operations =
        [Operation::Gcd, Operation::Lcm, Operation::GcdExt, Operation::InvMod, Operation::Jacobi, Operation::Sqrt];
    for operation in operations {
        for precision in [4096, 6000, 8192, 16384, 20000, 32768, 65536] {
            // The oracle's inverses of long numbers take a while.
            let lanes = match precision {
                0..=8192 => 17,
                _ if operation == Operation::Gcd => 5,
                8193..=32768 => 3,
                _ => continue,
            };
            let patterns = [Pattern::Carry, Pattern::Random, Pattern::Ones];
            for case in conformance::operation_cases(operation, precision, lanes, &patterns) {
                let result = run(&session, operation, None, &draw(&case));
                conformance::operation(&[case], |_, _| result.clone());
            }
        }
    }
}
