//! Every operation of the CPU engine on one core, beside num-bigint and GMP:
//! `cargo run --release -p warpmp --features gmp --example cpu_operations -- [--algorithm NAME] [OPERATION…] [BITS…]`.
//!
//! Prints two engines: the default, and the fastest algorithm without AVX-512 IFMA. For each it prints nanoseconds a number,
//! and how often the engine goes into the time of GMP and of num-bigint. All take turns, and the fastest of some rounds
//! counts. Without the feature `gmp` there is num-bigint alone. Operands stay in a core's own cache. Some lanes are
//! compared with the oracle first.

mod cases;
#[cfg(feature = "gmp")]
mod gmp;

use std::hint::black_box;

use cases::{Case, Engine, OPERATIONS, SIZES, bigint, fastest};
use num_bigint::BigUint;
use warpmp::{Operation, Session};

const ROUNDS: usize = 15;

/// A way to do all lanes of a case.
type Way<'w> = Box<dyn FnMut() + Send + 'w>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Within the pool: handing work to a thread and back would take longer than much of the work.
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(measure);
    Ok(())
}

fn measure() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = arguments.iter().position(|it| it == "--algorithm");
    let algorithm = option.map(|i| arguments.drain(i..(i + 2).min(arguments.len())).next_back().unwrap_or_default());
    let mut sizes: Vec<usize> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    let mut operations: Vec<Operation> = arguments.iter().filter_map(|it| Operation::named(it)).collect();
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    if operations.is_empty() {
        operations = OPERATIONS.to_vec();
    }
    let session = Session::cpu();
    println!(
        "{:>14} {:>6} {:>6} {:>12} {:>7} {:>10}  {:<14} {:>12} {:>7}  algorithm without IFMA",
        "operation", "bits", "lanes", "ns", "to GMP", "num-bigint", "algorithm", "ns", "to GMP"
    );
    for operation in operations {
        for &bits in &sizes {
            if let Some(case) = Case::new(operation, bits) {
                compare(&session, &case, algorithm.as_deref());
            }
        }
    }
}

/// Measures a case, and prints its line.
fn compare(session: &Session, case: &Case, algorithm: Option<&str>) {
    let Ok(default) = Engine::new(session, case, algorithm) else { return };
    let others = session.algorithms(case.operation).into_iter().filter(|it| *it != "cpu-ifma");
    let mut engines = vec![default];
    engines.extend(others.filter_map(|name| Engine::new(session, case, Some(name)).ok()));
    let names: Vec<String> = engines.iter().map(|it| it.name.clone()).collect();
    let mut ways: Vec<Way<'_>> =
        engines.into_iter().map(|mut engine| Box::new(move || engine.run()) as Way<'_>).collect();
    let numbers = case.numbers(BigUint::from_slice);
    ways.push(Box::new(move || {
        if let Some(way) = bigint(case.operation) {
            for x in &numbers {
                drop(black_box(way(x)));
            }
        }
    }));
    #[cfg(feature = "gmp")]
    ways.extend(gmp::way(case));
    let mut turns: Vec<&mut (dyn FnMut() + Send)> = ways.iter_mut().map(|way| &mut **way as _).collect();
    let times = fastest(case.lanes(), ROUNDS, &mut turns);
    let (ours, theirs) = times.split_at(names.len());
    let gmp = theirs.get(1).copied().unwrap_or(f64::NAN);
    let without = (1..ours.len()).min_by(|a, b| ours[*a].total_cmp(&ours[*b])).unwrap_or(0);
    println!(
        "{:>14} {:>6} {:>6} {:>12.1} {:>7.2} {:>10.2}  {:<14} {:>12.1} {:>7.2}  {}",
        case.operation.name(),
        case.bits,
        case.lanes(),
        ours[0],
        gmp / ours[0],
        bigint(case.operation).map_or(f64::NAN, |_| theirs[0] / ours[0]),
        names[0],
        ours[without],
        gmp / ours[without],
        names[without]
    );
}
