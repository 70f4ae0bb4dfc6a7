//! The operations that touch registers and the carry flag only.

use std::cmp::Ordering;

use super::WARP;
use super::fault::{Cause, FaultKind};
use super::program::Step;
use super::registers::{Registers, Slot, Value, merge};
use super::scalar::{extract_field, funnel_shift, insert_field, lookup, permute_bytes, rounded};
use super::warp::{Context, Warp};
use crate::ir::{Bits, Carry, Class, Cmp, CmpType, Float, Half, Int, Logic, Op, Round, Special, Width};

/// Where the dynamic shared memory begins in the shared address space: not at 0, as on the device.
pub(super) const SHARED_BASE: u32 = 1024;

/// Executes an operation on registers.
pub(super) fn compute(warp: &mut Warp, op: Op, step: &Step, mask: u32) -> Result<(), Cause> {
    match op {
        Op::Add(Width::W32, c) => chain::<u32>(warp, step, mask, (c, false), |[a, b, _], f| add(a, b, f))?,
        Op::Add(Width::W64, c) => chain::<u64>(warp, step, mask, (c, false), |[a, b, _], f| add_wide(a, b, f))?,
        Op::Sub(Width::W32, c) => chain::<u32>(warp, step, mask, (c, true), |[a, b, _], f| sub(a, b, f))?,
        Op::Sub(Width::W64, c) => chain::<u64>(warp, step, mask, (c, true), |[a, b, _], f| sub_wide(a, b, f))?,
        Op::Mad(Half::Lo, Width::W32, c) => {
            chain::<u32>(warp, step, mask, (c, false), |[a, b, c], f| add(a.wrapping_mul(b), c, f))?;
        }
        Op::Mad(Half::Hi, Width::W32, c) => {
            chain::<u32>(warp, step, mask, (c, false), |[a, b, c], f| add(high(a, b), c, f))?;
        }
        Op::Mad(Half::Lo, Width::W64, c) => {
            chain::<u64>(warp, step, mask, (c, false), |[a, b, c], f| add_wide(a.wrapping_mul(b), c, f))?;
        }
        Op::Mad(Half::Hi, Width::W64, c) => {
            chain::<u64>(warp, step, mask, (c, false), |[a, b, c], f| add_wide(high_wide(a, b), c, f))?;
        }
        _ => plain(&mut warp.registers, op, step, mask),
    }
    Ok(())
}

fn add(a: u32, b: u32, carry: u32) -> (u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, (sum >> 32) as u32)
}

fn add_wide(a: u64, b: u64, carry: u32) -> (u64, u32) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, u32::from(first | second))
}

fn sub(a: u32, b: u32, borrow: u32) -> (u32, u32) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, (difference >> 63) as u32)
}

fn sub_wide(a: u64, b: u64, borrow: u32) -> (u64, u32) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, u32::from(first | second))
}

fn high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn high_wide(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// An operation that may read and write the carry flag, as a borrow or not: `f` takes the sources and the flag and gives
/// the result and the flag. An operation of two sources ignores the third.
fn chain<W: Value<Slot = W> + Slot>(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    (carry, borrows): (Carry, bool),
    f: impl Fn([W; 3], u32) -> (W, u32),
) -> Result<(), Cause> {
    let undefined = mask & !warp.carry_defined;
    if carry.reads() && undefined != 0 {
        return Err(Cause::first(undefined, FaultKind::PoisonCarry));
    }
    let other = mask & if borrows { !warp.carry_borrows } else { warp.carry_borrows };
    if carry.reads() && other != 0 {
        return Err(Cause::first(other, FaultKind::MixedCarry));
    }
    let third = if step.sources().len() > 2 { step.src[2] } else { step.src[0] };
    let (a, b, c) =
        (warp.registers.get::<W>(step.src[0]), warp.registers.get::<W>(step.src[1]), warp.registers.get::<W>(third));
    let taken = if carry.reads() { warp.carry } else { [0; WARP] };
    let (mut result, mut given) = ([W::default(); WARP], [0; WARP]);
    for i in 0..WARP {
        (result[i], given[i]) = f([a[i], b[i], c[i]], taken[i]);
    }
    warp.registers.set(step.dst[0], mask, &result);
    if carry.writes() {
        merge(&mut warp.carry, mask, &given);
        warp.carry_defined |= mask;
        warp.carry_borrows = warp.carry_borrows & !mask | if borrows { mask } else { 0 };
    }
    Ok(())
}

/// The operations that have nothing to do with the carry flag.
fn plain(r: &mut Registers, op: Op, step: &Step, mask: u32) {
    let d = step.dst[0];
    let [a, b, c, e, ..] = step.src;
    let (one, two, three) = ([a], [a, b], [a, b, c]);
    match op {
        Op::Mul(half, int) => multiply(r, half, int, d, two, mask),
        Op::MulWide(Int::S32) => r.binary(d, two, mask, |a: i32, b: i32| i64::from(a) * i64::from(b)),
        Op::MulWide(_) => r.binary(d, two, mask, |a: u32, b: u32| u64::from(a) * u64::from(b)),
        Op::MadWide(Int::S32) => {
            r.ternary(d, three, mask, |a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c));
        }
        Op::MadWide(_) => {
            r.ternary(d, three, mask, |a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c));
        }
        Op::Min(Int::U32) => r.binary(d, two, mask, u32::min),
        Op::Min(Int::S32) => r.binary(d, two, mask, i32::min),
        Op::Min(Int::U64) => r.binary(d, two, mask, u64::min),
        Op::Min(Int::S64) => r.binary(d, two, mask, i64::min),
        Op::Max(Int::U32) => r.binary(d, two, mask, u32::max),
        Op::Max(Int::S32) => r.binary(d, two, mask, i32::max),
        Op::Max(Int::U64) => r.binary(d, two, mask, u64::max),
        Op::Max(Int::S64) => r.binary(d, two, mask, i64::max),
        Op::Logic(logic, bits) => combine(r, logic, bits, d, two, mask),
        Op::Not(Bits::Pred) => r.set_pred(d, mask, !r.pred(a)),
        Op::Not(Bits::B32) => r.unary(d, one, mask, |a: u32| !a),
        Op::Not(Bits::B64) => r.unary(d, one, mask, |a: u64| !a),
        Op::Lop3 => r.ternary(d, three, mask, |a, b, c| lookup(a, b, c, step.imm[0])),
        Op::Prmt => r.ternary(d, three, mask, permute_bytes),
        Op::Shf(direction, mode) => r.ternary(d, three, mask, |a, b, c| funnel_shift(a, b, c, direction, mode)),
        Op::Shl(Width::W32) => r.binary(d, two, mask, |a: u32, n: u32| a.checked_shl(n).unwrap_or(0)),
        Op::Shl(Width::W64) => r.binary(d, two, mask, |a: u64, n: u32| a.checked_shl(n).unwrap_or(0)),
        Op::Shr(Int::U32) => r.binary(d, two, mask, |a: u32, n: u32| a.checked_shr(n).unwrap_or(0)),
        Op::Shr(Int::U64) => r.binary(d, two, mask, |a: u64, n: u32| a.checked_shr(n).unwrap_or(0)),
        Op::Shr(Int::S32) => r.binary(d, two, mask, |a: i32, n: u32| a >> n.min(31)),
        Op::Shr(Int::S64) => r.binary(d, two, mask, |a: i64, n: u32| a >> n.min(63)),
        Op::Bfe(int) => extract(r, int, d, three, mask),
        Op::Bfi(width) => insert(r, width, d, [a, b, c, e], mask),
        Op::Popc(Width::W32) => r.unary(d, one, mask, u32::count_ones),
        Op::Popc(Width::W64) => r.unary(d, one, mask, u64::count_ones),
        Op::Clz(Width::W32) => r.unary(d, one, mask, u32::leading_zeros),
        Op::Clz(Width::W64) => r.unary(d, one, mask, u64::leading_zeros),
        Op::Brev(Width::W32) => r.unary(d, one, mask, u32::reverse_bits),
        Op::Brev(Width::W64) => r.unary(d, one, mask, u64::reverse_bits),
        Op::Setp(cmp, of) => compare(r, cmp, of, d, two, mask),
        Op::Float(float) => arithmetic(r, float, step, mask),
        _ => convert(r, op, step, mask),
    }
}

/// The operations that move or convert.
fn convert(r: &mut Registers, op: Op, step: &Step, mask: u32) {
    let d = step.dst[0];
    let [a, b, c, ..] = step.src;
    let one = [a];
    match op {
        Op::Selp(Class::B32) => select::<u32>(r, d, [a, b, c], mask),
        Op::Selp(Class::B64 | Class::F64) => select::<u64>(r, d, [a, b, c], mask),
        Op::Selp(Class::Pred) => r.set_pred(d, mask, r.pred(c) & r.pred(a) | !r.pred(c) & r.pred(b)),
        Op::Mov(Class::Pred) => r.set_pred(d, mask, r.pred(a)),
        Op::Mov(Class::B32) => r.unary(d, one, mask, |a: u32| a),
        Op::Mov(Class::B64 | Class::F64) | Op::BitsOfF64 | Op::F64OfBits => r.unary(d, one, mask, |a: u64| a),
        Op::Pack => r.binary(d, [a, b], mask, |lo: u32, hi: u32| u64::from(hi) << 32 | u64::from(lo)),
        Op::Unpack => {
            let whole = *r.get::<u64>(a);
            r.set(d, mask, &whole.map(|a| a as u32));
            r.set(step.dst[1], mask, &whole.map(|a| (a >> 32) as u32));
        }
        Op::ZeroExtend => r.unary(d, one, mask, |a: u32| u64::from(a)),
        Op::SignExtend => r.unary(d, one, mask, |a: i32| i64::from(a)),
        Op::Truncate => r.unary(d, one, mask, |a: u64| a as u32),
        Op::IntToF64(Int::U32) => r.unary(d, one, mask, |a: u32| f64::from(a)),
        Op::IntToF64(Int::S32) => r.unary(d, one, mask, |a: i32| f64::from(a)),
        Op::IntToF64(Int::U64) => r.unary(d, one, mask, |a: u64| a as f64),
        Op::IntToF64(Int::S64) => r.unary(d, one, mask, |a: i64| a as f64),
        Op::F64ToInt(round, int) => to_int(r, round, int, d, one, mask),
        Op::SharedBase => r.set(d, mask, &[SHARED_BASE; WARP]),
        _ => unreachable!("every other operation is executed elsewhere"),
    }
}

fn multiply(r: &mut Registers, half: Half, int: Int, d: u32, two: [u32; 2], mask: u32) {
    match (half, int) {
        (Half::Lo, Int::U32 | Int::S32) => r.binary(d, two, mask, u32::wrapping_mul),
        (Half::Lo, Int::U64 | Int::S64) => r.binary(d, two, mask, u64::wrapping_mul),
        (Half::Hi, Int::U32) => r.binary(d, two, mask, high),
        (Half::Hi, Int::U64) => r.binary(d, two, mask, high_wide),
        (Half::Hi, Int::S32) => {
            r.binary(d, two, mask, |a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32);
        }
        (Half::Hi, Int::S64) => {
            r.binary(d, two, mask, |a: i64, b: i64| ((i128::from(a) * i128::from(b)) >> 64) as i64);
        }
    }
}

fn combine(r: &mut Registers, logic: Logic, bits: Bits, d: u32, two: [u32; 2], mask: u32) {
    match (logic, bits) {
        (Logic::And, Bits::B32) => r.binary(d, two, mask, |a: u32, b: u32| a & b),
        (Logic::Or, Bits::B32) => r.binary(d, two, mask, |a: u32, b: u32| a | b),
        (Logic::Xor, Bits::B32) => r.binary(d, two, mask, |a: u32, b: u32| a ^ b),
        (Logic::And, Bits::B64) => r.binary(d, two, mask, |a: u64, b: u64| a & b),
        (Logic::Or, Bits::B64) => r.binary(d, two, mask, |a: u64, b: u64| a | b),
        (Logic::Xor, Bits::B64) => r.binary(d, two, mask, |a: u64, b: u64| a ^ b),
        (Logic::And, Bits::Pred) => r.set_pred(d, mask, r.pred(two[0]) & r.pred(two[1])),
        (Logic::Or, Bits::Pred) => r.set_pred(d, mask, r.pred(two[0]) | r.pred(two[1])),
        (Logic::Xor, Bits::Pred) => r.set_pred(d, mask, r.pred(two[0]) ^ r.pred(two[1])),
    }
}

fn extract(r: &mut Registers, int: Int, d: u32, three: [u32; 3], mask: u32) {
    let signed = int.signed();
    match int.width() {
        Width::W32 => {
            r.ternary(d, three, mask, |a: u32, pos, len| extract_field(a.into(), pos, len, 32, signed) as u32);
        }
        Width::W64 => r.ternary(d, three, mask, |a: u64, pos, len| extract_field(a, pos, len, 64, signed)),
    }
}

fn insert(r: &mut Registers, width: Width, d: u32, [a, b, pos, len]: [u32; 4], mask: u32) {
    let (pos, len) = (*r.get::<u32>(pos), *r.get::<u32>(len));
    match width {
        Width::W32 => {
            let (a, b) = (r.get::<u32>(a), r.get::<u32>(b));
            let field = |i: usize| insert_field(a[i].into(), b[i].into(), pos[i], len[i], 32) as u32;
            let result = std::array::from_fn(field);
            r.set(d, mask, &result);
        }
        Width::W64 => {
            let (a, b) = (r.get::<u64>(a), r.get::<u64>(b));
            let result: [u64; WARP] = std::array::from_fn(|i| insert_field(a[i], b[i], pos[i], len[i], 64));
            r.set(d, mask, &result);
        }
    }
}

fn select<S: Slot>(r: &mut Registers, d: u32, [a, b, p]: [u32; 3], mask: u32) {
    let chosen = r.pred(p);
    let mut result = *r.get::<S>(b);
    merge(&mut result, chosen, r.get::<S>(a));
    r.set(d, mask, &result);
}

fn compare(r: &mut Registers, cmp: Cmp, of: CmpType, d: u32, two: [u32; 2], mask: u32) {
    match of {
        CmpType::Int(Int::U32) => compare_as::<u32>(r, cmp, d, two, mask),
        CmpType::Int(Int::S32) => compare_as::<i32>(r, cmp, d, two, mask),
        CmpType::Int(Int::U64) => compare_as::<u64>(r, cmp, d, two, mask),
        CmpType::Int(Int::S64) => compare_as::<i64>(r, cmp, d, two, mask),
        CmpType::F64 => compare_as::<f64>(r, cmp, d, two, mask),
    }
}

fn compare_as<T: Value + PartialOrd>(r: &mut Registers, cmp: Cmp, d: u32, two: [u32; 2], mask: u32) {
    match cmp {
        Cmp::Eq => r.compare(d, two, mask, |a: T, b: T| a == b),
        // Not `!=`: ordered, so false if either is NaN.
        Cmp::Ne => r.compare(d, two, mask, |a: T, b: T| a.partial_cmp(&b).is_some_and(Ordering::is_ne)),
        Cmp::Lt => r.compare(d, two, mask, |a: T, b: T| a < b),
        Cmp::Le => r.compare(d, two, mask, |a: T, b: T| a <= b),
        Cmp::Gt => r.compare(d, two, mask, |a: T, b: T| a > b),
        Cmp::Ge => r.compare(d, two, mask, |a: T, b: T| a >= b),
    }
}

fn arithmetic(r: &mut Registers, float: Float, step: &Step, mask: u32) {
    let d = step.dst[0];
    let [a, b, c, ..] = step.src;
    match float {
        Float::Add => r.binary(d, [a, b], mask, |a: f64, b: f64| a + b),
        Float::Sub => r.binary(d, [a, b], mask, |a: f64, b: f64| a - b),
        Float::Mul => r.binary(d, [a, b], mask, |a: f64, b: f64| a * b),
        Float::Fma => r.ternary(d, [a, b, c], mask, f64::mul_add),
        Float::Neg => r.unary(d, [a], mask, |a: f64| -a),
    }
}

/// A conversion saturates; NaN gives the top bit alone.
fn to_int(r: &mut Registers, round: Round, int: Int, d: u32, one: [u32; 1], mask: u32) {
    match int {
        Int::U32 => {
            r.unary(d, one, mask, |a: f64| if a.is_nan() { 1 << 31 } else { rounded(a, round) as u32 });
        }
        Int::S32 => {
            r.unary(d, one, mask, |a: f64| if a.is_nan() { i32::MIN } else { rounded(a, round) as i32 });
        }
        Int::U64 => {
            r.unary(d, one, mask, |a: f64| if a.is_nan() { 1 << 63 } else { rounded(a, round) as u64 });
        }
        Int::S64 => {
            r.unary(d, one, mask, |a: f64| if a.is_nan() { i64::MIN } else { rounded(a, round) as i64 });
        }
    }
}

/// Reads a special register.
pub(super) fn special(warp: &mut Warp, cx: &Context<'_>, special: Special, step: &Step, mask: u32) {
    let first = warp.index * WARP as u32;
    let value = |lane: u32| match special {
        Special::Tid => first + lane,
        Special::Ntid => cx.grid.threads,
        Special::Ctaid => cx.block,
        Special::Nctaid => cx.grid.blocks,
        Special::Lane => lane,
        Special::LaneMaskEq => 1 << lane,
        Special::LaneMaskLt => (1 << lane) - 1,
        Special::LaneMaskGt => !(((1 << lane) - 1) | (1 << lane)),
        Special::Clock => warp.executed as u32,
    };
    let values: [u32; WARP] = std::array::from_fn(|lane| value(lane as u32));
    warp.registers.set(step.dst[0], mask, &values);
}

/// Reads a parameter.
pub(super) fn parameter(warp: &mut Warp, cx: &Context<'_>, width: Width, step: &Step, mask: u32) {
    let value = cx.args[step.imm[0] as usize];
    match width {
        Width::W32 => warp.registers.set(step.dst[0], mask, &[value as u32; WARP]),
        Width::W64 => warp.registers.set(step.dst[0], mask, &[value; WARP]),
    }
}
