//! `group` for parts of products: `mul_hi`, `mul_add`, and `mul_lo` of unlike lengths, a group of lanes a row.
//!
//! computes   of a·b the high limbs, the low ones, or all of them plus c
//! requires   what `group` requires, in one pass: the first factor has at most `32·block` limbs; an addend no longer than it
//! cost       that of the product, less what is not stored; every sector of an addend once
//!
//! The high part's limbs leave the product's place in shared memory, joined by a funnel shift where they begin within a
//! limb; or, read and written directly, where they begin with one. Windows begin with the addend's blocks instead of zeros.
//!
//! bound: lane `l` meets block 0 of `b` with block `l` of the addend in its window: what stands at block `l` of the result.
//! Then as in `group`: a product, a window and an incoming block just fit.

use warpmp_kernel::build::{Builder, Glue, R32, R64};
use warpmp_kernel::ir::Kernel;
use warpmp_launch::{Entry, Ports, Stage};

use super::super::mul_thread::Input;
use super::super::{GroupSettings, OperationShape, Spec, piece};
use super::MulGroup;
use crate::operation::{Operation, division, linear, linear_modular, modular, montgomery, product};

/// A number that the product is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Addend {
    pub(super) address: R64,
    pub(super) limbs: u32,
    /// Does it serve every lane?
    pub(super) common: bool,
}

/// What is kept of a product, and what it is added to. The default: all, nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// Bits of the product below the result.
    pub(super) skip: u32,
    /// Bits of the result; 0: the result is all of it.
    pub(super) bits: u32,
    pub(super) addend: Option<Addend>,
}

impl Part {
    /// Bits of the first limb that are below the result.
    pub(super) const fn shift(&self) -> u32 {
        self.skip % 32
    }
}

/// The kernel of a part of a product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupPart {
    shape: OperationShape,
    product: MulGroup,
    /// The operands that are the first and the second factor.
    factors: [usize; 2],
    /// What is kept of the product, without the addend: only the kernel knows where that is.
    part: Part,
}

/// Which operands are the factors of a multiplication that wants the longer one first and takes a common one second;
/// none if both are common.
pub(in super::super) fn factors(shape: OperationShape) -> Option<[usize; 2]> {
    let (a, b) = (shape.operands()[0], shape.operands()[1]);
    let swapped = a.common || (!b.common && a.bits < b.bits);
    (!(a.common && b.common)).then_some(if swapped { [1, 0] } else { [0, 1] })
}

/// What a multiplication is made for whose factors these are.
pub(in super::super) fn product_shape(shape: OperationShape, factors: [usize; 2]) -> OperationShape {
    let [first, second] = factors.map(|i| shape.operands()[i]);
    OperationShape::product(first, second)
}

/// A kernel of a part of a product that has its parameters.
pub(in super::super) struct Opened {
    pub(in super::super) b: Builder,
    /// Of the first and the second factor, and of the result.
    pub(in super::super) addresses: [R64; 3],
    pub(in super::super) addend: Option<R64>,
    pub(in super::super) lanes: R32,
}

/// Begins a kernel of a part of a product.
pub(in super::super) fn open(
    entry: &Entry,
    name: &str,
    glue: Glue,
    shape: OperationShape,
    factors: [usize; 2],
) -> Opened {
    let operands = shape.operands().len();
    let names = [&["a", "b", "c"][..operands], &["result0"]].concat();
    let (b, Ports { addresses, lanes }) = entry.open(name, glue, &names, false);
    let [first, second] = factors.map(|i| addresses[i]);
    let addend = addresses[..operands].get(2).copied();
    Opened { b, addresses: [first, second, addresses[operands]], addend, lanes }
}

impl GroupPart {
    /// The kernel; none if it does not take these operands.
    pub(in super::super) fn new(shape: OperationShape, settings: &GroupSettings) -> Option<Self> {
        let factors = factors(shape)?;
        let mut product = product_shape(shape, factors);
        let bits = shape.results()[0];
        let part = match shape.operation {
            Operation::MulHi => Part { skip: shape.max_bits(), bits, addend: None },
            Operation::MulLo => Part { skip: 0, bits, addend: None },
            Operation::MulAdd => Part::default(),
            Operation::SignedMul
            | product!()
            | linear!()
            | linear_modular!()
            | division!()
            | modular!()
            | montgomery!() => return None,
        };
        if shape.operation != Operation::MulHi {
            product = product.truncated(bits.div_ceil(32));
        }
        let aligned = piece(part.skip / 32) == 4;
        let usual = if aligned { settings.input } else { Some(settings.input.unwrap_or(Input::Staged)) };
        let settings = GroupSettings { input: usual, ..*settings };
        let mut spec = MulGroup::with(product, &settings);
        // Bits are cut where limbs lie side by side: in shared memory.
        let cut = shape.operation != Operation::MulAdd && !shape.max_bits().is_multiple_of(32);
        if cut {
            spec.input = Input::Staged;
        }
        let addend = shape.operands().get(2).map_or(0, |c| c.limbs());
        let [la, lb, lc] = product.limbs();
        let possible = spec.passes() == 1 && (spec.input == Input::Direct || spec.can_stage());
        let fits = addend <= la && lc <= la + lb;
        (possible && fits).then_some(Self { shape, product: spec, factors, part })
    }

    fn part(&self, addend: Option<R64>) -> Part {
        let addend = self.shape.operands().get(2).zip(addend).map(|(c, address)| Addend {
            address,
            limbs: c.limbs(),
            common: c.common,
        });
        Part { addend, ..self.part }
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let Opened { mut b, addresses, addend, lanes } =
            open(entry, &self.name(), self.product.glue, self.shape, self.factors);
        self.product.write(&mut b, addresses, lanes, &self.part(addend));
        b.finish()
    }
}

impl Spec for GroupPart {
    fn name(&self) -> String {
        format!("{}_by_{}", self.shape.name(), self.product.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.product.geometry(), |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        self.product.wide_products()
    }
}
