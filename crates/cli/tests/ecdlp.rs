//! `warpmp ecdlp` as a person uses it.

mod common;

use std::fs;

use common::{run, stderr, stdout};

/// A random curve of 36 bits with a known logarithm.
const CURVE: &str = r#"{"p": PRIME, "a": A, "b": B, "n": ORDER, "P": [PX, PY], "Q": [QX, QY]}"#;

/// The first curve of the library's test data, as a file, and its logarithm.
fn curve() -> (String, String) {
    let data = include_str!("../../curves/tests/data/curves.csv");
    let row = data.lines().nth(2).unwrap();
    let numbers: Vec<&str> = row.split(',').collect();
    let names = ["PRIME", "A", "B", "ORDER", "PX", "PY", "QX", "QY"];
    // Whole words, the longest names first: "A" is a part of none of the others in this template.
    let text = names.iter().zip(&numbers).fold(CURVE.to_owned(), |text, (name, number)| {
        text.replace(&format!(": {name}"), &format!(": {number}"))
            .replace(&format!("[{name}"), &format!("[{number}"))
            .replace(&format!(", {name}]"), &format!(", {number}]"))
    });
    (text, numbers[8].to_owned())
}

#[test]
fn the_logarithm_is_alone_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curve.json");
    let (text, k) = curve();
    fs::write(&file, text).unwrap();
    for device in ["cpu", "sim"] {
        let output = run(&["ecdlp", "solve", "--curve", file.to_str().unwrap(), "--device", device]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), format!("{k}\n"), "{device}");
        assert!(stderr(&output).contains("checked"), "{}", stderr(&output));
    }
    let output = run(&["ecdlp", "solve", "--curve", file.to_str().unwrap(), "--device", "cpu", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(object["k"], k);
}

#[test]
fn curves_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curve.json");
    let name = file.to_str().unwrap();
    let (text, _) = curve();
    for (content, hint) in [
        ("{".to_owned(), "not a curve file"),
        (text.replace("\"n\": ", "\"n\": 1"), "n = 1"),
        (text.replace("\"b\": ", "\"b\": 1"), "P is not on the curve"),
        (text.replace("\"p\": ", "\"p\": 2"), "p = 2"),
    ] {
        fs::write(&file, content).unwrap();
        let output = run(&["ecdlp", "solve", "--curve", name, "--device", "cpu"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(hint) && stderr(&output).contains(name), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    let output = run(&["ecdlp", "solve", "--curve", "eccp-80"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("eccp-79"), "{}", stderr(&output));
    let output = run(&["ecdlp", "solve", "--curve", "./missing.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("./missing.json"), "{}", stderr(&output));
}

#[test]
fn steps_are_measured_after_a_check() {
    let output = run(&["bench", "ecdlp", "--curve", "eccp-131", "--device", "sim", "--runs", "1", "--points", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("steps/s"), "{}", stdout(&output));
}
