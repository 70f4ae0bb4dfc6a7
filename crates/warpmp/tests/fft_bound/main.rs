//! The errors of `fft`, computed from its kernels' own instructions: no pass has a greater error than the plan assumes.
//!
//! ```text
//! main.rs    the tests: every division of digits, every thread; and that the check can fail
//! trace.rs   what a thread does with doubles
//! error.rs   the error of a codelet
//! roots.rs   the table of roots against long integers
//! large.rs   the tests of products above 65536 bits
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod error;
mod large;
mod roots;
mod trace;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use error::Codelet;
use rayon::prelude::*;
use warpmp::kernels::fft::{Fft, Pass};
use warpmp::kernels::{FftSettings, OperandShape, OperationShape, Spec};
use warpmp::{Operation, Shape};
use warpmp_kernel::ir::{Class, Inst, Item, Kernel, Op, Operand, Reg};

/// The divisions that products have: bits of the factors, levels.
const DIVISIONS: [(u32, Option<u32>); 19] = [
    (8192, None),
    (16384, None),
    (16384, Some(1)),
    (24576, None),
    (32768, None),
    (49152, None),
    (65536, None),
    (98_304, Some(1)),
    (131_072, Some(1)),
    (163_840, Some(1)),
    (196_608, Some(1)),
    // Digits of 17 and 18 bits.
    (9216, None),
    (18432, None),
    (18432, Some(1)),
    (27648, None),
    (36768, None),
    (36768, Some(1)),
    (52224, None),
    (69632, Some(1)),
];

fn product(bits: u32, levels: Option<u32>) -> Fft {
    let operand = OperandShape::each(bits);
    Fft::new(OperationShape::product(operand, operand), &FftSettings { levels })
}

/// Products whose factors have complex coefficients, one of them or both.
fn complex_products() -> Vec<Fft> {
    let product = |[a, b, n]: [u32; 3]| Fft::modulo(OperandShape::each(32 * a), OperandShape::each(32 * b), n).unwrap();
    [[512, 257, 512], [512, 256, 512], [1024, 514, 1024], [2048, 2048, 2048], [2048, 1000, 2048]].map(product).into()
}

/// Products modulo `Bⁿ + 1` from which whole products are made: of the longest factors, and one of factors of other lengths.
fn wrapped_products() -> Vec<Fft> {
    let product = |[a, b, n]: [u32; 3]| {
        let operands = [a, b].map(|limbs| OperandShape::each(32 * limbs));
        Fft::wrapped(OperationShape::product(operands[0], operands[1]), n).unwrap()
    };
    let products = [
        [383, 383, 512],
        [1535, 1535, 2048],
        [1500, 1200, 2048],
        [2304, 2304, 4096],
        [3071, 3071, 4096],
        [6143, 6143, 8192],
        [2047, 2047, 3072],
        [4095, 4095, 6144],
        [6143, 6143, 10240],
        [7167, 7167, 12288],
        [7679, 7679, 12288],
    ];
    products.map(product).into()
}

/// Products of two's complements, whole ones of each division and those from which whole products are made.
fn signed_products() -> Vec<Fft> {
    let shape =
        |limbs: u32| OperationShape::new(Operation::SignedMul, &[Shape::new(1, 32 * limbs as usize); 2]).unwrap();
    let whole = |(bits, levels): (u32, Option<u32>)| Fft::new(shape(bits / 32), &FftSettings { levels });
    let wrapped = |[limbs, n]: [u32; 2]| Fft::wrapped(shape(limbs), n).unwrap();
    let products = [[1300, 2048], [2304, 4096], [6143, 8192], [1700, 3072], [4095, 6144], [7167, 12288], [7679, 12288]];
    DIVISIONS.into_iter().map(whole).chain(products.map(wrapped)).collect()
}

fn square(bits: u32) -> Fft {
    Fft::new(OperationShape::square(bits), &FftSettings::default())
}

/// The error of a sum and a difference of products, in units of 2⁻⁵³: `bound.rs` proves it.
const PRODUCTS: f64 = 5.0;

/// The passes of codelets: all but the products of complex numbers.
fn linear(passes: Vec<Pass>) -> Vec<Pass> {
    passes.into_iter().filter(|it| it.section != "product").collect()
}

/// The errors of codelets that have been computed, by their signatures: those of inverse passes, and those of forward ones.
type Known = [Mutex<HashMap<Vec<u64>, f64>>; 2];

/// The relative errors of the passes of a kernel in units of 2⁻⁵³, by section.
struct Errors<'k> {
    known: &'k Known,
    by_section: BTreeMap<String, f64>,
}

impl<'k> Errors<'k> {
    fn new(known: &'k Known) -> Self {
        Self { known, by_section: BTreeMap::new() }
    }

    /// Follows a thread, by the numbers of its block and its own. `digits`: of a factor.
    fn follow(&mut self, passes: &[Pass], digits: u32, kernel: &Kernel, thread: [u32; 2], root_error: f64) {
        let sections: Vec<&str> = passes.iter().map(|it| it.section).collect();
        let trace = trace::follow(kernel, thread, root_error);
        for (section, codelet) in Codelet::all(&trace, &sections) {
            let pass = passes.iter().find(|it| it.section == section).unwrap();
            // Of the remainders each part has one; all together are unitary but for the factor. A thread has one part or all.
            let factor = match section {
                "remainders" => (codelet.points() as f64).sqrt(),
                "twist" => 1.0 / f64::from(digits),
                _ if pass.forward => f64::from(pass.radix).sqrt(),
                _ => 1.0,
            };
            let (signature, known) = (codelet.signature(), &self.known[usize::from(pass.forward)]);
            let found = known.lock().unwrap().get(&signature).copied();
            let error = found.unwrap_or_else(|| {
                let error = if pass.forward { codelet.euclidean() } else { codelet.greatest() };
                known.lock().unwrap().insert(signature, error);
                error
            });
            let worst = self.by_section.entry(section.to_owned()).or_default();
            *worst = worst.max(error / factor);
        }
    }
}

/// The errors of a kernel. `threads`: those that are followed.
fn errors(fft: &Fft, kernel: &Kernel, threads: std::ops::Range<u32>, root_error: f64) -> BTreeMap<String, f64> {
    errors_beside(&Known::default(), fft, kernel, threads, root_error)
}

/// The same, with the errors of codelets that other kernels have, too.
fn errors_beside(
    known: &Known,
    fft: &Fft,
    kernel: &Kernel,
    threads: std::ops::Range<u32>,
    root_error: f64,
) -> BTreeMap<String, f64> {
    let passes = linear(fft.passes());
    let mut errors = Errors::new(known);
    for thread in threads {
        errors.follow(&passes, fft.digits(), kernel, [0, thread], root_error);
    }
    errors.by_section
}

/// What the errors of the passes make together, relative to the norms of the factors.
fn together(passes: &[Pass], errors: &BTreeMap<String, f64>) -> f64 {
    let unit = f64::EPSILON / 2.0;
    let times = |pass: &Pass| if pass.forward { 2.0 } else { 1.0 };
    let sum: f64 = passes.iter().map(|pass| times(pass) * errors[pass.section]).sum();
    ((sum + PRODUCTS) * unit).exp_m1()
}

/// The bound on the errors of coefficients by these errors of the passes.
fn composed(fft: &Fft, errors: &BTreeMap<String, f64>) -> f64 {
    fft.norms() * together(&linear(fft.passes()), errors)
}

fn all_threads(fft: &Fft) -> std::ops::Range<u32> {
    0..fft.grid(0, 1).threads
}

/// Every thread of every division. The errors are not much smaller than the plan assumes, either.
#[test]
fn every_pass_is_within_its_bound() {
    let products = DIVISIONS.map(|(bits, levels)| product(bits, levels));
    let all =
        [products.to_vec(), vec![square(65536)], complex_products(), wrapped_products(), signed_products()].concat();
    let known = Known::default();
    all.par_iter().for_each(|fft| {
        let errors = errors_beside(&known, fft, &fft.build(0), all_threads(fft), 1.0);
        for pass in linear(fft.passes()) {
            let error = errors[pass.section];
            assert!(error <= pass.error, "{}: {error} u in {pass:?}", fft.name());
            let tight = pass.section == "twist" || error >= 0.95 * pass.error;
            assert!(tight, "{}: {error} u in {pass:?}", fft.name());
        }
        let composed = composed(fft, &errors);
        let bound = fft.bound(fft.digit_bits());
        assert!(composed <= bound && bound < 0.5, "{}: {composed}", fft.name());
    });
}

/// The first product of a pair is written as the source of its bound has it, the second one as a factor of a butterfly.
#[test]
fn products_of_complex_numbers() {
    let operations = |fft: &Fft| -> Vec<Op> {
        let kernel = fft.build(0);
        let mut inside = false;
        let doubles = |item: &Item| match item {
            Item::Section(name) => {
                inside = name == "product";
                None
            }
            Item::Inst(inst) if inside => Some(inst.op),
            _ => None,
        };
        kernel.body.iter().filter_map(doubles).collect()
    };
    let [product, square] = [product(32768, None), square(32768)].map(|fft| operations(&fft));
    let negatives = [Op::NegF64; 2];
    let butterfly = [&negatives[..], &[Op::Fma; 4], &negatives, &[Op::Fma; 2]].concat();
    let first = [Op::MulF64, Op::MulF64, Op::NegF64, Op::Fma, Op::Fma];
    assert_eq!(product, [&first[..], &butterfly].concat().repeat(8));
    let first = [Op::MulF64, Op::NegF64, Op::Fma, Op::AddF64, Op::MulF64];
    assert_eq!(square, [&first[..], &butterfly].concat().repeat(8));
}

/// Unsigned digits have a norm that the error is proved for; balanced ones of the same bits have less than a third of it.
#[test]
fn norms_of_digits() {
    let is =
        |fft: &Fft, norms: f64| assert!((fft.norms() / norms - 1.0).abs() < 1e-15, "{}: {}", fft.name(), fft.norms());
    is(&product(65536, None), 4096.0 * 65535.0 * 65535.0);
    is(&complex_products()[3], 4096.0 * 65535.0 * 65535.0);
    is(&product(131_072, Some(1)), 8191.0 * 32768.0 * 32768.0 + 65536.0 * 65536.0);
    is(&product(18432, None), 1023.0 * 131_072.0 * 131_072.0 + 262_144.0 * 262_144.0);
}

#[test]
fn wider_digits_are_refused() {
    assert!(product(65536, None).bound(17) >= 0.5);
    assert!(product(32768, None).bound(18) >= 0.5);
    assert!(product(131_072, Some(1)).bound(17) >= 0.5);
    assert!(product(18432, None).bound(19) >= 0.5);
    assert!(product(52224, None).bound(18) >= 0.5);
}

#[test]
fn wrong_roots_are_refused() {
    let fft = product(65536, None);
    assert!(composed(&fft, &errors(&fft, &fft.build(0), 1..2, 1.0)) < 0.5);
    assert!(composed(&fft, &errors(&fft, &fft.build(0), 1..2, 64.0)) >= 0.5);
}

/// A fused operation that is rounded twice.
#[test]
fn a_second_rounding_is_noticed() {
    let fft = product(32768, None);
    let mut kernel = fft.build(0);
    let body = std::mem::take(&mut kernel.body);
    for item in body {
        match item {
            // But not where a constant is added: the offset of a digit, or what rounds to integers.
            Item::Inst(Inst { guard, op: Op::Fma, operands }) if matches!(operands[3], Operand::Reg(_)) => {
                let slot = Class::ALL.iter().position(|&it| it == Class::F64).unwrap();
                let between = Operand::Reg(Reg { class: Class::F64, index: kernel.registers[slot] });
                kernel.registers[slot] += 1;
                let product = Inst { guard, op: Op::MulF64, operands: vec![between, operands[1], operands[2]] };
                let sum = Inst { guard, op: Op::AddF64, operands: vec![operands[0], between, operands[3]] };
                kernel.body.extend([product, sum].map(Item::Inst));
            }
            item => kernel.body.push(item),
        }
    }
    let errors = errors(&fft, &kernel, 1..2, 1.0);
    for section in ["forward 1", "forward 2", "forward 3", "inverse 2", "inverse 3"] {
        let pass = linear(fft.passes()).into_iter().find(|it| it.section == section).unwrap();
        assert!(errors[section] > pass.error, "{section}: {}", errors[section]);
    }
}

#[test]
fn every_root_is_the_nearest_double() {
    for (bits, levels) in DIVISIONS {
        let fft = product(bits, levels);
        roots::check(&fft.roots(), &fft.build(0).table).unwrap();
    }
}

/// The constants that turn coefficients, two a coefficient but the first one, and those that scale them, two a coefficient.
#[test]
fn every_constant_of_the_twist_is_the_nearest_double() {
    for (bits, levels) in DIVISIONS {
        let fft = product(bits, levels);
        let mut inside = false;
        let factor = |item| match item {
            Item::Section(name) => {
                inside = name == "twist";
                None
            }
            Item::Inst(Inst { op: Op::Fma, operands, .. }) if inside => match operands[2] {
                Operand::Imm(bits) => Some(bits & !(1 << 63)),
                Operand::Reg(_) => panic!("a factor is a constant"),
            },
            _ => None,
        };
        let factors: Vec<u64> = fft.build(0).body.into_iter().filter_map(factor).collect();
        let joins = fft.digits() / 256;
        let columns: Vec<&[u64]> = factors.chunks(4 * joins as usize - 2).collect();
        assert!(!columns.is_empty() && columns.iter().all(|it| *it == columns[0]), "{}", fft.name());
        // The first coefficient is not turned: its tangent is zero.
        let all = [&[0; 2], columns[0]].concat();
        for (i, factors) in (0_u64..).zip(all.chunks(4)) {
            let angle = i * (roots::TURN / u64::from(4 * joins));
            let &[tangent, same_tangent, scale, same_scale] = factors else { panic!("four factors") };
            assert_eq!([tangent, scale], [same_tangent, same_scale], "{}", fft.name());
            let are_nearest = roots::are_nearest([tangent, scale].map(f64::from_bits), angle, fft.digits());
            assert_eq!(are_nearest, [true; 2], "{} {i}", fft.name());
        }
    }
}

#[test]
fn a_root_off_by_a_unit_is_noticed() {
    let fft = product(8192, None);
    let mut table = fft.build(0).table;
    table[101] += 1;
    assert_eq!(roots::check(&fft.roots(), &table), Err(101));
}
