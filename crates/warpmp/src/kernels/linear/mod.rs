//! Operations in linear time: sums, differences, comparisons, shifts, logic, modular sums.
//!
//! ```text
//! operations.rs  what each operation does with numbers, once for all frames
//! frame.rs       numbers in registers: what the operations are written with
//! thread.rs      a row a thread
//! group.rs       a row a group of lanes
//! tile.rs        tiles of rows between global and shared memory
//! part.rs        parts of products, a row a thread
//! product.rs     the register of parts of products; a product, and after it a stage of this family
//! ```

mod frame;
mod group;
mod operations;
mod part;
mod product;
mod thread;
mod tile;

use warpmp_device::Grid;
use warpmp_kernel::build::{Builder, Glue, R32, R64};
use warpmp_kernel::ir::Kernel;

pub use group::Split;
pub use part::PartThread;

use super::{Algorithm, OperandShape, OperationShape, Order, Spec, WarpSettings, With, candidates};
use crate::operation::{Group, Operation, Role};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Linear {
    /// The operation with its operands.
    pub shape: OperationShape,
    /// Lanes a row; none: a row a thread.
    pub split: Option<Split>,
    /// Are rows copied to shared memory asynchronously?
    pub asynchronous: bool,
    /// Bits of a product that an earlier stage left in scratch memory; none if there is no such stage.
    pub product_bits: Option<u32>,
    /// Warps a block.
    pub warps: u32,
}

/// The register of linear operations.
pub(super) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "thread",
        summary: "a row a thread, all its limbs in registers, tiles of rows through shared memory",
        accepts: "operands and results to 3104 bits, of modular sums to 1536",
        order: Order::Given,
        fits: thread::fits,
        recipe: &With::<WarpSettings> {
            spec: |shape, settings, asynchronous| {
                Box::new(thread::spec(shape, settings.warps.unwrap_or(4), asynchronous))
            },
            candidates: candidates::warps,
        },
    },
    Algorithm {
        name: "group",
        summary: "a row a group of lanes, carries between lanes by ballots",
        accepts: "operands of any length",
        order: Order::Given,
        fits: |_| true,
        recipe: &With::<WarpSettings> {
            spec: |shape, settings, asynchronous| {
                let mut spec = Linear::new(shape, None, asynchronous);
                spec.warps = settings.warps.unwrap_or(4);
                spec.split = Some(spec.usual_split());
                Box::new(spec)
            },
            candidates: candidates::warps,
        },
    },
];

/// The register of parts of products. Names are those of the multiplications with the same idea.
pub(super) const PARTS: &[Algorithm] = &[product::THREAD, product::GROUP, product::KARATSUBA, product::TOOM];

/// The kernel's parameters.
struct Addresses {
    operands: Vec<R64>,
    results: Vec<R64>,
    lanes: R32,
}

impl Linear {
    fn new(shape: OperationShape, split: Option<Split>, asynchronous: bool) -> Self {
        Self { shape, split, asynchronous, product_bits: None, warps: 4 }
    }

    /// The operands that the kernel reads; the product in scratch memory is the last one.
    fn operands(&self) -> Vec<OperandShape> {
        self.shape.operands().iter().copied().chain(self.product_bits.map(OperandShape::each)).collect()
    }

    /// Does only bit 0 of operand `i` count?
    fn is_bit(&self, i: usize) -> bool {
        self.shape.operation.operands().get(i).is_some_and(|operand| operand.role == Role::Bit)
    }

    /// Limbs of the operands that are numbers, not bits.
    fn number_limbs(&self) -> impl Iterator<Item = u32> + '_ {
        self.operands().into_iter().enumerate().filter(|(i, _)| !self.is_bit(*i)).map(|(_, operand)| operand.limbs())
    }

    fn result_limbs(&self) -> impl Iterator<Item = u32> + '_ {
        self.shape.results().iter().map(|bits| bits.div_ceil(32))
    }

    /// Limbs of the longest row.
    fn longest(&self) -> u32 {
        let product = match self.shape.operation.group() {
            // Its factors' limbs together, whatever is kept of it.
            Group::ProductPart => self.shape.limbs::<2>().iter().sum(),
            _ => 1,
        };
        let operands = self.shape.operands().iter().zip(self.shape.operation.operands());
        let operands = operands.filter(|(_, role)| role.role != Role::Bit).map(|(operand, _)| operand.limbs());
        operands.chain(self.result_limbs()).fold(product, u32::max)
    }

    /// Does it read rows from limbs on that are no multiples of a block?
    fn shifts(&self) -> bool {
        use Operation as O;
        matches!(self.shape.operation, O::Shl(_) | O::WrappingShl(_) | O::Shr(_) | O::MulHi | O::SignedMul)
    }

    /// Declares the parameters.
    fn addresses(&self, b: &mut Builder) -> Addresses {
        let names = ["a", "b", "c"];
        let mut operands: Vec<R64> =
            self.shape.operands().iter().zip(names).map(|(_, name)| b.param_u64(name)).collect();
        let results = (0..self.shape.results().len()).map(|i| b.param_u64(&format!("result{i}"))).collect();
        let lanes = b.param_u32("lanes");
        operands.extend(self.product_bits.map(|_| b.param_u64("product")));
        Addresses { operands, results, lanes }
    }
}

impl Spec for Linear {
    fn name(&self) -> String {
        let way = match (self.split, self.asynchronous) {
            (Some(Split { group, block }), _) => format!("group_k{block}_t{group}"),
            (None, true) => "thread".into(),
            (None, false) => "thread_plain".into(),
        };
        let stage = if self.product_bits.is_some() { "_of_product" } else { "" };
        format!("{}{stage}_{way}_w{}", self.shape.name(), self.warps)
    }

    fn build(&self, _stage: usize) -> Kernel {
        let b = Builder::new(&self.name(), Glue::Every(1));
        match self.split {
            None => self.by_threads(b),
            Some(split) => self.by_groups(b, split),
        }
    }

    fn grid(&self, _stage: usize, lanes: u32) -> Grid {
        let rows = self.split.map_or_else(|| 32 * self.warps * self.tiles(), |split| 32 * self.warps / split.group);
        let shared_bytes = if self.split.is_some() { 0 } else { self.warps * self.warp_bytes() };
        Grid { blocks: lanes.div_ceil(rows), threads: 32 * self.warps, shared_bytes }
    }

    fn wide_products(&self) -> u64 {
        match (self.shape.operation.group(), self.product_bits) {
            (Group::ProductPart, None) => self.shape.limb_products(),
            _ => 0,
        }
    }

    fn max_lanes(&self) -> u32 {
        (1 << 30) / self.split.map_or(1, |split| split.group)
    }
}
