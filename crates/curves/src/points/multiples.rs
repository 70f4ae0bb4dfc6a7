//! Multiples of points and sums of multiples, as sequences of sums that are made for many lanes at once.
//!
//! source: windows of four bits, *Handbook of Applied Cryptography*, algorithm 14.82; buckets, Pippenger 1976.

use num_bigint::BigUint;

use super::memory::{Memory, infinity};
use super::{Curve, Points, row_words, same_lanes};
use crate::affine::Point;
use crate::error::{Error, Result};
use crate::kernels::sums::FAULTY;

/// Bits of a scalar that are taken together.
const WINDOW: u64 = 4;

/// Lanes whose tables of multiples are in memory at a time.
const LANES: usize = 1 << 18;

/// The most bits of a bucket's number.
const MOST_BUCKET_BITS: u32 = 12;

impl Curve {
    /// `kᵢ·sᵢ`, lane by lane, for scalars of any length.
    ///
    /// # Errors
    /// [`Error::Lanes`], [`Error::OtherCurve`]; the device's.
    pub fn multiply(&self, s: &Points, scalars: &[BigUint]) -> Result<Points> {
        self.own(s)?;
        same_lanes(s.len(), scalars.len())?;
        let words = row_words(&self.group);
        let chunks = s.rows.chunks(LANES * words).zip(scalars.chunks(LANES));
        let products = chunks.map(|(rows, scalars)| self.multiply_some(rows, &|lane| &scalars[lane]));
        Ok(self.batch(products.collect::<Result<Vec<_>>>()?.concat()))
    }

    /// `k·sᵢ`, lane by lane.
    ///
    /// # Errors
    /// [`Error::OtherCurve`]; the device's.
    pub fn multiply_all(&self, s: &Points, scalar: &BigUint) -> Result<Points> {
        self.own(s)?;
        let chunks = s.rows.chunks(LANES * row_words(&self.group));
        let products = chunks.map(|rows| self.multiply_some(rows, &|_| scalar));
        Ok(self.batch(products.collect::<Result<Vec<_>>>()?.concat()))
    }

    /// The multiples of some rows. Row 0 of the memory is the point at infinity; block `d` of the rows after it holds `d·sᵢ`, block
    /// 0 the result.
    fn multiply_some<'k>(&self, rows: &[u32], scalar: &dyn Fn(usize) -> &'k BigUint) -> Result<Vec<u32>> {
        let words = row_words(&self.group);
        let lanes = rows.len() / words;
        let infinity = infinity(words);
        let result = infinity.repeat(lanes);
        let mut memory = self.machine.memory(&[&infinity, &result, rows], lanes * ((1 << WINDOW) - 2))?;
        let row = |block: usize, lane: usize| (1 + block * lanes + lane) as u32;
        for block in 2..1 << WINDOW {
            let pairs: Vec<[u32; 2]> = (0..lanes).map(|lane| [row(block - 1, lane), row(1, lane)]).collect();
            memory.add(row(block, 0), &pairs, 1)?;
        }
        let windows = (0..lanes).map(|lane| scalar(lane).bits()).max().unwrap_or(0).div_ceil(WINDOW);
        let doubled: Vec<[u32; 2]> = (0..lanes).map(|lane| [row(0, lane); 2]).collect();
        for window in (0..windows.max(1)).rev() {
            memory.add(1, &doubled, WINDOW as u32)?;
            let pair = |lane: usize| match digit(scalar(lane), window * WINDOW, WINDOW) {
                // A faulty lane stays faulty, whatever its scalar is.
                0 if rows[(lane + 1) * words - 1] == FAULTY => [row(0, lane), row(1, lane)],
                0 => [row(0, lane), 0],
                digit => [row(0, lane), row(digit, lane)],
            };
            memory.add(1, &(0..lanes).map(pair).collect::<Vec<_>>(), 1)?;
        }
        memory.rows(1, lanes)
    }

    /// `Σ kᵢ·sᵢ` over all lanes, the point at infinity for an empty batch.
    ///
    /// # Errors
    /// [`Error::Lane`] if a lane is faulty, [`Error::Lanes`], [`Error::OtherCurve`]; the device's.
    pub fn sum_of_multiples(&self, s: &Points, scalars: &[BigUint]) -> Result<Point> {
        self.own(s)?;
        same_lanes(s.len(), scalars.len())?;
        if let Some(lane) = s.faulty_lanes().next() {
            return Err(Error::Lane { lane });
        }
        let lanes = s.len();
        // A bucket's number has about as many bits as make the sums of the points and of the buckets equally many.
        let bits = (lanes.max(1).ilog2().saturating_sub(2)).clamp(1, MOST_BUCKET_BITS);
        let windows = scalars.iter().map(BigUint::bits).max().unwrap_or(0).div_ceil(bits.into());
        let buckets = 1_usize << bits;
        let places = windows as usize * bits as usize;
        let infinity = infinity(row_words(&self.group));
        // Row 0 is the point at infinity, then the points, then the result, then the sums of each place of the scalars.
        let (result, places_at) = (1 + lanes as u32, 2 + lanes as u32);
        let free = places_at + places as u32;
        let room = places + lanes + buckets * bits as usize;
        let mut memory = self.machine.memory(&[&infinity, &s.rows, &infinity], room)?;
        for window in 0..windows {
            let mut lists = vec![Vec::new(); buckets];
            for (lane, scalar) in (1..).zip(scalars) {
                lists[digit(scalar, window * u64::from(bits), bits.into())].push(lane);
            }
            lists[0].clear();
            let mut next = free;
            let sums = reduce(&mut memory, lists, &mut next)?;
            let with = |bit: u32| {
                let chosen = sums.iter().enumerate().filter(|(number, row)| number >> bit & 1 == 1 && **row != 0);
                chosen.map(|(_, row)| *row).collect()
            };
            let sums = reduce(&mut memory, (0..bits).map(with).collect(), &mut next)?;
            let pairs: Vec<[u32; 2]> = sums.into_iter().map(|row| [row, 0]).collect();
            memory.add(places_at + window as u32 * bits, &pairs, 1)?;
        }
        for place in (0..places as u32).rev() {
            memory.add(result, &[[result; 2]], 1)?;
            memory.add(result, &[[result, places_at + place]], 1)?;
        }
        let sum = self.batch(memory.rows(result, 1)?);
        Ok(sum.to_affine().into_iter().next().and_then(|point| point.ok()?))
    }
}

/// The rows of the sums of lists of rows; 0 for an empty list. New rows are written from `next` on.
fn reduce(memory: &mut Memory, mut lists: Vec<Vec<u32>>, next: &mut u32) -> Result<Vec<u32>> {
    while lists.iter().any(|list| list.len() > 1) {
        let first = *next;
        let mut pairs = Vec::new();
        for list in &mut lists {
            let (whole, rest) = list.as_chunks::<2>();
            let mut sums: Vec<u32> = (*next..).take(whole.len()).collect();
            *next += whole.len() as u32;
            pairs.extend_from_slice(whole);
            sums.extend_from_slice(rest);
            *list = sums;
        }
        memory.add(first, &pairs, 1)?;
    }
    Ok(lists.into_iter().map(|list| list.first().copied().unwrap_or(0)).collect())
}

/// The `bits` bits of a scalar from bit `first` on.
fn digit(scalar: &BigUint, first: u64, bits: u64) -> usize {
    (0..bits).fold(0, |digit, i| digit | usize::from(scalar.bit(first + i)) << i)
}
