//! The simulator from end to end: whole grids of texts written by hand.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use warpmp_kernel::ir::{Carry, Op, Shuffle, Width};
use warpmp_kernel::sim::{Count, Counters, Grid, Memory, Pipe, Program};

const ADD: &str = "
.version 6.3
.target sm_70
.address_size 64

.visible .entry add(
    .param .u64 a,
    .param .u64 b,
    .param .u64 c,
    .param .u32 n
)
{
    .reg .pred %p<1>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    //# load
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [b];
    ld.param.u64 %rd2, [c];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    setp.ge.u32 %p0, %r4, %r0;
    @%p0 bra $L0;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd0, %rd0, %rd3;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r5, [%rd0];
    ld.global.u32 %r6, [%rd1];
    //# arithmetic
    add.u32 %r7, %r5, %r6;
    //# store
    st.global.u32 [%rd2], %r7;
$L0:
    ret;
}
";

#[test]
fn adds_two_arrays() {
    let program = Program::parse(ADD).unwrap();
    assert_eq!((program.name(), program.params().len()), ("add", 4));
    let n = 1000_u32;
    let mut memory = Memory::new(1 << 20);
    let [a, b, c] = [0, 1, 2].map(|_| memory.alloc(4 * u64::from(n)).unwrap());
    let x: Vec<u32> = (0..n).collect();
    let y: Vec<u32> = x.iter().map(|v| v.wrapping_mul(0x9E37_79B9)).collect();
    memory.write(a, &x).unwrap();
    memory.write(b, &y).unwrap();
    let grid = Grid { blocks: 11, threads: 96, shared_bytes: 0 };
    let counters = program.launch(grid, &[a, b, c, n.into()], &mut memory).unwrap();
    let mut z = vec![0; n as usize];
    memory.read(c, &mut z).unwrap();
    let expected: Vec<u32> = x.iter().zip(&y).map(|(x, y)| x.wrapping_add(*y)).collect();
    assert_eq!(z, expected);

    let arithmetic = counters.section("arithmetic").unwrap();
    assert_eq!((arithmetic.instructions().warps, arithmetic.instructions().threads), (32, 1000));
    assert_eq!(counters.pipe(Pipe::WideMul).threads, 1000);
    assert_eq!(counters.load_sectors(), 2 * 125);
    assert_eq!(counters.minimum_load_sectors(), 2 * 125);
    assert_eq!(counters.distinct_load_sectors(), 2 * 125);
    assert_eq!((counters.store_sectors(), counters.distinct_store_sectors()), (125, 125));
    assert_eq!(counters.branches().warps, 33);
}

/// A kernel that needs turns, loops of different length in the lanes of a warp, and several warps.
fn text(body: &str) -> String {
    format!(
        ".version 6.3
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry test(
.param .u64 out
)
{{
.reg .pred %p<4>;
.reg .b32 %r<20>;
.reg .b64 %rd<4>;
ld.param.u64 %rd0, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, smem;
mad.wide.u32 %rd1, %r0, 4, %rd0;
{body}
ret;
}}
"
    )
}

/// What each thread of one block stored.
fn run(program: &Program, threads: u32) -> (Vec<u32>, Counters) {
    let mut memory = Memory::new(1 << 20);
    let out = memory.alloc(4 * u64::from(threads)).unwrap();
    let grid = Grid { blocks: 1, threads, shared_bytes: 64 };
    let counters = program.launch(grid, &[out], &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
    let mut words = vec![0; threads as usize];
    memory.read(out, &mut words).unwrap();
    (words, counters)
}

#[test]
fn lanes_loop_as_long_as_each_needs_and_meet_again() {
    let body = "
mov.b32 %r2, 0;
mov.b32 %r3, %r0;
$L0:
setp.eq.u32 %p0, %r3, 0;
@%p0 bra $L1;
add.u32 %r2, %r2, %r3;
sub.u32 %r3, %r3, 1;
bra $L0;
$L1:
shfl.sync.bfly.b32 %r2, %r2, 1, 31, 0xFFFFFFFF;
st.global.u32 [%rd1], %r2;";
    let (words, counters) = run(&Program::parse(&text(body)).unwrap(), 32);
    let expected: Vec<u32> = (0..32_u32).map(|lane| (lane ^ 1) * ((lane ^ 1) + 1) / 2).collect();
    assert_eq!(words, expected);
    let add = Op::Add(Width::W32, Carry::None);
    assert_eq!(counters.op(add), Count { warps: 31, threads: (0..32).sum() }, "the lanes stay together");
    assert_eq!(counters.op(Op::Shfl(Shuffle::Bfly)), Count { warps: 1, threads: 32 });
}

#[test]
fn a_warp_that_waits_for_another_does_not_starve_it() {
    let body = "
setp.eq.u32 %p0, %r0, 0;
@%p0 st.shared.u32 [%r1], 0;
bar.sync 0;
setp.lt.u32 %p1, %r0, 32;
@%p1 bra $L1;
$L0:
atom.shared.add.u32 %r2, [%r1], 0;
setp.lt.u32 %p2, %r2, 32;
@%p2 bra $L0;
$L1:
red.shared.add.u32 [%r1], 1;
st.global.u32 [%rd1], %r0;";
    let program = Program::parse(&text(body)).unwrap();
    for seed in 1..20 {
        let (words, _) = run(&program.clone().with_seed(seed), 64);
        assert!(words.iter().copied().eq(0..64));
    }
}

#[test]
fn the_order_of_the_warps_is_shuffled_but_reproducible() {
    // Each thread stores how many were before it.
    let body = "
setp.eq.u32 %p0, %r0, 0;
@%p0 st.shared.u32 [%r1], 0;
bar.sync 0;
atom.shared.add.u32 %r2, [%r1], 1;
st.global.u32 [%rd1], %r2;";
    let program = Program::parse(&text(body)).unwrap();
    let first = run(&program, 256);
    assert_eq!(run(&program, 256), first);
    assert!(!first.0.iter().copied().eq(0..256), "the warps ran in their own order");
    assert_ne!(run(&program.with_seed(2), 256).0, first.0);
}
