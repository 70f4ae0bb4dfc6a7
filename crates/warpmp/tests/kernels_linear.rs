//! Linear kernels on the simulator: lane counts around warps and blocks, and what a launch costs, exactly.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::kernels::{OperationShape, Settings, register};
use warpmp::{Operation, Shape};
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::{Counters, Memory, Program};
use warpmp_testkit::operands::LANES;
use warpmp_testkit::operations::{self, Value};
use warpmp_testkit::{Operands, Pattern};

/// Runs an algorithm on drawn operands, checks every lane, and counts all stages.
fn check(operation: Operation, algorithm: &str, bits: &[usize], lanes: &[usize], pattern: Pattern) -> Counters {
    let most = lanes.iter().copied().max().unwrap();
    let shapes: Vec<Shape> = bits.iter().zip(lanes).map(|(bits, lanes)| Shape::new(*lanes, *bits)).collect();
    let shape = OperationShape::new(operation, &shapes).unwrap();
    let algorithm = register(operation).iter().find(|it| it.name == algorithm).unwrap();
    assert!((algorithm.fits)(shape));
    let (name, constant) = (operation.name(), operation.constant().unwrap_or(0));
    let operands = operations::draw(name, bits, lanes, pattern, 7);
    let mut counters = Counters::default();
    for asynchronous in [false, true] {
        let spec = (algorithm.spec)(shape, &Settings::default(), asynchronous);
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
            let expected = operations::apply(name, constant, &values);
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

#[test]
fn any_number_of_lanes() {
    for lanes in LANES {
        for (operation, bits) in
            [(Operation::Add, 131), (Operation::AddMod, 1024), (Operation::CarryingAdd, 256), (Operation::Xor, 31)]
        {
            check(operation, "thread", &vec![bits; operation.arity()], &vec![lanes; operation.arity()], Pattern::Carry);
        }
        for (operation, bits) in [(Operation::Sub, 1024), (Operation::SubMod, 256), (Operation::Cmp, 2100)] {
            check(operation, "group", &vec![bits; operation.arity()], &vec![lanes; operation.arity()], Pattern::Carry);
        }
    }
    check(Operation::AddMod, "group", &[2048, 2048, 2048], &[33, 33, 1], Pattern::Ones);
    // Several tiles a warp, of which the last ones may not be there.
    for lanes in LANES {
        check(Operation::Add, "thread", &[32, 32], &[lanes, lanes], Pattern::Carry);
        check(Operation::Cmp, "thread", &[30, 17], &[lanes, lanes], Pattern::Carry);
        check(Operation::Select, "thread", &[1, 64, 60], &[lanes, lanes, 1], Pattern::Carry);
    }
    check(Operation::AddMod, "thread", &[96, 2, 96], &[1, 33, 33], Pattern::Carry);
}

#[test]
fn the_widest_rows() {
    for (operation, bits) in [(Operation::Add, 65536), (Operation::AddMod, 65536), (Operation::Sub, 65535)] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(operation, "group", &vec![bits; operation.arity()], &vec![2; operation.arity()], pattern);
        }
    }
    check(Operation::Shr(40_000), "group", &[65536], &[2], Pattern::Carry);
    check(Operation::Shl(65_000), "group", &[65536], &[2], Pattern::Carry);
    for (operation, bits) in [(Operation::Select, 2560), (Operation::SignedSub, 2559), (Operation::AddMod, 1536)] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check(operation, "thread", &vec![bits; operation.arity()], &vec![33; operation.arity()], pattern);
        }
    }
}

/// What a row a thread costs: every sector of operands and results once, no bank conflict, and few instructions.
#[test]
fn thread_costs() {
    for bits in [31, 63, 131, 256, 512, 521, 768, 1000, 1024, 1280, 1536, 2048, 2500] {
        // Whole warps of the shortest rows, of which one takes several tiles.
        let lanes = 256;
        let counters = check(Operation::Add, "thread", &[bits, bits], &[lanes, lanes], Pattern::Carry);
        let limbs = |bits: usize| bits.div_ceil(32) as u64;
        let sectors = |limbs: u64| limbs * 4 * lanes as u64 / 32;
        assert_eq!(counters.load_sectors(), 2 * sectors(limbs(bits)), "{bits} bits");
        assert_eq!(counters.store_sectors(), sectors(limbs(bits + 1)), "{bits} bits");
        assert_eq!(counters.bank_conflicts(), 0, "{bits} bits");
        let warps = lanes as u64 / 32;
        let allowed = warps * (9 * limbs(bits) + 48);
        assert!(
            counters.instructions().warps <= allowed,
            "{bits} bits: {} of {allowed}",
            counters.instructions().warps
        );
        assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, 0);
    }
}

/// Carries are resolved in constant time, and nothing of a modular sum depends on its operands.
#[test]
fn counts_do_not_depend_on_data() {
    for (algorithm, bits) in [("thread", 256), ("group", 2048)] {
        for operation in [Operation::AddMod, Operation::SubMod, Operation::Cmp] {
            let arity = operation.arity();
            let count =
                |pattern| check(operation, algorithm, &vec![bits; arity], &vec![33; arity], pattern).instructions();
            assert_eq!(count(Pattern::Ones), count(Pattern::Random), "{operation}");
        }
    }
}

/// What nothing reads of a truncated product is left to the assembler; the text has all of it.
#[test]
fn parts_of_products_multiply_once() {
    let counters = check(Operation::MulLo, "thread", &[256, 256], &[32, 32], Pattern::Carry);
    assert_eq!(counters.op(Op::MulWide(Int::U32)).warps, 64);
    check(Operation::MulHi, "group", &[2048, 640], &[33, 33], Pattern::Ones);
    check(Operation::SignedMul, "group", &[640, 2048], &[33, 1], Pattern::Ones);
    check(Operation::SignedMul, "group", &[640, 2048], &[1, 33], Pattern::Carry);
    check(Operation::MulAdd, "group", &[1025, 1025, 4000], &[33, 33, 1], Pattern::Ones);
}
