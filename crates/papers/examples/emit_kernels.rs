//! Writes the text of the EPFL report's kernels, and a manifest of the cost that their machine code may have:
//! the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp-papers --example emit_kernels -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde_json::json;
use warpmp_papers::kernels::epfl::{Arithmetic, Experiment, Layout, Place, Work};

/// Work, arithmetic, place, bits, wide products of ten executions, registers.
type ExperimentCase = (Work, Arithmetic, Place, u32, Option<u64>, u32);

/// The EPFL report's experiments.
const EXPERIMENTS: &[ExperimentCase] = &[
    (Work::Add, Arithmetic::Flag, Place::Local, 131, None, 24),
    (Work::Add, Arithmetic::Wide, Place::Global, 239, None, 32),
    (Work::AddMod, Arithmetic::Compared, Place::Local, 131, None, 32),
    (Work::AddMod, Arithmetic::Flag, Place::Global, 239, None, 56),
    (Work::School, Arithmetic::Flag, Place::Local, 131, None, 32),
    (Work::School, Arithmetic::Wide, Place::Local, 239, Some(640), 56),
    (Work::School, Arithmetic::Rows, Place::Local, 239, Some(640), 64),
    (Work::Karatsuba, Arithmetic::Flag, Place::Local, 239, None, 56),
    (Work::Karatsuba, Arithmetic::Rows, Place::Local, 131, Some(220), 48),
];

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_kernels DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for &(work, arithmetic, place, bits, wide, registers) in EXPERIMENTS {
        let (layout, executions, turns, room) = (Layout::default(), 10, 1, 1 << 20);
        let kernel = Experiment { work, arithmetic, place, layout, bits, executions, turns, room }.build();
        let file = format!("{}.ptx", kernel.name);
        fs::write(directory.join(&file), kernel.to_string())?;
        budgets.push(json!({ "file": file, "wide": wide, "wide_tolerance": 16, "max_registers": registers }));
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
