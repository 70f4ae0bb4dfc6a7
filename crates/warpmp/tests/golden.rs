//! Small kernels against their stored texts, byte by byte: what changes a kernel shows as a difference.
//!
//! A change that is meant is written down with `WARPMP_BLESS=1 cargo test -p warpmp --test golden`, and
//! read in the diff of `tests/golden/`. That the texts compute products is for `tests/kernels/` to say.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use warpmp::kernels::OperandShape;
use warpmp::kernels::OperationShape;
use warpmp::kernels::linear::{Linear, Split};
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::gcd::Gcd;
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp::kernels::modular::strong::{Base, StrongTest};
use warpmp::kernels::mul_group::MulGroup;
use warpmp::kernels::mul_thread::{Input, MulThread};
use warpmp::kernels::sqr_thread::SqrThread;
use warpmp::kernels::sum_rotate::SumRotate;
use warpmp::kernels::{Abilities, Settings, Spec};
use warpmp::{Operation, Shape};
use warpmp_kernel::build::Glue;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::products::shape;

fn thread(shape: OperationShape, input: Input, glue: Glue) -> Box<dyn Spec> {
    Box::new(MulThread { shape, input, glue, warps: 2 })
}

fn montgomery(function: Function, limbs: u32, group: u32) -> Box<dyn Spec> {
    let layout = Layout { group, length: limbs / group, warps: 2, glue: Glue::None };
    let operands = vec![OperandShape::each(32 * limbs); if function == Function::Mul { 3 } else { 2 }];
    Box::new(MontgomeryProduct { function, operands, layout, chain: 1 })
}

fn strong(bits: u32) -> Box<dyn Spec> {
    let layout = Layout { group: 1, length: bits.div_ceil(32), warps: 2, glue: Glue::None };
    Box::new(StrongTest { layout, ..StrongTest::new(Base::Number(2), OperandShape::each(bits)) })
}

fn gcd_by_warp(bits: u32) -> Box<dyn Spec> {
    let layout = Layout { group: 32, length: 4, warps: 2, glue: Glue::None };
    Box::new(Gcd { layout, ..Gcd::new(OperandShape::each(bits), OperandShape::each(bits)) })
}

fn linear(operation: Operation, bits: usize, split: Option<Split>) -> Box<dyn Spec> {
    let shape = OperationShape::new(operation, &vec![Shape::new(2, bits); operation.arity()]).unwrap();
    Box::new(Linear { shape, split, asynchronous: true, product_bits: None, warps: 2 })
}

fn part(operation: Operation, name: &str, bits: usize, settings: Settings) -> Box<dyn Spec> {
    let shape = OperationShape::new(operation, &vec![Shape::new(2, bits); operation.arity()]).unwrap();
    algorithm(operation, name)
        .spec(shape, &Settings { warps: Some(2), glue: Some(1), ..settings }, Abilities::of(80))
        .unwrap()
}

fn group(shape: OperationShape, input: Input, block: u32, group: u32) -> Box<dyn Spec> {
    Box::new(MulGroup { shape, block, group, input, glue: Glue::None, warps: 2 })
}

fn tensor(bits: usize) -> Box<dyn Spec> {
    let settings = Settings { warps: Some(1), products: Some(4), ..Settings::default() };
    algorithm(Operation::Mul, "tensor").spec(shape([bits, bits], false), &settings, Abilities::of(80)).unwrap()
}

fn warpgroup(bits: usize) -> Box<dyn Spec> {
    let settings = Settings { products: Some(4), ..Settings::default() };
    algorithm(Operation::Mul, "tensor-warpgroup")
        .spec(shape([bits, bits], false), &settings, Abilities::of(80))
        .unwrap()
}

/// Montgomery's reduction modulo one number for all lanes.
fn common(bits: usize) -> Box<dyn Spec> {
    let shape = OperationShape::new(Operation::FromMont, &[Shape::new(100, bits), Shape::new(1, bits)]).unwrap();
    algorithm(Operation::FromMont, "tensor-common").spec(shape, &Settings::default(), Abilities::of(80)).unwrap()
}

fn fft(bits: usize) -> Box<dyn Spec> {
    let settings = Settings { levels: Some(0), ..Settings::default() };
    algorithm(Operation::Mul, "fft").spec(shape([bits, bits], false), &settings, Abilities::of(80)).unwrap()
}

fn ntt(bits: usize) -> Box<dyn Spec> {
    algorithm(Operation::Mul, "ntt").spec(shape([bits, bits], false), &Settings::default(), Abilities::of(80)).unwrap()
}

fn thread_square(bits: usize, halves: bool) -> Box<dyn Spec> {
    let shape = OperationShape::square(bits as u32);
    Box::new(SqrThread { shape, input: Input::Direct, halves, glue: Glue::Every(1), warps: 2 })
}

/// The kernels, by the names of their files. All parameters are given: no tuning changes them.
fn cases() -> Vec<(&'static str, Box<dyn Spec>)> {
    let square = |bits: usize| shape([bits, bits], false);
    vec![
        ("thread_64", thread(square(64), Input::Direct, Glue::Every(1))),
        ("thread_131", thread(square(131), Input::Direct, Glue::Every(1))),
        ("thread_64_unglued", thread(square(64), Input::Direct, Glue::None)),
        ("thread_131_common", thread(shape([131, 131], true), Input::Staged, Glue::Every(1))),
        ("thread_96_544_staged", thread(shape([96, 544], false), Input::Staged, Glue::Every(1))),
        ("tensor_1024", tensor(1024)),
        ("tensor_warpgroup_16384", warpgroup(16384)),
        ("tensor_common_1280", common(1280)),
        ("fft_4100", fft(4100)),
        ("ntt_2100", ntt(2100)),
        ("sum_rotate_128", Box::new(SumRotate { shape: square(128), warps: 4 })),
        ("group_128", group(square(128), Input::Direct, 2, 2)),
        ("group_256_two_passes", group(square(256), Input::Direct, 2, 2)),
        ("mont_mul_96", montgomery(Function::Mul, 3, 1)),
        ("mont_mul_128_by_two", montgomery(Function::Mul, 4, 2)),
        ("mont_sqr_128", montgomery(Function::Sqr, 4, 1)),
        ("mont_sqr_256_by_two", montgomery(Function::Sqr, 8, 2)),
        ("strong_test_60", strong(60)),
        ("jacobi_60", part(Operation::Jacobi, "thread", 60, Settings::default())),
        ("lcm_40", part(Operation::Lcm, "group", 40, Settings::default())),
        ("gcd_100_by_warp", gcd_by_warp(100)),
        ("div_exact_60", part(Operation::DivExact, "thread", 60, Settings::default())),
        ("pow_mod_32", part(Operation::PowMod, "thread", 32, Settings::default())),
        ("sqr_thread_131", thread_square(131, false)),
        ("sqr_thread_128_halves", thread_square(128, true)),
        ("group_160_staged", group(square(160), Input::Staged, 3, 2)),
        ("add_131", linear(Operation::Add, 131, None)),
        ("add_mod_96", linear(Operation::AddMod, 96, None)),
        ("xor_256", linear(Operation::Xor, 256, None)),
        ("sub_256_group", linear(Operation::WrappingSub, 256, Some(Split { group: 2, block: 4 }))),
        ("mul_lo_160", part(Operation::MulLo, "thread", 160, Settings::default())),
        ("mul_hi_163", part(Operation::MulHi, "thread", 163, Settings::default())),
        ("mul_add_160", part(Operation::MulAdd, "thread", 160, Settings::default())),
        (
            "mul_lo_500_columns",
            part(Operation::MulLo, "group", 500, Settings { block: Some(4), ..Settings::default() }),
        ),
        ("mul_hi_163_group", part(Operation::MulHi, "group", 163, Settings { block: Some(3), ..Settings::default() })),
        ("carrying_add_160_group", linear(Operation::CarryingAdd, 160, Some(Split { group: 4, block: 1 }))),
    ]
}

/// The texts, by their files.
fn texts() -> BTreeMap<PathBuf, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let stages = |(name, spec): (&str, Box<dyn Spec>)| {
        let file = |stage| if stage == 0 { format!("{name}.ptx") } else { format!("{name}.{stage}.ptx") };
        let text = |stage| (folder.join(file(stage)), spec.build(stage).to_string());
        (0..spec.stages().len()).map(text).collect::<Vec<_>>()
    };
    cases().into_iter().flat_map(stages).collect()
}

/// The first line that differs, with its number.
fn difference(stored: &str, now: &str) -> String {
    let line = stored.lines().zip(now.lines()).take_while(|(stored, now)| stored == now).count();
    let show = |text: &str| text.lines().nth(line).map_or("(the end)".to_owned(), str::to_owned);
    format!("line {}\n  stored: {}\n  now:    {}", line + 1, show(stored), show(now))
}

#[test]
fn kernels_are_as_stored() {
    let texts = texts();
    if env::var_os("WARPMP_BLESS").is_some() {
        for (file, text) in &texts {
            fs::write(file, text).unwrap();
        }
    }
    for (file, text) in &texts {
        let name = file.file_name().unwrap().display();
        let stored = fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(stored == *text, "{name}, {}\nIf that is meant: WARPMP_BLESS=1", difference(&stored, text));
    }
}

#[test]
fn every_stored_text_has_its_kernel() {
    let texts = texts();
    for entry in fs::read_dir(texts.keys().next().unwrap().parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        assert!(texts.contains_key(&file), "{}: of no kernel any more", file.display());
    }
}

#[test]
fn the_first_difference_is_named() {
    assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n"), "line 2\n  stored: b\n  now:    x");
    assert_eq!(difference("a\n", "a\nx\n"), "line 2\n  stored: (the end)\n  now:    x");
}
