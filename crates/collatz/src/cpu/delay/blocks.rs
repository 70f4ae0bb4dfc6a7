//! Blocks of `2^16` consecutive numbers.
//!
//! `n = 2^16·q + B` has `T^16(n) = 3^c·q + d`. So numbers of a block with the same `c` and `d` share their trajectory from there on, and
//! have equal delays. The 65536 residues have 19275 different pairs: a block costs 0.29 of the cost of its single numbers.
//!
//! From a start of at least `2^18` no value within the 16 steps is 1: each step at most halves.

use std::{collections::HashMap, ops::Range};

use crate::cpu::vectors::MOST_DELAYS as MOST;
use crate::{error::Result, number::Affine, power::pow3};

const BITS: u32 = 16;
/// Numbers of a block.
pub(super) const BLOCK: usize = 1 << BITS;

/// The classes of residues with equal `c` and `d`.
#[derive(Debug)]
pub(super) struct Blocks {
    /// For every residue its class.
    classes: Vec<u16>,
    /// `c` and `d`.
    members: Vec<(u8, u32)>,
}

impl Blocks {
    pub(super) fn new() -> Result<Self> {
        let mut numbers = HashMap::new();
        let (mut classes, mut members) = (Vec::with_capacity(BLOCK), Vec::new());
        for residue in 0..BLOCK as u128 {
            let Affine { odd_steps, value, .. } = Affine::of(residue, BITS)?;
            // d < 3^16 < 2^26, and fewer classes than places of a call.
            let member = (odd_steps as u8, value as u32);
            classes.push(*numbers.entry(member).or_insert_with(|| {
                members.push(member);
                members.len() as u16 - 1
            }));
        }
        debug_assert!(members.len() <= MOST);
        Ok(Self { classes, members })
    }

    /// Do blocks serve all of the range? From `2^18` on, and while `T^16(n)` is below `(3/2)^16·2^117 < 2^127`.
    pub(super) fn serve(range: Range<u128>) -> bool {
        range.start >> (BITS + 2) != 0 && range.end >> 117 == 0
    }

    /// Classes.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// `T^16` of the numbers of a class in block `q`.
    #[inline]
    pub(super) fn value(&self, q: u128, class: usize) -> u128 {
        let (odd_steps, value) = self.members[class];
        q * pow3(odd_steps.into()) + u128::from(value)
    }

    /// No value of block `q` is above this.
    pub(super) fn highest(q: u128) -> u128 {
        (q + 1) * pow3(BITS as usize)
    }

    /// The delays of all numbers of a block, from the delays of [`Self::value`], which it overwrites.
    pub(super) fn spread(&self, of_classes: &mut [u32], delays: &mut [u32]) {
        for (delay, (odd_steps, _)) in of_classes.iter_mut().zip(&self.members) {
            *delay += BITS + u32::from(*odd_steps);
        }
        for (delay, class) in delays.iter_mut().zip(&self.classes) {
            *delay = of_classes[usize::from(*class)];
        }
    }
}
