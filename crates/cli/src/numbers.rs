//! The integers of a chunk, in batches by width.
//!
//! A batch is as wide as its widest lane. One long number among many short ones would make them all
//! long, so lanes that differ much go to batches of their own; [`Numbers`] remembers where each lane
//! went and gives them back in order. Batches have magnitudes; signs stand beside them.

use std::collections::BTreeMap;

use rayon::prelude::*;
use warpmp::{Batch, Shape};

use crate::{
    error::{Error, Result},
    io::{
        column::{self, NO_RESULT},
        error::{FileError, LineProblem},
        npy::NpyProblem,
        source::{Raw, RawRows, is_negative},
        text::{Digits, Entry, RawText},
        tuple::{RawOperand, RawTuple},
    },
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

/// The operands of a chunk: batch `k` of one belongs to batch `k` of the others.
#[derive(Debug)]
pub(crate) struct Operands {
    /// None: a single integer serves every lane.
    pub(crate) columns: Vec<Option<Vec<Batch<'static>>>>,
    /// For each operand and each of its batches: which rows are negative. Empty for an operand without signs.
    pub(crate) signs: Vec<Vec<Vec<bool>>>,
    /// The lanes that lack an operand, by chunk. Empty if none does.
    pub(crate) missing: Vec<bool>,
    pub(crate) places: Option<Vec<(u32, u32)>>,
    pub(crate) lanes: usize,
}

/// Which lines of text are operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Integers without a sign.
    Unsigned,
    /// Also integers with a minus, and `-` for a lane without a result.
    Results,
}

/// An integer that serves every lane.
#[derive(Clone, Debug)]
pub(crate) struct Single {
    /// Its magnitude.
    pub(crate) batch: Batch<'static>,
    /// None if the integer comes from a source without signs.
    pub(crate) is_negative: Option<bool>,
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
        self.sized_lane(lane).0
    }

    /// The same, with the bits of its batch.
    pub(crate) fn sized_lane(&self, lane: usize) -> (&[u32], usize) {
        row(&self.batches, self.places.as_deref(), lane)
    }

    /// The batches, whose order is not that of the integers.
    pub(crate) fn into_batches(self) -> Vec<Batch<'static>> {
        self.batches
    }

    /// All integers one after the other, if their rows have this many limbs and lie in order.
    pub(crate) fn rows(&self, limbs: usize) -> Option<&Batch<'static>> {
        match (&self.batches[..], &self.places) {
            ([batch], None) if batch.shape().limbs() == limbs => Some(batch),
            _ => None,
        }
    }

    /// Limbs of the widest batch.
    pub(crate) fn max_limbs(&self) -> usize {
        self.batches.iter().map(|batch| batch.shape().limbs()).max().unwrap_or(0)
    }
}

/// The limbs and the bits of the chunk's lane `lane`, which `places` finds in one of `batches`.
pub(crate) fn row<'a>(batches: &'a [Batch<'_>], places: Option<&[(u32, u32)]>, lane: usize) -> (&'a [u32], usize) {
    let (batch, row) = places.map_or((0, lane), |places| (places[lane].0 as usize, places[lane].1 as usize));
    let Shape { bits, .. } = batches[batch].shape();
    let limbs = bits.div_ceil(32);
    (&batches[batch].limbs()[row * limbs..][..limbs], bits)
}

/// Checks and sorts the integers of a chunk; its rows become batches as they lie in memory. `names` are the names of the inputs, for
/// messages. `widths`: the widths of the operands' batches, if they are asked for.
pub(crate) fn operands(
    tuple: &mut RawTuple,
    names: &[String],
    widths: Option<&[usize]>,
    kind: Lines,
) -> Result<Operands> {
    let width = |operand: usize| widths.and_then(|widths| widths.get(operand).copied());
    let lanes = tuple.lanes();
    let raws = tuple.operands.iter_mut().map(RawOperand::each_lane);
    let checked = raws.zip(names).enumerate();
    let mut columns = checked
        .map(|(i, (raw, name))| raw.map(|raw| Lanes::check(raw, name, width(i), kind)).transpose())
        .collect::<Result<Vec<_>>>()?;
    let present: Vec<&Lanes<'_>> = columns.iter().flatten().collect();
    let groups = if widths.is_some() { vec![None] } else { group(&present, lanes) };
    let missing = present.iter().filter_map(|column| column.missing()).reduce(|mut all, missing| {
        all.iter_mut().zip(missing).for_each(|(all, missing)| *all |= missing);
        all
    });
    let mut places = if groups.len() == 1 { None } else { Some(vec![(0, 0); lanes]) };
    let mut operands: Vec<Option<Vec<Batch<'static>>>> =
        columns.iter().map(|column| column.is_some().then(Vec::new)).collect();
    let mut signs = vec![Vec::new(); columns.len()];
    for (number, members) in groups.iter().enumerate() {
        for (i, ((batches, column), name)) in operands.iter_mut().zip(&mut columns).zip(names).enumerate() {
            if let (Some(batches), Some(column)) = (batches, column) {
                let negative = column.signs();
                batches.push(column.batch(members.as_deref(), name, width(i))?);
                if let Some(negative) = negative {
                    let row = |lane: &u32| negative[*lane as usize];
                    let of_batch = members.as_ref().map(|members| members.iter().map(row).collect());
                    signs[i].push(of_batch.unwrap_or(negative));
                }
            }
        }
        if let (Some(places), Some(members)) = (&mut places, members) {
            for (row, lane) in members.iter().enumerate() {
                places[*lane as usize] = (number as u32, row as u32);
            }
        }
    }
    Ok(Operands { columns: operands, signs, missing: missing.unwrap_or_default(), places, lanes })
}

/// The single integer of an operand.
pub(crate) fn single(raw: &mut Raw, name: &str, bits: Option<usize>) -> Result<Single> {
    let mut lanes = Lanes::check(raw, name, bits, Lines::Results)?;
    if let (Some(_), Lanes::Text { text, .. }) = (lanes.missing(), &lanes) {
        return Err(line_error(text, name, (0, LineProblem::NoResult)));
    }
    let is_negative = lanes.signs().and_then(|signs| signs.first().copied());
    Ok(Single { batch: lanes.batch(None, name, bits)?, is_negative })
}

/// One operand's integers, found to be numbers.
enum Lanes<'a> {
    /// Lines of at most `limit` bits. They are not kept in another form: short lines are many.
    Text {
        text: &'a RawText,
        limit: usize,
        marks: Option<Marks>,
    },
    Rows(&'a mut RawRows),
}

/// Text with a minus or a gap somewhere: which lanes have one. A gap counts as zero.
struct Marks {
    negative: Vec<bool>,
    missing: Vec<bool>,
}

impl<'a> Lanes<'a> {
    /// Checks the integers of a source: they have at most `asked` bits, or else as many as the source allows.
    fn check(raw: &'a mut Raw, name: &str, asked: Option<usize>, kind: Lines) -> Result<Self> {
        match raw {
            Raw::Rows(rows) => {
                let refused = if kind == Lines::Unsigned { rows.signs().position(|sign| sign) } else { None };
                if let Some(row) = refused {
                    let problem = NpyProblem::NegativeRow { row: rows.first_row + row as u64 };
                    return Err(FileError::Npy { path: name.into(), problem }.into());
                }
                Ok(Self::Rows(rows))
            }
            Raw::Text(text) => {
                let limit = asked.unwrap_or(text.limit());
                let digits = check_lines(text, |line| Digits::check(line, limit).map(|_| ()));
                // Most files have no sign: their lines are looked at once.
                let marks = match (digits, kind) {
                    (Ok(()), _) => None,
                    (Err(_), Lines::Results) => {
                        let entries = check_lines(text, |line| Entry::check(line, limit).map(|_| ()));
                        entries.map_err(|fault| line_error(text, name, fault))?;
                        let line = |lane| text.get(lane);
                        let each = |mark: fn(&[u8]) -> bool| (0..text.lanes()).map(line).map(mark).collect();
                        let missing: Vec<bool> = each(|line| line == NO_RESULT);
                        Some(Marks { negative: each(|line| line != NO_RESULT && line.starts_with(b"-")), missing })
                    }
                    (Err(fault), Lines::Unsigned) => return Err(line_error(text, name, fault)),
                };
                Ok(Self::Text { text, limit, marks })
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.lanes(),
            Self::Rows(rows) => rows.lanes(),
        }
    }

    /// Which lanes are negative; none for a source without signs.
    fn signs(&self) -> Option<Vec<bool>> {
        match self {
            Self::Text { marks, .. } => {
                marks.as_ref().map(|marks| &marks.negative).filter(|negative| negative.contains(&true)).cloned()
            }
            Self::Rows(rows) => rows.is_signed.then(|| rows.signs().collect()),
        }
    }

    /// Which lanes have no integer; none if all have.
    fn missing(&self) -> Option<Vec<bool>> {
        match self {
            Self::Text { marks, .. } => {
                marks.as_ref().map(|marks| &marks.missing).filter(|missing| missing.contains(&true)).cloned()
            }
            Self::Rows(_) => None,
        }
    }

    /// A bound of one lane's limbs.
    fn limbs(&self, lane: usize) -> usize {
        match self {
            Self::Text { text, limit, .. } => Digits::checked(text.get(lane), *limit).limbs_bound(),
            Self::Rows(rows) => rows.row_limbs,
        }
    }

    /// The lanes called `members` (all, if none are named), as wide as the widest of them; rows of an
    /// array keep its width.
    fn batch(&mut self, members: Option<&[u32]>, name: &str, asked: Option<usize>) -> Result<Batch<'static>> {
        let lanes = members.map_or(self.len(), <[u32]>::len);
        let lane = |row: usize| members.map_or(row, |members| members[row] as usize);
        let width = (0..lanes).into_par_iter().map(|row| self.limbs(lane(row))).max().unwrap_or(1);
        match self {
            Self::Rows(rows) => {
                if let Some(bits) = asked {
                    return fixed(rows, name, lanes, bits);
                }
                let mut limbs = match members {
                    None => rows.take_limbs(),
                    Some(members) => {
                        let mut chosen = vec![0; lanes * width];
                        let pairs = chosen.par_chunks_exact_mut(width).zip(members);
                        pairs.for_each(|(out, lane)| out.copy_from_slice(rows.row(*lane as usize)));
                        chosen.into()
                    }
                };
                if rows.is_signed {
                    let negative = limbs.as_mut_slice().par_chunks_exact_mut(width).filter(|row| is_negative(row));
                    negative.for_each(column::negate);
                }
                Ok(Batch::from_buffer(Shape::new(lanes, 32 * width), limbs)?)
            }
            Self::Text { text, limit, .. } => {
                let mut limbs = vec![0; lanes * width];
                let digits = |lane: usize| Digits::checked(text.get(lane), *limit);
                let write =
                    |row: usize, out: &mut [u32]| digits(lane(row)).write(out).map_err(|problem| (lane(row), problem));
                limbs.par_chunks_exact_mut(width).enumerate().try_for_each(|(row, out)| write(row, out)).map_err(
                    |found| {
                        let mut scratch = vec![0; width];
                        let first = (0..lanes).find_map(|row| write(row, &mut scratch).err());
                        line_error(text, name, first.unwrap_or(found))
                    },
                )?;
                let widest = || limbs.par_chunks_exact(width).map(bit_length).max().unwrap_or(0).max(1);
                let bits = asked.unwrap_or_else(widest);
                let new = bits.div_ceil(32);
                if new > width {
                    limbs = widened(&limbs, width, new);
                }
                narrow(&mut limbs, width, new);
                Ok(Batch::from_limbs(Shape::new(lanes, bits), limbs)?)
            }
        }
    }
}

/// The rows of an array in `limit` bits.
fn fixed(rows: &RawRows, name: &str, lanes: usize, limit: usize) -> Result<Batch<'static>> {
    let width = limit.div_ceil(32);
    let mut limbs = vec![0; lanes * width];
    let copy = |(lane, out): (usize, &mut [u32])| -> Result<(), NpyProblem> {
        let negated = rows.is_negative(lane).then(|| column::negated(rows.row(lane).to_vec()));
        let row = negated.as_deref().unwrap_or_else(|| rows.row(lane));
        let bits = bit_length(row);
        if bits > limit {
            return Err(NpyProblem::RowTooWide { row: rows.first_row + lane as u64, bits, limit });
        }
        let filled = row.len().min(width);
        out[..filled].copy_from_slice(&row[..filled]);
        Ok(())
    };
    let wide = limbs.par_chunks_exact_mut(width).enumerate().find_map_first(|lane| copy(lane).err());
    if let Some(problem) = wide {
        return Err(FileError::Npy { path: name.into(), problem }.into());
    }
    Ok(Batch::from_limbs(Shape::new(lanes, limit), limbs)?)
}

/// Rows of `width` limbs as rows of `new` limbs, which are more.
pub(crate) fn widened(limbs: &[u32], width: usize, new: usize) -> Vec<u32> {
    let mut wide = vec![0; limbs.len() / width * new];
    for (from, to) in limbs.chunks_exact(width).zip(wide.chunks_exact_mut(new)) {
        to[..width].copy_from_slice(from);
    }
    wide
}

/// The first fault of a text, and the lane where it stands.
type Fault = (usize, LineProblem);

/// Checks every line of a text.
///
/// # Errors
/// The first fault.
fn check_lines(text: &RawText, check: impl Fn(&[u8]) -> Result<(), LineProblem> + Sync) -> Result<(), Fault> {
    let fault = |lane| check(text.get(lane)).err().map(|problem| (lane, problem));
    (0..text.lanes()).into_par_iter().find_map_first(fault).map_or(Ok(()), Err)
}

fn line_error(text: &RawText, name: &str, (lane, problem): Fault) -> Error {
    FileError::Line { path: name.into(), line: text.line(lane), problem }.into()
}

/// Bits of an integer; 0 for zero.
pub(crate) fn bit_length(limbs: &[u32]) -> usize {
    limbs
        .iter()
        .rposition(|limb| *limb != 0)
        .map_or(0, |top| 32 * top + (u32::BITS - limbs[top].leading_zeros()) as usize)
}

/// Rows of `width` limbs become rows of `new` limbs, not more; what is dropped is zero.
pub(crate) fn narrow(limbs: &mut Vec<u32>, width: usize, new: usize) {
    if new < width {
        let rows = limbs.len() / width;
        for row in 0..rows {
            limbs.copy_within(row * width..row * width + new, row * new);
        }
        limbs.truncate(rows * new);
    }
}

/// Which lanes go together: one list a batch, or a single `None` for all of them.
fn group(columns: &[&Lanes<'_>], lanes: usize) -> Vec<Option<Vec<u32>>> {
    // The limbs of all lanes of a column, and of its widest lane.
    let size = |column: &&Lanes<'_>| match column {
        Lanes::Rows(rows) => (lanes * rows.row_limbs, rows.row_limbs),
        Lanes::Text { .. } => {
            let each = (0..lanes).into_par_iter().map(|lane| column.limbs(lane)).map(|limbs| (limbs, limbs));
            each.reduce(|| (0, 0), |(sum, widest), (more, other)| (sum + more, widest.max(other)))
        }
    };
    let sizes = columns.iter().map(size);
    let (sum, widest) = sizes.fold((0, 0), |(sum, widest), (more, other)| (sum + more, widest + other));
    if lanes * widest <= (2 * sum).max(PADDING_LIMBS) {
        return vec![None];
    }
    let mut groups: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
    let mut classes = Vec::new();
    for lane in 0..lanes {
        classes.clear();
        classes.extend(columns.iter().map(|column| class(column.limbs(lane))));
        match groups.get_mut(&classes) {
            Some(members) => members.push(lane as u32),
            None => drop(groups.insert(classes.clone(), vec![lane as u32])),
        }
    }
    groups.into_values().map(Some).collect()
}

/// Widths of one class differ by half at most: 1, 2, 3, 4, 6, 8, 12, 16, … limbs.
pub(crate) fn class(limbs: usize) -> usize {
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
