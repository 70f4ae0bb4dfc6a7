//! The register of parts of products; and what no kernel does at once: the whole product into scratch memory by a
//! multiplication, then a stage in linear time.
//!
//! cost       of two stages: that of the whole product, and its limbs written and read once more
//!
//! That is: products with signs, an addend longer than both factors, two common factors, lengths
//! for which the fastest multiplication takes several kernels.

use warpmp_launch::{Binding, Part, Sequence};

use crate::kernels::candidates::{self, WARPS};
use crate::kernels::karatsuba_group::part::KaratsubaPart;
use crate::kernels::karatsuba_group::{self, KaratsubaGroup};
use crate::kernels::modular::Copy;
use crate::kernels::mul_group::MulGroup;
use crate::kernels::mul_group::low::LowGroup;
use crate::kernels::mul_group::part::{GroupPart, factors, product_shape};
use crate::kernels::mul_thread::{self, MulThread};
use crate::kernels::toom::{self, Toom};
use crate::kernels::{
    Abilities, Algorithm, ChainSettings, GroupSettings, KaratsubaSettings, OperandShape, OperationShape, Order, Spec,
    ThreadSettings, With,
};
use crate::operation::product_bits;

use super::{Linear, PartThread, part, thread};

/// Warps a block of the linear stage: with more, blocks have enough to do.
const LAST_WARPS: u32 = 8;

/// `thread`.
pub(super) const THREAD: Algorithm = Algorithm {
    name: "thread",
    summary: "a row a thread, all its limbs in registers, tiles of rows through shared memory",
    accepts: "factors to 1536 bits",
    order: Order::Given,
    fits: |shape| part::fits(shape) || thread::fits(shape) || fits(shape, &mul_thread::ALGORITHM),
    recipe: &With::<ThreadSettings> {
        spec: |shape, settings, Abilities { async_copies: asynchronous }| {
            if part::fits(shape) {
                return Box::new(PartThread::new(shape, settings, asynchronous));
            }
            if thread::fits(shape) {
                return Box::new(thread::spec(shape, settings.warps.unwrap_or(2), asynchronous));
            }
            after(shape, asynchronous, |product| Box::new(MulThread::with(product, settings, asynchronous)))
        },
        candidates: |_| WARPS.map(|warps| ThreadSettings { warps, ..ThreadSettings::default() }).to_vec(),
    },
};

/// `group`: in one kernel where there is one.
pub(super) const GROUP: Algorithm = Algorithm {
    name: "group",
    summary: "a group of lanes a row; low halves by columns, others as the product with what is not asked for left out",
    accepts: "operands to 65536 bits",
    order: Order::LongerFirst,
    fits: |shape| shape.is_within_group(),
    recipe: &With::<GroupSettings> {
        spec: |shape, settings, Abilities { async_copies: asynchronous }| {
            if let Some(spec) = LowGroup::new(shape, settings) {
                return Box::new(spec);
            }
            if let Some(spec) = GroupPart::new(shape, settings) {
                return Box::new(spec);
            }
            after(shape, asynchronous, |product| Box::new(MulGroup::with(product, settings)))
        },
        candidates: |shape| candidates::part_group(shape.max_limbs()),
    },
};

/// `karatsuba/group`.
pub(super) const KARATSUBA: Algorithm = Algorithm {
    name: "karatsuba/group",
    summary: "the product by Karatsuba's method in shared memory, then what is asked for",
    accepts: "factors whose longer one has 2049 to 65536 bits",
    order: Order::LongerFirst,
    fits: |shape| fits(shape, &karatsuba_group::ALGORITHM),
    recipe: &With::<KaratsubaSettings> {
        spec: |shape, settings, Abilities { async_copies: asynchronous }| match KaratsubaPart::new(shape, settings) {
            Some(spec) => Box::new(spec),
            None => after(shape, asynchronous, |product| Box::new(KaratsubaGroup::with(product, settings))),
        },
        candidates: candidates::part_karatsuba,
    },
};

/// `toom-8`.
pub(super) const TOOM: Algorithm = Algorithm {
    name: "toom-8",
    summary: "the product by Toom and Cook's method in 8 parts, then what is asked for",
    accepts: "factors to 65536 bits, the longer one from 1025",
    order: Order::LongerFirst,
    fits: |shape| fits(shape, &TOOM_8),
    recipe: &With::<ChainSettings> {
        spec: |shape, settings, Abilities { async_copies: asynchronous }| {
            after(shape, asynchronous, |product| Box::new(Toom::new(8, product, settings)))
        },
        candidates: candidates::default_alone,
    },
};

const TOOM_8: Algorithm = toom::algorithm::<8>("toom-8");

/// Does the multiplication take the factors?
fn fits(shape: OperationShape, multiplication: &Algorithm) -> bool {
    shape.is_within_group() && (multiplication.fits)(product_shape(shape, factors(shape).unwrap_or([0, 1])))
}

/// All stages: the multiplication that `multiply` makes for a product's shape, and the last one, whose parameters are
/// the parameters of the whole.
fn after(
    shape: OperationShape,
    asynchronous: bool,
    multiply: impl FnOnce(OperationShape) -> Box<dyn Spec>,
) -> Box<dyn Spec> {
    let mut last = Linear::new(shape, None, asynchronous);
    let (a, b) = (shape.operands()[0], shape.operands()[1]);
    let bits = product_bits(a.bits as usize, b.bits as usize) as u32;
    let limbs = bits.div_ceil(32);
    last.product_bits = Some(bits);
    last.warps = LAST_WARPS;
    last.split = Some(last.usual_split());
    let addresses = shape.operands().len() + shape.results().len();
    let last_bindings = |whole: Binding| (0..addresses).map(Binding::Parameter).chain([whole]).collect();
    let mut parts = Vec::new();
    let (product, bindings, whole) = if let Some(factors) = factors(shape) {
        (product_shape(shape, factors), factors.map(Binding::Parameter), Binding::Scratch(0))
    } else {
        // Multiplications take one common factor, so the other one is copied to each lane.
        let copied = Binding::Scratch(0);
        let copy = Copy(OperandShape::common(a.bits));
        parts.push(Part { spec: Box::new(copy), bindings: vec![Binding::Parameter(0), copied] });
        (
            OperationShape::product(OperandShape::each(a.bits), b),
            [copied, Binding::Parameter(1)],
            Binding::Scratch(a.limbs()),
        )
    };
    let before = if factors(shape).is_some() { 0 } else { a.limbs() };
    let product = multiply(product);
    let name = format!("{}_after_{}", last.name(), product.name());
    let own = product.scratch_limbs();
    let own_place = (own > 0).then_some(Binding::Scratch(before + limbs));
    let bindings = bindings.into_iter().chain([whole]).chain(own_place).collect();
    parts.push(Part { spec: product, bindings });
    parts.push(Part { spec: Box::new(last), bindings: last_bindings(whole) });
    Box::new(Sequence { name, rows: addresses, parts, scratch: before + limbs + own, whole_tiles: true })
}
