//! Lines: groups whose elements are known by `x` alone, so that `P`, `Q` and `P − Q` give `P + Q`.
//!
//! | line | double | add | neutral |
//! |---|---|---|---|
//! | [`CurveLine`] `(X : Z)` | 2M + 2S, and a product by `d = (A + 2)/4` | 4M + 2S, or 3M + 2S if the difference has `Z = 1` | `Z = 0` |
//! | [`LucasLine`] `V` | S | M | `V = 2` |
//!
//! source: Montgomery 1987.

use super::ring::Ring;

/// A line over the residues of a group of lanes.
pub(super) trait Line<R: Ring> {
    type Point: Clone + Send;

    /// `p ← 2p`.
    fn double(&mut self, ring: &mut R, p: &mut Self::Point);
    /// `p ← p + q`.
    fn add(&mut self, ring: &mut R, p: &mut Self::Point, q: &Self::Point, difference: &Self::Point);
    /// A point's `x` and, if there is one, its denominator.
    fn coordinates(p: &Self::Point) -> (&R::Residue, Option<&R::Residue>);
}

/// `(k·P, (k + 1)·P)` for an exponent of `bits` bits, the top one set: a double and an addition a bit. `each` is called before each
/// bit with the number of bits that are left; the ladder ends early if it says no.
pub(super) fn ladder<R: Ring, L: Line<R>>(
    line: &mut L,
    ring: &mut R,
    p: &L::Point,
    bits: usize,
    bit: impl Fn(usize) -> bool,
    mut each: impl FnMut(usize) -> bool,
) -> [L::Point; 2] {
    let (mut low, mut high) = (p.clone(), p.clone());
    line.double(ring, &mut high);
    for place in (0..bits.saturating_sub(1)).rev() {
        if !each(place + 1) {
            break;
        }
        // The sum takes the place of the point that is not doubled.
        let (doubled, sum) = if bit(place) { (&mut high, &mut low) } else { (&mut low, &mut high) };
        line.add(ring, sum, doubled, p);
        line.double(ring, doubled);
    }
    [low, high]
}

/// The ladder of a small number, above 0.
pub(super) fn multiples<R: Ring, L: Line<R>>(line: &mut L, ring: &mut R, p: &L::Point, k: u64) -> [L::Point; 2] {
    let bits = (u64::BITS - k.leading_zeros()) as usize;
    ladder(line, ring, p, bits, |place| k >> place & 1 == 1, |_| true)
}

/// The line of a Montgomery curve.
#[derive(Debug)]
pub(super) struct CurveLine<T> {
    d: T,
    temporary: [T; 4],
}

/// A point of a curve: `X` and `Z`, both residues. A point without a `Z` has `Z = 1`.
#[derive(Clone, Debug)]
pub(super) struct Projective<T> {
    pub(super) x: T,
    pub(super) z: T,
    /// Is `Z` known to be 1?
    pub(super) affine: bool,
}

impl<T: Clone> CurveLine<T> {
    /// The curves with these `(A + 2)/4`.
    pub(super) fn new<R: Ring<Residue = T>>(ring: &R, d: T) -> Self {
        Self { d, temporary: [(); 4].map(|()| ring.zero()) }
    }
}

impl<R: Ring> Line<R> for CurveLine<R::Residue> {
    type Point = Projective<R::Residue>;

    fn double(&mut self, ring: &mut R, p: &mut Self::Point) {
        let [s, t, e, u] = &mut self.temporary;
        ring.add(&p.x, &p.z, s);
        ring.sub(&p.x, &p.z, t);
        ring.square(s);
        ring.square(t);
        ring.sub(s, t, e);
        ring.mul(s, t, &mut p.x);
        ring.mul(&self.d, e, s);
        ring.add(t, s, u);
        ring.mul(e, u, &mut p.z);
        p.affine = false;
    }

    fn add(&mut self, ring: &mut R, p: &mut Self::Point, q: &Self::Point, difference: &Self::Point) {
        let [s, t, f, g] = &mut self.temporary;
        ring.sub(&p.x, &p.z, s);
        ring.add(&q.x, &q.z, t);
        ring.mul(s, t, f);
        ring.add(&p.x, &p.z, s);
        ring.sub(&q.x, &q.z, t);
        ring.mul(s, t, g);
        ring.add(f, g, s);
        ring.sub(f, g, t);
        ring.square(s);
        ring.square(t);
        if difference.affine {
            p.x.clone_from(s);
        } else {
            ring.mul(s, &difference.z, &mut p.x);
        }
        ring.mul(t, &difference.x, &mut p.z);
        p.affine = false;
    }

    fn coordinates(p: &Self::Point) -> (&R::Residue, Option<&R::Residue>) {
        (&p.x, (!p.affine).then_some(&p.z))
    }
}

/// The line of Lucas sequences `V`.
#[derive(Debug)]
pub(super) struct LucasLine<T> {
    two: T,
    temporary: T,
}

impl<T: Clone> LucasLine<T> {
    /// The sequences over a ring; `two` is 2.
    pub(super) fn new<R: Ring<Residue = T>>(ring: &R, two: T) -> Self {
        Self { two, temporary: ring.zero() }
    }
}

impl<R: Ring> Line<R> for LucasLine<R::Residue> {
    type Point = R::Residue;

    fn double(&mut self, ring: &mut R, p: &mut Self::Point) {
        ring.square(p);
        self.temporary.clone_from(p);
        ring.sub(&self.temporary, &self.two, p);
        ring.fold(p);
    }

    fn add(&mut self, ring: &mut R, p: &mut Self::Point, q: &Self::Point, difference: &Self::Point) {
        ring.mul(p, q, &mut self.temporary);
        ring.sub(&self.temporary, difference, p);
        ring.fold(p);
    }

    fn coordinates(p: &Self::Point) -> (&R::Residue, Option<&R::Residue>) {
        (p, None)
    }
}
