//! Montgomery products, squares, reductions and conversions, `R = B^L` for a modulus of `L` limbs, `B = 2³²`.
//!
//! computes   `mul`: `a·b/R mod m`; `sqr`: `a²/R mod m`; `redc`: `t/R mod m`; `to`: `a·R mod m`; `from`: `a/R mod m`
//! requires   `m` odd, `a, b < m`, `t < m·R`; what is not so is the lane's status
//! launch     32·warps threads a block, 32/group numbers a warp
//! cost       see [`Montgomery`]: a product by one lane `2L²` wide and `L` low products, a square 3/4, `from` and `redc`
//!            half of that; `to` takes a product, 5 squares, `L` doublings and one for each leading zero of `m`
//! registers  about `5·length + 20`; the second factor stays in memory from 20 limbs a lane on: `4.5·length + 20`
//!
//! bound: see [`Montgomery`]. `R` has whole limbs: a shift by the bits of the modulus, such as 131, would cut off
//! bits that the reduction has not made zero.
//!
//! source: Montgomery 1985; Handbook of Applied Cryptography 14.32 and 14.36.

use warpmp_kernel::build::{Builder, R32};
use warpmp_kernel::fragment::{Factor, Montgomery, assign, repeat};
use warpmp_launch::{Frame, Layout, Signature, Stage};

use super::super::Spec;
use super::OperandShape;
use super::checks::Checks;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `a·b/R`.
    Mul,
    /// `a²/R`.
    Sqr,
    /// `t/R`.
    Redc,
    /// `a·R`.
    To,
    /// `a/R`.
    From,
}

impl Function {
    /// Every function.
    pub const ALL: [Self; 5] = [Self::Mul, Self::Sqr, Self::Redc, Self::To, Self::From];

    const fn name(self) -> &'static str {
        match self {
            Self::Mul => "mont_mul",
            Self::Sqr => "mont_sqr",
            Self::Redc => "redc",
            Self::To => "to_mont",
            Self::From => "from_mont",
        }
    }
}

/// Parameters of the kernel. Parameters of its launch: `a`, for a product `b`, the modulus, the result, statuses,
/// lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MontgomeryProduct {
    /// What is computed.
    pub function: Function,
    /// The operands, the modulus last. The result has the modulus's limbs.
    pub operands: Vec<OperandShape>,
    /// How the numbers lie in the lanes.
    pub layout: Layout,
    /// How often the function is applied, each time to the last result: for measurements.
    pub chain: u32,
}

impl MontgomeryProduct {
    fn modulus(&self) -> u32 {
        self.operands.last().map_or(1, |operand| operand.limbs())
    }

    fn body(&self, b: &mut Builder, frame: &Frame) {
        b.section("load");
        let last = self.operands.len() - 1;
        let limbs = self.modulus();
        let low = frame.load_part(b, 0, 0, limbs);
        let high = (self.function == Function::Redc).then(|| frame.load_part(b, 0, limbs, limbs));
        let factor = (self.function == Function::Mul).then(|| frame.load_part(b, 1, 0, limbs));
        let modulus = frame.load(b, last);
        let (modulus, mut status) = frame.odd_modulus(b, &modulus);
        // In the order of the operands; of a product below mR the high half is below m.
        let (start, part) = high.as_ref().map_or((0, &low), |high| (limbs, high));
        status = frame.require_below(b, status, (0, start), part, (&modulus, limbs));
        if let Some(factor) = &factor {
            status = frame.require_below(b, status, (1, 0), factor, (&modulus, limbs));
        }
        // A long factor is read again rather than kept.
        let factor = factor.as_ref().map(|factor| match frame.stream_operand(b, 1, limbs) {
            Some(streamed) => streamed,
            None => Factor::from(factor),
        });
        let ring = Montgomery::new(b, frame.spread, &modulus, limbs as usize);
        let x = low;
        if self.chain > 1 {
            repeat(b, self.chain, |b| {
                let result = self.apply(b, &ring, &x, high.as_deref(), factor);
                assign(b, &x, &result);
            });
            return frame.finish(b, status, &[&x]);
        }
        let result = self.apply(b, &ring, &x, high.as_deref(), factor);
        frame.finish(b, status, &[&result]);
    }

    fn apply(
        &self,
        b: &mut Builder,
        ring: &Montgomery,
        x: &[R32],
        high: Option<&[R32]>,
        factor: Option<Factor<'_>>,
    ) -> Vec<R32> {
        b.section("arithmetic");
        match self.function {
            Function::Mul => ring.mul(b, x, factor.unwrap_or(Factor::from(x))),
            Function::Sqr => ring.sqr(b, x),
            Function::Redc | Function::From => ring.redc(b, x, high),
            Function::To => {
                let one = ring.one(b);
                let square = ring.square_of_r(b, &one);
                ring.mul(b, x, &square)
            }
        }
    }
}

impl Spec for MontgomeryProduct {
    fn name(&self) -> String {
        let operands: String = self.operands.iter().map(|operand| operand.name()).collect();
        let chain = if self.chain > 1 { format!("_chain{}", self.chain) } else { String::new() };
        format!("{}{operands}{}{chain}", self.function.name(), self.layout.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new(self.operands.iter().copied(), [self.modulus()]).with_status();
        vec![self.layout.stage(self.name(), signature, |b, frame| self.body(b, frame))]
    }

    fn wide_products(&self) -> u64 {
        let (product, square) = (self.layout.products(self.modulus()), self.layout.square_products(self.modulus()));
        u64::from(self.chain)
            * match self.function {
                Function::Mul => product,
                Function::Sqr => square,
                Function::Redc | Function::From => product / 2,
                Function::To => product + 5 * square,
            }
    }
}
