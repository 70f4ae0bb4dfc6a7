//! `sum`, `product`, `gcd-all`, `lcm-all`, `pow`, `div` and `next-prime`.

use crate::common::{Dir, lines, mixed, on_cpu, read_npy};
use num_bigint::BigUint;

#[test]
fn one_number_from_all() {
    let dir = Dir::new();
    let numbers = mixed(500, 300, 7);
    let (a, b) = numbers.split_at(123);
    dir.write("a", lines(a))
        .write("b", lines(b))
        .write("s", "-5\n3\n-4\n")
        .write("z", "12\n0\n-18\n")
        .write("gap", "5\n-\n");
    for chunk in ["100", "1000000"] {
        let of = |words: &str| on_cpu(&dir, &format!("{words} -q --chunk-bytes {chunk}")).ok().trim_end().to_owned();
        assert_eq!(of("sum a b"), numbers.iter().sum::<BigUint>().to_string());
        let nonzero: Vec<BigUint> = numbers.iter().filter(|number| **number != BigUint::ZERO).cloned().collect();
        dir.write("n", lines(&nonzero));
        assert_eq!(of("product n --hex"), format!("{:#x}", nonzero.iter().product::<BigUint>()));
        assert_eq!((of("sum s"), of("product s"), of("product z")), ("-6".into(), "60".into(), "0".into()));
        assert_eq!((of("gcd-all z"), of("lcm-all s"), of("lcm-all z")), ("6".into(), "60".into(), "0".into()));
    }
    on_cpu(&dir, "sum gap").fails(1, &["gap:2: '-' stands for a lane without a result"]);
    let run = on_cpu(&dir, "product a -o out --json");
    let object: serde_json::Value = serde_json::from_str(run.ok()).unwrap();
    assert_eq!((&object["op"], &object["lanes"]), (&"product".into(), &123.into()));
}

#[test]
fn powers_with_all_bits() {
    let dir = Dir::new();
    dir.write("a", "0\n1\n-3\n0x10000000000000000\n-\n2\n").write("e", "0\n9\n3\n2\n5\n0\n");
    let run = on_cpu(&dir, "pow a e -q");
    assert_eq!(run.stderr, "warning: 1 of 6 lanes without a result: 1 with no operand; the first is a:5\n");
    assert_eq!(run.ok(), format!("1\n1\n-27\n{}\n-\n1\n", BigUint::from(1_u8) << 128));
    assert_eq!(on_cpu(&dir, "pow -2 e --chunk-bytes 1").ok(), "1\n-512\n-8\n4\n-32\n1\n");
    let bases = mixed(50, 200, 3);
    dir.write("b", lines(&bases));
    let powers: Vec<BigUint> = bases.iter().map(|base| base.pow(13)).collect();
    assert_eq!(on_cpu(&dir, "pow b 13 --check 50").ok(), lines(&powers));
    on_cpu(&dir, "pow b 13 -o p.npy").ok();
    assert_eq!(read_npy(&dir.read("p.npy")).1, powers);
    on_cpu(&dir, "pow 2^1000 40000")
        .fails(1, &["a base of 1001 bits to the power 40000 takes a factor of more than 16777216 bits"]);
    // The square before the last step would be too wide to be a factor.
    on_cpu(&dir, "pow 2 10000001 -o wide.npy").ok();
    assert_eq!(read_npy(&dir.read("wide.npy")).1, [BigUint::from(1_u8) << 10_000_001]);
    // A power has fewer bits than the base's bits times the exponent.
    on_cpu(&dir, "pow 2 16777217 -o wide.npy").ok();
    assert_eq!(read_npy(&dir.read("wide.npy")).1, [BigUint::from(1_u8) << 16_777_217]);
    on_cpu(&dir, "pow 2^8388608 3 -o wide.npy")
        .fails(1, &["a base of 8388609 bits to the power 3 takes a factor of more"]);
    // Powers that are much longer than a chunk of bases come in turns.
    let short = mixed(300, 8, 5);
    dir.write("s", lines(&short));
    let powers: Vec<BigUint> = short.iter().map(|base| base.pow(999)).collect();
    assert_eq!(on_cpu(&dir, "pow s 999 --chunk-bytes 2000").ok(), lines(&powers));
    on_cpu(&dir, "pow 2 a").fails(1, &["a:4: a number of 65 bits; at most 32 are supported"]);
    dir.write("e", "1\n-3\n");
    on_cpu(&dir, "pow 2 e").fails(1, &["e:2: a negative exponent"]);
}

#[test]
fn quotients_alone() {
    let dir = Dir::new();
    dir.write("a", "7\n100\n9\n").write("b", "3\n0\n3\n").write("q", "2\n-\n3\n");
    assert_eq!(on_cpu(&dir, "div a b --expect q").ok(), "2\n-\n3\n");
    on_cpu(&dir, "div a b -o q.npy").ok();
    assert_eq!(read_npy(&dir.read("q.npy")).1, [2_u8, 0, 3].map(BigUint::from));
    on_cpu(&dir, "div a b -o x -o y").fails(2, &["give"]);
}

#[test]
fn the_next_primes() {
    let dir = Dir::new();
    dir.write("a", "0\n7\n89\n10000000000000000000000\n0x3fffffffffffffffffffffffffffffffffffffff\n");
    let primes = on_cpu(&dir, "next-prime a").ok().to_owned();
    assert_eq!(primes, format!("2\n11\n97\n10000000000000000000009\n{}\n", (BigUint::from(1_u8) << 158) + 97_u8));
    dir.write("p", &primes);
    assert_eq!(on_cpu(&dir, "is-prime p").ok(), "1\n1\n1\n1\n1\n");
    on_cpu(&dir, "next-prime a -o p.npy --chunk-bytes 1").ok();
    assert_eq!(lines(&read_npy(&dir.read("p.npy")).1), primes);
}
