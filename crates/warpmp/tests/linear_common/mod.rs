//! Kernels of operations in linear time and of parts of products on the simulator against the oracle.
#![allow(clippy::unwrap_used, dead_code, reason = "a test may panic, and need not use everything")]

use warpmp::kernels::{OperationShape, Settings, register};
use warpmp::{Operation, Shape};
use warpmp_kernel::sim::{Counters, Memory, Program};
use warpmp_testkit::oracle::{self, Value};
use warpmp_testkit::{Operands, Pattern, operations};

/// As [`check_with`], with the usual settings.
pub(crate) fn check(
    operation: Operation,
    algorithm: &str,
    bits: &[usize],
    lanes: &[usize],
    pattern: Pattern,
) -> Counters {
    check_with(operation, algorithm, &Settings::default(), bits, lanes, pattern)
}

/// Runs an algorithm on drawn operands, checks every lane, and counts all stages.
pub(crate) fn check_with(
    operation: Operation,
    algorithm: &str,
    settings: &Settings,
    bits: &[usize],
    lanes: &[usize],
    pattern: Pattern,
) -> Counters {
    let most = lanes.iter().copied().max().unwrap();
    let shapes: Vec<Shape> = bits.iter().zip(lanes).map(|(bits, lanes)| Shape::new(*lanes, *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = register(operation).iter().find(|it| it.name == algorithm).unwrap();
    assert!((algorithm.fits)(shape));
    let operands = operations::draw(operation, bits, lanes, pattern, 7);
    let mut counters = Counters::default();
    for asynchronous in [false, true] {
        let spec = (algorithm.spec)(shape, settings, asynchronous);
        let mut memory = Memory::new(1 << 28);
        let padded = most.next_multiple_of(32);
        let rows = |it: &Operands| if it.lanes < most { 1 } else { padded };
        let mut args: Vec<u64> = operands.iter().map(|it| place(&mut memory, it, rows(it))).collect();
        let results: Vec<u64> = shape
            .results()
            .iter()
            .map(|bits| memory.alloc(4 * (padded * bits.div_ceil(32) as usize) as u64).unwrap())
            .collect();
        args.extend(&results);
        args.push(most as u64);
        if spec.scratch_limbs() > 0 {
            args.push(memory.alloc(4 * (padded * spec.scratch_limbs() as usize) as u64).unwrap());
        }
        counters = Counters::default();
        for stage in 0..spec.stages() {
            let kernel = spec.build(stage);
            let text = kernel.to_string();
            assert_eq!(kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
            let grid = spec.grid(stage, most as u32);
            counters += Program::parse(&text)
                .unwrap()
                .launch(grid, &args, &mut memory)
                .unwrap_or_else(|fault| panic!("{}: {fault}", spec.name()));
        }
        for lane in 0..most {
            let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
            let expected = oracle::apply(operation, &values);
            for ((expected, address), bits) in expected.iter().zip(&results).zip(shape.results()) {
                let width = bits.div_ceil(32) as usize;
                let mut found = vec![0; width];
                memory.read(address + 4 * (lane * width) as u64, &mut found).unwrap();
                assert_eq!(Value::new(&found, *bits as usize), *expected, "{}, lane {lane}", spec.name());
            }
        }
    }
    counters
}

/// Operands in memory, so many rows, those beyond the last lane zero.
fn place(memory: &mut Memory, operands: &Operands, rows: usize) -> u64 {
    let mut words = operands.limbs.clone();
    words.resize(rows * operands.bits.div_ceil(32), 0);
    let address = memory.alloc(4 * words.len() as u64).unwrap();
    memory.write(address, &words).unwrap();
    address
}
