//! `cpu-linear`: sums, differences, comparisons, shifts, logic and modular sums, word by word.
//!
//! computes   a lane at a time, in words of 64 bits
//! cost       about one addition with carry a word and operand
//!
//! bound: a step computes `x + y + carry ≤ 2·(2⁶⁴ − 1) + 1`, which has 65 bits: the word and the carry. All numbers
//! of a lane have as many words as the longest operand or result and one more, so that no carry leaves them.

#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use super::rows::{Piece, Rows, load, store};
use super::sums;
use crate::operation::{Operation, Status, division, modular, montgomery, product, product_part};

/// Does the operation of a piece.
pub(super) fn run(mut piece: Piece<'_>) {
    if sums::run(&mut piece) {
        return;
    }
    let mut work = Lane::new(&piece);
    for lane in 0..piece.lanes() {
        work.load(&piece, lane);
        if let Some(word) = work.compute(&piece, lane) {
            piece.put_word(1, lane, word);
        }
        piece.put(0, lane, &work.x);
    }
}

/// Bit 0 of an operand.
fn low_bit(piece: &Piece<'_>, operand: usize, lane: usize) -> u64 {
    u64::from(piece.operands[operand].row(lane)[0] & 1)
}

/// The numbers of a lane.
struct Lane {
    x: Vec<u64>,
    y: Vec<u64>,
    m: Vec<u64>,
}

impl Lane {
    fn new(piece: &Piece<'_>) -> Self {
        let operands = piece.operands.iter().map(|rows| rows.limbs());
        let limbs = operands.chain(piece.results.iter().map(|rows| rows.limbs)).max().unwrap_or(0);
        let number = || vec![0; limbs.div_ceil(2) + 1];
        Self { x: number(), y: number(), m: number() }
    }

    /// Brings the operands of a lane.
    fn load(&mut self, piece: &Piece<'_>, lane: usize) {
        use Operation as O;
        let Self { x, y, m } = self;
        let operands = &piece.operands;
        match piece.operation {
            O::Add
            | O::WrappingAdd
            | O::Sub
            | O::WrappingSub
            | O::Cmp
            | O::CarryingAdd
            | O::BorrowingSub
            | O::And
            | O::Or
            | O::Xor => {
                unsigned(operands[0], lane, x);
                unsigned(operands[1], lane, y);
            }
            O::Select => unsigned(operands[if low_bit(piece, 0, lane) == 1 { 1 } else { 2 }], lane, x),
            O::SignedAdd | O::SignedSub | O::SignedCmp => {
                signed(operands[0], lane, x);
                signed(operands[1], lane, y);
            }
            O::SignedNeg => {
                x.fill(0);
                signed(operands[0], lane, y);
            }
            O::Neg | O::WrappingNeg => {
                x.fill(0);
                unsigned(operands[0], lane, y);
            }
            O::SignExtend(_) | O::ToSignMagnitude => signed(operands[0], lane, x),
            O::AddMod | O::SubMod => {
                unsigned(operands[0], lane, x);
                unsigned(operands[1], lane, y);
                unsigned(operands[2], lane, m);
            }
            O::NegMod => {
                x.fill(0);
                unsigned(operands[0], lane, y);
                unsigned(operands[1], lane, m);
            }
            O::Shl(_) | O::WrappingShl(_) | O::Shr(_) | O::Not | O::FromSignMagnitude => {
                unsigned(operands[0], lane, x);
            }
            // The engine never asks for the other groups.
            product!() | product_part!() | division!() | modular!() | montgomery!() => {}
        }
    }

    /// The first result into `x`, and the second one, a word, if there is one.
    fn compute(&mut self, piece: &Piece<'_>, lane: usize) -> Option<u64> {
        use Operation as O;
        let Self { x, y, m } = self;
        let constant = piece.operation.constant().unwrap_or(0) as usize;
        match piece.operation {
            O::Add | O::WrappingAdd | O::SignedAdd => {
                add(x, y, 0);
            }
            O::Sub | O::WrappingSub | O::SignedSub | O::Neg | O::WrappingNeg | O::SignedNeg => {
                sub(x, y, 0);
            }
            O::CarryingAdd => {
                add(x, y, low_bit(piece, 2, lane));
                return Some(bit_of(x, piece.results[0].bits));
            }
            O::BorrowingSub => {
                sub(x, y, low_bit(piece, 2, lane));
                return Some(bit_of(x, piece.results[0].bits));
            }
            O::Cmp | O::SignedCmp => {
                sub(x, y, 0);
                let less = x[x.len() - 1] >> 63 == 1;
                let order = u64::from(x.iter().any(|word| *word != 0));
                x.fill(0);
                x[0] = order | u64::from(less) << 1;
            }
            O::And => x.iter_mut().zip(&*y).for_each(|(x, y)| *x &= y),
            O::Or => x.iter_mut().zip(&*y).for_each(|(x, y)| *x |= y),
            O::Xor => x.iter_mut().zip(&*y).for_each(|(x, y)| *x ^= y),
            O::Not => x.iter_mut().for_each(|x| *x = !*x),
            O::Shl(_) | O::WrappingShl(_) => shift_left(x, constant),
            O::Shr(_) => shift_right(x, constant),
            O::ToSignMagnitude => {
                let negative = x[x.len() - 1] >> 63;
                negate_if(x, negative);
                return Some(negative);
            }
            O::FromSignMagnitude => negate_if(x, low_bit(piece, 1, lane)),
            O::AddMod | O::SubMod | O::NegMod => {
                let status = piece.operation.preconditions().check(|i| piece.operands[i].row(lane));
                if status != Status::Fine {
                    x.fill(0);
                } else if piece.operation == O::AddMod {
                    add_mod(x, y, m);
                } else {
                    sub_mod(x, y, m);
                }
                return Some(u64::from(status.code()));
            }
            O::Select | O::SignExtend(_) | product!() | product_part!() | division!() | modular!() | montgomery!() => {}
        }
        None
    }
}

/// A row as an unsigned number.
pub(super) fn unsigned(rows: Rows<'_>, lane: usize, words: &mut [u64]) {
    words[rows.limbs().div_ceil(2)..].fill(0);
    load(rows.row(lane), words);
}

/// A row as a two's complement.
fn signed(rows: Rows<'_>, lane: usize, words: &mut [u64]) {
    unsigned(rows, lane, words);
    let bits = rows.bits();
    if bit_of(words, bits - 1) == 1 && bits / 64 < words.len() {
        words[bits / 64] |= u64::MAX << (bits % 64);
        words[bits / 64 + 1..].fill(u64::MAX);
    }
}

fn bit_of(words: &[u64], bit: usize) -> u64 {
    words[bit / 64] >> (bit % 64) & 1
}

/// `x + y + carry`, without what leaves the last word.
fn add(x: &mut [u64], y: &[u64], mut carry: u64) {
    for (x, y) in x.iter_mut().zip(y) {
        let sum = u128::from(*x) + u128::from(*y) + u128::from(carry);
        (*x, carry) = (sum as u64, (sum >> 64) as u64);
    }
}

/// `x − y − borrow`, without what leaves the last word.
fn sub(x: &mut [u64], y: &[u64], mut borrow: u64) {
    for (x, y) in x.iter_mut().zip(y) {
        let difference = u128::from(*x).wrapping_sub(u128::from(*y)).wrapping_sub(u128::from(borrow));
        (*x, borrow) = (difference as u64, (difference >> 64) as u64 & 1);
    }
}

fn negate_if(x: &mut [u64], negative: u64) {
    let (mask, mut carry) = (negative.wrapping_neg(), negative);
    for x in x {
        let (sum, out) = (*x ^ mask).overflowing_add(carry);
        (*x, carry) = (sum, u64::from(out));
    }
}

fn shift_left(x: &mut [u64], n: usize) {
    let (words, bits) = (n / 64, n % 64);
    for i in (0..x.len()).rev() {
        let word = |i: usize| i.checked_sub(words).map_or(0, |i| x[i]);
        let below = if bits == 0 || i == 0 { 0 } else { word(i - 1) >> (64 - bits) };
        x[i] = word(i) << bits | below;
    }
}

fn shift_right(x: &mut [u64], n: usize) {
    let (words, bits) = (n / 64, n % 64);
    for i in 0..x.len() {
        let word = |i: usize| i.checked_add(words).and_then(|i| x.get(i)).copied().unwrap_or(0);
        let above = if bits == 0 { 0 } else { word(i + 1) << (64 - bits) };
        x[i] = word(i) >> bits | above;
    }
}

/// `x + y mod m` into `x`, for operands below `m`.
///
/// source: Carlessi and Kashani 2013, Listing 3.14.
fn add_mod(x: &mut [u64], y: &[u64], m: &[u64]) {
    add(x, y, 0);
    sub(x, m, 0);
    add_if_negative(x, m);
}

/// `x − y mod m` into `x`, for operands below `m`.
///
/// source: Carlessi and Kashani 2013, Listing 3.16.
fn sub_mod(x: &mut [u64], y: &[u64], m: &[u64]) {
    sub(x, y, 0);
    add_if_negative(x, m);
}

/// Adds `m` to a negative number: there is a word more than the numbers need, whose top bit is the sign.
fn add_if_negative(x: &mut [u64], m: &[u64]) {
    if x[x.len() - 1] >> 63 == 1 {
        add(x, m, 0);
    }
}

impl Piece<'_> {
    /// Stores a number as a lane of a result, without the bits that the result does not have.
    pub(super) fn put(&mut self, result: usize, lane: usize, words: &[u64]) {
        let rows = &mut self.results[result];
        let row = &mut rows.words[lane * rows.limbs..][..rows.limbs];
        store(words, row);
        if let (1.., Some(top)) = (rows.bits % 32, row.last_mut()) {
            *top &= (1 << (rows.bits % 32)) - 1;
        }
    }

    /// Stores a number of one limb.
    pub(super) fn put_word(&mut self, result: usize, lane: usize, word: u64) {
        self.put(result, lane, &[word]);
    }
}
