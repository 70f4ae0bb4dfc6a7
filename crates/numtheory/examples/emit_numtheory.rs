//! Writes the text of every kernel of elliptic curves, and a manifest of what its machine code may cost: the input of
//! `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp-numtheory --example emit_numtheory -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde::Serialize;
use warpmp_numtheory::factor::device_kernels;

/// What one kernel may cost.
#[derive(Serialize)]
struct Budget {
    file: String,
    max_registers: Option<u32>,
}

/// One thread a number with bits to spare and without, and groups of lanes.
const BITS: [u64; 4] = [91, 512, 1019, 2043];
/// Bits of moduli of few curves.
const BITS_OF_FEW: u64 = 1024;

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_numtheory DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    let full = BITS.into_iter().flat_map(|bits| device_kernels(bits, false));
    for kernel in full.chain(device_kernels(BITS_OF_FEW, true)) {
        let file = format!("{}.ptx", kernel.name);
        fs::write(directory.join(&file), kernel.to_string())?;
        budgets.push(Budget { file, max_registers: None });
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
