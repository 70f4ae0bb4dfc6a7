//! The map itself, one step at a time and as wide as it takes: every scheme is compared with it.
//!
//! Values are 128 bits wide while they fit, and unbounded integers after that; no step is ever taken inexactly.

use dashu_int::UBig;

use crate::error::{Allowed, Error, Result};

/// Largest value whose odd step fits 128 bits.
const NARROW: u128 = (u128::MAX - 1) / 3;

/// A number at the present point of its trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Below `2^128`.
    Narrow(u128),
    /// Any size.
    Wide(UBig),
}

impl Value {
    /// The value `T(self)`, and whether the step was odd.
    pub fn step(self) -> (Self, bool) {
        match self {
            Self::Narrow(value) if value & 1 == 0 => (Self::Narrow(value >> 1), false),
            Self::Narrow(value) if value <= NARROW => (Self::Narrow((3 * value + 1) >> 1), true),
            Self::Narrow(value) => (Self::from(((UBig::from(value) * 3u8) + 1u8) >> 1), true),
            Self::Wide(value) if is_odd(&value) => (Self::from((value * 3u8 + 1u8) >> 1), true),
            Self::Wide(value) => (Self::from(value >> 1), false),
        }
    }

    /// Is the value odd?
    fn is_odd(&self) -> bool {
        match self {
            Self::Narrow(value) => value & 1 == 1,
            Self::Wide(value) => is_odd(value),
        }
    }

    /// Three times the value and one.
    fn tripled(&self) -> Self {
        match self {
            Self::Narrow(value) if *value <= NARROW => Self::Narrow(3 * value + 1),
            Self::Narrow(value) => Self::from(UBig::from(*value) * 3u8 + 1u8),
            Self::Wide(value) => Self::from(value * 3u8 + 1u8),
        }
    }

    /// Half of an even value.
    fn halved(self) -> Self {
        match self {
            Self::Narrow(value) => Self::Narrow(value >> 1),
            Self::Wide(value) => Self::from(value >> 1),
        }
    }

    /// Is the value below `start`?
    pub fn is_below(&self, start: u128) -> bool {
        matches!(self, Self::Narrow(value) if *value < start)
    }

    /// The value as an integer without bounds.
    pub fn to_ubig(&self) -> UBig {
        match self {
            Self::Narrow(value) => UBig::from(*value),
            Self::Wide(value) => value.clone(),
        }
    }

    /// The low 64 bits.
    pub fn low(&self) -> u64 {
        match self {
            Self::Narrow(value) => *value as u64,
            Self::Wide(value) => (value & UBig::from(u64::MAX)).try_into().unwrap_or(0),
        }
    }
}

impl From<UBig> for Value {
    fn from(value: UBig) -> Self {
        match u128::try_from(&value) {
            Ok(narrow) => Self::Narrow(narrow),
            Err(_) => Self::Wide(value),
        }
    }
}

fn is_odd(value: &UBig) -> bool {
    use dashu_int::ops::BitTest as _;
    value.bit(0)
}

/// A whole trajectory in figures. All steps are single: `3n+1` for odd `n`, `n/2` for even `n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The start.
    pub start: UBig,
    /// Steps `n/2` down to 1. Steps of `T(n) = n/2` or `(3n+1)/2` are as many.
    pub even_steps: u64,
    /// Steps `3n+1` down to 1.
    pub odd_steps: u64,
    /// Steps until the value is below the start; 0 for the start 1, whose values never are.
    pub glide: u64,
    /// The highest value. Lists that use `T` have half of this value, for starts above 2.
    pub highest: UBig,
    /// Did a value exceed 128 bits?
    pub wide: bool,
}

impl Trace {
    /// The delay: steps down to 1.
    pub fn delay(&self) -> u64 {
        self.even_steps + self.odd_steps
    }
}

/// Follows `start` down to 1.
///
/// `each` sees the value after every single step, and may stop the walk by returning false.
///
/// # Errors
/// [`Error::ZeroStart`]; [`Error::Stopped`] if `each` says so.
pub fn trace(start: u128, each: impl FnMut(&Value) -> bool) -> Result<Trace> {
    trace_any(&start.into(), each)
}

/// As [`trace`], for a start of any length. The time grows with the square of the length.
///
/// # Errors
/// As [`trace`].
pub fn trace_any(start: &UBig, mut each: impl FnMut(&Value) -> bool) -> Result<Trace> {
    let start = Value::from(start.clone());
    if start == Value::Narrow(0) {
        return Err(Error::ZeroStart);
    }
    let mut trace = Trace {
        start: start.to_ubig(),
        even_steps: 0,
        odd_steps: 0,
        glide: 0,
        highest: UBig::ZERO,
        wide: matches!(start, Value::Wide(_)),
    };
    let (mut value, mut highest) = (start.clone(), start.clone());
    while value != Value::Narrow(1) {
        let next = if value.is_odd() {
            trace.odd_steps += 1;
            value.tripled()
        } else {
            trace.even_steps += 1;
            value.halved()
        };
        if exceeds(&next, &highest) {
            highest = next.clone();
        }
        trace.wide |= matches!(next, Value::Wide(_));
        if trace.glide == 0 && exceeds(&start, &next) {
            trace.glide = trace.delay();
        }
        if !each(&next) {
            return Err(Error::Stopped);
        }
        value = next;
    }
    trace.highest = highest.to_ubig();
    Ok(trace)
}

fn exceeds(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Narrow(a), Value::Narrow(b)) => a > b,
        (Value::Wide(a), Value::Wide(b)) => a > b,
        (a, _) => matches!(a, Value::Wide(_)),
    }
}

/// After these steps a start that has not come below itself is reported and followed no more. The longest known glide below
/// `2^71` has fewer than 2000 steps.
pub const PATIENCE: u64 = 1_000_000;

/// How a start came below itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descent {
    /// Steps of `T` on the way.
    pub steps: u64,
    /// The odd ones among them.
    pub odd_steps: u64,
    /// The first value below the start.
    pub below: u128,
    /// The highest value of `T` on the way, the start included.
    pub highest: Value,
}

/// Follows `start` until it is below itself. The start 1 counts as done at once.
///
/// # Errors
/// [`Error::ZeroStart`]; [`Error::NoDescent`] after [`PATIENCE`] steps.
pub fn descend(start: u128) -> Result<Descent> {
    match start {
        0 => return Err(Error::ZeroStart),
        1 => return Ok(Descent { steps: 0, odd_steps: 0, below: 1, highest: Value::Narrow(1) }),
        _ => {}
    }
    let mut value = Value::Narrow(start);
    let mut highest = Value::Narrow(start);
    let mut odd_steps = 0;
    for steps in 1..=PATIENCE {
        let (next, odd) = value.step();
        value = next;
        odd_steps += u64::from(odd);
        if let Value::Narrow(below) = value
            && below < start
        {
            return Ok(Descent { steps, odd_steps, below, highest });
        }
        if exceeds(&value, &highest) {
            highest = value.clone();
        }
    }
    Err(Error::NoDescent { start, steps: PATIENCE })
}

/// `T^steps` of the residue class: `n = residue + q·2^steps` has `T^steps(n) = value + q·3^odd_steps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Steps taken.
    pub steps: u32,
    /// Odd steps among them: `c`.
    pub odd_steps: u32,
    /// `T^steps(residue)`: `d`, below `3^c`.
    pub value: u128,
}

impl Affine {
    /// Takes `steps` ≤ 80 steps from `residue` < `2^steps`.
    ///
    /// Which steps are odd depends on the low bits alone: if `n ≡ m mod 2^k` with `k ≥ 1`, both are odd or both even,
    /// and `T(n) ≡ T(m) mod 2^(k−1)`, since `T` divides a multiple of `2^k` by 2 (times 3 at an odd step). After
    /// `steps` steps the difference `q·2^steps` has become `q·3^c`. The value stays below `3^c`: with the next bit of the
    /// residue it is at most `2·3^c − 1`; halved it is below `3^c`, and an odd step gives at most
    /// `(3·(2·3^c − 1) + 1)/2 = 3^(c+1) − 1`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for more steps than fit 128 bits.
    pub fn of(residue: u128, steps: u32) -> Result<Self> {
        let high = crate::power::MAX_EXPONENT as u64;
        if u64::from(steps) > high {
            return Err(Error::Parameter { name: "steps", value: steps.into(), allowed: Allowed::AtMost(high.into()) });
        }
        let mut value = residue;
        let mut odd_steps = 0;
        for _ in 0..steps {
            let odd = value & 1 == 1;
            odd_steps += u32::from(odd);
            value = if odd { value + (value >> 1) + 1 } else { value >> 1 };
        }
        Ok(Self { steps, odd_steps, value })
    }
}
