//! Operations in linear time: sums, differences, comparisons, shifts, logic, modular sums.
//!
//! ```text
//! operations.rs  what each operation does with numbers, once for all frames
//! frame.rs       numbers in registers: what the operations are written with
//! thread.rs      a row a thread
//! group.rs       a row a group of lanes
//! part.rs        parts of products, a row a thread
//! product.rs     the register of parts of products; a product, and after it a stage of this family
//! ```

mod frame;
mod group;
mod operations;
mod part;
mod product;
mod thread;

use warpmp_kernel::build::{Builder, Glue, R32, R64};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

pub use group::Split;
pub use part::PartThread;

use super::{
    Abilities, Algorithm, OperandShape, OperationShape, Order, Spec, WarpSettings, With, candidates, common, long,
    tensor, warpgroup,
};
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
            spec: |shape, settings, Abilities { async_copies: asynchronous }| {
                Box::new(thread::spec(shape, settings.warps.unwrap_or(4), asynchronous))
            },
            candidates: candidates::warps,
        },
    },
    Algorithm {
        name: "group",
        summary: "a row a group of lanes, carries between lanes by ballots",
        accepts: "operands to 65536 bits",
        order: Order::Given,
        fits: |shape| shape.is_within_group(),
        recipe: &With::<WarpSettings> {
            spec: |shape, settings, Abilities { async_copies: asynchronous }| {
                let mut spec = Linear::new(shape, None, asynchronous);
                spec.warps = settings.warps.unwrap_or(4);
                spec.split = Some(spec.usual_split());
                Box::new(spec)
            },
            candidates: candidates::warps,
        },
    },
    long::LINEAR,
    long::RESIDUES,
];

/// The register of parts of products. Names are those of the multiplications with the same idea.
pub(super) const PARTS: &[Algorithm] = &[
    product::THREAD,
    product::GROUP,
    product::KARATSUBA,
    product::TOOM,
    tensor::PARTS,
    warpgroup::PARTS,
    common::PRODUCT,
    long::PARTS,
];

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
        // The limbs of the factors together, whatever is kept of the product.
        let is_part = self.shape.operation.group() == Group::ProductPart;
        let product = if is_part { self.shape.limbs::<2>().iter().sum() } else { 1 };
        let operands = self.shape.operands().iter().zip(self.shape.operation.operands());
        let operands = operands.filter(|(_, role)| role.role != Role::Bit).map(|(operand, _)| operand.limbs());
        operands.chain(self.result_limbs()).fold(product, u32::max)
    }

    /// Does it read rows from limbs on that are no multiples of a block?
    fn shifts(&self) -> bool {
        use Operation as O;
        matches!(self.shape.operation, O::Shl(_) | O::WrappingShl(_) | O::Shr(_) | O::MulHi | O::SignedMul)
    }

    /// Begins the kernel: the addresses of the operands, those of the results, and the number of lanes.
    fn open(&self, entry: &Entry) -> (Builder, [Vec<R64>; 2], R32) {
        let (operands, results) = (self.shape.operands().len(), self.shape.results().len());
        let result_names = ["result0", "result1", "result2", "result3"];
        let names = [&["a", "b", "c"][..operands], &result_names[..results]].concat();
        let (b, Ports { mut addresses, lanes }) =
            entry.open(&self.name(), Glue::Every(1), &names, self.product_bits.is_some());
        let results = addresses.splice(operands..operands + results, []).collect();
        (b, [addresses, results], lanes)
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

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![match self.split {
            None => {
                let geometry = Geometry { lanes: 32 * self.warps * self.tiles(), ..Geometry::of_threads(self.warps) };
                Stage::new(geometry.with_shared(self.warps * self.warp_bytes()), |entry| self.by_threads(entry))
            }
            Some(split) => {
                let geometry = Geometry::of_groups(self.warps, split.group);
                Stage::new(geometry, move |entry| self.by_groups(entry, split))
            }
        }]
    }

    fn wide_products(&self) -> u64 {
        let multiplies = self.shape.operation.group() == Group::ProductPart && self.product_bits.is_none();
        if multiplies { self.shape.limb_products() } else { 0 }
    }
}
