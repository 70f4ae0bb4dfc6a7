//! `warpmp collatz delay`: delays of a range, to a file or their maximum.

use std::{fmt::Write as _, time::Instant};

use rayon::prelude::*;
use serde_json::json;
use warpmp_collatz::{
    Error as CollatzError,
    engine::{Control, Engine as _},
    window::Window,
};

use super::{args::Delay, engines, watch::watch};
use crate::{
    console,
    error::{Error, Result},
    interrupt,
    io::{
        npy::{Dtype, NpyHeader},
        output::Output,
        sink::Format,
    },
    progress::Progress,
    summary::{scaled, scaled_seconds},
};

/// Starts of a chunk: on the CPU, and on a GPU, where text would need much memory, too.
const CHUNK: u128 = 1 << 22;
const GPU_CHUNK: u128 = 1 << 26;
/// Delays that a core looks through at a time.
const PART: usize = 1 << 16;

/// Where delays go.
enum Target {
    Csv(Output),
    Npy(Output),
    /// The longest so far, and its start.
    Max(u32, u128),
}

/// Runs the command.
pub(super) fn run(args: &Delay) -> Result<()> {
    let window = args.range.window()?;
    let (mut engine, gpu) = engines::open_team(args.device.selector, None, args.quiet)?;
    let mut target = open(args, &window)?;
    let total = u64::try_from(window.count()).unwrap_or(u64::MAX);
    let mut progress = Progress::new(Some(total), "numbers", args.quiet);
    progress.phase(engines::PREPARING);
    progress.hide_if(matches!(&target, Target::Csv(output) if output.is_terminal()));
    let chunk = if gpu && !matches!(target, Target::Csv(_)) { GPU_CHUNK } else { CHUNK };
    let begin = Instant::now();
    let control = [Control::default()];
    let mut delays = Vec::new();
    let mut from = window.from();
    while from < window.end() {
        interrupt::check()?;
        let count = chunk.min(window.end() - from) as usize;
        delays.resize(count, 0);
        let work = || engine.delays(from, &mut delays, &control[0]).map_err(Error::from);
        watch(&control, work, || {})?;
        target.take(from, &delays)?;
        from += count as u128;
        let done = u64::try_from(from - window.from()).unwrap_or(u64::MAX);
        progress.update(done, done);
    }
    drop(progress);
    let seconds = begin.elapsed().as_secs_f64();
    let rate = window.count() as f64 / seconds.max(1e-9);
    match target {
        Target::Csv(output) | Target::Npy(output) => output.finish()?,
        Target::Max(delay, start) if args.json => {
            console::report_object(&json!({
                "op": "collatz delay", "from": window.from().to_string(), "count": window.count().to_string(),
                "start": start.to_string(), "delay": delay, "device": engine.name(), "seconds": seconds,
                "numbers_per_second": rate,
            }))?;
        }
        Target::Max(delay, start) => console::print(&format!("{start},{delay}\n"))?,
    }
    if !args.quiet && !args.json {
        console::note(&format!(
            "{} delays; {}\n{}, {} numbers/s",
            window.count(),
            engine.name(),
            scaled_seconds(seconds),
            scaled(rate)
        ));
    }
    Ok(())
}

fn open(args: &Delay, window: &Window) -> Result<Target> {
    if args.max {
        return Ok(Target::Max(0, 0));
    }
    let mut output = Output::open(args.output.as_deref(), &[])?;
    if Format::choose(None, args.output.as_deref()) == Format::Npy {
        let limit = u64::MAX >> 8;
        let rows = u64::try_from(window.count()).ok().filter(|rows| *rows <= limit);
        let count = window.count();
        let rows = rows.ok_or(CollatzError::PastLimit { from: window.from(), count })?;
        output.write_all(&NpyHeader { dtype: Dtype::U32, rows, columns: 1 }.to_bytes())?;
        return Ok(Target::Npy(output));
    }
    output.write_all(b"n,delay\n")?;
    Ok(Target::Csv(output))
}

impl Target {
    fn take(&mut self, from: u128, delays: &[u32]) -> Result<()> {
        match self {
            Self::Csv(output) => {
                let mut text = String::new();
                for (start, delay) in (from..).zip(delays) {
                    let _ = writeln!(text, "{start},{delay}");
                }
                output.write_all(text.as_bytes())
            }
            Self::Npy(output) => {
                let bytes: Vec<u8> = delays.iter().flat_map(|delay| delay.to_le_bytes()).collect();
                output.write_all(&bytes)
            }
            Self::Max(longest, start) => {
                let best = |part: &[u32]| part.iter().copied().max().unwrap_or(0);
                let here = delays.par_chunks(PART).map(best).max().unwrap_or(0);
                if (*start == 0 || here > *longest)
                    && let Some(place) = delays.iter().position(|&delay| delay == here)
                {
                    (*longest, *start) = (here, from + place as u128);
                }
                Ok(())
            }
        }
    }
}
