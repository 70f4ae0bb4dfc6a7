//! Where attempts are computed.

use std::sync::Arc;

use warpmp_device::Device;
use warpmp_kernel::ir::Kernel;

use super::explain::exponent_bits;
use super::gpu::{self, Cards, Class, LostDevice};
use super::lane::Line;
use super::pairing::Pairing;
use super::{Attempts, Bounds, Plan};

/// Jobs of each thread that run together.
const JOBS_OF_A_THREAD: usize = 16;

/// Where attempts are computed: on the processor's cores, or on devices.
///
/// Devices compute modulo integers of at most [`MOST_DEVICE_BITS`](Self::MOST_DEVICE_BITS) bits: elliptic curves, and P−1 and P+1 of
/// [`LEAST_SEQUENCES`](Self::LEAST_SEQUENCES) attempts or more together. The cores compute the rest. The verdicts do not depend on the engine.
#[derive(Clone, Debug, Default)]
pub struct Engine(Option<Arc<Cards>>);

impl Engine {
    /// The longest integers that a device computes with.
    pub const MOST_DEVICE_BITS: u64 = gpu::MOST_BITS;

    /// The fewest attempts by P−1 or P+1 that a GPU computes together: for fewer the cores take less time. The simulator computes any number.
    pub const LEAST_SEQUENCES: usize = 1000;

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
        Self::telling(devices, |_| {})
    }

    /// As [`on_all`](Self::on_all). `tell` gets each device that fails at once, from the thread that works with it. If all devices fail,
    /// the work ends with an error; the last one is not told.
    pub fn telling(devices: Vec<Arc<dyn Device>>, tell: impl Fn(&LostDevice) + Send + Sync + 'static) -> Self {
        Self((!devices.is_empty()).then(|| Arc::new(Cards::new(devices, Box::new(tell)))))
    }

    /// A device that computes all lanes in the form of this number, or in the last form.
    #[cfg(test)]
    pub(super) fn in_form(device: Arc<dyn Device>, number: usize) -> Self {
        Self(Some(Arc::new(Cards::new(vec![device], Box::new(|_| {})).with_form(number))))
    }

    /// The first device, if there is one.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.devices().next()
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.0.iter().flat_map(|cards| cards.devices())
    }

    /// Is there a GPU among the devices? Its driver compiles the kernels of a width when they are first used.
    pub fn has_gpu(&self) -> bool {
        self.0.as_ref().is_some_and(|cards| !cards.are_simulators())
    }

    /// The devices that failed and are not used any more.
    pub fn lost(&self) -> Vec<LostDevice> {
        self.0.as_ref().map(|cards| cards.lost()).unwrap_or_default()
    }

    /// Curves on integers of these bits that run together, at least 1. Integers that are too long for a device do not decide how many
    /// others run there.
    pub fn curves_together(&self, bits: impl IntoIterator<Item = u64>, bounds: Bounds) -> usize {
        self.lanes_together(Line::Curve, bits, bounds)
    }

    /// The wide products (32 × 32 → 64 bits) of a curve of family 3 on the first device, without inversions: of the first stage and of the
    /// second. `curves`: curves that run together. None for integers that a device does not compute with, and without a device.
    pub fn device_products(&self, bits: u64, bounds: Bounds, curves: usize) -> Option<[f64; 2]> {
        let class = self.class(bits, Some(curves))?;
        let costs = gpu::costs(class, Pairing::new(bounds.b1(), bounds.b2()).counts());
        Some([exponent_bits(bounds) * costs.bit, costs.second])
    }

    /// The class of curves on the first device.
    pub(super) fn class(&self, bits: u64, curves: Option<usize>) -> Option<Class> {
        self.cards(Line::Curve, bits, 1).map(|cards| cards.class(bits, curves))
    }

    /// The curves of a launch on the first device, if fewer than those that run there together.
    pub(super) fn launch(&self, class: Class, curves: usize) -> Option<usize> {
        self.0.as_ref().and_then(|cards| cards.launch(class, curves))
    }

    fn lanes_together(&self, line: Line, bits: impl IntoIterator<Item = u64>, bounds: Bounds) -> usize {
        let (mut fitting, mut longest, mut count) = (None, 1, 0);
        for bits in bits {
            longest = longest.max(bits);
            if bits <= Self::MOST_DEVICE_BITS {
                (fitting, count) = (fitting.max(Some(bits)), count + 1);
            }
        }
        let bits = fitting.unwrap_or(longest);
        self.cards(line, bits, count).map_or_else(Self::jobs_of_cores, |cards| cards.lanes(line, bits, bounds)).max(1)
    }

    /// Jobs that run together on the cores.
    fn jobs_of_cores() -> usize {
        JOBS_OF_A_THREAD * rayon::current_num_threads()
    }

    /// Attempts on integers of these bits that run together.
    pub(super) fn together(&self, plan: &Plan, bits: impl IntoIterator<Item = u64>) -> usize {
        let line = match plan.attempts {
            Attempts::CurvesFrom { .. } | Attempts::Curves { .. } => Line::Curve,
            Attempts::Pm1 { .. } => Line::Power,
            Attempts::Pp1 { .. } => Line::Lucas,
        };
        self.lanes_together(line, bits, plan.bounds)
    }

    /// The devices for so many attempts on a line that run together.
    pub(super) fn cards(&self, line: Line, bits: u64, attempts: usize) -> Option<&Cards> {
        let cards = self.0.as_deref()?;
        let are_enough = line == Line::Curve || attempts >= Self::LEAST_SEQUENCES || cards.are_simulators();
        (are_enough && bits <= Self::MOST_DEVICE_BITS).then_some(cards)
    }
}

/// The kernels of a device for integers of so many bits, at most [`Engine::MOST_DEVICE_BITS`]: for tools that look at their texts. `few`: those
/// of fewer lanes than fill a device, if they are others.
pub fn device_kernels(bits: u64, few: bool) -> Vec<Kernel> {
    gpu::kernels(bits, few)
}
