//! A product modulo an odd number by three matrix products.
//!
//! computes   `x·y/R mod m` for `x, y < R`, `R = B^N`, as a number below `R`; below `m` if `x·y < m·R`
//! cost       in matrix products of 16×32 by 32×8 bytes, for `P` panels: `x·y` `2P·(8P + 1)`, `q` `8P·(P + 1)`, `u` `2P` more, with one panel none; for an odd number of `S` strips:
//!            `S·(4S + 1)`, `2S·(S + 1)`, `2S` more
//!
//! With `i = 1/m mod R`, `t = x·y` and `q = t·i mod R`, the low halves of `t` and `q·m` are equal. So with
//! `u = ⌊q·m/R⌋` the result is `⌊t/R⌋ − u`, and `m` more where that is negative. With one panel it comes from a sum: see `complement`. The rest of this page is about more panels, and about strips.
//!
//! **Halves** of `t·i` and `q·m` take a little more than half of a product's matrix products, see `half`.
//!
//! **The high half** `u` has the digits from limb `N` on, and what the others carry. With `D_j` the digit of limb `j`,
//! `⌊q·m/B^(N−1)⌋ = Σ D_j·B^(j−N+1) + c` over `j ≥ N − 1`, where `c` is what lower digits carry. Its lowest limb is limb `N − 1` of `t`, so `c` need not be
//! computed: with `w = D_(N−1) mod B` that limb is `w + c mod B`, and `c < B`. So limb `N` gets a carry of one from this sum if and only if `t_(N−1) < w`.
//!
//! The matrices are one limb further than in other products: block 0 begins with limb `N − 1`. So a step more has the last bytes of the quotient. The digit
//! of limb `2N − 1`, which would need a block more, has the bytes of the highest limbs of `q` and `m` alone: `q₁·m₃ + q₂·(m₂ + 2⁸·m₃) + q₃·(m₁ + 2⁸·m₂ + 2¹⁶·m₃)`. The last lane computes it by itself.
//!
//! **The difference** is one of digits. The high half of `t` has the digits `A_j`, and `u` the digits `U_j`. Each digit of the difference is `A_j − U_j + 2⁵⁷ − 2²⁵`, so that none is negative.
//! Limb 0 gets 2²⁵ more. All these constants together are `2²⁵·R`, so 2²⁵ leaves limb `N − 1`, or one less if the difference is negative.
//!
//! bound: the sums of columns as in `tensor`; a digit is below 2⁵⁶, so `c < 2⁵⁶/(B − 1)`. Digits of differences are below 2⁵⁸. The high words of digits are below 2²⁶, so
//! a chunk carries at most 1, and is not all ones then. The highest digit is at most `255·(2⁸ − 1 + 2¹⁶ − 1 + 2²⁴ − 1) < B`. The result:
//! `⌊t/R⌋ < R` and `u < m`; a difference that is negative is at least `−m`, and `m` more is below `m`.
//!
//! source: P. Montgomery, 1985; the form for tensor cores, and the high half without the carries of the low one, are ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{add_limbs, assign, resolve_carries};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector, Vote};
use warpmp_launch::{piece, vector};

use super::room::{KEPT, Room};
use crate::kernels::tensor::digits::{Digits, chunk};
use crate::kernels::tensor::half::{Columns, Half};
use crate::kernels::tensor::layout::{BLOCK_LIMBS, PIECE_LIMBS};
use crate::kernels::tensor::multiply::{HalfSums, ProductSums, Source, zeros_of_half};
use crate::kernels::tensor::operands::{clear, entry, fetch, reversed};
use crate::kernels::tensor::result::{from_lane_below, resolve_chunk, resolve_with_carries};
use crate::kernels::tensor::strip;
use crate::kernels::tensor::warps::Place;

/// How many of the columns of each constant are in registers, if there is one panel. With more, `ptxas` would take more than 80 registers, and a multiprocessor would have fewer than 24 warps.
const KEPT_COLUMNS: [(Half, usize); 2] = [(Half::Low, 8), (Half::High, 4)];

/// What digits of differences are raised by, so that none is negative.
const BIAS: u64 = 1 << 25;

/// Steps between barriers.
const FENCE: u32 = 2;

/// Arithmetic modulo a number in a warp. Numbers of `N` limbs have a chunk in each lane.
pub(super) struct Ring<'p> {
    pub(super) room: Room,
    pub(super) place: &'p Place,
    pub(super) digits: Digits<'p>,
    /// The address of the lane's chunk of a number at the beginning of the memory.
    own: R32,
    /// Is it the first lane? Is it the last one?
    pub(super) is_first: Pred,
    is_last: Pred,
    /// The columns of the inverse, and those of the modulus or of its complement.
    constants: [Columns; 2],
}

impl<'p> Ring<'p> {
    /// Writes the zeros around the numbers, and reads a modulus of `limbs` limbs and its inverse modulo `R`. The rows begin at these addresses.
    pub(super) fn new(b: &mut Builder, room: Room, place: &'p Place, limbs: u32, [modulus, inverse]: [R64; 2]) -> Self {
        for (first, words) in room.zeros() {
            clear(b, place, first, words);
        }
        clear(b, place, room.modulus + 4 * limbs, room.limbs() - limbs);
        let digits = Digits::new(b, room.layout, place);
        let own = b.mad_lo(place.lane, 4 * chunk(room.layout), place.shared);
        let constants = [room.inverse, room.multiples].map(Columns::at);
        let [is_first, is_last] = [0, 31].map(|lane| b.compare(Cmp::Eq, place.lane, lane));
        let mut ring = Self { room, place, digits, own, is_first, is_last, constants };
        ring.fetch(b, modulus, limbs, room.modulus);
        ring.fetch(b, inverse, room.limbs(), room.other);
        arrive(b);
        if room.layout.strips.is_some() {
            // A byte further, the modulus needs one more block for its highest byte. After the modulus are zeros.
            strip::arrange_in_line(b, place, room.limbs() / PIECE_LIMBS + 1, (room.modulus, room.multiples));
            strip::arrange_in_line(b, place, room.limbs() / PIECE_LIMBS, (room.other, room.inverse));
        } else {
            let modulus = ring.load(b, room.modulus);
            let multiples = if room.has_one_panel() { ring.complement_of(b, &modulus) } else { modulus };
            let inverse = ring.load(b, room.other);
            for (words, to) in [(multiples, room.multiples), (inverse, room.inverse)] {
                let words = reversed(b, &words);
                ring.store(b, &words, to);
            }
        }
        b.warp_barrier();
        if room.has_one_panel() {
            let first = b.mad_lo(place.lane, 8, place.shared);
            for (columns, (half, kept)) in ring.constants.iter_mut().zip(KEPT_COLUMNS) {
                for meeting in half.meetings(room.layout).take(kept) {
                    let at = columns.place(room.layout, meeting);
                    columns.loaded.entry(meeting.columns).or_insert_with(|| b.load_shared(Vector::V2, first, at));
                }
            }
        }
        ring
    }

    /// Starts to copy a row of `limbs` limbs to a place.
    pub(super) fn fetch(&self, b: &mut Builder, row: R64, limbs: u32, to: u32) {
        let from = b.mad_wide(self.place.lane, 4 * piece(limbs), row);
        fetch(b, self.place, (from, limbs, piece(limbs)), self.place.shared, to);
    }

    /// Puts addresses, which are the same in all lanes, into shared memory: at most [`KEPT`].
    pub(super) fn keep(&self, b: &mut Builder, addresses: &[R64]) {
        assert!(addresses.len() <= KEPT, "there is room for {KEPT} addresses");
        let pairs: Vec<[R32; 2]> = addresses.iter().map(|&it| b.unpack(it).into()).collect();
        b.if_(self.is_first, |b| {
            for (pair, i) in pairs.iter().zip((0..).step_by(8)) {
                b.store_shared(pair, self.place.shared, self.room.kept + i);
            }
        });
        b.warp_barrier();
    }

    /// A kept address.
    pub(super) fn kept(&self, b: &mut Builder, i: usize) -> R64 {
        let words = b.load_shared(Vector::V2, self.place.shared, self.room.kept + 8 * i as u32);
        b.pack(words[0], words[1])
    }

    /// Arranges the columns of the second factor, which is in its place, for the next product.
    pub(super) fn arrange(&self, b: &mut Builder) {
        let (layout, other) = (self.room.layout, self.room.other);
        layout.arrange(b, self.place, (self.place.shared, other), layout.work);
        b.warp_barrier();
    }

    /// Is a chunk a piece of columns? Then results become columns at once.
    pub(super) const fn arranges_chunks(&self) -> bool {
        chunk(self.room.layout) == self.room.layout.words_of_pass()
    }

    /// This lane's chunk of a number in shared memory.
    pub(super) fn load(&self, b: &mut Builder, from: u32) -> Vec<R32> {
        let [words, width] = [chunk(self.room.layout), piece(chunk(self.room.layout))];
        (0..words).step_by(width as usize).flat_map(|i| b.load_shared(vector(width), self.own, from + 4 * i)).collect()
    }

    /// Stores this lane's chunk of a number.
    pub(super) fn store(&self, b: &mut Builder, number: &[R32], to: u32) {
        let width = piece(number.len() as u32);
        for (words, i) in number.chunks(width as usize).zip((0..).step_by(4 * width as usize)) {
            b.store_shared(words, self.own, to + i);
        }
    }

    /// Stores a number that matrices are made of: its limbs or their entries, at its place in the room.
    pub(super) fn store_matrix(&self, b: &mut Builder, number: &[R32], to: u32) {
        let Self { room, place, .. } = *self;
        if !room.layout.has_entries {
            self.store(b, number, to);
            return;
        }
        let below = from_lane_below(b, place, number[number.len() - 1]);
        let below = std::iter::once(&below).chain(number);
        let in_strips = room.layout.strips.is_some();
        let entries: Vec<R32> =
            below.zip(number).flat_map(|(&below, &word)| entry(b, below, word, in_strips)).collect();
        let own = b.mad_lo(place.lane, 8 * chunk(room.layout), place.shared);
        let width = 2 * piece(chunk(room.layout)).min(2);
        for (words, i) in entries.chunks(width as usize).zip((0..).step_by(4 * width as usize)) {
            b.store_shared(words, own, to + i);
        }
        // The word after the last one has an entry, too: some bytes of it are bytes of the number. After the low half there is none.
        if to != room.product {
            let (bytes, word) = if in_strips { (2, 1) } else { (1, 0) };
            let rest = b.shr(number[number.len() - 1], 8 * bytes);
            let to = to + 8 * room.limbs() + 4 * word;
            b.guarded(self.is_last, true, |g| g.store_shared(&[rest], place.shared, to));
        }
    }

    /// The source of a number's matrices. They begin `limbs` limbs below the number.
    pub(super) fn matrices(&self, b: &mut Builder, number: u32, limbs: u32) -> Source {
        let room = self.room;
        let first = b.add(self.place.shared, number - 4 * room.parts() * (BLOCK_LIMBS + limbs));
        if room.layout.has_entries { Source::Entries(first) } else { Source::Words(first) }
    }

    /// A limb of a number that matrices are made of, the same in all lanes.
    fn limb(&self, b: &mut Builder, number: u32, limb: u32) -> R32 {
        let room = self.room;
        let word = if room.layout.has_entries { 2 * limb + room.word_of_entry() } else { limb };
        b.load_shared(Vector::V1, self.place.shared, number + 4 * word)[0]
    }

    /// This lane's chunk of the first factor.
    pub(super) fn first_factor(&self, b: &mut Builder) -> Vec<R32> {
        let Self { room, place, .. } = *self;
        if !room.layout.has_entries {
            return self.load(b, room.factor);
        }
        let own = b.mad_lo(place.lane, 8 * chunk(room.layout), place.shared);
        let first = room.factor + 4 * room.word_of_entry();
        (0..chunk(room.layout)).map(|i| b.load_shared(Vector::V1, own, first + 8 * i)[0]).collect()
    }

    /// Makes a number the first factor and the second one; each lane has a chunk of it. If chunks are no pieces of columns, `arrange` must follow.
    pub(super) fn set_both(&self, b: &mut Builder, number: &[R32]) {
        self.store_matrix(b, number, self.room.factor);
        if self.arranges_chunks() {
            self.room.layout.arrange_waiting(b, self.place, number);
        } else {
            self.store(b, number, self.room.other);
        }
    }

    /// Writes a number to a row; each lane has a chunk of it.
    pub(super) fn write(&self, b: &mut Builder, number: &[R32], row: R64) {
        let width = piece(number.len() as u32);
        let to = b.mad_wide(self.place.lane, 4 * chunk(self.room.layout), row);
        for (words, i) in number.chunks(width as usize).zip((0..).step_by(4 * width as usize)) {
            b.store_global(Space::Global, words, to, i);
        }
    }

    /// Multiplies the first factor by the number whose columns have been arranged. Returns this lane's chunk of the result. After it, no lane reads the work area.
    pub(super) fn multiply(&self, b: &mut Builder) -> Vec<R32> {
        let Self { room, place, ref digits, .. } = *self;
        let layout = room.layout;
        b.section("multiply");
        let factor = self.matrices(b, room.factor, 0);
        let sums = layout.product_sums(b, place, factor, FENCE);
        b.section("carry");
        b.warp_barrier();
        // One panel: the multiple of the modulus is added to these sums.
        if let ProductSums::Panels(panels) = &sums
            && room.has_one_panel()
        {
            return self.add_multiple(b, &panels[0]);
        }
        digits.put_product(b, &sums);
        b.warp_barrier();
        let own = digits.get(b, 0);
        let (low, entering) = self.low_half(b, &own);
        self.store_matrix(b, &low, room.product);
        b.warp_barrier();
        let quotient = self.quotient(b);
        let matrices = self.matrices(b, room.quotient, 1);
        let zeros = zeros_of_half(b, layout);
        let sums = self.half_product(b, matrices, Half::HighWithGuard, zeros);
        digits.put_half_product(b, &sums, layout.greatest_sum());
        let highest = self.highest_digit(b, quotient[quotient.len() - 1]);
        b.warp_barrier();
        let less = digits.get_half_product(b);
        let own = digits.get(b, 1);
        // The digits have been read, and `ptxas` does not move the loads of the next numbers across a barrier: in front they would take registers.
        b.warp_barrier();
        self.difference(b, (&own, entering), &less, highest)
    }

    /// This lane's limbs of the low half, whose digits these are, and in the first lane what leaves it.
    pub(super) fn low_half(&self, b: &mut Builder, digits: &[R32]) -> (Vec<R32>, R32) {
        let below = self.word_of_lane_before(b, digits[digits.len() - 1]);
        let lowest = b.select(0, below, self.is_first);
        let (low, carries) = resolve_with_carries(b, digits, lowest);
        let carry = carries.leaving(b);
        (low, b.add(below, carry))
    }

    /// Multiplies the low half, which is in its place, by the inverse. The matrices of the quotient are stored then. Returns this lane's chunk of it.
    pub(super) fn quotient(&self, b: &mut Builder) -> Vec<R32> {
        let Self { room, place, ref digits, .. } = *self;
        b.section("quotient");
        let matrices = self.matrices(b, room.product, 0);
        let zeros = zeros_of_half(b, room.layout);
        let sums = self.half_product(b, matrices, Half::Low, zeros);
        digits.put_half_product(b, &sums, room.layout.greatest_sum());
        b.warp_barrier();
        let own = digits.get_half_product(b);
        let quotient = resolve_chunk(b, place, &own);
        self.store_matrix(b, &quotient, room.quotient);
        b.warp_barrier();
        b.section("reduce");
        quotient
    }

    /// The sums of half of the columns of a product, added to those of `panels`. Its first factor has these matrices. The second one is the inverse for a low half,
    /// else the modulus or its complement.
    pub(super) fn half_product(
        &self,
        b: &mut Builder,
        matrices: Source,
        half: Half,
        panels: Vec<HalfSums>,
    ) -> Vec<HalfSums> {
        let columns = &self.constants[match half {
            Half::Low => 0,
            Half::High | Half::HighWithGuard => 1,
        }];
        self.room.layout.half_product(b, self.place, (matrices, columns), half, FENCE, panels)
    }

    /// In the last lane: the digit of limb `2N − 1` of the quotient times the modulus. `quotient` is the highest limb of the quotient.
    fn highest_digit(&self, b: &mut Builder, quotient: R32) -> R32 {
        let room = self.room;
        let modulus = b.load_shared(Vector::V1, self.place.shared, room.modulus + 4 * (room.limbs() - 1))[0];
        let [one, two, three] = [1, 2, 3].map(|i| b.prmt(quotient, 0, 0x4440 + i));
        let [upper, middle, lower] = [24, 16, 8].map(|bits| b.shr(modulus, bits));
        let sum = b.mul_lo(one, upper);
        let sum = b.mad_lo(two, middle, sum);
        b.mad_lo(three, lower, sum)
    }

    /// The high half of the product minus `u`, or `m` more. The high half has the digits `own`, and `entering` enters its lowest limb. `u` has the digits `less`, which begin with limb `N − 1`,
    /// and `highest` in the last lane.
    fn difference(&self, b: &mut Builder, (own, entering): (&[R32], R32), less: &[R32], highest: R32) -> Vec<R32> {
        let Self { room, is_first, is_last, .. } = *self;
        let [guard, above] = [less[0], less[1]];
        let [next, next_high] = [guard, above].map(|word| b.shuffle(Shuffle::Down, word, 1, 32));
        let next = [b.select(highest, next, is_last), b.select(0, next_high, is_last)];
        let digits: Vec<R32> = own
            .chunks(2)
            .zip(less[2..].chunks(2).chain(std::iter::once(&next[..])))
            .flat_map(|(own, less)| {
                let [own, less] = [own, less].map(|digit| b.pack(digit[0], digit[1]));
                let raised = b.add64(own, (BIAS << 32) - BIAS);
                let difference = b.sub64(raised, less);
                <[R32; 2]>::from(b.unpack(difference))
            })
            .collect();
        // In the first lane: what enters both numbers.
        let known = self.limb(b, room.product, room.limbs() - 1);
        let carries = b.compare(Cmp::Lt, known, guard);
        let more = b.select(BIAS as u32 - 1, BIAS as u32, carries);
        let lowest = b.sub(entering, above);
        let lowest = b.add(lowest, more);
        let below = self.word_of_lane_before(b, digits[digits.len() - 1]);
        let lowest = b.select(lowest, below, is_first);
        let (difference, carries) = resolve_with_carries(b, &digits, lowest);
        let out = carries.out_of_group(b);
        let top = b.add(below, out);
        let is_negative = b.compare(Cmp::Lt, top, BIAS as u32);
        self.raise(b, &difference, is_negative);
        difference
    }

    /// Adds the modulus to a number if it is negative. The first lane knows.
    pub(super) fn raise(&self, b: &mut Builder, number: &[R32], is_negative: Pred) {
        let is_negative = b.and_pred(is_negative, self.is_first);
        let is_negative = b.vote(Vote::Any, is_negative);
        b.if_(is_negative, |b| {
            let modulus = self.load(b, self.room.modulus);
            let (raised, carry) = add_limbs(b, number, &modulus);
            let carries = b.compare(Cmp::Ne, carry, 0);
            let raised = resolve_carries(b, &raised, carries, 32);
            assign(b, number, &raised);
        });
    }

    /// The word of the lane before, of the last one in the first lane.
    pub(super) fn word_of_lane_before(&self, b: &mut Builder, word: R32) -> R32 {
        // A shuffle takes the number modulo 32.
        let before = b.add(self.place.lane, 31);
        b.shuffle(Shuffle::Idx, word, before, 32)
    }
}

/// Waits for the copies.
pub(super) fn arrive(b: &mut Builder) {
    b.copy_commit();
    b.copy_wait(0);
    b.warp_barrier();
}
