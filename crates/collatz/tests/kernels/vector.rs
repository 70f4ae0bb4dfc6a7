//! The look-ahead's bit vectors, made on the simulator, against the rules.

use crate::common::{Bench, dead, need};
use warpmp_collatz::kernels::vector::BitVector;

/// The vector of S steps for c of L steps; filtered by that of fewer steps, if there are any.
fn vector(bench: &mut Bench, steps: u32, odd: u32, done: u32, filter: Option<u32>) -> u64 {
    let spec = BitVector { steps };
    let needs: Vec<u32> = (done..=done + steps).map(need).collect();
    let needs = bench.words(&needs);
    let (filter, mask) = match filter {
        None => (bench.words(&[u32::MAX]), 0),
        Some(fewer) => (vector(bench, fewer, odd, done, None), BitVector { steps: fewer }.words() - 1),
    };
    let vector = bench.empty(spec.words() as usize);
    let power = 3_u64.pow(odd);
    bench.run(&spec.build(), spec.grid(), &[vector, filter, mask.into(), needs, odd.into(), power]);
    vector
}

#[test]
fn bits_are_those_of_the_rules() {
    for (steps, odd, done, filter) in [
        (5, 4, 6, None),
        (10, 0, 0, None),
        (12, 6, 9, None),
        (12, 7, 9, Some(8)),
        (11, 9, 9, Some(5)),
        (13, 22, 34, None),
        (13, 23, 34, Some(10)),
        (10, 24, 37, None),
    ] {
        let mut bench = Bench::new();
        let address = vector(&mut bench, steps, odd, done, filter);
        let words = bench.read(address, 1 << (steps - 5));
        let mut alive = 0;
        for i in 0..1_u64 << steps {
            let value = 3_u64.pow(odd).wrapping_mul(i) & ((1 << steps) - 1);
            let bit = words[i as usize / 32] >> (i % 32) & 1 == 1;
            assert_eq!(bit, !dead(value, steps, true, (odd, done)), "{steps} steps after {done}, {odd} odd: {value}");
            alive += u32::from(bit);
        }
        assert!(alive > 0 && alive < 1 << steps);
    }
}
