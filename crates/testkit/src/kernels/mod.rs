//! The harness of the kernels' tests: a kernel runs on the simulator, and every lane is compared with the oracle.
//!
//! ```text
//! mod.rs         runs a kernel on rows of limbs
//! products.rs    products and squares
//! operations.rs  any operation, by the name of its algorithm
//! numbers.rs     kernels on numbers, and the numbers that provoke carries
//! residues.rs    Montgomery's arithmetic modulo one number for all lanes
//! ```
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a panic is how a test reports")]

pub mod numbers;
pub mod operations;
pub mod products;
pub mod residues;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use warpmp::Operation;
use warpmp::kernels::{Abilities, Algorithm, OperandShape, OperationShape, Settings, Spec, register};
use warpmp_kernel::ir::Kernel;
use warpmp_kernel::sim::{Counters, Memory, Program};

use crate::Pattern;

/// The patterns that provoke carries most.
pub const PATTERNS: [Pattern; 4] = [Pattern::Carry, Pattern::Ones, Pattern::OneHot, Pattern::Edge];

/// An algorithm, or the name of an algorithm of `warpmp`.
pub trait Named {
    /// The algorithm for an operation.
    fn of(self, operation: Operation) -> &'static Algorithm;
}

impl Named for &'static Algorithm {
    fn of(self, _: Operation) -> &'static Algorithm {
        self
    }
}

impl Named for &str {
    fn of(self, operation: Operation) -> &'static Algorithm {
        algorithm(operation, self)
    }
}

/// The algorithm of `warpmp` of this name.
pub fn algorithm(operation: Operation, name: &str) -> &'static Algorithm {
    register(operation).iter().find(|it| it.name == name).unwrap()
}

/// What a launch of all stages gave.
pub struct Launched {
    /// The limbs of each result, lane by lane.
    pub results: Vec<Vec<u32>>,
    /// What was executed.
    pub counters: Counters,
}

/// Runs all stages of a kernel on the simulator. `operands`: each with its limbs, row by row, one row if it is common.
/// `results`: limbs a lane, the status included.
pub fn launch(spec: &dyn Spec, operands: &[(OperandShape, Vec<u32>)], results: &[u32], lanes: usize) -> Launched {
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
    for (stage, program) in programs(spec).iter().enumerate() {
        counters += program
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

/// How many specifications keep their programs.
const KEPT: usize = 8;

thread_local! {
    /// The programs of the last specifications, by their keys.
    static PROGRAMS: RefCell<VecDeque<(String, Rc<[Program]>)>> = RefCell::default();
}

/// The name of a specification and all its fields: specifications with equal ones have equal kernels and launches.
fn key(spec: &dyn Spec) -> String {
    format!("{} {spec:?}", spec.name())
}

/// The programs of all stages, read from their texts. Tests launch a kernel with one pattern after another: it is written and read once.
fn programs(spec: &dyn Spec) -> Rc<[Program]> {
    let key = key(spec);
    PROGRAMS.with_borrow_mut(|kept| {
        if let Some((_, programs)) = kept.iter().find(|it| it.0 == key) {
            return Rc::clone(programs);
        }
        let programs: Rc<[Program]> = spec.kernels().iter().map(read_back).collect();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key, Rc::clone(&programs)));
        programs
    })
}

/// The program of a kernel's text, which is the kernel again.
fn read_back(kernel: &Kernel) -> Program {
    let text = kernel.to_string();
    assert_eq!(*kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
    Program::parse(&text).unwrap()
}

/// The specifications with and without asynchronous copies, or only one if both have the same kernels and launches.
pub fn with_and_without_copies(
    algorithm: &Algorithm,
    shape: OperationShape,
    settings: &Settings,
) -> Vec<Box<dyn Spec>> {
    let mut specs: Vec<Box<dyn Spec>> =
        [false, true].map(|async_copies| algorithm.spec(shape, settings, Abilities { async_copies }).unwrap()).into();
    if key(&*specs[0]) == key(&*specs[1]) {
        specs.truncate(1);
    }
    specs
}
