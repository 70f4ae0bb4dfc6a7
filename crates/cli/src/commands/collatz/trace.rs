//! `warpmp collatz trace`: one trajectory.

use dashu_int::{UBig, ops::BitTest as _};
use serde_json::json;
use warpmp_collatz::number;

use super::{args::Trace, draw};
use crate::{console, error::Result, interrupt, io::output::Output};

/// Runs the command.
pub(super) fn run(args: &Trace) -> Result<()> {
    let plot = args.plot.as_ref().map(Output::to).transpose()?;
    // Charts have decimal logarithms: long values are beyond the floats.
    let mut drawn = vec![log10(&args.start)];
    let mut failed = None;
    let traced = number::trace_any(&args.start, |value| {
        if plot.is_some() {
            drawn.push(log10(&value.to_ubig()));
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
    if let Some(output) = plot {
        output.write(draw::trajectory(&trace, &drawn).svg()?.as_bytes())?;
    }
    let highest = trace.highest.to_string();
    if args.json {
        return console::report_object(&json!({
            "start": trace.start.to_string(), "delay": trace.delay(), "odd_steps": trace.odd_steps,
            "even_steps": trace.even_steps, "glide": trace.glide, "highest": highest, "beyond_128_bits": trace.wide,
        }));
    }
    let glide = match trace.glide {
        0 => "none: the values are never below the start".into(),
        glide => format!("{glide} steps until below the start"),
    };
    console::print(&format!(
        "start    {}\ndelay    {} steps down to 1: {} odd (3n+1), {} even (n/2)\n\
         glide    {glide}\nhighest  {highest}\n",
        trace.start,
        trace.delay(),
        trace.odd_steps,
        trace.even_steps
    ))
}

/// The decimal logarithm; 0 for 0.
fn log10(value: &UBig) -> f64 {
    let shift = value.bit_len().saturating_sub(64);
    let top = (value >> shift).to_f64().value();
    (top.max(1.0).log2() + shift as f64) * std::f64::consts::LOG10_2
}
