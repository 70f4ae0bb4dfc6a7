//! How fast the simulator runs. The rate is printed by
//! `cargo test -p warpmp-kernel --test sim_speed -- --ignored --nocapture`.

use std::fmt::Write;
use std::time::Instant;

use warpmp_kernel::sim::{Counters, Grid, Memory, Pipe, Program};

/// The products of a limb by a row of limbs in a loop, their sums in a chain; with `exchange`, each
/// round also shuffles, stores to shared memory and loads back.
fn kernel(limbs: u32, exchange: bool) -> String {
    let mut text = String::from(".version 6.3\n.target sm_70\n.address_size 64\n");
    text += ".extern .shared .align 16 .b8 smem[];\n";
    text += ".visible .entry speed(\n.param .u64 out,\n.param .u32 rounds\n)\n{\n";
    let (narrow, wide) = (limbs + 8, limbs + 2);
    write!(text, ".reg .pred %p<1>;\n.reg .b32 %r<{narrow}>;\n.reg .b64 %rd<{wide}>;\n").unwrap();
    let [round, rounds, lane, address, limb] = [0, 1, 2, 3, 4].map(|i| limbs + i);
    let (out, sum) = (limbs, limbs + 1);
    write!(text, "ld.param.u64 %rd{out}, [out];\nld.param.u32 %r{rounds}, [rounds];\n").unwrap();
    write!(text, "mov.u32 %r{lane}, %tid.x;\nmov.u32 %r{address}, smem;\n").unwrap();
    write!(text, "mad.lo.u32 %r{address}, %r{lane}, 4, %r{address};\n").unwrap();
    write!(text, "mov.b32 %r{limb}, %r{lane};\nmov.b32 %r{round}, 0;\n").unwrap();
    for i in 0..limbs {
        write!(text, "mov.b64 %rd{i}, 0;\n").unwrap();
        write!(text, "add.u32 %r{i}, %r{lane}, {i};\n").unwrap();
    }
    text += "$L0:\n";
    for i in 0..limbs {
        write!(text, "mul.wide.u32 %rd{sum}, %r{i}, %r{limb};\n").unwrap();
        let op = if i == 0 { "add.cc" } else { "addc.cc" };
        write!(text, "{op}.u64 %rd{i}, %rd{i}, %rd{sum};\n").unwrap();
    }
    if exchange {
        write!(text, "shfl.sync.bfly.b32 %r{limb}, %r{limb}, 1, 31, 0xFFFFFFFF;\n").unwrap();
        write!(text, "st.shared.u32 [%r{address}], %r{limb};\nbar.warp.sync 0xFFFFFFFF;\n").unwrap();
        write!(text, "ld.shared.u32 %r{limb}, [%r{address}];\n").unwrap();
    }
    write!(text, "add.u32 %r{round}, %r{round}, 1;\nsetp.lt.u32 %p0, %r{round}, %r{rounds};\n@%p0 bra $L0;\n").unwrap();
    write!(text, "mad.wide.u32 %rd{out}, %r{lane}, 8, %rd{out};\n").unwrap();
    write!(text, "st.global.u64 [%rd{out}], %rd0;\nret;\n}}\n").unwrap();
    text
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
