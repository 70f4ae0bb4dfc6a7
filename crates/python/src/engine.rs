//! Sessions by the names of devices: `cpu`, `cuda`, `cuda:1`, `sim`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use warpmp::{Selector, Session};
use warpmp_numtheory::factor;

use crate::error::{Failure, Result};

/// A session and the name of its device.
pub(crate) struct Engine {
    pub(crate) name: String,
    pub(crate) session: Session,
    factoring: OnceLock<factor::Engine>,
}

impl Engine {
    fn new(name: String, session: Session) -> Self {
        Self { name, session, factoring: OnceLock::new() }
    }

    /// The same device for elliptic curves. It keeps its kernels.
    pub(crate) fn factoring(&self) -> &factor::Engine {
        self.factoring
            .get_or_init(|| self.session.device().cloned().map_or_else(factor::Engine::cpu, factor::Engine::on))
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

static CPU: LazyLock<Arc<Engine>> = LazyLock::new(|| Arc::new(Engine::new("cpu".into(), Session::cpu())));

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
    let engine = Arc::new(Engine::new(name.clone(), Session::on(selector)?));
    open.insert(name, engine.clone());
    Ok(engine)
}

/// The names of the devices that compute: the CPU, and the GPUs that can be used.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Vec<String> {
    let found = py.detach(|| warpmp::device::devices().cuda.unwrap_or_default());
    let gpus = found.iter().filter(|gpu| gpu.supported()).map(|gpu| format!("cuda:{}", gpu.ordinal));
    ["cpu".to_owned()].into_iter().chain(gpus).collect()
}

/// The device's full name and its name here. Opens the device.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, device: &str) -> Result<(String, String)> {
    let engine = py.detach(|| open(device))?;
    Ok((engine.name.clone(), engine.session.engine().name.clone()))
}
