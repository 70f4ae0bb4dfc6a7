//! `--expect` reads what `-o` writes, of every command in every format; and what it says where they differ.

use crate::common::{Dir, Run, lines, mixed, on_cpu};
use num_bigint::BigUint;
use warpmp::{
    Operation,
    operation::{Constant, Role},
};

const LANES: usize = 24;
const BITS: u64 = 100;

/// Operands of all kinds, in files called as their roles; lanes at fault among the moduli.
fn operands() -> Dir {
    let dir = Dir::new();
    let mut moduli = mixed(LANES, BITS, 42);
    moduli[3] = BigUint::ZERO;
    moduli.iter_mut().skip(5).step_by(2).for_each(|m| *m |= BigUint::from(1_u32));
    let halves = moduli.iter().map(|m| m >> 1).collect::<Vec<_>>();
    dir.write("a", lines(&mixed(LANES, BITS, 40))).write("b", lines(&mixed(LANES, BITS, 41)));
    dir.write("m", lines(&moduli)).write("below", lines(&halves));
    dir
}

/// The command on these files, as a name and its operands.
fn words(operation: Operation) -> Vec<String> {
    let mut words = vec![operation.name().replace('_', "-")];
    for (i, operand) in operation.operands().iter().enumerate() {
        let file = match operand.role {
            Role::Modulus | Role::OddModulus | Role::Divisor | Role::Candidate => "m",
            Role::Reduced | Role::ReducedProduct => "below",
            Role::Integer | Role::Bit | Role::Exponent => ["a", "b"][i.min(1)],
        };
        words.push(file.into());
    }
    match operation.constant_role() {
        Some(Constant::Exponent) => words.extend(["--exponent".into(), "3".into()]),
        Some(Constant::Distance | Constant::Extension) => words.extend(["--by".into(), "3".into()]),
        // The command has a base of its own.
        Some(Constant::Base) | None => {}
    }
    words.extend(["--device", "cpu", "--check", "0", "-q"].map(String::from));
    words
}

fn run(dir: &Dir, operation: Operation, options: &[&str]) -> Run {
    let words = words(operation);
    dir.run(&words.iter().map(String::as_str).chain(options.iter().copied()).collect::<Vec<_>>())
}

/// Runs the command with `-o` for each of these files, then with `--expect` for each.
#[track_caller]
fn round_trip(dir: &Dir, operation: Operation, files: &[&str], options: &[&str]) {
    let with = |option: &'static str| -> Vec<&str> {
        files.iter().flat_map(|file| [option, file]).chain(options.iter().copied()).collect()
    };
    run(dir, operation, &with("-o")).ok();
    run(dir, operation, &with("--expect")).ok();
}

#[test]
fn what_a_command_writes_it_expects() {
    let dir = operands();
    for &operation in Operation::ALL {
        let names = operation.result_names();
        let bits = BITS.to_string();
        let wide = ["--bits", bits.as_str()];
        let narrow = if operation.depends_on_widths() { &wide[..] } else { &[] };
        round_trip(&dir, operation, &["r.txt"], narrow);
        round_trip(&dir, operation, &["r.txt"], &[narrow, &["--hex", "--chunk-bytes", "200"]].concat());
        let (texts, arrays): (Vec<String>, Vec<String>) =
            (0..names.len()).map(|i| (format!("r{i}.txt"), format!("r{i}.npy"))).unzip();
        round_trip(&dir, operation, &arrays.iter().map(String::as_str).collect::<Vec<_>>(), &wide);
        if names.len() > 1 {
            round_trip(&dir, operation, &texts.iter().map(String::as_str).collect::<Vec<_>>(), narrow);
            // One file of one column, or one array, is the first result.
            run(&dir, operation, &[&["--expect", "r0.txt"], narrow].concat()).ok();
            run(&dir, operation, &[&wide[..], &["--expect", "r0.npy"]].concat()).ok();
        }

        // Another last result in the last line, and in the last row.
        let text = dir.text("r.txt");
        let (rest, last) = text.trim_end().rsplit_once(['\t', '\n']).unwrap();
        let separator = if names.len() > 1 { '\t' } else { '\n' };
        let other = if last == "0x5" { "6" } else { "5" };
        dir.write("r.txt", format!("{rest}{separator}{other}\n"));
        let place = if names.len() > 1 {
            let last = names.len() - 1;
            format!("r.txt:{LANES}, column {} ({}): ", last + 1, names[last])
        } else {
            format!("r.txt:{LANES}: ")
        };
        let differs = format!("{place}{other} is expected, found ");
        run(&dir, operation, &[&["--expect", "r.txt", "-o", "x"], narrow].concat()).fails(1, &[&differs]);
        let mut array = dir.read("r0.npy");
        let row = (array.len() - 128) / LANES;
        let place = array.len() - row;
        array[place] ^= 1;
        dir.write("r0.npy", array);
        let last = format!("r0.npy[{}]", LANES - 1);
        run(&dir, operation, &[&wide[..], &["--expect", "r0.npy", "-o", "x"]].concat()).fails(1, &[&last]);
        assert!(!dir.names().iter().any(|name| name == "x"), "{operation}");
    }
}

/// Three quotients and remainders; none for the second lane.
fn division() -> Dir {
    let dir = Dir::new();
    dir.write("a", "7\n100\n8\n").write("b", "3\n0\n5\n");
    dir
}

#[test]
fn what_is_said_of_a_file_that_differs() {
    let dir = division();
    for (expected, words) in [
        ("2\t1\n-\t-\n1\t4\n", "e:3, column 2 (remainders): 4 is expected, found 3"),
        ("2\t-1\n-\t-\n1\t3\n", "e:1, column 2 (remainders): -1 is expected, found 1"),
        ("# q r\n0x3 1\n- -\n1 3\n", "e:2, column 1 (quotients): 0x3 is expected, found 0x2"),
        ("2\t1\n0\t0\n1\t3\n", "e:2, column 1 (quotients): 0 is expected, found no result"),
        ("2\t-\n-\t-\n1\t3\n", "e:1, column 2 (remainders): no result is expected, found 1"),
        ("2\n-\n-1\n", "e:3 (quotients): -1 is expected, found 1"),
        ("2\t1\n-\t-\n", "e:3: missing; there are more results than the file has"),
        ("2\n-\n", "e:3: missing"),
        ("", "e:1: missing"),
        ("2\t1\n-\t-\n1\t3\n# more\n4\t0\n", "e:5: too many; there are 3 results"),
        ("2\t1\n-\n1\t3\n", "e:2: 1 column where 2 are expected"),
        ("2\n-\t-\n1\n", "e:2: 2 columns where 1 is expected"),
        ("2\t1\t1\n", "e:1: 3 columns where 2 are expected"),
        ("2\tx\n-\t-\n1\t3\n", "e:1: not a number: \"x\""),
        ("2\t--1\n-\t-\n1\t3\n", "e:1: not a number: \"--1\""),
        ("2\t+1\n-\t-\n1\t3\n", "e:1: write numbers without '+'"),
        ("2\t1\n\n-\t-\n1\t3\n", "e:2: a blank line between numbers"),
    ] {
        dir.write("e", expected);
        for more in ["", " --chunk-bytes 1"] {
            on_cpu(&dir, &format!("div-rem a b --expect e -o out{more}")).fails(1, &[words]);
        }
    }
    assert_eq!(dir.names(), ["a", "b", "e"]);
    dir.write("q", "2\n-\n1\n").write("r", "1 2\n- -\n3 4\n");
    on_cpu(&dir, "div-rem a b --expect q --expect r").fails(1, &["r:1: 2 columns where 1 is expected"]);
    dir.write("r", "1\n-\n4\n");
    on_cpu(&dir, "div-rem a b --expect q --expect r").fails(1, &["r:3 (remainders): 4 is expected, found 3"]);
}

#[test]
fn signs_and_how_numbers_are_written_make_no_difference() {
    let dir = division();
    for expected in ["4\n100\n3\n", " 0x4 \r\n0X0064\r\n+3\n", "4\n100\n3\n\n# end\n"] {
        dir.write("e", expected);
        let run = on_cpu(&dir, "sub a b --expect e");
        if expected.contains('+') {
            run.fails(1, &["e:3: write numbers without '+'"]);
        } else {
            run.ok();
        }
    }
    dir.write("e", "-4\n-0x64\n-003\n");
    on_cpu(&dir, "sub b a --expect e").ok();
    dir.write("e", "4\n-0x64\n-3\n");
    on_cpu(&dir, "sub b a --expect e").fails(1, &["e:1: 4 is expected, found -4"]);
    dir.write("zero", "-0\n-0x0\n0\n");
    on_cpu(&dir, "sub a a --expect zero").ok();
}

#[test]
fn long_numbers_are_shortened_and_told_apart() {
    let dir = Dir::new();
    let nines = "9".repeat(900);
    dir.write("a", format!("{nines}\n")).write("one", "1\n");
    dir.write("e", format!("{}8{}\n", "9".repeat(400), "9".repeat(499)));
    let run = on_cpu(&dir, "mul a one --expect e");
    run.fails(1, &["e:1: 99999999999999999999…99999999999999999999 (900 characters) is expected, found 9999"]);
    run.fails(1, &["; character 401 is the first to differ"]);
    dir.write("e", format!("{nines}9\n"));
    on_cpu(&dir, "mul a one --expect e").fails(1, &["(901 characters) is expected", "(900 characters)"]);
}

#[test]
fn the_widest_results_are_expected_too() {
    let dir = Dir::new();
    let ones: BigUint = (BigUint::from(1u8) << 65536) - 1u8;
    dir.write("a", lines(&vec![ones; 2]));
    for (command, files) in [("mul-add a a a", "-o r.txt"), ("mul a a", "-o r.npy"), ("shl a --by 65537", "-o r.txt")] {
        on_cpu(&dir, &format!("{command} {files}")).ok();
        on_cpu(&dir, &format!("{command} {}", files.replace("-o", "--expect"))).ok();
    }
}

#[test]
fn expected_results_from_standard_input() {
    let dir = division();
    let words = |more: &str| -> Vec<String> {
        format!("div-rem {more} --device cpu -q").split_whitespace().map(String::from).collect()
    };
    let run =
        |more: &str, input: &[u8]| dir.run_with(&words(more).iter().map(String::as_str).collect::<Vec<_>>(), input);
    run("a b --expect -", b"2\t1\n-\t-\n1\t3\n").ok();
    dir.write("q", "2\n-\n1\n").write("both", "2\t1\n-\t-\n1\t3\n");
    for (file, words) in
        [("q", "3 results of 7 × 3 bits, 3 checked, quotients as expected;"), ("both", ", all as expected;")]
    {
        let run = on_cpu(&dir, &format!("div-rem a b --expect {file}"));
        assert!(run.code == 0 && run.stderr.contains(words), "{}", run.stderr);
    }
    let object = on_cpu(&dir, "div-rem a b --expect q -o r --json");
    assert!(object.ok().contains("\"expected\":[\"quotients\"]"), "{}", object.text());
    run("a b --expect -", b"2\t1\n-\t-\n1\t4\n").fails(1, &["standard input:3, column 2 (remainders): 4 is expected"]);
    dir.run(&words("a b -o q.npy -o r.npy").iter().map(String::as_str).collect::<Vec<_>>()).ok();
    run("a b --expect q.npy --expect -", &dir.read("r.npy")).ok();
    for twice in ["- b --expect -", "a - --expect -", "a b --expect - --expect -"] {
        run(twice, b"").fails(2, &["more than one file is '-'", "standard input can be read only once"]);
    }
    // Text in a file that is called as an array would be, as the same option wrote it.
    on_cpu(&dir, "div-rem a b -o t.npy --format text").ok();
    on_cpu(&dir, "div-rem a b --expect t.npy --format text").ok();
    on_cpu(&dir, "div-rem a b --expect t.npy").fails(1, &["t.npy: not an .npy file"]);
}

#[test]
fn an_array_with_too_few_or_too_many_rows() {
    let dir = division();
    dir.write("two", "7\n100\n").write("b2", "3\n0\n").write("one", "7\n").write("b1", "3\n");
    on_cpu(&dir, "add a b -o s.npy").ok();
    on_cpu(&dir, "add two b2 --expect s.npy").fails(1, &["s.npy[2]: too many; there are 2 results"]);
    on_cpu(&dir, "add one b1 -o s1.npy").ok();
    on_cpu(&dir, "add two b2 --expect s1.npy").fails(1, &["s1.npy[1]: missing"]);
}
