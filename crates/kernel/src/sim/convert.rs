//! The semantics of copies, conversions, and values that come from outside the registers.

use super::WARP;
use super::execution::Execution;
use crate::ir::{Class, Int, Round, Special, Width};

/// Where the dynamic shared memory begins in the shared address space: not at 0, as on the device.
pub(super) const SHARED_BASE: u32 = 1024;

impl Execution<'_, '_> {
    /// `mov`.
    pub(super) fn copy(&mut self, class: Class) {
        match class {
            Class::Pred => self.set_pred(self.condition(0)),
            Class::B32 => self.unary(|a: u32| a),
            Class::B64 | Class::F64 => self.unary(|a: u64| a),
        }
    }

    /// `mov.b64` to two words.
    pub(super) fn unpack(&mut self) {
        let whole = *self.source::<u64>(0);
        self.set(&whole.map(|a| a as u32));
        self.warp.registers.set(self.step.dst[1], self.mask, &whole.map(|a| (a >> 32) as u32));
    }

    /// `cvt` from an integer.
    pub(super) fn integer_to_double(&mut self, int: Int) {
        match int {
            Int::U32 => self.unary(|a: u32| f64::from(a)),
            Int::S32 => self.unary(|a: i32| f64::from(a)),
            Int::U64 => self.unary(|a: u64| a as f64),
            Int::S64 => self.unary(|a: i64| a as f64),
        }
    }

    /// `cvt` to an integer: saturates; NaN gives the top bit alone.
    pub(super) fn double_to_integer(&mut self, round: Round, int: Int) {
        let rounded = |a: f64| match round {
            Round::Nearest => a.round_ties_even(),
            Round::Zero => a.trunc(),
        };
        match int {
            Int::U32 => self.unary(|a: f64| if a.is_nan() { 1 << 31 } else { rounded(a) as u32 }),
            Int::S32 => self.unary(|a: f64| if a.is_nan() { i32::MIN } else { rounded(a) as i32 }),
            Int::U64 => self.unary(|a: f64| if a.is_nan() { 1 << 63 } else { rounded(a) as u64 }),
            Int::S64 => self.unary(|a: f64| if a.is_nan() { i64::MIN } else { rounded(a) as i64 }),
        }
    }

    /// Reads a special register.
    pub(super) fn special(&mut self, special: Special) {
        let first = self.warp.index * WARP as u32;
        let value = |lane: u32| match special {
            Special::Tid => first + lane,
            Special::Ntid => self.cx.grid.threads,
            Special::Ctaid => self.cx.block,
            Special::Nctaid => self.cx.grid.blocks,
            Special::Lane => lane,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskGt => !(((1 << lane) - 1) | (1 << lane)),
            Special::Clock => self.warp.executed as u32,
        };
        let values: [u32; WARP] = std::array::from_fn(|lane| value(lane as u32));
        self.set(&values);
    }

    /// The address of dynamic shared memory.
    pub(super) fn shared_base(&mut self) {
        self.set(&[SHARED_BASE; WARP]);
    }

    /// The address of the kernel's table.
    pub(super) fn table_base(&mut self) {
        self.set(&[self.cx.table; WARP]);
    }

    /// `ld.param`.
    pub(super) fn parameter(&mut self, width: Width) {
        let value = self.cx.args[self.step.imm[0] as usize];
        match width {
            Width::W32 => self.set(&[value as u32; WARP]),
            Width::W64 => self.set(&[value; WARP]),
        }
    }
}
