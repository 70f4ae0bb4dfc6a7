//! Every operation by num-bigint, lane by lane, and operands that reach its edges.

use num_bigint::{BigInt, BigUint, Sign};

use crate::operands::{Operands, Pattern};
use crate::oracle::product_bits;

/// The precisions at which every operation is tested.
pub const PRECISIONS: [usize; 24] =
    [1, 2, 31, 32, 33, 63, 64, 65, 109, 128, 131, 163, 191, 239, 255, 256, 257, 512, 521, 1000, 1024, 2048, 3000, 4096];

/// The statuses of a lane, as the library documents them.
pub const FINE: u32 = 0;
/// The divisor or modulus is zero.
pub const DIVISION_BY_ZERO: u32 = 1;
/// The modulus is even where an odd one is needed.
pub const EVEN_MODULUS: u32 = 2;
/// An operand is not below its limit.
pub const NOT_REDUCED: u32 = 3;
/// There is no inverse.
pub const NO_INVERSE: u32 = 4;

/// A number and the bits it is kept in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number; a two's complement as its bit pattern.
    pub number: BigUint,
    /// Its width.
    pub bits: usize,
}

impl Value {
    /// A number from its limbs.
    pub fn new(limbs: &[u32], bits: usize) -> Self {
        Self { number: BigUint::from_slice(limbs), bits }
    }

    fn is_negative(&self) -> bool {
        self.number.bit(self.bits as u64 - 1)
    }

    fn signed(&self) -> BigInt {
        let number = BigInt::from(self.number.clone());
        if self.is_negative() { number - (BigInt::from(1) << self.bits) } else { number }
    }

    /// The low bits of any integer, negative ones in two's complement.
    fn wrapped(number: &BigInt, bits: usize) -> Self {
        let modulus = BigInt::from(1) << bits;
        let rest = ((number % &modulus) + &modulus) % &modulus;
        Self { number: rest.magnitude().clone(), bits }
    }

    /// An integer that fits.
    fn exact(number: impl Into<BigInt>, bits: usize) -> Self {
        let number = number.into();
        assert!(number.sign() != Sign::Minus && number.bits() <= bits as u64, "{number} in {bits} bits");
        Self::wrapped(&number, bits)
    }

    /// A two's complement that fits.
    fn exact_signed(number: &BigInt, bits: usize) -> Self {
        let value = Self::wrapped(number, bits);
        assert_eq!(value.signed(), *number, "in {bits} bits");
        value
    }
}

/// The results of the operation of this name; a status is the last.
///
/// # Panics
/// For a name that it does not know.
pub fn apply(name: &str, constant: u32, operands: &[Value]) -> Vec<Value> {
    ring(name, constant as usize, operands)
        .or_else(|| division(name, constant, operands))
        .or_else(|| modular(name, constant, operands))
        .unwrap_or_else(|| panic!("an oracle for '{name}'"))
}

fn ring(name: &str, n: usize, operands: &[Value]) -> Option<Vec<Value>> {
    let integer = |i: usize| BigInt::from(operands[i].number.clone());
    let bit = |i: usize| operands[i].number.bit(0);
    let p = operands[0].bits;
    let q = operands.get(1).map_or(p, |b| b.bits);
    let (wide, narrow) = (p.max(q), p.min(q));
    let order = |ordering: std::cmp::Ordering| Value::wrapped(&BigInt::from(ordering as i8), 2);
    let one = |value: Value| Some(vec![value]);
    match name {
        "mul" => one(Value::exact(integer(0) * integer(1), product_bits(p, q))),
        "sqr" => one(Value::exact(integer(0) * integer(0), product_bits(p, p))),
        "mul_lo" => one(Value::wrapped(&(integer(0) * integer(1)), wide)),
        "mul_hi" => one(Value::exact((integer(0) * integer(1)) >> wide, narrow)),
        "mul_add" => {
            let r = operands[2].bits;
            let bits = if r <= wide { p + q } else { (p + q).max(r) + 1 };
            one(Value::exact(integer(0) * integer(1) + integer(2), bits))
        }
        "signed_mul" => one(Value::exact_signed(&(operands[0].signed() * operands[1].signed()), p + q)),
        "add" => one(Value::exact(integer(0) + integer(1), wide + 1)),
        "wrapping_add" => one(Value::wrapped(&(integer(0) + integer(1)), wide)),
        "carrying_add" => {
            let sum = integer(0) + integer(1) + i32::from(bit(2));
            Some(vec![Value::wrapped(&sum, wide), Value::exact(sum >> wide, 1)])
        }
        "sub" => one(Value::exact_signed(&(integer(0) - integer(1)), wide + 1)),
        "wrapping_sub" => one(Value::wrapped(&(integer(0) - integer(1)), wide)),
        "borrowing_sub" => {
            let difference = integer(0) - integer(1) - i32::from(bit(2));
            let borrow = i32::from(difference.sign() == Sign::Minus);
            Some(vec![Value::wrapped(&difference, wide), Value::exact(borrow, 1)])
        }
        "neg" => one(Value::exact_signed(&-integer(0), p + 1)),
        "wrapping_neg" => one(Value::wrapped(&-integer(0), p)),
        "cmp" => one(order(integer(0).cmp(&integer(1)))),
        "signed_cmp" => one(order(operands[0].signed().cmp(&operands[1].signed()))),
        "shl" => one(Value::exact(integer(0) << n, p + n)),
        "wrapping_shl" => one(Value::wrapped(&(integer(0) << n), p)),
        "shr" => one(Value::exact(integer(0) >> n, p.saturating_sub(n).max(1))),
        "and" => one(Value::exact(integer(0) & integer(1), wide)),
        "or" => one(Value::exact(integer(0) | integer(1), wide)),
        "xor" => one(Value::exact(integer(0) ^ integer(1), wide)),
        "not" => one(Value::exact((BigInt::from(1) << p) - 1 - integer(0), p)),
        "select" => {
            let bits = operands[1].bits.max(operands[2].bits);
            one(Value::exact(integer(if bit(0) { 1 } else { 2 }), bits))
        }
        "signed_add" => one(Value::exact_signed(&(operands[0].signed() + operands[1].signed()), wide + 1)),
        "signed_sub" => one(Value::exact_signed(&(operands[0].signed() - operands[1].signed()), wide + 1)),
        "signed_neg" => one(Value::exact_signed(&-operands[0].signed(), p + 1)),
        "sign_extend" => one(Value::exact_signed(&operands[0].signed(), p + n)),
        "to_sign_magnitude" => {
            let magnitude = operands[0].signed().magnitude().clone();
            Some(vec![Value::exact(magnitude, p), Value::exact(i32::from(operands[0].is_negative()), 1)])
        }
        "from_sign_magnitude" => one(Value::exact_signed(&if bit(1) { -integer(0) } else { integer(0) }, p + 1)),
        _ => None,
    }
}

/// Results of these widths and a status; zeros if the lane is at fault.
fn checked(outcome: Result<Vec<BigUint>, u32>, bits: &[usize]) -> Vec<Value> {
    let (numbers, status) = match outcome {
        Ok(numbers) => (numbers, FINE),
        Err(status) => (vec![BigUint::ZERO; bits.len()], status),
    };
    let values = numbers.into_iter().zip(bits).map(|(number, bits)| Value::exact(number, *bits));
    values.chain([Value::exact(status, 32)]).collect()
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Is `n` odd, above 1, and `a^d` or one of its squares up to `a^((n − 1)/2)` what it is for primes?
fn strong_test(n: &BigUint, a: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if !n.bit(0) || *n == one {
        return false;
    }
    let minus_one = n - 1_u32;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    // Each power from its own exponent: no squarings as the kernels do them.
    a.modpow(&(&minus_one >> twos), n) == one
        || (1..=twos).any(|shift| a.modpow(&(&minus_one >> shift), n) == minus_one)
}

fn division(name: &str, constant: u32, operands: &[Value]) -> Option<Vec<Value>> {
    let (a, p) = (&operands[0].number, operands[0].bits);
    let (b, q) = operands.get(1).map_or((a, p), |b| (&b.number, b.bits));
    let zero = *b == BigUint::ZERO;
    let (n, width) = (&operands[operands.len() - 1].number, 1);
    Some(match name {
        "strong_test" => vec![Value::exact(u8::from(strong_test(n, &constant.into())), width)],
        "miller_rabin" => vec![Value::exact(u8::from(strong_test(n, a)), width)],
        "div_rem" => checked(if zero { Err(DIVISION_BY_ZERO) } else { Ok(vec![a / b, a % b]) }, &[p, q]),
        "rem" => checked(if zero { Err(DIVISION_BY_ZERO) } else { Ok(vec![a % b]) }, &[q]),
        "gcd" => vec![Value::exact(gcd(a, b), p.max(q))],
        "gcd_ext" => {
            let g = gcd(a, b);
            let (x, y) = if zero {
                (BigInt::from(i32::from(*a != BigUint::ZERO)), BigInt::from(0))
            } else {
                let (a, b) = (a / &g, b / &g);
                // Modulo 1 every integer is an inverse, 0 the least.
                let x = if b == BigUint::from(1_u32) { BigUint::ZERO } else { (&a % &b).modinv(&b)? };
                let x = BigInt::from(x);
                let y = (BigInt::from(1) - BigInt::from(a) * &x) / BigInt::from(b);
                (x, y)
            };
            vec![Value::exact(g, p.max(q)), Value::exact(x, q), Value::exact_signed(&y, p + 1)]
        }
        "sqrt" => {
            let root = a.sqrt();
            let rest = a - &root * &root;
            vec![Value::exact(root, p.div_ceil(2)), Value::exact(rest, p.div_ceil(2) + 1)]
        }
        _ => return None,
    })
}

fn modular(name: &str, constant: u32, operands: &[Value]) -> Option<Vec<Value>> {
    let (m, bits) = (&operands[operands.len() - 1].number, operands[operands.len() - 1].bits);
    let radix = BigUint::from(1_u32) << (32 * bits.div_ceil(32));
    let (a, b) = (&operands[0].number, &operands[1].number);
    let one = BigUint::from(1_u32);
    let fault = if *m == BigUint::ZERO {
        Some(DIVISION_BY_ZERO)
    } else if needs_odd(name) && !m.bit(0) {
        Some(EVEN_MODULUS)
    } else if operands[..reduced(name)].iter().any(|operand| operand.number >= *m)
        || (name == "redc" && *a >= m * &radix)
    {
        Some(NOT_REDUCED)
    } else {
        None
    };
    let known =
        needs_odd(name) || ["add_mod", "sub_mod", "neg_mod", "mul_mod", "sqr_mod", "inv_mod", "reduce"].contains(&name);
    if !known {
        return None;
    }
    if let Some(status) = fault {
        return Some(checked(Err(status), &[bits]));
    }
    let over_radix = || if *m == one { BigUint::ZERO } else { (&radix % m).modinv(m).expect("an odd modulus") };
    let result = match name {
        "add_mod" => (a + b) % m,
        "sub_mod" => (a + m - b) % m,
        "neg_mod" => (m - a) % m,
        "mul_mod" => a * b % m,
        "sqr_mod" => a * a % m,
        "pow_mod" | "pow_mod_sec" => a.modpow(b, m),
        "pow_mod_public" => a.modpow(&BigUint::from(constant), m),
        "reduce" => a % m,
        "to_mont" => a * &radix % m,
        "from_mont" | "redc" => a * over_radix() % m,
        "mont_mul" => a * b * over_radix() % m,
        "mont_sqr" => a * a * over_radix() % m,
        _ if *m == one => BigUint::ZERO,
        _ => match (a % m).modinv(m) {
            Some(inverse) => inverse,
            None => return Some(checked(Err(NO_INVERSE), &[bits])),
        },
    };
    Some(checked(Ok(vec![result]), &[bits]))
}

/// How many operands, from the first on, must be below the modulus.
fn reduced(name: &str) -> usize {
    match name {
        "add_mod" | "sub_mod" | "mont_mul" => 2,
        "neg_mod" | "to_mont" | "from_mont" | "mont_sqr" => 1,
        _ => 0,
    }
}

fn needs_odd(name: &str) -> bool {
    name.starts_with("pow_mod") || name.contains("mont") || name == "redc"
}

/// Operands for the operation of this name: by the pattern, then most lanes made such that they are not at
/// fault, and moduli and residues moved to their edges in turn (0, 1, `m − 1`; 1, 3, `2^k ± 1`, all ones).
pub fn draw(name: &str, bits: &[usize], lanes: &[usize], pattern: Pattern, seed: u64) -> Vec<Operands> {
    let columns = bits.iter().zip(lanes).enumerate();
    let mut operands: Vec<Operands> =
        columns.map(|(i, (bits, lanes))| Operands::generate(pattern, *lanes, *bits, seed + i as u64)).collect();
    let modular = name.contains("mod") || name.contains("mont") || matches!(name, "redc" | "reduce");
    let tested = matches!(name, "strong_test" | "miller_rabin");
    let divides = modular || tested || matches!(name, "div_rem" | "rem");
    let Some((m, others)) = operands.split_last_mut().filter(|_| divides) else { return operands };
    for lane in 0..m.lanes {
        edge_modulus(m, lane, tested || modular && needs_odd(name));
    }
    let radix_limbs = m.bits.div_ceil(32);
    for (i, operand) in others.iter_mut().enumerate() {
        let limit = |lane: usize| {
            let m = BigUint::from_slice(m.lane(lane));
            if name == "redc" { m << (32 * radix_limbs) } else { m }
        };
        if i < reduced(name) || name == "redc" {
            for lane in 0..operand.lanes {
                reduce(operand, lane, &limit(lane));
            }
        }
    }
    operands
}

/// A number into a lane, cut to its bits.
fn put(operands: &mut Operands, lane: usize, number: &BigUint) {
    let width = operands.bits.div_ceil(32);
    let mask = (BigUint::from(1_u32) << operands.bits) - 1_u32;
    let mut limbs = (number & mask).to_u32_digits();
    limbs.resize(width, 0);
    operands.limbs[lane * width..][..width].copy_from_slice(&limbs);
}

fn edge_modulus(m: &mut Operands, lane: usize, odd: bool) {
    let one = BigUint::from(1_u32);
    let power = &one << (lane % m.bits);
    let edge = match lane % 16 {
        1 => one,
        2 => BigUint::from(3_u32),
        3 => power + 1_u32,
        4 => power - 1_u32,
        5 => (one << m.bits) - 1_u32,
        // Left as it was drawn: zero or even, perhaps.
        6 => return,
        7 if !odd => power,
        _ => BigUint::from_slice(m.lane(lane)),
    };
    put(m, lane, &if odd { edge | BigUint::from(1_u32) } else { edge });
}

fn reduce(operand: &mut Operands, lane: usize, limit: &BigUint) {
    if *limit == BigUint::ZERO || lane % 13 == 12 {
        return;
    }
    let number = match lane % 8 {
        1 => BigUint::ZERO,
        2 => BigUint::from(1_u32) % limit,
        3 | 4 => limit - 1_u32,
        _ => BigUint::from_slice(operand.lane(lane)) % limit,
    };
    put(operand, lane, &number);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(number: i64, bits: usize) -> Value {
        Value::wrapped(&BigInt::from(number), bits)
    }

    #[test]
    fn small_answers() {
        let call = |name: &str, operands: &[(i64, usize)]| {
            let operands: Vec<Value> = operands.iter().map(|(number, bits)| value(*number, *bits)).collect();
            apply(name, 3, &operands)
        };
        assert_eq!(call("sub", &[(3, 8), (5, 4)]), [value(-2, 9)]);
        assert_eq!(call("cmp", &[(3, 8), (5, 4)]), [value(3, 2)]);
        assert_eq!(call("signed_mul", &[(-8, 4), (-8, 4)]), [value(64, 8)]);
        assert_eq!(call("gcd_ext", &[(12, 8), (8, 4)]), [value(4, 8), value(1, 4), value(-1, 9)]);
        assert_eq!(call("gcd_ext", &[(5, 8), (0, 4)]), [value(5, 8), value(1, 4), value(0, 9)]);
        assert_eq!(call("div_rem", &[(17, 8), (5, 4)]), [value(3, 8), value(2, 4), value(0, 32)]);
        assert_eq!(call("inv_mod", &[(2, 8), (4, 4)]), [value(0, 4), value(4, 32)]);
        assert_eq!(call("add_mod", &[(4, 8), (4, 8), (5, 4)]), [value(3, 4), value(0, 32)]);
        assert_eq!(call("add_mod", &[(5, 8), (4, 8), (5, 4)]), [value(0, 4), value(3, 32)]);
        assert_eq!(call("pow_mod", &[(2, 8), (10, 8), (6, 4)]), [value(0, 4), value(2, 32)]);
        assert_eq!(call("redc", &[(0, 8), (7, 4)]), [value(0, 4), value(0, 32)]);
    }

    #[test]
    fn drawn_operands_reach_edges_and_faults() {
        let operands = draw("add_mod", &[64, 64, 64], &[128; 3], Pattern::Random, 1);
        let status = |lane: usize| {
            let values: Vec<Value> = operands.iter().map(|it| Value::new(it.lane(lane), it.bits)).collect();
            apply("add_mod", 0, &values)[1].number.clone()
        };
        let fine = (0..128).filter(|&lane| status(lane) == BigUint::ZERO).count();
        assert!((90..128).contains(&fine), "{fine}");
        let m = |lane: usize| BigUint::from_slice(operands[2].lane(lane));
        assert_eq!(BigUint::from_slice(operands[0].lane(3)), m(3) - 1_u32);
    }
}
