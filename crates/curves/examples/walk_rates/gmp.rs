//! The same steps by a straightforward program with GMP: what the walks on the processor are compared with.
//!
//! Affine points, an `r`-adding walk with the negation map, and one inversion for all points of a round. Residues are ordinary numbers,
//! reduced by division. There are no distinguished points and no ways out of cycles: a step costs the same without them.

use std::error::Error;

use num_bigint::BigUint;
use rug::integer::Order;
use rug::{Assign, Integer};
use warpmp_curves::affine::{Group, Point};
use warpmp_curves::{Problem, walk::Settings};

/// Points that share an inversion, as many as the engines have.
const POINTS: usize = 256;

/// Rounds of which each is compared with plain affine arithmetic.
const CHECKED: usize = 20;

/// A walk of many points.
pub struct Walk {
    group: Group,
    p: Integer,
    table: Vec<[Integer; 2]>,
    points: Vec<[Integer; 2]>,
    prefixes: Vec<Integer>,
}

fn integer(number: &BigUint) -> Integer {
    Integer::from_digits(&number.to_u64_digits(), Order::Lsf)
}

fn point([x, y]: &[Integer; 2]) -> Point {
    let number = |value: &Integer| BigUint::from_slice(&value.to_digits::<u32>(Order::Lsf));
    Some((number(x), number(y)))
}

impl Walk {
    /// Points of a curve, and the table of a walk with these settings. Some rounds are made and checked.
    ///
    /// # Errors
    /// If a step differs from plain affine arithmetic.
    pub fn new(problem: &Problem, settings: Settings) -> Result<Self, Box<dyn Error>> {
        let Problem { group, base, target, .. } = problem;
        let mut at = group.add(base, target);
        let mut next = || {
            at = group.add(&group.add(&at, &at), base);
            at.as_ref().map(|(x, y)| [integer(x), integer(y)]).ok_or("the point at infinity")
        };
        let table = (0..1 << settings.branch_bits).map(|_| next()).collect::<Result<_, _>>()?;
        let points = (0..POINTS).map(|_| next()).collect::<Result<_, _>>()?;
        let prefixes = vec![Integer::new(); POINTS];
        let mut walk = Self { group: group.clone(), p: integer(&group.p), table, points, prefixes };
        for _ in 0..CHECKED {
            let before = walk.points.clone();
            walk.round();
            let wrong = before.iter().zip(&walk.points).any(|(before, after)| {
                let sum = walk.group.add(&point(before), &point(&walk.table[walk.branch(before)]));
                point(after) != sum && point(after) != walk.group.negate(&sum)
            });
            if wrong || walk.points.iter().any(|[_, y]| y.is_odd()) {
                return Err("a step of the program with GMP is wrong".into());
            }
        }
        Ok(walk)
    }

    fn branch(&self, [x, _]: &[Integer; 2]) -> usize {
        x.to_usize_wrapping() & (self.table.len() - 1)
    }

    /// One step of every point.
    pub fn round(&mut self) {
        let p = &self.p;
        let mut inverse = Integer::from(1);
        let (mut denominator, mut own, mut slope, mut x3) =
            (Integer::new(), Integer::new(), Integer::new(), Integer::new());
        for (point, prefix) in self.points.iter().zip(&mut self.prefixes) {
            let entry = &self.table[point[0].to_usize_wrapping() & (self.table.len() - 1)];
            prefix.assign(&inverse);
            denominator.assign(&entry[0] - &point[0]);
            inverse *= &denominator;
            inverse %= p;
        }
        if inverse.invert_mut(p).is_err() {
            return;
        }
        for ([x, y], prefix) in self.points.iter_mut().zip(&self.prefixes).rev() {
            let [other, ordinate] = &self.table[x.to_usize_wrapping() & (self.table.len() - 1)];
            denominator.assign(other - &*x);
            own.assign(&inverse * prefix);
            own %= p;
            inverse *= &denominator;
            inverse %= p;
            slope.assign(ordinate - &*y);
            slope *= &own;
            slope %= p;
            x3.assign(slope.square_ref());
            x3 -= &*x;
            x3 -= other;
            x3 %= p;
            if x3.is_negative() {
                x3 += p;
            }
            *x -= &x3;
            *x *= &slope;
            *x -= &*y;
            *x %= p;
            if x.is_negative() {
                *x += p;
            }
            // The representative of the class has an even y.
            if x.is_odd() {
                y.assign(p - &*x);
            } else {
                y.assign(&*x);
            }
            std::mem::swap(x, &mut x3);
        }
    }

    /// Steps of a round.
    pub fn points(&self) -> u64 {
        self.points.len() as u64
    }
}
