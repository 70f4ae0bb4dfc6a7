//! The library's session, opened as the command line asks for it.

use warpmp::kernels::Register;
use warpmp::{EngineKind, Operation, Selector, Session};
use warpmp_papers::kernels::MULTIPLICATIONS;

use crate::{console, error::Result, tables};

/// Opens the engine, with the user's tuning table for its GPU if there is one. If `auto` finds no GPU, one line says so unless `quiet` (the summary
/// names the engine, too).
///
/// # Errors
/// The library's, for an engine that was named and cannot be had; [`TablesError::Table`](crate::tables::TablesError::Table)
/// for a table that cannot be used.
pub(crate) fn open(selector: Selector, quiet: bool) -> Result<Session> {
    let mut session = open_untuned(selector, quiet)?;
    let capability = session.device().map(|device| device.info().capability);
    if let Some(table) = capability.map(tables::of_user).transpose()?.flatten() {
        session.set_table(table);
    }
    Ok(session)
}

/// The algorithms of this program: those of the library, and those of the papers.
pub(crate) fn register() -> Register {
    warpmp_papers::kernels::register()
}

/// Opens the engine as the library has it.
///
/// # Errors
/// The library's, for an engine that was named and cannot be had.
pub(crate) fn open_untuned(selector: Selector, quiet: bool) -> Result<Session> {
    let session = Session::on(selector)?.with_algorithms(Operation::Mul, MULTIPLICATIONS);
    let engine = session.engine();
    if selector == Selector::Auto && engine.kind == EngineKind::Cpu && !quiet {
        let reason = session.fallback().map_or_else(|| "no usable GPU".to_owned(), ToString::to_string);
        console::note(&format!("note: the CPU engine serves ({}): {reason}", engine.name));
    }
    Ok(session)
}
