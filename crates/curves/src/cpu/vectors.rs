//! Groups of walks in vectors: a walk a lane.
//!
//! computes   the rounds of [`Walk`], point by point the same as every other engine
//! requires   a field for which [`ifma`] or [`avx2`] has digits
//! cost       a step of a vector: 6 products, a square, and a division by a small power of two; an inversion a round
//!
//! One pass makes a round. Right after a point has moved, its next denominator is multiplied into the product of the next
//! round, so the next round goes in the other direction. [`CHAINS`] products grow side by side: one product waits for itself
//! most of the time.
//!
//! # Two radices
//!
//! The walk decides by bits of residues `x·R`, `R = 2^(32·limbs)`. A vector's product divides by `V = 2^(DIGIT_BITS·N)`
//! instead. Nothing is converted in the loop. The state stays `X = x·R`, `Y = y·R`, canonical. Let `R = 2^m·V`. The slope is
//! kept as `λ·V·2^k`, which the factor `2^k` of the one inverse a round decides:
//!
//! * `(λ·V·2^k)²/V = λ²·R·2^(2k − m)`,
//! * `(λ·V·2^k)·(x·R)/V = (λ·x)·R·2^k`.
//!
//! For `m ≤ 0` take `k = 0`: the square is divided by `2^(−m)`. For `m > 0` take `k = m/2`: the other product is divided by
//! `2^k` (`m` is a multiple of 4). So a step pays one division by a power of two of at most one digit, `1/N` of a product; two
//! conversions would cost two products.
//!
//! bound: numbers carry their bounds in their types; see [`warpmp_simd::field`]. No denominator is zero: see [`crate::walk`].
//!
//! source: Montgomery 1987 for inversions together; the factors of the slope are ours.
#![allow(clippy::inline_always, reason = "an instruction is compiled where its caller has the features")]

use std::sync::Arc;

use num_bigint::BigUint;
use warpmp_simd::field::{Field, Number, digits};
use warpmp_simd::{Avx2, Ifma, MAX_LANES, Simd};

use super::{Arrival, Lanes, Maker};
use crate::field::integer;
use crate::walk::{LOOK, Settings, Spot, Walk};

/// The most bits of a field with AVX2. From six digits on, words are as fast.
pub(super) const AVX2_BITS: u64 = 136;

/// Products that grow side by side.
const CHAINS: usize = 2;

/// Groups with AVX-512 IFMA; none for a field without a number of digits.
pub(super) fn ifma<const W: usize>(s: Ifma, walk: &Arc<Walk<W>>, bits: usize) -> Option<(Maker<W>, u64)> {
    match digits::<Ifma>(bits) {
        1 => maker::<Ifma, 1, W>(s, walk),
        2 => maker::<Ifma, 2, W>(s, walk),
        3 => maker::<Ifma, 3, W>(s, walk),
        4 => maker::<Ifma, 4, W>(s, walk),
        5 => maker::<Ifma, 5, W>(s, walk),
        _ => None,
    }
}

/// Groups with AVX2; none for a field without a number of digits.
pub(super) fn avx2<const W: usize>(s: Avx2, walk: &Arc<Walk<W>>, bits: usize) -> Option<(Maker<W>, u64)> {
    match digits::<Avx2>(bits) {
        2 => maker::<Avx2, 2, W>(s, walk),
        3 => maker::<Avx2, 3, W>(s, walk),
        4 => maker::<Avx2, 4, W>(s, walk),
        5 => maker::<Avx2, 5, W>(s, walk),
        _ => None,
    }
}

fn maker<S: Simd, const N: usize, const W: usize>(s: S, walk: &Arc<Walk<W>>) -> Option<(Maker<W>, u64)> {
    let curve = Arc::new(Curve::<S, N>::new(s, &Source::of(walk))?);
    let make: Maker<W> = Box::new(move |spots| Box::new(Vectors::new(curve.clone(), &spots)));
    Some((make, (CHAINS * S::LANES) as u64))
}

/// The constants of a walk.
#[derive(Debug)]
struct Curve<S: Simd, const N: usize> {
    s: S,
    field: Field<S, N>,
    /// Digit `i` of coordinate `c` of entry `j` is `table[c][i][j]`.
    table: [[Vec<u64>; N]; 2],
    /// The coefficient `a·R`.
    a: Number<S, N, 1>,
    /// `2^k`, `2^(−m)`.
    lift: Number<S, N, 1>,
    lower: Number<S, N, 1>,
    /// The digits that divide a square by `2^(−m)` and a product by `2^k`, where these are not 1.
    square_digit: Option<S::Vector>,
    product_digit: Option<S::Vector>,
    /// The bits of the branch, and the bits that are zero in a distinguished point, in the lowest 64 bits of `x`.
    branch: S::Vector,
    distinguished: S::Vector,
}

/// A point of each lane, and its next step.
#[derive(Clone, Copy, Debug)]
struct Place<S: Simd, const N: usize> {
    x: Number<S, N, 1>,
    y: Number<S, N, 1>,
    /// The abscissa of the branch's entry.
    entry: Number<S, N, 1>,
    /// The product of the denominators before this one.
    prefix: Number<S, N, 2>,
}

/// A point of each lane: `x` and `y`.
type Point<S, const N: usize> = [Number<S, N, 1>; 2];

/// The constants of a walk, whatever the length of its words.
struct Source {
    p: BigUint,
    limbs: u32,
    settings: Settings,
    shift: u32,
    a: Vec<u64>,
    /// The coordinates of the entries.
    table: [Vec<Vec<u64>>; 2],
}

impl Source {
    fn of<const W: usize>(walk: &Walk<W>) -> Self {
        let column = |number: fn(&Spot<W>) -> &[u64; W]| walk.table.iter().map(|spot| number(spot).to_vec()).collect();
        Self {
            p: integer(&walk.field.p),
            limbs: walk.limbs,
            settings: walk.settings,
            shift: walk.shift,
            a: walk.a.to_vec(),
            table: [column(|spot| &spot.x), column(|spot| &spot.y)],
        }
    }
}

impl<S: Simd, const N: usize> Curve<S, N> {
    fn new(s: S, source: &Source) -> Option<Self> {
        let Source { p, limbs, settings, shift, a, table } = source;
        let field = Field::<S, N>::new(s, &p.to_u32_digits())?;
        let difference = i64::from(32 * limbs) - (S::DIGIT_BITS * N) as i64;
        let (k, less) = ((difference / 2).max(0) as usize, (-difference).max(0) as usize);
        let power = |exponent: i64| {
            let power = (BigUint::from(1_u32) << exponent.unsigned_abs()) % p;
            let power = if exponent < 0 { power.modinv(p)? } else { power };
            Some(field.constant(&power.to_u32_digits()))
        };
        let divide = |bits: usize| (bits > 0).then(|| s.splat(1 << (S::DIGIT_BITS - bits)));
        let [x, y] =
            table.each_ref().map(|column| -> Vec<[u64; N]> { column.iter().map(|x| split::<S, N>(x)).collect() });
        let digits = |column: &[[u64; N]]| std::array::from_fn(|i| column.iter().map(|digits| digits[i]).collect());
        Some(Self {
            s,
            table: [digits(&x), digits(&y)],
            a: Number::from_digits(split::<S, N>(a).map(|digit| s.splat(digit))),
            lift: power(k as i64)?,
            lower: power(-difference)?,
            square_digit: divide(less),
            product_digit: divide(k),
            branch: s.splat((1 << settings.branch_bits) - 1),
            distinguished: s.splat(((1 << settings.distinguished_bits) - 1) << shift),
            field,
        })
    }

    #[inline(always)]
    fn divide(&self, x: Number<S, N, 2>, digit: Option<S::Vector>) -> Number<S, N, 2> {
        match digit {
            Some(digit) => self.field.mul_digit(x, digit),
            None => x,
        }
    }

    /// The lanes whose point is doubled next.
    #[inline(always)]
    fn doubled(&self, place: &Place<S, N>) -> u8 {
        let (s, field) = (self.s, &self.field);
        s.lanes(s.is_odd(place.y.digits()[0])) | s.lanes(field.equal(place.x, place.entry))
    }

    /// Finds the denominators of the next step and multiplies them into the products.
    #[inline(always)]
    fn prepare(&self, places: &mut [Place<S, N>; CHAINS], products: &mut [Number<S, N, 2>; CHAINS]) {
        let field = &self.field;
        for k in 0..CHAINS {
            let place = &mut places[k];
            place.entry = field.choose(&self.table[0], place.x.digits()[0]);
            place.prefix = products[k];
            let mut run: Number<S, N, 2> = field.sub(place.entry, place.x);
            let doubled = self.doubled(place);
            if doubled != 0 {
                run = field.select(self.s.mask(doubled), field.add(place.y, place.y), run);
            }
            products[k] = field.mul(products[k], run);
        }
    }

    /// `3x² + a`.
    #[cold]
    #[inline(never)]
    fn tangent(&self, x: Number<S, N, 1>) -> Number<S, N, 2> {
        let field = &self.field;
        self.s.vectorize(
            #[inline(always)]
            || {
                let square = field.mul(field.square(x), self.lower);
                let triple = field.add::<4, 2, 6>(field.add::<2, 2, 4>(square, square), square);
                field.canonical(field.add::<6, 1, 7>(triple, self.a)).widen()
            },
        )
    }

    /// One step of every lane. The inverses become those of the places that are left.
    #[inline(always)]
    fn step(&self, places: &mut [Place<S, N>; CHAINS], inverses: &mut [Number<S, N, 2>; CHAINS]) {
        let (s, field) = (self.s, &self.field);
        let mut others = [field.zero(); CHAINS];
        let mut doubled = [0; CHAINS];
        let mut slopes = *inverses;
        for k in 0..CHAINS {
            let place = &places[k];
            others[k] = place.entry;
            let mut run: Number<S, N, 2> = field.sub(place.entry, place.x);
            let mut rise: Number<S, N, 2> = field.sub(field.choose(&self.table[1], place.x.digits()[0]), place.y);
            doubled[k] = self.doubled(place);
            if doubled[k] != 0 {
                let lanes = s.mask(doubled[k]);
                run = field.select(lanes, field.add(place.y, place.y), run);
                rise = field.select(lanes, self.tangent(place.x), rise);
                others[k] = field.select(lanes, place.x, place.entry);
            }
            let own = field.mul(inverses[k], place.prefix);
            inverses[k] = field.mul(inverses[k], run);
            slopes[k] = field.mul(rise, own);
        }
        let mut after = [field.zero(); CHAINS];
        for k in 0..CHAINS {
            let square = self.divide(field.square(slopes[k]), self.square_digit);
            let x = field.sub::<3, 1, 4>(field.sub::<2, 1, 3>(square, places[k].x), others[k]);
            after[k] = field.canonical(x);
        }
        for k in 0..CHAINS {
            let place = &mut places[k];
            let run: Number<S, N, 2> = field.sub(place.x, after[k]);
            let rise = self.divide(field.mul(slopes[k], run), self.product_digit);
            let (y, flipped) = field.make_even(field.canonical(field.sub::<2, 1, 3>(rise, place.y)));
            let same = s.equal(s.and(after[k].digits()[0], self.branch), s.and(place.x.digits()[0], self.branch));
            let back = s.lanes(s.both(flipped, same)) & !doubled[k];
            if back == 0 {
                (place.x, place.y) = (after[k], y);
            } else {
                (place.x, place.y) = self.turned([place.x, place.y], [after[k], y], s.mask(back));
            }
        }
    }

    /// The state after a step whose marked lanes are in a cycle of two points: the smaller point, to be doubled.
    #[cold]
    #[inline(never)]
    fn turned(&self, before: Point<S, N>, after: Point<S, N>, lanes: S::Mask) -> (Number<S, N, 1>, Number<S, N, 1>) {
        let (s, field) = (self.s, &self.field);
        s.vectorize(
            #[inline(always)]
            || {
                let smaller = field.below(before[0], after[0]);
                let y = field.select(smaller, before[1], after[1]);
                let x = field.select(smaller, before[0], after[0]);
                (field.select(lanes, x, after[0]), field.select(lanes, self.flag(y), after[1]))
            },
        )
    }

    /// The ordinate that says that a point is doubled next.
    #[inline(always)]
    fn flag(&self, y: Number<S, N, 1>) -> Number<S, N, 1> {
        self.field.canonical(self.field.sub::<1, 1, 2>(self.field.zero(), y))
    }

    /// The lanes at distinguished points.
    #[inline(always)]
    fn arrived(&self, place: &Place<S, N>) -> u8 {
        let s = self.s;
        let mut word = place.x.digits()[0];
        for i in 1..N.min(64_usize.div_ceil(S::DIGIT_BITS)) {
            word = s.or(word, s.shl(place.x.digits()[i], s.splat((i * S::DIGIT_BITS) as u64)));
        }
        let zero = s.lanes(s.equal(s.and(word, self.distinguished), s.zero()));
        zero & !s.lanes(s.is_odd(place.y.digits()[0]))
    }
}

/// Takes the number of a walk and the digits of its `x` and `y`, which it may replace.
type Change<'a, const N: usize> = dyn FnMut(usize, &mut [[u64; N]; 2]) + 'a;

/// Walks whose residues are lanes of vectors.
#[derive(Debug)]
struct Vectors<S: Simd, const N: usize> {
    curve: Arc<Curve<S, N>>,
    places: Vec<[Place<S, N>; CHAINS]>,
    /// The smallest points, while a look lasts.
    smallest: Vec<[Point<S, N>; CHAINS]>,
}

impl<S: Simd, const N: usize> Vectors<S, N> {
    /// The walks of these starts: whole vectors, [`CHAINS`] together.
    fn new<const W: usize>(curve: Arc<Curve<S, N>>, spots: &[Spot<W>]) -> Self {
        let s = curve.s;
        let gather = |spots: &[Spot<W>], coordinate: fn(&Spot<W>) -> &[u64; W]| {
            let lanes: Vec<[u64; N]> = spots.iter().map(|spot| split::<S, N>(coordinate(spot))).collect();
            let digit = |i: usize| s.from_words(std::array::from_fn(|lane| lanes.get(lane).map_or(0, |lane| lane[i])));
            Number::from_digits(std::array::from_fn(digit))
        };
        let place = |spots: &[Spot<W>]| Place {
            x: gather(spots, |spot| &spot.x),
            y: gather(spots, |spot| &spot.y),
            entry: curve.field.zero(),
            prefix: curve.field.one().widen(),
        };
        let places = spots
            .chunks_exact(CHAINS * S::LANES)
            .map(|spots| std::array::from_fn(|k| place(&spots[k * S::LANES..][..S::LANES])))
            .collect();
        Self { curve, places, smallest: Vec::new() }
    }

    /// Makes rounds. `arrive` is told each lane at a distinguished point, by number; it replaces the digits of its point.
    fn run(&mut self, rounds: u32, arrive: &mut Change<'_, N>) {
        let Self { curve, places, smallest } = self;
        let (s, field) = (curve.s, &curve.field);
        let mut scratch = Vec::with_capacity(CHAINS);
        s.vectorize(
            #[inline(always)]
            || {
                let mut products = [field.one().widen(); CHAINS];
                for places in places.iter_mut() {
                    curve.prepare(places, &mut products);
                }
                for round in 1..=rounds {
                    let mut inverses = products;
                    field.invert_all(&mut inverses, &mut scratch);
                    for inverse in &mut inverses {
                        *inverse = field.mul(*inverse, curve.lift);
                    }
                    products = [field.one().widen(); CHAINS];
                    for i in 0..places.len() {
                        let i = if round % 2 == 1 { places.len() - 1 - i } else { i };
                        let places = &mut places[i];
                        curve.step(places, &mut inverses);
                        for (k, place) in places.iter_mut().enumerate() {
                            let arrived = curve.arrived(place);
                            if arrived != 0 {
                                replace(s, place, arrived, |lane, point| {
                                    arrive((i * CHAINS + k) * S::LANES + lane, point);
                                });
                            }
                        }
                        if let Some(smallest) = smallest.get_mut(i) {
                            keep(field, smallest, places);
                        }
                        curve.prepare(places, &mut products);
                    }
                }
            },
        );
    }

    /// Looks [`LOOK`] rounds ahead: walks in long cycles leave them.
    fn look(&mut self) {
        let before = self.places.clone();
        let most = Number::from_digits([self.curve.s.splat(S::DIGIT); N]);
        self.smallest = vec![[[most, self.curve.field.zero()]; CHAINS]; before.len()];
        self.run(LOOK, &mut |_, _| {});
        let after = std::mem::replace(&mut self.places, before);
        let smallest = std::mem::take(&mut self.smallest);
        let Self { curve, places, .. } = self;
        let (s, field) = (curve.s, &curve.field);
        s.vectorize(
            #[inline(always)]
            || {
                for ((places, after), smallest) in places.iter_mut().zip(&after).zip(&smallest) {
                    for k in 0..CHAINS {
                        let (place, [x, y]) = (&mut places[k], smallest[k]);
                        let back = s.both(field.equal(place.x, after[k].x), field.equal(place.y, after[k].y));
                        place.x = field.select(back, x, place.x);
                        place.y = field.select(back, curve.flag(y), place.y);
                    }
                }
            },
        );
    }
}

impl<S: Simd, const N: usize, const W: usize> Lanes<W> for Vectors<S, N> {
    fn rounds(&mut self, rounds: u32, arrive: &mut Arrival<'_, W>) {
        self.run(rounds, &mut |number, [x, y]| {
            let spot = arrive(number, &join::<S, W>(x));
            (*x, *y) = (split::<S, N>(&spot.x), split::<S, N>(&spot.y));
        });
    }

    fn leave_cycles(&mut self) {
        self.look();
    }

    fn spots(&self) -> Vec<Spot<W>> {
        let s = self.curve.s;
        let lane = |number: &Number<S, N, 1>, lane: usize| join::<S, W>(&number.digits().map(|x| s.to_words(x)[lane]));
        let spot = |place: &Place<S, N>, i| Spot { x: lane(&place.x, i), y: lane(&place.y, i) };
        let places = self.places.as_flattened().iter();
        places.flat_map(|place| (0..S::LANES).map(|i| spot(place, i)).collect::<Vec<_>>()).collect()
    }

    fn replace(&mut self, spots: Vec<Spot<W>>) {
        self.places = Self::new(self.curve.clone(), &spots).places;
    }
}

/// Keeps the smaller points; a point that is to be doubled is not a point of the walk.
#[inline(always)]
fn keep<S: Simd, const N: usize>(
    field: &Field<S, N>,
    smallest: &mut [Point<S, N>; CHAINS],
    places: &[Place<S, N>; CHAINS],
) {
    let s = field.simd();
    for k in 0..CHAINS {
        let (place, [x, y]) = (&places[k], smallest[k]);
        let smaller = s.except(field.below(place.x, x), s.is_odd(place.y.digits()[0]));
        smallest[k] = [field.select(smaller, place.x, x), field.select(smaller, place.y, y)];
    }
}

/// Calls a function for the points of some lanes, and takes over what it makes of their digits.
#[cold]
#[inline(never)]
fn replace<S: Simd, const N: usize>(
    s: S,
    place: &mut Place<S, N>,
    lanes: u8,
    mut change: impl FnMut(usize, &mut [[u64; N]; 2]),
) {
    let mut words: [[[u64; MAX_LANES]; N]; 2] = [place.x, place.y].map(|number| number.digits().map(|x| s.to_words(x)));
    for lane in (0..S::LANES).filter(|lane| lanes >> lane & 1 == 1) {
        let mut point = words.map(|number| number.map(|digit| digit[lane]));
        change(lane, &mut point);
        for (number, new) in words.iter_mut().zip(point) {
            for (digit, new) in number.iter_mut().zip(new) {
                digit[lane] = new;
            }
        }
    }
    [place.x, place.y] = words.map(|number| Number::from_digits(number.map(|digit| s.from_words(digit))));
}

/// The digits of a number of words.
fn split<S: Simd, const N: usize>(words: &[u64]) -> [u64; N] {
    let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
    std::array::from_fn(|i| {
        let (first, shift) = (i * S::DIGIT_BITS / 64, i * S::DIGIT_BITS % 64);
        ((word(first) | word(first + 1) << 64) >> shift) as u64 & S::DIGIT
    })
}

/// The words of a number of digits.
fn join<S: Simd, const W: usize>(digits: &[u64]) -> [u64; W] {
    let mut words = [0; W];
    for (i, digit) in digits.iter().enumerate() {
        let (first, shift) = (i * S::DIGIT_BITS / 64, i * S::DIGIT_BITS % 64);
        let bits = u128::from(*digit) << shift;
        for (word, bits) in words.iter_mut().skip(first).zip([bits as u64, (bits >> 64) as u64]) {
            *word |= bits;
        }
    }
    words
}
