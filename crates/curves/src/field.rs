//! Residues of the walk, by words of 64 bits.
//!
//! computes   `x·y/R mod p` and the rest of a field's arithmetic; `R = 2^(32·limbs)`
//! requires   `p` odd, `p < 2^(32·limbs − 7)`; residues canonical, in `[0, p)`
//! cost       `2W²` word products a product, `W = ⌈limbs/2⌉`
//!
//! The walk looks at bits of Montgomery residues, so `R` is a part of its definition: every engine has the same. With an odd
//! number of limbs the last round of a product removes 32 bits instead of 64.
//!
//! bound: before a round the accumulator is below `2p`. The round adds less than `2^64·p` twice and divides by `2^64` (the
//! last one of an odd number of limbs: `2^32` in both places), so it stays below `2p`, and `2p < 2^(64W − 6)`.

use num_bigint::BigUint;

/// A residue: `W` words, least significant first.
pub(crate) type Residue<const W: usize> = [u64; W];

/// The field of a curve.
#[derive(Clone, Debug)]
pub(crate) struct Field<const W: usize> {
    /// The prime.
    pub(crate) p: Residue<W>,
    /// `−p⁻¹ mod 2^64`.
    inverse: u64,
    /// Limbs of 32 bits of `R`.
    limbs: u32,
    /// `R mod p`: the residue of one.
    pub(crate) one: Residue<W>,
    /// `R² mod p`.
    square: Residue<W>,
}

impl<const W: usize> Field<W> {
    /// The field of an odd prime with `R` of so many limbs: `2W` or `2W − 1`.
    pub(crate) fn new(p: &BigUint, limbs: u32) -> Self {
        debug_assert!(limbs.div_ceil(2) as usize == W && p.bit(0) && p.bits() + 7 <= u64::from(32 * limbs));
        let radix = BigUint::from(1_u32) << (32 * limbs);
        let one = &radix % p;
        let square = &one * &one % p;
        let words = words(p);
        // Newton's iteration doubles the bits that are right, beginning with three.
        let inverse = (0..5).fold(words[0], |x, _| x.wrapping_mul(2_u64.wrapping_sub(words[0].wrapping_mul(x))));
        Self { p: words, inverse: inverse.wrapping_neg(), limbs, one: self::words(&one), square: self::words(&square) }
    }

    /// The residue of an integer below `p`.
    pub(crate) fn residue(&self, value: &BigUint) -> Residue<W> {
        self.mul(&words(value), &self.square)
    }

    /// The integer below `p` that a residue stands for.
    #[cfg(test)]
    pub(crate) fn value(&self, x: &Residue<W>) -> BigUint {
        let mut unit = [0; W];
        unit[0] = 1;
        integer(&self.mul(x, &unit))
    }

    /// `x·y/R`.
    pub(crate) fn mul(&self, x: &Residue<W>, y: &Residue<W>) -> Residue<W> {
        let mut sum = [0_u64; W];
        let mut top = 0_u64;
        for (i, &factor) in y.iter().enumerate() {
            let mut carry = 0_u128;
            for (word, &x) in sum.iter_mut().zip(x) {
                carry += u128::from(*word) + u128::from(x) * u128::from(factor);
                *word = carry as u64;
                carry >>= 64;
            }
            top += carry as u64;
            let half = i + 1 == W && self.limbs % 2 == 1;
            let quotient = sum[0].wrapping_mul(self.inverse) & if half { u64::from(u32::MAX) } else { u64::MAX };
            let mut carry = 0_u128;
            for (word, &p) in sum.iter_mut().zip(&self.p) {
                carry += u128::from(*word) + u128::from(p) * u128::from(quotient);
                *word = carry as u64;
                carry >>= 64;
            }
            top += carry as u64;
            let bits = if half { 32 } else { 64 };
            for j in 0..W {
                let above = if j + 1 < W { sum[j + 1] } else { top };
                sum[j] = if half { sum[j] >> bits | above << (64 - bits) } else { above };
            }
            top = if half { top >> bits } else { 0 };
        }
        self.reduce(sum)
    }

    /// `x²/R`.
    pub(crate) fn sqr(&self, x: &Residue<W>) -> Residue<W> {
        self.mul(x, x)
    }

    /// `x + y`.
    pub(crate) fn add(&self, x: &Residue<W>, y: &Residue<W>) -> Residue<W> {
        let mut carry = false;
        let mut sum = [0; W];
        for i in 0..W {
            let (partial, first) = x[i].overflowing_add(y[i]);
            let (word, second) = partial.overflowing_add(u64::from(carry));
            sum[i] = word;
            carry = first || second;
        }
        self.reduce(sum)
    }

    /// `x − y`.
    pub(crate) fn sub(&self, x: &Residue<W>, y: &Residue<W>) -> Residue<W> {
        let (difference, borrow) = subtract(x, y);
        if borrow { add_words(&difference, &self.p) } else { difference }
    }

    /// `p − x`, which is `p` for zero. The walk never negates zero: no point has an ordinate of zero.
    pub(crate) fn negate(&self, x: &Residue<W>) -> Residue<W> {
        subtract(&self.p, x).0
    }

    /// `1/x` for `x ≠ 0`, and zero for zero: the power `p − 2`.
    pub(crate) fn invert(&self, x: &Residue<W>) -> Residue<W> {
        let mut two = [0; W];
        two[0] = 2;
        let (exponent, _) = subtract(&self.p, &two);
        let bits = (0..64 * W).rev().skip_while(|bit| exponent[bit / 64] >> (bit % 64) & 1 == 0);
        bits.fold(self.one, |power, bit| {
            let square = self.sqr(&power);
            if exponent[bit / 64] >> (bit % 64) & 1 == 1 { self.mul(&square, x) } else { square }
        })
    }

    /// A number below `2p`, modulo `p`.
    fn reduce(&self, x: Residue<W>) -> Residue<W> {
        let (reduced, borrow) = subtract(&x, &self.p);
        if borrow { x } else { reduced }
    }
}

/// `x − y` modulo `2^(64W)`; is it negative?
fn subtract<const W: usize>(x: &Residue<W>, y: &Residue<W>) -> (Residue<W>, bool) {
    let mut borrow = false;
    let mut difference = [0; W];
    for i in 0..W {
        let (partial, first) = x[i].overflowing_sub(y[i]);
        let (word, second) = partial.overflowing_sub(u64::from(borrow));
        difference[i] = word;
        borrow = first || second;
    }
    (difference, borrow)
}

fn add_words<const W: usize>(x: &Residue<W>, y: &Residue<W>) -> Residue<W> {
    let mut carry = 0_u128;
    std::array::from_fn(|i| {
        carry += u128::from(x[i]) + u128::from(y[i]);
        let word = carry as u64;
        carry >>= 64;
        word
    })
}

/// Is `x < y`, as integers?
pub(crate) fn below<const W: usize>(x: &Residue<W>, y: &Residue<W>) -> bool {
    subtract(x, y).1
}

/// The words of an integer below `2^(64W)`.
pub(crate) fn words<const W: usize>(value: &BigUint) -> Residue<W> {
    let mut words = [0; W];
    for (word, digit) in words.iter_mut().zip(value.iter_u64_digits()) {
        *word = digit;
    }
    words
}

/// The integer of words.
pub(crate) fn integer<const W: usize>(words: &Residue<W>) -> BigUint {
    let limbs = words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect();
    BigUint::new(limbs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest primes below a power of two minus 7 bits, and one of each length in between.
    fn check<const W: usize>(prime: &str, limbs: u32) {
        let p = BigUint::parse_bytes(prime.as_bytes(), 16).unwrap();
        let field = Field::<W>::new(&p, limbs);
        let radix = BigUint::from(1_u32) << (32 * limbs);
        let unit = radix.modinv(&p).unwrap();
        let edges = [0_u32, 1, 2].into_iter().flat_map(|k| [BigUint::from(k), &p - 1_u32 - k, &p / 2_u32 + k]);
        let more = (1..40_u32).map(|k| (BigUint::from(u64::MAX) << (3 * k)) % &p);
        let numbers: Vec<BigUint> = edges.chain(more).collect();
        for x in &numbers {
            let a = words(x);
            assert_eq!(integer(&field.residue(x)), x * &radix % &p);
            assert_eq!(field.value(&field.residue(x)), *x);
            if *x != BigUint::ZERO {
                let inverse = field.invert(&field.residue(x));
                assert_eq!(field.value(&inverse), x.modinv(&p).unwrap());
            }
            for y in &numbers {
                let b = words(y);
                assert_eq!(integer(&field.mul(&a, &b)), x * y * &unit % &p, "{x} · {y}");
                assert_eq!(integer(&field.add(&a, &b)), (x + y) % &p);
                assert_eq!(integer(&field.sub(&a, &b)), (x + &p - y) % &p);
                assert_eq!(below(&a, &b), x < y);
            }
        }
    }

    #[test]
    fn against_the_library() {
        check::<2>("62CE5177412ACA899CF5", 3);
        check::<2>("1BD579792B380B5B521E6D9FB599", 4);
        check::<3>("048E1D43F293469E33194C43186B3ABC0B", 5);
        check::<5>("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF", 9);
        check::<2>("FFFFFFFB", 3);
    }
}
