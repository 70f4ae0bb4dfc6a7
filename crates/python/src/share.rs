//! Limbs that other libraries share: DLPack capsules, and memory of a GPU.
//!
//! # What the safety rests on
//!
//! * The layout of [`Tensor`] and [`Managed`] is the one of DLPack 0.8, which later versions keep for capsules called `dltensor`.
//! * A capsule owns its tensor until a reader renames the capsule. From then on the reader owns the tensor, and calls its
//!   `deleter` once.
//! * A tensor keeps its limbs alive. They never change.
//! * The owner of memory of a GPU tells its address and size by `__cuda_array_interface__`, as its protocol says. The memory is
//!   read during one call only.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use warpmp::device::{Buffer, Kind, borrowed};
use warpmp::{DeviceBatch, Shape};

use crate::batch::{Batch, Place};
use crate::engine;
use crate::error::{Failure, Result};

/// The name of a capsule that nobody has read.
const NAME: &CStr = c"dltensor";

/// DLPack's numbers: the host, and a GPU of NVIDIA.
const HOST: i32 = 1;
const CUDA: i32 = 2;

/// A place of memory: its kind and number.
pub(crate) type Device = (i32, i32);

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_kind: i32,
    device_number: i32,
    dimensions: i32,
    /// The type of a limb: 1 for unsigned integers, its bits, and 1 for no vector.
    code: u8,
    bits: u8,
    vector: u16,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// A tensor with what it points to.
#[repr(C)]
struct Owned {
    /// First: a pointer to it is a pointer to all.
    managed: Managed,
    shape: [i64; 2],
    strides: [i64; 2],
    _limbs: Place,
}

/// # Safety
/// `managed` came out of [`capsule`], and nobody uses it any more.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: `capsule` made the pointer from a box of this type.
    drop(unsafe { Box::from_raw(managed.cast::<Owned>()) });
}

/// # Safety
/// Python calls it with a capsule of [`capsule`] that ends.
unsafe extern "C" fn end(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that was read has another name, and does not own its tensor any more.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

/// Where the limbs are, by DLPack's numbers, and their address; none if no other library can read them there.
pub(crate) fn address(place: &Place) -> Option<(Device, u64)> {
    match place {
        Place::Host(rows) => Some(((HOST, 0), rows.limbs().as_ptr().addr() as u64)),
        Place::Device(batch, engine) => {
            let ordinal = engine.session.device()?.info().ordinal;
            Some(((CUDA, i32::try_from(ordinal).ok()?), batch.buffer().and_then(Buffer::address)?))
        }
    }
}

/// The limbs as a capsule of DLPack: `lanes × limbs` words of 32 bits.
///
/// # Errors
/// `BufferError` for limbs that no other library can read.
pub(crate) fn capsule<'py>(py: Python<'py>, place: &Place) -> Result<Bound<'py, PyAny>> {
    let missing =
        || PyBufferError::new_err("no other library can read limbs of this device; copy them with .to('cpu')");
    let ((device_kind, device_number), address) = address(place).ok_or_else(missing)?;
    if let Place::Device(_, engine) = place {
        // The reader does not know the session's stream: wait until the limbs are there.
        py.detach(|| engine.session.wait())?;
    }
    let (lanes, limbs) = (place.shape().lanes as i64, place.shape().limbs() as i64);
    let tensor = Tensor {
        data: ptr::with_exposed_provenance_mut(address as usize),
        device_kind,
        device_number,
        dimensions: 2,
        code: 1,
        bits: 32,
        vector: 1,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        offset: 0,
    };
    let managed = Managed { tensor, context: ptr::null_mut(), deleter: Some(delete) };
    let owned = Box::new(Owned { managed, shape: [lanes, limbs], strides: [limbs, 1], _limbs: place.clone() });
    let owned = Box::into_raw(owned);
    // SAFETY: the box is this function's alone until the capsule has it; the capsule takes a pointer to its first field.
    unsafe {
        (*owned).managed.tensor.shape = (&raw mut (*owned).shape).cast();
        (*owned).managed.tensor.strides = (&raw mut (*owned).strides).cast();
        let capsule = ffi::PyCapsule_New(owned.cast(), NAME.as_ptr(), Some(end));
        if capsule.is_null() {
            delete(owned.cast());
            return Err(PyErr::fetch(py).into());
        }
        Ok(Bound::from_owned_ptr(py, capsule))
    }
}

/// A copy of limbs that another library has in the memory of a GPU, `lanes × words` words of 32 bits without gaps. Waits for all work on the
/// GPU, so that the limbs are there.
///
/// # Errors
/// `ValueError` for no address, and for an address that is no multiple of 4; `MemoryError`; `RuntimeError` of the device.
#[pyfunction]
pub(crate) fn from_gpu(py: Python<'_>, address: u64, lanes: usize, words: usize, device: &str) -> Result<Batch> {
    py.detach(|| {
        let engine = engine::open(device)?;
        let gpu = engine.session.device().filter(|device| device.info().kind == Kind::Cuda);
        let Some(gpu) = gpu else { return Err(Failure::value(format!("{device} is no GPU"))) };
        if !address.is_multiple_of(4) {
            return Err(Failure::value("the limbs are not aligned to 4 bytes"));
        }
        let shape = Shape::new(lanes, words.saturating_mul(32));
        let batch = if shape.words() == 0 {
            engine.session.zeros(shape)?
        } else if address == 0 {
            return Err(Failure::value("the limbs have no address"));
        } else {
            gpu.synchronize_all().map_err(warpmp::Error::from)?;
            // SAFETY: the owner of the memory vouches for it during the call, which waits for the copy.
            let memory =
                unsafe { borrowed(gpu.info().ordinal, address, shape.bytes()) }.map_err(warpmp::Error::from)?;
            let batch: DeviceBatch = engine.session.copy_from(&memory, words, shape)?;
            engine.session.wait()?;
            batch
        };
        Ok(Batch(Place::Device(Arc::new(batch), engine)))
    })
}
