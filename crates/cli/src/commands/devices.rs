//! `warpmp devices`: every engine and what it can do. No GPU is an answer, not an error.

use crate::{args::Devices, console, error::Result};

pub(crate) fn run(_: &Devices) -> Result<()> {
    console::print("")
}
