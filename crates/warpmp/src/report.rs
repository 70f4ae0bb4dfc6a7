//! What an operation ran on, and what it cost.

use std::{fmt, time::Duration};

use crate::error::Error;
use crate::operation::Operation;

/// The kinds of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// The processor, all cores.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// The simulated GPU: exact, strict, slow.
    Sim,
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Sim => "sim",
        })
    }
}

/// The engine of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// Its kind.
    pub kind: EngineKind,
    /// Its name for people: the GPU's, or the CPU with its number of threads.
    pub name: String,
    /// The GPU's number among those of its kind; 0 for the CPU.
    pub ordinal: usize,
}

/// What one operation did.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The operation.
    pub operation: Operation,
    /// Bits of each operand.
    pub bits: Vec<usize>,
    /// Results.
    pub lanes: usize,
    /// The engine's name.
    pub device: String,
    /// The algorithm's name; empty for a batch without lanes, where there is nothing to do.
    pub algorithm: String,
    /// Time that the engine computed, transfers not counted: the sum over the launches.
    pub kernel: Duration,
    /// Time from call to return.
    pub total: Duration,
    /// Bytes of operands read and results written, each once.
    pub bytes: u64,
    /// The GPUs of a session on several that could not do their part. The others did it.
    pub left_out: Vec<LeftOut>,
}

/// A GPU that could not do its part of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The GPU.
    pub device: EngineInfo,
    /// Why it could not.
    pub reason: Error,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device: EngineInfo { kind, name, ordinal }, reason } = self;
        write!(f, "{kind}:{ordinal} ({name}) was left out, and the other GPUs did its part: {reason}")
    }
}

impl Report {
    /// Results a second, end to end.
    pub fn ops_per_second(&self) -> f64 {
        self.lanes as f64 / seconds(self.total)
    }

    /// Gigabytes (10⁹) of operands and results a second, end to end.
    pub fn gb_per_second(&self) -> f64 {
        self.bytes as f64 / 1e9 / seconds(self.total)
    }
}

/// How an engine did an operation.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) algorithm: String,
    pub(crate) kernel: Duration,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A clock's tick at the least: a rate stays a number.
fn seconds(time: Duration) -> f64 {
    time.max(Duration::from_nanos(1)).as_secs_f64()
}
