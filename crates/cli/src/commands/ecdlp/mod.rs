//! `warpmp ecdlp`: discrete logarithms on elliptic curves.

pub(crate) mod args;
pub(crate) mod bench;
mod error;
mod solve;

use std::{fs, path::Path};

use warpmp::Selector;
use warpmp_curves::{Problem, challenges, search::Engine};

use super::collatz::engines::gpus;
use crate::{
    console,
    error::{Error, Result},
};
use args::EcdlpCommand;
pub(crate) use error::EcdlpError;

/// Does what was asked for.
pub(crate) fn run(command: &EcdlpCommand) -> Result<()> {
    match command {
        EcdlpCommand::Solve(args) => solve::run(args),
    }
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

/// The engine that a `--device` stands for: the first of its GPUs, or the processor.
///
/// # Errors
/// For a device that was named and cannot be had.
fn engine(selector: Selector, quiet: bool) -> Result<(Engine, String)> {
    Ok(match gpus(selector, quiet)?.into_iter().next() {
        Some(device) => {
            let name = device.info().to_string();
            (Engine::Device(device), name)
        }
        None => (Engine::Cpu, "cpu".into()),
    })
}
