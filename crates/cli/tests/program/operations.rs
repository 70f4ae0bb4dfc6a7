//! Commands of one to three operands and of several results; lanes at fault; widths.

use crate::common::{Dir, lines, mixed, npy_of, on_cpu, parse, read_npy};
use num_bigint::BigUint;

/// Four lanes: `a`, `b`, `m`, of which some are at fault together.
fn small() -> Dir {
    let dir = Dir::new();
    dir.write("a", "7\n100\n0x1ffffffff\n0\n").write("b", "3\n0\n5\n9\n").write("m", "13\n14\n15\n16\n");
    dir
}

#[test]
fn small_answers() {
    let dir = small();
    for (command, answer) in [
        ("add a b", "10\n100\n8589934596\n9\n"),
        ("sub a b", "4\n100\n8589934586\n-9\n"),
        ("sub b a --hex", "-0x4\n-0x64\n-0x1fffffffa\n0x9\n"),
        ("cmp a b", "1\n1\n1\n-1\n"),
        ("shl a --by 40", "7696581394432\n109951162777600\n9444732964639778799616\n0\n"),
        ("sqr a", "49\n10000\n73786976277658337281\n0\n"),
        ("div-rem a b", "2\t1\n-\t-\n1717986918\t1\n0\t0\n"),
        ("gcd-ext a b", "1\t1\t-2\n100\t1\t0\n1\t1\t-1717986918\n9\t0\t1\n"),
        ("sqrt a", "2\t3\n10\t0\n92681\t166830\n0\t0\n"),
        ("mul-mod a b m", "8\n0\n5\n0\n"),
        ("pow-mod a b m", "5\n1\n1\n0\n"),
        ("pow-mod-public a m --exponent 3", "5\n-\n1\n-\n"),
        ("inv-mod a m", "2\n-\n1\n-\n"),
        ("add-mod a b m", "10\n2\n6\n9\n"),
        ("add-mod a b m --reduced", "10\n-\n-\n9\n"),
        ("sub-mod b a m", "9\n12\n4\n9\n"),
        ("mont-mul a b m --bits 64 --reduced", "7\n-\n-\n-\n"),
        ("mont-mul a b m --bits 64", "7\n-\n5\n-\n"),
        ("wrapping-sub a b --bits 40", "4\n100\n8589934586\n1099511627767\n"),
        ("signed-mul a b --bits 33", "21\n0\n-5\n0\n"),
        ("mul-add a b m", "34\n14\n42949672970\n16\n"),
        ("select b a m", "7\n14\n8589934591\n0\n"),
    ] {
        assert_eq!(on_cpu(&dir, command).ok(), answer, "{command}");
    }
}

#[test]
fn faults_are_counted() {
    let dir = small();
    let run = on_cpu(&dir, "inv-mod a m -o out --json");
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["faults"]["no inverse"], &object["lanes"]), (&2.into(), &4.into()));
    assert_eq!((&object["bits_b"], object.get("bits_c")), (&5.into(), None));
    assert!(on_cpu(&dir, "inv-mod a m").stderr.contains("lanes without a result: 2 with no inverse"));
}

#[test]
fn several_results_go_to_several_files() {
    let dir = small();
    on_cpu(&dir, "div-rem a b -o q -o r").ok();
    assert_eq!((dir.text("q").as_str(), dir.text("r").as_str()), ("2\n-\n1717986918\n0\n", "1\n-\n1\n0\n"));
    dir.write("n", "1\n2\n3\n4\n");
    on_cpu(&dir, "sqrt a -o q.npy -o r.npy").ok();
    assert_eq!(read_npy(&dir.read("q.npy")).1[2], BigUint::from(92681_u32));
    on_cpu(&dir, "div-rem a n -o q --expect q2").fails(1, &["q2"]);
    on_cpu(&dir, "div-rem a b -o q -o r -o s").fails(2, &["div-rem has 2 results: give 2 -o, or a single text file"]);
    on_cpu(&dir, "div-rem a b -o q.npy").fails(2, &["div-rem has 2 results: give 2 -o, or a single text file"]);
    on_cpu(&dir, "div-rem a b --format npy").fails(2, &["div-rem has 2 results: give 2 -o"]);
    on_cpu(&dir, "add a b -o q -o r").fails(2, &["add has 1 result: give 1 -o"]);
    on_cpu(&dir, "add a b --expect q --expect r").fails(2, &["add has 1 result: give 1 --expect"]);
}

#[test]
fn one_modulus_serves_all_and_chunks_do_not_show() {
    let dir = Dir::new();
    let (a, b) = (mixed(300, 700, 30), mixed(300, 700, 31));
    let m = (BigUint::from(1_u32) << 521) - 1_u32;
    dir.write("a", lines(&a)).write("b", lines(&b)).write("m", format!("{m}\n"));
    let products: Vec<BigUint> = a.iter().zip(&b).map(|(a, b)| a * b % &m).collect();
    assert_eq!(on_cpu(&dir, "mul-mod a b m --check 1000").ok(), lines(&products));
    assert_eq!(on_cpu(&dir, "mul-mod a b m --chunk-bytes 5000").ok(), lines(&products));
    let sums: Vec<BigUint> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    dir.write("sums", lines(&sums));
    on_cpu(&dir, "add a b --expect sums --chunk-bytes 5000 -q").ok();
    dir.write("two", "3\n5\n");
    on_cpu(&dir, "mul-mod a b two").fails(1, &["a has 300 numbers, two has 2", "or a single one"]);
}

#[test]
fn twos_complements_in_arrays_keep_their_sign() {
    let dir = small();
    // 41 bits in two limbs, the sign in all bits above.
    for bits in ["", "--bits 40"] {
        on_cpu(&dir, &format!("sub b a -o d.npy {bits}")).ok();
        let (header, found) = read_npy(&dir.read("d.npy"));
        assert!(header.contains("'<i4'"), "{header}");
        assert_eq!(found[0], BigUint::from(u64::MAX - 3));
        assert_eq!(found[3], BigUint::from(9_u32));
    }
    // Commands read the signs again; rows that grow keep them.
    on_cpu(&dir, "sub b a -o d.npy --chunk-bytes 1").ok();
    assert_eq!(on_cpu(&dir, "add d.npy a").ok(), "3\n0\n5\n9\n");
    on_cpu(&dir, "mul d.npy d.npy -o s.npy").ok();
    assert_eq!(on_cpu(&dir, "mul s.npy -1").ok(), "-16\n-10000\n-73786976191758991396\n-81\n");
    assert_eq!(on_cpu(&dir, "mul-mod d.npy 1 10").ok(), "6\n0\n4\n9\n");
    on_cpu(&dir, "is-prime d.npy").fails(1, &["d.npy: row 0 is negative"]);
}

/// What one command writes another reads.
#[test]
fn signs_and_gaps_are_read() {
    let dir = small();
    dir.write("d", "-4\n-0x64\n5\n0\n").write("gaps", "3\n-\n-5\n2\n");
    for (command, answer) in [
        ("mul d b", "-12\n0\n25\n0\n"),
        ("add d a", "3\n0\n8589934596\n0\n"),
        ("sub a d", "11\n200\n8589934586\n0\n"),
        ("neg d", "4\n100\n-5\n0\n"),
        ("cmp d b", "-1\n-1\n0\n-1\n"),
        ("sqr d", "16\n10000\n25\n0\n"),
        ("gcd d b", "1\n100\n5\n9\n"),
        ("add-mod d b m", "12\n12\n10\n9\n"),
        ("mul-mod d b m", "1\n0\n10\n0\n"),
        ("pow-mod d 3 m", "1\n6\n5\n0\n"),
        ("inv-mod d m", "3\n-\n-\n-\n"),
        ("signed-add d b --bits 8", "-1\n-100\n10\n9\n"),
        ("wrapping-add d b --bits 8", "255\n156\n10\n9\n"),
        ("mul gaps d", "-12\n-\n-25\n0\n"),
        ("add-mod gaps b m", "6\n-\n0\n11\n"),
        ("div-rem a b", "2\t1\n-\t-\n1717986918\t1\n0\t0\n"),
    ] {
        for chunk in ["1", "1000"] {
            assert_eq!(on_cpu(&dir, &format!("{command} --chunk-bytes {chunk}")).ok(), answer, "{command}");
        }
    }
    let difference = on_cpu(&dir, "sub b a");
    let product = dir.run_with(&["mul", "-", "b", "--device", "cpu"], &difference.stdout);
    assert_eq!(product.ok(), "-12\n0\n-42949672930\n81\n");
    let gap = on_cpu(&dir, "mul gaps d -q");
    assert_eq!(gap.stderr, "warning: 1 of 4 lanes without a result: 1 with no operand; the first is gaps:2\n");
    on_cpu(&dir, "mul gaps d --strict").fails(1, &["gaps:2 has no result: no operand"]);
    on_cpu(&dir, "div-rem d b").fails(1, &["d:1: operand a is negative, and div-rem takes no negative numbers"]);
    on_cpu(&dir, "pow-mod a d m").fails(1, &["operand e is negative", "use inv-mod"]);
    on_cpu(&dir, "signed-add d b --bits 7").fails(1, &["d:2: operand a has no two's complement of 7 bits"]);
    on_cpu(&dir, "is-prime d").fails(1, &["d:1: this command takes no negative numbers"]);
    dir.write("gap", "-\n");
    on_cpu(&dir, "mul a gap").fails(1, &["gap:1: '-' stands for a lane without a result"]);
}

#[test]
fn widths_are_asked_for_and_held() {
    let dir = small();
    on_cpu(&dir, "mont-mul a b m").fails(2, &["mont-mul", "give --bits"]);
    on_cpu(&dir, "wrapping-add a b --bits 32").fails(1, &["a:3:", "33 bits", "32"]);
    // The first line that is too wide, and its own width; of an array the file and the row, whatever the chunk.
    dir.write("wide", "1\n300\n999\n").write("c", "1\n2\n3\n");
    on_cpu(&dir, "wrapping-add wide c --bits 8").fails(1, &["wide:2: a number of 9 bits; at most 8"]);
    dir.write("wide.npy", npy_of(&parse("1\n2\n70000\n"), 4, 1));
    for chunk in ["1", "1000"] {
        on_cpu(&dir, &format!("wrapping-add c wide.npy --bits 8 --chunk-bytes {chunk}"))
            .fails(1, &["wide.npy: row 2: a number of 17 bits; at most 8"]);
    }
    on_cpu(&dir, "shl a").fails(2, &["--by"]);
    on_cpu(&dir, "add_mod a b m").fails(2, &["unrecognized subcommand"]);
    dir.run_with(&["add-mod", "-", "-", "m", "--device", "cpu"], b"1\n").fails(2, &["standard input"]);
}

#[test]
fn commands_are_called_as_they_are_typed() {
    let dir = small();
    let run = on_cpu(&dir, "explain div-rem --bits 64 --count 10");
    let words =
        "operation  div-rem: 64 × 64 bits, 10 lanes, results of 64 and 64 bits, and a status of 32 bits a lane\n";
    assert!(run.ok().starts_with(words), "{}", run.text());
    let run = dir.run(&["explain", "pow-mod", "--bits", "64", "--count", "1", "--device", "sim"]);
    let words = "operation  pow-mod: 64 × 64 × 64 bits, 1 lane, result of 64 bits, and a status of 32 bits a lane\n";
    assert!(run.ok().starts_with(words), "{}", run.text());
    let name = ["no algorithm 'x' for 'mul-mod'"];
    on_cpu(&dir, "mul-mod a b m --algorithm x").fails(2, &name);
    dir.run(&["tune", "--operation", "x"]).fails(2, &["there are mul, sqr, mul-lo, "]);
    let run = on_cpu(&dir, "add-mod a b m -o out --json");
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!(object["op"], "add-mod");
    let run = on_cpu(&dir, "bench mul-lo --bits 64 --count 5 --runs 1 --json");
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["op"], &object["rows"][0]["op"]), (&"mul-lo".into(), &"mul-lo".into()));
}

#[test]
fn numbers_out_of_range_are_told_the_range() {
    let dir = small();
    for (command, words) in [
        ("shl a --by 4294967296", "a number from 0 to 4294967295 is needed"),
        ("shl a --by 40000000", "'shl' would give a result of 40000033 bits; at most 33554433 are supported"),
        ("add a b --bits 16777217", "a number from 1 to 16777216 is needed"),
        ("add a b --check x", "a number from 0 to 18446744073709551615 is needed"),
        ("is-prime a --bases 0", "a number from 1 to 1000 is needed"),
        ("explain sqr --bits 5 --count 1 --bits-b 7", "sqr takes 1 operand: --bits-b has no meaning"),
        ("explain mul --bits 5 --count 1 --bits-c 7", "mul takes 2 operands: --bits-c has no meaning"),
        ("bench collatz --runs 0", "a number from 1 to 1000 is needed"),
        ("collatz verify --from 1 --count 9 --checksum alpha --sieve-mod 4", "1, 3 or 9 is needed"),
        ("collatz verify --from 1 --count 9 --scheme honda --sieve-bits 99", "sieve bits must be from 3 to 37, not 99"),
        ("collatz records --kind path --below 2^70", "the bound of the starts must be at most 2^64, not 2^70"),
    ] {
        on_cpu(&dir, command).fails(2, &[words]);
    }
}

/// A product below `m·R` is twice as wide as the modulus, whose width is asked for.
#[test]
fn reductions_take_products() {
    let dir = Dir::new();
    dir.write("t", format!("{}\n{}\n", 65_u64 << 32, (1_u64 << 32) * 101 - 1)).write("m", "101\n");
    // (101·R − 1)/R is −1/R modulo 101.
    let inverse = (1..101_u64).find(|x| (x * ((1 << 32) % 101)) % 101 == 100).unwrap();
    assert_eq!(on_cpu(&dir, "redc t m --bits 32").ok(), format!("65\n{inverse}\n"));
}

/// Also of the widest modulus: then the product has twice as many bits as any other operand.
#[test]
fn reductions_take_the_widest_products() {
    let dir = Dir::new();
    for bits in [32_769, 65_536] {
        let radix = BigUint::from(1_u8) << (32 * (bits as usize).div_ceil(32));
        let m = (BigUint::from(1_u8) << bits) - 3_u8;
        let residue = (BigUint::from(1_u8) << (bits - 1)) + 5_u8;
        let largest = &m * &radix - 1_u8;
        dir.write("t", format!("{:#x}\n{largest:#x}\n", &residue * &radix)).write("m", format!("{m:#x}\n"));
        let found = on_cpu(&dir, &format!("redc t m --bits {bits} -q"));
        let lines: Vec<BigUint> = found.ok().lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(lines[0], residue);
        // (m·R − 1)/R is −1/R.
        assert_eq!(&lines[1] * &radix % &m, &m - 1_u8);
        dir.write("t", format!("{:#x}\n", BigUint::from(1_u8) << (2 * 65_536)));
        on_cpu(&dir, &format!("redc t m --bits {bits}")).fails(1, &["t:1: a number of 131073 bits"]);
    }
    let explained = dir.run(&["explain", "redc", "--bits", "65536", "--count", "2", "--device", "sim"]);
    assert!(explained.ok().contains("redc: 131072 × 65536 bits"), "{}", explained.text());
    on_cpu(&dir, "bench redc --bits 65536 --count 2 --runs 1").ok();
}

#[test]
fn every_result_has_a_file_of_its_own() {
    let dir = small();
    let before = dir.names();
    on_cpu(&dir, "div-rem a b -o q -o q").fails(2, &["q is given for more than one output"]);
    on_cpu(&dir, "bench add --bits 5 --csv q --plot ./q").fails(2, &["./q is given for more than one output"]);
    on_cpu(&dir, "bench --reproduce candar:I --csv q --plot q").fails(2, &["q is given for more than one output"]);
    on_cpu(&dir, "div-rem a b -o q -o ./q").fails(2, &["./q"]);
    assert_eq!(dir.names(), before);
    on_cpu(&dir, "div-rem a b -o /dev/null -o /dev/null").ok();
}

#[test]
fn every_operation_is_measured_and_explained() {
    let dir = Dir::new();
    for operation in ["add", "add-mod", "div-rem", "pow-mod", "redc", "select"] {
        let run = on_cpu(&dir, &format!("bench {operation} --bits 131 --count 50 --runs 2 --json"));
        let table: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
        assert_eq!(table["rows"][0]["checked"], 50, "{operation}");
        assert!(on_cpu(&dir, &format!("explain {operation} --bits 131 --count 50")).ok().contains("algorithm  cpu-"));
    }
}

/// An array whose width shows in the end is written then, and may fail then.
#[test]
fn several_files_appear_together_or_not_at_all() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let dir = small();
    let before = dir.names();
    dir.write("n", "1\n2\n3\n4\n");
    on_cpu(&dir, "div-rem a n -o q.npy -o /dev/full --format npy").fails(1, &["/dev/full: No space left on device"]);
    assert_eq!(dir.names(), [&before[..], &["n".to_owned()]].concat());
}

/// A single number serves all lines of the others, whichever operand it is.
#[test]
fn a_single_number_in_any_position() {
    let dir = Dir::new();
    dir.write("n", "341\n561\n7\n13\n").write("n1", "340\n560\n6\n12\n").write("two", "2\n").write("ten", "10\n");
    // Fermat tests: 2^(n−1) mod n.
    assert_eq!(on_cpu(&dir, "pow-mod two n1 n --chunk-bytes 1").ok(), "1\n1\n1\n1\n");
    assert_eq!(on_cpu(&dir, "sub ten n1").ok(), "-330\n-550\n4\n-2\n");
    assert_eq!(on_cpu(&dir, "pow-mod two ten n").ok(), "1\n463\n2\n10\n");
    assert_eq!(on_cpu(&dir, "pow-mod n two ten").ok(), "1\n1\n9\n9\n");
    assert_eq!(on_cpu(&dir, "sub ten two").ok(), "8\n");
    assert_eq!(dir.run_with(&["div-rem", "ten", "-", "--device", "cpu"], b"3\n4\n").ok(), "3\t1\n2\t2\n");
    let array = |numbers: &str| npy_of(&parse(numbers), 4, 1);
    dir.write("ten.npy", array("10\n")).write("n1.npy", array("340\n560\n6\n12\n")).write("b.npy", array("1\n2\n"));
    on_cpu(&dir, "mul ten.npy n1.npy -o out.npy").ok();
    let (header, products) = read_npy(&dir.read("out.npy"));
    assert!(header.contains("(4, 2)"), "{header}");
    assert_eq!(lines(&products), "3400\n5600\n60\n120\n");
    on_cpu(&dir, "mul b.npy n1.npy").fails(1, &["b.npy has 2 numbers, n1.npy has 4"]);
    dir.write("pair", "1\n2\n");
    on_cpu(&dir, "pow-mod two pair n").fails(1, &["pair has 2 numbers, n has 4"]);
    on_cpu(&dir, "pow-mod two n pair").fails(1, &["n has 4 numbers, pair has 2"]);
}

#[test]
fn lanes_without_a_result_are_never_silent() {
    let dir = Dir::new();
    dir.write("a", "# inverses\n3\n2\n4\n").write("m", "8\n").write("z", "0\n");
    let quiet = on_cpu(&dir, "inv-mod a m -q");
    assert_eq!(quiet.ok(), "3\n-\n-\n");
    assert_eq!(quiet.stderr, "warning: 2 of 3 lanes without a result: 2 with no inverse; the first is a:3\n");
    let json = on_cpu(&dir, "inv-mod a m --json -o out");
    assert!(json.ok().contains("\"first_fault\":\"a:3\"") && json.stderr.starts_with("warning: 2 of 3"), "{json:?}");
    assert!(on_cpu(&dir, "div-rem m a -q").stderr.is_empty());
    assert!(on_cpu(&dir, "div-rem a z -q").stderr.contains("3 of 3 lanes"));
    // In the second chunk, and strictly.
    assert!(on_cpu(&dir, "inv-mod a m -q --chunk-bytes 1").stderr.ends_with("the first is a:3\n"));
    let before = dir.names();
    on_cpu(&dir, "inv-mod a m --strict -o new").fails(1, &["a:3 has no result: no inverse"]);
    assert_eq!(dir.names(), before);
    on_cpu(&dir, "div-rem m a --strict -q").ok();
}

/// Numbers and expressions in place of files; a file of that name comes first.
#[test]
fn numbers_in_place_of_files() {
    let dir = Dir::new();
    dir.write("n", "341\n561\n7\n").write("n1", "340\n560\n6\n");
    assert_eq!(on_cpu(&dir, "pow-mod 2 n1 n").ok(), "1\n1\n1\n");
    assert_eq!(on_cpu(&dir, "mul n (2^4-6)*0xa").ok(), "34100\n56100\n700\n");
    assert_eq!(on_cpu(&dir, "sub 2^127-1 2^127-1_000").ok(), "999\n");
    assert_eq!(on_cpu(&dir, "is-prime 2^521-1").ok(), "1\n");
    on_cpu(&dir, "sqr 2^65536-1 --hex -q").ok();
    on_cpu(&dir, "gcd 2^65536 6").fails(1, &["2^65536:1: a number of 65537 bits"]);
    on_cpu(&dir, "sqr 2^^3").fails(1, &["2^^3: there is no such file, and it is no number: column 3: '^'"]);
    assert_eq!(on_cpu(&dir, "sqr 2-3").ok(), "1\n");
    assert_eq!(on_cpu(&dir, "mul n 5-7").ok(), "-682\n-1122\n-14\n");
    assert_eq!(on_cpu(&dir, "mul n (-2)^3+1").ok(), "-2387\n-3927\n-49\n");
    assert_eq!(dir.run(&["mul", "--device", "cpu", "-q", "--", "-2^3+1", "2"]).ok(), "-14\n");
    on_cpu(&dir, "pow-mod n 5-7 n").fails(1, &["operand e is negative"]);
    on_cpu(&dir, "sqr 7.txt").fails(1, &["7.txt: No such file"]);
    on_cpu(&dir, "sqr nine").fails(1, &["nine: No such file"]);
    dir.write("12", "5\n6\n");
    assert_eq!(on_cpu(&dir, "sqr 12").ok(), "25\n36\n");
    assert_eq!(dir.run(&["gen", "--bits", "2^3", "--count", "2^2", "-q"]).ok().lines().count(), 4);
}
