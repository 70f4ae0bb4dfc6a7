//! The comparison of an engine's results with this crate's.

use num_bigint::BigUint;
use warpmp::{Batch, Operation};

use crate::{Value, apply};

/// A result of an engine that the oracle does not agree with.
#[derive(Debug, thiserror::Error)]
#[error("lane {lane}: the engine's {operation} is wrong\n  {operands}\n  engine {found}, expected {expected}")]
pub struct WrongResult {
    /// The operation.
    pub operation: Operation,
    /// The lane of the batch.
    pub lane: u64,
    /// The operands of the lane, each with its name.
    pub operands: String,
    /// The result of the engine.
    pub found: String,
    /// The result of this crate.
    pub expected: String,
}

/// How much of a number a message shows.
const HEAD_DIGITS: usize = 60;

/// A lane of a batch: its limbs and its bits.
pub type Lane<'a> = (&'a [u32], usize);

/// A lane of a batch; the only one stands for all.
pub fn lane_of<'b>(batch: &'b Batch<'_>, lane: usize) -> Lane<'b> {
    let lane = if batch.lanes() == 1 { 0 } else { lane };
    (batch.lane(lane).unwrap_or_default(), batch.bits())
}

/// Lanes that are owned elsewhere.
pub fn borrowed(lanes: &[(Vec<u32>, usize)]) -> Vec<Lane<'_>> {
    lanes.iter().map(|(limbs, bits)| (&limbs[..], *bits)).collect()
}

/// Are these the results of the operation on these operands? A status is the last result.
///
/// # Errors
/// [`WrongResult`].
pub fn compare(
    operation: Operation,
    lane: u64,
    operands: &[Lane<'_>],
    results: &[Lane<'_>],
) -> Result<(), WrongResult> {
    let values: Vec<Value> = operands.iter().map(|(limbs, bits)| Value::new(limbs, *bits)).collect();
    for (expected, (found, _)) in apply(operation, &values).iter().zip(results) {
        if BigUint::from_slice(found) != expected.number {
            let names = operation.operands().iter().map(|operand| operand.name);
            let named = operands.iter().zip(names).map(|((limbs, _), name)| format!("{name} = {}", head(limbs)));
            return Err(WrongResult {
                operation,
                lane,
                operands: named.collect::<Vec<_>>().join("\n  "),
                found: head(found),
                expected: head(&expected.limbs()),
            });
        }
    }
    Ok(())
}

/// `count` lanes of `lanes`, from the first to the last.
pub fn spread(count: u64, lanes: usize) -> Vec<usize> {
    let last = (lanes as u128).saturating_sub(1);
    (0..count).map(|k| (u128::from(k) * last / u128::from(count.max(2) - 1)) as usize).collect()
}

/// The first digits of a number, for a message.
pub fn head(limbs: &[u32]) -> String {
    let number = BigUint::new(limbs.to_vec());
    let text = format!("{number:#x}");
    if text.len() <= HEAD_DIGITS { text } else { format!("{}… ({} bits)", &text[..HEAD_DIGITS], number.bits()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_product_is_found() {
        assert!(compare(Operation::Mul, 0, &[(&[3], 32), (&[5], 32)], &[(&[15, 0], 64)]).is_ok());
        let operands: [Lane<'_>; 2] = [(&[u32::MAX], 32), (&[5], 32)];
        let error = compare(Operation::Mul, 7, &operands, &[(&[15, 0], 64)]).unwrap_err().to_string();
        assert!(error.contains("lane 7") && error.contains("0xffffffff") && error.contains("0x4fffffffb"), "{error}");
    }

    #[test]
    fn lanes_are_spread_from_first_to_last() {
        assert_eq!(spread(3, 101), [0, 50, 100]);
        assert_eq!(spread(4, 4), [0, 1, 2, 3]);
        assert_eq!(spread(1, 9), [0]);
        assert_eq!(spread(0, 9), [0; 0]);
    }
}
