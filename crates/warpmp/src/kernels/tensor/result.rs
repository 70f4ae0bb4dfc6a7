//! From sums of byte columns to limbs, and to global memory: the same instructions for all operands.
//!
//! Four sums are a *digit*: a number of at most 64 bits that stands at a limb. Digits go to shared memory, and each
//! lane fetches a chunk of neighbours: the low words plus the high words of the digits before. A chunk carries at most
//! 1, and the carries run through the warp by ballots.
//!
//! bound: a sum is below 2³¹, so a digit is below `2³¹·(1 + 2⁸ + 2¹⁶ + 2²⁴) < 2⁵⁶`, and its high word `h` below 2²⁴. A
//! chunk of `n` limbs adds two numbers: any below `2^(32n)`, and one whose words are high words, below `2^(32n − 7)`.
//! If their sum overflows, what is left is below the second: not all ones, as `resolve_carries` asks.

use warpmp_kernel::build::{Builder, Emit, R32, R64};
use warpmp_kernel::fragment::resolve_carries;
use warpmp_kernel::ir::{Cmp, Shuffle, Space};
use warpmp_launch::{divide, piece, vector};

use super::layout::{BLOCK_LIMBS, Layout};
use super::multiply::{PanelSums, Sums};
use super::warps::Place;

impl Layout {
    /// Writes the product whose sums these are. The lane's first piece of the row is at `to`.
    pub(super) fn finish(self, b: &mut Builder, place: &Place, panels: &[PanelSums], to: R64) {
        b.section("carry");
        // The columns have been read.
        b.warp_barrier();
        self.put_digits(b, place, panels);
        b.warp_barrier();
        let limbs = self.resolve(b, place);
        b.section("store");
        if self.chunk() == piece(self.limbs[2]) {
            self.store_piece(b, place, to, &limbs);
        } else {
            b.warp_barrier();
            self.store_through_shared(b, place, to, &limbs);
        }
    }

    /// Puts the digits of this lane into shared memory.
    ///
    /// Column `2t + h` of panel `s` has the block `panels·(2t + h) + s`, and in the high half of the result as many blocks
    /// more as there are columns; this lane has limb `g` of it. After each chunk of limbs follows a digit of padding.
    pub(super) fn put_digits(self, b: &mut Builder, place: &Place, panels: &[PanelSums]) {
        let to = self.places_of_digits(b, place);
        for (panel, s) in panels.iter().zip(0..) {
            for parity in [0, 1] {
                let [low, both] = [&panel.low, &panel.both].map(|sums| self.fold(b, place, sums, parity));
                let high = b.sub64(both, low);
                for (digit, half) in [(low, 0), (high, self.columns())] {
                    self.put(b, to, half + parity * self.panels + s, digit);
                }
            }
        }
    }

    /// Puts the digits of columns modulo their number into shared memory.
    pub(super) fn put_cyclic_digits(self, b: &mut Builder, place: &Place, panels: &[Sums]) {
        let to = self.places_of_digits(b, place);
        for (sums, s) in panels.iter().zip(0..) {
            for parity in [0, 1] {
                let digit = self.fold(b, place, sums, parity);
                self.put(b, to, parity * self.panels + s, digit);
            }
        }
    }

    /// The lane's places: of limb `g` of its block 0 where a chunk holds the whole block, and where one ends in the middle of it.
    fn places_of_digits(self, b: &mut Builder, place: &Place) -> [R32; 2] {
        let to = b.mad_lo(place.group, 8, place.shared);
        let to = b.mad_lo(place.member, 4 * self.digit_bytes(), to);
        // The chunk of a digit is the same for all g, but where a chunk ends in the middle of a block.
        let upper = b.shr(place.group, 2);
        [to, b.mad_lo(upper, 8, to)]
    }

    /// Puts a digit of the block with this number into shared memory.
    fn put(self, b: &mut Builder, [to, above]: [R32; 2], block: u32, digit: R64) {
        let limb = BLOCK_LIMBS * block;
        let chunk = limb / self.chunk();
        let to = if (limb + 4) / self.chunk() > chunk { above } else { to };
        let (low, high) = b.unpack(digit);
        b.store_shared(&[low, high], to, self.work + 8 * (limb + chunk));
    }

    /// The number of a lane's four sums of a limb, each a byte further, in a panel's even column or, if `parity` is 1, in its odd one.
    pub(super) fn fold(self, b: &mut Builder, place: &Place, sums: &Sums, parity: u32) -> R64 {
        let [v0, v1, v2, v3] = std::array::from_fn(|x| sums[x / 2][2 * (x % 2) + parity as usize]);
        let [one, byte, two, three] = place.bytes;
        if u32::try_from(self.greatest_sum() * 257).is_ok() {
            let [low, high] = [[v0, v1], [v2, v3]].map(|[low, high]| b.mad_lo(high, byte, low));
            let low = b.mul_wide(low, one);
            return b.mad_wide(high, two, low);
        }
        let sum = b.mul_wide(v0, one);
        let sum = b.mad_wide(v1, byte, sum);
        let sum = b.mad_wide(v2, two, sum);
        b.mad_wide(v3, three, sum)
    }

    /// The limbs of this lane's chunk.
    fn resolve(self, b: &mut Builder, place: &Place) -> Vec<R32> {
        self.resolve_chunk(b, place, place.lane, |b, last| from_lane_below(b, place, last))
    }

    /// The limbs of chunk `number` in each lane. `below` gets the high word of the lane's last digit and gives that of the digit below
    /// its first one.
    pub(super) fn resolve_chunk(
        self,
        b: &mut Builder,
        place: &Place,
        number: R32,
        below: impl FnOnce(&mut Builder, R32) -> R32,
    ) -> Vec<R32> {
        let from = b.mad_lo(number, self.digit_bytes(), place.shared);
        let two = vector(2);
        let digits: Vec<Vec<R32>> = (0..self.chunk()).map(|i| b.load_shared(two, from, self.work + 8 * i)).collect();
        let below = below(b, digits[digits.len() - 1][1]);
        let highs: Vec<R32> = std::iter::once(below).chain(digits.iter().map(|digit| digit[1])).collect();
        let mut chain = b.chain();
        let limbs: Vec<R32> = digits.iter().zip(highs).map(|(digit, high)| chain.add(digit[0], high)).collect();
        let carry = chain.carry();
        let carries = b.compare(Cmp::Ne, carry, 0);
        resolve_carries(b, &limbs, carries, 32)
    }

    /// Stores a chunk that is one piece of the row.
    fn store_piece(self, b: &mut Builder, place: &Place, to: R64, limbs: &[R32]) {
        let pieces = self.limbs[2] / self.chunk();
        if pieces >= 32 {
            b.store_global(Space::Global, limbs, to, 0);
        } else {
            let inside = b.compare(Cmp::Lt, place.lane, pieces);
            b.guarded(inside, true, |g| g.store_global(Space::Global, limbs, to, 0));
        }
    }

    /// Stores the row in the order of its addresses.
    fn store_through_shared(self, b: &mut Builder, place: &Place, to: R64, limbs: &[R32]) {
        let Place { lane, shared, .. } = *place;
        let own = b.mad_lo(lane, self.limb_bytes(), shared);
        for (words, i) in limbs.chunks(4).zip((0..).step_by(16)) {
            b.store_shared(words, own, self.work + i);
        }
        b.warp_barrier();
        let width = piece(self.limbs[2]);
        let pieces = self.limbs[2] / width;
        // Pieces of a chunk, and chunks of a pass over the row if a pass ends with a chunk.
        let chunk_pieces = self.chunk() / width;
        let mut first = None;
        for start in (0..pieces).step_by(32) {
            let (from, offset) = match first {
                Some(from) if 32 % chunk_pieces == 0 => (from, start / chunk_pieces * self.limb_bytes()),
                _ => {
                    let number = b.add(lane, start);
                    let chunk = divide(b, number, chunk_pieces, 32 * chunk_pieces);
                    let from = b.mad_lo(number, 4 * width, shared);
                    (b.mad_lo(chunk, self.limb_bytes() - 4 * self.chunk(), from), 0)
                }
            };
            first.get_or_insert(from);
            let store = |b: &mut Builder| {
                let words = b.load_shared(vector(width), from, self.work + offset);
                b.store_global(Space::Global, &words, to, 4 * width * start);
            };
            if start + 32 <= pieces {
                store(b);
            } else {
                let inside = b.compare(Cmp::Lt, lane, pieces - start);
                b.if_(inside, store);
            }
        }
    }
}

/// The word of the lane below, and zero in the lowest lane.
pub(super) fn from_lane_below(b: &mut Builder, place: &Place, word: R32) -> R32 {
    let below = b.shuffle(Shuffle::Up, word, 1, 32);
    let lowest = b.compare(Cmp::Eq, place.lane, 0);
    b.select(0, below, lowest)
}
