//! `warpmp campaign`: what serves campaigns of every kind.
//!
//! ```text
//! facts    what a page shows, whatever the kind; each kind gathers its own
//! page     the page as HTML
//! chart    rates over time
//! serve    the page for browsers of this machine
//! shards   what each of several tasks should do
//! shell    commands about a campaign
//! sync     certificates of another directory
//! time     dates
//! ```

pub(crate) mod args;
mod chart;
pub(crate) mod facts;
mod page;
mod serve;
mod shards;
pub(crate) mod shell;
mod sync;
pub(crate) mod time;

use std::path::Path;

use super::{
    collatz, ecdlp, factor,
    resume::{Kind, kind},
};
use crate::{error::Result, io::output::Output};
use args::{CampaignCommand, Report};
use facts::Facts;
pub(crate) use serve::ServeError;
pub(crate) use shards::ShardsError;
pub(crate) use sync::SyncError;

/// Does what was asked for.
pub(super) fn run(command: &CampaignCommand) -> Result<()> {
    match command {
        CampaignCommand::Report(args) => report(args),
        CampaignCommand::Serve(args) => serve::run(args),
        CampaignCommand::Shards(args) => shards::run(args),
        CampaignCommand::Sync(args) => sync::run(args),
    }
}

fn report(args: &Report) -> Result<()> {
    let page = page::page(&gather(&args.folder)?, None);
    Output::to(&args.output)?.write(page.as_bytes())
}

/// The facts of a directory.
fn gather(folder: &Path) -> Result<Facts> {
    match kind(folder)? {
        Kind::Curves => factor::facts::gather(folder),
        Kind::Collatz => collatz::facts::gather(folder),
        Kind::Logarithm => ecdlp::facts::gather(folder),
    }
}
