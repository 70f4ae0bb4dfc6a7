//! The raw layer: the driver's functions, found by name in `libcuda` once, as a table.
//!
//! The types and signatures are cudarc's bindings, and the compiler checks each entry of the table
//! against them. The calls are our own, for two reasons: cudarc's panic where the library or a symbol
//! is missing, and they return a Rust `enum`, which would be undefined behaviour the day a driver
//! answers with a code younger than the bindings. Here a missing symbol is an error and a code is a
//! number.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUDA_MEMCPY2D, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute, CUjit_option, CUmodule, CUstream,
};

use crate::error::Error;

/// The driver's return value: `CUresult` as a number.
pub(super) type Code = c_uint;

/// A call that the driver refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The driver function.
    pub(super) call: &'static str,
    /// Its answer, never 0.
    pub(super) code: Code,
}

/// The result of a call.
pub(super) type Outcome<T> = Result<T, Failure>;

/// `cuGetErrorName` and `cuGetErrorString`: the one signature that differs from the bindings, which
/// take the `enum`.
pub(super) type Describe = unsafe extern "C" fn(Code, *mut *const c_char) -> Code;

macro_rules! table {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        /// The driver's functions. A method calls the function of its name.
        #[allow(non_snake_case, reason = "the driver's names")]
        pub(super) struct Raw {
            pub(super) error_name: Describe,
            pub(super) error_string: Describe,
            $($name: unsafe extern "C" fn($($type),*) -> Code,)*
        }

        impl Raw {
            /// Looks every function up.
            ///
            /// # Errors
            /// The name of the first one that is missing.
            fn find() -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the type is the function's documented signature.
                    error_name: unsafe { symbol("cuGetErrorName") }?,
                    // SAFETY: as above.
                    error_string: unsafe { symbol("cuGetErrorString") }?,
                    $(
                        // SAFETY: the type is the binding's, see the assertion below.
                        $name: unsafe { symbol(stringify!($name)) }?,
                    )*
                })
            }

            $(
                /// Calls the driver function of this name.
                ///
                /// # Safety
                /// As the driver's documentation of the function says.
                #[allow(non_snake_case, reason = "the driver's names")]
                #[allow(clippy::too_many_arguments, reason = "the driver's signatures")]
                pub(super) unsafe fn $name(&self, $($arg: $type),*) -> Outcome<()> {
                    // SAFETY: handed on to the caller.
                    match unsafe { (self.$name)($($arg),*) } {
                        0 => Ok(()),
                        code => Err(Failure { call: stringify!($name), code }),
                    }
                }
            )*
        }

        // The compiler holds every signature against the bindings.
        $(const _: unsafe fn($($type),*) -> sys::CUresult = sys::$name;)*
    };
}

table! {
    cuInit(flags: c_uint);
    cuDriverGetVersion(version: *mut c_int);
    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
    cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    cuCtxPushCurrent_v2(context: CUcontext);
    cuCtxPopCurrent_v2(context: *mut CUcontext);
    cuCtxSynchronize();
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
    cuMemFree_v2(address: CUdeviceptr);
    cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(pointer: *mut c_void);
    cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream);
    cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
    cuMemsetD32Async(dst: CUdeviceptr, value: c_uint, words: usize, stream: CUstream);
    cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    cuStreamDestroy_v2(stream: CUstream);
    cuStreamSynchronize(stream: CUstream);
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    cuEventCreate(event: *mut CUevent, flags: c_uint);
    cuEventDestroy_v2(event: CUevent);
    cuEventRecord(event: CUevent, stream: CUstream);
    cuEventSynchronize(event: CUevent);
    cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void
    );
    cuModuleUnload(module: CUmodule);
    cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
    cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

/// The function of this name, as a `T`.
///
/// # Safety
/// `libcuda` is present, and `T` is the type of a pointer to the function.
unsafe fn symbol<T: Copy>(name: &'static str) -> Result<T, &'static str> {
    // SAFETY: the library is present, so that cudarc finds it; the type is the caller's promise. The
    // library is never unloaded, so that the pointer outlives the symbol.
    unsafe { sys::culib().get::<T>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|_| name)
}

/// The driver's functions, looked up on the first call.
///
/// # Errors
/// [`Error::NoDriver`] without `libcuda`, [`Error::DriverLacks`] if it lacks a function.
pub(super) fn raw() -> Result<&'static Raw, Error> {
    static RAW: OnceLock<Result<Raw, Option<&'static str>>> = OnceLock::new();
    let found = RAW.get_or_init(|| {
        // SAFETY: opening a shared library runs its initialisers; the driver's have no requirements.
        if unsafe { sys::is_culib_present() } { Raw::find().map_err(Some) } else { Err(None) }
    });
    found.as_ref().map_err(|missing| match missing {
        None => Error::NoDriver,
        Some(function) => Error::DriverLacks { function },
    })
}
