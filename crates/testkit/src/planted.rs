//! The simulator with faults that are planted: kernels that are not what was asked for, and a GPU that is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use warpmp_device::{Device, Result, open_sim};
use warpmp_kernel::{ir::Kernel, parse::parse};

use crate::changed::{Call, Changed, Changes};

/// The faults.
#[derive(Debug)]
pub struct Planted {
    /// The beginning of the kernels' names, an instruction, what is to be replaced in the first such one that has it, and by what.
    edit: Option<[&'static str; 4]>,
    /// Launches until the device is lost; how many calls fail then.
    launches: AtomicI64,
    failures: AtomicI64,
}

impl Planted {
    /// Loads kernels that are not what was asked for: `edit` has the beginning of the kernels' names, an instruction, what is
    /// replaced in the first such instruction that has it, and by what.
    ///
    /// # Panics
    /// `load_with` panics if a kernel has no such instruction.
    pub fn changed(edit: [&'static str; 4]) -> Arc<dyn Device> {
        Self { edit: Some(edit), launches: i64::MAX.into(), failures: 0.into() }.device()
    }

    /// Is lost at the launch of this number, from 1 on, for so many calls.
    pub fn lost(launches: i64, failures: i64) -> Arc<dyn Device> {
        Self { edit: None, launches: launches.into(), failures: failures.into() }.device()
    }

    fn device(self) -> Arc<dyn Device> {
        Arc::new(Changed::new(open_sim(), self))
    }
}

impl Changes for Planted {
    fn before(&self, call: Call) -> Result<()> {
        match call {
            Call::FreeBytes | Call::Stream => return Ok(()),
            Call::Launch => _ = self.launches.fetch_sub(1, Ordering::SeqCst),
            Call::Alloc
            | Call::Load
            | Call::Upload
            | Call::Download
            | Call::UploadPinned
            | Call::DownloadPinned
            | Call::Copy
            | Call::Fill
            | Call::Synchronize => {}
        }
        let counts = self.launches.load(Ordering::SeqCst) <= 0;
        if counts && self.failures.fetch_sub(1, Ordering::SeqCst) > 0 {
            return Err(call.lost());
        }
        Ok(())
    }

    fn kernel(&self, kernel: &Kernel) -> Option<Kernel> {
        let [_, instruction, from, to] = self.edit.filter(|edit| kernel.name.starts_with(edit[0]))?;
        let text = kernel.to_string();
        let line = text.lines().find(|line| line.contains(instruction) && line.contains(from));
        let line = line.expect("a kernel of this name has the instruction");
        let text = text.replacen(line, &line.replacen(from, to, 1), 1);
        Some(parse(&text).expect("the edit leaves a kernel"))
    }
}
