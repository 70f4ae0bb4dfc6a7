//! `tune`, and the user's tuning tables in the other commands.

use std::{fs, path::PathBuf};

use crate::common::{Dir, finish, lines, mixed, products};

const EXPLAIN: [&str; 8] = ["explain", "mul", "--bits", "700", "--count", "500", "--device", "sim"];

/// `group` for up to 1000 lanes of up to 800 bits, with blocks that the shipped table would not choose.
const TABLE: &str = r#"{
  "architecture": 90,
  "measured_on": "a test bench",
  "rows": {
    "mul": [
      {"to_bits":800,"to_lanes":1000,"algorithm":"group","settings":{"warps":4,"block":8}},
      {"to_bits":1024,"algorithm":"thread"},
      {"to_bits":65536,"algorithm":"group"}
    ]
  }
}
"#;

/// Puts the user's table for `sm_90`, the simulator's architecture, where it belongs.
fn configure(dir: &Dir, table: &str) -> PathBuf {
    let folder = dir.path("config/warpmp/tuning");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("sm_90.json");
    fs::write(&path, table).unwrap();
    path
}

#[test]
fn the_users_table_decides_and_is_named() {
    let dir = Dir::new();
    let shipped = dir.run(&EXPLAIN);
    assert!(shipped.ok().contains("table sm_90, row") && !shipped.ok().contains("_k6_t4_"), "{}", shipped.text());
    let path = configure(&dir, TABLE);
    let run = dir.run(&EXPLAIN);
    let row = format!("table sm_90 of {}, row \"to 800 bits and 1000 lanes\"", path.display());
    for words in [&row, "measured fastest there on a test bench", "algorithm  group:", "_k6_t4_", "_w4"] {
        assert!(run.ok().contains(words), "{words}: {}", run.text());
    }
    let more = dir.run(&["explain", "mul", "--bits", "700", "--count", "1001", "--device", "sim"]);
    assert!(more.ok().contains("row \"to 1024 bits\"") && more.ok().contains("thread:"), "{}", more.text());
    let (a, b) = (mixed(20, 800, 1), mixed(20, 800, 2));
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    let run = dir.run(&["mul", "a.txt", "b.txt", "--device", "sim"]);
    assert_eq!(run.ok(), products(&a, &b));
    assert!(run.stderr.contains("group"), "{}", run.stderr);
}

/// A row that nobody measured says so.
#[test]
fn predictions_are_told_from_measurements() {
    let dir = Dir::new();
    let predicted = TABLE.replace("\"settings\":{\"warps\":4,\"block\":8}", "\"predicted\":true");
    configure(&dir, &predicted);
    let run = dir.run(&EXPLAIN);
    assert!(
        run.ok().contains("800 bits and 1000 lanes\": expected to be fastest there, not measured"),
        "{}",
        run.text()
    );
    let measured = dir.run(&["explain", "mul", "--bits", "900", "--count", "1001", "--device", "sim"]);
    assert!(measured.ok().contains("measured fastest there on a test bench"), "{}", measured.text());
}

/// A row goes by the modulus, not by a long exponent or dividend.
#[test]
fn the_modulus_decides() {
    let dir = Dir::new();
    let row = |bits: usize, algorithm: &str| format!("{{\"to_bits\":{bits},\"algorithm\":\"{algorithm}\"}}");
    let rows = format!("\"modular\": [{}, {}]", row(256, "thread"), row(65536, "group"));
    configure(&dir, &format!("{{\"architecture\":90,\"measured_on\":\"a bench\",\"rows\":{{{rows}}}}}"));
    let row_of = |operation: &str, bits: [&str; 3]| {
        let widths = ["--bits", bits[0], "--bits-b", bits[1], "--bits-c", bits[2], "--count", "9", "--device", "sim"];
        let run = dir.run(&[&["explain", operation], &widths[..]].concat());
        run.ok().split("row \"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert_eq!(row_of("mul-mod", ["2048", "64", "256"]), "to 256 bits");
    assert_eq!(row_of("mul-mod", ["64", "64", "288"]), "to 65536 bits");
}

#[test]
fn the_variable_takes_another_table_or_none() {
    let dir = Dir::new();
    configure(&dir, TABLE);
    let none = dir.run_where("WARPMP_TUNING", "none", &EXPLAIN);
    assert!(none.ok().contains("table sm_90, row"), "{}", none.text());
    dir.write("mine.json", TABLE.replace("a test bench", "another bench").replace("90", "80"));
    let mine = dir.run_where("WARPMP_TUNING", "mine.json", &EXPLAIN);
    for words in ["table sm_80 of mine.json", "another bench", "no table for sm_90: the nearest is sm_80's"] {
        assert!(mine.ok().contains(words), "{words}: {}", mine.text());
    }
    dir.run_where("WARPMP_TUNING", "missing.json", &EXPLAIN).fails(1, &["missing.json: ", "WARPMP_TUNING=none"]);
}

#[test]
fn a_broken_table_is_told_with_place_and_remedy() {
    let dir = Dir::new();
    let remedy = "`warpmp tune` measures a new table; with WARPMP_TUNING=none the program uses the shipped one";
    let path = configure(&dir, &TABLE.replace("\"to_lanes\"", "\"lanes\""));
    let path = path.to_str().unwrap();
    let syntax = [path, "unknown field `lanes`", "line 6 column", remedy];
    dir.run(&EXPLAIN).fails(1, &syntax);
    dir.run(&["selftest", "--device", "sim"]).fails(1, &syntax);
    configure(&dir, &TABLE.replace("\"thread\"", "\"abacus\""));
    dir.run(&EXPLAIN).fails(1, &[path, "operation 'mul', row 2: there is no algorithm 'abacus'", remedy]);
    configure(&dir, &TABLE.replace("\"warps\":4", "\"warps\":0"));
    dir.run(&EXPLAIN).fails(1, &["row 1: warps is 0; it may be 1 to 32"]);
    // What does not need it does not mind it; the list of devices shows it.
    dir.run(&["explain", "mul", "--bits", "700", "--count", "1", "--device", "cpu"]).ok();
    let devices = dir.run(&["devices"]);
    let line = devices.ok().lines().find(|line| line.starts_with("sim")).unwrap();
    assert!(line.contains("unusable tuning ") && line.contains(path), "{line}");
}

#[test]
fn devices_name_the_table() {
    let dir = Dir::new();
    let tuning = || {
        let run = dir.run(&["devices", "--json"]);
        let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
        let sim = object["engines"].as_array().unwrap().iter().find(|it| it["kind"] == "sim").unwrap().clone();
        sim["tuning"].as_str().unwrap().to_owned()
    };
    assert_eq!(tuning(), "tuning table sm_90");
    let path = configure(&dir, TABLE);
    assert_eq!(tuning(), format!("tuning table sm_90 of {}", path.display()));
}

#[test]
fn nothing_to_tune_without_a_gpu() {
    let dir = Dir::new();
    dir.run(&["tune", "--device", "cpu"]).fails(2, &["nothing to tune on the CPU", "--device cuda"]);
    dir.run(&["tune", "--device", "sim"]).fails(2, &["nothing to tune on the simulator", "no time", "--dry-run"]);
    dir.run(&["tune", "--operation", "div"]).fails(2, &["there are mul, sqr"]);
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn a_dry_run_says_what_and_where() {
    let dir = Dir::new();
    let args = ["tune", "--device", "sim", "--dry-run", "--operation", "mul", "--bits", "4096,64"];
    let run = dir.run(&args);
    let words: Vec<Vec<&str>> = run.ok().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["operation", "bits", "kernels", "lanes"]);
    assert_eq!((words[1][1], words[2][1], &words[1][3..6]), ("64", "4096", &["1", "32", "1000"][..]));
    let kernels = |line: usize| words[line][2].parse::<usize>().unwrap();
    assert!(kernels(1) > 15 && kernels(2) > 25, "{}", run.text());
    let place = dir.path("config/warpmp/tuning/sm_90.json");
    assert!(run.ok().contains(&format!("the table would be {}", place.display())), "{}", run.text());
    let run = dir.run(&[&args[..], &["--output", "mine.json"]].concat());
    assert!(run.ok().contains("the table would be mine.json"), "{}", run.text());
    assert_eq!(dir.names(), [""; 0]);
    let mut homeless = dir.command(&args);
    homeless.env_remove("XDG_CONFIG_HOME").env("HOME", "");
    finish(homeless.spawn().unwrap()).fails(2, &["neither XDG_CONFIG_HOME nor HOME", "--output FILE"]);
}

/// What helps to compile says what it is through with, and writes no file.
#[test]
fn a_part_of_the_kernels_is_compiled() {
    let dir = Dir::new();
    let args = ["tune", "--device", "sim", "--operation", "mul,add", "--bits", "64,131", "--compile", "1/3"];
    assert_eq!(dir.run(&args).ok(), "mul 64\nmul 131\nadd 64\nadd 131\n");
    dir.run(&["tune", "--device", "sim", "--compile", "3/3"]).fails(2, &["I/N with I below N is needed"]);
    assert_eq!(dir.names(), [""; 0]);
}

/// Has this machine a GPU? If one is required and there is none, the test fails.
fn has_gpu(dir: &Dir) -> bool {
    let run = dir.run(&["devices", "--json"]);
    let found = run.ok().contains("\"cuda:");
    assert!(found || std::env::var_os("WARPMP_REQUIRE_GPU").is_none_or(|it| it != "1"), "no GPU: {}", run.text());
    if !found {
        println!("skipped: no GPU");
    }
    found
}

#[test]
fn a_gpu_is_tuned() {
    let dir = Dir::new();
    if !has_gpu(&dir) {
        return;
    }
    let args = ["tune", "--quick", "--operation", "mul", "--bits", "64,2048"];
    let run = dir.run(&args);
    for words in ["operation", "fastest", "64", "2048", "measurements", "table ", "picture "] {
        assert!(run.ok().contains(words), "{words}: {}", run.text());
    }
    let names = |dir: &Dir| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir.path("config/warpmp/tuning"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let first = names(&dir);
    let [table, picture] = &first[..] else { panic!("{first:?}") };
    assert_eq!(picture, &table.replace(".json", ".svg"));
    let run = dir.run(&["explain", "mul", "--bits", "64", "--count", "1000", "--device", "cuda"]);
    assert!(run.ok().contains(table), "{}", run.text());
    dir.run(&args).ok();
    assert_eq!(names(&dir), [table.clone(), format!("{table}.bak"), picture.clone()]);
}
