//! Arithmetic on several long numbers at a time, in the vector registers of a CPU.
//!
//! A number is a slice of vectors. Vector `i` holds digit `i` of every *lane*: eight lanes of 52-bit digits with AVX-512
//! IFMA, eight lanes of 51-bit digits with AVX2 and FMA, four lanes of 28-bit digits with AVX2 alone. Each algorithm is
//! written once, generic over [`Simd`]; an instruction set is one type that implements this trait.
//!
//! ```text
//! rows of 32-bit limbs ─► digits ─► product, square, montgomery, division, root, divsteps, shift ─► digits ─► rows
//!
//! simd       the trait: the few instructions that the algorithms are written in
//! ifma       AVX-512 IFMA: eight lanes, 52-bit digits
//! fma        AVX2 with FMA: eight lanes, 51-bit digits in doubles
//! avx2       AVX2: four lanes, 28-bit digits, for short numbers
//! field      integers modulo one odd prime in registers: for elliptic curves
//! ring       residues of any length with lazy sums, a modulus for each lane: for factoring
//! fft        products of long numbers by transforms in doubles, one at a time
//! words      the same arithmetic in words of 64 bits, without vectors: of any length, and of a few words in registers
//! mulx       BMI2 and ADX: the instructions for words
//! double_double   pairs of doubles, for the roots of transforms
//! ```
//!
//! # Safety
//!
//! A value of an instruction set's type is a proof: only [`Simd::detect`] makes one, and only where the processor has the
//! instructions. All methods take the proof, so they are safe, and no code outside this crate's files `ifma`, `fma`, `avx2`,
//! `fft::eight`, `fft::four`, `mulx` and `instructions` needs `unsafe`.
//!
//! The environment variable `WARPMP_CPU_WITHOUT` names instruction sets that are not used, `ifma`, `fma`, `avx2` or `mulx`, with
//! commas between them: for tests and comparisons.
//!
//! # Speed
//!
//! The methods of [`Simd`] become single instructions only inside [`Simd::vectorize`]. The algorithms of this crate see to
//! that themselves, except [`field`], whose callers wrap a whole loop.
#![deny(unsafe_code)]
#![allow(clippy::inline_always, reason = "an instruction is compiled where its caller has the features")]

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod fma;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod mulx;

#[cfg(target_arch = "x86_64")]
mod choice;
pub mod digits;
pub mod division;
pub mod divsteps;
pub mod double_double;
pub mod fft;
pub mod field;
pub mod montgomery;
pub mod product;
pub mod ring;
pub mod root;
pub mod shift;
mod simd;
pub mod square;
pub mod words;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Avx2, Fma, Ifma};
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use fma::Fma;
#[cfg(target_arch = "x86_64")]
pub use ifma::Ifma;
pub use simd::{MAX_LANES, Simd};
