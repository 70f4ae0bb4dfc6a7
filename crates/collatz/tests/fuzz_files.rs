//! Files that somebody changed: certificates, a campaign's description, tables, byte by byte, or in their content with the
//! right checksum. What is read then is what was written, or there is a reason; never a panic, no time and no memory without end.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::fs;

use num_bigint::BigInt;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use warpmp_collatz::{
    campaign::{Campaign, FolderError, Specification},
    certificate::{Certificate, Damage, load, store},
    cpu::Cpu,
    dfs,
    engine::Control,
    expression,
    scheme::Scheme,
    tables::{Loaded, open_mandatory},
    window::Window,
};

fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

fn certificate() -> Certificate {
    let scheme = Scheme::Dfs(dfs::Plan::new(6, 10, 6, 2).unwrap());
    let window = Window::new(1 << 64, 1 << 14).unwrap();
    Certificate::make(&scheme, &window, &mut Cpu::new(), &Control::default()).unwrap()
}

/// A file's bytes with some of them changed, lost, or doubled.
fn mutated(rng: &mut ChaCha8Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..bytes.len().max(1));
        let any = rng.random();
        let byte = pick(rng, &[b'0', b'9', b'"', b'{', b'[', b',', b'-', b'e', b' ', 0, 0xff, any]);
        match rng.random_range(0..4) {
            0 if at < bytes.len() => bytes[at] = byte,
            1 => bytes.insert(at.min(bytes.len()), byte),
            2 if at < bytes.len() => {
                bytes.remove(at);
            }
            _ if rng.random_range(0..4) == 0 => bytes.truncate(at),
            _ => bytes.extend_from_within(at.min(bytes.len())..),
        }
    }
    bytes
}

/// A value as nobody expects it there.
fn strange(rng: &mut ChaCha8Rng) -> Value {
    let values = [
        json!(null),
        json!(0),
        json!(1),
        json!(-1),
        json!(37),
        json!(64),
        json!(200),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("0"),
        json!("1"),
        json!("-1"),
        json!("170141183460469231731687303715884105728"),
        json!("340282366920938463463374607431768211455"),
        json!("9".repeat(500)),
        json!([]),
        json!({}),
        json!({"from": "1", "count": "170141183460469231731687303715884105727"}),
        json!({"from": "170141183460469231731687303715884105727", "count": "1"}),
        json!({"honda": {"sieve_bits": 37, "base_bits": 20}}),
        json!({"honda": {"sieve_bits": 64, "base_bits": 64}}),
        json!({"alpha": {"sieve_bits": 34, "modulus": 0}}),
        json!({"dfs": {"leaf_bits": 200, "lookahead_bits": 0, "rare_lookahead_bits": 99, "main_classes": 1}}),
    ];
    pick(rng, &values)
}

/// Changes some places of a value.
fn change(rng: &mut ChaCha8Rng, value: &mut Value) {
    if rng.random_range(0..6) == 0 {
        *value = strange(rng);
        return;
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = pick(rng, &keys);
            match rng.random_range(0..12) {
                0 => {
                    map.remove(&key);
                }
                1 => {
                    map.insert("more".into(), strange(rng));
                }
                _ => map.values_mut().nth(rng.random_range(0..keys.len())).into_iter().for_each(|it| change(rng, it)),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = rng.random_range(0..items.len());
            match rng.random_range(0..6) {
                0 => {
                    items.remove(at);
                }
                1 => items.push(items[at].clone()),
                _ => change(rng, &mut items[at]),
            }
        }
        other => *other = strange(rng),
    }
}

/// The content with the checksum that belongs to it.
fn sealed(content: &Value) -> String {
    let digest = Sha256::digest(content.to_string().as_bytes());
    let hex: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"content": content, "sha256": hex.concat()}).to_string()
}

#[test]
fn certificates() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    let good = certificate();
    store(&path, &good).unwrap();
    let bytes = fs::read(&path).unwrap();
    let content: Value = serde_json::from_slice::<Value>(&bytes).unwrap()["content"].take();
    for round in 0..1200 {
        let text = if round % 2 == 0 {
            mutated(&mut rng, bytes.clone())
        } else {
            let mut content = content.clone();
            for _ in 0..rng.random_range(1..3) {
                change(&mut rng, &mut content);
            }
            sealed(&content).into_bytes()
        };
        fs::write(&path, &text).unwrap();
        match load(&path).unwrap() {
            Ok(found) if round % 2 == 0 => assert_eq!(found, good, "{}", String::from_utf8_lossy(&text)),
            Ok(found) => found.is_ours().unwrap(),
            Err(damage) => assert!(!damage.to_string().is_empty()),
        }
    }
    for text in ["[".repeat(200_000), format!("{{\"content\":{}", "{\"a\":".repeat(200_000)), String::new()] {
        fs::write(&path, text).unwrap();
        assert!(matches!(load(&path).unwrap(), Err(Damage::Unreadable { .. })));
    }
}

#[test]
fn campaigns() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let good = certificate();
    let specification = Specification::new(Window::new(1 << 64, 1 << 15).unwrap(), 1 << 14, good.scheme).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (campaign, _lock) = Campaign::create(folder.path(), &specification).unwrap();
    let certificate = campaign.path(&good.window);
    store(&certificate, &good).unwrap();
    let path = folder.path().join("campaign.json");
    let content: Value = serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).unwrap()["content"].take();
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..1800 {
        let mut content = content.clone();
        change(&mut rng, &mut content);
        fs::write(&path, sealed(&content)).unwrap();
        match Campaign::open(folder.path()) {
            Ok(campaign) => {
                let specification = campaign.specification();
                let windows = specification.windows();
                assert!(windows > 0, "{content}");
                for number in [0, 1, windows - 1, windows, u128::MAX] {
                    let window = specification.window(number);
                    assert!(window.is_none_or(|window| specification.number(&window) == Some(number)), "{content}");
                }
                let contents = campaign.contents().unwrap();
                assert_eq!(contents.done.len() + contents.damaged.len() + contents.others.len(), 1, "{content}");
                specification.gaps(&contents.done);
                opened += 1;
            }
            Err(FolderError::NotTrusted { path: named, damage }) => {
                assert_eq!(named, path);
                assert!(!damage.to_string().is_empty());
                refused += 1;
            }
            Err(other) => panic!("{content}: {other}"),
        }
    }
    assert!(opened > 10 && refused > 100, "{opened}, {refused}");
    // Parameters that no plan has would shift by more bits than there are.
    let mut wrong = content;
    wrong["scheme"] =
        json!({"dfs": {"leaf_bits": 200, "lookahead_bits": 6, "rare_lookahead_bits": 6, "main_classes": 1}});
    fs::write(&path, sealed(&wrong)).unwrap();
    let error = Campaign::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("scheme"), "{error}");
}

#[test]
fn tables() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let folder = tempfile::tempdir().unwrap();
    let (table, _) = open_mandatory(12, folder.path()).unwrap();
    let path = folder.path().join("mandatory-12.bin");
    let bytes = fs::read(&path).unwrap();
    for _ in 0..300 {
        let changed = mutated(&mut rng, bytes.clone());
        fs::write(&path, &changed).unwrap();
        let (found, loaded) = open_mandatory(12, folder.path()).unwrap();
        assert_eq!(found.count(), table.count());
        assert!(changed == bytes || loaded == Loaded::Replaced(path.clone()), "{loaded:?}");
    }
}

/// A sum, product or power, and its value; none where it is too large to be asked for.
fn formula(rng: &mut ChaCha8Rng, depth: u32) -> (String, BigInt) {
    let space = pick(rng, &["", "", " "]);
    if depth == 0 || rng.random_range(0..4) == 0 {
        let number: u128 = rng.random::<u128>() >> rng.random_range(64..128);
        let text = if rng.random() { number.to_string() } else { format!("0x{number:x}") };
        return (format!("{space}{text}{space}"), number.into());
    }
    let (a, x) = formula(rng, depth - 1);
    if rng.random_range(0..4) == 0 {
        let exponent = rng.random_range(0..4_u32);
        return (format!("({a}){space}^{exponent}"), x.pow(exponent));
    }
    let (b, y) = formula(rng, depth - 1);
    match rng.random_range(0..3) {
        0 => (format!("({a}+{b})"), x + y),
        1 => (format!("({a}{space}-{b})"), x - y),
        _ => (format!("({a})*{space}({b})"), x * y),
    }
}

#[test]
fn expressions() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let limit = BigInt::from(1) << 127;
    let mut within = 0;
    for _ in 0..3000 {
        let depth = rng.random_range(0..5);
        let (text, value) = formula(&mut rng, depth);
        match expression::parse(&text) {
            Ok(found) => {
                assert_eq!(BigInt::from(found), value, "{text}");
                within += 1;
            }
            // Something on the way may be too large.
            Err(error) => {
                let beyond = value < BigInt::ZERO || value > limit;
                assert!(beyond || error.to_string().contains("4096"), "{text}: {error}");
            }
        }
        let broken = mutated(&mut rng, text.into_bytes());
        if let Err(error) = expression::parse(&String::from_utf8_lossy(&broken)) {
            assert!(!error.to_string().is_empty());
        }
    }
    assert!(within > 500, "{within}");
}
