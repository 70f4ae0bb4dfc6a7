//! The statuses of a reduction: is the modulus odd, and are the numbers below it?
//!
//! The highest limbs of a number tell whether it is below the modulus, unless they are those of the modulus. Only then four lanes compare all limbs.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::{Carries, all_zeros, repeat};
use warpmp_kernel::ir::{Cmp, Space, Vector, Vote};
use warpmp_launch::Ports;

use super::layout::TILE_BYTES;
use super::reduction::{Reduction, Turn};
use super::tile::{NEXT_ROW, Place, QUAD, ROWS};
use crate::kernels::OperandShape;
use crate::operation::Status;

/// Limbs of a number that the quick comparison looks at.
pub(super) const COMPARED: u32 = 2;

/// What must be below the modulus.
#[derive(Clone, Debug)]
pub(super) enum Checked {
    /// The upper half of `t`, or `t` if there is none.
    Itself,
    /// The factors of `t`: a row each before `m`.
    Factors(Vec<OperandShape>),
}

impl Reduction {
    /// Rows of factors.
    pub(super) fn factors(&self) -> usize {
        match &self.checked {
            Checked::Itself => 0,
            Checked::Factors(factors) => factors.len(),
        }
    }

    /// The status that the modulus gives every lane.
    pub(super) fn status_of_modulus(&self, b: &mut Builder, place: &Place) -> R32 {
        let own = b.mad_lo(place.lane, 4, place.shared);
        // Behind the number there are zeros.
        let words: Vec<R32> = (0..self.layout.tiles())
            .map(|tile| b.load_shared(Vector::V1, own, self.layout.modulus() + TILE_BYTES * tile)[0])
            .collect();
        let zero = all_zeros(b, &words);
        let zero = b.vote(Vote::All, zero);
        let lowest = b.load_shared(Vector::V1, place.shared, self.layout.modulus())[0];
        let parity = b.and(lowest, 1);
        let odd = b.compare(Cmp::Ne, parity, 0);
        let status = b.select(Status::Fine.code(), Status::EvenModulus.code(), odd);
        b.select(Status::DivisionByZero.code(), status, zero)
    }

    /// The statuses of the thread's lanes. The highest limbs of the numbers tell whether they are below the modulus, unless they are equal to its.
    pub(super) fn statuses(
        &self,
        b: &mut Builder,
        ports: &Ports,
        place: &Place,
        turn: &Turn,
        of_modulus: R32,
    ) -> [R32; ROWS] {
        b.section("status");
        let at = self.layout.modulus() + 4 * (self.layout.limbs - COMPARED);
        let modulus = b.load_shared(Vector::V2, place.shared, at);
        let mut chain = b.chain();
        let difference: Vec<R32> = turn.highest.iter().zip(&modulus).map(|(&x, &m)| chain.sub(x, m)).collect();
        let borrow = chain.borrow_mask();
        let borrows = b.compare(Cmp::Ne, borrow, 0);
        let equal = all_zeros(b, &difference);
        let below = b.ballot(borrows);
        let undecided = b.vote(Vote::Any, equal);
        let quad = b.and(place.lane, 32 - QUAD);
        let below = b.shr(below, quad);
        // Two numbers of each row.
        let reduced = [3, 12].map(|mask| {
            let bits = b.and(below, mask);
            let all = b.compare(Cmp::Eq, bits, mask);
            b.select(1, 0, all)
        });
        b.if_(undecided, |b| {
            for (&reduced, row) in reduced.iter().zip((0..).step_by(NEXT_ROW as usize)) {
                let last = b.sub(ports.lanes, 1);
                let lane = b.add(turn.lane, row);
                let lane = b.min(lane, last);
                b.set(reduced, 1);
                self.compare(b, ports, place, lane, reduced);
            }
        });
        let fine = b.compare(Cmp::Eq, of_modulus, Status::Fine.code());
        let otherwise = b.select(Status::NotReduced.code(), of_modulus, fine);
        reduced.map(|reduced| {
            let reduced = b.compare(Cmp::Ne, reduced, 0);
            b.select(of_modulus, otherwise, reduced)
        })
    }

    /// Makes `reduced` zero unless all numbers of a lane are below the modulus. Four lanes compare all limbs.
    fn compare(&self, b: &mut Builder, ports: &Ports, place: &Place, lane: R32, reduced: R32) {
        let own = b.mul_lo(place.member, 4);
        let rows = self.checked_rows(b, ports, lane);
        for row in rows {
            let row = b.mad_wide(own, 1, row);
            let modulus = b.add(place.shared, own);
            let below = b.copy(0);
            // A counted loop: one that ends at an address went on behind it, as `ptxas` unrolled it.
            repeat(b, self.layout.limbs / QUAD, |b| {
                let number = b.load_global(Space::Global, Vector::V1, row, 0)[0];
                let word = b.load_shared(Vector::V1, modulus, self.layout.modulus())[0];
                let [borrows, equal] = [Cmp::Lt, Cmp::Eq].map(|cmp| b.compare(cmp, number, word));
                let carries = Carries::look_ahead(b, borrows, equal, QUAD).entered(b, below);
                let leaving = carries.leaving(b);
                b.set(below, leaving);
                b.increase64(row, u64::from(4 * QUAD));
                b.increase(modulus, 4 * QUAD);
            });
            let quad = b.and(place.lane, 32 - QUAD);
            let below = b.bit(below, quad);
            let both = b.and(reduced, below);
            b.set(reduced, both);
        }
    }

    /// The numbers of a lane that must be below the modulus, each as long as it.
    pub(super) fn checked_rows(&self, b: &mut Builder, ports: &Ports, lane: R32) -> Vec<R64> {
        let limbs = self.layout.limbs;
        match &self.checked {
            Checked::Itself => {
                let row = b.mad_wide(lane, 4 * self.layout.reduced_limbs(self.is_double), ports.addresses[0]);
                vec![if self.is_double { b.add64(row, u64::from(4 * limbs)) } else { row }]
            }
            Checked::Factors(factors) => factors
                .iter()
                .zip(&ports.addresses[1..])
                .map(|(factor, &address)| if factor.common { address } else { b.mad_wide(lane, 4 * limbs, address) })
                .collect(),
        }
    }
}
