//! Every operation at every width: nothing is refused, and what comes out is right to 65536 bits, on every engine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::operation::{Group, Role};
use warpmp::{Batch, Error, Operation, Options, Plan, Selector, Session, Shape};
use warpmp_testkit::conformance::{self, OperationCase};
use warpmp_testkit::operations::PRECISIONS;
use warpmp_testkit::{Operands, Pattern, gpu};

/// Widths beyond those at which kernels run in the tests, on both sides of where layouts change.
const WIDE: [usize; 14] =
    [5000, 8192, 16384, 20448, 20449, 20480, 32704, 32736, 32767, 32768, 40000, 49152, 65535, 65536];

/// The widths of `arity` operands: all equal, and one of them much narrower or much wider than the others.
fn widths(arity: usize, bits: usize) -> Vec<Vec<usize>> {
    let mut widths = vec![vec![bits; arity]];
    for odd in 0..arity {
        for other in [1, 131, 40000, 65536] {
            let mut mixed = vec![bits; arity];
            mixed[odd] = other;
            widths.push(mixed);
        }
    }
    widths
}

#[test]
fn nothing_is_refused() {
    let session = Session::on(Selector::Sim).unwrap();
    let device = session.device().unwrap().info();
    let table = session.table().unwrap();
    let mut plans = 0;
    let mut refused = Vec::new();
    let all: Vec<usize> = PRECISIONS.into_iter().chain(WIDE).collect();
    for &operation in Operation::ALL {
        for &bits in &all {
            for widths in widths(operation.arity(), bits) {
                // None, each, or all but one of the operands is one for all lanes.
                let shared = (0..=operation.arity()).chain(10..10 + operation.arity());
                for one in shared {
                    let is_one = |i: usize| if one < 10 { i == one } else { i != one - 10 };
                    let shapes = widths.iter().enumerate();
                    let shapes: Vec<Shape> =
                        shapes.map(|(i, &bits)| Shape::new(if is_one(i) { 1 } else { 70 }, bits)).collect();
                    let plan = match Plan::new(operation, &shapes, device, table, None) {
                        Ok(plan) => plan,
                        Err(error) => {
                            refused.push(format!("{error}, {one} of the operands shared"));
                            continue;
                        }
                    };
                    for stage in 0..plan.stages() {
                        let grid = plan.grid(stage, 70);
                        assert!(
                            grid.shared_bytes <= device.shared_bytes_per_block
                                && grid.threads <= device.threads_per_block,
                            "{operation} of {shapes:?}: {grid:?}"
                        );
                    }
                    assert!(plan.max_launch_lanes() >= 32, "{operation} of {shapes:?}");
                    plans += 1;
                }
            }
        }
    }
    assert!(
        refused.is_empty(),
        "{} of {plans} plans refused, such as {:#?}",
        refused.len(),
        &refused[..refused.len().min(20)]
    );
    assert!(plans > 10_000, "{plans}");
}

/// Runs a case.
fn run(session: &Session, case: &OperationCase, operands: &[Operands]) -> Result<Vec<(Vec<u32>, usize)>, Error> {
    let batches: Vec<Batch> =
        operands.iter().map(|it| Batch::borrow(Shape::new(it.lanes, it.bits), &it.limbs)).collect::<Result<_, _>>()?;
    let (results, _) = session.apply(case.operation, &batches.iter().collect::<Vec<_>>(), Options::new())?;
    Ok(results.into_iter().map(|batch| (batch.limbs().to_vec(), batch.bits())).collect())
}

fn conforms(session: &Session, cases: &[OperationCase]) {
    conformance::operation(cases, |case, operands| run(session, case, operands));
}

fn case(operation: Operation, bits: &[usize], lanes: &[usize], pattern: Pattern) -> OperationCase {
    OperationCase {
        // Exponents and distances that serve any width.
        operation: operation.with_constant(5),
        bits: bits.to_vec(),
        lanes: lanes.to_vec(),
        pattern,
        seed: bits.iter().sum::<usize>() as u64,
    }
}

/// Operations of some groups on operands of these bits; exponents are short, since the oracle takes seconds a hundred
/// bits.
fn alike(groups: &[Group], bits: usize, lanes: usize, pattern: Pattern) -> Vec<OperationCase> {
    // Strong tests have exponents as long as the numbers: a minute on a core.
    let takes_long = |it: &Operation| it.operands().iter().any(|operand| operand.role == Role::Candidate);
    let operations = Operation::ALL.iter().filter(|it| groups.contains(&it.group()) && !takes_long(it));
    let of = |&operation: &Operation| {
        let mut widths = vec![bits; operation.arity()];
        if operation.name().starts_with("pow_mod") && widths.len() == 3 {
            widths[1] = 9;
        }
        case(operation, &widths, &vec![lanes; widths.len()], pattern)
    };
    operations.map(of).collect()
}

/// Operands of very different lengths, around a modulus or divisor of `wide` bits.
fn mixed(wide: usize, lanes: usize) -> Vec<OperationCase> {
    use Operation as O;
    let widths: [(Operation, &[usize]); 21] = [
        (O::MulMod, &[131, 65536, wide]),
        (O::MulMod, &[65536, 131, 131]),
        (O::SqrMod, &[131, wide]),
        (O::SqrMod, &[65536, wide]),
        (O::PowMod, &[65536, 7, wide]),
        (O::PowMod, &[131, 65536, 131]),
        (O::PowModSec, &[131, 5, wide]),
        (O::DivRem, &[65536, wide]),
        (O::DivRem, &[131, wide]),
        (O::DivRem, &[65536, 131]),
        (O::Rem, &[65536, 2100]),
        (O::Gcd, &[131, wide]),
        (O::GcdExt, &[131, wide]),
        (O::GcdExt, &[wide, 131]),
        (O::InvMod, &[131, wide]),
        (O::InvMod, &[65536, 131]),
        (O::Redc, &[65536, wide]),
        (O::Redc, &[131, wide]),
        (O::Redc, &[131_072, 65_536]),
        (O::MontMul, &[131, wide, wide]),
        (O::MulAdd, &[wide, 131, 65536]),
    ];
    widths
        .into_iter()
        .map(|(operation, bits)| case(operation, bits, &vec![lanes; bits.len()], Pattern::Carry))
        .collect()
}

/// Each operand in turn is one for all lanes, then all others are.
fn shared(bits: usize, lanes: usize) -> Vec<OperationCase> {
    let mut cases = Vec::new();
    for &operation in Operation::ALL.iter().filter(|it| it.arity() > 1) {
        for alone in 0..operation.arity() {
            for one in [true, false] {
                let counts: Vec<usize> =
                    (0..operation.arity()).map(|i| if (i == alone) == one { 1 } else { lanes }).collect();
                cases.push(case(operation, &vec![bits; counts.len()], &counts, Pattern::Carry));
            }
        }
    }
    cases
}

const MODULAR: [Group; 3] = [Group::Division, Group::Modular, Group::Montgomery];
const LINEAR: [Group; 4] = [Group::Product, Group::ProductPart, Group::Linear, Group::LinearModular];

#[test]
fn shared_operands() {
    let session = Session::on(Selector::Sim).unwrap();
    conforms(&session, &shared(131, 5));
    conforms(&session, &shared(800, 3));
    conforms(&Session::cpu(), &shared(131, 5));
    conforms(&Session::cpu(), &shared(800, 3));
}

#[test]
fn simulator_conforms_beyond_a_warp() {
    let session = Session::on(Selector::Sim).unwrap();
    conforms(&session, &alike(&MODULAR, 32800, 1, Pattern::Carry));
    conforms(&session, &alike(&LINEAR, 65536, 2, Pattern::Carry));
}

#[test]
#[ignore = "minutes: the simulator at the full width"]
fn simulator_conforms_to_65536_bits() {
    let session = Session::on(Selector::Sim).unwrap();
    for bits in [40000, 65535, 65536] {
        conforms(&session, &alike(&MODULAR, bits, 1, Pattern::Carry));
        conforms(&session, &alike(&MODULAR, bits, 1, Pattern::Ones));
    }
    conforms(&session, &mixed(40000, 1));
}

#[test]
fn cpu_conforms_to_65536_bits() {
    let session = Session::cpu();
    conforms(&session, &alike(&LINEAR, 65536, 3, Pattern::Carry));
    conforms(&session, &alike(&MODULAR, 65536, 1, Pattern::Carry));
    conforms(&session, &mixed(40000, 1));
}

#[test]
fn gpu_conforms_to_65536_bits() {
    let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
    conforms(&session, &shared(800, 33));
    for bits in [33000, 65536] {
        // Six lanes: drawn ones, and the moduli 1, 3, 2^k + 1, 2^k − 1 and all ones.
        conforms(&session, &alike(&MODULAR, bits, 6, Pattern::Carry));
    }
    conforms(&session, &alike(&LINEAR, 65536, 33, Pattern::Carry));
    conforms(&session, &mixed(40000, 2));
}

/// The cases of an operation at a precision: alike, and with operands of other lengths.
fn at(operation: Operation, precision: usize, lanes: usize) -> Vec<OperationCase> {
    conformance::operation_cases(operation, precision, lanes, &[Pattern::Carry])
}

#[test]
fn products_at_every_precision() {
    let session = Session::on(Selector::Sim).unwrap();
    for precision in PRECISIONS {
        conforms(&session, &at(Operation::Mul, precision, if precision > 300 { 3 } else { 33 }));
        conforms(&session, &at(Operation::Sqr, precision, if precision > 300 { 3 } else { 33 }));
    }
}

/// Every operation at every precision, the operations in parallel: nearly all of the time is the driver's compiler's.
#[test]
#[ignore = "minutes: thousands of kernels are compiled"]
fn gpu_conforms_at_every_precision() {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let Some(session) = gpu::or_skip(Session::on(Selector::Cuda(None))) else { return };
        while let Some(&operation) = Operation::ALL.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let is_power = operation.name().starts_with("pow_mod");
            for precision in PRECISIONS {
                // The oracle's powers of long numbers take a while.
                conforms(&session, &at(operation, precision, if is_power && precision > 512 { 3 } else { 33 }));
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
