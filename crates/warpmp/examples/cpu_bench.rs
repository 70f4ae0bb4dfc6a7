//! Time of a product on one core, beside two libraries: `cargo run --release -p warpmp --example cpu_bench`.
//!
//! Prints nanoseconds a product (the fastest of many short runs: the least disturbed) for num-bigint,
//! dashu, the CPU engine's default and the algorithms named as arguments, how often the default
//! goes into the faster library, and nanoseconds a square. The crossovers in the engine's table come from here.

use std::hint::black_box;
use std::time::Instant;

use num_bigint::BigUint;
use warpmp::{Batch, Operation, Options, Session, Shape};
use warpmp_testkit::{Operands, Pattern, oracle};

const SIZES: &[usize] =
    &[64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536];
const RUNS: usize = 40;
/// Limb products a run, roughly: a millisecond.
const WORK: usize = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let session = Session::cpu();
    let algorithms: Vec<String> = std::env::args().skip(1).collect();
    print!("{:>6} {:>10} {:>10} {:>10} {:>6} {:>10}", "bits", "num-bigint", "dashu", "default", "ratio", "square");
    for name in &algorithms {
        print!(" {name:>15}");
    }
    println!("  algorithm");
    for &bits in SIZES {
        let limbs = bits / 32;
        let lanes = (WORK / (limbs * limbs)).clamp(16, 50_000) / 8 * 8;
        let [a, b] = [1, 2].map(|seed| Operands::generate(Pattern::Random, lanes, bits, seed));
        let bigint = libraries_time(&a, &b, oracle::number, |x, y| x * y);
        let dashu = libraries_time(&a, &b, dashu_number, |x, y| x * y);
        let (default, name) = engine_time(&session, &[&a, &b], None)?;
        let (square, _) = engine_time(&session, &[&a], None)?;
        let ratio = bigint.min(dashu) / default;
        print!("{bits:>6} {bigint:>10.1} {dashu:>10.1} {default:>10.1} {ratio:>6.2} {square:>10.1}");
        for name in &algorithms {
            match engine_time(&session, &[&a, &b], Some(name)) {
                Ok((time, _)) => print!(" {time:>15.1}"),
                Err(_) => print!(" {:>15}", "-"),
            }
        }
        println!("  {name}");
    }
    Ok(())
}

/// The shortest time of a product in nanoseconds.
fn fastest(lanes: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e9 / lanes as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The library's product alone: numbers are made beforehand, as its users have them.
fn libraries_time<N>(a: &Operands, b: &Operands, number: fn(&[u32]) -> N, mul: fn(&N, &N) -> N) -> f64 {
    let numbers = |operands: &Operands| (0..operands.lanes).map(|lane| number(operands.lane(lane))).collect();
    let (a, b): (Vec<N>, Vec<N>) = (numbers(a), numbers(b));
    fastest(a.len(), || {
        a.iter().zip(&b).for_each(|(x, y)| {
            black_box(mul(x, y));
        });
    })
}

fn dashu_number(limbs: &[u32]) -> dashu_int::UBig {
    dashu_int::UBig::from_le_bytes(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
}

/// The engine's time, after a look at whether it is right.
fn engine_time(
    session: &Session,
    operands: &[&Operands],
    algorithm: Option<&str>,
) -> Result<(f64, String), warpmp::Error> {
    let (a, b) = (operands[0], operands[operands.len() - 1]);
    let shape = Shape::new(a.lanes, a.bits);
    let operation = if operands.len() == 1 { Operation::Sqr } else { Operation::Mul };
    let batches = operands.iter().map(|it| Batch::borrow(shape, &it.limbs)).collect::<Result<Vec<_>, _>>()?;
    let batches: Vec<&Batch> = batches.iter().collect();
    let mut into = Some(session.host_buffer(2 * shape.words())?);
    let mut name = String::new();
    let mut failed = None;
    let time = fastest(shape.lanes, || {
        let Some(memory) = into.take() else { return };
        let mut options = Options::new().into(memory);
        options.algorithm = algorithm.map(str::to_owned);
        match session.apply(operation, &batches, options) {
            Ok((products, report)) => {
                name = report.algorithm;
                into = products.into_iter().next().map(Batch::into_buffer);
            }
            Err(error) => failed = Some(error),
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let products = into.unwrap_or_else(|| Vec::new().into());
    for lane in [0, shape.lanes / 2, shape.lanes - 1] {
        let expected: BigUint = oracle::number(a.lane(lane)) * oracle::number(b.lane(lane));
        let width = 2 * shape.limbs();
        assert_eq!(oracle::number(&products.as_slice()[lane * width..][..width]), expected, "{name}, lane {lane}");
    }
    Ok((time, name))
}
