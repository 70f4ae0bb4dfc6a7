//! Parts of products: the whole product into scratch memory by `group`, then a stage in linear time.
//!
//! cost       that of the whole product, and its limbs written and read once more
//!
//! A truncated product that leaves out what is not asked for would halve the work at the most; shorter factors
//! have it (a row a thread: what nothing reads is not computed).

use warpmp_device::Grid;
use warpmp_kernel::ir::{Item, Kernel, Op, Operand as Value, Param};

use super::Linear;
use crate::kernels::modular::redirect::{Place, Stage, Stages};
use crate::kernels::modular::{Copy, Operand};
use crate::kernels::{MulShape, Settings, Spec, mul_group};
use crate::operation::product_bits;

/// The product, and the stage after it.
#[derive(Debug)]
struct OfProduct {
    product: Box<dyn Spec>,
    /// The multiplication's first factor is the second operand.
    swapped: bool,
    limbs: u32,
    last: Linear,
}

/// Both stages, for the last one's parameters.
pub(super) fn spec(mut last: Linear) -> Box<dyn Spec> {
    let (a, b) = (last.shape.operands()[0], last.shape.operands()[1]);
    if a.common && b.common {
        return of_common_factors(last);
    }
    let swapped = a.common || (!b.common && a.bits < b.bits);
    let (first, second) = if swapped { (b, a) } else { (a, b) };
    let bits = product_bits(first.bits as usize, second.bits as usize) as u32;
    let limbs = bits.div_ceil(32);
    let shape = MulShape { limbs: [first.limbs(), second.limbs(), limbs], common_b: second.common };
    let product = (mul_group::ALGORITHM.spec)(shape, &Settings::default(), last.asynchronous);
    last.product_bits = Some(bits);
    last.split = Some(last.usual_split());
    Box::new(OfProduct { product, swapped, limbs, last })
}

/// Where both factors are common and an addend is not: multiplications take one common factor, so the other one is
/// copied to each lane.
fn of_common_factors(mut last: Linear) -> Box<dyn Spec> {
    let (a, b) = (last.shape.operands()[0], last.shape.operands()[1]);
    let bits = product_bits(a.bits as usize, b.bits as usize) as u32;
    let limbs = bits.div_ceil(32);
    last.product_bits = Some(bits);
    last.split = Some(last.usual_split());
    let shape = MulShape { limbs: [a.limbs(), b.limbs(), limbs], common_b: true };
    let product = (mul_group::ALGORITHM.spec)(shape, &Settings::default(), last.asynchronous);
    let (copied, whole) = (Place::Scratch(0), Place::Scratch(a.limbs()));
    let addresses = last.shape.operands().len() + last.shape.results().len();
    let name = format!("{}_after_{}", last.name(), product.name());
    let copy = Copy(Operand::common(a.limbs()));
    let kernels = vec![
        Stage { spec: Box::new(copy), places: vec![Place::Param(0), copied] },
        Stage { spec: product, places: vec![copied, Place::Param(1), whole] },
        Stage { spec: Box::new(last), places: (0..addresses).map(Place::Param).chain([whole]).collect() },
    ];
    Box::new(Stages { name, addresses, kernels, scratch: a.limbs() + limbs })
}

impl OfProduct {
    /// The multiplication with the parameters of all stages: its result is the scratch memory.
    fn redirected(&self) -> Kernel {
        let mut kernel = self.product.build(0);
        let (operands, results) = (self.last.shape.operands().len(), self.last.shape.results().len());
        let lanes = operands + results;
        let factors = if self.swapped { [1, 0] } else { [0, 1] };
        let places = [factors[0], factors[1], lanes + 1, lanes];
        let names = ["a", "b", "c"].into_iter().take(operands).map(str::to_owned);
        let mut params: Vec<Param> = names.map(|name| Param::u64(&name)).collect();
        params.extend((0..results).map(|i| Param::u64(&format!("result{i}"))));
        params.extend([Param::u32("lanes"), Param::u64("product")]);
        kernel.params = params;
        for item in &mut kernel.body {
            if let Item::Inst(inst) = item
                && matches!(inst.op, Op::LdParam(_))
                && let Some(Value::Imm(index)) = inst.operands.last_mut()
            {
                *index = places[*index as usize] as u64;
            }
        }
        kernel.name = format!("{}_first_{}", self.last.name(), kernel.name);
        kernel
    }
}

impl Spec for OfProduct {
    fn name(&self) -> String {
        format!("{}_after_{}", self.last.name(), self.product.name())
    }

    fn stages(&self) -> usize {
        2
    }

    fn scratch_limbs(&self) -> u32 {
        self.limbs
    }

    fn build(&self, stage: usize) -> Kernel {
        if stage == 0 { self.redirected() } else { self.last.build(0) }
    }

    fn grid(&self, stage: usize, lanes: u32) -> Grid {
        if stage == 0 { self.product.grid(0, lanes) } else { self.last.grid(0, lanes) }
    }

    fn wide_products(&self) -> u64 {
        self.product.wide_products()
    }

    fn max_lanes(&self) -> u32 {
        self.product.max_lanes().min(self.last.max_lanes())
    }
}
