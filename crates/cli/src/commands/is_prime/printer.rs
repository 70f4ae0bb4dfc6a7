//! What `is-prime` writes: flags, or the integers of one kind.

use super::reader::Origin;
use crate::{
    args::Print,
    error::Result,
    io::{
        error::FileError,
        npy::{Dtype, flags_header},
        output::Output,
        sink::{ArrayHead, Format, Sink},
    },
    numbers::Numbers,
};

/// Writes verdicts, or the integers that have one verdict.
pub(super) enum Printer {
    /// A line or a row for each integer.
    Flags(Sink),
    /// An array of booleans, whose length is known in the end.
    Array { output: Output, flags: Vec<u8> },
    /// The integers with this verdict.
    Integers { sink: Sink, is_prime: bool },
}

impl Printer {
    /// Writes to `output`.
    ///
    /// # Errors
    /// [`FileError::NpyToTerminal`]; the errors of writing.
    pub(super) fn new(output: Output, format: Format, print: Print, hex: bool) -> Result<Self> {
        let head = ArrayHead::Unknown(Dtype::U32);
        match (print, format) {
            (Print::Flags, Format::Npy) if output.is_terminal() => Err(FileError::NpyToTerminal.into()),
            (Print::Flags, Format::Npy) => Ok(Self::Array { output, flags: Vec::new() }),
            (Print::Flags, Format::Text) => Ok(Self::Flags(Sink::new(output, format, false, head)?)),
            (Print::Primes | Print::Composites, _) => {
                Ok(Self::Integers { sink: Sink::new(output, format, hex, head)?, is_prime: print == Print::Primes })
            }
        }
    }

    /// Appends a chunk: `flags` has a lane for each integer.
    pub(super) fn write(&mut self, flags: &Numbers, origin: Origin) -> Result<()> {
        let lanes = 0..flags.lanes();
        match self {
            Self::Flags(sink) => sink.write(flags),
            Self::Array { flags: all, .. } => {
                all.extend(lanes.map(|lane| flags.lane(lane)[0] as u8));
                Ok(())
            }
            Self::Integers { sink, is_prime } => {
                let wanted = lanes.filter(|lane| (flags.lane(*lane)[0] == 1) == *is_prime);
                let place = |lane: usize| origin.places.as_ref().map_or((0, lane as u32), |places| places[lane]);
                let places: Vec<(u32, u32)> = wanted.map(place).collect();
                if places.is_empty() { Ok(()) } else { sink.write(&Numbers::new(origin.batches, Some(places))) }
            }
        }
    }

    /// Completes the output: only now does a file appear.
    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Flags(sink) | Self::Integers { sink, .. } => sink.finish(),
            Self::Array { mut output, flags } => {
                output.write_all(&flags_header(flags.len() as u64))?;
                output.write_all(&flags)?;
                output.sync()?;
                output.finish()
            }
        }
    }
}
