//! `warpmp explain mul`: how it would be done, without doing it.

use warpmp::{Shape, session::product_shape};

use crate::{args::ExplainMul, console, engine, error::Result, summary::scaled};

/// Runs the command.
pub(crate) fn run(args: &ExplainMul) -> Result<()> {
    let session = engine::open(args.engine.device.0, false)?;
    let a = Shape::new(args.count, args.bits);
    let b = Shape::new(args.count, args.bits_b.unwrap_or(args.bits));
    let c = product_shape(a, b)?;
    let algorithm = engine::algorithm_for(&session, a, b, args.engine.algorithm.as_deref())?;
    let chosen = if args.engine.algorithm.is_some() { "asked for" } else { "chosen for these widths" };
    let operand = |name: &str, shape: Shape| {
        let (limbs, bytes) = (shape.limbs(), scaled(shape.bytes() as f64));
        vec![name.to_owned(), format!("{} bits", shape.bits), format!("{limbs} limbs"), format!("{bytes}B")]
    };
    let table = console::table(&[operand("  a", a), operand("  b", b), operand("  product", c)]);
    let lanes = args.count;
    console::print(&format!(
        "mul, {lanes} lanes, on {}\nalgorithm {algorithm} ({chosen})\noperands\n{table}",
        session.engine().name,
    ))
}
