//! Every algorithm of the registers has a section in the book.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp::Operation;
use warpmp::kernels::Register;

#[test]
fn every_algorithm_has_a_section() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/multiplication.md");
    let book = std::fs::read_to_string(path).unwrap();
    let headings: Vec<&str> = book.lines().filter(|line| line.starts_with('#')).collect();
    for operation in [Operation::Mul, Operation::Sqr] {
        for name in Register::shipped().names(operation) {
            // Toom's method is one section for all numbers of parts.
            let name = if name.starts_with("toom-") { "toom-2" } else { name };
            assert!(headings.iter().any(|line| line.contains(&format!("`{name}`"))), "{name}");
        }
    }
}

#[test]
fn every_operation_has_a_chapter() {
    for operation in Operation::ALL {
        let (_, name) = operation.group().chapter().rsplit_once('/').unwrap();
        let path = format!("{}/../../book/src/{name}", env!("CARGO_MANIFEST_DIR"));
        assert!(std::path::Path::new(&path).exists(), "{operation}: {path}");
    }
}
