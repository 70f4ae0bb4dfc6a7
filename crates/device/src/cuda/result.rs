//! The result layer: one method a driver function, its results as values.
//!
//! A method is safe if the driver answers every bad argument with a code, and `unsafe` if it takes a
//! handle or an address on trust. All but the first group work on the thread's current context.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUmodule,
    CUstream,
};

use super::raw::{Code, Describe, Outcome, Raw};
use crate::launch::Rows;

/// The codes that the safe layer tells apart.
pub(super) mod code {
    use super::Code;

    pub(in crate::cuda) const INVALID_VALUE: Code = 1;
    pub(in crate::cuda) const OUT_OF_MEMORY: Code = 2;
    pub(in crate::cuda) const DEINITIALIZED: Code = 4;
    pub(in crate::cuda) const NO_DEVICE: Code = 100;
    /// The image or the text of a module is refused, or its compiler is missing or switched off.
    pub(in crate::cuda) const REFUSED: [Code; 7] = [200, 209, 218, 221, 222, 223, 300];
    /// The context is gone: memory errors in hardware, faults of a kernel, a kernel that timed out.
    pub(in crate::cuda) const LOST: [Code; 14] =
        [DEINITIALIZED, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719];
}

/// Devices, the driver itself, contexts.
impl Raw {
    pub(super) fn init(&self) -> Outcome<()> {
        // SAFETY: may be called at any time, any number of times.
        unsafe { self.cuInit(0) }
    }

    /// The CUDA version that the driver serves, major and minor.
    pub(super) fn version(&self) -> Outcome<(u32, u32)> {
        let mut version = 0;
        // SAFETY: the pointer is to a local.
        unsafe { self.cuDriverGetVersion(&raw mut version) }?;
        Ok((version as u32 / 1000, version as u32 % 1000 / 10))
    }

    pub(super) fn device_count(&self) -> Outcome<usize> {
        let mut count = 0;
        // SAFETY: the pointer is to a local.
        unsafe { self.cuDeviceGetCount(&raw mut count) }?;
        Ok(count as usize)
    }

    pub(super) fn device(&self, ordinal: usize) -> Outcome<CUdevice> {
        let mut device = 0;
        // SAFETY: the pointer is to a local; a wrong ordinal is answered with a code.
        unsafe { self.cuDeviceGet(&raw mut device, c_int::try_from(ordinal).unwrap_or(c_int::MAX)) }?;
        Ok(device)
    }

    pub(super) fn device_name(&self, device: CUdevice) -> Outcome<String> {
        let mut name = [0_u8; 256];
        // SAFETY: the driver writes at most the length given, with a final zero.
        unsafe { self.cuDeviceGetName(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int, device) }?;
        Ok(text_of(&name))
    }

    pub(super) fn attribute(&self, device: CUdevice, attribute: CUdevice_attribute) -> Outcome<u32> {
        let mut value = 0;
        // SAFETY: the pointer is to a local; a wrong device is answered with a code.
        unsafe { self.cuDeviceGetAttribute(&raw mut value, attribute, device) }?;
        Ok(value.max(0) as u32)
    }

    pub(super) fn total_memory(&self, device: CUdevice) -> Outcome<u64> {
        let mut bytes = 0;
        // SAFETY: the pointer is to a local; a wrong device is answered with a code.
        unsafe { self.cuDeviceTotalMem_v2(&raw mut bytes, device) }?;
        Ok(bytes as u64)
    }

    /// Each success wants one [`Raw::release_primary`].
    pub(super) fn retain_primary(&self, device: CUdevice) -> Outcome<CUcontext> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a local; a wrong device is answered with a code.
        unsafe { self.cuDevicePrimaryCtxRetain(&raw mut context, device) }?;
        Ok(context)
    }

    /// # Safety
    /// Ends one [`Raw::retain_primary`]; nothing that lives in the context is used after the last.
    pub(super) unsafe fn release_primary(&self, device: CUdevice) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuDevicePrimaryCtxRelease_v2(device) }
    }

    /// # Safety
    /// The context is retained, and stays so until [`Raw::pop_context`] on the same thread.
    pub(super) unsafe fn push_context(&self, context: CUcontext) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuCtxPushCurrent_v2(context) }
    }

    pub(super) fn pop_context(&self) -> Outcome<()> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a local; an empty stack is answered with a code.
        unsafe { self.cuCtxPopCurrent_v2(&raw mut context) }
    }

    pub(super) fn synchronize_context(&self) -> Outcome<()> {
        // SAFETY: no arguments; no context is answered with a code.
        unsafe { self.cuCtxSynchronize() }
    }

    /// The driver's name of a code (`CUDA_ERROR_INVALID_PTX`), and its meaning in words.
    pub(super) fn describe(&self, code: Code) -> (String, String) {
        let text = |describe: Describe| {
            let mut text = ptr::null();
            // SAFETY: the pointer is to a local; an unknown code is answered with a code.
            let answer = unsafe { describe(code, &raw mut text) };
            // SAFETY: on success the pointer is to a constant string of the library.
            (answer == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.error_name).unwrap_or_else(|| format!("code {code}"));
        (name, text(self.error_string).unwrap_or_else(|| "unknown to this driver".into()))
    }
}

/// Memory.
impl Raw {
    pub(super) fn free_memory(&self) -> Outcome<u64> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to locals.
        unsafe { self.cuMemGetInfo_v2(&raw mut free, &raw mut total) }?;
        Ok(free as u64)
    }

    pub(super) fn alloc(&self, bytes: usize) -> Outcome<CUdeviceptr> {
        let mut address = 0;
        // SAFETY: the pointer is to a local.
        unsafe { self.cuMemAlloc_v2(&raw mut address, bytes) }?;
        Ok(address)
    }

    /// # Safety
    /// The address is from [`Raw::alloc`], not freed yet, and no work that uses it is pending.
    pub(super) unsafe fn free(&self, address: CUdeviceptr) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemFree_v2(address) }
    }

    /// Page-locked host memory, of unknown content, for every context.
    pub(super) fn alloc_host(&self, bytes: usize) -> Outcome<*mut c_void> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the pointer is to a local.
        unsafe { self.cuMemHostAlloc(&raw mut pointer, bytes, sys::CU_MEMHOSTALLOC_PORTABLE) }?;
        Ok(pointer)
    }

    /// # Safety
    /// The pointer is from [`Raw::alloc_host`], not freed yet, and no copy that uses it is pending.
    pub(super) unsafe fn free_host(&self, pointer: *mut c_void) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemFreeHost(pointer) }
    }

    /// # Safety
    /// Both ranges are allocated, and stay so, the host's not written, until the stream is past it.
    pub(super) unsafe fn copy_to_device(
        &self,
        dst: CUdeviceptr,
        src: *const u32,
        words: usize,
        stream: CUstream,
    ) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemcpyHtoDAsync_v2(dst, src.cast(), words * 4, stream) }
    }

    /// # Safety
    /// Both ranges are allocated, and stay so, the host's not touched, until the stream is past it.
    pub(super) unsafe fn copy_to_host(
        &self,
        dst: *mut u32,
        src: CUdeviceptr,
        words: usize,
        stream: CUstream,
    ) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemcpyDtoHAsync_v2(dst.cast(), src, words * 4, stream) }
    }

    /// # Safety
    /// Both ranges are allocated and do not overlap.
    pub(super) unsafe fn copy_on_device(
        &self,
        dst: CUdeviceptr,
        src: CUdeviceptr,
        words: usize,
        stream: CUstream,
    ) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemcpyDtoDAsync_v2(dst, src, words * 4, stream) }
    }

    /// # Safety
    /// All rows are allocated and do not overlap.
    pub(super) unsafe fn copy_rows(
        &self,
        dst: CUdeviceptr,
        src: CUdeviceptr,
        rows: Rows,
        stream: CUstream,
    ) -> Outcome<()> {
        let device = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: device,
            srcHost: ptr::null(),
            srcDevice: src,
            srcArray: ptr::null_mut(),
            srcPitch: rows.src_stride * 4,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: device,
            dstHost: ptr::null_mut(),
            dstDevice: dst,
            dstArray: ptr::null_mut(),
            dstPitch: rows.dst_stride * 4,
            WidthInBytes: rows.words * 4,
            Height: rows.count,
        };
        // SAFETY: the description is read during the call; the rest is handed on.
        unsafe { self.cuMemcpy2DAsync_v2(&raw const copy, stream) }
    }

    /// # Safety
    /// The range is allocated.
    pub(super) unsafe fn fill(&self, dst: CUdeviceptr, value: u32, words: usize, stream: CUstream) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuMemsetD32Async(dst, value, words, stream) }
    }
}

/// Streams and events.
impl Raw {
    /// A stream that does not wait for the default stream.
    pub(super) fn create_stream(&self) -> Outcome<CUstream> {
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer is to a local.
        unsafe { self.cuStreamCreate(&raw mut stream, sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint) }?;
        Ok(stream)
    }

    /// # Safety
    /// The stream is alive and not used afterwards. Work on it is still done.
    pub(super) unsafe fn destroy_stream(&self, stream: CUstream) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuStreamDestroy_v2(stream) }
    }

    /// # Safety
    /// The stream is alive.
    pub(super) unsafe fn synchronize_stream(&self, stream: CUstream) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuStreamSynchronize(stream) }
    }

    /// # Safety
    /// Both are alive.
    pub(super) unsafe fn stream_wait(&self, stream: CUstream, event: CUevent) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuStreamWaitEvent(stream, event, 0) }
    }

    /// An event that takes the time.
    pub(super) fn create_event(&self) -> Outcome<CUevent> {
        let mut event = ptr::null_mut();
        // SAFETY: the pointer is to a local.
        unsafe { self.cuEventCreate(&raw mut event, sys::CUevent_flags::CU_EVENT_DEFAULT as c_uint) }?;
        Ok(event)
    }

    /// # Safety
    /// The event is alive and not used afterwards.
    pub(super) unsafe fn destroy_event(&self, event: CUevent) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuEventDestroy_v2(event) }
    }

    /// # Safety
    /// Both are alive.
    pub(super) unsafe fn record(&self, event: CUevent, stream: CUstream) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuEventRecord(event, stream) }
    }

    /// # Safety
    /// The event is alive.
    pub(super) unsafe fn synchronize_event(&self, event: CUevent) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuEventSynchronize(event) }
    }

    /// # Safety
    /// Both are alive.
    pub(super) unsafe fn elapsed_milliseconds(&self, start: CUevent, end: CUevent) -> Outcome<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: the pointer is to a local, the rest is handed on.
        unsafe { self.cuEventElapsedTime(&raw mut milliseconds, start, end) }?;
        Ok(milliseconds)
    }
}

/// Modules and launches. Loading is in `module.rs`, with its log.
impl Raw {
    /// # Safety
    /// The module is loaded, not used afterwards, and no kernel of it is pending.
    pub(super) unsafe fn unload(&self, module: CUmodule) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuModuleUnload(module) }
    }

    /// # Safety
    /// The module is loaded. The function lives as long as it.
    pub(super) unsafe fn function(&self, module: CUmodule, name: &CStr) -> Outcome<CUfunction> {
        let mut function = ptr::null_mut();
        // SAFETY: the pointer is to a local, the name ends in a zero, the rest is handed on.
        unsafe { self.cuModuleGetFunction(&raw mut function, module, name.as_ptr()) }?;
        Ok(function)
    }

    /// # Safety
    /// The function's module is loaded.
    pub(super) unsafe fn function_attribute(
        &self,
        function: CUfunction,
        attribute: CUfunction_attribute,
    ) -> Outcome<u32> {
        let mut value = 0;
        // SAFETY: the pointer is to a local, the rest is handed on.
        unsafe { self.cuFuncGetAttribute(&raw mut value, attribute, function) }?;
        Ok(value.max(0) as u32)
    }

    /// # Safety
    /// The function's module is loaded.
    pub(super) unsafe fn set_function_attribute(
        &self,
        function: CUfunction,
        attribute: CUfunction_attribute,
        value: u32,
    ) -> Outcome<()> {
        // SAFETY: handed on.
        unsafe { self.cuFuncSetAttribute(function, attribute, value as c_int) }
    }

    /// One-dimensional grid and blocks. The driver copies the arguments before it returns.
    ///
    /// # Safety
    /// The function's module is loaded, the stream alive, and `arguments` has as many elements as the
    /// kernel has parameters, each with the value in its low bytes.
    pub(super) unsafe fn launch(
        &self,
        function: CUfunction,
        blocks: u32,
        threads: u32,
        shared_bytes: u32,
        stream: CUstream,
        arguments: &mut [u64],
    ) -> Outcome<()> {
        // A 32-bit argument is read at its element's address: the host is little-endian.
        const { assert!(cfg!(target_endian = "little")) };
        let mut pointers: Vec<*mut c_void> = arguments.iter_mut().map(|value| ptr::from_mut(value).cast()).collect();
        let parameters = pointers.as_mut_ptr();
        // SAFETY: one pointer a parameter, each to 8 readable bytes; the rest is handed on.
        unsafe {
            self.cuLaunchKernel(
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared_bytes,
                stream,
                parameters,
                ptr::null_mut(),
            )
        }
    }
}

/// The text before the first zero.
pub(super) fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
