//! What every device must do, the same on the simulator and on a GPU. Each check panics if it does not.
#![allow(clippy::unwrap_used, reason = "a failed check is a panic")]

use std::sync::Arc;
use std::thread;

use warpmp_device::{Arg, Buffer, Device, Error, Grid, Kind, LoadOptions, Module, Rows, Stream, open_sim};
use warpmp_kernel::ir::Kernel;
use warpmp_kernel::parse::parse;

/// A check and its name.
pub(crate) type Check = (&'static str, fn(&dyn Device));

/// All checks, none of which harms the device.
pub(crate) const CHECKS: [Check; 15] = [
    ("copies arrive", copies_arrive),
    ("rows arrive", rows_arrive),
    ("ranges are checked", ranges_are_checked),
    ("streams keep their order", streams_keep_their_order),
    ("kernels run", kernels_run),
    ("arguments are checked", arguments_are_checked),
    ("grids are checked", grids_are_checked),
    ("shared memory beyond 48 KiB", large_shared_memory),
    ("modules are cached", modules_are_cached),
    ("a bad kernel is refused", bad_kernel_is_refused),
    ("page-locked transfers", pinned_transfers),
    ("events", events),
    ("memory ends", memory_ends),
    ("devices are kept apart", devices_are_kept_apart),
    ("threads share the device", threads_share_the_device),
];

/// `data[i] += value` for `i < count`.
pub(crate) fn add_value() -> Kernel {
    kernel(
        ".version 6.3
        .target sm_70
        .address_size 64
        .visible .entry add_value(
            .param .u64 data,
            .param .u32 count,
            .param .u32 value
        )
        {
            .reg .pred %p<1>;
            .reg .b32 %r<6>;
            .reg .b64 %rd<1>;
            mov.u32 %r0, %ctaid.x;
            mov.u32 %r1, %ntid.x;
            mov.u32 %r2, %tid.x;
            mad.lo.u32 %r0, %r0, %r1, %r2;
            ld.param.u32 %r3, [count];
            setp.ge.u32 %p0, %r0, %r3;
            @%p0 bra $L0;
            ld.param.u64 %rd0, [data];
            mad.wide.u32 %rd0, %r0, 4, %rd0;
            ld.global.u32 %r4, [%rd0];
            ld.param.u32 %r5, [value];
            add.u32 %r4, %r4, %r5;
            st.global.u32 [%rd0], %r4;
        $L0:
            ret;
        }",
    )
}

/// One block: `data` in reverse order, through shared memory, its last word at `offset` bytes.
pub(crate) fn reverse() -> Kernel {
    kernel(
        ".version 6.3
        .target sm_70
        .address_size 64
        .extern .shared .align 16 .b8 smem[];
        .visible .entry reverse(
            .param .u64 data,
            .param .u32 offset
        )
        {
            .reg .b32 %r<7>;
            .reg .b64 %rd<2>;
            mov.u32 %r0, %tid.x;
            mov.u32 %r1, %ntid.x;
            mov.u32 %r2, smem;
            ld.param.u32 %r3, [offset];
            add.u32 %r2, %r2, %r3;
            ld.param.u64 %rd0, [data];
            mad.wide.u32 %rd1, %r0, 4, %rd0;
            ld.global.u32 %r4, [%rd1];
            shl.b32 %r5, %r0, 2;
            sub.u32 %r5, %r2, %r5;
            st.shared.u32 [%r5], %r4;
            bar.sync 0;
            sub.u32 %r6, %r1, %r0;
            sub.u32 %r6, %r6, 1;
            shl.b32 %r6, %r6, 2;
            sub.u32 %r5, %r2, %r6;
            ld.shared.u32 %r4, [%r5];
            st.global.u32 [%rd1], %r4;
            ret;
        }",
    )
}

/// A kernel that no compiler takes: it uses a register that it does not declare.
pub(crate) fn undeclared() -> Kernel {
    let mut kernel = add_value();
    kernel.name = "undeclared".into();
    kernel.registers[1] -= 1;
    kernel
}

fn kernel(text: &str) -> Kernel {
    parse(text).expect("the kernel is written as the printer writes it")
}

fn numbers(words: usize) -> Vec<u32> {
    (0..words as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect()
}

fn copies_arrive(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let buffer = device.alloc(4 << 20).unwrap();
    assert_eq!((buffer.bytes(), buffer.words()), (4 << 20, 1 << 20));
    for (offset, words) in [(0, 1 << 20), (0, 0), (1 << 20, 0), (3, 1), (17, 100_000)] {
        let sent = numbers(words);
        let mut received = vec![0; words];
        device.upload(&stream, &sent, &buffer, offset).unwrap();
        device.download(&stream, &buffer, offset, &mut received).unwrap();
        assert!(sent == received, "{words} words at {offset}");
    }
    let mut all = vec![0; 1 << 20];
    device.download(&stream, &buffer, 0, &mut all).unwrap();
    let mut expected = numbers(1 << 20);
    expected[3] = 0;
    expected[17..100_017].copy_from_slice(&numbers(100_000));
    assert!(all == expected, "a copy touches its words only");
}

fn rows_arrive(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let (a, b) = (device.alloc(4 * 60).unwrap(), device.alloc(4 * 60).unwrap());
    let rows = |count, words, src_stride, dst_stride| Rows { count, words, src_first: 0, src_stride, dst_stride };
    let source = numbers(60);
    device.upload(&stream, &source, &a, 0).unwrap();
    for (count, words, src_stride, dst_stride) in
        [(10, 3, 3, 4), (15, 3, 4, 3), (20, 3, 3, 3), (1, 60, 60, 99), (0, 5, 5, 5)]
    {
        device.fill(&stream, &b, 0, 7, 60).unwrap();
        device.copy_rows(&stream, rows(count, words, src_stride, dst_stride), &a, &b).unwrap();
        let mut found = [0; 60];
        device.download(&stream, &b, 0, &mut found).unwrap();
        let mut expected = [7; 60];
        for row in 0..count {
            expected[row * dst_stride..][..words].copy_from_slice(&source[row * src_stride..][..words]);
        }
        assert_eq!(found, expected, "{count} rows of {words} words");
    }
    let late = Rows { src_first: 2, ..rows(10, 3, 6, 4) };
    device.copy_rows(&stream, late, &a, &b).unwrap();
    let mut found = [0; 3];
    device.download(&stream, &b, 36, &mut found).unwrap();
    assert_eq!(found, source[56..59], "the last row, from word 2 of the source on");
    let too_late = Rows { src_first: 4, ..late };
    assert!(matches!(device.copy_rows(&stream, too_late, &a, &b), Err(Error::OutOfRange { .. })));
    for wrong in
        [rows(21, 3, 3, 2), rows(20, 3, 4, 3), rows(20, 3, 3, 4), rows(2, 3, usize::MAX, 3), rows(1, 61, 61, 61)]
    {
        let refused = device.copy_rows(&stream, wrong, &a, &b);
        assert!(matches!(refused, Err(Error::OutOfRange { .. })), "{wrong:?}: {refused:?}");
    }
    assert_eq!(device.copy_rows(&stream, rows(2, 3, 3, 3), &a, &a), Err(Error::Overlap));
}

fn ranges_are_checked(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let (a, b) = (device.alloc(400).unwrap(), device.alloc(400).unwrap());
    let mut host = [0; 10];
    let outside = |result: Result<(), Error>| assert!(matches!(result, Err(Error::OutOfRange { .. })), "{result:?}");
    for offset in [91, 100, 101, usize::MAX / 4, usize::MAX] {
        outside(device.upload(&stream, &host, &a, offset));
        outside(device.download(&stream, &a, offset, &mut host));
        outside(device.fill(&stream, &a, offset, 0, 10));
        outside(device.copy(&stream, &a, offset, &b, 0, 10));
        outside(device.copy(&stream, &a, 0, &b, offset, 10));
        outside(device.upload_pinned(&stream, device.pinned(10).unwrap(), 10, &a, offset).map(drop));
        outside(device.download_pinned(&stream, &a, offset, device.pinned(10).unwrap(), 10).map(drop));
    }
    outside(device.upload_pinned(&stream, device.pinned(10).unwrap(), 11, &a, 0).map(drop));
    outside(device.download_pinned(&stream, &a, 0, device.pinned(10).unwrap(), 11).map(drop));
    outside(device.fill(&stream, &a, 1, 0, usize::MAX));
    device.fill(&stream, &a, 0, 5, 100).unwrap();
    for (src, dst) in [(0, 0), (0, 9), (9, 0)] {
        assert_eq!(device.copy(&stream, &a, src, &a, dst, 10), Err(Error::Overlap));
    }
    device.copy(&stream, &a, 0, &a, 10, 10).unwrap();
}

fn streams_keep_their_order(device: &dyn Device) {
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let words = 1 << 20;
    let (a, b) = (device.alloc(4 << 20).unwrap(), device.alloc(4 << 20).unwrap());
    let filled = device.event().unwrap();
    device.fill(&first, &a, 0, 1, words).unwrap();
    device.fill(&first, &a, 10, 2, words - 10).unwrap();
    device.record(&first, &filled).unwrap();
    device.wait(&second, &filled).unwrap();
    device.copy(&second, &a, 0, &b, 0, words).unwrap();
    device.fill(&second, &b, 20, 3, 5).unwrap();
    let mut seen = vec![0; words];
    device.download(&second, &b, 0, &mut seen).unwrap();
    let expected = |i| match i {
        0..10 => 1,
        20..25 => 3,
        _ => 2,
    };
    assert!(seen.iter().enumerate().all(|(i, &word)| word == expected(i)));
    device.synchronize(&first).unwrap();
}

fn add(device: &dyn Device, stream: &Stream, module: &Module, data: Arg<'_>, count: u32, value: u32) {
    let grid = Grid { blocks: count.div_ceil(128), threads: 128, shared_bytes: 0 };
    device.launch(stream, module, grid, &[data, Arg::U32(count), Arg::U32(value)]).unwrap();
}

fn kernels_run(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let module = device.load(&add_value()).unwrap();
    assert_eq!((module.name(), module.params().len()), ("add_value", 3));
    let resources = module.resources();
    assert!(resources.threads_per_block >= 128, "{resources:?}");
    assert_eq!(resources.registers.is_some(), device.info().kind == Kind::Cuda);
    let data = numbers(1000);
    let buffer = device.alloc(4000).unwrap();
    device.upload(&stream, &data, &buffer, 0).unwrap();
    add(device, &stream, &module, Arg::Buffer(&buffer, 0), 1000, 7);
    add(device, &stream, &module, Arg::Buffer(&buffer, 10), 500, 0x8000_0000);
    let mut seen = vec![0; 1000];
    device.download(&stream, &buffer, 0, &mut seen).unwrap();
    for (i, (before, after)) in data.iter().zip(&seen).enumerate() {
        let more = if (10..510).contains(&i) { 0x8000_0000 } else { 0 };
        assert_eq!(before.wrapping_add(7).wrapping_add(more), *after, "word {i}");
    }
}

fn arguments_are_checked(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let module = device.load(&add_value()).unwrap();
    let buffer = device.alloc(400).unwrap();
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
    let launch = |args: &[Arg<'_>]| device.launch(&stream, &module, grid, args).unwrap_err();
    let data = Arg::from(&buffer);
    assert!(matches!(launch(&[data]), Error::ArgumentCount { expected: 3, given: 1, .. }));
    assert!(matches!(
        launch(&[data, Arg::U32(1), Arg::U64(1)]),
        Error::ArgumentWidth { parameter, expected_bits: 32, given_bits: 64, .. } if parameter == "value"
    ));
    assert!(matches!(launch(&[Arg::U32(0), Arg::U32(1), Arg::U32(1)]), Error::ArgumentWidth { given_bits: 32, .. }));
    let outside = launch(&[Arg::Buffer(&buffer, 101), Arg::U32(1), Arg::U32(1)]);
    assert!(matches!(outside, Error::OutOfRange { offset: 101, available: 100, .. }), "{outside:?}");
}

fn grids_are_checked(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let module = device.load(&reverse()).unwrap();
    let buffer = device.alloc(400).unwrap();
    let launch = |blocks, threads, shared_bytes| {
        let grid = Grid { blocks, threads, shared_bytes };
        device.launch(&stream, &module, grid, &[Arg::from(&buffer), Arg::U32(0)]).unwrap_err()
    };
    for (blocks, threads) in [(0, 32), (1, 0), (1, 1025), (1 << 31, 32)] {
        let error = launch(blocks, threads, 0);
        assert!(matches!(error, Error::GridLimit { .. }), "{error:?}");
    }
    let most = device.info().shared_bytes_per_block;
    let error = launch(1, 32, most + 1);
    assert!(matches!(error, Error::SharedMemory { available_bytes, .. } if available_bytes == most), "{error:?}");
}

fn large_shared_memory(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let module = device.load(&reverse()).unwrap();
    let most = device.info().shared_bytes_per_block;
    assert!(most > 48 << 10);
    let buffer = device.alloc(512).unwrap();
    for shared_bytes in [512, 50_000, most, 1024, 49_156] {
        device.upload(&stream, &numbers(128), &buffer, 0).unwrap();
        let grid = Grid { blocks: 1, threads: 128, shared_bytes };
        device.launch(&stream, &module, grid, &[Arg::from(&buffer), Arg::U32(shared_bytes - 4)]).unwrap();
        let mut seen = vec![0; 128];
        device.download(&stream, &buffer, 0, &mut seen).unwrap();
        seen.reverse();
        assert_eq!(seen, numbers(128), "{shared_bytes} bytes");
    }
}

fn modules_are_cached(device: &dyn Device) {
    let mut kernel = add_value();
    kernel.name = "cached".into();
    let modules: Vec<Arc<Module>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| device.load(&kernel).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(modules.iter().all(|module| Arc::ptr_eq(module, &modules[0])));
    let other = device.load_with(&kernel, LoadOptions { optimisation: Some(1) }).unwrap();
    assert!(!Arc::ptr_eq(&other, &modules[0]));
    assert!(!Arc::ptr_eq(&device.load(&add_value()).unwrap(), &modules[0]));
}

fn bad_kernel_is_refused(device: &dyn Device) {
    let kernel = undeclared();
    match (device.info().kind, device.load(&kernel).unwrap_err()) {
        (Kind::Cuda, Error::KernelRefused { kernel, log, line, source_line, .. }) => {
            assert_eq!(kernel, "undeclared");
            assert!(!log.is_empty());
            assert!(line.is_some(), "{log}");
            assert!(source_line.unwrap().contains("%r5"));
        }
        (Kind::Sim, Error::KernelUnreadable { kernel, reason }) => {
            assert_eq!(kernel, "undeclared");
            assert!(reason.reason.contains("%r5"), "{reason}");
        }
        (_, error) => panic!("{error:?}"),
    }
    // The device is none the worse for it.
    device.load(&add_value()).unwrap();
}

fn pinned_transfers(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let module = device.load(&add_value()).unwrap();
    let words = 1 << 18;
    let buffer = device.alloc(4 << 18).unwrap();
    let mut memory = device.pinned(words).unwrap();
    assert!(memory.iter().all(|&word| word == 0));
    memory.copy_from_slice(&numbers(words));
    let upload = device.upload_pinned(&stream, memory, words, &buffer, 0).unwrap();
    add(device, &stream, &module, Arg::from(&buffer), words as u32, 1);
    let download = device.download_pinned(&stream, &buffer, 8, device.pinned(words).unwrap(), words - 8).unwrap();
    let (sent, received) = (upload.wait().unwrap(), download.wait().unwrap());
    assert!(*sent == *numbers(words));
    assert!(sent[8..].iter().zip(&*received).all(|(s, r)| s.wrapping_add(1) == *r));
    assert_eq!(received[words - 8..], [0; 8]);
    // Dropped transfers and buffers wait for what is under way.
    drop(device.upload_pinned(&stream, sent, words, &buffer, 0).unwrap());
    let transfer = device.download_pinned(&stream, &buffer, 0, received, words).unwrap();
    drop((buffer, stream));
    assert!(*transfer.wait().unwrap() == *numbers(words));
    assert!(device.pinned(0).unwrap().is_empty());
}

fn events(device: &dyn Device) {
    let stream = device.stream().unwrap();
    let (start, end) = (device.event().unwrap(), device.event().unwrap());
    assert_eq!(device.elapsed(&start, &end), Err(Error::EventNotRecorded));
    device.wait(&stream, &start).unwrap();
    let buffer = device.alloc(64 << 20).unwrap();
    device.record(&stream, &start).unwrap();
    assert_eq!(device.elapsed(&start, &end), Err(Error::EventNotRecorded));
    device.fill(&stream, &buffer, 0, 1, 16 << 20).unwrap();
    device.record(&stream, &end).unwrap();
    let once = device.elapsed(&start, &end).unwrap();
    assert!(once.as_nanos() > 0);
    device.fill(&stream, &buffer, 0, 1, 16 << 20).unwrap();
    device.record(&stream, &end).unwrap();
    assert!(device.elapsed(&start, &end).unwrap() > once, "recording again moves the event");
}

fn memory_ends(device: &dyn Device) {
    let info = device.info();
    let more = info.memory_bytes + 1;
    match device.alloc(more).unwrap_err() {
        Error::OutOfMemory { required_bytes, available_bytes } => {
            assert_eq!(required_bytes, more);
            assert!(0 < available_bytes && available_bytes <= info.memory_bytes);
        }
        error => panic!("{error:?}"),
    }
    assert!(matches!(device.alloc(u64::MAX), Err(Error::OutOfMemory { .. })));
    assert!(matches!(device.pinned(usize::MAX), Err(Error::OutOfHostMemory { .. })));
    assert!(device.free_bytes().unwrap() <= info.memory_bytes);
    // What is freed can be had again: forty times a tenth of the memory.
    for _ in 0..40 {
        device.alloc(device.free_bytes().unwrap() / 10).unwrap();
    }
    let nothing = device.alloc(0).unwrap();
    assert_eq!(nothing.bytes(), 0);
    let stream = device.stream().unwrap();
    device.upload(&stream, &[], &nothing, 0).unwrap();
    device.fill(&stream, &nothing, 0, 1, 0).unwrap();
}

fn devices_are_kept_apart(device: &dyn Device) {
    let other = open_sim();
    let (stream, foreign_stream) = (device.stream().unwrap(), other.stream().unwrap());
    let (buffer, foreign) = (device.alloc(64).unwrap(), other.alloc(64).unwrap());
    let module = device.load(&add_value()).unwrap();
    let apart = |result: Result<(), Error>, what| assert_eq!(result, Err(Error::WrongDevice { what }));
    apart(device.fill(&stream, &foreign, 0, 1, 1), "buffer");
    apart(device.copy(&stream, &buffer, 0, &foreign, 0, 1), "buffer");
    apart(device.upload(&foreign_stream, &[1], &buffer, 0), "stream");
    apart(device.synchronize(&foreign_stream), "stream");
    apart(device.record(&stream, &other.event().unwrap()), "event");
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
    let launch = |module, data| device.launch(&stream, module, grid, &[data, Arg::U32(1), Arg::U32(1)]);
    apart(launch(&module, Arg::from(&foreign)), "buffer");
    if device.info().kind == Kind::Cuda {
        apart(launch(&other.load(&add_value()).unwrap(), Arg::from(&buffer)), "module");
    }
}

fn threads_share_the_device(device: &dyn Device) {
    let module = device.load(&add_value()).unwrap();
    thread::scope(|scope| {
        for number in 0..4 {
            let module = &module;
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                for round in 0..5 {
                    let buffer: Buffer = device.alloc(40_000).unwrap();
                    device.fill(&stream, &buffer, 0, 100 * number, 10_000).unwrap();
                    add(device, &stream, module, Arg::from(&buffer), 10_000, round);
                    let mut seen = vec![0; 10_000];
                    device.download(&stream, &buffer, 0, &mut seen).unwrap();
                    assert!(seen.iter().all(|&word| word == 100 * number + round));
                }
            });
        }
    });
}
