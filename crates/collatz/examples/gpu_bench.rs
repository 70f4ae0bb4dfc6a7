//! Checks the kernels against the CPU and times them at full size: `gpu_bench [SECTION …]`.
//!
//! Sections: `check`, `dfs` (the last 2^44 below 2^64, and windows at 2^71), `honda`, `delay`, `alpha` (published work
//! units), `records` (delay records in windows of 2^40 above 2^50); all of them by
//! default. Settings after a section's name, as in `dfs:leaf=34,ahead=33,warps=16,blocks=3,jump=12,windows=10`,
//! `honda:sieve=37`, `honda:sieve=34,base=11,threads=128,global=0,sieved=0`, `delay:bits=28`,
//! `delay:bits=30,base=14,known=21,large=2,small=5,chunk=2048,warps=24,blocks=2`, `alpha:sieve=32`. `sim` runs on the simulator.
#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use warpmp_collatz::{
    alpha::{Plan as AlphaPlan, Sieve},
    cpu::Cpu,
    dfs::Plan,
    engine::{Control, Engine, Outcome},
    gpu::{
        Gpu, Settings,
        alpha::Units,
        delay::{Delays, SETTINGS, Starts},
        delay_records::{DelayRecords, SETTINGS as DELAY_RECORDS},
        honda::Honda,
    },
    honda::Plan as HondaPlan,
    kernels::{
        alpha::UNIT_BITS,
        delay_pools::DelayPools,
        delay_records::DelayRecords as DelayRecordsKernel,
        honda::{Begin, Honda as HondaKernel, Place},
    },
    number::trace,
    records::{Kind, known},
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
        sections = ["check", "dfs", "honda", "delay", "alpha"]
            .map(|name| Section { name: name.into(), settings: Vec::new() })
            .into();
    }
    let device = if simulated { open_sim() } else { open_cuda(0)? };
    println!("{}", device.info());
    for section in &sections {
        match section.name.as_str() {
            "check" => check(&device)?,
            "dfs" => dfs(&device, section)?,
            "honda" => honda(&device, section)?,
            "delay" => delay(&device, section)?,
            "alpha" => alpha(&device, section)?,
            "records" => delay_records(&device, section)?,
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
            if (ours.tested, ours.checksum) != (theirs.tested, theirs.checksum) || ours.overflowed > ours.finished {
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
    let plan = HondaPlan::new(16, 11)?;
    let (mut gpu, mut cpu) = (Gpu::new(device.clone(), Settings::default()), Cpu::new());
    let control = Control::default();
    for from in [1 << 24, (1 << 64) - (1 << 24)] {
        let window = Window::new(from, 1 << 24)?;
        let (ours, theirs) = (gpu.honda(&plan, &window, &control)?, cpu.honda(&plan, &window, &control)?);
        if (ours.tested, ours.checksum) != (theirs.tested, theirs.checksum) || ours.overflowed > ours.finished {
            return Err(format!("{plan:?} {window}: {ours:?}, but the CPU says {theirs:?}").into());
        }
        println!("check {plan:?} {window}: {} tested, {} overflowed: right", ours.tested, ours.overflowed);
    }
    for from in [1, (1_u128 << 63) - 10_000, (1 << 64) - 20_000] {
        let (mut ours, mut theirs) = (vec![0; 20_000], vec![0; 20_000]);
        gpu.delays(from, &mut ours, &control)?;
        cpu.delays(from, &mut theirs, &control)?;
        if ours != theirs {
            return Err(format!("delays from {from} differ").into());
        }
        println!("check delays from {from}: right");
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
            "dfs below 2^{}, windows of 2^{}: {:.4e} numbers/s ({:.2} ms; {:.4e} of them tested, {:.3e} tested/s; {} finished on the host)",
            end.ilog2(),
            plan.leaf_bits + 10,
            unit as f64 / time.as_secs_f64(),
            time.as_secs_f64() * 1e3,
            outcome.tested as f64 / unit as f64,
            outcome.tested as f64 / time.as_secs_f64(),
            outcome.finished
        );
    }
    Ok(())
}

/// The dissertation's workload: random M, all residues, 256 starts each.
fn honda(device: &Arc<dyn Device>, section: &Section) -> Result {
    let sieve_bits = section.get("sieve", 37);
    let first = HondaKernel {
        base_bits: section.get("base", 11),
        place: if section.get("global", 0) == 0 { Place::Shared } else { Place::Global },
        begin: if section.get("sieved", 0) == 0 { Begin::Start } else { Begin::AfterSieve },
        sieve_bits,
        threads: section.get("threads", 256),
    };
    let mut specs = vec![first];
    if section.get("base", 0) == 0 {
        specs.extend([10, 12, 13].map(|base_bits| HondaKernel { base_bits, ..first }));
        specs.extend([14, 16, 18].map(|base_bits| HondaKernel { base_bits, place: Place::Global, ..first }));
        specs.push(HondaKernel { threads: 512, ..first });
        if sieve_bits >= 32 {
            specs.push(HondaKernel { begin: Begin::AfterSieve, ..first });
        }
    }
    let begin = Instant::now();
    let mut scheme = Honda::new(device, first)?;
    println!("honda: {} residues of {sieve_bits} bits in {:.2} s", scheme.residues(), begin.elapsed().as_secs_f64());
    let constant = 0x5A5A_5A5A_5A5A_5A5A >> 8 & ((1 << (56 - sieve_bits)) - 1);
    scheme.run(constant)?;
    for spec in specs {
        scheme.change(spec)?;
        let begin = Instant::now();
        let outcome = scheme.run(constant)?;
        let seconds = begin.elapsed().as_secs_f64();
        let numbers = 2_f64.powi(sieve_bits as i32 + 8);
        println!(
            "{}: {:.4e} numbers/s ({seconds:.3} s; {:.3e} tested/s; {} overflowed and finished, checksum {:016x})",
            spec.name(),
            numbers / seconds,
            outcome.tested as f64 / seconds,
            outcome.overflowed,
            outcome.checksum
        );
    }
    Ok(())
}

/// Delays of random 64-bit numbers, every one stored.
fn delay(device: &Arc<dyn Device>, section: &Section) -> Result {
    let count = 1_u32 << section.get("bits", 30);
    let stream = device.stream()?;
    let (starts, out) = (device.alloc(8 * u64::from(count))?, device.alloc(4 * u64::from(count))?);
    let number = |index: u64| {
        let z = index.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(12345);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).max(1)
    };
    let piece = count.min(1 << 24);
    for first in (0..count).step_by(piece as usize) {
        let words = |index| [number(index) as u32, (number(index) >> 32) as u32];
        let words: Vec<u32> = (u64::from(first)..u64::from(first + piece)).flat_map(words).collect();
        device.upload(&stream, &words, &starts, 2 * first as usize)?;
    }
    let first = DelayPools {
        base_bits: section.get("base", SETTINGS.base_bits),
        known_bits: section.get("known", SETTINGS.known_bits),
        large_jumps: section.get("large", SETTINGS.large_jumps),
        small_jumps: section.get("small", SETTINGS.small_jumps),
        chunk: section.get("chunk", SETTINGS.chunk),
        warps: section.get("warps", SETTINGS.warps),
        blocks: section.get("blocks", SETTINGS.blocks),
        ..SETTINGS
    };
    let mut specs = vec![first];
    if section.settings.iter().all(|(name, _)| name == "bits") {
        specs.extend([20, 22, 23].map(|known_bits| DelayPools { known_bits, ..first }));
        specs.extend([(2, 4), (2, 7), (3, 5), (1, 5)].map(|(large_jumps, small_jumps)| DelayPools {
            large_jumps,
            small_jumps,
            ..first
        }));
        specs.extend([1024, 4096].map(|chunk| DelayPools { chunk, ..first }));
        specs.push(DelayPools { base_bits: 13, warps: 20, blocks: 3, ..first });
        specs.push(DelayPools { base_bits: 14, warps: 16, blocks: 2, ..first });
        specs.push(DelayPools { base_bits: 15, warps: 32, blocks: 1, ..first });
    }
    for spec in specs {
        let mut delays = Delays::new(device, spec)?;
        let mut times = Vec::new();
        let mut finished = 0;
        for _ in 0..4 {
            let begin = Instant::now();
            finished = delays.run(Starts::In(&starts), count, &out)?;
            times.push(begin.elapsed());
        }
        let mut found = vec![0; count as usize];
        device.download(&stream, &out, 0, &mut found)?;
        for index in (0..count).step_by((count / 4096).max(1) as usize) {
            let (start, found) = (number(index.into()), found[index as usize]);
            let right = trace(start.into(), |_| true)?.delay();
            if right != u64::from(found) {
                return Err(format!("{}: the delay of {start} is {right}, not {found}", spec.name()).into());
            }
        }
        let time = median(&mut times[1..]).as_secs_f64();
        println!(
            "{}: {:.4e} delays/s ({:.2} ms; {finished} finished on the host; a sample is right)",
            spec.name(),
            f64::from(count) / time,
            time * 1e3
        );
    }
    Ok(())
}

/// Published work units: all rows of the list with this many bits of the sieve.
fn alpha(device: &Arc<dyn Device>, section: &Section) -> Result {
    let bits = section.get("sieve", 24);
    let begin = Instant::now();
    let sieve = Sieve::new(&AlphaPlan::new(bits, 9)?)?;
    println!("alpha: {} residues of {bits} bits in {:.2} s", sieve.residues().len(), begin.elapsed().as_secs_f64());
    let rows = include_str!("../data/barina_workunits.csv").lines();
    let rows = rows.filter_map(|row| row.split(',').map(|cell| cell.parse().ok()).collect::<Option<Vec<u64>>>());
    let mut units: Option<(u64, Units)> = None;
    for row in rows {
        let [sieve_bits, modulus, unit, checksum, offset] = row[..] else {
            return Err("five columns are needed".into());
        };
        if sieve_bits != u64::from(bits) {
            continue;
        }
        let mut of_modulus = match units.take().filter(|units| units.0 == modulus) {
            Some((_, units)) => units,
            None => Units::new(device, (bits, UNIT_BITS), modulus as u32, sieve.residues())?,
        };
        let begin = Instant::now();
        let result = of_modulus.run(unit.into(), None)?;
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "alpha, {bits} bits, modulo {modulus}, unit {unit}: {seconds:.3} s, {:.4e} numbers/s; {} overflowed",
            2_f64.powi(UNIT_BITS as i32) / seconds,
            result.overflowed
        );
        if (result.checksum, result.offset) != (checksum, offset) {
            return Err(format!("unit {unit}: published {checksum} and {offset}, found {result:?}").into());
        }
        units = Some((modulus, of_modulus));
    }
    println!("alpha: checksums and highest starts are the published ones");
    Ok(())
}

/// Windows of 2^40 numbers above 2^50, by the records known below.
fn delay_records(device: &Arc<dyn Device>, section: &Section) -> Result {
    let spec = DelayRecordsKernel {
        base_bits: section.get("base", DELAY_RECORDS.base_bits),
        known_bits: section.get("known", DELAY_RECORDS.known_bits),
        sieve_bits: section.get("sieve", DELAY_RECORDS.sieve_bits),
        ..DELAY_RECORDS
    };
    let known: Vec<(u64, u32)> = known(Kind::Delay)
        .iter()
        .filter_map(|record| Some((record.start.try_into().ok()?, (&record.figure).try_into().ok()?)))
        .collect();
    let mut search = DelayRecords::new(device, spec)?;
    println!("records: {} residues of {} bits", search.residues(), spec.sieve_bits);
    let before = |end: u64| -> Vec<(u64, u32)> { known.iter().copied().filter(|record| record.0 < end).collect() };
    let mut times = Vec::new();
    for window in 1 << 10..(1 << 10) + 6 {
        let begin = Instant::now();
        search.longer(window, &before(window << 40), u128::from(window) << 40)?;
        times.push(begin.elapsed());
    }
    let time = median(&mut times[1..]).as_secs_f64();
    println!("{}: {:.4e} numbers/s above 2^50 ({:.1} ms a window)", spec.name(), 2_f64.powi(40) / time, time * 1e3);
    // The windows with known odd records have them, and no other.
    for &(start, delay) in known.iter().filter(|record| record.0 > 1 << 50 && record.0 % 2 == 1).take(6) {
        let window = start >> 40;
        let found = search.longer(window, &before(window << 40), u128::from(window) << 40)?;
        let first = found.iter().find(|found| found.1 >= delay);
        println!(
            "record {start}, delay {delay}: {} starts found, {}",
            found.len(),
            if first == Some(&(start, delay)) { "right" } else { "WRONG" }
        );
        if first != Some(&(start, delay)) {
            return Err(format!("{start} was not found: {found:?}").into());
        }
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
