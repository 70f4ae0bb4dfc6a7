//! `tensor`: full product and square on tensor cores, a warp a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `la, lb ≤ 512`; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` products a block, one after the other by each warp
//! cost       to 153 limbs `⌈(la + 1)/16⌉·⌈(lb + 7)/16⌉` matrix products of 16×32 by 32×8 bytes: see `quad`; above `2·panels·(⌈la/8⌉ + 1)`, `panels = ⌈max(la, lb)/64⌉`, or less by strips: see `strip`;
//!            4·(la + lb + lc) bytes of global traffic; `layout.rs` has the shared memory
//! registers  55 at 64 limbs in quads, 62 at 65, 72 at 96, 74 at 128, 86 at 144, 108 at 153; 128 with four panels, about 245 with seven and eight; 106 with five and seven strips, about 150 with nine, ten and thirteen, 195 with eleven and twelve
//!
//! Digits are bytes. A warp copies its operands to shared memory (`operands`), computes all byte columns of the result
//! by matrix products (`multiply`), makes limbs of them and stores these (`result`). The operands of its next product
//! arrive meanwhile (`columns`, `quad`).
//!
//! bound: a byte column sums at most `4·min(la, lb)` products of bytes: at most `4·512·255² < 2³¹`, so no sum of a
//! matrix product wraps. The carries are bounded in `result`.
//!
//! Squares of four to eight panels have a kernel of their own (`square`) with 0.63 to 0.77 of the matrix products, if strips are not faster.
//! Low halves have a kernel of their own (`low`) with neighbouring blocks in a panel (`half`), as the reductions of Montgomery products have.
//!
//! source: schoolbook multiplication as a matrix product by a Toeplitz matrix; columns modulo their number, and the
//! order of blocks in the panels, are ours.

mod columns;
mod digits;
mod half;
mod layout;
mod low;
mod montgomery;
pub(in crate::kernels) mod multiplication;
mod multiply;
mod operands;
pub(in crate::kernels) mod part;
mod products;
mod quad;
mod result;
mod square;
mod strip;
mod warps;

use warpmp_kernel::build::{Builder, R32};
use warpmp_launch::{Ports, Stage};

use super::{Algorithm, Gpus, On, OperandShape, OperationShape, Order, Spec, TensorSettings, With, candidates};
pub(in crate::kernels) use layout::{BLOCK_BYTES, BLOCK_LIMBS, PIECE_LIMBS};
use layout::{COLUMNS, Layout};
pub(in crate::kernels) use low::LowProduct;
pub(in crate::kernels) use montgomery::MONTGOMERY;
use multiplication::{Multiplication, Within};
pub(in crate::kernels) use multiply::matrix_of_words;
pub(in crate::kernels) use part::Addends;
use part::Part;
pub(in crate::kernels) use products::Rows;
use products::{Own, Products};
use quad::Quads;
pub(in crate::kernels) use result::{begin_digit, difference, digit, end_digit};
use square::Square;
pub(in crate::kernels) use warps::Place as WarpPlace;
use warps::{Place, Warps};

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    multiplication: Multiplication,
    division: Division,
    warps: Warps,
}

/// How the numbers of a product are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Division {
    Quads(Quads),
    /// Into panels or strips.
    Columns(Layout),
}

impl Division {
    /// Bytes of shared memory a warp.
    fn bytes(self) -> u32 {
        match self {
            Self::Quads(quads) => quads.bytes(),
            Self::Columns(layout) => layout.bytes(),
        }
    }
}

/// The limbs of the longer operand that it takes.
pub(super) const LIMBS: std::ops::RangeInclusive<u32> = 32..=512;

/// Matrix products of bytes, 32 deep, begin with this compute capability, times ten.
const MATRIX_PRODUCTS_FROM: u32 = 80;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "tensor",
    summary: "a warp a product, bytes as digits, schoolbook multiplication by matrix products on tensor cores",
    accepts: "operands whose longer one has 993 to 16384 bits, on a GPU from sm_80 on",
    fits: |shape| LIMBS.contains(&shape.max_limbs()),
    order: Order::ShorterFirst,
    recipe: &On(
        Gpus::from(MATRIX_PRODUCTS_FROM),
        With::<TensorSettings> {
            spec: |shape, settings, _| {
                if low::fits(shape) {
                    Box::new(LowProduct::new(shape, settings))
                } else if square::fits(shape) {
                    Box::new(Square::new(shape, settings))
                } else {
                    Box::new(Tensor::new(shape, settings))
                }
            },
            candidates: |_| candidates::tensor(),
        },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "a warp a square, bytes as digits, by matrix products on tensor cores; from 7169 bits on, but not from 8193 to 9216, each pair of different groups of digits once",
    accepts: "operands of 993 to 16384 bits, on a GPU from sm_80 on",
    ..ALGORITHM
};

/// The row of the register for parts of products.
pub(super) const PARTS: Algorithm = Algorithm {
    summary: "a warp a product by matrix products of bytes on tensor cores; what is added joins its digits",
    accepts: "factors of 1024 to 12288 bits, with signs above 2048, both of the same 128·k bits; an addend of 128·k bits, no longer; \
              for low halves both of the same 32·k bits from 1024 to 40960; on a GPU from sm_80 on",
    fits: |shape| low::fits(shape) || part::fits(shape),
    order: Order::Given,
    ..ALGORITHM
};

impl Tensor {
    /// The kernel for operands that the algorithm takes, in any order: the shorter one first takes fewer steps.
    ///
    /// # Panics
    /// If the operands are too long, or the operation is no multiplication.
    pub fn new(shape: OperationShape, settings: &TensorSettings) -> Self {
        Self::of(Multiplication::of(shape), settings)
    }

    /// The same for factors in longer rows.
    pub(super) fn within(shape: OperationShape, settings: &TensorSettings, within: [Option<Within>; 2]) -> Self {
        Self::of(Multiplication::of(shape).within(within), settings)
    }

    /// The product modulo `B^n − 1`: `n` limbs, a limb with what leaves them, 0 or 1, and three limbs of zeros. None: the longer factor, which
    /// has `n` limbs, does not fill panels.
    pub(super) fn cyclic(
        [a, b]: [OperandShape; 2],
        settings: &TensorSettings,
        within: [Option<Within>; 2],
    ) -> Option<Self> {
        let n = a.limbs().max(b.limbs());
        let fills = LIMBS.contains(&n) && n.is_multiple_of(BLOCK_LIMBS * COLUMNS);
        fills.then(|| Self::of(Multiplication::cyclic(a, b).within(within), settings))
    }

    fn of(multiplication: Multiplication, settings: &TensorSettings) -> Self {
        assert!(multiplication.part != Part::Low, "`LowProduct` has low halves");
        let is_cyclic = multiplication.part == Part::Cyclic;
        let division = if let Some(quads) = Quads::of(multiplication) {
            Division::Quads(quads)
        } else {
            let layout = Layout::of(multiplication.limbs(), multiplication.pieces(), is_cyclic);
            assert!(layout.greatest_sum() < 1 << 31, "the sums of a matrix product have 32 bits");
            Division::Columns(layout)
        };
        Self { multiplication, division, warps: Warps::new(settings, division.bytes()) }
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        b.section("setup");
        let (place, product, end) = self.warps.enter(b, ports.lanes);
        self.products(b, &place, (product, end), &Own { multiplication: self.multiplication, ports });
    }

    /// Bytes of shared memory a warp.
    pub(in crate::kernels) fn warp_bytes(&self) -> u32 {
        self.division.bytes()
    }

    /// The products of a warp: `product`, which there is, and others below `end`, each as many after the one before as a block has warps.
    pub(in crate::kernels) fn products(
        &self,
        b: &mut Builder,
        place: &Place,
        (product, end): (R32, R32),
        rows: &impl Rows,
    ) {
        let Self { multiplication, division, warps } = *self;
        let products = Products { rows, multiplication, warps, product, end };
        match division {
            Division::Quads(quads) => quads.products(b, place, &products),
            Division::Columns(layout) => layout.products(b, place, &products),
        }
    }
}

impl Spec for Tensor {
    fn name(&self) -> String {
        self.warps.name_of(self.multiplication)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let max_registers = match self.division {
            Division::Quads(_) => None,
            Division::Columns(layout) => layout.strips.and_then(strip::max_registers),
        };
        vec![self.warps.stage(self.multiplication, max_registers, |b, ports| self.write(b, ports))]
    }
}
