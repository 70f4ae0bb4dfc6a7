//! Every operation of the CPU engine on one core, beside num-bigint:
//! `cargo run --release -p warpmp --example cpu_operations -- [--algorithm NAME] [OPERATION…] [BITS…]`.
//!
//! Prints nanoseconds a number, the fastest of some rounds in which both take turns, and how often the engine goes into
//! the library's time. Operands stay in a core's own cache. Some lanes are compared with the oracle first.

mod cases;

use std::hint::black_box;

use cases::{Case, Engine, OPERATIONS, SIZES, bigint, fastest};
use num_bigint::BigUint;
use warpmp::{Operation, Session};

const ROUNDS: usize = 15;

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
        "{:>14} {:>6} {:>6} {:>12} {:>12} {:>7}  algorithm",
        "operation", "bits", "lanes", "ns", "num-bigint", "ratio"
    );
    for operation in operations {
        for &bits in &sizes {
            let Some(case) = Case::new(operation, bits) else { continue };
            let Ok(mut engine) = Engine::new(&session, &case, algorithm.as_deref()) else { continue };
            let numbers = case.numbers(BigUint::from_slice);
            let way = bigint(operation);
            let mut ours = || engine.run();
            let mut theirs = || {
                if let Some(way) = way {
                    for x in &numbers {
                        drop(black_box(way(x)));
                    }
                }
            };
            let times = fastest(case.lanes(), ROUNDS, &mut [&mut ours, &mut theirs]);
            let (ours, theirs) = (times[0], way.map_or(f64::NAN, |_| times[1]));
            let (lanes, name) = (case.lanes(), &engine.name);
            println!(
                "{:>14} {bits:>6} {lanes:>6} {ours:>12.1} {theirs:>12.1} {:>7.2}  {name}",
                operation.name(),
                theirs / ours
            );
        }
    }
}
