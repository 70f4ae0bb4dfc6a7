//! Memory, modules, launches and events on CUDA devices and on the simulator, behind one trait.
//!
//! ```text
//!              Device (trait)          Buffer  Pinned  Stream  Event  Module  Transfer
//!              /            \
//!     cuda (NVIDIA GPU)    sim (warpmp-kernel's simulator)
//!       safe    context, memory, stream, module: ownership, order, errors
//!       result  one method a driver function, results as values
//!       raw     the driver's functions, found in libcuda at run time
//! ```
//!
//! A device runs kernels and knows nothing of what they compute. `cuda` is the only place with `unsafe`:
//! each layer turns one kind of it into something checkable. Crates above need some only for [`borrowed`] memory.
//!
//! A machine without a GPU is an ordinary machine: [`devices`] says why there is none, [`open_cuda`]
//! returns it as an [`Error`], and [`open_sim`] always works.
//!
//! ```
//! let survey = warpmp_device::devices();
//! match &survey.cuda {
//!     Ok(gpus) => gpus.iter().for_each(|gpu| println!("{}: {gpu}", gpu.ordinal)),
//!     Err(reason) => println!("no GPU: {reason}"),
//! }
//! ```

mod cache;
mod cuda;
mod device;
mod error;
mod info;
mod launch;
mod objects;
mod open;
mod pool;
mod sim;

pub use cuda::borrowed;
pub use device::{Device, LoadOptions};
pub use error::{Error, Result};
pub use info::{DeviceInfo, Kind};
pub use launch::{Arg, Grid, Rows};
pub use objects::{Buffer, Event, Module, Pinned, Resources, Stream, Transfer};
pub use open::{Survey, devices, open_cuda, open_sim, open_sim_with};
pub use pool::Pool;
pub use sim::SimConfig;
