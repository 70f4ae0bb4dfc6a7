//! The library's session and the GPUs, opened as the command line asks for them.

use std::sync::Arc;

use warpmp::device::{self, Device, DeviceInfo, devices, open_cuda, open_sim};
use warpmp::kernels::Register;
use warpmp::{EngineKind, Operation, Selector, Session, Shape};
use warpmp_papers::kernels::MULTIPLICATIONS;

use crate::{console, error::Result, tables};

/// Opens the engine, of GPUs all that can be used, with the user's tuning table for it if there is one. If `auto` finds no GPU,
/// one line says so unless `quiet` (the summary names the engine, too).
///
/// # Errors
/// The library's, for an engine that was named and cannot be had; [`TablesError::Table`](crate::tables::TablesError::Table)
/// for a table that cannot be used.
pub(crate) fn open(selector: Selector, quiet: bool) -> Result<Session> {
    let devices = gpus(selector, quiet)?;
    tuned(with_algorithms(if devices.is_empty() { Session::cpu() } else { Session::with_devices(devices)? }))
}

/// As [`open`], but with the first usable GPU alone.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_one(selector: Selector, quiet: bool) -> Result<Session> {
    tuned(open_untuned(selector, quiet)?)
}

/// A session for each GPU of a session, to keep batches on all of them.
///
/// # Errors
/// As [`open`].
pub(crate) fn each(session: Session) -> Result<Vec<Session>> {
    let devices: Vec<_> = session.devices().cloned().collect();
    if devices.len() < 2 {
        return Ok(vec![session]);
    }
    devices.into_iter().map(|device| tuned(with_algorithms(Session::with_device(device)?))).collect()
}

/// The session with the user's tuning table for its GPU, if there is one.
fn tuned(mut session: Session) -> Result<Session> {
    let capability = session.device().map(|device| device.info().capability);
    if let Some(table) = capability.map(tables::of_user).transpose()?.flatten() {
        session.set_table(table);
    }
    Ok(session)
}

/// The algorithms of this program: those of the library, and those of the papers.
pub(crate) fn register() -> Register {
    warpmp_papers::kernels::register()
}

/// The work of a command, as far as it is known before the engine opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) operation: Operation,
    pub(crate) lanes: u64,
    /// Bits of a lane of the widest operand.
    pub(crate) bits: usize,
}

/// A GPU's driver starts in this time, and a kernel compiles in as much.
const GPU_START_SECONDS: f64 = 0.2;
/// A core multiplies two limbs and adds in this time, without vectors.
const LIMB_PRODUCT_SECONDS: f64 = 1e-9;
/// A core moves a limb, there and back, in this time.
const LIMB_SECONDS: f64 = 2e-9;

impl Work {
    /// The seconds that all cores take. A GPU's start is compared with them, so a factor of 2 does not matter.
    fn cpu_seconds(self, cores: usize) -> f64 {
        let operand = Shape::new(1, self.bits);
        let products = self.operation.limb_products(&vec![operand; self.operation.arity()]);
        let lane = products * LIMB_PRODUCT_SECONDS + operand.limbs() as f64 * LIMB_SECONDS;
        self.lanes as f64 * lane / cores as f64
    }
}

/// Products of longer numbers cost as much a limb as schoolbook products of this many limbs: transforms do them.
const LONG_LIMBS: f64 = 256.0;

/// Trees of products over many integers, as far as they are known before the engine opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trees {
    pub(crate) lanes: u64,
    /// Bits of an integer, about.
    pub(crate) bits: u64,
    /// Products of the length of a node at each node: 1 for a product of all, more for remainders beside it.
    pub(crate) passes: f64,
}

impl Trees {
    /// The seconds that all cores take: at each level they pass over all limbs.
    fn cpu_seconds(self, cores: usize) -> f64 {
        let limbs_a_lane = self.bits.max(1) as f64 / 32.0;
        let limbs = self.lanes as f64 * limbs_a_lane;
        let levels = u64::BITS - self.lanes.leading_zeros();
        let products = |level: u32| limbs * (limbs_a_lane * f64::from(level).exp2()).min(LONG_LIMBS) / 2.0;
        (0..levels).map(products).sum::<f64>() * self.passes * LIMB_PRODUCT_SECONDS / cores as f64
    }
}

/// A session, and why it is on this device if `auto` chose it by the work.
pub(crate) type Chosen = (Session, Option<&'static str>);

/// As [`open`], for work whose size is known, if it is. `auto` takes the CPU where the whole work takes it less time than a GPU takes to
/// start; then the reason comes with the session.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_for(selector: Selector, work: Option<Work>, quiet: bool) -> Result<Chosen> {
    open_by(selector, work.map(|work| work.cpu_seconds(rayon::current_num_threads())), quiet)
}

/// As [`open_for`], for trees of products.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_for_trees(selector: Selector, trees: Option<Trees>, quiet: bool) -> Result<Chosen> {
    open_by(selector, trees.map(|trees| trees.cpu_seconds(rayon::current_num_threads())), quiet)
}

/// As [`open`], for work that no GPU does: `auto` takes the CPU.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_for_cores(selector: Selector, quiet: bool) -> Result<Chosen> {
    if selector == Selector::Auto {
        return Ok((open(Selector::Cpu, quiet)?, Some("the cores do this alone")));
    }
    Ok((open(selector, quiet)?, None))
}

fn open_by(selector: Selector, cpu_seconds: Option<f64>, quiet: bool) -> Result<Chosen> {
    if selector == Selector::Auto && cpu_seconds.is_some_and(|seconds| seconds < GPU_START_SECONDS / 2.0) {
        return Ok((open(Selector::Cpu, quiet)?, Some("less time than a GPU takes to start")));
    }
    Ok((open(selector, quiet)?, None))
}

/// Says which GPUs of the session could not do their part, at the end of the work.
pub(crate) fn tell_left_out(session: &Session) {
    for it in session.left_out() {
        console::note(&format!("warning: {it}"));
    }
}

/// The first phase of a command on a GPU.
pub(crate) const COMPILING: &str = "the driver compiles kernels that it has not kept";

/// The first phase of a command on this engine: a driver compiles a kernel once, and keeps it for later runs.
pub(crate) fn first_phase(session: &Session) -> &'static str {
    match session.engine().kind {
        EngineKind::Cuda => COMPILING,
        EngineKind::Cpu | EngineKind::Sim => "computing",
    }
}

/// Opens the engine as the library has it, with the first usable GPU alone.
///
/// # Errors
/// The library's, for an engine that was named and cannot be had.
pub(crate) fn open_untuned(selector: Selector, quiet: bool) -> Result<Session> {
    let first = if selector == Selector::AllCuda { Selector::Cuda(None) } else { selector };
    let session = with_algorithms(Session::on(first)?);
    let engine = session.engine();
    if selector == Selector::Auto && engine.kind == EngineKind::Cpu && !quiet {
        let reason = session.fallback().map_or_else(|| "no usable GPU".to_owned(), ToString::to_string);
        note_cpu(&engine.name, &reason);
    }
    Ok(session)
}

/// The session with the algorithms of the papers.
fn with_algorithms(session: Session) -> Session {
    session.with_algorithms(Operation::Mul, MULTIPLICATIONS)
}

fn note_cpu(name: &str, reason: &str) {
    console::note(&format!("note: the CPU engine serves ({name}): {reason}; with --device cpu this note stays away"));
}

/// The GPUs that a `--device` stands for: all if none is named. None at all: the CPU serves.
///
/// A GPU that cannot be opened is left out, with a note unless `quiet`, where another one serves.
///
/// # Errors
/// The library's, for a device that was named and cannot be had.
pub(crate) fn gpus(selector: Selector, quiet: bool) -> Result<Vec<Arc<dyn Device>>> {
    match selector {
        Selector::Cpu => Ok(Vec::new()),
        Selector::Sim => Ok(vec![open_sim()]),
        Selector::Cuda(Some(ordinal)) => Ok(vec![open_cuda(ordinal).map_err(warpmp::Error::from)?]),
        Selector::Cuda(None) | Selector::AllCuda => Ok(all_gpus(quiet).map_err(warpmp::Error::from)?),
        Selector::Auto => Ok(all_gpus(quiet).unwrap_or_else(|reason| {
            if !quiet {
                note_cpu(&cpu_name(), &reason.to_string());
            }
            Vec::new()
        })),
    }
}

/// The name of the CPU engine.
pub(crate) fn cpu_name() -> String {
    Session::cpu().engine().name.clone()
}

fn all_gpus(quiet: bool) -> device::Result<Vec<Arc<dyn Device>>> {
    let all = devices().cuda?;
    // Without one that is supported, the error of opening the first one says so.
    let usable: Vec<usize> = all.iter().filter(|gpu| gpu.supported()).map(|gpu| gpu.ordinal).collect();
    let ordinals = if usable.is_empty() { vec![all.first().map_or(0, |gpu: &DeviceInfo| gpu.ordinal)] } else { usable };
    let (opened, failed) = opened(&ordinals, open_cuda)?;
    for (ordinal, error) in failed.into_iter().filter(|_| !quiet) {
        console::note(&format!("note: GPU {ordinal} is left out, the others serve: {error}"));
    }
    Ok(opened)
}

/// The GPUs that open, and the errors of those that do not; the first error if none opens.
#[expect(clippy::type_complexity, reason = "a name for the pair would say less")]
fn opened(
    ordinals: &[usize],
    open: impl Fn(usize) -> device::Result<Arc<dyn Device>>,
) -> device::Result<(Vec<Arc<dyn Device>>, Vec<(usize, device::Error)>)> {
    let (mut opened, mut failed) = (Vec::new(), Vec::new());
    for &ordinal in ordinals {
        match open(ordinal) {
            Ok(device) => opened.push(device),
            Err(error) => failed.push((ordinal, error)),
        }
    }
    match failed.first() {
        Some((_, error)) if opened.is_empty() => Err(error.clone()),
        _ => Ok((opened, failed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One GPU that cannot be opened does not keep the others from work.
    #[test]
    fn a_gpu_that_does_not_open_is_left_out() {
        let open = |ordinal| match ordinal {
            1 => Err(device::Error::NoDriver),
            _ => Ok(open_sim()),
        };
        let (gpus, failed) = opened(&[0, 1, 2], open).expect("two of them open");
        assert_eq!((gpus.len(), failed), (2, vec![(1, device::Error::NoDriver)]));
        assert_eq!(opened(&[1], open).err(), Some(device::Error::NoDriver));
    }

    #[test]
    fn short_work_needs_no_gpu() {
        let seconds = |operation, lanes, bits| Work { operation, lanes, bits }.cpu_seconds(4);
        assert!(seconds(Operation::Mul, 1000, 1024) < GPU_START_SECONDS / 100.0);
        assert!(seconds(Operation::Mul, 1_000_000, 4096) > GPU_START_SECONDS);
        assert!(seconds(Operation::PowMod, 1000, 2048) > GPU_START_SECONDS);
        assert!(seconds(Operation::PowMod, 10, 1024) < GPU_START_SECONDS / 2.0);
        assert!(seconds(Operation::Add, 100_000, 256) < GPU_START_SECONDS / 2.0);
    }

    #[test]
    fn short_trees_need_no_gpu() {
        let seconds = |lanes, bits, passes| Trees { lanes, bits, passes }.cpu_seconds(4);
        assert!(seconds(100, 2048, 4.0) < GPU_START_SECONDS / 2.0);
        assert!(seconds(20_000, 1024, 4.0) > GPU_START_SECONDS);
        assert!(seconds(1_000_000, 64, 1.0) > GPU_START_SECONDS);
        assert!(seconds(1000, 64, 1.0) < GPU_START_SECONDS / 100.0);
        assert!(seconds(0, 0, 1.0) < f64::EPSILON);
    }
}
