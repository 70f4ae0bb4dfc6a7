//! Powers and strong tests modulo odd numbers of few words, a lane at a time.
//!
//! computes   `a^e mod m`, or whether `n` is a strong probable prime to a base
//! requires   operands of up to [`DIVISOR_BITS`](super::DIVISOR_BITS)
//! cost       a square for each bit of the exponent, and with windows of `w` bits `2^(w−1)` products for the table and one for about
//!            each `w + 1` bits. To base 2 no product: a residue is doubled
//!
//! Windows begin and end with a bit that is one, so the table has odd powers alone. Divisions bring 1 and the base into Montgomery's form.
//! A modulus that serves consecutive lanes is prepared once.
//! source: Handbook of Applied Cryptography 14.85; Miller 1976, Rabin 1980.

use warpmp_simd::words::division::{Divisor, scratch_words};
use warpmp_simd::words::residues::{Odd, difference};
use warpmp_simd::words::{self, shift_down};

use super::super::general;
use super::super::rows::{Piece, load, load_words, store_words};
use super::super::simd::Power;
use super::{MAX_WORDS, by_words};
use crate::operation::Status;

/// Longest window, in bits.
const MAX_WINDOW: usize = 5;

/// Entries of the longest table: the odd powers.
const TABLE: usize = 1 << (MAX_WINDOW - 1);

/// Powers or strong tests of a piece, powers modulo even numbers by another algorithm.
pub(in super::super) fn run(mut piece: Piece<'_>, power: Power) {
    let limbs = piece.operands[piece.operands.len() - 1].limbs();
    let even = by_words!(limbs, lanes(&mut piece, power));
    if !even.is_empty() {
        general::pow_mod_lanes(&mut piece, even);
    }
}

/// All lanes, for moduli of at most `N` words. The lanes of powers with even moduli are returned: they are not done.
fn lanes<const N: usize>(piece: &mut Piece<'_>, power: Power) -> Vec<usize> {
    let moduli = piece.operands[piece.operands.len() - 1];
    let constant = [piece.operation.constant().unwrap_or(0)];
    let preconditions = piece.operation.preconditions();
    let mut even = Vec::new();
    let mut known: Option<(&[u32], Ring<N>)> = None;
    words::compiled(
        #[inline(always)]
        || {
            for lane in 0..piece.lanes() {
                let row = |i: usize| piece.operands[i].row(lane);
                let status = preconditions.check(row);
                let modulus = moduli.row(lane);
                let is_odd = modulus[0] % 2 == 1;
                let ring = match known.take() {
                    Some(same) if same.0 == modulus => &known.insert(same).1,
                    _ if is_odd => &known.insert((modulus, Ring::new(modulus))).1,
                    _ => {
                        // Even numbers do not pass tests.
                        match power {
                            Power::Each | Power::Constant => {
                                if status == Status::Fine {
                                    even.push(lane);
                                }
                                put(piece, lane, &[0; N], status);
                            }
                            Power::TestConstant | Power::TestEach => piece.results[0].words[lane] = 0,
                        }
                        continue;
                    }
                };
                match power {
                    Power::Each => {
                        let found = ring.leave(&ring.power(row(0), &Exponent::new(row(1))));
                        put(piece, lane, &found, status);
                    }
                    Power::Constant => {
                        let found = ring.leave(&ring.power(row(0), &Exponent::new(&constant)));
                        put(piece, lane, &found, status);
                    }
                    Power::TestConstant => piece.results[0].words[lane] = u32::from(ring.passes(&constant)),
                    Power::TestEach => piece.results[0].words[lane] = u32::from(ring.passes(row(0))),
                }
            }
        },
    );
    even
}

/// Stores a power and a status.
#[inline(always)]
fn put<const N: usize>(piece: &mut Piece<'_>, lane: usize, power: &[u64; N], status: Status) {
    let powers = &mut piece.results[0];
    store_words(power, &mut powers.words[lane * powers.limbs..][..powers.limbs]);
    piece.results[1].words[lane] = status.code();
}

/// Residues modulo an odd number, as multiples of `R = 2^(64N)`.
struct Ring<const N: usize> {
    m: Odd<N>,
    divisor: Divisor<N>,
    /// `R mod m`.
    one: [u64; N],
}

impl<const N: usize> Ring<N> {
    #[inline(always)]
    fn new(row: &[u32]) -> Self {
        let m = load_words(row);
        let mut ring = Self { m: Odd::new(m), divisor: Divisor::new(m), one: [0; N] };
        ring.one = ring.enter(&[1]);
        ring
    }

    /// `a·R mod m`, for a row of any length.
    #[inline(always)]
    fn enter(&self, row: &[u32]) -> [u64; N] {
        let mut words = [0; MAX_WORDS];
        let words = &mut words[..row.len().div_ceil(2)];
        load(row, words);
        self.divisor.divide(words, 64 * N, &mut [0; scratch_words(MAX_WORDS, MAX_WORDS, MAX_WORDS)]).0
    }

    /// A residue as a number.
    #[inline(always)]
    fn leave(&self, x: &[u64; N]) -> [u64; N] {
        self.m.reduce(&[*x, [0; N]])
    }

    /// A power, as a residue.
    #[inline(always)]
    fn power(&self, base: &[u32], exponent: &Exponent) -> [u64; N] {
        if base[0] == 2 && base[1..].iter().all(|limb| *limb == 0) {
            return self.power_of_two(exponent);
        }
        let base = self.enter(base);
        let window = window(exponent.bits);
        let mut table = [base; TABLE];
        if window > 1 {
            let square = self.m.square(&base);
            for i in 1..1 << (window - 1) {
                table[i] = self.m.product(&table[i - 1], &square);
            }
        }
        let mut bit = exponent.bits;
        // The first window needs no squares.
        let mut x = None;
        while bit > 0 {
            if !exponent.bit(bit - 1) {
                x = x.map(|x| self.m.square(&x));
                bit -= 1;
                continue;
            }
            let (length, odd) = exponent.odd_window(bit, window);
            bit -= length;
            let factor = table[odd / 2];
            x = Some(match x {
                None => factor,
                Some(mut x) => {
                    for _ in 0..length {
                        x = self.m.square(&x);
                    }
                    self.m.product(&x, &factor)
                }
            });
        }
        x.unwrap_or(self.one)
    }

    /// A power of 2, as a residue.
    #[inline(always)]
    fn power_of_two(&self, exponent: &Exponent) -> [u64; N] {
        let mut x = self.one;
        for bit in (0..exponent.bits).rev() {
            x = self.m.square(&x);
            if exponent.bit(bit) {
                x = self.m.double(&x);
            }
        }
        x
    }

    /// Is the modulus above 1, and a strong probable prime to a base?
    #[inline(always)]
    fn passes(&self, base: &[u32]) -> bool {
        // n − 1 = d·2^s: n is odd, so that only bit 0 differs.
        let mut even = *self.m.words();
        even[0] -= 1;
        let Some(zeros) = even.iter().position(|word| *word != 0) else { return false };
        let twos = 64 * zeros + even[zeros].trailing_zeros() as usize;
        let mut x = self.power(base, &Exponent::shifted(&even, twos));
        if x == self.one {
            return true;
        }
        let minus_one = difference(self.m.words(), &self.one).0;
        for _ in 1..twos {
            if x == minus_one {
                return true;
            }
            x = self.m.square(&x);
        }
        x == minus_one
    }
}

/// An exponent, with zeros above.
struct Exponent {
    words: [u64; MAX_WORDS],
    bits: usize,
}

impl Exponent {
    #[inline(always)]
    fn new(row: &[u32]) -> Self {
        Self::of(load_words(row))
    }

    /// `⌊x / 2^by⌋`.
    #[inline(always)]
    fn shifted(x: &[u64], by: usize) -> Self {
        let mut words = [0; MAX_WORDS];
        words[..x.len()].copy_from_slice(x);
        shift_down(&mut words, by);
        Self::of(words)
    }

    #[inline(always)]
    fn of(words: [u64; MAX_WORDS]) -> Self {
        let length = words.iter().rposition(|word| *word != 0).map_or(0, |i| i + 1);
        let bits = if length == 0 { 0 } else { 64 * length - words[length - 1].leading_zeros() as usize };
        Self { words, bits }
    }

    #[inline(always)]
    fn bit(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The longest window below a bit that ends with a one, of at most so many bits: its length, and the odd number in it. The highest bit
    /// in it is one.
    #[inline(always)]
    fn odd_window(&self, above: usize, window: usize) -> (usize, usize) {
        let longest = window.min(above);
        let first = above - longest;
        let low = self.words[first / 64] >> (first % 64);
        let high = self.words.get(first / 64 + 1).copied().unwrap_or(0) << 1 << (63 - first % 64);
        let number = ((low | high) & ((1 << longest) - 1)) as usize;
        let zeros = number.trailing_zeros() as usize;
        (longest - zeros, number >> zeros)
    }
}

/// The window with the fewest products.
fn window(bits: usize) -> usize {
    (1..=MAX_WINDOW).min_by_key(|w| (1 << (w - 1)) + bits / (w + 1)).unwrap_or(1)
}
