//! One residue on its way down the tree of survivors.

use crate::power::{min_odd, pow3};

/// Rules that a walk applies besides descent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet {
    /// Rule 3.
    pub even_run: bool,
    /// Rule 4.
    pub odd_even_even: bool,
}

impl RuleSet {
    /// Rule 1 alone: the mandatory residues of the dissertation.
    pub const DESCENT: Self = Self { even_run: false, odd_even_even: false };
    /// Rules 1, 3 and 4.
    pub const ALL: Self = Self { even_run: true, odd_even_even: true };
}

/// The trajectory before the walk begins: `T^depth(n)`, after `odd_steps` odd steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Steps taken before.
    pub depth: usize,
    /// Odd steps among them.
    pub odd_steps: usize,
}

impl Origin {
    /// The start itself.
    pub const START: Self = Self { depth: 0, odd_steps: 0 };
}

/// The residue `B` mod `2^steps` of the origin's value, its state `T^steps(B)` and what the rules remember.
///
/// Up to 40 steps fit: the state is below `3^40 < 2^64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// `B`, below `2^steps`.
    pub residue: u64,
    /// `T^steps(B)`, below `3^odd_steps`.
    pub state: u64,
    /// Steps since the origin.
    pub steps: u8,
    /// Odd steps since the origin.
    pub odd_steps: u8,
    /// Even steps since the last odd one.
    even_run: u8,
    /// Could `(y − 1)/2` of some `y` of the present odd run be below the start?
    mergeable: bool,
}

impl Path {
    /// The empty residue.
    pub const ROOT: Self = Self { residue: 0, state: 0, steps: 0, odd_steps: 0, even_run: 0, mergeable: false };

    /// The residue with one more bit, after one more step; none if a rule removes it.
    #[inline]
    pub fn child(&self, bit: bool, origin: Origin, rules: RuleSet) -> Option<Self> {
        let state = if bit { self.state + pow3(self.odd_steps.into()) as u64 } else { self.state };
        let residue = self.residue | u64::from(bit) << self.steps;
        let depth = origin.depth + usize::from(self.steps);
        let odd_steps = origin.odd_steps + usize::from(self.odd_steps);
        let below = odd_steps < min_odd(depth + 1);
        if state & 1 == 1 {
            // `below` is 3^c < 2^(i+1): rule 4's condition, at each odd step of the run.
            let mergeable = (self.even_run == 0 && self.mergeable) || below;
            return (odd_steps + 1 >= min_odd(depth + 1)).then_some(Self {
                residue,
                state: state + (state >> 1) + 1,
                steps: self.steps + 1,
                odd_steps: self.odd_steps + 1,
                even_run: 0,
                mergeable,
            });
        }
        let even_run = self.even_run + 1;
        if below || rules.odd_even_even && even_run == 2 && self.mergeable {
            return None;
        }
        // An even run that began before the walk has a parity that nobody knows: the walk must have seen an odd step.
        let seen = self.odd_steps > 0;
        if rules.even_run && seen && even_run.is_multiple_of(2) && odd_steps - 1 < min_odd(depth) {
            return None;
        }
        Some(Self { residue, state: state >> 1, steps: self.steps + 1, even_run, ..*self })
    }

    /// Shows `visit` every survivor `steps` steps from the origin that descends from this path.
    pub fn walk(&self, steps: usize, origin: Origin, rules: RuleSet, visit: &mut impl FnMut(&Self)) {
        if usize::from(self.steps) == steps {
            return visit(self);
        }
        for bit in [false, true] {
            if let Some(child) = self.child(bit, origin, rules) {
                child.walk(steps, origin, rules, visit);
            }
        }
    }
}
