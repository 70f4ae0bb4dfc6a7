//! Products above 65536 bits: the transform in four steps.

use warpmp::kernels::fft::large::Large;
use warpmp::kernels::{OperandShape, OperationShape, Spec};

use super::{Errors, Known, linear, roots, together};

/// The numbers of the kernels that compute with doubles. The next one only carries.
fn transforms(large: &Large) -> std::ops::Range<usize> {
    let carries = |name: &str| ["_words", "_finish"].iter().any(|end| name.ends_with(end));
    let stages = 0..large.stages().len();
    0..stages.take_while(|&stage| !carries(&large.build(stage).name)).count()
}

/// Products of every length that the plan may choose.
fn all() -> Vec<Large> {
    let mut all: Vec<Large> = Vec::new();
    let mut bits = 65537;
    while bits <= 1 << 24 {
        let operand = OperandShape::each(bits);
        let large = Large::new(OperationShape::product(operand, operand)).unwrap();
        // The next length is one digit longer than this one allows.
        bits = large.digits() * large.digit_bits() + 32;
        all.push(large);
    }
    all
}

/// Products modulo `Bᴺ + 1` whose longer factor has complex coefficients, in three, five and nine parts.
fn complex() -> Vec<Large> {
    let of = |[a, b, least]: [u32; 3]| Large::modulo(OperandShape::each(32 * a), OperandShape::each(32 * b), least);
    [[16_384, 8196, 16_392], [32_768, 16_385, 32_776], [50_000, 49_000, 60_000]].map(|it| of(it).unwrap()).into()
}

/// Some threads of every kernel, in the first, a middle and the last block: their passes are within the errors that the plan
/// assumes.
#[test]
fn passes_of_long_products_are_within_their_bounds() {
    let all = all();
    assert!(all.len() > 12, "{}", all.len());
    for large in all.iter().chain(&complex()) {
        let passes = linear(large.passes());
        let known = Known::default();
        let mut errors = Errors::new(&known);
        for stage in transforms(large) {
            let kernel = large.build(stage);
            let grid = large.grid(stage, 1);
            for block in [0, grid.blocks / 3, grid.blocks - 1] {
                for thread in [0, grid.threads / 2 + 1, grid.threads - 1] {
                    errors.follow(&passes, large.digits(), &kernel, [block, thread], 1.0);
                }
            }
        }
        let errors = errors.by_section;
        for pass in &passes {
            let error = errors[pass.section];
            assert!(error <= pass.error, "{}: {error} u in {pass:?}", large.name());
            // The errors of single products depend on the root, and few roots are followed.
            let tight = pass.radix == 1 || error >= 0.7 * pass.error;
            assert!(tight, "{}: {error} u in {pass:?}", large.name());
        }
        let digit = f64::from(1_u32 << (large.digit_bits() - 1));
        let composed = (f64::from(large.most_digits()) + 3.0) * digit * digit * together(&passes, &errors);
        assert!(composed <= large.bound() && large.bound() < 0.5, "{}: {composed}", large.name());
    }
}

#[test]
fn wrong_roots_of_long_products_are_refused() {
    let large = all().remove(0);
    let passes = linear(large.passes());
    let known = Known::default();
    let mut errors = Errors::new(&known);
    for stage in transforms(&large) {
        errors.follow(&passes, large.digits(), &large.build(stage), [1, 1], 64.0);
    }
    assert!(passes.iter().any(|pass| errors.by_section[pass.section] > pass.error));
}

#[test]
fn every_root_of_a_long_product_is_the_nearest_double() {
    for large in all().iter().take(3) {
        for stage in transforms(large) {
            roots::check(&large.roots(stage), &large.build(stage).table).unwrap();
        }
    }
}
