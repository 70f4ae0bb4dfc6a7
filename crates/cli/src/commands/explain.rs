//! `warpmp explain mul`: how it would be done, without doing it.

use warpmp::{Plan, Session, Shape, session::product_shape};

use crate::{args::ExplainMul, console, engine, error::Result};

/// Runs the command.
pub(crate) fn run(args: &ExplainMul) -> Result<()> {
    let session = engine::open(args.engine.device.0, false)?;
    let a = Shape::new(args.count, args.bits);
    let b = Shape::new(args.count, args.bits_b.unwrap_or(args.bits));
    let algorithm = args.engine.algorithm.as_deref();
    match session.device() {
        Some(device) => console::print(&Plan::mul(a, b, device.info(), algorithm)?.explain()),
        None => console::print(&on_cpu(&session, a, b, algorithm)?),
    }
}

/// The CPU engine has one decision to explain; it is told like a GPU's plan.
fn on_cpu(session: &Session, a: Shape, b: Shape, algorithm: Option<&str>) -> Result<String> {
    let c = product_shape(a, b)?;
    let chosen = engine::algorithm_for(session, a, b, algorithm)?;
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
