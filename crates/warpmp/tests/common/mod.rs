//! The harness of the kernels' tests: a kernel runs on the simulator, and every lane is compared with the oracle.
//!
//! ```text
//! mod.rs         runs a kernel on rows of limbs
//! products.rs    products and squares
//! operations.rs  any operation, by the name of its algorithm
//! numbers.rs     kernels on numbers, and the numbers that provoke carries
//! ```
#![allow(clippy::unwrap_used, dead_code, reason = "a test may panic, and need not use everything")]

pub(crate) mod numbers;
pub(crate) mod operations;
pub(crate) mod products;

use warpmp::Operation;
use warpmp::kernels::{Algorithm, OperandShape, Spec, register};
use warpmp_kernel::sim::{Counters, Memory, Program};
use warpmp_testkit::Pattern;

/// The patterns that provoke carries most.
pub(crate) const PATTERNS: [Pattern; 4] = [Pattern::Carry, Pattern::Ones, Pattern::OneHot, Pattern::Edge];

/// The algorithm of this name.
pub(crate) fn algorithm(operation: Operation, name: &str) -> &'static Algorithm {
    register(operation).iter().find(|it| it.name == name).unwrap()
}

/// What a launch of all stages gave.
pub(crate) struct Launched {
    /// The limbs of each result, lane by lane.
    pub(crate) results: Vec<Vec<u32>>,
    pub(crate) counters: Counters,
}

/// Runs all stages of a kernel on the simulator. `operands`: each with its limbs, row by row, one row if it is common.
/// `results`: limbs a lane, the status included.
pub(crate) fn launch(
    spec: &dyn Spec,
    operands: &[(OperandShape, Vec<u32>)],
    results: &[u32],
    lanes: usize,
) -> Launched {
    // Buffers hold whole tiles.
    let padded = lanes.next_multiple_of(32);
    let mut memory = Memory::new(1 << 30);
    let mut args = Vec::new();
    for (shape, limbs) in operands {
        let rows = if shape.common { 1 } else { padded };
        let mut words = limbs.clone();
        words.resize(rows * shape.limbs() as usize, 0);
        let address = memory.alloc(4 * words.len() as u64).unwrap();
        memory.write(address, &words).unwrap();
        args.push(address);
    }
    let mut reserve = |limbs: u32| memory.alloc(4 * padded as u64 * u64::from(limbs)).unwrap();
    let addresses: Vec<u64> = results.iter().map(|&limbs| reserve(limbs)).collect();
    args.extend(&addresses);
    args.push(lanes as u64);
    args.extend((spec.scratch_limbs() > 0).then(|| reserve(spec.scratch_limbs())));
    let mut counters = Counters::default();
    for stage in 0..spec.stages().len() {
        let kernel = spec.build(stage);
        let text = kernel.to_string();
        assert_eq!(kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
        counters += Program::parse(&text)
            .unwrap()
            .launch(spec.grid(stage, lanes as u32), &args, &mut memory)
            .unwrap_or_else(|fault| panic!("{}: {fault}", spec.name()));
    }
    let read = |(&address, &limbs): (&u64, &u32)| {
        let mut words = vec![0; lanes * limbs as usize];
        memory.read(address, &mut words).unwrap();
        words
    };
    Launched { results: addresses.iter().zip(results).map(read).collect(), counters }
}
