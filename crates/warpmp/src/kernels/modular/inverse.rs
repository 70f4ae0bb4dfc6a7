//! `inv_mod`: inverses modulo any number.
//!
//! computes   the `x < m` with `a·x = 1 mod m`; a modulus of zero, or common factors, are the lane's status
//! requires   nothing: `a` may exceed `m`, and `m` may be even
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       about `2.1·d/30` batches of steps for numbers of `d` bits; each takes `10·length` wide products a lane
//!            and about `750 + 30·length` other instructions. Where a warp or more has one number: about `d/25.7` batches of
//!            quotients, each of `8·length` wide products and about `350 + 16·length` other instructions, and divsteps for the
//!            last three limbs. If a modulus of the warp is even, a Montgomery product more
//! registers  about `8·length + 40`
//!
//! For odd `m` the steps begin with `f = m`, `g = a`. For even `m`, `a` must be odd, and the two change places: that
//! gives `y < a` with `m·y = 1 mod a`, and `x = m − (m·y − 1)/a`. The quotient is exact and less than `m`, so it
//! is enough to know it modulo `B^n`: it is made of the quotients of a Montgomery reduction modulo `a`.
//!
//! bound: see [`divsteps`] and [`lehmer`]. One limb more than the longer operand has is sign. For `a = 1`, `y = 0`, and `x = m + 1`
//! is reduced.
//!
//! source: Bernstein and Yang 2019; Lehmer 1938; the exact quotient is Hensel's division (Jebelean 1993).

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::divsteps::{self, Pair, add_where, negate_where, sign};
use warpmp_kernel::fragment::{Montgomery, assign, lehmer, select};
use warpmp_kernel::ir::{Cmp, Vote};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::checks::Checks;
use super::gcd;
use crate::operation::Status;

/// Limbs a lane, at most: it holds four numbers of them, and more.
pub(super) const LANE_LIMBS: u32 = 24;

/// Parameters of the kernel. Parameters of its launch: `a`, `m`, the result, statuses, lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InvMod {
    /// The number.
    pub value: OperandShape,
    /// The modulus; the result has its limbs.
    pub modulus: OperandShape,
    /// How the numbers lie in the lanes, with a limb more than the longer one has.
    pub layout: Layout,
}

impl InvMod {
    /// The usual parameters.
    pub const fn new(value: OperandShape, modulus: OperandShape) -> Self {
        let limbs = if value.limbs() > modulus.limbs() { value.limbs() } else { modulus.limbs() };
        Self { value, modulus, layout: Layout::of(limbs + 1).of_lanes(limbs + 1, LANE_LIMBS) }
    }

    fn body(b: &mut Builder, frame: &Frame, shared: Option<R32>) {
        b.section("load");
        let spread = &frame.spread;
        let Start { f, g, .. } = Start::new(b, frame);
        b.section("arithmetic");
        let numbers = Pair::new(b, &f, &g);
        let x = if let Some(shared) = shared {
            let factors = divsteps::first_factors(b, spread, &f);
            lehmer::reduce(b, spread, shared, &numbers, Some(&factors));
            let Start { f, .. } = Start::new(b, frame);
            let inverse = divsteps::lowest_inverse(b, spread, &f);
            divsteps::follow(b, spread, &numbers, &factors, &f, inverse);
            factors.first
        } else {
            divsteps::inverse(b, spread, &numbers)
        };
        // Found anew: what lives through all of the steps takes registers.
        let Start { modulus, f, g, odd, status, both_even } = Start::new(b, frame);
        let one = spread.small(b, 1);
        let negative = sign(b, spread, &numbers.first);
        let divisor = negate_where(b, spread, negative, &numbers.first);
        let rest = divisor.iter().zip(&one).map(|(&limb, &one)| b.xor(limb, one)).collect::<Vec<_>>();
        let is_one = spread.is_zero(b, &rest);
        let none = b.not_pred(is_one);
        let none = b.or_pred(none, both_even);
        let status = Frame::with_fault(b, status, Status::NoInverse, none);
        // From (−2f, f) to [0, f), with the sign of the divisor.
        let below = sign(b, spread, &x);
        let x = add_where(b, spread, below, &x, &f);
        let x = negate_where(b, spread, negative, &x);
        let below = sign(b, spread, &x);
        let x = add_where(b, spread, below, &x, &f);
        let any_even = b.not_pred(odd);
        let any_even = b.vote(Vote::Any, any_even);
        let result: Vec<R32> = x.iter().map(|&limb| b.copy(limb)).collect();
        b.if_(any_even, |b| {
            let rows = spread.group as usize * spread.length;
            let ring = Montgomery::new(b, *spread, &f, rows);
            let quotient = ring.complement_quotient(b, &g, &x);
            let (sum, _) = spread.add(b, &quotient, &modulus);
            let none = b.copy(0);
            let other = spread.reduce_once(b, &sum, none, &modulus);
            let chosen = select(b, odd, &x, &other);
            assign(b, &result, &chosen);
        });
        frame.finish(b, status, &[&result]);
    }
}

/// What the steps begin with.
struct Start {
    modulus: Vec<R32>,
    /// The odd one of the two numbers, or one that is made odd.
    f: Vec<R32>,
    g: Vec<R32>,
    /// Is the modulus odd?
    odd: Pred,
    /// Is it zero?
    status: R32,
    both_even: Pred,
}

impl Start {
    fn new(b: &mut Builder, frame: &Frame) -> Self {
        let spread = &frame.spread;
        let (value, modulus) = (frame.load(b, 0), frame.load(b, 1));
        let lowest = spread.broadcast(b, modulus[0], 0);
        let parity = b.and(lowest, 1);
        let odd = b.compare(Cmp::Ne, parity, 0);
        let zero = spread.is_zero(b, &modulus);
        let status = b.select(Status::DivisionByZero.code(), 0, zero);
        let mut f = select(b, odd, &modulus, &value);
        let g = select(b, odd, &value, &modulus);
        // Two even numbers: there is no inverse, but the steps want f odd.
        let lowest = spread.broadcast(b, f[0], 0);
        let one = spread.small(b, 1);
        f[0] = b.or(f[0], one[0]);
        let parity = b.and(lowest, 1);
        let both_even = b.compare(Cmp::Eq, parity, 0);
        Self { modulus, f, g, odd, status, both_even }
    }
}

impl Spec for InvMod {
    fn name(&self) -> String {
        format!("inv_mod{}{}{}", self.value.name(), self.modulus.name(), self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([self.value, self.modulus], [self.modulus.limbs()]).with_status();
        vec![gcd::stage(self.layout, self.name(), signature, Self::body)]
    }

    fn wide_products(&self) -> u64 {
        let limbs = self.layout.group * self.layout.length;
        let (products, batches) = if lehmer::applies(self.layout.group, self.layout.length) {
            (8, 32 * limbs / lehmer::BITS)
        } else {
            (10, (49 * 32 * limbs + 80) / 17 / 30)
        };
        products * u64::from(batches) * u64::from(limbs)
    }
}
