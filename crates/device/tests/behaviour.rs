//! The behaviour of devices: the common checks on the simulator and, where there is one, on a GPU, and
//! what only the simulator does.

mod common;

use std::sync::Arc;

use warpmp_device::{
    Arg, Device, DeviceInfo, Error, Grid, Kind, SimConfig, devices, open_cuda, open_sim, open_sim_with,
};
use warpmp_kernel::parse::parse;

use common::{CHECKS, add_value};

const GRID: Grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };

/// The first GPU. Without one the caller has nothing to do, unless one is required.
fn gpu() -> Option<Arc<dyn Device>> {
    match open_cuda(0) {
        Ok(device) => Some(device),
        Err(reason) if std::env::var_os("WARPMP_REQUIRE_GPU").is_some_and(|value| value == "1") => {
            panic!("WARPMP_REQUIRE_GPU: {reason}")
        }
        Err(reason) => {
            eprintln!("skipped: no GPU ({reason})");
            None
        }
    }
}

#[test]
fn simulator_behaves() {
    for (name, check) in CHECKS {
        eprintln!("{name}");
        check(&*open_sim());
    }
}

#[test]
fn gpu_behaves() {
    let Some(device) = gpu() else { return };
    for (name, check) in CHECKS {
        eprintln!("{name}");
        check(&*device);
    }
}

#[test]
fn no_gpu_is_an_answer() {
    let survey = devices();
    assert_eq!((survey.sim.kind, survey.sim.supported()), (Kind::Sim, true));
    match (survey.cuda, open_cuda(9999).unwrap_err()) {
        (Ok(gpus), error) => assert_eq!(error, Error::NoDevice { ordinal: 9999, count: gpus.len() }),
        (Err(reason), error) => assert_eq!(error, reason),
    }
}

#[test]
fn what_a_device_makes_outlives_its_handle() {
    for device in [Some(open_sim()), gpu()].into_iter().flatten() {
        let (stream, buffer, event) = (device.stream().unwrap(), device.alloc(400).unwrap(), device.event().unwrap());
        let module = device.load(&add_value()).unwrap();
        device.record(&stream, &event).unwrap();
        let transfer = device.upload_pinned(&stream, device.pinned(10).unwrap(), 10, &buffer, 0).unwrap();
        drop(device);
        assert_eq!(transfer.wait().unwrap().len(), 10);
        drop((buffer, event, stream, module));
    }
}

#[test]
fn an_old_device_refuses_new_kernels() {
    let volta = open_sim_with(&SimConfig { capability: 70, ..SimConfig::default() });
    volta.load(&add_value()).unwrap();
    let text = add_value().to_string().replace("6.3", "7.0").replace("sm_70", "sm_80");
    let kernel = parse(&text.replace("    ret;", "    cp.async.wait_all;\n    ret;")).unwrap();
    let error = volta.load(&kernel).unwrap_err();
    assert_eq!(error, Error::KernelTooNew { kernel: "add_value".into(), required: 80, capability: 70 });
    open_sim().load(&kernel).unwrap();
}

/// Kernels of `sm_90a` run on that architecture only: a later GPU refuses them, too.
#[test]
fn matrix_products_of_warpgroups_are_of_one_architecture() {
    let text = add_value().to_string().replace("6.3", "8.0").replace("sm_70", "sm_90a");
    let kernel = parse(&text.replace("    ret;", "    fence.proxy.async.shared::cta;\n    ret;")).unwrap();
    for capability in [80, 89, 100, 120] {
        let error = open_sim_with(&SimConfig { capability, ..SimConfig::default() }).load(&kernel).unwrap_err();
        assert_eq!(error, Error::KernelTooNew { kernel: "add_value".into(), required: 90, capability });
    }
    open_sim_with(&SimConfig { capability: 90, ..SimConfig::default() }).load(&kernel).unwrap();
}

#[test]
fn simulated_memory_is_as_small_as_wished() {
    let device = open_sim_with(&SimConfig { memory_bytes: 1000, ..SimConfig::default() });
    let first = device.alloc(600).unwrap();
    let error = device.alloc(600).unwrap_err();
    assert_eq!(error, Error::OutOfMemory { required_bytes: 600, available_bytes: 400 });
    drop(first);
    device.alloc(600).unwrap();
    assert_eq!(device.free_bytes().unwrap(), 1000);
}

#[test]
fn the_simulator_finds_faults_and_goes_on() {
    let device = open_sim();
    let (stream, module) = (device.stream().unwrap(), device.load(&add_value()).unwrap());
    let buffer = device.alloc(40).unwrap();
    let launch = |count| device.launch(&stream, &module, GRID, &[Arg::from(&buffer), Arg::U32(count), Arg::U32(1)]);
    assert!(matches!(launch(10), Err(Error::Fault(_))), "the buffer was never written");
    assert!(matches!(device.download(&stream, &buffer, 0, &mut [0]), Err(Error::Fault(_))));
    device.fill(&stream, &buffer, 0, 1, 10).unwrap();
    assert!(matches!(launch(11), Err(Error::Fault(_))), "a word beyond the buffer");
    launch(10).unwrap();
}

#[test]
fn the_simulator_counts() {
    let device = open_sim();
    let (stream, module) = (device.stream().unwrap(), device.load(&add_value()).unwrap());
    let buffer = device.alloc(128).unwrap();
    device.fill(&stream, &buffer, 0, 1, 32).unwrap();
    let launch = || {
        device.launch(&stream, &module, GRID, &[Arg::from(&buffer), Arg::U32(32), Arg::U32(1)]).unwrap();
        device.counters().unwrap().instructions().warps
    };
    // One warp, and the branch counts.
    assert_eq!((launch(), launch()), (14, 28));
    device.reset_counters();
    assert_eq!(launch(), 14);
}

#[test]
fn infos_read_well() {
    let info = DeviceInfo { name: "GPU".into(), ..devices().sim };
    assert_eq!(info.to_string(), "GPU (capability 9.0, 1 multiprocessors, 4 GiB)");
    assert!(!DeviceInfo { capability: 61, ..info }.supported());
}
