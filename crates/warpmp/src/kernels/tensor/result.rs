//! From sums of byte columns to limbs, and to global memory: the same instructions for all operands.
//!
//! Four sums are a *digit*: a number of at most 64 bits that stands at a limb. Digits go to shared memory, and each
//! lane fetches a chunk of neighbours: the low words plus the high words of the digits before. A chunk carries at most
//! 1, and the carries run through the warp by ballots.
//!
//! bound: a sum is below 2³¹, so a digit is below `2³¹·(1 + 2⁸ + 2¹⁶ + 2²⁴) < 2⁵⁶`, and its high word `h` below 2²⁴. A
//! chunk of `n` limbs adds two numbers: any below `2^(32n)`, and one whose words are high words, below `2^(32n − 7)`.
//! If their sum overflows, what is left is below the second: not all ones, as `resolve_carries` asks.

use std::ops::Range;

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space};
use warpmp_launch::{divide, piece, vector};

use super::layout::{BLOCK_LIMBS, Layout};
use super::multiply::{ProductSums, rows};
use super::operands::in_first_lanes;
use super::part::{Addends, Part, Pieces};
use super::strip::first_own_place;
use super::warps::Place;

/// Where the digits of products lie in the work area.
pub(super) enum Places {
    /// Chunks with a digit of padding after each. A lane puts them at these addresses: of limb `g` of its block 0 where a chunk holds the whole
    /// block, and where one ends in the middle of it.
    Padded([R32; 2]),
    /// In places that an odd number of strips has: see `strip`. The address is that of the lane's limb of block 0.
    OfStrips(R32),
}

/// Where a product goes.
pub(super) struct Target<'t> {
    /// The address of the lane's first piece of the row, if all limbs are kept.
    pub(super) to: R64,
    pub(super) part: Part,
    pub(super) addends: &'t Addends,
}

/// Which limbs of a row are stored, and from where.
struct Kept {
    /// The address of the lane's first piece, if all limbs are kept.
    to: R64,
    limbs: Range<u32>,
    /// Limbs of a piece.
    width: u32,
    /// Limbs of a lane, and the bytes from its place in the work area to that of the next.
    chunk: u32,
    stride: u32,
}

impl Layout {
    /// Writes the product whose sums these are.
    pub(super) fn finish(self, b: &mut Builder, place: &Place, sums: &ProductSums, target: &Target<'_>) {
        b.section("carry");
        // The columns have been read.
        b.warp_barrier();
        let places = match self.strips {
            Some(strips) if self.has_own_places() => Places::OfStrips(first_own_place(b, place, strips)),
            Some(_) | None => self.padded(b, place),
        };
        let put = |b: &mut Builder, block, digit| self.put(b, &places, block, digit);
        self.put_digits(b, place, sums, put);
        b.warp_barrier();
        let mut digits = self.chunk_digits(b, place);
        let width = self.chunk_piece();
        let stride = self.chunk() / width;
        let pieces = |first: u32| Pieces { thread: place.lane, threads: 32, stride, first, width };
        target.addends.add(b, (0..).map(pieces).zip(digits.chunks_mut(2 * width as usize)));
        // Lanes beyond the product compute limbs that nobody stores.
        let limbs = resolve_chunk(b, place, &digits);
        b.section("store");
        if self.chunk() == piece(self.limbs[2]) {
            store_pieces(b, place, (target.to, &self.kept(target.part)), 0, &limbs);
        } else {
            b.warp_barrier();
            let own = b.mad_lo(place.lane, self.limb_bytes(), place.shared);
            let kept = Kept {
                to: target.to,
                limbs: self.kept(target.part),
                width: piece(self.limbs[2]),
                chunk: self.chunk(),
                stride: self.limb_bytes(),
            };
            self.store_through_shared(b, place, (own, &limbs), &kept);
        }
    }

    /// The places of digits in chunks.
    pub(super) fn padded(self, b: &mut Builder, place: &Place) -> Places {
        let to = b.mad_lo(place.group, 8, place.shared);
        let to = b.mad_lo(place.member, 4 * self.digit_bytes(), to);
        // The chunk of a digit is the same for all g, but where a chunk ends in the middle of a block.
        let upper = b.shr(place.group, 2);
        Places::Padded([to, b.mad_lo(upper, 8, to)])
    }

    /// Puts the digits of this lane into shared memory: `put` gets each digit with its block, numbered as in a lane with member 0.
    ///
    /// Column `2t + h` of panel `s` has the block `panels·(2t + h) + s`, and in the high half of the result as many blocks
    /// more as there are columns; this lane has limb `g` of it.
    pub(super) fn put_digits(
        self,
        b: &mut Builder,
        place: &Place,
        sums: &ProductSums,
        mut put: impl FnMut(&mut Builder, u32, [R32; 2]),
    ) {
        let panels = match sums {
            ProductSums::Panels(panels) => panels,
            ProductSums::Strips(strips, more) => return self.fold_strips(b, place, (strips, more.as_deref()), put),
        };
        for (panel, s) in panels.iter().zip(0..) {
            for parity in [0, 1] {
                let block = parity * self.panels + s;
                let low = self.fold(b, place, &panel.low, parity);
                let high = (!self.is_cyclic).then(|| {
                    let both = self.fold(b, place, &panel.both, parity);
                    difference(b, both, low)
                });
                put(b, block, low);
                if let Some(high) = high {
                    put(b, self.columns() + block, high);
                }
            }
        }
    }

    /// Puts a digit of the block with this number into shared memory.
    pub(super) fn put(self, b: &mut Builder, places: &Places, block: u32, digit: [R32; 2]) {
        let limb = BLOCK_LIMBS * block;
        let (to, offset) = match *places {
            Places::Padded([to, above]) => {
                let chunk = limb / self.chunk();
                (if (limb + 4) / self.chunk() > chunk { above } else { to }, 8 * (limb + chunk))
            }
            Places::OfStrips(to) => (to, self.own_place(block)),
        };
        b.store_shared(&digit, to, self.work + offset);
    }

    /// The digit of a lane's four sums of a limb, each a byte further, in a panel's even column or, if `parity` is 1, in its odd one.
    pub(super) fn fold(self, b: &mut Builder, place: &Place, sums: &[[R32; 4]], parity: u32) -> [R32; 2] {
        digit(b, self.of_limb(sums, parity), place.bytes, self.greatest_sum())
    }

    /// A lane's four sums of a limb, each a byte further, in a panel's even column or, if `parity` is 1, in its odd one.
    pub(super) fn of_limb(self, sums: &[[R32; 4]], parity: u32) -> [R32; 4] {
        let mut values = [sums[0][0]; 4];
        for (rows, sums) in rows(self.has_entries).into_iter().zip(sums) {
            for (row, column) in rows.into_iter().zip(0..) {
                values[row] = sums[2 * column + parity as usize];
            }
        }
        values
    }

    /// Stores the first `n` limbs of a row; each lane has a chunk of `limbs`.
    pub(super) fn store_chunks(self, b: &mut Builder, place: &Place, row: R64, limbs: &[R32], n: u32) {
        let words = limbs.len() as u32;
        let width = piece(n);
        if words <= width && words.is_power_of_two() {
            let to = b.mad_wide(place.lane, 4 * words, row);
            let inside = b.compare(Cmp::Lt, place.lane, n / words);
            b.guarded(inside, true, |g| g.store_global(Space::Global, limbs, to, 0));
            return;
        }
        b.warp_barrier();
        // An odd number of pieces from lane to lane avoids bank conflicts.
        let pieces = words / piece(words);
        let stride = 4 * words + if pieces.is_multiple_of(2) { 4 * piece(words) } else { 0 };
        let own = b.mad_lo(place.lane, stride, place.shared);
        let to = b.mad_wide(place.lane, 4 * width, row);
        self.store_through_shared(b, place, (own, limbs), &Kept { to, limbs: 0..n, width, chunk: words, stride });
    }

    /// The digits of this lane's chunk, low words and high words in turn.
    fn chunk_digits(self, b: &mut Builder, place: &Place) -> Vec<R32> {
        if self.has_own_places() {
            return self.digits_in_own_places(b, place);
        }
        let from = b.mad_lo(place.lane, self.digit_bytes(), place.shared);
        if !self.is_cyclic {
            return (0..self.chunk()).flat_map(|i| b.load_shared(vector(2), from, self.work + 8 * i)).collect();
        }
        // Half of the lanes have digits.
        let words: Vec<R32> = (0..2 * self.chunk()).map(|_| b.copy(0)).collect();
        let inside = b.compare(Cmp::Lt, place.lane, 16);
        for (pair, i) in words.chunks(2).zip((0..).step_by(8)) {
            b.guarded(inside, true, |g| g.load_into(Space::Shared, vector(2), pair, from, self.work + i));
        }
        words
    }

    /// Stores a row in the order of its addresses. `own` is the address of this lane's limbs in the work area.
    fn store_through_shared(self, b: &mut Builder, place: &Place, (own, limbs): (R32, &[R32]), kept: &Kept) {
        let words = piece(limbs.len() as u32) as usize;
        for (words, i) in limbs.chunks(words).zip((0..).step_by(4 * words)) {
            b.store_shared(words, own, self.work + i);
        }
        kept.store(b, place, self.work);
    }
}

impl Kept {
    /// Stores the limbs that lanes have put `work` bytes after the beginning of the warp's memory, in the order of their addresses.
    fn store(&self, b: &mut Builder, place: &Place, work: u32) {
        b.warp_barrier();
        let Place { lane, shared, .. } = *place;
        let Self { to, limbs: ref kept, width, chunk, stride } = *self;
        let [first_piece, end] = [kept.start, kept.end].map(|limbs| limbs / width);
        // How many pieces a chunk has. Without padding the whole row counts as one chunk.
        let chunk_pieces = if stride == 4 * chunk { end } else { chunk / width };
        let mut first = None;
        for start in (first_piece..end).step_by(32) {
            let passed = start - first_piece;
            let (from, offset) = match first {
                Some(from) if chunk_pieces == end => (from, 4 * width * passed),
                Some(from) if 32 % chunk_pieces == 0 => (from, passed / chunk_pieces * stride),
                _ => {
                    let number = b.add(lane, start);
                    let from = b.mad_lo(number, 4 * width, shared);
                    if chunk_pieces == end {
                        (from, 0)
                    } else {
                        let chunks = divide(b, number, chunk_pieces, 32 * chunk_pieces);
                        (b.mad_lo(chunks, stride - 4 * chunk, from), 0)
                    }
                }
            };
            first.get_or_insert(from);
            let store = |b: &mut Builder| {
                let words = b.load_shared(vector(width), from, work + offset);
                b.store_global(Space::Global, &words, to, 4 * width * start);
            };
            in_first_lanes(b, place, end - start, store);
        }
    }
}

/// The digit of four sums, each a byte further: its low word and its high word. No sum is above `greatest`; `bytes` are the powers of 2⁸.
///
/// The low word is a sum modulo 2³², the high word a quotient by 2³², a byte or two at a time. So no carry runs between them, and no instruction has a wide
/// result: beside matrix products, wide ones take several times as long.
pub(in crate::kernels) fn digit(b: &mut Builder, sums: [R32; 4], bytes: [R32; 4], greatest: u64) -> [R32; 2] {
    let [v0, v1, v2, v3] = sums;
    if u32::try_from(greatest * 257 + u64::from(u16::MAX)).is_err() {
        let begun = begin_digit(b, [v0, v1], bytes);
        return end_digit(b, begun, [v2, v3], bytes);
    }
    let halves = [[v0, v1], [v2, v3]].map(|[low, high]| b.mad_lo(high, bytes[1], low));
    digit_of_halves(b, halves, bytes)
}

/// The digit of two halves of a limb. The upper one and `2¹⁶ − 1` make a word at most.
pub(super) fn digit_of_halves(b: &mut Builder, [lower, upper]: [R32; 2], bytes: [R32; 4]) -> [R32; 2] {
    let low = b.mad_lo(upper, bytes[2], lower);
    let rest = b.shr(lower, 16);
    let high = b.add(upper, rest);
    [low, b.shr(high, 16)]
}

/// The first two of a digit's four sums: the low word, and what is from 2¹⁶ on.
///
/// bound: `⌊(v + 2⁸·w)/2¹⁶⌋ = ⌊(⌊v/2⁸⌋ + w)/2⁸⌋`, and for sums below 2³¹ there is nothing above a word.
pub(in crate::kernels) fn begin_digit(b: &mut Builder, [v0, v1]: [R32; 2], bytes: [R32; 4]) -> [R32; 2] {
    let low = b.mad_lo(v1, bytes[1], v0);
    let high = b.shr(v0, 8);
    let high = b.add(high, v1);
    [low, b.shr(high, 8)]
}

/// The digit of the first two sums and of the others.
pub(in crate::kernels) fn end_digit(
    b: &mut Builder,
    [low, high]: [R32; 2],
    [v2, v3]: [R32; 2],
    bytes: [R32; 4],
) -> [R32; 2] {
    let [low, high] = end_sums(b, [low, high], [v2, v3], bytes);
    [low, b.shr(high, 8)]
}

/// Twice the digit of four sums.
pub(super) fn doubled_digit(b: &mut Builder, [v0, v1, v2, v3]: [R32; 4], bytes: [R32; 4]) -> [R32; 2] {
    let begun = begin_digit(b, [v0, v1], bytes);
    let [low, high] = end_sums(b, begun, [v2, v3], bytes);
    [b.add(low, low), b.shr(high, 7)]
}

/// Of the first two of a digit's sums and the others: the low word, and what is from 2²⁴ on.
fn end_sums(b: &mut Builder, [low, high]: [R32; 2], [v2, v3]: [R32; 2], bytes: [R32; 4]) -> [R32; 2] {
    let upper = b.mad_lo(v3, bytes[1], v2);
    let low = b.mad_lo(upper, bytes[2], low);
    let high = b.add(high, v2);
    let high = b.shr(high, 8);
    [low, b.add(high, v3)]
}

/// The difference of two digits.
pub(in crate::kernels) fn difference(b: &mut Builder, digit: [R32; 2], less: [R32; 2]) -> [R32; 2] {
    let [digit, less] = [digit, less].map(|[low, high]| b.pack(low, high));
    let difference = b.sub64(digit, less);
    b.unpack(difference).into()
}

/// The limbs of this lane's piece of each group of limbs, from the lane's digits of each group.
pub(super) fn resolve_pieces(b: &mut Builder, place: &Place, groups: &[Vec<R32>]) -> Vec<Vec<R32>> {
    let before = b.add(place.lane, 31);
    let before = b.and(before, 31);
    let is_lowest = b.compare(Cmp::Eq, place.lane, 0);
    // Below the lowest lane of a group is the highest lane of the group before.
    let mut lowest = None;
    let mut entering: Option<Carries> = None;
    let sums = groups.iter().map(|digits| {
        let below = b.shuffle(Shuffle::Idx, digits[digits.len() - 1], before, 32);
        let own = match lowest {
            Some(lowest) => b.select(lowest, below, is_lowest),
            None => b.select(0, below, is_lowest),
        };
        lowest = Some(below);
        unresolved(b, digits, own)
    });
    let sums: Vec<(Vec<R32>, Pred)> = sums.collect();
    let carries = sums.iter().map(|(limbs, generates)| {
        let ones = all_ones(b, limbs);
        let mut carries = Carries::look_ahead(b, *generates, ones, 32);
        if let Some(before) = entering {
            let leaving = before.leaving(b);
            carries = carries.entered(b, leaving);
        }
        entering = Some(carries);
        carries
    });
    let carries: Vec<Carries> = carries.collect();
    let resolved = sums.iter().zip(carries).map(|((limbs, _), carries)| {
        let carry = carries.into_lane(b);
        wrapping_add_small(b, limbs, carry)
    });
    resolved.collect()
}

/// Stores a piece of a row in each lane, the first one after `before` pieces, if its limbs are kept. `to` is the address of the lane's first piece.
pub(super) fn store_pieces(b: &mut Builder, place: &Place, (to, kept): (R64, &Range<u32>), before: u32, limbs: &[R32]) {
    let words = limbs.len() as u32;
    let [first, end] = [kept.start, kept.end].map(|limbs| limbs / words);
    let offset = 4 * words * before;
    if end <= before || first >= before + 32 {
        return;
    }
    if first <= before && before + 32 <= end {
        b.store_global(Space::Global, limbs, to, offset);
        return;
    }
    // Before the first piece the number wraps around.
    let number = if first > before { b.sub(place.lane, first - before) } else { place.lane };
    let inside = b.compare(Cmp::Lt, number, end - first.max(before));
    b.guarded(inside, true, |g| g.store_global(Space::Global, limbs, to, offset));
}

/// The limbs of the lane's chunk whose digits these are. Lanes have successive chunks.
pub(super) fn resolve_chunk(b: &mut Builder, place: &Place, digits: &[R32]) -> Vec<R32> {
    let below = from_lane_below(b, place, digits[digits.len() - 1]);
    resolve(b, digits, below)
}

/// The limbs of a chunk whose digits these are; `below` is the high word of the digit below them.
pub(super) fn resolve(b: &mut Builder, digits: &[R32], below: R32) -> Vec<R32> {
    resolve_with_carries(b, digits, below).0
}

/// The same, and the carries of all lanes.
pub(super) fn resolve_with_carries(b: &mut Builder, digits: &[R32], below: R32) -> (Vec<R32>, Carries) {
    let (limbs, generates) = unresolved(b, digits, below);
    let ones = all_ones(b, &limbs);
    let carries = Carries::look_ahead(b, generates, ones, 32);
    let carry = carries.into_lane(b);
    (wrapping_add_small(b, &limbs, carry), carries)
}

/// The same before carries from other chunks, and whether it carries.
fn unresolved(b: &mut Builder, digits: &[R32], below: R32) -> (Vec<R32>, Pred) {
    let highs: Vec<R32> = std::iter::once(below).chain(digits.chunks(2).map(|digit| digit[1])).collect();
    let mut chain = b.chain();
    let limbs: Vec<R32> = digits.chunks(2).zip(highs).map(|(digit, high)| chain.add(digit[0], high)).collect();
    let carry = chain.carry();
    (limbs, b.compare(Cmp::Ne, carry, 0))
}

/// The word of the lane below, and zero in the lowest lane.
pub(super) fn from_lane_below(b: &mut Builder, place: &Place, word: R32) -> R32 {
    let below = b.shuffle(Shuffle::Up, word, 1, 32);
    let lowest = b.compare(Cmp::Eq, place.lane, 0);
    b.select(0, below, lowest)
}
