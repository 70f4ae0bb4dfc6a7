//! Montgomery's reduction of 64 numbers by a warpgroup.
//!
//! computes   `t/R mod m` for `t < m·R`, `R = B^N`, `N` limbs of `m`
//! requires   the matrices of `m` and of its inverse modulo `R` in shared memory
//! cost       with `s` tiles `4·s·(s + 1)` matrix products of 64×32 by 32×128 bytes, and `4·s` of 32×16
//!
//! With `x = 1/m mod R` and `q = (t mod R)·x mod R` the lower halves of `t` and `q·m` are equal. So `t/R` is the difference `d` of the upper halves, above
//! `−m` and below `m`; where it is negative, `m` is added. Of `q` only the columns below `R` are computed, of `q·m` those from `R` on: tiles of one side
//! of the diagonal, and on it. What the lower half of `q·m` carries is not known from these. But its lower columns are `t mod R` more than a
//! multiple of `R`, and four columns below `R` tell which: without the others, and without all but the highest limb of `t mod R`, the difference is
//! wrong by less than `R/2`. So the carry is the nearest integer.
//!
//! The upper half of `t` joins the columns as its complement. So what leaves the tiles tells the sign of `d`, and the tiles are the complement of `d`.
//!
//! bound: the columns left out sum to less than `s_max·2⁻⁴⁰·256/255·R < 2⁻¹³·R`, where `s_max < 2²⁶`, and the limbs of `t mod R` below the highest one to less than
//! `2⁻³²·R`.

use warpmp_kernel::build::{Builder, Emit, Pred, R32, R64};
use warpmp_kernel::fragment::{Carries, all_ones, wrapping_add_small};
use warpmp_kernel::ir::{Cmp, Shuffle};

use super::layout::{MATRICES_BYTES, OWN_LIMBS, TILE_BYTES, TILE_LIMBS};
use super::rows::{Span, load_own, store_where};
use super::tile::{DIGIT_GROUPS, NEXT_ROW, Own, Place, QUAD, ROWS, TILE_GROUPS, own};

/// The reduction of a warpgroup's numbers, for a thread at a place.
pub(super) struct Reducer<'p> {
    pub(super) place: &'p Place,
    /// Does `t` have an upper half?
    pub(super) is_double: bool,
}

/// Numbers to reduce, as far as a thread has loaded them.
pub(super) struct Numbers {
    /// The thread's parts of `t`, from its first limb on.
    t: [R64; ROWS],
    /// Its limbs of the first tile of `t`.
    first: Own,
}

/// Where results go.
pub(super) struct Target {
    /// The rows of the thread's two lanes.
    pub(super) rows: [R64; ROWS],
    /// Does the launch have these lanes?
    pub(super) exists: [Pred; ROWS],
    /// Is the result kept? If not, zero is stored. None: it is.
    pub(super) kept: Option<[Pred; ROWS]>,
}

impl Numbers {
    /// None yet.
    pub(super) fn new(b: &mut Builder) -> Self {
        Self { t: [0, 0].map(|_| b.register()), first: own(b) }
    }
}

impl Reducer<'_> {
    /// The rows of the thread's lanes, the first of which is `lane`, among the numbers from `first` on. In the place of lanes after lane `last` there is
    /// the row of this one.
    pub(super) fn rows(&self, b: &mut Builder, first: R64, (lane, last): (R32, R32)) -> [R64; ROWS] {
        [0, NEXT_ROW].map(|row| {
            let lane = b.add(lane, row);
            let lane = b.min(lane, last);
            b.mad_wide(lane, 4 * self.place.layout.reduced_limbs(self.is_double), first)
        })
    }

    /// Starts to load the numbers in these rows.
    pub(super) fn begin(&self, b: &mut Builder, rows: [R64; ROWS], numbers: &Numbers) {
        let own = b.mul_lo(self.place.member, 4 * OWN_LIMBS);
        for (row, to) in rows.into_iter().zip(numbers.t) {
            let row = b.mad_wide(own, 1, row);
            b.set64(to, row);
        }
        let tile = b.copy(0);
        self.place.load(b, numbers.t, (tile, self.lower()), &numbers.first);
    }

    /// Where `t mod R` is in its tiles.
    fn lower(&self) -> Span {
        Span { gap: self.place.layout.gap(), ..self.upper() }
    }

    /// Where upper halves and results are.
    fn upper(&self) -> Span {
        Span { gap: 0, limbs: self.place.layout.limbs, tiles: self.place.layout.tiles() }
    }

    /// Reduces the numbers: sets the tiles to the complement of the result, or of `m` less. Which of these, the lowest of four lanes knows: 0, or 1
    /// where `m` is missing.
    pub(super) fn reduce(&self, b: &mut Builder, numbers: &Numbers) -> [R32; ROWS] {
        let highest = self.quotient(b, numbers);
        self.upper_half(b, numbers, highest)
    }

    /// Sets the tiles to those of `q`. The highest limb of `t mod R`, the highest of four lanes knows.
    fn quotient(&self, b: &mut Builder, numbers: &Numbers) -> [R32; ROWS] {
        b.section("quotient");
        let loaded = &numbers.first;
        let load = |b: &mut Builder, tile: R32| self.place.load(b, numbers.t, (tile, self.lower()), loaded);
        let [entering, highest] = [0, 0].map(|_| [0, 0].map(|_| b.copy(0)));
        let column = b.copy(0);
        let words = own(b);
        b.do_while(|b| {
            self.place.copy(b, loaded, &words);
            for (highest, row) in highest.into_iter().zip(loaded) {
                b.set(highest, row[OWN_LIMBS as usize - 1]);
            }
            // The tile on the diagonal first: it is there. Those below have been loaded before, so they come soon.
            self.place.start(b, &self.place.sums, &words, (self.place.matrices, 0), self.place.never);
            let tile = b.copy(0);
            let matrices = b.mad_lo(column, MATRICES_BYTES / 16, self.place.matrices);
            let has_more = |b: &mut Builder| b.compare(Cmp::Lt, tile, column);
            b.while_(has_more, |b| {
                load(b, tile);
                b.wgmma_wait(0);
                self.place.copy(b, loaded, &words);
                self.place.start(b, &self.place.sums, &words, (matrices, 0), self.place.always);
                b.decrease(matrices, MATRICES_BYTES / 16);
                b.increase(tile, 1);
            });
            b.wgmma_wait(0);
            let next = b.add(column, 1);
            let more = b.compare(Cmp::Lt, next, self.place.layout.tiles());
            b.if_(more, |b| load(b, next));
            let limbs = self.place.limbs_of_sums(b, None, entering);
            self.place.put(b, column, &limbs);
            b.set(column, next);
            b.compare(Cmp::Lt, column, self.place.layout.tiles())
        });
        highest
    }

    /// Sets the tiles to the complement of the difference of the upper halves. What leaves them, the lowest of four lanes knows: 1 where the
    /// difference is negative, else 0.
    fn upper_half(&self, b: &mut Builder, numbers: &Numbers, highest: [R32; ROWS]) -> [R32; ROWS] {
        b.section("upper half");
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let column = b.copy(0);
        self.upper_tile(b, numbers, column, entering, Some(highest));
        if self.place.layout.tiles() > 1 {
            b.set(column, 1);
            b.do_while(|b| {
                self.upper_tile(b, numbers, column, entering, None);
                b.increase(column, 1);
                b.compare(Cmp::Lt, column, self.place.layout.tiles())
            });
        }
        entering
    }

    /// Sets tile `column`. The first one needs the highest limb of `t mod R`.
    fn upper_tile(
        &self,
        b: &mut Builder,
        numbers: &Numbers,
        column: R32,
        entering: [R32; ROWS],
        highest: Option<[R32; ROWS]>,
    ) {
        let layout = self.place.layout;
        let upper = own(b);
        if self.is_double {
            let rows = numbers.t.map(|row| b.add64(row, u64::from(4 * layout.limbs)));
            self.place.load(b, rows, (column, self.upper()), &upper);
        } else {
            for &word in upper.iter().flatten() {
                b.set(word, 0);
            }
        }
        let words = own(b);
        let tile = b.copy(column);
        let matrices = b.add(self.place.matrices, layout.modulus_matrices(layout.tiles()) / 16);
        b.do_while(|b| {
            self.place.get(b, tile, &words);
            let adds = b.compare(Cmp::Ne, tile, column);
            if highest.is_some() {
                let before = b.sub(matrices, MATRICES_BYTES / 16);
                self.place.start(b, &self.place.lower, &words, (before, TILE_GROUPS - DIGIT_GROUPS), adds);
            }
            self.place.start(b, &self.place.sums, &words, (matrices, 0), adds);
            b.decrease(matrices, MATRICES_BYTES / 16);
            b.increase(tile, 1);
            b.wgmma_wait(0);
            b.compare(Cmp::Lt, tile, layout.tiles())
        });
        if let Some(highest) = highest {
            for row in 0..ROWS {
                let carry = self.carry_of_lower_half(b, row, highest[row]);
                b.set(entering[row], carry);
            }
        }
        let complement = upper.map(|row| row.into_iter().map(|word| b.xor(word, u32::MAX)).collect());
        let limbs = self.place.limbs_of_sums(b, Some(&complement), entering);
        self.place.put(b, column, &limbs);
    }

    /// What the lower half of `q·m` carries, known to the lowest of four lanes, from the sums of its four highest columns.
    fn carry_of_lower_half(&self, b: &mut Builder, row: usize, highest: R32) -> R32 {
        let [low, high] = self.place.digit(b, &self.place.lower, row);
        let mut chain = b.chain();
        let (low, high) = (chain.add(low, 1 << 31), chain.add(high, 0));
        let mut chain = b.chain();
        chain.sub(low, highest);
        let carry = chain.sub(high, 0);
        b.shuffle(Shuffle::Idx, carry, self.place.below, 32)
    }

    /// Stores the complement of the tiles, with `m` added where it is negative.
    pub(super) fn store(&self, b: &mut Builder, negative: [R32; ROWS], target: &Target) {
        let place = self.place;
        let layout = place.layout;
        let own_bytes = b.mul_lo(place.member, 4 * OWN_LIMBS);
        let to = target.rows.map(|row| b.mad_wide(own_bytes, 1, row));
        let quad = b.and(place.lane, 32 - QUAD);
        let masks = negative.map(|it| {
            let it = b.shuffle(Shuffle::Idx, it, quad, 32);
            b.sub(0, it)
        });
        let modulus = b.add(place.shared, own_bytes);
        let entering: [R32; ROWS] = [0, 0].map(|_| b.copy(0));
        let limbs = own(b);
        let tile = b.copy(0);
        b.do_while(|b| {
            let from = b.mad_lo(tile, TILE_BYTES, modulus);
            let words = load_own(b, from, layout.modulus());
            place.get(b, tile, &limbs);
            let has_limbs = place.has_limbs(b, tile, self.upper());
            for row in 0..ROWS {
                let difference: Vec<R32> = limbs[row].iter().map(|&word| b.xor(word, u32::MAX)).collect();
                let masked: Vec<R32> = words.iter().map(|&word| b.and(word, masks[row])).collect();
                let (sum, carries) = add(b, &difference, &masked, entering[row]);
                let carry = carries.into_lane(b);
                let leaving = carries.leaving(b);
                b.set(entering[row], leaving);
                let mut sum = wrapping_add_small(b, &sum, carry);
                if let Some(kept) = target.kept {
                    sum = sum.into_iter().map(|word| b.select(word, 0, kept[row])).collect();
                }
                let exists = target.exists[row];
                let inside = has_limbs.map_or(exists, |it| b.and_pred(it, exists));
                let to = b.mad_wide(tile, TILE_BYTES, to[row]);
                store_where(b, inside, to, &sum);
            }
            b.increase(tile, 1);
            b.compare(Cmp::Lt, tile, layout.tiles())
        });
    }
}

/// The sum of the limbs of four lanes, each lane's without the carries of others, and all their carries. `entering`: those into the lowest lanes.
fn add(b: &mut Builder, x: &[R32], y: &[R32], entering: R32) -> (Vec<R32>, Carries) {
    let mut chain = b.chain();
    let sum: Vec<R32> = x.iter().zip(y).map(|(&x, &y)| chain.add(x, y)).collect();
    let carry = chain.carry();
    let generates = b.compare(Cmp::Ne, carry, 0);
    let passes = all_ones(b, &sum);
    let carries = Carries::look_ahead(b, generates, passes, QUAD);
    (sum, carries.entered(b, entering))
}

const _: () = assert!(TILE_LIMBS == QUAD * OWN_LIMBS);
