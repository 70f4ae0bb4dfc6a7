//! `warpmp ecdlp`: discrete logarithms on elliptic curves.

pub(crate) mod args;
pub(crate) mod bench;
mod campaign;
mod check;
mod draw;
mod error;
mod explain;
pub(crate) mod facts;
mod join;
mod solve;
mod status;

use std::{fs, path::Path};

use warpmp::Selector;
use warpmp_curves::{
    Problem,
    campaign::{Folder, Meetings},
    challenges,
    search::{Engine, Plan},
    walk::Settings,
};

use crate::{
    args::{DeviceArgs, ObjectArgs, SummaryArgs},
    console,
    engine::gpus,
    error::{Error, Result},
};
use args::{EcdlpCommand, MEMORY, Solve, WalkArgs};
pub(crate) use error::EcdlpError;

/// Does what was asked for.
pub(crate) fn run(command: &EcdlpCommand) -> Result<()> {
    match command {
        EcdlpCommand::Solve(args) => match &args.output {
            Some(folder) => campaign::run(args, folder),
            None => solve::run(args),
        },
        EcdlpCommand::Status(args) => status::run(args),
        EcdlpCommand::Check(args) => check::run(args),
        EcdlpCommand::Join(args) => join::run(args),
        EcdlpCommand::Explain(args) => explain::run(args),
    }
}

/// Goes on with the search of a directory.
pub(crate) fn resume(folder: &str, device: DeviceArgs, summary: SummaryArgs) -> Result<()> {
    let walk = WalkArgs { distinguished_bits: None, points: None };
    let args = Solve {
        curve: None,
        seed: None,
        output: Some(folder.into()),
        seconds: None,
        memory: MEMORY,
        walk,
        device,
        summary,
    };
    campaign::run(&args, folder)
}

/// Tells how far the search of a directory is.
pub(crate) fn status(folder: &str, object: ObjectArgs) -> Result<()> {
    status::run(&args::Status { folder: folder.into(), plot: None, object })
}

/// The curve of this name, or of this file. A name with a dot or a slash is a file, as is a name of a file that exists.
///
/// # Errors
/// [`EcdlpError::Curve`]; what reading the file gives.
fn problem(curve: &str, quiet: bool) -> Result<Problem> {
    let is_file = curve.contains(['.', '/']) || Path::new(curve).exists();
    let found = if is_file {
        let text = fs::read_to_string(curve).map_err(|source| Error::read(curve, source))?;
        Problem::from_json(curve, &text)
    } else {
        challenges::named(curve)
    };
    let problem = found.map_err(|source| EcdlpError::Curve { curve: curve.into(), source: source.into() })?;
    if let Some(degree) = problem.small_embedding_degree().filter(|_| !quiet) {
        console::note(&format!(
            "warning: {curve}: the embedding degree is {degree}; a pairing moves the logarithm into the field of p^{degree} \
             elements, where index calculus is likely to be faster (Menezes, Okamoto and Vanstone; Frey and Rück)"
        ));
    }
    Ok(problem)
}

/// The engines that a `--device` stands for, and their names: all its GPUs, or the processor.
///
/// # Errors
/// For a device that was named and cannot be had.
fn engines(selector: Selector, quiet: bool) -> Result<Vec<(Engine, String)>> {
    let gpus = gpus(selector, quiet)?;
    if gpus.is_empty() {
        return Ok(vec![(Engine::Cpu, "cpu".into())]);
    }
    Ok(gpus.into_iter().map(|gpu| (Engine::Device(gpu.clone()), gpu.info().to_string())).collect())
}

/// The first of the engines.
///
/// # Errors
/// As [`engines`].
fn engine(selector: Selector, quiet: bool) -> Result<(Engine, String)> {
    engines(selector, quiet)?.into_iter().next().ok_or(Error::Bug)
}

/// The plan of a new search by so many engines of a kind, with what the user has asked for.
///
/// # Errors
/// For distinguished bits that the curve does not allow.
fn plan(problem: &Problem, engine: &Engine, engines: usize, seed: u64, walk: &WalkArgs) -> Result<Plan> {
    let plan = Plan::new(problem, engine, engines, seed);
    if let Some(distinguished_bits) = walk.distinguished_bits {
        let settings = Settings { distinguished_bits, ..plan.settings };
        settings.check(problem.group.p.bits())?;
        return Ok(plan_with(problem, engine, engines, settings, walk.points));
    }
    Ok(walk.points.map_or(plan, |points| plan.with_points(points as u32)))
}

/// The plan for a walk whose settings are given, with the points a thread that the user has asked for.
fn plan_with(problem: &Problem, engine: &Engine, engines: usize, settings: Settings, points: Option<usize>) -> Plan {
    let plan = Plan::with_settings(problem, engine, engines, settings);
    points.map_or(plan, |points| plan.with_points(points as u32))
}

/// A part of the expected steps.
fn part(steps: f64, expected: f64) -> String {
    match steps / expected {
        part if part > 0.0 && part < 0.001 => format!("{part:.1e}"),
        part => format!("{part:.3}"),
    }
}

/// The campaign of a directory, to look at it.
///
/// # Errors
/// [`EcdlpError::NoCampaign`]; the campaign's.
fn look(folder: &str) -> Result<Folder> {
    Folder::open(Path::new(folder)).map_err(|error| match error {
        error if error.is_not_found() => EcdlpError::NoCampaign { folder: folder.into() }.into(),
        error => warpmp_curves::Error::from(error).into(),
    })
}

/// Meetings that told nothing, for people.
fn meetings_text(meetings: Meetings) -> String {
    let Meetings { useless, repeated, coincidences, wrong } = meetings;
    format!(
        "{useless} of equal multiples of Q, {repeated} of a walk with itself, {coincidences} of different points with one hash, \
         {wrong} with a wrong point"
    )
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_of_the_expected_steps() {
        assert_eq!([0.0, 2.2e-4, 0.0123, 1.336].map(|steps| part(steps, 1.0)), ["0.000", "2.2e-4", "0.012", "1.336"]);
    }
}
