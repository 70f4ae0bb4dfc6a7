//! Powers and strong tests of eight lanes at once.
//!
//! computes   `a^e mod m`, or whether `n` is a strong probable prime to a base
//! cost       with windows of `w` bits a square for each bit of the longest exponent, a product for each window, and
//!            `2^w` products for the table; one or two divisions bring `1` and the base to Montgomery's form
//!
//! Lanes have exponents of their own: a factor is chosen from the table lane by lane. Residues stay below `2m`.
//! source: Handbook of Applied Cryptography 14.82; Miller 1976, Rabin 1980.

use std::arch::x86_64::{
    __m512i, _mm512_cmpeq_epi64_mask, _mm512_mask_mov_epi64, _mm512_set1_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_sub_epi64,
};

use super::super::rows::{Piece, digit_of};
use super::division::{self, Divisors};
use super::group::{Group, bits, is_odd};
use super::montgomery::{self, Moduli};
use super::product::reduce_signed;
use super::{DIGIT_BITS, LANES, digits};

/// Longest window, in bits.
const MAX_WINDOW: usize = 6;

/// The powers that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Power {
    /// Powers of the first operand, the exponents in the second one.
    Each,
    /// Powers of the first operand, the exponent is the operation's constant.
    Constant,
    /// Strong tests to the base that is the operation's constant.
    TestConstant,
    /// Strong tests to the bases in the first operand.
    TestEach,
}

impl Power {
    /// Does it test the last operand?
    const fn is_test(self) -> bool {
        matches!(self, Self::TestConstant | Self::TestEach)
    }
}

/// Computes the powers or strong tests of a piece. The lanes of powers with even moduli are returned: they are not done.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
pub(super) fn run(piece: &mut Piece<'_>, power: Power) -> Vec<usize> {
    let last = piece.operands.len() - 1;
    let limbs = piece.operands[last].limbs();
    let constant = [piece.operation.constant().unwrap_or(0)];
    let base = if power == Power::TestConstant { 1 } else { piece.operands[0].limbs() };
    let mut ring = Ring::new(limbs, base);
    let harmless = vec![u32::MAX; limbs];
    let lanes = piece.lanes();
    let mut even = Vec::new();
    for first in (0..lanes).step_by(LANES) {
        // Even numbers and 1 do not pass tests.
        let group = Group::new(piece, first, lanes, &harmless, |m| is_odd(m) && (!power.is_test() || bits(m) > 1));
        let bases = if power == Power::TestConstant { [&constant[..]; LANES] } else { group.operands[0] };
        ring.load(&group, &bases);
        match power {
            Power::Each => ring.power(&group.operands[1]),
            Power::Constant => ring.power(&[&constant[..]; LANES]),
            Power::TestConstant | Power::TestEach => {
                let passed = ring.strong_test(&group.moduli) & group.fine();
                let verdicts = &mut piece.results[0].words[first..][..group.filled];
                verdicts.iter_mut().enumerate().for_each(|(lane, it)| *it = u32::from(passed >> lane & 1));
                continue;
            }
        }
        ring.leave();
        group.store(piece, 0, &mut ring.x, &mut ring.words);
        group.store_status(piece);
        even.extend(group.unsuited());
    }
    even
}

/// Residues of eight moduli, and memory for powers of them.
struct Ring {
    moduli: Moduli,
    divisors: Divisors,
    /// `1` and the base in Montgomery's form.
    one: Vec<__m512i>,
    base: Vec<__m512i>,
    /// The power.
    x: Vec<__m512i>,
    factor: Vec<__m512i>,
    table: Vec<__m512i>,
    wide: Vec<__m512i>,
    scratch: Vec<__m512i>,
    words: Vec<__m512i>,
    /// Limbs of a base.
    limbs: usize,
}

impl Ring {
    /// For moduli and bases of so many limbs.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn new(modulus: usize, base: usize) -> Self {
        let n = montgomery::count(modulus);
        let zero = _mm512_setzero_si512();
        let number = || vec![zero; n];
        Self {
            moduli: Moduli::new(n),
            divisors: Divisors::new(division::count(modulus)),
            one: number(),
            base: number(),
            x: number(),
            factor: number(),
            table: Vec::new(),
            wide: vec![zero; (n + digits::count(base)).max(2 * n)],
            scratch: vec![zero; Moduli::scratch(n)],
            words: vec![zero; digits::words(modulus.max(base))],
            limbs: base,
        }
    }

    /// Takes moduli and bases.
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma,avx512vbmi2")]
    fn load(&mut self, group: &Group<'_>, bases: &[&[u32]; LANES]) {
        let n = self.x.len();
        let zero = _mm512_setzero_si512();
        digits::load(&group.moduli, &mut self.words, &mut self.x);
        self.moduli.set(&self.x);
        let divisors = &mut self.divisors;
        divisors.set(&self.x, &group.bits());
        let dividend = &mut self.wide[..n + digits::count(self.limbs)];
        dividend[..n].fill(zero);
        digits::load(bases, &mut self.words, &mut dividend[n..]);
        let bits = DIGIT_BITS * n + 32 * self.limbs;
        let (above, steps) = divisors.digits(bits.max(DIGIT_BITS * n + 1));
        let (mut quotients, mut rest) = (vec![zero; steps], vec![zero; above]);
        let length = divisors.divide(dividend, bits, &mut quotients, &mut rest);
        put(&rest[..length], &mut self.base);
        dividend[n..].fill(zero);
        dividend[n] = _mm512_set1_epi64(1);
        let length = divisors.divide(&dividend[..=n], DIGIT_BITS * n + 1, &mut quotients, &mut rest);
        put(&rest[..length], &mut self.one);
    }

    /// The base's powers with exponents of their own.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn power(&mut self, exponents: &[&[u32]; LANES]) {
        let n = self.x.len();
        let bits = exponents.iter().map(|row| bits(row)).max().unwrap_or(0);
        let few = exponents.iter().all(|row| *row == exponents[0]) && bits <= 32;
        let window = if few { 1 } else { window(bits) };
        self.fill_table(window);
        let digits = bits.div_ceil(window).max(1);
        for digit in (0..digits).rev() {
            let numbers = exponents.map(|row| digit_of(row, digit * window, window) as i64);
            let numbers = vector(numbers);
            if digit + 1 == digits {
                choose(&self.table, numbers, &mut self.x);
                continue;
            }
            for _ in 0..window {
                self.moduli.square(&mut self.x, &mut self.scratch);
            }
            if _mm512_cmpeq_epi64_mask(numbers, _mm512_setzero_si512()) != u8::MAX {
                choose(&self.table, numbers, &mut self.factor);
                let product = &mut self.wide[..n];
                self.moduli.multiply(&self.x, &self.factor, product, &mut self.scratch);
                self.x.copy_from_slice(product);
            }
        }
    }

    /// The base's powers from 0 on, for windows of so many bits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_table(&mut self, window: usize) {
        let n = self.x.len();
        self.table.resize(n << window, _mm512_setzero_si512());
        self.table[..n].copy_from_slice(&self.one);
        self.table[n..2 * n].copy_from_slice(&self.base);
        for i in 2..1 << window {
            let (below, entry) = self.table.split_at_mut(i * n);
            self.moduli.multiply(&below[(i - 1) * n..], &self.base, &mut entry[..n], &mut self.scratch);
        }
    }

    /// The lanes whose numbers, odd and above 1, are strong probable primes to the bases.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn strong_test(&mut self, numbers: &[&[u32]; LANES]) -> u8 {
        // n − 1 = d·2^s: n is odd, so that only bit 0 differs.
        let rows = numbers.map(odd_part);
        let twos = rows.each_ref().map(|(_, twos)| *twos);
        let exponents: Vec<&[u32]> = rows.iter().map(|(row, _)| &row[..]).collect();
        self.power(&exponents.try_into().unwrap_or([&[]; LANES]));
        // m − 1 in Montgomery's form, in place of the base.
        for ((minus, m), one) in self.base.iter_mut().zip(self.moduli.digits()).zip(&self.one) {
            *minus = _mm512_sub_epi64(*m, *one);
        }
        reduce_signed(&mut self.base);
        let mut passed = self.equal(&self.one);
        for square in 0..twos.iter().copied().max().unwrap_or(0) {
            if square > 0 {
                self.moduli.square(&mut self.x, &mut self.scratch);
            }
            let tested = twos.iter().enumerate().fold(0, |lanes, (i, twos)| lanes | u8::from(square < *twos) << i);
            passed |= self.equal(&self.base) & tested;
            if passed | !tested == u8::MAX {
                break;
            }
        }
        passed
    }

    /// The lanes in which the power is a residue, which is below the modulus.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn equal(&self, residue: &[__m512i]) -> u8 {
        let mut x = self.x.clone();
        self.moduli.reduce(&mut x);
        x.iter().zip(residue).fold(u8::MAX, |lanes, (x, y)| lanes & _mm512_cmpeq_epi64_mask(*x, *y))
    }

    /// The power out of Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn leave(&mut self) {
        let n = self.x.len();
        let t = &mut self.wide[..2 * n];
        t[..n].copy_from_slice(&self.x);
        t[n..].fill(_mm512_setzero_si512());
        self.moduli.divide(t, &mut self.x);
        self.moduli.reduce(&mut self.x);
    }
}

/// The window with the fewest products.
fn window(bits: usize) -> usize {
    (1..=MAX_WINDOW).min_by_key(|w| (1 << w) + bits.div_ceil(*w)).unwrap_or(1)
}

/// `(n − 1)/2^s` for an odd `n` above 1, and `s`.
fn odd_part(n: &[u32]) -> (Vec<u32>, usize) {
    let mut row = n.to_vec();
    row[0] &= !1;
    let zeros = row.iter().position(|limb| *limb != 0).unwrap_or(0);
    let twos = 32 * zeros + row[zeros].trailing_zeros() as usize;
    let limb = |i: usize| u64::from(row.get(i).copied().unwrap_or(0));
    let shifted = |i: usize| ((limb(i) | limb(i + 1) << 32) >> (twos % 32)) as u32;
    ((zeros..row.len()).map(shifted).collect(), twos)
}

/// Digits into as many or more.
#[target_feature(enable = "avx512f")]
fn put(from: &[__m512i], to: &mut [__m512i]) {
    let (below, above) = to.split_at_mut(from.len());
    below.copy_from_slice(from);
    above.fill(_mm512_setzero_si512());
}

/// The entries of a table by their numbers, another in each lane.
#[target_feature(enable = "avx512f")]
fn choose(table: &[__m512i], numbers: __m512i, chosen: &mut [__m512i]) {
    for (i, entry) in (0..).zip(table.chunks_exact(chosen.len())) {
        let lanes = _mm512_cmpeq_epi64_mask(numbers, _mm512_set1_epi64(i));
        if lanes != 0 {
            for (chosen, entry) in chosen.iter_mut().zip(entry) {
                *chosen = _mm512_mask_mov_epi64(*chosen, lanes, *entry);
            }
        }
    }
}

#[target_feature(enable = "avx512f")]
fn vector([a, b, c, d, e, f, g, h]: [i64; LANES]) -> __m512i {
    _mm512_setr_epi64(a, b, c, d, e, f, g, h)
}
