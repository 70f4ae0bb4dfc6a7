//! One step, executed by lanes of a warp. The row of an operation names the method that does it.

use super::WARP;
use super::counters::Traffic;
use super::fault::Cause;
use super::program::Step;
use super::registers::{Number, Slot};
use super::scalar::{byte_products, extract_field, fused_floats, permute_bytes, reciprocal_float};
use super::warp::{Context, Pause, Warp};
use crate::ir::{Class, Op, instruction_table};

/// A step, and all that it reads and writes.
pub(super) struct Execution<'w, 'l> {
    pub(super) warp: &'w mut Warp,
    pub(super) cx: &'w mut Context<'l>,
    pub(super) step: &'l Step,
    /// The lanes that execute it, at least one.
    pub(super) mask: u32,
}

macro_rules! interpret {
    ($($(#[$doc:meta])* $name:ident $(($($modifier:ident: $type:ty $(= $values:expr)?),*))? {
        $text:literal $(, $argument:expr)*; $($part:expr),*; $pipe:expr; $semantics:ident $arguments:tt
        $(; carry $carry:expr)? $(; since $target:expr)?
    } $methods:tt)*) => {
        impl Execution<'_, '_> {
            /// Does what the operation says, in the lanes of the mask.
            pub(super) fn execute(&mut self, op: Op) -> Result<Option<Pause>, Cause> {
                match op {
                    $(Op::$name $(($($modifier),*))? => self.$semantics $arguments.outcome(),)*
                }
            }
        }
    };
}

instruction_table!(interpret);

/// The result of a method: most methods cannot fail, and few stop the warp.
trait Outcome {
    fn outcome(self) -> Result<Option<Pause>, Cause>;
}

impl Outcome for () {
    fn outcome(self) -> Result<Option<Pause>, Cause> {
        Ok(None)
    }
}

impl Outcome for Option<Pause> {
    fn outcome(self) -> Result<Option<Pause>, Cause> {
        Ok(self)
    }
}

impl<T: Outcome> Outcome for Result<T, Cause> {
    fn outcome(self) -> Result<Option<Pause>, Cause> {
        self.and_then(Outcome::outcome)
    }
}

impl Execution<'_, '_> {
    /// The lanes of a source.
    pub(super) fn source<S: Slot>(&self, number: usize) -> &[S; WARP] {
        self.warp.registers.get(self.step.src[number])
    }

    /// The lanes in which a source is true.
    pub(super) fn condition(&self, number: usize) -> u32 {
        self.warp.registers.pred(self.step.src[number])
    }

    /// Writes the first destination.
    pub(super) fn set<S: Slot>(&mut self, value: &[S; WARP]) {
        self.warp.registers.set(self.step.dst[0], self.mask, value);
    }

    /// Writes the first destination, a predicate.
    pub(super) fn set_pred(&mut self, value: u32) {
        self.warp.registers.set_pred(self.step.dst[0], self.mask, value);
    }

    /// Counts the traffic of the step.
    pub(super) fn note(&mut self, moved: Traffic) {
        self.cx.tallies[self.warp.pc as usize].traffic += moved;
    }

    /// `d = f(a)`.
    pub(super) fn unary<A: Number, D: Number>(&mut self, f: impl Fn(A) -> D) {
        let mut result = [D::Slot::default(); WARP];
        for (r, &a) in result.iter_mut().zip(self.source::<A::Slot>(0)) {
            *r = f(A::of(a)).slot();
        }
        self.set(&result);
    }

    /// `d = f(a, b)`.
    pub(super) fn binary<A: Number, B: Number, D: Number>(&mut self, f: impl Fn(A, B) -> D) {
        let (a, b) = (self.source::<A::Slot>(0), self.source::<B::Slot>(1));
        let mut result = [D::Slot::default(); WARP];
        for ((r, &a), &b) in result.iter_mut().zip(a).zip(b) {
            *r = f(A::of(a), B::of(b)).slot();
        }
        self.set(&result);
    }

    /// `d = f(a, b, c)`.
    pub(super) fn ternary<A: Number, B: Number, C: Number, D: Number>(&mut self, f: impl Fn(A, B, C) -> D) {
        let (a, b, c) = (self.source::<A::Slot>(0), self.source::<B::Slot>(1), self.source::<C::Slot>(2));
        let mut result = [D::Slot::default(); WARP];
        for (((r, &a), &b), &c) in result.iter_mut().zip(a).zip(b).zip(c) {
            *r = f(A::of(a), B::of(b), C::of(c)).slot();
        }
        self.set(&result);
    }
}
