//! Powers modulo odd numbers on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::power::{Exponent, PowMod};
use warpmp_kernel::build::Glue;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{Outcome, numbers, odd_moduli, run};

/// Runs a kernel on these numbers and compares every lane.
fn check(spec: &PowMod, bases: &[BigUint], exponents: &[BigUint], moduli: &[BigUint]) -> Outcome {
    let lanes = bases.len();
    let of = |numbers: &[BigUint], lane: usize| numbers[if numbers.len() == 1 { 0 } else { lane }].clone();
    let mut operands = vec![(spec.base, bases)];
    if let Exponent::Operand(operand) | Exponent::Secret(operand) = spec.exponent {
        operands.push((operand, exponents));
    }
    operands.push((spec.modulus, moduli));
    let outcome = run(spec, &operands, &[spec.modulus.limbs()], lanes);
    for (lane, base) in bases.iter().enumerate() {
        let modulus = of(moduli, lane);
        let is_odd = modulus.bit(0);
        let expected = if is_odd { base.modpow(&of(exponents, lane), &modulus) } else { BigUint::ZERO };
        assert_eq!(outcome.results[0][lane], expected, "{} lane {lane} m = {modulus:x}", spec.name());
        let status = if is_odd {
            0
        } else if modulus == BigUint::ZERO {
            1
        } else {
            2
        };
        assert_eq!(outcome.statuses[lane], status, "{} lane {lane}", spec.name());
    }
    outcome
}

/// Exponents with the edges first.
fn exponents(lanes: usize, bits: usize) -> Vec<BigUint> {
    let mut exponents = numbers(Pattern::Carry, lanes, bits, 11);
    let ones = (BigUint::from(1_u32) << bits) - 1_u32;
    for (exponent, edge) in exponents.iter_mut().zip([BigUint::ZERO, BigUint::from(1_u32), ones]) {
        *exponent = edge;
    }
    exponents
}

fn check_bits(bits: [usize; 3], lanes: usize, secret: bool) {
    let [base, exponent, modulus] = bits;
    let moduli = odd_moduli(lanes, modulus, 3);
    let bases = numbers(Pattern::Carry, lanes, base, 4);
    let powers = exponents(lanes, exponent);
    for common in [false, true] {
        let make =
            |bits: usize| if common { OperandShape::common(bits as u32) } else { OperandShape::each(bits as u32) };
        let operand = make(exponent);
        let kind = if secret { Exponent::Secret } else { Exponent::Operand };
        let spec = PowMod::new(OperandShape::each(base as u32), kind(operand), make(modulus));
        let first = if common { 1 } else { lanes };
        check(&spec, &bases, &powers[lanes - first..], &moduli[lanes - first..]);
    }
}

#[test]
fn at_many_lengths() {
    for bits in [1, 2, 31, 32, 33, 64, 65, 131, 239, 256, 257] {
        check_bits([bits, bits, bits], 33, false);
    }
    for bits in [[256, 7, 64], [64, 33, 191], [300, 1, 109], [1000, 40, 131], [31, 200, 31]] {
        check_bits(bits, 33, false);
    }
}

#[test]
fn by_groups() {
    check_bits([1024, 70, 1024], 9, false);
    check_bits([2100, 20, 1000], 9, false);
    check_bits([700, 33, 600], 9, true);
    check_bits([2048, 6, 2048], 5, false);
}

/// Residues of long blocks are read from memory row by row.
#[test]
fn by_long_blocks() {
    for (bits, layout) in [
        (1024, Layout { group: 1, length: 32, warps: 2, glue: Glue::Every(3) }),
        (700, Layout { group: 1, length: 22, warps: 2, glue: Glue::None }),
        (1344, Layout { group: 2, length: 21, warps: 2, glue: Glue::None }),
        (2016, Layout { group: 2, length: 32, warps: 1, glue: Glue::None }),
    ] {
        let lanes = 6;
        let moduli = odd_moduli(lanes, bits, 3);
        let l = OperandShape::each(bits as u32);
        let powers = exponents(lanes, 21);
        let exponent = OperandShape::each(21);
        for (base, kind) in [
            (bits, Exponent::Operand(exponent)),
            (bits, Exponent::Secret(exponent)),
            (bits - 40, Exponent::Operand(exponent)),
            (bits + 40, Exponent::Secret(exponent)),
        ] {
            let spec = PowMod { layout, ..PowMod::new(OperandShape::each(base as u32), kind, l) };
            check(&spec, &numbers(Pattern::Carry, lanes, base, 4), &powers, &moduli);
        }
        let spec = PowMod { layout, ..PowMod::new(l, Exponent::Public(65537), l) };
        check(&spec, &numbers(Pattern::Carry, lanes, bits, 4), &[BigUint::from(65537_u32)], &moduli);
    }
}

#[test]
fn secret_exponents() {
    for bits in [[64, 64, 64], [131, 131, 131], [255, 40, 255], [96, 33, 32]] {
        check_bits(bits, 33, true);
    }
}

#[test]
fn public_exponents() {
    for bits in [31, 64, 131, 256, 640] {
        let lanes = 20;
        let moduli = odd_moduli(lanes, bits, 3);
        for (exponent, base_bits) in [
            (0, bits),
            (1, bits),
            (2, bits),
            (3, 2 * bits),
            (65537, bits),
            (65537, bits + 40),
            (17, bits),
            (0b1_0110_1101, bits),
            (u32::MAX, bits),
        ] {
            let bases = numbers(Pattern::Carry, lanes, base_bits, 4);
            let modulus = OperandShape::each(bits as u32);
            let spec = PowMod::new(OperandShape::each(base_bits as u32), Exponent::Public(exponent), modulus);
            check(&spec, &bases, &[BigUint::from(exponent)], &moduli);
        }
    }
}

/// Even moduli and zero are the lane's own trouble.
#[test]
fn faults_stay_in_their_lanes() {
    for bits in [96, 1000] {
        let lanes = 12;
        let mut moduli = odd_moduli(lanes, bits, 3);
        moduli[1] = BigUint::ZERO;
        moduli[4] = BigUint::from(2_u32);
        moduli[5] = BigUint::from(1_u32) << (bits - 1);
        let l = OperandShape::each(bits as u32);
        let bases = numbers(Pattern::Carry, lanes, bits, 4);
        let powers = exponents(lanes, 40);
        let spec = PowMod::new(l, Exponent::Operand(OperandShape::each(40)), l);
        check(&spec, &bases, &powers, &moduli);
    }
}

/// What a secret must not show: the numbers of instructions, of branches and of accesses to memory.
#[test]
fn nothing_depends_on_secret_exponents() {
    let short = Layout { group: 2, length: 2, warps: 2, glue: Glue::None };
    for (bits, layout) in [(96, Layout::of(3)), (128, short), (1280, Layout { length: 20, ..short })] {
        let lanes = if bits < 1000 { 32 } else { 8 };
        let moduli = odd_moduli(lanes, bits, 3);
        let l = OperandShape::each(bits as u32);
        let count = |secret: bool, bases: &[BigUint], exponents: &[BigUint]| {
            let operand = OperandShape::each(64);
            let exponent = if secret { Exponent::Secret(operand) } else { Exponent::Operand(operand) };
            let spec = PowMod { layout, window: 4, ..PowMod::new(l, exponent, l) };
            check(&spec, bases, exponents, &moduli).counters
        };
        let bases = [numbers(Pattern::Random, lanes, bits, 1), vec![BigUint::ZERO; lanes]];
        let exponents =
            [numbers(Pattern::Random, lanes, 64, 2), vec![BigUint::ZERO; lanes], numbers(Pattern::Ones, lanes, 64, 2)];
        let first = count(true, &bases[0], &exponents[0]);
        for base in &bases {
            for exponent in &exponents {
                assert!(count(true, base, exponent) == first);
            }
        }
        // The other kernel's addresses do depend on the exponent.
        assert!(count(false, &bases[0], &exponents[0]) != count(false, &bases[0], &exponents[1]));
    }
}

/// Powers that others have published.
#[test]
fn known_answers() {
    let lines = include_str!("../data/rfc5114.txt").lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<Vec<BigUint>> = lines
        .map(|line| line.split(' ').map(|word| BigUint::parse_bytes(word.as_bytes(), 16).unwrap()).collect())
        .collect();
    let column = |i: usize| -> Vec<BigUint> { columns.iter().map(|row| row[i].clone()).collect() };
    let (wide, exponent) = (OperandShape::each(1024), OperandShape::each(160));
    for kind in [Exponent::Operand, Exponent::Secret] {
        let spec = PowMod::new(wide, kind(exponent), wide);
        let operands = [(wide, &column(0)[..]), (exponent, &column(1)), (wide, &column(2))];
        assert_eq!(run(&spec, &operands, &[32], columns.len()).results[0], column(3));
    }
}
