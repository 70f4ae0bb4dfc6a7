//! Modules by text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpmp_kernel::ir::Kernel;

use crate::device::LoadOptions;
use crate::error::Result;
use crate::objects::Module;

/// The lock, even if a thread panicked with it: what these locks guard is whole between any two steps.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Slot = Arc<Mutex<Option<Arc<Module>>>>;

/// The modules of a device, by text and options. They live as long as the device.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    slots: Mutex<HashMap<(String, LoadOptions), Slot>>,
}

impl Cache {
    /// The module, loaded by `load` from the kernel's text if it is not there. Only threads that want
    /// the same module wait for each other. A failure is not kept.
    pub(crate) fn get(
        &self,
        kernel: &Kernel,
        options: LoadOptions,
        load: impl FnOnce(&str) -> Result<Module>,
    ) -> Result<Arc<Module>> {
        let text = kernel.to_string();
        let slot = lock(&self.slots).entry((text.clone(), options)).or_default().clone();
        let mut slot = lock(&slot);
        if let Some(module) = &*slot {
            return Ok(module.clone());
        }
        let module = Arc::new(load(&text)?);
        *slot = Some(module.clone());
        Ok(module)
    }
}
