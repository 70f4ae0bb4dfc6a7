//! The inverse of a short odd number modulo `B^n`, `B = 2³²`: the first step of Newton's iteration for inverses of long ones.
//!
//! computes   `1/m mod B^n` for odd `m` of `n` limbs; for even `m` some number
//! launch     a number a group of lanes
//! cost       `n²` wide products: the quotients of Montgomery's reduction of −1 by rows are the limbs of the inverse
//!
//! source: P. Montgomery, 1985; the quotients as the result, as in the powers for even moduli.

use warpmp_kernel::build::Builder;
use warpmp_kernel::fragment::Montgomery;
use warpmp_launch::{Frame, Layout, Signature, Spec, Stage};

use crate::kernels::OperandShape;

/// Parameters of the kernel. Parameters of its launch: `m`, the inverse, lanes.
#[derive(Clone, Debug)]
pub(in crate::kernels) struct LowInverse {
    /// Limbs of the number.
    pub(in crate::kernels) limbs: u32,
    pub(in crate::kernels) layout: Layout,
}

impl LowInverse {
    fn body(b: &mut Builder, frame: &Frame) {
        b.section("load");
        let modulus = frame.load(b, 0);
        b.section("rows");
        let rows = frame.spread.group as usize * frame.spread.length;
        let ring = Montgomery::new(b, frame.spread, &modulus, rows);
        let inverse = ring.inverse_modulo_r(b);
        b.section("store");
        frame.store(b, 0, &inverse);
    }
}

impl Spec for LowInverse {
    fn name(&self) -> String {
        format!("low_inverse_{}{}", self.limbs, self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([OperandShape::each(32 * self.limbs)], [self.limbs]);
        vec![self.layout.stage(self.name(), signature, Self::body)]
    }

    fn wide_products(&self) -> u64 {
        u64::from(self.limbs).pow(2)
    }
}
