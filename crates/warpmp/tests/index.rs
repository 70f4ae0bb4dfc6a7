//! The indexes of all operations, in the book and on the crate's front page, are made from the table of operations;
//! the examples are computed. `WARPMP_BLESS=1` writes both files anew.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::{env, fs};

use warpmp::operation::{Group, Role};
use warpmp::{Batch, Operation, Options, Session, Shape};

/// Bits of the operands in examples.
const BITS: usize = 8;

const GROUPS: [(Group, &str); 7] = [
    (Group::Product, "Products"),
    (Group::ProductPart, "Parts of products"),
    (Group::Linear, "Sums, comparisons, shifts, logic"),
    (Group::Division, "Division, common divisors, roots"),
    (Group::LinearModular, "Modular sums"),
    (Group::Modular, "Modular arithmetic"),
    (Group::Montgomery, "Montgomery's residues"),
];

const BOOK: &str = "../../book/src/operations.md";
const FRONT_PAGE: &str = "src/operations.md";

/// The operands of an operation's example.
fn operands(operation: Operation) -> Vec<u32> {
    // Nothing may remain.
    if operation == Operation::DivExact {
        return vec![234, 78];
    }
    let value = |name, role| match (name, role) {
        ("b", Role::Integer) | (_, Role::Divisor) => 78,
        ("c", Role::Integer) | (_, Role::Exponent) => 5,
        (_, Role::Integer) => 200,
        (_, Role::Bit) => 1,
        (_, Role::Modulus | Role::OddModulus) => 101,
        (_, Role::Candidate) => 97,
        ("b", Role::Reduced) => 67,
        (_, Role::Reduced) => 45,
        (_, Role::ReducedProduct) => 250,
    };
    operation.operands().iter().map(|operand| value(operand.name, operand.role)).collect()
}

/// An example as people write it, its results computed by the CPU engine.
fn example(operation: Operation) -> String {
    let operands = operands(operation);
    let batch = |value: &u32| Batch::from_limbs(Shape::new(1, BITS), vec![*value]).unwrap();
    let batches: Vec<Batch> = operands.iter().map(batch).collect();
    let (results, _) = Session::cpu().apply(operation, &batches.iter().collect::<Vec<_>>(), Options::new()).unwrap();
    let results = &results[..operation.result_names().len()];
    let shown = results.iter().enumerate().map(|(i, result)| {
        let value = result.to_u64(0).unwrap() as i64;
        let negative = operation.is_signed(i) && value >> (result.bits() - 1) & 1 == 1;
        if negative { value - (1 << result.bits()) } else { value }.to_string().replace('-', "−")
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let given = operands.into_iter().chain(operation.constant()).map(|it| it.to_string()).collect::<Vec<_>>();
    format!("`{}({}) = {shown}`", operation.name(), given.join(", "))
}

/// The operations of a group, in the table's order.
fn members(group: Group) -> impl Iterator<Item = Operation> {
    Operation::ALL.iter().copied().filter(move |operation| operation.group() == group)
}

fn book() -> String {
    let mut text = format!(
        "# All operations\n\n\
         There are {} operations. Each is a method of `Session`, with the name below, and a command of the program, with \
         `-` for `_`: `div_rem` is `warpmp div-rem A B`.\n\n\
         Operands of the examples have {BITS} bits. In the examples of two's complements 200 stands for −56. A number that \
         belongs to the operation, such as the distance of a shift, comes last. Several results are separated by commas.\n",
        Operation::ALL.len()
    );
    for (group, title) in GROUPS {
        let chapter = group.chapter().rsplit_once('/').unwrap().1;
        write!(text, "\n## {title}\n\nAlgorithms: [{chapter}]({chapter}).\n\n").unwrap();
        text.push_str("| operation | computes | example |\n|---|---|---|\n");
        for operation in members(group) {
            writeln!(text, "| `{}` | {} | {} |", operation.name(), operation.summary(), example(operation)).unwrap();
        }
    }
    text
}

fn front_page() -> String {
    let mut text = String::from("| operation | computes |\n|---|---|\n");
    for (group, title) in GROUPS {
        writeln!(text, "| **{title}** | |").unwrap();
        for operation in members(group) {
            writeln!(text, "| [`{0}`](Session::{0}) | {1} |", operation.name(), operation.summary()).unwrap();
        }
    }
    text
}

fn held(path: &str, expected: &str) {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("WARPMP_BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{path} is not the index of today's operations: WARPMP_BLESS=1 writes it");
}

#[test]
fn the_book_has_every_operation() {
    held(BOOK, &book());
}

#[test]
fn the_front_page_has_every_operation() {
    held(FRONT_PAGE, &front_page());
}

#[test]
fn every_operation_is_in_one_group_of_the_index() {
    let listed: usize = GROUPS.iter().map(|(group, _)| members(*group).count()).sum();
    assert_eq!(listed, Operation::ALL.len());
}

/// Some examples, worked out by hand: a sign, a status left out, several results, a constant.
#[test]
fn examples_are_right() {
    let of = |name| example(Operation::named(name).unwrap());
    assert_eq!(of("sub"), "`sub(200, 78) = 122`");
    assert_eq!(of("neg"), "`neg(200) = −200`");
    assert_eq!(of("signed_sub"), "`signed_sub(200, 78) = −134`");
    assert_eq!(of("div_rem"), "`div_rem(200, 78) = 2, 44`");
    assert_eq!(of("shl"), "`shl(200, 1) = 400`");
    assert_eq!(of("mul_mod"), "`mul_mod(200, 78, 101) = 46`");
}
