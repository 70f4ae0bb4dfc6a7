//! The plan of a curve: layout, products, points and memory.

use super::gpu::{self, Class, DeviceCosts};
use super::pairing::{Counts, Pairing};
use super::{Bounds, Engine, cpu};

/// The plan of the curves of family 3 modulo integers of one length, in both stages.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePlan {
    /// How the numbers of a curve lie, and what they cost.
    pub layout: CurveLayout,
    /// Curves that run together.
    pub together: usize,
    /// Curves of a launch on a device, if fewer: the launches take turns, so that all schedulers have the same number of warps.
    pub launch: Option<usize>,
    /// Bits of the exponent of the first stage, about.
    pub exponent_bits: f64,
    /// The second stage; none if there is none.
    pub second: Option<SecondStage>,
}

/// How the numbers of a curve lie.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveLayout {
    /// Curves side by side in the vectors of a core.
    Cores {
        /// The instructions.
        instructions: &'static str,
        /// Curves of a vector.
        curves: usize,
    },
    /// On a device.
    Device {
        /// Limbs of the modulus, 32 bits each.
        limbs: u32,
        /// Lanes of a warp that compute a curve together.
        lanes: u32,
        /// Limbs of each lane.
        limbs_of_lane: u32,
        /// Do the limbs have bits to spare above the modulus? Then residues are not reduced.
        is_lazy: bool,
        /// Wide products of a bit of the exponent (32 × 32 → 64 bits), and of the second stage.
        wide_products: [f64; 2],
        /// Bytes of a curve on the device.
        bytes: u64,
    },
}

/// Baby steps, giant steps and pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondStage {
    /// The distance `w` of giant steps.
    pub width: u64,
    /// The last baby step; `U` is its ratio to the distance, about.
    pub reach: u64,
    /// Baby steps.
    pub babies: u64,
    /// Giant steps.
    pub giants: u64,
    /// Pairs of both, about: a product each.
    pub pairs: f64,
}

impl SecondStage {
    /// `U = reach/w`, a multiple of ½.
    pub fn ratio(&self) -> f64 {
        (2.0 * self.reach as f64 / self.width as f64).round() / 2.0
    }
}

impl Engine {
    /// The plan of curves modulo integers of so many bits: of as many as fill the engine, or of so many.
    ///
    /// ```
    /// use warpmp_numtheory::factor::{Bounds, Engine};
    ///
    /// let plan = Engine::cpu().explain(512, Bounds::new(50_000, 5_000_000)?, None);
    /// let second = plan.second.expect("B2 is above B1");
    /// assert_eq!((second.width, second.ratio()), (2310, 4.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, bits: u64, bounds: Bounds, curves: Option<usize>) -> CurvePlan {
        let pairing = Pairing::new(bounds.b1(), bounds.b2());
        let counts = pairing.counts();
        let second = (pairing.sections() > 0).then(|| SecondStage {
            width: pairing.width,
            reach: pairing.babies.last().copied().unwrap_or(1),
            babies: pairing.babies.len() as u64,
            giants: counts.giants as u64,
            pairs: counts.pairs,
        });
        let class = self.class(bits, curves);
        let together = curves.unwrap_or_else(|| self.curves_together([bits], bounds));
        CurvePlan {
            layout: class.map_or_else(|| cores_layout(bits), |class| device_layout(class, &pairing, counts)),
            together,
            launch: class.and_then(|class| self.launch(class, together)),
            exponent_bits: exponent_bits(bounds),
            second,
        }
    }
}

/// About the bits of `lcm(1, …, B1)`.
pub(super) fn exponent_bits(bounds: Bounds) -> f64 {
    bounds.b1() as f64 * std::f64::consts::LOG2_E
}

fn cores_layout(bits: u64) -> CurveLayout {
    let (instructions, curves) = cpu::Instructions::available(bits as usize)[0].describe();
    CurveLayout::Cores { instructions, curves }
}

fn device_layout(class: Class, pairing: &Pairing, counts: Counts) -> CurveLayout {
    let DeviceCosts { limbs, lanes, limbs_of_lane, is_lazy, bit, second } = gpu::costs(class, counts);
    CurveLayout::Device {
        limbs,
        lanes,
        limbs_of_lane,
        is_lazy,
        wide_products: [bit, second],
        bytes: gpu::bytes(class, pairing),
    }
}
