//! The files of a release: each published crate says what it is, and carries its licences.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// `cargo binstall` looks for the archive that `tools/release` makes.
#[test]
fn the_archive_has_the_name_that_is_looked_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let manifest = read("crates/cli/Cargo.toml");
    assert!(manifest.contains("/v{ version }/warpmp-{ version }-{ target }.tar.gz\""));
    assert!(manifest.contains("bin-dir = \"warpmp-{ version }-{ target }/{ bin }{ binary-ext }\""));
    let script = read("tools/release");
    assert!(script.contains("name=warpmp-$version-$target\n") && script.contains("$name.tar.gz"));
    assert!(script.contains("cp \"target/$target/dist/warpmp\""));
}

#[test]
fn published_crates_have_what_a_registry_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(&root)
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut published = 0;
    for package in metadata["packages"].as_array().unwrap().iter().filter(|it| it["publish"].is_null()) {
        let name = package["name"].as_str().unwrap();
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        for list in ["keywords", "categories"] {
            let count = package[list].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {list}: one to five are allowed");
        }
        assert!(package["description"].is_string(), "{name} has no description");
        let readme = package["readme"].as_str().unwrap_or_else(|| panic!("{name} has no readme"));
        assert!(fs::read_to_string(folder.join(readme)).unwrap().starts_with(&format!("# {name}\n")), "{name}");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let carried = fs::read(folder.join(licence)).unwrap_or_else(|_| panic!("{name} has no {licence}"));
            assert!(carried == fs::read(root.join(licence)).unwrap(), "{name}: another {licence}");
        }
        published += 1;
    }
    assert!(published > 4, "{published} published crates were found");
}
