//! A product modulo an odd number by three matrix products.
//!
//! computes   `x·y/R mod m` for `x, y < R`, `R = B^N`, as a number below `R`; below `m` if `x·y < m·R`
//! cost       in matrix products of 16×32 by 32×8 bytes, for `P` panels: `x·y` `2P·(8P + 1)`, `q` `8P·(P + 1)`, `q·m` `16P²`
//!
//! With `i = 1/m mod R`, `t = x·y` and `q = t·i mod R`, the low halves of `t` and `q·m` are equal. So with
//! `u = ⌊q·m/R⌋` the result is `⌊t/R⌋ − u`, and `m` more where that is negative.
//!
//! **The quotient** needs the low half of a product alone: a panel has eight blocks that are neighbours, and no matrix meets one of
//! zeros only.
//!
//! **The high half** `u` comes from columns modulo their number, that is from `S ≡ q·m` modulo `R − 1`. With `L` and `H` the sums of the low
//! and the high columns, `q·m = L + R·H`, `S = L + H`, and `L = (t mod R) + c·R`. So `S − (t mod R) = H + c·R ≡ H + c = u`
//! modulo `R − 1`; and `0 ≤ u < m ≤ R − 1`, so `u` is known.
//!
//! `v = (t mod R) + (R − 1 − S)` modulo `R − 1` is `R − 1 − u`, and `⌊t/R⌋ + v + 1` is `⌊t/R⌋ − u + R`: a carry comes out of it unless
//! the difference is negative. Zero has two forms modulo `R − 1`. If `u = 0` then `q = 0` or `q·m < R`, so `H = c = 0` and
//! `S = t mod R` in limbs: all limbs of `v` are ones without a carry, which is the form that is wanted.
//!
//! Chunks of a number lie in the lanes twice, in lanes 0 to 15 and in lanes 16 to 31. So the carry out of lane 15 is the carry that goes around, and
//! lanes 16 to 31 have the sum modulo `R − 1`. Were it wrong because a carry into lane 0 is missing, then every chunk would pass it on:
//! all limbs would be ones, and no chunk makes a carry of its own, so none goes around either.
//!
//! bound: the sums of columns as in `tensor`; a digit's high word is below 2²⁴, so a chunk carries at most 1, and is not all ones then. The result:
//! `⌊t/R⌋ < R` and `u < m`; a difference that is negative is at least `−m`, and `m` more is below `m`.
//!
//! source: P. Montgomery, 1985; the high half from a product modulo `R − 1`: as with Fourier transforms, R. Brent and P. Zimmermann, Modern
//! Computer Arithmetic, 2010, section 2.4.2 (wrap-around trick). The form for tensor cores is ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, assign, resolve_carries, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Vector};
use warpmp_launch::{divide, piece};

use super::room::{KEPT, Room};
use crate::kernels::tensor::layout::{BLOCK_BYTES, BLOCK_LIMBS, COLUMNS};
use crate::kernels::tensor::multiply::{Operands, Source, Style, Sums, add_products, zeros};
use crate::kernels::tensor::operands::{clear, fetch};
use crate::kernels::tensor::part::Part;
use crate::kernels::tensor::result::from_lane_below;
use crate::kernels::tensor::warps::Place;

/// How steps are written.
const STYLE: Style = Style { fence: 2, selects: false };

/// Lanes that have the chunks of a number of `N` limbs.
const HALF: u32 = 16;

/// Arithmetic modulo a number in a warp.
pub(super) struct Ring<'p> {
    pub(super) room: Room,
    pub(super) place: &'p Place,
    /// `lane mod 16`: its chunk of `N` limbs.
    chunk: R32,
    /// Is it one of lanes 16 to 31?
    is_upper: Pred,
}

impl<'p> Ring<'p> {
    /// Writes the zeros around the numbers. The modulus has `limbs` limbs.
    pub(super) fn new(b: &mut Builder, room: Room, place: &'p Place, limbs: u32) -> Self {
        clear(b, place, room.factor, BLOCK_LIMBS);
        clear(b, place, room.factor + BLOCK_BYTES + 4 * room.limbs(), BLOCK_LIMBS);
        clear(b, place, room.product, BLOCK_LIMBS);
        clear(b, place, room.modulus + 4 * limbs, room.limbs() - limbs);
        clear(b, place, room.inverse, BLOCK_LIMBS * (COLUMNS - 1));
        let chunk = b.and(place.lane, HALF - 1);
        let is_upper = b.compare(Cmp::Ge, place.lane, HALF);
        Self { room, place, chunk, is_upper }
    }

    /// Reads a modulus of `limbs` limbs and its inverse modulo `R`. The rows begin at these addresses.
    pub(super) fn read_modulus(&self, b: &mut Builder, [modulus, inverse]: [R64; 2], limbs: u32) {
        let Self { room, place, .. } = *self;
        self.fetch(b, modulus, limbs, room.modulus);
        self.fetch(b, inverse, room.limbs(), room.other);
        arrive(b);
        room.layout.arrange(b, place, (place.shared, room.modulus), room.multiples);
        let own = b.mad_lo(place.lane, 16, place.shared);
        self.pieces(b, room.limbs() / 4, |b, at| {
            let words = b.load_shared(Vector::V4, own, room.other + at);
            let words: Vec<R32> = words.into_iter().map(|word| b.prmt(word, 0, 0x0123)).collect();
            b.store_shared(&words, own, room.inverse + BLOCK_BYTES * (COLUMNS - 1) + at);
        });
        b.warp_barrier();
    }

    /// Starts to copy a row of `limbs` limbs to a place.
    pub(super) fn fetch(&self, b: &mut Builder, row: R64, limbs: u32, to: u32) {
        let from = b.mad_wide(self.place.lane, 4 * piece(limbs), row);
        fetch(b, self.place, (from, limbs, piece(limbs)), self.place.shared, to);
    }

    /// Puts addresses, which are the same in all lanes, into shared memory.
    pub(super) fn keep(&self, b: &mut Builder, addresses: [R64; KEPT]) {
        let words: Vec<R32> = addresses.into_iter().flat_map(|it| <[R32; 2]>::from(b.unpack(it))).collect();
        let first = b.compare(Cmp::Eq, self.place.lane, 0);
        b.if_(first, |b| store(b, &words, self.place.shared, self.room.kept));
        b.warp_barrier();
    }

    /// A kept address.
    pub(super) fn kept(&self, b: &mut Builder, i: usize) -> R64 {
        let words = b.load_shared(Vector::V2, self.place.shared, self.room.kept + 8 * i as u32);
        b.pack(words[0], words[1])
    }

    /// Where the limbs of the first factor and of results begin.
    pub(super) const fn factor(&self) -> u32 {
        self.room.factor + BLOCK_BYTES
    }

    /// Executes `body` for each piece of four words, 32 at a time; it gets the bytes before them. Lanes that have none are left out.
    pub(super) fn pieces(&self, b: &mut Builder, count: u32, body: impl Fn(&mut Builder, u32)) {
        for start in (0..count).step_by(32) {
            if start + 32 <= count {
                body(b, 16 * start);
            } else {
                let inside = b.compare(Cmp::Lt, self.place.lane, count - start);
                b.if_(inside, |b| body(b, 16 * start));
            }
        }
    }

    /// Multiplies the first factor by the number that begins `from.1` bytes after the address `from.0`. The result takes the place of the
    /// first factor.
    pub(super) fn multiply(&self, b: &mut Builder, from: (R32, u32)) {
        let Self { room, place, .. } = *self;
        let layout = room.layout;
        b.section("multiply");
        layout.arrange(b, place, from, layout.work);
        b.warp_barrier();
        let factor = b.add(place.shared, room.factor);
        let sums = layout.multiply(b, place, Source::Words(factor), Part::Whole, STYLE);
        b.section("carry");
        b.warp_barrier();
        let digits = layout.padded(b, place);
        layout.put_digits(b, place, &digits, &sums, 2);
        b.warp_barrier();
        let from_below = |b: &mut Builder, last: R32| from_lane_below(b, place, last);
        let product = layout.resolve_chunk(b, place, place.lane, from_below);
        let to = b.mad_lo(place.lane, 4 * layout.chunk(), place.shared);
        store(b, &product, to, room.product + BLOCK_BYTES);
        b.warp_barrier();
        b.section("quotient");
        let sums = self.low_product(b);
        self.put_low_digits(b, &sums);
        b.warp_barrier();
        let quotient = layout.resolve_chunk(b, place, self.chunk, from_below);
        let own = b.mad_lo(self.chunk, 4 * layout.chunk(), place.shared);
        let is_lower = b.not_pred(self.is_upper);
        b.if_(is_lower, |b| store(b, &quotient, own, room.quotient + BLOCK_BYTES));
        // The last block again, before the first one.
        let last = BLOCK_LIMBS.div_ceil(layout.chunk());
        let first_word = layout.chunk() * last - BLOCK_LIMBS;
        let holds_last = b.compare(Cmp::Ge, place.lane, HALF - last);
        let holds_last = b.and_pred(holds_last, is_lower);
        let before = b.sub(own, 4 * (room.limbs() - BLOCK_LIMBS));
        b.if_(holds_last, |b| store(b, &quotient[first_word as usize..], before, room.quotient + 4 * first_word));
        b.warp_barrier();
        b.section("reduce");
        let quotient = b.add(place.shared, room.quotient);
        let operands = Operands::of(b, place, Source::Words(quotient), room.multiples, STYLE.fence);
        let none = zeros(b);
        let sums = layout.multiply_cyclically(b, &operands, none, layout.blocks, |_, _, _| {});
        b.warp_barrier();
        let digits = layout.padded(b, place);
        layout.put_cyclic_digits(b, place, &digits, &sums);
        b.warp_barrier();
        let around = |b: &mut Builder, last: R32| {
            let before = b.add(self.chunk, HALF - 1);
            let before = b.and(before, HALF - 1);
            b.shuffle(Shuffle::Idx, last, before, 32)
        };
        let sum = layout.resolve_chunk(b, place, self.chunk, around);
        let result = self.difference(b, &sum, own);
        b.if_(self.is_upper, |b| store(b, &result, own, self.factor()));
        b.warp_barrier();
    }

    /// The sums of the low columns of the low half of the product and the inverse: panel `p` has blocks `8p` to `8p + 7`.
    fn low_product(&self, b: &mut Builder) -> Vec<Sums> {
        let Self { room, place, .. } = *self;
        let product = b.add(place.shared, room.product);
        let operands = Operands::of(b, place, Source::Words(product), room.inverse, STYLE.fence);
        let mut panels = vec![zeros(b); room.layout.panels as usize];
        for step in 0..room.layout.blocks {
            room.layout.fence(b, step, STYLE.fence);
            let halves = operands.matrix(b, step);
            for (sums, p) in panels.iter_mut().zip(0..) {
                let last = COLUMNS * p + COLUMNS - 1;
                if last >= step {
                    let block = operands.load(b, BLOCK_BYTES * (last - step));
                    add_products(b, halves, &block, sums);
                }
            }
        }
        panels
    }

    /// Puts their digits into shared memory: lane `4g + t` has limb `g` of blocks `8p + 2t` and `8p + 2t + 1`.
    fn put_low_digits(&self, b: &mut Builder, panels: &[Sums]) {
        let Self { room, place, .. } = *self;
        let layout = room.layout;
        let panel_limbs = BLOCK_LIMBS * COLUMNS;
        let first = b.mad_lo(place.member, 2 * BLOCK_LIMBS, place.group);
        let whole = panel_limbs.is_multiple_of(layout.chunk());
        let mut places: [Option<R32>; 2] = [None; 2];
        for (sums, p) in panels.iter().zip(0..) {
            for parity in [0, 1] {
                let known = &mut places[parity as usize];
                // Where a panel has whole chunks, all panels are alike.
                let panel = if whole { 0 } else { p };
                let to = match *known {
                    Some(to) if whole => to,
                    _ => {
                        let limb = b.add(first, BLOCK_LIMBS * parity + panel_limbs * panel);
                        let chunk = divide(b, limb, layout.chunk(), room.limbs());
                        let digit = b.add(limb, chunk);
                        b.mad_lo(digit, 8, place.shared)
                    }
                };
                *known = Some(to);
                let limb = panel_limbs * (p - panel);
                let digit = layout.fold(b, place, sums, parity);
                b.store_shared(&digit, to, layout.work + 8 * (limb + limb / layout.chunk()));
            }
        }
    }

    /// In lanes 16 to 31: the high half of the product minus `u`, or `m` more; `sum` is `S`, and `own` the address of the lane's chunk
    /// of a number at the beginning of the memory.
    fn difference(&self, b: &mut Builder, sum: &[R32], own: R32) -> Vec<R32> {
        let room = self.room;
        // `ptxas` moves loads of the next numbers to the front and spills registers. It moves none across a barrier.
        let load = |b: &mut Builder, at: u32| {
            b.warp_barrier();
            load(b, sum.len(), own, at)
        };
        let low = load(b, room.product + BLOCK_BYTES);
        // A borrow at the beginning makes it a sum with the complement.
        let mut chain = b.chain();
        chain.sub(0, 1);
        let complement: Vec<R32> = low.iter().zip(sum).map(|(&low, &sum)| chain.sub(low, sum)).collect();
        let borrow = chain.borrow_mask();
        let carries = b.compare(Cmp::Eq, borrow, 0);
        let complement = resolve_carries(b, &complement, carries, 32);
        let high = load(b, room.product + BLOCK_BYTES + 4 * room.limbs());
        let (difference, carries) = add(b, &high, &complement);
        // A carry out of lane 15 is the one that is added; nothing passes through the lanes below.
        let is_lower = b.not_pred(self.is_upper);
        let carries = b.or_pred(carries, is_lower);
        let ones = all_ones(b, &difference);
        let passes = b.and_pred(ones, self.is_upper);
        let carries = Carries::look_ahead(b, carries, passes, 32);
        let carry = carries.into_lane(b);
        let difference = wrapping_add_small(b, &difference, carry);
        let out = carries.out_of_group(b);
        let is_negative = b.compare(Cmp::Eq, out, 0);
        b.if_(is_negative, |b| {
            let modulus = load(b, room.modulus);
            let (raised, carries) = add(b, &difference, &modulus);
            let carries = b.and_pred(carries, self.is_upper);
            let raised = resolve_carries(b, &raised, carries, 32);
            assign(b, &difference, &raised);
        });
        difference
    }
}

/// Waits for the copies.
pub(super) fn arrive(b: &mut Builder) {
    b.copy_commit();
    b.copy_wait(0);
    b.warp_barrier();
}

/// The sum of two chunks, and whether it carries.
fn add(b: &mut Builder, x: &[R32], y: &[R32]) -> (Vec<R32>, Pred) {
    let mut chain = b.chain();
    let sum = x.iter().zip(y).map(|(&x, &y)| chain.add(x, y)).collect();
    let carry = chain.carry();
    (sum, b.compare(Cmp::Ne, carry, 0))
}

/// Loads a chunk of words.
fn load(b: &mut Builder, words: usize, address: R32, offset: u32) -> Vec<R32> {
    (0..words as u32 / 4).flat_map(|i| b.load_shared(Vector::V4, address, offset + 16 * i)).collect()
}

/// Stores a chunk of words.
fn store(b: &mut Builder, words: &[R32], address: R32, offset: u32) {
    for (words, i) in words.chunks(4).zip((0..).step_by(16)) {
        b.store_shared(words, address, offset + i);
    }
}
