//! The program as people and scripts meet it: each test runs it in a directory of its own. One test program, so that the long tests of one command run
//! beside those of another.
//!
//! ```text
//! common.rs             a directory to work in, and the program run in it
//! mul.rs, operations.rs, whole.rs, large.rs  products and the other operations; numbers of a whole file; long numbers
//! expect.rs, bad_input.rs, outputs.rs        results that are compared, input that is refused, outputs of every kind
//! commands.rs, tune.rs, reproduce.rs         `gen`, `bench`, `explain`, `devices`, `selftest`; tables of times
//! is_prime.rs, factor.rs, as_ecm.rs, batch_gcd.rs, ecdlp.rs  number theory
//! collatz*.rs, campaign*.rs, ec*_campaign.rs, stored_campaigns.rs, schedulers.rs  long work: killed, resumed, shared, damaged
//! streams.rs, terminal.rs, limits.rs         signals, pipes, a terminal, and a system that is short of threads or memory
//! corpora.rs            the bodies of the fuzz targets
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
