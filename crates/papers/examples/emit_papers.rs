//! Writes the text of the papers' kernels, and a manifest of the cost that their machine code may have:
//! the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp-papers --example emit_papers -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde_json::json;
use warpmp::kernels::{Abilities, OperandShape, OperationShape, Settings};
use warpmp_papers::kernels;
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

/// The papers' multiplications: name, bits of the factors, registers.
const MULTIPLICATIONS: &[(&str, [u32; 2], u32)] = &[
    ("school", [1024, 1000], 64),
    ("comba", [1024, 1024], 64),
    ("karatsuba", [4096, 4096], 64),
    ("karatsuba2", [4096, 4096], 64),
    ("comba/sum-rotate", [2048, 2048], 40),
    ("comba/sum-rotate", [8192, 8000], 40),
    ("karatsuba/sum-rotate", [4096, 4096], 64),
];

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_papers DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for &(work, arithmetic, place, bits, wide, registers) in EXPERIMENTS {
        let (layout, executions, turns, room) = (Layout::default(), 10, 1, 1 << 20);
        let kernel = Experiment { work, arithmetic, place, layout, bits, executions, turns, room }.build();
        let file = format!("{}.ptx", kernel.name);
        fs::write(directory.join(&file), kernel.to_string())?;
        budgets.push(json!({ "file": file, "wide": wide, "wide_tolerance": 16, "max_registers": registers }));
    }
    for &(name, [a, bits], registers) in MULTIPLICATIONS {
        let algorithm = kernels::MULTIPLICATIONS.iter().find(|it| it.name == name).ok_or("no such algorithm")?;
        for common in [false, true] {
            let shape = OperationShape::product(OperandShape::each(a), OperandShape { bits, common });
            for kernel in algorithm.spec(shape, &Settings::default(), Abilities::of(80))?.kernels() {
                let file = format!("{}.ptx", kernel.name);
                fs::write(directory.join(&file), kernel.to_string())?;
                budgets.push(json!({ "file": file, "wide": null, "max_registers": registers }));
            }
        }
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
