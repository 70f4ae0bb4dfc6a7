//! `warpmp next-prime`: the least prime above each integer of a file.

use std::time::Instant;

use num_bigint::BigUint;
use rayon::prelude::*;
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
    summary::Cost,
};

/// Steps of the progress bar, a file that is a chunk.
const STEPS: u64 = 10_000;

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
    let mut cost = Cost::new("next-prime", &session, reason);
    while let Some(mut chunk) = reader.next_chunk()? {
        interrupt::check()?;
        let operands = numbers::operands(&mut chunk, &names, None, Lines::Unsigned)?;
        let batches = operands.columns[0].as_ref().ok_or(Error::Bug)?;
        let number = |lane: usize| BigUint::from_slice(row(batches, operands.places.as_deref(), lane).0);
        let integers: Vec<BigUint> = (0..operands.lanes).into_par_iter().map(number).collect();
        let mut progress = Progress::new(Some(STEPS), "integers", args.summary.quiet);
        progress.phase(engine::first_phase(&session));
        progress.hide_if(on_terminal);
        let primes = next_primes(&session, &integers, &progress)?;
        drop(progress);
        sink.write(&batched(&primes)?)?;
        cost.lanes += primes.len() as u64;
        cost.bits = cost.bits.max(primes.iter().map(BigUint::bits).max().unwrap_or(0));
    }
    interrupt::check()?;
    sink.finish()?;
    engine::tell_left_out(&session);
    cost.finish(start.elapsed());
    let (lanes, bits) = (cost.lanes, cost.bits);
    let text = format!("{lanes} prime{} of at most {bits} bits; {}", plural(lanes), cost.rate("primes"));
    console::summary(args.summary, on_stdout, &cost, &text)
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
