//! A kernel on the simulator against the oracle.
#![allow(clippy::unwrap_used, dead_code, reason = "a test may panic, and need not use everything")]

use num_bigint::BigUint;
use warpmp::kernels::{MUL, MulShape, SQR, Settings, Spec, SqrShape};
use warpmp_kernel::sim::{Counters, Memory, Program};
use warpmp_testkit::{Operands, Pattern, oracle};

/// The patterns that provoke carries most.
pub(crate) const PATTERNS: [Pattern; 4] = [Pattern::Carry, Pattern::Ones, Pattern::OneHot, Pattern::Edge];

/// Rows that a device buffer holds for this many lanes: whole tiles.
const fn padded(lanes: usize) -> usize {
    lanes.next_multiple_of(32)
}

/// Multiplies on the simulator and compares every lane; the counts of the launch.
pub(crate) fn check(spec: &dyn Spec, shape: MulShape, bits: [usize; 2], lanes: usize, pattern: Pattern) -> Counters {
    let mut memory = Memory::new(1 << 30);
    let a = Operands::generate(pattern, lanes, bits[0], 7);
    let b = Operands::generate(pattern, if shape.common_b { 1 } else { lanes }, bits[1], 8);
    let place = |memory: &mut Memory, limbs: &[u32], rows: usize, width: u32| {
        let mut words = limbs.to_vec();
        words.resize(rows * width as usize, 0);
        let address = memory.alloc(4 * words.len() as u64).unwrap();
        memory.write(address, &words).unwrap();
        address
    };
    let [la, lb, lc] = shape.limbs;
    let a_address = place(&mut memory, &a.limbs, padded(lanes), la);
    let b_address = place(&mut memory, &b.limbs, if shape.common_b { 1 } else { padded(lanes) }, lb);
    let c_address = memory.alloc(4 * padded(lanes) as u64 * u64::from(lc)).unwrap();
    let scratch = memory.alloc(4 * padded(lanes) as u64 * u64::from(spec.scratch_limbs().max(1))).unwrap();
    let args = [a_address, b_address, c_address, lanes as u64, scratch];
    let args = if spec.scratch_limbs() > 0 { &args[..] } else { &args[..4] };
    let mut counters = Counters::default();
    for stage in 0..spec.stages() {
        let kernel = spec.build(stage);
        let text = kernel.to_string();
        assert_eq!(kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
        let program = Program::parse(&text).unwrap();
        counters += program
            .launch(spec.grid(stage, lanes as u32), args, &mut memory)
            .unwrap_or_else(|fault| panic!("{}: {fault}", spec.name()));
    }
    let mut c = vec![0; lanes * lc as usize];
    memory.read(c_address, &mut c).unwrap();
    for (lane, product) in c.chunks(lc as usize).enumerate() {
        let row = |operands: &Operands, width: u32, lane: usize| {
            operands.limbs[lane * width as usize..][..width as usize].to_vec()
        };
        let (x, y) = (row(&a, la, lane), row(&b, lb, if shape.common_b { 0 } else { lane }));
        assert_eq!(product, oracle::mul(&x, &y, lc as usize), "{} lane {lane} {pattern:?}", spec.name());
    }
    counters
}

/// The shape for operands of these bits.
pub(crate) fn shape(bits: [usize; 2], common_b: bool) -> MulShape {
    let limbs = [bits[0].div_ceil(32), bits[1].div_ceil(32), (bits[0] + bits[1]).div_ceil(32)];
    MulShape { limbs: limbs.map(|n| n as u32), common_b }
}

/// Checks an algorithm by name with separate and common `b`, with and without asynchronous copies.
pub(crate) fn check_all(algorithm: &str, bits: [usize; 2], settings: &Settings, lanes: usize, patterns: &[Pattern]) {
    let algorithm = MUL.iter().find(|it| it.name == algorithm).unwrap();
    for common_b in [false, true] {
        let shape = shape(bits, common_b);
        assert!((algorithm.fits)(shape));
        for async_copies in [true, false] {
            let spec = (algorithm.spec)(shape, settings, async_copies);
            for &pattern in patterns {
                check(&*spec, shape, bits, lanes, pattern);
            }
        }
    }
}

/// Squares on the simulator and compares every lane; the counts of the launch.
pub(crate) fn check_square(spec: &dyn Spec, shape: SqrShape, bits: usize, lanes: usize, pattern: Pattern) -> Counters {
    let a = Operands::generate(pattern, lanes, bits, 9);
    check_squares(spec, shape, &a.limbs)
}

/// Squares these rows of limbs on the simulator and compares every lane; the counts of the launch.
pub(crate) fn check_squares(spec: &dyn Spec, shape: SqrShape, rows: &[u32]) -> Counters {
    let [la, lc] = shape.limbs.map(|limbs| limbs as usize);
    let lanes = rows.len() / la;
    let mut memory = Memory::new(1 << 30);
    let mut words = rows.to_vec();
    words.resize(padded(lanes) * la, 0);
    let a = memory.alloc(4 * words.len() as u64).unwrap();
    memory.write(a, &words).unwrap();
    let c = memory.alloc(4 * (padded(lanes) * lc) as u64).unwrap();
    let scratch = memory.alloc(4 * padded(lanes) as u64 * u64::from(spec.scratch_limbs().max(1))).unwrap();
    let args = [a, c, lanes as u64, scratch];
    let args = if spec.scratch_limbs() > 0 { &args[..] } else { &args[..3] };
    let mut counters = Counters::default();
    for stage in 0..spec.stages() {
        let kernel = spec.build(stage);
        let text = kernel.to_string();
        assert_eq!(kernel, warpmp_kernel::parse::parse(&text).unwrap(), "the text is the kernel");
        counters += Program::parse(&text)
            .unwrap()
            .launch(spec.grid(stage, lanes as u32), args, &mut memory)
            .unwrap_or_else(|fault| panic!("{}: {fault}", spec.name()));
    }
    let mut squares = vec![0; lanes * lc];
    memory.read(c, &mut squares).unwrap();
    for (lane, (x, square)) in rows.chunks(la).zip(squares.chunks(lc)).enumerate() {
        let x = BigUint::from_slice(x);
        assert_eq!(BigUint::from_slice(square), &x * &x, "{} lane {lane}: {x:x}", spec.name());
    }
    counters
}

/// The shape for an operand of these bits.
pub(crate) fn square_shape(bits: usize) -> SqrShape {
    SqrShape { limbs: [bits.div_ceil(32) as u32, (2 * bits).div_ceil(32) as u32] }
}

/// A squaring by its name, for operands of these bits.
pub(crate) fn squaring(name: &str, bits: usize, settings: &Settings) -> Box<dyn Spec> {
    let algorithm = SQR.iter().find(|it| it.name == name).unwrap();
    assert!((algorithm.fits)(square_shape(bits)));
    (algorithm.spec)(square_shape(bits), settings, true)
}

/// Checks a squaring by name, with and without asynchronous copies.
pub(crate) fn check_all_squares(name: &str, bits: usize, settings: &Settings, lanes: usize, patterns: &[Pattern]) {
    let algorithm = SQR.iter().find(|it| it.name == name).unwrap();
    let shape = square_shape(bits);
    assert!((algorithm.fits)(shape));
    for async_copies in [true, false] {
        let spec = (algorithm.spec)(shape, settings, async_copies);
        for &pattern in patterns {
            check_square(&*spec, shape, bits, lanes, pattern);
        }
    }
}
