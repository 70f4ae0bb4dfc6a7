//! Writes the text of every kernel for the curves of published challenges, and a manifest of what its machine code may
//! cost: the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp-curves --example emit_curves -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use num_bigint::BigUint;
use serde::Serialize;
use warpmp_curves::kernels::{Constants, begin, escape, starts, sums, walk::Walk};
use warpmp_curves::{challenges, walk::limbs};
use warpmp_kernel::ir::Kernel;

/// What one kernel may cost.
#[derive(Serialize)]
struct Budget {
    file: String,
    max_registers: Option<u32>,
}

/// Kernels, and the registers that their launches leave them.
type Kernels = Vec<(Kernel, Option<u32>)>;

/// The kernels of the challenges.
fn kernels() -> Result<Kernels, Box<dyn error::Error>> {
    let mut kernels = Kernels::new();
    for (name, registers) in [("eccp-79", 64), ("eccp-109", 64), ("eccp-131", 64), ("secp112r1", 64)] {
        let group = challenges::named(name)?.group;
        let limbs = limbs(&group.p);
        let a = (group.a << (32 * limbs)) % &group.p;
        let constants = Constants::new(group.p, a, limbs);
        let walk = Walk {
            constants: constants.clone(),
            branch_bits: if limbs == 3 { 11 } else { 10 },
            distinguished_bits: 20,
            shift: 32,
            points: 128,
            threads: 1024,
            blocks: 132,
            watched: false,
        };
        kernels.push((Walk { watched: true, ..walk.clone() }.build(), Some(registers)));
        kernels.push((begin::build(&walk), Some(registers)));
        kernels.push((escape::build(&walk), Some(registers)));
        kernels.push((walk.build(), Some(registers)));
        kernels.push((starts::build(&constants), None));
        kernels.push((sums::build(&constants), None));
    }
    // The largest field: p = 2²⁵⁶ − 2³² − 977.
    let p = (BigUint::from(1_u32) << 256_u32) - (1_u64 << 32) - 977_u32;
    let walk = Walk {
        constants: Constants::new(p, BigUint::ZERO, 9),
        branch_bits: 10,
        distinguished_bits: 20,
        shift: 32,
        points: 128,
        threads: 640,
        blocks: 132,
        watched: false,
    };
    kernels.push((walk.build(), Some(96)));
    kernels.push((sums::build(&walk.constants), None));
    Ok(kernels)
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_curves DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for (kernel, max_registers) in kernels()? {
        let file = format!("{}.ptx", kernel.name);
        fs::write(directory.join(&file), kernel.to_string())?;
        budgets.push(Budget { file, max_registers });
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
