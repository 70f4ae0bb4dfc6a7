//! Quotients and remainders on the simulator, against num-bigint.

use num_bigint::BigUint;
use warpmp::kernels::OperandShape;
use warpmp::kernels::Spec;
use warpmp::kernels::modular::Layout;
use warpmp::kernels::modular::division::{Division, Parts};
use warpmp_kernel::build::Glue;
use warpmp_kernel::ir::{Int, Op};
use warpmp_kernel::sim::Counters;
use warpmp_testkit::kernels::numbers::{numbers, run};
use warpmp_testkit::{Pattern, oracle};

/// Divides and compares every lane; the counts.
fn check(spec: &Division, dividends: &[BigUint], divisors: &[BigUint]) -> Counters {
    let lanes = dividends.len();
    let operands = [(spec.dividend, dividends), (spec.divisor, divisors)];
    let sizes = [spec.dividend.limbs(), spec.divisor.limbs()];
    let asked = match spec.parts {
        Parts::Both => 0..2,
        Parts::Quotient => 0..1,
        Parts::Remainder => 1..2,
    };
    let outcome = run(spec, &operands, &sizes[asked.clone()], lanes);
    for (lane, a) in dividends.iter().enumerate() {
        let d = &divisors[if divisors.len() == 1 { 0 } else { lane }];
        let zero = *d == BigUint::ZERO;
        let (q, r) = if zero { (BigUint::ZERO, BigUint::ZERO) } else { (a / d, a % d) };
        for (found, expected) in outcome.results.iter().zip(&[q, r][asked.clone()]) {
            assert_eq!(found[lane], *expected, "{} lane {lane}: {a:x} by {d:x}", spec.name());
        }
        assert_eq!(outcome.statuses[lane], u32::from(zero));
    }
    outcome.counters
}

/// Instructions that warps spent on dividing once more, carefully.
fn careful(counters: &Counters) -> u64 {
    counters.section("exact").map_or(0, |section| section.instructions().warps)
}

/// Divisors of every length up to `bits`, zeros among them.
fn divisors(lanes: usize, bits: usize) -> Vec<BigUint> {
    let patterns = [Pattern::Carry, Pattern::Ones, Pattern::Edge, Pattern::Runs];
    let full: Vec<_> = patterns.iter().map(|&pattern| numbers(pattern, lanes, bits, 5)).collect();
    (0..lanes).map(|lane| &full[lane % 4][lane] >> if lane % 3 == 0 { 0 } else { (lane * 29) % bits }).collect()
}

/// Dividends that bring the estimates of the digits to their edges: multiples of the divisors, and one off.
fn dividends(divisors: &[BigUint], bits: usize) -> Vec<BigUint> {
    let carry = numbers(Pattern::Carry, divisors.len(), bits, 6);
    let limit = BigUint::from(1_u32) << bits;
    let near = |(lane, a): (usize, BigUint)| {
        let d = &divisors[lane];
        if *d == BigUint::ZERO || lane % 4 == 0 {
            return a;
        }
        let multiple = &a / d * d;
        match lane % 4 {
            1 => multiple,
            2 if multiple > BigUint::ZERO => multiple - 1_u32,
            _ => (multiple + d - 1_u32) % &limit,
        }
    };
    carry.into_iter().enumerate().map(near).collect()
}

fn check_bits(bits: [usize; 2], lanes: usize, layout: Option<Layout>) {
    let divisors = divisors(lanes, bits[1]);
    let dividends = dividends(&divisors, bits[0]);
    let (a, d) = (OperandShape::each(bits[0] as u32), OperandShape::each(bits[1] as u32));
    let mut spec = Division::new(a, d, Parts::Both);
    spec.layout = layout.unwrap_or(spec.layout);
    check(&spec, &dividends, &divisors);
    check(&Division { parts: Parts::Quotient, ..spec.clone() }, &dividends, &divisors);
    let spec = Division { divisor: OperandShape::common(d.bits), parts: Parts::Remainder, ..spec };
    check(&spec, &dividends, &divisors[lanes - 1..]);
}

#[test]
fn by_one_lane_at_many_lengths() {
    for bits in [1, 2, 31, 32, 33, 63, 64, 65, 96, 109, 128, 131, 163, 191, 239, 256, 257, 384, 512] {
        check_bits([bits, bits], 65, None);
        check_bits([2 * bits, bits], 65, None);
    }
    for bits in [[32, 256], [1024, 33], [3000, 64], [64, 65]] {
        check_bits(bits, 65, None);
    }
}

#[test]
fn by_groups() {
    for bits in [[1024, 1024], [2048, 1024], [1000, 521], [40, 640], [4096, 2048], [3000, 3000]] {
        check_bits(bits, 17, None);
    }
    for (bits, group, length) in [([400, 192], 2, 3), ([300, 640], 8, 3), ([900, 500], 4, 4), ([3100, 3000], 32, 3)] {
        check_bits(bits, 33, Some(Layout { group, length, warps: 2, glue: Glue::None }));
    }
}

/// The operands of which one in 2³¹ random ones is: the digit's estimate is one too large.
#[test]
fn digits_that_are_corrected() {
    let one = BigUint::from(1_u32);
    let b = |n: usize| &one << (32 * n);
    let mut pairs = vec![
        (b(4) * 3_u32 / 4_u32, b(3) / 2_u32 + 1_u32),
        ((b(4) >> 1) - 1_u32, (b(3) >> 1) + b(1) - 1_u32),
        ((b(6) - 1_u32) >> 1, (b(3) >> 1) + 1_u32),
    ];
    // a = q·d − 1 with d = B³/2 + B − 1 and like it, for which three limbs by two give q.
    for q in [u32::MAX, u32::MAX - 1, 1 << 31, 3] {
        for low in [1_u32, u32::MAX, 1 << 31] {
            let d: BigUint = (b(3) >> 1) + low;
            pairs.push((&d * q - 1_u32, d.clone()));
            pairs.push((((&d * q - 1_u32) << 32) + low, d));
        }
    }
    let (dividends, divisors): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let spec = Division::new(OperandShape::each(192), OperandShape::each(96), Parts::Both);
    check(&spec, &dividends, &divisors);
    let layout = Layout { group: 2, length: 3, warps: 1, glue: Glue::None };
    check(&Division { layout, ..spec }, &dividends, &divisors);
}

/// The largest digit that is not divided again, `B − 32`.
const LARGEST: u32 = u32::MAX - 31;

/// `quotient·divisor + remainder` in as many lanes, with limbs that make carries run, but of the quotient none above
/// `largest`, and none so small that the digit before it seems to be one less; the dividends and divisors.
fn products(lanes: usize, limbs: [usize; 2], largest: u32, seed: u64) -> (Vec<BigUint>, Vec<BigUint>) {
    let [quotient, divisor] = limbs.map(|limbs| 32 * limbs);
    let patterns = [Pattern::Carry, Pattern::Runs, Pattern::Random, Pattern::Ones, Pattern::Edge, Pattern::Sparse];
    let of = |lane: usize, bits: usize, seed: u64| {
        let pattern = patterns[(lane / 3 + seed as usize) % patterns.len()];
        numbers(pattern, lane + 1, bits, seed).pop().unwrap()
    };
    let pair = |lane: usize| {
        let mut d = of(lane, divisor, seed);
        match lane % 8 {
            // The complements with most ones: those of a power of two and one more.
            0 => d = (BigUint::from(1_u32) << (divisor - 1)) + 1_u32,
            1 => d = (BigUint::from(1_u32) << (divisor - 1 - lane % divisor)) + 1_u32,
            2 => d.set_bit(divisor as u64 - 1, true),
            _ => d.set_bit(0, true),
        }
        let limbs = oracle::limbs(&of(lane, quotient, seed + 1), quotient / 32);
        let limbs: Vec<u32> = limbs
            .into_iter()
            .map(|limb| if lane.is_multiple_of(5) { largest } else { limb.clamp(16, largest) })
            .collect();
        let r = match lane % 4 {
            0 => BigUint::ZERO,
            1 => &d - 1_u32,
            _ => of(lane, divisor, seed + 2) % &d,
        };
        (oracle::number(&limbs) * &d + r, d)
    };
    (0..lanes).map(pair).unzip()
}

/// Rows without a second division, for every parity and spread: results, and what they cost.
#[test]
fn quick_digits_are_right_wherever_carries_run() {
    let thread = |length: u32| (1, length);
    let layouts = (1..=9).chain([16, 17]).map(thread).chain([(2, 3), (4, 4), (2, 5), (8, 3), (8, 16), (32, 3), (4, 9)]);
    for (group, length) in layouts {
        let n = (group * length) as usize;
        for quotient in [1, 2, 4, n, n + 9] {
            let (dividends, divisors) = products(48, [quotient, n], LARGEST, (quotient + n) as u64);
            let (a, d) = (OperandShape::each(32 * (quotient + n) as u32), OperandShape::each(32 * n as u32));
            let layout = Layout { group, length, warps: 1, glue: Glue::None };
            let spec = Division { layout, ..Division::new(a, d, Parts::Both) };
            let counters = check(&spec, &dividends, &divisors);
            assert_eq!(careful(&counters), 0, "{}", spec.name());
            check(&Division { parts: Parts::Remainder, ..spec }, &dividends, &divisors);
        }
    }
}

/// Divisors as long as they may be, but shorter than the lanes' limbs: read and written as vectors at their place.
#[test]
fn full_divisors_at_any_place() {
    for (group, length) in [(1, 8), (4, 4), (2, 5), (8, 8), (32, 3)] {
        for offset in [0, 1, 2, 4, 7] {
            let n = group * length - offset.min(group * length - 1);
            for pattern in [Pattern::Random, Pattern::Carry] {
                let mut divisors = numbers(pattern, 33, 32 * n as usize, u64::from(n));
                for d in &mut divisors {
                    d.set_bit(u64::from(32 * n - 1), true);
                }
                let dividends = dividends(&divisors, 32 * (2 * n + 1) as usize);
                let (a, d) = (OperandShape::each(32 * (2 * n + 1)), OperandShape::each(32 * n));
                let layout = Layout { group, length, warps: 1, glue: Glue::None };
                let spec = Division { layout, ..Division::new(a, d, Parts::Both) };
                check(&spec, &dividends, &divisors);
            }
        }
    }
}

/// A row takes so many products, and there are no more rows than the numbers' lengths say.
#[test]
fn rows_cost_what_they_should() {
    for (group, length, quotient, rows) in [(1, 8, 8, 8), (1, 7, 7, 8), (4, 8, 32, 32), (8, 4, 5, 6), (2, 5, 10, 10)] {
        let n = group * length;
        let full: Vec<BigUint> = numbers(Pattern::Random, 32, 32 * n as usize, 7);
        let divisors: Vec<BigUint> = full.iter().map(|d| d | BigUint::from(1_u32) << (32 * n - 1)).collect();
        let dividends: Vec<BigUint> = divisors.iter().map(|d| (d - 1_u32) << (32 * quotient)).collect();
        let layout = Layout { group, length, warps: 1, glue: Glue::None };
        let (a, d) = (OperandShape::each(32 * (quotient + n)), OperandShape::each(32 * n));
        let spec = Division { layout, ..Division::new(a, d, Parts::Both) };
        let counters = check(&spec, &dividends[..32 / group as usize], &divisors[..32 / group as usize]);
        let section = counters.section("rows").unwrap();
        let products = section.op(Op::MulWide(Int::U32)).warps;
        assert_eq!(products, u64::from(rows * (length + 2)), "{}", spec.name());
    }
}

/// Digits that are not certain are divided for again, and no others.
#[test]
fn large_digits_are_divided_for_again() {
    for (group, length) in [(1, 4), (1, 5), (4, 4)] {
        let n = (group * length) as usize;
        let layout = Layout { group, length, warps: 1, glue: Glue::None };
        let (a, d) = (OperandShape::each(64 * n as u32), OperandShape::each(32 * n as u32));
        let spec = Division { layout, ..Division::new(a, d, Parts::Both) };
        for (largest, again) in [(LARGEST, false), (LARGEST + 1, true), (u32::MAX, true)] {
            let (dividends, divisors) = products(32, [n, n], largest, 3);
            let counters = check(&spec, &dividends, &divisors);
            assert_eq!(careful(&counters) > 0, again, "{} {largest:x}", spec.name());
        }
        // Digits that are one too small, in the middle and in the end: multiples of the divisor by powers of the base.
        let (_, divisors) = products(32, [1, n], LARGEST, 4);
        let shift = 32 * (n - 3);
        let dividends: Vec<BigUint> = divisors.iter().map(|d| (d * 0x1234_5678_u32) << shift).collect();
        assert!(careful(&check(&spec, &dividends, &divisors)) > 0);
        let dividends: Vec<BigUint> = divisors.iter().map(|d| d * 0x1234_5678_9ABC_DEF1_u64).collect();
        assert_eq!(careful(&check(&spec, &dividends, &divisors)), 0);
    }
}
