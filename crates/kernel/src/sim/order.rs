//! The order of events between the lanes of a warp.
//!
//! Time is counted in ticks: a tick ends with every `bar.warp.sync`. An access is stamped with the
//! tick it happened in. A barrier of all live lanes orders everything before it (`floor`); a barrier
//! of some lanes orders the accesses that each of them knew of: then a matrix says up to which tick one lane's past
//! is known to another. Barriers of the block are the business of [`Shared`](super::shared::Shared).

use super::WARP;

/// The order among the lanes of one warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The current tick, from 1.
    tick: u32,
    /// All accesses up to this tick are ordered before all to come.
    floor: u32,
    /// `known[j][i]`: accesses of lane `i` up to this tick are ordered before lane `j`'s next. Absent
    /// until a barrier leaves lanes out.
    known: Option<Box<[[u32; WARP]; WARP]>>,
}

impl Order {
    pub(super) fn new() -> Self {
        Self { tick: 1, floor: 0, known: None }
    }

    /// The current tick.
    pub(super) fn tick(&self) -> u32 {
        self.tick
    }

    /// Is everything of this tick, by any lane, ordered before all to come?
    pub(super) fn all_known(&self, tick: u32) -> bool {
        tick <= self.floor
    }

    /// Are lane `earlier`'s accesses of this tick ordered before those of lane `later` to come?
    pub(super) fn before(&self, earlier: usize, tick: u32, later: usize) -> bool {
        earlier == later || tick <= self.floor || self.known.as_ref().is_some_and(|known| tick <= known[later][earlier])
    }

    /// A barrier of the lanes in `members`, of which the warp has `live`.
    pub(super) fn synchronise(&mut self, members: u32, live: u32) {
        if members & live == live {
            self.floor = self.tick;
        } else {
            let known = self.known.get_or_insert_with(|| Box::new([[0; WARP]; WARP]));
            let mut joined = [0; WARP];
            for member in lanes(members) {
                for (joint, &own) in joined.iter_mut().zip(&known[member]) {
                    *joint = own.max(*joint);
                }
            }
            for member in lanes(members) {
                joined[member] = self.tick;
            }
            for member in lanes(members) {
                known[member] = joined;
            }
        }
        self.tick += 1;
    }
}

/// The numbers of the lanes in a mask, ascending.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
