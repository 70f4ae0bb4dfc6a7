//! Limits of the system: threads that cannot be started, memory that runs out.

use std::process::{Command, Stdio};

use crate::common::{Dir, Run, finish, lines, mixed, npy_of};
use num_bigint::BigUint;

/// Runs the program with so many kilobytes of addresses and so many threads asked for.
fn limited(dir: &Dir, kilobytes: u64, threads: &str, args: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v \"$0\"; exec \"$@\"", &kilobytes.to_string(), env!("CARGO_BIN_EXE_warpmp")]);
    command.args(args).current_dir(dir.path("")).env_remove("WARPMP_LOG");
    // One arena: the allocator reserves 64 MB for each.
    command.env("RAYON_NUM_THREADS", threads).env("MALLOC_ARENA_MAX", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

#[test]
fn fewer_threads_where_the_system_starts_no_more() {
    let dir = Dir::new();
    dir.write("n", "7\n15\n21\n");
    for (args, result) in [
        (&["sqr", "n", "--device", "cpu", "-q"][..], "49\n225\n441\n"),
        (&["is-prime", "n", "--device", "cpu", "-q"], "1\n0\n0\n"),
        (
            &["batch-gcd", "n", "--device", "cpu", "-q"],
            "shared\t1\t7\t1\nshared\t2\t3\t5\nshared\t3\t21\t1\npair\t1\t3\t7\npair\t2\t3\t3\n",
        ),
    ] {
        // The stacks of the threads alone would take 500 MB.
        let run = limited(&dir, 400_000, "250", args);
        assert_eq!(run.ok(), result);
        assert!(run.stderr.contains("instead of 250: the system starts no more"), "{}", run.stderr);
    }
}

#[test]
fn an_absurd_number_of_threads_is_not_started() {
    let dir = Dir::new();
    dir.write("n", "7\n");
    assert_eq!(dir.run_where("RAYON_NUM_THREADS", "100000", &["sqr", "n", "--device", "cpu", "-q"]).ok(), "49\n");
}

#[test]
fn a_tree_that_does_not_fit_is_refused_before_it_grows() {
    let dir = Dir::new();
    // 16 MB of numbers, and a tree of more than 250 MB.
    let largest = (BigUint::from(1u8) << 65_536) - 1u8;
    let numbers: Vec<BigUint> = (0..2000u32).map(|k| &largest - k).collect();
    dir.write("n.npy", npy_of(&numbers, 8, 1024));
    let run = limited(&dir, 250_000, "1", &["batch-gcd", "n.npy", "--device", "cpu", "-q", "-o", "out"]);
    run.fails(1, &["bytes of memory are needed"]);
    assert_eq!(dir.names(), ["n.npy"]);
}

#[test]
fn memory_that_runs_out_is_a_failure() {
    let dir = Dir::new();
    dir.write("n", lines(&mixed(300_000, 64, 6)));
    let run = limited(&dir, 60_000, "1", &["sqr", "n", "--device", "cpu", "-q"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    // The stack of a thread is memory, too: which one comes first is the system's affair.
    assert!(["memory", "no more threads"].iter().any(|reason| run.stderr.contains(reason)), "{}", run.stderr);
}
