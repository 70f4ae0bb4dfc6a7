//! A kernel of modular arithmetic on the simulator, and operands for it.
#![allow(clippy::unwrap_used, dead_code, reason = "a test may panic, and need not use everything")]

use num_bigint::BigUint;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Operand;
use warpmp_kernel::sim::{Counters, Memory, Program};
use warpmp_testkit::{Operands, Pattern, oracle};

/// What a launch gave: results lane by lane, statuses, counts.
pub(crate) struct Outcome {
    pub(crate) results: Vec<Vec<BigUint>>,
    pub(crate) statuses: Vec<u32>,
    pub(crate) counters: Counters,
}

/// Runs a kernel on numbers: for each operand one a lane, or one. A status is among the results.
pub(crate) fn run(spec: &dyn Spec, operands: &[(Operand, &[BigUint])], results: &[u32], lanes: usize) -> Outcome {
    run_with(spec, operands, results, true, lanes)
}

/// The same with or without statuses.
pub(crate) fn run_with(
    spec: &dyn Spec,
    operands: &[(Operand, &[BigUint])],
    results: &[u32],
    status: bool,
    lanes: usize,
) -> Outcome {
    let status = if status { &[1][..] } else { &[] };
    let padded = lanes.next_multiple_of(32);
    let mut memory = Memory::new(1 << 30);
    let mut args = Vec::new();
    for (operand, numbers) in operands {
        let width = operand.limbs as usize;
        let mut words: Vec<u32> = numbers.iter().flat_map(|number| oracle::limbs(number, width)).collect();
        words.resize(if operand.common { 1 } else { padded } * width, 0);
        let address = memory.alloc(4 * words.len() as u64).unwrap();
        memory.write(address, &words).unwrap();
        args.push(address);
    }
    let outputs: Vec<u64> = results
        .iter()
        .chain(status)
        .map(|&limbs| memory.alloc(4 * padded as u64 * u64::from(limbs)).unwrap())
        .collect();
    args.extend(&outputs);
    args.push(lanes as u64);
    if spec.scratch_limbs() > 0 {
        args.push(memory.alloc(4 * padded as u64 * u64::from(spec.scratch_limbs())).unwrap());
    }
    let mut counters = Counters::default();
    for stage in 0..spec.stages() {
        let text = spec.build(stage).to_string();
        let program = Program::parse(&text).unwrap();
        counters += program
            .launch(spec.grid(stage, lanes as u32), &args, &mut memory)
            .unwrap_or_else(|fault| panic!("{}: {fault}", spec.name()));
    }
    let read = |address: u64, limbs: u32| {
        let mut words = vec![0; lanes * limbs as usize];
        memory.read(address, &mut words).unwrap();
        words
    };
    let numbers = |(&address, &limbs): (&u64, &u32)| -> Vec<BigUint> {
        read(address, limbs).chunks(limbs as usize).map(oracle::number).collect()
    };
    let statuses = outputs.get(results.len()).map_or(Vec::new(), |&address| read(address, 1));
    Outcome { results: outputs.iter().zip(results).map(numbers).collect(), statuses, counters }
}

/// Numbers of at most so many bits, carry-prone.
pub(crate) fn numbers(pattern: Pattern, lanes: usize, bits: usize, seed: u64) -> Vec<BigUint> {
    let operands = Operands::generate(pattern, lanes, bits, seed);
    (0..lanes).map(|lane| oracle::number(operands.lane(lane))).collect()
}

/// Odd moduli of at most `bits` bits: the edges first, then carry-prone ones.
pub(crate) fn odd_moduli(lanes: usize, bits: usize, seed: u64) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let top = &one << (bits - 1);
    let mut moduli: Vec<BigUint> = vec![
        (&one << bits) - 1_u32,
        one.clone(),
        BigUint::from(3_u32),
        &top + 1_u32,
        &top - 1_u32,
        (&one << (bits / 2)) + 1_u32,
        (&one << (bits / 2)) - 1_u32,
        (&one << bits) - BigUint::from(if bits > 1 { 3_u32 } else { 1 }),
    ];
    for pattern in [Pattern::Carry, Pattern::Runs, Pattern::Random] {
        moduli.extend(numbers(pattern, lanes.div_ceil(3), bits, seed));
    }
    for m in &mut moduli {
        m.set_bit(0, true);
        if m.bits() > bits as u64 {
            m.clone_from(&one);
        }
    }
    moduli.truncate(lanes);
    moduli
}

/// Numbers below the moduli: 0, 1, m − 1, and carry-prone ones.
pub(crate) fn below(moduli: &[BigUint], bits: usize, seed: u64) -> Vec<BigUint> {
    let carry = numbers(Pattern::Carry, moduli.len(), bits, seed);
    let runs = numbers(Pattern::Runs, moduli.len(), bits, seed);
    moduli
        .iter()
        .enumerate()
        .map(|(lane, m)| match (lane as u64).wrapping_mul(2 * seed + 1) % 7 {
            0 | 1 => m - 1_u32,
            2 => BigUint::from(0_u32),
            3 => BigUint::from(1_u32) % m,
            4 | 5 => &carry[lane] % m,
            _ => &runs[lane] % m,
        })
        .collect()
}

/// `⌈bits / 32⌉`.
pub(crate) fn limbs(bits: usize) -> u32 {
    bits.div_ceil(32) as u32
}
