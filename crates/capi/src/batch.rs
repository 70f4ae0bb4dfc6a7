//! Integers, on the host and on the device.

use std::ffi::c_void;
use std::slice;

use engine::{Batch, DeviceBatch, Shape};

use crate::failure::{Failure, guarded, read, warpmp_code, writable};
use crate::session::warpmp_session;

/// Unsigned integers of one width, one a lane, on the host or on a session's device.
pub struct warpmp_batch {
    pub(crate) place: Place,
}

pub(crate) enum Place {
    Host(Batch<'static>),
    Device(DeviceBatch),
}

impl warpmp_batch {
    pub(crate) fn shape(&self) -> Shape {
        match &self.place {
            Place::Host(batch) => batch.shape(),
            Place::Device(batch) => batch.shape(),
        }
    }

    pub(crate) fn into_raw(place: Place) -> *mut Self {
        Box::into_raw(Box::new(Self { place }))
    }
}

/// A limb of the caller.
trait Limb: Copy {
    /// Words of 32 bits.
    const WORDS: usize;

    fn words(self) -> [u32; 2];

    fn of(words: [u32; 2]) -> Self;
}

impl Limb for u32 {
    const WORDS: usize = 1;

    fn words(self) -> [u32; 2] {
        [self, 0]
    }

    fn of([low, _]: [u32; 2]) -> Self {
        low
    }
}

impl Limb for u64 {
    const WORDS: usize = 2;

    fn words(self) -> [u32; 2] {
        [self as u32, (self >> 32) as u32]
    }

    fn of([low, high]: [u32; 2]) -> Self {
        Self::from(low) | Self::from(high) << 32
    }
}

/// The number of the caller's limbs of a batch.
fn limbs_of<L: Limb>(shape: Shape) -> Result<usize, Failure> {
    let count = shape.limbs().div_ceil(L::WORDS).checked_mul(shape.lanes);
    let fits =
        count.filter(|count| count.checked_mul(size_of::<L>()).is_some_and(|bytes| isize::try_from(bytes).is_ok()));
    fits.ok_or_else(|| Failure::argument(format!("{} lanes of {} bits do not fit in memory", shape.lanes, shape.bits)))
}

/// A batch with the caller's limbs.
///
/// # Safety
/// `limbs` is null, or has as many limbs as the shape.
unsafe fn from_limbs<L: Limb>(limbs: *const L, lanes: usize, bits: usize, out: *mut *mut warpmp_batch) -> warpmp_code {
    guarded(|| {
        let out = writable(out, "out")?;
        if bits == 0 {
            return Err(engine::Error::ZeroBits.into());
        }
        let shape = Shape::new(lanes, bits);
        let count = limbs_of::<L>(shape)?;
        let limbs = if count == 0 {
            &[]
        } else {
            // SAFETY: `limbs` is not null; the caller promises that many limbs, whose bytes fit in the address space.
            unsafe { slice::from_raw_parts(read(limbs, "limbs")?, count) }
        };
        let mut words = Vec::new();
        let bytes = shape.bytes();
        words
            .try_reserve_exact(shape.words())
            .map_err(|_| engine::Error::OutOfMemory { required_bytes: bytes, available_bytes: None })?;
        for (lane, row) in limbs.chunks_exact(shape.limbs().div_ceil(L::WORDS).max(1)).enumerate() {
            let mut row = row.iter().flat_map(|limb| limb.words().into_iter().take(L::WORDS));
            words.extend(row.by_ref().take(shape.limbs()));
            if row.any(|word| word != 0) {
                return Err(engine::Error::NotReduced { lane, bits }.into());
            }
        }
        let batch = Batch::from_limbs(shape, words)?;
        // SAFETY: `out` is not null, and the caller promises that it can be written.
        unsafe { out.write(warpmp_batch::into_raw(Place::Host(batch))) };
        Ok(())
    })
}

/// Writes the integers of a batch as the caller's limbs.
///
/// # Safety
/// `session` is null or alive, `batch` is null or alive, and `limbs` is null or has `capacity` limbs.
unsafe fn to_limbs<L: Limb>(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    limbs: *mut L,
    capacity: usize,
) -> warpmp_code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { read(batch, "batch") }?;
        let shape = batch.shape();
        let count = limbs_of::<L>(shape)?;
        if capacity < count {
            let text = format!("the batch has {count} limbs of {} bits; there is room for {capacity}", 32 * L::WORDS);
            return Err(Failure::argument(text));
        }
        if count == 0 {
            return Ok(());
        }
        let limbs = writable(limbs, "limbs")?;
        let downloaded;
        let batch = match &batch.place {
            Place::Host(batch) => batch,
            Place::Device(batch) => {
                // SAFETY: the caller's promise.
                downloaded = unsafe { read(session, "session") }?.session.download(batch)?;
                &downloaded
            }
        };
        let mut to = limbs;
        for row in batch {
            for words in row.chunks(L::WORDS) {
                let high = words.get(1).copied().unwrap_or(0);
                // SAFETY: `count` limbs are written, at most `capacity`, which the caller promises. No reference is made,
                // so the memory need not be initialised.
                unsafe {
                    to.write(L::of([words[0], high]));
                    to = to.add(1);
                }
            }
        }
        Ok(())
    })
}

/// Makes a batch on the host, a copy of lanes x ceil(bits / 32) limbs of 32 bits.
///
/// `lanes` may be 0; then `limbs` may be NULL. `*out` is to be freed by warpmp_batch_free.
///
/// Errors: WARPMP_BAD_ARGUMENT if `bits` is 0 or a lane has bits above its width, with the number of the lane;
/// WARPMP_OUT_OF_MEMORY.
///
/// # Safety
/// `limbs` has that many limbs; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_from_limbs32(
    limbs: *const u32,
    lanes: usize,
    bits: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { from_limbs(limbs, lanes, bits, out) }
}

/// As warpmp_batch_from_limbs32, from lanes x ceil(bits / 64) limbs of 64 bits.
///
/// # Safety
/// `limbs` has that many limbs; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_from_limbs64(
    limbs: *const u64,
    lanes: usize,
    bits: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { from_limbs(limbs, lanes, bits, out) }
}

/// Writes lanes x ceil(bits / 32) limbs of 32 bits to `limbs`, which has room for `capacity` limbs.
///
/// For a batch on a device, `session` is its session, and the call waits for the operations before. For a batch on the
/// host `session` may be NULL.
///
/// Errors: WARPMP_BAD_ARGUMENT if `capacity` is too small or the batch is another session's; WARPMP_DEVICE_FAILED.
///
/// # Safety
/// The handles are alive; `limbs` has room for `capacity` limbs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_to_limbs32(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    limbs: *mut u32,
    capacity: usize,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { to_limbs(session, batch, limbs, capacity) }
}

/// As warpmp_batch_to_limbs32, as lanes x ceil(bits / 64) limbs of 64 bits.
///
/// # Safety
/// The handles are alive; `limbs` has room for `capacity` limbs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_to_limbs64(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    limbs: *mut u64,
    capacity: usize,
) -> warpmp_code {
    // SAFETY: the caller's promise.
    unsafe { to_limbs(session, batch, limbs, capacity) }
}

/// Copies a batch from the host to the session's device. There, operations chain without transfers.
///
/// Errors: WARPMP_BAD_ARGUMENT if the batch is not on the host; WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
///
/// # Safety
/// The handles are alive; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_upload(
    session: *const warpmp_session,
    batch: *const warpmp_batch,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    guarded(|| {
        let out = writable(out, "out")?;
        // SAFETY: the caller's promise.
        let (session, batch) = unsafe { (read(session, "session")?, read(batch, "batch")?) };
        let Place::Host(batch) = &batch.place else {
            return Err(Failure::argument("the batch is on a device already"));
        };
        let batch = session.session.upload(batch)?;
        // SAFETY: `out` is not null, and the caller promises that it can be written.
        unsafe { out.write(warpmp_batch::into_raw(Place::Device(batch))) };
        Ok(())
    })
}

/// Makes a batch on the session's device whose integers are not defined: for kernels and libraries that write to
/// warpmp_batch_device_pointer.
///
/// Errors: WARPMP_BAD_ARGUMENT if `bits` is 0; WARPMP_OUT_OF_MEMORY; WARPMP_DEVICE_FAILED.
///
/// # Safety
/// `session` is alive; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_reserve(
    session: *const warpmp_session,
    lanes: usize,
    bits: usize,
    out: *mut *mut warpmp_batch,
) -> warpmp_code {
    guarded(|| {
        let out = writable(out, "out")?;
        // SAFETY: the caller's promise.
        let batch = unsafe { read(session, "session") }?.session.reserve(Shape::new(lanes, bits))?;
        // SAFETY: `out` is not null, and the caller promises that it can be written.
        unsafe { out.write(warpmp_batch::into_raw(Place::Device(batch))) };
        Ok(())
    })
}

/// Frees a batch; NULL is allowed.
///
/// # Safety
/// `batch` is null or from this library, and no call uses it now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_free(batch: *mut warpmp_batch) {
    if !batch.is_null() {
        guarded(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(batch) });
            Ok(())
        });
    }
}

/// The number of integers; 0 for NULL.
///
/// # Safety
/// `batch` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_lanes(batch: *const warpmp_batch) -> usize {
    // SAFETY: the caller's promise.
    unsafe { batch.as_ref() }.map_or(0, |batch| batch.shape().lanes)
}

/// The bits of each integer; 0 for NULL.
///
/// # Safety
/// `batch` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_bits(batch: *const warpmp_batch) -> usize {
    // SAFETY: the caller's promise.
    unsafe { batch.as_ref() }.map_or(0, |batch| batch.shape().bits)
}

/// Where a batch starts in the GPU's memory, as a CUdeviceptr: lanes x ceil(bits / 32) limbs of 32 bits, and room up to
/// the next multiple of 32 lanes, whose integers must stay zero. NULL for a batch that is not on a GPU.
///
/// Who writes there waits for the session before (warpmp_session_wait) and for its own work after, and keeps every integer
/// below 2^bits.
///
/// # Safety
/// `batch` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_batch_device_pointer(batch: *const warpmp_batch) -> *mut c_void {
    // SAFETY: the caller's promise.
    let address = match unsafe { batch.as_ref() }.map(|batch| &batch.place) {
        Some(Place::Device(batch)) => batch.buffer().and_then(engine::device::Buffer::address),
        Some(Place::Host(_)) | None => None,
    };
    address.unwrap_or(0) as *mut c_void
}
