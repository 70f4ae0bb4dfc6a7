//! Discrete logarithms on elliptic curves.

use pyo3::prelude::*;
use warpmp_curves::affine::Group;
use warpmp_curves::search::{self, Engine, Plan};
use warpmp_curves::{Problem, challenges};

use crate::engine;
use crate::error::{Failure, Result};
use crate::numbers::Big;
use crate::watch::{flag, watched};

/// The most rounds of a launch on the CPU.
const CPU_ROUNDS: u32 = 16;

/// The names of the built-in curves.
#[pyfunction]
pub(crate) fn curves() -> Vec<&'static str> {
    challenges::names()
}

/// The logarithm of a built-in problem.
#[pyfunction]
#[pyo3(signature = (name, device, seed, progress=None))]
pub(crate) fn solve_named(
    py: Python<'_>,
    name: &str,
    device: String,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Big> {
    search_for(py, challenges::named(name)?, device, seed, progress.as_ref())
}

/// The `k` with `target = k·base` on `y² = x³ + a·x + b` modulo `p`; `n` is the prime order of `base`.
#[pyfunction]
#[pyo3(signature = (p, a, b, n, base, target, device, seed, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are the curve's parameters by their usual names")]
pub(crate) fn solve(
    py: Python<'_>,
    p: Big,
    a: Big,
    b: Big,
    n: Big,
    base: (Big, Big),
    target: (Big, Big),
    device: String,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Big> {
    let group = Group { p: p.0, a: a.0, b: b.0 };
    let point = |(x, y): (Big, Big)| Some((x.0, y.0));
    let problem = Problem::new("curve", group, n.0, point(base), point(target));
    let problem = problem.map_err(warpmp_curves::Error::from)?;
    search_for(py, problem, device, seed, progress.as_ref())
}

fn search_for(
    py: Python<'_>,
    problem: Problem,
    device: String,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Big> {
    let flag = flag();
    let watch = flag.clone();
    watched(py, &*watch, progress, move || {
        let mut engines: Vec<Engine> = engine::team(&device)?.into_iter().map(Engine::Device).collect();
        if engines.is_empty() {
            engines.push(Engine::Cpu);
        }
        let count = engines.len();
        let planned = |engine: Engine| {
            let plan = Plan::new(&problem, &engine, count, seed);
            // The search looks between launches whether it shall stop.
            let rounds = if matches!(engine, Engine::Cpu) { plan.rounds.min(CPU_ROUNDS) } else { plan.rounds };
            (engine, Plan { rounds, ..plan })
        };
        let engines: Vec<(Engine, Plan)> = engines.into_iter().map(planned).collect();
        let mut stopped: Option<Failure> = None;
        let found = search::solve(&problem, &engines, |progress| {
            // The expected number of steps is a mean: half of all searches take longer.
            let share = progress.steps as f64 / progress.expected;
            stopped = flag.check(share.min(0.99)).err();
            stopped.is_none()
        });
        Ok(Big(found?.k))
    })
}
