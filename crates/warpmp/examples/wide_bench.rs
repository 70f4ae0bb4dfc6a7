//! Times modular arithmetic and division of wide numbers, through a session on the first GPU and on the processor.
//!
//! ```sh
//! cargo run --release -p warpmp --example wide_bench -- [--layouts] [--lanes N] [--no-cpu] [--only NAME] BITS…
//! ```
//!
//! A sample of the results is compared with num-bigint before anything is timed; operands and results stay where the
//! session computes. `--layouts` tries several numbers of limbs a lane.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use warpmp::kernels::Settings;
use warpmp::tuning::{Candidate, Table};
use warpmp::{Batch, DeviceBatch, Operation, Selector, Session, Shape};
use warpmp_testkit::oracle::{self, Value};
use warpmp_testkit::{Operands, Pattern};

/// Wide products a second of an H200, measured.
const WIDE_PRODUCTS: f64 = 8.4e12;

/// Distinct lanes; what is more repeats them.
const DISTINCT: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut layouts, mut lanes, mut cpu, mut only, mut widths) = (false, 2640, true, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--layouts" => layouts = true,
            "--no-cpu" => cpu = false,
            "--only" => only = Some(arguments.next().ok_or("--only needs a name")?),
            "--lanes" => lanes = arguments.next().ok_or("--lanes needs a number")?.parse()?,
            bits => widths.push(bits.parse::<usize>()?),
        }
    }
    let mut session = Session::on(Selector::Cuda(None))?;
    let usual = session.table().ok_or("a GPU has a table")?.clone();
    println!("{}", session.engine().name);
    println!("{:34} {:>8} {:>10} {:>11} {:>9} {:>11}", "operation", "block", "ms", "per second", "of bound", "CPU");
    for bits in widths {
        let half = bits / 2;
        let cases: [(Operation, Vec<usize>); 11] = [
            (Operation::MontMul, vec![bits; 3]),
            (Operation::MontSqr, vec![bits; 2]),
            (Operation::ToMont, vec![bits; 2]),
            (Operation::PowModPublic(65537), vec![bits; 2]),
            (Operation::MulMod, vec![bits; 3]),
            (Operation::DivRem, vec![bits, half]),
            (Operation::DivRem, vec![bits, bits - 32]),
            (Operation::Sqrt, vec![bits]),
            (Operation::Gcd, vec![bits; 2]),
            (Operation::InvMod, vec![bits; 2]),
            (Operation::GcdExt, vec![bits; 2]),
        ];
        for (operation, bits) in cases {
            let left_out = only.as_ref().is_some_and(|name| *name != operation.name());
            if left_out {
                continue;
            }
            let tried = if layouts { vec![None, Some(36), Some(24), Some(17), Some(16), Some(9)] } else { vec![None] };
            for block in tried {
                session.set_table(usual.clone());
                if block.is_some() {
                    let settings = Settings { block, ..Settings::default() };
                    let candidate = Candidate { algorithm: "group", settings, kernel: String::new() };
                    let rest = Arc::new(usual.clone());
                    session.set_table(Table::of_one(operation, 90, &candidate).completed_by(rest));
                }
                let (rate, products) = measure(&session, operation, &bits, lanes)?;
                let processor = if cpu && block.is_none() {
                    format!("{:.3e}", measure(&Session::cpu(), operation, &bits, 64)?.0)
                } else {
                    "-".into()
                };
                let name = format!("{operation} {bits:?}");
                let part = rate * products as f64 / WIDE_PRODUCTS;
                let block = block.map_or("-".into(), |block| block.to_string());
                let milliseconds = 1e3 * lanes as f64 / rate;
                println!("{name:34} {block:>8} {milliseconds:>10.3} {rate:>11.3e} {part:>9.2} {processor:>11}");
            }
        }
    }
    Ok(())
}

/// Operations a second, and wide products of one.
fn measure(
    session: &Session,
    operation: Operation,
    bits: &[usize],
    lanes: usize,
) -> Result<(f64, u64), Box<dyn Error>> {
    let operands = operands(operation, bits);
    let mut resident: Vec<DeviceBatch> = Vec::new();
    for operand in &operands {
        let limbs: Vec<u32> = (0..lanes).flat_map(|lane| operand.lane(lane % DISTINCT).to_vec()).collect();
        resident.push(session.upload(&Batch::borrow(Shape::new(lanes, operand.bits), &limbs)?)?);
    }
    let borrowed: Vec<&DeviceBatch> = resident.iter().collect();
    let shapes: Vec<Shape> = resident.iter().map(DeviceBatch::shape).collect();
    let shapes = operation.results(&shapes)?;
    let mut into = shapes.iter().map(|&shape| session.reserve(shape)).collect::<Result<Vec<_>, _>>()?;
    (into, _) = session.apply_device_into(operation, &borrowed, None, into)?;
    check(session, operation, &operands, &into, lanes)?;
    let mut best = Duration::MAX;
    let start = Instant::now();
    for _ in 0..3 {
        let report;
        (into, report) = session.apply_device_into(operation, &borrowed, None, into)?;
        best = best.min(report.kernel);
        if start.elapsed() > Duration::from_secs(4) {
            break;
        }
    }
    let products = match (session.device(), session.table()) {
        (Some(device), Some(table)) => {
            let shapes: Vec<Shape> = resident.iter().map(DeviceBatch::shape).collect();
            let plan = warpmp::Plan::new(operation, &shapes, device.info(), table, None)?;
            plan.wide_products() / lanes as u64
        }
        _ => 0,
    };
    Ok((lanes as f64 / best.as_secs_f64(), products))
}

/// Random operands; moduli odd and with their top bit, what must be reduced a bit shorter.
fn operands(operation: Operation, bits: &[usize]) -> Vec<Operands> {
    let has_modulus = operation.has_status();
    let last = bits.len() - 1;
    let make = |(i, &bits): (usize, &usize)| {
        let drawn = if has_modulus && i < last && operation != Operation::DivRem { bits - 1 } else { bits };
        let mut operands = Operands::generate(Pattern::Random, DISTINCT, drawn, i as u64);
        operands.bits = bits;
        if i == last {
            let width = bits.div_ceil(32);
            for row in operands.limbs.chunks_exact_mut(width) {
                row[0] |= 1;
                row[width - 1] |= 1 << ((bits - 1) % 32);
            }
        }
        operands
    };
    bits.iter().enumerate().map(make).collect()
}

/// Compares the first lane and the last one with the oracle.
fn check(
    session: &Session,
    operation: Operation,
    operands: &[Operands],
    results: &[DeviceBatch],
    lanes: usize,
) -> Result<(), Box<dyn Error>> {
    let results = results.iter().map(|result| session.download(result)).collect::<Result<Vec<_>, _>>()?;
    for lane in [0, lanes - 1] {
        let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane % DISTINCT), it.bits)).collect();
        let expected = oracle::apply(operation, &values);
        for (i, (expected, found)) in expected.iter().zip(&results).enumerate() {
            let width = found.bits().div_ceil(32);
            let found = oracle::number(&found.limbs()[lane * width..][..width]);
            if found != expected.number {
                return Err(format!("{operation}: lane {lane}, result {i} is wrong").into());
            }
        }
    }
    Ok(())
}
