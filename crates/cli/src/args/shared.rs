//! Options that several commands have, each in one place.

use clap::Args as Group;
use warpmp::Selector;
use warpmp_campaign::{Mode, Part};

use super::{
    error::ArgsError,
    values::{positive, selector},
};
use crate::io::sink::Format;

/// The engine of a command.
#[derive(Clone, Copy, Debug, Group)]
pub(crate) struct DeviceArgs {
    /// Engine: auto (the GPUs, else the CPU), cpu, cuda (all GPUs), cuda:I or sim
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

/// How a process takes part in the campaign of a directory.
#[derive(Clone, Copy, Debug, Default, Group)]
pub(crate) struct SharingArgs {
    /// Work beside other processes, on any hosts, in the same directory: each claims its units. All of them need this option
    #[arg(long)]
    pub(crate) shared: bool,
    /// Do only every N-th unit, from unit I on (0 to N-1): for machines without a common directory
    #[arg(long, value_name = "I/N")]
    pub(crate) part: Option<Part>,
}

impl SharingArgs {
    /// The mode. `needed` is the option that names a directory, if it is not given.
    ///
    /// # Errors
    /// [`ArgsError::NoDirectory`].
    pub(crate) fn mode(self, needed: Option<&'static str>) -> Result<Mode, ArgsError> {
        let option = if self.shared { Some("--shared") } else { self.part.map(|_| "--part") };
        match (option, needed) {
            (Some(option), Some(needed)) => Err(ArgsError::NoDirectory { option, needed }),
            _ => Ok(Mode { is_shared: self.shared, part: self.part.unwrap_or(Part::ALL) }),
        }
    }
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
