//! Decimal digits of integers, both ways. Up to some thousands of bits this is a few times as fast as a general library.
//! Longer numbers are halved by powers of ten, with products by transforms and reciprocals, until they are short enough.
//!
//! **Words to digits.** Let `D = 10^19`, the largest power of ten in a word of 64 bits, and `T[i][j]` the digit of
//! `D^i` in `2^(64j)`, written to the base `D`. Then `Σⱼ wⱼ·2^(64j) = Σᵢ (Σⱼ wⱼ·T[i][j])·D^i`: each column is a sum of
//! independent products, and only the `n` columns are divided by `D`, with its reciprocal. The usual method has `n²/2`
//! divisions, one after the other. Tables are made when they are first needed.
//!
//! **Bound.** There are at most `2^8` words, `wⱼ < 2^64` and `T[i][j] < D < 2^63.12`: a column sums to less than `2^135.12`.
//! The carry into it is below `2^73`, and so is the next one, as `(2^135.12 + 2^73) / D < 2^73`. A column with its carry
//! is thus three words, the uppermost below `2^8`; the division requires less than `D`. A carry is two words, the upper
//! one below `2^9`.
//!
//! **Digits to words.** `x·D + chunk` for 19 digits at a time. The chunk and each carry are below `D`, so `word·D + carry` is at
//! most `(2^64 - 1)·D + D - 1 < D·2^64`, and the next carry is below `D` again.
//!
//! **Source.** Division by an invariant word: N. Möller, T. Granlund, *Improved division by invariant integers*, 2011,
//! algorithm 4.

use std::sync::OnceLock;

use dashu_int::UBig;
use warpmp::long::{Divisor, product};

/// Digits of a chunk: as many as a word holds.
const CHUNK: usize = 19;
/// 10 to the power of [`CHUNK`].
const BASE: u64 = 10_000_000_000_000_000_000;
/// `⌊(2^128 - 1) / BASE⌋ - 2^64`.
#[expect(clippy::cast_possible_truncation, reason = "the upper word is a one, which is left out")]
const RECIPROCAL: u64 = (u128::MAX / BASE as u128) as u64;
/// The smallest table is for numbers of this many words; each further table is for twice as many.
const TABLE_LEAST: usize = 16;
/// Words of the largest number that is not split.
const TABLE_MOST: usize = 256;
/// For [`TABLE_LEAST`] to [`TABLE_MOST`] words.
static TABLES: [OnceLock<Table>; 5] = [const { OnceLock::new() }; 5];
/// Chunks of the parts that long numbers are split into; they fit in [`TABLE_MOST`] words.
const LEAF: usize = 256;
/// Digits of the longest number that is read without splitting.
const READ_MOST: usize = CHUNK * LEAF;
/// See [`power`].
static POWERS: [OnceLock<Divisor>; usize::BITS as usize] = [const { OnceLock::new() }; usize::BITS as usize];

/// The quotient and the remainder of `high·2^64 + low` by [`BASE`]; `high` is less than that.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "words of a double word")]
fn divided(high: u64, low: u64) -> (u64, u64) {
    let estimate = u128::from(RECIPROCAL) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let mut quotient = ((estimate >> 64) as u64).wrapping_add(1);
    let mut rest = low.wrapping_sub(quotient.wrapping_mul(BASE));
    if rest > estimate as u64 {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(BASE);
    }
    if rest >= BASE {
        quotient += 1;
        rest -= BASE;
    }
    (quotient, rest)
}

/// Powers of `2^64` to the base [`BASE`], digit by digit.
#[derive(Debug)]
struct Table {
    /// For each digit in turn, the powers that have this digit.
    digits: Vec<u64>,
    columns: Vec<Column>,
}

/// A digit of the powers.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Where the powers' digits start in [`Table::digits`].
    start: usize,
    /// The first power that has this digit.
    first: usize,
}

impl Table {
    /// For numbers of `words` words.
    fn new(words: usize) -> Self {
        let mut power = vec![1];
        let mut powers = Vec::with_capacity(words);
        for _ in 0..words {
            let mut carry = 0;
            let mut next: Vec<u64> = Vec::with_capacity(power.len() + 2);
            for digit in &power {
                let (quotient, rest) = divided(*digit, carry);
                next.push(rest);
                carry = quotient;
            }
            while carry > 0 {
                next.push(carry % BASE);
                carry /= BASE;
            }
            powers.push(std::mem::replace(&mut power, next));
        }
        let mut table = Self { digits: Vec::new(), columns: Vec::new() };
        for column in 0..powers.last().map_or(0, Vec::len) {
            let first = powers.partition_point(|power| power.len() <= column);
            table.columns.push(Column { start: table.digits.len(), first });
            table.digits.extend(powers[first..].iter().map(|power| power[column]));
        }
        table
    }

    /// One for numbers of `words` words, at most [`TABLE_MOST`].
    fn of(words: usize) -> &'static Self {
        let class = doublings(words.div_ceil(TABLE_LEAST));
        TABLES[class].get_or_init(|| Self::new(TABLE_LEAST << class))
    }

    /// Words as chunks, both least significant first. The chunks suffice for any words of this number.
    fn chunks(&self, words: &[u64], chunks: &mut Vec<u64>) {
        let (mut low_carry, mut high_carry) = (0u64, 0u64);
        for column in self.columns.iter().take_while(|column| column.first < words.len()) {
            let words = &words[column.first..];
            let (low, middle, top) = sum_of_products(words, &self.digits[column.start..][..words.len()]);
            let (mut upper, mut rest) = divided(top, middle);
            let (low, carry) = low.overflowing_add(low_carry);
            // At most D + 2^9.
            rest += high_carry + u64::from(carry);
            if rest >= BASE {
                rest -= BASE;
                upper += 1;
            }
            let (lower, chunk) = divided(rest, low);
            chunks.push(chunk);
            (low_carry, high_carry) = (lower, upper);
        }
        // What is above the last column that the uppermost word's power has.
        while low_carry | high_carry != 0 {
            let (lower, chunk) = divided(high_carry, low_carry);
            chunks.push(chunk);
            (low_carry, high_carry) = (lower, 0);
        }
    }
}

/// The three words of the sum of products of `a` and `b`, least significant first.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "words of a double word")]
fn sum_of_products(a: &[u64], b: &[u64]) -> (u64, u64, u64) {
    let (mut sum, mut top) = (0u128, 0);
    for (a, b) in a.iter().zip(b) {
        let (next, carry) = sum.overflowing_add(u128::from(*a) * u128::from(*b));
        sum = next;
        top += u64::from(carry);
    }
    (sum as u64, (sum >> 64) as u64, top)
}

/// All pairs of digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// The digits of a chunk, with leading zeros.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "eight digits fit 32 bits")]
fn chunk_text(chunk: u64) -> [u8; CHUNK] {
    let mut text = [b'0'; CHUNK];
    let (top, rest) = (chunk / 10_000_000_000_000_000, chunk % 10_000_000_000_000_000);
    text[0] += (top / 100) as u8;
    text[1..3].copy_from_slice(&PAIRS[(top % 100) as usize]);
    for (eight, text) in [rest / 100_000_000, rest % 100_000_000].into_iter().zip(text[3..].chunks_exact_mut(8)) {
        let eight = eight as u32;
        let (high, low) = (eight / 10_000, eight % 10_000);
        for (pair, text) in [high / 100, high % 100, low / 100, low % 100].into_iter().zip(text.chunks_exact_mut(2)) {
            text.copy_from_slice(&PAIRS[pair as usize]);
        }
    }
    text
}

/// Appends the decimal digits of limbs, least significant first; none for zero.
pub(crate) fn write(limbs: &[u32], text: &mut Vec<u8>) {
    let word = |pair: &[u32]| pair.iter().rev().fold(0, |word, limb| word << 32 | u64::from(*limb));
    let mut words = limbs.chunks(2).map(word);
    if limbs.len() <= 4 {
        let mut word = || words.next().unwrap_or(0);
        append(&chunks_of_two([word(), word()]), None, text);
    } else if limbs.len() <= 2 * TABLE_MOST {
        write_short(&words.collect::<Vec<_>>(), None, text);
    } else {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        // 10^19 > 2^63.1, and 64 / 63.1 < 65 / 64.
        let chunks = limbs.len().div_ceil(2) * 65 / 64 + 1;
        write_long(&UBig::from_le_bytes(&bytes), doublings(chunks.div_ceil(LEAF)), text.len(), text);
    }
}

/// The chunks of two words. For so few words a table costs more than it saves.
fn chunks_of_two([low, high]: [u64; 2]) -> [u64; 3] {
    let (lower, first) = divided(high % BASE, low);
    let (third, second) = divided(high / BASE, lower);
    [first, second, third]
}

/// Appends the digits of at most [`TABLE_MOST`] words, with leading zeros to at least `least` chunks.
fn write_short(words: &[u64], least: Option<usize>, text: &mut Vec<u8>) {
    let mut chunks = Vec::with_capacity((words.len() + 8).max(least.unwrap_or(0)));
    Table::of(words.len()).chunks(words, &mut chunks);
    append(&chunks, least, text);
}

/// Appends the digits of chunks, least significant first, with leading zeros to at least `least` chunks.
fn append(chunks: &[u64], least: Option<usize>, text: &mut Vec<u8>) {
    let used = chunks.iter().rposition(|chunk| *chunk != 0).map_or(0, |top| top + 1);
    text.reserve(CHUNK * used.max(least.unwrap_or(0)));
    let mut chunks = chunks[..used].iter().rev();
    if let Some(least) = least {
        text.resize(text.len() + CHUNK * least.saturating_sub(used), b'0');
    } else if let Some(top) = chunks.next() {
        let digits = chunk_text(*top);
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        text.extend_from_slice(&digits[zeros..]);
    }
    for chunk in chunks {
        text.extend_from_slice(&chunk_text(*chunk));
    }
}

/// Appends the digits of a number below `10^(CHUNK·LEAF·2^level)`, with leading zeros if higher digits of the same number
/// stand after `start` already.
fn write_long(number: &UBig, level: usize, start: usize, text: &mut Vec<u8>) {
    let Some(below) = level.checked_sub(1) else {
        let words = words(&number.to_le_bytes());
        return write_short(&words, (text.len() > start).then_some(LEAF), text);
    };
    let (high, low) = power(below).div_rem(number);
    if !high.is_zero() || text.len() > start {
        write_long(&high, below, start, text);
    }
    write_long(&low, below, start, text);
}

/// The least `n` with `2^n ≥ count`.
fn doublings(count: usize) -> usize {
    count.next_power_of_two().ilog2() as usize
}

/// `10^(CHUNK·LEAF·2^level)`.
fn power(level: usize) -> &'static Divisor {
    POWERS[level].get_or_init(|| match level.checked_sub(1) {
        None => Divisor::new(UBig::from(BASE).pow(LEAF)),
        Some(below) => Divisor::new(product(power(below).value(), power(below).value())),
    })
}

/// Little-endian bytes as words.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).map(word).collect()
}

/// The number of eight digits, the first in the lowest byte: three steps each join neighbours.
#[inline]
fn eight(text: [u8; 8]) -> u64 {
    let digits = u64::from_le_bytes(text) & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

/// The number of at most [`CHUNK`] digits.
#[inline]
fn chunk_value(text: &[u8]) -> u64 {
    let (head, eights) = text.as_rchunks::<8>();
    let head = head.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    eights.iter().fold(head, |number, digits| number * 100_000_000 + eight(*digits))
}

/// Gives `take` the words of decimal digits, least significant first.
#[expect(clippy::cast_possible_truncation, reason = "words of a double word")]
pub(crate) fn read<T>(digits: &[u8], take: impl FnOnce(&[u64]) -> T) -> T {
    if digits.len() <= 2 * CHUNK {
        let (high, low) = digits.split_at(digits.len().saturating_sub(CHUNK));
        let number = u128::from(chunk_value(high)) * u128::from(BASE) + u128::from(chunk_value(low));
        take(&[number as u64, (number >> 64) as u64])
    } else if digits.len() <= READ_MOST {
        take(&read_short(digits))
    } else {
        take(&words(&read_long(digits).to_le_bytes()))
    }
}

/// The words of decimal digits, by products of one word.
#[expect(clippy::cast_possible_truncation, reason = "words of a double word")]
fn read_short(digits: &[u8]) -> Vec<u64> {
    let (head, chunks) = digits.as_rchunks::<CHUNK>();
    let mut words = Vec::with_capacity(chunks.len() + 1);
    let values = (!head.is_empty()).then(|| chunk_value(head)).into_iter();
    for value in values.chain(chunks.iter().map(|chunk| chunk_value(chunk))) {
        let mut carry = value;
        for word in &mut words {
            let product = u128::from(BASE) * u128::from(*word) + u128::from(carry);
            *word = product as u64;
            carry = (product >> 64) as u64;
        }
        if carry > 0 {
            words.push(carry);
        }
    }
    words
}

/// The number of decimal digits, by halves.
fn read_long(digits: &[u8]) -> UBig {
    if digits.len() <= READ_MOST {
        let bytes: Vec<u8> = read_short(digits).into_iter().flat_map(u64::to_le_bytes).collect();
        return UBig::from_le_bytes(&bytes);
    }
    // More than one leaf: at least half of the digits are below the largest power that is shorter.
    let below = doublings(digits.len().div_ceil(CHUNK * LEAF)) - 1;
    let (high, low) = digits.split_at(digits.len() - ((CHUNK * LEAF) << below));
    product(&read_long(high), power(below).value()) + read_long(low)
}

#[cfg(test)]
mod tests;
