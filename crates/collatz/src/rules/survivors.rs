//! Counts of survivors, level by level, by all cores.

use rayon::prelude::*;

use super::{Origin, Path, RuleSet};

/// Depth at which the tree is cut into tasks.
const CUT: usize = 16;

/// The survivors `min(steps, 16)` steps from the origin: roots of independent subtrees, in increasing order of the
/// reversed residue.
pub fn prefixes(steps: usize, origin: Origin, rules: RuleSet) -> Vec<Path> {
    let mut paths = Vec::new();
    Path::ROOT.walk(steps.min(CUT), origin, rules, &mut |path| paths.push(*path));
    paths
}

/// How many residues mod `2^steps` survive; `steps` up to 40.
pub fn count_survivors(steps: usize, rules: RuleSet) -> u64 {
    prefixes(steps, Origin::START, rules)
        .par_iter()
        .map(|path| {
            let mut count = 0;
            path.walk(steps, Origin::START, rules, &mut |_| count += 1);
            count
        })
        .sum()
}
