//! Long numbers in vectors, against num-bigint, with every instruction set of this processor.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod common;

use warpmp_simd::Simd as _;

on_every_instruction_set! {
    rows_and_digits
    products_and_squares
    montgomery_products
    shifts
    common_divisors_and_inverses
    lazy_residues
}

// Divisions want digits of 51 bits or more.
#[test]
fn quotients_and_roots() {
    if let Some(s) = warpmp_simd::Ifma::detect() {
        generic::quotients(s);
        generic::roots(s);
    }
    if let Some(s) = warpmp_simd::Fma::detect() {
        generic::quotients(s);
        generic::roots(s);
    }
}

mod generic {
    use num_bigint::BigUint;
    use warpmp_simd::division::{self, Divisors};
    use warpmp_simd::divsteps::Pairs;
    use warpmp_simd::montgomery::{self, Moduli};
    use warpmp_simd::ring::Ring;
    use warpmp_simd::root::Roots;
    use warpmp_simd::shift::Distances;
    use warpmp_simd::{Simd, digits, product, square};

    use super::common::{Random, load, number, numbers, slices};

    /// Rows become digits and rows again, at lengths around every block, with rows that are missing or shorter.
    pub(super) fn rows_and_digits<S: Simd>(s: S) {
        let mut random = Random(1);
        for limbs in 1..=70 {
            let mut rows = random.rows(limbs);
            rows[1].truncate(limbs / 2);
            rows[2].clear();
            let loaded = load(s, &rows, digits::count::<S>(limbs) + 3);
            for (lane, found) in numbers(s, &loaded).into_iter().enumerate() {
                assert_eq!(found, number(&rows[lane]), "{limbs} limbs, lane {lane}");
            }
        }
    }

    /// Products and squares at lengths around the strips and Karatsuba's thresholds, equal and unequal.
    pub(super) fn products_and_squares<S: Simd>(s: S) {
        let mut random = Random(2);
        let (k, q) = (S::KARATSUBA_DIGITS, S::SQUARE_KARATSUBA_DIGITS);
        let mut lengths: Vec<usize> = (1..=18).chain([k - 1, k, k + 1, 2 * k + 1, q - 1, q, q + 1]).collect();
        lengths.push(S::MAX_DIGITS.min(300));
        for &m in &lengths {
            let limbs = |digits: usize| digits * S::DIGIT_BITS / 32;
            for n in [1, 3, 8, m.div_ceil(2), m.saturating_sub(1).max(1), m] {
                let rows = [m, n].map(|digits| random.rows(limbs(digits).max(1)));
                let [a, b] = [load(s, &rows[0], m.max(2)), load(s, &rows[1], n.max(2))];
                let mut c = vec![s.splat(u64::MAX); a.len() + b.len()];
                let mut scratch = vec![s.zero(); product::scratch::<S>(a.len(), b.len())];
                product::mul(s, &a, &b, &mut c, &mut scratch);
                for (lane, found) in numbers(s, &c).into_iter().enumerate() {
                    let expected = number(&rows[0][lane]) * number(&rows[1][lane]);
                    assert_eq!(found, expected, "{m} × {n} digits, lane {lane}");
                }
            }
            let rows = random.rows(limbs(m).max(1));
            let a = load(s, &rows, m.max(2));
            let mut c = vec![s.splat(u64::MAX); 2 * a.len()];
            let mut scratch = vec![s.zero(); square::scratch::<S>(a.len())];
            square::sqr(s, &a, &mut c, &mut scratch);
            for (lane, found) in numbers(s, &c).into_iter().enumerate() {
                assert_eq!(found, number(&rows[lane]).pow(2), "{m} digits, lane {lane}");
            }
        }
    }

    /// Montgomery's products and squares of residues below 2m, moduli that fill their digits and short ones.
    pub(super) fn montgomery_products<S: Simd>(s: S) {
        let mut random = Random(3);
        for limbs in (1..=24).chain([48, 64, 130, 210]) {
            let n = montgomery::count::<S>(limbs);
            let m = random.odd_rows(limbs);
            let mut moduli = Moduli::new(s, n);
            moduli.set(&load(s, &m, n));
            let mut rows = [random.rows(limbs), random.rows(limbs)];
            for row in &mut rows {
                for (row, m) in row.iter_mut().zip(&m) {
                    // The largest residue that is allowed, and others.
                    let twice = number(m) * 2_u32;
                    let value = if random.word().is_multiple_of(3) { &twice - 1_u32 } else { number(row) % &twice };
                    *row = value.to_u32_digits();
                }
            }
            let [a, b] = [load(s, &rows[0], n), load(s, &rows[1], n)];
            let mut scratch = vec![s.zero(); Moduli::<S>::scratch(n)];
            let (mut c, mut d) = (vec![s.zero(); n], a.clone());
            moduli.multiply(&a, &b, &mut c, &mut scratch);
            moduli.square(&mut d, &mut scratch);
            for (found, other) in [(&mut c, 1), (&mut d, 0)] {
                let lazy = numbers(s, found);
                moduli.reduce(found);
                let reduced = numbers(s, found);
                for lane in 0..S::LANES {
                    let m = number(&m[lane]);
                    let product = number(&rows[0][lane]) * number(&rows[other][lane]);
                    assert!(lazy[lane] < &m * 2_u32 && reduced[lane] < m, "{limbs} limbs, lane {lane}");
                    let back = (&reduced[lane] << (S::DIGIT_BITS * n)) % &m;
                    assert_eq!(back, product % &m, "{limbs} limbs, lane {lane}");
                }
            }
        }
    }

    /// Shifts up and down by another distance in each lane.
    pub(super) fn shifts<S: Simd>(s: S) {
        let mut random = Random(5);
        for limbs in [1, 2, 5, 20] {
            for longest in [1, S::DIGIT_BITS, 3 * S::DIGIT_BITS + 1, 2000] {
                let rows = random.rows(limbs);
                let distances: [usize; 8] = std::array::from_fn(|_| random.word() as usize % longest);
                let shift = Distances::new(s, &distances);
                let a = load(s, &rows, digits::count::<S>(limbs));
                let mut up = vec![s.splat(u64::MAX); digits::count::<S>(limbs) + longest.div_ceil(S::DIGIT_BITS)];
                shift.up(&a, &mut up);
                let shifted = numbers(s, &up);
                shift.down(&mut up);
                let back = numbers(s, &up);
                let mut down = a.clone();
                shift.down(&mut down);
                let down = numbers(s, &down);
                for lane in 0..S::LANES {
                    let (x, by) = (number(&rows[lane]), distances[lane]);
                    assert_eq!(shifted[lane], &x << by);
                    assert_eq!(back[lane], x);
                    assert_eq!(down[lane], &x >> by);
                }
            }
        }
    }

    /// Greatest common divisors of odd numbers with any, and inverses where there are any.
    pub(super) fn common_divisors_and_inverses<S: Simd>(s: S) {
        let mut random = Random(6);
        for limbs in (1..=9).chain([33, 64]) {
            for _ in 0..4 {
                let n = montgomery::count::<S>(limbs);
                let (m, a) = (random.odd_rows(limbs), random.rows(limbs));
                let mut moduli = Moduli::new(s, n);
                moduli.set(&load(s, &m, n));
                let mut pairs = Pairs::new(s, n);
                (pairs.f, pairs.g) = (load(s, &m, n), load(s, &a, n));
                pairs.inverses(&moduli);
                let (f, d) = (numbers(s, &pairs.f), numbers(s, &pairs.d));
                for lane in 0..S::LANES {
                    let (m, a) = (number(&m[lane]), number(&a[lane]));
                    assert_eq!(f[lane], gcd(&m, &a), "{limbs} limbs, lane {lane}");
                    assert!(d[lane] < m);
                    assert_eq!(&d[lane] * &a % &m, &f[lane] % &m, "{limbs} limbs, lane {lane}");
                }
            }
        }
    }

    /// Quotients and remainders, of multiples of the divisor and of one less, too.
    pub(super) fn quotients<S: Simd>(s: S) {
        let mut random = Random(7);
        for (m, n) in (1..=30).map(|n| (n, 2 * n)).chain([(1, 9), (40, 41), (70, 141), (130, 260)]) {
            for round in 0..4 {
                let mut divisors = random.rows(m);
                for row in &mut divisors {
                    row[0] |= 1;
                }
                let mut dividends = random.rows(n);
                if round > 1 {
                    for (dividend, divisor) in dividends.iter_mut().zip(&divisors) {
                        let v = number(divisor);
                        let multiple = (number(dividend) / &v).max(1_u32.into()) * v - (round - 2) as u32;
                        *dividend = multiple.to_u32_digits();
                    }
                }
                let bits: [usize; 8] = std::array::from_fn(|lane| number(&divisors[lane]).bits() as usize);
                let mut by = Divisors::new(s, division::count::<S>(m));
                by.set(&load(s, &divisors, division::count::<S>(m)), &bits);
                let (above, count) = by.digits(32 * n);
                let (mut quotients, mut rests) = (vec![s.zero(); count], vec![s.zero(); above]);
                let length = by.divide(&load(s, &dividends, digits::count::<S>(n)), 32 * n, &mut quotients, &mut rests);
                let (quotients, rests) = (numbers(s, &quotients), numbers(s, &rests[..length]));
                for lane in 0..S::LANES {
                    let (u, v) = (number(&dividends[lane]), number(&divisors[lane]));
                    assert_eq!(
                        (&quotients[lane], &rests[lane]),
                        (&(&u / &v), &(&u % &v)),
                        "{n} by {m} limbs, lane {lane}"
                    );
                }
            }
        }
    }

    /// Roots of squares, of one more or less, and of any numbers.
    pub(super) fn roots<S: Simd>(s: S) {
        let mut random = Random(8);
        for n in (1..=20).chain([33, 40, 81, 130]) {
            let mut roots = Roots::new(s, n);
            for round in 0..11_u32 {
                let least = BigUint::from(1_u32) << (2 * S::DIGIT_BITS * n - 6);
                let value = |row: &[u32]| {
                    let mut root = (number(row) >> 5_u32) | (BigUint::from(1_u32) << (S::DIGIT_BITS * n - 3));
                    if round >= 8 {
                        // Digits of zero after one that an estimate makes too small.
                        let zeros = S::DIGIT_BITS * (n / 2);
                        root = root >> zeros << zeros;
                    }
                    let square = root.pow(2).min(&least * 4_u32 - 2_u32);
                    match round {
                        0..3 => (square + round - 1_u32).max(least.clone()),
                        3 => &least * 4_u32 - 1_u32,
                        8.. => (square + (round - 8) - 1_u32).max(least.clone()),
                        _ => &least + (number(row).pow(2) % (&least * 3_u32)),
                    }
                };
                let rows: Vec<Vec<u32>> =
                    (0..8).map(|_| value(&random.row(S::DIGIT_BITS * n / 32)).to_u32_digits()).collect();
                let (mut a, mut root) = (load(s, &rows, 2 * n), vec![s.zero(); n]);
                roots.run(&mut a, &mut root);
                let (found, rests) = (numbers(s, &root), numbers(s, &a[..n]));
                for lane in 0..S::LANES {
                    let a = number(&rows[lane]);
                    let root = a.sqrt();
                    assert_eq!((&found[lane], &rests[lane]), (&root, &(a - root.pow(2))), "{n} digits, lane {lane}");
                }
            }
        }
    }

    fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
        let (mut a, mut b) = (a.clone(), b.clone());
        while b != BigUint::default() {
            (a, b) = (b.clone(), a % b);
        }
        a
    }

    /// The formulas of a ring: sums and differences of residues as factors, at moduli that leave no bit over.
    pub(super) fn lazy_residues<S: Simd>(s: S) {
        let mut random = Random(8);
        for bits in [31_usize, 47, 48, 49, 52, 96, 100, 104, 256, 512, 1020, 1024] {
            let limbs = bits / 32 + 1;
            let below = |row: &mut Vec<u32>| {
                for (i, limb) in row.iter_mut().enumerate() {
                    *limb &= (1_u64 << bits.saturating_sub(32 * i).min(32)).wrapping_sub(1) as u32;
                }
            };
            let mut moduli = random.odd_rows(limbs);
            moduli[3].fill(u32::MAX);
            moduli.iter_mut().for_each(below);
            let big: Vec<BigUint> = moduli.iter().map(|m| number(m)).collect();
            let square =
                |m: &BigUint| ((BigUint::from(1_u32) << (2 * Ring::<S>::radix_bits(bits))) % m).to_u32_digits();
            let squares: Vec<Vec<u32>> = big.iter().map(square).collect();
            let mut ring = Ring::new(s, bits, &slices(&moduli), &slices(&squares));
            let mut numbers =
                || -> Vec<Vec<u32>> { big.iter().map(|m| (number(&random.row(limbs)) % m).to_u32_digits()).collect() };
            let (x, y) = (numbers(), numbers());
            let (a, b) = (ring.enter(&slices(&x)), ring.enter(&slices(&y)));
            let [mut sum, mut difference, mut product] = [ring.zero(), ring.zero(), ring.zero()];
            // ((a + b)(a − b))² + …, many times: no bound is crossed.
            ring.add(&a, &b, &mut sum);
            ring.sub(&a, &b, &mut difference);
            ring.mul(&sum, &difference, &mut product);
            for _ in 0..20 {
                ring.sub(&b, &product, &mut sum);
                ring.square(&mut sum);
                ring.add(&sum, &a, &mut difference);
                ring.mul(&sum, &difference, &mut product);
            }
            let mut rows = vec![0; 8 * limbs];
            ring.leave(&product, &mut rows[..S::LANES * limbs], limbs);
            let same = ring.same(&product, &a);
            for lane in 0..S::LANES {
                let (m, x, y) = (&big[lane], number(&x[lane]), number(&y[lane]));
                let mut product = (&x + &y) * (&x + m - &y) % m;
                for _ in 0..20 {
                    let sum = (&y + m - &product).pow(2) % m;
                    product = &sum * (&sum + &x) % m;
                }
                assert_eq!(number(&rows[lane * limbs..][..limbs]), product, "{bits} bits, lane {lane}");
                assert_eq!(same >> lane & 1 == 1, product == x, "{bits} bits, lane {lane}");
            }
        }
    }
}
