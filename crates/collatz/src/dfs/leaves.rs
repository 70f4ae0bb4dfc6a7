//! Leaves: the survivors of the low `L` bits.

use rayon::prelude::*;

use crate::rules::{Origin, RuleSet, prefixes};

/// A residue mod `2^L` that survives rules 1, 3 and 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// `B`, below `2^L`.
    pub residue: u64,
    /// `v = T^L(B)`, below `3^c`.
    pub state: u64,
}

/// All leaves with the same number of odd steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// `c`.
    pub odd_steps: u32,
    /// Its leaves, in the order of the walk; engines may sort them.
    pub leaves: Vec<Leaf>,
}

/// The leaves at depth `leaf_bits` ≤ 37, grouped by odd steps, classes without leaves left out.
///
/// Sixteen bytes a leaf: 7.2 million leaves at 30 bits, 90 million at 34.
pub fn leaves(leaf_bits: u32) -> Vec<Class> {
    let steps = leaf_bits as usize;
    let parts: Vec<Vec<Vec<Leaf>>> = prefixes(steps, Origin::START, RuleSet::ALL)
        .par_iter()
        .map(|prefix| {
            let mut classes = vec![Vec::new(); steps + 1];
            prefix.walk(steps, Origin::START, RuleSet::ALL, &mut |path| {
                classes[usize::from(path.odd_steps)].push(Leaf { residue: path.residue, state: path.state });
            });
            classes
        })
        .collect();
    (0..=steps)
        .map(|odd_steps| Class {
            odd_steps: odd_steps as u32,
            leaves: parts.iter().flat_map(|classes| classes[odd_steps].iter().copied()).collect(),
        })
        .filter(|class| !class.leaves.is_empty())
        .collect()
}
