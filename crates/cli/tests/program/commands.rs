//! The other commands: `gen`, `bench`, `explain`, `devices`, `selftest`, and help.

use crate::common::{self, Dir, lines, parse, read_npy};
use num_bigint::BigUint;

fn generate(dir: &Dir, args: &str) -> String {
    let mut all = vec!["gen"];
    all.extend(args.split_whitespace());
    dir.run(&all).ok().to_owned()
}

#[test]
fn generated_operands_are_the_same_every_time() {
    let dir = Dir::new();
    let first = generate(&dir, "--bits 300 --count 1000 --seed 5");
    assert_eq!(generate(&dir, "--bits 300 --count 1000 --seed 5"), first);
    assert_ne!(generate(&dir, "--bits 300 --count 1000 --seed 6"), first);
    assert!(first.starts_with(&generate(&dir, "--bits 300 --count 100 --seed 5")));
    let numbers = parse(&first);
    assert_eq!((numbers.len(), numbers.iter().map(BigUint::bits).max()), (1000, Some(300)));
}

#[test]
fn patterns() {
    let dir = Dir::new();
    let ones = (BigUint::from(1u8) << 100) - 1u8;
    assert!(parse(&generate(&dir, "--bits 100 --count 50 --pattern ones")).iter().all(|number| *number == ones));
    let sparse = parse(&generate(&dir, "--bits 100 --count 50 --pattern sparse"));
    assert!(sparse.iter().all(|number| (1..=4).contains(&number.count_ones()) && *number <= ones));
    assert!(parse(&generate(&dir, "--bits 100 --count 50 --pattern carry")).iter().all(|number| *number <= ones));
    assert!(generate(&dir, "--bits 1 --count 64").lines().all(|line| line == "0" || line == "1"));
}

#[test]
fn all_formats_hold_the_same_operands() {
    let dir = Dir::new();
    let text = generate(&dir, "--bits 131 --count 200");
    assert_eq!(lines(&parse(&generate(&dir, "--bits 131 --count 200 --hex"))), text);
    generate(&dir, "--bits 131 --count 200 -o a.npy");
    generate(&dir, "--bits 131 --count 200 -o a.txt");
    let (header, numbers) = read_npy(&dir.read("a.npy"));
    assert!(header.contains("'<u4'") && header.contains("(200, 5)"), "{header}");
    assert_eq!((lines(&numbers), dir.text("a.txt")), (text.clone(), text));
}

#[test]
fn a_benchmark_in_three_forms() {
    let dir = Dir::new();
    let args = ["bench", "mul", "--device", "cpu", "--bits", "64,131", "--count", "10,100", "--runs", "3"];
    let run = dir.run(&args);
    assert_eq!(run.ok().lines().filter(|line| line.starts_with("cpu-")).count(), 4, "{}", run.text());
    for word in ["median", "minimum", "spread", "lanes/s", "GB/s", "of copy", "of IMAD.WIDE"] {
        assert!(run.ok().contains(word), "{word}");
    }
    let run = dir.run(&[&args[..], &["--json", "--csv", "rows.csv"]].concat());
    let table: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &table["op"]), (4, &"mul".into()));
    for row in rows {
        for name in ["kernel_seconds", "minimum_seconds", "ops_per_second", "gb_per_second", "total_seconds"] {
            assert!(row[name].as_f64().unwrap() > 0.0, "{name}");
        }
        assert!(row["minimum_seconds"].as_f64() <= row["kernel_seconds"].as_f64());
        assert_eq!((&row["runs"], &row["checked"]), (&3.into(), &row["lanes"]));
        assert!(row["copy_fraction"].is_null() && row["wide_product_fraction"].is_null());
    }
    assert_eq!(dir.text("rows.csv").lines().count(), 5);
    assert!(dir.text("rows.csv").starts_with("op,bits_a,bits_b,lanes,device,algorithm,"));
}

#[test]
fn a_benchmark_with_other_operands_and_a_chart() {
    let dir = Dir::new();
    let args = ["bench", "mul", "--device", "cpu", "--bits", "64,131,256", "--count", "10", "--runs", "2", "--json"];
    let run = dir.run(&[&args[..], &["--pattern", "ones,carry,sparse", "--plot", "a.svg"]].concat());
    let table: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    let patterns: Vec<&str> =
        table["rows"].as_array().unwrap().iter().map(|row| row["pattern"].as_str().unwrap()).collect();
    assert_eq!(patterns, ["ones", "carry", "sparse"].repeat(3));
    let svg = dir.text("a.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["cpu-schoolbook, ones", "cpu-schoolbook, carry", "nanoseconds a lane (median)", "bits of an operand"] {
        assert!(svg.contains(text), "{text}");
    }
    dir.run(&[&args[..], &["--pattern", "zeros"]].concat()).fails(2, &["random, ones, carry, sparse, ripple"]);
}

/// One last operand for all lanes, of every operation that has two or more.
#[test]
fn bench_with_a_common_operand() {
    let dir = Dir::new();
    for (operation, device) in
        [("mul", "sim"), ("div-rem", "cpu"), ("mont-mul", "sim"), ("pow-mod", "cpu"), ("mul-add", "cpu")]
    {
        let args = ["bench", operation, "--bits", "100", "--count", "65", "--runs", "1", "--device", device];
        let run = dir.run(&[&args[..], &["--common"]].concat());
        assert!(run.ok().contains("random, common"), "{}", run.text());
        let run = dir.run(&[&args[..], &["--common", "--json"]].concat());
        let table: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
        assert_eq!((&table["rows"][0]["common"], &table["rows"][0]["lanes"]), (&true.into(), &65.into()));
        let each: serde_json::Value = serde_json::from_str(dir.run(&[&args[..], &["--json"]].concat()).ok()).unwrap();
        assert_eq!(each["rows"][0]["common"], false);
    }
    let run = dir.run(&["bench", "sqr", "--bits", "64", "--device", "cpu", "--common"]);
    run.fails(2, &["sqr takes 1 operand: --common has no meaning"]);
}

/// A first operand with several times the bits of the others, at every width.
#[test]
fn bench_with_a_longer_first_operand() {
    let dir = Dir::new();
    for (operation, device) in [("div-rem", "sim"), ("mul", "cpu"), ("pow-mod", "cpu"), ("mul-add", "sim")] {
        let args = ["bench", operation, "--bits", "40,100", "--count", "33", "--runs", "1", "--device", device];
        let args = [&args[..], &["--first-ratio", "3", "--common"]].concat();
        let run = dir.run(&[&args[..], &["--plot", "a.svg"]].concat());
        for text in ["120 × 40", "300 × 100"] {
            assert!(run.ok().contains(text), "{}", run.text());
        }
        for text in [", the first operand 3 times as long, one last operand", "bits of the second operand"] {
            assert!(dir.text("a.svg").contains(text), "{text}");
        }
        let run = dir.run(&[&args[..], &["--json", "--csv", "rows.csv"]].concat());
        let table: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
        for (row, bits) in table["rows"].as_array().unwrap().iter().zip([40, 100]) {
            assert_eq!((&row["bits_a"], &row["bits_b"]), (&(3 * bits).into(), &bits.into()));
            assert_eq!(row["checked"], 33);
        }
        assert!(dir.text("rows.csv").contains(",300,100,33,"), "{}", dir.text("rows.csv"));
    }
    let refused = |operation, words: &str| {
        let run = dir.run(&["bench", operation, "--bits", "64", "--device", "cpu", "--first-ratio", "2"]);
        run.fails(2, &[words, "--first-ratio has no meaning"]);
    };
    refused("sqrt", "sqrt takes 1 operand");
    for operation in ["mont-mul", "add-mod", "redc", "select", "from-sign-magnitude"] {
        refused(operation, "have no widths of their own");
    }
    let run = dir.run(&["bench", "mul", "--bits", "2^23", "--device", "cpu", "--first-ratio", "4"]);
    run.fails(1, &["at most 16777216 bits; one has 33554432"]);
}

#[test]
fn a_benchmark_of_several_algorithms() {
    let dir = Dir::new();
    let args = ["bench", "mul", "--device", "cpu", "--bits", "64,60000", "--count", "10", "--runs", "1", "--algorithm"];
    let run = dir.run(&[&args[..], &["cpu-schoolbook,cpu-dashu"]].concat());
    assert_eq!(run.ok().lines().filter(|line| line.starts_with("cpu-")).count(), 3, "{}", run.text());
    assert!(run.stderr.contains("left out: 'cpu-schoolbook' does not do 'mul' of 60000"), "{}", run.stderr);
    dir.run(&[&args[..], &["nonsense"]].concat()).fails(2, &["this engine has no algorithm 'nonsense'"]);
    let args = ["bench", "mul", "--device", "cpu", "--bits", "60000,65000", "--algorithm", "cpu-schoolbook"];
    dir.run(&args).fails(2, &["'cpu-schoolbook' does not do 'mul'"]);
}

#[test]
fn explain_tells_the_plan_of_curves() {
    let dir = Dir::new();
    let explain = |bits: &str, device: &str| {
        let args = ["explain", "ecm", "--bits", bits, "--b1", "5e4", "--b2", "5e6", "--device", device];
        dir.run(&args).ok().to_owned()
    };
    for (bits, device, words) in [
        (
            "448",
            "sim",
            ["14 limbs of 32 bits; 1 lane a curve, 14 limbs each; residues are reduced", "72135 bits", "w 2310, U "],
        ),
        (
            "1000",
            "sim",
            ["32 limbs of 32 bits; 2 lanes a curve, 16 limbs each; residues are not reduced", "bytes a curve", "pairs"],
        ),
        ("512", "cpu", ["curve", "5 products and 4 squares a bit", "baby steps up to"]),
        (
            "16385",
            "sim",
            [
                "the curves of integers with more than 16384 bits are not for simulator",
                "of a thread side by side",
                "5 products and 4 squares a bit",
            ],
        ),
    ] {
        let text = explain(bits, device);
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    let first = ["explain", "ecm", "--bits", "96", "--b1", "500", "--b2", "0", "--device", "sim"];
    assert!(dir.run(&first).ok().contains("stage 2    none: B2 is not above B1"));
    dir.run(&["explain", "ecm", "--bits", "96"]).fails(2, &["--b1"]);
}

#[test]
fn explain_names_algorithm_and_bytes() {
    let dir = Dir::new();
    let run = dir.run(&["explain", "mul", "--bits", "1024", "--count", "1000000", "--device", "cpu"]);
    for word in ["cpu-", "1024", "2048", "1000000"] {
        assert!(run.ok().contains(word), "{word}: {}", run.text());
    }
    let args =
        ["explain", "mul", "--bits", "60000", "--count", "1", "--device", "cpu", "--algorithm", "cpu-schoolbook"];
    dir.run(&args).fails(2, &["what fits"]);
}

#[test]
fn counts_beyond_all_memory() {
    let dir = Dir::new();
    let most = (1u64 << 40).to_string();
    for engine in ["cpu", "sim"] {
        let explain = ["explain", "mul", "--bits", "65536", "--device", engine, "--count"];
        dir.run(&[&explain[..], &[&most]].concat()).ok();
        dir.run(&[&explain[..], &["1099511627777"]].concat()).fails(2, &["from 1 to 1099511627776"]);
        let bench = ["bench", "mul", "--bits", "65536", "--device", engine, "--count", &most];
        dir.run(&bench).fails(1, &["bytes of memory are needed"]);
    }
}

#[test]
fn the_simulator_multiplies_too() {
    let dir = Dir::new();
    let (a, b) = (common::mixed(50, 1500, 20), common::mixed(50, 1500, 21));
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    let run = dir.run(&["mul", "a.txt", "b.txt", "--device", "sim", "--check", "1000"]);
    assert_eq!(run.ok(), common::products(&a, &b));
    assert!(run.stderr.contains("simulator"));
    let run = dir.run(&["selftest", "--device", "sim", "--operation", "mul,add-mod,mul-lo"]);
    for kernel in ["thread", "sum-rotate", "group"] {
        assert!(run.ok().contains(&format!("pass  mul by {kernel}:")), "{}", run.text());
    }
    for line in ["pass  add-mod by thread: ", "pass  add-mod by group: ", "pass  mul-lo by group: "] {
        assert!(run.text().contains(line), "{}", run.text());
    }
    let args = ["explain", "mul", "--bits", "1024", "--count", "1000", "--device", "sim"];
    assert!(dir.run(&args).ok().contains("PTX"));
    let args = ["bench", "mul", "--bits", "64,4096", "--count", "40", "--runs", "2", "--device", "sim"];
    assert_eq!(dir.run(&args).ok().lines().filter(|line| line.contains(" 40 ")).count(), 2);
}

#[test]
fn devices_with_or_without_a_gpu() {
    let dir = Dir::new();
    let run = dir.run(&["devices"]);
    assert!(run.ok().contains("cpu") && run.ok().contains("sim"), "{}", run.text());
    let run = dir.run(&["devices", "--json"]);
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    let engines = object["engines"].as_array().unwrap();
    let kinds: Vec<&str> = engines.iter().map(|engine| engine["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"cpu") && kinds.contains(&"sim"));
    assert_eq!(kinds.contains(&"cuda"), object["no_gpu"].is_null());
    assert!(engines[0]["threads"].as_u64().unwrap() >= 1);
}

#[test]
fn selftest_passes_on_the_cpu() {
    let dir = Dir::new();
    let run = dir.run(&["selftest", "--device", "cpu"]);
    assert!(run.ok().lines().filter(|line| line.contains("pass")).count() >= 2, "{}", run.text());
    assert!(!run.text().contains("FAIL"));
}

#[test]
fn help_for_every_command() {
    let dir = Dir::new();
    for args in [
        &["--help"][..],
        &["mul", "--help"],
        &["gen", "--help"],
        &["bench", "mul", "--help"],
        &["explain", "mul", "-h"],
    ] {
        assert!(dir.run(args).ok().contains("Usage: warpmp"));
    }
    assert!(dir.run(&["mul", "--help"]).ok().contains("Examples:"));
    let has = |operation: &str, option: &str| dir.run(&["explain", operation, "-h"]).ok().contains(option);
    assert!(!has("sqr", "--bits-b") && has("mul", "--bits-b") && !has("mul", "--bits-c") && has("mul-mod", "--bits-c"));
    assert!(dir.run(&["--help"]).ok().starts_with("Bulk big-integer arithmetic"));
    assert!(dir.run(&["--version"]).ok().starts_with("warpmp "));
}

#[test]
fn the_version_names_the_build() {
    let run = Dir::new().run(&["--version"]);
    assert!(run.ok().starts_with(concat!("warpmp ", env!("CARGO_PKG_VERSION"), " (")), "{}", run.text());
    assert!(run.text().trim_end().ends_with("features)") || run.text().trim_end().ends_with("GMP)"), "{}", run.text());
}

/// `cargo binstall` finds the archive that `tools/release` makes.
#[test]
fn the_archive_has_the_name_that_is_looked_for() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (manifest, release) = (read("crates/cli/Cargo.toml"), read("tools/release"));
    for line in [
        r#"pkg-url = "{ repo }/releases/download/v{ version }/warpmp-{ version }-{ target }.tar.gz""#,
        r#"bin-dir = "warpmp-{ version }-{ target }/{ bin }{ binary-ext }""#,
    ] {
        assert!(manifest.contains(line), "{line}");
    }
    assert!(release.contains("name=warpmp-$version-$target\n") && release.contains("$name.tar.gz"), "{release}");
    assert!(release.contains(r#"cp "target/$target/dist/warpmp""#), "{release}");
    assert!(read("Cargo.toml").contains("\nrepository = \"https://"), "{}", "binstall needs its repo");
    assert!(manifest.contains("repository.workspace = true"), "{manifest}");
}

#[test]
fn commands_that_may_have_been_meant() {
    let dir = Dir::new();
    for (words, hint) in [
        (&["gdc", "a", "b"][..], "tip: there is gcd"),
        (&["help", "mod"], "tip: there is rem, reduce"),
        (&["help", "version"], "tip: there is --version"),
        (&["collatz", "vrify"], "verify"),
        (&["check", "camp"], "tip: there is collatz check, ecdlp check"),
        (&["collatz", "resume", "camp"], "tip: there is warpmp resume"),
    ] {
        dir.run(words).fails(2, &["unrecognized subcommand", hint]);
    }
}

#[test]
fn completions_and_manual_pages() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(dir.run(&["completions", shell]).ok().contains("next-prime"), "{shell}");
    }
    assert!(dir.run(&["man"]).ok().contains(".TH warpmp 1"));
    dir.run(&["man", "pages"]).ok();
    for page in ["warpmp.1", "warpmp-mul.1", "warpmp-collatz-verify.1", "warpmp-is-prime.1"] {
        assert!(dir.text(&format!("pages/{page}")).contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn charts_are_svg() {
    let run = Dir::new().run(&["collatz", "trace", "27", "--plot", "x.png"]);
    run.fails(2, &["charts are written as SVG, not as PNG: name the file .svg"]);
}

#[test]
fn commands_of_several_operations_are_explained() {
    let dir = Dir::new();
    for (words, expected) in [
        (
            "explain is-prime --bits 1024 --device cpu",
            ["is-prime: 1048576 integers of 1024 bits", "of 100 odd integers are left", "strong tests"],
        ),
        (
            "explain batch-gcd --bits 2048 --count 100 --device sim",
            [
                "50 products of 2048 × 2048 bits",
                "on the GPU by",
                "1 product of 131072 × 131072 bits: on the cores, or on the GPU by fft",
            ],
        ),
        (
            "explain collatz --from 2^64 --count 2^40 --device cpu",
            ["1099511627776 numbers from 18446744073709551616 to 18446745173221179391", "scheme", "windows"],
        ),
        ("explain mul --bits 64 --device cpu", ["1048576 lanes", "algorithm", "why"]),
    ] {
        let run = dir.run(&words.split_whitespace().collect::<Vec<_>>());
        for expected in expected {
            assert!(run.ok().contains(expected), "{}", run.text());
        }
    }
}
