//! `ecdlp solve` and `bench ecdlp`: a known logarithm on every engine, and curves that are refused.

use crate::common::Dir;

/// A random curve of 32 bits with a known logarithm, as a file, and the logarithm.
fn curve() -> (String, String) {
    let data = include_str!("../../../curves/tests/data/curves.csv");
    let numbers: Vec<&str> = data.lines().nth(2).unwrap().split(',').collect();
    let [p, a, b, n, px, py, qx, qy, k] = numbers.try_into().unwrap();
    (format!(r#"{{"p": {p}, "a": {a}, "b": {b}, "n": {n}, "P": [{px}, {py}], "Q": [{qx}, {qy}]}}"#), k.to_owned())
}

#[test]
fn the_logarithm_is_alone_on_standard_output() {
    let dir = Dir::new();
    let (text, k) = curve();
    dir.write("curve.json", text);
    for device in ["cpu", "sim"] {
        let run = dir.run(&["ecdlp", "solve", "--curve", "curve.json", "--device", device]);
        assert_eq!(run.ok(), format!("{k}\n"), "{device}");
        assert!(run.stderr.contains("checked"), "{}", run.stderr);
    }
    let run = dir.run(&["ecdlp", "solve", "--curve", "curve.json", "--device", "cpu", "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!(object["k"], k);
}

#[test]
fn curves_that_are_refused() {
    let dir = Dir::new();
    let (text, _) = curve();
    for (content, hint) in [
        ("{".to_owned(), "not a curve file"),
        (text.replace("\"n\": ", "\"n\": 1000"), "n = 1000"),
        (text.replace("\"b\": ", "\"b\": 1"), "P is not on the curve"),
        (text.replace("\"p\": ", "\"p\": 20"), "p = 20"),
    ] {
        dir.write("curve.json", content);
        let run = dir.run(&["ecdlp", "solve", "--curve", "curve.json", "--device", "cpu"]);
        run.fails(1, &["curve.json", hint]);
        assert_eq!(run.text(), "");
    }
    dir.run(&["ecdlp", "solve", "--curve", "eccp-80", "--device", "cpu"]).fails(2, &["'eccp-80'", "eccp-79"]);
    dir.run(&["ecdlp", "solve", "--curve", "./missing.json", "--device", "cpu"]).fails(1, &["./missing.json"]);
}

#[test]
fn steps_are_measured_after_a_check() {
    let dir = Dir::new();
    let run = dir.run(&["bench", "ecdlp", "--curve", "eccp-131", "--device", "sim", "--runs", "1", "--points", "2"]);
    assert!(run.ok().contains("steps/s"), "{}", run.text());
    let run = dir.run(&["bench", "ecdlp", "--bits", "97", "--device", "cpu", "--runs", "1", "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["bits"], &object["curve"]), (&97.into(), &serde_json::Value::Null));
    dir.run(&["bench", "ecdlp", "--bits", "31", "--device", "cpu"]).fails(2, &["32 to 256"]);
    dir.run(&["bench", "ecdlp", "--bits", "97", "--curve", "eccp-97"]).fails(2, &["--curve"]);
    dir.run(&["bench", "ecdlp"]).fails(2, &["--curve <NAME|FILE>|--bits <BITS>"]);
}
