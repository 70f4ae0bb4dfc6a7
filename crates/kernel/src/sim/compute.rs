//! The semantics of integers: sums with the carry flag, products, logic, shifts, comparisons.

use std::cmp::Ordering;

use super::WARP;
use super::execution::Execution;
use super::fault::{Cause, FaultKind};
use super::registers::{Number, Slot, merge};
use super::scalar;
use crate::ir::{Carry, Class, Cmp, Funnel, Half, Int, Logic, Width};

impl Execution<'_, '_> {
    /// `add`.
    pub(super) fn sum(&mut self, width: Width, carry: Carry) -> Result<(), Cause> {
        match width {
            Width::W32 => self.link::<u32, 2>(carry, false, |[a, b], flag| add(a, b, flag)),
            Width::W64 => self.link::<u64, 2>(carry, false, |[a, b], flag| add_wide(a, b, flag)),
        }
    }

    /// `sub`.
    pub(super) fn difference(&mut self, width: Width, carry: Carry) -> Result<(), Cause> {
        match width {
            Width::W32 => self.link::<u32, 2>(carry, true, |[a, b], flag| sub(a, b, flag)),
            Width::W64 => self.link::<u64, 2>(carry, true, |[a, b], flag| sub_wide(a, b, flag)),
        }
    }

    /// `mad.lo` and `mad.hi`.
    pub(super) fn product_sum(&mut self, half: Half, carry: Carry) -> Result<(), Cause> {
        match half {
            Half::Lo => self.link::<u32, 3>(carry, false, |[a, b, c], flag| add(a.wrapping_mul(b), c, flag)),
            Half::Hi => self.link::<u32, 3>(carry, false, |[a, b, c], flag| add(high(a, b), c, flag)),
        }
    }

    /// An operation that may read and write the carry flag, as a borrow or not: `f` takes the sources and the flag and
    /// gives the result and the flag.
    fn link<W: Slot, const N: usize>(
        &mut self,
        carry: Carry,
        borrows: bool,
        f: impl Fn([W; N], u32) -> (W, u32),
    ) -> Result<(), Cause> {
        let (warp, mask) = (&mut *self.warp, self.mask);
        let undefined = mask & !warp.carry_defined;
        if carry.reads() && undefined != 0 {
            return Err(Cause::first(undefined, FaultKind::PoisonCarry));
        }
        let other = mask & if borrows { !warp.carry_borrows } else { warp.carry_borrows };
        if carry.reads() && other != 0 {
            return Err(Cause::first(other, FaultKind::MixedCarry));
        }
        let sources: [&[W; WARP]; N] = std::array::from_fn(|i| warp.registers.get::<W>(self.step.src[i]));
        let taken = if carry.reads() { warp.carry } else { [0; WARP] };
        let (mut result, mut given) = ([W::default(); WARP], [0; WARP]);
        for i in 0..WARP {
            (result[i], given[i]) = f(sources.map(|source| source[i]), taken[i]);
        }
        warp.registers.set(self.step.dst[0], mask, &result);
        if carry.writes() {
            merge(&mut warp.carry, mask, &given);
            warp.carry_defined |= mask;
            warp.carry_borrows = warp.carry_borrows & !mask | if borrows { mask } else { 0 };
        }
        Ok(())
    }

    /// `mul.lo` and `mul.hi`.
    pub(super) fn product(&mut self, half: Half, width: Width) {
        match (half, width) {
            (Half::Lo, Width::W32) => self.binary(u32::wrapping_mul),
            (Half::Lo, Width::W64) => self.binary(u64::wrapping_mul),
            (Half::Hi, Width::W32) => self.binary(high),
            (Half::Hi, Width::W64) => self.binary(|a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        }
    }

    /// `mul.wide`.
    pub(super) fn wide_product(&mut self, int: Int) {
        if int.signed() {
            self.binary(|a: i32, b: i32| i64::from(a) * i64::from(b));
        } else {
            self.binary(|a: u32, b: u32| u64::from(a) * u64::from(b));
        }
    }

    /// `mad.wide`.
    pub(super) fn wide_product_sum(&mut self, int: Int) {
        if int.signed() {
            self.ternary(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c));
        } else {
            self.ternary(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c));
        }
    }

    /// `and`, `or`, `xor`.
    pub(super) fn logic(&mut self, logic: Logic, class: Class) {
        match logic {
            Logic::And => self.combine(class, |a, b| a & b, |a, b| a & b),
            Logic::Or => self.combine(class, |a, b| a | b, |a, b| a | b),
            Logic::Xor => self.combine(class, |a, b| a ^ b, |a, b| a ^ b),
        }
    }

    /// A function of the bits. Of predicates, a word has the bits of all lanes.
    fn combine(&mut self, class: Class, narrow: impl Fn(u32, u32) -> u32, wide: impl Fn(u64, u64) -> u64) {
        match class {
            Class::Pred => self.set_pred(narrow(self.condition(0), self.condition(1))),
            Class::B32 => self.binary(narrow),
            Class::B64 | Class::F64 => self.binary(wide),
        }
    }

    /// `not`.
    pub(super) fn complement(&mut self, class: Class) {
        match class {
            Class::Pred => self.set_pred(!self.condition(0)),
            Class::B32 => self.unary(|a: u32| !a),
            Class::B64 | Class::F64 => self.unary(|a: u64| !a),
        }
    }

    /// `lop3`.
    pub(super) fn lookup(&mut self) {
        let table = self.step.imm[0];
        self.ternary(|a, b, c| scalar::lookup(a, b, c, table));
    }

    /// `shl`.
    pub(super) fn shift_left(&mut self, width: Width) {
        match width {
            Width::W32 => self.binary(|a: u32, n: u32| a.checked_shl(n).unwrap_or(0)),
            Width::W64 => self.binary(|a: u64, n: u32| a.checked_shl(n).unwrap_or(0)),
        }
    }

    /// `shr`.
    pub(super) fn shift_right(&mut self, int: Int) {
        match int {
            Int::U32 => self.binary(|a: u32, n: u32| a.checked_shr(n).unwrap_or(0)),
            Int::U64 => self.binary(|a: u64, n: u32| a.checked_shr(n).unwrap_or(0)),
            Int::S32 => self.binary(|a: i32, n: u32| a >> n.min(31)),
            Int::S64 => self.binary(|a: i64, n: u32| a >> n.min(63)),
        }
    }

    /// `shf`, by an amount modulo 32.
    pub(super) fn funnel_shift(&mut self, direction: Funnel) {
        let both = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
        match direction {
            Funnel::Left => self.ternary(|a, b, n: u32| (both(a, b) << (n & 31) >> 32) as u32),
            Funnel::Right => self.ternary(|a, b, n: u32| (both(a, b) >> (n & 31)) as u32),
        }
    }

    /// `selp`.
    pub(super) fn select(&mut self, class: Class) {
        match class {
            Class::Pred => {
                let (a, b, chosen) = (self.condition(0), self.condition(1), self.condition(2));
                self.set_pred(chosen & a | !chosen & b);
            }
            Class::B32 => self.select_numbers::<u32>(),
            Class::B64 | Class::F64 => self.select_numbers::<u64>(),
        }
    }

    fn select_numbers<S: Slot>(&mut self) {
        let mut result = *self.source::<S>(1);
        merge(&mut result, self.condition(2), self.source(0));
        self.set(&result);
    }

    /// `setp` of integers.
    pub(super) fn compare_integers(&mut self, cmp: Cmp, int: Int) {
        match int {
            Int::U32 => self.compare::<u32>(cmp),
            Int::S32 => self.compare::<i32>(cmp),
            Int::U64 => self.compare::<u64>(cmp),
            Int::S64 => self.compare::<i64>(cmp),
        }
    }

    /// `setp` of doubles.
    pub(super) fn compare_doubles(&mut self, cmp: Cmp) {
        self.compare::<f64>(cmp);
    }

    fn compare<T: Number + PartialOrd>(&mut self, cmp: Cmp) {
        match cmp {
            Cmp::Eq => self.test(|a: T, b: T| a == b),
            // Not `!=`: ordered, so false if either is NaN.
            Cmp::Ne => self.test(|a: T, b: T| a.partial_cmp(&b).is_some_and(Ordering::is_ne)),
            Cmp::Lt => self.test(|a: T, b: T| a < b),
            Cmp::Le => self.test(|a: T, b: T| a <= b),
            Cmp::Gt => self.test(|a: T, b: T| a > b),
            Cmp::Ge => self.test(|a: T, b: T| a >= b),
        }
    }

    /// `p = f(a, b)`.
    fn test<A: Number>(&mut self, f: impl Fn(A, A) -> bool) {
        let (a, b) = (self.source::<A::Slot>(0), self.source::<A::Slot>(1));
        let mut bits = 0;
        for (lane, (&a, &b)) in a.iter().zip(b).enumerate() {
            bits |= u32::from(f(A::of(a), A::of(b))) << lane;
        }
        self.set_pred(bits);
    }
}

fn add(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, (sum >> 32) as u32)
}

fn add_wide(a: u64, b: u64, carry: u32) -> (u64, u32) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, u32::from(first | second))
}

fn sub(a: u32, b: u32, borrow: u32) -> (u32, u32) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, (difference >> 63) as u32)
}

fn sub_wide(a: u64, b: u64, borrow: u32) -> (u64, u32) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, u32::from(first | second))
}

fn high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}
