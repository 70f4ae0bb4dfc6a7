//! `warpmp sum`, `product`, `gcd-all`, `lcm-all`: one number from all integers of some files.

use std::{
    ffi::{OsStr, OsString},
    fs,
    time::Instant,
};

use num_bigint::BigUint;
use warpmp::{Session, operation::MUL_MAX_BITS};
use warpmp_numtheory::{
    Watch,
    fold::{Fold, fold},
};

use crate::{
    args::{ArgsError, Whole},
    console,
    engine::{self, Trees},
    error::{Error, Result, plural},
    interrupt,
    io::{
        STDIN,
        error::{FileError, LineProblem},
        output::Output,
        source::Source,
        text::write_line,
        tuple::TupleReader,
    },
    numbers::{self, Lines, row},
    progress::Progress,
    summary::Cost,
};

/// Folds stop with the program; the reader shows the progress.
struct Quiet;

impl Watch for Quiet {
    fn go_on(&self) -> bool {
        interrupt::check().is_ok()
    }
}

/// The value of the integers so far: of those with a minus apart for sums, which else take magnitudes.
struct Value<'s> {
    session: &'s Session,
    kind: Fold,
    /// Folded chunks, each with the number of chunks in it: neighbours of like sizes go together.
    parts: Vec<(u32, BigUint)>,
    /// The sum of the negative integers.
    negative: BigUint,
    is_product_negative: bool,
}

/// Runs the command.
pub(crate) fn run(kind: Fold, name: &'static str, args: &Whole) -> Result<()> {
    let start = Instant::now();
    if args.files.iter().filter(|file| *file == STDIN).count() > 1 {
        return Err(ArgsError::BothStdin.into());
    }
    let inputs: Vec<&OsStr> = args.files.iter().map(OsString::as_os_str).collect();
    let mut output = Output::open(args.output.as_deref(), &inputs)?;
    let (selector, hides_notes) = (args.device.selector, args.summary.hides_notes());
    let (session, reason) = match kind {
        Fold::Product => engine::open_for_trees(selector, estimate(&args.files), hides_notes)?,
        Fold::Sum | Fold::Gcd | Fold::Lcm => engine::open_for_cores(selector, hides_notes)?,
    };
    let (parts, negative) = (Vec::new(), BigUint::ZERO);
    let mut value = Value { session: &session, kind, parts, negative, is_product_negative: false };
    let mut cost = Cost::new(name, &session, reason);
    for file in &args.files {
        let mut reader = TupleReader::new(vec![Source::open(file, MUL_MAX_BITS)?], args.chunk.chunk_bytes)?;
        let progress = Progress::new(reader.total_bytes(), "integers", args.summary.quiet);
        let names = reader.names();
        while let Some(mut chunk) = reader.next_chunk()? {
            interrupt::check()?;
            let operands = numbers::operands(&mut chunk, &names, None, Lines::Results)?;
            if let Some(lane) = operands.missing.iter().position(|is_missing| *is_missing) {
                let (path, line) = (names[0].clone(), chunk.line(lane));
                return Err(FileError::Line { path, line, problem: LineProblem::Gap }.into());
            }
            let (batches, places) = (operands.columns[0].as_ref().ok_or(Error::Bug)?, operands.places.as_deref());
            let number = |lane: usize| BigUint::from_slice(row(batches, places, lane).0);
            let sign = |lane: &usize| super::apply::sign(&operands.signs[0], places, *lane) == Some(true);
            let (negative, positive): (Vec<usize>, Vec<usize>) = (0..operands.lanes).partition(sign);
            value.add(positive.into_iter().map(number).collect(), negative.into_iter().map(number).collect())?;
            cost.lanes += operands.lanes as u64;
            progress.update(chunk.consumed_bytes, cost.lanes);
        }
    }
    let (is_negative, magnitude) = value.finish()?;
    let mut line = if is_negative { b"-".to_vec() } else { Vec::new() };
    write_line(&magnitude.to_u32_digits(), args.hex, &mut line);
    output.write_all(&line)?;
    interrupt::check()?;
    let on_stdout = output.is_stdout();
    output.finish()?;
    engine::tell_left_out(&session);
    cost.bits = magnitude.bits();
    cost.finish(start.elapsed());
    let (lanes, bits) = (cost.lanes, cost.bits);
    let text = format!("{name} of {lanes} integer{}: {bits} bits; {}", plural(lanes), cost.rate("integers"));
    console::summary(args.summary, on_stdout, &cost, &text)
}

/// The product of all integers as a tree, by the lengths of the files; none if a length is not known.
fn estimate(files: &[OsString]) -> Option<Trees> {
    let (mut lanes, mut total_bits) = (0_u64, 0_u64);
    for file in files {
        // A pipe can be opened only once.
        if !fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let (count, bits) = Source::open(file, MUL_MAX_BITS).ok()?.estimate()?;
        lanes = lanes.saturating_add(count);
        total_bits = total_bits.saturating_add(count.saturating_mul(bits as u64));
    }
    Some(Trees { lanes, bits: total_bits / lanes.max(1), passes: 1.0 })
}

impl Value<'_> {
    fn fold(&self, numbers: &[BigUint]) -> Result<BigUint> {
        Ok(fold(self.session, self.kind, numbers, &Quiet)?)
    }

    /// Takes the integers of a chunk; those with a minus by their magnitudes.
    fn add(&mut self, mut positive: Vec<BigUint>, negative: Vec<BigUint>) -> Result<()> {
        if self.kind == Fold::Sum {
            self.negative += self.fold(&negative)?;
        } else {
            self.is_product_negative ^= self.kind == Fold::Product && negative.len() % 2 == 1;
            positive.extend(negative);
        }
        let mut part = (1, self.fold(&positive)?);
        while let Some((count, other)) = self.parts.pop_if(|(count, _)| *count <= part.0) {
            part = (count + part.0, self.fold(&[other, part.1])?);
        }
        self.parts.push(part);
        Ok(())
    }

    /// Is the value negative, and its magnitude.
    fn finish(self) -> Result<(bool, BigUint)> {
        let all = self.fold(&self.parts.iter().map(|(_, part)| part.clone()).collect::<Vec<_>>())?;
        if self.kind == Fold::Sum {
            let is_negative = self.negative > all;
            return Ok((is_negative, if is_negative { self.negative - all } else { all - self.negative }));
        }
        Ok((self.is_product_negative && all != BigUint::ZERO, all))
    }
}
