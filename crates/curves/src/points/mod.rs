//! Batches of points: a lane a point, all of one curve, on the processor or on a device.
//!
//! A [`Curve`] makes [`Points`] from coordinates and computes with them. A lane is a point, the point at infinity, or faulty: the
//! coordinates that were given are not on the curve. All results are right in every lane: sums of equal points, of opposite
//! points, with the point at infinity, with a point of order two. A faulty lane makes the same lane of every result faulty.
//!
//! ```
//! use num_bigint::BigUint;
//! use warpmp_curves::affine::Group;
//! use warpmp_curves::points::Curve;
//! use warpmp_curves::search::Engine;
//!
//! // y² = x³ + 2x + 7 over the integers modulo 2³² − 5.
//! let group = Group { p: 4_294_967_291_u32.into(), a: 2_u32.into(), b: 7_u32.into() };
//! let curve = Curve::new(group, &Engine::Cpu)?;
//! let at = |x: u32, y: u32| Some((x.into(), y.into()));
//! // The abscissa −1 has the ordinates ±2; (1, 2) is not on the curve.
//! let points = curve.points(&[at(4_294_967_290, 2), None, at(1, 2)]);
//! assert_eq!(points.faulty_lanes().collect::<Vec<_>>(), [2]);
//! let doubled = curve.double(&points)?;
//! let sums = curve.add(&doubled, &points)?;
//! let triples = curve.multiply(&points, &[3_u32, 3, 3].map(BigUint::from))?;
//! assert_eq!(sums.to_affine(), triples.to_affine());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! cost: a sum is 6 products, a square and a share of an inversion, whatever the points are. A multiple by a scalar of `n` bits is
//! `1.25·n + 14` sums.
//!
//! ```text
//! mod.rs        curves and batches
//! multiples.rs  multiples, sums of multiples: sequences of sums
//! memory.rs     rows of points on the processor or on a device, and their sums
//! ```

mod memory;
mod multiples;

use std::sync::Arc;

use num_bigint::BigUint;
use rayon::prelude::*;

use crate::affine::{Group, Point};
use crate::error::{Error, Result};
use crate::kernels::sums::{FAULTY, INFINITY};
use crate::problem::checked;
use crate::search::Engine;
use crate::walk::limbs;
use memory::Machine;

/// A curve over a prime field, and the engine that computes with its points.
#[derive(Clone, Debug)]
pub struct Curve {
    group: Arc<Group>,
    machine: Machine,
}

/// A batch of points of one curve.
#[derive(Clone, Debug)]
pub struct Points {
    group: Arc<Group>,
    /// Rows of `x` and `y`, as residues `x·2^(32·limbs)` of as many limbs. The top limb of `y` marks what is no point.
    rows: Vec<u32>,
}

/// The coordinates of a lane are not on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lane's coordinates are not on the curve")]
pub struct NotOnCurve;

impl Curve {
    /// The curve of a group, whose `p` is a prime of 32 to 256 bits.
    ///
    /// # Errors
    /// [`Error::Refused`] if `p` is not prime or out of this range, or if the curve is singular; the device's.
    pub fn new(group: Group, engine: &Engine) -> Result<Self> {
        let group = checked(group)?;
        let machine = Machine::new(&group, engine)?;
        Ok(Self { group: Arc::new(group), machine })
    }

    /// The batch of these points; none is the point at infinity. A lane is faulty if its coordinates are not on the curve or not
    /// below `p`.
    pub fn points(&self, points: &[Point]) -> Points {
        let words = row_words(&self.group);
        let mut rows = vec![0; words * points.len()];
        rows.par_chunks_mut(words).zip(points).for_each(|(row, point)| match point {
            None => row[words - 1] = INFINITY,
            Some((x, y)) if self.group.contains(point) => {
                let (low, high) = row.split_at_mut(words / 2);
                for (limbs, number) in [(low, x), (high, y)] {
                    let residue = (number << (16 * words)) % &self.group.p;
                    limbs.iter_mut().zip(residue.iter_u32_digits()).for_each(|(limb, digit)| *limb = digit);
                }
            }
            Some(_) => row[words - 1] = FAULTY,
        });
        self.batch(rows)
    }

    /// `sᵢ + tᵢ`, lane by lane.
    ///
    /// # Errors
    /// [`Error::Lanes`], [`Error::OtherCurve`]; the device's.
    pub fn add(&self, s: &Points, t: &Points) -> Result<Points> {
        self.own(s)?;
        self.own(t)?;
        same_lanes(s.len(), t.len())?;
        let lanes = s.len() as u32;
        let mut memory = self.machine.memory(&[&s.rows, &t.rows].map(Vec::as_slice), 0)?;
        memory.add(0, &(0..lanes).map(|i| [i, lanes + i]).collect::<Vec<_>>(), 1)?;
        Ok(self.batch(memory.rows(0, s.len())?))
    }

    /// `2·sᵢ`, lane by lane.
    ///
    /// # Errors
    /// [`Error::OtherCurve`]; the device's.
    pub fn double(&self, s: &Points) -> Result<Points> {
        self.own(s)?;
        let mut memory = self.machine.memory(&[&s.rows], 0)?;
        memory.add(0, &(0..s.len() as u32).map(|i| [i, i]).collect::<Vec<_>>(), 1)?;
        Ok(self.batch(memory.rows(0, s.len())?))
    }

    /// `−sᵢ`, lane by lane.
    ///
    /// # Errors
    /// [`Error::OtherCurve`].
    pub fn negate(&self, s: &Points) -> Result<Points> {
        self.own(s)?;
        let words = row_words(&self.group);
        let p = self.group.p.to_u32_digits();
        let mut rows = s.rows.clone();
        for row in rows.chunks_mut(words) {
            let y = &mut row[words / 2..];
            if y[words / 2 - 1] >= FAULTY || y.iter().all(|limb| *limb == 0) {
                continue;
            }
            let mut borrow = 0;
            for (i, limb) in y.iter_mut().enumerate() {
                let difference = i64::from(p.get(i).copied().unwrap_or(0)) - i64::from(*limb) + borrow;
                (*limb, borrow) = (difference as u32, difference >> 32);
            }
        }
        Ok(self.batch(rows))
    }

    fn batch(&self, rows: Vec<u32>) -> Points {
        Points { group: self.group.clone(), rows }
    }

    fn own(&self, points: &Points) -> Result<()> {
        if Arc::ptr_eq(&self.group, &points.group) || self.group == points.group {
            Ok(())
        } else {
            Err(Error::OtherCurve)
        }
    }
}

impl Points {
    /// Lanes.
    pub fn len(&self) -> usize {
        self.rows.len() / row_words(&self.group)
    }

    /// Has the batch no lanes?
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The points by their coordinates.
    pub fn to_affine(&self) -> Vec<std::result::Result<Point, NotOnCurve>> {
        let words = row_words(&self.group);
        let p = &self.group.p;
        let radix = BigUint::from(1_u32) << (16 * words);
        let unit = radix.modinv(p).unwrap_or_default();
        let point = |row: &[u32]| match row[words - 1] {
            INFINITY => Ok(None),
            FAULTY => Err(NotOnCurve),
            _ => {
                let [x, y] = [&row[..words / 2], &row[words / 2..]].map(|limbs| BigUint::from_slice(limbs) * &unit % p);
                Ok(Some((x, y)))
            }
        };
        self.rows.par_chunks(words).map(point).collect()
    }

    /// The lanes that are not on the curve.
    pub fn faulty_lanes(&self) -> impl Iterator<Item = usize> {
        let words = row_words(&self.group);
        let marks = self.rows.iter().skip(words - 1).step_by(words);
        marks.enumerate().filter(|(_, mark)| **mark == FAULTY).map(|(lane, _)| lane)
    }
}

/// Words of a row: `x` and `y`.
fn row_words(group: &Group) -> usize {
    2 * limbs(&group.p) as usize
}

const fn same_lanes(left: usize, right: usize) -> Result<()> {
    if left == right { Ok(()) } else { Err(Error::Lanes { left, right }) }
}
