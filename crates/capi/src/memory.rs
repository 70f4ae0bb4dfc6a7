//! Limbs in memory of a GPU that the caller has.

use std::ffi::c_void;

use engine::device::{Buffer, Kind, borrowed};
use engine::{DeviceBatch, Shape};

use crate::batch::{Place, warpmp_batch};
use crate::failure::{Failure, guarded, read, warpmp_code, writable};
use crate::session::warpmp_session;

/// Words of 32 bits of a row of limbs, each of this many words.
const fn stride(shape: Shape, limb_words: usize) -> usize {
    shape.limbs().next_multiple_of(limb_words)
}

/// The caller's memory, on the session's GPU; none for no words, whatever the pointer.
///
/// # Safety
/// `pointer` is null, or memory of the session's GPU with that many words. The memory stays allocated as long as the result,
/// and nothing else uses it meanwhile.
unsafe fn memory(session: &warpmp_session, pointer: *const c_void, words: usize) -> Result<Option<Buffer>, Failure> {
    let device = session.session.device().map(|device| device.info());
    let Some(info) = device.filter(|info| info.kind == Kind::Cuda) else {
        return Err(Failure::argument("the session computes on no GPU, so it has no device memory"));
    };
    if words == 0 {
        return Ok(None);
    }
    let address = pointer.addr() as u64;
    if address == 0 {
        return Err(Failure::argument("`pointer` is a null pointer"));
    }
    if !address.is_multiple_of(4) {
        return Err(Failure::argument("`pointer` is not aligned to 4 bytes"));
    }
    let bytes = (words as u64).checked_mul(4).ok_or_else(|| Failure::argument("the limbs do not fit in memory"))?;
    // SAFETY: the caller's promise.
    let buffer = unsafe { borrowed(info.ordinal, address, bytes) };
    Ok(Some(buffer.map_err(engine::Error::from)?))
}

/// A batch with the limbs at `pointer`.
///
/// # Safety
/// As [`memory`], with the limbs of the shape.
unsafe fn from_device(
    session: *const warpmp_session,
    pointer: *const c_void,
    shape: Shape,
    limb_words: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    guarded(|| {
        let out = writable(out, "out")?;
        if shape.bits == 0 {
            return Err(engine::Error::ZeroBits.into());
        }
        let stride = stride(shape, limb_words);
        // SAFETY: the caller's promise.
        let session = unsafe { read(session, "session") }?;
        // SAFETY: the caller's promise; the call waits for the copy.
        let batch = match unsafe { memory(session, pointer, shape.lanes.saturating_mul(stride)) }? {
            Some(memory) => session.session.copy_from(&memory, stride, shape)?,
            None => session.session.reserve(shape)?,
        };
        session.session.wait()?;
        // SAFETY: `out` is not null, and the caller promises that it can be written.
        unsafe { out.write(warpmp_batch::into_raw(Place::Device(batch))) };
        Ok(())
    })
}

/// Writes the limbs of a batch to `pointer`.
///
/// # Safety
/// As [`memory`], with `capacity` limbs; `batch` is null or alive.
unsafe fn to_device(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    pointer: *mut c_void,
    limb_words: usize,
    capacity: usize,
) -> warpmp_code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (session, batch) = unsafe { (read(session, "session")?, resident(batch)?) };
        let stride = stride(batch.shape(), limb_words);
        let words = batch.shape().lanes.saturating_mul(stride);
        let limbs = words / limb_words;
        if capacity < limbs {
            let bits = 32 * limb_words;
            return Err(Failure::argument(format!(
                "the batch has {limbs} limbs of {bits} bits; there is room for {capacity}"
            )));
        }
        // SAFETY: the caller's promise; the call waits for the copy.
        let Some(memory) = unsafe { memory(session, pointer, words) }? else { return Ok(()) };
        if overlaps(batch, &memory) {
            return Err(Failure::argument("`pointer` is within the memory of the batch itself"));
        }
        session.session.copy_to(batch, &memory, stride)?;
        Ok(session.session.wait()?)
    })
}

/// Does a batch share memory with the caller's?
fn overlaps(batch: &DeviceBatch, memory: &Buffer) -> bool {
    let range = |buffer: &Buffer| buffer.address().map(|start| start..start + buffer.bytes());
    let (own, other) = (batch.buffer().and_then(range), range(memory));
    own.zip(other).is_some_and(|(own, other)| own.start < other.end && other.start < own.end)
}

/// The batch, if it is on a device.
///
/// # Safety
/// `batch` is null or alive.
unsafe fn resident<'a>(batch: *const warpmp_batch) -> Result<&'a DeviceBatch, Failure> {
    // SAFETY: the caller's promise.
    match &unsafe { read(batch, "batch") }?.place {
        Place::Device(batch) => Ok(batch),
        Place::Host(_) => Err(Failure::argument("the batch is on the host; upload it")),
    }
}

/// Makes a batch on the session's GPU, a copy of lanes x ceil(bits / 32) limbs of 32 bits that are on this GPU already.
///
/// `pointer` is a CUdeviceptr in the GPU's primary context, the one that CUDA's runtime uses. The work that writes the limbs
/// must have ended before the call, and nothing may write to them during the call, which waits for the copy. Every integer
/// must be below 2^bits: nothing checks this. `lanes` may be 0; then `pointer` may be NULL. `*out` is to be freed by
/// warpmp_batch_free.
///
/// Errors: WARPMP_BAD_ARGUMENT if the session has no GPU, `pointer` is NULL or not aligned to 4 bytes, or `bits` is 0;
/// WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
///
/// # Safety
/// `session` is alive; `pointer` has that many limbs; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_from_device32(
    session: *const warpmp_session,
    pointer: *const c_void,
    lanes: usize,
    bits: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { from_device(session, pointer, Shape::new(lanes, bits), 1, out) }
}

/// As warpmp_batch_from_device32, from lanes x ceil(bits / 64) limbs of 64 bits.
///
/// # Safety
/// `session` is alive; `pointer` has that many limbs; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_from_device64(
    session: *const warpmp_session,
    pointer: *const c_void,
    lanes: usize,
    bits: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { from_device(session, pointer, Shape::new(lanes, bits), 2, out) }
}

/// Writes lanes x ceil(bits / 32) limbs of 32 bits of a batch on a GPU to `pointer` on the same GPU, which has room for
/// `capacity` limbs.
///
/// `pointer` is as for warpmp_batch_from_device32. Nothing else may use the memory during the call. The call waits for the
/// operations before and for the copy. A batch without lanes is written nowhere, and `pointer` may be NULL.
///
/// Errors: WARPMP_BAD_ARGUMENT if `capacity` is too small, the session has no GPU, the batch is on the host or another
/// session's, or `pointer` is NULL, not aligned to 4 bytes, or within the memory of the batch itself; WARPMP_DEVICE_FAILED.
///
/// # Safety
/// The handles are alive; `pointer` has room for `capacity` limbs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_to_device32(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    pointer: *mut c_void,
    capacity: usize,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { to_device(session, batch, pointer, 1, capacity) }
}

/// As warpmp_batch_to_device32, as lanes x ceil(bits / 64) limbs of 64 bits.
///
/// # Safety
/// The handles are alive; `pointer` has room for `capacity` limbs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_to_device64(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    pointer: *mut c_void,
    capacity: usize,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { to_device(session, batch, pointer, 2, capacity) }
}
