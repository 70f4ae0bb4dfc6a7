//! The plan: everything that is decided about an operation before a device is touched.
//!
//! A plan sees shapes and the facts of a device, never data and never a handle. What it decides, and
//! why, is what [`Plan::explain`] says.

use std::fmt::Write as _;

use warpmp_device::{DeviceInfo, Grid};
use warpmp_kernel::ir::Kernel;

use crate::batch::Shape;
use crate::error::{Error, Result};
use crate::kernels::{MUL, MulAlgorithm, MulShape, Settings, Spec};
use crate::tuning::{self, Table};

/// Lanes of a tile: device buffers hold whole tiles.
pub const TILE_LANES: usize = 32;

/// Asynchronous copies to shared memory begin with this compute capability, times ten.
const ASYNC_COPIES_FROM: u32 = 80;

/// Scratch memory of a launch, at most: more than enough to fill the machine.
const SCRATCH_BYTES: usize = 1 << 30;

/// How a batch of products will be computed on a GPU.
#[derive(Debug)]
pub struct Plan {
    a: Shape,
    b: Shape,
    /// Is the operand that the caller named second the kernel's first?
    swapped: bool,
    algorithm: &'static MulAlgorithm,
    spec: Box<dyn Spec>,
    reasons: Vec<String>,
    device: String,
}

impl Plan {
    /// Plans `a·b`, lane by lane; an operand with one lane multiplies every lane of the other.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`], [`Error::AlgorithmUnfit`].
    pub fn mul(a: Shape, b: Shape, device: &DeviceInfo, algorithm: Option<&str>) -> Result<Self> {
        let mut reasons = Vec::new();
        let table = tuning::table(device.capability);
        let (algorithm, settings) = choose(a, b, table, algorithm, &mut reasons)?;
        let (swapped, shape) = roles(a, b, algorithm);
        if swapped {
            reasons.push("the operands change places: the kernel treats its two unequally".into());
        }
        if table.architecture != device.capability {
            reasons.push(format!("no table for sm_{}: the nearest is sm_{}'s", device.capability, table.architecture));
        }
        let async_copies = device.capability >= ASYNC_COPIES_FROM;
        if !async_copies {
            reasons.push(format!("sm_{} has no asynchronous copies to shared memory", device.capability));
        }
        let spec = (algorithm.spec)(shape, &settings, async_copies);
        Ok(Self { a, b, swapped, algorithm, spec, reasons, device: device.name.clone() })
    }

    /// The algorithm's name.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm.name
    }

    /// Are the kernel's `a` and `b` the caller's `b` and `a`?
    pub const fn swapped(&self) -> bool {
        self.swapped
    }

    /// The name of kernel and parameters.
    pub fn spec_name(&self) -> String {
        self.spec.name()
    }

    /// The kernels, in the order of their launches. Parameters: `a`, `b`, `c` (addresses of whole
    /// tiles), `lanes`, and the address of scratch memory if [`Plan::scratch_limbs`] is not zero.
    pub fn kernels(&self) -> Vec<Kernel> {
        (0..self.spec.stages()).map(|stage| self.spec.build(stage)).collect()
    }

    /// The launch of a kernel for this many lanes.
    pub fn grid(&self, stage: usize, lanes: u32) -> Grid {
        self.spec.grid(stage, lanes)
    }

    /// Limbs of scratch memory a lane.
    pub fn scratch_limbs(&self) -> usize {
        self.spec.scratch_limbs() as usize
    }

    /// The most lanes that one launch takes: whole tiles, and not too much scratch memory.
    pub fn max_launch_lanes(&self) -> usize {
        let scratch = SCRATCH_BYTES / (4 * self.scratch_limbs()).max(1);
        (self.spec.max_lanes() as usize).min(scratch) / TILE_LANES * TILE_LANES
    }

    /// Words of scratch memory that launches for this many lanes need.
    pub fn scratch_words(&self, lanes: usize) -> usize {
        lanes.next_multiple_of(TILE_LANES).min(self.max_launch_lanes()) * self.scratch_limbs()
    }

    /// Results.
    pub fn lanes(&self) -> usize {
        self.a.lanes.max(self.b.lanes)
    }

    /// The result's shape.
    pub fn result(&self) -> Shape {
        Shape { lanes: self.lanes(), bits: self.a.bits + self.b.bits }
    }

    /// Bytes of operands read and results written, each once.
    pub fn bytes(&self) -> u64 {
        [self.a, self.b, self.result()].iter().map(|s| 4 * s.lanes as u64 * s.limbs() as u64).sum()
    }

    /// Wide products (32×32 → 64 bits) of the whole batch.
    pub fn wide_products(&self) -> u64 {
        self.spec.wide_products() * self.lanes() as u64
    }

    /// Lanes a chunk, whole tiles, such that `buffers` sets of operands, results and
    /// scratch memory fit in `free_bytes` of device memory; at least a tile.
    pub fn chunk_lanes(&self, free_bytes: u64, buffers: u64) -> usize {
        let streams = |shape: Shape| if shape.lanes == 1 { 0 } else { shape.limbs() };
        let lane_bytes = 4 * (streams(self.a) + streams(self.b) + self.result().limbs() + self.scratch_limbs()) as u64;
        let fit = (free_bytes / (buffers * lane_bytes)) as usize / TILE_LANES * TILE_LANES;
        let all = self.lanes().next_multiple_of(TILE_LANES);
        fit.min(all).min(self.max_launch_lanes()).max(TILE_LANES)
    }

    /// The plan in words: algorithm, kernel, launch, bytes, and why.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let lanes = self.lanes();
        let launch_lanes = u32::try_from(lanes.min(self.max_launch_lanes())).unwrap_or(u32::MAX);
        let result = self.result();
        let mut line = |what: &str, words: String| {
            let _ = writeln!(text, "{what:<11}{words}");
        };
        line(
            "operation",
            format!("mul: {} × {} bits, {lanes} lanes, results of {} bits", self.a.bits, self.b.bits, result.bits),
        );
        line("device", self.device.clone());
        line("algorithm", format!("{}: {}", self.algorithm.name, self.algorithm.summary));
        for (stage, kernel) in self.kernels().iter().enumerate() {
            let (instructions, target) = (kernel.instructions().count(), kernel.target().name());
            line("kernel", format!("{}, {instructions} instructions, PTX for {target}", kernel.name));
            let Grid { blocks, threads, shared_bytes } = self.grid(stage, launch_lanes);
            line(
                "launch",
                format!("{blocks} blocks of {threads} threads, {shared_bytes} bytes of shared memory a block"),
            );
        }
        line("memory", format!("{} bytes: operands read and results written, each once", self.bytes()));
        line("arithmetic", format!("{} wide products (32×32 → 64 bits) a lane", self.spec.wide_products()));
        for (i, reason) in self.reasons.iter().enumerate() {
            line(if i == 0 { "why" } else { "" }, reason.clone());
        }
        text
    }
}

/// Which operand is the kernel's `a`, and what the kernel is made for. A common operand is always `b`.
fn roles(a: Shape, b: Shape, algorithm: &MulAlgorithm) -> (bool, MulShape) {
    let common = (a.lanes == 1) != (b.lanes == 1);
    let swapped = if common {
        a.lanes == 1
    } else if algorithm.longer_first {
        a.bits < b.bits
    } else {
        a.bits > b.bits
    };
    let (first, second) = if swapped { (b, a) } else { (a, b) };
    let result_limbs = (a.bits + b.bits).div_ceil(32);
    let limbs = [first.limbs(), second.limbs(), result_limbs].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    (swapped, MulShape { limbs, common_b: common })
}

/// The algorithm and its settings, with the reasons.
fn choose(
    a: Shape,
    b: Shape,
    table: &Table,
    asked: Option<&str>,
    reasons: &mut Vec<String>,
) -> Result<(&'static MulAlgorithm, Settings)> {
    let names = |it: &mut dyn Iterator<Item = &'static MulAlgorithm>| it.map(|a| a.name.to_owned()).collect();
    let fits = |it: &MulAlgorithm| (it.fits)(roles(a, b, it).1);
    let find = |name: &str| MUL.iter().find(|it| it.name == name);
    if let Some(name) = asked
        && find(name).is_none()
    {
        return Err(Error::UnknownAlgorithm { name: name.into(), known: names(&mut MUL.iter()) });
    }
    let bits = a.bits.max(b.bits);
    let row = table.mul_row(bits, asked);
    let name = asked.or(row.map(|row| row.algorithm.as_str()));
    let Some(algorithm) = name.and_then(find).filter(|it| fits(it)) else {
        return Err(Error::AlgorithmUnfit {
            algorithm: name.unwrap_or("the default").into(),
            bits_a: a.bits,
            bits_b: b.bits,
            fits: names(&mut MUL.iter().filter(|it| fits(it))),
        });
    };
    reasons.push(match (asked, row) {
        (None, Some(row)) => format!(
            "table sm_{}, row \"to {} bits\": measured fastest there on {}",
            table.architecture, row.to_bits, table.measured_on
        ),
        _ => format!("{} was asked for; it accepts {}", algorithm.name, algorithm.accepts),
    });
    Ok((algorithm, row.map_or_else(Settings::default, |row| row.settings)))
}
