//! What a call returns, and the text behind it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use engine::Error;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum warpmp_code {
    /// All is well.
    WARPMP_OK = 0,
    /// An argument is wrong: a null pointer, a shape, a name, a number of operands. Nothing was computed.
    WARPMP_BAD_ARGUMENT = 1,
    /// Operands and results do not fit in memory.
    WARPMP_OUT_OF_MEMORY = 2,
    /// The device is not there, or it failed.
    WARPMP_DEVICE_FAILED = 3,
    /// A fault of the library. Please report it, with the text of the error.
    WARPMP_INTERNAL = 4,
}

/// Why a call failed.
pub(crate) struct Failure {
    code: warpmp_code,
    text: String,
}

impl Failure {
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self { code: warpmp_code::WARPMP_BAD_ARGUMENT, text: text.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::OutOfMemory { .. } => warpmp_code::WARPMP_OUT_OF_MEMORY,
            Error::Device(_) | Error::NoDevice | Error::Stopped => warpmp_code::WARPMP_DEVICE_FAILED,
            _ => warpmp_code::WARPMP_BAD_ARGUMENT,
        };
        Self { code, text: error.to_string() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Runs `work`. Failures and panics become a code, and the text of the thread's last error.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> warpmp_code {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return warpmp_code::WARPMP_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text =
                panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Failure { code: warpmp_code::WARPMP_INTERNAL, text: text.unwrap_or("a panic without a text").into() }
        }
    };
    let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
    LAST.with(|last| last.replace(text));
    failure.code
}

/// The text of the last error of this thread; empty if there was none. It is valid until the next call of this thread
/// that fails.
#[unsafe(no_mangle)]
pub extern "C" fn warpmp_last_error() -> *const c_char {
    LAST.with(|last| last.try_borrow().map_or(ptr::null(), |text| text.as_ptr()))
}

/// The value behind a pointer to be read.
///
/// # Safety
/// `pointer` is null, or points to a value that lives as long as the result.
pub(crate) unsafe fn read<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("`{name}` is a null pointer")))
}

/// Checks that results can be written.
pub(crate) fn writable<T>(pointer: *mut T, name: &str) -> Result<*mut T, Failure> {
    if pointer.is_null() { Err(Failure::argument(format!("`{name}` is a null pointer"))) } else { Ok(pointer) }
}
