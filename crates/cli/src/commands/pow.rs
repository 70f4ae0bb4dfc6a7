//! `warpmp pow`: powers with all their bits.

use std::{collections::BTreeMap, time::Instant};

use num_bigint::BigUint;
use warpmp::{Batch, Operation, Options, Session, Shape, operation::MUL_MAX_BITS};

use crate::{
    args::{ArgsError, Power},
    commands::check::{head, spread},
    console,
    engine::{self, Work},
    error::{Error, Result, plural},
    interrupt,
    io::{
        STDIN,
        column::Column,
        npy::Dtype,
        output::Output,
        sink::{ArrayHead, Format, Sink},
        source::Source,
        tuple::TupleReader,
    },
    numbers::{self, Lines, Numbers, Single, row},
    progress::Progress,
    summary::{Cost, Lost},
};

/// The most bits of a power: those of the widest product.
const MOST_BITS: usize = 2 * MUL_MAX_BITS;
/// Bits of the exponents.
const EXPONENT_BITS: usize = 32;

/// A power that cannot be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PowerError {
    #[error(
        "a base of {bits} bits to the power {exponent} takes a factor of more than {MUL_MAX_BITS} bits; `pow-mod` has powers modulo a number"
    )]
    TooWide { bits: usize, exponent: u32 },
    #[error("lane {lane}: the engine's power {found} is wrong, expected {expected}")]
    Wrong { lane: u64, found: String, expected: String },
    #[error("{place}: a negative exponent; `inv-mod` has inverses modulo a number, and `pow-mod` has their powers")]
    NegativeExponent { place: String },
}

/// A base with its sign and its exponent.
#[derive(Clone, Copy)]
struct Lane<'n> {
    base: &'n [u32],
    is_negative: bool,
    exponent: u32,
    is_missing: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Power) -> Result<()> {
    let start = Instant::now();
    if args.base == STDIN && args.exponent == STDIN {
        return Err(ArgsError::BothStdin.into());
    }
    let sources = vec![Source::open(&args.base, MUL_MAX_BITS)?, Source::open(&args.exponent, EXPONENT_BITS)?];
    let mut reader = TupleReader::new(sources, args.chunk.chunk_bytes)?;
    let format = Format::choose(args.format.format, args.output.as_deref());
    let output = Output::open(args.output.as_deref(), &[args.base.as_os_str(), args.exponent.as_os_str()])?;
    let on_stdout = output.is_stdout();
    let mut progress = Progress::new(reader.total_bytes(), "powers", args.summary.quiet);
    progress.hide_if(output.is_terminal());
    let mut sink = Sink::new(output, format, args.hex, ArrayHead::Unknown(Dtype::U32))?;
    // The products of a power are about as long as its result, which is `exponent` times as wide as the base.
    let work = reader.estimate().map(|(lanes, bits)| Work { operation: Operation::Mul, lanes, bits: 16 * bits });
    let (session, reason) = engine::open_for(args.device.selector, work, args.summary.hides_notes())?;
    progress.phase(engine::first_phase(&session));
    let names = reader.names();
    let mut cost = Cost::new("pow", &session, reason);
    let mut checked = 0;
    let mut singles: Vec<Option<Single>> = vec![None, None];
    while let Some(mut tuple) = reader.next_chunk()? {
        interrupt::check()?;
        for (i, operand) in tuple.operands.iter_mut().enumerate() {
            if let (true, Some(raw)) = (operand.is_single, &mut operand.raw) {
                singles[i] = Some(numbers::single(raw, &names[i], None)?);
            }
        }
        let operands = numbers::operands(&mut tuple, &names, None, Lines::Results)?;
        let places = operands.places.as_deref();
        let integer = |operand: usize, lane: usize| -> Result<(&[u32], bool)> {
            match (&operands.columns[operand], &singles[operand]) {
                (Some(batches), _) => {
                    let sign = super::apply::sign(&operands.signs[operand], places, lane);
                    Ok((row(batches, places, lane).0, sign == Some(true)))
                }
                (None, Some(single)) => Ok((single.batch.limbs(), single.is_negative == Some(true))),
                (None, None) => Err(Error::Bug),
            }
        };
        let lane = |lane: usize| -> Result<Lane<'_>> {
            let ((base, is_negative), (exponent, is_exponent_negative)) = (integer(0, lane)?, integer(1, lane)?);
            if is_exponent_negative {
                return Err(PowerError::NegativeExponent { place: format!("{}:{}", names[1], tuple.line(lane)) }.into());
            }
            let is_missing = operands.missing.get(lane) == Some(&true);
            Ok(Lane { base, is_negative, exponent: exponent[0], is_missing })
        };
        let lanes = (0..operands.lanes).map(lane).collect::<Result<Vec<_>>>()?;
        for lanes in turns(&lanes, args.chunk.chunk_bytes) {
            let powers = powers(&session, lanes)?;
            checked += check(lanes, &powers, args.check, cost.lanes)?;
            write(&mut sink, lanes, &powers)?;
            cost.lanes += lanes.len() as u64;
            progress.update(tuple.consumed_bytes, cost.lanes);
        }
        cost.bits = lanes.iter().map(|lane| numbers::bit_length(lane.base) as u64).fold(cost.bits, u64::max);
        let origins = tuple.into_origins(&names);
        for (number, _) in lanes.iter().enumerate().filter(|(_, lane)| lane.is_missing) {
            cost.lost.add(Lost::NO_OPERAND, || origins.place(number));
        }
    }
    interrupt::check()?;
    sink.finish()?;
    engine::tell_left_out(&session);
    cost.checked = Some(checked);
    cost.finish(start.elapsed());
    cost.lost.warn(cost.lanes);
    let (lanes, bits, rate) = (cost.lanes, cost.bits, cost.rate("powers"));
    let text = format!("{lanes} power{} of at most {bits} bits, {checked} checked; {rate}", plural(lanes));
    console::summary(args.summary, on_stdout, &cost, &text)
}

/// The lanes in turns whose powers have about as many bytes as a chunk, or of one lane: powers may be much longer than their bases.
fn turns<'l, 'n>(lanes: &'l [Lane<'n>], bytes: usize) -> impl Iterator<Item = &'l [Lane<'n>]> {
    let mut rest = lanes;
    std::iter::from_fn(move || {
        let mut room = bytes as u64;
        let fits = |lane: &&Lane<'_>| {
            let needed = numbers::bit_length(lane.base) as u64 * u64::from(lane.exponent) / 8;
            let fits = needed <= room;
            room = room.saturating_sub(needed);
            fits
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let turn;
        (turn, rest) = rest.split_at(count);
        (!turn.is_empty()).then_some(turn)
    })
}

/// The magnitudes of all powers: lanes of the same exponent and of like widths together.
fn powers(session: &Session, lanes: &[Lane<'_>]) -> Result<Numbers> {
    let mut groups: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    for (number, lane) in lanes.iter().enumerate() {
        let limbs = numbers::bit_length(lane.base).div_ceil(32).max(1);
        groups.entry((lane.exponent, numbers::class(limbs))).or_default().push(number);
    }
    let mut places = vec![(0, 0); lanes.len()];
    let mut batches = Vec::with_capacity(groups.len());
    for (number, ((exponent, _), members)) in groups.into_iter().enumerate() {
        interrupt::check()?;
        let bits = members.iter().map(|lane| numbers::bit_length(lanes[*lane].base)).max().unwrap_or(0).max(1);
        let shape = Shape::new(members.len(), bits);
        let mut limbs = vec![0; shape.words()];
        for (row, (lane, out)) in members.iter().zip(limbs.chunks_exact_mut(shape.limbs())).enumerate() {
            let base = lanes[*lane].base;
            let kept = base.len().min(out.len());
            out[..kept].copy_from_slice(&base[..kept]);
            places[*lane] = (number as u32, row as u32);
        }
        batches.push(power(session, Batch::from_limbs(shape, limbs)?, exponent)?);
    }
    Ok(Numbers::new(batches, Some(places)))
}

/// All lanes to the same power, by squares and products from the top bit of the exponent.
fn power(session: &Session, base: Batch<'static>, exponent: u32) -> Result<Batch<'static>> {
    let bits = base.bits();
    // A base of one bit is 0 or 1.
    if exponent > 0 && bits == 1 {
        return Ok(base);
    }
    let too_wide = || Error::from(PowerError::TooWide { bits, exponent });
    if (bits - 1).checked_mul(exponent as usize).is_none_or(|bits| bits >= MOST_BITS) {
        return Err(too_wide());
    }
    let Some(top) = exponent.checked_ilog2() else {
        return Ok(Batch::from_limbs(Shape::new(base.lanes(), 1), vec![1; base.lanes()])?);
    };
    let apply = |operation, operands: &[&Batch<'_>]| -> Result<Batch<'static>> {
        if operands.iter().any(|it| it.bits() > MUL_MAX_BITS) {
            return Err(too_wide());
        }
        narrowed(session.apply(operation, operands, Options::new())?.0.swap_remove(0))
    };
    let mut power = base.clone();
    for bit in (0..top).rev() {
        interrupt::check()?;
        let is_odd = exponent >> bit & 1 == 1;
        if is_odd && 2 * power.bits() > MUL_MAX_BITS {
            // The square is too wide to be a factor.
            let next = apply(Operation::Mul, &[&power, &base])?;
            power = apply(Operation::Mul, &[&power, &next])?;
            continue;
        }
        power = apply(Operation::Sqr, &[&power])?;
        if is_odd {
            power = apply(Operation::Mul, &[&power, &base])?;
        }
    }
    Ok(power)
}

/// The same numbers in rows that are as wide as the widest one.
fn narrowed(batch: Batch<'static>) -> Result<Batch<'static>> {
    let rows = || batch.limbs().chunks_exact(batch.shape().limbs());
    let shape = Shape::new(batch.lanes(), rows().map(numbers::bit_length).max().unwrap_or(0).max(1));
    if shape.limbs() == batch.shape().limbs() {
        return Ok(Batch::from_limbs(shape, batch.into_limbs())?);
    }
    let limbs = rows().flat_map(|row| &row[..shape.limbs()]).copied().collect();
    Ok(Batch::from_limbs(shape, limbs)?)
}

/// Computes some powers again by num-bigint. Gives their number.
fn check(lanes: &[Lane<'_>], powers: &Numbers, wanted: u64, first: u64) -> Result<u64> {
    let wanted = wanted.min(lanes.len() as u64);
    for lane in if wanted == 0 { Vec::new() } else { spread(wanted, lanes.len()) } {
        let expected = BigUint::from_slice(lanes[lane].base).pow(lanes[lane].exponent);
        let found = powers.lane(lane);
        if BigUint::from_slice(found) != expected {
            let (found, expected) = (head(found), head(&expected.to_u32_digits()));
            return Err(PowerError::Wrong { lane: first + lane as u64, found, expected }.into());
        }
    }
    Ok(wanted)
}

/// Writes the powers with their signs, and `-` for lanes without a base or an exponent.
fn write(sink: &mut Sink, lanes: &[Lane<'_>], powers: &Numbers) -> Result<()> {
    let status = |lane: &Lane<'_>| u32::from(lane.is_missing);
    let statuses = Batch::from_limbs(Shape::new(lanes.len(), 32), lanes.iter().map(status).collect())?;
    let statuses = Numbers::new(vec![statuses], None);
    let is_negative = |lane: &Lane<'_>| lane.is_negative && lane.exponent % 2 == 1;
    if !lanes.iter().any(is_negative) {
        return sink.write_columns(&[Column { numbers: powers, signed: false }], Some(&statuses));
    }
    let bits = 32 * powers.max_limbs() + 1;
    let shape = Shape::new(lanes.len(), bits);
    let mut limbs = vec![0; shape.words()];
    for (number, (lane, out)) in lanes.iter().zip(limbs.chunks_exact_mut(shape.limbs())).enumerate() {
        let power = powers.lane(number);
        out[..power.len()].copy_from_slice(power);
        if is_negative(lane) {
            crate::io::column::negate(out);
            if let Some(top) = out.last_mut() {
                *top &= 1;
            }
        }
    }
    let signed = Numbers::new(vec![Batch::from_limbs(shape, limbs)?], None);
    sink.write_columns(&[Column { numbers: &signed, signed: true }], Some(&statuses))
}
