//! `pow_mod`: powers modulo any number.
//!
//! computes   `a^e mod m`; `x⁰ = 1 mod m`; a zero modulus is the lane's status
//! launch     two stages: [`PowMod`], which leaves lanes with even moduli out, and the kernel of this file, whose warps end
//!            at once where no modulus is even
//! cost       of odd moduli, that of [`PowMod`], and a limb that is read. If a modulus of the warp is even, in all of its
//!            lanes the same once more, and for each bit of the exponent two products of `2·length·rows` wide ones a lane
//! memory     that of [`PowMod`]
//!
//! With `m = 2^k·f`, `f` odd, there are `x = a^e mod f` by Montgomery's arithmetic and `y = a^e` modulo `B^n`, of which
//! the low `k` bits count. The power is `x + f·t`, with `t = (y − x)/f mod 2^k`.
//!
//! bound: `t < 2^k` and `x < f`, so `x + f·t < f·2^k = m`: it is right modulo `f`, modulo `2^k` and in size. All of it fits
//! in the lanes, so that the last sum, too, is taken modulo `B^n`. Products modulo `B^n` are the quotients of a Montgomery
//! reduction modulo −1, see [`Montgomery::negated_quotient`].
//!
//! source: the Chinese remainder theorem, as in Handbook of Applied Cryptography 14.71 (Garner); Koç, Montgomery reduction
//! with even modulus, 1994.

use warpmp_kernel::build::{Builder, Emit, R32};
use warpmp_kernel::fragment::{Montgomery, assign, repeat, select};
use warpmp_kernel::ir::{Cmp, Vote};
use warpmp_launch::{Frame, Stage};

use super::super::Spec;
use super::power::PowMod;
use super::shifted::lowered;
use crate::operation::Status;

/// Number of the modulus among the operands.
const MODULUS: usize = 2;

/// Parameters of the kernels; those of their launches are the same as of [`PowMod`], whose exponent is an operand.
#[derive(Clone, Debug)]
pub(super) struct AnyPowMod {
    odd: PowMod,
    even: EvenPowMod,
}

/// The second stage alone, for other ways to the powers modulo odd numbers. The parameters of its launch are those of `odd`, too.
#[derive(Clone, Debug)]
pub(in crate::kernels) struct EvenPowMod {
    pub(in crate::kernels) odd: PowMod,
}

impl EvenPowMod {
    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let spread = frame.spread;
        let modulus = frame.load(b, MODULUS);
        let zero = spread.is_zero(b, &modulus);
        let lowest = spread.broadcast(b, modulus[0], 0);
        let parity = b.and(lowest, 1);
        let even = b.compare(Cmp::Eq, parity, 0);
        let nonzero = b.not_pred(zero);
        let even = b.and_pred(even, nonzero);
        let any = b.vote(Vote::Any, even);
        let none = b.not_pred(any);
        b.return_if(none);
        let (odd, _) = odd_part(b, frame, &modulus);
        b.section("modulo the odd part");
        let ring = Montgomery::new(b, spread, &odd, self.odd.modulus.limbs() as usize);
        let power = self.odd.windows(b, frame, &ring);
        let power = ring.redc(b, &power, None);
        // It waits in memory: what lives through the other power takes registers.
        frame.store(b, 0, &power);
        b.section("modulo the power of two");
        let ones = power.iter().map(|_| b.copy(u32::MAX)).collect::<Vec<_>>();
        let rows = spread.group as usize * spread.length;
        let minus_one = Montgomery::new(b, spread, &ones, rows);
        let other = self.low_power(b, frame, &minus_one);
        b.section("both");
        let modulus = frame.load(b, MODULUS);
        let zero = spread.is_zero(b, &modulus);
        let (odd, twos) = odd_part(b, frame, &modulus);
        let power = frame.load_result(b, 0);
        let (difference, _) = spread.sub(b, &power, &other);
        let ring = Montgomery::new(b, spread, &odd, rows);
        let quotient = ring.negated_quotient(b, &difference, None);
        let quotient = low_bits(b, frame, &quotient, twos);
        let result = minus_one.negated_quotient(b, &power, Some((&odd, &quotient)));
        let status = b.select(Status::DivisionByZero.code(), Status::Fine.code(), zero);
        frame.finish(b, status, &[&result]);
    }

    /// `a^e` modulo a power of `B`, in a ring modulo −1: a square for each bit, and a product where any exponent of the warp
    /// has the bit.
    fn low_power(&self, b: &mut Builder, frame: &Frame, ring: &Montgomery) -> Vec<R32> {
        let base = frame.load_part(b, 0, 0, self.odd.modulus.limbs());
        let one = frame.spread.small(b, 1);
        let x: Vec<R32> = one.iter().map(|&limb| b.copy(limb)).collect();
        let row = frame.operand_row(b, 1);
        let bits = self.odd.exponent_bits();
        let bit = b.copy(bits);
        let single = PowMod { window: 1, ..self.odd.clone() };
        let none: Vec<R32> = x.iter().map(|_| b.copy(0)).collect();
        repeat(b, bits, |b| {
            let square = ring.negated_quotient(b, &none, Some((&x, &x)));
            assign(b, &x, &square);
            b.decrease(bit, 1);
            let digit = single.digit(b, frame, row, bit);
            let is_set = b.compare(Cmp::Ne, digit, 0);
            let any = b.vote(Vote::Any, is_set);
            b.if_(any, |b| {
                let product = ring.negated_quotient(b, &none, Some((&x, &base)));
                let chosen = select(b, is_set, &product, &x);
                assign(b, &x, &chosen);
            });
        });
        x
    }
}

/// The odd part of a modulus, 1 for zero, and how often 2 divides it.
fn odd_part(b: &mut Builder, frame: &Frame, modulus: &[R32]) -> (Vec<R32>, R32) {
    let spread = &frame.spread;
    let twos = spread.trailing_zeros(b, modulus);
    let mut odd = lowered(b, frame, MODULUS, twos);
    let one = spread.small(b, 1);
    odd[0] = b.or(odd[0], one[0]);
    (odd, twos)
}

/// The low `count` bits of a number.
fn low_bits(b: &mut Builder, frame: &Frame, number: &[R32], count: R32) -> Vec<R32> {
    let length = frame.spread.length as u32;
    let first = b.mul_lo(frame.spread.member, 32 * length);
    (0..)
        .zip(number)
        .map(|(i, &limb)| {
            // A shift by 32 and more gives zero: then all bits stay.
            let below = b.add(first, 32 * i);
            let above = b.compare(Cmp::Gt, count, below);
            let bits = b.sub(count, below);
            let bits = b.select(bits, 0, above);
            let power = b.shl(1, bits);
            let mask = b.sub(power, 1);
            b.and(limb, mask)
        })
        .collect()
}

impl AnyPowMod {
    /// The powers modulo odd numbers in this way, and those modulo even ones.
    pub(super) fn new(odd: PowMod) -> Self {
        Self { even: EvenPowMod { odd: odd.clone() }, odd }
    }
}

impl Spec for AnyPowMod {
    fn name(&self) -> String {
        self.odd.name()
    }

    fn scratch_limbs(&self) -> u32 {
        self.odd.scratch_limbs()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        self.odd.stages().into_iter().chain(self.even.stages()).collect()
    }

    fn wide_products(&self) -> u64 {
        self.odd.wide_products()
    }
}

impl Spec for EvenPowMod {
    fn name(&self) -> String {
        format!("even_{}", self.odd.name())
    }

    fn scratch_limbs(&self) -> u32 {
        self.odd.scratch_limbs()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![self.odd.stage(self.name(), |b, frame| self.body(b, frame))]
    }
}
