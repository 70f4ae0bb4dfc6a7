//! Powers modulo one odd number for all lanes: a warpgroup computes 64 powers beside each other.
//!
//! computes   `x = g^e`, Montgomery residues below `m`
//! requires   `m` and its inverse modulo `R`, a row each; `g^0` and `g` as residues
//! launch     `128·warpgroups` threads a block, 64 lanes a warpgroup. Where the modulus is even, the kernel ends at once
//! cost       in products of `tensor` and reductions of [`Reducer`]: `2^w − 1`, and `w + 1` a window after the first one
//! memory     `2^w` residues and a product a lane in scratch memory
//! registers  about 160 with two tiles, 190 with four, 245 with eight
//!
//! A step is 64 products, 16 a warp, and the reduction of all of them by the four warps. Products and residues go through global memory: a block's
//! rows are few and stay in the second-level cache.
//!
//! Squares, products by a residue of the table and the products that make it are the same instructions: only the addresses of rows differ. The residue of
//! the first window is the first product, by `g^0`.
//!
//! source: Handbook of Applied Cryptography 14.82 (windows of fixed length).

use warpmp_kernel::build::{Builder, Emit, Glue, R32, R64};
use warpmp_kernel::fragment::repeat;
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special, Vector};
use warpmp_launch::{Entry, Geometry, Ports, Stage};

use super::layout::Layout;
use super::matrices::Constant;
use super::reducer::{Numbers, Reducer, Target};
use super::tile::{GROUP_LANES, NEXT_ROW, Place, WARPS, warp_of_group};
use crate::kernels::modular::power::digit as digit_of;
use crate::kernels::tensor::{Addends, PIECE_LIMBS, Rows, Tensor, WarpPlace};
use crate::kernels::warpgroup::THREADS;
use crate::kernels::{OperandShape, Spec};

/// Addresses of a lane's rows in a step: two factors, their product, the result.
const ADDRESSES: u32 = 4;

/// Bytes of the addresses of a warpgroup's lanes.
const ROWS_BYTES: u32 = 8 * ADDRESSES * GROUP_LANES;

/// Parameters of the kernel. Parameters of its launch: the exponent, the modulus, its inverse, `g^0`, the table, products, `g` and later the power, lanes.
#[derive(Clone, Debug)]
pub(super) struct Power {
    pub(super) layout: Layout,
    pub(super) exponent: OperandShape,
    pub(super) modulus: OperandShape,
    /// Bits of a window.
    pub(super) window: u32,
    /// The products of residues, by four warps.
    pub(super) product: Tensor,
}

/// A thread, and the lanes of its warpgroup.
struct Lanes {
    /// Number of the thread.
    thread: R32,
    /// Where the block's shared memory begins.
    shared: R32,
    /// The first lane of the warpgroup.
    start: R32,
    /// The last lane of the launch.
    last: R32,
    /// Lanes of the warpgroup: at most 64, perhaps none.
    count: R32,
    /// Where the addresses of the step's rows begin in shared memory: [`ADDRESSES`] a lane. Steps have two places in turn: a warp may be a step ahead of
    /// one that still stores results.
    rows: R32,
    /// The sum of both places.
    both_rows: R32,
}

/// How far the steps are.
struct Progress {
    /// Number of the step.
    step: R32,
    /// Squares before the next product.
    squares: R32,
    /// The bit at which the window begins that has been read.
    bit: R32,
}

/// The addresses of a lane's rows in a step.
#[derive(Clone, Copy)]
enum Row {
    Factor(usize),
    Product,
    Result,
}

impl Row {
    /// Its place among the addresses.
    const fn number(self) -> u32 {
        match self {
            Self::Factor(i) => i as u32,
            Self::Product => 2,
            Self::Result => 3,
        }
    }
}

impl Lanes {
    /// A zero that `ptxas` does not know.
    fn zero(&self, b: &mut Builder) -> R32 {
        b.shr(self.count, 31)
    }

    /// The address of a row of a lane in this step. The warpgroup's lanes count from 0.
    fn address(&self, b: &mut Builder, lane: R32, row: Row) -> R64 {
        let at = b.mad_lo(lane, 8 * ADDRESSES, self.rows);
        let words = b.load_shared(Vector::V2, at, 8 * row.number());
        b.pack(words[0], words[1])
    }
}

impl Rows for Lanes {
    fn factor(&self, b: &mut Builder, product: R32, i: usize) -> R64 {
        self.address(b, product, Row::Factor(i))
    }

    fn result(&self, b: &mut Builder, product: R32) -> R64 {
        self.address(b, product, Row::Product)
    }

    fn addends(&self, _: &mut Builder, _: R32) -> Addends {
        Addends::default()
    }

    fn prefetch(&self, _: &mut Builder, _: R32, _: R32) {}

    fn strides(&self) -> Option<[u32; 3]> {
        None
    }
}

impl Power {
    /// Limbs of the residues of a lane.
    pub(super) const fn table_limbs(&self) -> u32 {
        self.layout.limbs << self.window
    }

    /// Products that make the table.
    const fn others(&self) -> u32 {
        (1 << self.window) - 2
    }

    /// Where four addresses are in the block's shared memory: of the exponents, of the table, of products and of powers. In registers they would be
    /// in the way of the sums.
    const fn kept(&self) -> u32 {
        self.layout.bytes()
    }

    /// Where the addresses of rows begin.
    const fn rows(&self) -> u32 {
        self.kept() + 8 * ADDRESSES
    }

    /// Bytes of the block's shared memory.
    const fn shared_bytes(&self) -> u32 {
        self.rows() + 2 * ROWS_BYTES * self.layout.warpgroups
    }

    fn kernel(&self, entry: &Entry) -> Kernel {
        let names = ["e", "m", "i", "one", "table", "t", "x"];
        let (mut b, ports) = entry.open(&self.name(), Glue::None, &names, false);
        // No bound of registers: with one, `ptxas` spills some and uses others for nothing.
        b.bounds(Bounds { max_threads: Some(self.layout.threads()), ..Bounds::default() });
        self.write(&mut b, &ports);
        b.finish()
    }

    fn write(&self, b: &mut Builder, ports: &Ports) {
        let layout = self.layout;
        let [exponents, modulus, inverse, one, table, products, power] = ports.first();
        b.section("setup");
        let lowest = b.load_global(Space::Global, Vector::V1, modulus, 0)[0];
        let parity = b.and(lowest, 1);
        let even = b.compare(Cmp::Eq, parity, 0);
        b.return_if(even);
        let lanes = self.lanes(b, ports.lanes);
        let constant = Constant::row(modulus, self.modulus.limbs());
        let inverse = Constant::row(inverse, layout.limbs);
        layout.write_matrices(b, lanes.thread, lanes.shared, constant, Some(inverse));
        b.proxy_fence();
        let is_first = b.compare(Cmp::Eq, lanes.thread, 0);
        b.if_(is_first, |b| {
            for (address, i) in [exponents, table, products, power].into_iter().zip(0..) {
                let (low, high) = b.unpack(address);
                b.store_shared(&[low, high], lanes.shared, self.kept() + 8 * i);
            }
        });
        let length = layout.limbs;
        self.copy(b, &lanes, (one, length), (table, self.table_limbs()));
        let base = b.add64(table, u64::from(4 * length));
        self.copy(b, &lanes, (power, length), (base, self.table_limbs()));
        b.barrier();
        let windows = self.exponent.bits.div_ceil(self.window);
        let [step, squares, bit] = [0, 0, windows * self.window].map(|value| b.copy(value));
        let progress = Progress { step, squares, bit };
        repeat(b, self.others() + 1 + (windows - 1) * (self.window + 1), |b| {
            self.locate(b, &lanes, &progress);
            b.barrier();
            self.multiply(b, &lanes);
            b.barrier();
            self.reduce(b, &lanes);
            self.advance(b, &progress);
        });
    }

    /// The lanes of the thread's warpgroup, of `lanes` in all.
    fn lanes(&self, b: &mut Builder, lanes: R32) -> Lanes {
        let thread = b.special(Special::Tid);
        let shared = b.shared_base();
        let group = b.shr(thread, THREADS.ilog2());
        let block = b.special(Special::Ctaid);
        let number = b.mad_lo(block, self.layout.warpgroups, group);
        let start = b.mul_lo(number, GROUP_LANES);
        let end = b.add(start, GROUP_LANES);
        let end = b.min(end, lanes);
        let first = b.min(start, end);
        let rows = b.mad_lo(group, 2 * ROWS_BYTES, shared);
        let rows = b.add(rows, self.rows());
        let both_rows = b.mad_lo(rows, 2, ROWS_BYTES);
        Lanes { thread, shared, start, last: b.sub(lanes, 1), count: b.sub(end, first), rows, both_rows }
    }

    /// Copies the residues of the warp's lanes, from rows to rows of so many limbs.
    fn copy(&self, b: &mut Builder, lanes: &Lanes, from: (R64, u32), to: (R64, u32)) {
        let own = b.and(lanes.thread, 31);
        let lane = warp_of_group(b, lanes.thread);
        let has_lanes = |b: &mut Builder| b.compare(Cmp::Lt, lane, lanes.count);
        b.while_(has_lanes, |b| {
            let number = b.add(lanes.start, lane);
            let [from, to] = [from, to].map(|(first, limbs)| {
                let row = b.mad_wide(number, 4 * limbs, first);
                b.mad_wide(own, 4 * PIECE_LIMBS, row)
            });
            let pieces = self.layout.limbs / PIECE_LIMBS;
            for start in (0..pieces).step_by(32) {
                let inside = b.compare(Cmp::Lt, own, pieces - start);
                b.if_(inside, |b| {
                    let words = b.load_global(Space::Global, Vector::V4, from, 4 * PIECE_LIMBS * start);
                    b.store_global(Space::Global, &words, to, 4 * PIECE_LIMBS * start);
                });
            }
            b.increase(lane, WARPS);
        });
    }

    /// The addresses of the rows of a step: each of 64 threads finds those of a lane, of the last one in the place of lanes that the launch does not have.
    fn locate(&self, b: &mut Builder, lanes: &Lanes, progress: &Progress) {
        b.section("window");
        let length = self.layout.limbs;
        let Progress { step, squares, bit } = *progress;
        let turned = b.sub(lanes.both_rows, lanes.rows);
        b.set(lanes.rows, turned);
        let makes_table = b.compare(Cmp::Lt, step, self.others());
        let is_square = b.compare(Cmp::Ne, squares, 0);
        let is_product = b.or_pred(makes_table, is_square);
        let begins = b.not_pred(is_product);
        b.if_(begins, |b| b.decrease(bit, self.window));
        let number = b.and(lanes.thread, THREADS - 1);
        let has_lane = b.compare(Cmp::Lt, number, GROUP_LANES);
        b.if_(has_lane, |b| {
            let lane = b.add(lanes.start, number);
            let lane = b.min(lane, lanes.last);
            let kept = [0, 16].map(|i| b.load_shared(Vector::V4, lanes.shared, self.kept() + i)).concat();
            let [exponents, table, products, power] = [0, 2, 4, 6].map(|i| b.pack(kept[i], kept[i + 1]));
            let table = b.mad_wide(lane, 4 * self.table_limbs(), table);
            let product = b.mad_wide(lane, 8 * length, products);
            let power = b.mad_wide(lane, 4 * length, power);
            let digit = b.copy(1);
            b.if_(begins, |b| {
                let exponent = self.exponent;
                let row = if exponent.common { exponents } else { b.mad_wide(lane, 4 * exponent.limbs(), exponents) };
                let window = digit_of(b, row, exponent.limbs(), bit, self.window);
                b.set(digit, window);
            });
            // The residues that make the table, then the first one, for the first window.
            let next = b.add(step, 1);
            let entry = b.select(next, 0, makes_table);
            let entry = b.mad_wide(entry, 4 * length, table);
            let after = b.add64(entry, u64::from(4 * length));
            let result = b.select64(after, power, makes_table);
            let is_later = b.compare(Cmp::Gt, step, self.others());
            let first = b.select64(power, entry, is_later);
            let other = b.mad_wide(digit, 4 * length, table);
            let second = b.select64(first, other, is_square);
            let to = b.mad_lo(number, 8 * ADDRESSES, lanes.rows);
            for (pair, i) in [[first, second], [product, result]].into_iter().zip([0, 16]) {
                let words = pair.map(|it| <[R32; 2]>::from(b.unpack(it))).concat();
                b.store_shared(&words, to, i);
            }
        });
    }

    /// The products of a step: a warp has every fourth lane.
    fn multiply(&self, b: &mut Builder, lanes: &Lanes) {
        let thread = lanes.thread;
        let product = warp_of_group(b, thread);
        let has_lanes = b.compare(Cmp::Lt, product, lanes.count);
        b.if_(has_lanes, |b| {
            let warp = b.shr(thread, 5);
            let shared = b.mad_lo(warp, self.product.warp_bytes(), lanes.shared);
            let shared = b.add(shared, self.layout.own());
            let lane = b.and(thread, 31);
            let zero = lanes.zero(b);
            let place = WarpPlace::new(b, lane, shared, zero);
            self.product.products(b, &place, (product, lanes.count), lanes);
        });
    }

    /// Reduces the products of a step.
    fn reduce(&self, b: &mut Builder, lanes: &Lanes) {
        b.section("load");
        let zero = lanes.zero(b);
        let place = &Place::new(b, self.layout, (lanes.thread, zero));
        let reducer = Reducer { place, is_double: true };
        let nothing = b.copy(0);
        let lane = place.first_lane(b, nothing);
        let own = [lane, b.add(lane, NEXT_ROW)];
        let numbers = Numbers::new(b);
        let rows = own.map(|lane| lanes.address(b, lane, Row::Product));
        reducer.begin(b, rows, &numbers);
        place.clear(b);
        let negative = reducer.reduce(b, &numbers);
        b.section("store");
        let exists = own.map(|lane| b.compare(Cmp::Lt, lane, lanes.count));
        let rows = own.map(|lane| lanes.address(b, lane, Row::Result));
        reducer.store(b, negative, &Target { rows, exists, kept: None });
    }

    /// Goes on to the next step.
    fn advance(&self, b: &mut Builder, progress: &Progress) {
        b.section("window");
        let Progress { step, squares, .. } = *progress;
        let has_table = b.compare(Cmp::Ge, step, self.others());
        b.if_(has_table, |b| {
            let none = b.compare(Cmp::Eq, squares, 0);
            let fewer = b.sub(squares, 1);
            let next = b.select(self.window, fewer, none);
            b.set(squares, next);
        });
        b.increase(step, 1);
    }
}

impl Spec for Power {
    fn name(&self) -> String {
        let Layout { limbs, warpgroups, .. } = self.layout;
        let exponent = format!("{}b{}", self.exponent.name(), self.exponent.bits);
        format!("power_common{exponent}{}_{limbs}_w{}_g{warpgroups}", self.modulus.name(), self.window)
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let geometry = Geometry::new(self.layout.threads(), GROUP_LANES * self.layout.warpgroups);
        vec![Stage::new(geometry.with_shared(self.shared_bytes()), |entry| self.kernel(entry))]
    }
}
