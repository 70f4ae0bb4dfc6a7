//! The independent path: the starts that a plan tests, and their figures, from the rules' words alone.
//!
//! It shares no code with the engines: no jump tables, no look-ahead bits, no heights in floating point, no state of the rules. It
//! remembers the parity of every step, and judges each rule from that history with exact powers. [`crate::number`] follows the
//! starts step by step. It is some hundred times slower than an engine. `check` and the samples of every certificate use it
//! ([`crate::scheme::Method::recompute`]).

use rayon::prelude::*;

use crate::{
    alpha, dfs,
    engine::{Control, Outcome},
    error::Result,
    heights::{Heights, Peak},
    honda,
    number::{Descent, Value, descend},
    rules::FLOOR,
    window::Window,
};

/// Which steps were odd (bit `j` for step `j` since the origin), and the counts of steps before the origin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    odd: u128,
    steps: u32,
    before_steps: u32,
    before_odd: u32,
}

impl History {
    fn with(mut self, odd: bool) -> Self {
        self.odd |= u128::from(odd) << self.steps;
        self.steps += 1;
        self
    }

    /// Forgets the steps, but not how many there were.
    fn afresh(self) -> Self {
        let before_steps = self.before_steps + self.steps;
        Self { odd: 0, steps: 0, before_steps, before_odd: self.before_odd + self.odd.count_ones() }
    }

    fn was_odd(&self, step: u32) -> bool {
        self.odd >> step & 1 == 1
    }

    /// Is `3^c·3^less < 2^i·2^more`, for the first `steps` steps, `c` of them odd, and `i = steps`, both with the counts before the origin?
    fn below(&self, steps: u32, fewer_odd: u32, more_steps: i32) -> bool {
        let odd = (self.odd & ((1u128 << steps) - 1)).count_ones() + self.before_odd - fewer_odd;
        let total = (self.before_steps + steps).saturating_add_signed(more_steps);
        3u128.pow(odd) < 1u128 << total
    }

    /// Does a rule remove the start at the newest step?
    fn removed(&self, all_rules: bool) -> bool {
        if self.below(self.steps, 0, 0) {
            return true;
        }
        let mut evens = 0;
        while evens < self.steps && !self.was_odd(self.steps - 1 - evens) {
            evens += 1;
        }
        // No odd step in sight: the steps before are not known.
        if !all_rules || evens < 2 || evens == self.steps {
            return false;
        }
        if evens % 2 == 0 && self.below(self.steps, 1, -1) {
            return true;
        }
        let mut step = self.steps - evens;
        while evens == 2 && step > 0 && self.was_odd(step - 1) {
            step -= 1;
            if self.below(step, 0, 1) {
                return true;
            }
        }
        false
    }
}

/// A scheme's questions about a start, from its description alone.
pub(crate) trait Judge: Copy + Sync {
    /// Do rules 3 and 4 apply, too?
    const ALL_RULES: bool = false;

    /// Steps after which the history is judged no more.
    fn depth(self, history: &History) -> u32;

    /// The history from which the next step is judged.
    fn refreshed(self, history: History) -> History {
        history
    }

    /// One step more; none if a rule removes the start.
    fn advance(self, history: History, odd: bool) -> Option<History> {
        let history = history.with(odd);
        (!history.removed(Self::ALL_RULES)).then(|| self.refreshed(history))
    }

    /// Is a start tested that survives the rules?
    fn takes(self, _start: u128) -> bool {
        true
    }

    /// The highest value of a tested start.
    fn peak(self, start: u128, descent: &Descent) -> Result<Peak> {
        Ok(Peak { start, value: descent.highest.to_ubig() })
    }

    /// The start's share of the checksum.
    fn share(self, start: u128, descent: &Descent) -> u64;

    /// The start's share of the figures.
    fn follow(self, start: u128, outcome: &mut Outcome) -> Result<()> {
        let descent = descend(start)?;
        outcome.tested += 1;
        outcome.checksum = outcome.checksum.wrapping_add(self.share(start, &descent));
        outcome.heights.see(self.peak(start, &descent)?);
        Ok(())
    }
}

impl Judge for dfs::Plan {
    const ALL_RULES: bool = true;

    fn depth(self, history: &History) -> u32 {
        if history.before_steps == 0 && history.steps < self.leaf_bits {
            return u32::MAX;
        }
        self.leaf_bits + self.lookahead(history.before_odd)
    }

    fn refreshed(self, history: History) -> History {
        if history.before_steps == 0 && history.steps == self.leaf_bits { history.afresh() } else { history }
    }

    fn takes(self, start: u128) -> bool {
        start % 3 != 2 && start % 9 != 4
    }

    fn peak(self, start: u128, _: &Descent) -> Result<Peak> {
        Peak::of(start)
    }

    fn share(self, start: u128, _: &Descent) -> u64 {
        after(Value::Narrow(start), self.leaf_bits).low()
    }
}

impl Judge for honda::Plan {
    fn depth(self, _: &History) -> u32 {
        self.sieve_bits
    }

    fn share(self, start: u128, descent: &Descent) -> u64 {
        // The first whole number of jumps after which the value is below: not before the glide's end.
        let (mut value, mut taken) = (Value::Narrow(start), 0);
        while taken < descent.steps || !value.is_below(start) {
            value = after(value, self.base_bits);
            taken += u64::from(self.base_bits);
        }
        value.low()
    }
}

impl Judge for alpha::Plan {
    fn depth(self, _: &History) -> u32 {
        self.sieve_bits
    }

    fn takes(self, start: u128) -> bool {
        let modulus_leaves = match self.modulus {
            1 => true,
            3 => start % 3 != 2,
            _ => start % 3 != 2 && start % 9 != 4,
        };
        modulus_leaves && !merges(start % (1 << self.sieve_bits), self.sieve_bits)
    }

    fn share(self, _: u128, descent: &Descent) -> u64 {
        // Each α is the length of an odd run.
        descent.odd_steps
    }
}

/// `T` applied `steps` times.
fn after(value: Value, steps: u32) -> Value {
    (0..steps).fold(value, |value, _| value.step().0)
}

/// Does a smaller residue lead to the same state in as many steps, as many of them odd (rule 2)? It is sought backwards.
fn merges(residue: u128, bits: u32) -> bool {
    let mut value = residue;
    let mut odd_steps = 0;
    for _ in 0..bits {
        if value % 2 == 1 {
            value += value / 2 + 1;
            odd_steps += 1;
        } else {
            value /= 2;
        }
    }
    smaller_reaches(value, bits, odd_steps, residue)
}

fn smaller_reaches(state: u128, steps: u32, odd_steps: u32, residue: u128) -> bool {
    if steps == 0 {
        return odd_steps == 0 && state < residue;
    }
    let odd = odd_steps > 0
        && (2 * state) % 3 == 1
        && smaller_reaches((2 * state - 1) / 3, steps - 1, odd_steps - 1, residue);
    // With no even step left all the others must be odd.
    odd || odd_steps < steps && smaller_reaches(2 * state, steps - 1, odd_steps, residue)
}

/// Low bits that make a task.
const TASK_BITS: u32 = 12;

/// The figures of a window under a plan. `overflowed` and `finished` are zero: nothing overflows here.
///
/// # Errors
/// [`crate::Error::NoDescent`], [`crate::Error::Stopped`].
pub(crate) fn recompute(scheme: impl Judge, window: &Window, control: &Control) -> Result<Outcome> {
    let (low, high) = window.split_at(FLOOR);
    let mut outcome = Outcome::none();
    if let Some(low) = low {
        let starts = (low.from() as u64..low.end() as u64).into_par_iter();
        outcome.heights = Heights::follow(starts.map(u128::from))?;
        outcome.plain = low.count() as u64;
    }
    let Some(high) = high else { return Ok(outcome) };
    let sum = (0..1u128 << TASK_BITS)
        .into_par_iter()
        .map(|residue| -> Result<Outcome> {
            control.check()?;
            let mut outcome = Outcome::none();
            // The low bits one after the other: a task is dead as soon as they are.
            let mut history = Some(scheme.refreshed(History::default()));
            let mut value = residue;
            for _ in 0..TASK_BITS {
                let odd = value & 1 == 1;
                value = if odd { value + value / 2 + 1 } else { value / 2 };
                history = match history {
                    Some(history) if history.before_steps + history.steps < scheme.depth(&history) => {
                        scheme.advance(history, odd)
                    }
                    other => other,
                };
            }
            if let Some(history) = history {
                descend_tree(scheme, &high, residue, TASK_BITS, value, history, control, &mut outcome)?;
            }
            control.advance(1, 1 << TASK_BITS);
            Ok(outcome)
        })
        .try_reduce(Outcome::none, |mut sum, part| {
            sum.add(&part);
            Ok(sum)
        })?;
    outcome.add(&sum);
    Ok(outcome)
}

/// All starts of the window that agree with `residue` in `bits` low bits; `state` is `T^bits(residue)`.
#[allow(clippy::too_many_arguments, reason = "the state of a recursion")]
fn descend_tree(
    scheme: impl Judge,
    window: &Window,
    residue: u128,
    bits: u32,
    state: u128,
    history: History,
    control: &Control,
    outcome: &mut Outcome,
) -> Result<()> {
    let modulus = 1u128 << bits;
    let first = window.from() + ((residue + modulus - window.from() % modulus) % modulus);
    if first >= window.end() {
        return Ok(());
    }
    let total = history.before_steps + history.steps;
    // Alone in the window, or all bits judged: one start after the other.
    if first + modulus >= window.end() || total >= scheme.depth(&history) || bits == 60 {
        control.check()?;
        let mut start = first;
        while start < window.end() {
            if scheme.takes(start) && survives(scheme, start, history, bits) {
                scheme.follow(start, outcome)?;
            }
            start += modulus;
        }
        return Ok(());
    }
    let odd_steps = history.before_odd + history.odd.count_ones();
    for bit in [0, 1] {
        let value = state + bit * 3u128.pow(odd_steps);
        let odd = value % 2 == 1;
        let Some(history) = scheme.advance(history, odd) else { continue };
        let state = if odd { value + value / 2 + 1 } else { value / 2 };
        descend_tree(scheme, window, residue + bit * modulus, bits + 1, state, history, control, outcome)?;
    }
    Ok(())
}

/// Does the start survive the steps from `taken` on?
fn survives(scheme: impl Judge, start: u128, mut history: History, taken: u32) -> bool {
    if history.before_steps + history.steps >= scheme.depth(&history) {
        return true;
    }
    let mut value = after(Value::Narrow(start), taken);
    while history.before_steps + history.steps < scheme.depth(&history) {
        let (next, odd) = value.step();
        value = next;
        match scheme.advance(history, odd) {
            Some(advanced) => history = advanced,
            None => return false,
        }
    }
    true
}
