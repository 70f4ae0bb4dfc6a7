//! Operands on their way into modular arithmetic: the faults that make a status, and residues.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::{Montgomery, assign, repeat};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Frame, piece};

use crate::operation::Status;

/// Checks of operands, for kernels whose frame has a status a lane.
pub(in crate::kernels) trait Checks {
    /// The frame.
    fn frame(&self) -> &Frame;

    /// The modulus made odd, and the status: a fault if it was even or zero.
    fn odd_modulus(&self, b: &mut Builder, modulus: &[R32]) -> (Vec<R32>, R32) {
        let spread = &self.frame().spread;
        let lowest = spread.broadcast(b, modulus[0], 0);
        let parity = b.and(lowest, 1);
        let even = b.compare(Cmp::Eq, parity, 0);
        let zero = spread.is_zero(b, modulus);
        let status = b.select(Status::EvenModulus.code(), 0, even);
        let status = b.select(Status::DivisionByZero.code(), status, zero);
        let one = spread.small(b, 1);
        let mut odd = modulus.to_vec();
        odd[0] = b.or(odd[0], one[0]);
        (odd, status)
    }

    /// The status with a fault where `p` holds, unless there is a fault already.
    fn with_fault(b: &mut Builder, status: R32, fault: Status, p: Pred) -> R32 {
        let found = b.select(fault as u32, 0, p);
        let fine = b.compare(Cmp::Eq, status, 0);
        b.select(found, status, fine)
    }

    /// The status with [`Status::NotReduced`] where operand `operand` is not below `m·B^start`; `part`: its limbs from
    /// `start` on, as many as `m` has.
    fn require_below(
        &self,
        b: &mut Builder,
        status: R32,
        (operand, start): (usize, u32),
        part: &[R32],
        m: (&[R32], u32),
    ) -> R32 {
        let (_, borrow) = self.frame().spread.sub(b, part, m.0);
        let mut not_below = b.compare(Cmp::Eq, borrow, 0);
        let limbs = self.frame().limbs(operand);
        let held = self.frame().spread.group * self.frame().spread.length as u32;
        for start in (start + m.1..limbs).step_by(held as usize) {
            let part = self.frame().load_part(b, operand, start, held);
            let zero = self.frame().spread.is_zero(b, &part);
            let some = b.not_pred(zero);
            not_below = b.or_pred(not_below, some);
        }
        Self::with_fault(b, status, Status::NotReduced, not_below)
    }

    /// An operand as a residue for a modulus of `limbs` limbs; `square`: `R² mod m`.
    ///
    /// An operand of more limbs is `Σ aᵢ·Rⁱ` with `aᵢ < R`. Since `aᵢ·R²/R < m`, the sum is taken in residues from the
    /// top: `x ← x·R + aᵢ`.
    fn residue(&self, b: &mut Builder, ring: &Montgomery, (operand, limbs): (usize, u32), square: &[R32]) -> Vec<R32> {
        let length = self.frame().limbs(operand);
        let parts = length.div_ceil(limbs);
        let top = self.frame().load_part(b, operand, (parts - 1) * limbs, limbs);
        let residue = ring.mul(b, &top, square);
        if parts == 1 {
            return residue;
        }
        let x: Vec<R32> = residue.iter().map(|&limb| b.copy(limb)).collect();
        let row = self.frame().operand_row(b, operand);
        let row = b.add64(row, u64::from(4 * (parts - 1) * limbs));
        repeat(b, parts - 1, |b| {
            b.increase64(row, u64::from(4 * limbs).wrapping_neg());
            let part = self.frame().read(b, row, 0, limbs, piece(length).min(piece(limbs)));
            let higher = ring.mul(b, &x, square);
            let part = ring.mul(b, &part, square);
            let sum = ring.add(b, &higher, &part);
            assign(b, &x, &sum);
        });
        x
    }
}

impl Checks for Frame {
    fn frame(&self) -> &Frame {
        self
    }
}
