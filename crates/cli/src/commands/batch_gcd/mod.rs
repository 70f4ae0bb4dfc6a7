//! `warpmp batch-gcd`: the integers of a file that share a factor with another one.
//!
//! ```text
//! tree.rs        product tree, and down again
//! arithmetic.rs  its levels, on the engine or on the cores
//! pairs.rs       the top of the tree, in another way
//! check.rs       some results found again
//! report.rs      lines of the result, and the summary
//! ```

use std::{collections::HashMap, sync::Arc, time::Instant};

use dashu_int::{UBig, ops::BitTest as _};
use num_bigint::BigUint;
use warpmp::{Session, operation::MUL_MAX_BITS};

use crate::{
    args::BatchGcd,
    console, engine,
    error::{Error, Result},
    interrupt,
    io::{
        STDIN,
        output::Output,
        source::{Raw, Source},
        tuple::TupleReader,
    },
    numbers::{self, row},
    pool::Pool,
};
use arithmetic::Arithmetic;
use check::Found;
use report::{Lines, Report};

pub(crate) use check::WrongFactor;

mod arithmetic;
mod check;
mod pairs;
mod report;
mod tree;

/// Bytes of input that are parsed at a time.
const CHUNK_BYTES: usize = 32 << 20;

/// An integer and its line.
struct Entry {
    line: u64,
    number: UBig,
}

/// Runs the command.
pub(crate) fn run(args: &BatchGcd) -> Result<()> {
    let start = Instant::now();
    let source = Source::open(&args.file, MUL_MAX_BITS)?;
    let inputs: Vec<&str> = Some(args.file.as_str()).filter(|name| *name != STDIN).into_iter().collect();
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let on_stdout = output.is_stdout();
    let mut lines = Lines::new(output, args.hex);
    let mut report = Report::default();
    let session = engine::open(args.device.selector, args.summary.hides_notes())?;

    let entries = distinct(read(source)?, &mut lines, &mut report)?;
    let moduli: Vec<UBig> = entries.iter().map(|entry| entry.number.clone()).collect();
    report.device.clone_from(&session.engine().name);
    report.read_seconds = start.elapsed().as_secs_f64();
    let mut arithmetic = Arithmetic::new(session);
    let shared = tree::shared_factors(&moduli, &mut arithmetic)?;
    report.stages = arithmetic.stages;
    if args.check > 0 {
        let each = entries.iter().zip(&shared);
        let found = each.map(|(entry, shared)| Found {
            line: entry.line,
            number: foreign(&entry.number),
            shared: foreign(shared),
        });
        report.checked = check::check(&found.collect::<Vec<_>>(), args.check)?;
    }
    let affected: Vec<(u64, UBig)> =
        entries.iter().zip(shared).filter(|(_, gcd)| !gcd.is_one()).map(|(entry, gcd)| (entry.line, gcd)).collect();
    for (line, gcd) in &affected {
        lines.shared(*line, gcd)?;
    }
    report.affected = affected.len() as u64;
    pairs(&affected, &mut lines, &mut report)?;
    interrupt::check()?;
    lines.finish()?;
    report.finish(start.elapsed());
    console::summary(args.summary, on_stdout, &report.json(), &report.text())
}

/// The same integer in another library.
fn foreign(number: &UBig) -> BigUint {
    BigUint::from_bytes_le(&number.to_le_bytes())
}

/// All integers of a file.
fn read(source: Source) -> Result<Vec<Entry>> {
    let mut reader = TupleReader::new(vec![source], CHUNK_BYTES)?;
    let names = reader.names();
    let pool = Pool::new(&Arc::new(Session::cpu()), false);
    let mut entries = Vec::new();
    while let Some(chunk) = reader.next_chunk()? {
        interrupt::check()?;
        let operands = numbers::operands(&chunk, &names, &pool, None)?;
        let batches = operands.columns.first().and_then(Option::as_ref).ok_or(Error::Bug)?;
        for lane in 0..operands.lanes {
            let line = match &chunk.first {
                Raw::Text(text) => text.line(lane),
                Raw::Rows(_) => chunk.first_lane + lane as u64 + 1,
            };
            let (limbs, _) = row(batches, operands.places.as_deref(), lane);
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            entries.push(Entry { line, number: UBig::from_le_bytes(&bytes) });
        }
    }
    Ok(entries)
}

/// The first of every integer above one; reports what is left out.
fn distinct(entries: Vec<Entry>, lines: &mut Lines, report: &mut Report) -> Result<Vec<Entry>> {
    let mut first: HashMap<UBig, u64> = HashMap::with_capacity(entries.len());
    let mut kept = Vec::with_capacity(entries.len());
    for entry in entries {
        report.lanes += 1;
        report.bits = report.bits.max(entry.number.bit_len());
        if entry.number.is_zero() || entry.number.is_one() {
            report.left_out += 1;
            lines.trivial(entry.line, entry.number.is_zero())?;
        } else if let Some(first) = first.get(&entry.number) {
            report.duplicates += 1;
            lines.duplicate(entry.line, *first)?;
        } else {
            first.insert(entry.number.clone(), entry.line);
            kept.push(entry);
        }
    }
    Ok(kept)
}

/// Every pair of affected integers with a common factor, which is that of what they share with all.
fn pairs(affected: &[(u64, UBig)], lines: &mut Lines, report: &mut Report) -> Result<()> {
    for (place, (line, gcd)) in affected.iter().enumerate() {
        interrupt::check()?;
        for (other, common) in tree::common_with(gcd, &affected[place + 1..]) {
            report.pairs += 1;
            lines.pair(*line, other, &common)?;
        }
    }
    Ok(())
}
