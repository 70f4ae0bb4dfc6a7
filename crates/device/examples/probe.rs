//! Shows every device and, on the first GPU, checks this crate and measures what a program can count on:
//! copies, launches, the compiler's refusal, the end of a device.
//!
//! ```text
//! cargo run --release -p warpmp-device --example probe
//! ```

#[path = "../tests/common/mod.rs"]
mod common;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use warpmp_device::{Arg, Device, Error, Grid, LoadOptions, Pinned, Result, Stream, devices, open_cuda};

use common::{CHECKS, add_value, undeclared};

fn main() -> ExitCode {
    let survey = devices();
    match &survey.cuda {
        Ok(gpus) => gpus.iter().for_each(|gpu| println!("{gpu:#?}")),
        Err(reason) => {
            println!("no GPU: {reason}");
            return ExitCode::SUCCESS;
        }
    }
    match probe() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn probe() -> Result<()> {
    let device = open_cuda(0)?;
    for (name, check) in CHECKS {
        check(&*device);
        println!("ok      {name}");
    }
    println!("free    {} MiB", device.free_bytes()? >> 20);
    loads(&*device)?;
    let stream = device.stream()?;
    host_copies(&*device, &stream)?;
    both_directions(&*device, &stream)?;
    device_copies(&*device, &stream)?;
    launches(&*device, &stream)?;
    drop(stream);
    end(device)
}

fn loads(device: &dyn Device) -> Result<()> {
    for optimisation in [None, Some(0), Some(1), Some(4)] {
        let mut kernel = add_value();
        kernel.name = "probe".into();
        println!(
            "load    {optimisation:?}: {:?}",
            device.load_with(&kernel, LoadOptions { optimisation })?.resources()
        );
    }
    match device.load(&undeclared()) {
        Err(error @ Error::KernelRefused { .. }) => println!("refused {error}"),
        other => println!("NOT refused: {other:?}"),
    }
    Ok(())
}

/// The time of what `work` puts on the stream.
fn timed(device: &dyn Device, stream: &Stream, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let (start, end) = (device.event()?, device.event()?);
    device.record(stream, &start)?;
    work()?;
    device.record(stream, &end)?;
    device.elapsed(&start, &end)
}

fn report(what: &str, bytes: u64, time: Duration) {
    println!("{what}: {:.1} GB/s", bytes as f64 / time.as_secs_f64() / 1e9);
}

const HOST_WORDS: usize = 64 << 20;
const HOST_BYTES: u64 = 4 * HOST_WORDS as u64;

fn host_copies(device: &dyn Device, stream: &Stream) -> Result<()> {
    let buffer = device.alloc(HOST_BYTES)?;
    let mut memory = device.pinned(HOST_WORDS)?;
    memory.fill(1);
    for _ in 0..3 {
        let mut moved = Pinned::default();
        let up = timed(device, stream, || {
            moved = device.upload_pinned(stream, std::mem::take(&mut memory), HOST_WORDS, &buffer, 0)?.wait()?;
            Ok(())
        })?;
        report("copy    host to device, page-locked", HOST_BYTES, up);
        let down = timed(device, stream, || {
            memory = device.download_pinned(stream, &buffer, 0, moved, HOST_WORDS)?.wait()?;
            Ok(())
        })?;
        report("copy    device to host, page-locked", HOST_BYTES, down);
    }
    let mut plain = vec![1; HOST_WORDS];
    for _ in 0..2 {
        report("copy    host to device, ordinary", HOST_BYTES, {
            timed(device, stream, || device.upload(stream, &plain, &buffer, 0))?
        });
        report("copy    device to host, ordinary", HOST_BYTES, {
            timed(device, stream, || device.download(stream, &buffer, 0, &mut plain))?
        });
    }
    Ok(())
}

fn both_directions(device: &dyn Device, stream: &Stream) -> Result<()> {
    let other = device.stream()?;
    let (up, down) = (device.alloc(HOST_BYTES)?, device.alloc(HOST_BYTES)?);
    device.fill(stream, &down, 0, 1, HOST_WORDS)?;
    let (sent, received) = (device.pinned(HOST_WORDS)?, device.pinned(HOST_WORDS)?);
    let time = timed(device, stream, || {
        let download = device.download_pinned(&other, &down, 0, received, HOST_WORDS)?;
        let upload = device.upload_pinned(stream, sent, HOST_WORDS, &up, 0)?;
        download.wait()?;
        upload.wait().map(drop)
    })?;
    report("copy    both directions at once, together", 2 * HOST_BYTES, time);
    Ok(())
}

fn device_copies(device: &dyn Device, stream: &Stream) -> Result<()> {
    let (bytes, words) = (1 << 30, 1 << 28);
    let (a, b) = (device.alloc(bytes)?, device.alloc(bytes)?);
    device.fill(stream, &a, 0, 1, words)?;
    device.copy(stream, &a, 0, &b, 0, words)?;
    let mut times = Vec::new();
    for _ in 0..20 {
        times.push(timed(device, stream, || device.copy(stream, &a, 0, &b, 0, words))?);
    }
    times.sort_unstable();
    report("copy    within the device, read and write, median of 20", 2 * bytes, times[times.len() / 2]);
    report("fill    median of 1", bytes, timed(device, stream, || device.fill(stream, &a, 0, 1, words))?);
    Ok(())
}

fn launches(device: &dyn Device, stream: &Stream) -> Result<()> {
    let module = device.load(&add_value())?;
    let buffer = device.alloc(128)?;
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
    let args = [Arg::from(&buffer), Arg::U32(32), Arg::U32(1)];
    let time = timed(device, stream, || (0..10_000).try_for_each(|_| device.launch(stream, &module, grid, &args)))?;
    println!("launch  {:.2} µs each, 10000 in a row", time.as_secs_f64() * 1e6 / 1e4);
    Ok(())
}

/// A kernel that writes where nothing is: the last thing that a device does.
fn end(device: Arc<dyn Device>) -> Result<()> {
    let stream = device.stream()?;
    let module = device.load(&add_value())?;
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
    device.launch(&stream, &module, grid, &[Arg::U64(64), Arg::U32(32), Arg::U32(1)])?;
    println!("fault   {:?}", device.synchronize(&stream));
    println!("later   {:?}", device.alloc(1));
    drop((stream, module, device));
    match open_cuda(0).and_then(|device| device.alloc(1)) {
        Ok(_) => println!("reopen  works"),
        Err(error) => println!("reopen  {error}"),
    }
    Ok(())
}
