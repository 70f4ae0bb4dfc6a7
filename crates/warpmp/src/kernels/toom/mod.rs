//! `toom-2` … `toom-9`: Toom-k in two kernels, one warp an evaluation point, then one thread a lane.
//!
//! computes   c = a·b            a, b: to 2048 limbs, the longer one from 33; c: `la + lb` limbs or one less
//! requires   buffers padded to whole tiles of 32 lanes
//! launch     1. 32·warps threads a block, (2k−1)·⌈lanes/32⌉·32/warps blocks
//!            2. 32 threads a block, ⌈lanes/32⌉ blocks
//! cost       (2k−1)·s·32·t² wide products with parts of `m = ⌈max(la, lb)/k⌉` limbs, `t = ⌈m/32⌉` of them a
//!            thread, `s` blocks, `s·t` = `m` where 32 divides `m`: (2k−1)/k²·L² then; O(k·L + k²·m) beside
//!            them; scratch of (2k−1)·(2m+2) limbs a lane, written twice and read twice
//! registers  1. about 4·t + 30;  2. a carry for every step of the interpolation: 64 to `k = 4`, 250 at `k = 9`
//!
//! Operands are `k` parts, padded with zeros: a length that `k` does not divide, and the shorter operand.
//! The values at the points and their products are in `evaluate`, the way back in `interpolate`; what to
//! compute there, and why no carry is lost, in `points`.
//!
//! Scratch memory: a tile is 2k−1 slots of 2m+2 limbs of 32 lanes, a limb of all lanes together (128 bytes).
//! Slot `p` holds the product at point `p` first, coefficient `p` of the product then.
//!
//! source: Toom 1963; Honda, dissertation § 3.2.3 and § 3.3.2. Ours: blocks of `t` limbs, the arithmetic
//! modulo `B^N` of the interpolation.

mod evaluate;
mod interpolate;
mod points;

use warpmp_kernel::build::{Builder, Glue};
use warpmp_kernel::ir::{Bounds, Kernel};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::{Algorithm, ChainSettings, OperationShape, Order, Spec, With, candidates, piece, suffix, vector};
use points::{Interpolation, points};

/// Parameters of the kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toom {
    /// Parts of an operand, 2 to 9.
    pub k: u32,
    /// The operands.
    pub shape: OperationShape,
    /// How carry chains are joined.
    pub glue: Glue,
    /// Warps a block of the first kernel: a power of two, at most 32.
    pub warps: u32,
}

/// Lengths of the longer operand, in limbs.
const LENGTHS: std::ops::RangeInclusive<u32> = 33..=2048;

/// Shared memory a block that every GPU gives without being asked, in bytes.
const SHARED_BYTES: u32 = 48 << 10;

/// Lanes a launch, at most: block numbers are divided by 2k−1 with a rounded reciprocal, exact to 2²⁷.
const MAX_LANES: u32 = 1 << 24;

/// The row of the register for Toom-K.
pub const fn algorithm<const K: u32>(name: &'static str) -> Algorithm {
    Algorithm {
        name,
        summary: "Toom-Cook in two kernels: a warp an evaluation point, then a thread an interpolation",
        accepts: "operands to 65536 bits, the longer one from 1025",
        order: Order::LongerFirst,
        fits: |shape| LENGTHS.contains(&shape.max_limbs()),
        recipe: &With::<ChainSettings> {
            spec: |shape, settings, _| Box::new(Toom::new(K, shape, settings)),
            candidates: candidates::default_alone,
        },
    }
}

impl Toom {
    /// The kernels for `k` parts, with settings that the operands allow.
    pub fn new(k: u32, shape: OperationShape, settings: &ChainSettings) -> Self {
        let mut spec = Self { k, shape, glue: settings.glue.unwrap_or(Glue::None), warps: settings.warps.unwrap_or(8) };
        spec.warps = (1 << spec.warps.clamp(1, 32).ilog2()).min(32);
        while spec.warps > 1 && spec.shared_bytes() > SHARED_BYTES {
            spec.warps /= 2;
        }
        spec
    }

    /// Limbs of a part: `m`.
    pub fn part(&self) -> u32 {
        self.shape.max_limbs().div_ceil(self.k)
    }

    /// Limbs a lane of the warp: `t`.
    pub fn block(&self) -> u32 {
        self.part().div_ceil(32)
    }

    /// Lanes of the warp that hold a value, its top word aside: `s`.
    pub fn value_lanes(&self) -> u32 {
        if self.part().is_multiple_of(32) { 32 } else { (self.part() + 1).div_ceil(self.block()) }
    }

    /// Limbs of a value, its top word aside: `n`.
    fn value_limbs(&self) -> u32 {
        self.value_lanes() * self.block()
    }

    /// Limbs of a point's product: `N`.
    pub fn product_limbs(&self) -> u32 {
        2 * self.part() + 2
    }

    fn shared_bytes(&self) -> u32 {
        4 * self.warps * self.shared_stride()
    }

    /// Wide products of the first kernel for the products at the points alone.
    pub fn point_products(&self) -> u64 {
        u64::from(points(self.k) * 32 * self.value_lanes()) * u64::from(self.block()).pow(2)
    }

    /// Wide products that evaluate the operands, and those with the values' top words.
    pub fn evaluation_products(&self) -> u64 {
        let parts: u32 = self.shape.limbs::<2>().iter().map(|l| l.div_ceil(self.part())).sum();
        u64::from(points(self.k)) * u64::from(32 * self.block() * (parts + 2) + 32)
    }

    /// Wide products of the second kernel.
    pub fn interpolation_products(&self) -> u64 {
        let steps = Interpolation::new(self.k).steps;
        u64::from(self.product_limbs()) * steps.iter().map(|step| u64::from(step.products())).sum::<u64>()
    }

    fn kernel(&self, entry: &Entry, what: &str, threads: u32, write: impl FnOnce(&mut Builder, &Ports)) -> Kernel {
        let (mut b, ports) = entry.open(&format!("{}_{what}", self.name()), self.glue, &["a", "b", "c"], true);
        b.bounds(Bounds { max_threads: Some(threads), ..Bounds::default() });
        write(&mut b, &ports);
        b.finish()
    }
}

impl Spec for Toom {
    fn name(&self) -> String {
        let product = self.shape.product_name();
        let suffix = suffix(self.glue, self.warps);
        format!("mul_toom{}_{product}{suffix}", self.k)
    }

    fn scratch_limbs(&self) -> u32 {
        points(self.k) * self.product_limbs()
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let points = points(self.k);
        let first =
            Geometry { blocks: points * (32 / self.warps), max_lanes: MAX_LANES, ..Geometry::new(32 * self.warps, 32) };
        let last = Geometry { max_lanes: MAX_LANES, ..Geometry::new(32, 32) };
        vec![
            Stage::new(first.with_shared(self.shared_bytes()), move |entry| {
                self.kernel(entry, "evaluate", first.threads, |b, ports| self.write_evaluation(b, ports))
            }),
            Stage::new(last.with_shared(interpolate::SHARED_BYTES), move |entry| {
                self.kernel(entry, "interpolate", last.threads, |b, ports| self.write_interpolation(b, ports))
            }),
        ]
    }

    fn wide_products(&self) -> u64 {
        self.point_products() + self.evaluation_products() + self.interpolation_products()
    }
}
