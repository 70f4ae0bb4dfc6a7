//! The registers of a warp: an array of 32 lanes each, and which lanes of it are defined.

use super::WARP;
use super::program::Files;

/// A warp's registers. A register is addressed by its slot: first come the 32-bit registers, then
/// the 64-bit ones (doubles among them, as bits), then the predicates; each file ends with the
/// kernel's constants, which are registers that no instruction writes.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    narrow: Vec<[u32; WARP]>,
    wide: Vec<[u64; WARP]>,
    /// A predicate is a mask of lanes.
    preds: Vec<u32>,
    /// By slot: the lanes in which the register is defined.
    defined: Vec<u32>,
    wide_base: u32,
    pred_base: u32,
}

impl Registers {
    pub(super) fn new(files: &Files) -> Self {
        let mut registers = Self {
            narrow: vec![[0; WARP]; files.narrow.registers as usize],
            wide: vec![[0; WARP]; files.wide.registers as usize],
            preds: vec![0; files.preds.registers as usize],
            defined: Vec::new(),
            wide_base: files.narrow.len(),
            pred_base: files.narrow.len() + files.wide.len(),
        };
        registers.narrow.extend(files.narrow.constants.iter().map(|&bits| [bits as u32; WARP]));
        registers.wide.extend(files.wide.constants.iter().map(|&bits| [bits; WARP]));
        registers.preds.extend(files.preds.constants.iter().map(|&bits| if bits == 0 { 0 } else { u32::MAX }));
        for file in [&files.narrow, &files.wide, &files.preds] {
            registers.defined.extend((0..file.registers).map(|_| 0));
            registers.defined.extend(file.constants.iter().map(|_| u32::MAX));
        }
        registers
    }

    /// Makes every register undefined again.
    pub(super) fn reset(&mut self, files: &Files) {
        let mut base = 0;
        for file in [&files.narrow, &files.wide, &files.preds] {
            self.defined[base as usize..(base + file.registers) as usize].fill(0);
            base += file.len();
        }
    }

    /// The lanes in which the register is defined.
    pub(super) fn defined(&self, slot: u32) -> u32 {
        self.defined[slot as usize]
    }

    /// The register was written in these lanes.
    fn define(&mut self, slot: u32, mask: u32) {
        self.defined[slot as usize] |= mask;
    }

    /// The register is undefined in these lanes from now on.
    pub(super) fn poison(&mut self, slot: u32, mask: u32) {
        self.defined[slot as usize] &= !mask;
    }

    /// A predicate, as a mask of lanes.
    pub(super) fn pred(&self, slot: u32) -> u32 {
        self.preds[(slot - self.pred_base) as usize]
    }

    pub(super) fn set_pred(&mut self, slot: u32, mask: u32, value: u32) {
        let pred = &mut self.preds[(slot - self.pred_base) as usize];
        *pred = *pred & !mask | value & mask;
        self.define(slot, mask);
    }

    /// A register's lanes.
    pub(super) fn get<S: Slot>(&self, slot: u32) -> &[S; WARP] {
        S::lanes(self, slot)
    }

    /// Writes a register in the lanes of the mask.
    pub(super) fn set<S: Slot>(&mut self, slot: u32, mask: u32, value: &[S; WARP]) {
        merge(S::lanes_mut(self, slot), mask, value);
        self.define(slot, mask);
    }
}

/// Overwrites the lanes of the mask.
pub(super) fn merge<S: Copy>(target: &mut [S; WARP], mask: u32, value: &[S; WARP]) {
    if mask == u32::MAX {
        *target = *value;
        return;
    }
    for (lane, (t, &v)) in target.iter_mut().zip(value).enumerate() {
        if mask >> lane & 1 == 1 {
            *t = v;
        }
    }
}

/// The content of a register in one lane: 32 or 64 bits.
pub(super) trait Slot: Copy + Default {
    fn lanes(registers: &Registers, slot: u32) -> &[Self; WARP];
    fn lanes_mut(registers: &mut Registers, slot: u32) -> &mut [Self; WARP];
}

impl Slot for u32 {
    fn lanes(registers: &Registers, slot: u32) -> &[Self; WARP] {
        &registers.narrow[slot as usize]
    }

    fn lanes_mut(registers: &mut Registers, slot: u32) -> &mut [Self; WARP] {
        &mut registers.narrow[slot as usize]
    }
}

impl Slot for u64 {
    fn lanes(registers: &Registers, slot: u32) -> &[Self; WARP] {
        &registers.wide[(slot - registers.wide_base) as usize]
    }

    fn lanes_mut(registers: &mut Registers, slot: u32) -> &mut [Self; WARP] {
        &mut registers.wide[(slot - registers.wide_base) as usize]
    }
}

/// The type as which an operation reads or writes a register.
pub(super) trait Number: Copy {
    type Slot: Slot;
    fn of(slot: Self::Slot) -> Self;
    fn slot(self) -> Self::Slot;
}

macro_rules! value {
    ($($value:ty as $slot:ty: $of:expr, $to:expr;)*) => {$(
        impl Number for $value {
            type Slot = $slot;
            fn of(slot: $slot) -> Self { ($of)(slot) }
            fn slot(self) -> $slot { ($to)(self) }
        }
    )*};
}

value! {
    u32 as u32: |s| s, |v| v;
    i32 as u32: u32::cast_signed, i32::cast_unsigned;
    u64 as u64: |s| s, |v| v;
    i64 as u64: u64::cast_signed, i64::cast_unsigned;
    f64 as u64: f64::from_bits, f64::to_bits;
}
