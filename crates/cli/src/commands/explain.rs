//! `warpmp explain OPERATION`: how it would be done, without doing it.

use warpmp::{Operation, Session, Shape, tuning};

use crate::{
    args::{ArgsError, Explain},
    console, engine,
    error::Result,
};

pub(crate) mod many;

/// Runs the command.
pub(crate) fn run(operation: Operation, args: &Explain) -> Result<()> {
    for (place, option, bits) in [(1, "--bits-b", args.bits_b), (2, "--bits-c", args.bits_c)] {
        if bits.is_some() && place >= operation.arity() {
            return Err(ArgsError::NoSuchOperand { operation, option }.into());
        }
    }
    let session = engine::open_one(args.engine.device.selector, false)?;
    // Where one width serves all, a product of two residues has twice as much.
    let first = match (args.bits_b, operation.operands().first()) {
        (None, Some(operand)) => tuning::operand_bits(operand.role, args.bits),
        _ => args.bits,
    };
    let widths = [first, args.bits_b.unwrap_or(args.bits), args.bits_c.unwrap_or(args.bits)];
    let shapes: Vec<Shape> = widths[..operation.arity()].iter().map(|bits| Shape::new(args.count, *bits)).collect();
    let algorithm = args.engine.algorithm.as_deref();
    match session.plan(operation, &shapes, algorithm)? {
        Some(plan) => console::print(&plan.explain()),
        None => console::print(&on_cpu(&session, operation, &shapes, algorithm)?),
    }
}

/// The CPU engine has one decision to explain; it is told like a GPU's plan.
fn on_cpu(session: &Session, operation: Operation, shapes: &[Shape], algorithm: Option<&str>) -> Result<String> {
    let results = operation.results(shapes)?;
    let chosen = session.algorithm_for(operation, shapes, algorithm)?;
    let why = match algorithm {
        Some(_) => "it was asked for, and it accepts these widths",
        None => "the fastest for these widths, by the engine's table of measured crossovers",
    };
    let bytes = shapes.iter().chain(&results).fold(0_u64, |bytes, shape| bytes.saturating_add(shape.bytes()));
    Ok(format!(
        "operation  {}\n\
         device     {}\n\
         algorithm  {chosen}\n\
         launch     the lanes are split over all cores\n\
         memory     {bytes} bytes: operands read and results written, each once\n\
         why        {why}\n",
        operation.describe(shapes)?,
        session.engine().name,
    ))
}
