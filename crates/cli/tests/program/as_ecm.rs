//! `warpmp as-ecm`: yafu's calling sequence, GMP-ECM's exit codes, and save lines both ways.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{Dir, Run};

/// Of the known answers: found in the first stage, and in the second one.
const FIRST: &str = "15329478340397551129";
const SECOND: &str = "14517577769892627371";

/// GMP-ECM's command line, done by this program.
fn ours(dir: &Dir, line: &str, input: &str) -> Run {
    let words: Vec<&str> = ["as-ecm"].into_iter().chain(line.split_whitespace()).collect();
    dir.run_with(&words, input.as_bytes())
}

/// The same, done by Debian's `ecm`: its output and its exit code.
fn theirs(dir: &Dir, line: &str, input: &str) -> (String, i32) {
    let mut command = Command::new("ecm");
    command.args(line.split_whitespace()).current_dir(dir.path(""));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

fn has_gmp_ecm() -> bool {
    let found = Command::new("ecm").arg("-printconfig").output().is_ok();
    if !found {
        eprintln!("skipped: GMP-ECM's program ecm is not installed");
    }
    found
}

/// The lines that programs read.
fn found(output: &str) -> Vec<&str> {
    let lines = output.lines().filter(|line| {
        ["**********", "Found", "Prime cofactor", "Composite cofactor"].iter().any(|start| line.starts_with(start))
    });
    lines.collect()
}

/// A first stage of many curves as on a GPU, then the second stage of the saved lines.
#[test]
fn yafus_sequence() {
    let dir = Dir::new();
    let first = ours(&dir, "-sigma 3:2227979590 -save residues -gpu -cgbn -gpucurves 20 100 1", SECOND);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.text().contains("\nComputing 20 curves took "), "{}", first.text());
    let saved = dir.text("residues");
    assert_eq!(saved.lines().count(), 20);
    assert!(saved.lines().all(|line| line.starts_with("METHOD=ECM; PARAM=3; SIGMA=2227979") && line.len() < 8191));
    let second = ours(&dir, "-resume residues 100 10000", "");
    assert_eq!(second.code, 14, "{}{}", second.text(), second.stderr);
    assert!(second.text().contains("\n********** Factor found in step 2: 858109519\n"), "{}", second.text());
    assert!(second.text().contains("Using B1=100-100, B2=10000, polynomial x^1, sigma=3:2227979599\nStep 2 took "));
    // The file is not overwritten; with -savea it grows.
    let again = ours(&dir, "-sigma 3:5 -save residues 100 1", SECOND);
    again.fails(1, &["residues: File exists"]);
    assert_eq!(ours(&dir, "-sigma 3:5 -savea residues 100 1", SECOND).code, 0);
    assert_eq!(dir.text("residues").lines().count(), 21);
}

#[test]
fn exit_codes_and_lines() {
    let dir = Dir::new();
    let run = |line: &str, input: &str| {
        let run = ours(&dir, line, input);
        let lines = found(run.text()).join("\n");
        (run.code, lines)
    };
    let prime = "********** Factor found in step 1: 261833641\nFound prime factor of 9 digits: 261833641\n\
                 Prime cofactor 58546633969 has 11 digits";
    assert_eq!(run("-sigma 3:974277738 200 10000", FIRST), (14, prime.into()));
    let (code, lines) = run("-sigma 3:3913650916 500 50000", "13236625571615095049\n");
    assert_eq!((code, lines.ends_with("Found input number N")), (8, true), "{lines}");
    assert_eq!(run("-sigma 3:2227979599 -c 3 20 30", SECOND), (0, String::new()));
    assert_eq!(run("100", "97").0, 8);
    assert_eq!(run("100", "1000").0, 6);
    let (code, lines) = run("-sigma 3:974277738 200 10000", &format!("{FIRST}*(2^67-1)"));
    assert_eq!(code, 6, "{lines}");
    assert!(lines.contains("Composite cofactor "), "{lines}");
    // Several integers, comments; -q prints factors alone.
    let quiet = ours(&dir, "-q -sigma 3:974277738 200 10000", &format!("# a comment\n{FIRST}\n{SECOND}\n"));
    assert_eq!((quiet.code, quiet.text()), (14, format!("261833641 58546633969\n{SECOND}\n").as_str()));
    dir.write("n", FIRST);
    assert_eq!(ours(&dir, "-inp n -pm1 -x0 3 1000 100000", "").code, 0);
    assert_eq!(ours(&dir, "-pm1 3000", "2^67-1").code, 14);
    // A ratio is a number modulo N.
    let n: num_bigint::BigUint = FIRST.parse().unwrap();
    let start = num_bigint::BigUint::from(7_u32).modinv(&n).unwrap() * 2_u32 % &n;
    assert_eq!(ours(&dir, "-pm1 -x0 2/7 -save ratio 20 1", FIRST).code, 0);
    assert!(dir.text("ratio").contains(&format!(" X0=0x{start:x};")), "{}", dir.text("ratio"));
    let verbose = ours(&dir, "-v -sigma 0:7 1e6 1e6", "2^32+1");
    assert!(verbose.text().contains("find a factor of n digits:\n20\t25\t30\t35"), "{}", verbose.text());
}

#[test]
fn errors_have_gmp_ecms_code() {
    let dir = Dir::new();
    ours(&dir, "-maxmem 100 1e6", "15").fails(1, &["-maxmem is not known here"]);
    ours(&dir, "-c 5", "15").fails(1, &["no bound B1"]);
    ours(&dir, "100", "15\n2^\n").fails(1, &["standard input:2: neither a number nor an expression"]);
    ours(&dir, "-resume no-file 100", "").fails(1, &["no-file"]);
    dir.write("spoiled", "METHOD=ECM; SIGMA=17; B1=100; N=1001; X=0x5; CHECKSUM=1;\n");
    ours(&dir, "-resume spoiled 100", "").fails(1, &["spoiled:1: no save line: CHECKSUM="]);
}

/// Save lines that cannot be written end the work at once.
#[cfg(target_os = "linux")]
#[test]
fn full_disks() {
    let dir = Dir::new();
    let hard = "1000000000000000000000000000057*1000000000000000000000000000099";
    ours(&dir, "-savea /dev/full -c 100000000 -sigma 3:7 100 1", hard).fails(1, &["/dev/full: No space left"]);
}

/// yafu's `ecm_path` leads to a link.
#[cfg(unix)]
#[test]
fn a_link_called_ecm() {
    let dir = Dir::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_warpmp"), dir.path("ecm")).unwrap();
    let mut command = Command::new(dir.path("ecm"));
    let mut child = command
        .args(["-q", "-sigma", "3:974277738", "200", "10000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(FIRST.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(14));
    assert_eq!(output.stdout, b"261833641 58546633969\n");
}

/// Both programs find the same, say the same, and go on from each other's lines.
#[test]
fn as_debians_ecm() {
    if !has_gmp_ecm() {
        return;
    }
    let dir = Dir::new();
    for (line, n) in [
        ("-sigma 3:974277738 200 10000", FIRST),
        ("-sigma 3:2227979599 200 10000", SECOND),
        ("-sigma 3:3913650916 500 50000", "13236625571615095049"),
        ("-sigma 3:2227979599 -c 2 20 30", SECOND),
        (
            "-param 0 -sigma 3378666656 11000 1100000",
            "85327478848237365388219433335302945981562983455532610123320135468215645187523",
        ),
        ("-one -c 3 -sigma 3:974277738 200 10000", "15467443645461129089161"),
    ] {
        let (output, code) = theirs(&dir, line, n);
        let run = ours(&dir, line, n);
        assert_eq!((run.code, found(run.text())), (code, found(&output)), "{line}: {}", run.text());
    }
    let first = format!("-sigma 3:2227979599 -save {{}} 100 1 {SECOND}");
    let first = |name: &str| first.replace("{}", name).replace(SECOND, "");
    theirs(&dir, &first("theirs"), SECOND);
    assert_eq!(ours(&dir, "-resume theirs 100 10000", "").code, 14);
    assert_eq!(ours(&dir, &first("ours"), SECOND).code, 0);
    assert_eq!(theirs(&dir, "-resume ours 100 10000", "").1, 14);
    // Lines of P−1 and P+1, and of Suyama's curves.
    for (method, n) in [("-pm1 -x0 3", "147573952589676412927"), ("-sigma 0:7", "147573952589676412927")] {
        theirs(&dir, &format!("{method} -save {}-1 20 1", &method[1..4]), n);
        assert!(ours(&dir, &format!("-resume {}-1 20 1", &method[1..4]), "").code != 1, "{method}");
        assert_eq!(ours(&dir, &format!("{method} -save {}-2 20 1", &method[1..4]), n).code, 0);
        assert!(theirs(&dir, &format!("-resume {}-2 20 1000", &method[1..4]), "").1 != 1, "{method}");
    }
}
