//! The depth-first scheme: it makes leaves on the way, keeps candidates as bits, and jumps in batches.

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use warpmp_simd::{Ifma, Simd as _};

use super::{
    finish,
    lanes::{BASE_BITS, Lanes, Limits, heights},
    simd::pool::Pool,
    vectors::MOST_JUMPS,
};
use crate::{
    dfs::{Jump, Jumps, Lookahead, Plan, log2_up},
    engine::{Control, Outcome},
    error::Result,
    heights::{Heights, bound, climb},
    power::pow3,
    rules::{Origin, Path, RuleSet, mod9_removes, prefixes},
    window::Window,
};

/// Words of candidates that are read without a wrap.
const RUN: u64 = 16;
/// Starts between two updates of the progress: a larger window is done in parts.
const PART_BITS: u32 = 44;

/// The tables of a plan.
#[derive(Debug)]
pub(crate) struct Prepared {
    plan: Plan,
    prefixes: Vec<Path>,
    /// By odd steps; none below the least possible.
    lookaheads: Vec<Option<Lookahead>>,
    jumps: Jumps,
    vectors: Option<Ifma>,
    /// Bit `b` of word `r`: is `r + b·2^L mod 9` a residue that is tested?
    mod9: [u64; 9],
}

impl Prepared {
    pub(crate) fn new(plan: &Plan) -> Self {
        let leaf_bits = plan.leaf_bits;
        let lookahead = |odd_steps| {
            (odd_steps >= plan.least_odd_steps())
                .then(|| Lookahead::new(leaf_bits, odd_steps, plan.lookahead(odd_steps)))
        };
        let stride = pow_mod9(leaf_bits);
        let word =
            |first: u32| (0..64).filter(|bit| !mod9_removes((first + bit * stride) % 9)).fold(0, |w, b| w | 1 << b);
        Self {
            plan: *plan,
            prefixes: prefixes(leaf_bits as usize, Origin::START, RuleSet::ALL),
            lookaheads: (0..=leaf_bits).map(lookahead).collect(),
            jumps: Jumps::new(BASE_BITS),
            vectors: Ifma::detect(),
            mod9: std::array::from_fn(|first| word(first as u32)),
        }
    }

    /// Without vectors, even where there are some.
    pub(super) fn portable(self) -> Self {
        Self { vectors: None, ..self }
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All starts of the window, which lies above the floor.
    pub(super) fn run(&self, window: &Window, control: &Control) -> Result<Outcome> {
        let mut outcome = Outcome::none();
        let (mut from, end) = (window.from(), window.end());
        let parts = (window.count() >> PART_BITS) as u64 + 1;
        while let Some(part) = Window::of(from..end.min(from + (1 << PART_BITS))) {
            let tasks = self.prefixes.len() as u64 * parts;
            let done = self
                .prefixes
                .par_iter()
                .map(|prefix| {
                    control.check()?;
                    let done = Walk::new(self, &part).map_or_else(|| Ok(Outcome::none()), |walk| walk.run(prefix));
                    control.advance(1, tasks);
                    done
                })
                .try_reduce(Outcome::none, |mut sum, part| {
                    sum.add(&part);
                    Ok(sum)
                })?;
            outcome.add(&done);
            let bound = bound(part.end() - 1, climb(part.count(), self.plan.leaf_bits), BASE_BITS);
            outcome.heights.add(&Heights::of(None, bound));
            from = part.end();
        }
        Ok(outcome)
    }

    /// Calls `visit` with every start of the window that the scheme tests, in no particular order. For checks.
    pub(crate) fn tested(&self, window: &Window, visit: &mut impl FnMut(u128)) {
        let Some(mut walk) = Walk::new(self, window) else { return };
        for prefix in &self.prefixes {
            prefix.walk(self.plan.leaf_bits as usize, Origin::START, RuleSet::ALL, &mut |leaf| {
                walk.candidates(leaf, &mut |walk, run| {
                    let mut bits = run.bits;
                    while bits != 0 {
                        let upper = u64::from(bits.trailing_zeros());
                        let offset = run.offset.wrapping_add(upper << walk.prepared.plan.leaf_bits);
                        visit(walk.window.from() + u128::from(offset));
                        bits &= bits - 1;
                    }
                });
            });
        }
    }
}

fn pow_mod9(exponent: u32) -> u32 {
    (0..exponent).fold(1, |power, _| power * 2 % 9)
}

/// The common values of a class of leaves within a window.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// `3^c`.
    step: u64,
    /// `3^c` times the first upper number.
    base: u128,
    rho: i32,
    /// Can the values leave 128 bits before the first check?
    wide: bool,
    /// Which of the two batches.
    rare: bool,
    /// Does it run in vectors?
    pooled: bool,
}

/// Up to 64 candidates in a row.
#[derive(Clone, Copy, Debug)]
struct Run {
    bits: u64,
    /// `T^L` of the start that bit 0 stands for, mod `2^128`.
    value: u128,
    /// That start, counted from the window's first start. Bit 0 may stand for a number before or after the window.
    offset: u64,
}

/// One task: leaves under a prefix, for one window.
struct Walk<'a> {
    prepared: &'a Prepared,
    window: Window,
    classes: Vec<Class>,
    /// The upper number of the window's first start, and that start's low bits.
    first_low: u64,
    /// Upper numbers past the first, and low bits of the window's end.
    uppers: u64,
    end_low: u64,
    /// `2^L·first` mod 9.
    first_mod9: u64,
    stride_mod9: u64,
    main: Lanes<'a>,
    rare: Lanes<'a>,
    /// The starts in vectors, and the starts that vectors give back.
    pool: Option<(Box<Pool>, &'a [Jump; 1 << BASE_BITS])>,
    late: Lanes<'a>,
    outcome: Outcome,
    wide: Vec<u64>,
}

impl<'a> Walk<'a> {
    fn new(prepared: &'a Prepared, window: &Window) -> Option<Self> {
        let plan = &prepared.plan;
        let leaf_bits = plan.leaf_bits;
        let mask = (1u128 << leaf_bits) - 1;
        let first = window.from() >> leaf_bits;
        let limits = Limits::new(window.end()).at_most(climb(window.count(), leaf_bits));
        let main_jumps = plan.lookahead_bits / BASE_BITS;
        let rare_jumps = plan.rare_lookahead_bits / BASE_BITS;
        let highest = limits.highest(window.end());
        let pool = match prepared.vectors {
            Some(vectors) => {
                Some((Box::new(Pool::new(vectors, heights(), highest)), prepared.jumps.entries().try_into().ok()?))
            }
            None => None,
        };
        let classes = (0..=leaf_bits).map(|odd_steps| {
            let rare = odd_steps >= plan.least_odd_steps() + plan.main_classes;
            let step = pow3(odd_steps as usize);
            let rho = log2_up(odd_steps, leaf_bits);
            Class {
                step: step as u64,
                base: step.wrapping_mul(first),
                rho,
                // The values themselves must fit even without any jump: so one jump more than those without a check.
                wide: !limits.allow(rho, if rare { rare_jumps } else { main_jumps } + 1),
                rare,
                pooled: pool.is_some() && rho <= highest.width.min(highest.report),
            }
        });
        Some(Self {
            prepared,
            window: *window,
            classes: classes.collect(),
            first_low: (window.from() & mask) as u64,
            uppers: ((window.end() >> leaf_bits) - first) as u64,
            end_low: (window.end() & mask) as u64,
            first_mod9: ((first % 9) as u64 * u64::from(pow_mod9(leaf_bits))) % 9,
            // 64 ≡ 1 mod 9: a word further is as a step further.
            stride_mod9: u64::from(pow_mod9(leaf_bits)),
            main: Lanes::new(&prepared.jumps, main_jumps, Jumps::LIMIT, limits)?,
            rare: Lanes::new(&prepared.jumps, rare_jumps, Jumps::LIMIT, limits)?,
            pool,
            late: Lanes::new(&prepared.jumps, 0, Jumps::LIMIT - MOST_JUMPS, limits)?,
            outcome: Outcome::none(),
            wide: Vec::new(),
        })
    }

    fn run(mut self, prefix: &Path) -> Result<Outcome> {
        let reported = self.reported(prefix);
        self.outcome.add(&finish::wide(reported)?);
        Ok(self.outcome)
    }

    /// Tests all starts, and returns the starts that the host has to follow step by step.
    fn reported(&mut self, prefix: &Path) -> Vec<u128> {
        let leaf_bits = self.prepared.plan.leaf_bits;
        prefix.walk(leaf_bits as usize, Origin::START, RuleSet::ALL, &mut |leaf| {
            let class = self.classes[usize::from(leaf.odd_steps)];
            self.candidates(leaf, &mut |walk, run| walk.test(class, run));
        });
        if let Some((pool, jumps)) = &mut self.pool {
            pool.finish(jumps);
            pool.late.iter().for_each(|late| self.late.resume(late));
            self.wide.append(&mut pool.reported);
        }
        let batches = [&mut self.main, &mut self.rare, &mut self.late].map(|batch| {
            batch.run();
            &batch.reported
        });
        let reported = self.wide.iter().chain(batches.into_iter().flatten());
        let from = self.window.from();
        reported.map(|offset| from + u128::from(*offset)).collect()
    }

    #[inline]
    fn test(&mut self, class: Class, run: Run) {
        self.outcome.tested += u64::from(run.bits.count_ones());
        let leaf_bits = self.prepared.plan.leaf_bits;
        if class.wide {
            let mut bits = run.bits;
            while bits != 0 {
                let bit = u64::from(bits.trailing_zeros());
                bits &= bits - 1;
                let low = (run.value as u64).wrapping_add(class.step.wrapping_mul(bit));
                self.outcome.checksum = self.outcome.checksum.wrapping_add(low);
                self.wide.push(run.offset.wrapping_add(bit << leaf_bits));
            }
            return;
        }
        if let Some((pool, jumps)) = self.pool.as_mut().filter(|_| class.pooled) {
            let sum = pool.push(jumps, run.bits, (run.value, class.step), class.rho, (run.offset, 1 << leaf_bits));
            self.outcome.checksum = self.outcome.checksum.wrapping_add(sum);
            return;
        }
        let lanes = if class.rare { &mut self.rare } else { &mut self.main };
        let sum = lanes.push(run.bits, run.value, class.step, class.rho, run.offset, 1 << leaf_bits);
        self.outcome.checksum = self.outcome.checksum.wrapping_add(sum);
    }

    /// Shows `visit` the candidates of a leaf that the plan tests, in runs that are not empty.
    #[inline]
    fn candidates(&mut self, leaf: &Path, visit: &mut impl FnMut(&mut Self, Run)) {
        let prepared = self.prepared;
        let odd_steps = usize::from(leaf.odd_steps);
        let Some(Some(lookahead)) = prepared.lookaheads.get(odd_steps) else { return };
        let class = self.classes[odd_steps];
        let leaf_bits = prepared.plan.leaf_bits;
        // The upper numbers whose start lies in the window, counted from the first.
        let low = u64::from(leaf.residue < self.first_low);
        let high = self.uppers + u64::from(leaf.residue < self.end_low);
        let mut value = class.base.wrapping_add(leaf.state.into());
        let mut offset = leaf.residue.wrapping_sub(self.first_low);
        let mut mod9 = (leaf.residue % 9 + self.first_mod9) % 9;
        let mut index = lookahead.index(value as u64);
        let mut upper = 0;
        while upper < high {
            let words = &lookahead.words()[(index >> 6) as usize..][..=RUN as usize];
            let shift = index & 63;
            let count = RUN.min((high - upper).div_ceil(64));
            for word in 0..count as usize {
                let mut bits = words[word] >> shift | (words[word + 1] << 1) << (63 - shift);
                bits &= prepared.mod9[mod9 as usize];
                if upper < low {
                    bits &= !1;
                }
                if high - upper < 64 {
                    bits &= (1 << (high - upper)) - 1;
                }
                if bits != 0 {
                    visit(self, Run { bits, value, offset });
                }
                mod9 += self.stride_mod9;
                mod9 -= if mod9 >= 9 { 9 } else { 0 };
                value = value.wrapping_add(u128::from(class.step) << 6);
                offset = offset.wrapping_add(64 << leaf_bits);
                upper += 64;
            }
            index = (index + RUN * 64) & ((1 << lookahead.bits()) - 1);
        }
    }
}
