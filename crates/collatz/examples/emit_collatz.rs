//! Writes the text of every kernel at a few parameters, and a manifest of what its machine code may
//! cost: the input of `tools/ptxas-check`.
//!
//! ```sh
//! cargo run -p warpmp-collatz --example emit_collatz -- DIR
//! ```

use std::path::Path;
use std::{env, error, fs};

use serde::Serialize;
use warpmp_collatz::kernels::alpha::Alpha;
use warpmp_collatz::kernels::delay::{Delay, Source};
use warpmp_collatz::kernels::delay_pools::DelayPools;
use warpmp_collatz::kernels::delay_records::DelayRecords;
use warpmp_collatz::kernels::honda::{Begin, Honda, Place};
use warpmp_collatz::kernels::leaves::{Count, Expand, Scatter};
use warpmp_collatz::kernels::lookahead::Lookahead;
use warpmp_collatz::kernels::vector::BitVector;
use warpmp_kernel::ir::Kernel;

/// What one kernel may cost.
#[derive(Serialize)]
struct Budget {
    file: String,
    /// IMAD.WIDE instructions; none: not held.
    wide: Option<u64>,
    max_registers: Option<u32>,
}

/// Kernels and the registers that their launches leave them.
fn kernels() -> Vec<(Kernel, u32)> {
    let honda = Honda { base_bits: 11, place: Place::Shared, begin: Begin::Start, sieve_bits: 37, threads: 256 };
    let lookahead = Lookahead {
        jump_bits: 12,
        sure_jumps: 3,
        watched: false,
        limbs: 3,
        leaf_bits: 34,
        warps: 16,
        blocks: 3,
        ranged: false,
    };
    let delay = Delay { base_bits: 11, place: Place::Shared, known_bits: 12, source: Source::Array, threads: 256 };
    let pools = DelayPools {
        base_bits: 14,
        known_bits: 22,
        large_jumps: 2,
        small_jumps: 5,
        source: Source::Array,
        chunk: 2048,
        warps: 24,
        blocks: 2,
    };
    vec![
        (Alpha { sieve_bits: 24, unit_bits: 40, kept: 5, ranged: false }.build(), 64),
        (Alpha { sieve_bits: 34, unit_bits: 40, kept: 9, ranged: true }.build(), 64),
        (DelayRecords { base_bits: 12, known_bits: 21, sieve_bits: 20, window_bits: 40 }.build(), 40),
        (delay.build(), 40),
        (Delay { base_bits: 18, place: Place::Global, ..delay }.build(), 40),
        (pools.build(), 40),
        (DelayPools { source: Source::Range, ..pools }.build(), 40),
        (lookahead.build(), 40),
        (Lookahead { ranged: true, watched: true, ..lookahead }.build(), 40),
        (Lookahead { watched: true, ..lookahead }.build(), 40),
        (Lookahead { limbs: 4, blocks: 2, ..lookahead }.build(), 64),
        (Lookahead { limbs: 4, watched: true, blocks: 2, ..lookahead }.build(), 64),
        (Expand { merges: true }.build(), 40),
        (Expand { merges: false }.build(), 40),
        (Count.build(), 16),
        (Scatter.build(), 32),
        (BitVector { steps: 36 }.build(), 32),
        (honda.build(), 32),
        (honda.build_ranged(), 40),
        (Honda { base_bits: 18, place: Place::Global, ..honda }.build(), 32),
        (Honda { begin: Begin::AfterSieve, ..honda }.build(), 32),
    ]
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = env::args().nth(1).ok_or("usage: emit_collatz DIR")?;
    let directory = Path::new(&directory);
    let mut budgets = Vec::new();
    for (kernel, registers) in kernels() {
        let file = format!("{}.ptx", kernel.name);
        fs::write(directory.join(&file), kernel.to_string())?;
        budgets.push(Budget { file, wide: None, max_registers: Some(registers) });
    }
    fs::write(directory.join("budgets.json"), serde_json::to_string_pretty(&budgets)?)?;
    Ok(())
}
