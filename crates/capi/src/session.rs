//! Engines.

use std::ffi::{CStr, CString, c_char};

use engine::{Selector, Session};

use crate::failure::{Failure, guarded, read, warpmp_code, writable};

/// An engine made ready: a GPU, its simulator, or all cores of the CPU.
pub struct warpmp_session {
    pub(crate) session: Session,
    name: CString,
}

/// The version of the library, such as "0.1.0". The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn warpmp_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero byte"),
    };
    VERSION.as_ptr()
}

/// Opens an engine.
///
/// `engine` is "auto" (the first usable GPU, else the CPU), "cpu", "cuda" (the first usable GPU), "cuda:0", "cuda:1", ...,
/// or "sim" (the simulator, for tests). `*out` is to be closed by warpmp_session_close.
///
/// Errors: WARPMP_BAD_ARGUMENT for another name; WARPMP_DEVICE_FAILED if the GPU cannot be used.
///
/// # Safety
/// `engine` is a string that ends with a zero byte; `out` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_session_open(engine: *const c_char, out: *mut *mut warpmp_session) -> warpmp_code {
    guarded(|| {
        let out = writable(out, "out")?;
        // SAFETY: the caller's promise.
        let selector = selector(unsafe { text(engine, "engine") }?)?;
        let session = Session::on(selector)?;
        let name = CString::new(session.engine().name.replace('\0', " ")).unwrap_or_default();
        // SAFETY: `out` is not null, and the caller promises that it can be written.
        unsafe { out.write(Box::into_raw(Box::new(warpmp_session { session, name }))) };
        Ok(())
    })
}

/// Closes a session; NULL is allowed. Batches on its device stay valid until they are freed.
///
/// # Safety
/// `session` is null or from warpmp_session_open, and no call uses it now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_session_close(session: *mut warpmp_session) {
    if !session.is_null() {
        guarded(|| {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(session) });
            Ok(())
        });
    }
}

/// The name of the session's engine, for people; NULL for NULL. It is valid as long as the session.
///
/// # Safety
/// `session` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_session_engine(session: *const warpmp_session) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { session.as_ref() }.map_or(std::ptr::null(), |session| session.name.as_ptr())
}

/// Waits until all work of the session is done. Operations on batches of a GPU are queued; call this before other
/// libraries read their memory.
///
/// Errors: WARPMP_DEVICE_FAILED, also of operations that were queued before.
///
/// # Safety
/// `session` is alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpmp_session_wait(session: *const warpmp_session) -> warpmp_code {
    guarded(|| {
        // SAFETY: the caller's promise.
        let session = unsafe { read(session, "session") }?;
        Ok(session.session.wait()?)
    })
}

/// A string of the caller.
///
/// # Safety
/// `pointer` is null, or a string that ends with a zero byte and lives as long as the result.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(read(pointer, name)?) };
    text.to_str().map_err(|_| Failure::argument(format!("`{name}` is not UTF-8")))
}

fn selector(name: &str) -> Result<Selector, Failure> {
    let unknown =
        || Failure::argument(format!("there is no engine '{name}'; there are auto, cpu, cuda, cuda:0, … and sim"));
    Ok(match name {
        "auto" => Selector::Auto,
        "cpu" => Selector::Cpu,
        "sim" => Selector::Sim,
        "cuda" => Selector::Cuda(None),
        _ => {
            let number = name.strip_prefix("cuda:").ok_or_else(unknown)?;
            Selector::Cuda(Some(number.parse().map_err(|_| unknown())?))
        }
    })
}
