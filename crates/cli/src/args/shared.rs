//! Options that several commands have, each in one place.

use clap::Args as Group;
use warpmp::Selector;

use super::values::{positive, selector};
use crate::io::sink::Format;

/// The engine of a command.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct DeviceArgs {
    /// Engine: auto (the first usable GPU, else the CPU), cpu, cuda, cuda:I or sim
    #[arg(id = "device", long = "device", value_name = "ENGINE", default_value = "auto", value_parser = selector)]
    pub(crate) selector: Selector,
}

/// The engine of a command that does an operation, and how it does it.
#[derive(Debug, Group)]
pub(crate) struct EngineArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Algorithm by name; `warpmp explain mul` says which is chosen without this
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<String>,
}

/// The engines of a command that takes all GPUs.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct GpusArgs {
    /// Engine: auto (the GPUs, else the CPU), cpu, cuda (all GPUs), cuda:I or sim
    #[arg(id = "device", long = "device", value_name = "ENGINE", default_value = "auto", value_parser = selector)]
    pub(crate) selector: Selector,
}

/// What is said at the end of a command that writes results.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct SummaryArgs {
    /// Print the summary as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No summary, no progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl SummaryArgs {
    /// Are notes on what is about to happen unwanted? Who reads the summary finds the same there.
    pub(crate) const fn hides_notes(self) -> bool {
        self.quiet || self.json
    }
}

/// The form of what a command prints.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct ObjectArgs {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Is progress shown?
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct ProgressArgs {
    /// No progress bar
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// The form of results in files.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct FormatArgs {
    /// Format of the output; without this what -o ends in, else text
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// How files are read.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct ChunkArgs {
    /// Bytes of input in a chunk
    #[arg(long, hide = true, default_value_t = 32 << 20, value_parser = positive)]
    pub(crate) chunk_bytes: usize,
}
