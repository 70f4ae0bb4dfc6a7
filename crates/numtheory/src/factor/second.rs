//! The second stage of a group of lanes: the product of `x(m·w·Q) − x(j·Q)` over all pairs.
//!
//! The points of the giant steps of a block have one inversion in common, and so have the baby steps. A denominator that
//! has a divisor in common with its modulus is a find: a step of the stage has met the neutral element modulo a prime.

use num_bigint::BigUint;

use super::cpu::{Group, views};
use super::first::{constant, numbers_of};
use super::lane::Line;
use super::line::{self, CurveLine, LucasLine, Projective, multiples};
use super::modular::{common_divisor, inverse};
use super::pairing::{BABIES, GIANTS, Pairing, Section};
use super::ring::Ring;

/// The stage of a group of lanes.
pub(super) struct Walk<R: Ring> {
    steps: Steps<R>,
    lanes: Lanes<R>,
}

/// The lanes' products and finds.
struct Lanes<R: Ring> {
    ring: R,
    moduli: Vec<BigUint>,
    /// A divisor of each modulus, 1 before one is found.
    divisors: Vec<BigUint>,
    one: R::Residue,
    /// `x(j·Q)` of the baby steps.
    babies: Vec<R::Residue>,
    product: R::Residue,
}

/// The line, and the giant step `w·Q`.
enum Steps<R: Ring> {
    Curve(CurveLine<R::Residue>, Projective<R::Residue>),
    Lucas(LucasLine<R::Residue>, R::Residue),
}

impl<R: Ring> Walk<R> {
    pub(super) fn new(mut ring: R, line: Line, group: &Group<'_>, pairing: &Pairing) -> Self {
        let moduli: Vec<BigUint> = group.lanes.iter().map(|lane| lane.n.clone()).collect();
        let one = constant(&mut ring, group, 1);
        let mut lanes = Lanes {
            divisors: vec![BigUint::from(1_u32); moduli.len()],
            babies: Vec::new(),
            product: one.clone(),
            moduli,
            one,
            ring,
        };
        let mut start: Vec<BigUint> = group.lanes.iter().map(|lane| BigUint::clone(&lane.x)).collect();
        if line == Line::Power {
            for (lane, x) in start.iter_mut().enumerate() {
                // V = x + 1/x
                *x = &*x + lanes.inverse(lane, x);
                *x %= &lanes.moduli[lane];
            }
        }
        let rows: Vec<Vec<u32>> = start.iter().map(BigUint::to_u32_digits).collect();
        let x = lanes.ring.enter(&views(&rows));
        let steps = match line {
            Line::Curve => {
                let d = lanes.ring.enter(&views(&group.rows(|lane| lane.d().into_owned())));
                let mut line = CurveLine::new(&lanes.ring, d);
                let start = Projective { x, z: lanes.one.clone(), affine: true };
                let step = lanes.begin(&mut line, &start, pairing);
                Steps::Curve(line, step)
            }
            Line::Power | Line::Lucas => {
                let two = constant(&mut lanes.ring, group, 2);
                let mut line = LucasLine::new(&lanes.ring, two);
                let step = lanes.begin(&mut line, &x, pairing);
                Steps::Lucas(line, step)
            }
        };
        Self { steps, lanes }
    }

    /// The products of a section's pairs.
    pub(super) fn section(&mut self, section: &Section) {
        match &mut self.steps {
            Steps::Curve(line, step) => self.lanes.section(line, step, section),
            Steps::Lucas(line, step) => self.lanes.section(line, step, section),
        }
    }

    /// A divisor of each modulus; 1 if none was found.
    pub(super) fn divisors(mut self) -> Vec<BigUint> {
        let products = numbers_of(&self.lanes.ring.leave(&self.lanes.product), self.lanes.moduli.len());
        for (lane, product) in products.iter().enumerate() {
            if self.lanes.divisors[lane] == BigUint::from(1_u32) {
                self.lanes.divisors[lane] = common_divisor(product, &self.lanes.moduli[lane]);
            }
        }
        self.lanes.divisors
    }
}

impl<R: Ring> Lanes<R> {
    /// The inverse in a lane. Without one there is a divisor, and the lane goes on with 1.
    fn inverse(&mut self, lane: usize, number: &BigUint) -> BigUint {
        inverse(number, &self.moduli[lane]).unwrap_or_else(|divisor| {
            self.find(lane, divisor);
            BigUint::from(1_u32)
        })
    }

    /// Notes a divisor; a proper one counts more than the modulus itself.
    fn find(&mut self, lane: usize, divisor: BigUint) {
        let found = &mut self.divisors[lane];
        if *found == BigUint::from(1_u32) || *found == self.moduli[lane] {
            *found = divisor;
        }
    }

    /// Makes the baby steps; returns the giant step.
    fn begin<L: line::Line<R>>(&mut self, line: &mut L, q: &L::Point, pairing: &Pairing) -> L::Point {
        let mut two = q.clone();
        line.double(&mut self.ring, &mut two);
        // q, 3q, 5q, …: the difference of q + 2q is −q, which has the x of q.
        let (mut before, mut here) = (q.clone(), q.clone());
        let mut points = Vec::with_capacity(pairing.babies.len());
        let mut number = 1;
        for baby in &pairing.babies {
            while number < *baby {
                let mut next = here.clone();
                line.add(&mut self.ring, &mut next, &two, &before);
                before = std::mem::replace(&mut here, next);
                number += 2;
            }
            points.push(here.clone());
        }
        self.babies = points.chunks(BABIES).flat_map(|points| self.normalise::<L>(points)).collect();
        let [step, _] = multiples(line, &mut self.ring, q, pairing.width);
        step
    }

    fn section<L: line::Line<R>>(&mut self, line: &mut L, step: &L::Point, section: &Section) {
        let [mut here, mut after] = multiples(line, &mut self.ring, step, section.first);
        let [mut difference, mut product] = [self.ring.zero(), self.ring.zero()];
        for block in section.giants.chunks(GIANTS) {
            let mut points = Vec::with_capacity(block.len());
            for _ in block {
                let mut next = after.clone();
                line.add(&mut self.ring, &mut next, step, &here);
                points.push(std::mem::replace(&mut here, std::mem::replace(&mut after, next)));
            }
            for (giant, babies) in self.normalise::<L>(&points).iter().zip(block) {
                for baby in babies {
                    self.ring.sub(giant, &self.babies[*baby as usize], &mut difference);
                    self.ring.mul(&self.product, &difference, &mut product);
                    std::mem::swap(&mut self.product, &mut product);
                }
            }
        }
    }

    /// `X/Z` of many points with one inversion.
    fn normalise<L: line::Line<R>>(&mut self, points: &[L::Point]) -> Vec<R::Residue> {
        let mut total = self.one.clone();
        // The product of the denominators before each point.
        let mut before = Vec::with_capacity(points.len());
        for point in points {
            before.push(total.clone());
            if let (_, Some(z)) = L::coordinates(point) {
                self.ring.mul(&before[before.len() - 1], z, &mut total);
            }
        }
        let mut rest = self.inverses::<L>(&total, points);
        let [mut x, mut product] = [self.ring.zero(), self.ring.zero()];
        let mut all = Vec::with_capacity(points.len());
        for (point, before) in points.iter().zip(&before).rev() {
            match L::coordinates(point) {
                (numerator, None) => all.push(numerator.clone()),
                (numerator, Some(z)) => {
                    self.ring.mul(numerator, &rest, &mut x);
                    self.ring.mul(&x, before, &mut product);
                    all.push(product.clone());
                    self.ring.mul(&rest, z, &mut product);
                    std::mem::swap(&mut rest, &mut product);
                }
            }
        }
        all.reverse();
        all
    }

    /// The inverse of the product of all denominators, in each lane.
    fn inverses<L: line::Line<R>>(&mut self, total: &R::Residue, points: &[L::Point]) -> R::Residue {
        let totals = numbers_of(&self.ring.leave(total), self.moduli.len());
        let mut rows = Vec::with_capacity(totals.len());
        for (lane, total) in totals.iter().enumerate() {
            let inverted = self.inverse(lane, total);
            if self.divisors[lane] == self.moduli[lane] {
                self.separate::<L>(lane, points);
            }
            rows.push(inverted.to_u32_digits());
        }
        self.ring.enter(&views(&rows))
    }

    /// Looks among the denominators for one with a proper divisor of the modulus.
    fn separate<L: line::Line<R>>(&mut self, lane: usize, points: &[L::Point]) {
        for point in points {
            let (_, Some(z)) = L::coordinates(point) else { continue };
            let z = numbers_of(&self.ring.leave(z), self.moduli.len()).swap_remove(lane);
            let divisor = common_divisor(&z, &self.moduli[lane]);
            if divisor != BigUint::from(1_u32) && divisor != self.moduli[lane] {
                return self.find(lane, divisor);
            }
        }
    }
}
