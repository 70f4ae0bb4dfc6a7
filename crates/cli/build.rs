//! Tells the program the commit it is built from, and its features, for `--version`.

use std::{env, fs, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let features = if env::var_os("CARGO_FEATURE_GMP").is_some() { "with GMP" } else { "default features" };
    let build = commit().map_or_else(|| features.into(), |commit| format!("commit {commit}, {features}"));
    println!("cargo::rustc-env=WARPMP_BUILD={build}");
}

/// The commit: as a package from a registry names it, else as git has it. A build without either has none.
fn commit() -> Option<String> {
    if let Ok(info) = fs::read_to_string(".cargo_vcs_info.json") {
        let digits =
            info.split('"').find(|word| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        return Some(digits[..12].into());
    }
    // The last line of this file changes with every commit.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().into())
}
