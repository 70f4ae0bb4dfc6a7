//! `warpmp mul` against num-bigint: formats, lengths, one second operand, what it says about itself.

use crate::common::{self, Dir, lines, mixed, npy_of, parse, products, read_npy};
use num_bigint::BigUint;

#[test]
fn text_in_text_out() {
    let dir = Dir::new();
    let (a, b) = (mixed(500, 3000, 1), mixed(500, 200, 2));
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    assert_eq!(dir.mul("a.txt b.txt").ok(), products(&a, &b));
    assert_eq!(dir.mul("b.txt a.txt --check 1000000").ok(), products(&a, &b));
}

#[test]
fn hexadecimal_both_ways() {
    let dir = Dir::new();
    let (a, b) = (mixed(100, 500, 3), mixed(100, 500, 4));
    let hex = |numbers: &[BigUint]| numbers.iter().map(|number| format!("{number:#x}\n")).collect::<String>();
    dir.write("a.txt", hex(&a)).write("b.txt", hex(&b).to_uppercase());
    let run = dir.mul("a.txt b.txt --hex");
    assert!(run.ok().lines().all(|line| line.starts_with("0x")));
    assert_eq!(lines(&parse(run.ok())), products(&a, &b));
}

#[test]
fn comments_line_ends_and_blanks_at_the_end() {
    let dir = Dir::new();
    dir.write("a.txt", "\u{feff}# first\r\n3\r\n  4\t\n#\n5").write("b.txt", "0x10\n007\n\t0\n\n  \n# end\n\n");
    assert_eq!(dir.mul("a.txt b.txt").ok(), "48\n28\n0\n");
}

#[test]
fn the_widest_operands() {
    let dir = Dir::new();
    let ones: BigUint = (BigUint::from(1u8) << 65536) - 1u8;
    let (a, b) = (vec![ones.clone(), BigUint::ZERO, BigUint::from(7u8)], vec![ones.clone(), ones.clone(), ones]);
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    assert_eq!(dir.mul("a.txt b.txt").ok(), products(&a, &b));
}

#[test]
fn one_line_in_b_multiplies_all_of_a() {
    let dir = Dir::new();
    let (a, b) = (mixed(300, 5000, 5), mixed(1, 5000, 6));
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b)).write("b.npy", npy_of(&b, 8, 79));
    let expected = products(&a, &vec![b[0].clone(); 300]);
    assert_eq!(dir.mul("a.txt b.txt").ok(), expected);
    assert_eq!(dir.mul("a.txt b.npy").ok(), expected);
    assert_eq!(dir.mul("a.txt b.txt --chunk-bytes 100").ok(), expected);
}

#[test]
fn a_file_times_itself() {
    let dir = Dir::new();
    dir.write("a.txt", "12\n0x10\n");
    assert_eq!(dir.mul("a.txt a.txt").ok(), "144\n256\n");
}

#[test]
fn standard_input_on_either_side() {
    let dir = Dir::new();
    dir.write("b.txt", "2\n3\n");
    assert_eq!(dir.run_with(&["mul", "--device", "cpu", "-", "b.txt"], b"10\n20\n").ok(), "20\n60\n");
    assert_eq!(dir.run_with(&["mul", "--device", "cpu", "b.txt", "-"], b"10").ok(), "20\n30\n");
    let (a, b) = (mixed(2, 64, 7), mixed(2, 64, 8));
    dir.write("b.npy", npy_of(&b, 8, 1));
    assert_eq!(dir.run_with(&["mul", "--device", "cpu", "-", "b.npy"], &npy_of(&a, 4, 2)).ok(), products(&a, &b));
}

#[test]
fn arrays_both_ways() {
    for (item, columns) in [(4, 5), (8, 3)] {
        let dir = Dir::new();
        let (a, b) = (mixed(200, 150, 9), mixed(200, 64, 10));
        dir.write("a.npy", npy_of(&a, item, columns)).write("b.npy", npy_of(&b, 4, 3));
        dir.mul("a.npy b.npy -o c.npy").ok();
        let (header, c) = read_npy(&dir.read("c.npy"));
        // Of `uint32` 5 + 3; of `uint64` 3 + 1½, rounded up.
        let width = if item == 4 { 8 } else { 5 };
        assert!(header.contains(&format!("'<u{item}'")) && header.contains(&format!("(200, {width})")), "{header}");
        assert_eq!(lines(&c), products(&a, &b));
        assert_eq!(dir.mul("a.npy b.npy --format text").ok(), products(&a, &b));
        let run = dir.mul("a.npy b.npy --format npy");
        assert_eq!((run.code, run.stdout), (0, dir.read("c.npy")));
    }
}

#[test]
fn text_to_an_array_is_as_wide_as_the_widest_product() {
    let dir = Dir::new();
    let (mut a, mut b) = (mixed(400, 40, 11), mixed(400, 40, 12));
    // Wider and wider, then narrow again, in many chunks.
    for (k, number) in a.iter_mut().enumerate().skip(100).take(200) {
        *number = (BigUint::from(1u8) << (5 * k)) + 3u8;
    }
    b[0] = BigUint::ZERO;
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    dir.mul("a.txt b.txt -o c.npy --chunk-bytes 300").ok();
    let (header, c) = read_npy(&dir.read("c.npy"));
    assert_eq!(lines(&c), products(&a, &b));
    assert!(header.contains("'<u4'"), "{header}");
    let widest = c.iter().map(BigUint::bits).max().unwrap().div_ceil(32) as usize;
    let columns: usize = header.split(['(', ')']).nth(1).unwrap().split(", ").nth(1).unwrap().parse().unwrap();
    // Operands of `p` and `q` bits have a product of `p + q` or one less.
    assert!((widest..=widest + 1).contains(&columns), "{columns} columns for {widest} limbs");
    let run = dir.mul("a.txt b.txt --format npy --chunk-bytes 300");
    assert_eq!((run.code, run.stdout), (0, dir.read("c.npy")));
}

#[test]
fn small_chunks_give_the_same() {
    let dir = Dir::new();
    let (a, b) = (mixed(700, 4000, 13), mixed(700, 300, 14));
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    let expected = products(&a, &b);
    for bytes in [1, 1000, 50_000] {
        assert_eq!(dir.mul(&format!("a.txt b.txt --check 50 --chunk-bytes {bytes}")).ok(), expected);
    }
    dir.write("a.npy", npy_of(&a, 4, 126));
    assert_eq!(dir.mul("a.npy b.txt --chunk-bytes 5000").ok(), expected);
}

#[test]
fn arrays_in_small_chunks_give_the_same() {
    let dir = Dir::new();
    let (a, b) = (mixed(501, 150, 17), mixed(501, 64, 18));
    dir.write("a.npy", npy_of(&a, 4, 5)).write("b.npy", npy_of(&b, 8, 1)).write("one.npy", npy_of(&b[..1], 8, 1));
    for engine in ["cpu", "sim"] {
        let mul =
            |b: &str| dir.run(&["mul", "--device", engine, "a.npy", b, "--chunk-bytes", "2000", "--check", "501"]);
        assert_eq!(mul("b.npy").ok(), products(&a, &b));
        assert_eq!(mul("one.npy").ok(), products(&a, &vec![b[0].clone(); 501]));
    }
}

#[test]
fn a_long_number_among_many_short_ones_costs_no_memory() {
    let dir = Dir::new();
    let mut a = mixed(200_000, 64, 15);
    let b = mixed(200_000, 64, 16);
    a[100_000] = (BigUint::from(1u8) << 65536) - 1u8;
    dir.write("a.txt", lines(&a)).write("b.txt", lines(&b));
    // Padded to 65536 bits, the operands alone would be 1.6 GB.
    let program = env!("CARGO_BIN_EXE_warpmp");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("ulimit -v 1500000; exec '{program}' mul --device cpu a.txt b.txt")]);
    command.current_dir(dir.path("")).env("RAYON_NUM_THREADS", "2");
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    assert_eq!(common::finish(command.spawn().unwrap()).ok(), products(&a, &b));
}

#[test]
fn the_summary_as_json() {
    let dir = Dir::new();
    dir.write("a.txt", "123\n65535\n").write("b.txt", "1\n7\n");
    let on_stdout = dir.mul("a.txt b.txt -o c.txt --json --check 1");
    let on_stderr = dir.mul("a.txt b.txt --json --check 1");
    assert_eq!((dir.text("c.txt").as_str(), on_stderr.ok()), ("123\n458745\n", "123\n458745\n"));
    for text in [on_stdout.ok(), &on_stderr.stderr] {
        let object: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(object["op"], "mul");
        assert_eq!((&object["bits_a"], &object["bits_b"], &object["lanes"]), (&16.into(), &3.into(), &2.into()));
        assert_eq!(object["checked"], 1);
        for name in ["device", "algorithm"] {
            assert!(!object[name].as_str().unwrap().is_empty(), "{name}");
        }
        for name in ["kernel_seconds", "total_seconds", "ops_per_second", "gb_per_second"] {
            assert!(object[name].as_f64().unwrap() > 0.0, "{name}");
        }
        assert_eq!(object.as_object().unwrap().len(), 11);
    }
}

#[test]
fn the_summary_for_people_and_quiet() {
    let dir = Dir::new();
    dir.write("a.txt", "123\n");
    let run = dir.mul("a.txt a.txt");
    for word in ["1 product of 7 × 7 bits", "1 checked", "CPU", "kernel", "end to end", "B/s"] {
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
    assert!(dir.mul("a.txt a.txt --check 0").stderr.contains("none checked"));
    assert_eq!(dir.mul("a.txt a.txt --quiet").stderr, "");
}

#[test]
fn expected_products() {
    let dir = Dir::new();
    dir.write("a.txt", "2\n3\n4\n").write("b.txt", "5\n").write("c.txt", "10\n# three fives\n0xf\n20\n");
    assert_eq!(dir.mul("a.txt b.txt --expect c.txt").ok(), "10\n15\n20\n");
    assert_eq!(dir.mul("a.txt b.txt --expect c.txt --chunk-bytes 1").ok(), "10\n15\n20\n");
    dir.write("c.txt", "10\n16\n21\n");
    dir.mul("a.txt b.txt --expect c.txt -o d.txt").fails(1, &["c.txt:2: 16 is expected, found 15"]);
    dir.write("c.txt", "10\n15\n");
    dir.mul("a.txt b.txt --expect c.txt -o d.txt").fails(1, &["c.txt:3: missing"]);
    dir.write("c.txt", "10\n15\n20\n25\n");
    dir.mul("a.txt b.txt --expect c.txt -o d.txt").fails(1, &["c.txt:4: too many; there are 3 results"]);
    assert_eq!(dir.names(), ["a.txt", "b.txt", "c.txt"]);
}
