//! Montgomery arithmetic modulo an odd number, by one lane or a group of lanes a number.
//!
//! computes   [`mul`](Montgomery::mul): `x·y/R mod m`; [`redc`](Montgomery::redc): `T/R mod m`; `R = B^rows`, `B = 2³²`
//! requires   `m` odd, `m < R`; for products `x·y < m·R`, for instance `x < R` and `y < m`
//! cost       a lane: `2·length·rows` wide products and `rows` low ones, so `2L² + L` for one lane a number; a row
//!            6 additions in one lane, 8 and 3 shuffles in a group; in the end about `4·length` additions and choices
//! registers  `5·length` and about 24, `4·length` with a factor in memory (see [`Factor`])
//!
//! Row `i` adds `x·yᵢ` to the [`Window`] and then `m·q` with the limb `q` that makes limb 0 zero; the window slides
//! up over it. In a group every lane does so for its own limbs of `x` and `m`. Limb `yᵢ` and the quotient limb are
//! broadcast from the lanes that have them; the limb that leaves a lane's window at the bottom comes in at the top
//! of the window below (from the lowest lane a zero leaves, which the highest takes in, as it should). Carries
//! stay in the lane until the end. `R` is what the caller says, not `B^(group·length)`: a number that is padded to
//! whole blocks has zeros on top and takes no more rows. Squares have rows of their own: `montgomery_square.rs`.
//!
//! bound: after all rows the window holds `(x·y + q·m)/R` with `q < R`, that is less than `(mR + mR)/R = 2m`: one
//! subtraction reduces it. In between `w < x + m` before each row, so that in a group no lane's window exceeds
//! `3·B^length` (two products of `length + 1` limbs and an incoming limb, slid down by one): what is above
//! a lane's block in the end is at most 2. For `redc` the rows give `(T mod R + q·m)/R ≤ m`, and `⌊T/R⌋ < m` is
//! added. The lazy forms leave the subtraction out: `x·y/R + m` is below `2m` wherever `x·y < m·R`, so that chains of
//! products whose factors are below `2m` need none at all if `R > 4m`.
//!
//! source: Montgomery 1985; the interleaved form (CIOS) by Koç, Acar and Kaliski 1996. Handbook of Applied
//! Cryptography 14.32 for `redc`. The division over lanes is ours.

use super::strand::{Row, Strand};
use super::{Factor, Spread, Sum, Term, Window, assign, select};
use crate::build::{Builder, Emit, R32, R64};
use crate::ir::{Cmp, Vector, Vote};

/// Rows of a round of a product by a factor in memory: an even number, so that the windows before and after it have pairs
/// at the same limbs.
const ROUND: usize = 16;

/// A modulus.
#[derive(Clone, Debug)]
pub struct Montgomery {
    /// How residues lie in the lanes.
    pub spread: Spread,
    /// Its limbs in this lane.
    pub modulus: Vec<R32>,
    /// `−m⁻¹ mod B`, in every lane.
    pub inverse: R32,
    /// Limbs of `R`.
    pub rows: usize,
    /// Has the modulus spare bits? In one lane a number, `m + x < R` for every factor `x` that a product names first.
    pub spare: bool,
}

impl Montgomery {
    /// Prepares for an odd modulus of at most `rows` limbs.
    pub fn new(b: &mut Builder, spread: Spread, modulus: &[R32], rows: usize) -> Self {
        let lowest = spread.broadcast(b, modulus[0], 0);
        let inverse = negated_inverse(b, lowest);
        Self { spread, modulus: modulus.to_vec(), inverse, rows, spare: false }
    }

    /// `x·y/R mod m`.
    pub fn mul<'a>(&self, b: &mut Builder, x: &[R32], y: impl Into<Factor<'a>>) -> Vec<R32> {
        let (limbs, above) = self.mul_lazy(b, x, y);
        self.spread.reduce_once(b, &limbs, above, &self.modulus)
    }

    /// The same, not reduced: below `x·y/R + m`, with what stands above its limbs.
    pub fn mul_lazy<'a>(&self, b: &mut Builder, x: &[R32], y: impl Into<Factor<'a>>) -> (Vec<R32>, R32) {
        match y.into() {
            Factor::Memory(row, vector) if self.spread.group > 1 => {
                let window = self.rounds(b, x, row, vector);
                self.settled(b, window)
            }
            y => self.one_lazy(b, Term::Product(x, y)),
        }
    }

    /// Several products, row by row in one loop: where a device has few threads, the carries of one product wait for nothing but their own.
    pub fn all(&self, b: &mut Builder, terms: &[Term<'_>]) -> Vec<Vec<R32>> {
        let lazy = self.all_lazy(b, terms);
        self.spread.reduce_all(b, &lazy, &self.modulus)
    }

    /// The same, not reduced, as [`mul_lazy`](Self::mul_lazy).
    pub fn all_lazy(&self, b: &mut Builder, terms: &[Term<'_>]) -> Vec<(Vec<R32>, R32)> {
        let windows = terms.iter().map(|_| self.empty(b)).collect();
        let windows = self.sweep(b, windows, terms, |_, _, _, _| {});
        let sums = windows.into_iter().map(|window| window.finish(b)).collect();
        self.spread.settle_all(b, sums)
    }

    pub(super) fn one_lazy(&self, b: &mut Builder, term: Term<'_>) -> (Vec<R32>, R32) {
        let window = self.empty(b);
        let window = self.sweep_one(b, window, term, |_, _, _, _| {});
        self.settled(b, window)
    }

    /// `x·y/B^(rows − 1)`, plus a multiple of `m` that is less than `m`: one quotient fewer. For one lane a number and a result
    /// below `R`; the modulus may need all limbs.
    pub fn mul_short(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        debug_assert_eq!((self.spread.group, self.spread.length), (1, self.rows));
        let mut windows = [self.empty(b)];
        let term = Term::Product(x, Factor::Registers(y));
        let mut strands = [Strand::new(b, &self.spread, term, None, self.rows)];
        self.some_rows(b, &mut windows, &mut strands, self.rows - 1, |_, _, _| {});
        let [mut window] = windows;
        window.add(b, x, y[self.rows - 1]);
        self.settled(b, window).0
    }

    /// `(low + high·R)/R mod m`, for `low < R` and `high < m`; no `high` is zero.
    pub fn redc(&self, b: &mut Builder, low: &[R32], high: Option<&[R32]>) -> Vec<R32> {
        let (limbs, above) = self.redc_lazy(b, low, high);
        self.spread.reduce_once(b, &limbs, above, &self.modulus)
    }

    /// The same, not reduced: at most `m + high`.
    pub(super) fn redc_lazy(&self, b: &mut Builder, low: &[R32], high: Option<&[R32]>) -> (Vec<R32>, R32) {
        let mut window = Window::of(b, low);
        if self.spread.group > 1 {
            window.clear_left(b);
        }
        let window = self.sweep_one(b, window, Term::Nothing, |_, _, _, _| {});
        let (limbs, above) = self.settled(b, window);
        let Some(high) = high else { return (limbs, above) };
        let (sum, carry) = self.spread.add(b, &limbs, high);
        (sum, b.add(above, carry))
    }

    /// `x + y mod m` for `x, y < m`.
    pub fn add(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let (sum, above) = self.spread.add(b, x, y);
        self.spread.reduce_once(b, &sum, above, &self.modulus)
    }

    /// `x − y mod m` for `x, y < m`.
    pub fn sub(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let (difference, borrow) = self.spread.sub(b, x, y);
        let (raised, _) = self.spread.add(b, &difference, &self.modulus);
        let is_less = b.compare(Cmp::Ne, borrow, 0);
        select(b, is_less, &raised, &difference)
    }

    /// Sums and differences modulo `m` of numbers below `m`, in turns.
    pub fn sums(&self, b: &mut Builder, sums: &[Sum<'_>]) -> Vec<Vec<R32>> {
        let single = |b: &mut Builder, sum: &Sum<'_>| match *sum {
            Sum::Add(x, y) => self.add(b, x, y),
            Sum::Sub(x, y) => self.sub(b, x, y),
        };
        if self.spread.group == 1 {
            return sums.iter().map(|sum| single(b, sum)).collect();
        }
        // A sum may be `m` or more, a difference below 0.
        let firsts = self.spread.sums(b, sums);
        let others: Vec<Sum<'_>> = sums
            .iter()
            .zip(&firsts)
            .map(|(sum, (first, _))| match sum {
                Sum::Add(..) => Sum::Sub(first, &self.modulus),
                Sum::Sub(..) => Sum::Add(first, &self.modulus),
            })
            .collect();
        let seconds = self.spread.sums(b, &others);
        let choices = sums.iter().zip(&firsts).zip(&seconds);
        let chosen = choices.map(|((sum, (first, out)), (second, borrow))| match sum {
            Sum::Add(..) => {
                let rest = b.sub(*out, *borrow);
                let is_less = b.compare(Cmp::Ne, rest, 0);
                select(b, is_less, first, second)
            }
            Sum::Sub(..) => {
                let is_less = b.compare(Cmp::Ne, *out, 0);
                select(b, is_less, second, first)
            }
        });
        chosen.collect()
    }

    /// `2x mod m` for `x < m`.
    pub fn double(&self, b: &mut Builder, x: &[R32]) -> Vec<R32> {
        let (doubled, above) = self.spread.double(b, x);
        self.spread.reduce_once(b, &doubled, above, &self.modulus)
    }

    /// `R mod m`: one, as a Montgomery residue.
    ///
    /// `2ⁿ mod m` for a modulus of `n` bits is `2ⁿ − m`, the complement of the modulus below its top bit, plus one;
    /// from there it takes a doubling a bit that `m` is shorter than `R`, as many as the shortest of the warp needs.
    pub fn one(&self, b: &mut Builder) -> Vec<R32> {
        let spread = &self.spread;
        let (complement, leading) = self.complement(b);
        let ones = spread.small(b, 1);
        let (start, _) = spread.add(b, &complement, &ones);
        // Only for m = 1 is the complement plus one as large as m.
        let none = b.copy(0);
        let start = spread.reduce_once(b, &start, none, &self.modulus);
        let x: Vec<R32> = start.iter().map(|&limb| b.copy(limb)).collect();
        let left = b.copy(leading);
        let any_left = |b: &mut Builder| {
            let some = b.compare(Cmp::Gt, left, 0);
            b.vote(Vote::Any, some)
        };
        b.while_(any_left, |b| {
            let doubled = self.double(b, &x);
            let mine = b.compare(Cmp::Gt, left, 0);
            let next = super::select(b, mine, &doubled, &x);
            assign(b, &x, &next);
            let fewer = b.sub(left, 1);
            let fewer = b.select(fewer, 0, mine);
            b.set(left, fewer);
        });
        x
    }

    /// `R² mod m` from `R mod m`: `rows` doublings give `2^rows·R`, and five squarings `2^(32·rows)·R`.
    pub fn square_of_r(&self, b: &mut Builder, one: &[R32]) -> Vec<R32> {
        let x: Vec<R32> = one.iter().map(|&limb| b.copy(limb)).collect();
        repeat(b, self.rows as u32, |b| {
            let doubled = self.double(b, &x);
            assign(b, &x, &doubled);
        });
        repeat(b, 5, |b| {
            let squared = self.sqr(b, &x);
            assign(b, &x, &squared);
        });
        x
    }

    /// The complement of the modulus below its top bit; and how many bits `R` is longer than the modulus.
    fn complement(&self, b: &mut Builder) -> (Vec<R32>, R32) {
        let spread = &self.spread;
        // Is there anything in the lanes above?
        let mut covered = if spread.group == 1 {
            b.copy(0)
        } else {
            let zero = super::all_zeros(b, &self.modulus);
            let any = b.not_pred(zero);
            let some = spread.any_above(b, any);
            b.select(u32::MAX, 0, some)
        };
        // All ones below the top bit, without predicates: there would be one a limb.
        let mut bits = b.copy(0);
        let mut complement: Vec<R32> = Vec::new();
        for &limb in self.modulus.iter().rev() {
            let zeros = b.clz(limb);
            let below = b.shr(u32::MAX, zeros);
            let mask = b.or(below, covered);
            let flipped = b.xor(limb, mask);
            complement.push(b.and(flipped, mask));
            let ones = b.popc(mask);
            bits = b.add(bits, ones);
            let top = b.and(below, 1);
            let top = b.sub(0, top);
            covered = b.or(covered, top);
        }
        complement.reverse();
        let total = spread.sum(b, bits);
        (complement, b.sub(32 * self.rows as u32, total))
    }

    /// `(1 − x·y)/m mod R`, for `R` of all limbs in the lanes.
    pub fn complement_quotient(&self, b: &mut Builder, x: &[R32], y: &[R32]) -> Vec<R32> {
        let ones: Vec<R32> = x.iter().map(|_| b.copy(u32::MAX)).collect();
        self.negated_quotient(b, &ones, Some((x, y)))
    }

    /// `1/m mod R`, for `R` of all limbs in the lanes: the quotients of the rows of −1.
    pub fn inverse_modulo_r(&self, b: &mut Builder) -> Vec<R32> {
        let minus_one: Vec<R32> = self.modulus.iter().map(|_| b.copy(u32::MAX)).collect();
        self.negated_quotient(b, &minus_one, None)
    }

    /// `−(start + x·y)/m mod R`, for `R` of all limbs in the lanes: the quotients of the rows of `start + x·y`. Modulo
    /// `R − 1`, which is −1, it is `start + x·y mod R`.
    pub fn negated_quotient(&self, b: &mut Builder, start: &[R32], factors: Option<(&[R32], &[R32])>) -> Vec<R32> {
        let spread = &self.spread;
        debug_assert_eq!(self.rows, spread.group as usize * spread.length);
        let quotients: Vec<R32> = start.iter().map(|_| b.copy(0)).collect();
        let mut window = Window::of(b, start);
        if spread.group > 1 {
            window.clear_left(b);
        }
        let term = factors.map_or(Term::Nothing, |(x, y)| Term::Product(x, y.into()));
        self.sweep_one(b, window, term, |b, step, i, quotient| {
            let Some(step) = step else { return b.set(quotients[i], quotient) };
            let mine = b.compare(Cmp::Eq, step, spread.member);
            let kept = b.select(quotient, quotients[i], mine);
            b.set(quotients[i], kept);
        });
        quotients
    }

    /// An empty window.
    fn empty(&self, b: &mut Builder) -> Window {
        match self.spread.group {
            1 if self.spare => Window::spare(self.spread.length),
            1 => Window::new(self.spread.length),
            _ => Window::zeros(b, self.spread.length),
        }
    }

    /// The number in a window after all rows, and what stands above it.
    fn settled(&self, b: &mut Builder, window: Window) -> (Vec<R32>, R32) {
        let (limbs, excess) = window.finish(b);
        self.spread.settle(b, &limbs, excess)
    }

    /// All rows of one number.
    fn sweep_one(
        &self,
        b: &mut Builder,
        window: Window,
        term: Term<'_>,
        tell: impl Fn(&mut Builder, Option<R32>, usize, R32),
    ) -> Window {
        let windows = self.sweep(b, vec![window], &[term], tell);
        windows.into_iter().next().unwrap_or_else(|| self.empty(b))
    }

    /// All rows: of the terms, and of the modulus. `tell` is told the quotients.
    fn sweep(
        &self,
        b: &mut Builder,
        mut windows: Vec<Window>,
        terms: &[Term<'_>],
        tell: impl Fn(&mut Builder, Option<R32>, usize, R32),
    ) -> Vec<Window> {
        let strands = |b: &mut Builder, member: Option<R32>, rows: usize| -> Vec<Strand<'_>> {
            terms.iter().map(|term| Strand::new(b, &self.spread, term.effective(&self.spread), member, rows)).collect()
        };
        if self.spread.group == 1 {
            let mut strands = strands(b, None, self.rows);
            self.some_rows(b, &mut windows, &mut strands, self.rows, |b, i, quotient| tell(b, None, i, quotient));
            return windows;
        }
        self.blocks(b, windows, |b, windows, step, rows| {
            let mut strands = strands(b, Some(step), rows);
            self.some_rows(b, windows, &mut strands, rows, |b, i, quotient| tell(b, Some(step), i, quotient));
        })
    }

    /// All rows of a product by a factor in memory, some at a time: its limbs follow one another whoever holds them in
    /// registers, so a round may be shorter than a block, and takes the assembler less time.
    fn rounds(&self, b: &mut Builder, x: &[R32], row: R64, vector: Vector) -> Window {
        let mut windows = [Window::zeros(b, self.spread.length)];
        let address = b.copy64(row);
        let some = |b: &mut Builder, windows: &mut [Window], rows: usize| {
            let term = Term::Product(x, Factor::Memory(address, vector));
            let mut strands = [Strand::new(b, &self.spread, term, None, rows)];
            self.some_rows(b, windows, &mut strands, rows, |_, _, _| {});
        };
        let (rounds, rest) = (self.rows / ROUND, self.rows % ROUND);
        if rounds > 0 {
            repeat(b, rounds as u32, |b| {
                let mut next = windows.clone();
                some(b, &mut next, ROUND);
                windows[0].become_(b, &next[0]);
                b.increase64(address, 4 * ROUND as u64);
            });
        }
        if rest > 0 {
            some(b, &mut windows, rest);
        }
        let [window] = windows;
        window
    }

    /// The rows of a group, block by block: `block` adds the first rows of a block, whose limbs are in lane `step` of
    /// the group.
    fn blocks(
        &self,
        b: &mut Builder,
        mut windows: Vec<Window>,
        block: impl Fn(&mut Builder, &mut [Window], R32, usize),
    ) -> Vec<Window> {
        let length = self.spread.length;
        let (blocks, rest) = (self.rows / length, self.rows % length);
        let step = b.copy(0);
        if blocks > 0 {
            b.do_while(|b| {
                let mut next = windows.clone();
                block(b, &mut next, step, length);
                for (window, next) in windows.iter().zip(&next) {
                    window.become_(b, next);
                }
                b.increase(step, 1);
                b.compare(Cmp::Lt, step, blocks as u32)
            });
        }
        block(b, &mut windows, step, rest);
        windows
    }

    /// Some rows of each strand, in turns: part by part of a row, so that the carry chains of one run beside those of the others.
    ///
    /// Shuffles take long, so in a group they are asked for early: the quotient of a strand alone when the even half of the row before it
    /// is done, the next limb of `y` a row ahead. Strands beside one another have work while they wait, and save the addition of an early quotient.
    fn some_rows(
        &self,
        b: &mut Builder,
        windows: &mut [Window],
        strands: &mut [Strand<'_>],
        rows: usize,
        tell: impl Fn(&mut Builder, usize, R32),
    ) {
        let early = self.spread.group > 1 && strands.len() == 1;
        for strand in &mut *strands {
            strand.fetch(b);
        }
        for i in 0..rows {
            let parts: Vec<Row<'_>> = strands.iter_mut().map(|strand| strand.row(b, i)).collect();
            for (window, row) in windows.iter_mut().zip(&parts) {
                row.add_first(b, window, early);
            }
            let quotients: Vec<R32> = windows.iter().map(|window| self.quotient(b, window)).collect();
            for strand in &mut *strands {
                strand.fetch(b);
            }
            for (window, row) in windows.iter_mut().zip(&parts) {
                row.add_rest(b, window, early);
            }
            for &quotient in &quotients {
                tell(b, i, quotient);
            }
            self.cancel(b, windows, &quotients);
        }
        for (window, strand) in windows.iter_mut().zip(strands) {
            strand.end(b, window, rows);
        }
    }

    /// The limb that makes limb 0 zero, when half a row or none has been added since the last slide.
    fn quotient(&self, b: &mut Builder, window: &Window) -> R32 {
        let bottom = window.bottom_after_slide(b);
        let quotient = b.mul_lo(bottom, self.inverse);
        self.spread.broadcast(b, quotient, 0)
    }

    /// Adds the rows of the modulus, and slides.
    fn cancel(&self, b: &mut Builder, windows: &mut [Window], quotients: &[R32]) {
        let spread = &self.spread;
        for (window, &quotient) in windows.iter_mut().zip(quotients) {
            window.add_even(b, &self.modulus, quotient);
        }
        for (window, &quotient) in windows.iter_mut().zip(quotients) {
            window.add_odd(b, &self.modulus, quotient);
        }
        for window in windows {
            window.slide(b, |b, gone| (spread.group > 1).then(|| spread.from_above(b, gone)));
        }
    }
}

/// The body `count` times, at least once.
pub fn repeat(b: &mut Builder, count: u32, body: impl FnOnce(&mut Builder)) {
    let left = b.copy(count);
    b.do_while(|b| {
        body(b);
        b.decrease(left, 1);
        b.compare(Cmp::Ne, left, 0)
    });
}

/// `−m⁻¹ mod 2³²` of an odd `m`.
///
/// `3m xor 2` is the inverse modulo 2⁵; each step of Newton's iteration doubles the bits.
///
/// source: the start is Montgomery's, as Hurchalla reports it (2022).
pub fn negated_inverse(b: &mut Builder, m: R32) -> R32 {
    let tripled = b.mul_lo(m, 3);
    let mut x = b.xor(tripled, 2);
    let negated = b.sub(0, m);
    for _ in 0..3 {
        let error = b.mad_lo(negated, x, 2);
        x = b.mul_lo(x, error);
    }
    b.sub(0, x)
}
