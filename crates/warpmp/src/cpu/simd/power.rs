//! Powers and strong tests of a group of lanes at once.
//!
//! computes   `a^e mod m`, or whether `n` is a strong probable prime to a base
//! cost       with windows of `w` bits a square for each bit of the longest exponent, a product for each window, and
//!            `2^w` products for the table; and the way of `1` and the base into Montgomery's form, see `forms.rs`
//!
//! Lanes have exponents of their own: a factor is chosen from the table lane by lane. Residues stay below `2m`.
//! source: Handbook of Applied Cryptography 14.82; Miller 1976, Rabin 1980.

use warpmp_simd::montgomery::{self, Moduli};
use warpmp_simd::product::{difference, equal};
use warpmp_simd::{MAX_LANES, Simd, digits};

use super::super::rows::{Piece, digit_of};
use super::forms::Forms;
use super::group::{Group, bits, is_odd};

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
pub(super) fn run<S: Simd>(s: S, piece: &mut Piece<'_>, power: Power) -> Vec<usize> {
    let last = piece.operands.len() - 1;
    let limbs = piece.operands[last].limbs();
    let constant = [piece.operation.constant().unwrap_or(0)];
    let base = if power == Power::TestConstant { 1 } else { piece.operands[0].limbs() };
    let mut ring = Ring::new(s, limbs, base);
    let harmless = vec![u32::MAX; limbs];
    let lanes = piece.lanes();
    let mut even = Vec::new();
    for first in (0..lanes).step_by(S::LANES) {
        // Even numbers and 1 do not pass tests.
        let group = Group::new(s, piece, first, lanes, &harmless, |m| is_odd(m) && (!power.is_test() || bits(m) > 1));
        let bases = if power == Power::TestConstant { [&constant[..]; MAX_LANES] } else { group.operands[0] };
        ring.load(&group, &bases);
        match power {
            Power::Each => ring.power(&group.operands[1]),
            Power::Constant => ring.power(&[&constant[..]; MAX_LANES]),
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

/// Residues of a group's moduli, and memory for powers of them.
struct Ring<S: Simd> {
    s: S,
    moduli: Moduli<S>,
    forms: Forms<S>,
    /// `1` and the base in Montgomery's form.
    one: Vec<S::Vector>,
    base: Vec<S::Vector>,
    /// The power.
    x: Vec<S::Vector>,
    factor: Vec<S::Vector>,
    table: Vec<S::Vector>,
    wide: Vec<S::Vector>,
    scratch: Vec<S::Vector>,
    words: Vec<S::Vector>,
    /// The bases as they come.
    bases: Vec<S::Vector>,
}

impl<S: Simd> Ring<S> {
    /// For moduli and bases of so many limbs.
    fn new(s: S, modulus: usize, base: usize) -> Self {
        let n = montgomery::count::<S>(modulus);
        let number = || vec![s.zero(); n];
        Self {
            s,
            moduli: Moduli::new(s, n),
            forms: Forms::new(s, modulus, base),
            one: number(),
            base: number(),
            x: number(),
            factor: number(),
            table: Vec::new(),
            wide: vec![s.zero(); 2 * n],
            scratch: vec![s.zero(); Moduli::<S>::scratch(n)],
            words: vec![s.zero(); digits::words::<S>(modulus.max(base))],
            bases: vec![s.zero(); digits::count::<S>(base)],
        }
    }

    /// Takes moduli and bases.
    fn load(&mut self, group: &Group<'_, S>, bases: &[&[u32]; MAX_LANES]) {
        digits::load(self.s, &group.moduli, &mut self.words, &mut self.x);
        self.moduli.set(&self.x);
        digits::load(self.s, bases, &mut self.words, &mut self.bases);
        self.forms.enter(&self.moduli, &group.bits(), &self.bases, &mut self.one, &mut self.base);
    }

    /// The base's powers with exponents of their own.
    fn power(&mut self, exponents: &[&[u32]; MAX_LANES]) {
        let n = self.x.len();
        let bits = exponents.iter().map(|row| bits(row)).max().unwrap_or(0);
        let few = exponents.iter().all(|row| *row == exponents[0]) && bits <= 32;
        let window = if few { 1 } else { window(bits) };
        self.fill_table(window);
        let digits = bits.div_ceil(window).max(1);
        for digit in (0..digits).rev() {
            let numbers = self.s.from_words(exponents.map(|row| digit_of(row, digit * window, window)));
            if digit + 1 == digits {
                choose(self.s, &self.table, numbers, &mut self.x);
                continue;
            }
            for _ in 0..window {
                self.moduli.square(&mut self.x, &mut self.scratch);
            }
            if exponents.iter().any(|row| digit_of(row, digit * window, window) != 0) {
                choose(self.s, &self.table, numbers, &mut self.factor);
                let product = &mut self.wide[..n];
                self.moduli.multiply(&self.x, &self.factor, product, &mut self.scratch);
                self.x.copy_from_slice(product);
            }
        }
    }

    /// The base's powers from 0 on, for windows of so many bits.
    fn fill_table(&mut self, window: usize) {
        let n = self.x.len();
        self.table.resize(n << window, self.s.zero());
        self.table[..n].copy_from_slice(&self.one);
        self.table[n..2 * n].copy_from_slice(&self.base);
        for i in 2..1 << window {
            let (below, entry) = self.table.split_at_mut(i * n);
            self.moduli.multiply(&below[(i - 1) * n..], &self.base, &mut entry[..n], &mut self.scratch);
        }
    }

    /// The lanes whose numbers, odd and above 1, are strong probable primes to the bases.
    fn strong_test(&mut self, numbers: &[&[u32]; MAX_LANES]) -> u8 {
        // n − 1 = d·2^s: n is odd, so that only bit 0 differs.
        let rows = numbers.map(odd_part);
        let twos = rows.each_ref().map(|(_, twos)| *twos);
        let exponents: Vec<&[u32]> = rows.iter().map(|(row, _)| &row[..]).collect();
        self.power(&exponents.try_into().unwrap_or([&[]; MAX_LANES]));
        // m − 1 in Montgomery's form, in place of the base.
        difference(self.s, self.moduli.digits(), &self.one, &mut self.base);
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
    fn equal(&self, residue: &[S::Vector]) -> u8 {
        let mut x = self.x.clone();
        self.moduli.reduce(&mut x);
        self.s.lanes(equal(self.s, &x, residue))
    }

    /// The power out of Montgomery's form.
    fn leave(&mut self) {
        let n = self.x.len();
        let t = &mut self.wide[..2 * n];
        t[..n].copy_from_slice(&self.x);
        t[n..].fill(self.s.zero());
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

/// The entries of a table by their numbers, another in each lane.
fn choose<S: Simd>(s: S, table: &[S::Vector], numbers: S::Vector, chosen: &mut [S::Vector]) {
    s.vectorize(
        #[inline(always)]
        || {
            for (i, entry) in (0..).zip(table.chunks_exact(chosen.len())) {
                let lanes = s.equal(numbers, s.splat(i));
                if s.any(lanes) {
                    for (chosen, entry) in chosen.iter_mut().zip(entry) {
                        *chosen = s.select(lanes, *entry, *chosen);
                    }
                }
            }
        },
    );
}
