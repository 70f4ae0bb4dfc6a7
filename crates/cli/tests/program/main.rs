//! The program as people and scripts meet it. Each test runs it in a directory of its own. All are one test program: it is linked once, and long tests of one
//! command run beside those of another.
//!
//! ```text
//! common.rs                       a directory to work in, and the program run in it
//! mul.rs, operations.rs           products; the other operations
//! whole.rs, large.rs              operations on all numbers of a file; long numbers
//! expect.rs, bad_input.rs         results that are compared; input that is refused
//! outputs.rs, streams.rs          outputs of every kind; signals and pipes
//! terminal.rs, limits.rs          a terminal; a system that is short of threads or memory
//! commands.rs, tune.rs            `gen`, `bench`, `explain`, `devices`, `selftest`; `tune`
//! reproduce.rs                    tables of the papers' times and counts
//! is_prime.rs, factor.rs          number theory, also as_ecm.rs, batch_gcd.rs, ecdlp.rs
//! collatz*.rs                     verification: runs, faults of the disk, directories, kills
//! campaign*.rs, *_campaign*.rs    long work that is stopped, resumed, shared or damaged
//! schedulers.rs                   the examples for Slurm and HyperQueue
//! corpora.rs                      the bodies of the fuzz targets
//! ```

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]
#![allow(clippy::format_collect, reason = "short texts")]
#![allow(clippy::case_sensitive_file_extension_comparisons, reason = "names that the program writes")]

mod as_ecm;
mod bad_input;
mod batch_gcd;
mod campaign_pages;
#[cfg(unix)]
mod campaign_shared;
mod campaigns;
mod collatz;
mod collatz_faults;
mod collatz_folder;
#[cfg(unix)]
mod collatz_kills;
mod commands;
mod common;
mod corpora;
mod ecdlp;
mod ecdlp_campaign;
mod ecm_campaign;
mod expect;
mod factor;
mod is_prime;
mod large;
#[cfg(target_os = "linux")]
mod limits;
mod mul;
mod operations;
#[cfg(target_os = "linux")]
mod outputs;
mod reproduce;
#[cfg(target_os = "linux")]
mod schedulers;
mod stored_campaigns;
mod streams;
#[cfg(target_os = "linux")]
mod terminal;
mod tune;
mod whole;
