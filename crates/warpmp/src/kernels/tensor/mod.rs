//! `tensor`: full product and square on tensor cores, a warp a product.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `la, lb ≤ 512`; buffers padded to whole tiles of 32 lanes
//! launch     `32·warps` threads a block, `products` products a block, one after the other by each warp
//! cost       to 144 limbs `⌈(la + 1)/16⌉·(⌈lb/16⌉ + 1)` matrix products of 16×32 by 32×8 bytes: see `quad`; above `2·panels·(⌈la/8⌉ + 1)`, `panels = ⌈max(la, lb)/64⌉`, or less by strips: see `strip`;
//!            4·(la + lb + lc) bytes of global traffic; `layout.rs` has the shared memory
//! registers  55 at 64 limbs in quads, to 80 at 96 and 128, 102 at 144; 128 with four panels, about 245 with seven and eight; 106 with five and seven strips, about 150 with nine, ten and thirteen, 195 with eleven and twelve
//!
//! Digits are bytes. A warp copies its operands to shared memory (`operands`), computes all byte columns of the result
//! by matrix products (`multiply`), makes limbs of them and stores these (`result`). The operands of its next product
//! arrive meanwhile.
//!
//! bound: a byte column sums at most `4·min(la, lb)` products of bytes: at most `4·512·255² < 2³¹`, so no sum of a
//! matrix product wraps. The carries are bounded in `result`.
//!
//! Squares of four to eight panels have a kernel of their own (`square`) with 0.63 to 0.77 of the matrix products, if strips are not faster.
//! Low halves have a kernel of their own (`low`) with neighbouring blocks in a panel (`half`), as the reductions of Montgomery products have.
//!
//! source: schoolbook multiplication as a matrix product by a Toeplitz matrix; columns modulo their number, and the
//! order of blocks in the panels, are ours.

mod digits;
mod half;
mod layout;
mod low;
mod montgomery;
pub(in crate::kernels) mod multiplication;
mod multiply;
mod operands;
pub(in crate::kernels) mod part;
mod quad;
mod result;
mod square;
mod strip;
mod warps;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::Cmp;
use warpmp_launch::{Ports, Stage};

use super::{Algorithm, Gpus, On, OperandShape, OperationShape, Order, Spec, TensorSettings, With, candidates, piece};
pub(in crate::kernels) use layout::{BLOCK_BYTES, BLOCK_LIMBS, PIECE_LIMBS};
use layout::{COLUMNS, Layout};
pub(in crate::kernels) use low::LowProduct;
pub(in crate::kernels) use montgomery::MONTGOMERY;
use multiplication::{Multiplication, Within};
pub(in crate::kernels) use multiply::matrix_of_words;
pub(in crate::kernels) use part::Addends;
use part::Part;
use quad::Quads;
use result::Target;
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

/// Most panels for which addresses are kept from product to product. With more, `ptxas` takes fifty registers more than where they are computed anew.
const KEEPING: u32 = 3;

/// Steps between barriers.
const FENCE: u32 = 8;

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

/// Where the rows of products are.
pub(in crate::kernels) trait Rows {
    /// The row of factor `i`, 0 or 1, of a product.
    fn factor(&self, b: &mut Builder, product: R32, i: usize) -> R64;

    /// The row of its result, as if all limbs of the product were kept.
    fn result(&self, b: &mut Builder, product: R32) -> R64;

    /// What is added to it.
    fn addends(&self, b: &mut Builder, product: R32) -> Addends;

    /// Limbs from the rows of a product, two factors and the result, to those of the next. None: the distances differ.
    fn strides(&self) -> Option<[u32; 3]>;
}

/// The rows of an operation.
struct Own<'p> {
    multiplication: Multiplication,
    ports: &'p Ports,
}

impl Rows for Own<'_> {
    fn factor(&self, b: &mut Builder, product: R32, i: usize) -> R64 {
        self.multiplication.factor(b, self.ports, product, i)
    }

    fn result(&self, b: &mut Builder, product: R32) -> R64 {
        self.multiplication.result(b, self.ports, product)
    }

    fn addends(&self, b: &mut Builder, product: R32) -> Addends {
        self.multiplication.addends(b, self.ports, product)
    }

    fn strides(&self) -> Option<[u32; 3]> {
        let [a, b] = [0, 1].map(|i| self.multiplication.stride(i));
        Some([a, b, self.multiplication.kept().len() as u32])
    }
}

impl Layout {
    /// The greatest sum of a byte column.
    fn greatest_sum(self) -> u64 {
        let [la, lb, _] = self.limbs;
        u64::from(4 * la.min(lb)) * 255 * 255
    }
}

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

    /// The products of a warp: `product`, which there is, and others below `end`, each `warps.count` after the one before.
    pub(in crate::kernels) fn products(
        &self,
        b: &mut Builder,
        place: &Place,
        (product, end): (R32, R32),
        rows: &impl Rows,
    ) {
        let Self { multiplication, division, warps } = *self;
        match division {
            Division::Quads(quads) => quads.products(b, place, (product, end), (multiplication, warps), rows),
            Division::Columns(layout) => layout.products(b, place, (product, end), (multiplication, warps), rows),
        }
    }
}

impl Layout {
    /// The products of a warp: `product`, which there is, and others below `end`, each `warps.count` after the one before.
    fn products(
        self,
        b: &mut Builder,
        place: &Place,
        (product, end): (R32, R32),
        (multiplication, warps): (Multiplication, Warps),
        rows: &impl Rows,
    ) {
        let shared = place.shared;
        self.clear(b, place);
        let waiting = self.waiting(b);
        let waiting = waiting.as_deref();
        // Where `a` is, if it has two places.
        let turn = b.copy(0);
        let from = [0, 1].map(|i| self.factor(b, rows, place, product, i));
        let to = self.result(b, rows, place, product);
        self.fetch(b, place, from, turn, waiting);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            let here = b.add(shared, turn);
            match waiting {
                Some(words) => self.arrange_waiting(b, place, words),
                None => self.arrange(b, place, (shared, self.b()), self.work),
            }
            let source = self.source(b, place, here);
            b.warp_barrier();
            b.increase(product, warps.count);
            let other = self.other_place(b, turn);
            let more = b.compare(Cmp::Lt, product, end);
            let strides = rows.strides().filter(|_| self.panels <= KEEPING);
            let keeps = strides.is_some();
            if let Some([first, second, _]) = strides {
                warps.advance(b, from[0], first);
                warps.advance(b, from[1], second);
            }
            b.if_(more, |b| {
                let from = if keeps { from } else { [0, 1].map(|i| self.factor(b, rows, place, product, i)) };
                self.fetch(b, place, from, other, waiting);
            });
            b.section("multiply");
            let sums = self.product_sums(b, place, source, FENCE);
            let before = b.sub(product, warps.count);
            let to = if keeps { to } else { self.result(b, rows, place, before) };
            let addends = rows.addends(b, before);
            let target = Target { to, part: multiplication.part, addends: &addends };
            self.finish(b, place, &sums, &target);
            if let Some([_, _, result]) = strides {
                warps.advance(b, to, result);
            }
            b.set(turn, other);
            b.compare(Cmp::Lt, product, end)
        });
    }

    /// The address of the lane's first piece of `a` or `b`.
    fn factor(self, b: &mut Builder, rows: &impl Rows, place: &Place, product: R32, i: usize) -> R64 {
        let row = rows.factor(b, product, i);
        b.mad_wide(place.lane, 4 * self.words_of_lane(i), row)
    }

    /// The address of the lane's first piece of the product, as if all of its limbs were kept.
    fn result(self, b: &mut Builder, rows: &impl Rows, place: &Place, product: R32) -> R64 {
        let row = rows.result(b, product);
        b.mad_wide(place.lane, 4 * piece(self.limbs[2]), row)
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
