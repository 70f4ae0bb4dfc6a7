//! The simulator from end to end: whole grids of texts written by hand.

use warpmp_kernel::sim::{Grid, Memory, Pipe, Program};

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
