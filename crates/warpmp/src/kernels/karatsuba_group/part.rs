//! `karatsuba/group` for parts of products: `mul_lo`, `mul_hi` and `mul_add`.
//!
//! computes   of a·b the low limbs, the high ones, or all of them plus c
//! requires   what `karatsuba/group` requires; an addend no longer than the longer factor
//! cost       that of the product, less what is not stored; an addend is read once, and costs about two additions a limb
//!
//! A low half saves no leaf: the method needs all three products of halves (to need less it would have to be taken apart
//! into a whole product and two low ones, `group` for each). The addend joins the sums of the last level. Where the high
//! part begins within a limb, each limb of it is cut from two.
//!
//! bound: that of `interpolate`, where the addend has its place.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::ir::{Cmp, Kernel, Space};
use warpmp_launch::{Entry, Stage};

use super::super::mul_group::part::{Opened, factors, open, product_shape};
use super::super::{KaratsubaSettings, OperationShape, Spec, piece, vector};
use super::layout::Share;
use super::roles::both;
use super::{ALGORITHM, KaratsubaGroup, Place};
use crate::operation::{Operation, division, linear, linear_modular, modular, montgomery, product};

/// What is kept of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// Bits of the product below it.
    pub(super) skip: u32,
    /// Its own bits.
    pub(super) bits: u32,
}

/// A number that each product is added to, in global memory.
pub(super) struct Addend {
    /// The row of the block's first product.
    row: R64,
    limbs: u32,
    /// Limbs from row to row: none if one serves all.
    between: u32,
    /// How many of the block's products there are; none: all.
    present: Option<R32>,
}

impl Addend {
    /// This lane's run of limbs, from limb `start` of the number on.
    pub(super) fn load(&self, b: &mut Builder, product: R32, lane: R32, share: Share, start: u32) -> Vec<R32> {
        let first = b.mad_lo(lane, share.limbs, start);
        let word = b.mad_lo(product, self.between, first);
        let address = b.mad_wide(word, 4, self.row);
        let present = self.present.map(|present| b.compare(Cmp::Lt, product, present));
        let width = piece(share.limbs).min(piece(self.limbs)).min(piece(start));
        let always = start + share.lanes * share.limbs <= self.limbs;
        let mut limbs = Vec::new();
        for i in (0..share.limbs).step_by(width as usize) {
            let inside: Option<Pred> = (!always).then(|| {
                let limb = b.add(first, i);
                b.compare(Cmp::Lt, limb, self.limbs)
            });
            let Some(p) = both(b, [inside, present]) else {
                limbs.extend(b.load_global(Space::GlobalConst, vector(width), address, 4 * i));
                continue;
            };
            let words: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
            b.guarded(p, true, |g| g.load_into(Space::GlobalConst, vector(width), &words, address, 4 * i));
            limbs.extend(words);
        }
        limbs
    }
}

/// The kernel of a part of a product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KaratsubaPart {
    shape: OperationShape,
    product: KaratsubaGroup,
    /// The operands that are the first and the second factor.
    factors: [usize; 2],
    /// None: all of the product is kept.
    part: Option<Part>,
}

impl KaratsubaPart {
    /// The kernel; none if it does not take these operands.
    pub(in super::super) fn new(shape: OperationShape, settings: &KaratsubaSettings) -> Option<Self> {
        let factors = factors(shape)?;
        let mut product = product_shape(shape, factors);
        let longest = product.max_limbs();
        let bits = shape.results()[0];
        let part = match shape.operation {
            Operation::MulLo => Some(Part { skip: 0, bits }),
            Operation::MulHi => Some(Part { skip: shape.max_bits(), bits }),
            Operation::MulAdd => {
                product = product.truncated(bits.div_ceil(32));
                None
            }
            Operation::SignedMul
            | product!()
            | linear!()
            | linear_modular!()
            | division!()
            | modular!()
            | montgomery!() => return None,
        };
        let addend = shape.operands().get(2).map_or(0, |c| c.limbs());
        let fits = (ALGORITHM.fits)(product) && addend <= longest;
        fits.then(|| Self { shape, product: KaratsubaGroup::with(product, settings), factors, part })
    }

    fn addend(&self, b: &mut Builder, place: &Place, address: Option<R64>) -> Option<Addend> {
        let (c, address) = (self.shape.operands().get(2)?, address?);
        let limbs = c.limbs();
        let (row, between) = if c.common { (address, 0) } else { (place.row(b, address, limbs), limbs) };
        Some(Addend { row, limbs, between, present: place.present.filter(|_| !c.common) })
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let Opened { mut b, addresses, addend, lanes } =
            open(entry, &self.name(), self.product.glue, self.shape, self.factors);
        self.product.write(&mut b, addresses, lanes, self.part, |b, place| self.addend(b, place, addend));
        b.finish()
    }
}

impl Spec for KaratsubaPart {
    fn name(&self) -> String {
        format!("{}_by_{}", self.shape.name(), self.product.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        vec![Stage::new(self.product.layout.geometry(), |entry| self.kernel(entry))]
    }

    fn wide_products(&self) -> u64 {
        self.product.wide_products()
    }
}
