//! Instruction sets on processors that have none of them: the types have no values, so nothing of this is ever called.

use crate::fft::{Doubles, Tables, Window};
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

/// An instruction set for doubles without values.
macro_rules! absent_doubles {
    ($($name:ident)*) => {$(
        /// Vectors of doubles, which this processor's kind does not have.
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Sealed for $name {}

        absent_doubles! {
            $name
            all(f64) -> [f64; MAX_LANES];
            lanes_of([f64; MAX_LANES]) -> [f64; MAX_LANES];
            bits([f64; MAX_LANES]) -> [u64; MAX_LANES];
            plus([f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            minus([f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            times([f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            times_plus([f64; MAX_LANES], [f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            times_minus([f64; MAX_LANES], [f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            minus_times([f64; MAX_LANES], [f64; MAX_LANES], [f64; MAX_LANES]) -> [f64; MAX_LANES];
            transpose(&mut [[f64; MAX_LANES]]) -> ();
            digits(&[u8; 32], &Window, bool) -> [f64; MAX_LANES];
        }
    )*};
    ($name:ident $($method:ident($($type:ty),*) -> $result:ty;)*) => {
        impl Doubles for $name {
            type Vector = [f64; MAX_LANES];

            const LANES: usize = MAX_LANES;

            fn find() -> Option<Self> {
                None
            }

            fn tables() -> &'static Tables<Self> {
                static TABLES: Tables<$name> = Tables::new();
                &TABLES
            }

            fn compiled<R>(self, _: impl FnOnce() -> R) -> R {
                match self {}
            }

            $(fn $method(self, $(_: $type),*) -> $result {
                match self {}
            })*
        }
    };
}

absent_doubles! { Eight Four }
