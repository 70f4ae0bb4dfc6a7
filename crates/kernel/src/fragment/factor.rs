//! The second factor of a product by rows: its limbs one by one, from registers or from memory.
//!
//! In registers a factor takes as many as the multiplicand, and in a group a shuffle a limb. In memory it takes those of
//! two accesses, and lanes of a group that read one address do so at once. Limbs are read one access ahead of their use.

use super::Spread;
use crate::build::{Builder, Emit, R32, R64};
use crate::ir::{Space, Vector};

/// The limbs of a factor.
#[derive(Clone, Copy, Debug)]
pub enum Factor<'a> {
    /// As numbers lie in the lanes.
    Registers(&'a [R32]),
    /// The whole number's limbs in global memory, from this address on. They were written by this lane or group, before
    /// a barrier of the warp if there are several lanes, or by an earlier kernel.
    Memory(R64, Vector),
}

impl<'a> From<&'a [R32]> for Factor<'a> {
    fn from(limbs: &'a [R32]) -> Self {
        Self::Registers(limbs)
    }
}

impl<'a> From<&'a Vec<R32>> for Factor<'a> {
    fn from(limbs: &'a Vec<R32>) -> Self {
        Self::Registers(limbs)
    }
}

/// Some limbs of a factor, in their order.
pub(super) struct Reader<'a> {
    factor: Factor<'a>,
    spread: &'a Spread,
    /// In whose registers they are; none: there is one lane.
    member: Option<R32>,
    /// Limbs that are wanted.
    count: usize,
    /// The words of the next access.
    ahead: Vec<R32>,
    words: Vec<R32>,
    next: usize,
}

impl<'a> Reader<'a> {
    /// The first `count` limbs: of what a lane has, or from the address on.
    pub(super) fn new(
        b: &mut Builder,
        factor: Factor<'a>,
        spread: &'a Spread,
        member: Option<R32>,
        count: usize,
    ) -> Self {
        let mut reader = Self { factor, spread, member, count, ahead: Vec::new(), words: Vec::new(), next: 0 };
        reader.ahead = reader.access(b, 0);
        reader
    }

    /// The next limb, if there is one.
    pub(super) fn limb(&mut self, b: &mut Builder) -> Option<R32> {
        let i = self.next;
        if i >= self.count {
            return None;
        }
        self.next += 1;
        match self.factor {
            Factor::Registers(limbs) => {
                Some(self.member.map_or(limbs[i], |member| self.spread.broadcast(b, limbs[i], member)))
            }
            Factor::Memory(_, vector) => {
                let place = i % vector.len();
                if place == 0 {
                    self.words = std::mem::take(&mut self.ahead);
                    self.ahead = self.access(b, i + vector.len());
                }
                Some(self.words[place])
            }
        }
    }

    /// The words of the access at limb `i`; none behind the last limb.
    fn access(&self, b: &mut Builder, i: usize) -> Vec<R32> {
        match self.factor {
            Factor::Memory(address, vector) if i < self.count => {
                b.load_global(Space::Global, vector, address, 4 * i as u32)
            }
            _ => Vec::new(),
        }
    }
}
