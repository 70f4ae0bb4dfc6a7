//! What the tables hold, and how large they are: nothing is measured.

use warpmp_collatz::{
    power::min_odd,
    tables::{Base, Mandatory},
};

use super::Measure;
use crate::error::Result;

/// Bits of the tables that are printed in full.
const PRINTED_BITS: u32 = 4;

/// The figure of a column; none where there is none, as behind a list's end.
pub(super) fn value(measure: Measure, column: u32) -> Result<Option<f64>> {
    let place = column as usize;
    Ok(match measure {
        Measure::Factor => Base::new(PRINTED_BITS)?.factors().get(place).copied().map(f64::from),
        Measure::Addend => Base::new(PRINTED_BITS)?.addends().get(place).copied().map(f64::from),
        Measure::Mandatory => Mandatory::new(PRINTED_BITS)?.block(0).nth(place).map(|residue| residue as f64),
        Measure::Words => Some(Base::new(column)?.factors().len() as f64),
        Measure::Operations => {
            let base = Base::new(column)?;
            let steps = base.steps();
            Some(steps.iter().map(|&steps| f64::from(steps)).sum::<f64>() / steps.len() as f64)
        }
        Measure::MandatoryWords => Some(mandatory(column) as f64),
        Measure::MandatoryRatio => Some(mandatory(column) as f64 / 2_f64.powi(column as i32)),
        Measure::Convergence { .. } | Measure::Delay { .. } => None,
    })
}

/// The mandatory residues mod 2ᵏ: residues and sequences of k parities correspond one to one, so that it suffices to count the sequences
/// that keep 3^c ≥ 2^i at every i ≤ k, by their odd steps c.
pub(super) fn mandatory(bits: u32) -> u64 {
    let mut by_odd_steps = vec![1_u64];
    for step in 1..=bits as usize {
        let mut next = vec![0; step + 1];
        for (odd_steps, count) in by_odd_steps.iter().enumerate() {
            next[odd_steps] += count;
            next[odd_steps + 1] += count;
        }
        next[..min_odd(step)].fill(0);
        by_odd_steps = next;
    }
    by_odd_steps.iter().sum()
}
