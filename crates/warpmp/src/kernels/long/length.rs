//! The length of a divisor or of a radicand: the first stage of a division or a root.
//!
//! computes   the distance that takes the highest one of `d` to the top of a row of `limbs` limbs, whether `d` is not zero,
//!            and the status of the lane; if asked for, a word for all lanes tells whether a distance is great
//! launch     a warp a lane, four lanes a block, or one if all lanes have one divisor; a warp reads from the top until it finds a limb that is not zero

use warpmp_kernel::build::{Builder, Emit, Glue};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Shuffle, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Spec, Stage};

use crate::operation::Status;

/// Limbs of the first result: the distance; 1 if the number is not zero, else 0; half of the distance.
pub(super) const FACTS: u32 = 3;

/// Warps of a block, at most.
const WARPS: u32 = 4;

/// Parameters of the kernel. Parameters of its launch: the divisor, the facts, the statuses, the word about great distances if it is asked
/// for, lanes.
#[derive(Clone, Debug)]
pub(super) struct Length {
    /// Limbs of the divisor.
    pub(super) divisor: u32,
    /// Is there one divisor for all lanes?
    pub(super) common: bool,
    /// Limbs of the row at whose top the highest one shall be.
    pub(super) limbs: u32,
    /// Is the distance made even?
    pub(super) even: bool,
    /// The word for all lanes becomes 1 where the distance of a lane is greater. It stays as it is if no distance is.
    pub(super) most: Option<u32>,
}

impl Length {
    /// Warps of a block. A divisor for all lanes may have a launch for the first lane alone.
    const fn warps(&self) -> u32 {
        if self.common { 1 } else { WARPS }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = &["divisor", "facts", "status", "great"][..if self.most.is_some() { 4 } else { 3 }];
        let (mut b, ports) = entry.open(&self.name(), Glue::None, names, false);
        let warps = self.warps();
        b.bounds(Bounds { max_threads: Some(32 * warps), ..Bounds::default() });
        b.section("setup");
        let [divisor, facts, status] = ports.first();
        let block = b.special(Special::Ctaid);
        let lane = if warps == 1 {
            block
        } else {
            let thread = b.special(Special::Tid);
            let warp = b.shr(thread, 5);
            let lane = b.mad_lo(block, warps, warp);
            let outside = b.compare(Cmp::Ge, lane, ports.lanes);
            b.return_if(outside);
            lane
        };
        let member = b.special(Special::Lane);
        let row = if self.common { divisor } else { b.mad_wide(lane, 4 * self.divisor, divisor) };
        b.section("search");
        // The limbs below this one are not searched yet.
        let end = b.copy(self.divisor.next_multiple_of(32));
        let found = b.copy(0);
        let limb = b.copy(0);
        b.do_while(|b: &mut Builder| {
            b.decrease(end, 32);
            let index = b.add(end, member);
            let at = b.mad_wide(index, 4, row);
            b.set(limb, 0);
            let inside = b.compare(Cmp::Lt, index, self.divisor);
            b.guarded(inside, true, |g| g.load_into(Space::Global, Vector::V1, &[limb], at, 0));
            let some = b.compare(Cmp::Ne, limb, 0);
            let some = b.ballot(some);
            b.set(found, some);
            let none = b.compare(Cmp::Eq, found, 0);
            let more = b.compare(Cmp::Ne, end, 0);
            b.and_pred(none, more)
        });
        b.section("store");
        let top = b.bfind(found);
        let top = b.and(top, 31);
        let highest = b.shuffle(Shuffle::Idx, limb, top, 32);
        let index = b.add(end, top);
        let bits = b.bfind(highest);
        let bits = b.mad_lo(index, 32, bits);
        let distance = b.sub(32 * self.limbs - 1, bits);
        let zero = b.compare(Cmp::Eq, found, 0);
        let distance = b.select(0, distance, zero);
        let half = b.shr(distance, 1);
        let distance = if self.even { b.add(half, half) } else { distance };
        let fine = b.select(0, 1, zero);
        let fault = b.select(Status::DivisionByZero.code(), 0, zero);
        let first = b.compare(Cmp::Eq, member, 0);
        let facts = b.mad_wide(lane, 4 * FACTS, facts);
        let status = b.mad_wide(lane, 4, status);
        b.guarded(first, true, |g| {
            g.store_global(Space::Global, &[distance], facts, 0);
            g.store_global(Space::Global, &[fine], facts, 4);
            g.store_global(Space::Global, &[half], facts, 8);
            g.store_global(Space::Global, &[fault], status, 0);
        });
        if let Some(most) = self.most {
            let is_great = b.compare(Cmp::Gt, distance, most);
            let tells = b.and_pred(first, is_great);
            let one = b.copy(1);
            b.guarded(tells, true, |g| g.store_global(Space::Global, &[one], ports.addresses[3], 0));
        }
        b.finish()
    }
}

impl Spec for Length {
    fn name(&self) -> String {
        let (common, even) = (if self.common { "c" } else { "" }, if self.even { "_even" } else { "" });
        let most = self.most.map_or(String::new(), |most| format!("_to_{most}"));
        format!("length_{}{common}_{}{even}{most}", self.divisor, self.limbs)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(Geometry::new(32 * self.warps(), self.warps()), |entry| self.kernel(entry))]
    }
}
