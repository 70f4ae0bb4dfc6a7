//! What a transform takes in besides the factors: the signs of two's complements, and an addend.

use num_bigint::BigUint;
use warpmp::kernels::{Abilities, OperationShape, Settings, Spec};
use warpmp::{Operation, Shape};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::algorithm;
use warpmp_testkit::kernels::numbers::run_plain;
use warpmp_testkit::kernels::operations::check_with;

use super::lanes;

/// Blocks have the longest products.
fn blocks() -> Settings {
    Settings { levels: Some(1), ..Settings::default() }
}

/// Factors of whole limbs for every division, at its end and somewhere before.
const BITS: [usize; 19] = [
    16_416, 24_544, 24_576, 24_608, 32_768, 47_136, 49_152, 60_000, 65_536, 90_016, 98_304, 120_000, 131_072, 162_016,
    163_840, 180_000, 190_048, 196_576, 196_608,
];

/// Factors around transforms.
const AROUND: [usize; 7] = [36_864, 51_200, 73_728, 106_496, 147_456, 167_936, 204_800];

fn spec(operation: Operation, name: &str, bits: usize) -> Box<dyn Spec> {
    let shapes = vec![Shape::new(2, bits); operation.arity()];
    let shape = OperationShape::new(operation, &shapes).unwrap();
    algorithm(operation, name).spec(shape, &blocks(), Abilities::of(90)).unwrap()
}

/// There are as many launches as of the product alone.
#[test]
fn launches() {
    let products = [(&BITS[..], "fft"), (&AROUND[..], "fft-wraparound")];
    for (bits, name) in products.into_iter().flat_map(|(lengths, name)| lengths.iter().map(move |bits| (*bits, name))) {
        for operation in [Operation::SignedMul, Operation::MulAdd] {
            let [product, found] =
                [(Operation::Mul, name), (operation, "long")].map(|(it, name)| spec(it, name, bits).stages().len());
            assert_eq!(found, product, "{operation}, {bits} bits");
        }
    }
}

/// Signs cost a few instructions, an addend its row and two sums a word.
#[test]
fn costs() {
    for bits in [32_768, 65_536, 131_072] {
        // Levels of a short product by `fft` ask for more parts.
        let settings = if bits > 65_536 { blocks() } else { Settings::default() };
        let count = |operation: Operation, name| {
            let (widths, lanes) = (vec![bits; operation.arity()], vec![1; operation.arity()]);
            let counters = check_with(operation, name, &settings, &widths, &lanes, Pattern::Random);
            [counters.instructions().warps, counters.load_sectors(), counters.store_sectors()]
        };
        let product = count(Operation::Mul, "fft");
        let signed = count(Operation::SignedMul, "long");
        let sum = count(Operation::MulAdd, "long");
        assert_eq!(signed[1..], product[1..], "{bits} bits");
        assert_eq!(sum[1..], [product[1] + bits as u64 / 256, product[2]], "{bits} bits");
        assert!(
            100 * signed[0] < 101 * product[0] && 100 * sum[0] < 102 * product[0],
            "{product:?} {signed:?} {sum:?}"
        );
    }
}

#[test]
fn signs_and_addends() {
    for bits in BITS.into_iter().chain(AROUND) {
        for operation in [Operation::SignedMul, Operation::MulAdd] {
            for pattern in [Pattern::Ones, Pattern::Carry, Pattern::Edge] {
                // Edges are five numbers, lane after lane.
                let others = if pattern == Pattern::Edge { 5 } else { 2 };
                let (count, lanes) = (operation.arity(), lanes(pattern, others));
                check_with(operation, "long", &blocks(), &vec![bits; count], &vec![lanes; count], pattern);
            }
        }
    }
}

/// Short addends, factors of unequal lengths and of bits that are no whole limbs, and operands for all lanes. A result may have a limb less than both factors, and a
/// product of 200001 bits has none of a block then.
#[test]
fn other_addends() {
    for (bits, lanes) in [
        ([40_000, 30_000, 33], [2, 2, 2]),
        ([49_000, 49_152, 49_100], [2, 1, 2]),
        ([50_001, 49_999, 49_990], [2, 2, 1]),
        ([65_536, 40_000, 65_500], [2, 2, 2]),
        ([73_728, 73_000, 1], [2, 2, 2]),
        ([81_920, 81_920, 20_000], [2, 1, 1]),
        ([131_072, 131_072, 70_000], [2, 2, 2]),
        ([147_456, 140_000, 147_456], [2, 2, 1]),
        ([196_000, 180_000, 100_001], [2, 1, 2]),
        ([40_001, 40_001, 40_001], [2, 2, 2]),
        ([150_001, 150_001, 150_001], [2, 2, 2]),
        ([200_001, 200_001, 200_001], [2, 2, 2]),
        ([229_300, 200_005, 10], [2, 2, 2]),
    ] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check_with(Operation::MulAdd, "long", &blocks(), &bits, &lanes, pattern);
        }
    }
}

/// A factor for all lanes, and factors that take another way: of unequal lengths, and of bits that are no whole limbs.
#[test]
fn other_signs() {
    for (bits, lanes) in [
        ([40_960, 40_960], [2, 1]),
        ([65_536, 65_536], [1, 2]),
        ([131_072, 131_072], [2, 1]),
        ([50_001, 50_001], [2, 2]),
        ([65_536, 40_000], [2, 2]),
    ] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check_with(Operation::SignedMul, "long", &blocks(), &bits, &lanes, pattern);
        }
    }
}

/// Factors with every sign whose digits are zeros, ones or 8000₁₆ below the highest one. The numbers 0 and −1 have the same digits but for the sign's word.
#[test]
fn every_sign() {
    for bits in BITS.into_iter().chain(AROUND) {
        let count = bits / 32;
        let mut factors = Vec::new();
        for word in [0, u32::MAX, 0x8000_8000, 0x7FFF_8000] {
            for top in [0, 1, 0x7FFF, 0x8000, 0x7FFF_FFFF, 0x8000_0000, 0x8000_7FFF, 0xFFFF_8000, 0xFFFF_FFFF] {
                let mut words = vec![word; count];
                words[count - 1] = top;
                factors.push(BigUint::new(words));
            }
        }
        // Each factor meets itself and the next ones in turn.
        let distance = bits / 64 % 7;
        let others: Vec<BigUint> =
            (0..factors.len()).map(|i| factors[(i + distance) % factors.len()].clone()).collect();
        let all = BigUint::from(1_u32) << bits;
        let half = &all >> 1;
        // −x is the complement for a negative x.
        let magnitude = |x: &BigUint| if *x >= half { (true, &all - x) } else { (false, x.clone()) };
        let shapes = [Shape::new(factors.len(), bits); 2];
        let shape = OperationShape::new(Operation::SignedMul, &shapes).unwrap();
        let [a, b] = [0, 1].map(|i| shape.operands()[i]);
        let (operands, limbs) = ([(a, &factors[..]), (b, &others[..])], [2 * count as u32]);
        let found = run_plain(&*spec(Operation::SignedMul, "long", bits), &operands, &limbs, factors.len());
        for (lane, (x, y)) in factors.iter().zip(&others).enumerate() {
            let [(s, x), (t, y)] = [x, y].map(magnitude);
            let product = x * y;
            let expected = if s != t && product != BigUint::ZERO { (&all * &all) - product } else { product };
            assert_eq!(found.results[0][lane], expected, "{bits} bits, lane {lane}");
        }
    }
}
