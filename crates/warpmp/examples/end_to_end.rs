//! Products of host memory on a GPU, end to end, beside what the bus alone takes; then on all GPUs, if there are several:
//! `cargo run --release -p warpmp --example end_to_end -- [LANES] [BITS]` (4 million of 1024).
//!
//! The operands together are as large as the products, so both directions of the bus carry the same.
//! Prints the median of several runs, from page-locked and from ordinary memory, and its ratio to the
//! slower direction's copy measured just before.

use std::time::{Duration, Instant};

use warpmp::{Batch, Error, HostBuffer, Operation, Options, Selector, Session, Shape};
use warpmp_testkit::{Operands, Pattern, oracle};

const RUNS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<usize>());
    let lanes = args.next().transpose()?.unwrap_or(4 << 20);
    let bits = args.next().transpose()?.unwrap_or(1024);
    let session = Session::on(Selector::Cuda(None)).or_else(|reason| {
        println!("no GPU ({reason}): the simulator, which tells nothing about time");
        Session::on(Selector::Sim)
    })?;
    let shape = Shape::new(lanes, bits);
    let product = Shape::new(lanes, 2 * bits);
    let bus = bus(&session, product)?;
    measure(&session, shape, bus)?;
    drop(session);
    match Session::on(Selector::AllCuda) {
        Ok(all) if all.devices().count() > 1 => measure(&all, shape, bus),
        _ => Ok(()),
    }
}

/// Prints the times of products of operands of this shape, from memory of both kinds.
fn measure(session: &Session, shape: Shape, bus: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let Shape { lanes, bits } = shape;
    let product = Shape::new(lanes, 2 * bits);
    println!("{}: {lanes} products of {bits} by {bits} bits", session.engine().name);
    // A part is drawn, the rest repeats it: drawing a gigabyte would take longer than all else.
    let part = lanes.min(1 << 16);
    let [a, b] = [1, 2].map(|seed| Operands::generate(Pattern::Carry, part, bits, seed));
    let fill = |memory: &mut HostBuffer, operands: &Operands| {
        for chunk in memory.as_mut_slice().chunks_mut(operands.limbs.len()) {
            chunk.copy_from_slice(&operands.limbs[..chunk.len()]);
        }
    };
    let [page_locked, ordinary] = [true, false].map(|pinned| {
        let memory = |words: usize| if pinned { session.host_buffer(words) } else { Ok(vec![0; words].into()) };
        let operand = |operands: &Operands| {
            let mut memory: HostBuffer = memory(shape.words())?;
            fill(&mut memory, operands);
            Batch::from_buffer(shape, memory)
        };
        let mut into = Some(memory(product.words())?);
        let (x, y) = (operand(&a)?, operand(&b)?);
        let mut kernel = Duration::ZERO;
        let time = median(|| {
            let mut options = Options::new();
            options.into.extend(into.take());
            let (products, report) = session.apply(Operation::Mul, &[&x, &y], options)?;
            kernel = report.kernel;
            into = products.into_iter().next().map(Batch::into_buffer);
            Ok(())
        })?;
        let products = into.unwrap_or_else(|| Vec::new().into());
        for lane in (0..lanes).step_by(lanes.div_ceil(100)) {
            let expected = oracle::mul(a.lane(lane % part), b.lane(lane % part), product.limbs());
            assert_eq!(products.as_slice()[lane * product.limbs()..][..product.limbs()], expected, "lane {lane}");
        }
        Ok::<_, Error>((time, kernel))
    });
    for (name, result) in [("page-locked", page_locked), ("ordinary", ordinary)] {
        let (time, kernel) = result?;
        let (ms, ratio) = (1e3 * time.as_secs_f64(), time.as_secs_f64() / bus.as_secs_f64());
        println!("{name:>12}: {ms:8.2} ms, {ratio:5.2} × the bus; kernels {:.2} ms", 1e3 * kernel.as_secs_f64());
    }
    Ok(())
}

/// What the slower direction takes to copy page-locked memory of this shape.
fn bus(session: &Session, shape: Shape) -> Result<Duration, Box<dyn std::error::Error>> {
    let device = session.device().ok_or("a session without a device")?;
    let (stream, memory) = (device.stream()?, session.reserve(shape)?);
    let buffer = memory.buffer().ok_or("a batch without a buffer")?;
    let mut host = session.host_buffer(shape.words())?;
    let up = median(|| Ok(device.upload(&stream, host.as_slice(), buffer, 0)?))?;
    let down = median(|| Ok(device.download(&stream, buffer, 0, host.as_mut_slice())?))?;
    for (name, time) in [("upload", up), ("download", down)] {
        let gb = shape.bytes() as f64 / 1e9;
        println!("{name:>12}: {:8.2} ms, {:.1} GB/s", 1e3 * time.as_secs_f64(), gb / time.as_secs_f64());
    }
    Ok(up.max(down))
}

fn median(mut run: impl FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    run()?;
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[RUNS / 2])
}
