//! Montgomery products and squares: a warp a product.
//!
//! computes   `a·b/R mod m`, `a²/R mod m`, `R = B^N` for a modulus of `N` limbs that all lanes share
//! requires   `m` odd, `a, b < m`; what is not so is the lane's status, and its result is zero
//! launch     `32·warps` threads a block, `products` products a block, one after the other by each warp
//! cost       see `ring`; the modulus is read once a warp
//! registers  90 with one panel, 154 with two, 129 with three, to 246 with more; 69 with three strips, 106 with five, to 185 with more

use warpmp_kernel::build::{Builder, Emit, Glue, Pred, R32};
use warpmp_kernel::fragment::{Carries, all_zeros};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Vector, Vote};
use warpmp_launch::{Entry, Ports, Stage};

use super::ring::{Ring, arrive};
use super::room::Room;
use crate::kernels::tensor::warps::Warps;
use crate::kernels::{OperandShape, Spec};
use crate::operation::Status;

/// Parameters of the kernel. Parameters of its launch: `a`, for a product `b`, the modulus, its inverse, the result, statuses, lanes. The
/// modulus and its inverse are a row each.
#[derive(Clone, Debug)]
pub(super) struct ResidueProduct {
    /// The factors, one for a square.
    pub(super) factors: Vec<OperandShape>,
    pub(super) room: Room,
    pub(super) warps: Warps,
}

impl ResidueProduct {
    fn kernel(&self, entry: &Entry) -> Kernel {
        let names: &[&str] = match self.factors.len() {
            1 => &["a", "m", "i", "c", "status"],
            _ => &["a", "b", "m", "i", "c", "status"],
        };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, names, false);
        // With two panels `ptxas` would choose 72 registers and spill some.
        let layout = self.room.layout;
        let max_registers = (layout.panels == 2 && layout.strips.is_none()).then_some(168);
        b.bounds(Bounds { max_registers, ..self.warps.bounds() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let Self { room, warps, .. } = self;
        b.section("setup");
        let (place, product, end) = warps.enter(b, ports.lanes);
        let place = place.aligned(b);
        let limbs = room.limbs();
        let constants = [0, 1].map(|i| ports.addresses[self.factors.len() + i]);
        let ring = Ring::new(b, *room, &place, limbs, constants);
        b.do_while(|b| {
            b.section("operands");
            let places = self.places();
            for ((factor, &address), &to) in self.factors.iter().zip(&ports.addresses).zip(&places) {
                let row = if factor.common { address } else { b.mad_wide(product, 4 * limbs, address) };
                ring.fetch(b, row, limbs, to);
            }
            arrive(b);
            let status = self.status(b, &ring);
            let statuses = b.mad_wide(product, 4, ports.addresses[self.factors.len() + 3]);
            b.guarded(ring.is_first, true, |g| g.store_global(Space::Global, &[status], statuses, 0));
            // Where the status is not fine, the product is zero.
            let fine = b.compare(Cmp::Eq, status, Status::Fine.code());
            let first = ring.load(b, places[0]);
            let first: Vec<R32> = first.iter().map(|&limb| b.select(limb, 0, fine)).collect();
            ring.store_matrix(b, &first, room.factor);
            // What has arrived in the work area has been read.
            b.warp_barrier();
            ring.arrange(b);
            let result = ring.multiply(b);
            b.section("store");
            let to = b.mad_wide(product, 4 * limbs, ports.addresses[self.factors.len() + 2]);
            ring.write(b, &result, to);
            // The next operands may overwrite what has been read.
            b.warp_barrier();
            b.increase(product, warps.count);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// Where the factors arrive: the second one in its place, a square's only one, too.
    fn places(&self) -> Vec<u32> {
        let Room { other, layout, .. } = self.room;
        if self.factors.len() == 1 { vec![other] } else { vec![layout.work, other] }
    }

    /// The status of a product.
    fn status(&self, b: &mut Builder, ring: &Ring<'_>) -> R32 {
        let room = self.room;
        let modulus = ring.load(b, room.modulus);
        let is_below = |b: &mut Builder, at: u32| -> Pred {
            let number = ring.load(b, at);
            let mut chain = b.chain();
            let difference: Vec<R32> = number.iter().zip(&modulus).map(|(&x, &m)| chain.sub(x, m)).collect();
            let borrow = chain.borrow_mask();
            let borrows = b.compare(Cmp::Ne, borrow, 0);
            let zero = all_zeros(b, &difference);
            let not = b.not_pred(borrows);
            let passes = b.and_pred(zero, not);
            let out = Carries::look_ahead(b, borrows, passes, 32).out_of_group(b);
            b.compare(Cmp::Ne, out, 0)
        };
        let reduced = self.places().into_iter().map(|at| is_below(b, at)).collect::<Vec<_>>();
        let reduced = reduced.into_iter().reduce(|all, it| b.and_pred(all, it)).expect("there is a factor");
        let zero = all_zeros(b, &modulus);
        let zero = b.vote(Vote::All, zero);
        let lowest = b.load_shared(Vector::V1, ring.place.shared, room.modulus)[0];
        let parity = b.and(lowest, 1);
        let odd = b.compare(Cmp::Ne, parity, 0);
        let status = b.select(Status::Fine.code(), Status::NotReduced.code(), reduced);
        let status = b.select(status, Status::EvenModulus.code(), odd);
        b.select(Status::DivisionByZero.code(), status, zero)
    }
}

impl Spec for ResidueProduct {
    fn name(&self) -> String {
        let factors: String = self.factors.iter().map(|it| it.name()).collect();
        format!("mont_tensor{factors}_{}{}", self.room.limbs(), self.warps.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.warps.geometry(), |entry| self.kernel(entry))]
    }
}
