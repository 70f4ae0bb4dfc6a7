//! The program `warpmp`; `lib.rs` has all of it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    warpmp_cli::main()
}
