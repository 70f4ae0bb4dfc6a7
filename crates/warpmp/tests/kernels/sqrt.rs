//! Square roots on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::sqrt::Sqrt;
use warpmp_kernel::build::Glue;
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::numbers::{limbs, numbers, run_plain};

fn check(values: &[BigUint], bits: usize, layout: Option<Layout>) {
    let value = OperandShape::each(bits as u32);
    let mut spec = Sqrt::new(value);
    spec.layout = layout.unwrap_or(spec.layout);
    let half = bits.div_ceil(2);
    let outcome = run_plain(&spec, &[(value, values)], &[limbs(half), limbs(half + 1)], values.len());
    for (lane, a) in values.iter().enumerate() {
        let root = a.sqrt();
        assert_eq!(outcome.results[0][lane], root, "{} lane {lane}: {a:x}", spec.name());
        assert_eq!(outcome.results[1][lane], a - &root * &root, "{} lane {lane}: {a:x}", spec.name());
    }
}

/// Numbers of every length up to `bits`: carry-prone ones, squares, and one off; roots whose digits are all ones or zero.
fn values(bits: usize, lanes: usize) -> Vec<BigUint> {
    let one = BigUint::from(1_u32);
    let half = bits / 2;
    let patterns = [Pattern::Carry, Pattern::Runs, Pattern::Ones, Pattern::Edge, Pattern::Sparse];
    let roots: Vec<_> = patterns.iter().map(|&pattern| numbers(pattern, lanes, half.max(1), 3)).collect();
    let drawn: Vec<_> = patterns.iter().map(|&pattern| numbers(pattern, lanes, bits, 4)).collect();
    let limit = &one << bits;
    let value = |lane: usize| {
        let shift = if lane.is_multiple_of(3) { 0 } else { (lane * 37) % bits };
        let root = &roots[lane / 6 % 5][lane] >> (shift / 2);
        let square = &root * &root;
        match lane % 6 {
            0 => square,
            1 => square + &root + &root,
            2 if square > BigUint::ZERO => square - &one,
            3 => {
                let root: BigUint = ((&root + &one) << 32) - &one;
                &root * &root % &limit
            }
            _ => &drawn[lane % 5][lane] >> shift,
        }
    };
    let mut values: Vec<BigUint> = (0..lanes).map(value).map(|value| value % &limit).collect();
    let edges = [limit.clone() - &one, BigUint::ZERO, one.clone(), &one << (bits - 1)];
    for (value, edge) in values.iter_mut().zip(edges) {
        *value = edge;
    }
    values
}

fn layout(group: u32, length: u32) -> Layout {
    Layout { group, length, warps: 2.max(group / 32), glue: Glue::None }
}

#[test]
fn by_one_lane() {
    for bits in
        [1, 2, 3, 30, 31, 32, 33, 61, 62, 63, 64, 65, 66, 95, 96, 97, 126, 127, 128, 131, 190, 191, 256, 521, 1000]
    {
        check(&values(bits, 97), bits, None);
    }
    // With limbs to spare.
    check(&values(40, 64), 40, Some(layout(1, 4)));
}

#[test]
fn by_groups() {
    for bits in [1100, 2000, 2048, 3000, 4096] {
        check(&values(bits, 35), bits, None);
    }
    for (bits, group, length) in [(200, 2, 2), (500, 4, 2), (2100, 8, 5), (4000, 32, 2), (900, 32, 3)] {
        check(&values(bits, 70), bits, Some(layout(group, length)));
    }
}

/// Roots whose second digit's estimate is too large, by 1 and more: the least first digit, the largest second one.
#[test]
fn digits_that_are_corrected() {
    let one = BigUint::from(1_u32);
    let mut values = Vec::new();
    for first in [1_u32 << 30, (1 << 30) + 1, (1 << 31) - 1] {
        for second in [u32::MAX, u32::MAX - 1, 1 << 31, 1] {
            for low in [0, u32::MAX] {
                let root = (BigUint::from(first) << 64) + (BigUint::from(second) << 32) + low;
                values.extend([&root * &root, &root * &root - &one, &root * &root + &root + &root]);
            }
        }
    }
    check(&values, 190, None);
    check(&values, 190, Some(layout(2, 2)));
    check(&values.iter().map(|value| value << 1000).collect::<Vec<_>>(), 1190, Some(layout(8, 3)));
}
