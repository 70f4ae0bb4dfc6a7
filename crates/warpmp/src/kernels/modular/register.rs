//! The operations that these kernels do, and with which parameters.

use warpmp_kernel::build::Glue;
use warpmp_launch::{Binding, Layout, Part, Sequence, Signature, Stage};

use super::super::candidates::WARPS;
use super::super::mul_group::MulGroup;
use super::super::mul_thread::{self, MulThread};
use super::super::{
    Abilities, Algorithm, ChainSettings, GroupSettings, HeldSettings, OperandShape, OperationShape, Order, Spec,
    ThreadSettings, With, common, long, tensor,
};
use super::cofactors;
use super::division::{Division, Parts};
use super::even_power::AnyPowMod;
use super::gcd::{self, Gcd};
use super::inverse::{self, InvMod};
use super::jacobi::Jacobi;
use super::power::{Exponent, PowMod};
use super::product::{Function, MontgomeryProduct};
use super::sqrt::Sqrt;
use super::strong::{Base, StrongTest};
use super::{div_exact, lcm};
use crate::operation::{Operation, linear, linear_modular, montgomery, product, product_part};

/// Longest numbers of one thread, in limbs; of inverses, which hold five of them.
const THREAD: u32 = 32;
const THREAD_INVERSE: u32 = 12;

/// Longest squares of one thread whose carry chains need not be joined.
const SQUARES_APART: u32 = 8;

/// Fewer limbs a lane would be more lanes than a block has.
const MIN_LANE_LIMBS: u32 = 8;

/// Matches the operations by a divisor, a modulus or a candidate, their last operand, which has as many limbs as a group of
/// lanes holds.
macro_rules! by_last_operand {
    () => {
        Operation::DivRem
            | Operation::Rem
            | Operation::DivExact
            | Operation::MulMod
            | Operation::SqrMod
            | Operation::PowMod
            | Operation::PowModSec
            | Operation::PowModPublic(_)
            | Operation::StrongTest(_)
            | Operation::MillerRabin
            | Operation::Reduce
            | montgomery!()
    };
}

/// The registers of division, modular and Montgomery arithmetic.
pub(in super::super) const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "thread",
        summary: "numbers in the registers of a thread: Montgomery by rows, division by digits, divsteps",
        accepts: "moduli and divisors to 1024 bits, inverses to 352",
        order: Order::Given,
        fits: |shape| held_limbs(shape) <= most_in_thread(shape.operation) && shape.is_within_group(),
        recipe: &With::<ChainSettings> {
            spec: |shape, settings, Abilities { async_copies: asynchronous }| {
                let layout = in_thread(held_limbs(shape), shape.operation);
                spec(shape, chosen(layout, settings.warps, settings.glue), asynchronous)
            },
            candidates: |_| WARPS.map(|warps| ChainSettings { warps, glue: None }).to_vec(),
        },
    },
    Algorithm {
        name: "group",
        summary: "numbers spread over a group of lanes or a block of threads, carries between lanes by ballots",
        accepts: "operands to 65536 bits",
        order: Order::Given,
        fits: |shape| shape.is_within_group(),
        recipe: &With::<HeldSettings> {
            spec: |shape, settings, Abilities { async_copies: asynchronous }| {
                let layout = match shape.operation {
                    Operation::Gcd if settings.block.is_none() => gcd::layout(held_limbs(shape).max(2)),
                    Operation::Gcd | Operation::Jacobi => {
                        let [most, beyond] = match settings.block {
                            None => [gcd::BLOCK, gcd::LANE_LIMBS],
                            Some(block) => [block, block.clamp(MIN_LANE_LIMBS, gcd::LANE_LIMBS)],
                        };
                        Layout::narrow(held_limbs(shape).max(2), most, beyond)
                    }
                    Operation::InvMod => {
                        in_group(held_limbs(shape), settings.block).of_lanes(held_limbs(shape), inverse::LANE_LIMBS)
                    }
                    Operation::Lcm
                    | Operation::GcdExt
                    | Operation::Sqrt
                    | by_last_operand!()
                    | product!()
                    | product_part!()
                    | linear!()
                    | linear_modular!() => in_group(held_limbs(shape), settings.block),
                };
                spec(shape, chosen(layout, settings.warps, settings.glue), asynchronous)
            },
            candidates: |shape| {
                let of_block = |block| WARPS.map(|warps| HeldSettings { warps, glue: None, block });
                if inverts(shape.operation) {
                    // More limbs a lane would not fit in its registers.
                    return of_block(None).to_vec();
                }
                let limbs = held_limbs(shape);
                let blocks = [8, 16, 32].into_iter().filter(|block| limbs > block / 2 && limbs.div_ceil(32) <= *block);
                [None].into_iter().chain(blocks.map(Some)).flat_map(of_block).collect()
            },
        },
    },
    tensor::MONTGOMERY,
    common::MONTGOMERY,
    long::DIVISION,
    long::ROOTS,
    long::MONTGOMERY,
];

/// The layout with the warps and the carry chains that settings say. A number over several warps has a block of its own.
fn chosen(layout: Layout, warps: Option<u32>, glue: Option<Glue>) -> Layout {
    let warps = warps.filter(|_| layout.group <= 32).unwrap_or(layout.warps);
    Layout { warps, glue: glue.unwrap_or(layout.glue), ..layout }
}

/// The layout of a thread. Of long numbers several chains at a time would be in flight, and their carries spilled, if
/// they were not joined. Squares have shorter ones, and more of them.
const fn in_thread(limbs: u32, operation: Operation) -> Layout {
    let glue = if matches!(operation, Operation::MontSqr) && limbs > SQUARES_APART {
        Glue::Every(4)
    } else if limbs > Layout::THREAD_LIMBS {
        Glue::Every(3)
    } else {
        Glue::None
    };
    Layout { length: limbs, glue, ..Layout::of_group(1) }
}

/// The layout of a group for numbers of `limbs` limbs, with at most `block` limbs a lane.
const fn in_group(limbs: u32, block: Option<u32>) -> Layout {
    let (most, mut group) = match block {
        // More limbs than this would not fit in the registers of a lane.
        Some(block) if block > Layout::LANE_LIMBS => (Layout::LANE_LIMBS, 2),
        Some(block) => (block, 2),
        None => (Layout::BLOCK_LIMBS, 4),
    };
    while group < 32 && limbs.div_ceil(group) > most {
        group *= 2;
    }
    let most = match block {
        Some(block) if block < MIN_LANE_LIMBS => MIN_LANE_LIMBS,
        Some(block) if block < Layout::LANE_LIMBS => block,
        _ => Layout::LANE_LIMBS,
    };
    let layout = Layout::of_group(group).of_lanes(limbs, most);
    // Division reads three limbs of its top lane.
    if layout.length < 3 { Layout { length: 3, ..layout } } else { layout }
}

/// The longest numbers of one thread, in limbs.
const fn most_in_thread(operation: Operation) -> u32 {
    match operation {
        Operation::InvMod => THREAD_INVERSE,
        Operation::Gcd | Operation::Jacobi | Operation::Sqrt | by_last_operand!() => THREAD,
        Operation::Lcm | Operation::GcdExt | product!() | product_part!() | linear!() | linear_modular!() => 0,
    }
}

/// Are cofactors held beside the numbers?
const fn inverts(operation: Operation) -> bool {
    matches!(operation, Operation::InvMod | Operation::GcdExt)
}

/// Limbs of the numbers that a group of lanes holds.
fn held_limbs(shape: OperationShape) -> u32 {
    let limbs = |i: usize| shape.operands().get(i).map_or(1, |operand| operand.limbs());
    let last = limbs(shape.operands().len() - 1);
    match shape.operation {
        Operation::Gcd | Operation::Lcm | Operation::GcdExt | Operation::Jacobi | Operation::InvMod => {
            limbs(0).max(limbs(1)) + 1
        }
        Operation::Sqrt => Sqrt::limbs(shape.operands()[0].bits),
        by_last_operand!() | product!() | product_part!() | linear!() | linear_modular!() => last,
    }
}

/// The kernels of an operation with its numbers in this layout.
fn spec(shape: OperationShape, layout: Layout, asynchronous: bool) -> Box<dyn Spec> {
    let operand = |i: usize| shape.operands()[i];
    let montgomery = |function: Function| -> Box<dyn Spec> {
        let operands = shape.operands().to_vec();
        Box::new(MontgomeryProduct { function, operands, layout, chain: 1 })
    };
    let divide = |parts: Parts| Division { layout, ..Division::new(operand(0), operand(1), parts) };
    let power = |exponent: Exponent, modulus: usize| -> Box<dyn Spec> {
        Box::new(PowMod { layout, ..PowMod::new(operand(0), exponent, operand(modulus)) })
    };
    let strong = |base: Base, number: usize| -> Box<dyn Spec> {
        Box::new(StrongTest { layout, ..StrongTest::new(base, operand(number)) })
    };
    match shape.operation {
        Operation::StrongTest(base) => strong(Base::Number(base), 0),
        Operation::MillerRabin => strong(Base::Operand(operand(0)), 1),
        Operation::MontMul => montgomery(Function::Mul),
        Operation::MontSqr => montgomery(Function::Sqr),
        Operation::Redc => montgomery(Function::Redc),
        Operation::ToMont => montgomery(Function::To),
        Operation::FromMont => montgomery(Function::From),
        Operation::PowMod => {
            let odd = PowMod::new(operand(0), Exponent::Operand(operand(1)), operand(2));
            Box::new(AnyPowMod::new(PowMod { layout, ..odd }))
        }
        Operation::PowModSec => power(Exponent::Secret(operand(1)), 2),
        Operation::PowModPublic(exponent) => power(Exponent::Public(exponent), 1),
        Operation::InvMod => Box::new(InvMod { layout, ..InvMod::new(operand(0), operand(1)) }),
        Operation::MulMod => reduced_product(operand(0), (operand(1), 1), (operand(2), 2), layout, asynchronous),
        Operation::SqrMod => reduced_product(operand(0), (operand(0), 0), (operand(1), 1), layout, asynchronous),
        Operation::DivExact => Box::new(div_exact::stages(operand(0), operand(1), layout)),
        Operation::Lcm => Box::new(lcm::stages(operand(0), operand(1), asynchronous)),
        Operation::Jacobi => Box::new(Jacobi { layout, ..Jacobi::new(operand(0), operand(1)) }),
        Operation::Gcd => Box::new(Gcd { layout, ..Gcd::new(operand(0), operand(1)) }),
        Operation::GcdExt => Box::new(cofactors::stages(operand(0), operand(1), asynchronous)),
        Operation::Sqrt => Box::new(Sqrt { layout, ..Sqrt::new(operand(0)) }),
        Operation::DivRem => Box::new(divide(Parts::Both)),
        Operation::Rem | Operation::Reduce => Box::new(divide(Parts::Remainder)),
        // Groups with registers of their own: nobody asks.
        product!() | product_part!() | linear!() | linear_modular!() => Box::new(Copy(operand(0))),
    }
}

/// `a·b mod m` for any `m`: the product, and its remainder. `b` and `m` with their numbers among the parameters.
fn reduced_product(
    a: OperandShape,
    (b, b_at): (OperandShape, usize),
    (m, m_at): (OperandShape, usize),
    layout: Layout,
    asynchronous: bool,
) -> Box<dyn Spec> {
    let limbs = a.limbs() + b.limbs();
    let mut parts = Vec::new();
    let mut scratch = limbs;
    let mut factors = [(a, Binding::Parameter(0)), (b, Binding::Parameter(b_at))];
    // A multiplication takes one common factor, the second one.
    if a.common && b.common {
        let place = Binding::Scratch(limbs);
        parts.push(Part { spec: Box::new(Copy(a)), bindings: vec![Binding::Parameter(0), place] });
        factors[0] = (OperandShape::each(a.bits), place);
        scratch += a.limbs();
    } else if a.common || (!b.common && a.limbs() < b.limbs()) {
        factors.swap(0, 1);
    }
    let [first, second] = factors;
    let shape = OperationShape::product(first.0.whole(), second.0.whole());
    let product = Binding::Scratch(0);
    parts.push(Part { spec: product_of(shape, asynchronous), bindings: vec![first.1, second.1, product] });
    let divide = Division { layout, ..Division::new(OperandShape::each(32 * limbs), m, Parts::Remainder) };
    let results = [m_at + 1, m_at + 2].map(Binding::Parameter);
    let bindings = vec![product, Binding::Parameter(m_at), results[0], results[1]];
    parts.push(Part { spec: Box::new(divide), bindings });
    let function = if b_at == 0 { "sqr_mod" } else { "mul_mod" };
    let name = format!("{function}{}{}{}{}", a.name(), b.name(), m.name(), layout.name());
    Box::new(Sequence { name, rows: m_at + 3, parts, scratch, whole_tiles: true })
}

/// A multiplication.
pub(super) fn product_of(shape: OperationShape, asynchronous: bool) -> Box<dyn Spec> {
    if (mul_thread::ALGORITHM.fits)(shape) {
        return Box::new(MulThread::with(shape, &ThreadSettings::default(), asynchronous));
    }
    Box::new(MulGroup::with(shape, &GroupSettings::default()))
}

/// Copies rows, of a common operand one to each lane.
#[derive(Clone, Debug)]
pub(in super::super) struct Copy(pub(in super::super) OperandShape);

impl Spec for Copy {
    fn name(&self) -> String {
        format!("copy{}", self.0.name())
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let layout = Layout::of(self.0.limbs());
        let signature = Signature::new([self.0], [self.0.limbs()]);
        let stage = layout.stage(self.name(), signature, |b, frame| {
            let number = frame.load(b, 0);
            frame.store(b, 0, &number);
        });
        vec![stage]
    }
}
