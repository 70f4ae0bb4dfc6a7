//! Operations that work on each lane by itself, against oracles in wide integers or bit by bit.

use std::cmp::Ordering;

use num_bigint::BigInt;
use warpmp_kernel::ir::{Class, Cmp, Funnel, Half, Int, Logic, Op, Part, Round, Width};
use warpmp_kernel::sim::Grid;

use super::harness::{Maker, Source};

const CASES: u32 = 32 * 64;

/// Runs an operation on many operands and holds every lane against the oracle.
pub(crate) fn check(op: Op, constant: Option<u32>) {
    let mut source = Source(0x0DD5);
    let classes = sources(op);
    let mut cases: Vec<Vec<u64>> = Vec::new();
    for &class in &classes {
        cases.push((0..CASES).map(|_| source.edge(class)).collect());
    }
    if op.carry().reads() {
        cases.push((0..CASES).map(|_| source.below(2)).collect());
    }
    let mut maker = Maker::new(CASES);
    maker.around(op, constant);
    let results = maker.run(Grid { blocks: CASES / 64, threads: 64, shared_bytes: 0 }, &cases);
    for case in 0..CASES as usize {
        let operands: Vec<u64> = cases.iter().map(|operand| operand[case]).collect();
        let expected = oracle(op, &operands, constant);
        let got: Vec<u64> = results.iter().map(|result| result[case]).collect();
        let same =
            expected.len() == got.len() && expected.iter().zip(&got).all(|(&e, &g)| e == g || both_nan(op, e, g));
        assert!(same, "{op:?} of {operands:x?}: {got:x?} instead of {expected:x?}");
    }
}

/// NaN results may differ in their payload.
fn both_nan(op: Op, a: u64, b: u64) -> bool {
    if matches!(op, Op::ReciprocalF32 | Op::FmaF32) {
        return float(a).is_nan() && float(b).is_nan();
    }
    matches!(op, Op::AddF64 | Op::SubF64 | Op::MulF64 | Op::Fma | Op::NegF64)
        && f64::from_bits(a).is_nan()
        && f64::from_bits(b).is_nan()
}

/// The float of the low word.
fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// `a·b + c` of floats, rounded towards zero, by whole numbers.
fn fused_towards_zero(a: f32, b: f32, c: f32) -> f32 {
    const PLACES: u32 = 298;
    // The number times 2^149, as all floats are whole multiples of 2^−149.
    let whole = |x: f32| {
        let bits = x.to_bits();
        let (exponent, fraction) = (bits >> 23 & 0xFF, bits & 0x7F_FFFF);
        let size =
            if exponent == 0 { BigInt::from(fraction) } else { BigInt::from(fraction | 1 << 23) << (exponent - 1) };
        if x.is_sign_negative() { -size } else { size }
    };
    let sum = if [a, b, c].iter().all(|x| x.is_finite()) {
        whole(a) * whole(b) + (whole(c) << 149_u32)
    } else {
        BigInt::ZERO
    };
    if sum == BigInt::ZERO {
        return a.mul_add(b, c);
    }
    let negative = sum < BigInt::ZERO;
    let size = sum.magnitude();
    // The exponent of the highest bit, and the place of the lowest bit that the float has.
    let exponent = size.bits() as i32 - 1 - PLACES as i32;
    let lowest = (exponent - 23).max(-149);
    let kept = size >> (lowest + PLACES as i32) as u32;
    let kept = u32::try_from(kept).unwrap();
    let bits = if exponent > 127 {
        f32::MAX.to_bits()
    } else if exponent < -126 {
        kept
    } else {
        ((exponent + 127) as u32) << 23 | kept & 0x7F_FFFF
    };
    f32::from_bits(bits | u32::from(negative) << 31)
}

fn sources(op: Op) -> Vec<Class> {
    let of_part = |part: Part| part.read().map_or(vec![], |(class, n)| vec![class; n]);
    op.layout().into_iter().flat_map(of_part).collect()
}

fn mask(bits: u32) -> u128 {
    (1 << bits) - 1
}

/// The bits as a number of this type.
fn number(bits: u64, int: Int) -> i128 {
    let value = i128::from(bits);
    let width = int.width().bits();
    if int.signed() && bits >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
}

/// The low bits of a number.
fn low(value: i128, bits: u32) -> u64 {
    (value as u128 & mask(bits)) as u64
}

/// What the operation gives for these operands: its results, and the flag if it writes it.
fn oracle(op: Op, operands: &[u64], constant: Option<u32>) -> Vec<u64> {
    let at = |i: usize| operands.get(i).copied().unwrap_or(0);
    let (a, b, c) = (at(0), at(1), at(2));
    let single = match op {
        Op::Add(w, carry) => {
            let flag = u128::from(if carry.reads() { c } else { 0 });
            return with_flag(u128::from(a) + u128::from(b) + flag, w, carry.writes());
        }
        Op::Sub(w, carry) => {
            let flag = i128::from(if carry.reads() { c } else { 0 });
            let difference = i128::from(a) - i128::from(b) - flag;
            let mut results = vec![low(difference, w.bits())];
            results.extend(carry.writes().then_some(u64::from(difference < 0)));
            return results;
        }
        Op::Mad(half, carry) => {
            let w = Width::W32;
            let flag = u128::from(if carry.reads() { at(3) } else { 0 });
            let product = u128::from(a) * u128::from(b);
            let part = if half == Half::Lo { product & mask(w.bits()) } else { product >> w.bits() };
            return with_flag(part + u128::from(c) + flag, w, carry.writes());
        }
        Op::Unpack => return vec![a & 0xFFFF_FFFF, a >> 32],
        Op::Mul(half, w) => {
            let product = u128::from(a) * u128::from(b);
            (if half == Half::Hi { product >> w.bits() } else { product & mask(w.bits()) }) as u64
        }
        Op::MulWide(int) => low(number(a, int) * number(b, int), 64),
        Op::MadWide(int) => low(number(a, int) * number(b, int) + i128::from(c), 64),
        Op::Dp4a => {
            let products = (0..4).map(|i| (a >> (8 * i) & 255) * (b >> (8 * i) & 255));
            (products.sum::<u64>() + c) & 0xFFFF_FFFF
        }
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Logic(Logic::And, _) => a & b,
        Op::Logic(Logic::Or, _) => a | b,
        Op::Logic(Logic::Xor, _) => a ^ b,
        Op::Not(class) => match class {
            Class::Pred => 1 - a,
            Class::B32 => a ^ 0xFFFF_FFFF,
            _ => a ^ u64::MAX,
        },
        Op::Lop3 => {
            (0..32).map(|i| bit(u64::from(constant.unwrap()), 4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) << i).sum()
        }
        Op::Prmt => permuted(a, b, c),
        Op::Shl(w) => {
            if b >= u64::from(w.bits()) {
                0
            } else {
                low(i128::from(a) << b, w.bits())
            }
        }
        Op::Shr(int) => low(number(a, int) >> b.min(64), int.width().bits()),
        Op::Shf(direction) => funnel(direction, a, b, c),
        Op::Bfe => extracted(a, b & 255, c & 255),
        Op::Popc => (0..32).map(|i| bit(a, i)).sum(),
        Op::Bfind => (0..32).rev().find(|&i| bit(a, i) == 1).unwrap_or(u32::MAX.into()),
        Op::Clz => (0..32).rev().take_while(|&i| bit(a, i) == 0).count() as u64,
        Op::Brev => (0..32).map(|i| bit(a, i) << (31 - i)).sum(),
        Op::Selp(_) => {
            if c == 1 {
                a
            } else {
                b
            }
        }
        Op::Setp(cmp, int) => u64::from(compared(cmp, Some(number(a, int).cmp(&number(b, int))))),
        Op::SetpF64(cmp) => u64::from(compared(cmp, f64::from_bits(a).partial_cmp(&f64::from_bits(b)))),
        Op::Mov(_) | Op::BitsOfF64 | Op::F64OfBits | Op::ZeroExtend => a,
        Op::Pack => b << 32 | a,
        Op::SignExtend => low(number(a, Int::S32), 64),
        Op::Truncate => a & 0xFFFF_FFFF,
        Op::IntToF64(int) => nearest_double(number(a, int)).to_bits(),
        Op::F64ToInt(round, int) => to_integer(f64::from_bits(a), round, int),
        Op::AddF64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        Op::SubF64 => (f64::from_bits(a) - f64::from_bits(b)).to_bits(),
        Op::MulF64 => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        Op::Fma => f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits(),
        Op::NegF64 => a ^ 1 << 63,
        Op::IntToF32 => u64::from((number(a, Int::S32) as f32).to_bits()),
        Op::ReciprocalF32 => {
            // Rounded twice, which changes nothing: the first has more than twice the digits.
            let flushed = |x: f64| if x.abs() < f64::from(f32::MIN_POSITIVE) { 0_f64.copysign(x) } else { x };
            let reciprocal = 1.0 / flushed(f64::from(float(a)));
            u64::from((flushed(reciprocal) as f32).to_bits())
        }
        Op::FmaF32 => u64::from(fused_towards_zero(float(a), float(b), float(c)).to_bits()),
        _ => panic!("{op:?} is no operation on lanes"),
    };
    vec![single]
}

fn with_flag(sum: u128, w: Width, wanted: bool) -> Vec<u64> {
    let mut results = vec![(sum & mask(w.bits())) as u64];
    results.extend(wanted.then_some((sum >> w.bits()) as u64));
    results
}

fn bit(word: u64, i: u64) -> u64 {
    if i < 64 { word >> i & 1 } else { 0 }
}

fn permuted(a: u64, b: u64, c: u64) -> u64 {
    let mut result = 0;
    for i in 0..4 {
        let selector = c >> (4 * i) & 15;
        let byte = (b << 32 | a) >> (8 * (selector % 8)) & 255;
        let picked = if selector < 8 {
            byte
        } else if byte < 128 {
            0
        } else {
            255
        };
        result |= picked << (8 * i);
    }
    result
}

fn funnel(direction: Funnel, a: u64, b: u64, c: u64) -> u64 {
    let both = u128::from(b << 32 | a);
    let shifted = if direction == Funnel::Left { both << (c % 32) >> 32 } else { both >> (c % 32) };
    (shifted & mask(32)) as u64
}

/// The reference's own loop, unsigned.
fn extracted(a: u64, pos: u64, len: u64) -> u64 {
    (0..32).map(|i| if i < len && pos + i < 32 { bit(a, pos + i) << i } else { 0 }).sum()
}

fn compared(cmp: Cmp, order: Option<Ordering>) -> bool {
    let Some(order) = order else { return false };
    match cmp {
        Cmp::Eq => order == Ordering::Equal,
        Cmp::Ne => order != Ordering::Equal,
        Cmp::Lt => order == Ordering::Less,
        Cmp::Le => order != Ordering::Greater,
        Cmp::Gt => order == Ordering::Greater,
        Cmp::Ge => order != Ordering::Less,
    }
}

/// The double nearest to an integer, ties to even: by its bits.
fn nearest_double(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let length = 128 - magnitude.leading_zeros();
    let surplus = length.saturating_sub(53);
    let (mut kept, rest) = (magnitude >> surplus, magnitude & mask(surplus));
    let half = if surplus == 0 { 1 } else { 1 << (surplus - 1) };
    if rest > half || surplus > 0 && rest == half && kept % 2 == 1 {
        kept += 1;
    }
    let scale = (0..surplus).fold(1.0, |scale: f64, _| scale * 2.0);
    let result = kept as u64 as f64 * scale;
    if value < 0 { -result } else { result }
}

fn to_integer(value: f64, round: Round, int: Int) -> u64 {
    let bits = int.width().bits();
    if value.is_nan() {
        return 1 << (bits - 1);
    }
    let below = value.floor();
    let up = match round {
        Round::Zero => value < 0.0 && below != value,
        Round::Nearest => value - below > 0.5 || value - below == 0.5 && below % 2.0 != 0.0,
    };
    let rounded = if up { below + 1.0 } else { below };
    let (least, most) =
        if int.signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
    low((rounded as i128).clamp(least, most), bits)
}

#[test]
fn fma_rounds_once() {
    // (1 + e)(1 − e) − 1 = −e², which two roundings lose.
    let e = f64::EPSILON;
    let mut maker = Maker::new(1);
    maker.around(Op::Fma, None);
    let operands = [1.0 + e, 1.0 - e, -1.0].map(|x| vec![x.to_bits()]);
    let results = maker.run(Grid { blocks: 1, threads: 1, shared_bytes: 0 }, &operands);
    assert_eq!(f64::from_bits(results[0][0]), -e * e);
}
