//! `warpmp explain mul`: how it would be done, without doing it.

use warpmp::{Operation, Plan, Session, Shape};

use crate::{args::ExplainMul, console, engine, error::Result};

/// Runs the command.
pub(crate) fn run(args: &ExplainMul) -> Result<()> {
    let session = engine::open(args.engine.device.0, false)?;
    let a = Shape::new(args.count, args.bits);
    let b = Shape::new(args.count, args.bits_b.unwrap_or(args.bits));
    let algorithm = args.engine.algorithm.as_deref();
    match session.device().zip(session.table()) {
        Some((device, table)) => {
            console::print(&Plan::new(Operation::Mul, &[a, b], device.info(), table, algorithm)?.explain())
        }
        None => console::print(&on_cpu(&session, a, b, algorithm)?),
    }
}

/// The CPU engine has one decision to explain; it is told like a GPU's plan.
fn on_cpu(session: &Session, a: Shape, b: Shape, algorithm: Option<&str>) -> Result<String> {
    let c = Operation::Mul.results(&[a, b])?[0];
    let chosen = engine::algorithm_for(session, Operation::Mul, &[a, b], algorithm)?;
    let why = match algorithm {
        Some(_) => "it was asked for, and it accepts these widths",
        None => "the fastest for these widths, by the engine's table of measured crossovers",
    };
    let bytes = a.bytes().saturating_add(b.bytes()).saturating_add(c.bytes());
    Ok(format!(
        "operation  mul: {} × {} bits, {} lanes, results of {} bits\n\
         device     {}\n\
         algorithm  {chosen}\n\
         launch     the lanes are split over all cores\n\
         memory     {bytes} bytes: operands read and results written, each once\n\
         why        {why}\n",
        a.bits,
        b.bits,
        c.lanes,
        c.bits,
        session.engine().name,
    ))
}
