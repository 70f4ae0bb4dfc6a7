//! The options of `warpmp campaign`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args as Group, Subcommand};

use crate::args::{ObjectArgs, values::within};

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    Report(Report),
    Serve(Serve),
    Shards(Shards),
    Sync(Sync),
}

/// Write a page about a campaign: progress, rates, estimate, finds, alarms, checksums
#[derive(Debug, Group)]
#[command(after_help = "\
The page is one file without scripts, pictures or links to elsewhere. It shows a map of the units, the rates of hosts and engines
over time, the time that is left with its spread, what was found, what is wrong, the SHA-256 of all certificates, and the commands that
verify them. The name of a host is the system's, or WARPMP_HOST when the unit was done.

Example:
  warpmp campaign report campaign -o report.html")]
pub(crate) struct Report {
    /// Directory of a campaign
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Write the page here
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: OsString,
}

/// Show the page of a campaign to browsers of this machine, live
#[derive(Debug, Group)]
#[command(after_help = "\
The command prints the address, and ends with Ctrl-C. The page is that of `campaign report`, and loads itself again every 10 seconds.
Only programs of this machine reach it, and nothing can be changed by it. From another machine: ssh -L 8080:127.0.0.1:8080 HOST.

Examples:
  warpmp campaign serve campaign
  warpmp campaign serve campaign --port 8080")]
pub(crate) struct Serve {
    /// Directory of a campaign
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Port of 127.0.0.1; 0: any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, value_parser = within(0_u16, u16::MAX))]
    pub(crate) port: u16,
}

/// Say what each of several tasks should do: for the arrays of a scheduler
#[derive(Debug, Group)]
#[command(after_help = "\
The output has a line for each task: its number, its units without a certificate, and its command. With --task it has only the command
of this task. Tasks with a common directory need no parts: `warpmp resume DIR --shared` deals the units as they are needed. Parts are
for machines without a common directory, and for tasks of a known length; they may share a directory, too.

Examples:
  warpmp campaign shards campaign --tasks 8
  eval \"$(warpmp campaign shards campaign --tasks 8 --task \"$SLURM_ARRAY_TASK_ID\")\"")]
pub(crate) struct Shards {
    /// Directory of a campaign
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Tasks
    #[arg(long, value_name = "N", value_parser = within(1_u64, 1 << 20))]
    pub(crate) tasks: u64,
    /// Print the command of this task alone, 0 to N-1
    #[arg(long, value_name = "I", conflicts_with = "json", value_parser = within(0_u64, (1 << 20) - 1))]
    pub(crate) task: Option<u64>,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}

/// Bring the certificates of another directory of the same campaign in
#[derive(Debug, Group)]
#[command(after_help = "\
Copies what DST does not have. Where both have a certificate of a unit, both are compared: if their results differ, the one of SRC is
kept as NAME.json.differs, and the exit code is 1. Files of SRC that are not trusted are named and not copied. Nothing is removed. A new
DST gets the campaign of SRC. Processes may work in both directories; in DST they need --shared.

rsync may copy a directory at any time, also while processes work there: certificates appear whole, and points are only appended. Leave
out the lock and the claims:
  rsync -a --exclude lock --exclude '*.claim' --exclude '.unfinished-*' host:campaign/ from-host/
  warpmp campaign sync from-host campaign

Example:
  warpmp campaign sync from-host campaign")]
pub(crate) struct Sync {
    /// Directory of a campaign, to copy from
    #[arg(value_name = "SRC")]
    pub(crate) from: PathBuf,
    /// Directory that gets the certificates; it is made if it is not there
    #[arg(value_name = "DST")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) object: ObjectArgs,
}
