//! `warpmp next-prime`: the least prime above each integer of a file.

use std::time::Instant;

use num_bigint::BigUint;
use rayon::prelude::*;
use serde::Serialize;
use warpmp::{Batch, Operation, Shape};
use warpmp_numtheory::primality::next_primes;

use crate::{
    args::NextPrime,
    console,
    engine::{self, Work},
    error::{Error, Result, plural},
    interrupt,
    io::{
        npy::Dtype,
        output::Output,
        sink::{ArrayHead, Format, Sink},
        source::Source,
        tuple::TupleReader,
    },
    numbers::{self, Lines, Numbers, row},
    progress::Progress,
    summary::{in_brackets, scaled, scaled_seconds},
};

/// Steps of the progress bar, a file that is a chunk.
const STEPS: u64 = 10_000;

/// What the command cost.
#[derive(Debug, Serialize)]
struct Report {
    op: &'static str,
    /// Bits of the widest prime.
    bits: usize,
    lanes: u64,
    device: String,
    /// Why this device, if `auto` took it for the size of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    total_seconds: f64,
    lanes_per_second: f64,
}

/// Runs the command.
pub(crate) fn run(args: &NextPrime) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, Operation::PowMod.max_bits() - 1)?;
    let mut reader = TupleReader::new(vec![source], args.chunk.chunk_bytes)?;
    let format = Format::choose(args.format.format, args.output.as_deref());
    let output = Output::open(args.output.as_deref(), &[args.file.as_os_str()])?;
    let (on_stdout, on_terminal) = (output.is_stdout(), output.is_terminal());
    let mut sink = Sink::new(output, format, args.hex, ArrayHead::Unknown(Dtype::U32))?;
    // One number in `bits·ln 2` is a prime; trial division leaves about a tenth of the others to strong tests.
    let tests = |bits: usize| (bits as u64 / 16).max(1);
    let work = reader.estimate().map(|(lanes, bits)| Work {
        operation: Operation::PowMod,
        lanes: lanes.saturating_mul(tests(bits)),
        bits,
    });
    let (session, reason) = engine::open_for(args.device.selector, work, args.summary.hides_notes())?;
    let names = reader.names();
    let mut report = Report {
        op: "next-prime",
        bits: 0,
        lanes: 0,
        device: session.engine().name.clone(),
        reason,
        total_seconds: 0.0,
        lanes_per_second: 0.0,
    };
    while let Some(mut chunk) = reader.next_chunk()? {
        interrupt::check()?;
        let operands = numbers::operands(&mut chunk, &names, None, Lines::Unsigned)?;
        let batches = operands.columns[0].as_ref().ok_or(Error::Bug)?;
        let number = |lane: usize| BigUint::from_slice(row(batches, operands.places.as_deref(), lane).0);
        let integers: Vec<BigUint> = (0..operands.lanes).into_par_iter().map(number).collect();
        let mut progress = Progress::new(Some(STEPS), "integers", args.summary.quiet);
        progress.phase(engine::first_phase(&session));
        if on_terminal {
            progress.hide();
        }
        let primes = next_primes(&session, &integers, &progress)?;
        drop(progress);
        sink.write(&batched(&primes)?)?;
        report.lanes += primes.len() as u64;
        report.bits = report.bits.max(primes.iter().map(BigUint::bits).max().unwrap_or(0) as usize);
    }
    interrupt::check()?;
    sink.finish()?;
    engine::tell_left_out(&session);
    report.total_seconds = start.elapsed().as_secs_f64();
    report.lanes_per_second = report.lanes as f64 / report.total_seconds.max(1e-9);
    let json = serde_json::to_string(&report).unwrap_or_default();
    console::summary(args.summary, on_stdout, &json, &report.text())
}

/// Integers as a batch of the widest one's width.
fn batched(integers: &[BigUint]) -> Result<Numbers> {
    let bits = integers.iter().map(BigUint::bits).max().unwrap_or(0).max(1) as usize;
    let shape = Shape::new(integers.len(), bits);
    let mut limbs = vec![0; shape.words()];
    for (out, integer) in limbs.chunks_exact_mut(shape.limbs()).zip(integers) {
        let digits = integer.to_u32_digits();
        out[..digits.len()].copy_from_slice(&digits);
    }
    Ok(Numbers::new(vec![Batch::from_limbs(shape, limbs)?], None))
}

impl Report {
    fn text(&self) -> String {
        let Self { bits, lanes, device, .. } = self;
        format!(
            "{lanes} prime{} of at most {bits} bits; {device}{}, end to end {} ({} primes/s)",
            plural(*lanes),
            in_brackets(self.reason),
            scaled_seconds(self.total_seconds),
            scaled(self.lanes_per_second),
        )
    }
}
