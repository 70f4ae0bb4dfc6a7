//! The class `Batch`: lanes on the host or on a device.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use warpmp::{DeviceBatch, Operation, Shape};

use crate::engine::{self, Engine};
use crate::error::{Failure, Result};
use crate::integers;
use crate::rows::{self, Rows};
use crate::share;
use crate::watch::{flag, watched};

/// Downloads of fewer words are not worth a thread that waits for them.
const QUICK_WORDS: usize = 1 << 14;

/// The place of some lanes.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Host(Rows),
    Device(Arc<DeviceBatch>, Arc<Engine>),
}

impl Place {
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Host(rows) => rows.shape(),
            Self::Device(batch, _) => batch.shape(),
        }
    }
}

/// Lanes of one width: limbs, without the meaning of a sign. Never changes.
#[pyclass(frozen, module = "warpmp._native")]
#[derive(Clone)]
pub(crate) struct Batch(pub(crate) Place);

impl Batch {
    pub(crate) fn host(rows: Rows) -> Self {
        Self(Place::Host(rows))
    }

    /// The lanes on the host.
    pub(crate) fn rows(&self, py: Python<'_>) -> Result<Rows> {
        match &self.0 {
            Place::Host(rows) => Ok(rows.clone()),
            Place::Device(batch, engine) if batch.shape().words() <= QUICK_WORDS => {
                py.detach(|| Ok(engine.session.download(batch)?.into()))
            }
            Place::Device(batch, engine) => {
                let (batch, engine) = (batch.clone(), engine.clone());
                watched(py, &*flag(), None, move || Ok(engine.session.download(&batch)?.into()))
            }
        }
    }

    fn require_host(&self) -> Result<&Rows> {
        match &self.0 {
            Place::Host(rows) => Ok(rows),
            Place::Device(_, engine) => {
                Err(PyAttributeError::new_err(format!("the limbs are on {}; copy them with .to('cpu')", engine.name))
                    .into())
            }
        }
    }
}

#[pymethods]
impl Batch {
    #[getter]
    fn lanes(&self) -> usize {
        self.0.shape().lanes
    }

    #[getter]
    fn bits(&self) -> usize {
        self.0.shape().bits
    }

    #[getter]
    fn device(&self) -> String {
        match &self.0 {
            Place::Host(_) => "cpu".into(),
            Place::Device(_, engine) => engine.name.clone(),
        }
    }

    /// The same lanes on another device.
    fn to(&self, py: Python<'_>, device: &str) -> Result<Self> {
        let target = py.detach(|| engine::open(device))?;
        if target.name == self.device() {
            return Ok(self.clone());
        }
        let rows = self.rows(py)?;
        if target.name == "cpu" {
            return Ok(Self::host(rows));
        }
        py.detach(|| {
            let batch = target.session.upload(&rows.view())?;
            Ok(Self(Place::Device(Arc::new(batch), target)))
        })
    }

    /// Lanes `start` to `stop`, without a copy on the host.
    fn slice(&self, py: Python<'_>, start: usize, stop: usize) -> Result<Self> {
        let shape = self.0.shape();
        if start > stop || stop > shape.lanes {
            return Err(Failure::value(format!("lanes {start} to {stop} of {}", shape.lanes)));
        }
        match &self.0 {
            Place::Host(rows) => Ok(Self::host(rows.slice(start..stop))),
            Place::Device(batch, engine) => py.detach(|| {
                let into = engine.session.reserve(Shape::new(stop - start, shape.bits))?;
                let lanes = engine.session.copy_lanes(batch, start, into)?;
                Ok(Self(Place::Device(Arc::new(lanes), engine.clone())))
            }),
        }
    }

    /// The lanes of these numbers, in this order.
    fn take(&self, py: Python<'_>, places: PyReadonlyArray1<'_, i64>) -> Result<Self> {
        let rows = self.rows(py)?;
        let places = places.as_slice().map_err(PyErr::from)?;
        let taken = Self::host(py.detach(|| rows.take(places))?);
        taken.to(py, &self.device())
    }

    /// The same lanes in other bits; bits that do not fit are cut off.
    fn resize(&self, py: Python<'_>, bits: usize, signed: bool) -> Result<Self> {
        match &self.0 {
            Place::Host(rows) => py.detach(|| Ok(Self::host(rows.resize(bits, signed)?))),
            Place::Device(batch, engine) => py.detach(|| {
                let resized = resize_on(engine, batch.clone(), bits, signed)?;
                Ok(Self(Place::Device(resized, engine.clone())))
            }),
        }
    }

    /// Each lane as an integer.
    fn to_ints<'py>(&self, py: Python<'py>, signed: bool) -> Result<Bound<'py, PyList>> {
        integers::to_ints(py, &self.rows(py)?, signed)
    }

    fn bit_lengths<'py>(&self, py: Python<'py>, signed: bool) -> Result<Bound<'py, PyArray1<i64>>> {
        let rows = self.rows(py)?;
        let lengths = py.detach(|| rows.bit_lengths(signed));
        Ok(PyArray1::from_vec(py, lengths))
    }

    fn popcounts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>> {
        let rows = self.rows(py)?;
        let counts = py.detach(|| rows.popcounts());
        Ok(PyArray1::from_vec(py, counts))
    }

    /// The bits that the widest number needs.
    fn needed_bits(&self, py: Python<'_>, signed: bool) -> Result<usize> {
        let rows = self.rows(py)?;
        Ok(py.detach(|| rows.needed_bits(signed)))
    }

    /// The first lane that does not fit in `bits`.
    fn first_wider(&self, py: Python<'_>, bits: usize, signed: bool) -> Result<Option<usize>> {
        let rows = self.rows(py)?;
        Ok(py.detach(|| rows.first_wider(bits, signed)))
    }

    /// NumPy sees the limbs of the host as `lanes × limbs` words of 32 bits, without a copy.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let rows = self.require_host()?;
        interface(py, rows.shape(), rows.limbs().as_ptr().addr() as u64)
    }

    /// The limbs for other libraries as a capsule of DLPack, without a copy. Nobody may write there: no option says that.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<share::Device>,
        copy: Option<bool>,
    ) -> Result<Bound<'py, PyAny>> {
        // The limbs are there for every stream, and capsules of the oldest form serve every version.
        let _ = (stream, max_version);
        if dl_device.is_some_and(|device| share::address(&self.0).is_none_or(|(own, _)| own != device)) {
            return Err(PyBufferError::new_err("the limbs are on another device; copy them with .to()").into());
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("limbs are shared without a copy only").into());
        }
        share::capsule(py, &self.0)
    }

    /// The kind and the number of the limbs' device, as DLPack counts them.
    fn __dlpack_device__(&self) -> Result<share::Device> {
        let missing = || PyBufferError::new_err("no other library can read limbs of this device");
        Ok(share::address(&self.0).ok_or_else(missing)?.0)
    }

    /// Libraries for CUDA see the limbs of a GPU as `lanes × limbs` words of 32 bits, without a copy.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let missing = || Failure::from(PyAttributeError::new_err("the limbs are not on a GPU"));
        let Place::Device(batch, engine) = &self.0 else { return Err(missing()) };
        let address = batch.buffer().and_then(warpmp::device::Buffer::address).ok_or_else(missing)?;
        // The reader does not know the session's stream: wait until the limbs are there.
        py.detach(|| engine.session.wait())?;
        let dict = interface(py, batch.shape(), address)?;
        dict.set_item("stream", py.None())?;
        // Nobody may write there, but PyTorch takes no memory that says so.
        dict.set_item("data", (address, false))?;
        Ok(dict)
    }
}

fn interface(py: Python<'_>, shape: Shape, address: u64) -> Result<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("shape", (shape.lanes, shape.limbs()))?;
    dict.set_item("typestr", "<u4")?;
    dict.set_item("data", (address, true))?;
    dict.set_item("strides", py.None())?;
    dict.set_item("version", 3)?;
    Ok(dict)
}

/// [`Rows::resize`] on a device, by operations.
fn resize_on(engine: &Engine, batch: Arc<DeviceBatch>, bits: usize, signed: bool) -> Result<Arc<DeviceBatch>> {
    let session = &engine.session;
    let old = batch.shape().bits;
    let apply = |operation, operands: &[&DeviceBatch]| -> Result<DeviceBatch> {
        Ok(session.apply_device(operation, operands)?.remove(0))
    };
    if bits == 0 {
        return Err(warpmp::Error::ZeroBits.into());
    }
    let resized = if bits > old && signed {
        apply(Operation::SignExtend((bits - old) as u32), &[&batch])?
    } else if bits > old {
        let zeros = session.zeros(Shape::new(1, bits))?;
        apply(Operation::Or, &[&batch, &zeros])?
    } else if bits < old {
        let distance = (old - bits) as u32;
        let high = apply(Operation::WrappingShl(distance), &[&batch])?;
        apply(Operation::Shr(distance), &[&high])?
    } else {
        return Ok(batch);
    };
    Ok(Arc::new(resized))
}

/// Lanes from limbs of 32 bits, `lanes × limbs`.
///
/// # Errors
/// `OverflowError` for a lane that does not fit in `bits`, `ValueError` for a wrong number of limbs.
#[pyfunction]
pub(crate) fn from_limbs(py: Python<'_>, limbs: PyReadonlyArray2<'_, u32>, bits: usize) -> Result<Batch> {
    let lanes = limbs.as_array().nrows();
    let words = limbs.as_slice().map_err(PyErr::from)?;
    py.detach(|| Ok(Batch::host(Rows::from_limbs(Shape::new(lanes, bits), words.to_vec())?)))
}

/// Lanes of one bit.
#[pyfunction]
pub(crate) fn from_bits(py: Python<'_>, bits: PyReadonlyArray1<'_, bool>) -> Result<Batch> {
    let bits = bits.as_slice().map_err(PyErr::from)?;
    let shape = Shape::new(bits.len(), 1);
    py.detach(|| Ok(Batch::host(Rows::from_limbs(shape, bits.iter().map(|bit| u32::from(*bit)).collect())?)))
}

/// The lanes of some batches of the same bits, one after the other.
#[pyfunction]
pub(crate) fn concatenate(py: Python<'_>, batches: Vec<Py<Batch>>) -> Result<Batch> {
    let rows = batches.iter().map(|batch| batch.get().rows(py)).collect::<Result<Vec<_>>>()?;
    let Some(first) = rows.first() else { return Err(Failure::value("there is nothing to concatenate")) };
    let bits = first.shape().bits;
    if let Some(other) = rows.iter().map(Rows::shape).find(|shape| shape.bits != bits) {
        return Err(Failure::value(format!("lanes of {bits} and of {} bits", other.bits)));
    }
    py.detach(|| {
        let lanes = rows.iter().map(|rows| rows.shape().lanes).sum();
        let shape = Shape::new(lanes, bits);
        let mut limbs = Vec::new();
        limbs
            .try_reserve_exact(shape.words())
            .map_err(|_| Failure::memory(format!("{} B are needed", shape.bytes())))?;
        for rows in &rows {
            limbs.extend_from_slice(rows.limbs());
        }
        Ok(Batch::host(Rows::from_limbs(shape, limbs)?))
    })
}

/// Random lanes, each number below `2^bits` with the same probability. The same seed gives the same lanes.
#[pyfunction]
pub(crate) fn random(py: Python<'_>, lanes: usize, bits: usize, seed: u64) -> Result<Batch> {
    py.detach(|| {
        let shape = Shape::new(lanes, bits);
        let mut limbs = rows::zeroed(shape)?;
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        for row in limbs.chunks_exact_mut(shape.limbs()) {
            row.fill_with(|| generator.next_u32());
            rows::mask(row, bits);
        }
        Ok(Batch::host(Rows::from_limbs(shape, limbs)?))
    })
}
