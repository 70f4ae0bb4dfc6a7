//! Products and squares above 65536 bits: the transform in four steps through global memory. To 196608 bits a block can have the
//! product, too.
//!
//! computes   c = a·b            a: `la` limbs, b: `lb`, c: `lc` = `la + lb` or one less
//! requires   `la, lb ≤ 2¹⁹`
//! launch     seven launches, five for low columns, of a square one less; three for short columns: `Step`; 16 points a thread in each block
//!            of a transform
//! cost       `bytes_moved` bytes of scratch memory a lane; as many operations on doubles as short products, and 16 a point for
//!            turning rows and back
//! registers  at most 255: `Large::bounds`
//! bound      `bound.rs`: the error of every coefficient is below 1/2; `carry.rs`: a chunk carries at most 1
//! source     Bailey's four-step transform, J. of Supercomputing 4 (1990). The balanced digits without a chain, the bound and the
//!            carries from estimates are ours.
//!
//! ```text
//! split.rs   the division of a product: digits, columns, rows; scratch memory
//! bound.rs   the bound on the error of a coefficient
//! table.rs   the roots
//! digits.rs  the digits of a factor
//! down.rs    1. digits, and the transforms of the columns: a launch for each factor
//! rows.rs    2. the rows of both factors: transforms, product, inverse transform
//! up.rs      3. the inverse transforms of the columns, rounded
//! carry.rs   4. from coefficients to limbs: three launches for high columns
//! low.rs     steps 3 and 4 for low columns
//! short.rs   steps 3 and 4 for short columns. Then step 2 begins with the digits, and there is no step 1
//! finish.rs  5. the carries between the segments of low and short columns
//! ```

mod bound;
mod carry;
mod digits;
mod down;
mod finish;
mod low;
mod rows;
mod short;
mod split;
mod table;
mod up;

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::ir::{Bounds, Kernel, Special};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::super::{OperandShape, OperationShape, Spec};
use super::bound::Pass;
use crate::kernels::transform::angle::divided_cosine_and_sine;
use crate::kernels::transform::layout::POINT_BYTES;
use crate::kernels::transform::{REGISTERS, SHARED_BYTES};
use carry::SEGMENT_WARPS;
use short::SHORT_THREADS;
use split::Split;

/// Parameters of the kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Large {
    shape: OperationShape,
    split: Split,
}

/// Where a thread is.
struct Block {
    /// The number of the block.
    number: R32,
    /// The number of the thread in it.
    thread: R32,
    /// The number of the lane in its warp.
    lane: R32,
    /// Where the block's shared memory begins.
    shared: R32,
    /// Where the table begins.
    table: R64,
}

/// A kernel of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Down(usize),
    Rows,
    Up,
    Words,
    Chain,
    Finish,
    /// From low or short columns to words.
    Columns,
    /// The carries between the segments of low or short columns.
    FinishColumns,
}

impl Large {
    /// The kernels for these operands, if there is a division whose products are exact.
    pub fn new(shape: OperationShape) -> Option<Self> {
        Split::of(shape).map(|split| Self { shape, split })
    }

    /// The kernels for a product modulo `Bᴺ + 1` of at least so many limbs `N`, if there is a division whose products are exact and a factor has less
    /// limbs. The result is a signed number of `N + 1` limbs, in magnitude below `2²⁹·Bᴺ`.
    pub fn modulo(a: OperandShape, b: OperandShape, least: u32) -> Option<Self> {
        let split = Split::modulo(OperationShape::product(a, b), least)?;
        let whole = a.limbs() + b.limbs();
        let shape = OperationShape::product(a, b).truncated(split.limbs[2]);
        (split.limbs[2] <= whole).then_some(Self { shape, split })
    }

    /// Limbs of the result.
    pub const fn result_limbs(&self) -> u32 {
        self.split.limbs[2]
    }

    /// The passes of all kernels, in their order, with their errors.
    pub fn passes(&self) -> Vec<Pass> {
        self.split.passes()
    }

    /// Digits of a factor.
    pub const fn digits(&self) -> u32 {
        self.split.digits()
    }

    /// Digits of a factor, where complex coefficients have two.
    pub const fn most_digits(&self) -> u32 {
        self.split.most_digits()
    }

    /// Bits of a digit.
    pub const fn digit_bits(&self) -> u32 {
        self.split.digit_bits
    }

    /// The bound on the errors of coefficients.
    pub fn bound(&self) -> f64 {
        self.split.bound()
    }

    /// Bytes that a product moves through scratch memory.
    pub fn bytes_moved(&self) -> u64 {
        self.split.bytes_moved()
    }

    /// The table of a kernel as angles, in units of 1/(315·2⁴⁰) turns, with their divisors.
    pub fn roots(&self, stage: usize) -> Vec<(u64, u32)> {
        self.table(self.steps()[stage])
    }

    fn table(&self, step: Step) -> Vec<(u64, u32)> {
        match step {
            Step::Down(_) => self.split.down_table(),
            Step::Rows => self.split.row_table(),
            // Short columns have none.
            Step::Up | Step::Columns => self.split.up_table(),
            Step::Words | Step::Chain | Step::Finish | Step::FinishColumns => Vec::new(),
        }
    }

    fn steps(&self) -> Vec<Step> {
        if self.split.is_short() {
            return vec![Step::Rows, Step::Columns, Step::FinishColumns];
        }
        let down = (0..if self.split.square { 1 } else { 2 }).map(Step::Down);
        if self.split.is_high() {
            return down.chain([Step::Rows, Step::Up, Step::Words, Step::Chain, Step::Finish]).collect();
        }
        down.chain([Step::Rows, Step::Columns, Step::FinishColumns]).collect()
    }

    fn geometry(&self, step: Step) -> Geometry {
        let split = self.split;
        let (threads, blocks, shared) = match step {
            Step::Down(factor) => (split.down_threads(), split.down_blocks(), split.down_bytes(factor)),
            Step::Rows => {
                let factors = if split.square { 1 } else { 2 };
                (split.row_threads(), split.rows(), factors * POINT_BYTES * split.width)
            }
            Step::Up => (split.up_threads(), split.up_groups(), split.up_bytes()),
            Step::Words => (32 * SEGMENT_WARPS, split.word_blocks(), split.word_bytes()),
            Step::Chain => (32, 1, 0),
            Step::Finish => (32 * SEGMENT_WARPS, split.segments() / SEGMENT_WARPS, 0),
            Step::Columns if split.is_short() => (SHORT_THREADS, split.up_groups(), split.short_bytes()),
            Step::Columns => (split.low_threads(), split.up_groups(), split.low_bytes()),
            Step::FinishColumns => (split.finish_threads(), 1, split.finish_bytes()),
        };
        let max_lanes = (1 << 30) / blocks;
        Geometry { blocks, max_lanes, ..Geometry::new(threads, 1) }.with_shared(shared)
    }

    /// As many blocks a multiprocessor as shared memory allows and as leave the registers that the passes need. While a
    /// block waits for memory, others compute.
    fn bounds(&self, step: Step) -> Bounds {
        let Geometry { threads, shared_bytes, .. } = self.geometry(step);
        let registers = match step {
            // `ptxas` spills a register of products with 128, and shared memory has room for one block more only.
            Step::Rows if !self.split.square && !self.split.is_short() => 160,
            // With a third block fewer of the digits' words are under way at a time: measured, 6 % slower.
            Step::Rows if !self.split.square => 200,
            // `ptxas` spills registers of three parts with 96.
            Step::Down(_) if self.split.parts_together() => {
                if self.split.parts == 3 {
                    112
                } else {
                    96
                }
            }
            Step::Down(_) | Step::Rows | Step::Words => 128,
            // Their second pass spills a register with 96.
            Step::Up if self.split.parts == 3 && self.split.height == 256 => 128,
            Step::Up => 96,
            // With 80 there are five blocks of five warps. One of the four schedulers then has seven warps, which leaves each thread 72.
            Step::Columns if self.split.parts == 1 && self.split.height == 32 => 88,
            Step::Columns if !self.split.is_short() => 80,
            Step::Columns | Step::Chain | Step::Finish | Step::FinishColumns => 64,
        };
        let blocks = (SHARED_BYTES / (shared_bytes + 1024)).min(REGISTERS / (threads * registers));
        Bounds { max_threads: Some(threads), min_blocks: Some(blocks.max(1)), ..Bounds::default() }
    }

    fn kernel(&self, step: Step, entry: &Entry) -> Kernel {
        let rows: &[&str] = if self.split.square { &["a", "c"] } else { &["a", "b", "c"] };
        let name = match step {
            Step::Down(factor) => format!("{}_down{factor}", self.name()),
            Step::Rows => format!("{}_rows", self.name()),
            Step::Up => format!("{}_up", self.name()),
            Step::Words => format!("{}_words", self.name()),
            Step::Chain => format!("{}_chain", self.name()),
            Step::Columns => format!("{}_columns", self.name()),
            Step::Finish | Step::FinishColumns => format!("{}_finish", self.name()),
        };
        let (mut b, ports) = entry.open(&name, Glue::None, rows, true);
        b.bounds(self.bounds(step));
        self.write(&mut b, step, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, step: Step, ports: &Ports) {
        let split = self.split;
        let results = ports.addresses[ports.addresses.len() - 2];
        let scratch = ports.addresses[ports.addresses.len() - 1];
        let roots = self.table(step);
        let entry = |(angle, divisor)| divided_cosine_and_sine(angle, divisor).map(f64::to_bits);
        let table = if roots.is_empty() { scratch } else { b.table(roots.into_iter().flat_map(entry).collect()) };
        let block = Block {
            number: b.special(Special::Ctaid),
            thread: b.special(Special::Tid),
            lane: b.special(Special::Lane),
            shared: b.shared_base(),
            table,
        };
        let row = |b: &mut Builder, factor: usize, lane: R32| {
            let address = ports.addresses[factor];
            if self.shape.is_common(factor) {
                return address;
            }
            b.mad_wide(lane, 4 * split.limbs[factor], address)
        };
        match step {
            Step::Down(factor) => {
                let spectra = b.add64(scratch, u64::from(split.spectrum_bytes()) * factor as u64);
                split.down(b, &block, factor, |b, lane| row(b, factor, lane), spectra);
            }
            Step::Rows => split.multiply_rows(b, &block, scratch, row),
            Step::Up => split.up(b, &block, scratch),
            Step::Words => split.make_words(b, &block, scratch, results),
            Step::Chain => split.chain_segments(b, &block, scratch),
            Step::Finish => split.finish_segments(b, &block, scratch, results),
            Step::Columns if split.is_short() => split.make_short_columns(b, &block, scratch, results),
            Step::Columns => split.make_low_columns(b, &block, scratch, results),
            Step::FinishColumns => split.finish_columns(b, &block, scratch, results),
        }
    }
}

/// Quotient and remainder by 1, 3, 5, 7 or 9, of numbers to 2³⁰.
fn divide(b: &mut Builder, x: R32, divisor: u32) -> (R32, R32) {
    let (factor, shift) = match divisor {
        1 => return (x, b.copy(0)),
        3 => (0xAAAA_AAAB, 1),
        5 => (0xCCCC_CCCD, 2),
        7 => (0x9249_2493, 2),
        _ => (0x38E3_8E39, 1),
    };
    let high = b.mul_hi(x, factor);
    let quotient = b.shr(high, shift);
    let multiple = b.mul_lo(quotient, divisor);
    (quotient, b.sub(x, multiple))
}

impl Spec for Large {
    fn name(&self) -> String {
        let Split { limbs: [la, _, lc], square, parts, height, width, digit_bits, has_top } = self.split;
        let operands =
            if square { format!("sqr_fft_{la}_{lc}") } else { format!("mul_fft_{}", self.shape.product_name()) };
        let modulo = if has_top { "_modulo" } else { "" };
        format!("{operands}_{parts}x{height}x{width}_{digit_bits}{modulo}")
    }

    fn scratch_limbs(&self) -> u32 {
        self.split.scratch_bytes() / 4
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let Split { parts, height, width, digit_bits, .. } = self.split;
        let passes =
            self.passes().iter().map(|it| format!("{} {}", it.section, it.radix)).collect::<Vec<_>>().join(", ");
        vec![
            (
                "digits",
                format!(
                    "{} balanced ones of {digit_bits} bits {}, as {parts} × {height} rows of {width} complex points",
                    self.most_digits(),
                    if self.most_digits() > self.digits() {
                        "in the longer factor, two a coefficient"
                    } else {
                        "a factor"
                    },
                ),
            ),
            ("passes", format!("{passes} (the number is the radix)")),
            (
                "bound",
                format!("{:.3}: no coefficient has a greater error; below 0.5 the product is exact", self.bound()),
            ),
            (
                "memory",
                format!(
                    "{} bytes of scratch memory a lane; about {} bytes moved there",
                    self.split.scratch_bytes(),
                    self.split.bytes_moved()
                ),
            ),
        ]
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let stage = |step| Stage::new(self.geometry(step), move |entry| self.kernel(step, entry));
        self.steps().into_iter().map(stage).collect()
    }
}
