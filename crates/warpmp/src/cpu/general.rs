//! `cpu-dashu`: division, common divisors, roots, modular arithmetic and strong tests by dashu-int; of long numbers by
//! Newton's iteration on products by transforms.

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::{BitTest, Gcd};
use dashu_int::{IBig, UBig};

use super::euclid::cofactor;
use super::library::{Operand, store};
use super::newton::{self, Montgomery};
use super::reduction::Residue;
use super::rows::Piece;
use crate::operation::Status;

/// The numbers of a lane, negative ones as two's complements, or the fault of the lane.
type Outcome = Result<Vec<IBig>, Status>;

/// Computes all lanes of a piece.
fn run(mut piece: Piece<'_>, compute: impl FnMut(&[&UBig]) -> Outcome) {
    let lanes = piece.lanes();
    run_lanes(&mut piece, 0..lanes, compute);
}

/// Computes some lanes of a piece.
fn run_lanes(
    piece: &mut Piece<'_>,
    lanes: impl IntoIterator<Item = usize>,
    mut compute: impl FnMut(&[&UBig]) -> Outcome,
) {
    let mut operands: Vec<Operand> = piece.operands.iter().map(|rows| Operand::new(*rows)).collect();
    let preconditions = piece.operation.preconditions();
    let has_status = piece.operation.has_status();
    let count = piece.results.len() - usize::from(has_status);
    for lane in lanes {
        let fault = preconditions.check(|i| piece.operands[i].row(lane));
        let outcome = if fault == Status::Fine {
            for operand in &mut operands {
                operand.load(lane);
            }
            compute(&operands.iter().map(Operand::value).collect::<Vec<_>>())
        } else {
            Err(fault)
        };
        let (numbers, status) = match outcome {
            Ok(numbers) => (numbers, Status::Fine),
            Err(status) => (Vec::new(), status),
        };
        for result in 0..count {
            piece.put_number(result, lane, numbers.get(result).unwrap_or(&IBig::ZERO));
        }
        if has_status {
            piece.put_word(count, lane, u64::from(status.code()));
        }
    }
}

/// An outcome of one number.
#[expect(clippy::unnecessary_wraps, reason = "it is what a lane gives")]
fn one(number: impl Into<IBig>) -> Outcome {
    Ok(vec![number.into()])
}

pub(super) fn div_rem(piece: Piece<'_>) {
    run(piece, |x| {
        let (quotient, remainder) = newton::div_rem(x[0], x[1]);
        Ok(vec![quotient.into(), remainder.into()])
    });
}

pub(super) fn remainder(piece: Piece<'_>) {
    run(piece, |x| one(newton::rem(x[0], x[1])));
}

pub(super) fn div_exact(piece: Piece<'_>) {
    run(piece, |x| {
        let (quotient, remainder) = newton::div_rem(x[0], x[1]);
        if remainder.is_zero() { one(quotient) } else { Err(Status::NotExact) }
    });
}

pub(super) fn lcm(piece: Piece<'_>) {
    run(piece, |x| {
        let g = common_divisor(x[0], x[1]);
        one(if g.is_zero() { g } else { x[0] / g * x[1] })
    });
}

pub(super) fn jacobi(piece: Piece<'_>) {
    run(piece, |x| one(kronecker(x[0], x[1])));
}

pub(super) fn gcd(piece: Piece<'_>) {
    run(piece, |x| one(common_divisor(x[0], x[1])));
}

pub(super) fn gcd_ext(mut piece: Piece<'_>) {
    let lanes = piece.lanes();
    gcd_ext_lanes(&mut piece, 0..lanes);
}

/// The divisors and cofactors of some lanes.
pub(super) fn gcd_ext_lanes(piece: &mut Piece<'_>, lanes: impl IntoIterator<Item = usize>) {
    run_lanes(piece, lanes, |x| Ok(cofactors(x[0], x[1])));
}

pub(super) fn sqrt(piece: Piece<'_>) {
    run(piece, |x| {
        let (root, rest) = newton::sqrt_rem(x[0]);
        Ok(vec![root.into(), rest.into()])
    });
}

pub(super) fn strong_test(piece: Piece<'_>) {
    let base = UBig::from(piece.operation.constant().unwrap_or(0));
    run(piece, |x| one(passes(x[0], &base)));
}

pub(super) fn miller_rabin(piece: Piece<'_>) {
    run(piece, |x| one(passes(x[1], x[0])));
}

pub(super) fn mul_mod(piece: Piece<'_>) {
    run(piece, |x| one(newton::rem(&newton::product(x[0], x[1]), x[2])));
}

pub(super) fn sqr_mod(piece: Piece<'_>) {
    run(piece, |x| one(newton::rem(&newton::product(x[0], x[0]), x[1])));
}

pub(super) fn pow_mod(mut piece: Piece<'_>) {
    let lanes = piece.lanes();
    pow_mod_lanes(&mut piece, 0..lanes);
}

/// The powers of some lanes.
pub(super) fn pow_mod_lanes(piece: &mut Piece<'_>, lanes: impl IntoIterator<Item = usize>) {
    let mut modulus = Modulus::default();
    run_lanes(piece, lanes, |x| one(modulus.power(x[0], x[1], x[2])));
}

pub(super) fn pow_mod_public(piece: Piece<'_>) {
    let mut modulus = Modulus::default();
    let exponent = UBig::from(piece.operation.constant().unwrap_or(0));
    run(piece, |x| one(modulus.power(x[0], &exponent, x[1])));
}

pub(super) fn inv_mod(mut piece: Piece<'_>) {
    let lanes = piece.lanes();
    inv_mod_lanes(&mut piece, 0..lanes);
}

/// The inverses of some lanes.
pub(super) fn inv_mod_lanes(piece: &mut Piece<'_>, lanes: impl IntoIterator<Item = usize>) {
    run_lanes(piece, lanes, |x| match cofactor(x[0], x[1]) {
        (g, inverse) if g.is_one() => one(inverse),
        _ => Err(Status::NoInverse),
    });
}

pub(super) fn to_mont(piece: Piece<'_>) {
    let radix_bits = 32 * piece.operands[1].limbs();
    run(piece, |x| one(newton::rem(&(x[0] << radix_bits), x[1])));
}

/// One of Montgomery's reductions with products of long numbers.
pub(super) fn reduce(piece: Piece<'_>, residue: Residue) {
    let radix_bits = 32 * piece.operands[piece.operands.len() - 1].limbs();
    run(piece, |x| {
        let m = x[x.len() - 1];
        let number = match residue {
            Residue::Product => newton::product(x[0], x[1]),
            Residue::Square => newton::product(x[0], x[0]),
            Residue::Given => x[0].clone(),
        };
        one(Montgomery::new(m, radix_bits).reduce(&number))
    });
}

/// The library panics for two zeros.
fn common_divisor(a: &UBig, b: &UBig) -> UBig {
    if a.is_zero() && b.is_zero() { UBig::ZERO } else { a.gcd(b) }
}

/// `g`, the least `x ≥ 0` with `a·x + b·y = g`, and `y`.
fn cofactors(a: &UBig, b: &UBig) -> Vec<IBig> {
    if b.is_zero() {
        let x = if a.is_zero() { IBig::ZERO } else { IBig::ONE };
        return vec![a.clone().into(), x, IBig::ZERO];
    }
    let (g, x) = cofactor(a, b);
    let y = (IBig::from(g.clone()) - IBig::from(a * &x)) / IBig::from(b.clone());
    vec![g.into(), x.into(), y]
}

/// The Kronecker symbol of `a` over `n`.
///
/// source: Cohen, A Course in Computational Algebraic Number Theory, algorithm 1.4.10.
fn kronecker(a: &UBig, n: &UBig) -> IBig {
    if n.is_zero() {
        return if a.is_one() { IBig::ONE } else { IBig::ZERO };
    }
    if !a.bit(0) && !n.bit(0) {
        return IBig::ZERO;
    }
    // The factor of a power of two over an odd number, or under it.
    let is_minus = |twos: usize, odd: &UBig| twos % 2 == 1 && odd.bit(1) != odd.bit(2);
    let twos = n.trailing_zeros().unwrap_or(0);
    let mut negative = is_minus(twos, a);
    let mut n = n >> twos;
    let mut a = a % &n;
    while let Some(twos) = a.trailing_zeros() {
        a >>= twos;
        negative ^= is_minus(twos, &n) ^ (a.bit(1) && n.bit(1));
        (a, n) = (n % &a, a);
    }
    match (n.is_one(), negative) {
        (false, _) => IBig::ZERO,
        (true, false) => IBig::ONE,
        (true, true) => IBig::NEG_ONE,
    }
}

/// Is `n` odd, above 1 and a strong probable prime to the base?
fn passes(n: &UBig, base: &UBig) -> bool {
    if !n.bit(0) || n.is_one() {
        return false;
    }
    let minus_one = n - UBig::ONE;
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let ring = ConstDivisor::new(n.clone());
    let mut power = ring.reduce(base % n).pow(&(&minus_one >> twos));
    if power.residue().is_one() {
        return true;
    }
    for squarings in 0..twos {
        if squarings > 0 {
            power = power.sqr();
        }
        if power.residue() == minus_one {
            return true;
        }
    }
    false
}

/// The latest modulus with its ring; lanes often share it.
#[derive(Default)]
struct Modulus(Option<(UBig, ConstDivisor)>);

impl Modulus {
    fn power(&mut self, a: &UBig, e: &UBig, m: &UBig) -> UBig {
        // The library's one is not reduced modulo 1.
        if m.is_one() {
            return UBig::ZERO;
        }
        let known = self.0.take().filter(|(known, _)| known == m);
        let (_, ring) = self.0.insert(known.unwrap_or_else(|| (m.clone(), ConstDivisor::new(m.clone()))));
        ring.reduce(a % m).pow(e).residue()
    }
}

impl Piece<'_> {
    /// Stores a number, a negative one as a two's complement.
    fn put_number(&mut self, result: usize, lane: usize, number: &IBig) {
        let rows = &mut self.results[result];
        let row = &mut rows.words[lane * rows.limbs..][..rows.limbs];
        match number.as_sign_words() {
            (dashu_int::Sign::Positive, words) => store(words, row),
            (dashu_int::Sign::Negative, words) => {
                let pattern = (UBig::ONE << rows.bits) - UBig::from_words(words);
                store(pattern.as_words(), row);
            }
        }
    }
}
