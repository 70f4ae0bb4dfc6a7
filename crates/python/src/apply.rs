//! Operations, in pieces where they take long.

use std::sync::Arc;

use pyo3::prelude::*;
use warpmp::operation::Constant;
use warpmp::{DeviceBatch, EngineKind, Operation, Options, Shape, Status};

use crate::batch::{Batch, Place};
use crate::engine::{self, Engine};
use crate::error::{Failure, Result};
use crate::rows::Rows;
use crate::watch::{Flag, flag, watched};

/// Products of limbs that take no longer than the blink of an eye on one core: such work is not watched.
const QUICK: f64 = 2e8;
/// Products of limbs that a core does before the work looks whether it shall stop: less than a second. A build without optimisation does fewer in that time.
const PIECE: f64 = if cfg!(debug_assertions) { 5e7 } else { 1e9 };
/// The fewest lanes of a core in a piece.
const LEAST_LANES: usize = 16;

/// The name, the number of operands, the names of the results, the numbers of the results that are two's complements, and
/// whether a status comes last, of every operation; also the meaning of its constant.
type Row = (&'static str, usize, &'static [&'static str], Vec<usize>, bool, Option<&'static str>);

/// All operations.
#[pyfunction]
pub(crate) fn operations() -> Vec<Row> {
    let row = |operation: &Operation| {
        let names = operation.result_names();
        let signed = (0..names.len()).filter(|result| operation.is_signed(*result)).collect();
        let constant = operation.constant_role().map(|role| match role {
            Constant::Distance => "distance",
            Constant::Extension => "extension",
            Constant::Exponent => "exponent",
            Constant::Base => "base",
        });
        (operation.name(), operation.arity(), names, signed, operation.has_status(), constant)
    };
    Operation::ALL.iter().map(row).collect()
}

/// The statuses of lanes: their codes, and what they say.
#[pyfunction]
pub(crate) fn statuses() -> Vec<(u32, &'static str)> {
    Status::ALL.into_iter().map(|status| (status.code(), status.words())).collect()
}

/// Does an operation by its name. A status comes last. `progress` hears of the share that is done.
///
/// # Errors
/// `ValueError`, `OverflowError`, `MemoryError` with the library's text; `KeyboardInterrupt`.
#[pyfunction]
#[pyo3(signature = (name, operands, constant=None, progress=None))]
pub(crate) fn apply(
    py: Python<'_>,
    name: &str,
    operands: Vec<Py<Batch>>,
    constant: Option<u32>,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<Batch>> {
    let operation = Operation::named(name)
        .ok_or_else(|| Failure::value(format!("no operation is called '{name}'; warpmp.operations() lists them")))?;
    let operation = constant.map_or(operation, |constant| operation.with_constant(constant));
    let places: Vec<Place> = operands.iter().map(|operand| operand.get().0.clone()).collect();
    let shapes: Vec<Shape> = places.iter().map(Place::shape).collect();
    let results = operation.results(&shapes)?;
    let cost = operation.limb_products(&shapes);
    let total = cost * results[0].lanes as f64;
    let place = common(places)?;
    let compiler = place.compiler(operation, &shapes);
    let is_quick = compiler == Some(Compiler::Done) || (compiler.is_none() && total <= QUICK);
    if is_quick && progress.is_none() {
        return py.detach(|| place.run(operation, &results, usize::MAX, &Flag::default()));
    }
    let listener = match (progress, compiler) {
        (Some(progress), _) => Some(progress),
        (None, Some(Compiler::Needed)) => Some(py.import("warpmp._progress")?.call_method0("Compiling")?),
        (None, Some(Compiler::Done) | None) => None,
    };
    let flag = flag();
    let lanes = piece_lanes(cost);
    let watch = flag.clone();
    watched(py, &*watch, listener.as_ref(), move || place.run(operation, &results, lanes, &flag))
}

/// Must a GPU's driver compile kernels before an operation can be queued?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compiler {
    /// No: the call returns at once.
    Done,
    Needed,
}

/// Operands at one place.
enum Operands {
    Host(Vec<Rows>),
    Device(Vec<Arc<DeviceBatch>>, Arc<Engine>),
}

/// The operands, if all are at one place.
fn common(places: Vec<Place>) -> Result<Operands> {
    let (mut host, mut device, mut engines) = (Vec::new(), Vec::new(), Vec::<Arc<Engine>>::new());
    for place in places {
        match place {
            Place::Host(rows) => host.push(rows),
            Place::Device(batch, engine) => {
                device.push(batch);
                engines.push(engine);
            }
        }
    }
    let Some(engine) = engines.pop() else { return Ok(Operands::Host(host)) };
    let other = engines.iter().find(|other| !Arc::ptr_eq(other, &engine)).map(|other| other.name.as_str());
    match other.or((!host.is_empty()).then_some("cpu")) {
        Some(other) => {
            Err(Failure::value(format!("operands are on {other} and on {}; move them with .to()", engine.name)))
        }
        None => Ok(Operands::Device(device, engine)),
    }
}

impl Operands {
    /// The state of the kernels of an operation on a GPU; none where the work is done during the call.
    fn compiler(&self, operation: Operation, shapes: &[Shape]) -> Option<Compiler> {
        let Self::Device(_, engine) = self else { return None };
        let session = &engine.session;
        if session.engine().kind != EngineKind::Cuda {
            return None;
        }
        Some(if session.only_queues(operation, shapes) { Compiler::Done } else { Compiler::Needed })
    }

    /// Does the operation, on the host in pieces of this many lanes.
    fn run(&self, operation: Operation, results: &[Shape], piece: usize, flag: &Flag) -> Result<Vec<Batch>> {
        match self {
            Self::Host(rows) if results[0].lanes <= piece => {
                let views: Vec<_> = rows.iter().map(Rows::view).collect();
                let session = &engine::cpu().session;
                let (batches, _) = session.apply(operation, &views.iter().collect::<Vec<_>>(), Options::new())?;
                Ok(batches.into_iter().map(|batch| Batch::host(batch.into())).collect())
            }
            Self::Host(rows) => in_pieces(operation, rows, results, piece, flag),
            Self::Device(batches, engine) => {
                let operands: Vec<&DeviceBatch> = batches.iter().map(Arc::as_ref).collect();
                let batches = engine.session.apply_device(operation, &operands)?;
                Ok(batches.into_iter().map(|batch| Batch(Place::Device(Arc::new(batch), engine.clone()))).collect())
            }
        }
    }
}

fn in_pieces(operation: Operation, rows: &[Rows], results: &[Shape], piece: usize, flag: &Flag) -> Result<Vec<Batch>> {
    let lanes = results[0].lanes;
    let session = &engine::cpu().session;
    let mut limbs = Vec::new();
    for shape in results {
        let mut words = Vec::new();
        let bytes = shape.bytes();
        words.try_reserve_exact(shape.words()).map_err(|_| Failure::memory(format!("{bytes} B are needed")))?;
        limbs.push(words);
    }
    for first in (0..lanes).step_by(piece) {
        flag.check(first as f64 / lanes as f64)?;
        let range = first..(first + piece).min(lanes);
        let part = |rows: &Rows| if rows.shape().lanes == 1 { rows.clone() } else { rows.slice(range.clone()) };
        let parts: Vec<Rows> = rows.iter().map(part).collect();
        let views: Vec<_> = parts.iter().map(Rows::view).collect();
        let (batches, _) = session.apply(operation, &views.iter().collect::<Vec<_>>(), Options::new())?;
        for (words, batch) in limbs.iter_mut().zip(batches) {
            words.extend_from_slice(batch.limbs());
        }
    }
    let shaped = results.iter().zip(limbs);
    shaped.map(|(shape, words)| Ok(Batch::host(Rows::from_limbs(*shape, words)?))).collect()
}

/// Lanes of a piece, for all cores, where a lane costs this many products of limbs.
pub(crate) fn piece_lanes(cost: f64) -> usize {
    ((PIECE / cost) as usize).max(LEAST_LANES).saturating_mul(rayon::current_num_threads())
}
