//! A batch of tested starts on their way down. It jumps over arrays, so that many multiplications are in flight.

use std::array;

use super::vectors::{Highest, Late, VALUE_BITS};
use crate::dfs::{Jump, Jumps, RHO_ONE, log2_up};

/// Lanes of a batch. With the table of jumps they fit the first-level cache.
const LANES: usize = 512;
/// Base bits of the jumps.
pub(super) const BASE_BITS: u32 = 12;
const ENTRIES: usize = 1 << BASE_BITS;
const LOW: usize = ENTRIES - 1;

/// `log2(3^c/2^d)` of a jump with `c` odd steps, rounded up.
pub(super) fn heights() -> [i32; 16] {
    array::from_fn(|odd_steps| log2_up(odd_steps as u32, BASE_BITS))
}

/// The limits of a batch for a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// `ρ` up to which a jump cannot leave 128 bits.
    highest: i32,
}

impl Limits {
    /// For starts below `end`: a value is below `n·2^ρ·(1 + c/3n)`, and one jump adds at most `d·(log2(3) − 1)` to `ρ`.
    pub(super) fn new(end: u128) -> Self {
        Self { highest: Self::within(end, 128, 1) }
    }

    /// The `ρ` up to which `jumps` jumps cannot leave `bits` bits.
    fn within(end: u128, width: i32, jumps: i32) -> i32 {
        let bits = 128 - end.leading_zeros();
        let room = (width - 1 - bits as i32) * RHO_ONE - RHO_ONE / 8;
        room - jumps * log2_up(BASE_BITS, BASE_BITS)
    }

    /// The same limits for vectors.
    pub(super) fn highest(self, end: u128) -> Highest {
        Highest { width: Self::within(end, VALUE_BITS as i32, 2), report: self.highest }
    }

    /// Also reports starts that are this many bits above themselves.
    pub(super) fn at_most(self, climb: f64) -> Self {
        Self { highest: self.highest.min((climb * f64::from(RHO_ONE)).floor() as i32) }
    }

    /// Are `jumps` jumps from `rho` safe without a check?
    pub(super) fn allow(self, rho: i32, jumps: u32) -> bool {
        jumps == 0
            || i64::from(rho) + i64::from(jumps - 1) * i64::from(log2_up(BASE_BITS, BASE_BITS)) <= self.highest.into()
    }
}

/// Shows `put` the starts of a word of candidates: for each bit `b`, the value `value + b·step`, at `offset + b·stride`. Returns the sum of
/// the values' low 64 bits.
#[inline]
pub(super) fn starts(
    mut bits: u64,
    (value, step): (u128, u64),
    (offset, stride): (u64, u64),
    mut put: impl FnMut(u128, u64),
) -> u64 {
    let mut sum = 0u64;
    while bits != 0 {
        let bit = u64::from(bits.trailing_zeros());
        bits &= bits - 1;
        let start = value + u128::from(step) * u128::from(bit);
        sum = sum.wrapping_add(start as u64);
        put(start, offset.wrapping_add(bit * stride));
    }
    sum
}

/// Starts in flight, each with its value, its height and its place.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    jumps: &'a [Jump; ENTRIES],
    /// `log2(3^c/2^d)` of a jump with `c` odd steps, rounded up.
    heights: [i32; 16],
    /// Jumps that the look-ahead covers.
    unconditional: u32,
    /// Further jumps until a start is reported.
    patience: u32,
    limits: Limits,
    len: usize,
    values: [u128; LANES],
    rhos: [i32; LANES],
    /// Places in `offsets`.
    ids: [u16; LANES],
    offsets: [u64; LANES],
    /// Offsets of the starts that are too high, or too long on their way.
    pub(super) reported: Vec<u64>,
}

impl<'a> Lanes<'a> {
    /// No starts yet. None if the table has other base bits than [`BASE_BITS`].
    pub(super) fn new(jumps: &'a Jumps, unconditional: u32, patience: u32, limits: Limits) -> Option<Self> {
        Some(Self {
            jumps: jumps.entries().try_into().ok()?,
            heights: heights(),
            unconditional,
            patience,
            limits,
            len: 0,
            values: [0; LANES],
            rhos: [0; LANES],
            ids: [0; LANES],
            offsets: [0; LANES],
            reported: Vec::new(),
        })
    }

    /// Adds the [`starts`] of a word of candidates.
    #[inline]
    pub(super) fn push(&mut self, bits: u64, value: u128, step: u64, rho: i32, offset: u64, stride: u64) -> u64 {
        if self.len > LANES - 64 {
            self.run();
        }
        let mut len = self.len;
        let sum = starts(bits, (value, step), (offset, stride), |start, offset| {
            let lane = len & (LANES - 1);
            self.values[lane] = start;
            self.offsets[lane] = offset;
            self.rhos[lane] = rho;
            len += 1;
        });
        self.len = len;
        sum
    }

    /// Adds a start that is on its way.
    pub(super) fn resume(&mut self, late: &Late) {
        if self.len == LANES {
            self.run();
        }
        self.values[self.len] = late.value;
        self.rhos[self.len] = late.rho;
        self.offsets[self.len] = late.offset;
        self.len += 1;
    }

    /// Takes every start to its end.
    pub(super) fn run(&mut self) {
        let mut len = self.len.min(LANES);
        for (id, place) in self.ids[..len].iter_mut().enumerate() {
            *place = id as u16;
        }
        for _ in 0..self.unconditional {
            for (value, rho) in self.values[..len].iter_mut().zip(&mut self.rhos[..len]) {
                let jump = self.jumps[*value as usize & LOW];
                *value = jumped(*value, jump);
                *rho += self.heights[(jump.odd_steps() & 15) as usize];
            }
        }
        for _ in 0..self.patience {
            if len == 0 {
                break;
            }
            len = self.round(len);
        }
        self.reported.extend(self.ids[..len].iter().map(|id| self.offsets[usize::from(*id) & (LANES - 1)]));
        self.len = 0;
    }

    /// One jump for each of `len` lanes. Lanes that need no further jump leave; returns how many remain.
    #[inline]
    fn round(&mut self, len: usize) -> usize {
        let mut kept = 0;
        for lane in 0..len.min(LANES) {
            let value = self.values[lane];
            let rho = self.rhos[lane];
            let id = self.ids[lane];
            let jump = self.jumps[value as usize & LOW];
            let mut alive = rho >= jump.threshold();
            if rho > self.limits.highest && alive {
                self.reported.push(self.offsets[usize::from(id) & (LANES - 1)]);
                alive = false;
            }
            let place = kept & (LANES - 1);
            self.values[place] = jumped(value, jump);
            self.rhos[place] = rho + self.heights[(jump.odd_steps() & 15) as usize];
            self.ids[place] = id;
            kept += usize::from(alive);
        }
        kept
    }
}

/// `T^d(value)`; exact while the result is below `2^128`.
#[inline]
fn jumped(value: u128, jump: Jump) -> u128 {
    let high = value >> BASE_BITS;
    let low = u128::from(high as u64) * u128::from(jump.factor()) + u128::from(jump.addend());
    low.wrapping_add(u128::from(((high >> 64) as u64).wrapping_mul(jump.factor())) << 64)
}
