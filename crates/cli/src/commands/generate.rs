//! `warpmp gen`: operands for tests and measurements.

use warpmp::Shape;

use super::pattern;
use crate::{
    args::Gen,
    error::Result,
    interrupt,
    io::{
        npy::{Dtype, NpyHeader},
        output::Output,
        sink::{ArrayHead, Format, Sink},
    },
    numbers::Numbers,
    progress::Progress,
};

/// Limbs that are made at a time.
const CHUNK_LIMBS: usize = 4 << 20;

/// Runs the command.
pub(crate) fn run(args: &Gen) -> Result<()> {
    let format = Format::choose(args.format.format, args.output.as_deref());
    let limbs = args.bits.div_ceil(32);
    let layout = ArrayHead::Known(NpyHeader { dtype: Dtype::U32, rows: args.count, columns: limbs });
    let output = Output::open(args.output.as_deref(), &[])?;
    let mut progress = Progress::new(Some(args.count), "integers", args.progress.quiet);
    progress.hide_if(output.is_terminal());
    let mut sink = Sink::new(output, format, args.hex, layout)?;
    let step = (CHUNK_LIMBS / limbs).next_multiple_of(pattern::BLOCK_LANES);
    let mut lane = 0;
    while lane < args.count {
        interrupt::check()?;
        let lanes = usize::try_from(args.count - lane).map_or(step, |left| left.min(step));
        let batch = pattern::operands(args.pattern, Shape::new(lanes, args.bits), lane, args.seed)?;
        sink.write(&Numbers::new(vec![batch], None))?;
        lane += lanes as u64;
        progress.update(lane, lane);
    }
    interrupt::check()?;
    sink.finish()
}
