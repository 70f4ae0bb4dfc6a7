//! Where attempts are computed.

use std::sync::Arc;

use warpmp_device::Device;
use warpmp_kernel::ir::Kernel;

use super::explain::exponent_bits;
use super::gpu::{self, Cards, LostDevice};
use super::lane::Line;
use super::pairing::Pairing;
use super::{Attempts, Bounds, Method, Plan};

/// Jobs of each thread that run together.
const JOBS_OF_A_THREAD: usize = 16;

/// Where attempts are computed: on the processor's cores, or on devices.
///
/// Devices compute elliptic curves modulo integers of at most [`MOST_DEVICE_BITS`](Self::MOST_DEVICE_BITS) bits. The cores compute the
/// rest. The verdicts do not depend on the engine.
#[derive(Clone, Debug, Default)]
pub struct Engine(Option<Arc<Cards>>);

impl Engine {
    /// The longest integers that a device computes with.
    pub const MOST_DEVICE_BITS: u64 = gpu::MOST_BITS;

    /// The processor's cores.
    pub const fn cpu() -> Self {
        Self(None)
    }

    /// A GPU or the simulator.
    pub fn on(device: Arc<dyn Device>) -> Self {
        Self::on_all(vec![device])
    }

    /// Several devices, which share the work; none: the cores. If a device fails, the others compute its part again;
    /// [`lost`](Self::lost) tells.
    pub fn on_all(devices: Vec<Arc<dyn Device>>) -> Self {
        Self((!devices.is_empty()).then(|| Arc::new(Cards::new(devices))))
    }

    /// The first device, if there is one.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.devices().next()
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.0.iter().flat_map(|cards| cards.devices())
    }

    /// The devices that failed and are not used any more.
    pub fn lost(&self) -> Vec<LostDevice> {
        self.0.as_ref().map(|cards| cards.lost()).unwrap_or_default()
    }

    /// Does a device compute an attempt by this method on an integer of so many bits?
    pub fn uses_device(&self, method: &Method, bits: u64) -> bool {
        self.cards(method.line(), bits).is_some()
    }

    /// Curves on integers of so many bits that run together.
    pub fn curves_together(&self, bits: u64, bounds: Bounds) -> usize {
        self.cards(Line::Curve, bits).map_or_else(Self::jobs_of_cores, |cards| cards.lanes(bits, bounds))
    }

    /// Jobs that run together on the cores.
    fn jobs_of_cores() -> usize {
        JOBS_OF_A_THREAD * rayon::current_num_threads()
    }

    /// Attempts on integers of so many bits that run together.
    pub(super) fn together(&self, plan: &Plan, bits: u64) -> usize {
        match plan.attempts {
            Attempts::CurvesFrom { .. } | Attempts::Curves { .. } => self.curves_together(bits, plan.bounds),
            Attempts::Pm1 { .. } | Attempts::Pp1 { .. } => Self::jobs_of_cores(),
        }
    }

    /// The devices for attempts on a line.
    pub(super) fn cards(&self, line: Line, bits: u64) -> Option<&Cards> {
        self.0.as_deref().filter(|_| line == Line::Curve && bits <= Self::MOST_DEVICE_BITS)
    }
}

/// The kernels of a device for integers of so many bits, at most [`Engine::MOST_DEVICE_BITS`]: for tools that look at their texts.
pub fn device_kernels(bits: u64) -> Vec<Kernel> {
    gpu::kernels(bits)
}

/// The wide products (32 × 32 → 64 bits) of a curve of family 3 on a device, without inversions: of the first stage and of the second.
pub fn device_products(bits: u64, bounds: Bounds) -> [f64; 2] {
    let costs = gpu::costs(bits, Pairing::new(bounds.b1(), bounds.b2()).counts());
    [exponent_bits(bounds) * costs.bit, costs.second]
}
