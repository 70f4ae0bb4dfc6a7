//! The beginning and the end of a power whose products are matrix products: what a group of lanes does for each number before and after them.
//!
//! computes   the beginning: `1/m mod R`, `R mod m`, `a·R mod m`; the end: `x/R mod m` with the status of the modulus
//! launch     a warp a number
//! cost       of the beginning `N` doublings, 5 squares, a product or two more for each `N` limbs of a longer base, and `N²` wide products
//!
//! An even modulus is made odd here. Its status, and what its lane gets, is that of `PowMod`.

use warpmp_kernel::build::Builder;
use warpmp_kernel::fragment::Montgomery;
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::checks::Checks as _;
use crate::kernels::{OperandShape, Spec};

/// The beginning. Parameters of its launch: the base, the modulus, its inverse, `R mod m`, the base as a residue, lanes.
#[derive(Clone, Debug)]
pub(in crate::kernels) struct Begin {
    pub(in crate::kernels) base: OperandShape,
    pub(in crate::kernels) modulus: OperandShape,
    /// Limbs of residues, `N`: no fewer than those of the modulus.
    pub(in crate::kernels) limbs: u32,
}

/// The end. Parameters of its launch: the residue, the modulus, the result, statuses, lanes.
#[derive(Clone, Debug)]
pub(in crate::kernels) struct End {
    pub(in crate::kernels) modulus: OperandShape,
    /// Limbs of residues, `N`: no fewer than those of the modulus.
    pub(in crate::kernels) limbs: u32,
}

/// A warp a number of so many limbs.
fn lanes(limbs: u32) -> Layout {
    Layout { length: limbs.div_ceil(32), ..Layout::of_group(32) }
}

impl Begin {
    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let limbs = self.limbs;
        let modulus = frame.load(b, 1);
        let (modulus, _) = frame.odd_modulus(b, &modulus);
        b.section("arithmetic");
        let ring = Montgomery::new(b, frame.spread, &modulus, limbs as usize);
        // That of all limbs in the lanes is right in the low ones.
        let all = frame.spread.group as usize * frame.spread.length;
        let inverse = if all == limbs as usize {
            ring.inverse_modulo_r(b)
        } else {
            Montgomery::new(b, frame.spread, &modulus, all).inverse_modulo_r(b)
        };
        frame.store(b, 0, &inverse);
        let one = ring.one(b);
        frame.store(b, 1, &one);
        let square = ring.square_of_r(b, &one);
        let base = frame.residue(b, &ring, (0, limbs), &square);
        frame.store(b, 2, &base);
    }
}

impl End {
    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let residue = frame.load(b, 0);
        let modulus = frame.load(b, 1);
        let (modulus, status) = frame.odd_modulus(b, &modulus);
        b.section("arithmetic");
        let ring = Montgomery::new(b, frame.spread, &modulus, self.limbs as usize);
        let result = ring.redc(b, &residue, None);
        frame.finish(b, status, &[&result]);
    }
}

impl Spec for Begin {
    fn name(&self) -> String {
        format!("power_begin{}{}_{}", self.base.name(), self.modulus.name(), self.limbs)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([self.base, self.modulus], [self.limbs; 3]);
        vec![lanes(self.limbs).stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }
}

impl Spec for End {
    fn name(&self) -> String {
        format!("power_end{}_{}", self.modulus.name(), self.limbs)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let residue = OperandShape::each(32 * self.limbs);
        let signature = Signature::new([residue, self.modulus], [self.modulus.limbs()]).with_status();
        vec![lanes(self.limbs).stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }
}
