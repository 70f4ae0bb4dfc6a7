//! Writes the text of every kernel at a few sizes, and a manifest of what its machine code may cost:
//! the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp --example emit_kernels -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde::Serialize;
use warpmp::kernels::{MUL, MulShape, OperationShape, Settings, register};
use warpmp::{Operation, Shape};

/// What one kernel may cost.
#[derive(Serialize)]
struct Budget {
    file: String,
    /// IMAD.WIDE instructions; none: not held.
    wide: Option<u64>,
    /// Those that compute addresses.
    wide_tolerance: u64,
    max_registers: Option<u32>,
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
    ("school", [1024, 1000], None, 64),
    ("comba", [1024, 1024], None, 64),
    ("karatsuba", [4096, 4096], None, 64),
    ("karatsuba2", [4096, 4096], None, 64),
    ("comba/sum-rotate", [2048, 2048], None, 40),
    ("comba/sum-rotate", [8192, 8000], None, 40),
    ("column-shared", [1024, 1024], Some(32), 40),
    ("column-shuffle", [500, 512], Some(16), 40),
    ("sum-rotate-shared", [1024, 1024], Some(32), 32),
    ("karatsuba/sum-rotate", [4096, 4096], None, 64),
];

/// Other operations: algorithm, bits of the operands, wide products in the text, registers.
const OPERATIONS: &[(Operation, &str, &[usize], Option<u64>, u32)] = &[
    (Operation::MontMul, "thread", &[256, 256, 256], Some(120), 56),
    (Operation::MontMul, "thread", &[512, 512, 512], Some(496), 104),
    (Operation::MontMul, "thread", &[131, 131, 131], None, 56),
    (Operation::MontMul, "group", &[1024, 1024, 1024], Some(128), 72),
    (Operation::MontMul, "group", &[2048, 2048, 2048], Some(512), 112),
    (Operation::MontMul, "group", &[32736, 32736, 32736], None, 255),
    (Operation::Redc, "thread", &[478, 239], None, 56),
    (Operation::ToMont, "group", &[1000, 1024], None, 88),
    (Operation::FromMont, "group", &[2048, 2048], None, 112),
    (Operation::PowMod, "thread", &[256, 256, 256], None, 72),
    (Operation::PowMod, "thread", &[512, 512, 512], None, 128),
    (Operation::PowMod, "group", &[1024, 1024, 1024], None, 88),
    (Operation::PowMod, "group", &[3000, 700, 1000], None, 96),
    (Operation::PowModSec, "thread", &[512, 512, 512], None, 144),
    (Operation::PowModSec, "group", &[2048, 2048, 2048], None, 152),
    (Operation::PowModPublic(65537), "group", &[2048, 2048], None, 128),
    (Operation::DivRem, "thread", &[256, 256], None, 64),
    (Operation::DivRem, "thread", &[1024, 512], None, 96),
    (Operation::DivRem, "group", &[1024, 1024], None, 72),
    (Operation::DivRem, "group", &[8192, 4096], None, 104),
    (Operation::Gcd, "thread", &[256, 256], None, 64),
    (Operation::Gcd, "group", &[4096, 4096], None, 80),
    (Operation::InvMod, "thread", &[256, 256], None, 128),
    (Operation::InvMod, "group", &[1024, 1024], None, 144),
    (Operation::Sqrt, "thread", &[1024], None, 96),
    (Operation::Sqrt, "group", &[4096], None, 80),
    (Operation::MulMod, "group", &[1024, 1024, 1024], None, 128),
    (Operation::GcdExt, "group", &[1024, 1000], None, 168),
];

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_kernels DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for &(name, bits, wide, registers) in CASES {
        let algorithm = MUL.iter().find(|it| it.name == name).ok_or("no such algorithm")?;
        let limbs = [bits[0].div_ceil(32), bits[1].div_ceil(32), (bits[0] + bits[1]).div_ceil(32)];
        for common_b in [false, true] {
            let shape = MulShape { limbs: limbs.map(|n| n as u32), common_b };
            let spec = (algorithm.spec)(shape, &Settings::default(), true);
            for stage in 0..spec.stages() {
                let kernel = spec.build(stage);
                let file = format!("{}.ptx", kernel.name);
                fs::write(directory.join(&file), kernel.to_string())?;
                // The multiplications are in the first stage.
                let wide = wide.filter(|_| !common_b && stage == 0);
                budgets.push(Budget { file, wide, wide_tolerance: 16, max_registers: Some(registers) });
            }
        }
    }
    for &(operation, name, bits, wide, registers) in OPERATIONS {
        let operands: Vec<Shape> = bits.iter().map(|&bits| Shape::new(32, bits)).collect();
        let shape = OperationShape::new(operation, &operands)?;
        let algorithm = register(operation).iter().find(|it| it.name == name).ok_or("no such algorithm")?;
        let spec = (algorithm.spec)(shape, &Settings::default(), true);
        for stage in 0..spec.stages() {
            let kernel = spec.build(stage);
            let file = format!("{}.ptx", kernel.name);
            fs::write(directory.join(&file), kernel.to_string())?;
            budgets.push(Budget { file, wide, wide_tolerance: 16, max_registers: Some(registers) });
        }
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
