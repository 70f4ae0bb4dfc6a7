//! Algorithm 6: delays by tables B, C, J and A.
//!
//! ```text
//! blocks.rs     2^16 consecutive numbers: their common steps are done once
//! simd::delay   any numbers, eight at a time, where the processor has the instructions
//! portable.rs   any numbers, on any processor
//! ```

mod blocks;
mod portable;

use rayon::prelude::*;
use warpmp_simd::{Ifma, Simd as _};

use super::{
    simd::delay::delays as delays_in_vectors,
    vectors::{DELAY_BASE_BITS as VECTOR_BITS, DELAY_LIMIT_BITS as LIMIT_BITS},
};
use crate::{
    engine::Control,
    error::{Error, Result},
    tables::{Base, SmallDelays},
    window::LIMIT,
};
use blocks::{BLOCK, Blocks};
use portable::Portable;

/// `t = 2^22` of table A.
const SMALL_BITS: u32 = 22;
/// Numbers of a task that are not a block.
const CHUNK: usize = 1 << 14;

/// The tables.
#[derive(Debug)]
pub(crate) struct Prepared {
    small: SmallDelays,
    portable: Portable,
    vectors: Option<(Ifma, Box<[u64; 1 << VECTOR_BITS]>)>,
    blocks: Blocks,
}

/// B, C and J of the same low bits in a word: from bits 0, 24 and 48 on.
fn jumps<const ENTRIES: usize>() -> Result<Box<[u64; ENTRIES]>> {
    let base = Base::new(ENTRIES.ilog2())?;
    let mut jumps = Box::new([0; ENTRIES]);
    for (low, jump) in jumps.iter_mut().enumerate() {
        let (factor, addend, steps) = (base.factors()[low], base.addends()[low], base.steps()[low]);
        *jump = u64::from(factor) | u64::from(addend) << 24 | u64::from(steps) << 48;
    }
    Ok(jumps)
}

impl Prepared {
    /// A call of [`Self::delays`] pays from about this many starts on, and takes at most this many.
    pub(crate) const BATCH: usize = 4096;

    /// `portable`: without vectors, even where there are some.
    pub(crate) fn new(portable: bool) -> Result<Self> {
        let vectors = Ifma::detect().filter(|_| !portable);
        Ok(Self {
            small: SmallDelays::new(SMALL_BITS)?,
            portable: Portable::new()?,
            vectors: vectors.map(|vectors| jumps().map(|jumps| (vectors, jumps))).transpose()?,
            blocks: Blocks::new()?,
        })
    }

    /// Delays of `from`, `from + 1`, …
    pub(super) fn run(&self, from: u128, delays: &mut [u32], control: &Control) -> Result<()> {
        let count = delays.len() as u128;
        let end = match from.checked_add(count) {
            _ if from == 0 => return Err(Error::ZeroStart),
            Some(end) if end <= LIMIT => end,
            _ => return Err(Error::PastLimit { from, count }),
        };
        // Whole blocks, and the numbers before the first one.
        let head = (from.wrapping_neg() % BLOCK as u128).min(count) as usize;
        let (head, rest) = delays.split_at_mut(if Blocks::serve(from..end) { head } else { delays.len() });
        let first = from + head.len() as u128;
        let (whole, tail) = rest.split_at_mut(rest.len() / BLOCK * BLOCK);
        let end = first + whole.len() as u128;
        let parts = (head.len() + whole.len() + tail.len()).div_ceil(CHUNK) as u64;
        self.singly(from, head, control, parts)?;
        whole.par_chunks_exact_mut(BLOCK).enumerate().try_for_each(|(block, delays)| -> Result<()> {
            control.check()?;
            self.block(first / BLOCK as u128 + block as u128, delays)?;
            control.advance((BLOCK / CHUNK) as u64, parts);
            Ok(())
        })?;
        self.singly(end, tail, control, parts)
    }

    /// Delays of consecutive numbers, one by one.
    fn singly(&self, from: u128, delays: &mut [u32], control: &Control, parts: u64) -> Result<()> {
        delays.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, delays)| {
            control.check()?;
            let first = from + (chunk * CHUNK) as u128;
            self.any(first + delays.len() as u128, |place| first + place as u128, delays)?;
            control.advance(1, parts);
            Ok(())
        })
    }

    /// Delays of any numbers, by all cores.
    pub(super) fn of(&self, starts: &[u128], delays: &mut [u32], control: &Control) -> Result<()> {
        let parts = starts.len().div_ceil(CHUNK) as u64;
        starts.par_chunks(CHUNK).zip(delays.par_chunks_mut(CHUNK)).try_for_each(|(starts, delays)| {
            control.check()?;
            self.delays(starts, delays)?;
            control.advance(1, parts);
            Ok(())
        })
    }

    /// The delays of starts of at least 1, for the places of `delays`: as many as both have.
    pub(crate) fn delays(&self, starts: &[u128], delays: &mut [u32]) -> Result<()> {
        let count = starts.len().min(delays.len());
        let starts = &starts[..count];
        if starts.contains(&0) {
            return Err(Error::ZeroStart);
        }
        self.any(starts.iter().copied().max().unwrap_or(0), |place| starts[place], &mut delays[..count])
    }

    /// The delays of block `q`.
    fn block(&self, q: u128, delays: &mut [u32]) -> Result<()> {
        let mut of_classes = vec![0; self.blocks.len()];
        self.any(Blocks::highest(q), |class| self.blocks.value(q, class), &mut of_classes)?;
        self.blocks.spread(&mut of_classes, delays);
        Ok(())
    }

    /// The delays of `start(0)`, `start(1)`, …, all at least 1 and none above `highest`; at most as many as
    /// [`super::vectors::MOST_DELAYS`].
    fn any(&self, highest: u128, start: impl Fn(usize) -> u128, delays: &mut [u32]) -> Result<()> {
        let small = self.small.delays();
        let Some((vectors, jumps)) = self.vectors.as_ref().filter(|_| highest >> LIMIT_BITS == 0) else {
            return self.portable.run(small, start, delays);
        };
        let mut unsure = Vec::new();
        delays_in_vectors(*vectors, jumps, small, &start, delays, &mut unsure);
        // These are a few of ten thousand.
        let mut again = vec![0; unsure.len()];
        self.portable.run(small, |place| start(unsure[place]), &mut again)?;
        for (place, delay) in unsure.into_iter().zip(again) {
            delays[place] = delay;
        }
        Ok(())
    }
}
