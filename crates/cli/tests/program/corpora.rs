//! The bodies of the fuzz targets on their stored corpora, on fresh seeds, and on changed copies of both.
//!
//! `WARPMP_BLESS=1` stores the seeds in `fuzz/corpus`, where `cargo fuzz` begins with them.

#[path = "../../../../fuzz/bodies.rs"]
mod bodies;

use std::{fs, path::PathBuf};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpmp_campaign::records::{Appender, Kind};
use warpmp_collatz::{
    certificate::{Certificate, store},
    cpu::Cpu,
    dfs,
    engine::Control,
    scheme::Scheme,
    window::Window,
};

/// Changed copies of each file.
const COPIES: u32 = 40;

fn corpus(target: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fuzz/corpus", target].iter().collect()
}

/// A file that each target reads in good order.
fn seed(target: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    match target {
        "text" => b"\xef\xbb\xbf7\n# comment\n 0xff \r\n123456789012345678901234567890\n\n".to_vec(),
        "npy" => {
            let mut bytes =
                b"\x93NUMPY\x01\x00\x76\x00{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
            bytes.resize(127, b' ');
            bytes.push(b'\n');
            bytes.extend(0..24);
            bytes
        }
        "certificate" => {
            let scheme = Scheme::Dfs(dfs::Plan::new(6, 10, 6, 2).unwrap());
            let window = Window::new(1 << 64, 1 << 10).unwrap();
            let made = Certificate::make(&scheme, &window, &mut Cpu::new(), &Control::default());
            store(&path, &made.unwrap()).unwrap();
            fs::read(&path).unwrap()
        }
        "table" => warpmp::tuning::shipped(90).to_text().into_bytes(),
        "curve" => warpmp_curves::challenges::named("eccp-79").unwrap().to_json().into_bytes(),
        "keys" => b"-----BEGIN RSA PUBLIC KEY-----\nMAYCAQ8CAQM=\n-----END RSA PUBLIC KEY-----\nModulus=0F\n".to_vec(),
        "records" => {
            let mut appender = Appender::open(&path, Kind::new("fuzz", 4)).unwrap();
            for record in [b"abcd", b"efgh"] {
                appender.append(record).unwrap();
                appender.flush().unwrap();
            }
            drop(appender);
            fs::read(&path).unwrap()
        }
        other => panic!("no seed for {other}"),
    }
}

/// Bytes with some of them changed, lost, or doubled.
fn mutated(rng: &mut ChaCha8Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..=bytes.len());
        let marks = b"0129\n\"'{}[](),:-ex \0\xff";
        let byte = if rng.random() { marks[rng.random_range(0..marks.len())] } else { rng.random() };
        match rng.random_range(0..5) {
            0 | 1 if at < bytes.len() => bytes[at] = byte,
            2 => bytes.insert(at, byte),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 if rng.random_range(0..4) == 0 => bytes.truncate(at),
            _ => {
                let end = (at + rng.random_range(1..30)).min(bytes.len());
                bytes.extend_from_within(at..end);
            }
        }
    }
    bytes
}

#[test]
fn every_target_stands_its_corpus() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for (target, run) in bodies::TARGETS {
        let folder = corpus(target);
        let mut files = vec![seed(target)];
        if std::env::var_os("WARPMP_BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("seed"), &files[0]).unwrap();
        }
        let stored: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!stored.is_empty(), "{target}");
        files.extend(stored.iter().map(|path| fs::read(path).unwrap()));
        for file in files {
            run(&file);
            for _ in 0..COPIES {
                run(&mutated(&mut rng, file.clone()));
            }
        }
    }
}
