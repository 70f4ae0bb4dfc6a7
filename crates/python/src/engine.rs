//! Sessions by the names of devices: `cpu`, `cuda`, `cuda:1`, `sim`.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use warpmp::device::Device;
use warpmp::{Selector, Session};
use warpmp_numtheory::factor;

use crate::error::{Failure, Result};

/// A session and the name of its device.
pub(crate) struct Engine {
    pub(crate) name: String,
    pub(crate) session: Session,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

static CPU: LazyLock<Arc<Engine>> = LazyLock::new(|| Arc::new(Engine { name: "cpu".into(), session: Session::cpu() }));

/// The engines that were opened, by name. They stay open.
static OPEN: LazyLock<Mutex<HashMap<String, Arc<Engine>>>> = LazyLock::new(Mutex::default);

/// The CPU.
pub(crate) fn cpu() -> Arc<Engine> {
    CPU.clone()
}

/// The engine of a device, opened at its first use.
///
/// # Errors
/// `ValueError` for another name; `RuntimeError` with the reason if the device cannot be opened.
pub(crate) fn open(name: &str) -> Result<Arc<Engine>> {
    let (name, selector) = match name {
        "cpu" => return Ok(cpu()),
        "sim" => ("sim".to_owned(), Selector::Sim),
        "cuda" => ("cuda:0".to_owned(), Selector::Cuda(Some(0))),
        other => match other.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok()) {
            Some(ordinal) => (format!("cuda:{ordinal}"), Selector::Cuda(Some(ordinal))),
            None => {
                return Err(Failure::value(format!(
                    "no device is called '{other}'; there are cpu, cuda, cuda:N and sim"
                )));
            }
        },
    };
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = open.get(&name) {
        return Ok(engine.clone());
    }
    let engine = Arc::new(Engine { name: name.clone(), session: Session::on(selector)? });
    open.insert(name, engine.clone());
    Ok(engine)
}

/// The names of the GPUs that can be used.
fn gpus() -> Vec<String> {
    let found = warpmp::device::devices().cuda.unwrap_or_default();
    found.iter().filter(|gpu| gpu.supported()).map(|gpu| format!("cuda:{}", gpu.ordinal)).collect()
}

/// The devices that a name stands for, for work that several of them share: all GPUs for `cuda`, none for the CPU.
///
/// # Errors
/// As [`open`].
pub(crate) fn team(name: &str) -> Result<Vec<Arc<dyn Device>>> {
    let all = if name == "cuda" { gpus() } else { Vec::new() };
    // Where there is no GPU, opening the name tells why.
    let names = if all.is_empty() { vec![name.to_owned()] } else { all };
    let mut devices = Vec::new();
    for name in names {
        devices.extend(open(&name)?.session.device().cloned());
    }
    Ok(devices)
}

/// The engine for work that begins on the host: as [`open`], but `cuda` stands for all GPUs.
///
/// # Errors
/// As [`open`].
pub(crate) fn whole(name: &str) -> Result<Arc<Engine>> {
    let devices = if name == "cuda" { team(name)? } else { Vec::new() };
    if devices.len() < 2 {
        return open(name);
    }
    let known = || OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    // One GPU is never called `cuda` there.
    if let Some(engine) = known().get(name) {
        return Ok(engine.clone());
    }
    let engine = Arc::new(Engine { name: name.to_owned(), session: Session::with_devices(devices)? });
    Ok(known().entry(name.to_owned()).or_insert(engine).clone())
}

/// Warns of the GPUs that could not do their part of the work on [`whole`].
pub(crate) fn tell_left_out(py: Python<'_>, name: &str) -> Result<()> {
    for it in whole(name)?.session.left_out() {
        warn(py, &it.to_string())?;
    }
    Ok(())
}

/// Warns in the way of Python.
///
/// # Errors
/// The exception that Python makes of the warning, if it is told to.
pub(crate) fn warn(py: Python<'_>, text: &str) -> Result<()> {
    let text = CString::new(text).unwrap_or_default();
    Ok(PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?)
}

/// The engines for elliptic curves, by the names of devices. They keep their kernels.
static FACTORING: LazyLock<Mutex<HashMap<String, factor::Engine>>> = LazyLock::new(Mutex::default);

/// The engine for elliptic curves on the devices of this name.
///
/// # Errors
/// As [`open`].
pub(crate) fn factoring(name: &str) -> Result<factor::Engine> {
    let known = || FACTORING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = known().get(name) {
        return Ok(engine.clone());
    }
    let engine = factor::Engine::on_all(team(name)?);
    Ok(known().entry(name.to_owned()).or_insert(engine).clone())
}

/// The names of the devices that compute: the CPU, and the GPUs that can be used.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Vec<String> {
    ["cpu".to_owned()].into_iter().chain(py.detach(gpus)).collect()
}

/// The device's full name and its name here. Opens the device.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, device: &str) -> Result<(String, String)> {
    let engine = py.detach(|| open(device))?;
    Ok((engine.name.clone(), engine.session.engine().name.clone()))
}
