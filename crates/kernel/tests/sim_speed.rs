//! How fast the simulator runs. The rate is printed by
//! `cargo test -p warpmp-kernel --test sim_speed -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::time::Instant;

use warpmp_kernel::sim::{Counters, Grid, Memory, Pipe, Program};

/// The products of a limb by a row of limbs in a loop, their sums in a chain; with `exchange`, each
/// round also shuffles, stores to shared memory and loads back.
fn kernel(limbs: u32, exchange: bool) -> String {
    let (narrow, wide) = (limbs + 8, limbs + 2);
    let [round, rounds, lane, address, limb] = [0, 1, 2, 3, 4].map(|i| limbs + i);
    let (out, sum) = (limbs, limbs + 1);
    let mut lines = vec![format!(
        ".version 6.3
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry speed(
.param .u64 out,
.param .u32 rounds
)
{{
.reg .pred %p<1>;
.reg .b32 %r<{narrow}>;
.reg .b64 %rd<{wide}>;
ld.param.u64 %rd{out}, [out];
ld.param.u32 %r{rounds}, [rounds];
mov.u32 %r{lane}, %tid.x;
mov.u32 %r{address}, smem;
mad.lo.u32 %r{address}, %r{lane}, 4, %r{address};
mov.b32 %r{limb}, %r{lane};
mov.b32 %r{round}, 0;"
    )];
    lines.extend(
        (0..limbs).map(|i| format!("mov.b64 %rd{i}, 0;\nadd.u32 %r{i}, %r{lane}, {i:#X};").replace("0X", "0x")),
    );
    lines.push("$L0:".into());
    for i in 0..limbs {
        let op = if i == 0 { "add.cc" } else { "addc.cc" };
        lines.push(format!("mul.wide.u32 %rd{sum}, %r{i}, %r{limb};\n{op}.u64 %rd{i}, %rd{i}, %rd{sum};"));
    }
    if exchange {
        lines.push(format!(
            "shfl.sync.bfly.b32 %r{limb}, %r{limb}, 1, 31, 0xFFFFFFFF;
st.shared.u32 [%r{address}], %r{limb};
bar.warp.sync 0xFFFFFFFF;
ld.shared.u32 %r{limb}, [%r{address}];"
        ));
    }
    lines.push(format!(
        "add.u32 %r{round}, %r{round}, 1;
setp.lt.u32 %p0, %r{round}, %r{rounds};
@%p0 bra $L0;
mad.wide.u32 %rd{out}, %r{lane}, 8, %rd{out};
st.global.u64 [%rd{out}], %rd0;
ret;
}}"
    ));
    lines.join("\n")
}

fn run(limbs: u32, exchange: bool, rounds: u32) -> (Counters, Vec<u32>) {
    let program = Program::parse(&kernel(limbs, exchange)).unwrap();
    let mut memory = Memory::new(1 << 20);
    let out = memory.alloc(1024).unwrap();
    let grid = Grid { blocks: 1, threads: 128, shared_bytes: 512 };
    let counters = program.launch(grid, &[out, rounds.into()], &mut memory).unwrap();
    let mut words = vec![0; 256];
    memory.read(out, &mut words).unwrap();
    (counters, words)
}

#[test]
fn the_kernel_whose_speed_is_measured_is_right() {
    let (counters, words) = run(4, true, 3);
    assert_eq!(counters.pipe(Pipe::WideMul).warps, 4 * 4 * 3 + 4);
    // The limb is the lane's, its neighbour's, the lane's: the kernel stores the lowest sum.
    for lane in 0..128_u32 {
        let sum = lane * (lane + (lane ^ 1) + lane);
        assert_eq!(words[2 * lane as usize..][..2], [sum, 0], "lane {lane}");
    }
}

#[test]
#[ignore = "a measurement"]
fn warp_instructions_a_second() {
    for (name, limbs, exchange) in [("products and sums", 32, false), ("with shared memory", 4, true)] {
        let start = Instant::now();
        let (counters, _) = run(limbs, exchange, 4_000_000 / limbs);
        let rate = counters.instructions().warps as f64 / start.elapsed().as_secs_f64();
        println!("{name}: {:.1} million warp instructions a second", rate / 1e6);
        assert!(rate > 5e6, "{name}: {rate}");
    }
}
