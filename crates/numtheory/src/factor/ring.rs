//! Residues of a group of lanes: the few operations in which the stages are written.

use warpmp_simd::Simd;
use warpmp_simd::ring as lazy;
use warpmp_simd::words;

/// Residues modulo an odd number for each lane of a group.
///
/// A *residue* is what [`mul`](Self::mul), [`square`](Self::square), [`fold`](Self::fold) and [`enter`](Self::enter) give, a *sum*
/// what [`add`](Self::add) and [`sub`](Self::sub) give. Both may be factors; a sum is never a term of a sum.
pub(super) trait Ring: Send {
    type Residue: Clone + Send;

    /// Zero.
    fn zero(&self) -> Self::Residue;
    /// Numbers below the moduli, a row a lane. Missing rows are zero.
    fn enter(&mut self, rows: &[&[u32]]) -> Self::Residue;
    /// A number of each lane, below its modulus, in consecutive rows.
    fn leave(&mut self, x: &Self::Residue) -> Vec<u32>;
    /// The lanes, one bit each, in which two factors are congruent.
    fn same(&mut self, a: &Self::Residue, b: &Self::Residue) -> u8;
    /// `c = a·b`.
    fn mul(&mut self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue);
    /// `x ← x²`.
    fn square(&mut self, x: &mut Self::Residue);
    /// `c = a + b`.
    fn add(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue);
    /// `c = a − b`.
    fn sub(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue);
    /// A sum becomes a residue.
    fn fold(&self, x: &mut Self::Residue);
}

/// A way to compute with a group of moduli.
pub(super) trait Arithmetic: Copy + Send + Sync {
    type Ring: Ring;

    /// Lanes of a group.
    fn lanes(self) -> usize;
    /// The bits of the radix for moduli of so many bits: a ring needs its square.
    fn radix_bits(self, bits: usize) -> usize;
    /// The ring of a group of odd moduli of at most `bits` bits, a row for each of [`lanes`](Self::lanes), with the squares
    /// of the radix modulo each.
    fn ring(self, bits: usize, moduli: &[&[u32]], squares: &[&[u32]]) -> Self::Ring;
}

/// Lanes in vectors.
#[derive(Debug)]
pub(super) struct Vectors<S: Simd> {
    ring: lazy::Ring<S>,
    limbs: usize,
}

impl<S: Simd> Arithmetic for S {
    type Ring = Vectors<S>;

    fn lanes(self) -> usize {
        S::LANES
    }

    fn radix_bits(self, bits: usize) -> usize {
        lazy::Ring::<S>::radix_bits(bits)
    }

    fn ring(self, bits: usize, moduli: &[&[u32]], squares: &[&[u32]]) -> Vectors<S> {
        Vectors { ring: lazy::Ring::new(self, bits, moduli, squares), limbs: bits.div_ceil(32) }
    }
}

impl<S: Simd> Ring for Vectors<S> {
    type Residue = Vec<S::Vector>;

    fn zero(&self) -> Self::Residue {
        self.ring.zero()
    }

    fn enter(&mut self, rows: &[&[u32]]) -> Self::Residue {
        self.ring.enter(rows)
    }

    fn leave(&mut self, x: &Self::Residue) -> Vec<u32> {
        let mut rows = vec![0; S::LANES * self.limbs];
        self.ring.leave(x, &mut rows, self.limbs);
        rows
    }

    fn same(&mut self, a: &Self::Residue, b: &Self::Residue) -> u8 {
        self.ring.same(a, b)
    }

    fn mul(&mut self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        self.ring.mul(a, b, c);
    }

    fn square(&mut self, x: &mut Self::Residue) {
        self.ring.square(x);
    }

    fn add(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        self.ring.add(a, b, c);
    }

    fn sub(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        self.ring.sub(a, b, c);
    }

    fn fold(&self, x: &mut Self::Residue) {
        self.ring.fold(x);
    }
}

/// One lane in words of 64 bits: for every processor, and for moduli of any length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words;

/// A modulus in words. All its residues and sums are below it.
#[derive(Debug)]
pub(super) struct WordRing {
    modulus: words::Modulus,
    square: Vec<u64>,
    limbs: usize,
    scratch: Vec<u64>,
}

impl Arithmetic for Words {
    type Ring = WordRing;

    fn lanes(self) -> usize {
        1
    }

    fn radix_bits(self, bits: usize) -> usize {
        bits.next_multiple_of(64)
    }

    fn ring(self, bits: usize, moduli: &[&[u32]], squares: &[&[u32]]) -> WordRing {
        let count = bits.div_ceil(64);
        WordRing {
            modulus: words::Modulus::new(words_of(moduli[0], count)),
            square: words_of(squares[0], count),
            limbs: bits.div_ceil(32),
            scratch: vec![0; 2 * count],
        }
    }
}

/// Limbs as words of 64 bits, with zeros above.
fn words_of(limbs: &[u32], count: usize) -> Vec<u64> {
    let word = |pair: &[u32]| pair.iter().rev().fold(0, |word, limb| word << 32 | u64::from(*limb));
    let mut words: Vec<u64> = limbs.chunks(2).map(word).collect();
    words.resize(count, 0);
    words
}

impl Ring for WordRing {
    type Residue = Vec<u64>;

    fn zero(&self) -> Self::Residue {
        vec![0; self.square.len()]
    }

    fn enter(&mut self, rows: &[&[u32]]) -> Self::Residue {
        let mut x = words_of(rows.first().copied().unwrap_or_default(), self.square.len());
        self.modulus.multiply(&mut x, &self.square, &mut self.scratch);
        x
    }

    fn leave(&mut self, x: &Self::Residue) -> Vec<u32> {
        let mut plain = x.clone();
        let mut one = self.zero();
        one[0] = 1;
        self.modulus.multiply(&mut plain, &one, &mut self.scratch);
        let mut limbs: Vec<u32> = plain.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect();
        limbs.truncate(self.limbs);
        limbs
    }

    fn same(&mut self, a: &Self::Residue, b: &Self::Residue) -> u8 {
        u8::from(a == b)
    }

    fn mul(&mut self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        c.copy_from_slice(a);
        self.modulus.multiply(c, b, &mut self.scratch);
    }

    fn square(&mut self, x: &mut Self::Residue) {
        self.modulus.square(x, &mut self.scratch);
    }

    fn add(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        let carry = combine(a, b, c, u64::carrying_sum);
        if carry || !is_below(c, self.modulus.words()) {
            let sum = c.clone();
            combine(&sum, self.modulus.words(), c, u64::borrowing_difference);
        }
    }

    fn sub(&self, a: &Self::Residue, b: &Self::Residue, c: &mut Self::Residue) {
        if combine(a, b, c, u64::borrowing_difference) {
            let difference = c.clone();
            combine(&difference, self.modulus.words(), c, u64::carrying_sum);
        }
    }

    fn fold(&self, _: &mut Self::Residue) {}
}

/// Sums and differences of words with a carry. (The standard library's are not stable in the oldest Rust that is served.)
trait Carry: Sized {
    fn carrying_sum(self, other: Self, carry: bool) -> (Self, bool);
    fn borrowing_difference(self, other: Self, borrow: bool) -> (Self, bool);
}

impl Carry for u64 {
    fn carrying_sum(self, other: Self, carry: bool) -> (Self, bool) {
        let (sum, first) = self.overflowing_add(other);
        let (sum, second) = sum.overflowing_add(Self::from(carry));
        (sum, first | second)
    }

    fn borrowing_difference(self, other: Self, borrow: bool) -> (Self, bool) {
        let (difference, first) = self.overflowing_sub(other);
        let (difference, second) = difference.overflowing_sub(Self::from(borrow));
        (difference, first | second)
    }
}

/// Combines numbers word by word; returns the last carry.
fn combine(a: &[u64], b: &[u64], c: &mut [u64], step: impl Fn(u64, u64, bool) -> (u64, bool)) -> bool {
    let mut carry = false;
    for (c, (a, b)) in c.iter_mut().zip(a.iter().zip(b)) {
        (*c, carry) = step(*a, *b, carry);
    }
    carry
}

fn is_below(a: &[u64], b: &[u64]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}
