//! What is done with bytes that nobody meant to write: they are read, and what was read is written and read again. Nothing may panic, and
//! both readings must agree. The targets of `cargo fuzz` and the test `corpora` share this code.
#![allow(dead_code, reason = "each target uses its own function")]

use std::{fs, path::Path};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use warpmp::{Table, kernels::Register};
use warpmp_campaign::records::{self, Kind};
use warpmp_cli::fuzz;
use warpmp_collatz::certificate;
use warpmp_curves::Problem;
use warpmp_numtheory::keys::{self, Entry};

/// A target: its name, and what it does.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every target.
pub(crate) const TARGETS: [Target; 7] = [
    ("text", text),
    ("npy", npy),
    ("certificate", certificate),
    ("table", table),
    ("curve", curve),
    ("records", records),
    ("keys", keys),
];

/// Keys of RSA. A modulus that was read is read again from the form in which `openssl` prints it.
pub(crate) fn keys(bytes: &[u8]) {
    let _ = keys::is_known(bytes);
    for Entry { label, modulus } in keys::read("file", bytes) {
        assert!(label.starts_with("file"), "{label}");
        if let Ok(modulus) = modulus {
            let again = keys::read("again", format!("Modulus={modulus:X}\n").as_bytes());
            assert_eq!(again, [Entry { label: "again:1".into(), modulus: Ok(modulus) }]);
        }
    }
}

/// Integers as lines of text.
pub(crate) fn text(bytes: &[u8]) {
    numbers("a.txt", bytes);
}

/// Integers as rows of an array.
pub(crate) fn npy(bytes: &[u8]) {
    numbers("a.npy", bytes);
}

fn numbers(name: &str, bytes: &[u8]) {
    let Ok(numbers) = fuzz::read(name, bytes) else { return };
    assert_eq!(fuzz::read("a.txt", numbers.join("\n").as_bytes()), Ok(numbers));
}

/// A certificate of a Collatz campaign. One that is trusted has as much work as its window allows.
pub(crate) fn certificate(bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.with(&sealed(bytes).unwrap_or_else(|| bytes.to_vec()));
    let Ok(Ok(found)) = certificate::load(&path) else { return };
    let starts: u128 = found.samples.iter().map(|sample| sample.window.count()).sum();
    assert!(starts > 0 && starts <= 1 << 21);
    certificate::store(&path, &found).expect("a file");
    assert_eq!(certificate::load(&path).expect("a file"), Ok(found));
}

/// The same content under its right seal, which anybody can compute; none if there is no content.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file: Value = serde_json::from_slice(bytes).ok()?;
    let content = file.get("content")?.to_string();
    file["sha256"] = warpmp_campaign::hex(&Sha256::digest(content.as_bytes())).into();
    Some(file.to_string().into_bytes())
}

/// A tuning table.
pub(crate) fn table(bytes: &[u8]) {
    let folder = Folder::new();
    let path = folder.with(bytes);
    let Ok(found) = Table::read(&path, &Register::shipped()) else { return };
    let text = found.to_text();
    fs::write(&path, &text).expect("a file");
    let again = Table::read(&path, &Register::shipped()).expect("a table that was written");
    assert_eq!(again.to_text(), text);
}

/// A curve with the points of a discrete logarithm.
pub(crate) fn curve(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(found) = Problem::from_json("a", text) else { return };
    assert_eq!(Problem::from_json("a", &found.to_json()).expect("a problem that was written"), found);
}

/// Records that a campaign appends to. All records of whole blocks are found, in a file that another one follows, too.
pub(crate) fn records(bytes: &[u8]) {
    let kind = Kind::new("fuzz", 4);
    let folder = Folder::new();
    let path = folder.with(bytes);
    let mut found: Vec<u8> = Vec::new();
    let Ok(scan) = records::read(&path, kind, |record| found.extend(record)) else { return };
    assert_eq!(found.len() as u64, 4 * scan.records);
    assert!(scan.unfinished <= bytes.len() as u64);
    let Ok(mut appender) = records::Appender::open(&path, kind) else { return };
    appender.append(b"last").expect("a record of this kind");
    drop(appender);
    let mut again: Vec<u8> = Vec::new();
    records::read(&path, kind, |record| again.extend(record)).expect("a file of this kind");
    found.extend(b"last");
    assert_eq!(again, found);
}

/// A directory for one file.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn with(&self, bytes: &[u8]) -> std::path::PathBuf {
        let path: &Path = self.0.path();
        let path = path.join("file.json");
        fs::write(&path, bytes).expect("a file");
        path
    }
}
