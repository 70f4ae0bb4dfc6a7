//! `tensor-common`: arithmetic modulo one number for all lanes, and division by one divisor: reductions are matrix products.
//!
//! ```text
//! layout.rs     tiles of a number, and the shared memory of a block
//! matrices.rs   the matrices of the modulus or divisor and of its inverse
//! tile.rs       matrix products of tiles, and limbs of their sums
//! rows.rs       tiles of rows in global memory
//! turns.rs      the lanes of a warpgroup
//! reducer.rs    Montgomery's reduction
//! reduction.rs  its kernel
//! status.rs     its faults: the modulus is even or zero, a number is not below it
//! power.rs      powers
//! divider.rs    division
//! division.rs   its kernel, and the steps around it
//! product.rs    products by one factor
//! ```
//!
//! A number that all lanes share is one matrix for all of them, so its products with the numbers of 64 lanes are a matrix product without waste: a
//! product of numbers that differ from lane to lane has a matrix a lane. Digits are bytes. The product of two residues is that of `tensor`.
//!
//! source: P. Montgomery, Modular multiplication without trial division, 1985. A product by a constant as a product by a Toeplitz matrix is classical; the
//! order of columns and bytes, and the carry from four columns, are ours.

mod divider;
mod division;
mod layout;
mod matrices;
mod power;
mod product;
mod reducer;
mod reduction;
mod rows;
mod status;
mod tile;
mod turns;

use warpmp_launch::{Binding, Layout as LaneLayout, Part, Sequence};

use super::long::{LowInverse, Shared};
use super::modular::{Begin, End, EvenPowMod, Exponent, PowMod};
use super::tensor::Tensor;
use super::{
    Algorithm, CommonSettings, On, OperandShape, OperationShape, Order, Spec, TensorSettings, With, candidates,
    warpgroup,
};
use crate::operation::Operation;
use layout::{Layout, OWN_LIMBS, Purpose, TILE_LIMBS};
use power::Power;
use reduction::Reduction;
use status::Checked;
use turns::Turns;

pub(super) use product::ALGORITHM as PRODUCT;

/// Limbs of the moduli.
const LIMBS: std::ops::RangeInclusive<u32> = TILE_LIMBS..=8 * TILE_LIMBS;

/// Tiles of the longest modulus for which three warpgroups have room in the shared memory of a multiprocessor; in its registers they always have.
const SHORT_TILES: u32 = 4;

/// Tiles of the longest modulus for which a multiprocessor has room for two blocks. Then each block has one warpgroup, so warpgroups do not wait for each other.
const MIDDLE_TILES: u32 = 6;

/// Bits of the longest windows. One more saves 2 % of the steps at 4096 bits and takes twice the memory.
const MOST_WINDOW: u32 = 5;

/// The row of the register.
pub(super) const MONTGOMERY: Algorithm = Algorithm {
    name: "tensor-common",
    summary: "one modulus or divisor for all lanes: products by tensor, reductions of 64 lanes by four warps as matrix products by the modulus",
    accepts: "one modulus or divisor of 256·k bits for all lanes, from 1024 to 8192: Montgomery products, squares and reductions; quotients, \
              remainders and modular products whose dividend is longer, by a multiple of 256 bits, and has at most twice the bits; powers \
              modulo one number of 993 to 8192 bits for all lanes; on a GPU of sm_90",
    fits,
    order: Order::Given,
    recipe: &On(
        warpgroup::GPUS,
        With::<CommonSettings> {
            spec: |shape, settings, _| {
                if shape.operation == Operation::PowMod {
                    Box::new(power(shape))
                } else if has_dividends(shape.operation) {
                    division::division(shape, *settings)
                } else {
                    Box::new(residue(shape, *settings))
                }
            },
            candidates: |shape| candidates::common(shape.operation),
        },
    ),
};

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let operands = shape.operands();
    let (modulus, others) = (operands[operands.len() - 1], &operands[..operands.len() - 1]);
    if shape.operation == O::PowMod {
        return modulus.common
            && LIMBS.contains(&residue_limbs(modulus))
            && others.iter().any(|it| !it.common)
            && shape.is_within_group();
    }
    let limbs = modulus.limbs();
    if has_dividends(shape.operation) {
        let dividend = division::dividend_limbs(shape);
        return modulus.common
            && LIMBS.contains(&limbs)
            && (limbs + 1..=2 * limbs).contains(&dividend)
            && [limbs, dividend].iter().all(|it| it.is_multiple_of(OWN_LIMBS))
            // A product of short factors has limbs more, which are zero.
            && others.iter().any(|it| LIMBS.start() <= &it.limbs())
            && others.iter().any(|it| !it.common);
    }
    let length = if shape.operation == O::Redc { 2 * limbs } else { limbs };
    matches!(shape.operation, O::MontMul | O::MontSqr | O::Redc | O::FromMont)
        && modulus.common
        && LIMBS.contains(&limbs)
        && limbs.is_multiple_of(OWN_LIMBS)
        && others.iter().all(|it| it.limbs() == length)
        && others.iter().any(|it| !it.common)
}

/// Is it a division, or does it end with one?
const fn has_dividends(operation: Operation) -> bool {
    use Operation as O;
    matches!(operation, O::DivRem | O::Rem | O::DivExact | O::Reduce | O::MulMod | O::SqrMod)
}

/// Limbs of the residues of powers.
const fn residue_limbs(modulus: OperandShape) -> u32 {
    modulus.limbs().next_multiple_of(OWN_LIMBS)
}

/// The powers modulo an odd number, then those modulo an even one.
fn power(shape: OperationShape) -> Sequence {
    let [base, exponent, modulus] = [0, 1, 2].map(|i| shape.operands()[i]);
    let limbs = residue_limbs(modulus);
    let odd = PowMod::new(base, Exponent::Operand(exponent), modulus);
    let odd = PowMod { window: odd.window.min(MOST_WINDOW), ..odd };
    let warpgroups = if limbs.div_ceil(TILE_LIMBS) <= MIDDLE_TILES { 1 } else { 2 };
    let factor = OperandShape::each(32 * limbs);
    let settings = TensorSettings { warps: Some(tile::WARPS), ..TensorSettings::default() };
    let product = Tensor::new(OperationShape::product(factor, factor), &settings);
    let layout = Layout { limbs, warpgroups, purpose: Purpose::Reduction };
    let power = Power { layout, exponent, modulus, window: odd.window, product };
    let [inverse, one, residue, products, table] = [0, 1, 2, 3, 5].map(|i| Binding::Scratch(i * limbs));
    let [a, e, m, result, status] = [0, 1, 2, 3, 4].map(Binding::Parameter);
    let even = EvenPowMod { odd };
    let scratch = 5 * limbs + power.table_limbs().max(even.scratch_limbs());
    let name = format!("pow_mod{}_{}", base.name(), power.name());
    let parts: Vec<Part> = vec![
        Part { spec: Box::new(Begin { base, modulus, limbs }), bindings: vec![a, m, inverse, one, residue] },
        Part { spec: Box::new(power), bindings: vec![e, m, inverse, one, table, products, residue] },
        Part { spec: Box::new(End { modulus, limbs }), bindings: vec![residue, m, result, status] },
        // The table serves again.
        Part { spec: Box::new(even), bindings: vec![a, e, m, result, status, table] },
    ];
    Sequence { name, rows: 5, parts, scratch, whole_tiles: true }
}

/// Montgomery products, squares and reductions.
fn residue(shape: OperationShape, settings: CommonSettings) -> Sequence {
    use Operation as O;
    let last = shape.operands().len() - 1;
    let factors = shape.operands()[..last].to_vec();
    let limbs = shape.operands()[last].limbs();
    let tiles = limbs.div_ceil(TILE_LIMBS);
    let warpgroups = if tiles <= SHORT_TILES { 3 } else { 2 };
    let layout = Layout { limbs, warpgroups, purpose: Purpose::Reduction };
    let is_product = matches!(shape.operation, O::MontMul | O::MontSqr);
    let reduction = Reduction {
        layout,
        turns: Turns::new(layout, settings),
        is_double: shape.operation != O::FromMont,
        checked: if is_product { Checked::Factors(factors.clone()) } else { Checked::Itself },
    };
    let name = format!("{}_{}", shape.operation.name(), reduction.name());
    let [inverse, product] = [0, limbs].map(Binding::Scratch);
    let [modulus, result, status] = [0, 1, 2].map(|i| Binding::Parameter(last + i));
    let inverter = LaneLayout { length: limbs.div_ceil(32), warps: 1, ..LaneLayout::of_group(32) };
    let mut parts = vec![Part {
        spec: Box::new(Shared(Box::new(LowInverse { limbs, layout: inverter }))),
        bindings: vec![modulus, inverse],
    }];
    let operands: Vec<Binding> = (0..last).map(Binding::Parameter).collect();
    let mut bindings = operands.clone();
    if is_product {
        let (shape, order) = multiplication(&factors);
        let operands: Vec<Binding> = order.iter().map(|&i| operands[i]).collect();
        let spec = Tensor::new(shape, &TensorSettings::default());
        parts.push(Part { spec: Box::new(spec), bindings: [operands, vec![product]].concat() });
        bindings.insert(0, product);
    }
    bindings.extend([modulus, inverse, result, status]);
    parts.push(Part { spec: Box::new(reduction), bindings });
    let scratch = if is_product { 3 * limbs } else { limbs };
    Sequence { name, rows: last + 3, parts, scratch, whole_tiles: false }
}

/// The product or the square of the factors with all their limbs, and the order of the factors: one for all lanes is the second one.
fn multiplication(factors: &[OperandShape]) -> (OperationShape, &'static [usize]) {
    match factors.iter().map(|it| it.whole()).collect::<Vec<_>>()[..] {
        [a, b] if a.common => (OperationShape::product(b, a), &[1, 0]),
        [a, b] => (OperationShape::product(a, b), &[0, 1]),
        _ => (OperationShape::square(32 * factors[0].limbs()), &[0]),
    }
}
