//! The walk: a function of a point, whichever engine computes it.
//!
//! A state is an affine point in Montgomery's form, `x` and `y` canonical. Every decision looks at bits of these residues, so an
//! engine converts nothing. `R = 2^(32·limbs)` belongs to the definition.
//!
//! * The class `{P, −P}` is represented by the point with the even `y` (`p` is odd, so exactly one of `y` and `p − y` is even).
//! * The branch is `h = x mod r`; the table holds `r` multiples `R_h` of the base point.
//! * `f(P) = |P + R_h|`, where `|A|` is the representative of the class of `A`; `f(P) = |2P|` where `x = x(R_h)`. So no sum
//!   is the point at infinity, and no denominator is zero.
//! * If the sign was changed and the new point has the same branch, then `f` would lead back: a fruitless cycle of two
//!   points. Then `f(P) = f(Q) = |2·min(P, Q)|`, the smaller by `x`: a function of the class, whichever point came first.
//!   The doubling happens in the next round. **An odd `y` in memory says: double this point next.**
//! * Longer cycles: now and then an engine makes [`LOOK`] rounds and keeps the smallest point. A state that came back is in a
//!   cycle, and goes on by doubling that smallest point. The point does not depend on where or when the walk entered
//!   the cycle, so walks that met stay together.
//! * A point is *distinguished* if `d` bits of `x` are zero. The branch never looks at these bits.
//!
//! ```text
//! mod.rs        the constants of a walk: table, starts, masks
//! points.rs     sums of points, many at a time with one inversion
//! step.rs       a round of many walks, and the way out of long cycles
//! replay.rs     a walk again, with the coefficients of its points
//! reference.rs  the same from the definition alone, by num-bigint
//! ```
//!
//! source: Bernstein, Lange, Schwabe, *On the correct use of the negation map in the Pollard rho method* (PKC 2011), for
//! the frequencies of cycles and the way out; the test for two-cycles without memory is ours.

pub(crate) mod points;
pub mod reference;
mod replay;
mod step;
#[cfg(test)]
mod tests;

use num_bigint::BigUint;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::field::Field;
use crate::problem::Problem;
pub(crate) use points::Spot;
use points::Sums;
pub use replay::Coefficients;
pub(crate) use replay::End;

/// Rounds of a look for long cycles. Cycles of 4, 6, 8, 12 and 24 points come back within them.
pub const LOOK: u32 = 24;

/// Starts that share a point of the second kind.
pub const BLOCK: u64 = 4096;

/// Fields of fewer bits have no second limb: the distinguished bits follow those of the branch.
const SMALL_FIELD: u64 = 43;

/// What fixes the walk of a problem: two searches with the same values can share their points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The table has `2^branch_bits` entries.
    pub branch_bits: u32,
    /// Bits of `x` that are zero in a distinguished point.
    pub distinguished_bits: u32,
    /// The seed of all scalars.
    pub seed: u64,
}

impl Settings {
    /// Are the settings possible for a field of so many bits?
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn check(&self, bits: u64) -> Result<()> {
        let most = u64::from(if bits <= SMALL_FIELD { bits as u32 - 11 } else { 32 });
        for (what, found, least, most) in [
            ("the number of branch bits", u64::from(self.branch_bits), 2, 11),
            ("the number of distinguished bits", u64::from(self.distinguished_bits), 0, most),
        ] {
            if !(least..=most).contains(&found) {
                return Err(Error::Setting { what, found, least, most });
            }
        }
        Ok(())
    }

    /// Rounds between two looks for long cycles, so that looks and cycles together cost least: a look costs [`LOOK`] rounds,
    /// and `(r − 1)/(4r³)` of the steps begin a cycle of four points.
    pub fn rhythm(&self) -> u32 {
        let r = f64::from(1 << self.branch_bits);
        let rate = (r - 1.0) / (4.0 * r * r * r);
        (2.0 * f64::from(LOOK) / rate).sqrt() as u32
    }
}

/// Limbs of 32 bits of a residue: seven bits stay free, and there are at least three limbs.
pub fn limbs(p: &BigUint) -> u32 {
    (p.bits() as u32 + 7).div_ceil(32).max(3)
}

/// The walk of a problem, with residues of `W` words.
#[derive(Clone, Debug)]
pub(crate) struct Walk<const W: usize> {
    pub(crate) field: Field<W>,
    /// The curve's coefficient, as a residue.
    pub(crate) a: [u64; W],
    pub(crate) settings: Settings,
    /// `r` multiples of the base point.
    pub(crate) table: Vec<Spot<W>>,
    /// The scalars of the table.
    table_scalars: Vec<BigUint>,
    sums: Sums<W>,
    n: BigUint,
    /// The points of the first kind, [`BLOCK`] of them, with their coefficients.
    firsts: Vec<(Spot<W>, Coefficients)>,
    /// Where the distinguished bits begin.
    pub(crate) shift: u32,
    pub(crate) limbs: u32,
}

impl<const W: usize> Walk<W> {
    /// The walk of a problem.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub(crate) fn new(problem: &Problem, settings: Settings) -> Result<Self> {
        let p = &problem.group.p;
        settings.check(p.bits())?;
        let limbs = limbs(p);
        let field = Field::new(p, limbs);
        let a = field.residue(&problem.group.a);
        let sums = Sums::new(problem, &field, a);
        let n = problem.n.clone();
        let table_scalars: Vec<BigUint> =
            (0..1 << settings.branch_bits).map(|i| scalar(&settings, "table", i, &n)).collect();
        let pairs: Vec<Coefficients> =
            table_scalars.iter().map(|u| Coefficients { base: u.clone(), target: BigUint::ZERO }).collect();
        let table = sums.combine(&field, &pairs).into_iter().flatten().collect::<Vec<_>>();
        debug_assert_eq!(table.len(), table_scalars.len(), "no scalar of the table is zero");
        let shift = if p.bits() <= SMALL_FIELD { 11 } else { 32 };
        let mut walk = Self { field, a, settings, table, table_scalars, sums, n, firsts: Vec::new(), shift, limbs };
        walk.firsts = walk.kind("first", 0..BLOCK);
        Ok(walk)
    }

    /// A checksum of the table and of the first starts, by their limbs.
    pub(crate) fn checksum(&self) -> String {
        let mut hash = Sha256::new();
        for spot in self.table.iter().chain(&self.starts(0)) {
            for word in spot.x.iter().chain(&spot.y) {
                hash.update(word.to_le_bytes());
            }
        }
        warpmp_campaign::hex(&hash.finalize())
    }

    /// The points of the first kind.
    pub(crate) fn first_points(&self) -> impl Iterator<Item = &Spot<W>> {
        self.firsts.iter().map(|(spot, _)| spot)
    }

    /// The points of the second kind of these blocks.
    pub(crate) fn second_points(&self, blocks: std::ops::Range<u64>) -> Vec<Spot<W>> {
        self.kind("second", blocks).into_iter().map(|(spot, _)| spot).collect()
    }

    /// The starts `block·4096 …` of a block: start `i` is the sum of point `i mod 4096` of the first kind and point
    /// `i div 4096` of the second, both random combinations of `P` and `Q`. If their abscissas agree, it is twice the first.
    pub(crate) fn starts(&self, block: u64) -> Vec<Spot<W>> {
        let firsts: Vec<Spot<W>> = self.first_points().copied().collect();
        let seconds = vec![self.second_points(block..block + 1)[0]; firsts.len()];
        let mut sums = points::add(&self.field, &self.a, &firsts, &seconds);
        for spot in &mut sums {
            self.represent(spot);
        }
        sums
    }

    /// The coefficients of a start.
    pub(crate) fn start_coefficients(&self, start: u64) -> (Spot<W>, Coefficients) {
        let (first, coefficients) = &self.firsts[(start % BLOCK) as usize];
        let (second, more) = &self.kind("second", start / BLOCK..start / BLOCK + 1)[0];
        let mut spot = points::add(&self.field, &self.a, &[*first], &[*second])[0];
        let more = if first.x == second.x { coefficients } else { more };
        let mut sum = coefficients.plus(more, &self.n);
        if self.represent(&mut spot) {
            sum = sum.negated(&self.n);
        }
        (spot, sum)
    }

    /// Points of a kind with random coefficients; the next scalars serve where a combination is the point at infinity.
    fn kind(&self, kind: &str, numbers: std::ops::Range<u64>) -> Vec<(Spot<W>, Coefficients)> {
        let of = |number: u64, attempt: u32| Coefficients {
            base: scalar(&self.settings, &format!("{kind} base {attempt}"), number, &self.n),
            target: scalar(&self.settings, &format!("{kind} target {attempt}"), number, &self.n),
        };
        let pairs: Vec<Coefficients> = numbers.clone().map(|number| of(number, 0)).collect();
        let spots = self.sums.combine(&self.field, &pairs);
        let found = spots.into_iter().zip(pairs).zip(numbers);
        found
            .map(|((spot, pair), number)| match spot {
                Some(spot) => (spot, pair),
                None => (1..)
                    .find_map(|attempt| {
                        let pair = of(number, attempt);
                        Some((self.sums.combine(&self.field, std::slice::from_ref(&pair))[0]?, pair))
                    })
                    .unwrap_or_else(|| unreachable!("almost every combination is a point")),
            })
            .collect()
    }

    /// Replaces a point by the representative of its class; was it the other one?
    pub(crate) fn represent(&self, spot: &mut Spot<W>) -> bool {
        let flip = spot.is_flagged();
        if flip {
            spot.y = self.field.negate(&spot.y);
        }
        flip
    }

    /// The branch of a point.
    pub(crate) fn branch(&self, x: &[u64; W]) -> usize {
        (x[0] & ((1 << self.settings.branch_bits) - 1)) as usize
    }

    /// Is a state at a distinguished point? A point that is to be doubled is not a point of the walk.
    pub(crate) fn is_distinguished(&self, spot: &Spot<W>) -> bool {
        !spot.is_flagged() && (spot.x[0] >> self.shift) & ((1 << self.settings.distinguished_bits) - 1) == 0
    }
}

/// A scalar from 1 to `n − 1`: a hash of its place, of 512 bits, so that every one is as likely as the others.
fn scalar(settings: &Settings, kind: &str, number: u64, n: &BigUint) -> BigUint {
    let mut bytes = Vec::with_capacity(64);
    for half in 0..2_u8 {
        let mut hash = Sha256::new();
        hash.update(settings.seed.to_le_bytes());
        hash.update(number.to_le_bytes());
        hash.update([half]);
        hash.update(kind.as_bytes());
        bytes.extend_from_slice(&hash.finalize());
    }
    BigUint::from_bytes_le(&bytes) % (n - 1_u32) + 1_u32
}
