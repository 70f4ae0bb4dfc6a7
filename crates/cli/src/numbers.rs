//! The integers of a chunk, in batches by width.
//!
//! A batch is as wide as its widest lane. One long number among many short ones would make them all
//! long, so lanes that differ much go to batches of their own; [`Numbers`] remembers where each lane
//! went and gives them back in order.

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpmp::{Batch, Shape, operation::MUL_MAX_BITS};

use crate::{
    error::{Error, LineProblem, Result},
    io::{
        pair::RawPair,
        source::{Raw, RawRows},
        text::{Digits, RawText},
    },
    pool::Pool,
};

/// Lanes stay together while that at most doubles their memory, or costs no more limbs than this.
const PADDING_LIMBS: usize = 1 << 16;

/// Integers in order: lane `i` is lane `places[i].1` of batch `places[i].0`.
#[derive(Debug)]
pub(crate) struct Numbers {
    batches: Vec<Batch<'static>>,
    /// None: one batch, in order.
    places: Option<Vec<(u32, u32)>>,
}

/// Two operands of a chunk: batch `k` of one belongs to batch `k` of the other.
#[derive(Debug)]
pub(crate) struct Operands {
    pub(crate) a: Vec<Batch<'static>>,
    /// None: the single integer of the second operand multiplies every lane.
    pub(crate) b: Option<Vec<Batch<'static>>>,
    pub(crate) places: Option<Vec<(u32, u32)>>,
    pub(crate) lanes: usize,
}

impl Numbers {
    /// Batches, and where each lane is.
    pub(crate) const fn new(batches: Vec<Batch<'static>>, places: Option<Vec<(u32, u32)>>) -> Self {
        Self { batches, places }
    }

    /// Number of integers.
    pub(crate) fn lanes(&self) -> usize {
        self.places.as_ref().map_or_else(|| self.batches.iter().map(Batch::lanes).sum(), Vec::len)
    }

    /// The limbs of one integer, least significant first.
    pub(crate) fn lane(&self, lane: usize) -> &[u32] {
        row(&self.batches, self.places.as_deref(), lane)
    }

    /// The batches, whose order is not that of the integers.
    pub(crate) fn into_batches(self) -> Vec<Batch<'static>> {
        self.batches
    }

    /// Limbs of the widest batch.
    pub(crate) fn max_limbs(&self) -> usize {
        self.batches.iter().map(|batch| batch.shape().limbs()).max().unwrap_or(0)
    }
}

/// The limbs of the chunk's lane `lane`, which `places` finds in one of `batches`.
pub(crate) fn row<'a>(batches: &'a [Batch<'_>], places: Option<&[(u32, u32)]>, lane: usize) -> &'a [u32] {
    let (batch, row) = places.map_or((0, lane), |places| (places[lane].0 as usize, places[lane].1 as usize));
    let limbs = batches[batch].shape().limbs();
    &batches[batch].limbs()[row * limbs..][..limbs]
}

/// Checks and sorts the integers of a chunk. `names` are those of the inputs, for messages; rows go to
/// memory from `pool`.
pub(crate) fn operands(pair: &RawPair, names: &(String, String), pool: &Pool) -> Result<Operands> {
    let a = Lanes::check(&pair.a, &names.0)?;
    let b = match &pair.b {
        Some(raw) if !pair.broadcast => Some(Lanes::check(raw, &names.1)?),
        _ => None,
    };
    let lanes = pair.a.lanes();
    let groups = group(&a, b.as_ref(), lanes);
    let single = groups.len() == 1;
    let mut places = if single { None } else { Some(vec![(0, 0); lanes]) };
    let mut operands = Operands { a: Vec::new(), b: b.is_some().then(Vec::new), places: None, lanes };
    for (number, members) in groups.iter().enumerate() {
        operands.a.push(a.batch(members.as_deref(), &names.0, pool)?);
        if let (Some(batches), Some(b)) = (&mut operands.b, &b) {
            batches.push(b.batch(members.as_deref(), &names.1, pool)?);
        }
        if let (Some(places), Some(members)) = (&mut places, members) {
            for (row, lane) in members.iter().enumerate() {
                places[*lane as usize] = (number as u32, row as u32);
            }
        }
    }
    operands.places = places;
    Ok(operands)
}

/// The single integer of a second operand.
pub(crate) fn single(raw: &Raw, name: &str, pool: &Pool) -> Result<Batch<'static>> {
    Lanes::check(raw, name)?.batch(None, name, pool)
}

/// One operand's integers, found to be numbers.
enum Lanes<'a> {
    Text { digits: Vec<Digits<'a>>, text: &'a RawText },
    Rows(&'a RawRows),
}

impl<'a> Lanes<'a> {
    fn check(raw: &'a Raw, name: &str) -> Result<Self> {
        match raw {
            Raw::Rows(rows) => Ok(Self::Rows(rows)),
            Raw::Text(text) => {
                let check = |lane| Digits::check(text.get(lane), MUL_MAX_BITS).map_err(|problem| (lane, problem));
                let digits = (0..text.lanes()).into_par_iter().map(check).collect::<Result<Vec<_>, _>>();
                match digits {
                    Ok(digits) => Ok(Self::Text { digits, text }),
                    // Threads find any of the faults; people want the first.
                    Err(found) => {
                        Err(line_error(text, name, (0..found.0).find_map(|lane| check(lane).err()).unwrap_or(found)))
                    }
                }
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text { digits, .. } => digits.len(),
            Self::Rows(rows) => rows.bytes.len() / (4 * rows.row_limbs),
        }
    }

    /// A bound of one lane's limbs.
    fn limbs(&self, lane: usize) -> usize {
        match self {
            Self::Text { digits, .. } => digits[lane].limbs_bound(),
            Self::Rows(rows) => rows.row_limbs,
        }
    }

    /// The lanes called `members` (all, if none are named), as wide as the widest of them; rows of an
    /// array keep its width.
    fn batch(&self, members: Option<&[u32]>, name: &str, pool: &Pool) -> Result<Batch<'static>> {
        let lanes = members.map_or(self.len(), <[u32]>::len);
        let lane = |row: usize| members.map_or(row, |members| members[row] as usize);
        let width = (0..lanes).into_par_iter().map(|row| self.limbs(lane(row))).max().unwrap_or(1);
        match self {
            Self::Rows(rows) => {
                let mut limbs = pool.take(lanes * width).unwrap_or_else(|| vec![0; lanes * width].into());
                limbs.as_mut_slice().par_chunks_exact_mut(width).enumerate().for_each(|(row, out)| {
                    for (limb, value) in out.iter_mut().zip(rows.row(lane(row))) {
                        *limb = value;
                    }
                });
                Ok(Batch::from_buffer(Shape::new(lanes, 32 * width), limbs)?)
            }
            Self::Text { digits, text } => {
                let mut limbs = vec![0; lanes * width];
                let write =
                    |row: usize, out: &mut [u32]| digits[lane(row)].write(out).map_err(|problem| (lane(row), problem));
                limbs.par_chunks_exact_mut(width).enumerate().try_for_each(|(row, out)| write(row, out)).map_err(
                    |found| {
                        let mut scratch = vec![0; width];
                        let first = (0..lanes).find_map(|row| write(row, &mut scratch).err());
                        line_error(text, name, first.unwrap_or(found))
                    },
                )?;
                let bits = limbs.par_chunks_exact(width).map(bit_length).max().unwrap_or(0).max(1);
                narrow(&mut limbs, width, bits.div_ceil(32));
                Ok(Batch::from_limbs(Shape::new(lanes, bits), limbs)?)
            }
        }
    }
}

fn line_error(text: &RawText, name: &str, (lane, problem): (usize, LineProblem)) -> Error {
    Error::Line { path: name.into(), line: text.line(lane), problem }
}

/// Bits of an integer; 0 for zero.
fn bit_length(limbs: &[u32]) -> usize {
    limbs
        .iter()
        .rposition(|limb| *limb != 0)
        .map_or(0, |top| 32 * top + (u32::BITS - limbs[top].leading_zeros()) as usize)
}

/// Rows of `width` limbs become rows of `new` limbs, not more; what is dropped is zero.
fn narrow(limbs: &mut Vec<u32>, width: usize, new: usize) {
    if new < width {
        let rows = limbs.len() / width;
        for row in 0..rows {
            limbs.copy_within(row * width..row * width + new, row * new);
        }
        limbs.truncate(rows * new);
    }
}

/// Which lanes go together: one list a batch, or a single `None` for all of them.
fn group(a: &Lanes<'_>, b: Option<&Lanes<'_>>, lanes: usize) -> Vec<Option<Vec<u32>>> {
    let widths = |lane: usize| (a.limbs(lane), b.map_or(0, |b| b.limbs(lane)));
    let (mut sum, mut widest_a, mut widest_b) = (0, 0, 0);
    for lane in 0..lanes {
        let (wide_a, wide_b) = widths(lane);
        sum += wide_a + wide_b;
        widest_a = widest_a.max(wide_a);
        widest_b = widest_b.max(wide_b);
    }
    if lanes * (widest_a + widest_b) <= (2 * sum).max(PADDING_LIMBS) {
        return vec![None];
    }
    let mut groups: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
    for lane in 0..lanes {
        let (wide_a, wide_b) = widths(lane);
        groups.entry((class(wide_a), class(wide_b))).or_default().push(lane as u32);
    }
    groups.into_values().map(Some).collect()
}

/// Widths of one class differ by half at most: 1, 2, 3, 4, 6, 8, 12, 16, … limbs.
fn class(limbs: usize) -> usize {
    let power = limbs.next_power_of_two();
    if power >= 4 && limbs <= power / 4 * 3 { power / 4 * 3 } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_half_octaves() {
        let found: Vec<usize> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 1025, 2048].map(class).to_vec();
        assert_eq!(found, [1, 2, 3, 4, 6, 6, 8, 8, 12, 12, 16, 1536, 2048]);
    }

    #[test]
    fn narrow_keeps_the_low_limbs() {
        let mut limbs = vec![1, 2, 0, 3, 4, 0];
        narrow(&mut limbs, 3, 2);
        assert_eq!(limbs, [1, 2, 3, 4]);
    }

    #[test]
    fn bit_lengths() {
        assert_eq!([&[0, 0][..], &[1, 0], &[0, 1], &[5, 1 << 31]].map(bit_length), [0, 1, 33, 64]);
    }
}
