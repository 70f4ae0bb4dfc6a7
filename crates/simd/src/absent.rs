//! Instruction sets on processors that have none of them: the types have no values, so nothing of this is ever called.

use crate::simd::{MAX_LANES, Simd, sealed::Sealed};

type Words = [u64; MAX_LANES];

/// An instruction set without values.
macro_rules! absent {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Sealed for $name {}

        absent! {
            $name
            splat(u64) -> Words;
            from_words(Words) -> Words;
            to_words(Words) -> Words;
            load_block(&[&[u32]], usize, &mut [Words]) -> ();
            store_block(&[Words], usize, &mut [u32], usize) -> ();
            gather(&[u64], Words) -> Words;
            add(Words, Words) -> Words;
            sub(Words, Words) -> Words;
            and(Words, Words) -> Words;
            or(Words, Words) -> Words;
            shl(Words, Words) -> Words;
            shr(Words, Words) -> Words;
            half(Words) -> Words;
            funnel(Words, Words, usize) -> Words;
            mul_low(Words, Words, Words) -> Words;
            mul_high(Words, Words, Words) -> Words;
            low_digit(Words, Words) -> Words;
            factor(Words) -> Words;
            digit(Words) -> Words;
            carry(Words) -> Words;
            signed_carry(Words) -> Words;
            mask(u8) -> u8;
            lanes(u8) -> u8;
            both(u8, u8) -> u8;
            except(u8, u8) -> u8;
            is_negative(Words) -> u8;
            is_odd(Words) -> u8;
            equal(Words, Words) -> u8;
            select(u8, Words, Words) -> Words;
            add_where(u8, Words, Words) -> Words;
            sub_where(u8, Words, Words) -> Words;
            digit_factor(Words) -> Words;
            signed_factor(Words) -> Words;
            mul_signed([Words; 2], Words, Words) -> [Words; 2];
        }
    };
    ($name:ident $($method:ident($($type:ty),*) -> $result:ty;)*) => {
        impl Simd for $name {
            type Vector = Words;
            type Mask = u8;
            type Factor = Words;
            type Signed = Words;

            const LANES: usize = MAX_LANES;
            const DIGIT_BITS: usize = 52;
            const MAX_DIGITS: usize = 0;
            const KARATSUBA_DIGITS: usize = usize::MAX;
            const SQUARE_KARATSUBA_DIGITS: usize = usize::MAX;

            fn detect() -> Option<Self> {
                None
            }

            fn vectorize<R>(self, _: impl FnOnce() -> R) -> R {
                match self {}
            }

            $(fn $method(self, $(_: $type),*) -> $result {
                match self {}
            })*
        }
    };
}

absent! {
    /// AVX-512 IFMA, which this processor's kind does not have.
    Ifma
}
absent! {
    /// AVX2, which this processor's kind does not have.
    Avx2
}

absent! {
    /// AVX2 with FMA, which this processor's kind does not have.
    Fma
}
