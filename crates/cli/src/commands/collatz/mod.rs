//! `warpmp collatz`: convergence, delays, records, certificates.

pub(crate) mod args;
mod asked;
pub(crate) mod bench;
mod check;
mod delay;
mod draw;
pub(super) mod engines;
mod error;
mod folder;
mod records;
mod status;
mod sums;
mod trace;
mod verify;
mod watch;

use std::{io, path::Path};

use warpmp_collatz::{Error as CollatzError, campaign::Campaign, certificate::Scheme};

use crate::{console, error::Result};
use args::CollatzCommand;
pub(crate) use error::CollatzFailure;

/// Does what was asked for.
pub(crate) fn run(command: &CollatzCommand) -> Result<()> {
    match command {
        CollatzCommand::Verify(args) => verify::run(args),
        CollatzCommand::Status(args) => status::run(args),
        CollatzCommand::Check(args) => check::run(args),
        CollatzCommand::Delay(args) => delay::run(args),
        CollatzCommand::Records(args) => records::run(args),
        CollatzCommand::Trace(args) => trace::run(args),
    }
}

/// The campaign of a folder.
///
/// # Errors
/// [`CollatzFailure::NoCampaign`]; what reading it gives.
fn campaign(folder: &str) -> Result<Campaign> {
    Campaign::open(Path::new(folder)).map_err(|error| match error {
        CollatzError::File { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            CollatzFailure::NoCampaign { folder: folder.into() }.into()
        }
        error => error.into(),
    })
}

/// A scheme in words.
fn words(scheme: &Scheme) -> String {
    match scheme {
        Scheme::Dfs(plan) => format!(
            "dfs: leaf bits {}, look-ahead bits {} for {} main classes, else {}",
            plan.leaf_bits, plan.lookahead_bits, plan.main_classes, plan.rare_lookahead_bits
        ),
        Scheme::Honda(plan) => format!("honda: sieve bits {}, base bits {}", plan.sieve_bits, plan.base_bits),
        Scheme::Alpha(plan) => format!("alpha: sieve bits {}, modulus {}", plan.sieve_bits, plan.modulus),
    }
}

/// One JSON object on one line of standard output, the last that a command says.
fn print_json(object: &serde_json::Value) -> Result<()> {
    console::report(&format!("{object}\n"))
}
