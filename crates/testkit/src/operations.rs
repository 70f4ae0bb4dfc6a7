//! Operands for every operation, which reach its edges.

use num_bigint::BigUint;
use warpmp::Operation;
use warpmp::operation::Role;

use crate::operands::{Operands, Pattern};

/// The precisions at which every operation is tested.
pub const PRECISIONS: [usize; 24] =
    [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 512, 521, 1000, 1024, 2048, 3000, 4096];

/// Is the operand a divisor, a modulus or a candidate; and if so, should it be odd?
pub(crate) fn is_divisor(role: Role) -> Option<bool> {
    match role {
        Role::Divisor | Role::Modulus => Some(false),
        Role::OddModulus | Role::Candidate => Some(true),
        Role::Integer | Role::Bit | Role::Exponent | Role::Reduced | Role::ReducedProduct => None,
    }
}

/// Operands for the operation: by the pattern, then most lanes made without a fault, and moduli and residues moved to their
/// edges in turn (0, 1, `m − 1`; 1, 3, `2^k ± 1`, all ones).
pub fn draw(operation: Operation, bits: &[usize], lanes: &[usize], pattern: Pattern, seed: u64) -> Vec<Operands> {
    let columns = bits.iter().zip(lanes).enumerate();
    let mut operands: Vec<Operands> =
        columns.map(|(i, (bits, lanes))| Operands::generate(pattern, *lanes, *bits, seed + i as u64)).collect();
    let Some((m, others)) = operands.split_last_mut() else { return operands };
    let Some(odd) = operation.operands().last().and_then(|last| is_divisor(last.role)) else { return operands };
    for lane in 0..m.lanes {
        edge_modulus(m, lane, odd);
    }
    if operation == Operation::DivExact {
        for lane in (0..others[0].lanes).filter(|lane| lane % 7 != 6) {
            let (a, b) = (BigUint::from_slice(others[0].lane(lane)), BigUint::from_slice(m.lane(lane % m.lanes)));
            if b != BigUint::ZERO {
                put(&mut others[0], lane, &(&a - &a % &b));
            }
        }
    }
    let radix_limbs = m.bits.div_ceil(32);
    for (operand, role) in others.iter_mut().zip(operation.operands()) {
        let shift = match role.role {
            Role::Reduced => 0,
            Role::ReducedProduct => 32 * radix_limbs,
            Role::Integer
            | Role::Bit
            | Role::Divisor
            | Role::Modulus
            | Role::OddModulus
            | Role::Exponent
            | Role::Candidate => continue,
        };
        for lane in 0..operand.lanes {
            reduce(operand, lane, &(BigUint::from_slice(m.lane(lane)) << shift));
        }
    }
    operands
}

/// A number into a lane, cut to its bits.
fn put(operands: &mut Operands, lane: usize, number: &BigUint) {
    let width = operands.bits.div_ceil(32);
    let mask = (BigUint::from(1_u32) << operands.bits) - 1_u32;
    let mut limbs = (number & mask).to_u32_digits();
    limbs.resize(width, 0);
    operands.limbs[lane * width..][..width].copy_from_slice(&limbs);
}

fn edge_modulus(m: &mut Operands, lane: usize, odd: bool) {
    let one = BigUint::from(1_u32);
    let power = &one << (lane % m.bits);
    let edge = match lane % 16 {
        1 => one,
        2 => BigUint::from(3_u32),
        3 => power + 1_u32,
        4 => power - 1_u32,
        5 => (one << m.bits) - 1_u32,
        // Left as it was drawn: zero or even, perhaps.
        6 => return,
        7 if !odd => power,
        _ => BigUint::from_slice(m.lane(lane)),
    };
    put(m, lane, &if odd { edge | BigUint::from(1_u32) } else { edge });
}

fn reduce(operand: &mut Operands, lane: usize, limit: &BigUint) {
    if *limit == BigUint::ZERO || lane % 13 == 12 {
        return;
    }
    let number = match lane % 8 {
        1 => BigUint::ZERO,
        2 => BigUint::from(1_u32) % limit,
        3 | 4 => limit - 1_u32,
        _ => BigUint::from_slice(operand.lane(lane)) % limit,
    };
    put(operand, lane, &number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Value, apply};

    #[test]
    fn drawn_operands_reach_edges_and_faults() {
        let operands = draw(Operation::AddMod, &[64, 64, 64], &[128; 3], Pattern::Random, 1);
        let status = |lane: usize| {
            let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
            apply(Operation::AddMod, &values)[1].number.clone()
        };
        let fine = (0..128).filter(|&lane| status(lane) == BigUint::ZERO).count();
        assert!((90..128).contains(&fine), "{fine}");
        let m = |lane: usize| BigUint::from_slice(operands[2].lane(lane));
        assert_eq!(BigUint::from_slice(operands[0].lane(3)), m(3) - 1_u32);
    }
}
