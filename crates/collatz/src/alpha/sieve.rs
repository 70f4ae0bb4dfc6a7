//! Residues that survive descent and same-level merge.
//!
//! A merge at level `j < k` is also a merge at level `k`: both residues get the same upper bits. So a residue is removed if, at level
//! `k`, a smaller residue has its `c` and `T^k`. The sieve asks only about residues that survive descent. All other residues are possible
//! partners, except those with too few odd steps for such a `c`.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use rayon::prelude::*;

use super::Plan;
use crate::{
    error::Result,
    power::{min_odd, pow3},
    tables::{Base, Mandatory},
};

/// Steps of the low part of a residue: all residues with the same low bits share them.
const LOW_BITS: u32 = 24;
/// Bits of `T^k`, below `3^34`; `c` stands above them.
const VALUE_BITS: u32 = 54;

/// The residues of a plan, ascending. Eight bytes each. Making it takes up to 48 bytes for each residue that survives descent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sieve {
    plan: Plan,
    residues: Vec<u64>,
}

impl Sieve {
    /// Makes the sieve: `2^k` short walks, on all cores (a second of a core at 27 bits, some minutes at 34).
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    pub fn new(plan: &Plan) -> Result<Self> {
        let bits = plan.sieve_bits;
        let table = Mandatory::new(bits)?;
        let walk = Walk::new(bits)?;
        let blocks = 0..table.blocks().0;
        // Each (c, T^k) that survives descent, and the smallest of all residues that have it.
        let smallest = Smallest::with_room_for(table.count());
        let ask = |residue| smallest.ask(walk.of(residue));
        blocks.clone().into_par_iter().for_each(|block| table.block(block).for_each(ask));
        walk.all(|key, residue| smallest.see(key, residue));
        let survives = |residue: &u64| smallest.of(walk.of(*residue)) == Some(*residue);
        let residues = blocks.into_par_iter().flat_map_iter(|block| table.block(block).filter(survives)).collect();
        Ok(Self { plan: *plan, residues })
    }

    /// The sieve of a plan, made once for all engines of this process that ask for it one after the other or at the same time.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`].
    pub fn shared(plan: &Plan) -> Result<Arc<Self>> {
        static LAST: Mutex<Option<Arc<Sieve>>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sieve) = last.as_ref().filter(|sieve| sieve.plan == *plan) {
            return Ok(sieve.clone());
        }
        // The old sieve goes first: memory may not hold two.
        *last = None;
        Ok(last.insert(Arc::new(Self::new(plan)?)).clone())
    }

    /// The parameters.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The residues, ascending.
    pub fn residues(&self) -> &[u64] {
        &self.residues
    }
}

/// A map from keys that are not 0 to the smallest residue seen with each, filled by all cores at once.
struct Smallest {
    /// 0: the place is free.
    keys: Vec<AtomicU64>,
    /// The residue, inverted: 0 is larger than all.
    inverted: Vec<AtomicU64>,
    shift: u32,
}

impl Smallest {
    fn with_room_for(count: u64) -> Self {
        let size = (count + count / 2).next_power_of_two().max(2);
        let zeros = || (0..size).into_par_iter().map(|_| AtomicU64::new(0)).collect();
        Self { keys: zeros(), inverted: zeros(), shift: 64 - size.ilog2() }
    }

    /// The places that a key may have, in the order in which they are tried: Fibonacci hashing, then the next ones.
    fn places(&self, key: u64) -> impl Iterator<Item = usize> {
        let first = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        let mask = self.keys.len() - 1;
        (0..=mask).map(move |next| (first + next) & mask)
    }

    /// A key whose smallest residue is asked for later.
    fn ask(&self, key: u64) {
        for place in self.places(key) {
            match self.keys[place].compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(present) if present == key => return,
                Err(_) => {}
            }
        }
    }

    /// Where the key is, if it was asked for.
    fn place(&self, key: u64) -> Option<usize> {
        for place in self.places(key) {
            match self.keys[place].load(Ordering::Relaxed) {
                present if present == key => return Some(place),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    fn see(&self, key: u64, residue: u64) {
        if let Some(place) = self.place(key) {
            self.inverted[place].fetch_max(!residue, Ordering::Relaxed);
        }
    }

    fn of(&self, key: u64) -> Option<u64> {
        self.place(key).map(|place| !self.inverted[place].load(Ordering::Relaxed))
    }
}

/// `k` steps of a residue, to its `c` and `T^k` in one word.
struct Walk {
    /// `k`.
    bits: u32,
    /// Two halves of the low part's steps.
    low: Vec<Base>,
    /// The steps above the low part.
    high: Option<Base>,
}

impl Walk {
    fn new(bits: u32) -> Result<Self> {
        let low = bits.min(LOW_BITS);
        let halves = [low / 2, low - low / 2].map(Base::new);
        let high = (bits > low).then(|| Base::new(bits - low)).transpose()?;
        Ok(Self { bits, low: halves.into_iter().collect::<Result<_>>()?, high })
    }

    fn low_bits(&self) -> u32 {
        self.bits.min(LOW_BITS)
    }

    /// `c` and `T^j` after the low part's `j` steps.
    fn low(&self, low: u64) -> (u32, u64) {
        self.low.iter().fold((0, low), |(odd_steps, value), jump| step(jump, odd_steps, value))
    }

    /// The key of the residue with these upper bits above a low part.
    fn key(&self, (odd_steps, value): (u32, u64), high: u64) -> u64 {
        let value = value + high * pow3(odd_steps as usize) as u64;
        let (odd_steps, value) = match &self.high {
            Some(jump) => step(jump, odd_steps, value),
            None => (odd_steps, value),
        };
        u64::from(odd_steps) << VALUE_BITS | value
    }

    fn of(&self, residue: u64) -> u64 {
        let bits = self.low_bits();
        self.key(self.low(residue & ((1 << bits) - 1)), residue >> bits)
    }

    /// Shows `see` the key of every residue mod `2^k` whose `c` a survivor of descent can have.
    fn all(&self, see: impl Fn(u64, u64) + Sync) {
        let bits = self.low_bits();
        let least = min_odd(self.bits as usize) as u64;
        (0..1u64 << bits).into_par_iter().for_each(|low| {
            let state = self.low(low);
            for high in 0..1u64 << (self.bits - bits) {
                let key = self.key(state, high);
                if key >> VALUE_BITS >= least {
                    see(key, high << bits | low);
                }
            }
        });
    }
}

/// The steps of a jump.
fn step(jump: &Base, odd_steps: u32, value: u64) -> (u32, u64) {
    let bits = jump.base_bits();
    let low = (value & ((1 << bits) - 1)) as usize;
    let value = (value >> bits) * u64::from(jump.factors()[low]) + u64::from(jump.addends()[low]);
    (odd_steps + u32::from(jump.steps()[low]) - bits, value)
}
