//! Montgomery's arithmetic on tensor cores: products, squares and powers modulo odd numbers.
//!
//! ```text
//! ring.rs        a product modulo a number, by three matrix products
//! complement.rs  the same with one panel
//! room.rs        the shared memory of a warp
//! product.rs     Montgomery products and squares
//! power.rs       powers: the table, and the windows of the exponent
//! ```

mod complement;
mod power;
mod product;
mod ring;
mod room;

use warpmp_launch::{Binding, Layout, Part, Sequence};

use self::power::{Table, Windows, window};
use self::product::ResidueProduct;
use self::room::Room;
use super::layout::PANEL_LIMBS;
use super::warps::Warps;
use super::{LIMBS, MATRIX_PRODUCTS_FROM};
use crate::kernels::long::{LowInverse, Shared};
use crate::kernels::modular::{Begin, End, EvenPowMod, Exponent, PowMod};
use crate::kernels::{Algorithm, Gpus, On, OperationShape, Order, Spec, TensorSettings, With, candidates};
use crate::operation::Operation;

/// The longest modulus of products. A panel more, and their kernel would spill registers; that of powers does not.
const MOST_PRODUCT_LIMBS: u32 = 7 * PANEL_LIMBS;

/// The row of the register.
pub(in crate::kernels) const MONTGOMERY: Algorithm = Algorithm {
    name: "tensor",
    summary: "a warp a product, Montgomery's reduction and its product by matrix products of bytes on tensor cores",
    accepts: "powers modulo numbers of 993 to 16384 bits; Montgomery products and squares modulo one number of 2048·k bits, to \
              14336, or of 3072, 5120, 7168, 9216, 11264 or 13312 bits, for all lanes; on a GPU from sm_80 on",
    fits,
    order: Order::Given,
    recipe: &On(
        Gpus::from(MATRIX_PRODUCTS_FROM),
        With::<TensorSettings> {
            spec: |shape, settings, _| spec(shape, settings),
            candidates: |_| candidates::tensor(),
        },
    ),
};

fn fits(shape: OperationShape) -> bool {
    use Operation as O;
    let operands = shape.operands();
    let limbs = operands[operands.len() - 1].limbs();
    if matches!(shape.operation, O::MontMul | O::MontSqr) {
        // R is that of the operation: whole panels or strips. A modulus that serves a lane alone needs an inverse for one product.
        return limbs <= MOST_PRODUCT_LIMBS
            && Room::new(limbs).limbs() == limbs
            && operands[operands.len() - 1].common
            && operands.iter().all(|operand| operand.limbs() == limbs);
    }
    shape.operation == O::PowMod && LIMBS.contains(&limbs) && shape.is_within_group()
}

fn spec(shape: OperationShape, settings: &TensorSettings) -> Box<dyn Spec> {
    let last = shape.operands().len() - 1;
    let room = Room::new(shape.operands()[last].limbs());
    let warps = Warps::new(settings, room.bytes());
    Box::new(if shape.operation == Operation::PowMod {
        power(shape, room, warps.with_one_product())
    } else {
        product(shape, room, warps)
    })
}

/// The inverse of the modulus, once for all lanes, then the products.
fn product(shape: OperationShape, room: Room, warps: Warps) -> Sequence {
    let last = shape.operands().len() - 1;
    let limbs = room.limbs();
    let layout = Layout { length: limbs / 32, warps: 1, ..Layout::of_group(32) };
    let inverse: Box<dyn Spec> = Box::new(Shared(Box::new(LowInverse { limbs, layout })));
    let product = ResidueProduct { factors: shape.operands()[..last].to_vec(), room, warps };
    let name = format!("{}_{}", shape.operation.name(), product.name());
    let rows = last + 3;
    let place = Binding::Scratch(0);
    let mut bindings: Vec<Binding> = (0..=last).map(Binding::Parameter).collect();
    bindings.extend([place, Binding::Parameter(last + 1), Binding::Parameter(last + 2)]);
    let parts = vec![
        Part { spec: inverse, bindings: vec![Binding::Parameter(last), place] },
        Part { spec: Box::new(product), bindings },
    ];
    Sequence { name, rows, parts, scratch: limbs, whole_tiles: false }
}

/// The powers modulo odd numbers, then those modulo even ones.
fn power(shape: OperationShape, room: Room, warps: Warps) -> Sequence {
    let [base, exponent, modulus] = [0, 1, 2].map(|i| shape.operands()[i]);
    let odd = PowMod::new(base, Exponent::Operand(exponent), modulus);
    let table = Table { modulus, room, warps, window: window(exponent.bits) };
    let limbs = room.limbs();
    let [inverse, one, residue, entries] = [0, 1, 2, 3].map(|i| Binding::Scratch(i * limbs));
    let [a, e, m, result, status] = [0, 1, 2, 3, 4].map(Binding::Parameter);
    let even = EvenPowMod { odd };
    let scratch = 3 * limbs + table.limbs().max(even.scratch_limbs());
    let windows = Windows { exponent, table: table.clone() };
    let name = format!("pow_mod{}_{}", base.name(), windows.name());
    let parts: Vec<Part> = vec![
        Part { spec: Box::new(Begin { base, modulus, limbs }), bindings: vec![a, m, inverse, one, residue] },
        Part { spec: Box::new(table), bindings: vec![m, inverse, one, residue, entries] },
        Part { spec: Box::new(windows), bindings: vec![e, m, inverse, entries, residue] },
        Part { spec: Box::new(End { modulus, limbs }), bindings: vec![residue, m, result, status] },
        // The table serves again.
        Part { spec: Box::new(even), bindings: vec![a, e, m, result, status, entries] },
    ];
    Sequence { name, rows: 5, parts, scratch, whole_tiles: true }
}
