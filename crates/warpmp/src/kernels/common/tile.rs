//! Matrix products of tiles, and limbs of their sums.
//!
//! Lane `4g + t` of warp `w` has rows `16w + g` and `16w + g + 8` of a warpgroup's 64: of each the columns `32t … 32t + 31` of a tile, which are eight limbs.
//!
//! Four sums are a *digit*: a number of at most 64 bits that stands at a limb. A limb is the low word of its digit plus the high word of the digit before. The
//! eight limbs of a lane carry at most 1; the carries of four lanes run by ballots, and a word enters the next tile: what its lowest limb gets.
//!
//! bound: a sum is at most `1024·255² < 2²⁶`, so a digit is below `2²⁶·(1 + 2⁸ + 2¹⁶ + 2²⁴) + 2³² < 2⁵¹`, and its high word below 2¹⁹. The word that
//! enters is such a high word and a carry, or the carry of the lower half of a product, a word. So the limbs of a lane are the sum of a number
//! that may have any limbs and of one that is below `2^(32·8 − 12)`. If the sum overflows, what is left is below the second: not all ones.

use warpmp_kernel::build::{Builder, Emit, Pred, R32};
use warpmp_kernel::fragment::{Carries, all_ones, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Special, Vector};

use super::layout::{CORE_BYTES, Layout, MATRICES_BYTES, OWN_LIMBS, OWN_PIECES, STEPS};
use crate::kernels::tensor::digit;
use crate::kernels::warpgroup::THREADS;

/// Lanes that have the limbs of a row.
pub(super) const QUAD: u32 = 4;

/// Sums of a thread for each group of eight columns: two columns of two rows.
pub(super) const GROUP_SUMS: u32 = 4;

/// Groups of columns of a digit.
pub(super) const DIGIT_GROUPS: u32 = 2;

/// Groups of columns of a tile.
pub(super) const TILE_GROUPS: u32 = OWN_LIMBS * DIGIT_GROUPS;

/// Sums of a thread for the columns of a tile.
pub(super) const TILE_SUMS: u32 = TILE_GROUPS * GROUP_SUMS;

/// Warps of a warpgroup.
pub(super) const WARPS: u32 = THREADS / 32;

/// Numbers that a warpgroup takes at a time.
pub(super) const GROUP_LANES: u32 = 64;

/// Rows of a thread.
pub(super) const ROWS: usize = 2;

/// From a thread's first row to its second one.
pub(super) const NEXT_ROW: u32 = 8;

/// A thread's limbs of a tile, of each of its rows.
pub(super) type Own = [Vec<R32>; ROWS];

/// Four columns of the tile of columns before or after, whose sums are computed besides.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    pub(super) difference: Difference,
    /// The first of their groups.
    pub(super) group: u32,
}

/// Whether matrices are of a difference of tiles less or more.
#[derive(Clone, Copy)]
pub(super) enum Difference {
    Less,
    More,
}

/// The place of a thread.
pub(super) struct Place {
    pub(super) layout: Layout,
    pub(super) thread: R32,
    /// Number of the lane.
    pub(super) lane: R32,
    /// `lane / 4`
    pub(super) group: R32,
    /// `lane % 4`
    pub(super) member: R32,
    /// Where the block's shared memory begins.
    pub(super) shared: R32,
    /// The same, and 16 bytes for each thread before.
    pub(super) own: R32,
    /// The lower word of the descriptor of the matrices at the beginning of the shared memory.
    pub(super) matrices: R32,
    /// The lane that has the limbs below: the next lower one of the four, or the highest.
    pub(super) below: R32,
    /// Is it the lowest of the four?
    pub(super) is_lowest: Pred,
    /// 1, 2⁸, 2¹⁶ and 2²⁴, in registers: `ptxas` makes several shifts and additions of a product by a constant.
    pub(super) bytes: [R32; 4],
    /// 0, but `ptxas` does not know it.
    pub(super) zero: R32,
    pub(super) never: Pred,
    pub(super) always: Pred,
    /// The sums of a tile's columns. For `ptxas` a product may read what it adds to, so these registers are never free: there is one set.
    pub(super) sums: Vec<R32>,
    /// The same for the four columns below the upper half.
    pub(super) lower: Vec<R32>,
}

/// Number of a thread's warp among the four of its warpgroup.
pub(super) fn warp_of_group(b: &mut Builder, thread: R32) -> R32 {
    let warp = b.shr(thread, 5);
    b.and(warp, WARPS - 1)
}

/// Tiles that are loaded before the first one is set.
const LOADED_TILES: usize = 4;

/// Registers for a thread's limbs of a tile.
pub(super) fn own(b: &mut Builder) -> Own {
    [0; ROWS].map(|_| (0..OWN_LIMBS).map(|_| b.register()).collect())
}

/// The words of a thread that a step multiplies, in their order in the instruction, and in shared memory.
fn words_of([x, y]: &Own, step: u32) -> [R32; 4] {
    let [later, earlier] = [2 * step as usize + 1, 2 * step as usize];
    [x[later], y[later], x[earlier], y[earlier]]
}

impl Place {
    /// The place of a thread of a launch with so many lanes.
    pub(super) fn of_thread(b: &mut Builder, layout: Layout, lanes: R32) -> Self {
        let thread = b.special(Special::Tid);
        // A launch has fewer than 2³¹ lanes, but `ptxas` does not know it.
        let zero = b.shr(lanes, 31);
        Self::new(b, layout, (thread, zero))
    }

    /// The place of a thread with this number. `zero` is 0, but `ptxas` does not know it.
    pub(super) fn new(b: &mut Builder, layout: Layout, (thread, zero): (R32, R32)) -> Self {
        let lane = b.and(thread, 31);
        let member = b.and(lane, 3);
        let shared = b.shared_base();
        // From a core matrix to the next half, and to the next group of columns.
        let start = b.shr(shared, 4);
        let matrices = b.add(start, (2 * CORE_BYTES / 16) << 16);
        let below = b.add(lane, 3);
        let below = b.and(below, 3);
        let quad = b.and(lane, 32 - QUAD);
        let below = b.or(quad, below);
        let bytes = [0, 8, 16, 24].map(|bits| b.or(zero, 1 << bits));
        let nothing = b.copy(0);
        let [sums, lower] =
            [TILE_SUMS, DIGIT_GROUPS * GROUP_SUMS].map(|count| (0..count).map(|_| b.register()).collect());
        let [never, always] = [Cmp::Ne, Cmp::Eq].map(|cmp| b.compare(cmp, nothing, 0));
        let is_lowest = b.compare(Cmp::Eq, member, 0);
        let own = b.mad_lo(thread, 16, shared);
        let group = b.shr(lane, 2);
        Self {
            layout,
            thread,
            lane,
            group,
            member,
            shared,
            own,
            matrices,
            below,
            is_lowest,
            bytes,
            zero,
            never,
            always,
            sums,
            lower,
        }
    }

    /// The first of the thread's two lanes, of the 64 from lane `start` on.
    pub(super) fn first_lane(&self, b: &mut Builder, start: R32) -> R32 {
        let warp = warp_of_group(b, self.thread);
        let row = b.mad_lo(warp, 16, self.group);
        b.add(start, row)
    }

    /// Makes all sums zero. So their registers are free before.
    pub(super) fn clear(&self, b: &mut Builder) {
        for &sum in self.sums.iter().chain(&self.lower) {
            b.set(sum, 0);
        }
    }

    /// Sets a thread's limbs of tile `tile`.
    pub(super) fn put(&self, b: &mut Builder, tile: R32, own: &Own) {
        let (to, stride) = (self.tile_of(b, tile), self.layout.piece_stride());
        for step in 0..STEPS {
            b.store_shared(&words_of(own, step), to, self.layout.own() + stride * step);
        }
    }

    /// Sets a thread's limbs of all tiles of a lane's numbers to those that `load` loads. Several tiles are loaded before the first one is set: the sums'
    /// registers are free.
    pub(super) fn put_all(&self, b: &mut Builder, load: impl Fn(&mut Builder, R32, &Own)) {
        let tiles = self.layout.lane_tiles();
        for start in (0..tiles).step_by(LOADED_TILES) {
            let loaded: Vec<(R32, Own)> =
                (start..tiles.min(start + LOADED_TILES as u32)).map(|tile| (b.copy(tile), own(b))).collect();
            for (tile, limbs) in &loaded {
                load(b, *tile, limbs);
            }
            for (tile, limbs) in &loaded {
                self.put(b, *tile, limbs);
            }
        }
    }

    /// Loads a thread's limbs of tile `tile`.
    pub(super) fn get(&self, b: &mut Builder, tile: R32, to: &Own) {
        let (from, stride) = (self.tile_of(b, tile), self.layout.piece_stride());
        for step in 0..STEPS {
            b.load_into(Space::Shared, Vector::V4, &words_of(to, step), from, self.layout.own() + stride * step);
        }
    }

    /// Copies words to registers of a product that is complete.
    pub(super) fn copy(&self, b: &mut Builder, from: &Own, to: &Own) {
        for (&from, &to) in from.iter().flatten().zip(to.iter().flatten()) {
            // Not a move: `ptxas` would load into the registers of the product under way, and then wait for it.
            let word = b.or(from, self.zero);
            b.set(to, word);
        }
    }

    fn tile_of(&self, b: &mut Builder, tile: R32) -> R32 {
        b.mad_lo(tile, OWN_PIECES * self.layout.piece_stride(), self.own)
    }

    /// Starts to add the products of a tile to sums: the columns from group `from` on, as many as there are sums. `matrices` is the lower word of their
    /// descriptor. Without `adds` the sums are none before.
    pub(super) fn start(&self, b: &mut Builder, sums: &[R32], tile: &Own, matrices: (R32, u32), adds: Pred) {
        b.wgmma_fence();
        self.steps(b, sums, tile, matrices, adds);
        b.wgmma_commit();
    }

    /// The matrix products of a tile.
    fn steps(&self, b: &mut Builder, sums: &[R32], tile: &Own, matrices: (R32, u32), adds: Pred) {
        for step in 0..STEPS {
            let adds = if step == 0 { adds } else { self.always };
            Self::step(b, sums, words_of(tile, step), matrices, (step, adds));
        }
    }

    /// Computes the sums of a column of tiles: the products of tiles `first` to `last`, the matrices of each tile before those of the tile before. Where there
    /// are registers for two tiles, one is loaded while the products of the other run.
    pub(super) fn add_tiles(&self, b: &mut Builder, (first, last): (R32, R32), matrices: R32, narrow: Option<Narrow>) {
        let tile = b.copy(first);
        let words = own(b);
        if self.layout.has_two_tiles() {
            let both = [words, own(b)];
            self.get(b, tile, &both[0]);
            b.do_while(|b| {
                let adds = b.compare(Cmp::Ne, tile, first);
                self.add_tile(b, &both[0], (matrices, narrow), adds);
                self.next(b, (tile, last), matrices, &both[1]);
                let more = b.compare(Cmp::Le, tile, last);
                b.if_(more, |b| {
                    self.add_tile(b, &both[1], (matrices, narrow), self.always);
                    self.next(b, (tile, last), matrices, &both[0]);
                });
                b.compare(Cmp::Le, tile, last)
            });
            b.wgmma_wait(0);
        } else {
            b.do_while(|b| {
                self.get(b, tile, &words);
                let adds = b.compare(Cmp::Ne, tile, first);
                self.add_tile(b, &words, (matrices, narrow), adds);
                b.decrease(matrices, MATRICES_BYTES / 16);
                b.increase(tile, 1);
                b.wgmma_wait(0);
                b.compare(Cmp::Le, tile, last)
            });
        }
    }

    /// Goes on to the next tile, and loads it when the products of the tile before are complete.
    fn next(&self, b: &mut Builder, (tile, last): (R32, R32), matrices: R32, next: &Own) {
        b.decrease(matrices, MATRICES_BYTES / 16);
        b.increase(tile, 1);
        b.wgmma_wait(1);
        let following = b.min(tile, last);
        self.get(b, following, next);
    }

    /// Starts to add the products of a loaded tile.
    fn add_tile(&self, b: &mut Builder, words: &Own, (matrices, narrow): (R32, Option<Narrow>), adds: Pred) {
        b.wgmma_fence();
        if let Some(Narrow { difference, group }) = narrow {
            let other = match difference {
                Difference::Less => b.sub(matrices, MATRICES_BYTES / 16),
                Difference::More => b.add(matrices, MATRICES_BYTES / 16),
            };
            self.steps(b, &self.lower, words, (other, group), adds);
        }
        self.steps(b, &self.sums, words, (matrices, 0), adds);
        b.wgmma_commit();
    }

    /// Starts to add the products of the lowest limb of a tile to sums. The limbs of both rows are zero in all but the lowest of four lanes.
    pub(super) fn start_lowest(&self, b: &mut Builder, sums: &[R32], [x, y]: [R32; ROWS], matrices: R32, adds: Pred) {
        b.wgmma_fence();
        Self::step(b, sums, [self.zero, self.zero, x, y], (matrices, 0), (0, adds));
        b.wgmma_commit();
    }

    /// A matrix product.
    fn step(b: &mut Builder, sums: &[R32], words: [R32; 4], (matrices, from): (R32, u32), (step, adds): (u32, Pred)) {
        let core = 4 * (STEPS - 1 - step) + from;
        let start = b.add(matrices, CORE_BYTES / 16 * core);
        let descriptor = b.pack(start, CORE_BYTES / 16);
        b.wgmma_u8(sums, words, descriptor, adds);
    }

    /// The digit of two groups of columns in row `row` of the thread's, low word and high word.
    pub(super) fn digit(&self, b: &mut Builder, sums: &[R32], row: usize) -> [R32; 2] {
        let values = [0, 1, 4, 5].map(|i| sums[i + 2 * row]);
        digit(b, values, self.bytes, self.layout.greatest_sum())
    }

    /// The limbs of a tile from the sums of its columns, and an addend. What enters is replaced by what leaves.
    pub(super) fn limbs_of_sums(&self, b: &mut Builder, addend: Option<&Own>, entering: [R32; ROWS]) -> Own {
        let of_digit = (DIGIT_GROUPS * GROUP_SUMS) as usize;
        [0, 1].map(|row| {
            let sums = self.sums.chunks(of_digit);
            let mut digits: Vec<[R32; 2]> = sums.map(|sums| self.digit(b, sums, row)).collect();
            for (digit, &word) in digits.iter_mut().zip(addend.iter().flat_map(|it| &it[row])) {
                let mut chain = b.chain();
                *digit = [chain.add(digit[0], word), chain.add(digit[1], 0)];
            }
            let (limbs, leaving) = self.resolve(b, &digits, entering[row]);
            b.set(entering[row], leaving);
            limbs
        })
    }

    /// The limbs of a row of digits. `entering` is what the lowest limb of the tile gets; the result has what the next tile's gets. Only the lowest of
    /// the four lanes needs and knows these.
    fn resolve(&self, b: &mut Builder, digits: &[[R32; 2]], entering: R32) -> (Vec<R32>, R32) {
        let last = digits[digits.len() - 1][1];
        let around = b.shuffle(Shuffle::Idx, last, self.below, 32);
        let below = b.select(entering, around, self.is_lowest);
        let highs = std::iter::once(below).chain(digits.iter().map(|digit| digit[1]));
        let mut chain = b.chain();
        let limbs: Vec<R32> = digits.iter().zip(highs).map(|(digit, high)| chain.add(digit[0], high)).collect();
        let carry = chain.carry();
        let generates = b.compare(Cmp::Ne, carry, 0);
        let passes = all_ones(b, &limbs);
        let carries = Carries::look_ahead(b, generates, passes, QUAD);
        let carry = carries.into_lane(b);
        let limbs = wrapping_add_small(b, &limbs, carry);
        let out = carries.out_of_group(b);
        (limbs, b.add(around, out))
    }
}
