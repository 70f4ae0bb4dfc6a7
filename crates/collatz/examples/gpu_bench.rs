//! Checks the kernels against the CPU and times them at full size: `gpu_bench [SECTION …]`.
//!
//! Sections: `check`, `dfs` (the last 2^44 below 2^64, and windows at 2^71), `honda`, `delay`, `alpha`; all of them by default. Settings after a
//! section's name, as in `dfs:leaf=34,ahead=33,warps=16,blocks=3,jump=12,windows=10`. `sim` runs on the simulator.
#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use warpmp_collatz::{
    cpu::Cpu,
    dfs::Plan,
    engine::{Control, Engine, Outcome},
    gpu::{Gpu, Settings},
    window::Window,
};
use warpmp_device::{Device, open_cuda, open_sim};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// A section's name and its settings.
struct Section {
    name: String,
    settings: Vec<(String, u32)>,
}

impl Section {
    fn parse(text: &str) -> Result<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let setting = |part: &str| -> Result<(String, u32)> {
            let (key, value) = part.split_once('=').ok_or("expected key=value")?;
            Ok((key.into(), value.parse()?))
        };
        let settings = rest.split(',').filter(|part| !part.is_empty()).map(setting).collect::<Result<_>>()?;
        Ok(Self { name: name.into(), settings })
    }

    fn get(&self, key: &str, default: u32) -> u32 {
        self.settings.iter().find(|(name, _)| name == key).map_or(default, |&(_, value)| value)
    }
}

fn main() -> Result {
    let mut sections: Vec<Section> = env::args().skip(1).map(|text| Section::parse(&text)).collect::<Result<_>>()?;
    let simulated = sections.iter().any(|section| section.name == "sim");
    sections.retain(|section| section.name != "sim");
    if sections.is_empty() {
        sections = ["check", "dfs"].map(|name| Section { name: name.into(), settings: Vec::new() }).into();
    }
    let device = if simulated { open_sim() } else { open_cuda(0)? };
    println!("{}", device.info());
    for section in &sections {
        match section.name.as_str() {
            "check" => check(&device)?,
            "dfs" => dfs(&device, section)?,
            other => return Err(format!("no section {other}").into()),
        }
    }
    Ok(())
}

/// Small windows on the device and on the CPU.
fn check(device: &Arc<dyn Device>) -> Result {
    for (plan, jump_bits) in
        [(Plan::new(14, 24, 16, 5)?, 12), (Plan::new(12, 18, 12, 6)?, 6), (Plan::new(16, 26, 13, 4)?, 13)]
    {
        let settings = Settings { jump_bits, ..Settings::default() };
        let (mut gpu, mut cpu) = (Gpu::new(device.clone(), settings), Cpu::new());
        let unit = 1_u128 << (plan.leaf_bits + 10);
        for from in [1 << 42, (1 << 64) - 2 * unit, 1 << 64, 1 << 68, 1 << 71, 1 << 90] {
            let window = Window::new(from, 2 * unit)?;
            let control = Control::default();
            let (ours, theirs) = (gpu.dfs(&plan, &window, &control)?, cpu.dfs(&plan, &window, &control)?);
            if (ours.tested, ours.checksum) != (theirs.tested, theirs.checksum) || ours.overflowed != ours.finished {
                return Err(format!("{plan:?} {window}: {ours:?}, but the CPU says {theirs:?}").into());
            }
            println!(
                "check {plan:?} from 2^{:.1}: {} tested, {} overflowed: right",
                (from as f64).log2(),
                ours.tested,
                ours.overflowed
            );
        }
    }
    Ok(())
}

/// Windows of the default scheme.
fn dfs(device: &Arc<dyn Device>, section: &Section) -> Result {
    let ahead = section.get("ahead", 36);
    let plan = Plan::new(section.get("leaf", 34), ahead, section.get("rare", ahead.min(24)), section.get("main", 9))?;
    let defaults = Settings::default();
    let settings = Settings {
        jump_bits: section.get("jump", 12),
        warps: section.get("warps", 16),
        blocks: section.get("blocks", 3),
        ..defaults
    };
    let mut gpu = Gpu::new(device.clone(), settings);
    let begin = Instant::now();
    let leaves = gpu.prepare(&plan)?;
    println!(
        "dfs {plan:?} {settings:?}: {leaves} leaves, made with the vectors in {:.2} s",
        begin.elapsed().as_secs_f64()
    );
    let unit = 1_u128 << (plan.leaf_bits + 10);
    let windows = u128::from(section.get("windows", 10));
    for end in [1_u128 << 64, 1 << 71] {
        let control = Control::default();
        let mut times = Vec::new();
        let mut outcome = Outcome::default();
        // The first loads the modules.
        for index in 0..=windows {
            let window = Window::new(end - (index + 1) * unit, unit)?;
            let begin = Instant::now();
            outcome = gpu.dfs(&plan, &window, &control)?;
            times.push(begin.elapsed());
        }
        let time = median(&mut times[1..]);
        println!(
            "dfs below 2^{}, windows of 2^{}: {:.4e} numbers/s ({:.2} ms; {:.4e} of them tested, {:.3e} tested/s; {} overflowed)",
            end.ilog2(),
            plan.leaf_bits + 10,
            unit as f64 / time.as_secs_f64(),
            time.as_secs_f64() * 1e3,
            outcome.tested as f64 / unit as f64,
            outcome.tested as f64 / time.as_secs_f64(),
            outcome.overflowed
        );
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
