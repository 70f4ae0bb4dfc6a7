//! Results computed again by num-bigint, which shares no code with the engines.

use rayon::prelude::*;
use warpmp::Batch;
pub(crate) use warpmp_oracle::check::{Lane, WrongResult, borrowed, compare, head, lane_of, spread};

use super::apply::{prepare::Preparation, sign};
use crate::{
    error::Result,
    numbers::{Operands, Single, row},
};

/// Checks about as many results as were asked for, spread over the whole input.
#[derive(Debug)]
pub(crate) struct Checker {
    wanted: u64,
    total_bytes: Option<u64>,
    checked: u64,
}

impl Checker {
    /// `wanted` results of an input of `total_bytes`; of each chunk if that is not known.
    pub(crate) const fn new(wanted: u64, total_bytes: Option<u64>) -> Self {
        Self { wanted, total_bytes, checked: 0 }
    }

    /// Results checked so far.
    pub(crate) const fn checked(&self) -> u64 {
        self.checked
    }

    /// Checks this chunk's share. `singles` are the operands that serve all lanes; `consumed_bytes` is how much of
    /// the input was read up to the end of the chunk.
    ///
    /// # Errors
    /// [`WrongResult`] names the first lane that is wrong.
    pub(crate) fn check(
        &mut self,
        preparation: Preparation,
        operands: &Operands,
        singles: &[Option<Single>],
        results: &[Vec<Batch<'static>>],
        first_lane: u64,
        consumed_bytes: u64,
    ) -> Result<()> {
        let lanes = self.lanes(consumed_bytes, operands.lanes);
        let places = operands.places.as_deref();
        let wrong = lanes.into_par_iter().find_map_first(|lane| {
            if operands.missing.get(lane) == Some(&true) {
                return None;
            }
            let each = operands.columns.iter().zip(&operands.signs).zip(singles);
            let inputs: Vec<(&[u32], usize, Option<bool>)> = each
                .filter_map(|((batches, signs), single)| match (batches, single) {
                    (Some(batches), _) => {
                        let (limbs, bits) = row(batches, places, lane);
                        Some((limbs, bits, sign(signs, places, lane)))
                    }
                    (None, Some(single)) => Some((single.batch.limbs(), single.batch.bits(), single.is_negative)),
                    (None, None) => None,
                })
                .collect();
            let operation = preparation.operation(inputs.iter().any(|(_, _, sign)| sign.is_some()));
            let prepared = preparation.lane(&inputs);
            let inputs = borrowed(&prepared);
            let outputs: Vec<Lane<'_>> = results.iter().map(|batches| row(batches, places, lane)).collect();
            compare(operation, first_lane + lane as u64, &inputs, &outputs).err()
        });
        wrong.map_or(Ok(()), |wrong| Err(wrong.into()))
    }

    /// The lanes of a chunk that are to be checked; they count as checked.
    pub(crate) fn lanes(&mut self, consumed_bytes: u64, lanes: usize) -> Vec<usize> {
        let share = self.share(consumed_bytes, lanes as u64);
        self.checked += share;
        spread(share, lanes)
    }

    fn share(&self, consumed_bytes: u64, lanes: u64) -> u64 {
        let due = match self.total_bytes {
            None => self.checked.saturating_add(self.wanted),
            Some(total) if consumed_bytes >= total => self.wanted,
            Some(total) => (u128::from(self.wanted) * u128::from(consumed_bytes)).div_ceil(u128::from(total)) as u64,
        };
        due.saturating_sub(self.checked).min(lanes)
    }
}

#[cfg(test)]
mod tests {
    use warpmp::{Operation, Shape};

    use super::*;

    #[test]
    fn a_wrong_lane_of_a_chunk_is_named() {
        let batch = |limbs: &[u32]| Batch::from_limbs(Shape::new(limbs.len(), 32), limbs.to_vec()).unwrap();
        let operands = |b| {
            let columns = vec![Some(vec![batch(&[2, 3, 4])]), b];
            Operands { columns, signs: vec![Vec::new(); 2], missing: Vec::new(), places: None, lanes: 3 }
        };
        let right = [vec![batch(&[10, 15, 20])]];
        let wrong = [vec![batch(&[10, 15, 21])]];
        let five = [None, Some(Single { batch: batch(&[5]), is_negative: None })];
        let mut checker = Checker::new(100, None);
        let mul = Preparation { operation: Operation::Mul, bits: None, is_reduced: false };
        assert!(checker.check(mul, &operands(None), &five, &right, 7, 0).is_ok());
        let fives = operands(Some(vec![batch(&[5, 5, 5])]));
        assert!(checker.check(mul, &fives, &[None, None], &right, 7, 0).is_ok());
        assert_eq!(checker.checked(), 6);
        let error = checker.check(mul, &operands(None), &five, &wrong, 7, 0).unwrap_err().to_string();
        assert!(error.contains("lane 9") && error.contains("engine 0x15, expected 0x14"), "{error}");
        assert!(Checker::new(0, None).check(mul, &operands(None), &five, &wrong, 7, 0).is_ok());
    }

    #[test]
    fn shares_add_up() {
        let mut checker = Checker::new(10, Some(1000));
        let mut shares = Vec::new();
        for consumed in [1, 500, 999, 1000] {
            let share = checker.share(consumed, 100);
            checker.checked += share;
            shares.push(share);
        }
        assert_eq!(shares, [1, 4, 5, 0]);
        assert_eq!(Checker::new(10, None).share(5, 3), 3);
        checker = Checker::new(u64::MAX, None);
        checker.checked = 7;
        assert_eq!(checker.share(5, 3), 3);
    }
}
