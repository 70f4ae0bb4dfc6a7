//! A case: an operation, shapes, a way to do it; drawn from one seed.

use std::fmt;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpmp::kernels::Settings;
use warpmp::kernels::mul_thread::Input;
use warpmp::operation::{Group, Role};
use warpmp::{Operation, Shape, tuning};

use super::Limits;

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Cpu,
    Simulator,
    Gpu,
}

/// How it shall be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the plan chooses.
    Default,
    /// By an algorithm of this name, with the settings of the table.
    Named(String),
    /// By this algorithm with these settings; they may be such that no device could launch the kernel.
    With(String, Settings),
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) operation: Operation,
    pub(crate) bits: Vec<usize>,
    pub(crate) lanes: Vec<usize>,
    pub(crate) device: Device,
    pub(crate) way: Way,
    /// Have batches to stay on the device?
    pub(crate) resident: bool,
    /// Do results go to memory that has something in it?
    pub(crate) dirty: bool,
    /// Of the simulated device's memory, if it is so little that a batch may have to go through it in chunks.
    pub(crate) memory_bytes: Option<u64>,
    /// Can the simulated device copy to shared memory asynchronously?
    pub(crate) asynchronous: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} of {:?} bits in {:?} lanes on {:?}, {:?}{}{}{}{} (WARPMP_FUZZ_SEED={} WARPMP_FUZZ_CASES=1)",
            self.operation,
            self.bits,
            self.lanes,
            self.device,
            self.way,
            if self.resident { ", resident" } else { "" },
            if self.dirty { ", to memory in use" } else { "" },
            self.memory_bytes.map_or_else(String::new, |bytes| format!(", {bytes} bytes of memory")),
            if self.asynchronous { "" } else { ", without asynchronous copies" },
            self.seed
        )
    }
}

fn one_in(rng: &mut ChaCha8Rng, n: u32) -> bool {
    rng.random_range(0..n) == 0
}

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// Evenly by length of the number, from 1 on.
fn log_uniform(rng: &mut ChaCha8Rng, most: usize) -> usize {
    let most = most.max(1) as f64;
    (most.powf(rng.random::<f64>()) as usize).max(1)
}

/// The widest operand of kernels for GPUs without asynchronous copies.
const WITHOUT_COPIES_BITS: usize = 65536;

impl Case {
    pub(crate) fn draw(seed: u64, device: Device, limits: &Limits) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        loop {
            let operation = limits.operation.unwrap_or_else(|| pick(&mut rng, Operation::ALL));
            let bits = widths(&mut rng, operation, limits.bits.min(operation.max_bits()));
            let operation = with_constant(&mut rng, operation, &bits);
            let lanes = lanes(&mut rng, &bits);
            // Longer operands have kernels on GPUs with asynchronous copies only.
            let is_long = bits.iter().any(|&bits| bits > WITHOUT_COPIES_BITS);
            let mut case = Self {
                seed,
                operation,
                bits,
                lanes,
                device,
                way: Way::Default,
                resident: one_in(&mut rng, 4),
                dirty: one_in(&mut rng, 3),
                memory_bytes: None,
                asynchronous: device != Device::Simulator || !one_in(&mut rng, 6) || is_long,
            };
            if case.fit(limits) {
                case.way = case.draw_way(&mut rng);
                if device == Device::Simulator && one_in(&mut rng, 6) {
                    case.memory_bytes = Some(case.some_tiles(&mut rng));
                }
                return case;
            }
        }
    }

    pub(crate) fn shapes(&self) -> Vec<Shape> {
        self.bits.iter().zip(&self.lanes).map(|(&bits, &lanes)| Shape::new(lanes, bits)).collect()
    }

    /// Memory for a few tiles of operands and results, which may be too little.
    fn some_tiles(&self, rng: &mut ChaCha8Rng) -> u64 {
        let results = self.operation.results(&self.shapes()).unwrap_or_default();
        let limbs: usize = self.shapes().iter().chain(&results).map(|shape| shape.limbs()).sum();
        let scratch = pick(rng, &[0, 0, 1000, 1 << 16]);
        4 * (32 * limbs * rng.random_range(1..10) + scratch) as u64
    }

    /// Takes lanes away until it is little enough work; no if one lane is too much.
    fn fit(&mut self, limits: &Limits) -> bool {
        let work = self.lane_work();
        if work > limits.work {
            return false;
        }
        let most = ((limits.work / work.max(1.0)) as usize).max(1);
        // Threads of a warp run even if they have no lane.
        let most = if self.device == Device::Cpu { most } else { most.max(3) };
        self.lanes.iter_mut().for_each(|lanes| *lanes = (*lanes).min(most));
        true
    }

    /// Nanoseconds of a lane, roughly, oracle included.
    fn lane_work(&self) -> f64 {
        let limbs = |i: usize| self.bits.get(i).map_or(0.0, |bits| bits.div_ceil(32) as f64);
        let (a, b, c) = (limbs(0), limbs(1), limbs(2));
        let longest = a.max(b).max(c);
        let last = limbs(self.bits.len() - 1);
        let simulated = if self.device == Device::Cpu { 1.0 } else { 60.0 };
        let constant = self.operation.constant().map_or(0.0, f64::from);
        let squares = |bits: f64| bits * 3.0 * last * last * (1.0 + simulated / 2.0) + 1000.0 * bits.min(3000.0);
        let work = match self.operation {
            Operation::PowMod | Operation::PowModSec => squares(self.bits[1] as f64) + (a + 10.0) * (last + 10.0),
            Operation::PowModPublic(_) => squares(constant.max(1.0).log2() + 1.0) + (a + 10.0) * (last + 10.0),
            Operation::StrongTest(_) | Operation::MillerRabin => 2.0 * squares(self.bits[self.bits.len() - 1] as f64),
            Operation::Gcd | Operation::GcdExt | Operation::InvMod => {
                longest * longest * 100.0 * (1.0 + simulated / 15.0) + 2000.0 * longest
            }
            Operation::Shl(_) | Operation::SignExtend(_) => (longest + constant / 32.0) * (20.0 + 10.0 * simulated),
            other if matches!(other.group(), Group::Linear | Group::LinearModular) => {
                longest * (20.0 + 10.0 * simulated)
            }
            _ => (longest * longest + 20.0 * longest) * (2.0 + simulated / 2.0),
        };
        work + 1000.0 + 100.0 * simulated
    }

    fn draw_way(&self, rng: &mut ChaCha8Rng) -> Way {
        if self.device == Device::Cpu {
            // The portable paths, and that of vector instructions below its best.
            let named = self.operation.group() == Group::Product && one_in(rng, 2);
            let names = ["cpu-ifma", "cpu-avx2", "cpu-schoolbook", "cpu-dashu"];
            return if named { Way::Named(pick(rng, &names).into()) } else { Way::Default };
        }
        let fitting = warpmp_papers::kernels::register().fitting(self.operation, &self.shapes()).unwrap_or_default();
        if fitting.is_empty() || one_in(rng, 3) {
            return Way::Default;
        }
        let name = pick(rng, &fitting).to_owned();
        if one_in(rng, 2) {
            return Way::Named(name);
        }
        let algorithm = warpmp_papers::kernels::register().find(self.operation, &name);
        let known = algorithm.map_or(&[][..], |it| it.recipe.setting_names());
        Way::With(name, settings(rng, known))
    }
}

/// Any settings of these names that a table may hold.
fn settings(rng: &mut ChaCha8Rng, known: &[&str]) -> Settings {
    let mut some = |name: &str, of: &[u32]| (known.contains(&name) && one_in(rng, 2)).then(|| pick(rng, of));
    Settings {
        warps: some("warps", &[1, 2, 3, 4, 5, 8, 16, 32]),
        glue: some("glue", &[0, 1, 2, 3, 4, 8, 1 << 16]),
        block: some("block", &[1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 64, 1 << 16]),
        levels: some("levels", &[0, 1, 2, 3, 4, 16]),
        products: some("products", &[1, 2, 3, 4, 32]),
        input: (known.contains(&"input") && one_in(rng, 2)).then(|| pick(rng, &[Input::Direct, Input::Staged])),
    }
}

/// Widths of the operands: independent, alike, or a few bits apart; on the edges of limbs, blocks and table rows.
fn widths(rng: &mut ChaCha8Rng, operation: Operation, most: usize) -> Vec<usize> {
    let first = width(rng, operation, most);
    let mut found: Vec<usize> = operation
        .operands()
        .iter()
        .map(|operand| {
            let bits = match rng.random_range(0..8) {
                0..3 => first,
                3 => (first + rng.random_range(0..3)).saturating_sub(1),
                4 => first + pick(rng, &[32, 64, first]),
                5 => first.saturating_sub(pick(rng, &[32, 64, first / 2])),
                _ => width(rng, operation, most),
            };
            match operand.role {
                Role::Bit if !one_in(rng, 4) => 1,
                _ => bits.clamp(1, most),
            }
        })
        .collect();
    if operation == Operation::Redc && one_in(rng, 2) {
        // As long as `m·R`.
        found[0] = (found[1] + found[1].next_multiple_of(32)).min(most);
    }
    // Long exponents leave no room for anything else.
    if operation.name().starts_with("pow_mod") && found.len() == 3 && !one_in(rng, 4) {
        found[1] = log_uniform(rng, 80);
    }
    found
}

fn width(rng: &mut ChaCha8Rng, operation: Operation, most: usize) -> usize {
    let near = |rng: &mut ChaCha8Rng, edge: usize| (edge + rng.random_range(0..3)).saturating_sub(1);
    let bits = match rng.random_range(0..8) {
        0..2 => log_uniform(rng, most),
        2..5 => {
            let limbs = log_uniform(rng, most / 32);
            near(rng, 32 * limbs)
        }
        5 => {
            let blocks = log_uniform(rng, most / 256);
            let bits = 256 * blocks;
            near(rng, bits)
        }
        6 => {
            let rows = tuning::shipped(90);
            let rows = rows.of(operation);
            if rows.is_empty() {
                return log_uniform(rng, most);
            }
            let row = rng.random_range(0..rows.len());
            let bits = rows[row].to_bits + pick(rng, &[0, 0, 32]);
            near(rng, bits)
        }
        _ => 1 + rng.random_range(0..most.min(130)),
    };
    bits.clamp(1, most)
}

fn with_constant(rng: &mut ChaCha8Rng, operation: Operation, bits: &[usize]) -> Operation {
    let Some(_) = operation.constant() else { return operation };
    let constant = match operation {
        Operation::StrongTest(_) | Operation::PowModPublic(_) => {
            let random = rng.random_range(0..=u32::MAX);
            pick(rng, &[0, 1, 2, 2, 2, 3, 5, 17, 31, 0x1_0001, 1 << 31, u32::MAX, random])
        }
        _ => {
            let p = bits[0] as u32;
            let any = log_uniform(rng, 5000) as u32;
            pick(rng, &[0, 1, 31, 32, 33, 63, 64, 65, p.saturating_sub(1), p, p + 1, p / 2, any, any])
        }
    };
    operation.with_constant(constant)
}

/// Lanes: all as many, some of the operands one for all, or one lane alone.
fn lanes(rng: &mut ChaCha8Rng, bits: &[usize]) -> Vec<usize> {
    let n = pick(rng, &[1, 2, 3, 7, 8, 9, 31, 32, 33, 33, 64, 65, 127, 129, 257]);
    let mut lanes = vec![n; bits.len()];
    let alone = rng.random_range(0..lanes.len());
    match rng.random_range(0..10) {
        0..3 if bits.len() > 1 => lanes[alone] = 1,
        3 => lanes.iter_mut().enumerate().filter(|(i, _)| *i != alone).for_each(|(_, lanes)| *lanes = 1),
        // A modulus or divisor for all.
        4..6 if bits.len() > 1 => lanes[bits.len() - 1] = 1,
        _ => {}
    }
    lanes
}
