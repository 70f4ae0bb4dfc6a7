//! The division of 64 numbers by a warpgroup.
//!
//! computes   `q = ⌊x / d⌋` and `r = x − q·d` for `x` of at most `2L` limbs and a divisor `d` of `L` limbs whose highest limb is not zero
//! requires   the matrices of `d` and of its reciprocal in shared memory
//! cost       with `s` tiles `4·s·(s + 1)` matrix products of 64×32 by 32×128 bytes, `s` more where `x` has `2L` limbs, and at most `8·s + 1` of 32×16; where an
//!            estimate is too large, the tiles of quotient and remainder once more
//!
//! Let `d` have `e` zeros above its highest one, so `D = 2^e·d` and `X = 2^e·x` have the same quotient and `B^L/2 ≤ D < B^L`. With `V = ⌊(B^(2L+2) − 1) / D⌋ =
//! B^(L+2) + B²·v + B·w₁ + w₀`, limbs `w`, and `X = h·B^(2L) + Y·B^L + Z`, `h` a limb, the estimate of the quotient is
//!
//! ```text
//! q̂ = h·B^L + h·v + Y + ⌊Y·v / B^L + F⌋
//! F·B = f + h·w₁ + ⌊h·w₀ / B⌋ + ⌊y·w₁ / B⌋ + ⌊f·u / B⌋ + E
//! ```
//!
//! where `f`, `y` and `u` are the highest limbs of `Z`, `Y` and `v`, and `E` makes up for all that is left out. Of `Y·v` only the columns from `B^L` on are computed,
//! and the four below. Of `q̂·d` only those below `B^L` are, and four above where `d` fills its tiles: the remainder is short. The limbs of `x` join them as
//! their complement, so the tiles are the complement of the remainder.
//!
//! bound: `X/D − X·V/B^(2L+2) ≤ X/B^(2L+2) < 1/B`. The columns of `Y·v` that are left out sum to less than `2⁻¹³·B^L`, see
//! [`Reducer`](super::reducer::Reducer). Of `F·B` the lower limbs of `Z` leave out less than 1, the three products that are rounded and the factors' lower limbs less than 1, 2 and 3,
//! `Y·w₀` and the lower limbs of `Z` times `w₁` less than 1 each. So with `E = 2¹⁹ + 10` the sum that is rounded is at least `X/D`, and greater by less than `2⁻¹²`:
//! `q̂` is the quotient, or 1 more where the remainder is greater than `(1 − 2⁻¹²)·d`. The remainder is from `−d` to `d − 1` then, and its sign tells. The sum `F·B` of a digit below
//! `2⁵¹`, of `h·w₁ < 2⁶³` and of some limbs has 64 bits.
//!
//! Where a remainder is negative, which random numbers have once in 2¹³, the divisor is added.
//!
//! source: P. Barrett, 1986; the estimate with limbs above and below the reciprocal's, and the rest as in the reduction, are ours.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, all_zeros, wrapping_add_small, wrapping_sub_small};
use warpmp_kernel::ir::{Cmp, Shuffle, Space, Vector, Vote};

use super::layout::{MATRICES_BYTES, OWN_LIMBS, TILE_BYTES, TILE_LIMBS};
use super::rows::{Span, load_own, load_where, store_where};
use super::tile::{DIGIT_GROUPS, Difference, Narrow, Own, Place, QUAD, ROWS, TILE_GROUPS, own};

/// `E`: what the estimate leaves out is less, in units of `1/B`.
const MARGIN: u32 = (1 << 19) + 10;

/// The division of a warpgroup's numbers, for a thread at a place.
pub(super) struct Divider<'p> {
    pub(super) place: &'p Place,
    /// Limbs of a dividend: more than those of the divisor, at most twice as many.
    pub(super) dividend: u32,
    /// The zeros above the divisor's highest one.
    pub(super) distance: R32,
    /// The limbs `w₀` and `w₁` of the reciprocal.
    pub(super) lowest: [R32; 2],
}

/// The rows of the thread's two lanes.
pub(super) struct Rows {
    pub(super) dividends: [R64; ROWS],
    /// None: no quotient is asked for.
    pub(super) quotients: Option<[R64; ROWS]>,
    pub(super) remainders: [R64; ROWS],
    /// Does the launch have these lanes?
    pub(super) exist: [Pred; ROWS],
}

/// What a row has besides its tiles.
struct Head {
    /// `h`.
    above: R32,
    /// `F·B`, low word and high word.
    fraction: [R32; 2],
}

impl Divider<'_> {
    /// Divides the numbers in these rows.
    pub(super) fn divide(&self, b: &mut Builder, rows: &Rows) {
        b.section("load");
        let heads = rows.dividends.map(|row| self.head(b, row));
        let [dividends, remainders] = [rows.dividends, rows.remainders].map(|rows| self.place.own_parts(b, rows));
        let quotients = rows.quotients.map(|rows| self.place.own_parts(b, rows));
        let rows = &Rows { dividends, quotients, remainders, exist: rows.exist };
        self.put_upper(b, rows);
        self.place.clear(b);
        let highest = self.quotient(b, rows, &heads);
        let signs = self.remainder(b, rows, highest);
        let both = b.or(signs[0], signs[1]);
        let is_negative = b.compare(Cmp::Ne, both, 0);
        let any = b.vote(Vote::Any, is_negative);
        b.if_(any, |b| self.correct(b, rows, signs, highest));
    }

    const fn limbs(&self) -> u32 {
        self.place.layout.limbs
    }

    /// Do the divisor's limbs leave no gap in their tiles?
    const fn is_filled(&self) -> bool {
        self.place.layout.gap() == 0
    }

    /// Has the quotient limbs above those of the divisor? Where the divisor leaves a gap, its tiles have them.
    const fn is_long(&self) -> bool {
        self.dividend == 2 * self.limbs()
    }

    /// Where `Y` is, from limb `gap` of the tiles on.
    const fn upper(&self, gap: u32) -> Span {
        Span { gap, limbs: self.dividend - self.limbs(), tiles: self.place.layout.tiles() }
    }

    /// Where dividends and quotients are.
    fn whole(&self) -> Span {
        Span { gap: 0, limbs: self.dividend, tiles: self.dividend.div_ceil(TILE_LIMBS).max(self.place.layout.tiles()) }
    }

    /// Where the divisor and remainders are.
    const fn short(&self) -> Span {
        Span { gap: 0, limbs: self.limbs(), tiles: self.place.layout.tiles() }
    }

    /// The rows from limb `L` on.
    fn upper_rows(&self, b: &mut Builder, rows: &Rows) -> [R64; ROWS] {
        rows.dividends.map(|row| b.add64(row, u64::from(4 * self.limbs())))
    }

    fn head(&self, b: &mut Builder, row: R64) -> Head {
        let length = self.limbs();
        let pair = |b: &mut Builder, end: u32| b.load_global(Space::Global, Vector::V2, row, 4 * (end - 2));
        let below = pair(b, length);
        let first = b.funnel_left(below[0], below[1], self.distance);
        let reciprocal =
            b.load_shared(Vector::V1, self.place.shared, self.place.layout.inverse() + 4 * (length - 1))[0];
        let mut limbs = vec![b.mul_hi(first, reciprocal), b.copy(MARGIN)];
        let above = if self.is_long() {
            let upper = pair(b, 2 * length);
            let above = b.funnel_left(upper[1], 0, self.distance);
            let highest = b.funnel_left(upper[0], upper[1], self.distance);
            limbs.extend([b.mul_hi(highest, self.lowest[1]), b.mul_hi(above, self.lowest[0])]);
            above
        } else {
            b.copy(0)
        };
        let mut sum = [first, b.copy(0)];
        for limb in limbs {
            let mut chain = b.chain();
            sum = [chain.add(sum[0], limb), chain.add(sum[1], 0)];
        }
        let sum = b.pack(sum[0], sum[1]);
        let sum = b.mad_wide(above, self.lowest[1], sum);
        Head { above, fraction: b.unpack(sum).into() }
    }

    /// Sets the tiles to `Y`, at their top.
    fn put_upper(&self, b: &mut Builder, rows: &Rows) {
        let from = self.upper_rows(b, rows);
        let span = self.upper(self.place.layout.gap());
        self.place.put_all(b, |b, tile, limbs| self.place.load_up(b, from, (tile, span), self.distance, limbs));
    }

    /// Sets the tiles to those of `q̂`, and stores it if asked for. Its limb above the tiles, the lowest of four lanes knows.
    fn quotient(&self, b: &mut Builder, rows: &Rows, heads: &[Head; ROWS]) -> [R32; ROWS] {
        b.section("quotient");
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let column = b.copy(0);
        self.quotient_tile(b, rows, column, (heads, entering), true);
        if self.place.layout.tiles() > 1 {
            b.set(column, 1);
            b.do_while(|b| {
                self.quotient_tile(b, rows, column, (heads, entering), false);
                b.increase(column, 1);
                b.compare(Cmp::Lt, column, self.place.layout.tiles())
            });
        }
        // Where there is a gap, the tiles have this limb.
        let mut highest = [0, 1].map(|row| b.add(entering[row], heads[row].above));
        if self.is_long() && self.is_filled() {
            let matrices = b.add(self.place.matrices, MATRICES_BYTES / 16 * self.place.layout.tiles());
            let limbs = self.above(b, heads);
            self.place.start_lowest(b, &self.place.lower, limbs, matrices, self.place.never);
            b.wgmma_wait(0);
            for (row, highest) in highest.iter_mut().enumerate() {
                let digit = self.place.digit(b, &self.place.lower, row);
                *highest = b.add(*highest, digit[0]);
            }
        }
        if let Some(quotients) = rows.quotients {
            self.store_above(b, quotients, highest, rows.exist);
        }
        highest
    }

    /// Sets tile `column` of the quotient. The first one gets what is carried from below.
    fn quotient_tile(
        &self,
        b: &mut Builder,
        rows: &Rows,
        column: R32,
        (heads, entering): (&[Head; ROWS], [R32; ROWS]),
        is_first: bool,
    ) {
        let place = self.place;
        let layout = place.layout;
        let addend = own(b);
        let from = self.upper_rows(b, rows);
        place.load_up(b, from, (column, self.upper(0)), self.distance, &addend);
        let matrices = b.add(place.matrices, MATRICES_BYTES / 16 * layout.tiles());
        let last = b.copy(layout.tiles() - 1);
        let below = Narrow { difference: Difference::Less, group: TILE_GROUPS - DIGIT_GROUPS };
        place.add_tiles(b, (column, last), matrices, is_first.then_some(below));
        if self.is_long() {
            let limbs = self.above(b, heads);
            let matrices = b.mad_lo(column, MATRICES_BYTES / 16, place.matrices);
            place.start_lowest(b, &place.sums, limbs, matrices, place.always);
            b.wgmma_wait(0);
        }
        if is_first {
            for row in 0..ROWS {
                let carry = self.carry_from_below(b, row, &heads[row]);
                b.set(entering[row], carry);
            }
        }
        let limbs = place.limbs_of_sums(b, Some(&addend), entering);
        place.put(b, column, &limbs);
        if let Some(quotients) = rows.quotients {
            place.store(b, quotients, (column, self.whole()), &limbs, rows.exist);
        }
    }

    /// The limbs `h` as the lowest limbs of a tile.
    fn above(&self, b: &mut Builder, heads: &[Head; ROWS]) -> [R32; ROWS] {
        [0, 1].map(|row| b.select(heads[row].above, 0, self.place.is_lowest))
    }

    /// What the lower half of the columns and the fraction carry, known to the lowest of four lanes.
    fn carry_from_below(&self, b: &mut Builder, row: usize, head: &Head) -> R32 {
        let digit = self.place.digit(b, &self.place.lower, row);
        let mut chain = b.chain();
        chain.add(digit[0], head.fraction[0]);
        let carry = chain.add(digit[1], head.fraction[1]);
        b.shuffle(Shuffle::Idx, carry, self.place.below, 32)
    }

    /// Stores the limbs of quotients above the tiles: if the divisor has no gap, `highest`, and zeros.
    fn store_above(&self, b: &mut Builder, quotients: [R64; ROWS], highest: [R32; ROWS], exists: [Pred; ROWS]) {
        let zero = b.copy(0);
        let first = self.place.layout.tiles();
        for tile in first..self.dividend.div_ceil(TILE_LIMBS) {
            let limbs = highest.map(|word| {
                let mut limbs = vec![zero; OWN_LIMBS as usize];
                if tile == first && self.is_filled() {
                    limbs[0] = b.select(word, 0, self.place.is_lowest);
                }
                limbs
            });
            let tile = b.copy(tile);
            self.place.store(b, quotients, (tile, self.whole()), &limbs, exists);
        }
    }

    /// Stores the remainders by this quotient. Their signs: all ones where they are negative, else 0, in one of four lanes; 0 in the others.
    fn remainder(&self, b: &mut Builder, rows: &Rows, highest: [R32; ROWS]) -> [R32; ROWS] {
        b.section("remainder");
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let column = b.copy(0);
        let last = self.place.layout.tiles() - 1;
        if last > 0 {
            b.do_while(|b| {
                self.remainder_tile(b, rows, column, entering, false);
                b.increase(column, 1);
                b.compare(Cmp::Lt, column, last)
            });
        }
        let limbs = self.remainder_tile(b, rows, column, entering, true);
        self.signs(b, rows, (&limbs, entering, highest))
    }

    /// Computes tile `column` of the remainder, and stores it. The last one comes with the sums of the limb above the tiles.
    fn remainder_tile(&self, b: &mut Builder, rows: &Rows, column: R32, entering: [R32; ROWS], is_last: bool) -> Own {
        let place = self.place;
        let layout = place.layout;
        let lower = own(b);
        place.load(b, rows.dividends, (column, self.whole()), &lower);
        let matrices = b.add(place.matrices, layout.modulus_matrices(0) / 16);
        let matrices = b.mad_lo(column, MATRICES_BYTES / 16, matrices);
        let first = b.copy(0);
        let above = Narrow { difference: Difference::More, group: 0 };
        place.add_tiles(b, (first, column), matrices, (is_last && self.is_filled()).then_some(above));
        let complement = lower.map(|row| row.into_iter().map(|word| b.xor(word, u32::MAX)).collect());
        let limbs = place.limbs_of_sums(b, Some(&complement), entering);
        let limbs = limbs.map(|row| row.into_iter().map(|word| b.xor(word, u32::MAX)).collect());
        place.store(b, rows.remainders, (column, self.short()), &limbs, rows.exist);
        limbs
    }

    /// The signs of remainders: the limb above the divisor's limbs. It is in the last tile, or what leaves that and the quotient's limb above the tiles tell it.
    fn signs(
        &self,
        b: &mut Builder,
        rows: &Rows,
        (last, leaving, highest): (&Own, [R32; ROWS], [R32; ROWS]),
    ) -> [R32; ROWS] {
        let place = self.place;
        let layout = place.layout;
        if !self.is_filled() {
            let has_limb = b.compare(Cmp::Eq, place.member, self.sign_member());
            return [0, 1].map(|row| b.select(last[row][0], 0, has_limb));
        }
        let lowest = b.load_shared(Vector::V1, place.shared, layout.modulus())[0];
        [0, 1].map(|row| {
            let limb = b.copy(0);
            let dividend = rows.dividends[row];
            b.guarded(place.is_lowest, true, |g| {
                g.load_into(Space::Global, Vector::V1, &[limb], dividend, 4 * layout.limbs);
            });
            let digit = place.digit(b, &place.lower, row)[0];
            let sum = b.add(digit, leaving[row]);
            let sum = b.mad_lo(highest[row], lowest, sum);
            // The complement of the limb and what is carried to it: `¬(s + ¬x) = x − s`.
            let sign = b.sub(limb, sum);
            b.select(sign, 0, place.is_lowest)
        })
    }

    /// Which of four lanes knows the sign of a remainder?
    const fn sign_member(&self) -> u32 {
        self.limbs() % TILE_LIMBS / OWN_LIMBS
    }

    /// Adds the divisor to remainders that are negative, and subtracts 1 from their quotients.
    fn correct(&self, b: &mut Builder, rows: &Rows, signs: [R32; ROWS], highest: [R32; ROWS]) {
        b.section("correction");
        let quad = b.and(self.place.lane, 32 - QUAD);
        let source = b.add(quad, self.sign_member());
        for row in 0..ROWS {
            let sign = b.shuffle(Shuffle::Idx, signs[row], source, 32);
            let negative = b.compare(Cmp::Ne, sign, 0);
            let corrects = b.and_pred(negative, rows.exist[row]);
            self.add_divisor(b, rows.remainders[row], corrects);
            if let Some(quotients) = rows.quotients {
                self.decrease(b, (quotients[row], row), corrects, highest[row]);
            }
        }
    }

    /// Adds the divisor to the remainder of a row where `adds`.
    fn add_divisor(&self, b: &mut Builder, remainder: R64, adds: Pred) {
        let place = self.place;
        let own_bytes = b.mul_lo(place.member, 4 * OWN_LIMBS);
        let divisor = b.add(place.shared, own_bytes);
        let entering = b.copy(0);
        let tile = b.copy(0);
        b.do_while(|b| {
            let limbs: Vec<R32> = (0..OWN_LIMBS).map(|_| b.register()).collect();
            let inside = place.has_limbs(b, tile, self.short()).map_or(adds, |it| b.and_pred(it, adds));
            let at = b.mad_wide(tile, TILE_BYTES, remainder);
            load_where(b, Some(inside), (at, 0), &limbs);
            let from = b.mad_lo(tile, TILE_BYTES, divisor);
            let words = load_own(b, from, place.layout.modulus());
            let mut chain = b.chain();
            let sum: Vec<R32> = limbs.iter().zip(&words).map(|(&x, &d)| chain.add(x, d)).collect();
            let carry = chain.carry();
            let generates = b.compare(Cmp::Ne, carry, 0);
            let passes = all_ones(b, &sum);
            let carries = Carries::look_ahead(b, generates, passes, QUAD).entered(b, entering);
            let leaving = carries.leaving(b);
            b.set(entering, leaving);
            let carry = carries.into_lane(b);
            let sum = wrapping_add_small(b, &sum, carry);
            store_where(b, inside, at, &sum);
            b.increase(tile, 1);
            b.compare(Cmp::Lt, tile, place.layout.tiles())
        });
    }

    /// Subtracts 1 from the quotient of a row where `subtracts`.
    fn decrease(&self, b: &mut Builder, (quotient, row): (R64, usize), subtracts: Pred, highest: R32) {
        let place = self.place;
        let entering = Carries::mask_of(b, subtracts, QUAD);
        let tile = b.copy(0);
        b.do_while(|b| {
            let both = own(b);
            place.get(b, tile, &both);
            let limbs = &both[row];
            let passes = all_zeros(b, limbs);
            let borrows = Carries::look_ahead(b, place.never, passes, QUAD).entered(b, entering);
            let borrow = borrows.into_lane(b);
            let limbs = wrapping_sub_small(b, limbs, borrow);
            let leaving = borrows.leaving(b);
            b.set(entering, leaving);
            let inside = place.has_limbs(b, tile, self.whole()).map_or(subtracts, |it| b.and_pred(it, subtracts));
            let at = b.mad_wide(tile, TILE_BYTES, quotient);
            store_where(b, inside, at, &limbs);
            b.increase(tile, 1);
            b.compare(Cmp::Lt, tile, place.layout.tiles())
        });
        if self.is_filled() {
            let borrow = b.bit(entering, place.lane);
            let limb = b.sub(highest, borrow);
            let is_lowest = b.and_pred(subtracts, place.is_lowest);
            b.guarded(is_lowest, true, |g| g.store_global(Space::Global, &[limb], quotient, 4 * self.limbs()));
        }
    }
}
