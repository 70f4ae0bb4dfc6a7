//! `tensor` on the simulator: every number of tiles, unequal lengths, carries, and the counts that are its performance.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::products::{check, check_all, check_square, multiplication, shape, squaring};
use common::{PATTERNS, algorithm};
use warpmp::Operation;
use warpmp::kernels::{Settings, Spec};
use warpmp_kernel::ir::{Op, Space, Vector};
use warpmp_testkit::Pattern;

const NAME: &str = "tensor";

fn spec(bits: [usize; 2], settings: &Settings) -> Box<dyn Spec> {
    multiplication(NAME, shape(bits, false), settings, true)
}

fn usual(bits: usize) -> Box<dyn Spec> {
    spec([bits, bits], &Settings::default())
}

/// One warp a block, `products` products one after the other.
fn one_warp(products: u32) -> Settings {
    Settings { warps: Some(1), products: Some(products), ..Settings::default() }
}

#[test]
fn every_number_of_tiles() {
    for tiles in 1..=8 {
        for bits in [2048 * tiles, 2048 * tiles - 31, 2048 * (tiles - 1) + 1024] {
            check_all(NAME, [bits, bits], &one_warp(2), 3, &[Pattern::Carry, Pattern::Ones]);
        }
    }
}

#[test]
fn carries() {
    for bits in [1024, 2048, 3000, 4096, 6144] {
        for pattern in PATTERNS.into_iter().chain([Pattern::Random, Pattern::Runs, Pattern::Sparse]) {
            check(&*usual(bits), shape([bits, bits], false), 20, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [[1, 1024], [32, 2048], [1000, 4100], [2048, 4096], [4096, 2048], [255, 16384], [9000, 10000]] {
        check_all(NAME, bits, &Settings::default(), 2, &PATTERNS);
    }
}
