//! `cpu-constant-time`: powers modulo odd numbers, by instructions and addresses that do not depend on base or exponent.
//!
//! computes   `a^e mod m`; `x⁰ = 1 mod m`
//! requires   `m` odd (else the lane's status says so); `a`, `e` of any length
//! cost       with `n` words of the modulus and windows of `w` bits, `2n² + 2n` word products for each of about
//!            `bits + bits/w + 2^w` Montgomery products; a digit of the exponent reads the whole table
//!
//! Every loop's length comes from lengths of operands and from the modulus, which is public. A comparison's result is
//! a mask, and the compiler is not told that it is one, so it makes no branch of it. No program in a language with an
//! optimising compiler can do more: the processors of today multiply and add in the same time whatever the operands,
//! but nobody promises it. Memory is not wiped.
//!
//! The arithmetic, its bound and its source stand in [`warpmp_simd::words`]. A base longer than the modulus is `Σ aᵢ·Rⁱ`,
//! taken from the top.
//!
//! source: Handbook of Applied Cryptography 14.82.

use dashu_int::UBig;
use warpmp_simd::words::{Modulus, equal_mask};

use super::rows::{Piece, digit_of, load, store};
use crate::operation::Status;

/// Longest window, in bits: a longer one gains less than reading its table takes.
const MAX_WINDOW: usize = 5;

/// Raises the rows of a piece to their powers.
pub(super) fn power(mut piece: Piece<'_>) {
    let [a, e, m] = [0, 1, 2].map(|i| piece.operands[i]);
    let (lanes, preconditions) = (piece.lanes(), piece.operation.preconditions());
    let mut ring: Option<Ring> = None;
    let mut base = vec![0; a.limbs().div_ceil(2)];
    for lane in 0..lanes {
        let row = m.row(lane);
        let status = preconditions.check(|i| [a, e, m][i].row(lane));
        piece.put_word(1, lane, u64::from(status.code()));
        let result = &mut piece.results[0];
        let result = &mut result.words[lane * result.limbs..][..result.limbs];
        if status != Status::Fine {
            result.fill(0);
            continue;
        }
        let ring = match ring.take().filter(|known| known.row == row) {
            Some(known) => ring.insert(known),
            None => ring.insert(Ring::new(row)),
        };
        load(a.row(lane), &mut base);
        store(&ring.power(&base, e.row(lane), e.bits()), result);
    }
}

/// An odd modulus of `n` words, and what is computed from it once. `R = 2^(64n)`.
struct Ring {
    /// The modulus as it was given.
    row: Vec<u32>,
    m: Modulus,
    /// `R mod m`.
    one: Vec<u64>,
    /// `R² mod m`.
    square: Vec<u64>,
}

impl Ring {
    fn new(row: &[u32]) -> Self {
        let n = row.len().div_ceil(2);
        let mut m = vec![0; n];
        load(row, &mut m);
        let bytes: Vec<u8> = row.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let modulus = UBig::from_le_bytes(&bytes);
        // A remainder's time depends on the modulus alone.
        let of = |number: UBig| {
            let mut bytes = (number % &modulus).to_le_bytes().into_vec();
            bytes.resize(8 * n, 0);
            bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<u64>>()
        };
        let one = of(UBig::ONE << (64 * n));
        let square = of(UBig::ONE << (128 * n));
        Self { row: row.to_vec(), one, square, m: Modulus::new(m) }
    }

    /// `a^e mod m` for an exponent of at most so many bits.
    fn power(&self, a: &[u64], e: &[u32], bits: usize) -> Vec<u64> {
        let n = self.one.len();
        let window = (1..=MAX_WINDOW).min_by_key(|w| (1 << w) + bits.div_ceil(*w)).unwrap_or(1);
        let mut scratch = vec![0; 2 * n];
        let mut table = self.one.clone();
        let base = self.residue(a, &mut scratch);
        let mut x = self.one.clone();
        for _ in 1..1 << window {
            self.m.multiply(&mut x, &base, &mut scratch);
            table.extend_from_slice(&x);
        }
        x.copy_from_slice(&self.one);
        let mut chosen = vec![0; n];
        for digit in (0..bits.div_ceil(window)).rev() {
            for _ in 0..window {
                self.m.square(&mut x, &mut scratch);
            }
            choose(&table, digit_of(e, digit * window, window), &mut chosen);
            self.m.multiply(&mut x, &chosen, &mut scratch);
        }
        let mut unit = vec![0; n];
        unit[0] = 1;
        self.m.multiply(&mut x, &unit, &mut scratch);
        x
    }

    /// `a·R mod m`.
    fn residue(&self, a: &[u64], scratch: &mut [u64]) -> Vec<u64> {
        let n = self.one.len();
        let mut x = vec![0; n];
        for words in a.chunks(n).rev() {
            let mut part = words.to_vec();
            part.resize(n, 0);
            self.m.multiply(&mut part, &self.square, scratch);
            self.m.multiply(&mut x, &self.square, scratch);
            self.m.add(&mut x, &part, scratch);
        }
        x
    }
}

/// Copies the residue of this number from the table, by reading all of it.
fn choose(table: &[u64], number: u64, residue: &mut [u64]) {
    residue.fill(0);
    for (i, entry) in (0_u64..).zip(table.chunks_exact(residue.len())) {
        let mask = equal_mask(i, number);
        for (chosen, &word) in residue.iter_mut().zip(entry) {
            *chosen |= word & mask;
        }
    }
}
