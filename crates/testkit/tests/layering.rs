//! The architecture as a test: who may import whom, and where `unsafe` may stand.
//!
//! `kernel ← device ← launch ← { warpmp, collatz, curves } ← { cli, python }`, and other crates between them as `ALLOWED` has them: an arrow is an import, and
//! nothing imports leftwards. The edges are read from `cargo metadata`, not from this comment.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate of the workspace, and the crates of the workspace that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("warpmp-kernel", &[]),
    ("warpmp-device", &["warpmp-kernel"]),
    ("warpmp-launch", &["warpmp-kernel", "warpmp-device"]),
    ("warpmp-simd", &[]),
    ("warpmp", &["warpmp-kernel", "warpmp-device", "warpmp-launch", "warpmp-simd"]),
    ("warpmp-campaign", &[]),
    ("warpmp-collatz", &["warpmp-campaign", "warpmp-kernel", "warpmp-device", "warpmp-launch", "warpmp-simd"]),
    ("warpmp-curves", &["warpmp-campaign", "warpmp-kernel", "warpmp-device", "warpmp-launch", "warpmp-simd"]),
    ("warpmp-oracle", &["warpmp"]),
    (
        "warpmp-numtheory",
        &["warpmp-campaign", "warpmp", "warpmp-kernel", "warpmp-device", "warpmp-launch", "warpmp-simd"],
    ),
    ("warpmp-capi", &["warpmp"]),
    (
        "warpmp-papers",
        &["warpmp-kernel", "warpmp-device", "warpmp-launch", "warpmp", "warpmp-oracle", "warpmp-collatz"],
    ),
    (
        "warpmp-cli",
        &[
            "warpmp",
            "warpmp-oracle",
            "warpmp-campaign",
            "warpmp-collatz",
            "warpmp-curves",
            "warpmp-device",
            "warpmp-numtheory",
            "warpmp-papers",
        ],
    ),
    ("warpmp-python", &["warpmp", "warpmp-collatz", "warpmp-curves", "warpmp-numtheory"]),
    ("warpmp-testkit", &["warpmp", "warpmp-device", "warpmp-kernel", "warpmp-oracle"]),
];

/// The unpublished crate: tests of every crate use it, no product does.
const TESTKIT: &str = "warpmp-testkit";

/// The one crate that talks to the CUDA driver.
const DRIVER: &str = "cudarc";
const DRIVER_USER: &str = "warpmp-device";

/// Libraries under the LGPL.
const LGPL: &[&str] = &["rug", "gmp-mpfr-sys"];

/// Paths, relative to the repository, under which `unsafe` may be written.
const UNSAFE_PATHS: &[&str] = &[
    "crates/capi/src",
    "crates/device/src/cuda",
    "crates/python/src/long.rs",
    "crates/python/src/share.rs",
    "crates/simd/src/avx2.rs",
    "crates/simd/src/fft/eight.rs",
    "crates/simd/src/fft/four.rs",
    "crates/simd/src/fma.rs",
    "crates/simd/src/ifma.rs",
    "crates/simd/src/instructions.rs",
    "crates/simd/src/mulx.rs",
    "crates/collatz/src/cpu/simd",
];

/// Crates with such a path; all others forbid unsafe code.
const UNSAFE_CRATES: &[&str] = &["warpmp-capi", "warpmp-device", "warpmp-python", "warpmp-simd", "warpmp-collatz"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The package outside the workspace that is built like its members: the native half of the Python package.
const OUTSIDE: &str = "crates/python";

/// The packages of the workspace, and the one outside, as `cargo metadata` lists them.
fn packages() -> Vec<Value> {
    let of_folder = |folder: PathBuf| {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        metadata["packages"].as_array().unwrap().clone()
    };
    [of_folder(repository()), of_folder(repository().join(OUTSIDE))].concat()
}

fn name(item: &Value) -> &str {
    item["name"].as_str().unwrap()
}

/// What a package needs to be built (normal and build dependencies), without what only its tests need.
fn dependencies(package: &Value) -> impl Iterator<Item = &str> {
    package["dependencies"].as_array().unwrap().iter().filter(|d| d["kind"] != "dev").map(name)
}

#[test]
fn imports_follow_the_arrow() {
    let packages = packages();
    let members: BTreeSet<&str> = packages.iter().map(name).collect();
    for package in &packages {
        let crate_name = name(package);
        let Some((_, allowed)) = ALLOWED.iter().find(|(listed, _)| *listed == crate_name) else {
            panic!("{crate_name} is not in the architecture: decide what it may import and list it here");
        };
        for needed in dependencies(package).filter(|needed| members.contains(needed)) {
            assert!(allowed.contains(&needed), "{crate_name} imports {needed}: against the arrow");
        }
    }
}

#[test]
fn the_testkit_stays_in_the_tests() {
    for package in &packages() {
        assert!(dependencies(package).all(|needed| needed != TESTKIT), "{} ships the testkit", name(package));
        if name(package) == TESTKIT {
            assert_eq!(package["publish"], Value::Array(Vec::new()), "the testkit must have `publish = false`");
        }
    }
}

#[test]
fn only_the_device_crate_knows_the_driver() {
    for package in packages().iter().filter(|package| name(package) != DRIVER_USER) {
        assert!(dependencies(package).all(|needed| needed != DRIVER), "{} depends on {DRIVER}", name(package));
    }
}

/// The LGPL's libraries are something to measure against, never part of what is built without asking for them.
#[test]
fn default_builds_have_no_gmp() {
    for package in &packages() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let lgpl = LGPL.contains(&name(dependency));
            assert!(!lgpl || dependency["optional"] == true, "{} always has {}", name(package), name(dependency));
        }
        let default = package["features"]["default"].as_array();
        assert!(default.is_none_or(Vec::is_empty), "{} has default features: do they reach GMP?", name(package));
    }
}

#[test]
fn unsafe_stands_where_it_may() {
    let root = repository();
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files);
    assert!(files.len() > 10, "the sources were not found");
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        if UNSAFE_PATHS.iter().any(|allowed| relative.starts_with(allowed)) {
            continue;
        }
        if let Some(line) = first_unsafe(&fs::read_to_string(&file).unwrap()) {
            panic!("{relative}:{line}: `unsafe` outside {UNSAFE_PATHS:?}");
        }
    }
}

#[test]
fn all_other_crates_forbid_unsafe_code() {
    for package in packages().iter().filter(|package| !UNSAFE_CRATES.contains(&name(package))) {
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            if !kinds.iter().any(|kind| kind == "lib" || kind == "bin" || kind == "cdylib") {
                continue;
            }
            let source = target["src_path"].as_str().unwrap();
            let text = code_only(&fs::read_to_string(source).unwrap());
            assert!(text.contains("#![forbid(unsafe_code)]"), "{source} lacks #![forbid(unsafe_code)]");
        }
    }
}

#[test]
fn the_scanner_reads_code_not_prose() {
    assert_eq!(first_unsafe("fn f() {}\nunsafe fn g() {}"), Some(2));
    assert_eq!(first_unsafe("let a = unsafe{b};"), Some(1));
    assert_eq!(first_unsafe("fn f<'a>(x: &'a str) {} unsafe impl T for U {}"), Some(1));
    assert_eq!(first_unsafe("let quote = '\"'; unsafe {}"), Some(1));
    assert_eq!(first_unsafe("let s = br#\"a \" b\"#;\nlet e = '\\''; unsafe {}"), Some(2));
    assert_eq!(first_unsafe("// unsafe\n/* unsafe /* unsafe */ unsafe */ let s = \"unsafe \\\" unsafe\";"), None);
    assert_eq!(first_unsafe("#![forbid(unsafe_code)]\nlet s = r#\"unsafe \" unsafe\"#;"), None);
}

/// Collects the Rust sources under `folder`.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // A build folder inside a crate is not source.
            if !path.file_name().unwrap().to_str().unwrap().starts_with("target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The first line (from 1) on which the keyword `unsafe` stands as code.
fn first_unsafe(source: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let line = code_only(source).lines().position(|line| line.split(|c| !word(c)).any(|part| part == "unsafe"))?;
    Some(line + 1)
}

/// `source` without its comments and its string and character literals; line breaks stay.
fn code_only(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' => raw_string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of the block comment (they nest) that `text` starts with.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of the string literal that `text` starts with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the raw string literal that `text` starts with; 0 if the `r` is a letter of a word.
fn raw_string(text: &str) -> usize {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    let open = 1 + hashes;
    if !text[open..].starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    text[open + 1..].find(&close).map_or(text.len(), |at| open + 1 + at + close.len())
}

/// The length of the character literal that `text` starts with; 0 if the quote starts a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(0, |at| 3 + at + 1),
        Some(_) => chars.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}
