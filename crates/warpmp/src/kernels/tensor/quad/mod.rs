//! Quads: blocks in pairs, for full products of factors to 4896 bits.
//!
//! computes   all byte columns of a product, the limbs of the result in order, 16 at a time
//! requires   `la, lb ≤ 153`
//! cost       `⌈(la + 1)/16⌉·⌈(lb + 7)/16⌉` matrix products of 16×32 by 32×8 bytes, less those beyond the result; a register for each four limbs of `b`, and for each eight of `a`
//!
//! A *quad* is eight columns with a pair of blocks of `a`, each four times: column `4c + h` begins `3 − h` bytes before block `c` of the pair. The rows of the matrix are whole limbs: row `r` has
//! the limbs of `b` in reverse that end with limb `16k + r`. So matrix `k` times quad `m` adds to 16 limbs of the result: byte `h` of limb `16(k + m) + r`, or, in columns of the upper block,
//! of the limb eight further. These are all sums of a *window*, 16 limbs of the result, but for the bytes of `a` that are shifted beyond its last limb: they take a quad more if `a` fills its pairs.
//!
//! All matrices and quads stay in registers. So the next operands arrive while a product is computed, and a window needs sums of its own only as long as it is computed. Matrices have no
//! register in common: `ptxas` would copy registers to places next to each other.
//!
//! **Halves of limbs.** Lane `4g + t` has two of the four bytes of a limb, `t mod 2` says which, of the lower or the upper block, as `⌊t/2⌋` says: limbs `g` and `8 + g` of a window, or those
//! eight further. Two bytes are a *half*, a number of 32 bits. To 72 limbs lanes exchange the halves of limb `8 + g` and add, so that each has a whole half of one limb. With more limbs
//! the halves of each block go to shared memory, and are added by the lanes that make limbs of them.
//!
//! **Carries of halves.** Halves in the middle of a product may be one bit longer than a word. Those of random numbers are not: on average they are a quarter of the longest ones. So lanes keep
//! the carries in registers. Only if a lane has one, carries take the places of the halves when these have been read, and are added to the digits.
//!
//! **Planes** are the halves of all limbs in shared memory, two or four of them; `limbs` makes limbs of them. A plane is a block or two longer than a multiple of all banks, so no access waits for a bank.
//!
//! bound: a half that sums `n` products of bytes in each of its columns is at most `n·255²·257`: below 2³² to 257 products, below 2³³ to 514. `products_of_bytes` counts them: a sum of
//! exchanged halves has at most 288, a half of one block that is not exchanged at most 320. An exchanged half of one block does not carry: a limb meets at most 10 blocks of a factor where the other
//! one has 72 limbs, so at most 5 of a parity, and 160 products. A digit is below `2·(2¹⁶ + 1)·2³³ < 2⁵¹`, so its high word is below 2¹⁹, and the bound of `result` holds.
//!
//! source: ours.

mod limbs;

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::ir::{Cmp, Shuffle, Vector};

use super::layout::{BLOCK_BYTES, BLOCK_LIMBS, PIECE_LIMBS};
use super::multiplication::Multiplication;
use super::operands::{clear, fetch};
use super::part::Part;
use super::products::{Products, Rows};
use super::warps::{ALIGNMENT, Place};
use limbs::Row;

/// Limbs of a pair of blocks, and of a window.
const PAIR_LIMBS: u32 = 16;

/// Bytes of as many limbs.
const PAIR_BYTES: u32 = 4 * PAIR_LIMBS;

/// The limbs of the longest factor: the last ones with ten matrices. With more, products in strips are as fast.
const MOST_LIMBS: u32 = 153;

/// The limbs of the shorter factor up to which halves are exchanged. With more of them, carries of halves take longer than halves of each block.
const MOST_EXCHANGED: u32 = 72;

/// Windows that are computed side by side: a matrix product waits for the one before it in the same window.
const SIDE_BY_SIDE: u32 = 4;

/// Bytes of zeros before `a`: the limb below its lowest one.
const BEFORE_A: u32 = 4 * PIECE_LIMBS;

/// Bytes of zeros before and after `b`, beyond whole pairs: limbs of the first and the last matrix. They are enough for `a`, too.
const BEFORE_B: u32 = BLOCK_BYTES;
const AFTER_B: u32 = PAIR_BYTES;

/// The limbs of a lane's registers of a matrix, from limb `16k + g − 2t` on.
const MATRIX: [i32; 4] = [0, 8, -1, 7];

/// The least of them, for all lanes.
const LEAST_LANE: i32 = -6;

/// The division of a product into quads, and the shared memory of its warp: zeros and `a`, zeros and `b`, zeros, the planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Quads {
    /// Limbs of `a`, `b` and `c`.
    limbs: [u32; 3],
    /// Limbs of a piece of the rows of `a` and `b`.
    pieces: [u32; 2],
    /// Are the factors the same number? Then `a` is where `b` is.
    is_square: bool,
}

/// The carry of a half, 0 or 1, and where the lane put the half, from its first one on.
struct Carry {
    carry: R32,
    at: u32,
}

/// What a product is made of, in registers.
struct Factors {
    quads: Vec<[R32; 2]>,
    matrices: Vec<[R32; 4]>,
    /// What sums begin with.
    zero: R32,
}

impl Quads {
    /// Those of a multiplication, if quads hold its factors.
    pub(super) fn of(multiplication: Multiplication) -> Option<Self> {
        let limbs = multiplication.limbs();
        let [a, b, _] = limbs;
        let is_held = multiplication.part != Part::Cyclic && a <= MOST_LIMBS && b <= MOST_LIMBS;
        is_held.then(|| Self { limbs, pieces: multiplication.pieces(), is_square: multiplication.is_square() })
    }

    /// Bytes of shared memory a warp.
    pub(super) fn bytes(self) -> u32 {
        self.planes() + self.plane_count() * self.plane_bytes()
    }

    /// How many quads there are. The last one may have no more than bytes of the last limb.
    fn count(self) -> u32 {
        (self.limbs[0] + 1).div_ceil(PAIR_LIMBS)
    }

    /// Pairs of blocks of `b`.
    fn pairs(self) -> u32 {
        self.limbs[1].div_ceil(PAIR_LIMBS)
    }

    /// Matrices with limbs of `b`: the lowest limb of matrix `k` is `16k − 7`.
    fn matrices(self) -> u32 {
        (self.limbs[1] + BLOCK_LIMBS - 1).div_ceil(PAIR_LIMBS)
    }

    /// Windows of the result.
    fn windows(self) -> u32 {
        self.limbs[2].div_ceil(PAIR_LIMBS)
    }

    /// Do lanes exchange halves, so that each has the sum of both blocks?
    fn are_exchanged(self) -> bool {
        let [a, b, _] = self.limbs;
        a.min(b) <= MOST_EXCHANGED
    }

    /// Most products of bytes in a column of a half of this limb.
    fn products_of_bytes(self, limb: u32) -> u32 {
        let [a, b, _] = self.limbs;
        let of_both = (4 * a.min(b)).min(4 * limb + 4).min((4 * (a + b)).saturating_sub(4 * limb + 1));
        if self.are_exchanged() {
            return of_both;
        }
        // Every other one of the blocks of `a` that meet the limb.
        let highest = limb.min(a - 1) / BLOCK_LIMBS;
        let lowest = limb.saturating_sub(b) / BLOCK_LIMBS;
        of_both.min(BLOCK_BYTES * (highest + 1).saturating_sub(lowest).div_ceil(2))
    }

    /// The windows in which a half may be longer than a word.
    fn carrying(self) -> Range<u32> {
        let beyond = if self.are_exchanged() { 0 } else { BLOCK_LIMBS };
        let carries = |window: &u32| {
            let mut limbs = PAIR_LIMBS * window..PAIR_LIMBS * (window + 1) + beyond;
            limbs.any(|limb| u32::try_from(u64::from(self.products_of_bytes(limb)) * 255 * 255 * 257).is_err())
        };
        let mut windows = (0..self.windows()).filter(carries);
        let Some(first) = windows.next() else { return 0..0 };
        first..windows.next_back().unwrap_or(first) + 1
    }

    /// How many planes there are: those of the lower and the upper halves, of both blocks together or of each.
    fn plane_count(self) -> u32 {
        if self.are_exchanged() { 2 } else { 4 }
    }

    /// Where `a` begins.
    fn a(self) -> u32 {
        if self.is_square { self.b() } else { BEFORE_A }
    }

    /// Where `b` begins.
    fn b(self) -> u32 {
        let a = if self.is_square { 0 } else { BEFORE_A + PAIR_BYTES * self.count() };
        a + BEFORE_B
    }

    /// Where the planes begin.
    fn planes(self) -> u32 {
        self.b() + PAIR_BYTES * self.pairs() + AFTER_B
    }

    /// Bytes from a plane to the next. Before the halves of an upper block are eight words of zeros: these halves are eight limbs further.
    fn plane_bytes(self) -> u32 {
        let before = if self.are_exchanged() { 2 * BLOCK_BYTES } else { BLOCK_BYTES };
        before + (PAIR_BYTES * self.windows() + 4 * self.beyond_windows()).next_multiple_of(ALIGNMENT)
    }

    /// Where the halves of the first plane begin.
    fn first_half(self) -> u32 {
        self.planes() + BLOCK_BYTES
    }

    /// The products of a warp.
    pub(super) fn products(self, b: &mut Builder, place: &Place, products: &Products<'_, impl Rows>) {
        let Products { rows, multiplication, warps, .. } = *products;
        self.clear(b, place);
        let factor = |b: &mut Builder, i: usize| products.factor(b, place, i, self.pieces[i]);
        let from = [0, 1].map(|i| factor(b, i));
        self.fetch(b, place, from);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            let factors = self.load(b, place);
            b.warp_barrier();
            products.advance(b);
            let more = products.is_there(b);
            // One address is kept, the other one computed anew: with two kept, `ptxas` spills registers in some kernels, with none in others.
            let kept = usize::from(self.is_square);
            let strides = rows.strides();
            if let Some(strides) = strides {
                warps.advance(b, from[kept], strides[kept]);
            }
            b.if_(more, |b| {
                let next = [0, 1].map(|i| match strides {
                    Some(_) if i == kept => from[i],
                    Some(_) | None => factor(b, i),
                });
                self.fetch(b, place, next);
                rows.prefetch(b, place.lane, products.product);
            });
            b.section("multiply");
            let before = products.before(b);
            let row = rows.result(b, before);
            let row = Row::new(b, self, row);
            let carries = self.multiply(b, place, &factors, row.shift);
            b.section("carry");
            b.warp_barrier();
            let addends = rows.addends(b, before);
            let limbs = self.resolve(b, place, (&carries, row.shift), &addends);
            b.section("store");
            self.store(b, place, (row, &limbs), &multiplication.kept());
            products.is_there(b)
        });
    }

    /// Writes the zeros before and after the operands and before the halves.
    fn clear(self, b: &mut Builder, place: &Place) {
        let [la, lb, _] = self.limbs;
        if !self.is_square {
            clear(b, place, 0, BEFORE_A / 4);
            clear(b, place, self.a() + 4 * la, PAIR_LIMBS * self.count() - la);
        }
        clear(b, place, self.b() - BEFORE_B, BEFORE_B / 4);
        clear(b, place, self.b() + 4 * lb, PAIR_LIMBS * self.pairs() + AFTER_B / 4 - lb);
        for plane in 0..self.plane_count() {
            clear(b, place, self.planes() + plane * self.plane_bytes(), BLOCK_BYTES / 4);
            // Shifted pieces may have words beyond the last window.
            let end = self.first_half() + plane * self.plane_bytes() + PAIR_BYTES * self.windows();
            clear(b, place, end, self.beyond_windows());
        }
    }

    /// Starts to copy the operands of a product. The lane's first pieces are at `from`.
    fn fetch(self, b: &mut Builder, place: &Place, from: [R64; 2]) {
        for (i, at) in [self.a(), self.b()].into_iter().enumerate().skip(usize::from(self.is_square)) {
            fetch(b, place, (from[i], self.limbs[i], self.pieces[i]), place.shared, at);
        }
        b.copy_commit();
    }

    /// Loads the lane's part of all quads and matrices.
    fn load(self, b: &mut Builder, place: &Place) -> Factors {
        let zero = b.copy(0);
        // Byte i of limb q of a quad is byte 4q + h − i of a.
        let shift = b.and(place.group, 3);
        let bytes = b.mad_lo(shift, 0x1111, 0x1234);
        let block = b.shr(place.group, 2);
        let from = b.mad_lo(block, BLOCK_BYTES, place.shared);
        let from = b.mad_lo(place.member, 8, from);
        let quads = (0..self.count()).map(|m| {
            let at = self.a() + PAIR_BYTES * m;
            let below = b.load_shared(Vector::V1, from, at - 4)[0];
            if PAIR_LIMBS * m == self.limbs[0] {
                return [b.prmt(below, zero, bytes), zero];
            }
            let words = b.load_shared(Vector::V2, from, at);
            [b.prmt(below, words[0], bytes), b.prmt(words[0], words[1], bytes)]
        });
        let quads = quads.collect();
        let from = b.mad_lo(place.group, 4, place.shared);
        let from = b.mad_lo(place.member, 8u32.wrapping_neg(), from);
        let matrices = (0..self.matrices()).map(|k| {
            MATRIX.map(|limb| {
                let limb = (PAIR_LIMBS * k).cast_signed() + limb;
                // Beyond `b` are zeros in all lanes.
                if limb + LEAST_LANE >= self.limbs[1].cast_signed() {
                    return zero;
                }
                b.load_shared(Vector::V1, from, self.b().wrapping_add_signed(4 * limb))[0]
            })
        });
        Factors { quads, matrices: matrices.collect(), zero }
    }

    /// Multiplies, and puts the halves of all limbs into their planes, `shift` bytes further. Returns what they carry.
    fn multiply(self, b: &mut Builder, place: &Place, factors: &Factors, shift: Option<R32>) -> Vec<Carry> {
        let mut own = self.own_halves(b, place);
        if let Some(shift) = shift {
            self.clear_before(b, place, (own, shift), factors.zero);
            own = b.add(own, shift);
        }
        let is_upper = b.compare(Cmp::Ge, place.member, 2);
        // The upper halves that this lane got of the window before.
        let mut before = factors.zero;
        let carrying = self.carrying();
        let mut all = vec![];
        for first in (0..self.windows()).step_by(SIDE_BY_SIDE as usize) {
            let windows = first..self.windows().min(first + SIDE_BY_SIDE);
            let sums = sums(b, factors, windows.clone());
            for (window, sums) in windows.zip(sums) {
                let carries = carrying.contains(&window);
                let pairs = [[sums[0], sums[1]], [sums[2], sums[3]]];
                let halves = if self.are_exchanged() {
                    let [lower, upper] = pairs.map(|[low, high]| b.mad_lo(high, place.bytes[1], low));
                    let others = b.shuffle(Shuffle::Bfly, upper, 2, 32);
                    let same_limb = b.select(others, before, is_upper);
                    before = others;
                    vec![sum(b, lower, same_limb, carries)]
                } else {
                    pairs.map(|sums| half(b, place, sums, carries)).to_vec()
                };
                for ((word, carry), at) in halves.into_iter().zip(self.halves_of_window(window)) {
                    b.store_shared(&[word], own, self.first_half() + at);
                    all.extend(carry.map(|carry| Carry { carry, at }));
                }
            }
        }
        all
    }

    /// Where the lane's halves of a window are, counted from its first one.
    fn halves_of_window(self, window: u32) -> impl Iterator<Item = u32> {
        let count = if self.are_exchanged() { 1 } else { 2 };
        (PAIR_BYTES * window..).step_by(BLOCK_BYTES as usize).take(count)
    }

    /// The address of the lane's first half, counted from that of all.
    fn own_halves(self, b: &mut Builder, place: &Place) -> R32 {
        let own = b.mad_lo(place.group, 4, place.shared);
        if !self.are_exchanged() {
            return b.mad_lo(place.member, self.plane_bytes(), own);
        }
        let [half, block] = [b.and(place.member, 1), b.shr(place.member, 1)];
        let own = b.mad_lo(block, BLOCK_BYTES, own);
        b.mad_lo(half, self.plane_bytes(), own)
    }

    /// Writes zeros to the places that a shift leaves free before the first limb. `own` is where the lane's first half is without a shift.
    fn clear_before(self, b: &mut Builder, place: &Place, (own, shift): (R32, R32), zero: R32) {
        // The lane's limb of the first window, in bytes.
        let mut limb = b.shl(place.group, 2);
        if self.are_exchanged() {
            let block = b.shr(place.member, 1);
            limb = b.mad_lo(block, BLOCK_BYTES, limb);
        }
        let is_free = b.compare(Cmp::Lt, limb, shift);
        b.guarded(is_free, true, |g| g.store_shared(&[zero], own, self.first_half()));
    }
}

/// The sums of some windows, side by side.
fn sums(b: &mut Builder, factors: &Factors, windows: Range<u32>) -> Vec<[R32; 4]> {
    let mut all = vec![[factors.zero; 4]; windows.len()];
    for (&quad, m) in factors.quads.iter().zip(0..windows.end) {
        for (window, sums) in windows.clone().zip(&mut all).filter(|(window, _)| *window >= m) {
            if let Some(&matrix) = factors.matrices.get((window - m) as usize) {
                *sums = b.mma_u8(matrix, quad, *sums);
            }
        }
    }
    all
}

/// The half of two sums, the second one a byte further; with `carries` also what it is beyond a word.
fn half(b: &mut Builder, place: &Place, [low, high]: [R32; 2], carries: bool) -> (R32, Option<R32>) {
    if !carries {
        return (b.mad_lo(high, place.bytes[1], low), None);
    }
    let up = b.shl(high, 8);
    let (word, carry) = sum(b, low, up, carries);
    let over = b.shr(high, 24);
    (word, carry.map(|carry| b.add(over, carry)))
}

/// The sum of two words; with `carries` also what it is beyond a word.
fn sum(b: &mut Builder, x: R32, y: R32, carries: bool) -> (R32, Option<R32>) {
    if !carries {
        return (b.add(x, y), None);
    }
    let carry = b.register();
    let mut chain = b.chain();
    let word = chain.add(x, y);
    chain.end_add(carry, 0, 0);
    (word, Some(carry))
}
