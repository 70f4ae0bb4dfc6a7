//! `warpmp devices`: every engine and what it can do. No GPU is an answer, not an error.

use serde::Serialize;
use warpmp::{
    Session,
    device::{self, DeviceInfo},
};

use crate::{
    args::Devices,
    console,
    error::{Result, plural},
    tables,
};

/// An engine. What does not apply is absent.
#[derive(Debug, Default, Serialize)]
struct Engine {
    /// What `--device` calls it.
    id: String,
    kind: &'static str,
    name: String,
    usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simd: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    gpu: Option<Gpu>,
}

/// The figures of a GPU, as its driver tells them.
#[derive(Debug, Serialize)]
struct Gpu {
    capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    shared_bytes_per_block: u32,
    l2_bytes: u64,
    clock_khz: u32,
    memory_bandwidth_bytes_per_second: Option<u64>,
    copy_engines: u32,
    driver: Option<String>,
    /// The tuning table that decides, or what is wrong with the user's.
    tuning: String,
}

/// All engines, for `--json`.
#[derive(Debug, Serialize)]
struct Table {
    engines: Vec<Engine>,
    /// Why there is no GPU; none if there is one.
    no_gpu: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &Devices) -> Result<()> {
    let survey = device::devices();
    let mut engines = vec![cpu()];
    let no_gpu = match &survey.cuda {
        Ok(gpus) if gpus.is_empty() => Some("no NVIDIA GPU is visible".to_owned()),
        Ok(gpus) => {
            engines.extend(gpus.iter().map(|gpu| from_device(format!("cuda:{}", gpu.ordinal), "cuda", gpu)));
            None
        }
        Err(reason) => Some(reason.to_string()),
    };
    engines.push(from_device("sim".into(), "sim", &survey.sim));
    let table = Table { engines, no_gpu };
    if args.object.json {
        return console::print_object(&table);
    }
    console::print(&text(&table))
}

fn cpu() -> Engine {
    let name = Session::cpu().engine().name.clone();
    let threads = rayon::current_num_threads();
    Engine { id: "cpu".into(), kind: "cpu", name, usable: true, threads: Some(threads), simd: Some(simd()), gpu: None }
}

/// The vector instructions that make a difference to multiplication.
#[cfg(target_arch = "x86_64")]
fn simd() -> Vec<&'static str> {
    let features = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("adx", is_x86_feature_detected!("adx")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
    ];
    features.into_iter().filter(|(_, present)| *present).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn simd() -> Vec<&'static str> {
    Vec::new()
}

fn from_device(id: String, kind: &'static str, info: &DeviceInfo) -> Engine {
    let gpu = Gpu {
        capability: format!("{}.{}", info.capability / 10, info.capability % 10),
        multiprocessors: info.multiprocessors,
        memory_bytes: info.memory_bytes,
        shared_bytes_per_block: info.shared_bytes_per_block,
        l2_bytes: info.l2_bytes,
        clock_khz: info.clock_khz,
        memory_bandwidth_bytes_per_second: info.memory_bandwidth_bytes_per_second,
        copy_engines: info.copy_engines,
        driver: info.driver.map(|(major, minor)| format!("{major}.{minor}")),
        tuning: tables::describe(info.capability),
    };
    Engine { id, kind, name: info.name.clone(), usable: info.supported(), gpu: Some(gpu), ..Engine::default() }
}

fn text(table: &Table) -> String {
    let mut lines: Vec<String> =
        table.engines.iter().map(|engine| format!("{:<7} {}", engine.id, describe(engine))).collect();
    lines.extend(table.no_gpu.as_ref().map(|reason| format!("no GPU: {reason}")));
    lines.join("\n") + "\n"
}

fn describe(engine: &Engine) -> String {
    let mut parts = vec![engine.name.clone()];
    if let Some(simd) = engine.simd.as_ref().filter(|simd| !simd.is_empty()) {
        parts.push(simd.join(" "));
    }
    if let Some(gpu) = &engine.gpu {
        let Gpu { capability, multiprocessors, clock_khz, shared_bytes_per_block, .. } = gpu;
        parts.push(format!("capability {capability}"));
        parts.push(format!("{multiprocessors} multiprocessor{}", plural((*multiprocessors).into())));
        parts.push(format!("{} MiB", gpu.memory_bytes >> 20));
        if gpu.l2_bytes > 0 {
            parts.push(format!("L2 {} MiB", gpu.l2_bytes >> 20));
        }
        parts.push(format!("shared memory {} KiB a block", shared_bytes_per_block >> 10));
        if *clock_khz > 0 {
            parts.push(format!("{} MHz", clock_khz / 1000));
        }
        if let Some(rate) = gpu.memory_bandwidth_bytes_per_second {
            parts.push(format!("{} GB/s", rate / 1_000_000_000));
        }
        if let Some(driver) = &gpu.driver {
            parts.push(format!("driver for CUDA {driver}"));
        }
        parts.push(gpu.tuning.clone());
    }
    if !engine.usable {
        parts.push("too old to be used".into());
    }
    parts.join(", ")
}
