//! Which number a lane works on.
//!
//! A phase deals groups of lanes out to numbers (or leaves): as many groups a warp as fit, warp after warp, round
//! after round. Lanes without a number of their own mirror one that their own warp works on: they compute with
//! the others, for the sake of votes and barriers, and store nothing.

use std::cmp::Ordering;

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::ir::{Cmp, Special};

use super::layout::divide_with_remainder;

/// A lane's part in a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    /// The number.
    pub(super) node: R32,
    /// This lane among those of the number.
    pub(super) lane: R32,
    /// Is it to store? None: every lane is.
    pub(super) real: Option<Pred>,
}

impl Role {
    /// The role in a warp's share `unit` of `nodes` numbers with `lanes` lanes each.
    fn of(b: &mut Builder, unit: R32, nodes: u32, lanes: u32) -> Self {
        let groups = 32 / lanes;
        let lane_of_warp = b.special(Special::Lane);
        let (group, lane) = divide_with_remainder(b, lane_of_warp, lanes);
        let first = b.mul_lo(unit, groups);
        let node = b.add(first, group);
        let spare_lanes = (!32_u32.is_multiple_of(lanes)).then(|| b.compare(Cmp::Lt, group, groups));
        let spare_groups = (!nodes.is_multiple_of(groups)).then(|| b.compare(Cmp::Lt, node, nodes));
        let real = both(b, [spare_lanes, spare_groups]);
        if real.is_none() {
            return Self { node, lane, real };
        }
        let last = b.add(first, groups - 1);
        let node = b.min(node, last);
        Self { node: b.min(node, nodes - 1), lane, real }
    }

    /// Stores, by the lanes that are to. Mirroring lanes have read what is overwritten: they come first.
    pub(super) fn store(&self, b: &mut Builder, body: impl FnOnce(&mut Builder)) {
        match self.real {
            None => body(b),
            Some(real) => {
                b.warp_barrier();
                b.if_(real, body);
            }
        }
    }
}

/// Who is to store, as a mask: predicates that live through carry chains would be spilled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storing(Option<R32>);

impl Storing {
    pub(super) fn of(b: &mut Builder, role: &Role) -> Self {
        Self(role.real.map(|real| b.select(u32::MAX, 0, real)))
    }

    /// As [`Role::store`].
    pub(super) fn store(self, b: &mut Builder, body: impl FnOnce(&mut Builder)) {
        match self.0 {
            None => body(b),
            Some(mask) => {
                b.warp_barrier();
                let real = b.compare(Cmp::Ne, mask, 0);
                b.if_(real, body);
            }
        }
    }
}

/// Runs `body` for `nodes` numbers with `lanes` lanes each by the `warps` warps of the block.
pub(super) fn for_numbers(
    b: &mut Builder,
    warps: u32,
    [nodes, lanes]: [u32; 2],
    body: impl FnOnce(&mut Builder, &Role),
) {
    let units = nodes.div_ceil(32 / lanes);
    let thread = b.special(Special::Tid);
    let unit = b.shr(thread, 5);
    let once = |b: &mut Builder| {
        let role = Role::of(b, unit, nodes, lanes);
        body(b, &role);
    };
    match units.cmp(&warps) {
        Ordering::Equal => once(b),
        Ordering::Less => {
            let taking_part = b.compare(Cmp::Lt, unit, units);
            b.if_(taking_part, once);
        }
        Ordering::Greater => b.do_while(|b| {
            once(b);
            b.increase(unit, warps);
            b.compare(Cmp::Lt, unit, units)
        }),
    }
}

/// Both conditions, as far as there are any.
pub(super) fn both(b: &mut Builder, conditions: [Option<Pred>; 2]) -> Option<Pred> {
    match conditions {
        [Some(p), Some(q)] => Some(b.and_pred(p, q)),
        [p, q] => p.or(q),
    }
}
