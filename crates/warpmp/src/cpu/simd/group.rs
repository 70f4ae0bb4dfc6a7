//! Eight lanes of a piece: their rows, and what their data are at fault in.

use super::super::rows::Piece;
use warpmp_simd::{MAX_LANES, Simd, digits};
use crate::operation::{Operation, Status};

/// Eight lanes, the last of which may be missing.
pub(super) struct Group<'r, S> {
    s: S,
    pub(super) first: usize,
    pub(super) filled: usize,
    /// The rows of the operands but the last, two at most.
    pub(super) operands: [[&'r [u32]; MAX_LANES]; 2],
    /// Those of the last one, the modulus. A lane that is missing or at fault has a harmless one: all ones.
    pub(super) moduli: [&'r [u32]; MAX_LANES],
    status: [Status; MAX_LANES],
}

impl<'r, S: Simd> Group<'r, S> {
    /// The group that begins at a lane. `harmless` is as long as a modulus.
    pub(super) fn new(s: S, piece: &Piece<'r>, first: usize, lanes: usize, harmless: &'r [u32]) -> Self {
        let filled = S::LANES.min(lanes - first);
        let mut moduli = [harmless; MAX_LANES];
        let mut status = [Status::Fine; MAX_LANES];
        let (last, others) = piece.operands.split_last().map_or((None, &[][..]), |(m, others)| (Some(m), others));
        let mut operands = [[&[][..]; MAX_LANES]; 2];
        for lane in 0..filled {
            for (rows, operand) in operands.iter_mut().zip(others) {
                rows[lane] = operand.row(first + lane);
            }
            let Some(m) = last.map(|m| m.row(first + lane)) else { continue };
            let row = |i: usize| operands[i][lane];
            status[lane] = fault(piece.operation, m, row);
            if status[lane] == Status::Fine {
                moduli[lane] = m;
            }
        }
        Self { s, first, filled, operands, moduli, status }
    }

    /// How a lane stands.
    pub(super) const fn status(&self, lane: usize) -> Status {
        self.status[lane]
    }

    /// Gives lanes that were fine another status.
    pub(super) fn refuse(&mut self, lanes: u8, status: Status) {
        for (lane, it) in self.status.iter_mut().enumerate() {
            if lanes >> lane & 1 == 1 && *it == Status::Fine {
                *it = status;
            }
        }
    }

    /// Bits of the moduli.
    pub(super) fn bits(&self) -> [usize; MAX_LANES] {
        self.moduli.map(bits)
    }

    /// The lanes that are not at fault.
    pub(super) fn fine(&self) -> u8 {
        self.status.iter().enumerate().fold(0, |lanes, (i, it)| lanes | u8::from(*it == Status::Fine) << i)
    }

    /// Stores reduced digits as rows of a result; zeros in lanes at fault.
    pub(super) fn store(&self, piece: &mut Piece<'_>, result: usize, digits: &mut [S::Vector], words: &mut [S::Vector]) {
        let fine = self.fine();
        if fine != u8::MAX {
            for digit in &mut *digits {
                *digit = self.s.select(self.s.mask(fine), *digit, self.s.zero());
            }
        }
        let limbs = piece.results[result].limbs;
        let rows = &mut piece.results[result].words[self.first * limbs..][..self.filled * limbs];
        digits::store(self.s, digits, words, rows, limbs);
    }

    /// Stores the statuses, the last result.
    pub(super) fn store_status(&self, piece: &mut Piece<'_>) {
        if let Some(rows) = piece.results.last_mut() {
            for (word, status) in rows.words[self.first..].iter_mut().zip(&self.status[..self.filled]) {
                *word = status.code();
            }
        }
    }
}

/// Rows of the first so many limbs.
pub(super) fn cut<'r>(rows: &[&'r [u32]; MAX_LANES], limbs: usize) -> [&'r [u32]; MAX_LANES] {
    rows.map(|row| &row[..row.len().min(limbs)])
}

/// Bits of a number.
pub(super) fn bits(row: &[u32]) -> usize {
    let top = row.iter().rposition(|limb| *limb != 0);
    top.map_or(0, |top| 32 * (top + 1) - row[top].leading_zeros() as usize)
}

/// What is wrong with the operands of a lane.
fn fault<'r>(operation: Operation, m: &[u32], operand: impl Fn(usize) -> &'r [u32]) -> Status {
    use Operation as O;
    let reduced = |i: usize| less(operand(i), m);
    let any_modulus = matches!(operation, O::MulMod | O::SqrMod | O::Reduce | O::DivRem | O::Rem);
    let is_reduced = || match operation {
        O::MontMul => reduced(0) && reduced(1),
        O::MontSqr | O::ToMont | O::FromMont => reduced(0),
        O::Redc => less(operand(0).get(m.len()..).unwrap_or_default(), m),
        _ => true,
    };
    match operation {
        // Not faults, but answers: no odd number above 1.
        O::StrongTest(_) | O::MillerRabin if m[0] & 1 == 0 || bits(m) == 1 => Status::NotReduced,
        _ if m.iter().all(|limb| *limb == 0) => Status::DivisionByZero,
        _ if !any_modulus && m[0] & 1 == 0 => Status::EvenModulus,
        _ if !is_reduced() => Status::NotReduced,
        _ => Status::Fine,
    }
}

/// Is `a < m`? They may differ in length.
fn less(a: &[u32], m: &[u32]) -> bool {
    let common = a.len().min(m.len());
    if a[common..].iter().any(|limb| *limb != 0) {
        return false;
    }
    if m[common..].iter().any(|limb| *limb != 0) {
        return true;
    }
    let differ = a[..common].iter().zip(&m[..common]).rev().find(|(a, m)| a != m);
    differ.is_some_and(|(a, m)| a < m)
}
