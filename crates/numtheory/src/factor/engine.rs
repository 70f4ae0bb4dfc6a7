//! Where attempts are computed.

use std::sync::Arc;

use warpmp_device::Device;
use warpmp_kernel::ir::Kernel;

use super::gpu::{self, Gpu};
use super::lane::Line;
use super::{Attempts, Bounds, Method};

/// Jobs of each thread that run together.
const JOBS_OF_A_THREAD: usize = 16;

/// Where attempts are computed: on the processor's cores, or on a device.
///
/// A device computes elliptic curves modulo integers of at most [`MOST_DEVICE_BITS`](Self::MOST_DEVICE_BITS) bits. The cores compute the
/// rest. The verdicts do not depend on the engine.
#[derive(Clone, Debug, Default)]
pub struct Engine(Option<Arc<Gpu>>);

impl Engine {
    /// The longest integers that a device computes with.
    pub const MOST_DEVICE_BITS: u64 = Gpu::MOST_BITS;

    /// The processor's cores.
    pub const fn cpu() -> Self {
        Self(None)
    }

    /// A GPU or the simulator.
    pub fn on(device: Arc<dyn Device>) -> Self {
        Self(Some(Arc::new(Gpu::new(device))))
    }

    /// The device, if there is one.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.0.as_ref().map(|gpu| gpu.device())
    }

    /// Does a device compute an attempt by this method on an integer of so many bits?
    pub fn uses_device(&self, method: &Method, bits: u64) -> bool {
        self.gpu(method.line(), bits).is_some()
    }

    /// Curves on integers of so many bits that run together.
    pub fn curves_together(&self, bits: u64) -> usize {
        self.gpu(Line::Curve, bits).map_or_else(Self::jobs_of_cores, |gpu| gpu.lanes(bits))
    }

    /// Jobs that run together on the cores.
    fn jobs_of_cores() -> usize {
        JOBS_OF_A_THREAD * rayon::current_num_threads()
    }

    /// Attempts on integers of so many bits that run together.
    pub(super) fn together(&self, attempts: &Attempts, bits: u64) -> usize {
        match attempts {
            Attempts::CurvesFrom { .. } | Attempts::Curves { .. } => self.curves_together(bits),
            Attempts::Pm1 { .. } | Attempts::Pp1 { .. } => Self::jobs_of_cores(),
        }
    }

    /// The device for attempts on a line.
    pub(super) fn gpu(&self, line: Line, bits: u64) -> Option<&Gpu> {
        self.0.as_deref().filter(|_| line == Line::Curve && bits <= Self::MOST_DEVICE_BITS)
    }
}

/// The kernels of a device for integers of so many bits, at most [`Engine::MOST_DEVICE_BITS`]: for tools that look at their texts.
pub fn device_kernels(bits: u64) -> Vec<Kernel> {
    gpu::kernels(bits)
}

/// The wide products (32 × 32 → 64 bits) of a curve of family 3 on a device, without inversions: of the first stage and of the second.
pub fn device_products(bits: u64, bounds: Bounds) -> [f64; 2] {
    gpu::products(bits, bounds)
}
