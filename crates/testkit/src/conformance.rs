//! The conformance suite: one body for every engine.

use std::fmt;

use warpmp::Operation;

use crate::operands::{LANES, Operands, Pattern};
use crate::operations;
use crate::oracle::{self, Value};

/// One batch of products: enough to draw it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// Bits of each operand.
    pub bits: [usize; 2],
    /// Lanes of each operand: equal, or one of them 1.
    pub lanes: [usize; 2],
    /// The patterns of the operands.
    pub patterns: [Pattern; 2],
    /// The seed of the first operand; the second's is one more.
    pub seed: u64,
}

impl Case {
    /// Draws the operands.
    pub fn operands(&self) -> [Operands; 2] {
        [0, 1].map(|i| Operands::generate(self.patterns[i], self.lanes[i], self.bits[i], self.seed + i as u64))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bits: [p, q], lanes: [m, n], patterns: [s, t], seed } = self;
        write!(f, "{m} lanes of {p} bits {s:?} by {n} lanes of {q} bits {t:?}, seed {seed}")
    }
}

/// The cases of some sizes `(bits of a, bits of b)`: every pattern at every size, against changing
/// others; the lane counts in turn, up to `max_lanes`; every fifth case shares one operand.
pub fn cases(sizes: &[(usize, usize)], max_lanes: usize) -> Vec<Case> {
    let lane_counts: Vec<usize> = LANES.into_iter().filter(|lanes| *lanes <= max_lanes.max(1)).collect();
    let patterns = Pattern::ALL.len();
    let pairs = sizes.iter().enumerate().flat_map(|(i, size)| (0..patterns).map(move |j| (i, j, size)));
    pairs
        .enumerate()
        .map(|(number, (i, j, &(p, q)))| {
            let n = lane_counts[number % lane_counts.len()];
            let lanes = match number % 10 {
                4 => [n, 1],
                9 => [1, n],
                _ => [n, n],
            };
            let others = [Pattern::ALL[j], Pattern::ALL[(j + i) % patterns]];
            Case { bits: [p, q], lanes, patterns: others, seed: 1000 + 2 * number as u64 }
        })
        .collect()
}

/// Runs the cases through `multiply(a, b)`, which gives the products' limbs a lane, and
/// compares every lane with the oracle.
///
/// # Panics
/// At the first error or wrong lane; the message has the case and both values.
pub fn mul<E: fmt::Display>(cases: &[Case], mut multiply: impl FnMut(&Operands, &Operands) -> Result<Vec<u32>, E>) {
    for case in cases {
        let [a, b] = case.operands();
        let products = multiply(&a, &b).unwrap_or_else(|error| panic!("{case}: {error}"));
        check(case, &a, &b, &products);
    }
}

/// Runs the first operands of the cases through `square(a)`, which gives the squares' limbs a lane,
/// and compares every lane with the oracle.
///
/// # Panics
/// At the first error or wrong lane; the message has the case and both values.
pub fn sqr<E: fmt::Display>(cases: &[Case], mut square: impl FnMut(&Operands) -> Result<Vec<u32>, E>) {
    for case in cases {
        let [a, _] = case.operands();
        let squares = square(&a).unwrap_or_else(|error| panic!("{case}: {error}"));
        check(case, &a, &a, &squares);
    }
}

fn check(case: &Case, a: &Operands, b: &Operands, products: &[u32]) {
    let lanes = a.lanes.max(b.lanes);
    let width = oracle::product_bits(a.bits, b.bits).div_ceil(32);
    assert_eq!(products.len(), lanes * width, "{case}: length of the result");
    for (lane, got) in products.chunks_exact(width).enumerate() {
        let expected = oracle::mul(a.lane(lane), b.lane(lane), width);
        assert!(
            got == expected,
            "{case}: lane {lane}\n   a = {:x}\n   b = {:x}\n a·b = {:x}\n got = {:x}",
            oracle::number(a.lane(lane)),
            oracle::number(b.lane(lane)),
            oracle::number(&expected),
            oracle::number(got),
        );
    }
}

/// One batch of any operation: enough to draw it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationCase {
    /// The operation.
    pub operation: Operation,
    /// Bits of each operand.
    pub bits: Vec<usize>,
    /// Lanes of each operand: equal, or 1.
    pub lanes: Vec<usize>,
    /// The pattern of the operands.
    pub pattern: Pattern,
    /// The seed of the first operand; each other's is one more.
    pub seed: u64,
}

/// The cases of an operation at a precision: all operands of it, and with others of other lengths; every fourth shares an
/// operand.
pub fn operation_cases(
    operation: Operation,
    precision: usize,
    lanes: usize,
    patterns: &[Pattern],
) -> Vec<OperationCase> {
    let arity = operation.arity();
    let others = [precision, 64, 109.min(precision + 40)];
    let widths = [
        vec![precision; arity],
        (0..arity).map(|i| others[i % 3]).collect(),
        (0..arity).rev().map(|i| others[i % 3]).collect(),
    ];
    let mut cases = Vec::new();
    for (i, bits) in widths.iter().enumerate() {
        for (j, &pattern) in patterns.iter().enumerate() {
            let number = cases.len() + precision;
            let mut each = vec![lanes; arity];
            if number % 4 == 3 && arity > 1 {
                each[number / 4 % arity] = 1;
            }
            let seed = (1000 * precision + 10 * i + j) as u64;
            cases.push(OperationCase { operation, bits: bits.clone(), lanes: each, pattern, seed });
        }
    }
    cases
}

/// Runs the cases through `engine(operands)`, which gives the limbs and bits of each result, and compares every
/// lane with the oracle.
///
/// # Panics
/// At the first error or wrong lane; the message has the case and both values.
pub fn operation<E: fmt::Display>(
    cases: &[OperationCase],
    mut engine: impl FnMut(&OperationCase, &[Operands]) -> Result<Vec<(Vec<u32>, usize)>, E>,
) {
    for case in cases {
        let operands = operations::draw(case.operation, &case.bits, &case.lanes, case.pattern, case.seed);
        let found = engine(case, &operands).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        for lane in 0..case.lanes.iter().copied().max().unwrap_or(0) {
            let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
            let expected = oracle::apply(case.operation, &values);
            assert_eq!(expected.len(), found.len(), "{case:?}: results");
            for (i, (expected, (limbs, bits))) in expected.iter().zip(&found).enumerate() {
                assert_eq!(expected.bits, *bits, "{case:?}: bits of result {i}");
                let width = bits.div_ceil(32);
                let got = oracle::number(&limbs[lane * width..][..width]);
                assert!(
                    got == expected.number,
                    "{case:?}: lane {lane}, result {i}\n operands {}\n expected {:x}\n got      {got:x}",
                    values.iter().map(|value| format!("{:x}", value.number)).collect::<Vec<_>>().join(", "),
                    expected.number,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_oracle(a: &Operands, b: &Operands) -> Vec<u32> {
        let width = oracle::product_bits(a.bits, b.bits).div_ceil(32);
        (0..a.lanes.max(b.lanes)).flat_map(|lane| oracle::mul(a.lane(lane), b.lane(lane), width)).collect()
    }

    #[test]
    fn cases_cover_every_lane_count_and_both_shared_operands() {
        let cases = cases(&[(32, 32), (131, 131), (64, 1000)], 129);
        for lanes in LANES {
            assert!(cases.iter().any(|case| case.lanes == [lanes, lanes]), "{lanes}");
        }
        assert!(cases.iter().any(|case| case.lanes[0] > 1 && case.lanes[1] == 1));
        assert!(cases.iter().any(|case| case.lanes[0] == 1 && case.lanes[1] > 1));
        mul(&cases, |a, b| Ok::<_, String>(by_oracle(a, b)));
    }

    #[test]
    #[should_panic(expected = "lane 0")]
    fn a_wrong_limb_is_found() {
        mul(&cases(&[(64, 64)], 129), |a, b| {
            let mut limbs = by_oracle(a, b);
            limbs[1] ^= 1 << 7;
            Ok::<_, String>(limbs)
        });
    }
}
