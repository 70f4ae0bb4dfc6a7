//! The algorithms of each operation.
//!
//! The first algorithm that runs on this processor and is at its best for the width is the default; the last one takes
//! every width. The ranges are crossovers measured by `examples/cpu_bench.rs`.
#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

use std::ops::RangeInclusive;

use warpmp_simd::fft::{Doubles, Eight, Four};
use warpmp_simd::{Fma, Ifma};

use super::parts::{self, Part};
use super::reduction::{self, Residue};
use super::simd::{self, Dividend, Power};
use super::word::{self, Word};
use super::{general, library, linear, rows::Piece, schoolbook, secret, transform, word_euclid, words};
use crate::error::{Error, Result};
use crate::operation::{Operation, linear, linear_modular};

/// The mean width of operands from which on a Montgomery reduction by long products is preferred to one by words, which takes
/// quadratic time.
const WORDS_BITS: usize = 120_000;

/// Mean widths of the operands up to which words are faster than AVX-512 IFMA (measured): quotients of dividends that are twice as long as
/// the divisor, modular products, powers, Montgomery's reductions, and roots.
const QUOTIENT_WORDS_BITS: usize = 384;
const PRODUCT_WORDS_BITS: usize = 256;
const POWER_WORDS_BITS: usize = 128;
const REDUCTION_WORDS_BITS: usize = 256;
const ROOT_WORDS_BITS: usize = 256;

/// Bits of the narrower operand from which on a transform is faster than products of words (measured).
const TRANSFORM_BITS: usize = 16384;

/// So few lanes are multiplied one by one; vectors multiply as many lanes at once as they have (measured).
const FEW_LANES: usize = 3;

/// Lanes of the widest vector.
const GROUP: usize = warpmp_simd::MAX_LANES;

/// An algorithm of this engine, for one operation.
#[derive(Debug)]
pub(super) struct Algorithm {
    pub(super) name: &'static str,
    /// The widest operand it takes, in bits.
    limit_bits: usize,
    /// The widest divisor or modulus it takes, in bits: the last operand.
    divisor_bits: usize,
    /// Where the processor has AVX-512 IFMA, it is preferred only to this mean width of the operands, in bits.
    ifma_bits: usize,
    /// The mean widths of the operands, in bits, at which it is preferred.
    best_bits: RangeInclusive<usize>,
    /// It is preferred only if no operand is narrower, in bits.
    narrowest: usize,
    /// If no operand is wider, in bits, it is preferred only for [`FEW_LANES`].
    few_bits: usize,
    /// A piece of work is a multiple of this many lanes.
    pub(super) group: usize,
    /// Does it run on this processor?
    available: fn() -> bool,
    pub(super) run: fn(Piece<'_>),
}

impl Algorithm {
    /// An algorithm for every width and processor.
    const fn portable(name: &'static str, run: fn(Piece<'_>)) -> Self {
        Self {
            name,
            limit_bits: usize::MAX,
            divisor_bits: usize::MAX,
            ifma_bits: usize::MAX,
            best_bits: 0..=usize::MAX,
            narrowest: 0,
            few_bits: 0,
            group: 1,
            available: || true,
            run,
        }
    }

    /// Division, modular arithmetic, roots by the library.
    const fn dashu(run: fn(Piece<'_>)) -> Self {
        Self::portable("cpu-dashu", run)
    }

    const fn schoolbook(run: fn(Piece<'_>)) -> Self {
        Self {
            limit_bits: schoolbook::LIMIT_BITS,
            best_bits: 0..=4096,
            group: GROUP,
            ..Self::portable("cpu-schoolbook", run)
        }
    }

    /// Modular arithmetic with one word.
    const fn word(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: 64, best_bits: 0..=64, ..Self::portable("cpu-word", run) }
    }

    /// The same, of dividends of two words.
    const fn wide_word(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: word::WIDE_BITS, best_bits: 0..=word::WIDE_BITS, ..Self::word(run) }
    }

    /// Modular arithmetic with few words, up to so many bits where the processor has AVX-512 IFMA.
    const fn words(ifma_bits: usize, run: fn(Piece<'_>)) -> Self {
        Self {
            limit_bits: words::DIVIDEND_BITS,
            divisor_bits: words::DIVISOR_BITS,
            ifma_bits,
            ..Self::portable("cpu-words", run)
        }
    }

    /// The same, for divisions.
    const fn divided_words(dividend: Dividend, run: fn(Piece<'_>)) -> Self {
        let (limit_bits, ifma_bits) = match dividend {
            Dividend::Plain => (words::DIVIDEND_BITS, QUOTIENT_WORDS_BITS),
            Dividend::Product | Dividend::Square | Dividend::Raised => (words::DIVISOR_BITS, PRODUCT_WORDS_BITS),
        };
        Self { limit_bits, ..Self::words(ifma_bits, run) }
    }

    /// Products with AVX-512 IFMA.
    const fn ifma_product(run: fn(Piece<'_>)) -> Self {
        let (limit_bits, best_bits) = (simd::product_bits::<Ifma>(), 257..=usize::MAX);
        let available = simd::is_available::<Ifma>;
        Self { limit_bits, best_bits, group: GROUP, available, ..Self::portable("cpu-ifma", run) }
    }

    /// Modular arithmetic with AVX-512 IFMA.
    const fn ifma(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: simd::divisor_bits::<Ifma>(), best_bits: 0..=usize::MAX, ..Self::ifma_product(run) }
    }

    /// Products with AVX2 and FMA.
    const fn avx2_product(run: fn(Piece<'_>)) -> Self {
        let (limit_bits, best_bits) = (simd::product_bits::<Fma>(), 513..=usize::MAX);
        let available = simd::is_available::<Fma>;
        Self { limit_bits, best_bits, group: GROUP, available, ..Self::portable("cpu-avx2", run) }
    }

    /// Modular arithmetic with AVX2 and FMA.
    const fn avx2(run: fn(Piece<'_>)) -> Self {
        Self { limit_bits: simd::divisor_bits::<Fma>(), best_bits: 0..=usize::MAX, ..Self::avx2_product(run) }
    }

    /// Long products by transforms, a lane at a time.
    const fn transform<S: Doubles>(name: &'static str, few_bits: usize, run: fn(Piece<'_>)) -> Self {
        let (limit_bits, available) = (transform::LIMIT_BITS, transform::is_available::<S>);
        Self { limit_bits, narrowest: TRANSFORM_BITS, few_bits, available, ..Self::portable(name, run) }
    }

    /// Does it run here, and is it preferred for so many lanes of operands of these bits?
    fn is_best(&self, bits: &[usize], lanes: usize) -> bool {
        let mean = bits.iter().sum::<usize>() / bits.len().max(1);
        self.fits(bits)
            && self.best_bits.contains(&mean)
            && (mean <= self.ifma_bits || !simd::is_available::<Ifma>())
            && bits.iter().all(|bits| *bits >= self.narrowest)
            && (bits.iter().any(|bits| *bits > self.few_bits) || lanes <= FEW_LANES)
    }

    /// Does it run here, on operands of these bits?
    fn fits(&self, bits: &[usize]) -> bool {
        bits.iter().all(|bits| *bits <= self.limit_bits)
            && bits.last().is_none_or(|bits| *bits <= self.divisor_bits)
            && (self.available)()
    }
}

/// The algorithms of a power or a strong test.
macro_rules! power {
    ($power:expr, $dashu:expr) => {
        const {
            &[
                Algorithm::word(|it| word::power(it, $power)),
                Algorithm {
                    limit_bits: words::DIVISOR_BITS,
                    ..Algorithm::words(POWER_WORDS_BITS, |it| words::power(it, $power))
                },
                Algorithm::ifma(|it| simd::power::<Ifma>(it, $power)),
                Algorithm::avx2(|it| simd::power::<Fma>(it, $power)),
                Algorithm::dashu($dashu),
            ]
        }
    };
}

/// The algorithms of one of Montgomery's reductions.
macro_rules! reduction {
    ($residue:expr, $word:expr) => {
        const {
            &[
                $word,
                Algorithm {
                    best_bits: REDUCTION_WORDS_BITS + 1..=usize::MAX,
                    ..Algorithm::ifma(|it| simd::reduce::<Ifma>(it, $residue))
                },
                Algorithm {
                    best_bits: words::DIVISOR_BITS + 1..=usize::MAX,
                    ..Algorithm::avx2(|it| simd::reduce::<Fma>(it, $residue))
                },
                Algorithm {
                    best_bits: 0..=WORDS_BITS,
                    ..Algorithm::portable("cpu-words", |it| reduction::run(it, $residue))
                },
                Algorithm::dashu(|it| general::reduce(it, $residue)),
            ]
        }
    };
}

/// The algorithms of a long division.
macro_rules! divided {
    ($dividend:expr, $word:expr, $dashu:expr) => {
        const {
            &[
                $word,
                Algorithm::divided_words($dividend, |it| words::divide(it, $dividend)),
                Algorithm::ifma(|it| simd::divide::<Ifma>(it, $dividend)),
                Algorithm::avx2(|it| simd::divide::<Fma>(it, $dividend)),
                Algorithm::dashu($dashu),
            ]
        }
    };
}

/// The algorithms of an operation, each with the code that computes it.
pub(super) fn all(operation: Operation) -> &'static [Algorithm] {
    use Algorithm as A;
    use Operation as O;
    match operation {
        O::Mul => {
            const {
                &[
                    A::transform::<Eight>("cpu-fft", simd::product_bits::<Ifma>(), transform::multiply::<Eight>),
                    A::ifma_product(simd::multiply::<Ifma>),
                    A::transform::<Four>("cpu-fft-avx2", simd::product_bits::<Fma>(), transform::multiply::<Four>),
                    A::avx2_product(simd::multiply::<Fma>),
                    A::schoolbook(schoolbook::multiply),
                    A::dashu(library::multiply),
                ]
            }
        }
        O::Sqr => {
            const {
                &[
                    A::transform::<Eight>("cpu-fft", simd::product_bits::<Ifma>(), transform::square::<Eight>),
                    A::ifma_product(simd::square::<Ifma>),
                    A::transform::<Four>("cpu-fft-avx2", simd::product_bits::<Fma>(), transform::square::<Four>),
                    A::avx2_product(simd::square::<Fma>),
                    A::schoolbook(schoolbook::square),
                    A::dashu(library::square),
                ]
            }
        }
        O::MulLo => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Low))] },
        O::MulHi => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::High))] },
        O::MulAdd => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Sum))] },
        O::SignedMul => const { &[A::portable("cpu-parts", |it| parts::run(it, Part::Signed))] },
        linear!() | linear_modular!() => const { &[A::portable("cpu-linear", linear::run)] },
        O::DivRem => divided!(Dividend::Plain, A::wide_word(|it| word::run(it, Word::Quotient)), general::div_rem),
        O::Rem => divided!(Dividend::Plain, A::wide_word(|it| word::run(it, Word::Quotient)), general::remainder),
        O::DivExact => const { &[A::dashu(general::div_exact)] },
        // The library takes less than quadratic time.
        O::Gcd => {
            const {
                &[
                    A::word(word_euclid::gcd),
                    A { best_bits: 0..=24576, ..A::ifma(simd::gcd::<Ifma>) },
                    A { best_bits: 0..=8192, ..A::avx2(simd::gcd::<Fma>) },
                    A::dashu(general::gcd),
                ]
            }
        }
        O::Lcm => const { &[A::dashu(general::lcm)] },
        O::Jacobi => const { &[A::dashu(general::jacobi)] },
        O::GcdExt => {
            const {
                &[
                    A::word(word_euclid::gcd_ext),
                    A::ifma(simd::gcd_ext::<Ifma>),
                    A { best_bits: 0..=6144, ..A::avx2(simd::gcd_ext::<Fma>) },
                    A::dashu(general::gcd_ext),
                ]
            }
        }
        O::Sqrt => {
            const {
                &[
                    A::wide_word(|it| word::run(it, Word::Root)),
                    A { limit_bits: words::ROOT_BITS, ..A::words(ROOT_WORDS_BITS, words::sqrt) },
                    A::ifma(simd::sqrt::<Ifma>),
                    A::avx2(simd::sqrt::<Fma>),
                    A::dashu(general::sqrt),
                ]
            }
        }
        O::MulMod => divided!(Dividend::Product, A::word(|it| word::run(it, Word::Product)), general::mul_mod),
        O::SqrMod => divided!(Dividend::Square, A::word(|it| word::run(it, Word::Product)), general::sqr_mod),
        O::PowMod => power!(Power::Each, general::pow_mod),
        O::PowModSec => const { &[A::portable("cpu-constant-time", secret::power)] },
        O::PowModPublic(_) => power!(Power::Constant, general::pow_mod_public),
        O::InvMod => {
            const {
                &[
                    A::word(word_euclid::inverse),
                    A::ifma(simd::inverse::<Ifma>),
                    A { best_bits: 0..=6144, ..A::avx2(simd::inverse::<Fma>) },
                    A::dashu(general::inv_mod),
                ]
            }
        }
        O::StrongTest(_) => power!(Power::TestConstant, general::strong_test),
        O::MillerRabin => power!(Power::TestEach, general::miller_rabin),
        O::Reduce => divided!(Dividend::Plain, A::wide_word(|it| word::run(it, Word::Quotient)), general::remainder),
        O::ToMont => {
            divided!(Dividend::Raised, A::word(|it| word::run(it, Word::Raised)), general::to_mont)
        }
        O::MontMul => reduction!(Residue::Product, A::word(|it| word::run(it, Word::Montgomery))),
        O::MontSqr => reduction!(Residue::Square, A::word(|it| word::run(it, Word::Montgomery))),
        O::FromMont | O::Redc => reduction!(Residue::Given, A::wide_word(|it| word::run(it, Word::Reduced))),
    }
}

/// The default for so many lanes of operands of these bits. The last one takes everything.
pub(super) fn best(operation: Operation, bits: &[usize], lanes: usize) -> Option<&'static Algorithm> {
    all(operation).iter().find(|it| it.is_best(bits, lanes)).or_else(|| all(operation).last())
}

/// The algorithm of this name, or the default for so many lanes of operands of these bits.
pub(super) fn choose(
    operation: Operation,
    bits: &[usize],
    lanes: usize,
    name: Option<&str>,
) -> Result<&'static Algorithm> {
    let all = all(operation);
    let unfit = |algorithm: &str| Error::AlgorithmUnfit {
        operation,
        algorithm: algorithm.into(),
        bits: bits.to_vec(),
        fits: all.iter().filter(|it| it.fits(bits)).map(|it| it.name.to_owned()).collect(),
    };
    let Some(name) = name else {
        return best(operation, bits, lanes).ok_or_else(|| unfit("the default"));
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
