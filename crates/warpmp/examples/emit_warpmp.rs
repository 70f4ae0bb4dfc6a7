//! Writes the text of every kernel at a few sizes, and a manifest of what its machine code may cost:
//! the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp --example emit_warpmp -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde::Serialize;
use warpmp::kernels::{Abilities, Algorithm, OperandShape, OperationShape, Settings, Spec, register};
use warpmp::{Operation, Shape};
use warpmp_kernel::ir::Kernel;

/// What one kernel may cost.
#[derive(Serialize)]
struct Budget {
    file: String,
    /// IMAD.WIDE instructions; none: not held.
    wide: Option<u64>,
    /// Those that compute addresses.
    wide_tolerance: u64,
    max_registers: Option<u32>,
    /// All other instructions; none: not held.
    max_other: Option<u64>,
    /// Carries moved out of the predicate registers.
    max_p2r: u32,
}

/// Algorithm, bits of the operands, wide products in the text (none where `ptxas` unrolls loops), registers.
const CASES: &[(&str, [usize; 2], Option<u64>, u32)] = &[
    ("thread", [32, 32], Some(1), 32),
    ("thread", [64, 64], Some(4), 32),
    ("thread", [128, 128], Some(16), 40),
    ("thread", [131, 131], Some(25), 48),
    ("thread", [256, 256], Some(64), 64),
    ("thread", [512, 512], Some(256), 80),
    ("thread", [521, 521], Some(289), 80),
    ("thread", [1000, 1000], Some(1024), 144),
    ("thread", [1024, 1024], Some(1024), 128),
    ("thread", [96, 1024], Some(96), 64),
    ("thread", [1536, 1536], Some(2304), 168),
    ("sum-rotate", [64, 64], Some(2), 32),
    ("sum-rotate", [256, 256], Some(8), 32),
    ("sum-rotate", [1024, 1024], Some(32), 40),
    ("group", [2048, 2048], Some(1024), 168),
    ("group", [1600, 1600], Some(625), 136),
    ("group", [2000, 2000], Some(1024), 168),
    ("group", [3000, 3000], Some(576), 144),
    ("group", [4096, 521], Some(289), 168),
    ("group", [32768, 32768], Some(1024), 168),
    ("group", [65536, 65536], Some(1024), 192),
    ("karatsuba/group", [4096, 4096], Some(1024), 168),
    ("karatsuba/group", [8192, 8192], Some(1024), 168),
    ("karatsuba/group", [10000, 9000], None, 168),
    ("karatsuba/group", [16384, 16384], Some(1024), 168),
    ("karatsuba/group", [32768, 32768], Some(676), 168),
    ("karatsuba/group", [65536, 65536], Some(676), 168),
    ("tensor", [1024, 1024], None, 72),
    ("tensor", [2048, 2048], None, 72),
    ("tensor", [2080, 2080], None, 72),
    ("tensor", [3072, 3072], None, 80),
    ("tensor", [4096, 4096], None, 104),
    ("tensor", [4608, 4608], None, 104),
    ("tensor", [4896, 4896], None, 112),
    ("tensor", [5000, 5120], None, 112),
    ("tensor", [5000, 6144], None, 144),
    ("tensor", [7168, 7168], None, 112),
    ("tensor", [8192, 8192], None, 128),
    ("tensor", [9216, 9216], None, 152),
    ("tensor", [10240, 10240], None, 192),
    ("tensor", [11264, 11264], None, 200),
    ("tensor", [12288, 12288], None, 200),
    ("tensor", [13312, 13312], None, 152),
    ("tensor", [14336, 14336], None, 255),
    ("tensor", [15360, 15360], None, 255),
    ("tensor", [16384, 16384], None, 240),
    ("tensor-warpgroup", [12289, 14000], None, 112),
    ("tensor-warpgroup", [16384, 16384], None, 128),
    ("tensor-warpgroup", [17536, 17536], None, 128),
    ("tensor-warpgroup", [18000, 20480], None, 128),
    ("tensor-warpgroup", [22528, 22528], None, 136),
    ("tensor-warpgroup", [24576, 24576], None, 144),
    ("tensor-warpgroup", [26624, 26624], None, 152),
    ("tensor-warpgroup", [28672, 28672], None, 160),
    ("fft", [8192, 8192], None, 168),
    ("fft", [9000, 16384], None, 168),
    ("fft", [32768, 32768], None, 168),
    ("fft", [18432, 18432], None, 168),
    ("fft", [27648, 27648], None, 168),
    ("fft", [36768, 36768], None, 168),
    ("fft", [52224, 52224], None, 255),
    ("fft", [24576, 24576], None, 255),
    ("fft", [49152, 49152], None, 255),
    ("fft", [65536, 65536], None, 255),
    ("fft", [131_072, 131_072], None, 255),
    ("fft", [229_376, 229_376], None, 255),
    ("fft", [262_144, 262_144], None, 255),
    ("fft", [294_912, 294_912], None, 255),
    ("fft", [327_680, 327_680], None, 255),
    ("fft", [1_150_000, 800_000], None, 255),
    ("fft", [393_216, 393_216], None, 255),
    ("fft", [614_400, 614_400], None, 255),
    ("fft", [960_000, 960_000], None, 255),
    ("fft", [1 << 20, 1 << 20], None, 255),
    ("fft", [1 << 24, 1 << 24], None, 255),
    ("ntt", [24576, 24576], None, 168),
    ("ntt", [65536, 65536], None, 128),
    ("column-shared", [1024, 1024], Some(32), 40),
    ("column-shuffle", [500, 512], Some(16), 40),
    ("sum-rotate-shared", [1024, 1024], Some(32), 32),
];

/// Operation, algorithm, bits of every operand, registers.
const OPERATIONS: &[(&str, &str, usize, u32)] = &[
    ("add", "thread", 131, 40),
    ("add", "thread", 1024, 104),
    ("add", "thread", 2500, 255),
    ("sub", "thread", 2528, 255),
    ("select", "thread", 2560, 255),
    ("signed_cmp", "thread", 2560, 255),
    ("select", "thread", 3104, 255),
    ("add", "thread", 3072, 255),
    ("xor", "thread", 32, 40),
    ("add", "thread", 32, 40),
    ("shl", "thread", 2048, 200),
    ("add", "group", 1024, 40),
    ("wrapping_add", "group", 1024, 40),
    ("carrying_add", "thread", 256, 48),
    ("sub", "thread", 256, 48),
    ("neg", "thread", 239, 40),
    ("cmp", "thread", 521, 80),
    ("shl", "thread", 163, 40),
    ("select", "thread", 191, 40),
    ("to_sign_magnitude", "thread", 109, 40),
    ("add_mod", "thread", 256, 64),
    ("add_mod", "thread", 1024, 168),
    ("sub_mod", "group", 2048, 48),
    ("add_mod", "group", 65536, 255),
    ("add", "group", 65536, 255),
    ("add", "group", 65535, 255),
    ("shr", "group", 4096, 64),
    ("add", "long", 70_000, 128),
    ("add", "long", 1 << 21, 128),
    ("carrying_add", "long", 70_000, 128),
    ("signed_sub", "long", 1 << 21, 128),
    ("cmp", "long", 1 << 21, 128),
    ("shl", "long", 70_000, 128),
    ("select", "long", 70_000, 128),
    ("signed_mul", "thread", 768, 168),
    ("signed_mul", "group", 2048, 168),
];

/// Parts of products: operation, algorithm, bits of every operand, wide products in the text (none where some are replaced by
/// high ones, or loops unrolled), registers.
const PARTS: &[(Operation, &str, usize, Option<u64>, u32)] = &[
    (Operation::MulLo, "thread", 256, Some(28), 48),
    (Operation::MulLo, "thread", 1000, Some(496), 136),
    (Operation::MulLo, "thread", 1024, Some(496), 136),
    (Operation::MulLo, "thread", 1536, Some(1128), 184),
    (Operation::MulHi, "thread", 512, None, 80),
    (Operation::MulHi, "thread", 1000, None, 136),
    (Operation::MulHi, "thread", 1024, None, 136),
    (Operation::MulHi, "thread", 1536, None, 224),
    (Operation::MulAdd, "thread", 768, Some(576), 104),
    (Operation::MulAdd, "thread", 1024, Some(1024), 144),
    (Operation::MulAdd, "thread", 1536, Some(2304), 224),
    (Operation::MulLo, "group", 2048, Some(256), 80),
    (Operation::MulLo, "group", 3000, Some(144), 72),
    (Operation::MulLo, "group", 16384, Some(256), 80),
    (Operation::MulLo, "group", 65536, Some(1024), 168),
    (Operation::MulHi, "group", 2048, Some(1024), 168),
    (Operation::MulHi, "group", 2000, Some(1024), 168),
    (Operation::MulAdd, "group", 2048, Some(1024), 168),
    (Operation::MulAdd, "group", 2000, Some(1024), 168),
    (Operation::MulLo, "tensor", 2048, None, 96),
    (Operation::MulLo, "tensor", 3072, None, 96),
    (Operation::MulLo, "tensor", 4096, None, 128),
    (Operation::MulLo, "tensor", 5120, None, 128),
    (Operation::MulLo, "tensor", 6144, None, 128),
    (Operation::MulLo, "tensor", 7168, None, 128),
    (Operation::MulLo, "tensor", 8192, None, 128),
    (Operation::MulLo, "tensor", 9216, None, 168),
    (Operation::MulLo, "tensor", 11264, None, 255),
    (Operation::MulLo, "tensor", 13312, None, 255),
    (Operation::MulHi, "tensor", 3072, None, 80),
    (Operation::MulHi, "tensor", 5120, None, 88),
    (Operation::MulHi, "tensor", 9216, None, 152),
    (Operation::MulHi, "tensor", 11264, None, 208),
    (Operation::MulHi, "tensor", 4096, None, 128),
    (Operation::MulHi, "tensor", 8192, None, 128),
    (Operation::MulAdd, "tensor", 3072, None, 80),
    (Operation::MulAdd, "tensor", 7168, None, 112),
    (Operation::MulAdd, "tensor", 11264, None, 208),
    (Operation::MulAdd, "tensor", 4096, None, 128),
    (Operation::MulAdd, "tensor", 8192, None, 168),
    (Operation::SignedMul, "tensor", 3072, None, 80),
    (Operation::SignedMul, "tensor", 7168, None, 144),
    (Operation::SignedMul, "tensor", 9216, None, 152),
    (Operation::SignedMul, "tensor", 11264, None, 208),
    (Operation::SignedMul, "tensor", 4096, None, 128),
    (Operation::SignedMul, "tensor", 12288, None, 255),
    (Operation::MulLo, "tensor", 12288, None, 255),
    (Operation::MulLo, "tensor", 14336, None, 255),
    (Operation::MulLo, "tensor", 16384, None, 255),
    (Operation::MulLo, "tensor", 20480, None, 255),
    (Operation::MulLo, "tensor", 20768, None, 255),
    (Operation::MulLo, "tensor", 28672, None, 255),
    (Operation::MulLo, "tensor", 36864, None, 255),
    (Operation::MulLo, "tensor", 40960, None, 255),
    (Operation::MulLo, "karatsuba/group", 32768, Some(676), 168),
    (Operation::MulHi, "karatsuba/group", 4096, Some(1024), 168),
    (Operation::MulHi, "karatsuba/group", 5000, None, 168),
    (Operation::MulAdd, "karatsuba/group", 8192, Some(1024), 168),
    (Operation::MulAdd, "karatsuba/group", 65536, Some(676), 168),
    (Operation::MulLo, "tensor-warpgroup", 12416, None, 112),
    (Operation::MulLo, "tensor-warpgroup", 16384, None, 128),
    (Operation::MulLo, "tensor-warpgroup", 20480, None, 128),
    (Operation::MulLo, "tensor-warpgroup", 22528, None, 136),
    (Operation::MulLo, "tensor-warpgroup", 24576, None, 144),
    (Operation::MulLo, "tensor-warpgroup", 28672, None, 160),
    (Operation::MulHi, "tensor-warpgroup", 12416, None, 112),
    (Operation::MulHi, "tensor-warpgroup", 16384, None, 128),
    (Operation::MulHi, "tensor-warpgroup", 20480, None, 128),
    (Operation::MulHi, "tensor-warpgroup", 22528, None, 136),
    (Operation::MulHi, "tensor-warpgroup", 24576, None, 144),
    (Operation::MulHi, "tensor-warpgroup", 28672, None, 160),
    (Operation::MulAdd, "tensor-warpgroup", 12416, None, 112),
    (Operation::MulAdd, "tensor-warpgroup", 16384, None, 128),
    (Operation::MulAdd, "tensor-warpgroup", 20480, None, 128),
    (Operation::MulAdd, "tensor-warpgroup", 22528, None, 136),
    (Operation::MulAdd, "tensor-warpgroup", 24576, None, 144),
    (Operation::MulAdd, "tensor-warpgroup", 28672, None, 160),
    (Operation::SignedMul, "tensor-warpgroup", 12416, None, 112),
    (Operation::SignedMul, "tensor-warpgroup", 16384, None, 128),
    (Operation::SignedMul, "tensor-warpgroup", 20480, None, 128),
    (Operation::SignedMul, "tensor-warpgroup", 22528, None, 136),
    (Operation::SignedMul, "tensor-warpgroup", 24576, None, 144),
    (Operation::SignedMul, "tensor-warpgroup", 28672, None, 160),
];

/// Squares: algorithm, bits of the operand, wide products in the text, registers.
const SQUARES: &[(&str, usize, Option<u64>, u32)] = &[
    ("thread", 32, Some(1), 32),
    ("thread", 64, Some(3), 32),
    ("thread", 131, Some(15), 48),
    ("thread", 256, Some(36), 64),
    ("thread", 512, Some(136), 80),
    ("thread", 521, Some(153), 88),
    ("thread", 1024, Some(528), 128),
    ("thread", 1376, Some(946), 168),
    ("thread", 1408, Some(759), 168),
    ("thread", 1536, Some(900), 184),
    ("thread", 2016, Some(2016), 255),
    ("thread", 2048, Some(1584), 240),
    ("group", 2048, None, 128),
    ("group", 4096, None, 168),
    ("group", 16384, None, 200),
    ("karatsuba/group", 2048, Some(528), 144),
    ("karatsuba/group", 4096, Some(528), 144),
    ("karatsuba/group", 5000, Some(630), 168),
    ("karatsuba/group", 8192, Some(1584), 208),
    ("karatsuba/group", 12288, Some(900), 168),
    ("karatsuba/group", 16384, Some(528), 144),
    ("karatsuba/group", 32768, Some(528), 144),
    ("karatsuba/group", 65536, None, 200),
    ("tensor", 4096, None, 104),
    ("tensor-warpgroup", 16384, None, 128),
    ("tensor-warpgroup", 20480, None, 128),
    ("fft", 16384, None, 128),
    ("fft", 18432, None, 128),
    ("fft", 36768, None, 128),
    ("fft", 32768, None, 128),
    ("fft", 49152, None, 255),
    ("fft", 65536, None, 255),
    ("fft", 131_072, None, 255),
    ("fft", 262_144, None, 128),
    ("ntt", 32768, None, 128),
    ("tensor", 7168, None, 112),
    ("tensor", 8192, None, 144),
    ("tensor", 10240, None, 128),
    ("tensor", 12288, None, 168),
    ("tensor", 14336, None, 168),
    ("tensor", 16384, None, 224),
];

/// Operation, algorithm, bits of the operands, wide products in the text, registers.
type ModularCase = (Operation, &'static str, &'static [usize], Option<u64>, u32);

/// Division, modular and Montgomery arithmetic.
const MODULAR: &[ModularCase] = &[
    (Operation::MontMul, "thread", &[256, 256, 256], Some(120), 56),
    (Operation::MontMul, "thread", &[512, 512, 512], Some(496), 104),
    (Operation::MontMul, "thread", &[1024, 1024, 1024], Some(2016), 168),
    (Operation::MontMul, "thread", &[131, 131, 131], None, 56),
    (Operation::MontSqr, "thread", &[256, 256], Some(99), 56),
    (Operation::MontSqr, "thread", &[512, 512], Some(391), 88),
    (Operation::MontSqr, "thread", &[1024, 1024], Some(1551), 160),
    (Operation::MontMul, "group", &[1024, 1024, 1024], Some(128), 72),
    (Operation::MontMul, "group", &[2048, 2048, 2048], Some(512), 112),
    (Operation::MontMul, "group", &[32736, 32736, 32736], None, 255),
    (Operation::Redc, "thread", &[478, 239], None, 56),
    (Operation::ToMont, "group", &[1000, 1024], None, 88),
    (Operation::FromMont, "group", &[2048, 2048], None, 112),
    (Operation::MontMul, "tensor", &[2048, 2048, 2048], None, 96),
    (Operation::MontMul, "tensor", &[3072, 3072, 3072], None, 168),
    (Operation::MontMul, "tensor", &[4096, 4096, 4096], None, 168),
    (Operation::MontMul, "tensor", &[5120, 5120, 5120], None, 192),
    (Operation::MontMul, "tensor", &[7168, 7168, 7168], None, 255),
    (Operation::MontMul, "tensor", &[9216, 9216, 9216], None, 255),
    (Operation::MontSqr, "tensor", &[13312, 13312], None, 255),
    (Operation::MontMul, "tensor", &[8192, 8192, 8192], None, 192),
    (Operation::MontSqr, "tensor", &[14336, 14336], None, 255),
    (Operation::MontMul, "tensor-common", &[2048, 2048, 2048], None, 168),
    (Operation::MontMul, "tensor-common", &[4096, 4096, 4096], None, 168),
    (Operation::MontSqr, "tensor-common", &[7936, 7936], None, 168),
    (Operation::MontMul, "tensor-common", &[8192, 8192, 8192], None, 168),
    (Operation::Redc, "tensor-common", &[4096, 2048], None, 168),
    (Operation::FromMont, "tensor-common", &[1280, 1280], None, 168),
    (Operation::PowMod, "tensor-common", &[1024, 1024, 1024], None, 168),
    (Operation::PowMod, "tensor-common", &[2048, 2048, 2048], None, 168),
    (Operation::PowMod, "tensor-common", &[4096, 4096, 4096], None, 192),
    (Operation::PowMod, "tensor-common", &[6000, 6000, 6000], None, 255),
    (Operation::PowMod, "tensor-common", &[8192, 8192, 8192], None, 255),
    (Operation::DivRem, "tensor-common", &[2560, 1280], None, 168),
    (Operation::DivRem, "tensor-common", &[4096, 2048], None, 168),
    (Operation::DivRem, "tensor-common", &[8192, 4096], None, 168),
    (Operation::DivRem, "tensor-common", &[16384, 8192], None, 255),
    (Operation::Rem, "tensor-common", &[6144, 4096], None, 168),
    (Operation::MulMod, "tensor-common", &[4096, 4096, 4096], None, 168),
    (Operation::Mul, "tensor-common", &[2048, 2048], None, 168),
    (Operation::Mul, "tensor-common", &[1280, 4096], None, 168),
    (Operation::Mul, "tensor-common", &[8192, 8192], None, 168),
    (Operation::MulHi, "tensor-common", &[4096, 4096], None, 168),
    (Operation::PowMod, "tensor", &[2048, 2048, 2048], None, 168),
    (Operation::PowMod, "tensor", &[3072, 3072, 3072], None, 168),
    (Operation::PowMod, "tensor", &[4096, 4096, 4096], None, 168),
    (Operation::PowMod, "tensor", &[5120, 5120, 5120], None, 168),
    (Operation::PowMod, "tensor", &[7168, 7168, 7168], None, 255),
    (Operation::PowMod, "tensor", &[9216, 9216, 9216], None, 255),
    (Operation::PowMod, "tensor", &[11264, 11264, 11264], None, 255),
    (Operation::PowMod, "tensor", &[8192, 8192, 6000], None, 224),
    (Operation::PowMod, "tensor", &[8192, 8192, 8192], None, 168),
    (Operation::PowMod, "tensor", &[16384, 16384, 16384], None, 255),
    (Operation::PowMod, "thread", &[256, 256, 256], None, 72),
    (Operation::PowMod, "thread", &[512, 512, 512], None, 128),
    (Operation::PowMod, "thread", &[1024, 1024, 1024], None, 168),
    (Operation::PowMod, "group", &[1024, 1024, 1024], None, 88),
    (Operation::PowMod, "group", &[3000, 700, 1000], None, 96),
    (Operation::PowMod, "group", &[4096, 4096, 4096], None, 112),
    (Operation::PowModSec, "thread", &[512, 512, 512], None, 144),
    (Operation::PowModSec, "thread", &[1024, 1024, 1024], None, 184),
    (Operation::PowModSec, "group", &[2048, 2048, 2048], None, 152),
    (Operation::PowModPublic(65537), "group", &[2048, 2048], None, 128),
    (Operation::StrongTest(2), "thread", &[683], Some(737), 136),
    (Operation::StrongTest(2), "thread", &[512], Some(392), 96),
    (Operation::StrongTest(2), "thread", &[1024], Some(1552), 192),
    (Operation::StrongTest(2), "group", &[2048], None, 112),
    (Operation::MillerRabin, "thread", &[683, 683], None, 168),
    (Operation::MillerRabin, "group", &[2048, 2048], None, 144),
    (Operation::DivRem, "thread", &[256, 256], None, 64),
    (Operation::DivRem, "thread", &[1024, 512], None, 104),
    (Operation::DivRem, "thread", &[2048, 1024], None, 168),
    (Operation::DivRem, "group", &[1024, 1024], None, 72),
    (Operation::DivRem, "group", &[2400, 1100], None, 80),
    (Operation::DivRem, "group", &[8192, 4096], None, 104),
    (Operation::DivRem, "group", &[65472, 32736], None, 176),
    (Operation::Rem, "group", &[6000, 3000], None, 104),
    (Operation::Gcd, "thread", &[256, 256], None, 64),
    (Operation::Gcd, "group", &[4096, 4096], None, 80),
    (Operation::Gcd, "group", &[8192, 8192], None, 128),
    (Operation::Gcd, "group", &[16384, 16384], None, 168),
    (Operation::Gcd, "group", &[32768, 32768], None, 255),
    (Operation::InvMod, "group", &[16384, 16384], None, 255),
    (Operation::InvMod, "group", &[32768, 32768], None, 255),
    (Operation::Jacobi, "thread", &[256, 256], None, 80),
    (Operation::Jacobi, "group", &[4096, 4096], None, 96),
    (Operation::Lcm, "group", &[1024, 1000], None, 168),
    (Operation::DivExact, "thread", &[1024, 512], None, 104),
    (Operation::DivExact, "group", &[8192, 4096], None, 104),
    (Operation::InvMod, "thread", &[256, 256], None, 128),
    (Operation::InvMod, "group", &[1024, 1024], None, 144),
    (Operation::Sqrt, "thread", &[1024], None, 120),
    (Operation::Sqrt, "group", &[4096], None, 96),
    (Operation::MulMod, "group", &[1024, 1024, 1024], None, 128),
    (Operation::GcdExt, "group", &[1024, 1000], None, 168),
    // Of a block of threads.
    (Operation::MontMul, "group", &[65536, 65536, 65536], None, 255),
    (Operation::ToMont, "group", &[40000, 40000], None, 255),
    (Operation::PowMod, "group", &[65536, 65536, 65536], None, 255),
    (Operation::PowModSec, "group", &[40000, 65536, 40000], None, 255),
    (Operation::PowModPublic(65537), "group", &[65536, 65536], None, 255),
    (Operation::DivRem, "group", &[65536, 65536], None, 255),
    (Operation::Gcd, "group", &[65536, 65536], None, 255),
    (Operation::Jacobi, "group", &[65536, 65536], None, 255),
    (Operation::InvMod, "group", &[65536, 65536], None, 255),
    (Operation::Sqrt, "group", &[65536], None, 255),
    (Operation::Sqrt, "zimmermann", &[16384], None, 200),
    (Operation::MulMod, "group", &[131, 65536, 40000], None, 255),
    (Operation::DivRem, "newton", &[33000, 17000], None, 255),
    (Operation::DivRem, "newton", &[32768, 16384], None, 255),
    (Operation::DivRem, "newton", &[65536, 32768], None, 255),
    (Operation::DivExact, "newton", &[33000, 17000], None, 255),
    (Operation::MontMul, "products", &[8192, 8192, 8192], None, 255),
    (Operation::MontMul, "products", &[16384, 16384, 16384], None, 255),
    (Operation::MontMul, "products", &[65536, 65536, 65536], None, 255),
    (Operation::AddMod, "long-mod", &[70_000, 70_000, 70_000], None, 255),
];

/// The same with blocks of 32 limbs: products and squares as the tuning tables have them.
const LONG_BLOCKS: &[ModularCase] = &[
    (Operation::MontMul, "group", &[2048, 2048, 2048], Some(1024), 168),
    (Operation::MontSqr, "group", &[2048, 2048], Some(1552), 168),
    (Operation::PowMod, "group", &[2048, 2048, 2048], None, 176),
];

/// A block a product, where the tuning tables ask for it: bits of the operands, registers.
const FFT_BLOCKS: &[(&str, usize, u32)] = &[
    ("fft", 98_304, 255),
    ("fft", 131_072, 255),
    ("fft", 163_840, 255),
    ("fft", 196_608, 255),
    ("fft-wraparound", 18432, 255),
    ("fft-wraparound", 40960, 255),
    ("fft-wraparound", 73728, 255),
    ("fft-wraparound", 147_456, 255),
    ("fft-wraparound", 57344, 255),
    ("fft-wraparound", 114_688, 255),
    ("fft-wraparound", 180_000, 255),
    ("fft-wraparound", 212_992, 255),
];

/// Transforms that take in signs or an addend: bits of the operands.
const FFT_EXTRAS: &[usize] = &[
    24_576, 32_768, 40_960, 49_152, 65_536, 73_728, 98_304, 106_496, 131_072, 147_456, 163_840, 167_936, 196_608,
    204_800,
];

fn find(operation: Operation, name: &str) -> Result<&'static Algorithm, Box<dyn error::Error>> {
    Ok(register(operation).iter().find(|it| it.name == name).ok_or("no such algorithm")?)
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_warpmp DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for &(name, bits, wide, registers) in CASES {
        let algorithm = find(Operation::Mul, name)?;
        let [a, b] = bits.map(|bits| bits as u32);
        for common_b in [false, true] {
            let shape = OperationShape::product(OperandShape::each(a), OperandShape { bits: b, common: common_b });
            let spec = algorithm.spec(shape, &Settings::default(), Abilities::of(80))?;
            // A common operand is read in other ways.
            write(&*spec, directory, wide.filter(|_| !common_b), registers, &mut budgets)?;
        }
    }
    let mut operations = Vec::new();
    for &(name, algorithm, bits, registers) in OPERATIONS {
        operations.push((Operation::named(name).ok_or("no such operation")?, algorithm, bits, None, registers));
    }
    operations.extend_from_slice(PARTS);
    for (operation, algorithm, bits, wide, registers) in operations {
        let algorithm = find(operation, algorithm)?;
        for common in [false, true] {
            let mut operands = vec![Shape::new(2, bits); operation.arity()];
            if common && operands.len() > 1 {
                operands[1].lanes = 1;
            }
            let shape = OperationShape::new(operation, &operands)?;
            let spec = algorithm.spec(shape, &Settings::default(), Abilities::of(80))?;
            // A common operand is read in other ways.
            write(&*spec, directory, wide.filter(|_| !common), registers, &mut budgets)?;
        }
    }
    for &(name, bits, wide, registers) in SQUARES {
        let shape = OperationShape::square(bits as u32);
        let spec = find(Operation::Sqr, name)?.spec(shape, &Settings::default(), Abilities::of(80))?;
        write(&*spec, directory, wide, registers, &mut budgets)?;
    }
    let block = Settings { levels: Some(1), ..Settings::default() };
    for &(name, bits, registers) in FFT_BLOCKS {
        let operand = OperandShape::each(bits as u32);
        let square = OperationShape::square(bits as u32);
        for (operation, shape) in
            [(Operation::Mul, OperationShape::product(operand, operand)), (Operation::Sqr, square)]
        {
            let spec = find(operation, name)?.spec(shape, &block, Abilities::of(90))?;
            write(&*spec, directory, None, registers, &mut budgets)?;
        }
    }
    for &bits in FFT_EXTRAS {
        for operation in [Operation::SignedMul, Operation::MulAdd] {
            let shape = OperationShape::new(operation, &vec![Shape::new(2, bits); operation.arity()])?;
            let spec = find(operation, "long")?.spec(shape, &block, Abilities::of(90))?;
            write(&*spec, directory, None, 255, &mut budgets)?;
        }
    }
    let long_blocks = Settings { block: Some(32), ..Settings::default() };
    let usual = MODULAR.iter().map(|case| (case, Settings::default()));
    for (&(operation, name, bits, wide, registers), settings) in
        usual.chain(LONG_BLOCKS.iter().map(|case| (case, long_blocks)))
    {
        let mut operands: Vec<Shape> = bits.iter().map(|&bits| Shape::new(32, bits)).collect();
        let algorithm = find(operation, name)?;
        let mut shape = OperationShape::new(operation, &operands)?;
        if let (false, Some(modulus)) = ((algorithm.fits)(shape), operands.last_mut()) {
            // One for all lanes.
            modulus.lanes = 1;
            shape = OperationShape::new(operation, &operands)?;
        }
        let spec = algorithm.spec(shape, &settings, Abilities::of(80))?;
        write(&*spec, directory, wide, registers, &mut budgets)?;
        if let (Operation::MontMul, "thread", Some(_), Some(budget)) = (operation, name, wide, budgets.last_mut()) {
            // All of the kernel: the products, a low one a row among them, and at most 1.3 times as many others.
            let products = spec.wide_products() + bits[0].div_ceil(32) as u64;
            budget.max_other = Some(products + products * 13 / 10 - wide.unwrap_or(0));
        }
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}

/// Writes the kernels of an operation, and notes their budgets.
fn write(
    spec: &dyn Spec,
    directory: &Path,
    wide: Option<u64>,
    registers: u32,
    budgets: &mut Vec<Budget>,
) -> Result<(), Box<dyn error::Error>> {
    for (stage, kernel) in spec.kernels().iter().enumerate() {
        // The multiplications are in the first stage.
        let wide = wide.filter(|_| stage == 0);
        write_kernel(kernel, directory, wide, registers, budgets)?;
        if let (true, Some(budget)) = (kernel.name.contains("even_"), budgets.last_mut()) {
            // Two rings, for the few even moduli: all registers, but no spills. Rows modulo −1 are so short of other work
            // that `ptxas` has more of their carries under way than there are predicates: once a row, not once a limb.
            budget.max_registers = Some(255);
            budget.max_p2r = 4;
        }
        if let (true, Some(budget)) = (kernel.name.starts_with("inv_mod"), budgets.last_mut()) {
            // Two sums of four rows beside each other, once a batch.
            budget.max_p2r = 4;
        }
        if let (true, Some(budget)) = (kernel.name.starts_with("signed_mul"), budgets.last_mut()) {
            // Predicates of the two branches for the signs leave their registers, once a product.
            budget.max_p2r = 4;
        }
        let reduces = ["_reduction_", "_common_"].iter().any(|part| kernel.name.contains(part));
        if let (true, Some(budget)) = (reduces, budgets.last_mut()) {
            // Predicates live through all tiles: some leave their registers once a tile, beside hundreds of instructions.
            budget.max_p2r = 6;
        }
        if let (true, Some(budget)) = (kernel.name.contains("_long_"), budgets.last_mut()) {
            // Memory decides the time of these lines, not a carry that leaves the predicates now and then.
            budget.max_p2r = 8;
        }
    }
    Ok(())
}

/// Writes a kernel, and notes its budget.
fn write_kernel(
    kernel: &Kernel,
    directory: &Path,
    wide: Option<u64>,
    registers: u32,
    budgets: &mut Vec<Budget>,
) -> Result<(), Box<dyn error::Error>> {
    let file = format!("{}.ptx", kernel.name);
    fs::write(directory.join(&file), kernel.to_string())?;
    budgets.push(Budget {
        file,
        wide,
        wide_tolerance: 16,
        max_registers: Some(registers),
        max_other: None,
        max_p2r: 0,
    });
    Ok(())
}
