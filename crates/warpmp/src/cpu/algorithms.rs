//! The algorithms of each operation.
//!
//! The first algorithm that runs on this processor and is at its best for the width is the default; the last one takes
//! every width. The ranges are crossovers measured by `examples/cpu_bench.rs`.
#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use std::ops::RangeInclusive;

use super::parts::{self, Part};
use super::reduction::{self, Residue};
#[cfg(target_arch = "x86_64")]
use super::simd::{self, Dividend, Power};
use super::{general, library, linear, rows::Piece, schoolbook, secret};
use crate::error::{Error, Result};
use crate::operation::{Operation, linear, linear_modular};

/// An algorithm of this engine, for one operation.
#[derive(Debug)]
pub(super) struct Algorithm {
    pub(super) name: &'static str,
    /// The widest operand it takes, in bits.
    limit_bits: usize,
    /// The mean widths of the operands, in bits, at which it is preferred.
    best_bits: RangeInclusive<usize>,
    /// Does it run on this processor?
    available: fn() -> bool,
    pub(super) run: fn(Piece<'_>),
}

impl Algorithm {
    /// An algorithm for every width and processor.
    const fn portable(name: &'static str, run: fn(Piece<'_>)) -> Self {
        Self { name, limit_bits: usize::MAX, best_bits: 0..=usize::MAX, available: || true, run }
    }

    /// Division, modular arithmetic, roots by the library.
    const fn dashu(run: fn(Piece<'_>)) -> Self {
        Self::portable("cpu-dashu", run)
    }

    const fn schoolbook(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: schoolbook::LIMIT_BITS, best_bits: 0..=4096, ..Self::portable("cpu-schoolbook", run) }
    }

    /// Products by vectors.
    #[cfg(target_arch = "x86_64")]
    const fn ifma_product(run: fn(Piece<'_>)) -> Self {
        let best_bits = 257..=usize::MAX;
        Self { name: "cpu-ifma", limit_bits: simd::LIMIT_BITS, best_bits, available: simd::is_available, run }
    }

    /// Modular arithmetic by vectors.
    #[cfg(target_arch = "x86_64")]
    const fn ifma(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: simd::MODULAR_LIMIT_BITS, best_bits: 0..=usize::MAX, ..Self::ifma_product(run) }
    }

    /// Does it run here, on operands of these bits?
    fn fits(&self, bits: &[usize]) -> bool {
        bits.iter().all(|bits| *bits <= self.limit_bits) && (self.available)()
    }
}

/// The algorithm by vectors, on processors of a family that has them, and the portable ones.
macro_rules! with_vectors {
    ($vectors:expr; $($portable:expr),*) => {
        const { &[#[cfg(target_arch = "x86_64")] $vectors, $($portable),*] }
    };
}

/// The algorithms of an operation, each with the code that computes it.
pub(super) fn all(operation: Operation) -> &'static [Algorithm] {
    use Algorithm as A;
    use Operation as O;
    match operation {
        O::Mul => with_vectors!(
            A::ifma_product(simd::multiply);
            A::schoolbook(schoolbook::multiply), A::dashu(library::multiply)
        ),
        O::Sqr => with_vectors!(
            A::ifma_product(simd::square);
            A::schoolbook(schoolbook::square), A::dashu(library::square)
        ),
        O::MulLo => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Low))] },
        O::MulHi => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::High))] },
        O::MulAdd => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Sum))] },
        O::SignedMul => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Signed))] },
        linear!() | linear_modular!() => const { &[A::portable("cpu-linear", linear::run)] },
        O::DivRem => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Plain)); A::dashu(general::div_rem)),
        O::Rem => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Plain)); A::dashu(general::remainder)),
        // The library's takes less than quadratic time.
        O::Gcd => with_vectors!(A { best_bits: 0..=24576, ..A::ifma(simd::gcd) }; A::dashu(general::gcd)),
        O::GcdExt => const { &[A::dashu(general::gcd_ext)] },
        O::Sqrt => const { &[A::dashu(general::sqrt)] },
        O::MulMod => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Product)); A::dashu(general::mul_mod)),
        O::SqrMod => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Square)); A::dashu(general::sqr_mod)),
        O::PowMod => with_vectors!(A::ifma(|it| simd::power(it, Power::Each)); A::dashu(general::pow_mod)),
        O::PowModSec => const { &[A::portable("cpu-constant-time", secret::power)] },
        O::PowModPublic(_) => {
            with_vectors!(A::ifma(|it| simd::power(it, Power::Constant)); A::dashu(general::pow_mod_public))
        }
        O::InvMod => with_vectors!(A::ifma(simd::inverse); A::dashu(general::inv_mod)),
        O::StrongTest(_) => {
            with_vectors!(A::ifma(|it| simd::power(it, Power::TestConstant)); A::dashu(general::strong_test))
        }
        O::MillerRabin => {
            with_vectors!(A::ifma(|it| simd::power(it, Power::TestEach)); A::dashu(general::miller_rabin))
        }
        O::Reduce => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Plain)); A::dashu(general::remainder)),
        O::ToMont => with_vectors!(A::ifma(|it| simd::divide(it, Dividend::Raised)); A::dashu(general::to_mont)),
        O::MontMul => with_vectors!(
            A::ifma(|it| simd::reduce(it, Residue::Product));
            A::portable("cpu-words", |it| reduction::run(it, Residue::Product))
        ),
        O::MontSqr => with_vectors!(
            A::ifma(|it| simd::reduce(it, Residue::Square));
            A::portable("cpu-words", |it| reduction::run(it, Residue::Square))
        ),
        O::FromMont | O::Redc => with_vectors!(
            A::ifma(|it| simd::reduce(it, Residue::Given));
            A::portable("cpu-words", |it| reduction::run(it, Residue::Given))
        ),
    }
}

/// The default for operands of these bits. The last one takes everything.
pub(super) fn best(operation: Operation, bits: &[usize]) -> Option<&'static Algorithm> {
    let mean = bits.iter().sum::<usize>() / bits.len().max(1);
    let is_best = |it: &&Algorithm| it.fits(bits) && it.best_bits.contains(&mean);
    all(operation).iter().find(is_best).or_else(|| all(operation).last())
}

/// The algorithm of this name, or the default for operands of these bits.
pub(super) fn choose(operation: Operation, bits: &[usize], name: Option<&str>) -> Result<&'static Algorithm> {
    let all = all(operation);
    let unfit = |algorithm: &str| Error::AlgorithmUnfit {
        operation,
        algorithm: algorithm.into(),
        bits: bits.to_vec(),
        fits: all.iter().filter(|it| it.fits(bits)).map(|it| it.name.to_owned()).collect(),
    };
    let Some(name) = name else {
        return best(operation, bits).ok_or_else(|| unfit("the default"));
    };
    match all.iter().find(|it| it.name == name) {
        None => {
            let known = all.iter().map(|it| it.name.to_owned()).collect();
            Err(Error::UnknownAlgorithm { operation, name: name.into(), known })
        }
        Some(it) if it.fits(bits) => Ok(it),
        Some(_) => Err(unfit(name)),
    }
}
