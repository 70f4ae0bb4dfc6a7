//! Integers modulo a prime in registers, against num-bigint, with every instruction set of this processor.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use num_bigint::BigUint;
use warpmp_simd::field::{self, Field, Number};
use warpmp_simd::{Avx2, Ifma, Simd};

use common::{Random, number, slices};

/// Primes of 32 to 256 bits: with long runs of ones and of zeros, and others.
fn primes() -> Vec<BigUint> {
    let one = || BigUint::from(1_u32);
    let power = |bits: u32| one() << bits;
    vec![
        power(32) - 5_u32,
        power(61) - 1_u32,
        power(64) - 59_u32,
        power(89) - 1_u32,
        power(96) - 17_u32,
        power(107) - 1_u32,
        (power(128) - 3_u32) / 76439_u32,
        power(127) - 1_u32,
        power(191) - 19_u32,
        power(224) - power(96) + 1_u32,
        power(255) - 19_u32,
        power(256) - power(32) - 977_u32,
    ]
}

/// Calls a function for the field of a prime, whose number of digits it takes as a constant.
macro_rules! with_field {
    ($s:expr, $set:ty, $p:expr, $check:ident, $($n:literal)*) => {
        match field::digits::<$set>($p.bits() as usize) {
            $($n => $check::<$set, $n>($s, $p),)*
            n => panic!("{n} digits"),
        }
    };
}

#[test]
fn ifma() {
    let Some(s) = Ifma::detect() else {
        eprintln!("skipped: no AVX-512 IFMA");
        return;
    };
    for p in &primes() {
        with_field!(s, Ifma, p, check, 1 2 3 4 5);
    }
}

#[test]
fn avx2() {
    let Some(s) = Avx2::detect() else {
        eprintln!("skipped: no AVX2");
        return;
    };
    for p in &primes() {
        with_field!(s, Avx2, p, check, 2 3 4 5 6 7 8 9 10);
    }
}

/// All operations on residues near 0, near `p` and between, every lane beside the oracle.
fn check<S: Simd, const N: usize>(s: S, p: &BigUint) {
    let limbs = p.to_u32_digits();
    let field = Field::<S, N>::new(s, &limbs).unwrap();
    let mut random = Random(p.bits());
    let value = |random: &mut Random| match random.word() % 8 {
        0 => BigUint::default(),
        1 => BigUint::from(1_u32),
        2 => p - 1_u32,
        3 => (p - 1_u32) / 2_u32,
        _ => number(&random.row(limbs.len())) % p,
    };
    for _ in 0..60 {
        let [x, y]: [Vec<BigUint>; 2] = std::array::from_fn(|_| (0..8).map(|_| value(&mut random)).collect());
        let load = |numbers: &[BigUint]| {
            let rows: Vec<Vec<u32>> = numbers.iter().map(BigUint::to_u32_digits).collect();
            field.load(&slices(&rows))
        };
        let (a, b) = (load(&x), load(&y));
        let expect = |name: &str, found: Vec<BigUint>, oracle: &dyn Fn(&BigUint, &BigUint) -> BigUint| {
            for (lane, found) in found.iter().enumerate() {
                let expected = oracle(&x[lane], &y[lane]) % p;
                assert_eq!(*found, expected, "{name} modulo {p}: {} and {}", x[lane], y[lane]);
            }
        };
        expect("load", values(&field, a), &|x, _| x.clone());
        expect("product", values(&field, field.mul(a, b)), &|x, y| x * y);
        expect("square", values(&field, field.square(a)), &|x, _| x * x);
        // The largest bounds: (2p + 2p)·(2p + 2p), of lazy numbers.
        let (wide_a, wide_b): (Number<S, N, 2>, Number<S, N, 2>) = (field.add(a, a), field.sub(b, a));
        let sum: Number<S, N, 4> = field.add(wide_a, wide_b);
        let difference: Number<S, N, 4> = field.sub(wide_b, wide_a);
        expect("sum", values(&field, sum), &|x, y| x + y);
        expect("difference", values(&field, difference), &|x, y| y + p + p + p - x - x - x);
        expect("lazy product", values(&field, field.mul(sum, difference)), &|x, y| {
            (x + y) * (y + p * 3_u32 - x * 3_u32)
        });
        expect("lazy square", values(&field, field.square(difference)), &|x, y| (y + p * 3_u32 - x * 3_u32).pow(2));
        let most: Number<S, N, 16> = field.add::<8, 8, 16>(field.add(sum, sum), field.add(difference, difference));
        expect("canonical", values(&field, most), &|x, y| y * 4_u32 + p * 4_u32 - x * 4_u32);
        let reduced: Number<S, N, 2> = field.reduce(sum);
        expect("reduced", values(&field, reduced), &|x, y| x + y);
        assert_bound(&field, reduced, p);
        assert_bound(&field, sum, p);
        assert_bound(&field, difference, p);
        assert_bound(&field, field.mul(sum, difference), p);
        assert_bound(&field, field.canonical(most), p);
        let lanes = random.word() as u8;
        let negated: Number<S, N, 2> = field.negate_where(s.mask(lanes), a);
        let chosen = field.select(s.mask(lanes), a, b);
        for (lane, (negated, chosen)) in values(&field, negated).iter().zip(values(&field, chosen)).enumerate() {
            let set = lanes >> lane & 1 == 1;
            assert_eq!(*negated, if set { (p - &x[lane]) % p } else { x[lane].clone() });
            assert_eq!(chosen, if set { x[lane].clone() } else { y[lane].clone() });
        }
        let (even, flipped) = field.make_even(a);
        assert_bound(&field, even, p);
        for (lane, even_value) in values(&field, even).iter().enumerate() {
            assert_eq!(s.to_words(even.digits()[0])[lane] & 1, 0);
            let set = s.lanes(flipped) >> lane & 1 == 1;
            assert_eq!(*even_value, if set { (p - &x[lane]) % p } else { x[lane].clone() });
        }
        // A digit 2^(DIGIT_BITS − i) divides by 2^i.
        let raised = Number::<S, N, 1>::from_digits(*a.digits());
        for i in [1, 5, S::DIGIT_BITS] {
            let divided = field.mul_digit(field.add(raised, b), s.splat(1 << (S::DIGIT_BITS - i)));
            assert_bound(&field, divided, p);
            let inverse = (BigUint::from(1_u32) << i).modinv(p).unwrap();
            expect("divided", values(&field, divided), &|x, y| (x + y) * &inverse);
        }
        let below = s.lanes(field.below(a, b));
        let digits = common::numbers(s, a.digits()).into_iter().zip(common::numbers(s, b.digits()));
        for (lane, (a, b)) in digits.enumerate() {
            assert_eq!(below >> lane & 1 == 1, a < b);
        }
        let equal = s.lanes(field.equal(a, b));
        let same = field.canonical(field.sub::<2, 1, 3>(field.add(a, b), b));
        assert_eq!(s.lanes(field.equal(a, same)).trailing_ones() as usize, S::LANES.min(8));
        for lane in 0..S::LANES {
            assert_eq!(equal >> lane & 1 == 1, x[lane] == y[lane]);
        }
    }
    inverses(&field, &mut random, p);
}

/// Powers, single inverses and inverses of many numbers, with and without a zero among them.
fn inverses<S: Simd, const N: usize>(field: &Field<S, N>, random: &mut Random, p: &BigUint) {
    let limbs = p.to_u32_digits().len();
    let mut scratch = Vec::new();
    for count in [1, 2, 17] {
        // Not reduced, but below R.
        let row = |random: &mut Random| (number(&random.row(limbs)) % (p * 16_u32)).to_u32_digits();
        let rows: Vec<Vec<Vec<u32>>> = (0..count).map(|_| (0..8).map(|_| row(random)).collect()).collect();
        let mut all: Vec<Number<S, N, 2>> = rows.iter().map(|rows| field.load(&slices(rows)).widen()).collect();
        let single = values(field, field.invert(all[0]));
        let power = values(field, field.pow(all[0], &[0x8000_0001, 5]));
        let zeros = field.invert_all(&mut all, &mut scratch);
        for lane in 0..S::LANES {
            let numbers: Vec<BigUint> = rows.iter().map(|rows| number(&rows[lane]) % p).collect();
            assert_eq!(power[lane], numbers[0].modpow(&((BigUint::from(5_u32) << 32) + 0x8000_0001_u32), p));
            assert_eq!(single[lane], numbers[0].modpow(&(p - 2_u32), p));
            let has_zero = numbers.iter().any(|number| *number == BigUint::default());
            assert_eq!(zeros >> lane & 1 == 1, has_zero);
            for (number, inverse) in numbers.iter().zip(&all) {
                let product = number * &values(field, *inverse)[lane] % p;
                assert_eq!(product, BigUint::from(u32::from(!has_zero)));
            }
        }
    }
    let table: [Vec<u64>; N] = std::array::from_fn(|i| (0..16).map(|j| (100 * j + i) as u64).collect());
    let s = field.simd();
    let entries = field.choose(&table, s.from_words([3, 15, 0, 16, 7, 8, 31, 1]));
    for (i, digit) in entries.digits().iter().enumerate() {
        let expected = [3, 15, 0, 0, 7, 8, 15, 1].map(|j| 100 * j + i as u64);
        assert_eq!(s.to_words(*digit)[..S::LANES], expected[..S::LANES]);
    }
}

#[test]
fn refused_moduli() {
    let Some(s) = Ifma::detect() else {
        eprintln!("skipped: no AVX-512 IFMA");
        return;
    };
    assert!(Field::<Ifma, 1>::new(s, &[]).is_none() && Field::<Ifma, 1>::new(s, &[1]).is_none());
    assert!(Field::<Ifma, 1>::new(s, &[10]).is_none(), "even");
    assert!(Field::<Ifma, 2>::new(s, &[7]).is_none(), "one digit is enough");
    assert!(Field::<Ifma, 1>::new(s, &[1, 1 << 17]).is_none(), "50 bits need two digits");
}

/// The numbers of all lanes.
fn values<S: Simd, const N: usize, const A: usize>(field: &Field<S, N>, x: Number<S, N, A>) -> Vec<BigUint> {
    let limbs = (N * S::DIGIT_BITS).div_ceil(32);
    let mut rows = vec![0; S::LANES * limbs];
    field.store(x, &mut rows, limbs);
    rows.chunks_exact(limbs).map(number).collect()
}

/// The digits are reduced and their number is below the bound of its type.
fn assert_bound<S: Simd, const N: usize, const A: usize>(field: &Field<S, N>, x: Number<S, N, A>, p: &BigUint) {
    for found in common::numbers(field.simd(), x.digits()) {
        assert!(found < p * A, "{found} modulo {p}");
    }
}
