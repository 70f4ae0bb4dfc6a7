//! Both stages of all methods on a device: a GPU or the simulator.
//!
//! ```text
//! cards.rs   several devices: the chunks of a stage are dealt to them
//! kind.rs    what the lanes of a chunk have in common
//! lanes.rs   the lanes of a chunk in the host's memory
//! memory.rs  memory of chunks, kept for the next ones
//! chunk.rs   the lanes of a launch: their rows on the device, and the launches
//! first.rs   ladders in slices, checks, inverses
//! stages.rs  both stages of a chunk
//! second.rs  baby steps, giant steps and pairs, block by block
//! kernels/   the kernels
//! ```
//!
//! The lanes are divided into kinds of equal limbs, and these into chunks that fit on the device. A chunk has all its numbers on the
//! device from the beginning of a stage to its end. The work of a launch is bounded by time, so that a stage reports and can be
//! stopped.

mod cards;
mod chunk;
mod first;
mod kernels;
mod kind;
mod lanes;
mod memory;
mod second;
mod stages;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use warpmp_device::{Device, DeviceInfo, Kind as DeviceKind, Module};
use warpmp_launch::{Geometry, Spec as _};

use super::lane::Line;
use super::pairing::{Counts, Pairing};
use crate::error::Result;
pub(super) use cards::Cards;
pub use cards::LostDevice;
use cards::WORKERS;
pub(super) use kernels::Class;
use kernels::{Form, Job, Kernel, SLOT_WORDS, constant, state};
pub(super) use kind::Kind;
pub(super) use lanes::Source;
use memory::Memory;
use second::Slots;
pub(super) use stages::End;

/// Wide products that a device makes in a second, at the most. It only decides how many lanes run together.
const PRODUCTS_PER_SECOND: f64 = 1e13;
/// The products of a chunk take so long at the least, unless they are more than so many times those that fill the device.
const CHUNK_SECONDS: f64 = 0.01;
const MOST_WAVES: f64 = 4.0;

/// Schedulers of a multiprocessor.
const SCHEDULERS: u32 = 4;
/// Warps of a scheduler in a launch whose lanes take turns. On one H200, two make as many interleaved products a second as four, within 7 %.
const TURN_WARPS: u32 = 2;

/// The longest moduli.
pub(super) const MOST_BITS: u64 = Class::MOST_BITS;

/// A kernel on the device, and its launch.
type Loaded = (Arc<Module>, Geometry);

/// A device, and the kernels that it has.
#[derive(Debug)]
struct Gpu {
    device: Arc<dyn Device>,
    memory: Memory,
    kernels: Mutex<BTreeMap<Kernel, Loaded>>,
    /// The number of the form of all lanes, if it is not to be chosen.
    form: Option<usize>,
}

impl Gpu {
    fn new(device: Arc<dyn Device>) -> Self {
        Self { memory: Memory::new(device.clone()), device, kernels: Mutex::default(), form: None }
    }

    /// The same with the form of this number, or with the last form, for all lanes.
    #[cfg(test)]
    fn with_form(self, number: usize) -> Self {
        Self { form: Some(number), ..self }
    }

    fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    fn is_simulator(&self) -> bool {
        self.device.info().kind == DeviceKind::Sim
    }

    /// The class in the form that suits so many lanes.
    fn formed(&self, class: Class, lanes: usize) -> Class {
        let form = match self.form {
            Some(number) => Form::all(class.limbs).take(number + 1).last().unwrap_or(class.form),
            None => form(self.device.info(), class.limbs, lanes),
        };
        Class { form, ..class }
    }

    /// As many lanes as the multiprocessors hold, in whole blocks; several times as many where they take little time, so that the host's part
    /// is small. `cost`: wide products of a lane.
    fn filling(&self, class: Class, cost: f64) -> usize {
        let layout = class.layout();
        let info = self.device.info();
        let threads = match info.kind {
            DeviceKind::Sim => 64 * layout.group,
            DeviceKind::Cuda => {
                let ladder = self.kernel(Job::Ladder, class).ok().and_then(|(module, _)| module.resources().registers);
                let registers = ladder.unwrap_or(10 * layout.length + 16).next_multiple_of(8);
                let block = 32 * layout.warps;
                let blocks = info.registers_per_multiprocessor / (registers * block);
                let held = blocks.clamp(1, info.threads_per_multiprocessor / block) * block * info.multiprocessors;
                let seconds = cost * f64::from(held / layout.group) / PRODUCTS_PER_SECOND;
                held * (CHUNK_SECONDS / seconds).clamp(1.0, MOST_WAVES) as u32
            }
        };
        (threads / layout.group).next_multiple_of(32) as usize
    }

    /// The lanes of a class in a chunk, each with so many slots for points. All workers have chunks at the same time, unless `alone` lanes are
    /// all that the device gets, and it has room for them.
    fn most(&self, class: Class, slots: u32, cost: f64, alone: Option<usize>) -> Result<usize> {
        let fitting = self.memory.free_bytes()? / lane_bytes(class, slots) / (WORKERS as u64 + 1);
        let filling = self.filling(class, cost);
        match alone.map(|lanes| lanes.next_multiple_of(32)) {
            // A worker's room stays for what lies beside the lanes.
            Some(lanes) if lanes <= filling && lanes as u64 <= WORKERS as u64 * fitting => Ok(lanes.max(32)),
            _ => Ok((fitting as usize / 32 * 32).clamp(32, filling)),
        }
    }

    /// The schedulers of all multiprocessors.
    fn schedulers(&self) -> u32 {
        SCHEDULERS * self.device.info().multiprocessors
    }

    /// The lanes of a launch where the lanes of a chunk take turns. Where some schedulers had a warp more than the others, all would wait for it. So
    /// each launch has the same number of warps for every scheduler, and takes the next lanes.
    fn window(&self, class: Class, lanes: u32) -> u32 {
        let window = TURN_WARPS * self.schedulers() * (32 / class.layout().group) / 32 * 32;
        if class.is_few() && window > 0 { window.min(lanes) } else { lanes }
    }

    /// Loads the kernels of both stages for all kinds of lanes, in the forms of the classes: a driver compiles several at a time.
    fn prepare(&self, kinds: impl Iterator<Item = (Kind, Class)>, [first, second]: [&[Job]; 2]) -> Result<()> {
        let of_kind = |(kind, class): (Kind, Class)| {
            let suyama = kind.suyama;
            // Each kind has its own way to enter.
            let takes = move |job: &&Job| if suyama { **job != Job::Enter } else { !Job::OF_SUYAMA.contains(job) };
            let first = first.iter().filter(takes);
            let first = first.map(move |job| (*job, class));
            first.chain(second.iter().map(move |job| (*job, class.after()))).collect::<Vec<(Job, Class)>>()
        };
        let kernels: BTreeSet<(Job, Class)> = kinds.flat_map(of_kind).collect();
        kernels.par_iter().try_for_each(|(job, class)| self.kernel(*job, *class).map(drop))
    }

    /// A kernel for a class.
    fn kernel(&self, job: Job, class: Class) -> Result<Loaded> {
        let kernel = Kernel::new(job, class);
        if let Some(loaded) = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&kernel) {
            return Ok(loaded.clone());
        }
        let geometry = kernel.stages()[0].geometry;
        let loaded = (self.device.load(&kernel.build(0))?, geometry);
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel, loaded.clone());
        Ok(loaded)
    }
}

/// The form that suits so many lanes on a device: the fewest threads a lane that keep all schedulers busy.
fn form(info: &DeviceInfo, limbs: u32, lanes: usize) -> Form {
    let schedulers = match info.kind {
        DeviceKind::Sim => 0,
        DeviceKind::Cuda => SCHEDULERS * info.multiprocessors,
    };
    let keeps_busy = |form: &Form| {
        lanes as u64 * u64::from(form.threads) >= u64::from(16 * schedulers * form.busy_half_warps(limbs))
    };
    Form::all(limbs).find(keeps_busy).or_else(|| Form::all(limbs).last()).unwrap_or_else(|| Form::full(limbs))
}

/// All kernels for moduli of so many bits: of as many lanes as fill a device, or of few.
pub(super) fn kernels(bits: u64, few: bool) -> Vec<warpmp_kernel::ir::Kernel> {
    let word = Class::of(bits, true, true);
    let lines = [Class::of(bits, false, false), Class::of_line(bits, Line::Power), Class::of_line(bits, Line::Lucas)];
    let forms: Vec<Form> = Form::all(word.limbs).filter(|form| (*form != word.form) == few).collect();
    let of_class = |class: Class| {
        let classes = forms.iter().map(move |form| Class { form: *form, ..class });
        classes.flat_map(|class| {
            let first = Job::first(class.line).iter().map(move |job| Kernel::new(*job, class));
            first.chain(Job::second(class.line).iter().map(move |job| Kernel::new(*job, class.after())))
        })
    };
    let of_words = of_class(word).filter(|kernel| !Job::OF_SUYAMA.contains(&kernel.job()));
    let all: BTreeSet<Kernel> = of_words.chain(lines.into_iter().flat_map(of_class)).collect();
    all.into_iter().map(|kernel| kernel.build(0)).collect()
}

/// What a curve of the third family costs on a device.
pub(super) struct DeviceCosts {
    pub(super) limbs: u32,
    /// Lanes of a warp that compute a curve together, and limbs of each.
    pub(super) lanes: u32,
    pub(super) limbs_of_lane: u32,
    /// Are residues not reduced?
    pub(super) is_lazy: bool,
    /// Wide products of a bit of the exponent, and of the second stage without inversions.
    pub(super) bit: f64,
    pub(super) second: f64,
}

/// The costs of a curve of a class with these points and pairs.
pub(super) fn costs(class: Class, counts: Counts) -> DeviceCosts {
    let layout = class.layout();
    let [product, square] =
        [layout.products(class.limbs), layout.square_products(class.limbs)].map(|count| count as f64);
    // A row of a product by a word, and of its reduction.
    let row = 2.0 * f64::from(layout.group * layout.length);
    let Counts { passed, babies, giants, pairs } = counts;
    // A point is added, and normalised by four products. A baby step comes after others that are passed.
    let addition = 4.0 * product + 2.0 * square;
    let points = addition * (passed + giants) + 4.0 * product * (babies + giants);
    DeviceCosts {
        limbs: class.limbs,
        lanes: layout.group,
        limbs_of_lane: layout.length,
        is_lazy: class.lazy,
        bit: 4.0 * (product + square) + row,
        second: points + pairs * product,
    }
}

/// Bytes of a curve of a class on a device.
pub(super) fn bytes(class: Class, pairing: &Pairing) -> u64 {
    let slots = if pairing.sections() == 0 { 0 } else { Slots::of(Line::Curve, pairing).all() };
    lane_bytes(class, slots)
}

/// Bytes of a lane with so many slots for points.
fn lane_bytes(class: Class, slots: u32) -> u64 {
    let layout = class.layout();
    let numbers = 3 + constant::COUNT + state::COUNT + 4;
    let marks = 3;
    4 * u64::from(numbers * class.limbs + marks) + 4 * u64::from(layout.group * layout.length) * u64::from(slots)
}

/// Words of the slots of points of a chunk.
fn columns_words(class: Class, lanes: u32, slots: u32) -> u64 {
    let layout = class.layout();
    // Blocks are whole, so warps may come after those that have lanes; they end before they touch memory.
    let warps = (lanes * layout.group).div_ceil(32);
    warps as u64 * (SLOT_WORDS * layout.length) as u64 * slots as u64
}
