//! Montgomery products, reductions and conversions on the simulator, against num-bigint.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod modular_common;

use modular_common::{below, limbs, numbers, odd_moduli, run};
use num_bigint::BigUint;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::product::{Function, MontgomeryProduct};
use warpmp::kernels::modular::{Layout, Operand};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Half, Int, Op};
use warpmp_kernel::sim::Pipe;
use warpmp_testkit::Pattern;

/// `x/R mod m` with `R = 2^(32·limbs)`.
fn over_r(x: &BigUint, m: &BigUint, limbs: u32) -> BigUint {
    if *m == BigUint::from(1_u32) {
        return BigUint::from(0_u32);
    }
    let r = BigUint::from(1_u32) << (32 * limbs as usize);
    x * r.modinv(m).unwrap() % m
}

/// Every function at these bits, with moduli a lane and with a common one.
fn check(bits: usize, lanes: usize, layout: Layout, functions: &[Function]) {
    let l = limbs(bits);
    let r = BigUint::from(1_u32) << (32 * l as usize);
    for common in [false, true] {
        let mut moduli = odd_moduli(lanes, bits, 5);
        if common {
            moduli = vec![moduli[bits % moduli.len()].clone(); lanes];
        }
        let (a, c) = (below(&moduli, bits, 1), below(&moduli, bits, 2));
        let product: Vec<BigUint> = match bits % 3 {
            0 => moduli.iter().map(|m| m * &r - 1_u32).collect(),
            _ => a.iter().zip(&numbers(Pattern::Carry, lanes, 32 * l as usize, 3)).map(|(a, low)| a * &r + low).collect(),
        };
        let own = if common { Operand::common(l) } else { Operand::each(l) };
        let modulus = if common { &moduli[..1] } else { &moduli };
        for &function in functions {
            let mut operands = vec![(Operand::each(l), &a[..])];
            if function == Function::Redc {
                operands = vec![(Operand::each(2 * l), &product[..])];
            }
            if function == Function::Mul {
                operands.push((Operand::each(l), &c));
            }
            operands.push((own, modulus));
            let shapes = operands.iter().map(|operand| operand.0).collect();
            let spec = MontgomeryProduct { function, operands: shapes, layout, chain: 1 };
            let outcome = run(&spec, &operands, &[l], lanes);
            for lane in 0..lanes {
                let (a, c, m) = (&a[lane], &c[lane], &moduli[lane]);
                let expected = match function {
                    Function::Mul => over_r(&(a * c), m, l),
                    Function::Sqr => over_r(&(a * a), m, l),
                    Function::Redc => over_r(&product[lane], m, l),
                    Function::To => a * &r % m,
                    Function::From => over_r(a, m, l),
                };
                assert_eq!(outcome.results[0][lane], expected, "{} lane {lane} m = {m:x}", spec.name());
                assert_eq!(outcome.statuses[lane], 0, "{} lane {lane}", spec.name());
            }
        }
    }
}

fn layout(group: u32, length: u32) -> Layout {
    Layout { group, length, warps: 2, glue: Glue::None }
}

#[test]
fn by_one_lane_at_every_length() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 384, 511, 512] {
        check(bits, 40, Layout::of(limbs(bits)), &Function::ALL);
    }
    for bits in [521, 1000, 1024] {
        check(bits, 33, layout(1, limbs(bits)), &[Function::Mul, Function::Redc]);
    }
}

#[test]
fn by_groups() {
    for bits in [521, 1000, 1024, 1025] {
        check(bits, 17, Layout::of(limbs(bits)), &Function::ALL);
    }
    for (bits, group, length) in [(64, 2, 1), (96, 2, 2), (256, 8, 1), (255, 4, 2), (640, 8, 3), (300, 4, 3), (500, 32, 1)] {
        check(bits, 33, layout(group, length), &Function::ALL);
    }
    check(2048, 9, Layout::of(64), &[Function::Mul, Function::From]);
    check(3000, 9, Layout::of(94), &[Function::Mul, Function::Redc]);
    check(4096, 9, Layout::of(128), &[Function::Mul]);
}
