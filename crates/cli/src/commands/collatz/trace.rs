//! `warpmp collatz trace`: one trajectory.

use serde_json::json;
use warpmp_collatz::number;

use super::{args::Trace, draw};
use crate::{console, error::Result, interrupt, io::output::Output};

/// Runs the command.
pub(super) fn run(args: &Trace) -> Result<()> {
    let plot = args.plot.as_ref().map(Output::to).transpose()?;
    let mut drawn = vec![args.start.0 as f64];
    let mut failed = None;
    let traced = number::trace(args.start.0, |value| {
        if plot.is_some() {
            drawn.push(value.to_ubig().to_f64().value());
        }
        let shown = if args.values { console::print(&format!("{}\n", value.to_ubig())) } else { Ok(()) };
        match shown.and_then(|()| interrupt::check()) {
            Ok(()) => true,
            Err(error) => {
                failed = Some(error);
                false
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let trace = traced?;
    if let Some(mut output) = plot {
        output.write_all(draw::trajectory(args.start.0, &drawn).svg()?.as_bytes())?;
        output.finish()?;
    }
    let highest = trace.highest.to_string();
    if args.json {
        return super::print_json(&json!({
            "start": trace.start.to_string(), "delay": trace.delay(), "odd_steps": trace.odd_steps,
            "even_steps": trace.steps, "glide": trace.glide, "highest": highest, "beyond_128_bits": trace.wide,
        }));
    }
    console::print(&format!(
        "start    {}\ndelay    {} steps: {} odd (3n+1), {} even (n/2)\nglide    {} steps of T until below the start\n\
         highest  {highest} (3n+1 not yet halved)\n",
        trace.start,
        trace.delay(),
        trace.odd_steps,
        trace.steps,
        trace.glide
    ))
}
