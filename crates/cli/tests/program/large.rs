//! Numbers beyond 65536 bits on the CPU engine, from text and from arrays, against num-bigint.

use crate::common::Dir;
use num_bigint::BigUint;

/// All ones, a power of two, and bits without a pattern.
fn numbers(bits: usize) -> Vec<BigUint> {
    let ones: BigUint = (BigUint::from(1_u8) << bits) - 1_u8;
    let power = BigUint::from(1_u8) << (bits - 1);
    let mut state = bits as u32;
    let mut limb = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ state >> 15
    };
    let mixed = BigUint::new((0..bits.div_ceil(32)).map(|_| limb()).collect()) & &ones;
    vec![ones, power, mixed]
}

/// The results of a command on the CPU engine, a line each.
fn lines(dir: &Dir, command: &str) -> Vec<BigUint> {
    let args: Vec<&str> = command.split(' ').chain(["--device", "cpu", "-q", "--hex"]).collect();
    let run = dir.run(&args);
    let parse = |line: &str| BigUint::parse_bytes(line.trim_start_matches("0x").as_bytes(), 16).unwrap();
    run.ok().lines().map(parse).collect()
}

fn agree(bits: usize) {
    let dir = Dir::new();
    let (a, b) = (numbers(bits), numbers(bits / 2 + 1));
    let text = |numbers: &[BigUint]| numbers.iter().map(|it| format!("{it:#x}")).collect::<Vec<_>>().join("\n");
    dir.write("a", text(&a)).write("b", text(&b));
    let pairs = || a.iter().zip(&b);
    assert_eq!(lines(&dir, "mul a b"), pairs().map(|(a, b)| a * b).collect::<Vec<_>>());
    assert_eq!(lines(&dir, "add a b"), pairs().map(|(a, b)| a + b).collect::<Vec<_>>());
    assert_eq!(lines(&dir, "sqr a"), a.iter().map(|a| a * a).collect::<Vec<_>>());
    let (quotients, roots) = (lines(&dir, "div a b"), lines(&dir, "sqrt a -o roots -o rests"));
    assert_eq!(quotients, pairs().map(|(a, b)| a / b).collect::<Vec<_>>());
    assert!(roots.is_empty());
    assert_eq!(lines(&dir, "add roots 0"), a.iter().map(BigUint::sqrt).collect::<Vec<_>>());
}

#[test]
fn text_of_all_widths_agrees() {
    for bits in [65_537, 100_000] {
        agree(bits);
    }
}

#[test]
#[ignore = "half a minute: num-bigint divides and takes roots of a million bits"]
fn text_of_a_million_bits_agrees() {
    agree(1_000_000);
}

/// One product of two numbers of 16,777,216 bits each, all ones: (2^n − 1)² = 2^2n − 2^(n+1) + 1.
#[test]
fn the_longest_product_passes_through_text() {
    let dir = Dir::new();
    let n = 1_usize << 24;
    dir.write("a", format!("0x{}\n7\n", "f".repeat(n / 4))).write("b", format!("0x{}\n0x8\n", "f".repeat(n / 4)));
    let run = dir.run(&["mul", "a", "b", "--device", "cpu", "-q", "--hex"]);
    let mut found = run.ok().lines();
    let expected = format!("0x{}e{}1", "f".repeat(n / 4 - 1), "0".repeat(n / 4 - 1));
    assert!(found.next() == Some(&expected), "the product of two numbers of 16 Mbit");
    assert_eq!((found.next(), found.next()), (Some("0x38"), None));
}

#[test]
fn limits_are_told_with_the_operation() {
    let dir = Dir::new();
    let run = |command: &str| dir.run(&command.split(' ').collect::<Vec<_>>());
    run("gcd 2^65536 6 --device cpu").fails(1, &["a number of 65537 bits; at most 65536 are supported"]);
    assert_eq!(
        run("div-exact 2^70000 2^4464 --device sim -q").ok(),
        format!("{}\n", BigUint::from(1_u8) << 65_536_u32)
    );
    run("explain div-exact --bits 100000 --count 1 --device sim").ok();
}
