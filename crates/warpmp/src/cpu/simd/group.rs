//! The lanes of a vector: their rows and their faults.

use warpmp_simd::{MAX_LANES, Simd, digits};

use super::super::rows::Piece;
use crate::operation::Status;

/// The lanes of a vector, the last of which may be missing.
pub(super) struct Group<'r, S> {
    s: S,
    pub(super) first: usize,
    pub(super) filled: usize,
    /// The rows of the operands but the last, two at most.
    pub(super) operands: [[&'r [u32]; MAX_LANES]; 2],
    /// The rows of the last operand, the modulus. A lane that is missing, at fault or unsuited has a harmless one: all
    /// ones.
    pub(super) moduli: [&'r [u32]; MAX_LANES],
    status: [Status; MAX_LANES],
    /// The lanes, one bit each, without a fault whose modulus the vectors do not take.
    unsuited: u8,
}

impl<'r, S: Simd> Group<'r, S> {
    /// The group that begins at lane `first`. `harmless` is as long as a modulus; `suits`: do the vectors take this modulus?
    pub(super) fn new(
        s: S,
        piece: &Piece<'r>,
        first: usize,
        lanes: usize,
        harmless: &'r [u32],
        suits: impl Fn(&[u32]) -> bool,
    ) -> Self {
        let preconditions = piece.operation.preconditions();
        let mut unsuited = 0;
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
            status[lane] = preconditions.check(|i| piece.operands[i].row(first + lane));
            if status[lane] == Status::Fine {
                if suits(m) {
                    moduli[lane] = m;
                } else {
                    unsuited |= 1 << lane;
                }
            }
        }
        Self { s, first, filled, operands, moduli, status, unsuited }
    }

    /// The lanes of the piece, by their numbers, that the vectors do not take.
    pub(super) fn unsuited(&self) -> impl Iterator<Item = usize> {
        let (first, unsuited) = (self.first, self.unsuited);
        (0..MAX_LANES).filter(move |lane| unsuited >> lane & 1 == 1).map(move |lane| first + lane)
    }

    /// Gives lanes that were fine another status.
    pub(super) fn refuse(&mut self, lanes: u8, status: Status) {
        let lanes = lanes & !self.unsuited;
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

    /// The lanes, one bit each, that the vectors compute.
    pub(super) fn fine(&self) -> u8 {
        !self.unsuited
            & self.status.iter().enumerate().fold(0, |lanes, (i, it)| lanes | u8::from(*it == Status::Fine) << i)
    }

    /// Stores reduced digits as rows of a result; zeros in lanes at fault.
    pub(super) fn store(
        &self,
        piece: &mut Piece<'_>,
        result: usize,
        digits: &mut [S::Vector],
        words: &mut [S::Vector],
    ) {
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

/// Is a modulus odd?
pub(super) fn is_odd(m: &[u32]) -> bool {
    m[0] & 1 == 1
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

/// Factors of two of a number; a zero has none.
pub(super) fn twos(row: &[u32]) -> Option<usize> {
    let zeros = row.iter().position(|limb| *limb != 0)?;
    Some(32 * zeros + row[zeros].trailing_zeros() as usize)
}
