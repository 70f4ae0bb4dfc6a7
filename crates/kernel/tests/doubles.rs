//! Doubles from the builder to the simulator: an exact product in two doubles, as a convolution uses it.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![allow(clippy::float_cmp, reason = "the results are exact")]

use num_bigint::BigInt;
use warpmp_kernel::build::{Builder, Emit, Glue};
use warpmp_kernel::ir::{Cmp, Space, Special, Vector};
use warpmp_kernel::sim::{Grid, Memory, Pipe, Program};

/// `out[i] = {high, low, sum, nearest integer}` of the pair `in[i] = {a, b}`; the pairs travel through shared memory.
fn kernel() -> String {
    let mut b = Builder::new("exact_product", Glue::None);
    let [input, output] = ["input", "output"].map(|name| b.param_u64(name));
    let lane = b.special(Special::Tid);
    let shared = b.shared_base();
    let own = b.mad_lo(lane, 16, shared);
    let source = b.mad_wide(lane, 16, input);
    let target = b.mad_wide(lane, 32, output);
    let pair = b.load_f64(Space::GlobalConst, Vector::V2, source, 0);
    b.store_f64(Space::Shared, &pair, own, 0);
    let [x, y] = [0, 8].map(|offset| b.load_f64(Space::Shared, Vector::V1, own, offset)[0]);
    let high = b.mul_f64(x, y);
    let minus = b.neg_f64(high);
    let low = b.fma(x, y, minus);
    let sum = b.add_f64(x, y);
    let difference = b.sub_f64(sum, 0.5);
    let rounded = b.f64_to_s64(difference);
    let back = b.s64_to_f64(rounded);
    let small = b.compare_f64(Cmp::Lt, back, 0.0);
    let nearest = b.select_f64(0.0, back, small);
    b.store_f64(Space::Global, &[high, low], target, 0);
    b.store_f64(Space::GlobalStream, &[sum, nearest], target, 16);
    b.finish().to_string()
}

#[test]
fn a_product_in_two_doubles_is_exact() {
    let cases: Vec<[f64; 2]> = (0..32_u32)
        .map(|i| {
            let odd = f64::from(i) * 274_877_906_943.0 + 1.0;
            [odd * if i % 3 == 0 { -1.0 } else { 1.0 }, 9_007_199_254_740_991.0 - f64::from(7 * i)]
        })
        .collect();
    let words = |value: f64| [value.to_bits() as u32, (value.to_bits() >> 32) as u32];
    let mut memory = Memory::new(1 << 20);
    let [input, output] = [16 * 32, 32 * 32].map(|bytes| memory.alloc(bytes).unwrap());
    memory.write(input, &cases.iter().flatten().flat_map(|&value| words(value)).collect::<Vec<_>>()).unwrap();
    let program = Program::parse(&kernel()).unwrap();
    let grid = Grid { blocks: 1, threads: 32, shared_bytes: 16 * 32 };
    let counters = program.launch(grid, &[input, output], &mut memory).unwrap();
    // Product, negation, fused product, sum, difference, two conversions; comparison and selection are no doubles' work.
    assert_eq!(counters.pipe(Pipe::Fp64).warps, 7);
    let mut results = vec![0; 8 * 32];
    memory.read(output, &mut results).unwrap();
    for ([a, b], words) in cases.into_iter().zip(results.chunks(8)) {
        let double = |i: usize| f64::from_bits(u64::from(words[2 * i + 1]) << 32 | u64::from(words[2 * i]));
        let exact = BigInt::from(a as i64) * BigInt::from(b as i64);
        assert_eq!(BigInt::from(double(0) as i128) + BigInt::from(double(1) as i128), exact, "{a} · {b}");
        assert_eq!(double(2), a + b);
        assert_eq!(double(3), (a + b - 0.5).round_ties_even().max(0.0));
    }
}

#[test]
fn every_instruction_of_the_text_is_a_double_s() {
    let text = kernel();
    for line in [
        "ld.global.nc.v2.f64 {%fd0, %fd1}",
        "st.shared.v2.f64",
        "ld.shared.f64 %fd2",
        "mul.rn.f64 %fd4, %fd2, %fd3;",
        "neg.f64 %fd5, %fd4;",
        "fma.rn.f64 %fd6, %fd2, %fd3, %fd5;",
        "sub.rn.f64 %fd8, %fd7, 0d3FE0000000000000;",
        "cvt.rni.s64.f64",
        "cvt.rn.f64.s64",
        "setp.lt.f64",
        "st.global.cs.v2.f64",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
