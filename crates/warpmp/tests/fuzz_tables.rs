//! Tuning tables that somebody changed: an error with the file and a place, or a table by which everything can be planned.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use warpmp::kernels::Register;
use warpmp::tuning::{Table, shipped};
use warpmp::{Error, Operation, Plan, Selector, Session, Shape};

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

/// A file's bytes with some of them changed, lost, or doubled.
fn mutated(rng: &mut ChaCha8Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = rng.random_range(0..bytes.len());
    let byte = pick(rng, &[b'0', b'9', b'"', b'{', b'[', b',', b'-', b'e', b' ', 0, 0xff]);
    match rng.random_range(0..4) {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => {
            bytes.remove(at);
        }
        _ => bytes.truncate(at),
    }
    bytes
}

/// Other numbers, names and settings in some rows.
fn change(rng: &mut ChaCha8Rng, table: &mut Value) {
    const NUMBERS: [u64; 16] = [0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 64, 1000, 65536, 65537, u32::MAX as u64, u64::MAX];
    let rows = table["rows"].as_object_mut().unwrap();
    let count = rows.len();
    let Some(rows) = rows.values_mut().nth(rng.random_range(0..count)).and_then(Value::as_array_mut) else { return };
    if rows.is_empty() {
        return;
    }
    let at = rng.random_range(0..rows.len());
    let number = json!(pick(rng, &NUMBERS));
    match rng.random_range(0..8) {
        0 => {
            rows.remove(at);
        }
        1 => rows[at]["to_bits"] = number,
        2 => rows[at]["to_lanes"] = number,
        3 => {
            let name = pick(rng, &["thread", "group", "toom-8", "karatsuba/group", "", "cpu-ifma"]);
            rows[at]["algorithm"] = json!(name);
        }
        _ => {
            let name = pick(rng, &["warps", "glue", "block", "levels", "products", "input", "colour"]);
            let value = if name == "input" { json!(pick(rng, &["Direct", "direct", "staged", "x"])) } else { number };
            rows[at]["settings"][name] = value;
        }
    }
}

#[test]
fn changed_tables_plan_everything_or_say_what_is_wrong() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let session = Session::on(Selector::Sim).unwrap();
    let device = session.device().unwrap().info();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sm_90.json");
    let text = shipped(90).to_text();
    let value: Value = serde_json::from_str(&text).unwrap();
    let (mut read, mut refused) = (0, 0);
    for round in 0..240 {
        let changed = if round % 3 == 0 {
            mutated(&mut rng, text.clone().into_bytes())
        } else {
            let mut value = value.clone();
            for _ in 0..rng.random_range(1..4) {
                change(&mut rng, &mut value);
            }
            value.to_string().into_bytes()
        };
        fs::write(&path, &changed).unwrap();
        let table = match Table::read(&path, &Register::shipped()) {
            Ok(table) => table,
            Err(error) => {
                assert!(error.to_string().contains("sm_90.json: "), "{error}");
                refused += 1;
                continue;
            }
        };
        read += 1;
        let table = table.completed_by(shipped(90));
        for _ in 0..5 {
            let operation = pick(&mut rng, Operation::ALL);
            let bits = pick(&mut rng, &[1, 32, 131, 480, 1024, 2048, 2600, 8192, 65536]);
            let lanes = pick(&mut rng, &[1, 1000, 1 << 20]);
            let shapes = vec![Shape::new(lanes, bits); operation.arity()];
            let plan = match Plan::new(operation, &shapes, device, &table, None) {
                Ok(plan) => plan,
                // A row may name an algorithm that does not take these lengths.
                Err(Error::AlgorithmUnfit { .. }) => continue,
                Err(error) => panic!("{operation} of {bits} bits: {error}\n{}", String::from_utf8_lossy(&changed)),
            };
            assert!(plan.max_launch_lanes() >= 32 && plan.explain().contains("why"));
            assert!(plan.grid(0, 33).threads <= 1024, "{operation} of {bits} bits: {}", plan.spec_name());
        }
    }
    assert!(read > 30 && refused > 30, "{read} tables read, {refused} refused");
    for text in ["[".repeat(200_000), "{\"architecture\":".repeat(100_000), String::new(), "null".into()] {
        fs::write(&path, text).unwrap();
        assert!(Table::read(&path, &Register::shipped()).unwrap_err().to_string().contains("sm_90.json: "));
    }
}
