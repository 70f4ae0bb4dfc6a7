//! Algorithm 5: for every mandatory residue it takes the starts of the window, and jumps by tables B and C until below the start.

use rayon::prelude::*;
use warpmp_simd::{Ifma, Simd as _};

use super::{simd::descent::descend, vectors::Descent};
use crate::{
    engine::{Control, Outcome},
    error::Result,
    honda::{Plan, descend_by_jumps},
    tables::{Base, Mandatory},
    window::Window,
};

/// Lanes of a batch. With the table of 12 base bits they fit the first-level cache.
const LANES: usize = 256;

/// The tables of a plan.
#[derive(Debug)]
pub(super) struct Prepared {
    plan: Plan,
    mandatory: Mandatory,
    /// B in the low half, C in the high half of each word.
    jumps: Vec<u64>,
    vectors: Option<Ifma>,
}

impl Prepared {
    /// `portable`: without vectors, even where there are some.
    pub(super) fn new(plan: Plan, mandatory: Mandatory, portable: bool) -> Result<Self> {
        let base = Base::new(plan.base_bits)?;
        let jumps = base.factors().iter().zip(base.addends());
        let jumps = jumps.map(|(factor, addend)| u64::from(*factor) | u64::from(*addend) << 32).collect();
        Ok(Self { plan, mandatory, jumps, vectors: Ifma::detect().filter(|_| !portable) })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All starts of the window, which lies above the floor.
    pub(super) fn run(&self, window: &Window, control: &Control) -> Result<Outcome> {
        let (blocks, span) = self.mandatory.blocks();
        // A window shorter than 2^k meets only some blocks.
        let met: Vec<usize> = (0..blocks).filter(|block| self.meets(window, *block as u64 * span, span)).collect();
        let tasks = met.len() as u64;
        let done = met.par_iter().map(|block| {
            control.check()?;
            let outcome = Batch::new(self, window).block(*block, control);
            control.advance(1, tasks);
            outcome
        });
        done.try_reduce(Outcome::default, |mut sum, part| {
            sum.add(&part);
            Ok(sum)
        })
    }

    fn meets(&self, window: &Window, first: u64, span: u64) -> bool {
        let modulus = 1u128 << self.plan.sieve_bits;
        let low = window.from() & (modulus - 1);
        // The distance from the window's first residue up to the block's first one, around the circle.
        let ahead = (u128::from(first) + modulus - low) & (modulus - 1);
        ahead < window.count() || ahead + u128::from(span) > modulus
    }
}

/// The starts of a window with the residues of a block, by residues.
struct Starts<I> {
    residues: I,
    first: u128,
    low: u128,
    modulus: u128,
    next: u128,
    end: u128,
}

impl Starts<()> {
    fn new<'a>(prepared: &'a Prepared, window: &Window, block: usize) -> Starts<impl Iterator<Item = u64> + use<'a>> {
        let modulus = 1u128 << prepared.plan.sieve_bits;
        let (from, end) = (window.from(), window.end());
        let (first, low) = (from & !(modulus - 1), from & (modulus - 1));
        Starts { residues: prepared.mandatory.block(block), first, low, modulus, next: end, end }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Starts<I> {
    type Item = u128;

    #[inline]
    fn next(&mut self) -> Option<u128> {
        while self.next >= self.end {
            let residue = u128::from(self.residues.next()?);
            self.next = self.first + residue + if residue < self.low { self.modulus } else { 0 };
        }
        let start = self.next;
        self.next += self.modulus;
        Some(start)
    }
}

struct Batch<'a> {
    prepared: &'a Prepared,
    window: Window,
    base_bits: u32,
    /// A jump multiplies by less than two to this.
    growth: u32,
    mask: usize,
    /// A jump from a value below this stays within 128 bits.
    limit: u128,
    unconditional: u32,
    len: usize,
    values: [u128; LANES],
    starts: [u128; LANES],
    outcome: Outcome,
}

impl<'a> Batch<'a> {
    fn new(prepared: &'a Prepared, window: &Window) -> Self {
        let base_bits = prepared.plan.base_bits;
        // A jump multiplies by at most (3/2)^d < 2^(0.585·d + 0.01) and adds less than one: below 2^(5d/8).
        let growth = (5 * base_bits).div_ceil(8) + 1;
        let bits = 128 - window.end().leading_zeros();
        // Values stay above a mandatory start for k steps, so that these jumps need no comparison, if they fit.
        let jumps = prepared.plan.sieve_bits / base_bits;
        Self {
            prepared,
            window: *window,
            base_bits,
            growth,
            mask: (1 << base_bits) - 1,
            limit: 1 << (127 - growth),
            unconditional: jumps.min(127u32.saturating_sub(bits) / growth),
            len: 0,
            values: [0; LANES],
            starts: [0; LANES],
            outcome: Outcome::default(),
        }
    }

    fn block(mut self, block: usize, control: &Control) -> Result<Outcome> {
        let starts = Starts::new(self.prepared, &self.window, block);
        let limit_bits = Descent::limit(self.growth);
        let Some(vectors) = self.prepared.vectors.filter(|_| self.window.end() >> limit_bits == 0) else {
            self.push(starts, control)?;
            return Ok(self.outcome);
        };
        let mut large = Vec::new();
        let descent = Descent { jumps: &self.prepared.jumps, base_bits: self.base_bits, limit_bits };
        let mut until = 0;
        let starts = starts.take_while(|_| {
            until = if until == 0 { 1 << 12 } else { until - 1 };
            until > 0 || control.check().is_ok()
        });
        let (ended, sum) = descend(vectors, descent, starts, &mut large);
        control.check()?;
        self.outcome.tested += ended;
        self.outcome.checksum = self.outcome.checksum.wrapping_add(sum);
        self.push(large.into_iter(), control)?;
        Ok(self.outcome)
    }

    fn push(&mut self, starts: impl Iterator<Item = u128>, control: &Control) -> Result<()> {
        for start in starts {
            self.values[self.len] = start;
            self.starts[self.len] = start;
            self.len += 1;
            if self.len == LANES {
                self.flush()?;
                control.check()?;
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let mut len = self.len.min(LANES);
        self.len = 0;
        self.outcome.tested += len as u64;
        for _ in 0..self.unconditional {
            for value in &mut self.values[..len] {
                *value = jumped(*value, self.prepared.jumps[*value as usize & self.mask], self.base_bits);
            }
        }
        while len > 0 {
            let mut kept = 0;
            let mut sum = 0u64;
            for lane in 0..len.min(LANES) {
                let (value, start) = (self.values[lane], self.starts[lane]);
                if value >= self.limit {
                    self.outcome.overflowed += 1;
                    let stop = descend_by_jumps(start, self.base_bits)?;
                    sum = sum.wrapping_add(stop as u64);
                    self.outcome.finished += 1;
                    continue;
                }
                let next = jumped(value, self.prepared.jumps[value as usize & self.mask], self.base_bits);
                let alive = next >= start;
                sum = sum.wrapping_add(if alive { 0 } else { next as u64 });
                self.values[kept & (LANES - 1)] = next;
                self.starts[kept & (LANES - 1)] = start;
                kept += usize::from(alive);
            }
            self.outcome.checksum = self.outcome.checksum.wrapping_add(sum);
            len = kept;
        }
        Ok(())
    }
}

/// `B[l]·h + C[l]`; exact while the result is below `2^128`.
#[inline]
fn jumped(value: u128, jump: u64, base_bits: u32) -> u128 {
    let high = value >> base_bits;
    let (factor, addend) = (jump & 0xffff_ffff, jump >> 32);
    let low = u128::from(high as u64) * u128::from(factor) + u128::from(addend);
    low.wrapping_add(u128::from(((high >> 64) as u64).wrapping_mul(factor)) << 64)
}

/// Table S, from the folder of cached tables if there is one.
pub(super) fn mandatory(sieve_bits: u32, cache: Option<&std::path::Path>) -> Result<Mandatory> {
    match cache {
        Some(folder) => Ok(crate::tables::open_mandatory(sieve_bits, folder)?.0),
        None => Mandatory::new(sieve_bits),
    }
}
