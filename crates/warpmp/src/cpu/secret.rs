//! `cpu-constant-time`: powers modulo odd numbers, by instructions and addresses that do not depend on base or exponent.
//!
//! computes   `a^e mod m`; `x⁰ = 1 mod m`
//! requires   `m` odd (else the lane's status says so); `a`, `e` of any length
//! cost       with `n` words of the modulus and windows of `w` bits, `2n² + 2n` word products for each of about
//!            `bits + bits/w + 2^w` Montgomery products; a digit of the exponent reads the whole table
//!
//! Every loop's length comes from lengths of operands and from the modulus, which is public. What a comparison finds is
//! a mask, of which the compiler is not told that it is one, so that it makes no branch of it. That is as far as a
//! program in a language with an optimising compiler goes: the processor's products and additions take the same time
//! whatever their operands on the machines of today, but nobody promises it. Memory is not wiped.
//!
//! bound: a product's sum is `t < 2m` before each row, so that it and the row's two products fit in `n + 2` words; in
//! the end one subtraction reduces it. A base longer than the modulus is `Σ aᵢ·Rⁱ`, taken from the top.
//!
//! source: Montgomery 1985, by words as in Koç, Acar and Kaliski 1996; Handbook of Applied Cryptography 14.82.

use std::hint::black_box;

use dashu_int::UBig;

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
    m: Vec<u64>,
    /// `−m⁻¹ mod 2⁶⁴`.
    inverse: u64,
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
        let inverse =
            (0..4).fold(m[0].wrapping_mul(3) ^ 2, |x, _| x.wrapping_mul(2_u64.wrapping_sub(m[0].wrapping_mul(x))));
        let one = of(UBig::ONE << (64 * n));
        let square = of(UBig::ONE << (128 * n));
        Self { row: row.to_vec(), inverse: inverse.wrapping_neg(), one, square, m }
    }

    /// `a^e mod m` for an exponent of at most so many bits.
    fn power(&self, a: &[u64], e: &[u32], bits: usize) -> Vec<u64> {
        let n = self.m.len();
        let window = (1..=MAX_WINDOW).min_by_key(|w| (1 << w) + bits.div_ceil(*w)).unwrap_or(1);
        let mut scratch = vec![0; n + 2];
        let mut table = self.one.clone();
        let base = self.residue(a, &mut scratch);
        let mut x = self.one.clone();
        for _ in 1..1 << window {
            self.multiply(&mut x, &base, &mut scratch);
            table.extend_from_slice(&x);
        }
        x.copy_from_slice(&self.one);
        let mut chosen = vec![0; n];
        for digit in (0..bits.div_ceil(window)).rev() {
            for _ in 0..window {
                let factor = x.clone();
                self.multiply(&mut x, &factor, &mut scratch);
            }
            choose(&table, digit_of(e, digit * window, window), &mut chosen);
            self.multiply(&mut x, &chosen, &mut scratch);
        }
        let mut unit = vec![0; n];
        unit[0] = 1;
        self.multiply(&mut x, &unit, &mut scratch);
        x
    }

    /// `a·R mod m`.
    fn residue(&self, a: &[u64], scratch: &mut [u64]) -> Vec<u64> {
        let n = self.m.len();
        let mut x = vec![0; n];
        for words in a.chunks(n).rev() {
            let mut part = words.to_vec();
            part.resize(n, 0);
            self.multiply(&mut part, &self.square, scratch);
            self.multiply(&mut x, &self.square, scratch);
            self.add(&mut x, &part);
        }
        x
    }

    /// `x ← x·y/R mod m` for `x < R` and `y < m`. Scratch: two words more than the modulus.
    fn multiply(&self, x: &mut [u64], y: &[u64], t: &mut [u64]) {
        let n = self.m.len();
        t.fill(0);
        for &limb in x.iter() {
            let carry = add_row(&mut t[..n], y, limb);
            let (sum, over) = t[n].overflowing_add(carry);
            (t[n], t[n + 1]) = (sum, u64::from(over));
            let quotient = t[0].wrapping_mul(self.inverse);
            let carry = add_row(&mut t[..n], &self.m, quotient);
            let (sum, over) = t[n].overflowing_add(carry);
            (t[n], t[n + 1]) = (sum, t[n + 1] + u64::from(over));
            t.copy_within(1.., 0);
        }
        self.reduce_once(x, &t[..n], t[n]);
    }

    /// `x ← x + y mod m` for `x, y < m`.
    fn add(&self, x: &mut [u64], y: &[u64]) {
        let mut carry = 0;
        let sum: Vec<u64> = x.iter().zip(y).map(|(&x, &y)| step(x, y, &mut carry)).collect();
        self.reduce_once(x, &sum, carry);
    }

    /// `x ← t + above·R mod m` for a number below `2m`.
    fn reduce_once(&self, x: &mut [u64], t: &[u64], above: u64) {
        let mut borrow = 0;
        for ((x, &t), &m) in x.iter_mut().zip(t).zip(&self.m) {
            let difference = u128::from(t).wrapping_sub(u128::from(m)).wrapping_sub(borrow);
            *x = difference as u64;
            borrow = (difference >> 64) & 1;
        }
        // It stays as it is where there is a borrow that `above` does not cover.
        let mask = black_box((above ^ borrow as u64).wrapping_neg()) & black_box((borrow as u64).wrapping_neg());
        for (x, &t) in x.iter_mut().zip(t) {
            *x ^= mask & (*x ^ t);
        }
    }
}

/// `t ← t + x·y`, the carry.
fn add_row(t: &mut [u64], x: &[u64], y: u64) -> u64 {
    let mut carry = 0;
    for (t, &x) in t.iter_mut().zip(x) {
        let sum = u128::from(x) * u128::from(y) + u128::from(*t) + u128::from(carry);
        (*t, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}

/// `x + y` and a carry, which is replaced.
fn step(x: u64, y: u64, carry: &mut u64) -> u64 {
    let sum = u128::from(x) + u128::from(y) + u128::from(*carry);
    *carry = (sum >> 64) as u64;
    sum as u64
}

/// Copies the residue of this number from the table, by reading all of it.
fn choose(table: &[u64], number: u64, residue: &mut [u64]) {
    residue.fill(0);
    for (i, entry) in (0_u64..).zip(table.chunks_exact(residue.len())) {
        let other = i ^ number;
        // All ones where nothing differs.
        let mask = black_box(((other | other.wrapping_neg()) >> 63).wrapping_sub(1));
        for (chosen, &word) in residue.iter_mut().zip(entry) {
            *chosen |= word & mask;
        }
    }
}
