//! Planted faults: each is caught as what it is, and its twin without the fault runs.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use warpmp_kernel::ir::{Class, Reg};
use warpmp_kernel::sim::{Counters, Fault, FaultKind, Grid, Memory, OutOfMemory, Program};

/// Lines of the text before the body.
const HEADER_LINES: usize = 14;

/// A kernel with this body. `%rd0` is the address of 4096 bytes of global memory, `%r0` the thread's
/// number, `%r1` the address of shared memory; other registers are free.
fn kernel(body: &str) -> Program {
    let text = text(body);
    Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn text(body: &str) -> String {
    let target = if body.contains("wgmma") {
        ("8.0", "sm_90a")
    } else if ["cp.async", "mma", "redux"].iter().any(|it| body.contains(it)) {
        ("7.0", "sm_80")
    } else {
        ("6.3", "sm_70")
    };
    format!(
        ".version {}
.target {}
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
",
        target.0, target.1
    )
}

fn launch(body: &str, threads: u32) -> Result<Counters, Fault> {
    let mut memory = Memory::new(1 << 20);
    let data = memory.alloc(4096).unwrap();
    memory.fill(data, 0, 1000).unwrap();
    kernel(body).with_limit(10_000).launch(Grid { blocks: 1, threads, shared_bytes: 1024 }, &[data], &mut memory)
}

/// Runs a body of which a line is at fault; gives the fault's kind after checking its site.
fn fault(body: &str, threads: u32) -> FaultKind {
    let fault = launch(body, threads).expect_err("the fault went unseen");
    let site = fault.site.as_ref().expect("a fault in a kernel has a site");
    assert_eq!((site.kernel.as_str(), site.block), ("test", 0));
    let line = site.line.checked_sub(HEADER_LINES + 1).and_then(|line| body.lines().nth(line));
    assert_eq!(line.map(str::trim), Some(site.instruction.as_str()), "{fault}");
    fault.kind
}

/// Runs a body without fault.
fn passes(body: &str, threads: u32) {
    if let Err(fault) = launch(body, threads) {
        panic!("{fault}");
    }
}

#[test]
fn an_uninitialised_register() {
    let register = Reg { class: Class::B32, index: 5 };
    assert_eq!(fault("add.u32 %r4, %r5, 1;", 32), FaultKind::UninitialisedRegister { register });
    passes("mov.b32 %r5, 7;\nadd.u32 %r4, %r5, 1;", 32);
    // Written in some lanes only, read in all: the first lane without it is to blame.
    let some = "setp.lt.u32 %p0, %r0, 5;\n@%p0 mov.b32 %r5, 7;\n";
    let fault = launch(&format!("{some}mov.b32 %r4, %r5;"), 32).unwrap_err();
    assert_eq!(fault.site.unwrap().lane, Some(5));
    passes(&format!("{some}@%p0 mov.b32 %r4, %r5;"), 32);
    // A guard, a double, a 64-bit register are named as they are written.
    let register = Reg { class: Class::Pred, index: 2 };
    assert_eq!(self::fault("@%p2 mov.b32 %r4, 0;", 32), FaultKind::UninitialisedRegister { register });
    let register = Reg { class: Class::B64, index: 9 };
    assert_eq!(self::fault("mov.b64 %rd4, %rd9;", 32), FaultKind::UninitialisedRegister { register });
}

#[test]
fn a_block_starts_without_the_registers_of_the_one_before() {
    let body = "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 mov.b32 %r5, 1;\nmov.b32 %r6, %r5;";
    let mut memory = Memory::new(1 << 20);
    let data = memory.alloc(64).unwrap();
    let grid = Grid { blocks: 2, threads: 32, shared_bytes: 0 };
    let fault = kernel(body).launch(grid, &[data], &mut memory).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::UninitialisedRegister { .. }));
    assert_eq!(fault.site.unwrap().block, 1);
}

#[test]
fn a_carry_taken_for_a_borrow() {
    let (carry, borrow) = ("add.cc.u32 %r4, %r0, 1;", "sub.cc.u32 %r4, %r0, 1;");
    let (add, subtract) = ("addc.u32 %r5, 0, 0;", "subc.u32 %r5, 0, 0;");
    passes(&format!("{carry}\n{add}\n{borrow}\n{subtract}"), 32);
    assert_eq!(fault(&format!("{carry}\n{subtract}"), 32), FaultKind::MixedCarry);
    assert_eq!(fault(&format!("{borrow}\n{add}"), 32), FaultKind::MixedCarry);
}

#[test]
fn a_carry_across_a_label_or_branch() {
    let carry = "add.cc.u32 %r4, %r0, 1;";
    let read = "addc.u32 %r5, 0, 0;";
    passes(&format!("{carry}\nmov.b32 %r6, 0;\n{read}"), 32);
    assert_eq!(fault(&format!("{carry}\n$L0:\n{read}"), 32), FaultKind::PoisonCarry);
    assert_eq!(fault(&format!("{carry}\nbra $L0;\n$L0:\n{read}"), 32), FaultKind::PoisonCarry);
    // A branch that nobody takes is a branch all the same.
    let branch = "@!%p0 bra $L0;";
    let body = format!("setp.ge.u32 %p0, %r0, 0;\n{carry}\n{branch}\n{read}\n$L0:");
    assert_eq!(fault(&body, 32), FaultKind::PoisonCarry);
    assert_eq!(fault(read, 32), FaultKind::PoisonCarry);
}

#[test]
fn a_global_access_out_of_bounds() {
    let store = |offset: u32| format!("mov.b32 %r4, 1;\nst.global.u32 [%rd0+{offset:#X}], %r4;").replace("0X", "0x");
    passes(&store(4092), 1);
    assert!(matches!(fault(&store(4096), 1), FaultKind::GlobalOutOfBounds { bytes: 4, .. }));
    assert!(matches!(fault("mov.b64 %rd1, 0;\nld.global.u64 %rd2, [%rd1];", 1), FaultKind::GlobalOutOfBounds { .. }));
    // A GPU ignores such a prefetch.
    let prefetch = |offset: u32| format!("prefetch.global.L2 [%rd0+{offset:#X}];").replace("0X", "0x");
    passes(&prefetch(4092), 1);
    assert!(matches!(fault(&prefetch(4096), 1), FaultKind::GlobalOutOfBounds { bytes: 4, .. }));
    // The last word is inside, the vector is not.
    let vector = "mov.b32 %r4, 1;\nst.global.v4.u32 [%rd0+0x1000], {%r4, %r4, %r4, %r4};";
    assert!(matches!(fault(vector, 1), FaultKind::GlobalOutOfBounds { bytes: 16, .. }));
}

#[test]
fn a_misaligned_vector() {
    let load = |offset: u32| format!("ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd0+{offset}];");
    assert!(matches!(fault(&load(8), 1), FaultKind::Misaligned { bytes: 16, .. }));
    passes(&load(0), 1);
    let shared = |offset: u32| format!("st.shared.u64 [%r1+{offset}], %rd0;");
    assert_eq!(fault(&shared(4), 1), FaultKind::Misaligned { address: 1028, bytes: 8 });
    passes(&shared(8), 1);
}

#[test]
fn shared_memory_out_of_bounds_or_never_written() {
    passes("st.shared.u32 [%r1+0x3FC], %r0;\nld.shared.u32 %r4, [%r1+0x3FC];", 1);
    let past = FaultKind::SharedOutOfBounds { offset: 1024, bytes: 4, size: 1024 };
    assert_eq!(fault("st.shared.u32 [%r1+0x400], %r0;", 1), past);
    // The address of shared memory was forgotten.
    let below = "st.shared.u32 [%r0], %r0;";
    assert!(matches!(fault(below, 1), FaultKind::SharedOutOfBounds { .. }));
    let never = FaultKind::UninitialisedShared { offset: 4 };
    assert_eq!(fault("st.shared.u32 [%r1], %r0;\nld.shared.v2.u32 {%r4, %r5}, [%r1];", 1), never);
}

#[test]
fn global_memory_never_written() {
    let load = |offset: u32| format!("ld.global.u32 %r4, [%rd0+{offset:#X}];").replace("0X", "0x");
    passes(&load(3996), 1);
    assert!(matches!(fault(&load(4000), 1), FaultKind::UninitialisedGlobal { .. }));
}

#[test]
fn the_read_only_path_to_what_the_launch_writes() {
    let (store, load) = ("st.global.u32 [%rd0], %r0;", "ld.global.nc.u32 %r4, [%rd0];");
    assert!(matches!(fault(&format!("{store}\n{load}"), 1), FaultKind::NotReadOnly { .. }));
    assert!(matches!(fault(&format!("{load}\n{store}"), 1), FaultKind::NotReadOnly { .. }));
    passes(&format!("{store}\nld.global.nc.u32 %r4, [%rd0+4];"), 1);
}

#[test]
fn a_shuffle_from_an_inactive_lane() {
    let shuffle = |mask: &str| format!("shfl.sync.idx.b32 %r4, %r0, 0, 31, {mask};");
    let divided = |mask| format!("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra $L0;\n{}\n$L0:", shuffle(mask));
    let inactive = FaultKind::InactiveMember { mask: u32::MAX, active: 0xFFFF_0000 };
    assert_eq!(fault(&divided("0xFFFFFFFF"), 32), inactive);
    passes(&divided("0xFFFF0000"), 32);
    passes(&shuffle("0xFFFFFFFF"), 32);
    assert_eq!(fault(&shuffle("0xFF"), 32), FaultKind::NotAMember { mask: 0xFF });
    // The upper half reads lane 0, which takes no part: the value is undefined, and its use a fault.
    let used = divided("0xFFFF0000").replace("\n$L0:", "\nmov.b32 %r5, %r4;\n$L0:");
    let register = Reg { class: Class::B32, index: 4 };
    assert_eq!(fault(&used, 32), FaultKind::UninitialisedRegister { register });
    // Lanes that have ended, or never were, may be named.
    passes(&shuffle("0xFFFFFFFF"), 20);
    passes(&format!("setp.ge.u32 %p0, %r0, 16;\n@%p0 ret;\n{}", shuffle("0xFFFFFFFF")), 32);
}

#[test]
fn votes_and_warp_barriers_name_their_lanes() {
    let divided = |op: &str| format!("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra $L0;\n{op}\n$L0:");
    for op in [
        "vote.sync.any.pred %p1, %p0, MASK;",
        "vote.sync.ballot.b32 %r4, %p0, MASK;",
        "redux.sync.add.u32 %r4, %r0, MASK;",
        "bar.warp.sync MASK;",
    ] {
        let inactive = FaultKind::InactiveMember { mask: u32::MAX, active: 0xFFFF_0000 };
        assert_eq!(fault(&divided(&op.replace("MASK", "0xFFFFFFFF")), 32), inactive);
        passes(&divided(&op.replace("MASK", "0xFFFF0000")), 32);
    }
    // Lanes that name each other must say the same.
    let mismatch = "mov.b32 %r4, 0xFFFFFFFF;\nsetp.eq.u32 %p0, %r0, 3;\n@%p0 mov.b32 %r4, 0xF;\nbar.warp.sync %r4;";
    assert_eq!(fault(mismatch, 32), FaultKind::MaskMismatch { mask: u32::MAX, other: 15 });
    // Two halves, each for itself, in one instruction.
    passes("setp.lt.u32 %p0, %r0, 16;\nselp.b32 %r4, 0xFFFF, 0xFFFF0000, %p0;\nbar.warp.sync %r4;", 32);
}

#[test]
fn a_divergent_barrier() {
    let some = "setp.lt.u32 %p0, %r0, 16;\n";
    let expected = FaultKind::Divergent { active: 0xFFFF, expected: u32::MAX };
    assert_eq!(fault(&format!("{some}@%p0 bar.sync 0;"), 32), expected);
    let branch = format!("{some}@!%p0 bra $L0;\nbar.sync 0;\n$L0:");
    assert_eq!(fault(&branch, 32), expected);
    passes("bar.sync 0;", 32);
    passes("bar.sync 0;\nbar.sync 1;", 100);
    // A warp goes around the barrier.
    let around = "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra $L0;\nbar.sync 0;\n$L0:";
    assert_eq!(fault(around, 64), FaultKind::Deadlock { barrier: 0, waiting: 1, exited: 1, elsewhere: 0 });
    passes(around, 32);
    // Two warps at two barriers.
    let two = "setp.ge.u32 %p0, %r0, 32;\n@%p0 bra $L0;\nbar.sync 1;\n$L0:\n@!%p0 bra $L1;\nbar.sync 2;\n$L1:";
    assert_eq!(fault(two, 64), FaultKind::Deadlock { barrier: 1, waiting: 1, exited: 0, elsewhere: 1 });
}

#[test]
fn a_matrix_product_by_some_lanes() {
    let product = |mask: &str| {
        format!(
            "mov.b32 %r4, 1;\n{mask}mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 \
             {{%r5, %r6, %r7, %r8}}, {{%r4, %r4, %r4, %r4}}, {{%r4, %r4}}, {{%r4, %r4, %r4, %r4}};"
        )
    };
    passes(&product(""), 32);
    assert_eq!(fault(&product(""), 31), FaultKind::Divergent { active: u32::MAX >> 1, expected: u32::MAX });
}

/// Every thread stores its word, the barrier, every thread loads its neighbour's.
fn neighbours(barrier: &str) -> String {
    format!(
        "mad.lo.u32 %r4, %r0, 4, %r1;
xor.b32 %r5, %r0, DISTANCE;
mad.lo.u32 %r5, %r5, 4, %r1;
st.shared.u32 [%r4], %r0;
{barrier}
ld.shared.u32 %r6, [%r5];"
    )
}

#[test]
fn a_race_between_warps() {
    let body = |barrier: &str| neighbours(barrier).replace("DISTANCE", "0x20");
    // Whichever warp loads first meets a word the other has not written, or has just written.
    let kind = fault(&body("bar.warp.sync 0xFFFFFFFF;"), 64);
    assert!(matches!(kind, FaultKind::UninitialisedShared { .. } | FaultKind::Race { .. }), "{kind:?}");
    passes(&body("bar.sync 0;"), 64);
    // The same with words that were there before.
    let filled = |barrier: &str| {
        format!("mad.lo.u32 %r7, %r0, 4, %r1;\nst.shared.u32 [%r7], %r0;\nbar.sync 0;\n{}", body(barrier))
    };
    assert!(matches!(fault(&filled(""), 64), FaultKind::Race { warp: Some(_), lane: Some(_), .. }));
    passes(&filled("bar.sync 0;"), 64);
    // Two warps that write the same value race as well, and so do a reader and a later writer.
    let same = "st.shared.u32 [%r1], 7;";
    assert!(matches!(fault(same, 64), FaultKind::Race { written: true, .. }));
    let overwritten = |barrier: &str| format!("{}\n{barrier}\nst.shared.u32 [%r4], 0;", filled("bar.sync 0;"));
    assert!(matches!(fault(&overwritten(""), 64), FaultKind::Race { .. }));
    passes(&overwritten("bar.sync 0;"), 64);
}

#[test]
fn a_race_within_a_warp() {
    let body = |barrier: &str| neighbours(barrier).replace("DISTANCE", "1");
    let raced = FaultKind::Race { offset: 4, written: true, warp: Some(0), lane: Some(1) };
    assert_eq!(fault(&body(""), 32), raced);
    // Shuffles and votes converge the lanes but do not order memory.
    assert_eq!(fault(&body("shfl.sync.idx.b32 %r8, %r0, 0, 31, 0xFFFFFFFF;"), 32), raced);
    passes(&body("bar.warp.sync 0xFFFFFFFF;"), 32);
    passes(&body("bar.sync 0;"), 32);
    // A barrier of the pair's own quarter is enough, one of other lanes is not.
    let quarter = "shr.u32 %r9, %r0, 3;\nmul.lo.u32 %r9, %r9, 8;\nshl.b32 %r9, 0xFF, %r9;\nbar.warp.sync %r9;";
    passes(&body(quarter), 32);
    let wide = neighbours(quarter).replace("DISTANCE", "8");
    assert!(matches!(fault(&wide, 32), FaultKind::Race { .. }));
    // A read, then a write by another lane.
    let overwrite =
        |barrier: &str| format!("{}\n{barrier}\nst.shared.u32 [%r4], %r0;", body("bar.warp.sync 0xFFFFFFFF;"));
    assert_eq!(fault(&overwrite(""), 32), FaultKind::Race { offset: 0, written: false, warp: Some(0), lane: Some(1) });
    passes(&overwrite("bar.warp.sync 0xFFFFFFFF;"), 32);
}

#[test]
fn two_lanes_write_one_word() {
    let kind = fault("st.shared.u32 [%r1], 7;", 32);
    assert_eq!(kind, FaultKind::Race { offset: 0, written: true, warp: Some(0), lane: Some(0) });
    passes("mad.lo.u32 %r4, %r0, 4, %r1;\nst.shared.u32 [%r4], 7;", 32);
}

#[test]
fn halves_of_a_word_are_apart() {
    let own = "mad.lo.u32 %r4, %r0, 2, %r1;\nst.shared.u16 [%r4], %r0;\n";
    passes(own, 64);
    // The neighbour's half, and the word of both, need a barrier.
    let half = |barrier: &str| format!("{own}{barrier}\nxor.b32 %r5, %r4, 2;\nld.shared.u16 %r6, [%r5];");
    let raced = FaultKind::Race { offset: 2, written: true, warp: Some(0), lane: Some(1) };
    assert_eq!(fault(&half(""), 32), raced);
    passes(&half("bar.warp.sync 0xFFFFFFFF;"), 32);
    let whole = |barrier: &str| format!("{own}{barrier}\nand.b32 %r5, %r4, 0xFFC;\nld.shared.u32 %r6, [%r5];");
    assert_eq!(fault(&whole(""), 32), raced);
    passes(&whole("bar.warp.sync 0xFFFFFFFF;"), 32);
    // A whole word over the halves, and a half over whole words.
    let over = |barrier: &str| format!("{own}{barrier}\nmad.lo.u32 %r5, %r0, 4, %r1;\nst.shared.u32 [%r5], 0;");
    assert_eq!(fault(&over(""), 32), FaultKind::Race { offset: 2, written: true, warp: Some(0), lane: Some(1) });
    passes(&over("bar.warp.sync 0xFFFFFFFF;"), 32);
    let under = |barrier: &str| format!("mad.lo.u32 %r5, %r0, 4, %r1;\nst.shared.u32 [%r5], 0;\n{barrier}\n{own}");
    assert!(matches!(fault(&under(""), 32), FaultKind::Race { written: true, .. }));
    passes(&under("bar.warp.sync 0xFFFFFFFF;"), 32);
    // A half that nothing has written; a half across two; two lanes on one half.
    let kind = fault("st.shared.u16 [%r1], 7;\nld.shared.u16 %r5, [%r1+2];", 1);
    assert_eq!(kind, FaultKind::UninitialisedShared { offset: 2 });
    assert!(matches!(fault("ld.shared.u16 %r5, [%r1+1];", 1), FaultKind::Misaligned { bytes: 2, .. }));
    assert!(matches!(fault("st.shared.u16 [%r1], 7;", 2), FaultKind::Race { written: true, .. }));
}

#[test]
fn atomic_operations_race_with_plain_ones_only() {
    let first = "setp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.u32 [%r1], 0;\nbar.sync 0;\n";
    passes(&format!("{first}red.shared.add.u32 [%r1], 1;\natom.shared.add.u32 %r4, [%r1], 1;"), 96);
    let read = |barrier: &str| format!("{first}red.shared.add.u32 [%r1], 1;\n{barrier}\nld.shared.u32 %r5, [%r1];");
    assert_eq!(fault(&read(""), 32), FaultKind::Race { offset: 0, written: true, warp: Some(0), lane: None });
    passes(&read("bar.warp.sync 0xFFFFFFFF;"), 32);
    assert!(matches!(fault(&read("bar.warp.sync 0xFFFFFFFF;"), 64), FaultKind::Race { .. }));
    passes(&read("bar.sync 0;"), 64);
}

/// Every thread copies a word to its place, and loads the word at a distance.
fn copied(wait: &str, distance: u32) -> String {
    format!(
        "mad.lo.u32 %r4, %r0, 4, %r1;
mad.wide.u32 %rd1, %r0, 4, %rd0;
xor.b32 %r5, %r0, {distance};
mad.lo.u32 %r5, %r5, 4, %r1;
cp.async.ca.shared.global [%r4], [%rd1], 4;
cp.async.commit_group;
{wait}
ld.shared.u32 %r6, [%r5];"
    )
}

#[test]
fn an_asynchronous_copy_read_too_early() {
    let pending = FaultKind::PendingCopy { offset: 0 };
    assert_eq!(fault(&copied("", 0), 32), pending);
    assert_eq!(fault(&copied("bar.sync 0;", 0), 32), pending);
    assert_eq!(fault(&copied("cp.async.wait_group 1;", 0), 32), pending);
    passes(&copied("cp.async.wait_group 0;", 0), 32);
    passes(&copied("cp.async.wait_all;", 0), 32);
    // Another thread's copy: its own wait, then a barrier.
    let raced = FaultKind::Race { offset: 4, written: true, warp: Some(0), lane: Some(1) };
    assert_eq!(fault(&copied("cp.async.wait_all;", 1), 32), raced);
    passes(&copied("cp.async.wait_all;\nbar.warp.sync 0xFFFFFFFF;", 1), 32);
    // The barrier must come after the wait.
    assert_eq!(fault(&copied("bar.sync 0;\ncp.async.wait_all;", 1), 32), raced);
    // A copy over words that others still read.
    let again = |barrier: &str| {
        let copy = "cp.async.ca.shared.global [%r4], [%rd1], 4;";
        format!("{}\n{barrier}\n{copy}", copied("cp.async.wait_all;\nbar.sync 0;", 1))
    };
    assert!(matches!(fault(&again(""), 32), FaultKind::Race { written: false, .. }));
    passes(&again("bar.sync 0;"), 32);
}

#[test]
fn a_loop_without_end() {
    assert_eq!(fault("$L0:\nbra $L0;", 32), FaultKind::Runaway { limit: 10_000 });
    let counted = "mov.b32 %r4, 0;\n$L0:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p0, %r4, 0x64;\n@%p0 bra $L0;";
    passes(counted, 32);
}

#[test]
fn a_missing_return() {
    let ends = |last: &str| {
        let text = text("").replace("\nret;\n}", &format!("\n{last}}}"));
        let mut memory = Memory::new(0);
        let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
        Program::parse(&text).unwrap().launch(grid, &[0], &mut memory)
    };
    assert_eq!(ends("").unwrap_err().kind, FaultKind::MissingReturn);
    assert_eq!(ends("bra $L0;\n$L0:\n").unwrap_err().kind, FaultKind::MissingReturn);
    assert!(ends("ret;\n").is_ok());
}

#[test]
fn arguments_and_grids_that_do_not_fit() {
    let program = kernel("");
    let mut memory = Memory::new(1 << 20);
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 0 };
    let kind = |grid, args: &[u64], memory: &mut Memory| program.launch(grid, args, memory).unwrap_err().kind;
    assert_eq!(kind(grid, &[], &mut memory), FaultKind::Arguments { expected: 1, given: 0 });
    for (blocks, threads) in [(0, 32), (1, 0), (1, 1025)] {
        let shape = FaultKind::LaunchShape { blocks, threads, limit: 1024 };
        assert_eq!(kind(Grid { blocks, threads, shared_bytes: 0 }, &[0], &mut memory), shape);
    }
    let shared_bytes = 227 * 1024 + 1;
    let shared = FaultKind::LaunchShared { shared_bytes, limit: 227 * 1024 };
    assert_eq!(kind(Grid { shared_bytes, ..grid }, &[0], &mut memory), shared);
}

#[test]
fn the_host_and_the_memory() {
    let mut memory = Memory::new(1000);
    let refused = OutOfMemory { required_bytes: 1001, available_bytes: 1000 };
    assert_eq!(memory.alloc(1001), Err(refused));
    let (a, b) = (memory.alloc(500).unwrap(), memory.alloc(500).unwrap());
    assert_eq!((memory.free_bytes(), memory.capacity()), (0, 1000));
    assert!(a % 256 == 0 && b % 256 == 0 && a != 0 && b >= a + 512);
    let kind = |result: Result<(), Fault>| result.unwrap_err().kind;
    assert_eq!(kind(memory.read(a, &mut [0; 2])), FaultKind::UninitialisedGlobal { address: a });
    memory.write(a, &[1]).unwrap();
    assert_eq!(kind(memory.read(a, &mut [0; 2])), FaultKind::UninitialisedGlobal { address: a + 4 });
    memory.fill(a + 4, 9, 124).unwrap();
    let mut words = [0; 125];
    memory.read(a, &mut words).unwrap();
    assert_eq!(words[..3], [1, 9, 9]);
    assert_eq!(kind(memory.write(a + 2, &[1])), FaultKind::Misaligned { address: a + 2, bytes: 4 });
    assert_eq!(kind(memory.fill(a, 0, 126)), FaultKind::GlobalOutOfBounds { address: a, bytes: 504 });
    memory.free(a);
    assert_eq!(memory.free_bytes(), 500);
    assert_eq!(kind(memory.read(a, &mut [0])), FaultKind::GlobalOutOfBounds { address: a, bytes: 4 });
    let again = memory.alloc(500).unwrap();
    assert_ne!(again, a, "an address is given out once");
}

/// A matrix product of a warpgroup, all zeros.
const WARPGROUP: &str = "mad.lo.u32 %r2, %r0, 4, %r1;
st.shared.u32 [%r2], 0;
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r3, %r1, 4;
add.u32 %r3, %r3, 0x80000;
mov.b64 %rd2, {%r3, 8};
mov.b32 %r5, 0;
mov.b32 %r6, 0;
setp.ne.u32 %p0, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.u8 {%r10, %r11, %r12, %r13}, {%r5, %r5, %r6, %r6}, %rd2, %p0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 0;
st.shared.u32 [%r2], %r10;
";

/// The body with a line replaced.
fn warpgroup(line: &str, by: &str) -> String {
    assert!(WARPGROUP.contains(line));
    WARPGROUP.replacen(line, by, 1)
}

#[test]
fn a_warpgroup_touches_no_register_of_a_pending_product() {
    passes(WARPGROUP, 128);
    let register = |index| Reg { class: Class::B32, index };
    let wait = "wgmma.wait_group.sync.aligned 0;";
    for (line, index) in [("add.u32 %r4, %r11, 1;", 11), ("mov.b32 %r13, 0;", 13), ("mov.b32 %r6, 1;", 6)] {
        let kind = fault(&warpgroup(wait, &format!("{line}\n{wait}")), 128);
        assert_eq!(kind, FaultKind::PendingProduct { register: register(index) });
        passes(&warpgroup(wait, &format!("{wait}\n{line}")), 128);
    }
    // A group may be under way; a product that is in no group is not waited for.
    let kind = fault(&warpgroup(wait, "wgmma.wait_group.sync.aligned 1;"), 128);
    assert_eq!(kind, FaultKind::PendingProduct { register: register(10) });
    let kind = fault(&warpgroup("wgmma.commit_group.sync.aligned;", "mov.b32 %r4, 0;"), 128);
    assert_eq!(kind, FaultKind::PendingProduct { register: register(10) });
}

#[test]
fn a_warpgroup_fences_its_registers() {
    let fence = "wgmma.fence.sync.aligned;";
    let kind = fault(&warpgroup(fence, "mov.b32 %r4, 0;"), 128);
    assert!(matches!(kind, FaultKind::UnfencedRegister { .. }), "{kind}");
    for line in ["mov.b32 %r5, 1;", "mov.b32 %r12, 1;"] {
        let kind = fault(&warpgroup(fence, &format!("{fence}\n{line}")), 128);
        assert!(matches!(kind, FaultKind::UnfencedRegister { .. }), "{kind}");
        passes(&warpgroup(fence, &format!("{line}\n{fence}")), 128);
    }
    // Sums that nothing has written cannot be added to.
    let kind = fault(&warpgroup("setp.ne.u32 %p0, 0, 0;", "setp.eq.u32 %p0, 0, 0;"), 128);
    assert_eq!(kind, FaultKind::UninitialisedRegister { register: Reg { class: Class::B32, index: 10 } });
}

#[test]
fn a_warpgroups_product_reads_fenced_shared_memory() {
    let fence = "fence.proxy.async.shared::cta;";
    let kind = fault(&warpgroup(fence, "mov.b32 %r4, 0;"), 128);
    assert_eq!(kind, FaultKind::UnfencedShared { offset: 0 });
    // The writer fences, not the reader; and a barrier follows.
    let kind = fault(&warpgroup(fence, "setp.ge.u32 %p1, %r0, 32;\n@%p1 fence.proxy.async.shared::cta;"), 128);
    assert_eq!(kind, FaultKind::UnfencedShared { offset: 0 });
    // The words were written before, so a warp that is early reads old ones, and late writers find them in use or read.
    let twice = format!("bar.sync 0;\nst.shared.u32 [%r2], 1;\n{fence}\n");
    passes(&warpgroup("bar.sync 0;", &format!("{twice}bar.sync 0;")), 128);
    let kind = fault(&warpgroup("bar.sync 0;", &twice), 128);
    assert!(matches!(kind, FaultKind::Race { .. } | FaultKind::HeldByProduct { .. }), "{kind}");
    // Nobody writes there before the product has read it, in all warps.
    let store = "st.shared.u32 [%r2], 0;";
    let wait = "wgmma.wait_group.sync.aligned 0;\nbar.sync 0;";
    let kind = fault(&warpgroup(wait, &format!("bar.sync 0;\n{store}\n{wait}")), 128);
    assert_eq!(kind, FaultKind::HeldByProduct { offset: 0 });
    let kind = fault(&warpgroup(wait, "wgmma.wait_group.sync.aligned 0;"), 128);
    assert!(matches!(kind, FaultKind::Race { .. } | FaultKind::HeldByProduct { .. }), "{kind}");
    let kind = fault(&warpgroup("0x80000", "0x400000"), 128);
    assert!(matches!(kind, FaultKind::SharedOutOfBounds { .. }), "{kind}");
    let kind = fault(&warpgroup("%r3, 8}", "%r3, 0x40000008}"), 128);
    assert!(matches!(kind, FaultKind::Descriptor { .. }), "{kind}");
}

#[test]
fn a_warpgroup_is_four_whole_warps() {
    let product = "wgmma.fence.sync.aligned;";
    let kind = fault(
        &warpgroup(product, "and.b32 %r4, %r0, 31;\nsetp.eq.u32 %p1, %r4, 5;\n@%p1 wgmma.fence.sync.aligned;"),
        128,
    );
    assert!(matches!(kind, FaultKind::Divergent { .. }), "{kind}");
    let kind = fault(&warpgroup(product, "setp.lt.u32 %p1, %r0, 32;\n@%p1 wgmma.fence.sync.aligned;"), 128);
    assert!(matches!(kind, FaultKind::WarpgroupApart | FaultKind::UnfencedRegister { .. }), "{kind}");
    // Each warp has a descriptor of its own.
    let other = "shr.u32 %r4, %r0, 5;\nadd.u32 %r3, %r3, %r4;\nmov.b64 %rd2, {%r3, 8};";
    let kind = fault(&warpgroup("mov.b64 %rd2, {%r3, 8};", other), 128);
    assert_eq!(kind, FaultKind::WarpgroupApart);
    // A warp leaves before the others are done.
    let leaves = "setp.ge.u32 %p1, %r0, 96;\n@%p1 ret;\n";
    let alone = warpgroup("wgmma.fence.sync.aligned;", &format!("{leaves}wgmma.fence.sync.aligned;"));
    let alone = alone.replace("bar.sync 0;\nst.shared.u32 [%r2], %r10;\n", "");
    assert_eq!(launch(&alone, 128).unwrap_err().kind, FaultKind::WarpgroupApart);
}
