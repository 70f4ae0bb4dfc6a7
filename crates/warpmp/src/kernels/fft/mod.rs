//! `fft`: full product and square by a right-angle convolution in double precision. To 196608 bits a block has a product, as
//! this page says, where a block can have 199 KB of shared memory; `large` has longer products, in four steps through global
//! memory.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less; for `long` also a·b + d, or a·b of two's complements
//! requires   `la, lb ≤ 6144` (7679 where a product wraps around), the longer one at least 129; an addend `d` no longer than it; two's complements of equal lengths
//! launch     `points / 16` threads a block, as many for each part that is transformed beside others, a block a product; `layout.rs` has the shared memory
//! cost       about d·(9·log₂ d + 6) rounded operations on doubles for `d` digits, a third less for a square;
//!            4·(la + lb + lc) bytes of global traffic
//! registers  at most 168 for one part, or for parts beside each other, 128 for squares of these; 255 for parts one after the other
//!
//! Digits have 16 bits, or 17 or 18 where that makes the transform shorter. They are the coefficients of polynomials modulo `x^d − i`: the real part of a coefficient of their product is the low
//! half of the product, the imaginary part the high half. The polynomial factors down to its `d` roots, so there is no
//! padding with zeros (`layout`). The last digit of a two's complement has a sign. The passes transform, multiply and transform
//! back (`passes`, `codelet`), and the coefficients become limbs (`result`). All roots of unity are in a table of the kernel
//! (`angle`, `table`).
//!
//! bound: the error of every coefficient is proved to be below 1/2 from the instructions of the kernel (`bound.rs`).
//!
//! source: Nussbaumer's right-angle convolution; tree transform with nested fused operations. The bound, the order of
//! the passes and the look-ahead are ours.

mod bound;
mod digits;
mod division;
mod doubles;
pub mod large;
mod result;
mod shares;
mod words;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage, prefetch_row};

use super::transform::angle::divided_cosine_and_sine;
use super::transform::carry::Addend;
use super::transform::layout::{Coefficients, Layout};
use super::transform::{Place, SHARED_MEMORY_FROM, row};
use super::{Algorithm, FftSettings, Gpus, On, OperandShape, OperationShape, Order, Spec, With, candidates};
pub use bound::Pass;
use digits::Start;
pub(super) use division::{complex_points, wrapped_limbs};
use doubles::Doubles;
use large::Large;

/// Parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fft {
    shape: OperationShape,
    layout: Layout,
}

/// The limbs of the longest operand that it takes.
pub(super) const MOST_LIMBS: u32 = 1 << 19;

/// The most limbs of the longer operand that a block takes.
pub(super) const BLOCK_LIMBS: u32 = 2048;

/// The limbs of the longer operand that a block takes.
const LIMBS: std::ops::RangeInclusive<u32> = 129..=BLOCK_LIMBS;

/// The limbs of the longer operand that a block takes if it is asked to, because few GPUs have the shared memory.
pub(super) const MOST_LIMBS_OF_BLOCK: u32 = 6144;

/// The multiprocessors of an H100 or H200.
const MULTIPROCESSORS: u32 = 132;

/// The row of the register.
pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "fft",
    summary: "right-angle convolution in double precision with a proved bound: a block a product, above 65536 or 196608 bits four steps",
    accepts: "operands whose longer one has 4097 to 16777216 bits, on a GPU from sm_80 on",
    fits,
    order: Order::LongerFirst,
    recipe: &On(
        Gpus { use_doubles: true, ..Gpus::from(SHARED_MEMORY_FROM) },
        With::<FftSettings> {
            spec: |shape, settings, _| match Large::new(shape) {
                Some(large) if is_divided(shape, *settings) => Box::new(large),
                _ => Box::new(Fft::new(shape, settings)),
            },
            candidates: |_| candidates::fft(),
        },
    ),
};

/// The row of the register for squares.
pub(super) const SQUARES: Algorithm = Algorithm {
    summary: "right-angle convolution in double precision with a proved bound: a block a square, above 65536 or 196608 bits four steps",
    accepts: "operands of 4097 to 16777216 bits, on a GPU from sm_80 on",
    ..ALGORITHM
};

/// Does a block take these operands, or the transform in four steps?
fn fits(shape: OperationShape) -> bool {
    let limbs = shape.max_limbs();
    if limbs > BLOCK_LIMBS {
        return limbs <= MOST_LIMBS && Large::new(shape).is_some();
    }
    LIMBS.contains(&limbs) && Layout::of_doubles(shape, None).is_exact()
}

/// Is the product divided into four steps? Levels ask for a block where it can hold the product.
fn is_divided(shape: OperationShape, settings: FftSettings) -> bool {
    let limbs = shape.max_limbs();
    limbs > MOST_LIMBS_OF_BLOCK || limbs > BLOCK_LIMBS && settings.levels.is_none()
}

impl Fft {
    /// The kernel for operands that the algorithm takes, in its order.
    ///
    /// # Panics
    /// If the bound does not prove that every product is exact.
    pub fn new(shape: OperationShape, settings: &FftSettings) -> Self {
        let layout = Layout::of_doubles(shape, settings.levels);
        assert!(layout.is_exact(), "the bound proves every product");
        Self { shape, layout }
    }

    /// The product modulo `Bⁿ + 1` for so many limbs `n`: a signed number of `n + 1` limbs, in magnitude below `2²⁹·Bⁿ`. Where the product itself has
    /// at most `n` limbs, it is the result. `n` points take as long as the product of two numbers of `n / 2` limbs. None: there is no kernel
    /// for that.
    pub fn modulo(a: OperandShape, b: OperandShape, n: u32) -> Option<Self> {
        let shape = OperationShape::product(a, b).truncated((a.limbs() + b.limbs()).min(n + 1));
        Some(Self { shape, layout: Layout::of_complex_doubles(shape, n)? })
    }

    /// The product modulo `Bⁿ + 1` as [`modulo`](Self::modulo) has it, at the beginning of a row of the whole product. None: there is no kernel for that.
    pub fn wrapped(shape: OperationShape, n: u32) -> Option<Self> {
        let layout = Layout::of_wrapped_doubles(shape, n).or_else(|| Layout::of_complex_doubles(shape, n))?;
        Some(Self { shape, layout })
    }

    /// The passes, in their order, with their errors.
    pub fn passes(&self) -> Vec<Pass> {
        self.layout.passes()
    }

    /// Digits of a factor.
    pub const fn digits(&self) -> u32 {
        self.layout.digits()
    }

    /// Bits of a digit.
    pub const fn digit_bits(&self) -> u32 {
        self.layout.digit_bits
    }

    /// Are the digits balanced? Then coefficients of products of numbers have signs.
    pub(super) const fn is_balanced(&self) -> bool {
        self.layout.is_balanced()
    }

    /// The limbs of the number that wraps around in a product modulo `Bⁿ + 1`, for the limbs of the whole product and of the row. Where the row has no limb above `n` of
    /// them, one more limb has the sign.
    pub(super) const fn limbs_above(&self, [whole, row]: [u32; 2], n: u32) -> u32 {
        whole - n + (self.is_balanced() && row <= n) as u32
    }

    /// The product of the norms of the factors, at most.
    pub fn norms(&self) -> f64 {
        self.layout.norms(self.digit_bits())
    }

    /// The bound on the errors of coefficients if digits have this many bits, instead of those that the kernel's digits have.
    pub fn bound(&self, digit_bits: u32) -> f64 {
        self.layout.bound(digit_bits)
    }

    /// The table of roots as angles, in units of 1/(315·2⁴⁰) turns, with their divisors.
    pub fn roots(&self) -> Vec<(u64, u32)> {
        self.layout.roots()
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let rows: &[&str] = match self.shape.operands().len() {
            1 => &["a", "c"],
            2 => &["a", "b", "c"],
            _ => &["a", "b", "d", "c"],
        };
        let (mut b, ports) = entry.open(&self.name(), Glue::None, rows, false);
        b.bounds(self.bounds());
        self.write(&mut b, &ports);
        b.finish()
    }

    fn bounds(&self) -> Bounds {
        let Layout { square, parts, .. } = self.layout;
        let in_turn = parts > self.layout.parts_at_once();
        self.layout.bounds(match (square, in_turn) {
            (true, false) => 128,
            (true, true) | (false, false) => 168,
            (false, true) => 200,
        })
    }

    /// Asks the second-level cache to load the factors of a later block: the block that takes this one's place when all multiprocessors are full. A multiprocessor
    /// has few blocks with so much shared memory, and few blocks hide no waiting for memory.
    fn prefetch(&self, b: &mut Builder, ports: &Ports, thread: R32) {
        let blocks = self.bounds().min_blocks.unwrap_or(1);
        let product = b.special(Special::Ctaid);
        let later = b.add(product, MULTIPROCESSORS * blocks);
        let is_product = b.compare(Cmp::Lt, later, ports.lanes);
        for i in (0..self.layout.factors() as usize).filter(|&i| !self.shape.is_common(i)) {
            let bytes = 4 * self.shape.limbs::<4>()[i];
            let row = b.mad_wide(later, bytes, ports.addresses[i]);
            prefetch_row(b, (thread, self.layout.block_threads()), (row, bytes), Some(is_product));
        }
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        b.section("setup");
        let thread = b.special(Special::Tid);
        self.prefetch(b, ports, thread);
        let shared = b.shared_base();
        let entry = |(angle, divisor)| divided_cosine_and_sine(angle, divisor).map(f64::to_bits);
        let table = b.table(self.roots().into_iter().flat_map(entry).collect());
        let place = Place { thread, lane: b.special(Special::Lane), shared, table };
        let taking = self.layout.taking(b, thread);
        let factors: Vec<(R64, u32)> =
            (0..self.layout.factors() as usize).map(|i| (row(b, self.shape, ports, i), self.layout.limbs[i])).collect();
        let first = b.add(shared, self.layout.first_factor());
        self.layout.transform(b, Doubles, &place, first, |b, place, numbers, regions, node| {
            self.layout.start_doubles(b, place, &factors[numbers], &Start { regions, node, taking });
        });
        let addend = |b: &mut Builder| {
            let limbs = self.shape.operands().get(2)?.limbs();
            Some(Addend { row: row(b, self.shape, ports, 2), limbs })
        };
        let result = |b: &mut Builder| row(b, self.shape, ports, self.shape.operands().len());
        if self.layout.is_long() {
            self.layout.finish_shares(b, &place, addend, result);
        } else {
            self.layout.finish_doubles(b, &place, addend, result);
        }
    }
}

impl Spec for Fft {
    fn name(&self) -> String {
        let Layout { limbs: [la, _, lc], square, points, parts, coefficients, .. } = self.layout;
        let operands = match self.shape.operands() {
            _ if square => format!("sqr_fft_{la}_{lc}"),
            [_, _, _] => format!("{}_fft_{lc}", self.shape.name()),
            _ => format!("{}_fft_{}", self.shape.operation.name(), self.shape.product_name()),
        };
        let kind = match coefficients {
            Coefficients::Real if self.layout.has_wide_digits() => &format!("_{}", self.digit_bits()),
            Coefficients::Real => "",
            Coefficients::Complex { .. } => "_complex",
        };
        format!("{operands}_{parts}x{points}{kind}")
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let Layout { points, parts, coefficients, .. } = self.layout;
        let digits = match coefficients {
            Coefficients::Real => self.digits(),
            Coefficients::Complex { .. } => 2 * self.layout.longest(),
        };
        let passes =
            self.passes().iter().map(|it| format!("{} {}", it.section, it.radix)).collect::<Vec<_>>().join(", ");
        vec![
            (
                "digits",
                format!(
                    "{digits} {}of {} bits a factor, as {parts} × {points} complex points",
                    if self.layout.is_balanced() { "balanced ones " } else { "" },
                    self.digit_bits(),
                ),
            ),
            ("passes", format!("{passes} (the number is the radix)")),
            (
                "bound",
                format!(
                    "{:.3}: no coefficient has a greater error; below 0.5 the product is exact",
                    self.bound(self.digit_bits())
                ),
            ),
        ]
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(self.layout.block_threads(), 1).with_shared(self.layout.bytes());
        vec![Stage::new(geometry, |entry| self.kernel(entry))]
    }
}
