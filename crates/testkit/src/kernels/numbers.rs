//! Kernels on numbers, and numbers that provoke carries.

use super::launch;
use crate::{Operands, Pattern, oracle};
use num_bigint::BigUint;
use warpmp::kernels::{OperandShape, Spec};
use warpmp_kernel::sim::Counters;

/// What a launch gave: results lane by lane, statuses, counts.
pub struct Outcome {
    /// The numbers of each result, lane by lane.
    pub results: Vec<Vec<BigUint>>,
    /// The status of each lane.
    pub statuses: Vec<u32>,
    /// What was executed.
    pub counters: Counters,
}

/// Runs a kernel on numbers: for each operand one a lane, or one. A status is among the results.
pub fn run(spec: &dyn Spec, operands: &[(OperandShape, &[BigUint])], results: &[u32], lanes: usize) -> Outcome {
    let with_status: Vec<u32> = results.iter().copied().chain([1]).collect();
    let mut outcome = run_plain(spec, operands, &with_status, lanes);
    let statuses = outcome.results.pop().unwrap();
    outcome.statuses = statuses.iter().map(|status| status.to_u32_digits().first().copied().unwrap_or(0)).collect();
    outcome
}

/// The same for a kernel without statuses.
pub fn run_plain(spec: &dyn Spec, operands: &[(OperandShape, &[BigUint])], results: &[u32], lanes: usize) -> Outcome {
    let rows = |(shape, numbers): &(OperandShape, &[BigUint])| {
        let width = shape.limbs() as usize;
        (*shape, numbers.iter().flat_map(|number| oracle::limbs(number, width)).collect())
    };
    let operands: Vec<(OperandShape, Vec<u32>)> = operands.iter().map(rows).collect();
    let launched = launch(spec, &operands, results, lanes);
    let numbers = |(words, &limbs): (&Vec<u32>, &u32)| words.chunks(limbs as usize).map(oracle::number).collect();
    let results = launched.results.iter().zip(results).map(numbers).collect();
    Outcome { results, statuses: Vec::new(), counters: launched.counters }
}

/// Is a signed number of `n + 1` limbs `product` modulo `Bⁿ + 1`, in magnitude below `2²⁹·Bⁿ`?
pub fn is_product_modulo(product: &BigUint, found: &BigUint, n: usize) -> bool {
    let power = BigUint::from(1_u32) << (32 * n);
    let modulus = &power + 1_u32;
    // A signed limb t above n limbs is t·Bⁿ = −t modulo Bⁿ + 1.
    let top = (found >> (32 * n)).to_u32_digits().first().copied().unwrap_or_default() as i32;
    let value = found % power + &modulus * 2_u32;
    let value = if top < 0 { value + top.unsigned_abs() } else { value - top as u32 };
    value % &modulus == product % &modulus && top.unsigned_abs() < 1 << 29
}

/// Numbers of at most so many bits, carry-prone.
pub fn numbers(pattern: Pattern, lanes: usize, bits: usize, seed: u64) -> Vec<BigUint> {
    let operands = Operands::generate(pattern, lanes, bits, seed);
    (0..lanes).map(|lane| oracle::number(operands.lane(lane))).collect()
}

/// Odd moduli of at most `bits` bits: the edges first, then carry-prone ones.
pub fn odd_moduli(lanes: usize, bits: usize, seed: u64) -> Vec<BigUint> {
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
pub fn below(moduli: &[BigUint], bits: usize, seed: u64) -> Vec<BigUint> {
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
pub fn limbs(bits: usize) -> u32 {
    bits.div_ceil(32) as u32
}
