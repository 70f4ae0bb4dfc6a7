//! The header is made from the sources, and is what stands in the repository.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::path::Path;
use std::{env, fs};

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(folder);
    let sources = ["failure", "session", "batch", "memory", "apply"].map(|name| folder.join(format!("src/{name}.rs")));
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    // The sections on safety are for readers of the sources.
    let mut made = String::from_utf8(made).unwrap();
    while let Some(start) = made.find(" *\n * # Safety\n") {
        let end = start + made[start..].find(" */").unwrap();
        made.replace_range(start..end, "");
    }
    let path = folder.join("include/warpmp.h");
    if env::var_os("WARPMP_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        made == fs::read_to_string(&path).unwrap(),
        "write include/warpmp.h anew: WARPMP_BLESS=1 cargo test -p warpmp-capi"
    );
}
