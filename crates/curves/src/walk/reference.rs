//! The walk from its definition alone: plain affine arithmetic by num-bigint, one point at a time.
//!
//! It checks the engines: reported points, solved logarithms, whole walks in the tests. It shares with them the hash that
//! makes the scalars, and nothing else. A step takes some 20 µs.

use std::cell::RefCell;
use std::collections::HashMap;

use num_bigint::BigUint;

use super::{BLOCK, LOOK, SMALL_FIELD, Settings, limbs, scalar};
use crate::affine::{Group, Point};
use crate::error::Result;
use crate::problem::Problem;

/// Rounds between two looks for long cycles; not the engines' rhythm, for no rhythm changes a walk.
const RHYTHM: u64 = 100;

/// A state: a point, and whether it is doubled next.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    x: BigUint,
    y: BigUint,
    double: bool,
}

/// The walk of a problem.
#[derive(Debug)]
pub struct Reference<'p> {
    problem: &'p Problem,
    settings: Settings,
    radix: BigUint,
    shift: u32,
    table: RefCell<HashMap<u64, (BigUint, BigUint)>>,
}

impl<'p> Reference<'p> {
    /// The walk of a problem.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting).
    pub fn new(problem: &'p Problem, settings: Settings) -> Result<Self> {
        let p = &problem.group.p;
        settings.check(p.bits())?;
        let shift = if p.bits() <= SMALL_FIELD { 11 } else { 32 };
        let radix = BigUint::from(1_u32) << (32 * limbs(p));
        Ok(Self { problem, settings, radix, shift, table: RefCell::default() })
    }

    /// The residue of the first point, the state's `x` after `rounds` steps of the walk of `start`.
    ///
    /// The points are returned as Montgomery residues of `x`, one after each round.
    pub fn abscissas(&self, start: u64, rounds: u64) -> Vec<BigUint> {
        let mut state = self.start(start);
        (0..rounds)
            .map(|_| {
                state = self.step(&state);
                self.residue(&state.x)
            })
            .collect()
    }

    /// The walk of a start to its distinguished point: the residue of `x` there; none after `most` rounds.
    pub fn replay(&self, start: u64, most: usize) -> Option<BigUint> {
        self.path(start).take(most).find(|(_, distinguished)| *distinguished).map(|(x, _)| x)
    }

    /// The walk of a start, without an end: the residue of `x` after each round, and whether the point is distinguished.
    pub fn path(&self, start: u64) -> impl Iterator<Item = (BigUint, bool)> + '_ {
        let mut state = self.start(start);
        (1_u64..).map(move |round| {
            if round % RHYTHM == 0 {
                state = self.outside_cycles(state.clone());
            }
            state = self.step(&state);
            let x = self.residue(&state.x);
            let zeros = (&x >> self.shift).trailing_zeros().unwrap_or(u64::MAX);
            let distinguished = !state.double && zeros >= u64::from(self.settings.distinguished_bits);
            (x, distinguished)
        })
    }

    fn group(&self) -> &Group {
        &self.problem.group
    }

    fn residue(&self, value: &BigUint) -> BigUint {
        value * &self.radix % &self.group().p
    }

    fn branch(&self, x: &BigUint) -> u64 {
        let low = self.residue(x).iter_u64_digits().next().unwrap_or(0);
        low & ((1 << self.settings.branch_bits) - 1)
    }

    /// The representative of a class, and whether it is the opposite of the point.
    fn represent(&self, point: Point) -> (State, bool) {
        let (x, y) = point.unwrap_or_else(|| unreachable!("no step leads to the point at infinity"));
        let odd = self.residue(&y).bit(0);
        let y = if odd { &self.group().p - y } else { y };
        (State { x, y, double: false }, odd)
    }

    fn combination(&self, kind: &str, number: u64) -> Point {
        (0_u32..).find_map(|attempt| {
            let of =
                |point: &str| scalar(&self.settings, &format!("{kind} {point} {attempt}"), number, &self.problem.n);
            let base = self.group().multiply(&of("base"), &self.problem.base);
            let target = self.group().multiply(&of("target"), &self.problem.target);
            self.group().add(&base, &target).map(Some)
        })?
    }

    fn start(&self, start: u64) -> State {
        let (first, second) = (self.combination("first", start % BLOCK), self.combination("second", start / BLOCK));
        let same = first.as_ref().map(|(x, _)| x) == second.as_ref().map(|(x, _)| x);
        let second = if same { first.clone() } else { second };
        self.represent(self.group().add(&first, &second)).0
    }

    fn entry(&self, branch: u64) -> (BigUint, BigUint) {
        let mut table = self.table.borrow_mut();
        let entry = table.entry(branch).or_insert_with(|| {
            let scalar = scalar(&self.settings, "table", branch, &self.problem.n);
            self.group()
                .multiply(&scalar, &self.problem.base)
                .unwrap_or_else(|| unreachable!("a scalar below the order makes a point"))
        });
        entry.clone()
    }

    fn step(&self, state: &State) -> State {
        let point = Some((state.x.clone(), state.y.clone()));
        let branch = self.branch(&state.x);
        let (x, y) = self.entry(branch);
        if state.double || x == state.x {
            return self.represent(self.group().add(&point, &point)).0;
        }
        let (next, flipped) = self.represent(self.group().add(&point, &Some((x, y))));
        if !flipped || self.branch(&next.x) != branch {
            return next;
        }
        let smaller = if self.residue(&state.x) < self.residue(&next.x) { state.clone() } else { next };
        State { double: true, ..smaller }
    }

    fn outside_cycles(&self, state: State) -> State {
        let states: Vec<State> = std::iter::successors(Some(self.step(&state)), |state| Some(self.step(state)))
            .take(LOOK as usize)
            .collect();
        if states.last() != Some(&state) {
            return state;
        }
        let plain = states.into_iter().filter(|state| !state.double);
        let smallest = plain.min_by_key(|state| self.residue(&state.x));
        smallest.map_or(state, |smallest| State { double: true, ..smallest })
    }
}
