//! A number under way: each limb in a register or in memory.

use warpmp_kernel::build::{Emit, R32, R64, V32};
use warpmp_kernel::ir::{Space, Vector};

#[derive(Clone, Copy, Debug)]
enum Limb {
    /// Not written yet.
    None,
    Register(R32),
    /// An address, and bytes above it.
    Memory(R64, u32),
}

/// Limbs, least significant first; above them zeros.
#[derive(Clone, Debug)]
pub(super) struct Number(Vec<Limb>);

impl Number {
    /// Registers, not yet written.
    pub(super) fn new(limbs: u32) -> Self {
        Self(vec![Limb::None; limbs as usize])
    }

    pub(super) fn in_memory(places: impl Iterator<Item = (R64, u32)>) -> Self {
        Self(places.map(|(base, offset)| Limb::Memory(base, offset)).collect())
    }

    pub(super) const fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Limb `i`: a load, if it is in memory.
    pub(super) fn get(&self, code: &mut impl Emit, i: u32) -> V32 {
        match self.0.get(i as usize) {
            Some(&Limb::Register(limb)) => limb.into(),
            Some(&Limb::Memory(base, offset)) => code.load_global(Space::Global, Vector::V1, base, offset)[0].into(),
            Some(Limb::None) | None => 0.into(),
        }
    }

    /// Overwrites limb `i`: a store, if it is in memory.
    pub(super) fn set(&mut self, code: &mut impl Emit, i: u32, limb: impl Into<V32>) {
        let register = match limb.into() {
            V32::Reg(register) => register,
            constant @ V32::Imm(_) => code.copy(constant),
        };
        match &mut self.0[i as usize] {
            Limb::Memory(base, offset) => code.store_global(Space::Global, &[register], *base, *offset),
            place => *place = Limb::Register(register),
        }
    }

    /// The number in registers.
    pub(super) fn to_registers(&self, code: &mut impl Emit) -> Self {
        let mut registers = Self::new(self.len());
        for i in 0..self.len() {
            let limb = self.get(code, i);
            registers.set(code, i, limb);
        }
        registers
    }

    /// Every limb in a register.
    pub(super) fn registers(&self, code: &mut impl Emit) -> Vec<R32> {
        let limbs = (0..self.len()).map(|i| self.get(code, i)).collect::<Vec<_>>();
        limbs
            .into_iter()
            .map(|limb| match limb {
                V32::Reg(register) => register,
                constant @ V32::Imm(_) => code.copy(constant),
            })
            .collect()
    }

    /// `len` limbs from limb `from` on, in the same places.
    pub(super) fn part(&self, from: u32, len: u32) -> Self {
        Self(self.0[from as usize..][..len as usize].to_vec())
    }

    /// Takes back a part that was written to.
    pub(super) fn put(&mut self, from: u32, part: &Self) {
        self.0[from as usize..][..part.0.len()].copy_from_slice(&part.0);
    }

    /// With one limb more, which is in a register.
    pub(super) fn and_one_more(&self) -> Self {
        let mut longer = self.clone();
        longer.0.push(Limb::None);
        longer
    }
}

/// Two numbers whose limbs alternate in memory, in registers: a load for each pair of limbs.
pub(super) fn load_pairs(code: &mut impl Emit, [first, second]: &[Number; 2]) -> [Number; 2] {
    let mut loaded = [Number::new(first.len()), Number::new(second.len())];
    for (i, limb) in (0..).zip(&first.0) {
        if let &Limb::Memory(base, offset) = limb {
            let pair = code.load_global(Space::Global, Vector::V2, base, offset);
            for (number, limb) in loaded.iter_mut().zip(pair) {
                number.set(code, i, limb);
            }
        }
    }
    loaded
}
