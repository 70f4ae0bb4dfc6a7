//! `fft` with digits of 17 and 18 bits: every division, its last operands, numbers with the greatest coefficients, signs and addends, and the counts that are its
//! performance.

use num_bigint::{BigInt, BigUint};
use warpmp::kernels::fft::Fft;
use warpmp::kernels::{FftSettings, OperandShape, OperationShape, Settings};
use warpmp::{Operation, Plan, Shape, device, tuning};
use warpmp_kernel::ir::{Op, Pipe};
use warpmp_testkit::Pattern;
use warpmp_testkit::kernels::operations::check_with;
use warpmp_testkit::kernels::products::{check, check_square, check_squares, multiplication, shape, squaring};

use super::lanes;

const NAME: &str = "fft";

/// Of each division: digits, their bits, the bits of its longest factors, and levels.
const DIVISIONS: [(u32, u32, usize, Option<u32>); 14] = [
    (512, 17, 8704, None),
    (512, 18, 9216, None),
    (1024, 17, 17408, None),
    (1024, 18, 18432, None),
    (1024, 17, 17408, Some(1)),
    (1024, 18, 18432, Some(1)),
    (1536, 17, 26112, None),
    (1536, 18, 27648, None),
    (2048, 17, 34816, None),
    (2048, 18, 36768, None),
    (2048, 17, 34816, Some(1)),
    (2048, 18, 36768, Some(1)),
    (3072, 17, 52224, None),
    (4096, 17, 69632, Some(1)),
];

fn settings(levels: Option<u32>) -> Settings {
    Settings { levels, ..Settings::default() }
}

fn transform(bits: usize, levels: Option<u32>) -> Fft {
    let operand = OperandShape::each(bits as u32);
    Fft::new(OperationShape::product(operand, operand), &FftSettings { levels })
}

/// The first and the last lengths of a division. Above the last one of 18 bits and 2048 digits a pair of coefficients has no room in two words.
#[test]
fn divisions() {
    for (digits, digit_bits, bits, levels) in DIVISIONS {
        let found = |bits| {
            let fft = transform(bits, levels);
            (fft.digits(), fft.digit_bits())
        };
        let first = digits as usize * (digit_bits as usize - 1) + 32;
        for bits in [first, bits] {
            assert_eq!(found(bits), (digits, digit_bits), "{bits} bits");
        }
        assert_ne!(found(bits + 32), (digits, digit_bits), "{bits} bits");
    }
}

#[test]
fn every_division() {
    for (digits, digit_bits, bits, levels) in DIVISIONS {
        let first = digits as usize * (digit_bits as usize - 1) + 1;
        for (bits, pattern) in [first, bits - 40, bits]
            .into_iter()
            .flat_map(|bits| [Pattern::Ones, Pattern::Carry, Pattern::Random].map(|pattern| (bits, pattern)))
        {
            let lanes = lanes(pattern, 2);
            let spec = multiplication(NAME, shape([bits, bits], false), &settings(levels), true);
            check(&*spec, shape([bits, bits], false), lanes, pattern);
            check_square(&*squaring(NAME, bits, &settings(levels)), bits, lanes, pattern);
        }
    }
}

#[test]
fn unequal_lengths() {
    for bits in [
        [8704, 1],
        [27648, 2],
        [2, 27648],
        [2, 18432],
        [9216, 32],
        [9200, 4100],
        [18432, 1000],
        [2048, 17408],
        [27648, 20000],
        [30, 36768],
        [52224, 49152],
    ] {
        for (common, pattern) in [(false, Pattern::Ones), (false, Pattern::Carry), (true, Pattern::Carry)] {
            let shape = shape(bits, common);
            check(&*multiplication(NAME, shape, &Settings::default(), true), shape, 1, pattern);
        }
    }
}

/// The words of a number with these balanced digits, the lowest one first.
fn number(digits: impl DoubleEndedIterator<Item = i64>, digit_bits: u32, bits: usize) -> Vec<u32> {
    let sum = digits.rev().fold(BigInt::ZERO, |sum, digit| (sum << digit_bits) + digit);
    let modulus = BigInt::from(1) << bits;
    let sum: BigUint = (((sum % &modulus) + &modulus) % &modulus).try_into().unwrap();
    let mut words = sum.to_u32_digits();
    words.resize(bits / 32, 0);
    words
}

/// Digits as great as can be, all with the same sign or with signs that follow a root of unity: the greatest coefficients, and transforms whose coefficients are as large as possible.
#[test]
fn operands_with_the_greatest_digits() {
    for (digits, digit_bits, bits, levels) in
        [(512, 18, 9216, None), (1024, 18, 18432, None), (2048, 18, 36768, None), (1536, 17, 26112, None)]
    {
        let [least, greatest] = [1 - (1_i64 << (digit_bits - 1)), (1_i64 << (digit_bits - 1)) - 1];
        let spec = squaring(NAME, bits, &settings(levels));
        for digit in [least, greatest] {
            check_squares(&*spec, bits, &number((0..digits).map(|_| digit), digit_bits, bits));
        }
        for frequency in [0, 1, digits / 3, digits / 2, digits - 1] {
            let digit = |j: u32| {
                let turns = f64::from(j * (4 * frequency + 1)) / f64::from(4 * digits);
                if (std::f64::consts::TAU * turns).cos() > 0.0 { greatest } else { least }
            };
            check_squares(&*spec, bits, &number((0..digits).map(digit), digit_bits, bits));
        }
    }
}

/// A digit with a sign may end anywhere in the last word of a two's complement, and an addend anywhere in a number of the result.
#[test]
fn signs_and_addends() {
    let blocks = Settings { levels: Some(1), ..Settings::default() };
    for bits in [17_408, 18_400, 18_432, 26_144, 36_768, 36_800, 69_600, 69_632] {
        for (operation, pattern) in [Operation::SignedMul, Operation::MulAdd]
            .into_iter()
            .flat_map(|operation| [Pattern::Ones, Pattern::Carry, Pattern::Edge].map(|pattern| (operation, pattern)))
        {
            let (count, lanes) = (operation.arity(), lanes(pattern, 5));
            check_with(operation, "long", &blocks, &vec![bits; count], &vec![lanes; count], pattern);
        }
    }
    for bits in [[18_000, 17_000, 33], [18_432, 16_000, 17_001], [36_768, 36_000, 36_768]] {
        for pattern in [Pattern::Ones, Pattern::Carry] {
            check_with(Operation::MulAdd, "long", &Settings::default(), &bits, &[2, 2, 1], pattern);
        }
    }
}

/// Operations on doubles that are rounded are those of digits of 16 bits. A digit takes one more load; a number of the result a shuffle, and a store for its part of
/// the words between.
#[test]
fn costs() {
    let cases = [
        (18432, 16384, 5028, 1109),
        (27648, 24576, 8736, 1653),
        (36768, 32768, 10440, 2213),
        (52224, 49152, 17838, 3285),
    ];
    for (bits, of_halves, instructions, wavefronts) in cases {
        let lanes = 2;
        let count =
            |bits: usize| check_square(&*squaring(NAME, bits, &Settings::default()), bits, lanes, Pattern::Random);
        let [wide, halves] = [bits, of_halves].map(count);
        let rounded = [&wide, &halves].map(|it| it.pipe(Pipe::Fp64).warps - it.op(Op::NegF64).warps);
        assert_eq!(rounded[0], rounded[1], "{bits} bits");
        let found = [wide.instructions().warps, wide.shared_wavefronts()].map(|count| count / lanes as u64);
        assert_eq!(found, [instructions, wavefronts], "{bits} bits");
        assert_eq!(wide.bank_conflicts(), 0, "{bits} bits");
    }
}

/// Carries run in constant time.
#[test]
fn counts_do_not_depend_on_data() {
    let count = |pattern| check_square(&*squaring(NAME, 18432, &Settings::default()), 18432, 2, pattern);
    let ones = count(Pattern::Ones).instructions();
    for pattern in [Pattern::Random, Pattern::OneHot, Pattern::Carry] {
        assert_eq!(count(pattern).instructions(), ones, "{pattern:?}");
    }
}

#[test]
fn the_plan_tells_the_digits() {
    let device = device::open_sim_with(&device::SimConfig::default());
    let plan =
        Plan::new(Operation::Sqr, &[Shape::new(64, 18432)], device.info(), &tuning::shipped(90), Some(NAME)).unwrap();
    let explained = plan.explain();
    assert!(explained.contains("1024 balanced ones of 18 bits a factor, as 1 × 1024 complex points"), "{explained}");
}
