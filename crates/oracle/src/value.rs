//! A number in its bits.

use num_bigint::{BigInt, BigUint, Sign};

/// A number and the bits that hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number; a two's complement as its bit pattern.
    pub number: BigUint,
    /// Its width.
    pub bits: usize,
}

impl Value {
    /// A number from its limbs.
    pub fn new(limbs: &[u32], bits: usize) -> Self {
        Self { number: BigUint::from_slice(limbs), bits }
    }

    /// The number as a two's complement of its width.
    pub fn signed(&self) -> BigInt {
        let number = BigInt::from(self.number.clone());
        if self.number.bit(self.bits as u64 - 1) { number - (BigInt::from(1) << self.bits) } else { number }
    }

    /// The limbs of the number, as many as its width needs.
    pub fn limbs(&self) -> Vec<u32> {
        let mut limbs = self.number.to_u32_digits();
        limbs.resize(limbs.len().max(self.bits.div_ceil(32)), 0);
        limbs
    }

    /// The low bits of any integer, a negative one as a two's complement.
    pub(crate) fn wrapped(number: &BigInt, bits: usize) -> Self {
        let modulus = BigInt::from(1) << bits;
        let rest = ((number % &modulus) + &modulus) % &modulus;
        Self { number: rest.magnitude().clone(), bits }
    }

    /// An integer that should fit in the bits.
    pub(crate) fn exact(number: impl Into<BigInt>, bits: usize) -> Self {
        let number = number.into();
        let fits = number.sign() != Sign::Minus && number.bits() <= bits as u64;
        if fits { Self::wrapped(&number, bits) } else { Self::misfit(&number, bits) }
    }

    /// A two's complement that should fit in the bits.
    pub(crate) fn signed_from(number: &BigInt, bits: usize) -> Self {
        let value = Self::wrapped(number, bits);
        if value.signed() == *number { value } else { Self::misfit(number, bits) }
    }

    /// A number that is wider than its bits, so that it equals no result.
    fn misfit(number: &BigInt, bits: usize) -> Self {
        Self { number: number.magnitude() | (BigUint::from(1_u32) << bits), bits }
    }
}
