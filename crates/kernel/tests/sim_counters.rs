//! The simulator's counts: pipes, sections, bank conflicts, sectors.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use warpmp_kernel::ir::{Carry, Int, Op, Width};
use warpmp_kernel::sim::{Count, Counters, Grid, Memory, Pipe, Program};

/// Runs a body of one warp; `%rd0` is the address of 64 KiB of zeros, `%r0` the lane, `%r1` the address of
/// shared memory, `%rd1` is free.
fn run(body: &str) -> Counters {
    let target = if body.contains("cp.async") { ".version 7.0\n.target sm_80" } else { ".version 6.3\n.target sm_70" };
    let text = format!(
        "{target}
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry test(
.param .u64 data
)
{{
.reg .pred %p<4>;
.reg .b32 %r<20>;
.reg .b64 %rd<20>;
ld.param.u64 %rd0, [data];
mov.u32 %r0, %tid.x;
mov.u32 %r1, smem;
{body}
ret;
}}
"
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = Memory::new(1 << 20);
    let data = memory.alloc(1 << 16).unwrap();
    memory.fill(data, 0, 1 << 14).unwrap();
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 32 << 10 };
    program.launch(grid, &[data], &mut memory).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Wavefronts and their minimum of a store to shared memory with this stride in bytes.
fn store(suffix: &str, value: &str, stride: u32) -> (u64, u64) {
    let body =
        format!("mad.lo.u32 %r4, %r0, {stride:#X}, %r1;\nst.shared.{suffix} [%r4], {value};").replace("0X", "0x");
    let counters = run(&body);
    assert_eq!(counters.bank_conflicts(), counters.shared_wavefronts() - counters.minimum_shared_wavefronts());
    (counters.shared_wavefronts(), counters.minimum_shared_wavefronts())
}

#[test]
fn bank_conflicts() {
    assert_eq!(store("u32", "7", 4), (1, 1));
    assert_eq!(store("u32", "7", 8), (2, 1));
    assert_eq!(store("u32", "7", 12), (1, 1), "odd strides are free of conflicts");
    assert_eq!(store("u32", "7", 64), (16, 1));
    assert_eq!(store("u32", "7", 128), (32, 1));
    assert_eq!(store("u32", "7", 132), (1, 1));
    assert_eq!(store("u64", "7", 8), (2, 2), "64-bit accesses are served by halves");
    assert_eq!(store("u64", "7", 16), (4, 2));
    assert_eq!(store("v2.u64", "{7, 7}", 16), (4, 4), "128-bit accesses are served by quarters");
    assert_eq!(store("v4.u32", "{7, 7, 7, 7}", 32), (8, 4));
    // All lanes load one word: a broadcast.
    let filled = "mad.lo.u32 %r4, %r0, 4, %r1;\nst.shared.u32 [%r4], 0;\nbar.warp.sync 0xFFFFFFFF;\n";
    assert_eq!(run(&format!("{filled}ld.shared.u32 %r5, [%r1];")).shared_wavefronts(), 2);
    // Atomic operations on one word take turns.
    let atomic = run(&format!("{filled}red.shared.add.u32 [%r1], 1;"));
    assert_eq!((atomic.shared_wavefronts(), atomic.bank_conflicts()), (33, 31));
}

#[test]
fn global_sectors() {
    let load = |stride: u32, op: &str| {
        run(&format!("mad.wide.u32 %rd1, %r0, {stride:#X}, %rd0;\nld.global.{op}, [%rd1];").replace("0X", "0x"))
    };
    let counts = |c: &Counters| (c.load_sectors(), c.minimum_load_sectors(), c.distinct_load_sectors());
    assert_eq!(counts(&load(4, "u32 %r4")), (4, 4, 4));
    assert_eq!(counts(&load(8, "u32 %r4")), (8, 4, 8));
    assert_eq!(counts(&load(128, "u32 %r4")), (32, 4, 32));
    assert_eq!(counts(&load(16, "v4.u32 {%r4, %r5, %r6, %r7}")), (16, 16, 16));
    assert_eq!(counts(&load(0, "u32 %r4")), (1, 1, 1));
    // Neighbouring lanes swapped: the order does not matter.
    let swapped = "xor.b32 %r4, %r0, 9;\nmad.wide.u32 %rd1, %r4, 4, %rd0;\nst.global.u32 [%rd1], %r0;";
    let swapped = run(swapped);
    assert_eq!((swapped.store_sectors(), swapped.minimum_store_sectors()), (4, 4));
    assert_eq!((swapped.global_sectors(), swapped.minimum_global_sectors()), (4, 4));
    let dealt = "shr.u32 %r4, %r0, 1;\nand.b32 %r5, %r0, 1;\nmad.lo.u32 %r4, %r5, 0x10, %r4;\n\
                 mad.wide.u32 %rd1, %r4, 4, %rd0;\nst.global.u32 [%rd1], %r0;";
    assert_eq!(run(dealt).store_sectors(), 4);
    // The same sectors twice: requested twice, distinct once.
    let body = "mad.wide.u32 %rd1, %r0, 4, %rd0;\nld.global.u32 %r4, [%rd1];\nld.global.u32 %r4, [%rd1];";
    assert_eq!(counts(&run(body)), (8, 8, 4));
}

#[test]
fn an_asynchronous_copy_counts_on_both_sides() {
    let body = "mad.wide.u32 %rd1, %r0, 0x10, %rd0;\nmad.lo.u32 %r4, %r0, 0x10, %r1;\n\
                cp.async.cg.shared.global [%r4], [%rd1], 16;\ncp.async.wait_all;";
    let counters = run(body);
    assert_eq!((counters.load_sectors(), counters.minimum_load_sectors()), (16, 16));
    assert_eq!((counters.shared_wavefronts(), counters.bank_conflicts()), (4, 0));
    assert_eq!(counters.pipe(Pipe::Async), Count { warps: 2, threads: 64 });
}

#[test]
fn instructions_by_operation_pipe_and_section() {
    let body = "
//# first
add.u32 %r4, %r0, 1;
setp.lt.u32 %p0, %r0, 8;
@%p0 add.u32 %r4, %r4, 1;
//# second
mul.wide.u32 %rd1, %r4, %r4;
bar.sync 0;
//# first
add.u32 %r4, %r4, 1;
//# rest";
    let counters = run(body);
    let add = Op::Add(Width::W32, Carry::None);
    assert_eq!(counters.op(add), Count { warps: 3, threads: 32 + 8 + 32 });
    assert_eq!(counters.section("first").unwrap().op(add), counters.op(add));
    let second = counters.section("second").unwrap();
    assert_eq!(second.pipe(Pipe::WideMul), Count { warps: 1, threads: 32 });
    assert_eq!((second.op(Op::MulWide(Int::U32)).warps, second.barriers(), second.op(add).warps), (1, 1, 0));
    assert!(counters.section("third").is_none());
    assert_eq!(counters.sections().map(|(name, _)| name).collect::<Vec<_>>(), ["first", "rest", "second"]);
    let all = counters.ops().iter().map(|(_, count)| count.warps).sum::<u64>();
    assert_eq!((counters.instructions().warps, all), (10, 10));

    let mut twice = counters.clone();
    twice += &counters;
    assert_eq!(twice.instructions().threads, 2 * counters.instructions().threads);
    assert_eq!(twice.section("first").unwrap().op(add).warps, 6);
}

#[test]
fn a_fused_pair_is_one_wide_product() {
    let pair = |second: &str| run(&format!("mad.lo.cc.u32 %r4, %r0, 3, 5;\n{second}"));
    let fused = pair("madc.hi.u32 %r5, %r0, 3, 0;");
    assert_eq!(
        (fused.pipe(Pipe::WideMul).warps, fused.pipe(Pipe::Fused).warps, fused.pipe(Pipe::Mul).warps),
        (1, 1, 0)
    );
    let apart = pair("madc.hi.u32 %r5, %r0, 4, 0;");
    assert_eq!((apart.pipe(Pipe::WideMul).warps, apart.pipe(Pipe::Mul).warps), (0, 2));
}

#[test]
fn divergent_lanes_are_counted_apart() {
    let body = "setp.lt.u32 %p0, %r0, 8;\n@%p0 bra $L0;\nadd.u32 %r4, %r0, 1;\nbra $L1;\n$L0:\nadd.u32 %r4, %r0, 2;\n\
                $L1:\nadd.u32 %r4, %r4, 1;";
    let counters = run(body);
    assert_eq!(counters.op(Op::Add(Width::W32, Carry::None)), Count { warps: 3, threads: 24 + 8 + 32 });
    assert_eq!(counters.branches(), Count { warps: 2, threads: 8 + 24 });
}
