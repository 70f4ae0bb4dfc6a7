//! The register of parts of products; and what no kernel does at once: the whole product into scratch memory by a
//! multiplication, then a stage in linear time.
//!
//! cost       of two stages: that of the whole product, and its limbs written and read once more
//!
//! That is: products with signs, an addend longer than both factors, two common factors, lengths
//! for which the fastest multiplication takes several kernels.

use warpmp_launch::{Binding, Part, Sequence};

use crate::kernels::karatsuba_group::part::KaratsubaPart;
use crate::kernels::modular::Copy;
use crate::kernels::mul_group::low::LowGroup;
use crate::kernels::mul_group::part::{GroupPart, factors, product_shape};
use crate::kernels::{
    Algorithm, OperandShape, OperationShape, Order, Settings, Spec, candidates, karatsuba_group, mul_group, mul_thread,
    toom,
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
    candidates: candidates::warps,
    spec: |shape, settings, asynchronous| {
        if part::fits(shape) {
            return Box::new(PartThread::new(shape, settings, asynchronous));
        }
        if thread::fits(shape) {
            return Box::new(thread::spec(shape, settings.warps.unwrap_or(2), asynchronous));
        }
        after(shape, &mul_thread::ALGORITHM, settings, asynchronous)
    },
};

/// `group`: in one kernel where there is one.
pub(super) const GROUP: Algorithm = Algorithm {
    name: "group",
    summary: "a group of lanes a row; low halves by columns, others as the product with what is not asked for left out",
    accepts: "operands of any length",
    order: Order::LongerFirst,
    fits: |_| true,
    candidates: |shape| candidates::part_group(shape.max_bits().div_ceil(32)),
    spec: |shape, settings, asynchronous| {
        if let Some(spec) = LowGroup::new(shape, settings) {
            return Box::new(spec);
        }
        if let Some(spec) = GroupPart::new(shape, settings) {
            return Box::new(spec);
        }
        after(shape, &mul_group::ALGORITHM, settings, asynchronous)
    },
};

/// `karatsuba/group`.
pub(super) const KARATSUBA: Algorithm = Algorithm {
    name: "karatsuba/group",
    summary: "the product by Karatsuba's method in shared memory, then what is asked for",
    accepts: "factors whose longer one has 2049 to 65536 bits",
    order: Order::LongerFirst,
    fits: |shape| fits(shape, &karatsuba_group::ALGORITHM),
    candidates: candidates::part_karatsuba,
    spec: |shape, settings, asynchronous| match KaratsubaPart::new(shape, settings) {
        Some(spec) => Box::new(spec),
        None => after(shape, &karatsuba_group::ALGORITHM, settings, asynchronous),
    },
};

/// `toom-8`.
pub(super) const TOOM: Algorithm = Algorithm {
    name: "toom-8",
    summary: "the product by Toom and Cook's method in 8 parts, then what is asked for",
    accepts: "factors to 65536 bits, the longer one from 1025",
    order: Order::LongerFirst,
    fits: |shape| fits(shape, &TOOM_8),
    candidates: candidates::default_alone,
    spec: |shape, settings, asynchronous| after(shape, &TOOM_8, settings, asynchronous),
};

const TOOM_8: Algorithm = toom::algorithm::<8>("toom-8");

/// Does the multiplication take the factors?
fn fits(shape: OperationShape, multiplication: &Algorithm) -> bool {
    (multiplication.fits)(product_shape(shape, factors(shape).unwrap_or([0, 1])))
}

/// All stages: the multiplication with its settings, and the last one, whose parameters are those of the whole.
fn after(shape: OperationShape, multiplication: &Algorithm, settings: &Settings, asynchronous: bool) -> Box<dyn Spec> {
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
    let product = (multiplication.spec)(product, settings, asynchronous);
    let name = format!("{}_after_{}", last.name(), product.name());
    let own = product.scratch_limbs();
    let own_place = (own > 0).then_some(Binding::Scratch(before + limbs));
    let bindings = bindings.into_iter().chain([whole]).chain(own_place).collect();
    parts.push(Part { spec: product, bindings });
    parts.push(Part { spec: Box::new(last), bindings: last_bindings(whole) });
    Box::new(Sequence { name, rows: addresses, parts, scratch: before + limbs + own })
}
