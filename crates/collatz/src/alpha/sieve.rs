//! Residues that survive descent and same-level merge.
//!
//! A merge at level `j < k` is one at level `k`, too: both residues get the same upper bits. So a residue is removed if, at level `k`, a
//! smaller one has its `c` and `T^k`. Only residues that survive descent are asked for; all others are possible partners.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use rayon::prelude::*;

use super::Plan;
use crate::{
    error::Result,
    tables::{Base, Mandatory},
};

/// The residues of a plan, ascending. Eight bytes each; while it is made, 40 bytes for each residue that survives descent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sieve {
    plan: Plan,
    residues: Vec<u64>,
}

impl Sieve {
    /// Makes the sieve: `2^k` short walks, on all cores (a second at 27 bits, some minutes at 34).
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    pub fn new(plan: &Plan) -> Result<Self> {
        let bits = plan.sieve_bits;
        let table = Mandatory::new(bits)?;
        let (blocks, _) = table.blocks();
        let walk = Walk::new(bits)?;
        // The place of each (c, T^k) among the survivors of descent, and the smallest residue that has it.
        let mut places: HashMap<(u32, u64), usize> = HashMap::with_capacity(table.count() as usize);
        for residue in (0..blocks).flat_map(|block| table.block(block)) {
            let next = places.len();
            places.entry(walk.of(residue)).or_insert(next);
        }
        let smallest: Vec<AtomicU64> = (0..places.len()).map(|_| AtomicU64::new(u64::MAX)).collect();
        (0..1u64 << bits).into_par_iter().for_each(|residue| {
            let key = walk.of(residue);
            if let Some(place) = places.get(&key) {
                smallest[*place].fetch_min(residue, Ordering::Relaxed);
            }
        });
        let survives = |residue: &u64| {
            let place = places.get(&walk.of(*residue));
            place.is_some_and(|place| smallest[*place].load(Ordering::Relaxed) == *residue)
        };
        let residues = (0..blocks).flat_map(|block| table.block(block)).filter(survives).collect();
        Ok(Self { plan: *plan, residues })
    }

    /// The parameters.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The residues, ascending.
    pub fn residues(&self) -> &[u64] {
        &self.residues
    }
}

/// `k` steps by jumps.
struct Walk {
    jumps: Vec<Base>,
}

impl Walk {
    /// Jumps of up to 12 steps that add up to `bits`.
    fn new(bits: u32) -> Result<Self> {
        let mut left = bits;
        let mut jumps = Vec::new();
        while left > 0 {
            let step = left.min(12);
            jumps.push(Base::new(step)?);
            left -= step;
        }
        Ok(Self { jumps })
    }

    /// `c` and `T^k` of a residue.
    fn of(&self, residue: u64) -> (u32, u64) {
        let mut value = residue;
        let mut odd_steps = 0;
        for jump in &self.jumps {
            let bits = jump.base_bits();
            let low = (value & ((1 << bits) - 1)) as usize;
            value = (value >> bits) * u64::from(jump.factors()[low]) + u64::from(jump.addends()[low]);
            odd_steps += u32::from(jump.steps()[low]) - bits;
        }
        (odd_steps, value)
    }
}
